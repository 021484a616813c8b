"""Editors of heads: one tag changes, all else keeps its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memories import LEDGER, documents, lines, page

from fabula.kernel.errors import FabulaError
from fabula.memory.format.document import Document, write
from fabula.memory.format.edit import add_link, add_meta, read_meta, read_metas, remove_link, remove_meta, set_meta
from fabula.memory.format.reader import read
from fabula.memory.format.tasks import is_due_before, with_status
from fabula.memory.format.vocabulary import META_RANK, RELATIONS, REPEATABLE, token_of

ONE_LINE = LEDGER.replace(b"\n", b"")
CRLF = LEDGER.replace(b"\n", b"\r\n")
ALIGNED = LEDGER.replace(b'" content="', b'"      content="').replace(b"<meta name", b"    <meta name")
SHAPES = {"canonical": LEDGER, "one line": ONE_LINE, "CRLF": CRLF, "aligned": ALIGNED, "bom": b"\xef\xbb\xbf" + LEDGER}
shapes = pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES)
names = pytest.mark.parametrize("name", sorted(META_RANK, key=META_RANK.__getitem__))


def changed_lines(before: bytes, after: bytes) -> tuple[int, int]:
    """Return how many lines went and how many came."""
    one, two = before.split(b"\n"), after.split(b"\n")
    return len([line for line in one if line not in two]), len([line for line in two if line not in one])


def article(data: bytes) -> bytes:
    return read(data).article_bytes


# ── properties ──────────────────────────────────────────────────────
@given(documents(), st.sampled_from(sorted(META_RANK)), lines)
def test_setting_a_meta_leaves_the_article_and_both_hashes(document: Document, name: str, value: str) -> None:
    before = write(document)
    after = set_meta(before, name, value)
    assert article(after) == article(before)
    assert read_meta(after, name) == value
    one, two = read(before), read(after)
    assert (one.content_hash, one.fact_hash) == (two.content_hash, two.fact_hash)
    assert [meta for meta in two.metas if meta.name != name] == [meta for meta in one.metas if meta.name != name]


@given(documents(), st.sampled_from(sorted(REPEATABLE)), lines)
def test_adding_and_removing_a_value_gives_the_first_bytes_back(document: Document, name: str, value: str) -> None:
    before = write(document)
    if value in read_metas(before, name):
        assert add_meta(before, name, value) == before
        return
    added = add_meta(before, name, value)
    assert read_metas(added, name) == [*read_metas(before, name), value]
    assert add_meta(added, name, value) == added
    assert remove_meta(added, name, value) == before


@given(documents(), st.sampled_from(sorted(RELATIONS)), st.from_regex("areas/[a-z]{1,5}[.]html", fullmatch=True))
def test_adding_and_removing_a_relation_gives_the_first_bytes_back(
    document: Document, relation: str, path: str
) -> None:
    before = write(document)
    added = add_link(before, relation, path)
    assert (token_of(relation), f"/{path}") in read(added).links
    assert add_link(added, relation, path) == added
    assert article(added) == article(before)
    if added != before:
        assert remove_link(added, relation, path) == before


# ── every shape of file ─────────────────────────────────────────────
@shapes
@names
def test_every_meta_can_be_set_in_every_shape(data: bytes, name: str) -> None:
    after = set_meta(data, name, 'new "value" <é>')
    assert read_meta(after, name) == 'new "value" <é>'
    assert article(after) == article(data)
    assert read(after).content_hash == read(data).content_hash
    assert set_meta(after, name, 'new "value" <é>') == after


@shapes
@names
def test_every_meta_can_be_removed_in_every_shape(data: bytes, name: str) -> None:
    after = remove_meta(data, name)
    assert read_metas(after, name) == []
    assert article(after) == article(data)
    assert (after == data) == (read_metas(data, name) == [])


@shapes
def test_relations_are_edited_in_every_shape(data: bytes) -> None:
    added = add_link(data, "part_of", "areas/arcs/x.html")
    assert article(added) == article(data)
    assert [link.rel for link in read(added).links][-1] == "memhtml-part-of"
    assert remove_link(added, "part_of") == data
    repointed = add_link(remove_link(data, "caused_by"), "caused_by", "areas/other.html")
    assert read(repointed).content_hash == read(data).content_hash
    assert [link.href for link in read(repointed).links if link.rel == "memhtml-caused-by"] == ["/areas/other.html"]


def test_line_ends_stay_what_they_are() -> None:
    for edited in (set_meta(CRLF, "memhtml-due", "2026-05-20"), add_link(CRLF, "supports", "areas/a.html")):
        assert edited.count(b"\n") == edited.count(b"\r\n") == CRLF.count(b"\r\n") + 1
    assert b"\n" not in set_meta(ONE_LINE, "memhtml-due", "2026-05-20")


# ── lines ───────────────────────────────────────────────────────────
def test_one_line_changes_when_a_meta_is_there_and_one_comes_when_it_is_not() -> None:
    assert changed_lines(LEDGER, set_meta(LEDGER, "memhtml-importance", "3")) == (1, 1)
    added = set_meta(LEDGER, "memhtml-turn", "t-1")
    assert changed_lines(LEDGER, added) == (0, 1)
    rows = added.decode().split("\n")
    row = rows.index('<meta name="memhtml-turn" content="t-1">')
    assert "memhtml-prompt" in rows[row - 1]
    assert "memhtml-entity" in rows[row + 1]


def test_a_file_aligned_by_hand_keeps_its_alignment() -> None:
    edited = set_meta(set_meta(ALIGNED, "memhtml-status", "archived"), "memhtml-archived", "2026-06-01T00:00:00Z")
    assert changed_lines(ALIGNED, edited) == (1, 2)
    assert b'\n    <meta name="memhtml-archived" content="2026-06-01T00:00:00Z">\n' in edited


def test_setting_a_repeatable_meta_sets_its_first() -> None:
    assert read_metas(set_meta(LEDGER, "memhtml-tag", "x"), "memhtml-tag") == ["x", "postgres"]


def test_metas_that_come_in_any_order_stand_in_theirs() -> None:
    data = page()
    for name in sorted(META_RANK, key=META_RANK.__getitem__, reverse=True):
        data = set_meta(data, name, "x")
    found = [line.split('"')[1] for line in data.decode().split("\n") if line.startswith("<meta")]
    assert found == sorted(META_RANK, key=META_RANK.__getitem__)


def test_names_outside_of_the_vocabulary_change_nothing() -> None:
    assert set_meta(LEDGER, "memhtml-vibe", "x") == LEDGER
    assert add_meta(LEDGER, "description", "x") == LEDGER
    assert remove_meta(LEDGER, "memhtml-vibe") == LEDGER
    with pytest.raises(KeyError):
        add_link(LEDGER, "mentions", "areas/a.html")


def test_a_second_place_of_a_relation_is_allowed_and_a_first_needs_no_other() -> None:
    second = add_link(LEDGER, "supersedes", "areas/b.html")
    assert len([link for link in read(second).links if link.rel == "memhtml-supersedes"]) == 2
    assert len(read(add_link(page(), "supersedes", "areas/b.html")).links) == 1


def test_comments_and_bytes_that_are_not_utf_8_are_kept() -> None:
    data = LEDGER.replace(b"<head>", b"<head><!-- caf\xe9 -->").replace(b"Managed", b"\xff\xfeManaged")
    edited = set_meta(data, "memhtml-due", "2026-05-20")
    assert remove_meta(edited, "memhtml-due") == data


def test_a_head_without_tags_of_its_own_can_be_edited() -> None:
    bare = (
        page().replace(b"<head>\n", b"").replace(b"</head>\n", b"").replace(b"<body>\n", b"").replace(b"<html>\n", b"")
    )
    edited = set_meta(bare, "memhtml-due", "2026-05-20")
    assert read(edited).is_memory
    assert read_meta(edited, "memhtml-due") == "2026-05-20"
    assert article(edited) == article(bare)


@pytest.mark.parametrize("data", [b"", b"not html", b"<article></article>"])
def test_what_has_no_head_is_refused(data: bytes) -> None:
    with pytest.raises(FabulaError) as refused:
        set_meta(data, "memhtml-due", "2026-05-20")
    assert refused.value.code == "ERR_MEMORY_FORMAT"


# ── tasks ───────────────────────────────────────────────────────────
TASK = page(type="task", task_status="todo")


def test_a_tasks_state_changes_two_lines_of_its_head() -> None:
    done = with_status(TASK, "done", "2026-06-01T00:00:00Z")
    assert changed_lines(TASK, done) == (2, 2)
    assert read(done).head.task_status == "done"
    assert read(done).head.updated == "2026-06-01T00:00:00Z"
    assert read(done).content_hash == read(TASK).content_hash


def test_the_state_a_task_is_in_changes_nothing() -> None:
    assert with_status(TASK, "todo", "2026-06-01T00:00:00Z") == TASK


def test_other_states_and_other_memories_are_refused() -> None:
    with pytest.raises(FabulaError, match="no state of a task"):
        with_status(TASK, "in-progress", "2026-06-01T00:00:00Z")
    with pytest.raises(FabulaError, match="not a task"):
        with_status(LEDGER, "done", "2026-06-01T00:00:00Z")


def test_due_is_compared_by_day() -> None:
    assert is_due_before("2026-08-24T23:59:00Z", "2026-08-25")
    assert not is_due_before("2026-08-25T09:00:00Z", "2026-08-25")
    assert not is_due_before(None, "2026-08-25")
