"""Claude Code's records as values of the kernel: the envelope, and one reader for each type.

Joins that the pipeline can make from a record:

- a result's call: ``Block.tool_id``; the record that holds it: ``Record.source`` (``sourceToolAssistantUUID``);
- a subagent's spawning call: ``Record.spawned_by`` of every record in a subagent's file is the tool id that its
  ``.meta.json`` names, else the agent id; calls give tool ids, and the result block of a spawning call has
  ``input["agentId"]``;
- a result kept in a file of its own: ``input["persisted"]`` of the result block is the path, given only when it lies
  in this session's ``tool-results`` folder (whether it exists and is no link is for whoever opens it);
- the record that a ``summary`` line titles: ``Record.source`` (its session owns the title, not this file's);
- a compaction's old leaf: ``Record.source`` of the boundary; a queued prompt's identity: ``Record.source``;
- backups of files: ``input["backups"]`` of a snapshot's block, path → what the host wrote;
- the thread that a composed session's seam stands before: ``input`` of the boundary's block (session, thread, title).

``toolUseResult`` is never text: it repeats the result, and holds whole copies of edited files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.attachments import read_attachment
from fabula.hosts.claude.blocks import read_blocks, typed_blocks
from fabula.hosts.claude.classify import user_kind
from fabula.hosts.claude.fields import content_id, dict_of, text_of, time_of
from fabula.hosts.claude.seams import COPY, seam_facts
from fabula.hosts.claude.unnamed import QUIET, Draft, is_unnamed, read_unnamed
from fabula.kernel.records import SLIMMED_KEY, Block, Record, SourceFile, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.hosts.claude.lines import Line, Message
    from fabula.hosts.claude.meta import AgentMeta
    from fabula.kernel.records import BlockKind, Kind
    from fabula.record.sources import TypedLines

Place = tuple[int, int]  # offset and length in the file

_SUBAGENTS = ("subagent", "compaction")


class TranscriptNormaliser:
    """Normalises one transcript: a main session's or a subagent's (``record.sources.Normaliser``).

    State: ``session``, the session id last seen in the file, for records that name none; ``started``, whether the
    task of a subagent was met.
    """

    def __init__(
        self, file: SourceFile, state: dict[str, Any] | None, results_folder: str, meta: AgentMeta | None = None
    ) -> None:
        self.state: dict[str, Any] = dict(state) if state else {"session": file.session, "started": False}
        self._file_session = file.session
        self._subagent = file.session if file.kind in _SUBAGENTS else ""
        self._named_last = ""  # the session id of the last record, where the id it names decides
        self._parent_session = (meta.parent if meta else "") or file.parent_session
        self._spawned_by = (meta.tool_id if meta else "") or self._subagent
        self._description = meta.description if meta else ""
        self._results_folder = results_folder

    @staticmethod
    def typed_lines() -> TypedLines:
        """Offer to read the common lines as typed values."""
        from fabula.hosts.claude.lines import line_decoder  # only scans read many

        return line_decoder()

    def normalise(self, value: dict[str, Any] | Line, offset: int, length: int) -> Record | str:
        """Return the record in ``value``, or the kind under which it is skipped. Never raises."""
        if not isinstance(value, dict):
            return self._typed(value, offset, length)
        kind = value.get("type")
        if not isinstance(kind, str):
            return "foreign"
        reader = _READERS.get(kind)
        if reader is not None:
            if not isinstance(value.get("uuid"), str) and _is_foreign(value):
                return "foreign"
            return reader(self, value, (offset, length))
        if is_unnamed(kind):
            return self._unnamed(kind, read_unnamed(kind, value), value, (offset, length))
        if kind in QUIET:
            return kind
        return self._unknown(value, (offset, length))

    # ── typed lines: the same steps on fields that need no check ─────

    def _typed(self, line: Line, offset: int, length: int) -> Record:
        message = line.message
        if line.type == "progress" or message is None:
            return self._typed_record(line, offset, length, [])
        record = self._typed_record(line, offset, length, typed_blocks(message.content))
        if line.type == "assistant":
            _read_response(record, line, message)
        else:
            self._read_words(record, line)
        return record

    def _read_words(self, record: Record, line: Line) -> None:
        blocks = record.blocks
        record.kind = user_kind(
            blocks, line.is_compact_summary, line.interrupted_message_id, line.origin, line.is_meta, record.sidechain
        )
        record.role = _USER_ROLES.get(record.kind, "user")
        record.source, record.prompt_id = line.source_tool or "", line.prompt_id or ""
        if record.kind == "result":
            outcome = line.tool_use_result
            agent, persisted = getattr(outcome, "agent_id", None), getattr(outcome, "persisted_output_path", None)
            self._note_joins(blocks, text_of(agent), text_of(persisted))
        else:
            self._note_start(record, line.prompt_source)

    def _typed_record(self, line: Line, offset: int, length: int, blocks: list[Block]) -> Record:
        """Read the envelope; kind and role are a progress record's."""
        named, entry, forked = line.session_id, line.entrypoint, line.forked_from
        session = self._named_last if named == self._named_last != "" else self._session(named)
        origin = text_of(forked.get("sessionId")) if isinstance(forked, dict) else ""
        return Record(
            line.uuid or "", session, "progress", "system", offset, length, time_of(line.timestamp),
            line.parent_uuid or "", "", "", line.is_sidechain is True or self._subagent != "", self._spawned_by, blocks,
            "", 0, line.cwd or "", line.git_branch or "", line.type,
            sdk=entry is not None and entry.startswith("sdk"), parent_session=origin or self._parent_session,
        )  # fmt: skip

    # ── lines of any shape ───────────────────────────────────────────

    def _user(self, value: dict[str, Any], place: Place) -> Record:
        message = value.get("message")
        blocks = read_blocks(message.get("content") if isinstance(message, dict) else None)
        from_agent = bool(self._subagent) or value.get("isSidechain") is True
        get = value.get
        kind = user_kind(
            blocks, get("isCompactSummary"), get("interruptedMessageId"), get("origin"), get("isMeta"), from_agent
        )
        record = self._record(value, place, kind, _USER_ROLES.get(kind, "user"), blocks)
        record.source = text_of(value.get("sourceToolAssistantUUID"))
        record.prompt_id = text_of(value.get("promptId"))
        if kind == "result":
            outcome = dict_of(value.get("toolUseResult"))
            self._note_joins(blocks, text_of(outcome.get("agentId")), text_of(outcome.get("persistedOutputPath")))
        elif kind == "notice" and (seam := seam_facts(value)):
            record.kind, record.blocks = "boundary", [Block("other", block.text, input=seam) for block in blocks]
        else:
            self._note_start(record, value.get("promptSource"))
        return record

    def _note_start(self, record: Record, prompt_source: object) -> None:
        if prompt_source == "sdk":
            record.sdk = True
        if record.kind == "task" and not self.state["started"] and self._subagent:
            self.state["started"] = True
            record.title, record.title_rank = self._description, 2 if self._description else 0

    def _note_joins(self, blocks: list[Block], agent: str, persisted: str) -> None:
        """Put what only ``toolUseResult`` tells into the result's block: the agent it started, the file it lies in."""
        block = next(block for block in blocks if block.kind == "result")
        if block.text.startswith("<persisted-output>"):
            persisted = persisted or _stub_path(block.text)
        if agent:
            block.input = {"agentId": agent}
        if persisted and (path := self._own_result(persisted)):
            block.input = {**(block.input or {}), "persisted": path}

    def _own_result(self, named: str) -> str:
        """Return where the named file lies in this session's folder; the path as written may be another machine's."""
        folder, _, name = named.replace("\\", "/").rpartition("/")
        session = self._results_folder.replace("\\", "/").rsplit("/", 2)[-2:]
        if not self._results_folder or folder.rsplit("/", 2)[-2:] != session or name in ("", ".", ".."):
            return ""
        return f"{self._results_folder}/{name}"

    def _assistant(self, value: dict[str, Any], place: Place) -> Record:
        message = value.get("message")
        if not isinstance(message, dict):
            return self._record(value, place, "other", "assistant", [])
        blocks = read_blocks(message.get("content"))
        if message.get("model") == "<synthetic>" or value.get("isApiErrorMessage") is True:
            return self._record(value, place, "notice", "system", blocks)
        record = self._record(value, place, _assistant_kind(blocks), "assistant", blocks)
        record.usage = _usage(value, message, record.uid)
        return record

    def _system(self, value: dict[str, Any], place: Place) -> Record:
        subtype = text_of(value.get("subtype"))
        text = text_of(value.get("content")) or _system_text(value)
        kind: Kind = _SYSTEM_KINDS.get(subtype, "system")
        record = self._record(value, place, kind, "system", [Block("text", text)] if text else [])
        record.raw_type = f"system:{subtype}" if subtype else "system"
        if kind == "boundary":
            record.source = text_of(value.get("logicalParentUuid"))
        return record

    def _attachment(self, value: dict[str, Any], place: Place) -> Record:
        kind, role, blocks, queued = read_attachment(value)
        record = self._record(value, place, kind, role, blocks)
        record.source = queued
        return record

    def _progress(self, value: dict[str, Any], place: Place) -> Record:
        return self._record(value, place, "progress", "system", [])

    def _record(self, value: dict[str, Any], place: Place, kind: Kind, role: str, blocks: list[Block]) -> Record:
        """Read the envelope."""
        get = value.get
        offset, length = place
        named = get("sessionId")
        session = self._named_last if named == self._named_last != "" else self._session(named)
        uid, parent, cwd, branch, entry = (
            get("uuid"), get("parentUuid"), get("cwd"), get("gitBranch"), get("entrypoint"),
        )  # fmt: skip
        has_id = isinstance(uid, str) and uid != ""
        forked, copied = get("forkedFrom"), get(COPY)
        origin = text_of(forked.get("sessionId")) if isinstance(forked, dict) else ""
        record = Record(
            uid if has_id else self._identity(value, kind, value, offset),  # type: ignore[arg-type]  # text when has_id
            session,
            kind,
            role,
            offset,
            length,
            time_of(get("timestamp")),
            parent if isinstance(parent, str) else "",
            "",
            "",
            get("isSidechain") is True or self._subagent != "",
            self._spawned_by,
            blocks,
            "",
            0,
            cwd if isinstance(cwd, str) else "",
            branch if isinstance(branch, str) else "",
            value["type"],
            None,
            has_id,
            isinstance(entry, str) and entry.startswith("sdk"),
            parent_session=origin or self._parent_session,
            made_from=copied if isinstance(copied, str) else "",
        )
        if SLIMMED_KEY in value:
            record.slimmed = True
        return record

    def _session(self, named: object) -> str:
        """The session of a record: a subagent's own id; else the one it names, else the one named last."""
        if self._subagent:
            if not self._parent_session and isinstance(named, str):
                self._parent_session = named  # the old layout: only the records name the session that spawned them
            return self._subagent
        if isinstance(named, str) and named:
            self.state["session"] = self._named_last = named
            return named
        return str(self.state["session"])

    def _identity(self, value: dict[str, Any], kind: str, content: object, offset: int) -> str:
        """The id of a record without uuid, the same whenever it is read alone: what was read before plays no part."""
        return content_id(text_of(value.get("sessionId")) or self._file_session, kind, content, offset)

    def _unnamed(self, kind: str, draft: Draft | None, value: dict[str, Any], place: Place) -> Record | str:
        session = self._session(value.get("sessionId"))
        offset, length = place
        if draft is None:
            return kind
        return Record(
            content_id("", kind, draft.identity, offset)
            if draft.anywhere
            else self._identity(value, kind, draft.identity, offset),
            session,
            draft.kind,
            "user" if kind in ("custom-title", "last-prompt") else "system",
            offset,
            length,
            draft.time,
            source=draft.source,
            sidechain=self._subagent != "",
            spawned_by=self._spawned_by,
            blocks=draft.blocks,
            title=draft.title,
            title_rank=draft.title_rank,
            raw_type=kind,
            has_id=False,
            parent_session=self._parent_session,
        )

    def _unknown(self, value: dict[str, Any], place: Place) -> Record | str:
        """A type of a later release is kept as it is; an object that is nobody's record is foreign."""
        if not isinstance(value.get("uuid"), str) and _is_foreign(value):
            return "foreign"
        return self._record(value, place, "other", "", [])


def _is_foreign(value: dict[str, Any]) -> bool:
    """Whether an object without uuid, though it has a type, bears no other mark of this host."""
    marks = (value.get("message"), value.get("attachment"))
    return not isinstance(value.get("sessionId"), str) and not any(isinstance(mark, dict) for mark in marks)


def _assistant_kind(blocks: list[Block]) -> Kind:
    """Prose beats a call beats a thought: old records held them together."""
    if len(blocks) == 1:
        return _ASSISTANT_KINDS.get(blocks[0].kind, "other")
    kinds = {block.kind for block in blocks if block.kind != "text" or block.text.strip()}
    for kind, name in _ASSISTANT_KINDS.items():
        if kind in kinds:
            return name
    return "reply" if any(block.kind == "text" for block in blocks) else "other"


def _read_response(record: Record, line: Line, message: Message) -> None:
    if message.model == "<synthetic>" or line.is_api_error_message is True:
        record.kind, record.role = "notice", "system"
        return
    record.kind, record.role = _assistant_kind(record.blocks), "assistant"
    usage = message.usage
    if usage is not None:
        record.usage = _billed(
            message.id, line.request_id, record.uid, message.model, usage.input_tokens, usage.output_tokens,
            usage.cache_read_input_tokens, usage.cache_creation_input_tokens,
        )  # fmt: skip


def _usage(value: dict[str, Any], message: dict[str, Any], uid: str) -> Usage | None:
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    get = usage.get
    return _billed(
        message.get("id"), value.get("requestId"), uid, message.get("model"), get("input_tokens"),
        get("output_tokens"), get("cache_read_input_tokens"), get("cache_creation_input_tokens"),
    )  # fmt: skip


def _billed(
    response: object, request: object, uid: str, model: object,
    fresh: object, written: object, read: object, cached: object,
) -> Usage:  # fmt: skip
    """The tokens of the response; one without any id of its own is told apart by its record."""
    response = response if isinstance(response, str) else ""
    request = request if isinstance(request, str) else ""
    return Usage(
        f"{response}:{request}" if response or request else uid,
        model if isinstance(model, str) else "",
        fresh if type(fresh) is int else 0,
        written if type(written) is int else 0,
        read if type(read) is int else 0,
        cached if type(cached) is int else 0,
    )


def _system_text(value: dict[str, Any]) -> str:
    """The text of a system record that has no content: what an API error or a hook said."""
    error = dict_of(value.get("error"))
    inner = dict_of(dict_of(error.get("error")).get("error")) or dict_of(error.get("error"))
    hooks = value.get("hookErrors")
    texts = [text_of(error.get("message")) or text_of(inner.get("message"))]
    texts += [text for text in hooks if isinstance(text, str)] if isinstance(hooks, list) else []
    return "\n".join(text for text in texts if text)


def _stub_path(stub: str) -> str:
    """The path in a ``<persisted-output>`` stub's first sentence."""
    _, found, behind = stub[:4096].partition("saved to: ")
    return behind.partition("\n")[0].strip() if found else ""


#: In the order of what a record is called when it holds several.
_ASSISTANT_KINDS: dict[BlockKind, Kind] = {"text": "reply", "call": "call", "thought": "thought", "result": "result"}
_USER_ROLES: dict[Kind, str] = {"result": "tool", "notice": "system", "summary": "system"}
_SYSTEM_KINDS: dict[str, Kind] = {"compact_boundary": "boundary", "local_command": "command"}
_READERS: dict[str, Callable[[TranscriptNormaliser, dict[str, Any], Place], Record]] = {
    "user": TranscriptNormaliser._user,  # noqa: SLF001  # the table of the class above
    "assistant": TranscriptNormaliser._assistant,  # noqa: SLF001
    "system": TranscriptNormaliser._system,  # noqa: SLF001
    "attachment": TranscriptNormaliser._attachment,  # noqa: SLF001
    "progress": TranscriptNormaliser._progress,  # noqa: SLF001
}
