"""The exhaustive yardstick: plain FTS5 over single records, every term of a query joined by OR, no cut before ranking.

Built from the transcripts alone, with none of the project's own reading or ranking; a thread counts as good as its best
record, or as the sum of its records (two yardsticks: ours has to reach the better one).
"""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

RESULT_LIMIT = 2_048  # characters of one tool result that are searched


class Exhaustive:
    """An index in memory of the records whose thread is known."""

    def __init__(self, paths: Sequence[Path], thread_of: dict[str, int]) -> None:
        """Index the records in ``paths``; ``thread_of`` maps uuids to numbers of threads."""
        self._database = apsw.Connection(":memory:")
        self._database.execute("create virtual table texts using fts5(text, content='', tokenize='porter unicode61')")
        self._thread_of: list[int] = []
        self.text_bytes = 0
        seen: set[str] = set()
        with self._database:
            for uuid, text in records(paths):
                if uuid in thread_of and uuid not in seen:
                    seen.add(uuid)
                    self._thread_of.append(thread_of[uuid])
                    self.text_bytes += len(text.encode("utf-8", "replace"))
                    row = (len(self._thread_of), text.encode("utf-8", "replace").decode())
                    self._database.execute("insert into texts(rowid, text) values (?, ?)", row)

    def rank(self, query: str) -> tuple[list[int], list[int], float]:
        """Return threads by their best record, threads by the sum of their records, and the CPU seconds."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        began = time.process_time()
        best: dict[int, float] = {}
        total: dict[int, float] = {}
        for row, score in self._database.execute("select rowid, bm25(texts) from texts where texts match ?", (words,)):
            thread = self._thread_of[row - 1]
            best[thread] = min(best.get(thread, 0.0), score)
            total[thread] = total.get(thread, 0.0) + score
        ranked = sorted(best, key=best.__getitem__), sorted(total, key=total.__getitem__)
        return (*ranked, time.process_time() - began)


def records(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield the uuid and the text of every record that can be decoded line by line."""
    for path in paths:
        with path.open("rb") as lines:
            for line in lines:
                try:
                    record = json.loads(line.decode("utf-8", "replace"))
                except ValueError:
                    continue
                if isinstance(record, dict) and isinstance(record.get("uuid"), str):
                    text = text_of(record)
                    if text:
                        yield record["uuid"], text


def text_of(record: dict[str, Any]) -> str:
    """Return what a record says: text, thoughts, arguments of calls, the head of results."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text":
            parts.append(str(block.get("text")))
        elif block.get("type") == "thinking":
            parts.append(str(block.get("thinking")))
        elif block.get("type") == "tool_use":
            parts.extend(value for value in (block.get("input") or {}).values() if isinstance(value, str))
        elif block.get("type") == "tool_result":
            inner = block.get("content")
            texts = [inner] if isinstance(inner, str) else [str(part.get("text", "")) for part in inner or []]
            parts.append("\n".join(texts)[:RESULT_LIMIT])
    return "\n".join(parts)
