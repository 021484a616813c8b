"""What must hold of a record over the sessions of a real client; a failing check is an ``AssertionError``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setups import SETUPS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from product import Product
    from transcripts import Transcript

RARE = "marmalade-lighthouse"
ERROR = "AssertionError: the greeting lacks its comma"
#: Clients whose scenario starts a subagent.
WITH_SUBAGENT = frozenset(("claude", "opencode", "kimi", "goose"))
#: What was said, in the order in which it was said.
FIRST_THREAD = (
    *("Please write a greeting module", "I will write greeting.py first", RARE, "the greeting lacks its comma"),
    *("The comma is missing", "I chose a plain function over a class"),
)
SECOND_THREAD = ("Now make it polite", "as the harbour master asked")


@dataclass(slots=True)
class Sessions:
    """What a client left behind: its transcripts, the edited file, and the id of its session."""

    client: str
    session: str
    transcripts: list[Transcript]
    edited: Path
    content: str  # of the edited file, as the client left it


def scan_accounts_for_every_object(product: Product, made: Sessions) -> None:
    """The scan counts what the reference counts, and its sums are right."""
    files = {file["path"]: file for file in product.data("record", "scan")["files"]}
    for transcript in made.transcripts:
        account = files[transcript.name]
        assert (account["objects"], account["recovered"]) == transcript.count(), account
        assert account["objects"] == account["indexed"] + sum(account["skipped"].values()), account
        parts = account["span_bytes"] + account["gap_bytes"] + account["unreadable_bytes"]
        assert parts == transcript.size() or transcript.size() is None, account


def search_finds_what_was_said(product: Product, made: Sessions) -> None:
    """Prose, a rare word of a tool's output and a word of the resumed part lead to the session."""
    for query in ("why a plain function instead of a class", RARE, "what did the harbour master ask"):
        found = product.data("record", "search", query)
        assert made.session in json.dumps(found), f"{query}: {found}"


def threads_render_in_order(product: Product, made: Sessions) -> None:
    """Both prompts are threads, rendered in the order of events, and nothing of them is called abandoned."""
    texts = [product.data("record", "thread", thread)["text"] for thread in thread_ids(product, made)]
    for expected in (FIRST_THREAD, SECOND_THREAD):
        text = beginning_with(expected[0], texts)
        places = [text.find(said) for said in expected]
        assert min(places) >= 0, (expected, places, text)
        assert places == sorted(places), (expected, places, text)
        assert "abandoned" not in text.lower(), text
    if made.client in WITH_SUBAGENT:
        whole = "\n".join(texts)
        assert "greeting.py has two lines" in whole, whole
        assert "idechain" in whole, whole


def beginning_with(prompt: str, texts: list[str]) -> str:
    """Return the text in which the prompt stands first: a client may queue it in the thread before."""
    return min((text for text in texts if prompt in text), key=lambda text: text.find(prompt))


def blocks_are_exact(product: Product, made: Sessions) -> None:
    """Every record of every thread comes back as the bytes of a line or a row, and nothing else."""
    for thread in thread_ids(product, made):
        records = product.data("record", "thread", thread, "--raw")["records"]
        assert len(records) >= 2
        for record in records[:6]:
            block = product.output("record", "block", record["id"])
            assert any(transcript.holds(block) for transcript in made.transcripts), record


def file_history_ends_with_the_file(product: Product, made: Sessions) -> None:
    """The edited file's last version in the record is the file on disk, and every edit is there."""
    history = product.data("record", "file", str(made.edited))
    versions = history["versions"]
    assert len(versions) >= 3, versions
    shown = product.data("record", "file", str(made.edited), "--show", str(versions[-1]["number"]))
    assert shown["content"] == made.content, shown


def failure_is_known_with_its_resolution(product: Product, made: Sessions) -> None:
    """The error message leads to where it was met before and to what ended it."""
    occurrences = product.data("record", "failures", ERROR)["occurrences"]
    own = [one for one in occurrences if one["session"] == made.session]
    assert own, occurrences
    assert own[0]["match"] == 1, own
    assert own[0]["resolution"] is not None, own


def resuming_is_the_command_that_was_used(product: Product, made: Sessions) -> None:
    """The command that opens the session again is the one with which it was resumed."""
    words = product.data("record", "resume", made.session, "--print")["words"]
    assert words == [*SETUPS[made.client].opener, made.session], words


def sealed_transcripts_come_back(product: Product, made: Sessions) -> None:
    """With the transcripts gone, the vault gives every one of them back byte for byte."""
    for transcript in made.transcripts:
        assert transcript.is_same(product.output("record", "restore", transcript.name)), transcript.name


def thread_ids(product: Product, made: Sessions) -> list[str]:
    """Return the ids of the session's threads."""
    threads: list[dict[str, Any]] = product.data("record", "thread", made.session)["threads"]
    assert len(threads) == 2, threads
    return [thread["id"] for thread in threads]


READING: tuple[Callable[[Product, Sessions], None], ...] = (
    search_finds_what_was_said,
    threads_render_in_order,
    blocks_are_exact,
    file_history_ends_with_the_file,
    failure_is_known_with_its_resolution,
    resuming_is_the_command_that_was_used,
)
