"""Measure the quality of retrieval: ours beside plain BM25, on a public set of conversations.

    python benchmarks/retrieval.py --locomo PATH/locomo10.json
    python benchmarks/retrieval.py --locomo PATH/locomo10.json --vectors

Without --vectors no model of any kind takes part. Exit status 1 when an ask is missed. Weights were chosen on this very
set, so the figures guard against regressions; they are no evidence about coding transcripts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from locomo.dataset import Conversation, Question, read_locomo
from locomo.systems import Fabula, PlainBM25

from fabula.search.measures import bootstrap, hit_at, recall_at, reciprocal_rank

Measure = Callable[[Sequence[str], frozenset[str]], float]
Values = dict[str, dict[int, list[float]]]  # by measure, by conversation, one a question

SESSIONS: dict[str, Measure] = {
    "sessions hit@1": lambda ranking, gold: hit_at(ranking, gold, 1),
    "sessions hit@5": lambda ranking, gold: hit_at(ranking, gold, 5),
    "sessions recall@10": lambda ranking, gold: recall_at(ranking, gold, 10),
    "sessions MRR": reciprocal_rank,
}
TURNS: dict[str, Measure] = {
    "turns recall@5": lambda ranking, gold: recall_at(ranking, gold, 5),
    "turns recall@10": lambda ranking, gold: recall_at(ranking, gold, 10),
    "turns recall@20": lambda ranking, gold: recall_at(ranking, gold, 20),
}
ASKS = {"sessions hit@1": 0.73, "sessions hit@5": 0.92, "sessions MRR": 0.815, "turns recall@10": 0.75}
CONTROLS_ASK = 0.90
NONSENSE = (
    "zorvex quimlat brendof", "how do I flimber the grastok?", "wexlorn", "plimquat vebrix on the drathnol server",
    "kjsdhf qwpoeiru zxmcnv", "trebnix glorfendish ospratik", "why did the blenfort drimquax?", "yuvnak sorplet",
)  # fmt: skip
FORMULAS = """hit@k     questions with any gold id among the first k, of all questions
recall@k  |gold ∩ first k| / |gold|, mean over questions
MRR       1 / rank of the first gold id (0 when none is found), mean over questions
questions without evidence that can be resolved are left out; an id counts once, at its first rank
BM25      FTS5, porter stems, OR of all words; BM25* is given our list of stop words to leave out
gain      ours - BM25, paired by question
interval  95 %, percentile bootstrap over conversations (whole conversations drawn with replacement), 2,000 rounds"""


def main() -> int:
    """Measure; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, metavar="PATH", help="the file locomo10.json")
    parser.add_argument("--vectors", action="store_true", help="make thread vectors first (needs numpy)")
    options = parser.parse_args()
    if options.locomo is None:
        print("nothing measured: give the data set's file, --locomo PATH (it is not shipped: CC BY-NC 4.0)")
        return 2
    conversations, digest = read_locomo(options.locomo)
    describe(conversations, digest, vectors=options.vectors)
    with tempfile.TemporaryDirectory(prefix="fabula-retrieval-") as folder:
        fabula = Fabula(Path(folder), conversations, vectors=options.vectors)
        if not options.vectors:
            without_vectors()
        met = compare(fabula, PlainBM25(conversations), conversations)
        met &= controls(fabula, conversations)
    print("every ask met" if met else "an ask was MISSED")
    return 0 if met else 1


def describe(conversations: Sequence[Conversation], digest: str, *, vectors: bool) -> None:
    """Print what is measured on what."""
    sessions = [len(one.sessions) for one in conversations]
    turns = sum(len(said) for one in conversations for said in one.sessions.values())
    questions = sum(len(one.questions) for one in conversations)
    print(f"LoCoMo sha256 {digest}")
    print(f"{len(conversations)} conversations, {min(sessions)}-{max(sessions)} sessions each, {turns} turns,")
    print(f"{questions} questions ({sum(one.without_evidence for one in conversations)} without evidence left out)")
    print(f"language model: none; thread vectors: {'static table' if vectors else 'off'}\n\n{FORMULAS}\n")


def without_vectors() -> None:
    """Keep the meaning arm out, as on a machine without numpy."""
    from fabula.app.record import finding
    from fabula.kernel.errors import FabulaError

    def absent() -> None:
        raise FabulaError("ERR_EXTRA_MISSING", "switched off for this measurement")

    finding.embedding_table = absent  # type: ignore[assignment]


def compare(fabula: Fabula, plain: PlainBM25, conversations: Sequence[Conversation]) -> bool:
    """Print ours beside BM25 and the paired gains. Returns whether the asks are met."""
    ours: Values = defaultdict(lambda: defaultdict(list))
    theirs: Values = defaultdict(lambda: defaultdict(list))
    helped: Values = defaultdict(lambda: defaultdict(list))
    for conversation in conversations:
        for question in conversation.questions:
            threads, records = rankings(fabula, question, conversation)
            score(ours, conversation, question, threads, records)
            for values, telling in ((theirs, False), (helped, True)):
                sessions = plain.ask("sessions", question.text, conversation, 40, telling=telling)
                turns = plain.ask("turns", question.text, conversation, 20, telling=telling)
                score(values, conversation, question, sessions, turns)
    met = True
    print(f"{'':20} {'ours':>6} {'interval':>15}   {'BM25':>6}   {'gain':>6} {'interval':>17}   {'BM25*':>6}   ask")
    for name in (*SESSIONS, *TURNS):
        mean, low, high = bootstrap(ours[name])
        base, _, _ = bootstrap(theirs[name])
        pairs = {one: [a - b for a, b in zip(ours[name][one], theirs[name][one], strict=True)] for one in ours[name]}
        gain, gain_low, gain_high = bootstrap(pairs)
        fine = mean >= ASKS.get(name, 0) and gain > 0
        met &= fine
        ask = f">= {ASKS[name]}, " if name in ASKS else ""
        verdict = "MISSED" if not fine else "met" if gain_low > 0 else "met, but the interval holds 0"
        print(
            f"{name:20} {mean:6.3f} [{low:.3f}, {high:.3f}]   {base:6.3f}   {gain:+6.3f}"
            f" [{gain_low:+.3f}, {gain_high:+.3f}]   {bootstrap(helped[name])[0]:6.3f}   {ask}gain > 0: {verdict}"
        )
    return met


def rankings(fabula: Fabula, question: Question, conversation: Conversation) -> tuple[list[str], list[str]]:
    """Return the threads and the turns that a search finds; the records that only say a date are no turns."""
    threads = [hit.thread for hit in fabula.ask(question.text, conversation, by="thread", limit=40).hits]
    dates = {conversation.turn(session, 0) for session in conversation.sessions}
    records = [hit.record for hit in fabula.ask(question.text, conversation, by="record", limit=24).hits]
    return threads, [record for record in records if record not in dates]


def score(
    values: Values, conversation: Conversation, question: Question, threads: Sequence[str], records: Sequence[str]
) -> None:
    """Add one question's values."""
    for name, measure in SESSIONS.items():
        values[name][conversation.number].append(measure(threads, question.sessions))
    for name, measure in TURNS.items():
        values[name][conversation.number].append(measure(records, question.turns))


def controls(fabula: Fabula, conversations: Sequence[Conversation]) -> bool:
    """Ask what cannot be answered. Returns whether enough answers are empty or called weak."""
    foreign: list[bool] = []
    for number, conversation in enumerate(conversations):
        other = conversations[(number + 1) % len(conversations)]
        for question in other.questions[::5]:
            result = fabula.ask(question.text, conversation, by="thread", limit=5)
            foreign.append(result.weak or not result.hits)
    answered = [fabula.ask(text, conversations[0], by="thread", limit=5) for text in NONSENSE]
    nonsense = [result.weak or not result.hits for result in answered]
    own = [
        fabula.ask(question.text, conversation, by="thread", limit=1).weak
        for conversation in conversations
        for question in conversation.questions[::10]
    ]
    print("\nnegative controls: answers that are empty or called weak, of all")
    met = True
    for name, outcomes in (("questions of other conversations", foreign), ("made-up words", nonsense)):
        share = sum(outcomes) / len(outcomes)
        met &= share >= CONTROLS_ASK
        verdict = "met" if share >= CONTROLS_ASK else "MISSED"
        print(f"  {name:34} {share:.3f} of {len(outcomes)}   >= {CONTROLS_ASK}: {verdict}")
    print(f"  {'own questions (the price of it)':34} {sum(own) / len(own):.3f} of {len(own)}")
    return met


if __name__ == "__main__":
    sys.exit(main())
