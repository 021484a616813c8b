"""Measure what many generations of one growing session cost in the vault, and that each comes back byte for byte.

    python benchmarks/vault.py
    python benchmarks/vault.py --size-mb 20 --generations 52
    python benchmarks/vault.py --real DIR          a session put together of real transcripts, which are only read

One session grows in equal steps, cut at line ends, and is sealed after each. It is lived three times:

- *prefixes*: nobody rewrites it; each generation is the session up to there, as a backup before each compaction is;
- *our prune*: before each step the file is slimmed by Fabula's own rules (their defaults), then the session goes on;
- *re-serialised*: before each step the file is slimmed as an earlier tool does it (``measure/serialised.py``), which
  writes every line anew as compact ASCII JSON: a line that is not ASCII, or not compact, keeps none of its bytes.

So each generation of the last two is what a prune left of all before, and the new lines as the agent wrote them: the
session's own bytes are in the vault as well, once, and count.

``stored`` is everything in the vault's folder: packs, journal, the journal's copy, the new bytes of the session itself
included. ``ask``: at most 5 % of the generations' bytes. Exit status 1 when it is missed, or a byte is wrong.

Floors, in CPU seconds: for sealing and restoring, the SHA-256 of every byte of every generation once.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

from measure import corpora  # noqa: E402
from measure.floors import best_cpu  # noqa: E402
from measure.serialised import reserialise  # noqa: E402

from fabula.hosts.claude import slimming  # noqa: E402
from fabula.kernel.clock import SystemClock  # noqa: E402
from fabula.record.rewriting.plan import Snapshot, make_plan  # noqa: E402
from fabula.record.vault.vault import Vault  # noqa: E402

ASK = 0.05
CHUNK = 1 << 20
Story = Callable[[bytes], bytes]


@dataclass(slots=True)
class Figures:
    """What one story cost. Bytes, and CPU seconds."""

    story: str
    generations: int
    session: int  # bytes that the session ever had
    bytes: int  # of all generations
    stored: int
    packs: int
    journal: int
    share: float
    seal: float
    verify: float
    restore: float
    floor: float
    wrong: int  # generations that did not come back byte for byte


def slimmed(data: bytes) -> bytes:
    """Return a session as ``fabula record prune`` leaves it."""
    snapshot = Snapshot("session.jsonl", data)
    chosen = {category.key for category in slimming.CATEGORIES if category.default}
    plan = make_plan(snapshot, slimming.slim(snapshot, chosen).changes)
    return b"".join(plan.pieces(data))


STORIES: dict[str, Story | None] = {"prefixes": None, "our prune": slimmed, "re-serialised": reserialise}


def main() -> int:
    """Measure as the command line says. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size-mb", type=float, default=84)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--generations", type=int, default=52)
    parser.add_argument("--real", type=Path, help="a folder of real transcripts")
    parser.add_argument("--only", nargs="*", choices=list(STORIES), default=list(STORIES))
    parser.add_argument("--work", type=Path, help="where to keep the vaults that are measured")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    session = real_session(options.real, options.size_mb) if options.real else made_session(options)
    found = [measure(name, session, options.generations, options.work) for name in options.only]
    if options.json:
        print(json.dumps([asdict(figures) for figures in found], indent=1))
    else:
        show(found)
    return int(any(figures.share > ASK or figures.wrong for figures in found))


# -- the session -----------------------------------------------------------------------------------------------------


def made_session(options: argparse.Namespace) -> bytes:
    """Return an invented session of about that size: all transcripts of a generated corpus, one after another."""
    corpus = corpora.generated(options.size_mb, options.seed, subagents="inline", vault=0, partial_tail=False)
    return b"".join(whole_lines(path) for path in corpus.transcripts)


def real_session(folder: Path, size_mb: float) -> bytes:
    """Return the real transcripts below a folder, the largest first, as if they were one session."""
    files = sorted(folder.rglob("*.jsonl"), key=lambda path: (-path.stat().st_size, str(path)))
    parts: list[bytes] = []
    for path in files:
        if sum(map(len, parts)) < size_mb * 1e6:
            parts.append(whole_lines(path))
    return b"".join(parts)


def whole_lines(path: Path) -> bytes:
    """Return a file without an unterminated last line."""
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1]


def states(session: bytes, generations: int, story: Story | None) -> Iterator[bytes]:
    """Yield the file as it is each time it is sealed."""
    state, begin = b"", 0
    for number in range(1, generations + 1):
        end = session.find(b"\n", max(len(session) * number // generations - 1, begin)) + 1
        grown = session[begin:end]
        state = (story(state) if story is not None and state else state) + grown
        begin = end
        yield state


# -- measuring -------------------------------------------------------------------------------------------------------


def measure(name: str, session: bytes, generations: int, work: Path | None) -> Figures:
    """Live a story and measure it."""
    print(f"… {name}", file=sys.stderr, flush=True)
    folder = Path(tempfile.mkdtemp(prefix="fabula-bench-vault-", dir=work))
    try:
        digests, total, seal, floor = sealed(folder, states(session, generations, STORIES[name]))
        began = time.process_time()
        with Vault.open(folder, SystemClock(), read_only=True) as vault:
            damages = sum(1 for _ in vault.verify())
        verify = time.process_time() - began
        began = time.process_time()
        wrong = damages + restored(folder, digests)
        restore = time.process_time() - began
        sizes = [(path.name, path.stat().st_size) for path in folder.rglob("*") if path.is_file()]
    finally:
        shutil.rmtree(folder)
    stored = sum(size for _, size in sizes)
    packs = sum(size for file, size in sizes if file.startswith(("records-", "images-")))
    return Figures(
        name, len(digests), len(session), total, stored, packs, stored - packs, stored / total, seal, verify, restore,
        floor, wrong,
    )  # fmt: skip


def sealed(folder: Path, found: Iterator[bytes]) -> tuple[dict[int, bytes], int, float, float]:
    """Seal each state as a generation: (digest of each, bytes in all, CPU seconds of it, CPU seconds of hashing)."""
    digests: dict[int, bytes] = {}
    total, seal, floor = 0, 0.0, 0.0
    for state in found:
        spans = lines_of(state)
        began = time.process_time()
        with Vault.open(folder, SystemClock()) as vault:
            source = vault.source("claude", "/session.jsonl", "session", "session")
            generation = vault.begin(source.id, provenance="original", immutable=False)
            for offset, end, part in chunks(spans):
                vault.append(generation.id, offset, state[offset:end], part)
            vault.seen(source.id, len(state))
            vault.commit()
        seal += time.process_time() - began
        total += len(state)
        floor += best_cpu(lambda state=state: sha256(state), repeats=1)  # type: ignore[misc]
        digests[generation.id] = sha256(state).digest()
    return digests, total, seal, floor


def lines_of(state: bytes) -> list[tuple[int, int]]:
    """Return the spans of all lines, without their ends."""
    spans, begin = [], 0
    while (end := state.find(b"\n", begin)) >= 0:
        if end > begin:
            spans.append((begin, end - begin))
        begin = end + 1
    return spans


def chunks(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Cut a file's spans as a reader does: about a megabyte at a time, as (begin, end, spans)."""
    begin, part = 0, []
    for offset, length in spans:
        part.append((offset, length))
        if offset + length + 1 - begin >= CHUNK:
            yield begin, offset + length + 1, part
            begin, part = offset + length + 1, []
    if part:
        yield begin, part[-1][0] + part[-1][1] + 1, part


def restored(folder: Path, digests: dict[int, bytes]) -> int:
    """Restore every generation; return how many are not what was sealed."""
    wrong = 0
    with Vault.open(folder, SystemClock(), read_only=True) as vault:
        for generation, digest in digests.items():
            summed = sha256()
            for piece in vault.stream(generation):
                summed.update(piece)
            wrong += summed.digest() != digest
    return wrong


def show(found: list[Figures]) -> None:
    """Print the figures."""
    print(
        f"{found[0].generations} generations of a session of {found[0].session / 1e6:.1f} MB; at most {ASK:.0%} asked\n"
    )
    print(f"{'':15} {'all':>10} {'stored':>9} {'share':>7}  {'packs':>8} {'journal':>8}  {'seal':>7} {'verify':>7} "
          f"{'restore':>8} {'floor':>7}")  # fmt: skip
    for figures in found:
        verdict = "ok" if figures.share <= ASK and not figures.wrong else "MISSED" if not figures.wrong else "WRONG"
        print(
            f"{figures.story:15} {figures.bytes / 1e6:8.1f}MB {figures.stored / 1e6:7.1f}MB {figures.share:7.2%}  "
            f"{figures.packs / 1e6:6.1f}MB {figures.journal / 1e6:6.1f}MB  {figures.seal:6.2f}s {figures.verify:6.2f}s "
            f"{figures.restore:7.2f}s {figures.floor:6.2f}s  {verdict}"
        )
    print("\nevery generation was verified and restored, and compared with what was sealed by its SHA-256")


if __name__ == "__main__":
    sys.exit(main())
