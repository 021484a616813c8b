"""Memory and record meet in values alone: no statement of one names a table of the other, no database holds both."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "app" / "joints"))

from corpus_home import CorpusHome

import fabula
from fabula.app.joints.citing_memory import SourcesRequest, sources
from fabula.app.joints.recalling import RecallRequest, recall
from fabula.app.joints.session_memories import LinksRequest, links
from fabula.app.record.session import SessionRequest, session
from fabula.memory.index import schema as index_schema
from fabula.memory.state import schema as state_schema
from fabula.record.map import schema as map_schema
from fabula.record.vault import schema as vault_schema
from fabula.testing.transcripts import ClaudeSession

SOURCE = Path(fabula.__file__).parent
_MADE = re.compile(r"create (?:virtual table|table|view) (?:if not exists )?(\w+)", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:from|join|into|update|table)\s+(?:\w+\.)?(\w+)", re.IGNORECASE)


def made_by(*modules: object) -> set[str]:
    """Return the tables that some schemas make."""
    texts = [value for module in modules for value in vars(module).values() if isinstance(value, str)]
    return {name for text in texts for name in _MADE.findall(text)}


MEMORY = made_by(index_schema, state_schema)
RECORD = made_by(map_schema, vault_schema)


def named_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (file, table) for every table or view that a text in the source of a plane names."""
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from ((file.name, name) for name in _NAMED.findall(node.value))


@pytest.mark.parametrize(("plane", "others"), [("memory", RECORD - MEMORY), ("record", MEMORY - RECORD)])
def test_no_statement_in_the_source_of_a_plane_names_a_table_of_the_other(plane: str, others: set[str]) -> None:
    assert len(others) > 5
    assert [(file, name) for file, name in named_in(SOURCE / plane) if name in others] == []


def files_of(connection: apsw.Connection) -> set[str]:
    return {Path(str(row[2])).name for row in connection.execute("pragma database_list") if row[2]}


def test_what_a_recall_asks_stays_in_the_databases_of_each_plane(tmp_path: Path) -> None:
    home = CorpusHome(tmp_path)
    talk = ClaudeSession("apart", cwd="/home/mira/code/harbor")
    talk.prompt("How do we deploy the tide service?")
    talk.reply("With make deploy.")
    home.save(talk)
    home.scan()
    path = home.remember("Tides", "The tide service is deployed with make deploy.", talk.id)
    said: dict[str, list[str]] = {"memory": [], "record": []}
    state = home.memory.state()
    state.states([path])
    index, record = home.memory.index().connection, home.app.reader()
    for plane, connection in (("memory", index), ("memory", state._opened()), ("record", record)):
        connection.exec_trace = lambda _, statement, __, plane=plane: said[plane].append(statement) or True
    done = recall(home.app, RecallRequest("deploy the tide service", all=True))
    sources(home.app, SourcesRequest(path, used_by=True))
    links(home.app, LinksRequest(talk.id))
    session(home.app, SessionRequest(talk.id))
    assert done.memories
    assert done.passages
    assert said["memory"]
    assert said["record"]
    for plane, others in (("memory", RECORD - MEMORY), ("record", MEMORY - RECORD)):
        assert not others & {name for statement in said[plane] for name in _NAMED.findall(statement)}
    assert files_of(index) <= {"index.db", "state.db"}
    assert files_of(record) == {"map.db"}
    home.close()


def test_no_words_of_a_transcript_are_found_as_a_memory(tmp_path: Path) -> None:
    home = CorpusHome(tmp_path)
    talk = ClaudeSession("apart", cwd="/home/mira/code/harbor")
    talk.prompt("The quokka eats at noon.")
    home.save(talk)
    home.scan()
    home.remember("Tides", "The tide turns twice a day.", talk.id)
    done = recall(home.app, RecallRequest("quokka noon", all=True))
    assert done.memories == ()
    assert [one.text for one in done.passages] == ["The quokka eats at noon."]
    home.close()
