"""Many processes prune and undo one session while its agent goes on writing.

    python rewriting_crowd.py HOME WORKERS ROUNDS LINES

WORKERS processes prune and undo the one session of HOME in turns, ROUNDS times each; another appends LINES records,
each opened, written and closed as clients do. Prints one JSON object: the numbers of the generations that came of it,
the refusals by code, the ids of the records that were appended, and everything that went wrong.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from fabula.app import consent
from fabula.app.record.prune import PruneRequest, prune
from fabula.app.record.undo import UndoRequest, undo
from fabula.app.wiring import App
from fabula.kernel.clock import SystemClock
from fabula.kernel.errors import FabulaError
from fabula.testing.transcripts import json_line

#: What one of many may answer: another works, there is nothing to take back, or the file was just replaced.
FAIR = frozenset(("ERR_LOCKED", "ERR_NOT_FOUND", "ERR_CHANGED"))


def app_in(home: Path) -> App:
    """Return the application of a user's home, for one process."""
    environment = {"FABULA_HOME": str(home / ".fabula"), "HOME": str(home)}
    return App(environment=environment, cwd=home, user_home=home, clock=SystemClock())


def transcript(home: Path) -> Path:
    """Return the one transcript of a home."""
    return next((home / ".claude" / "projects").glob("*/*.jsonl"))


def rewrite(home: Path, worker: int, rounds: int, out: Any) -> None:
    """Prune and undo in turns; a person at a terminal agreed that the session is in use."""
    consent.require_consent = lambda *_: None
    session = transcript(home).stem
    for turn in range(rounds):
        try:
            if (worker + turn) % 2:
                out.put(("made", undo(app_in(home), UndoRequest(session, apply=True, live=True)).new_generation))
            else:
                done = prune(app_in(home), PruneRequest(session, apply=True, live=True))
                out.put(("made", done.slimmed_generation))
        except FabulaError as error:
            out.put(("refused" if error.code in FAIR else "wrong", error.code if error.code in FAIR else str(error)))
        except Exception:
            out.put(("wrong", traceback.format_exc()))
    out.put(("end", worker))


def write_on(home: Path, lines: int, out: Any) -> None:
    """Append records as the session's agent does."""
    chance = random.Random(7)
    for number in range(lines):
        uuid = f"00000000-0000-4000-8000-{number:012}"
        content = [{"type": "tool_result", "tool_use_id": f"call-{number}", "content": f"late {number} " * 60}]
        line = json_line({"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}})
        with transcript(home).open("ab", buffering=0) as file:
            file.write(line)
        out.put(("appended", uuid))
        time.sleep(chance.random() * 0.02)
    out.put(("end", "agent"))


def main() -> None:
    """Run the crowd."""
    home, workers, rounds, lines = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    processes = [context.Process(target=rewrite, args=(home, each, rounds, out)) for each in range(workers)]
    processes.append(context.Process(target=write_on, args=(home, lines, out)))
    for process in processes:
        process.start()
    said: list[tuple[str, Any]] = []
    while sum(what == "end" for what, _ in said) < len(processes):
        said.append(out.get(timeout=120))
    for process in processes:
        process.join()
    print(json.dumps({
        "made": [number for what, number in said if what == "made" and number is not None],
        "refused": Counter(code for what, code in said if what == "refused"),
        "appended": [uuid for what, uuid in said if what == "appended"],
        "wrong": [each for what, each in said if what == "wrong"],
    }))  # fmt: skip


if __name__ == "__main__":
    main()
