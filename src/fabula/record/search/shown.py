"""What a search shows of the threads that it found, read for all of them at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import unpack_id
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Collection

    import apsw

_STATEMENT = """
select t.id, t.uid, s.uid, s.title, s.host, coalesce(p.label, '?'), t.last_time, t.records, t.characters
  from threads t join sessions s on s.id = t.session_id left join projects p on p.id = s.project_id
 where t.id in (select value from json_each(?))
"""


@frozen
class ShownThread:
    """A thread as a result names it. ``session_title`` is the host's; ``characters`` counts its prose."""

    id: str
    session: str
    session_title: str
    host: str
    project: str
    last_time: int | None
    records: int
    characters: int


def shown_threads(connection: apsw.Connection, threads: Collection[int]) -> dict[int, ShownThread]:
    """Return what is shown of these threads, by row. Raises ``ERR_DATABASE`` where the map does not hold one."""
    found = {
        row: ShownThread(unpack_id(uid), unpack_id(session), *rest)
        for row, uid, session, *rest in connection.execute(_STATEMENT, (json.dumps(list(threads)),))
    }
    missing = sorted(set(threads) - set(found))
    if missing:
        message = f"the map is damaged: it names thread {missing[0]} and does not hold it"
        raise FabulaError("ERR_DATABASE", message, "fabula record rebuild")
    return found
