"""A transcript that Fabula rewrote, opened again by the real Claude Code: the model is sent what was intended."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clients import HERE, Client, log_of
from product import Product

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROMPT = "Please write a tide table and read it."
RESUMED = "Which tides are in the table?"
QUIET_SECONDS = 120  # a transcript written longer ago belongs to no session that goes on

Said = tuple[str, ...]  # a block as far as it matters here


@dataclass(frozen=True, slots=True)
class Slimmed:
    """A session of Claude Code in a home of its own, with a record over it."""

    client: Client
    product: Product
    scenario: Path
    session: str

    @property
    def transcript(self) -> Path:
        """The session's file."""
        return next(self.client.home.glob(f".claude/projects/*/{self.session}.jsonl"))

    def resume(self) -> list[Said]:
        """Resume the session as it is on disk; return what the model was sent, without what is new."""
        self.client.run(self.scenario, RESUMED, resume=self.session)
        return sent(self.scenario, RESUMED)

    def rest(self) -> None:
        """Let the transcript look as if the session had ended a while ago."""
        then = self.transcript.stat().st_mtime - QUIET_SECONDS
        os.utime(self.transcript, (then, then))


def run_session(client: Client, folder: Path, command: str) -> Slimmed:
    """Let the client write a session with long inputs and results."""
    scenario = folder / "slim.json"
    text = (HERE / "scenarios" / "claude-slim.json").read_text(encoding="utf-8")
    scenario.write_text(text.replace("@PROJECT@", str(client.project)), encoding="utf-8")
    session = json.loads(client.run(scenario, PROMPT))["session_id"]
    product = Product(command, folder / "slim-record", client.home, client.project)
    return Slimmed(client, product, scenario, session)


def pruned_session_resumes(made: Slimmed) -> None:
    """The pruned session resumes with exactly the messages that its file holds; the bulk is not among them."""
    before, lines = intended(made.transcript), made.transcript.read_bytes().splitlines()
    made.rest()
    done = made.product.data("record", "prune", made.session, "--apply")
    assert done["applied"], done
    assert done["after"] < done["before"] / 2, done
    after = intended(made.transcript)
    assert [said[:3] for said in after if said[1] != "text"] == [said[:3] for said in before if said[1] != "text"]
    assert "slack water" in str(before)
    assert "slack water" not in str(after)
    assert "1234" not in str(after)
    sent = made.resume()
    assert sent == after, (sent, after)
    for line in lines:
        uuid = json.loads(line).get("uuid")
        assert uuid is None or made.product.output("record", "block", uuid) == line, line


def undone_session_resumes(made: Slimmed) -> None:
    """What was pruned comes back, the exchange since is kept, and the session resumes with all of it."""
    made.rest()
    slim = intended(made.transcript)
    done = made.product.data("record", "undo", made.session, "--apply")
    assert done["applied"], done
    assert done["kept"] > 0, done
    whole = intended(made.transcript)
    assert [said[:2] for said in whole] == [said[:2] for said in slim]
    assert "slack water" in str(whole)
    assert "1234" in str(whole)
    assert ("user", "text", RESUMED) in whole
    sent = made.resume()
    assert sent == whole, (sent, whole)


def extracted_session_resumes(made: Slimmed) -> None:
    """A compacted session whose walls were taken out resumes with all that came before them, slimmed."""
    said = intended(made.transcript)
    made.client.run(made.scenario, "/compact", resume=made.session)
    made.rest()
    assert made.product.data("record", "prune", made.session, "--mode", "extract", "--apply")["applied"]
    whole = intended(made.transcript)[: len(said)]
    assert [each[:2] for each in whole] == [each[:2] for each in said]
    sent = made.resume()
    assert sent[: len(whole)] == whole, (sent, whole)
    assert "This session is being continued" not in str(sent)


CHECKS = (pruned_session_resumes, undone_session_resumes, extracted_session_resumes)


def intended(transcript: Path) -> list[Said]:
    """Return the blocks of the conversation that a transcript holds, read by no code of Fabula."""
    records = [json.loads(line) for line in transcript.read_bytes().splitlines()]
    return calls_first(
        said
        for record in records
        if record.get("type") in ("user", "assistant") and not record.get("isSidechain") and not record.get("isMeta")
        for said in blocks(record["message"])
    )


def sent(scenario: Path, prompt: str) -> list[Said]:
    """Return the blocks that came before a prompt in the last request with it, without the client's own notices."""
    requests = [json.loads(line)["messages"] for line in log_of(scenario).read_bytes().splitlines()]
    said = [
        [block for message in messages if message["role"] != "system" for block in blocks(message)]
        for messages in requests
    ]
    return calls_first(next(each[:-1] for each in reversed(said) if each and each[-1] == ("user", "text", prompt)))


def calls_first(told: Iterable[Said]) -> list[Said]:
    """Return blocks with the calls of every run of calls and results before the results.

    The client writes a result as soon as it is there, perhaps before the next of several parallel calls, but sends all
    calls of an answer in one message: which of the two a file holds depends on how busy the machine was.
    """
    found: list[Said] = []
    for _, run in groupby(told, key=lambda said: said[1] in ("tool_use", "tool_result")):
        found += sorted(run, key=lambda said: said[1] == "tool_result")
    return found


def blocks(message: dict[str, Any]) -> Iterator[Said]:
    """Yield a message's blocks: (role, kind, text or id, what else counts)."""
    content, role = message["content"], message["role"]
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        kind = block["type"]
        if kind == "text" and not block["text"].lstrip().startswith("<system-reminder>"):
            yield role, kind, block["text"]
        elif kind == "thinking":
            yield role, kind, block["thinking"], block["signature"]
        elif kind == "tool_use":
            yield role, kind, block["id"], block["name"], json.dumps(block["input"], sort_keys=True)
        elif kind == "tool_result":
            yield role, kind, block["tool_use_id"], json.dumps(block["content"]), str(block.get("is_error", False))
