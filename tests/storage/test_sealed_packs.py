"""Packs of an encrypted vault."""

from __future__ import annotations

import json
import random
from hashlib import sha256
from pathlib import Path

import pytest

pytest.importorskip("nacl")

from fabula.kernel.errors import FabulaError
from fabula.storage import keyring
from fabula.storage.cipher import key_id
from fabula.storage.packs import Frame, PackReader, PackWriter
from fabula.storage.packs_codec import SLICE, Compressor
from fabula.storage.packs_format import HEADER_BYTES, PackClass

KEY = bytes(range(32))
OWNER = b"o" * 16
RECORDS = [b"a canary sings in the quarry", b"", b"x" * 900]


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """The folder of packs of an encrypted vault."""
    vault = tmp_path / "vault"
    (vault / "packs").mkdir(parents=True)
    (vault / keyring.KEY_FILE).write_text(json.dumps({"format": 1, "key": key_id(KEY).hex()}))
    keyring.ask_for_key(vault, lambda folder, said: KEY)
    return vault / "packs"


def table_of(records: list[bytes]) -> list[tuple[bytes, int]]:
    return [(sha256(record).digest(), len(record)) for record in records]


def write(path: Path, *frames: list[bytes]) -> PackWriter:
    writer = PackWriter.create(path, PackClass.RECORDS, OWNER, Compressor())
    for records in frames:
        writer.append(table_of(records), b"".join(records))
    return writer


def walked(path: Path) -> list[Frame | str]:
    reader = PackReader(path)
    try:
        return list(reader.walk(reader.size()))
    finally:
        reader.close()


def test_a_sealed_pack_shows_neither_records_nor_their_digests(packs: Path) -> None:
    writer = write(packs / "p.pack", RECORDS, [b"second"])
    writer.finish()
    writer.close()
    data = (packs / "p.pack").read_bytes()
    assert b"canary" not in data
    assert not any(digest in data for digest, _ in table_of([*RECORDS, b"second"]))
    assert b"\x28\xb5\x2f\xfd" not in data
    reader = PackReader(packs / "p.pack")
    assert reader.header() == (PackClass.RECORDS, OWNER)
    assert reader.footer(len(data)) == writer.places
    frames = [reader.frame(place.offset, place.length) for place in writer.places]
    assert [frame.content for frame in frames] == [b"".join(RECORDS), b"second"]
    assert [frame.table for frame in frames] == [table_of(RECORDS), table_of([b"second"])]
    reader.close()


def test_a_sealed_pack_is_taken_up_and_grows(packs: Path) -> None:
    writer = write(packs / "p.pack", RECORDS)
    writer.close()
    again = PackWriter(packs / "p.pack", writer.length, writer.places, Compressor())
    large = random.Random(3).randbytes(6 * SLICE)
    again.append(table_of([large]), large)
    again.close()
    assert [frame.content for frame in walked(packs / "p.pack") if isinstance(frame, Frame)] == [
        b"".join(RECORDS), large,
    ]  # fmt: skip


def test_a_frame_that_was_moved_is_not_opened(packs: Path) -> None:
    write(packs / "p.pack", [b"one"], [b"two"]).close()
    data = (packs / "p.pack").read_bytes()
    (packs / "q.pack").write_bytes(data)
    assert all(isinstance(part, str) for part in walked(packs / "q.pack"))
    half = (len(data) - HEADER_BYTES) // 2
    first, second = data[HEADER_BYTES : HEADER_BYTES + half], data[HEADER_BYTES + half :]
    (packs / "p.pack").write_bytes(data[:HEADER_BYTES] + second + first)
    assert all(isinstance(part, str) for part in walked(packs / "p.pack"))


def test_behind_a_damaged_frame_reading_goes_on_at_the_next(packs: Path) -> None:
    places = write(packs / "p.pack", [b"one"], [b"two"]).places
    data = bytearray((packs / "p.pack").read_bytes())
    data[places[0].offset + places[0].length - 1] ^= 1
    (packs / "p.pack").write_bytes(data)
    parts = walked(packs / "p.pack")
    assert isinstance(parts[0], str)
    assert isinstance(parts[-1], Frame)
    assert parts[-1].content == b"two"


def test_without_the_key_nothing_is_read(packs: Path) -> None:
    places = write(packs / "p.pack", [b"one"]).places
    keyring.forget_keys()
    keyring.ask_for_key(packs.parent, lambda folder, said: bytes(32))
    reader = PackReader(packs / "p.pack")
    with pytest.raises(FabulaError) as refused:
        reader.frame(places[0].offset, places[0].length)
    assert refused.value.code == "ERR_KEY"
    (packs.parent / keyring.KEY_FILE).unlink()
    with pytest.raises(FabulaError) as refused:
        reader.frame(places[0].offset, places[0].length)
    assert refused.value.code == "ERR_KEY"
    reader.close()


def test_while_a_vault_is_converted_its_journal_says_what_new_packs_are(packs: Path) -> None:
    said = {"format": 1, "key": key_id(KEY).hex(), "converting": True}
    (packs.parent / keyring.KEY_FILE).write_text(json.dumps(said))
    assert keyring.cipher_for_new(packs.parent) is None
    (packs.parent / "journal.db").write_bytes(b"FBSEALED" + bytes(100))
    assert keyring.cipher_for_new(packs.parent) is not None
