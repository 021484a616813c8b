"""LoCoMo (snap-research/locomo): long conversations with questions whose evidence turns are labelled.

The data set is never shipped: its licence is CC BY-NC 4.0. Each conversation becomes a project, each of its sessions a
transcript with one thread, each turn a record; a first record says when the session took place, and a picture's caption
stands beside its turn.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fabula.search.measures import evidence_ids
from fabula.testing.transcripts import json_line, project_folder, stable_uuid

if TYPE_CHECKING:
    from pathlib import Path

_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """One question with the ids of the sessions (threads) and turns (records) that hold its evidence."""

    text: str
    category: int
    sessions: frozenset[str]
    turns: frozenset[str]


@dataclass(slots=True)
class Conversation:
    """One conversation: where it took place, what was said by session, and what is asked about it."""

    number: int
    cwd: str
    sessions: dict[int, list[dict[str, Any]]]
    dates: dict[int, str]
    questions: list[Question] = field(default_factory=list)
    without_evidence: int = 0

    def thread(self, session: int) -> str:
        """Return the id of the thread that a session becomes."""
        return stable_uuid("locomo", self.number, session)

    def turn(self, session: int, turn: int) -> str:
        """Return the id of the record that a turn becomes."""
        return stable_uuid("locomo", self.number, session, turn)


def read_locomo(path: Path) -> tuple[list[Conversation], str]:
    """Return the conversations of the data set's file and the file's SHA-256."""
    data = path.read_bytes()
    return [_conversation(number, raw) for number, raw in enumerate(json.loads(data), 1)], sha256(data).hexdigest()


def _conversation(number: int, raw: dict[str, Any]) -> Conversation:
    said = raw["conversation"]
    sessions = {int(found[1]): said[key] for key in said if (found := _SESSION.fullmatch(key)) and said[key]}
    dates = {session: said.get(f"session_{session}_date_time", "") for session in sessions}
    conversation = Conversation(number, f"/home/mira/talks/{number:02}", dict(sorted(sessions.items())), dates)
    for question in raw["qa"]:
        _add_question(conversation, question)
    return conversation


def _add_question(conversation: Conversation, raw: dict[str, Any]) -> None:
    known = {(s, t) for s, turns in conversation.sessions.items() for t, _ in enumerate(turns, 1)}
    gold = [(s, t) for s, t in evidence_ids(raw.get("evidence") or []) if (s, t) in known]
    if not gold:
        conversation.without_evidence += 1
        return
    sessions = frozenset(conversation.thread(s) for s, _ in gold)
    turns = frozenset(conversation.turn(s, t) for s, t in gold)
    conversation.questions.append(Question(raw["question"], raw["category"], sessions, turns))


def turn_text(turn: dict[str, Any]) -> str:
    """Return a turn as text: who spoke, what, and the caption of a picture that was shown."""
    caption = turn.get("blip_caption")
    return f"{turn['speaker']}: {turn['text']}" + (f" [shares {caption}]" if caption else "")


def write_transcripts(conversation: Conversation, config: Path) -> None:
    """Write a conversation below a Claude Code configuration folder."""
    folder = config / "projects" / project_folder(conversation.cwd)
    folder.mkdir(parents=True, exist_ok=True)
    for session, turns in conversation.sessions.items():
        thread = conversation.thread(session)
        texts = [(0, conversation.dates[session]), *((t, turn_text(turn)) for t, turn in enumerate(turns, 1))]
        parent: str | None = None
        lines: list[bytes] = []
        for number, text in texts:
            uid = conversation.turn(session, number)
            stamp = f"2026-01-{session % 28 + 1:02}T{number // 60:02}:{number % 60:02}:00.000Z"
            lines.append(
                json_line({
                    "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": conversation.cwd,
                    "sessionId": stable_uuid("locomo-session", conversation.number, session), "version": "2.1.197",
                    "gitBranch": "", "type": "user", "promptId": thread, "uuid": uid, "timestamp": stamp,
                    "message": {"role": "user", "content": text},
                })
            )  # fmt: skip
            parent = uid
        (folder / f"{stable_uuid('locomo-session', conversation.number, session)}.jsonl").write_bytes(b"".join(lines))
