"""Facets of a thread's prose."""

from __future__ import annotations

from fabula.record.ingest.terms import facets


def of(kind: str, prose: str) -> list[str]:
    return [term for found, term, _ in facets(prose) if found == kind]


def test_verbs_are_found_in_every_form() -> None:
    prose = "I fixed it, investigating more; now planning the refactor. Decided, rejected, built."
    assert set(of("operative", prose)) == {"fix", "investigate", "plan", "refactor", "decide", "reject", "build"}


def test_plain_english_has_no_operatives_and_no_targets() -> None:
    prose = "It was a lovely day and nobody said anything about the weather."
    assert (of("operative", prose), of("target", prose)) == ([], [])


def test_targets_are_paths_file_names_identifiers_and_code_spans() -> None:
    prose = (
        "see src/core/io.rs and /abs/dir/file.toml, main.py, iter_records, ConnectionPool, promptId or `cargo test -q`"
    )
    assert sorted(of("target", prose)) == [
        "/abs/dir/file.toml", "ConnectionPool", "cargo test -q", "iter_records", "main.py", "promptId",
        "src/core/io.rs",
    ]  # fmt: skip


def test_a_web_address_is_no_target() -> None:
    assert of("target", "read https://example.org/a/b.html first") == []


def test_wiki_links_come_in_order() -> None:
    assert of("wikilink", "see [[ZigZag]] and then [[fix]]") == ["ZigZag", "fix"]


def test_a_repeated_pair_of_words_is_a_concept_before_its_words() -> None:
    prose = "The option chain matters. An option chain lists strikes. Every option chain expires."
    assert of("concept", prose)[0] == "option chain"


def test_the_same_prose_gives_the_same_facets_in_the_same_order() -> None:
    prose = "parse_config and loader.py, then loader.py again with zigzag zigzag pivots"
    assert facets(prose) == facets(prose)
