"""Records that the host writes without a uuid: titles, snapshots of files, queue operations, links.

They are re-appended often. Each gets an identity from what it says, so that copies of one saying coincide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.classify import marked_kind
from fabula.hosts.claude.fields import dict_of, text_of, time_of
from fabula.kernel.records import Block
from fabula.kernel.values import define, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.kernel.records import Kind

#: State of the client, of no use to a reader: counted as skipped under the host's own name.
QUIET = frozenset({
    "mode", "permission-mode", "agent-setting", "agent-color", "bridge-session", "worktree-state", "cost-state",
    "atis-latch", "attribution-snapshot", "content-replacement", "ended-by-model", "api-request", "fork-context-ref",
})  # fmt: skip


@define
class Draft:
    """What a record without uuid says. ``identity`` is what makes two of them the same."""

    kind: Kind
    identity: object
    blocks: list[Block] = field(default_factory=list)
    source: str = ""
    title: str = ""
    title_rank: int = 0
    time: int | None = None
    anywhere: bool = False  # the identity holds across sessions: forks repeat it


def read_unnamed(kind: str, value: dict[str, Any]) -> Draft | None:
    """Read a record of a known type without uuid; ``None`` when it says nothing worth keeping in the map."""
    reader = _READERS.get(kind)
    return reader(value) if reader else None


def is_unnamed(kind: str) -> bool:
    """Whether the host is known to write this type without uuid."""
    return kind in _READERS


def _titled(name: str, rank: int) -> Callable[[dict[str, Any]], Draft | None]:
    def read(value: dict[str, Any]) -> Draft | None:
        title = text_of(value.get(name)).strip()
        return Draft("title", title, [Block("text", title)], title=title, title_rank=rank) if title else None

    return read


def _summary(value: dict[str, Any]) -> Draft | None:
    title, leaf = text_of(value.get("summary")).strip(), text_of(value.get("leafUuid"))
    if not title:
        return None
    return Draft("title", [leaf, title], [Block("text", title)], leaf, title, 1, anywhere=bool(leaf))


def _last_prompt(value: dict[str, Any]) -> Draft | None:
    text = text_of(value.get("lastPrompt"))
    return Draft("other", text, [Block("text", text)], text_of(value.get("leafUuid"))) if text else None


def _queue_operation(value: dict[str, Any]) -> Draft | None:
    """A person's queued words may never become a user record: they stay findable, without counting as a turn."""
    text, stamp = text_of(value.get("content")), value.get("timestamp")
    if not text:
        return None
    return Draft("other" if marked_kind(text) else "attachment", [text, text_of(stamp)], [Block("text", text)],
                 time=time_of(stamp))  # fmt: skip


def _link(*names: str) -> Callable[[dict[str, Any]], Draft | None]:
    def read(value: dict[str, Any]) -> Draft | None:
        parts = [str(value[name]) for name in names if isinstance(value.get(name), str | int)]
        if not parts:
            return None
        return Draft("attachment", parts, [Block("text", " ".join(parts))], time=time_of(value.get("timestamp")))

    return read


def _snapshot(value: dict[str, Any]) -> Draft | None:
    snapshot = dict_of(value.get("snapshot"))
    backups = dict_of(snapshot.get("trackedFileBackups"))
    if not backups:
        return None
    message = text_of(snapshot.get("messageId")) or text_of(value.get("messageId"))
    return _backups(message, snapshot.get("timestamp"), backups)


def _snapshot_delta(value: dict[str, Any]) -> Draft | None:
    path, backup = text_of(value.get("trackingPath")), dict_of(value.get("backup"))
    message = text_of(value.get("snapshotMessageId")) or text_of(value.get("messageId"))
    return _backups(message, value.get("timestamp"), {path: backup}) if path else None


def _backups(message: str, stamp: object, backups: dict[str, Any]) -> Draft:
    block = Block("other", input={"backups": backups})
    return Draft("snapshot", [message, text_of(stamp), backups], [block], message, time=time_of(stamp),
                 anywhere=bool(message))  # fmt: skip


_READERS: dict[str, Callable[[dict[str, Any]], Draft | None]] = {
    "custom-title": _titled("customTitle", 3),
    "agent-name": _titled("agentName", 2),
    "ai-title": _titled("aiTitle", 2),
    "summary": _summary,
    "last-prompt": _last_prompt,
    "queue-operation": _queue_operation,
    "pr-link": _link("prRepository", "prNumber", "prUrl"),
    "frame-link": _link("title", "path", "frameUrl"),
    "file-history-snapshot": _snapshot,
    "file-history-delta": _snapshot_delta,
}
