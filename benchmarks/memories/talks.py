"""LoCoMo's sessions as memories: each conversation is a workspace, each session one memory of the day it took place.

The claim says which session it was and when; each turn is a paragraph.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from locomo.dataset import turn_text
from memories.questions import Question

from fabula.memory.store.values import NewMemory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from locomo.dataset import Conversation
    from memories.corpus import Corpus


def workspace_of(conversation: Conversation) -> str:
    """Return the workspace that a conversation becomes."""
    return f"talks-{conversation.number:02}"


def sessions(conversations: Sequence[Conversation]) -> Iterator[tuple[str, int, NewMemory]]:
    """Return every session: its id, when it took place (ms), and the memory."""
    for one in conversations:
        for number, turns in one.sessions.items():
            date = one.dates[number]
            memory = NewMemory(
                f"Session {number}", "episodic", f"Session {number} took place at {date}.",
                tuple(turn_text(turn) for turn in turns), workspace=workspace_of(one),
            )  # fmt: skip
            yield one.thread(number), moment_of(date), memory


def moment_of(date: str) -> int:
    """Return ms of a date as the data set writes it (``1:56 pm on 8 May, 2023``)."""
    return int(datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp() * 1000)


def questions(conversations: Sequence[Conversation]) -> list[Question]:
    """Return the questions; those of a conversation are one group."""
    return [
        Question(str(asked.category), asked.text, asked.sessions, frozenset(), workspace_of(one), workspace_of(one))
        for one in conversations
        for asked in one.questions
    ]


def foreign(conversations: Sequence[Conversation]) -> list[Question]:
    """Return every fifth question of the next conversation, asked of each: nothing answers it."""
    return [
        Question("foreign", asked.text, frozenset(), frozenset(), workspace_of(one), workspace_of(one))
        for number, one in enumerate(conversations)
        for asked in conversations[(number + 1) % len(conversations)].questions[::5]
    ]


def write_all(corpus: Corpus, conversations: Sequence[Conversation]) -> dict[str, str]:
    """Write every session, the oldest first; return ids by path."""
    places: dict[str, str] = {}
    for name, moment, memory in sorted(sessions(conversations), key=lambda one: one[1]):
        corpus.clock.now = moment
        places[corpus.write(memory)] = name
    return places
