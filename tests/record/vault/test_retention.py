"""Retention marks what may go, never the last full copy of anything."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from vault_builders import TickingClock, contents, open_vault, seal, transcript

from fabula.record.vault.keepsakes import Keepsakes
from fabula.record.vault.reading import Reading
from fabula.record.vault.retention import DAY_MS, Rules, Sealed, may_go
from fabula.record.vault.retiring import retire, sealed_generations
from fabula.record.vault.vault import Vault

KEYS = st.frozensets(st.sampled_from([bytes([key]) for key in range(8)]), max_size=5)


@st.composite
def vaults(draw: st.DrawFn) -> list[Sealed]:
    found = []
    for source in range(draw(st.integers(0, 4))):
        count = draw(st.integers(1, 5))
        for number in range(count):
            superseded = None if number == count - 1 else draw(st.integers(0, 100)) * DAY_MS
            found.append(
                Sealed(
                    len(found) + 1,
                    source,
                    number,
                    superseded,
                    draw(st.integers(0, 90)),
                    draw(KEYS),
                    draw(st.booleans()),
                )
            )
    return found


RULES = st.builds(Rules, st.integers(0, 3), st.integers(0, 90), st.integers(0, 300))


@given(vaults(), RULES, st.integers(0, 500))
def test_nothing_full_is_ever_lost(sealed: list[Sealed], rules: Rules, weight: int) -> None:
    going = {each.id for each in may_go(sealed, rules, 100 * DAY_MS, weight)}
    kept = [each for each in sealed if each.id not in going]
    assert {key for each in kept for key in each.holds} == {key for each in sealed for key in each.holds}
    assert all(each.superseded_at is not None and not each.held for each in sealed if each.id in going)


@given(vaults(), st.integers(0, 500))
def test_by_default_everything_is_kept(sealed: list[Sealed], weight: int) -> None:
    assert may_go(sealed, Rules(), 100 * DAY_MS, weight) == ()


@given(vaults(), st.integers(1, 4), st.integers(1, 90))
def test_what_either_rule_keeps_is_kept(sealed: list[Sealed], generations: int, days: int) -> None:
    both = {each.id for each in may_go(sealed, Rules(generations, days), 100 * DAY_MS)}
    by_source: dict[int, list[int]] = {}
    for each in sealed:
        by_source.setdefault(each.source_id, []).append(each.id)
    newest = {number for ids in by_source.values() for number in ids[-generations:]}
    assert not both & newest
    assert all((each.superseded_at or 0) <= (100 - days) * DAY_MS for each in sealed if each.id in both)


@given(vaults(), st.integers(1, 300), st.integers(0, 500))
def test_a_budget_lets_go_no_more_than_it_needs_to(sealed: list[Sealed], budget: int, weight: int) -> None:
    going = may_go(sealed, Rules(budget=budget), 100 * DAY_MS, weight)
    assert weight > budget or not going
    if going:
        assert weight - sum(each.frees for each in going[:-1]) > budget


def slimmed(data: bytes) -> bytes:
    """As our prune leaves a session: lines it changed say so."""
    return b"".join(line[:-1] + b',"fabulaSlimmed":true}\n' for line in data.splitlines())


def everything_of(vault: Vault) -> list[Sealed]:
    reading = Reading(vault.folder, vault.journal)
    try:
        return sealed_generations(vault.journal, reading, ())
    finally:
        reading.close()


def test_slimmed_generations_go_and_originals_stay(tmp_path: Path) -> None:
    original, grown = transcript(60, seed=1), transcript(20, seed=2)
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", original)
        seal(vault, "/a", slimmed(original) + grown)
        seal(vault, "/a", slimmed(original) + slimmed(grown))
        seal(vault, "/a", slimmed(original) + grown)  # undone
        going = may_go(everything_of(vault), Rules(generations=1), 10**15)
        assert [each.number for each in going] == [1, 2]  # 0 alone has the originals, 3 is the newest
        before = contents(vault)
        gone = retire(vault.folder, vault.journal, [each.id for each in going])
        assert len(gone) == 20  # the slimmed lines of what was grown
        assert contents(vault) == {key: before[key] for key in (("/a", 0), ("/a", 3))}
        assert list(vault.verify()) == []


def test_what_stands_between_records_and_unfinished_lines_count_as_full(tmp_path: Path) -> None:
    data = transcript(5, seed=1)
    with open_vault(tmp_path / "vault") as vault:
        source = vault.source("host", "/a", "session", "s")
        first = vault.begin(source.id, provenance="original", immutable=False)
        vault.append(first.id, 0, b"no json at all\n", [])
        second = vault.begin(source.id, provenance="original", immutable=False)
        vault.set_tail(second.id, b'{"unfinished')
        vault.commit()
        seal(vault, "/a", data)
        seal(vault, "/a", data)
        assert [each.number for each in may_go(everything_of(vault), Rules(generations=1), 10**15)] == [2]


def test_a_record_that_quotes_the_mark_of_slimmed_ones_is_full(tmp_path: Path) -> None:
    quoting = b'{"uuid":"1","toolUseResult":{"fabulaSlimmed":true}}\n{"fabulaSlimmed":true, broken}\n'
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", quoting)
        seal(vault, "/a", transcript(3))
        assert may_go(everything_of(vault), Rules(generations=1), 10**15) == ()


def test_pinned_sessions_and_cited_records_stay(tmp_path: Path) -> None:
    data = transcript(5, seed=1)
    with open_vault(tmp_path / "vault") as vault:
        for path, session in (("/a", "pinned"), ("/b", "free")):
            seal(vault, path, slimmed(data), session=session)
            seal(vault, path, data, session=session)
        keepsakes = Keepsakes(vault.journal, TickingClock())
        keepsakes.pin("session", "pinned")
        rules = Rules(generations=1)
        assert [each.source_id for each in may_go(everything_of(vault), rules, 10**15)] == [2]
        keepsakes.unpin("session", "pinned")
        assert [each.source_id for each in may_go(everything_of(vault), rules, 10**15)] == [1, 2]
        from hashlib import sha256

        keepsakes.hand_out([("u", sha256(slimmed(data).splitlines()[0]).digest())], "agent")
        assert [each.source_id for each in may_go(everything_of(vault), rules, 10**15)] == [1]  # one of the two goes
