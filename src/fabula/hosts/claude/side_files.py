"""Files beside the transcripts: outputs of tools too large for them, backups of files, prompts of gone sessions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.fields import content_id, dict_of, text_of, time_of
from fabula.kernel.ids import derived_id
from fabula.kernel.records import Block, Record, SourceFile

if TYPE_CHECKING:
    from collections.abc import Container

    from fabula.kernel.records import Kind


class ToolResultNormaliser:
    """``tool-results/NAME.txt``: the whole output whose stub lies in the transcript; NAME is often the tool id."""

    def __init__(self, file: SourceFile) -> None:
        self.state: dict[str, Any] = {}
        self._file = file

    def normalise(self, value: dict[str, Any], offset: int, length: int) -> Record | str:
        """Return the output as a result; a picture or another binary file is kept without text."""
        name, text = os.path.basename(self._file.path), text_of(value.get("text"))
        block = Block("result", text, tool_id=name.partition(".")[0], input={"persisted": self._file.path})
        record = _file_record(self._file, "result", block, offset, length)
        record.spawned_by = self._file.path  # what the stub's block calls ``persisted``: its thread is this one's
        return record


class BackupNormaliser:
    """``file-history/SESSION/HEX@vN``: the bytes of a file before an edit; snapshots name it."""

    def __init__(self, file: SourceFile) -> None:
        self.state: dict[str, Any] = {}
        self._file = file

    def normalise(self, value: dict[str, Any], offset: int, length: int) -> Record | str:
        """Return the contents as a document that snapshots refer to by its name."""
        block = Block("document", text_of(value.get("text")), input={"backup": os.path.basename(self._file.path)})
        return _file_record(self._file, "snapshot", block, offset, length)


def _file_record(file: SourceFile, kind: Kind, block: Block, offset: int, length: int) -> Record:
    uid = derived_id("claude", file.kind, file.session, os.path.basename(file.path), offset)
    time = file.mtime_ns // 1_000_000 if file.mtime_ns >= 0 else None  # a file that is gone has no time
    return Record(
        uid, file.session, kind, "tool" if kind == "result" else "system", offset, length, time,
        blocks=[block], raw_type=file.kind, has_id=False,
    )  # fmt: skip


class HistoryNormaliser:
    """``history.jsonl``: every prompt a person typed, kept longer than the transcripts.

    A prompt becomes a record (``raw_type`` ``history``) only when its session has no transcript on disk. State:
    ``read_to``, up to where that was decided, so that a record once made is read the same later.
    """

    def __init__(self, state: dict[str, Any] | None, transcripts: Container[str]) -> None:
        self.state: dict[str, Any] = dict(state) if state else {"read_to": 0}
        self._decided = int(self.state["read_to"])
        self._transcripts = transcripts

    def normalise(self, value: dict[str, Any], offset: int, length: int) -> Record | str:
        """Return the prompt, with what was pasted into it, or the kind under which it is skipped."""
        self.state["read_to"] = max(self.state["read_to"], offset + length)
        text, project, stamp = text_of(value.get("display")), text_of(value.get("project")), value.get("timestamp")
        if not text:
            return "foreign"
        session = text_of(value.get("sessionId")) or derived_id("claude", "history", project)
        if offset >= self._decided and session in self._transcripts:
            return "in-transcript"
        pasted = [text_of(dict_of(paste).get("content")) for paste in dict_of(value.get("pastedContents")).values()]
        return Record(
            content_id(session, "history", [stamp, text], offset), session, "prompt", "user", offset, length,
            time_of(stamp), blocks=[Block("text", part) for part in (text, *pasted) if part], cwd=project,
            raw_type="history", has_id=False,
        )  # fmt: skip


class SkippingNormaliser:
    """Files that are sealed, and whose objects are no records: counted under one kind."""

    def __init__(self, kind: str) -> None:
        self.state: dict[str, Any] = {}
        self._kind = kind

    def normalise(self, value: dict[str, Any], offset: int, length: int) -> Record | str:  # noqa: ARG002  # the protocol's
        """Return the kind."""
        return self._kind
