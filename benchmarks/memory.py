"""Measure the memory: writing, batches, searching, recalling, rebuilding, keeping up, beside memhtml in the same run.

    python benchmarks/memory.py [--sizes 1000,5000,20000] [--memhtml DIR | --no-memhtml] [--memhtml-most N]

Wall times, p50 / p95, in this process and as whole processes; all arms of the search are on. memhtml runs without
embeddings (it has none offline), up to ``--memhtml-most`` memories; where it is not installed, figures of an earlier
run of 0.15.1 on another machine stand beside (in brackets). Asks are of a quiet reference machine; where a fixed piece
of work takes longer around a measurement, its ask is scaled ("pace"). Exit status 1 when an ask is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from memories.asks import Row, judged, table
from memories.corpus import Corpus, HandSet, environment
from memories.generated import memory, queries
from memories.memhtml import DEFAULT, Memhtml, found
from memories.timing import Spent, bare_interpreter, durable_file, processes, reading, timed, together

NOW = 1_796_083_200_000  # any moment; memories are written one second after another
FABULA = [sys.executable, "-c", "import sys; from fabula.__main__ import run; sys.exit(run())"]
BATCHES = (1_000, 5_000)
Figures = dict[str, Spent]


def main() -> int:
    """Measure; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,5000,20000")
    parser.add_argument("--memhtml", type=Path, default=DEFAULT, metavar="DIR", help="where npm installed memhtml")
    parser.add_argument("--no-memhtml", action="store_true", help="measure without it")
    parser.add_argument("--memhtml-most", type=int, default=5_000, metavar="N")
    options = parser.parse_args()
    modules = None if options.no_memhtml else found(options.memhtml)
    rows: list[Row] = []
    updates: dict[int, float] = {}
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="fabula-memory-") as folder:
            ours, sizes = measure(Path(folder), size)
            theirs: Figures = {}
            if modules is not None and size <= options.memhtml_most:
                theirs = measure_memhtml(Path(folder), size, modules)
        updates[size] = ours["update after one change"].median
        judgement = judged(size, ours, theirs, updates)
        rows += judgement
        print(table(f"{size:,} memories; bytes: {sizes}", judgement), flush=True)
    met = all(row.passed is not False for row in rows)
    print("every ask met" if met else "an ask was MISSED")
    return 0 if met else 1


def measure(folder: Path, size: int) -> tuple[Figures, str]:
    """Measure Fabula at a size. Returns figures by name, and what it takes on disk."""
    environ = environment(folder)
    clock = HandSet(NOW)
    figures: Figures = {
        "floor: one durable file": durable_file(folder),
        "floor: python -c pass": bare_interpreter(environ),
    }
    figures["init"] = timed(lambda number: Corpus(folder / f"init-{number}", environ, clock).close(), range(5))
    for many in BATCHES:
        if many <= size:
            fresh = Corpus(folder / f"batch-{many}", environ, clock)
            figures[f"batch of {many:,}"] = timed(fresh.apply, [batch(0, many)])
            fresh.close()
    corpus = Corpus(folder / "corpus", environ, clock)
    for start in range(0, size, 5_000):
        corpus.apply(batch(start, min(size, start + 5_000)))
    figures["vectors of all"] = timed(lambda _: corpus.prepare(), [0])
    figures |= in_process(corpus, size)
    figures |= keeping_up(corpus, size)
    files = [path for path in corpus.root.rglob("*.html") if ".git" not in path.parts]
    figures["floor: read every file"] = reading(files)
    taken = sizes_of(corpus.root, files)
    corpus.close()
    figures |= whole_processes(corpus.root, {**environ, "FABULA_HOME": str(folder / "home")}, size)
    return figures, taken


def batch(start: int, end: int) -> str:
    """Return memories as a batch."""
    return "\n".join(json.dumps(memory(number)) for number in range(start, end))


def in_process(corpus: Corpus, size: int) -> Figures:
    """Search, recall and write."""
    asked = queries(200, size)
    corpus.search(asked[0])
    figures = {"search": timed(corpus.search, asked), "recall": timed(corpus.recall, asked)}

    def write(number: object) -> None:
        corpus.clock.now += 1_000
        corpus.write_line(json.dumps(memory(10**6 + int(str(number)))))

    figures["write"] = timed(write, range(60))

    def write_and_search(number: object) -> None:
        write(int(str(number)) + 1_000)
        corpus.search(asked[0])

    figures["write, then search"] = timed(write_and_search, range(20))
    return figures


def keeping_up(corpus: Corpus, size: int) -> Figures:
    """Bring the index up to date after changes from outside, and make it anew."""
    paths = sorted(path for path in (corpus.root / "projects").rglob("*.html"))[:20]

    def edit(path: Path) -> None:
        path.write_text(path.read_text(encoding="utf-8").replace("We saw", "We saw again", 1), encoding="utf-8")

    updates = []
    for path in paths:
        edit(path)
        updates.append(timed(lambda _: corpus.index.refresh(thorough=True), [0]))
    figures = {"update after one change": together(updates)}
    figures["nothing changed"] = timed(lambda _: corpus.index.refresh(), range(20))
    figures["nothing changed, every file looked at"] = timed(lambda _: corpus.index.refresh(thorough=True), range(10))
    figures["rebuild"] = timed(lambda _: corpus.index.rebuild(), range(3 if size <= 5_000 else 1))
    return figures


def whole_processes(root: Path, environ: dict[str, str], size: int) -> Figures:
    """The same by the command line, each run a process of its own; modules are compiled before."""
    at = ["--corpus", str(root), "--json"]
    asked = queries(21, size, seed=11)
    search = [[*FABULA, "memory", "search", one, "--all", *at] for one in asked]
    processes(search[:1], environ)
    new = [[*FABULA, "init", "--memory", str(root.with_name(f"new-{n}")), "--json"] for n in range(5)]
    return {
        "init, whole process": processes(new, environ),
        "search, whole process": processes(search[1:], environ),
        "recall, whole process": processes(
            [[*FABULA, "recall", one, "--all", "--budget", "1500", *at] for one in asked[1:]], environ
        ),
        "write, whole process": processes(
            [
                [*FABULA, "memory", "write", "--title", f"t {n}", "--type", "semantic", "--claim", f"Claim {n}.", *at]
                for n in range(10)
            ],
            environ,
        ),
    }


def sizes_of(root: Path, files: list[Path]) -> str:
    """Return what the corpus takes on disk, in MB."""
    html = sum(path.stat().st_size for path in files)
    git = sum(path.stat().st_size for path in (root / ".git").rglob("*") if path.is_file())
    index = sum(path.stat().st_size for path in (root / ".fabula").glob("index.db*"))
    return f"tree {html / 1e6:.2f} MB, .git {git / 1e6:.2f} MB, index.db {index / 1e6:.2f} MB"


def measure_memhtml(folder: Path, size: int, modules: Path) -> Figures:
    """The same by memhtml: its command line, and its server for what happens in one process."""
    figures: Figures = {}
    made = timed(lambda n: Memhtml(modules, folder, folder / f"their-init-{n}").run("init"), range(3))
    figures["init, whole process"] = made
    there = Memhtml(modules, folder, folder / "theirs")
    there.run("init")
    file = folder / "batch.jsonl"
    for many in BATCHES:
        if many <= size:
            other = Memhtml(modules, folder, folder / f"their-batch-{many}")
            other.run("init")
            file.write_text(batch(0, many), encoding="utf-8")
            figures[f"batch of {many:,}"] = timed(lambda _, o=other: o.run("apply", "--file", str(file)), [0])
    file.write_text(batch(0, size), encoding="utf-8")
    there.run("apply", "--file", str(file))
    asked = queries(200, size)
    with there.serve() as server:
        server.search(asked[0])
        figures["search"] = timed(server.search, asked)
        figures["recall"] = timed(lambda one: server.call("memory_recall", query=one, budget_chars=6_000), asked)
        figures["write"] = timed(
            lambda n: server.call(
                "memory_write",
                title=f"t {n}",
                memory_type="semantic",
                body=f"Claim {n} of a server.",
                workspace="alpha",
            ),
            range(20),
        )
    others = queries(10, size, seed=11)
    figures["search, whole process"] = timed(lambda one: there.run("search", str(one)), others)
    figures["recall, whole process"] = timed(lambda one: there.run("recall", str(one), "--budget", "6000"), others)
    words = ("--type", "semantic", "--workspace", "alpha", "--claim")
    figures["write, whole process"] = timed(
        lambda n: there.run("write", "--title", f"p {n}", *words, f"Claim {n} of a process."), range(5)
    )
    paths = sorted((there.root / "projects").rglob("*.html"))[:3]
    updates = []
    for path in paths:
        path.write_text(path.read_text(encoding="utf-8").replace("We saw", "We saw again", 1), encoding="utf-8")
        updates.append(timed(lambda _: there.run("index", "update"), [0]))
    figures["update after one change"] = together(updates)
    figures["rebuild"] = timed(lambda _: there.run("index", "rebuild"), [0])
    return figures


if __name__ == "__main__":
    sys.exit(main())
