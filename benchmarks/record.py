"""Measure the record: indexing, sealing, checking, searching, and whether the answers are right.

    python benchmarks/record.py --size-mb 85 --seed 7
    python benchmarks/record.py --size-mb 300 --seed 11 --subagents files --vault 2 --partial-tail
    python benchmarks/record.py --real DIR          any folder with Claude Code transcripts; it is only read

Every ask in CPU time is scaled by the floor measured in the same run: what it costs here to read and decode the corpus,
against 0.38 s for 85 MB on the machine for which the asks were written. Exit status 1 when an ask is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import corpora
from measure.report import judged, table

if TYPE_CHECKING:
    from measure.corpora import Corpus

HERE = Path(__file__).resolve().parent
GENERATED = (
    *("floors", "first_index", "first_index_sealed", "unchanged"),
    *("accounting", "truth", "histories", "searching", "tail"),
)
ON_REAL = ("floors", "first_index", "first_index_sealed", "unchanged", "accounting", "tail")


def main() -> int:
    """Measure as the command line says. Returns the exit status."""
    options = parse_arguments()
    work = Path(tempfile.mkdtemp(prefix="fabula-bench-", dir=options.work))
    try:
        corpus = choose_corpus(options, work)
        phases = [name for name in (ON_REAL if options.real else GENERATED) if not options.only or name in options.only]
        figures = {name: run_phase(name, corpus, work) for name in phases}
    finally:
        shutil.rmtree(work, ignore_errors=True)
    rows = judged(figures)
    if options.json:
        print(
            json.dumps({"corpus": corpus.name, "figures": figures, "rows": [row.as_dict() for row in rows]}, indent=1)
        )
    else:
        print(table(corpus.name, figures, rows))
    return int(any(row.passed is False for row in rows))


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size-mb", type=float, default=85)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--subagents", choices=["inline", "files", "mixed"], default="inline")
    parser.add_argument("--vault", type=int, default=0, help="seal and slim the N largest sessions beforehand")
    parser.add_argument("--partial-tail", action="store_true", help="one transcript ends in the middle of a record")
    parser.add_argument("--corpus", type=Path, help="a corpus that the generator wrote earlier")
    parser.add_argument(
        "--real", type=Path, default=os.environ.get("REAL") or None, help="a folder of real transcripts"
    )
    parser.add_argument("--work", type=Path, help="where to keep the copies that are measured on")
    parser.add_argument("--only", nargs="*", help="only these phases")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def choose_corpus(options: argparse.Namespace, work: Path) -> Corpus:
    """Return a copy of the corpus that may be appended to."""
    if options.real:
        return corpora.real(Path(options.real).resolve(strict=True), work)
    if options.corpus:
        return corpora.copied(corpora.existing(options.corpus.resolve(strict=True)), work)
    made = corpora.generated(
        options.size_mb,
        options.seed,
        subagents=options.subagents,
        vault=options.vault,
        partial_tail=options.partial_tail,
    )
    return corpora.copied(made, work)


def run_phase(name: str, corpus: Corpus, work: Path) -> dict[str, Any]:
    """Run one phase in a process of its own; adds its peak memory in MB."""
    described = work / "corpus.json"
    described.write_text(json.dumps({
        "name": corpus.name, "root": str(corpus.root), "vault": str(corpus.vault) if corpus.vault else None,
        "manifest": corpus.manifest, "threads": corpus.threads,
    }), encoding="utf-8")  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent / "src")])}
    command = [sys.executable, "-m", "measure.phases", name, str(described), str(work)]
    print(f"… {name}", file=sys.stderr, flush=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{name} failed")
    return {**json.loads(output), "peak_mb": usage.ru_maxrss / 1024}


if __name__ == "__main__":
    sys.exit(main())
