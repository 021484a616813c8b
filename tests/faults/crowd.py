"""Many processes on one record.

    python crowd.py HOME USER READERS SCANNERS

READERS processes read the record over and over until the SCANNERS, started at once, have ended. Prints one JSON object:
how each scanner ended, how many reads each reader made, and everything that went wrong.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import traceback
from pathlib import Path
from typing import Any

from answers import access_to

from fabula.kernel.errors import FabulaError


def read_over_and_over(home: Path, user: Path, stop: Any, out: Any) -> None:
    """Read until told to stop: what was seen never becomes less, and a loaded record has its bytes."""
    access = access_to(home, user)
    reads = records = 0
    wrong: list[str] = []
    while not stop.is_set() or reads == 0:
        try:
            reader = access.reader()
            found = reader.execute("select count(*) from records").fetchone()[0]
            if found < records:
                wrong.append(f"{records} records became {found}")
            records = found
            reader.execute("select count(*) from passages_fts where passages_fts match 'bucket'").fetchone()
            loader = access.loader()
            for row in loader.rows("id % 17 = 3", ())[:5]:
                loader.raw(row)
            reads += 1
        except FabulaError as error:
            if error.code != "ERR_NO_RECORD":
                wrong.append(f"{error.code} {error.message}")
        except Exception:
            wrong.append(traceback.format_exc())
        if len(wrong) > 3:
            break
    out.put(("read", reads, wrong))


def scan_once(home: Path, user: Path, out: Any) -> None:
    """Scan as a command does."""
    try:
        report = access_to(home, user).scan()
        out.put(("scan", report.records_added, []))
    except FabulaError as error:
        out.put(("scan", 0, [f"{error.code} {error.message}"]))
    except Exception:
        out.put(("scan", 0, [traceback.format_exc()]))


def main() -> None:
    """Run the crowd."""
    home, user = Path(sys.argv[1]), Path(sys.argv[2])
    context = multiprocessing.get_context("fork")
    stop, out = context.Event(), context.Queue()
    readers = [
        context.Process(target=read_over_and_over, args=(home, user, stop, out)) for _ in range(int(sys.argv[3]))
    ]
    scanners = [context.Process(target=scan_once, args=(home, user, out)) for _ in range(int(sys.argv[4]))]
    for process in [*readers, *scanners]:
        process.start()
    for process in scanners:
        process.join()
    stop.set()
    ended = [out.get(timeout=60) for _ in range(len(readers) + len(scanners))]
    for process in readers:
        process.join()
    print(json.dumps({
        "scans": sorted(count for what, count, _ in ended if what == "scan"),
        "reads": [count for what, count, _ in ended if what == "read"],
        "wrong": [each for _, _, wrong in ended for each in wrong],
    }))  # fmt: skip


if __name__ == "__main__":
    main()
