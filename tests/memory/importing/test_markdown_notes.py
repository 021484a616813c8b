"""Markdown as people and agents write it becomes one fact a piece."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.memory.importing.markdown import plain, read_note
from fabula.memory.importing.notes import read_notes
from fabula.memory.importing.values import Candidate

INSTRUCTIONS = """\
# Harbor

Harbor is a rate limiter. It runs as a sidecar.

## Commands

- `make test` runs everything
- Deploy with `make ship`:
  ```sh
  make ship ENV=prod
  ```

  Never on a Friday.
* third kind of bullet
  - a nested remark

1. numbered

## Style

**Never** use `**kwargs`. See [the guide](docs/style.md) and https://example.org/x.
"""


def claims(found: list[Candidate]) -> list[str]:
    return [one.memory.claim for one in found]


def test_items_and_paragraphs_are_facts_with_what_belongs_to_them() -> None:
    found = read_notes({"CLAUDE.md": INSTRUCTIONS}).candidates
    assert claims(found) == [
        "Harbor is a rate limiter.",
        "`make test` runs everything",
        "Deploy with `make ship`",
        "third kind of bullet",
        "numbered",
        "Never use `**kwargs`.",
    ]
    assert found[0].memory.body == ("It runs as a sidecar.",)
    assert found[2].memory.body == ("```sh\nmake ship ENV=prod\n```", "Never on a Friday.")
    assert found[3].memory.body == ("- a nested remark",)
    assert found[1].memory.tags == ("commands",)
    assert {one.memory.type for one in found} == {"procedural"}
    assert found[5].memory.body == ("See the guide and https://example.org/x.",)


def test_a_note_with_a_name_is_one_memory_as_claude_code_writes_its_own() -> None:
    note = (
        "---\nname: no-mocks\ndescription: Integration tests use a real database\nmetadata:\n  type: feedback\n---\n\n"
        "Mocks hid a broken migration.\n\n**Why:** an incident.\n\n- one\n- two\n"
    )
    (one,) = read_notes({"feedback_no_mocks.md": note}).candidates
    assert one.memory.title == "no-mocks"
    assert one.memory.claim == "Integration tests use a real database"
    assert one.memory.body == ("Mocks hid a broken migration.", "Why: an incident.", "- one\n- two")
    assert one.memory.type == "user_preference"


def test_lines_of_an_index_are_left_out_and_links_between_notes_stay_relations() -> None:
    found = read_notes(
        {
            "MEMORY.md": "# Memory\n\n- [No mocks](no-mocks.md) — a real database\n- Ports begin at 4000\n",
            "no-mocks.md": "---\nname: No mocks\n---\nUse a real database. See [[Ports|the ports]].\n",
            "sub/ports.md": "---\ntitle: Ports\naliases: [sockets]\ntags:\n  - net\n  - '#infra'\n---\nPorts matter.\n",
        }
    )
    assert [(one.key, one.reason) for one in found.skipped] == [("MEMORY.md:3", "it only leads to another note")]
    by_key = {one.key: one for one in found.candidates}
    assert by_key["no-mocks.md"].links == (("relates_to", "sub/ports.md"),)
    assert by_key["no-mocks.md"].memory.body == ("See the ports.",)
    assert by_key["sub/ports.md"].memory.tags == ("net", "infra")
    assert by_key["sub/ports.md"].memory.aliases == ("sockets",)
    assert "MEMORY.md:4" in by_key


def test_a_day_in_the_front_matter_is_since_when_it_holds() -> None:
    (one,) = read_notes({"a.md": "---\ntitle: A\ndate: 2024-05-01T10:00:00+02:00\n---\nIt is so.\n"}).candidates
    assert one.memory.valid_from == "2024-05-01T08:00:00Z"
    (two,) = read_notes({"a.md": "---\ntitle: A\ndate: whenever\n---\nIt is so.\n"}).candidates
    assert two.memory.valid_from is None


def test_headings_and_items_inside_of_code_are_code() -> None:
    note = "Run this:\n\n```sh\n# not a heading\n- not an item\n```\n"
    (one,) = read_notes({"x.md": note}).candidates
    assert one.memory.claim == "Run this"
    assert one.memory.body == ("```sh\n# not a heading\n- not an item\n```",)


def test_code_and_tables_are_about_what_the_headings_above_them_say() -> None:
    note = (
        "# Harbor\n\n## Install\n\n```sh\npip install .\n```\n\nThen restart.\n\n"
        "## Ports\n\n| port | who |\n|---|---|\n| 64 | pool |\n"
    )
    install, ports = (one.memory for one in read_notes({"README.md": note}).candidates)
    assert (install.title, install.claim) == ("Harbor: Install", "Harbor: Install")
    assert install.body == ("```sh\npip install .\n```", "Then restart.")
    assert ports.claim == "Harbor: Ports"
    assert ports.body == ("| port | who |\n|---|---|\n| 64 | pool |",)
    for bare in ("```sh\npip install .\n```\n", "~~~\n\npip install .\n~~~\n", "| pip install . |\n|---|\n"):
        (one,) = read_notes({"x.md": bare}).candidates
        assert one.memory.claim == "pip install ."


def test_a_few_words_that_lead_in_are_no_fact_without_the_sentence_behind_them() -> None:
    note = "- **Keeps.** Every byte is sealed. For ever.\n- **Stays out of the way.** No daemon.\n- Use tabs. Always.\n"
    keeps, stays, tabs = (one.memory for one in read_notes({"README.md": note}).candidates)
    assert (keeps.claim, keeps.body) == ("Keeps. Every byte is sealed.", ("For ever.",))
    assert (stays.claim, stays.body) == ("Stays out of the way.", ("No daemon.",))
    assert (tabs.claim, tabs.body) == ("Use tabs.", ("Always.",))


def test_comments_and_empty_notes_say_nothing() -> None:
    found = read_notes({"a.md": "<!-- hidden\n- item\n-->\n", "b.md": "", "c.md": "---\n---\n"})
    assert not found.candidates
    assert [one.key for one in found.skipped] == ["a.md", "b.md", "c.md"]


@settings(deadline=None)
@given(st.text(alphabet="ab \n\t-#*`~[]()|>:.!1)\x00\ufeff\u2028", max_size=300))
def test_any_text_is_read(text: str) -> None:
    note = read_note(text)
    for piece in note.pieces:
        assert piece.text.strip()
        assert plain(piece.text) is not None
    read_notes({"x.md": text})


@given(st.lists(st.text(alphabet="abc def", min_size=1).filter(str.strip), min_size=1, max_size=8))
def test_every_item_of_a_list_is_one_piece(items: list[str]) -> None:
    note = read_note("".join(f"- {' '.join(item.split())}\n" for item in items))
    assert [piece.text for piece in note.pieces] == [" ".join(item.split()) for item in items]
