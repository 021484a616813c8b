"""Where memory and evidence meet the record: citing a record, and resolving a citation for as long as it is kept.

Citing is strict: a quote stands verbatim in what the record's sealed bytes say, and nothing in it is private or secret.
Resolving needs the vault alone to have the bytes: the agent's own file may be gone, pruned or cut. Only ``record
forget`` takes a citation's ground away, and then the citation says so, with the date.
"""

from __future__ import annotations

from shlex import quote as shell_word
from typing import TYPE_CHECKING, Literal

from fabula.kernel.citations import Citation, read_digest
from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest, digest_text
from fabula.kernel.values import frozen, replace
from fabula.record.quoting.texts import JOINT, parts_of
from fabula.record.quoting.verbatim import Place, as_spelled, locate, occurrences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.app.wiring import App
    from fabula.record.loader import Loaded, Row
    from fabula.record.quoting.texts import Part

READER = "record cite"
QUOTE_CHARACTERS = 2000
AROUND_CHARACTERS = 300

_HIDDEN = {
    "private": "is marked as private there",
    "secret": "holds what looks like a secret",
    "recalled": "is itself a quote of another thread: cite the record that it came from",
}


@frozen
class Resolved:
    """What a citation leads to.

    ``found``: ``before``, the quote and ``after`` are the record's words, private text and secrets taken out; without a
    quote ``before`` is empty and ``after`` the record's beginning. ``origin``: ``live``, or ``vault`` where the agent's
    own file no longer has it. ``forgotten``: a person removed it for good at ``forgotten_at`` (ms). ``missing``: this
    record never had these bytes, or they were not sealed; ``note`` says which.
    """

    state: Literal["found", "forgotten", "missing"]
    citation: Citation
    before: str = ""
    after: str = ""
    kind: str = ""
    origin: str = ""
    forgotten_at: int | None = None
    note: str = ""


def cite(app: App, record: str, quote: str = "", *, reader: str = READER) -> Citation:
    """Cite a record (its id, or a beginning of it that is unique), and remember for good that it was cited.

    Raises ``ERR_QUOTE`` when the quote does not stand in the record, is private, a secret, or too long;
    ``ERR_NOT_FOUND``, ``ERR_FORGOTTEN``, ``ERR_AMBIGUOUS``, ``ERR_STALE``, ``ERR_VAULT_DAMAGED``; ``ERR_UNSEALED`` when
    there is no sealed copy; ``ERR_READ_ONLY``, ``ERR_DISK`` when it cannot be remembered.
    """
    app.refresh()
    loaded = _load(app, record)
    sha = digest(loaded.raw)
    vault = app.vault()
    if vault is None or not vault.holds(sha):
        raise FabulaError("ERR_UNSEALED", f"the record {loaded.row.uid} is not sealed yet", "fabula record scan")
    place = _require(loaded, quote)
    _hand_out(app, loaded.row.uid, sha, reader)
    host, session = _session_of(app, loaded.row)
    start, end = (place.start, place.end) if place is not None else (0, 0)
    return Citation(loaded.row.uid, digest_text(sha), quote, start, end, host, session, loaded.row.time)


def resolve(app: App, citation: Citation) -> Resolved:
    """Return what a citation leads to; record, digest and quote of it are enough.

    Raises ``ERR_VAULT_DAMAGED``, ``ERR_USAGE`` for a digest that is none.
    """
    from fabula.record.vault.by_digest import forgotten_at, record_by_digest

    sha = read_digest(citation.digest)
    if sha is None:
        raise FabulaError("ERR_USAGE", f"{citation.digest!r} is no digest: sha256: and 64 digits and letters a to f")
    app.refresh()
    vault = app.vault()
    raw = record_by_digest(vault, sha) if vault is not None else None
    row = _row(app, citation.record)
    if raw is None:
        when = forgotten_at(vault, citation.record, sha) if vault is not None else None
        if when is not None:
            return Resolved("forgotten", citation, forgotten_at=when, note="it was forgotten on purpose")
        here = row is not None
        return Resolved(
            "missing", citation, note="the record is here, with other bytes" if here else "no such record here"
        )
    if row is None:
        return Resolved("missing", citation, note="its bytes are kept, but no file that they are of is known")
    return _found(app, citation, row, raw)


def _found(app: App, citation: Citation, row: Row, raw: bytes) -> Resolved:
    record = app.loader().read_as(row, raw)
    parts = parts_of(record) if record is not None else []
    host, session = _session_of(app, row)
    time = citation.time if citation.time is not None else row.time  # some hosts keep it in another file
    whole = Citation(row.uid, citation.digest, citation.quote, 0, 0, host, session, time)
    origin = "live" if _is_live(app, row, raw) else "vault"
    if not citation.quote:
        opening = JOINT.join(part.shown for part in parts)[:AROUND_CHARACTERS]
        return Resolved("found", whole, after=opening, kind=row.kind, origin=origin)
    quote = citation.quote if any(citation.quote in part.text for part in parts) else as_spelled(parts, citation.quote)
    whole = replace(whole, quote=quote)
    place = locate(parts, quote)
    if not isinstance(place, Place):
        note = f"the quote {_HIDDEN[place]}" if place is not None else "the record does not hold the quote"
        return Resolved("missing", whole, kind=row.kind, origin=origin, note=note)
    before, after = _around(parts[place.part], quote, place)
    return Resolved("found", replace(whole, start=place.start, end=place.end), before, after, row.kind, origin)


def _around(part: Part, quote: str, place: Place) -> tuple[str, str]:
    """Return what stands before and after a quote, of the text as it may be shown."""
    from fabula.record.quoting.verbatim import hidden_by

    start = place.start - part.offset
    visible = [at for at in occurrences(part.text, quote) if hidden_by(part, at, at + len(quote)) is None]
    shown = list(occurrences(part.shown, quote))
    at = shown[min(visible.index(start), len(shown) - 1)]
    end = at + len(quote)
    return part.shown[max(0, at - AROUND_CHARACTERS) : at], part.shown[end : end + AROUND_CHARACTERS]


def _require(loaded: Loaded, quote: str) -> Place | None:
    """Return where a quote stands. Raises ``ERR_QUOTE``."""
    if not quote:
        return None
    uid = loaded.row.uid
    look = record_command("block", uid)
    if not quote.strip():
        raise FabulaError("ERR_QUOTE", "a quote of blanks alone quotes nothing", look)
    if len(quote) > QUOTE_CHARACTERS:
        message = f"the quote has {len(quote)} characters, more than {QUOTE_CHARACTERS}"
        raise FabulaError("ERR_QUOTE", message, "quote the sentence that matters")
    parts = parts_of(loaded.record)
    place = locate(parts, quote)
    if isinstance(place, Place):
        return place
    if place is not None:
        raise FabulaError("ERR_QUOTE", f"the quote {_HIDDEN[place]}", "quote another part of the record")
    raise _not_there(uid, parts, quote, look)


def _not_there(uid: str, parts: Sequence[Part], quote: str, look: str) -> FabulaError:
    from fabula.record.quoting.nearest import nearest_passage

    near = nearest_passage([part.shown for part in parts], quote)
    if any(quote in part.shown for part in parts):
        message = f"the quote holds a mark that stands for something hidden; record {uid} has other words there"
        return FabulaError("ERR_QUOTE", message, "quote what stands before the mark, or behind it")
    if not near:
        return FabulaError("ERR_QUOTE", f"the record {uid} says nothing like this", look)
    citable = isinstance(locate(parts, near), Place)  # it may hold a mark, or what is hidden elsewhere
    again = f"{record_command('cite', uid)} --quote {shell_word(near)}" if citable else look
    return FabulaError("ERR_QUOTE", f"the record {uid} does not say this; nearest: {near!r}", again)


def _load(app: App, record: str) -> Loaded:
    from fabula.app.record.block import forgotten

    loader = app.loader()
    try:
        row = loader.row(record)
    except FabulaError as error:
        raise forgotten(app, record) or error from error
    (loaded,) = loader.load([row])
    return loaded


def _row(app: App, uid: str) -> Row | None:
    try:
        found = app.loader().row(uid)
    except FabulaError as error:
        if error.code not in {"ERR_NOT_FOUND", "ERR_AMBIGUOUS", "ERR_NO_RECORD"}:
            raise
        return None
    return found if found.uid == uid else None


def _is_live(app: App, row: Row, raw: bytes) -> bool:
    try:
        return app.loader().raw(row) == (raw, "live")
    except FabulaError:
        return False


def _session_of(app: App, row: Row) -> tuple[str, str]:
    from fabula.kernel.ids import unpack_id

    found = app.reader().execute("select host, uid from sessions where id = ?", (row.session_id,)).fetchone()
    return (str(found[0]), unpack_id(found[1])) if found is not None else ("", "")


def _hand_out(app: App, uid: str, sha: bytes, reader: str) -> None:
    from fabula.record.vault.keepsakes import Keepsakes

    keepsakes = Keepsakes.open(app.home.vault, app.clock)
    try:
        keepsakes.hand_out([(uid, sha)], reader)
    finally:
        keepsakes.close()
