"""What is measured, one function a phase. Each runs in a process of its own, so that CPU and memory are its own.

A phase takes the corpus and a folder to work in, and returns figures by name.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from typing import TYPE_CHECKING, Any

from measure.engine import Engine
from measure.exhaustive import Exhaustive
from measure.floors import decode_floor, stat_floor
from measure.known_items import KINDS, Recall, percentile, questions

from fabula.testing.transcripts import json_line, stable_uuid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from measure.corpora import Corpus

Figures = dict[str, float]

SEALED, UNSEALED = "sealed", "unsealed"  # homes below the work folder
TAIL_ROUNDS = 20
WARMING = 60  # searches that make thread vectors
#: Questions of a kind. Paraphrases are told apart so seldom that a hundred would leave ten points either way to chance.
QUESTIONS, PARAPHRASES = 100, 400
HISTORIES = 200  # edited files whose history is rebuilt


def engine(corpus: Corpus, work: Path, name: str) -> Engine:
    """Open the record in the home of this name."""
    return Engine(work / name, corpus.root, corpus.vault)


def timed(job: Callable[..., Any], *values: Any) -> tuple[Any, float, float]:
    """Return the result of a job done with some values, its CPU seconds and its wall seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = job(*values)
    return result, time.process_time() - cpu, time.perf_counter() - wall


def floors(corpus: Corpus, work: Path) -> Figures:  # noqa: ARG001 - every phase takes both
    """The cost of reading and decoding everything, and of a stat of every file."""
    paths = corpus.transcripts
    looked_at = corpus.looked_at
    costs = {"decode_cpu": decode_floor(paths), "stat_cpu": stat_floor(looked_at)}
    return {**costs, "bytes": corpus.size, "files": len(looked_at)}


def first_index(corpus: Corpus, work: Path) -> Figures:
    """A first index that seals nothing."""
    record = engine(corpus, work, UNSEALED)
    _, cpu, wall = timed(lambda: record.scan(seal=False))
    return {"cpu": cpu, "wall": wall}


def first_index_sealed(corpus: Corpus, work: Path) -> Figures:
    """A first index as a user runs it: every byte is sealed in the vault."""
    record = engine(corpus, work, SEALED)
    report, cpu, wall = timed(lambda: record.scan(seal=True))
    return {"cpu": cpu, "wall": wall, "searchable": report.totals.searchable_characters, **record.sizes()}


def unchanged(corpus: Corpus, work: Path) -> Figures:
    """A scan with nothing new: the first one may still compare tails of files that were just written."""
    record = engine(corpus, work, SEALED)
    record.scan(seal=True)
    rounds = [timed(lambda: record.scan(seal=True))[1] for _ in range(5)]
    return {"cpu": min(rounds)}


def tail(corpus: Corpus, work: Path) -> Figures:
    """Two records appended to the largest transcript, taken in by the check that comes before every read."""
    record = engine(corpus, work, SEALED)
    path = max((corpus.root / "projects").glob("*/*.jsonl"), key=lambda found: found.stat().st_size)
    costs = []
    for number in range(TAIL_ROUNDS):
        with path.open("ab") as out:
            if number == 0 and not path.read_bytes().endswith(b"\n"):
                out.write(b"\n")
            out.write(turn(path.stem, number))
        costs.append(timed(record.refresh)[1])
    return {"cpu_p50": percentile(costs, 0.5), "cpu_max": max(costs), "found": record.passages_with("zirconium")}


def turn(session: str, number: int) -> bytes:
    """Return a prompt and a reply as lines of a transcript."""
    said = f"Round {number}: does the zirconium valve open?"
    head = {"isSidechain": False, "userType": "external", "cwd": "/home/dev/code/tail", "sessionId": session}
    head |= {"version": "2.1.197", "timestamp": f"2026-11-01T10:{number:02d}:00.000Z"}
    user, reply = stable_uuid("tail", session, number, "user"), stable_uuid("tail", session, number, "reply")
    prompt = {"type": "user", "uuid": user, "parentUuid": None, "promptId": stable_uuid("tail", number), **head}
    answer = {"type": "assistant", "uuid": reply, "parentUuid": user, **head}
    text = [{"type": "text", "text": "It opens."}]
    message = {"role": "assistant", "id": f"msg_tail{number}", "model": "claude-sonnet-4-6", "content": text}
    return json_line({**prompt, "message": {"role": "user", "content": said}}) + json_line(
        {**answer, "message": message}
    )


def searching(corpus: Corpus, work: Path) -> Figures:
    """Known-item queries of four kinds: time a query (freshness check included) and recall, beside the yardstick's."""
    record = engine(corpus, work, SEALED)
    number_of = {thread["prompt_id"]: number for number, thread in enumerate(corpus.threads)}
    members = {uuid: number for number, thread in enumerate(corpus.threads) for uuid in thread["members"]}
    yardstick = Exhaustive(corpus.transcripts, members)
    figures: Figures = {"yardstick_text": yardstick.text_bytes}
    record.search("warm up", 10)
    made, making, _ = timed(lambda: make_vectors(record, corpus))
    figures |= {"vectors": made, "vectors_cpu": making}
    everything: list[float] = []
    for kind in KINDS:
        ours, best, total = Recall(), Recall(), Recall()
        costs, walls, yardstick_costs = [], [], []
        for question in questions(corpus.threads, kind, PARAPHRASES if kind == "paraphrase" else QUESTIONS):
            found, cpu, wall = timed(record.search, question.text, 10)
            ours.add(question, [number_of.get(thread, -1) for thread in found])
            by_best, by_sum, cost = yardstick.rank(question.text)
            best.add(question, by_best)
            total.add(question, by_sum)
            costs.append(cpu)
            walls.append(wall)
            yardstick_costs.append(cost)
        everything += costs[:QUESTIONS]
        figures |= {
            f"{kind}_at1": ours.share_first, f"{kind}_at5": ours.share_five,
            f"{kind}_yardstick_at1": max(best.share_first, total.share_first),
            f"{kind}_yardstick_at5": max(best.share_five, total.share_five),
            f"{kind}_p50": percentile(costs, 0.5), f"{kind}_p95": percentile(costs, 0.95),
            f"{kind}_wall_p95": percentile(walls, 0.95), f"{kind}_yardstick_p95": percentile(yardstick_costs, 0.95),
        }  # fmt: skip
    return {**figures, "p95": percentile(everything, 0.95)}


def make_vectors(record: Engine, corpus: Corpus) -> int:
    """Search in other words until every thread has a vector, at most so often. Returns how many have one."""
    for text in list(dict.fromkeys(thread["q_paraphrase"] for thread in corpus.threads))[:WARMING]:
        record.search(text, 1)
        if record.vectors() >= len(corpus.threads):
            break
    return record.vectors()


def truth(corpus: Corpus, work: Path) -> Figures:
    """Records in the right thread, and live records that are called abandoned."""
    record = engine(corpus, work, SEALED)
    thread_of = record.thread_of_records()
    pairs = [(uuid, thread["prompt_id"]) for thread in corpus.threads for uuid in thread["members"]]
    right = sum(thread_of.get(uuid) == prompt for uuid, prompt in pairs)
    abandoned = {uuid for thread in corpus.threads for uuid in thread["abandoned"]}
    called = record.abandoned([thread["prompt_id"] for thread in corpus.threads])
    return {
        "members": len(pairs), "right": right, "live_called_abandoned": len(called - abandoned),
        "abandoned": len(abandoned), "abandoned_found": len(called & abandoned),
    }  # fmt: skip


def histories(corpus: Corpus, work: Path) -> Figures:
    """The last contents of edited files, rebuilt from the record and compared with what the generator left."""
    record = engine(corpus, work, SEALED)
    files = [file for file in (corpus.manifest or {})["files"] if not file["sed"]]
    chosen = random.Random(1).sample(files, min(HISTORIES, len(files)))
    costs, right = [], 0
    for file in chosen:
        content, cpu, _ = timed(record.last_content, file["path"])
        costs.append(cpu)
        right += content is not None and hashlib.sha256(content.encode()).hexdigest() == file["sha256"]
    return {"asked": len(chosen), "right": right, "cpu_p95": percentile(costs, 0.95)}


def accounting(corpus: Corpus, work: Path) -> Figures:
    """The scan's own account of every file against the reference count."""
    from fabula.testing.reference import reference_count

    record = engine(corpus, work, SEALED)
    wrong = 0
    for path, outcome in record.outcomes().items():
        wrong += path.endswith(".jsonl") and reference_count(path) != outcome
    return {"files": len(record.outcomes()), "wrong": wrong}


PHASES: dict[str, Callable[[Corpus, Path], Figures]] = {
    phase.__name__: phase
    for phase in (floors, first_index, first_index_sealed, unchanged, accounting, truth, histories, searching, tail)
}


def main(arguments: list[str]) -> None:
    """Run one phase; the corpus is described by a JSON file. Prints the figures as JSON."""
    from pathlib import Path

    from measure.corpora import Corpus

    name, described, work = arguments
    fields = json.loads(Path(described).read_text(encoding="utf-8"))
    corpus = Corpus(
        fields["name"], Path(fields["root"]), Path(fields["vault"]) if fields["vault"] else None,
        fields["manifest"], fields["threads"],
    )  # fmt: skip
    print(json.dumps(PHASES[name](corpus, Path(work))))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
