"""Sessions that Fabula composed or took threads out of, opened by the real Claude Code: the model gets what was due."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clients import HERE, Client
from product import Product
from rewriting import Said, Slimmed, blocks, calls_first, sent

if TYPE_CHECKING:
    from collections.abc import Iterable

BUOYS, LAMPS, KEEPER = "Please write a list of buoys.", "And the lamps?", "Who is the keeper?"
RESUMED = "What do we know?"


@dataclass(frozen=True, slots=True)
class Told:
    """A session of three threads in a home of its own, with a record over it."""

    client: Client
    product: Product
    scenario: Path
    session: str

    def transcript(self, session: str) -> Path:
        """Return a session's file."""
        return next(self.client.home.glob(f".claude/projects/*/{session}.jsonl"))

    def threads(self, session: str) -> dict[str, str]:
        """Return a session's threads: how they begin → their ids."""
        found = self.product.data("record", "thread", session)["threads"]
        return {thread["opening"]: thread["id"] for thread in found}

    def resume(self, session: str) -> list[Said]:
        """Resume a session; return what the model was sent before the new prompt."""
        self.client.run(self.scenario, RESUMED, resume=session)
        return sent(self.scenario, RESUMED)


def run_session(client: Client, folder: Path, command: str) -> Told:
    """Let the client write three threads: thoughts, parallel calls, a failing one, a subagent."""
    scenario = folder / "compose.json"
    text = (HERE / "scenarios" / "claude-compose.json").read_text(encoding="utf-8")
    scenario.write_text(text.replace("@PROJECT@", str(client.project)), encoding="utf-8")
    session = json.loads(client.run(scenario, BUOYS))["session_id"]
    for prompt in (LAMPS, KEEPER):
        client.run(scenario, prompt, resume=session)
    return Told(client, Product(command, folder / "compose-record", client.home, client.project), scenario, session)


def composed_session_resumes(made: Told) -> None:
    """Two threads, turned round, resume as one conversation, each behind its seam: thoughts, parallel calls and all."""
    source = made.transcript(made.session)
    before, threads = source.read_bytes(), made.threads(made.session)
    own = made.product.data("record", "session", made.session)
    done = made.product.data("record", "compose", threads[KEEPER], threads[BUOYS], "--title", "Turned round", "--apply")
    assert [thread["id"] for thread in done["threads"]] == [threads[KEEPER], threads[BUOYS]]
    told = made.resume(done["session"])
    seams = [said[2] for said in told if said[1] == "text" and said[2].startswith("<fabula-seam")]
    assert [thread in seam for thread, seam in zip((threads[KEEPER], threads[BUOYS]), seams, strict=True)] == [True] * 2
    told = [said for said in told if said[2] not in seams]
    meant = [*thread_of(source, KEEPER), *thread_of(source, BUOYS)]
    assert unnamed(told) == unnamed(meant), (told, meant)
    assert sum(said[1] == "thinking" for said in told) == 3
    calls = [said[2] for said in told if said[1] == "tool_use"]
    assert sorted(calls) == sorted(said[2] for said in told if said[1] == "tool_result")
    assert not {said[2] for said in meant} & set(calls), "tool ids are those of the source"
    assert source.read_bytes() == before
    again = made.product.data("record", "session", made.session)
    assert again["threads"] == own["threads"], (again, own)
    assert again["usage"] == own["usage"], (again, own)
    new = made.product.data("record", "session", done["session"])
    assert [origin["thread"] for origin in new["composed_from"]] == [threads[KEEPER], threads[BUOYS]]
    assert new["usage"][0]["responses"] == 1, new["usage"]  # the answer to the resumed prompt alone


def excised_session_resumes(made: Told) -> None:
    """With its middle thread taken out the session resumes with the other two; the thread stays in the record."""
    path, threads = made.transcript(made.session), made.threads(made.session)
    meant = [*thread_of(path, BUOYS), *thread_of(path, KEEPER)]
    rest(made)
    done = made.product.data("record", "excise", made.session, threads[LAMPS], "--apply")
    assert done["applied"], done
    assert done["subagents"] == 1, done
    told = made.resume(made.session)
    assert told == meant, (told, meant)
    assert "Every buoy has a lamp" in made.product.data("record", "thread", threads[LAMPS])["text"]


def undone_excision_resumes(made: Told) -> None:
    """The thread comes back, and the exchange since stays."""
    rest(made)
    done = made.product.data("record", "undo", made.session, "--apply")
    assert done["applied"], done
    told = made.resume(made.session)
    assert ("user", "text", LAMPS) in told, told
    assert told.index(("user", "text", LAMPS)) < told.index(("user", "text", KEEPER)), told
    assert any(said[2] == "We know of buoys, of lamps and of the keeper." for said in told), told


CHECKS = (composed_session_resumes, excised_session_resumes, undone_excision_resumes)


def rest(made: Told) -> None:
    """Let the transcript look as if the session had ended a while ago."""
    Slimmed(made.client, made.product, made.scenario, made.session).rest()


def thread_of(transcript: Path, prompt: str) -> list[Said]:
    """Return the blocks from a prompt to the next one, read from a transcript by no code of Fabula."""
    found: list[Said] = []
    inside = False
    for record in map(json.loads, transcript.read_bytes().splitlines()):
        if record.get("type") not in ("user", "assistant") or record.get("isSidechain") or record.get("isMeta"):
            continue
        said = list(blocks(record["message"]))
        if said[0][:2] == ("user", "text"):
            inside = said[0] == ("user", "text", prompt)
        found += said if inside else []
    assert found, prompt
    return calls_first(found)


def unnamed(told: Iterable[Said]) -> list[Any]:
    """Return blocks with the ids of their tool calls numbered in the order in which they come."""
    numbers: dict[str, str] = {}
    plain = []
    for role, kind, *rest_of in told:
        if kind in ("tool_use", "tool_result"):
            rest_of[0] = numbers.setdefault(rest_of[0], f"tool {len(numbers)}")
        plain.append((role, kind, *(re.sub(r"agentId: \w+", "agentId", part) for part in rest_of)))
    return plain
