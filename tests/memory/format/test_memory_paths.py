"""Paths, the archive, names and places of memories."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fabula.memory.format.paths import (
    archive_path,
    archive_year,
    bucket_of,
    is_indexed,
    is_memory_path,
    is_root_relative,
    normalise,
    original_path,
    target_of,
    why_not_writable,
)
from fabula.memory.format.placement import Placed, folder_for, looks_dated, path_for
from fabula.memory.format.slugs import is_slug, numbered, slug
from fabula.memory.format.vocabulary import BUCKETS, TYPES

segments = st.text(st.characters(exclude_characters="/", exclude_categories=("Cs",)), min_size=1, max_size=8)
valid_paths = st.builds(
    "{}/{}.html".format, st.sampled_from(BUCKETS), st.lists(segments, min_size=1, max_size=3).map("/".join)
).filter(is_memory_path)
years = st.integers(1970, 9999)


# ── paths ───────────────────────────────────────────────────────────
@given(st.text(st.sampled_from("/a.é\n"), max_size=30))
def test_normalising_twice_is_normalising_once(path: str) -> None:
    assert normalise(normalise(path)) == normalise(path)


@pytest.mark.parametrize("path", ["/areas/arcs/x.html", "areas//arcs///x.html", "///areas/arcs/x.html/"])
def test_slashes_are_folded(path: str) -> None:
    assert normalise(path) == "areas/arcs/x.html"


def test_normalising_is_linear() -> None:
    assert normalise("a/" + "/" * 3_000_000 + "a") == "a/a"


@pytest.mark.parametrize("path", ["areas/oncall/a.html", "/projects/x/y/z.html", "archive/2026/areas/a.html"])
def test_a_path_below_a_bucket_is_a_memorys(path: str) -> None:
    assert is_memory_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "notes/a.html",
        "areas/a.md",
        "areas",
        "areas/../../etc/passwd.html",
        "areas/./a.html",
        "",
        "a.html",
        "/",
        "areas/",
    ],
)
def test_what_lies_elsewhere_is_no_memorys(path: str) -> None:
    assert not is_memory_path(path)
    assert why_not_writable(path)


def test_the_bucket_is_the_first_part_of_a_longer_path() -> None:
    assert [bucket_of(path) for path in ("areas/x", "areas", "/archive//y", "notes/y")] == [
        "areas",
        None,
        "archive",
        None,
    ]


def test_generated_pages_are_neither_read_nor_written_as_memories() -> None:
    assert not is_indexed("areas/index.html")
    assert why_not_writable("areas/index.html") == "this name belongs to generated pages"
    assert is_indexed("areas/indexes.html")


@pytest.mark.parametrize(
    "name",
    [
        "con.html",
        "a?.html",
        "a\\b.html",
        "-x.html",
        ".hidden.html",
        "a\u202eb.html",
        "a\n.html",
        "x" * 500 + ".html",
        "d./a.html",
    ],
)
def test_nothing_is_written_where_some_file_system_would_refuse(name: str) -> None:
    assert why_not_writable(f"areas/{name}")


def test_names_of_every_script_may_be_written() -> None:
    assert why_not_writable("areas/日本語/été.html") is None


# ── the archive ─────────────────────────────────────────────────────
@given(valid_paths, years, st.integers(0, 3))
def test_the_archive_mirrors_a_path_and_gives_it_back(path: str, year: int, again: int) -> None:
    archived = archive_path(path, year, again)
    assert original_path(archived) == normalise(path)
    assert archive_year(archived) == year
    assert is_memory_path(archived)


@given(valid_paths, valid_paths, years, years, st.integers(0, 2), st.integers(0, 2))
def test_two_archivings_never_collide(one: str, two: str, year: int, other: int, again: int, once: int) -> None:
    same = (normalise(one), year, again) == (normalise(two), other, once)
    assert (archive_path(one, year, again) == archive_path(two, other, once)) == same


def test_what_was_archived_twice_unwraps_one_layer_at_a_time() -> None:
    twice = archive_path(archive_path("areas/a.html", 2026), 2027)
    assert original_path(twice) == "archive/2026/areas/a.html"
    assert original_path("archive/2026/areas/a.html") == "areas/a.html"


@pytest.mark.parametrize("path", ["areas/oncall/a.html", "archive/areas/a.html", "archive/202/areas/a.html"])
def test_what_lies_in_no_year_has_no_original(path: str) -> None:
    assert original_path(path) is None
    assert archive_year(path) is None


# ── references ──────────────────────────────────────────────────────
@pytest.mark.parametrize("href", ["/areas/a.html", "/areas/a.html?x=/../#y", "/x"])
def test_a_reference_from_the_root_is_taken(href: str) -> None:
    assert is_root_relative(href)


@pytest.mark.parametrize(
    "href",
    ["../areas/x.html", "https://x.org/a.html", "", "/areas/../../etc/passwd", "//evil/x.html", "/", "/a//b", "a/b"],
)
def test_a_reference_that_leaves_the_root_is_refused(href: str) -> None:
    assert not is_root_relative(href)


def test_the_target_of_a_reference_has_no_query() -> None:
    assert target_of("/areas/a.html?x#y") == "areas/a.html"


# ── placement ───────────────────────────────────────────────────────
AT = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)


@given(
    st.sampled_from(TYPES),
    st.lists(st.text(max_size=9), max_size=3),
    st.text(max_size=9) | st.none(),
    st.lists(st.text(max_size=9)),
)
@example("semantic", [], "Aux", [])
@example("semantic", [], None, ["COM0"])
def test_every_memory_has_a_place_in_a_bucket(
    kind: str, entities: list[str], workspace: str | None, tags: list[str]
) -> None:
    path = path_for(Placed(kind, entities, workspace, tags), "A title", AT)
    assert is_memory_path(path)
    assert why_not_writable(path) is None
    if kind == "task":
        assert not path.startswith("resources/")


@pytest.mark.parametrize(
    ("memory", "folder"),
    [
        (Placed("arc", workspace="other", path="projects/memhtml/a.html"), "projects/memhtml"),
        (Placed("arc", path="../../etc/passwd"), "areas/arcs"),
        (Placed("episodic", path="notes/a.txt"), "areas/inbox"),
        (Placed("semantic", ["person:ana"]), "resources/people"),
        (Placed("semantic", ["person:ana"], "w"), "resources/people"),
        (Placed("episodic", ["person:ana"]), "areas/inbox"),
        (Placed("semantic", (), "Memhtml", ["deploy"]), "projects/memhtml"),
        (Placed("procedural", (), None, ["Release Order"]), "resources/release-order"),
        (Placed("precedent", (), None, ["", "  ", "oncall"]), "resources/oncall"),
        (Placed("verdict", (), None, ["x"]), "areas/inbox"),
        (Placed("semantic"), "areas/inbox"),
        (Placed("task", (), "Memhtml"), "projects/memhtml/tasks"),
        (Placed("task", (), ""), "areas/inbox/tasks"),
    ],
)
def test_the_first_rule_that_applies_decides_the_folder(memory: Placed, folder: str) -> None:
    assert folder_for(memory) == folder


def test_what_happened_carries_its_day_in_utc() -> None:
    title = "Drain the pool first"
    assert path_for(Placed("episodic"), title, AT) == "areas/inbox/20260802-drain-the-pool-first.html"
    late = datetime(2026, 1, 5, tzinfo=UTC)
    assert path_for(Placed("episodic"), title, late, 2) == "areas/inbox/20260105-drain-the-pool-first-2.html"
    assert path_for(Placed("procedural", tags=["x"]), title, AT) == "resources/x/drain-the-pool-first.html"


def test_only_a_day_looks_like_one() -> None:
    assert looks_dated("12345678-retries.html")
    assert not looks_dated("wait-5-minutes.html")


# ── slugs ───────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Démarré à l'été", "demarre-a-l-ete"),
        ("  --Wait  5   minutes!!  ", "wait-5-minutes"),
        ("!!!", "untitled"),
        ("", "untitled"),
        ("日本語", "untitled"),
    ],
)
def test_a_title_becomes_a_name(title: str, name: str) -> None:
    assert slug(title) == name


def test_long_titles_are_cut_without_a_hyphen_at_the_end() -> None:
    assert len(slug("retry" * 40)) == 80
    assert len(slug(" ".join(["abcd"] * 30))) == 79
    assert slug(" ".join(["abcd"] * 30)).endswith("abcd")


@given(st.text())
def test_a_slug_is_its_own_slug(title: str) -> None:
    name = slug(title)
    assert is_slug(name)
    assert slug(name) == name


@given(st.text(), st.integers(1, 998))
def test_numbered_names_are_slugs_and_differ(title: str, ordinal: int) -> None:
    name = numbered(slug(title), ordinal)
    assert is_slug(name)
    assert name != numbered(slug(title), ordinal + 1)


def test_the_first_of_a_name_has_no_number() -> None:
    assert [numbered("a", ordinal) for ordinal in (0, 1, 2, 3)] == ["a", "a", "a-2", "a-3"]


@pytest.mark.parametrize("ending", ["-2", "-3", "-42", "-999"])
def test_a_cut_name_that_looks_numbered_gives_as_many_names_as_any(ending: str) -> None:
    name = "a" * (80 - len(ending)) + ending
    names = {numbered(name, ordinal) for ordinal in range(1, 1001)}
    assert len(names) == 1000
    assert all(map(is_slug, names))
