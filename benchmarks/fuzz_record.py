"""Index malformed transcripts: nothing may crash, hang, or cost its neighbours.

    python benchmarks/fuzz_record.py --count 1000 --seed 1
    python benchmarks/fuzz_record.py --count 5000 --real DIR        mutations of a person's transcripts; only read

Each file is a copy of a sample (or of a real transcript) under new ids with up to three damages. One scan takes them
all in, in a process of its own with a time limit. Then every line that was left alone must be in the record byte for
byte, and every file of JSON lines must be counted as the reference counts it. Exit status 1 when something is missing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.app.record.scan import ScanRequest
from fabula.app.record.scan import scan as record_scan
from fabula.app.wiring import App
from fabula.kernel.clock import SystemClock
from fabula.kernel.ids import pack_id
from fabula.testing.mutations import mutated, reseeded
from fabula.testing.reference import reference_count

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = Path(__file__).resolve().parent.parent / "tests" / "data" / "samples" / "home"
SAID = frozenset({"user", "assistant", "system"})  # types of Claude Code's records that are always indexed
#: Names by which a file is found: of the first there is one alone (the last copy stands), others lie in new folders.
FIXED_NAMES = frozenset({"history.jsonl", "events.jsonl"})
LARGEST = 400_000  # bytes of a real transcript that is mutated; of a longer one the first lines


def main() -> int:
    """Write the files, scan them, check. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", type=Path, help="a folder with transcripts to mutate as well")
    parser.add_argument("--limit", type=float, default=300, help="seconds for the scan")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="fabula-fuzz-"))
    try:
        expected = write_files(work, originals(options.real), options.count, options.seed)
        began = time.perf_counter()
        problem = scan(work, options.limit)
        print(f"{options.count} malformed files scanned in {time.perf_counter() - began:.1f} s")
        wrong = [problem] if problem else check(work, expected)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for line in wrong[:20]:
        print(line)
    print(f"{sum(map(len, expected.values()))} untouched lines expected; {len(wrong)} problems")
    return int(bool(wrong))


def originals(real: Path | None) -> list[tuple[str, bytes]]:
    """Return the transcripts to mutate: (path below a user's home, bytes)."""
    found = [
        (str(path.relative_to(SAMPLES)), path.read_bytes())
        for path in sorted(SAMPLES.rglob("*"))
        if path.suffix in {".jsonl", ".json"} and not path.name.endswith(".meta.json")
    ]
    for path in sorted(real.rglob("*.jsonl")) if real else ():
        data = path.read_bytes()
        if len(data) > LARGEST:
            data = data[: data.rfind(b"\n", 0, LARGEST) + 1]
        if data:
            found.append((f".claude/projects/real/{path.name}", data))
    return found


def write_files(work: Path, sources: list[tuple[str, bytes]], count: int, seed: int) -> dict[str, list[bytes]]:
    """Write ``count`` malformed files into a user's home. Returns the untouched lines by path."""
    expected: dict[str, list[bytes]] = {}
    for number in range(count):
        generator = random.Random(f"{seed}/{number}")
        name, data = sources[number % len(sources)]
        data = reseeded(data, number)
        path = work / renamed(name, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".jsonl"):
            data, kept = mutated(data, generator)
            expected[str(path)] = kept
        else:
            data = damaged_document(data, generator)
        path.write_bytes(data)
    return expected


def renamed(name: str, number: int) -> Path:
    """Return where a copy goes: under new ids, beside its original's place."""
    path = Path(reseeded(name.encode(), number).decode())
    if path.parts[1] == "projects":
        return Path(*path.parts[:2], f"fuzz-{number}", *path.parts[3:])
    if path.name in FIXED_NAMES:
        return path
    return path.with_name(f"{path.stem}-{number}{path.suffix}")


def damaged_document(data: bytes, generator: random.Random) -> bytes:
    """Damage a whole JSON document in one place."""
    at = generator.randrange(len(data))
    kinds = [
        data[:at],
        data[:at] + b"\xff" + data[at:],
        data[:at] + data[at + 50 :],
        b"",
        b"[]",
        data[:at] + b"\0" + data[at:],
    ]
    return generator.choice(kinds)


def application(work: Path) -> App:
    """Return the application over the home of malformed files."""
    environment = {"FABULA_HOME": str(work / "fabula"), "HOME": str(work)}
    return App(environment=environment, cwd=work, user_home=work, clock=SystemClock())


def scan(work: Path, limit: float) -> str:
    """Scan in a process of its own. Returns what went wrong, or ""."""
    process = multiprocessing.get_context("spawn").Process(target=scan_here, args=(work,))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return f"no end within {limit:.0f} s"
    return "" if process.exitcode == 0 else f"the scan ended with status {process.exitcode}"


def scan_here(work: Path) -> None:
    """Scan everything twice: the second one finds nothing new."""
    app = application(work)
    app.record.scan()
    again = app.record.scan()
    if again.records_added:
        raise SystemExit(f"a second scan added {again.records_added} records")


def check(work: Path, expected: dict[str, list[bytes]]) -> list[str]:
    """Return what is missing or counted wrong."""
    app = application(work)
    accounts = {file.path: file for file in record_scan(app, ScanRequest()).files}
    loader = app.loader()
    problems = []
    for path, lines in expected.items():
        account = accounts.get(path)
        if account is None:
            problems.append(f"{path}: not in the record")
            continue
        counted = (account.objects, account.recovered)
        if counted != reference_count(path):
            problems.append(f"{path}: counted {counted}, the reference says {reference_count(path)}")
        if account.objects != account.indexed + sum(account.skipped.values()):
            problems.append(f"{path}: objects are not the sum of indexed and skipped")
        if account.span_bytes + account.gap_bytes + account.unreadable_bytes != Path(path).stat().st_size:
            problems.append(f"{path}: spans, gaps and unreadable bytes are not the file")
        if "/.claude/projects/" in path:
            problems += missing(path, lines, app, loader)
    return problems


def missing(path: str, lines: list[bytes], app: App, loader: Any) -> Iterator[str]:
    """Yield what of the untouched lines is not in the record as it was written.

    Bytes are compared where no other line or file can hold a record of the same id.
    """
    whole = [value for line in lines for value in values(line)]
    named = [raw for raw, value in whole if value.get("type") in SAID and isinstance(value.get("uuid"), str)]
    data = Path(path).read_bytes()
    for raw in named:
        uid = json.loads(raw)["uuid"]
        if not app.reader().execute("select 1 from records where uid = ?", (pack_id(uid),)).fetchone():
            yield f"{path}: record {uid} is lost"
        elif (
            len(uid) == 36
            and data.count(uid.encode()) == raw.count(uid.encode())
            and loader.raw(loader.row(uid))[0] != raw
        ):
            yield f"{path}: record {uid} has other bytes"


def values(line: bytes) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the objects of an untouched line with their exact bytes; a real one may have been malformed before."""
    position = 0
    try:
        text = line.decode()
        while position < len(text):
            if text[position].isspace():
                position += 1
                continue
            value, end = json.JSONDecoder().raw_decode(text, position)
            if isinstance(value, dict):
                yield text[position:end].encode(), value
            position = end
    except ValueError:
        return


if __name__ == "__main__":
    sys.exit(main())
