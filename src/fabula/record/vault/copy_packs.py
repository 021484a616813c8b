"""Copying one pack: its missing end is written, made durable, then read back from the disk and checked."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.storage.files import PRIVATE_FILE, disk_errors
from fabula.storage.packs import PackReader
from fabula.storage.packs_format import HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fabula.storage.packs_format import FramePlace

_PIECE = 1 << 20


@frozen
class Arrival:
    """What copying one pack took: bytes that were written, records that were read back."""

    copied: int
    checked: int


def bring_pack(
    source: Path, target: Path, length: int, frames: Sequence[FramePlace], known: Iterable[FramePlace], valid: int
) -> Arrival:
    """Make ``target`` hold the first ``length`` bytes of the pack ``source``, which never change.

    ``frames`` are the frames of it that hold records, ``known`` those that the copy's own journal names, ``valid`` the
    bytes that it calls valid. Raises ``ERR_VAULT_DAMAGED``, ``ERR_DISK``; ``FileNotFoundError`` when the pack is gone.
    """
    had = set(known)
    if _size(target) < valid:
        had.clear()  # it lost its end: all of it is brought again
    fresh = [place for place in frames if place not in had]
    if any(place.offset < valid for place in fresh):
        fresh, valid = list(frames), 0
    start = _resumed(target, fresh, valid)
    copied = _copy(source, target, start, length)
    return Arrival(copied, _check(source, target, fresh))


def bring_log(source: Path, target: Path, length: int, valid: int) -> Arrival:
    """As :func:`bring_pack`, for the journal's own copy, whose frames no table names."""
    copied = _copy(source, target, valid if _size(target) >= valid else 0, length)
    return Arrival(copied, _check_log(target, length) if copied else 0)


def _resumed(target: Path, fresh: Sequence[FramePlace], valid: int) -> int:
    """Return from where on bytes are missing: an earlier copy may have been interrupted behind ``valid``."""
    if _size(target) < max(valid, HEADER_BYTES):
        return 0
    end = valid
    with_pack = PackReader(target)
    try:
        for place in fresh:
            if place.offset != max(end, HEADER_BYTES):
                break
            if with_pack.frame(place.offset, place.length).crc != place.crc:
                break
            end = place.offset + place.length
    except (ValueError, OSError):
        return end
    finally:
        with_pack.close()
    return end


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _copy(source: Path, target: Path, start: int, length: int) -> int:
    """Copy bytes ``start`` to ``length``, durably; what lies beyond is cut. Returns how many were copied."""
    if start == length and _size(target) == length:
        return 0
    with open(source, "rb") as pack:
        with disk_errors(target):
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            handle = os.open(target, flags, PRIVATE_FILE)
        with os.fdopen(handle, "r+b") as copy, disk_errors(target):
            copy.truncate(start)
            copy.seek(start)
            pack.seek(start)
            missing = length - start
            while missing and (piece := pack.read(min(_PIECE, missing))):
                copy.write(piece)
                missing -= len(piece)
            copy.flush()
            os.fsync(copy.fileno())
            if hasattr(os, "posix_fadvise"):  # what is read back comes from the disk then, not from memory
                os.posix_fadvise(copy.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if missing:
        raise _damaged(f"{source.name} lacks its last {missing} bytes")
    return length - start


def _check(source: Path, target: Path, places: Sequence[FramePlace]) -> int:
    """Read frames back from the copy; every record must match its digest. Returns how many records there are."""
    if not places:
        return 0
    pack = PackReader(target)
    try:
        for place in places:
            try:
                frame = pack.frame(place.offset, place.length)
            except (ValueError, OSError) as error:
                raise _wrong(source, target, place, str(error)) from error
            view, start = memoryview(frame.content), 0
            for digest, length in frame.table:
                if sha256(view[start : start + length]).digest() != digest:
                    raise _wrong(source, target, place, "records do not match their digests")
                start += length
            if frame.crc != place.crc:
                raise _wrong(source, target, place, "it is another frame")
    finally:
        pack.close()
    return sum(place.records for place in places)


def _check_log(target: Path, length: int) -> int:
    pack = PackReader(target)
    try:
        frames = 0
        for part in pack.walk(length):
            if isinstance(part, str):
                raise _damaged(f"{target.name}: {part}")
            frames += 1
        return frames
    except ValueError as error:
        raise _damaged(f"{target.name}: {error}") from error
    finally:
        pack.close()


def _wrong(source: Path, target: Path, place: FramePlace, problem: str) -> FabulaError:
    """Say which of the two is damaged: the vault, which can be repaired, or what was just written."""
    try:
        pack = PackReader(source)
        try:
            pack.frame(place.offset, place.length)
        finally:
            pack.close()
    except (ValueError, OSError):
        return _damaged(f"{source.name}, the frame at byte {place.offset}: {problem}")
    return FabulaError(
        "ERR_DISK", f"{target}: what was written at byte {place.offset} reads differently: {problem}",
        "copy onto another disk",
    )  # fmt: skip


def _damaged(message: str) -> FabulaError:
    return FabulaError("ERR_VAULT_DAMAGED", message, "fabula record verify --repair")
