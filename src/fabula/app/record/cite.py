"""The verbs ``record cite`` and ``record cited``: citing a record, and what a citation rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.joints import citing
from fabula.kernel.citations import Citation, read_reference
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.wiring import App


@frozen
class CiteRequest:
    """``record``: an id, or a beginning of it that is unique. Without a ``quote`` the record as a whole is cited."""

    record: str
    quote: str = ""


@frozen
class CiteResult:
    """The citation, and ``text``: how a person or an agent would paste it."""

    citation: Citation
    text: str


@frozen
class CitedRequest:
    """``reference``: a record's id and the digest of its bytes, as ``record cite`` prints them; ``quote`` of it."""

    reference: tuple[str, ...]
    quote: str = ""


def cite(app: App, request: CiteRequest) -> CiteResult:
    """Cite a record. Raises as :func:`fabula.app.joints.citing.cite`."""
    citation = citing.cite(app, request.record, request.quote)
    return CiteResult(citation, pasted(citation))


def cited(app: App, request: CitedRequest) -> citing.Resolved:
    """Resolve a citation. Raises ``ERR_USAGE``, and as :func:`fabula.app.joints.citing.resolve`."""
    found = read_reference(" ".join(request.reference))
    if found is None:
        raise FabulaError(
            "ERR_USAGE", "a citation is a record's id and sha256: with 64 digits", "fabula record cite RECORD"
        )
    return citing.resolve(app, Citation(*found, quote=request.quote))


def pasted(citation: Citation) -> str:
    """Return a citation as text: the quote, where it comes from, and the reference by which it is found again."""
    from fabula.kernel.clock import format_time

    when = format_time(citation.time) if citation.time is not None else ""
    origin = ", ".join(filter(None, (citation.host, f"session {citation.session}" if citation.session else "", when)))
    quoted = "\n".join(f"> {line}".rstrip() for line in citation.quote.splitlines())
    return "\n".join(filter(None, (quoted, f"— {origin}" if origin else "", citation.reference)))
