"""What a file says becomes rows, by one pure function."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexed import link, memory

from fabula.memory.index.projection import COLUMNS, Projected, Unserved, project, workspace_of
from fabula.memory.index.schema import TEXT_COLUMNS

sys.path.insert(0, str(Path(__file__).parents[1] / "format"))
from memories import AT, LEDGER, LEDGER_HASH, page

PATH = "projects/ledger/pause.html"


def rows(data: bytes, path: str = PATH) -> Projected:
    found = project(path, data)
    assert isinstance(found, Projected)
    return found


def value(found: Projected, column: str) -> object:
    return found.values[COLUMNS.index(column)]


def column(found: Projected, name: str) -> str:
    return found.full_text[[one for one, _ in TEXT_COLUMNS].index(name)]


def test_a_rich_memory_fills_every_kind_of_row() -> None:
    found = rows(LEDGER)
    assert value(found, "content_hash") == LEDGER_HASH
    assert value(found, "type") == "error_pattern"
    assert value(found, "workspace") == "ledger"
    assert value(found, "created") == 1_778_746_800_000
    assert value(found, "event") == 1_778_630_400_000
    assert value(found, "holds_from") == value(found, "event")
    assert value(found, "confidence") == 0.85
    assert value(found, "importance") == 7
    assert found.tags == ("backup", "postgres")
    assert [str(one) for one in found.entities] == ["service:ledger-db", "tool:pg_dump", "lang:sql"]
    assert found.facets == (
        ("Applies to", "PostgreSQL 15 hot standby", None),
        ("Pause window", "forty minutes at most", 40.0),
    )
    assert found.edges == (
        ("caused_by", "projects/ledger/20260513-export-timed-out.html"),
        ("supersedes", "archive/2026/projects/ledger/stop-replica-before-export.html"),
    )
    assert found.citations == (("ledger incident 212", None, None, None),)


def test_code_inside_of_a_claim_is_part_of_it() -> None:
    assert "pg_dump" in str(value(rows(LEDGER), "claim"))


def test_what_is_folded_away_is_found_and_not_quoted() -> None:
    found = rows(LEDGER)
    body, open_body, disclosure = found.texts
    assert "replica's own socket" in body
    assert open_body is not None
    assert "replica's own socket" not in open_body + disclosure
    assert "Managed databases" not in open_body + disclosure
    assert "Why stopping fails" in disclosure
    assert "Pause window: forty minutes at most" in disclosure
    assert "replica's own socket" in column(found, "body")


def test_the_claim_counts_once_in_the_full_text() -> None:
    found = rows(memory("Drain the pool first.", "<p>Then stop.</p>", title="Stopping"))
    assert column(found, "claim") == "Drain the pool first."
    assert "Drain" not in column(found, "body")
    assert "Then stop." in column(found, "body")


def test_names_are_found_by_their_parts_and_scripts_without_spaces_by_pairs() -> None:
    found = rows(memory("Call parseHTTPConfig.", title="東京タワー"))
    assert "HTTP" in column(found, "parts").split()
    assert "東京" in column(found, "parts").split()


def test_an_archived_memory_keeps_its_workspace_and_knows_where_it_lay() -> None:
    found = rows(memory("Old."), f"archive/2026/{PATH}")
    assert found.is_archived
    assert value(found, "origin") == PATH
    assert value(found, "workspace") == "ledger"


def test_the_path_says_what_is_archived_whatever_the_head_says() -> None:
    assert not rows(memory("Active.", status="archived")).is_archived
    assert rows(memory("Archived."), "archive/2026/areas/x.html").is_archived


def test_what_was_archived_twice_lay_where_its_head_says() -> None:
    origin = '<meta name="fabula-origin" content="areas/x.html">'
    assert (
        value(rows(memory("Old.", head=origin), "archive/2026/archive/2025/areas/x.html"), "origin") == "areas/x.html"
    )


@pytest.mark.parametrize(
    ("path", "workspace"),
    [
        ("projects/memhtml/nested/a.html", "memhtml"),
        ("projects/a.html", None),
        ("areas/a.html", None),
        ("archive/2026/areas/a.html", None),
        ("archive/2026/archive/2025/projects/w/a.html", "w"),
    ],
)
def test_only_the_folder_below_projects_is_a_workspace(path: str, workspace: str | None) -> None:
    assert workspace_of(path) == workspace


def test_edges_lead_somewhere_else_and_are_there_once() -> None:
    head = link("relates_to", "areas/x.html") * 2 + link("relates_to", PATH)
    assert rows(memory("Linked.", head=head)).edges == (("relates_to", "areas/x.html"),)


def test_a_frame_key_comes_from_the_claim_alone() -> None:
    assert value(rows(memory("The owner of ledger-db is Ana.")), "frame_key") == "the owner of ledger-db is"
    assert value(rows(memory("Rust is fast.")), "frame_key") is None


def test_a_day_and_a_time_are_moments_and_nothing_is_compared_as_text() -> None:
    found = rows(memory("Valid.", valid_from="2026-01-01", valid_until="2026-01-01T02:00:00+02:00"))
    assert value(found, "valid_from") == value(found, "valid_until") == 1_767_225_600_000


def test_a_record_is_cited_with_its_digest_and_the_quote_of_it() -> None:
    digest = "sha256:" + "ab" * 32
    cite = f'<meta name="fabula-cite" content="rec-1 {digest}"><meta name="fabula-cite" content="rec-2 {digest}">'
    found = rows(memory("Cited.", '<p><q cite="urn:fabula:record:rec-1">said so</q></p>', head=cite))
    assert found.citations == (
        ("said so", "urn:fabula:record:rec-1", "rec-1", digest),
        ("", None, "rec-2", digest),
    )


def test_a_file_without_numbers_has_the_usual_ones() -> None:
    found = rows(page())
    assert (value(found, "confidence"), value(found, "importance"), value(found, "author")) == (1.0, 5, None)
    assert AT.startswith("2026-05-14")


@given(st.binary(max_size=400))
def test_any_bytes_are_rows_or_a_reason(data: bytes) -> None:
    assert isinstance(project(PATH, data), Projected | Unserved)
    assert project(PATH, data) == project(PATH, data)


@pytest.mark.parametrize("sign", ["\n", "\r", "\x1b", "\x7f", "\x85", "\u2028"])
def test_a_name_that_would_end_a_line_or_control_a_terminal_is_a_problem(sign: str) -> None:
    found = project(f"areas/inbox/a{sign}b.html", LEDGER)
    assert isinstance(found, Unserved)
    assert found.kind == "name"
