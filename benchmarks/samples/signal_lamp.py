"""The story of ``signal-lamp``, an invented lamp controller: Copilot CLI with a subagent, an old Goose session."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fabula.testing.copilot_session import CopilotSession
from fabula.testing.goose_database import answered, asked, said
from fabula.testing.transcripts import Ticker

if TYPE_CHECKING:
    from collections.abc import Iterator

CWD = "/home/mira/code/signal-lamp"
BLINK = f"{CWD}/blink.py"


def flicker() -> CopilotSession:
    """Copilot CLI finds out why the lamp flickers, with a subagent's help."""
    session = CopilotSession(
        "lamp/flicker", CWD, "Why the lamp flickers", clock=Ticker(datetime(2026, 6, 1, 7, tzinfo=UTC))
    )
    session.begin()
    session.prompt("The lamp flickers when the battery is below a third. Find out why.")
    session.subagent("Where is the battery read? Answer with files and lines.", "blink.py:9 reads it in every pulse.")
    session.answer("The lamp reads the battery in each pulse. I will run the check.",
                   session.call("bash", command="python check.py --battery 0.3", description="Run the check"),
                   thought="A slow read inside a pulse stretches it.")  # fmt: skip
    session.result(
        "TimeoutError: pulse of 41 ms is longer than 30 ms\n<shellId: 0 completed with exit code 1>", exitCode=1
    )
    old, new = "    level = battery.read()\n    lamp.pulse(level)", "    lamp.pulse(self.level)"
    session.answer("", session.call("edit", path=BLINK, old_str=old, new_str=new))
    session.result(f"File {BLINK} updated with changes.")
    session.answer("", session.call("bash", command="python check.py --battery 0.3", description="Run the check"))
    session.result("all pulses within 30 ms\n<shellId: 0 completed with exit code 0>", exitCode=0)
    session.answer("The battery is now read between pulses, not inside one, so no pulse is stretched any more.")
    session.shutdown()
    return session


def morse() -> Iterator[dict[str, Any]]:
    """Goose, when it still kept lines of JSON, is asked for a table of Morse signs."""
    clock = int(datetime(2025, 5, 5, 6, tzinfo=UTC).timestamp())
    yield {"working_dir": CWD, "description": "Morse table", "schedule_id": None, "message_count": 4,
           "total_tokens": 700, "input_tokens": 640, "output_tokens": 60}  # fmt: skip
    table = "A = '.-'\nB = '-...'\n"
    for number, (role, items) in enumerate((
        ("user", [said("Make a table of Morse signs for the lamp.")]),
        ("assistant", [said("I write it to morse.py."), asked(
            "toolu_1", "developer__text_editor", command="write", path=f"{CWD}/morse.py", file_text=table)]),
        ("user", [answered("toolu_1", f"Successfully wrote to {CWD}/morse.py")]),
        ("assistant", [said("The table is in morse.py; a dot is one unit long and a dash three.")]),
    )):  # fmt: skip
        yield {"role": role, "created": clock + 5 * number, "content": items}
