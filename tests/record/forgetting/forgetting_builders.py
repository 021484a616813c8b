"""A record with something in it that must be forgotten, planted everywhere a record goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fabula.app.record import forget as verb
from fabula.app.record.forget import ForgetRequest, ForgetResult
from fabula.testing.prober import runs_of
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession, project_folder

if TYPE_CHECKING:
    from pathlib import Path

#: Each is said in one place of the doomed session, and nowhere else; each has a word that no other text has.
CANARIES = {
    "prompt": "Zyxquorvane sits under the seventh stone by the old lime kiln",
    "reply": "Wembrulost answers that the kiln was broken down forty winters ago",
    "thought": "Grivelnak wonders whether anybody has looked behind the second door",
    "call": "grep -rn Plorfenwick below the cellar stairs where nobody ever looks",
    "result": "ModuleNotFoundError: No module named 'trilvaxom' while we count barrels in the dark",
    "backup": "# Skorvandil keeps the ledger of all debts that were never paid",
    "output": "Brumqelith prints nine hundred lines about weather over the northern sea",
    "title": "Jorvexin and the matter of the missing silver spoons",
    "agent": "Haltreswick the subagent counts all windows facing the inner yard",
    "history": "Vuntergrasp types this into another window before the session even starts",
    "torn": "Drexolmine was being written when the machine lost its power suddenly",
    "queued": "Kelvostrum waits in a queue until the agent has finished talking",
}
WORDS = ("zyxquorvane", "wembrulost", "grivelnak", "plorfenwick", "trilvaxom", "skorvandil", "brumqelith", "jorvexin",
         "haltreswick", "vuntergrasp", "drexolmine", "kelvostrum", "ottrumbel", "quasperdine")  # fmt: skip
GIVEN_TITLE = "Ottrumbel is what a person called this session of theirs"
CARD = "Quasperdine stands on a card that was made of this thread"


def needles() -> list[str]:
    """Return what must not be found anywhere: unique words, and every run of five words."""
    texts = [*CANARIES.values(), GIVEN_TITLE, CARD]
    return [*WORDS, *(run for text in texts for run in runs_of(text))]


def doomed_session() -> ClaudeSession:
    """Return the session that is to be forgotten."""
    session = ClaudeSession("doomed", cwd="/home/mira/code/harbor")
    session.prompt(CANARIES["prompt"])
    session.reply(CANARIES["reply"], thought=CANARIES["thought"])
    session.tool("Bash", {"command": CANARIES["call"]}, CANARIES["result"], failed=True)
    spawn = session.calls(("Task", {"description": "count", "prompt": CANARIES["agent"]}))[0]
    session.result(spawn, "done", detail={"agentId": "a1b2c3d"})
    session.snapshot(session.leaf or "", {"ledger.py": "feedc0ffee@v1"})
    session.other("last-prompt", lastPrompt=CANARIES["prompt"], leafUuid=session.leaf)
    session.other("queue-operation", operation="enqueue", content=CANARIES["queued"], timestamp="2026-03-02T10:00:00Z")
    session.other("mode", mode="default")
    session.title(CANARIES["title"])
    return session


def staying_session() -> ClaudeSession:
    """Return a session of the same project that stays."""
    session = ClaudeSession("staying", cwd="/home/mira/code/harbor")
    session.clock.pause(hours=2)
    session.prompt("Why is the rate limiter slow on Mondays and nowhere else?")
    session.reply("The clock is read twice for every request that comes in.")
    session.tool("Bash", {"command": "pytest -q tests/limiter"}, "1 failed, 3 passed", failed=True)
    session.title("Slow limiter")
    return session


class Planted:
    """The record, and where its parts lie."""

    def __init__(self, folder: Path) -> None:
        self.home = RecordHome(folder)
        self.doomed, self.staying = doomed_session(), staying_session()
        self.transcript = self.home.save(self.doomed)
        torn = json.dumps({"type": "user", "message": {"role": "user", "content": CANARIES["torn"]}})[:-4]
        self.transcript.write_bytes(self.doomed.data() + torn.encode())
        self.kept = self.home.save(self.staying)
        self._beside()
        self.home.scan()

    def _beside(self) -> None:
        doomed, place = self.doomed, f"projects/{project_folder(self.doomed.cwd)}/{self.doomed.id}"
        self.home.write(f"file-history/{doomed.id}/feedc0ffee@v1", CANARIES["backup"].encode() * 3)
        self.home.write(f"{place}/tool-results/big.txt", (CANARIES["output"] + "\n").encode() * 200)
        agent = ClaudeSession("agent", cwd=doomed.cwd, agent="a1b2c3d", parent_session=doomed.id)
        agent.task(CANARIES["agent"])
        agent.reply("There are twelve of them.")
        self.home.save(agent)
        lines = [
            {"display": text, "project": doomed.cwd, "timestamp": 1_772_442_000_000 + at, "sessionId": session}
            for at, (text, session) in enumerate((
                (CANARIES["prompt"], doomed.id), (CANARIES["history"], doomed.id),
                ("Why is the rate limiter slow on Mondays and nowhere else?", self.staying.id),
            ))
        ]  # fmt: skip
        self.home.write("history.jsonl", b"".join(json.dumps(line).encode() + b"\n" for line in lines))

    @property
    def root(self) -> Path:
        """The folder of the record."""
        return self.home.app.home.root

    def forget(self, *targets: str, **request: Any) -> ForgetResult:
        """Forget with a person's consent."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(verb, "require_consent", lambda *_: None)
            return verb.forget(self.home.app, ForgetRequest(targets, apply=True, **request))

    def reopen(self) -> None:
        """Go on as another process."""
        self.home.app.record.close()
        self.home.app = self.home.open()
