"""Whatever is sealed, in whatever cuts, comes back as it was."""

from __future__ import annotations

import tempfile
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vault_builders import begin, line_spans, open_vault, restored, seal, transcript

from fabula.record.vault import filling
from fabula.record.vault.folder import packs_on_disk

CONTENT = st.lists(
    st.one_of(st.binary(max_size=60), st.binary(max_size=900), st.just(b"the same record"), st.just(b"x" * 3000)),
    max_size=30,
).map(b"\n".join)


@pytest.mark.usefixtures("small_packs")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CONTENT, st.data())
def test_any_bytes_with_any_spans_in_any_cuts_come_back(content: bytes, data: st.DataObject) -> None:
    size = len(content)
    edges = sorted(data.draw(st.lists(st.integers(0, size), max_size=16)))
    spans = [(a, b - a) for a, b in zip(edges[::2], edges[1::2], strict=False)] or line_spans(content)
    borders = {0, size, *data.draw(st.lists(st.integers(0, size), max_size=6))}
    borders = {b for b in borders if not any(s < b < s + n for s, n in spans)}  # a cut never divides a record
    cuts = sorted(borders | {0, size})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vault"
        commits = data.draw(st.booleans())
        with open_vault(path) as vault:
            generation = begin(vault, "/file")
            for a, b in pairwise(cuts):
                back = data.draw(st.integers(0, a))  # appends may overlap what is sealed
                vault.append(generation.id, back, content[back:b], [s for s in spans if s[0] >= back and sum(s) <= b])
                if commits:
                    vault.commit()
            vault.commit()
        with open_vault(path, read_only=True) as vault:
            assert restored(vault, generation.id) == content
            records = {(s, n) for s, n in spans if n}
            for start, length in records:
                assert vault.read(generation.id, start, length) == content[start : start + length]
                assert vault.digest(generation.id, start, length) == sha256(content[start : start + length]).digest()
            distinct = {content[s : s + n] for s, n in records}
            assert distinct_in(vault, records=True) >= len(distinct)
            assert distinct_in(vault, records=True) == distinct_in(vault, records=False)
            assert list(vault.verify()) == []


def distinct_in(vault, *, records: bool) -> int:  # type: ignore[no-untyped-def]
    """How many records are stored, and how many of them are different."""
    if records:
        return int(vault.stats().records)
    held = {row[0] for table in ("blobs", "loose") for row in vault.journal.rows(f"select digest from {table}")}
    return len(held)


@pytest.mark.usefixtures("small_packs")
def test_a_record_is_stored_once_however_often_it_is_seen(tmp_path: Path) -> None:
    content = transcript(60)
    with open_vault(tmp_path / "vault") as vault:
        first = seal(vault, "/a", content)
        stored = vault.stats()
        fork = seal(vault, "/fork", content + b'{"new":1}\n')
        again = vault.stats()
        assert (stored.records, again.records) == (60, 61)
        assert again.sealed_bytes == 2 * len(content) + 10
        assert again.content_bytes == stored.content_bytes + 9
        assert restored(vault, first.id) == content
        assert restored(vault, fork.id) == content + b'{"new":1}\n'


def test_a_record_that_repeats_within_one_append_is_stored_once(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        generation = seal(vault, "/a", b'{"a":1}\n' * 500)
        assert vault.stats().records == 1
        assert restored(vault, generation.id) == b'{"a":1}\n' * 500


@pytest.mark.usefixtures("small_packs")
def test_small_appends_fill_frames_and_not_one_frame_each(tmp_path: Path) -> None:
    content = transcript(200, size=100)
    lines = content.splitlines(keepends=True)
    position = 0
    generation_id = 0
    for line in lines:  # a process each, as after every turn of a session
        with open_vault(tmp_path / "vault") as vault:
            source = vault.source("host", "/a", "session", "s")
            current = vault.current(source.id) or vault.begin(source.id, provenance="original", immutable=False)
            assert current.length == position
            vault.append(current.id, position, line, line_spans(line, position))
            vault.commit()
            position += len(line)
            generation_id = current.id
    with open_vault(tmp_path / "vault", read_only=True) as vault:
        assert restored(vault, generation_id) == content
        frames = vault.journal.rows("select content from frames")
        assert len(frames) <= len(content) // filling.FRAME_CONTENT
        assert all(size >= filling.FRAME_CONTENT for (size,) in frames)
        assert list(vault.verify()) == []


@pytest.mark.usefixtures("small_packs")
def test_full_packs_are_closed_and_never_change_again(tmp_path: Path) -> None:
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", transcript(300, seed=1))
        closed = vault.journal.rows("select id from packs where closed=1")
        before = {path.name: path.read_bytes() for path in (tmp_path / "vault" / "packs").iterdir()}
        seal(vault, "/b", transcript(300, seed=2))
    assert len(closed) > 1
    for (number,) in closed:
        name = f"records-{number:06d}.pack"
        assert (tmp_path / "vault" / "packs" / name).read_bytes() == before[name]


def test_pictures_lie_in_packs_of_their_own(tmp_path: Path) -> None:
    picture = b'{"type":"image","source":{"type":"base64","data":"' + b"QUJD" * 100_000 + b'"}}'
    content = b'{"a":1}\n' + picture + b"\n"
    with open_vault(tmp_path / "vault") as vault:
        generation = seal(vault, "/a", content)
        assert list(packs_on_disk(tmp_path / "vault").values()) == ["images-000001.pack"]
        assert vault.stats().image_bytes == vault.stats().pack_bytes > 0
        assert vault.read(generation.id, 8, len(picture)) == picture


def test_long_stretches_without_a_record_go_to_packs(tmp_path: Path) -> None:
    noise = bytes(range(256)) * 40
    content = b'{"a":1}\n' + noise + b'\n{"b":2}\n'
    spans = [(0, 7), (len(content) - 8, 7)]
    with open_vault(tmp_path / "vault") as vault:
        generation = begin(vault, "/a")
        vault.append(generation.id, 0, content, spans)
        vault.commit()
        assert restored(vault, generation.id) == content
        assert vault.read(generation.id, 8, 100) == content[8:108]
        assert vault.digest(generation.id, 7, len(noise) + 2) is None
        assert vault.journal.rows("select max(length(layout)) from segments")[0][0] < 200


@pytest.mark.usefixtures("small_packs")
def test_a_record_longer_than_a_frame_has_a_frame_of_its_own(tmp_path: Path) -> None:
    long = b'{"long":"' + bytes(range(65, 91)) * 500 + b'"}'
    content = b'{"a":1}\n' + long + b'\n{"b":2}\n'
    with open_vault(tmp_path / "vault") as vault:
        generation = seal(vault, "/a", content)
        assert vault.journal.rows("select records, content from frames") == [(1, len(long))]
        assert restored(vault, generation.id) == content


@pytest.mark.parametrize("remembered", [200_000, 0])
def test_a_record_is_kept_once_however_many_digests_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remembered: int
) -> None:
    monkeypatch.setattr("fabula.record.vault.filling.DIGESTS_REMEMBERED", remembered)
    monkeypatch.setattr("fabula.record.vault.filling.FRAME_CONTENT", 512)
    lines = [b'{"n":%d,"text":"%s"}\n' % (number, b"x" * 100) for number in range(20)]
    with open_vault(tmp_path / "vault") as vault:
        seal(vault, "/a", b"".join(lines[:12]))
        seal(vault, "/b", b"".join(lines[4:]))
    with open_vault(tmp_path / "vault") as vault:
        third = seal(vault, "/c", b"".join(lines))
        assert vault.stats().records == len(lines)
        assert b"".join(vault.stream(third.id)) == b"".join(lines)
