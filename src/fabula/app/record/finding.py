"""What the verbs that find things share: the query, the scope, the searcher with its vectors, and results as shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabula.app.record.reading import clean, given_titles, one_line, openings_of
from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.tokens import estimate_tokens
from fabula.kernel.values import frozen
from fabula.record.search.engine import Searcher
from fabula.record.search.scope import scope_for
from fabula.search.query import read_query

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fabula.app.wiring import App
    from fabula.models.static_table import StaticTable
    from fabula.record.search.engine import Found, Hit
    from fabula.record.search.evidence import Evidence, EvidenceReader
    from fabula.record.search.meaning import MeaningArm
    from fabula.record.search.scope import Scope
    from fabula.record.search.shown import ShownThread
    from fabula.search.excerpt import Excerpt
    from fabula.search.query import Query

EMBEDDING = Path(__file__).parents[2] / "data" / "embedding"
EMBEDDED_PER_QUERY = 400  # threads at most whose vectors one search makes, the newest first


@frozen
class ArmPart:
    """An arm's part in a score: as the arm gave it, between 0 and 1, and its weight."""

    raw: float
    scaled: float
    weight: float


@frozen
class SearchHit:
    """One result. ``marks`` are (start, end) of matches in ``excerpt``; ``command`` reads on; times in ms.

    ``record`` is the id of the record that answers best, "" when the thread was found otherwise. ``coverage`` is the
    share of the query's weight that the thread holds; ``arms`` is filled when an explanation was asked for.
    """

    thread: str
    record: str
    session: str
    session_title: str
    host: str
    project: str
    kind: str
    time: int | None
    title: str
    excerpt: str
    marks: tuple[tuple[int, int], ...]
    score: float
    coverage: float
    records: int
    tokens: int
    command: str
    arms: dict[str, ArmPart]


def read(app: App, text: str, *, everything: bool) -> tuple[Query, Scope, str]:
    """Return a query, its scope and the scope's name: a project's label or ``all``. Raises ``ERR_QUERY``."""
    query = read_query(text, app.clock.now_ms())
    if everything or app.config["search.scope"] == "all":
        return query, scope_for(app.reader(), query, None), "all"
    project = app.project_id()
    name = next((one.value for one in query.filters if one.key == "project" and not one.excluded), app.project[1])
    return query, scope_for(app.reader(), query, (project,) if project is not None else ()), name


def searcher(app: App) -> Searcher:
    """Return the searcher of an application's map; its vectors are opened when a query first needs them."""
    reader = app.reader()
    if app.searcher is None or app.searcher.connection is not reader:  # a rebuilt map is read through another one
        app.searcher = Searcher(reader, _meaning(app))
    return app.searcher


def _meaning(app: App) -> Callable[[str, Sequence[str], Callable[[Sequence[int]], set[int]]], dict[int, float] | str]:
    """Return the meaning arm: it opens the table at its first question and makes vectors that are missing."""
    opened: list[tuple[StaticTable, MeaningArm] | str] = []

    def ask(text: str, words: Sequence[str], allowed: Callable[[Sequence[int]], set[int]]) -> dict[int, float] | str:
        from fabula.record.search.meaning import MeaningArm, make_vectors

        if not opened:
            try:
                table = embedding_table()
                opened.append((table, MeaningArm(app.reader(), table)))
            except FabulaError as error:
                opened.append(error.message)
        first = opened[0]
        if isinstance(first, str):
            return first
        table, arm = first
        if not arm.can_tell(words):
            return "knows too few of the words"
        missing = arm.missing(EMBEDDED_PER_QUERY)
        fresh = make_vectors(app.loader(), table, missing) if missing else []
        if fresh:
            _keep(app, fresh)
        return arm.ask(text, allowed, fresh)

    return ask


def embedding_table() -> StaticTable:
    """Open the table that ships with Fabula. Raises ``ERR_EXTRA_MISSING`` when numpy or the table is not there."""
    from fabula.models.static_table import open_table

    return open_table(EMBEDDING)


def _keep(app: App, fresh: Sequence[object]) -> None:
    """Keep new vectors in the map if nobody is writing; else they are made again when they are next needed."""
    from fabula.record.map.store import open_map
    from fabula.record.search.meaning import keep_vectors
    from fabula.storage.locks import FileLock

    try:
        with FileLock(app.home.lock, 0.0):
            connection = open_map(app.home.map)
            try:
                keep_vectors(connection, fresh)  # type: ignore[arg-type]
            finally:
                connection.close()
    except FabulaError:
        return


def prepare_vectors(app: App, limit: int = 1_000_000) -> int:
    """Make the vectors that the map lacks, the newest threads first; return how many. Raises ``ERR_EXTRA_MISSING``."""
    from fabula.record.search.meaning import MeaningArm, make_vectors

    table = embedding_table()
    arm = MeaningArm(app.reader(), table)
    made = 0
    while made < limit:
        missing = arm.missing(min(EMBEDDED_PER_QUERY, limit - made))
        if not missing:
            break
        _keep(app, make_vectors(app.loader(), table, missing))
        if arm.missing(1) == missing[:1]:
            break  # they could not be kept: somebody else is writing
        made += len(missing)
    return made


def hits(app: App, found: Found, reader: EvidenceReader, *, unit: str, explain: bool) -> tuple[SearchHit, ...]:
    """Return results as they are shown, the records they quote read and cleaned."""
    from fabula.record.search.shown import shown_threads

    threads = shown_threads(app.reader(), {hit.thread for hit in found.hits})
    evidence = reader.of_hits(found.hits)
    titles = _titles(app, threads, [(hit.thread, one) for hit, one in zip(found.hits, evidence, strict=True)])
    given = given_titles(app, "session")
    sessions = {one.session: given.get(one.session) or one_line(clean(one.session_title)) for one in threads.values()}
    return tuple(
        _hit(hit, one, threads[hit.thread], title, sessions, unit, explain=explain)
        for hit, one, title in zip(found.hits, evidence, titles, strict=True)
    )


def _hit(
    hit: Hit,
    evidence: Evidence | None,
    thread: ShownThread,
    title: str,
    sessions: dict[str, str],
    unit: str,
    *,
    explain: bool,
) -> SearchHit:
    record = evidence.row.uid if evidence else ""
    shown, marks = _shown(evidence.excerpt if evidence else None)
    command = record_command("block", record) if unit == "record" and record else record_command("thread", thread.id)
    arms = hit.ranked.explained() if explain else {}
    parts = {name: ArmPart(_round(a.raw), _round(a.scaled), _round(a.weight)) for name, a in arms.items()}
    return SearchHit(
        thread.id, record, thread.session, sessions[thread.session], thread.host, thread.project,
        evidence.row.kind if evidence else "",
        evidence.row.time if evidence and evidence.row.time is not None else thread.last_time,
        title, shown, marks, _round(hit.ranked.score), _round(hit.ranked.coverage), thread.records,
        estimate_tokens(thread.characters), command, parts,
    )  # fmt: skip


def _titles(app: App, threads: Mapping[int, ShownThread], found: Sequence[tuple[int, Evidence | None]]) -> list[str]:
    """Return each result's title: a person's, else how the thread began, where the excerpt does not tell as much."""
    given = given_titles(app, "thread")
    untold = {thread for thread, evidence in found if threads[thread].id not in given and _untold(evidence)}
    openings = openings_of(app, sorted(untold))
    return [
        given.get(threads[thread].id, "") or (openings.get(thread, "") if _untold(evidence) else "")
        for thread, evidence in found
    ]


def _untold(evidence: Evidence | None) -> bool:
    """Say whether an excerpt leaves open how its thread began."""
    return evidence is None or evidence.row.kind not in {"prompt", "task"}


def _shown(one: Excerpt | None) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return an excerpt without secrets. Where cleaning changed the text its marks are dropped: they would be wrong."""
    if one is None:
        return "", ()
    text = clean(one.text)
    return text, one.marks if text == one.text else ()


def _round(value: float) -> float:
    return round(value, 4)
