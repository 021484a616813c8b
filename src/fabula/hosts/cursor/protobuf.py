"""Reading a protobuf message without its schema: field numbers and values.

Source: the encoding as published by Protocol Buffers (varints, tags, wire types 0, 1, 2 and 5; groups are refused).
"""

from __future__ import annotations

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST = 10  # bytes of a varint of 64 bits


def read_fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """Return (field number, value) in order; a value is a number or bytes. Raises ``ValueError`` for anything else."""
    fields: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            fields.append((number, value))
            continue
        if wire == _BYTES:
            length, at = _varint(data, at)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if number == 0 or at + length > len(data):
            raise ValueError("no protobuf message")
        fields.append((number, data[at : at + length]))
        at += length
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(_LONGEST):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at
    raise ValueError("a varint does not end")
