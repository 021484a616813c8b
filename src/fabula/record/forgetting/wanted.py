"""What a person wants forgotten: sessions, threads, records, or whatever holds a text."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any

from fabula.kernel.deadline import within
from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import pack_id, unpack_id
from fabula.kernel.records import Record
from fabula.kernel.values import define, field, frozen
from fabula.record.forgetting.marks import marks_of_ids
from fabula.record.reading.identify import identify
from fabula.record.vault.tombstones import Tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from fabula.record.forgetting.survey import Sight
    from fabula.record.loader import Loader
    from fabula.record.reading.identify import Target, TargetKind
    from fabula.record.vault.values import SourceEntry

ECHO_CHARACTERS = 12  # shorter texts without an id of their own are not taken for a repetition
_SAID = ("prompt", "task", "command")
_HEX = re.compile(rb"[0-9a-fA-F]{24,}")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}")
_ESCAPE = re.compile(r'\\+(?:u([0-9a-fA-F]{4})|([nrt])|(["/]))')
PATTERN_SECONDS = 10.0  # that a pattern may take on one record
_TOO_WIDE = 3  # characters that a pattern must have


@define
class Wanted:
    """What goes. ``sessions`` go as a whole: every file of theirs, and every record that names them."""

    uids: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)  # the files of these sessions, also where only their contents tell
    others: set[str] = field(default_factory=set)  # uids in the files of these sessions that other sessions own
    named: set[str] = field(default_factory=set)  # sessions of which threads or records go
    said: list[str] = field(default_factory=list)  # prompts of these: hosts repeat them without an id
    threads: set[str] = field(default_factory=set)
    pattern: re.Pattern[str] | None = None


@frozen
class Named:
    """Something that was named on the command line, as it was found."""

    kind: str
    id: str


def want(
    connection: apsw.Connection,
    loader: Loader,
    targets: Sequence[str],
    pattern: re.Pattern[str] | None,
    kinds: Sequence[TargetKind] = ("session", "thread", "record"),
) -> tuple[Wanted, list[Named]]:
    """Look up what was named; an id of two things means the larger one. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``."""
    wanted = Wanted(pattern=pattern)
    named = []
    for text in targets:
        target = identify(connection, text, *kinds)
        named.append(Named(target.kind, target.uid))
        if target.kind == "session":
            _want_session(connection, wanted, target.id)
        else:
            _want_part(connection, loader, wanted, target)
    if wanted.sessions:
        wanted.others = set(_uids(connection, _SHARED, [*_rows_of(connection, wanted.sessions)])) - wanted.uids
    return wanted, named


_FAMILY = """
with recursive family(id) as (
  select ? union select s.id from sessions s join family f on s.parent_id = f.id
  where s.kind in ('subagent', 'compaction'))
select s.id, s.uid from sessions s join family f on f.id = s.id
"""
_FILES = """select path from files where session_id in ({0})
 union select f.path from files f join records r on r.file_id = f.id where f.kind <> 'history'
 group by f.path having min(r.session_id in ({0})) = 1"""
_OWNED = "select uid from records where session_id in ({})"
_SHARED = """select r.uid from records r join files f on f.id = r.file_id
 where f.session_id in ({0}) and r.session_id not in ({0})
 union select r.uid from copies c join records r on r.id = c.record_id join files f on f.id = c.file_id
 where f.session_id in ({0}) and r.session_id not in ({0})"""


def _want_session(connection: apsw.Connection, wanted: Wanted, session: int) -> None:
    """A session goes with its subagents; what it only repeats of another session stays that one's."""
    family = {int(row): unpack_id(uid) for row, uid in connection.execute(_FAMILY, (session,))}
    wanted.sessions |= {uid for uid in family.values() if uid}
    wanted.uids |= set(_uids(connection, _OWNED, list(family)))
    threads = connection.execute(f"select uid from threads where session_id in ({_marks(family)})", tuple(family))
    wanted.threads |= {unpack_id(uid) for (uid,) in threads}
    files = connection.execute(_FILES.format(_marks(family)), tuple(family) * 2)
    wanted.paths |= {str(path) for (path,) in files}


def _want_part(connection: apsw.Connection, loader: Loader, wanted: Wanted, target: Target) -> None:
    if target.kind == "thread":
        rows = loader.rows_of_thread(target.id)
        wanted.threads.add(target.uid)
    else:
        rows = loader.rows("id=?", (target.id,))
    wanted.uids |= {row.uid for row in rows}
    sessions = {row.session_id for row in rows}
    found = connection.execute(f"select uid from sessions where id in ({_marks(sessions)})", tuple(sessions))
    wanted.named |= {unpack_id(uid) for (uid,) in found}
    for row in rows:
        if row.kind in _SAID:
            try:
                record = loader.load([row])[0].record
            except FabulaError:
                continue
            wanted.said += [_plain(block.text) for block in record.blocks if block.kind == "text" and block.text]


def _rows_of(connection: apsw.Connection, sessions: Iterable[str]) -> Iterator[int]:
    for uid in sessions:
        for (row,) in connection.execute("select id from sessions where uid=?", (pack_id(uid),)):
            yield int(row)


def _uids(connection: apsw.Connection, statement: str, sessions: list[int]) -> Iterator[str]:
    marks = _marks(sessions)
    times = statement.count("{")
    for (uid,) in connection.execute(statement.format(marks), tuple(sessions) * times):
        yield unpack_id(uid)


def _marks(values: Iterable[Any]) -> str:
    return ",".join("?" for _ in values)


def read_pattern(text: str, *, is_regex: bool) -> re.Pattern[str]:
    """Return the pattern of a text (in whatever case) or of a regular expression. Raises ``ERR_USAGE``."""
    if not is_regex:
        if len(text.strip()) < _TOO_WIDE:
            raise FabulaError("ERR_USAGE", f"{text!r} is too short: it would hit nearly everything", "give more of it")
        return re.compile(r"\s+".join(map(re.escape, text.split())), re.IGNORECASE)
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise FabulaError("ERR_USAGE", f"{text!r} is no regular expression: {error}", "leave out --regex") from error
    if pattern.search(""):
        raise FabulaError("ERR_USAGE", f"{text!r} matches the empty text: it would hit everything", "narrow it")
    return pattern


class ByWish:
    """The judge that knows what a person named."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._own = Tombstones.of(b"survey", {("uid", uid.encode("utf-8", "surrogatepass")) for uid in wanted.uids})

    def may_remember(self, entry: SourceEntry) -> bool:
        """Equal bytes may stay in a file of another session, and lines are told by the session that they name."""
        return not self._is_whole(entry)

    def verdict(self, sight: Sight) -> bool:
        """Say whether a piece goes."""
        wanted = self._wanted
        if wanted.pattern is not None and _holds_in_time(wanted.pattern, sight):
            return True
        whole = self._is_whole(sight.entry)
        outcome = sight.outcome
        if outcome is None:
            return whole or self._own.any_of(marks_of_ids(sight.data))
        if isinstance(outcome, Record):
            if outcome.uid in wanted.uids:
                return True
            if whole or outcome.session in wanted.sessions:
                return outcome.uid not in wanted.others
            return not outcome.has_id and outcome.session in wanted.named and self._repeats(_texts(outcome))
        if whole:
            return True
        values = sight.value.values() if isinstance(sight.value, dict) else [sight.value]
        strings = [text for text in values if isinstance(text, str)]
        if wanted.sessions.intersection(strings):
            return True
        return bool(wanted.named.intersection(strings)) and self._repeats(strings)

    def _is_whole(self, entry: SourceEntry) -> bool:
        wanted = self._wanted
        return entry.path in wanted.paths or entry.session in wanted.sessions or entry.parent in wanted.sessions

    def _repeats(self, texts: Iterable[str]) -> bool:
        """Say whether one of the texts is how a forgotten prompt began."""
        for text in texts:
            plain = _plain(text).rstrip("…")
            if plain and any(said == plain or (len(plain) >= ECHO_CHARACTERS and plain in said)
                             for said in self._wanted.said):  # fmt: skip
                return True
        return False


class ByMarks:
    """The judge that knows what was buried: what it lets go is exactly what a scan would keep out."""

    def __init__(self, tombstones: Tombstones) -> None:
        self._tombstones = tombstones

    def may_remember(self, entry: SourceEntry) -> bool:  # noqa: ARG002 - as the protocol has it
        """Equal bytes are buried wherever they are."""
        return True

    def verdict(self, sight: Sight) -> bool:
        """Say whether a piece was buried."""
        marks = sight.marks()
        if sight.outcome is None:
            marks += marks_of_ids(sight.data)
        return self._tombstones.any_of(marks, weak=sight.behind_gone)


def _holds_in_time(pattern: re.Pattern[str], sight: Sight) -> bool:
    """As :func:`holds`. Raises ``ERR_USAGE`` where a regular expression takes too long: nothing is changed yet."""
    try:
        with within(PATTERN_SECONDS):
            return holds(pattern, sight)
    except TimeoutError as error:
        raise FabulaError(
            "ERR_USAGE",
            f"{pattern.pattern!r} takes more than {PATTERN_SECONDS:g} seconds on {len(sight.data):,} bytes at byte "
            f"{sight.offset:,} of {sight.entry.path}",
            "write it without a repetition inside of a repetition",
        ) from error


def holds(pattern: re.Pattern[str], sight: Sight) -> bool:
    """Say whether a text stands in a piece: in its bytes as they are, or in a string that they encode, however deep."""
    text = sight.data.decode("utf-8", "replace")
    if pattern.search(text) or ("\\" in text and pattern.search(_unescaped(text))):
        return True
    if sight.value is not None and any(pattern.search(text) for text in strings_in(sight.value)):
        return True
    return any(pattern.search(hidden.decode("utf-8", "replace")) for hidden in encoded_in(sight.data))


def encoded_in(data: bytes) -> Iterator[bytes]:
    """Yield what stands in a piece as hexadecimal digits or in base64: databases' rows hold blobs so."""
    for run in _HEX.findall(data):
        yield bytes.fromhex(run[: len(run) & ~1].decode())
    for run in _BASE64.findall(data):
        yield b64decode(run + b"=" * (-len(run) % 4), validate=False) if len(run) % 4 != 1 else b""


def _unescaped(text: str) -> str:
    """Return a text without the escapes of JSON, also where JSON stands in a string of JSON."""
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " " if found[2] else found[3], text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def strings_in(value: Any, depth: int = 64) -> Iterator[str]:
    """Yield every string in a decoded value, keys included."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from strings_in(inner, depth - 1)
    elif depth and isinstance(value, list):
        for inner in value:
            yield from strings_in(inner, depth - 1)


def _texts(record: Record) -> list[str]:
    return [block.text for block in record.blocks if block.text]


def _plain(text: str) -> str:
    return " ".join(text.split())
