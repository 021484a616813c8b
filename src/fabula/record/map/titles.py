"""Titles that people gave: kept in the vault, repeated in the map's title index so that a search finds them.

They stand under the negative of the session's id, beside the host's own title, which is there again when a person's
is taken away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.ids import pack_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw


def retitle(connection: apsw.Connection, titles: Mapping[str, str]) -> None:
    """Let sessions (by the host's id) be found by these titles; the caller holds the transaction."""
    for uid, title in titles.items():
        for (session,) in list(connection.execute("select id from sessions where uid=?", (pack_id(uid),))):
            connection.execute("delete from titles_fts where rowid=?", (-session,))
            if title:
                connection.execute("insert into titles_fts(rowid, title) values(?,?)", (-session, title))
