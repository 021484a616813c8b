"""Claude Code sessions at random, of every shape that the client writes: for tests of what must hold whatever happened.

The same random numbers give the same session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.testing.transcripts import ClaudeSession

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from fabula.testing.transcripts import Call


def story(random: Random, *, seed: str = "story", prompts: int = 4) -> ClaudeSession:
    """Return a session of at least one and up to ``prompts`` threads.

    In it are parallel calls whose results come in any order, some late and some never, thoughts, abandoned branches,
    compactions, queued and last prompts, and records beside the conversation.
    """
    session = ClaudeSession(seed)
    late: list[tuple[Call, str]] = []
    if random.random() < 0.3:
        session.title(f"The title of {seed}", custom=random.random() < 0.5)
    for number in range(random.randint(1, prompts)):
        text = f"prompt {number} of {seed}"
        if random.random() < 0.3:
            session.other("queue-operation", operation="enqueue", content=text)
            session.other("queue-operation", operation="dequeue")
        session.prompt(text)
        for call, result in late:  # a call of the thread before is answered in this one
            leaf = session.leaf
            session.result(call, result)
            session.leaf = leaf
        late.clear()
        for step in range(random.randint(0, 4)):
            random.choice(_STEPS)(session, random, f"{number}.{step}", late)
        if random.random() < 0.7:
            session.reply(f"answer {number}")
        if random.random() < 0.4:
            session.other("last-prompt", lastPrompt=text, leafUuid=session.leaf)
    return session


def _think(session: ClaudeSession, random: Random, name: str, _: list[tuple[Call, str]]) -> None:
    session.reply(f"said {name}", thought=f"thought {name}" if random.random() < 0.7 else "")


def _work(session: ClaudeSession, random: Random, name: str, late: list[tuple[Call, str]]) -> None:
    calls = session.calls(*(("Bash", {"command": f"run {name}.{n}"}) for n in range(random.randint(1, 3))))
    random.shuffle(calls)
    for call in calls:
        fate = random.random()
        if fate < 0.75:
            session.result(call, f"output {name}", failed=random.random() < 0.2)
        elif fate < 0.9:
            late.append((call, f"late output {name}"))


def _give_up(session: ClaudeSession, random: Random, name: str, _: list[tuple[Call, str]]) -> None:
    with session.abandoned():
        session.reply(f"given up {name}")
        if random.random() < 0.5:
            session.tool("Read", {"file_path": f"/p/{name}"}, "text")


def _aside(session: ClaudeSession, random: Random, name: str, _: list[tuple[Call, str]]) -> None:
    if random.random() < 0.5:
        session.system("turn_duration", durationMs=5)
    else:
        session.other("mode", mode="normal")
        session.snapshot(session.leaf or "", {f"/p/{name}": f"backup-{name}@v1"})


def _compact(session: ClaudeSession, random: Random, name: str, _: list[tuple[Call, str]]) -> None:
    named = [record["uuid"] for record in session.records if "uuid" in record]
    session.compact(f"summary {name}", kept=random.sample(named, min(len(named), random.randint(0, 3))))


_STEPS: tuple[Callable[[ClaudeSession, Random, str, list[tuple[Call, str]]], None], ...] = (
    _think, _think, _work, _work, _work, _give_up, _aside, _compact,
)  # fmt: skip
