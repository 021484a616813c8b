"""The byte form of a pack. Pure: bytes in, values out. The format is described in docs/internals/vault.md.

::

    pack   = header frame* [footer]                    the footer is there once the pack is closed
    header = magic "FBPACK" version:u8 class:u8 owner:16 crc:u32
    frame  = magic "FBFR" records:u32 content:u64 payload:u64 crc:u32 (digest:32 length:u32)* zstd
           | magic "FBSF" records:u32 content:u64 payload:u64 crc:u32 sealed((digest:32 length:u32)* zstd)
    footer = magic "FBFT" frames:u32 (offset:u64 length:u64 records:u32 crc:u32)* crc:u32 start:u64 "FBPKEND1"

Integers are little-endian. ``crc`` is CRC-32: of a frame, over table and payload and then the fields before it.
It finds damage fast and exactly; what proves a record is its SHA-256 digest.

In a pack of an encrypted vault ``class`` has the bit ``0x80``, and table and payload are sealed (see ``cipher``); the
checksum is over what is on the disk. What a frame is sealed for: the pack's header, its file's name, the frame's
place in it and its fields. A frame that was moved is not opened.
"""

from __future__ import annotations

import struct
import zlib
from enum import IntEnum
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = 1
MAGIC = b"FBPACK"
FRAME_MAGIC = b"FBFR"
SEALED_MAGIC = b"FBSF"
FOOTER_MAGIC = b"FBFT"
END_MAGIC = b"FBPKEND1"
RECORD_LIMIT = 0xFFFF_FFFF  # bytes of one record: its length has four bytes

_HEADER = struct.Struct("<6sBB16s")
_CRC = struct.Struct("<I")
_FRAME = struct.Struct("<4sIQQ")
_ENTRY = struct.Struct("<32sI")
_FOOTER = struct.Struct("<4sI")
_PLACE = struct.Struct("<Q")
_FOOTER_ROW = struct.Struct("<QQII")
_END = struct.Struct("<Q8s")

HEADER_BYTES = _HEADER.size + _CRC.size
FRAME_HEADER_BYTES = _FRAME.size + _CRC.size
ENTRY_BYTES = _ENTRY.size
END_BYTES = _END.size
_SEALED_BIT = 0x80
SEAL_BYTES = 40  # that sealing adds to a frame: nonce and tag


class PackClass(IntEnum):
    """What a pack carries. Pictures have packs of their own: large, hardly compressible, seldom read."""

    RECORDS = 0
    IMAGES = 1
    JOURNAL = 2  # no records of files: a log of how files are made of them


@frozen
class FrameHeader:
    """The fixed part of a frame."""

    records: int
    content: int  # bytes after decompression
    payload: int  # bytes of the zstd frame
    crc: int
    sealed: bool = False

    @property
    def table(self) -> int:
        """Bytes of the table of digests and lengths."""
        return self.records * ENTRY_BYTES

    @property
    def length(self) -> int:
        """Bytes of the whole frame in the pack."""
        return FRAME_HEADER_BYTES + self.table + self.payload + (SEAL_BYTES if self.sealed else 0)


@frozen
class FramePlace:
    """Where a frame lies in its pack."""

    offset: int
    length: int
    records: int
    crc: int


def encode_header(pack_class: PackClass, owner: bytes, *, sealed: bool = False) -> bytes:
    """Return the first bytes of a pack of the vault ``owner`` (16 bytes)."""
    head = _HEADER.pack(MAGIC, VERSION, pack_class | (_SEALED_BIT if sealed else 0), owner)
    return head + _CRC.pack(zlib.crc32(head))


def decode_header(data: bytes) -> tuple[PackClass, bytes]:
    """Return a pack's class and owner. Raises ``ValueError``."""
    if len(data) < HEADER_BYTES:
        raise ValueError("the pack's header is cut off")
    magic, version, pack_class, owner = _HEADER.unpack_from(data)
    if magic != MAGIC or _CRC.unpack_from(data, _HEADER.size)[0] != zlib.crc32(data[: _HEADER.size]):
        raise ValueError("the pack's header is damaged")
    if version != VERSION:
        raise ValueError(f"the pack has format {version}, this Fabula reads {VERSION}")
    return PackClass(pack_class & ~_SEALED_BIT), owner


def is_sealed(header: bytes) -> bool:
    """Say whether the frames of a pack are sealed, from its header."""
    return len(header) >= HEADER_BYTES and bool(header[7] & _SEALED_BIT)


def sealed_for(header: bytes, name: str, offset: int, frame_header: bytes) -> bytes:
    """Return what a frame is sealed for: its pack (header, file name), its place, and its fields but the checksum."""
    return b"".join((header[: _HEADER.size], name.encode(), b"\0", _PLACE.pack(offset), frame_header[: _FRAME.size]))


def encode_table(table: list[tuple[bytes, int]]) -> bytes:
    """Return the digests and lengths of a frame's records as bytes."""
    pack = _ENTRY.pack
    return b"".join([pack(digest, length) for digest, length in table])


def decode_table(data: bytes) -> list[tuple[bytes, int]]:
    """Inverse of :func:`encode_table`."""
    return list(_ENTRY.iter_unpack(data))


def encode_frame_header(
    records: int, content: int, payload: int, body_crc: int, *, sealed: bool = False
) -> tuple[bytes, int]:
    """Return a frame's header and its checksum; ``body_crc`` is the CRC-32 of table and payload as they are stored."""
    head = _FRAME.pack(SEALED_MAGIC if sealed else FRAME_MAGIC, records, content, payload)
    crc = zlib.crc32(head, body_crc)
    return head + _CRC.pack(crc), crc


def decode_frame_header(data: bytes) -> FrameHeader:
    """Read a frame's header. Raises ``ValueError`` when there is none."""
    if len(data) < FRAME_HEADER_BYTES:
        raise ValueError("the frame is cut off")
    magic, records, content, payload = _FRAME.unpack_from(data)
    if magic not in (FRAME_MAGIC, SEALED_MAGIC):
        raise ValueError("no frame begins here")
    return FrameHeader(records, content, payload, _CRC.unpack_from(data, _FRAME.size)[0], magic == SEALED_MAGIC)


def split_frame(data: bytes, unseal: Callable[[bytes], bytes] | None = None) -> tuple[FrameHeader, bytes, bytes]:
    """Return a whole frame's header, table and payload, checked; ``unseal`` opens those of a sealed one.

    Raises ``ValueError``.
    """
    header = decode_frame_header(data)
    if len(data) != header.length:
        raise ValueError("the frame is cut off" if len(data) < header.length else "the frame's length is damaged")
    view = memoryview(data)
    if zlib.crc32(view[: _FRAME.size], zlib.crc32(view[FRAME_HEADER_BYTES:])) != header.crc:
        raise ValueError("the frame does not match its checksum")
    if header.sealed:
        if unseal is None:
            raise ValueError("the frame is sealed")
        body = unseal(data[FRAME_HEADER_BYTES:])
        return header, body[: header.table], body[header.table :]
    start = FRAME_HEADER_BYTES + header.table
    return header, data[FRAME_HEADER_BYTES:start], data[start:]


def encode_footer(places: list[FramePlace], start: int) -> bytes:
    """Return the footer of a pack whose frames end at byte ``start``."""
    rows = b"".join([_FOOTER_ROW.pack(p.offset, p.length, p.records, p.crc) for p in places])
    body = _FOOTER.pack(FOOTER_MAGIC, len(places)) + rows
    return body + _CRC.pack(zlib.crc32(body)) + _END.pack(start, END_MAGIC)


def footer_bytes(frames: int) -> int:
    """Return how long the footer of a pack with so many frames is."""
    return _FOOTER.size + frames * _FOOTER_ROW.size + _CRC.size + _END.size


def footer_start(end: bytes) -> int:
    """Return where the footer begins, from a pack's last ``END_BYTES``. Raises ``ValueError``."""
    if len(end) != END_BYTES or end[8:] != END_MAGIC:
        raise ValueError("the pack has no footer")
    return int(_END.unpack(end)[0])


def decode_footer(data: bytes) -> list[FramePlace]:
    """Read a footer (end included). Raises ``ValueError``."""
    if len(data) < _FOOTER.size + _CRC.size + END_BYTES:
        raise ValueError("the pack's footer is cut off")
    magic, count = _FOOTER.unpack_from(data)
    body = _FOOTER.size + count * _FOOTER_ROW.size
    if magic != FOOTER_MAGIC or len(data) != body + _CRC.size + END_BYTES:
        raise ValueError("the pack's footer is damaged")
    if _CRC.unpack_from(data, body)[0] != zlib.crc32(data[:body]):
        raise ValueError("the pack's footer does not match its checksum")
    return [FramePlace(*row) for row in _FOOTER_ROW.iter_unpack(data[_FOOTER.size : body])]
