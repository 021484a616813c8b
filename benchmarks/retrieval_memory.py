"""Measure how well memories are found: each arm alone, all together, plain BM25, and memhtml on the same files.

    python benchmarks/retrieval_memory.py [--locomo PATH/locomo10.json] [--memhtml DIR | --no-memhtml]

The coding memories and questions are in benchmarks/data; LoCoMo is not shipped (CC BY-NC 4.0). Exit status 1 when an
ask is missed. The independent questions were written by somebody who never saw the program.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from locomo.dataset import read_locomo
from memories import coding, talks
from memories.corpus import ARMS, Corpus, HandSet, alone, environment, weights
from memories.judging import Judged, compared, gates, judged, negatives, stale_first
from memories.memhtml import DEFAULT, Memhtml, Server, found
from memories.questions import Found, PlainBM25, Question, ids_of

from fabula.kernel.clock import parse_time

Ask = Callable[[Question], Found]
NOW = parse_time("2026-11-01T12:00:00Z") or 0  # after every coding memory
LOCOMO_NOW = parse_time("2024-06-01T12:00:00Z") or 0


def main() -> int:
    """Measure; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, metavar="PATH", help="the file locomo10.json")
    parser.add_argument("--memhtml", type=Path, default=DEFAULT, metavar="DIR", help="where npm installed memhtml")
    parser.add_argument("--no-memhtml", action="store_true", help="measure without it")
    options = parser.parse_args()
    modules = None if options.no_memhtml else found(options.memhtml)
    print("memhtml: " + ("0.15.1 of npm, without embeddings" if modules else "not measured (not installed)"))
    with tempfile.TemporaryDirectory(prefix="fabula-memories-") as folder:
        met = measure_coding(Path(folder, "coding"), modules)
        if options.locomo is None:
            print("\nLoCoMo: not measured (give the file: --locomo PATH)")
        else:
            met &= measure_locomo(Path(folder, "locomo"), options.locomo, modules)
    print("\nevery ask met" if met else "\nan ask was MISSED")
    return 0 if met else 1


def measure_coding(folder: Path, modules: Path | None) -> bool:
    """Measure on the coding memories. Returns whether the asks are met."""
    corpus = opened(folder, NOW)
    places = coding.write_all(corpus)
    questions = coding.questions()
    corpus.clock.now = NOW
    corpus.prepare()
    asked = [one for one in questions if one.answers]
    unanswerable = [one for one in questions if not one.answers]
    replaced = {one["supersedes"] for one in coding.memories() if "supersedes" in one}
    kept = [one for one in coding.memories() if one["id"] not in replaced]
    plain = PlainBM25((one["id"], one["workspace"], coding.text_of(one)) for one in kept)
    print(f"\n== coding memories: {len(places)}, {len(asked)} questions, {len(unanswerable)} without an answer")
    systems = ours_of(corpus, places)
    systems["BM25"] = plain.ask
    with served(modules, folder, corpus.root) as server:
        if server is not None:
            systems["memhtml"] = lambda one: Found(ids_of(server.search(one.text, limit=40), places))
        values = {name: judged(system, asked) for name, system in systems.items()}
        met = compared(values)
        for group in sorted({one.kind for one in asked}):
            by_kind(values, asked, group)
        for group in sorted({one.group.split(":")[0] for one in asked}):
            by_set(values, asked, group)
        archived = {"fused": lambda one: answered(corpus, places, one, archived=True)}
        if server is not None:
            archived["memhtml"] = lambda one: Found(
                ids_of(server.search(one.text, limit=40, include_archived=True), places)
            )
        met &= stale_first(systems, archived, asked)
        met &= negatives({name: systems[name] for name in systems if name in ("fused", "memhtml")}, unanswerable, asked)
    corpus.close()
    return met


def measure_locomo(folder: Path, path: Path, modules: Path | None) -> bool:
    """Measure on LoCoMo's sessions. Returns whether the asks are met."""
    conversations, digest = read_locomo(path)
    corpus = opened(folder, LOCOMO_NOW)
    places = talks.write_all(corpus, conversations)
    corpus.clock.now = LOCOMO_NOW
    corpus.prepare()
    questions = talks.questions(conversations)
    plain = PlainBM25(
        (name, memory.workspace, "\n".join([memory.title, memory.claim, *memory.body]))
        for name, _, memory in talks.sessions(conversations)
    )
    print(f"\n== LoCoMo's sessions as memories: {len(places)}, {len(questions)} questions; sha256 {digest}")
    systems = ours_of(corpus, places)
    systems["BM25"] = plain.ask
    with served(modules, folder, corpus.root) as server:
        if server is not None:
            systems["memhtml"] = lambda one: Found(
                ids_of(server.search(one.text, limit=40, workspace=one.workspace), places)
            )
        values = {name: judged(system, questions) for name, system in systems.items()}
        met = compared(values)
        met &= gates(values["fused"])
        others = {name: systems[name] for name in systems if name in ("fused", "memhtml")}
        met &= negatives(others, talks.foreign(conversations), questions[::10])
    corpus.close()
    return met


def opened(folder: Path, now: int) -> Corpus:
    """Make an empty corpus below a folder."""
    folder.mkdir()
    return Corpus(folder / "corpus", environment(folder), HandSet(now))


def ours_of(corpus: Corpus, places: Mapping[str, str]) -> dict[str, Ask]:
    """Return our search: all arms, each alone, and without each."""

    def with_weights(changed: Mapping[str, float]) -> Ask:
        def ask(question: Question) -> Found:
            with weights(**changed):
                return answered(corpus, places, question)

        return ask

    systems: dict[str, Ask] = {"fused": with_weights({})}
    systems |= {f"{arm} alone": with_weights(alone(arm)) for arm in ARMS}
    systems |= {f"without {arm}": with_weights({arm: 0.0}) for arm in ARMS}
    return systems


def answered(corpus: Corpus, places: Mapping[str, str], question: Question, *, archived: bool = False) -> Found:
    """Ask our search."""
    answer = corpus.ask(question.text, workspace=question.workspace, archived=archived)
    return Found(ids_of([hit.path for hit in answer.hits], places), answer.weak)


class served:  # noqa: N801 - a context, used as a function is
    """memhtml's server on a copy of a corpus's files, indexed by itself; ``None`` where it is not installed."""

    def __init__(self, modules: Path | None, folder: Path, root: Path) -> None:
        self._server: Server | None = None
        if modules is not None:
            copy = folder / "memhtml"
            subprocess.run(["git", "clone", "-q", str(root), str(copy)], check=True)
            program = Memhtml(modules, folder, copy)
            report = program.run("index", "rebuild")
            if report["skipped"]:
                raise RuntimeError(f"memhtml skipped files: {report['skipped'][:3]}")
            self._server = program.serve()

    def __enter__(self) -> Server | None:
        return self._server

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.__exit__(None, None, None)


def by_kind(values: Mapping[str, Judged], asked: list[Question], kind: str) -> None:
    """Print one line for a kind of question."""
    line(f"kind {kind}", values, [number for number, one in enumerate(asked) if one.kind == kind])


def by_set(values: Mapping[str, Judged], asked: list[Question], name: str) -> None:
    """Print one line for the questions of one writer."""
    line(f"set {name}", values, [n for n, one in enumerate(asked) if one.group.startswith(f"{name}:")])


def line(title: str, values: Mapping[str, Judged], chosen: list[int]) -> None:
    """Print hit@1 / MRR of some questions."""
    shown = [name for name in ("fused", "text alone", "vector alone", "BM25", "memhtml") if name in values]
    pairs = [(name, values[name].mean("hit@1", chosen), values[name].mean("MRR", chosen)) for name in shown]
    parts = [f"{name} {first:.3f} / {rank:.3f}" for name, first, rank in pairs]
    print(f"  {title:18} {len(chosen):4}  hit@1 / MRR: " + "   ".join(parts))


if __name__ == "__main__":
    shutil.which("git") or sys.exit("needs git")
    sys.exit(main())
