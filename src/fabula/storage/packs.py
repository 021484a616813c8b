"""Packs on disk: append frames to an open pack, close it with a footer, read frames back.

A pack grows only at its end and never changes below the length that its journal calls valid; what lies beyond is an
unfinished tail that the next writer cuts and readers never look at. In an encrypted vault frames are sealed.
"""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.storage import keyring
from fabula.storage import packs_format as form
from fabula.storage.files import PRIVATE_FILE, disk_errors
from fabula.storage.packs_codec import SLICE, Compressor, decompress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabula.storage.cipher import Cipher

_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_SIGNS = (form.FRAME_MAGIC, form.SEALED_MAGIC, form.FOOTER_MAGIC)


@frozen
class Frame:
    """A frame read back: its digests with lengths, in order, and the bytes of all its records."""

    offset: int
    length: int
    crc: int
    table: list[tuple[bytes, int]]
    content: bytes


class PackWriter:
    """Appends to one pack. Nothing is durable before :meth:`sync`."""

    def __init__(self, path: Path, length: int, places: list[form.FramePlace], compressor: Compressor) -> None:
        """Open ``path`` at its valid ``length`` (bytes beyond are cut), where ``places`` are its frames so far.

        A ``length`` of 0 creates the file, which must not exist. Raises ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_PATH``;
        ``ValueError`` when the file is shorter than it should be.
        """
        self.path = path
        self.places = places
        self.length = length
        self._compressor = compressor
        self._cipher: Cipher | None = None
        self._header = b""
        with disk_errors(path):
            self._handle = os.open(path, os.O_RDWR | (0 if length else os.O_CREAT | os.O_EXCL) | _FLAGS, PRIVATE_FILE)
            size = os.fstat(self._handle).st_size
            if size < length:
                os.close(self._handle)
                raise ValueError(f"{path} has {size} bytes, {length} were sealed")
            if size > length:
                os.ftruncate(self._handle, length)
            if length:
                os.lseek(self._handle, 0, os.SEEK_SET)
                self._header = os.read(self._handle, form.HEADER_BYTES)
            os.lseek(self._handle, length, os.SEEK_SET)
        if form.is_sealed(self._header):
            try:
                self._cipher = keyring.cipher_of(_vault_of(path))
            except BaseException:
                os.close(self._handle)
                raise

    @classmethod
    def create(cls, path: Path, pack_class: form.PackClass, owner: bytes, compressor: Compressor) -> PackWriter:
        """Begin a new pack: a file that does not exist yet; in an encrypted vault its frames are sealed.

        Raises as the constructor, and ``ERR_KEY``.
        """
        return cls.create_with(path, pack_class, owner, compressor, keyring.cipher_for_new(_vault_of(path)))

    @classmethod
    def create_with(
        cls, path: Path, pack_class: form.PackClass, owner: bytes, compressor: Compressor, cipher: Cipher | None
    ) -> PackWriter:
        """As :meth:`create`, sealed with ``cipher`` or not at all, whatever the vault is. Raises as the constructor."""
        writer = cls(path, 0, [], compressor)
        writer._cipher = cipher
        writer._header = form.encode_header(pack_class, owner, sealed=cipher is not None)
        writer._write(writer._header)
        return writer

    def append(self, table: list[tuple[bytes, int]], content: bytes) -> form.FramePlace:
        """Write one frame of records whose bytes are ``content`` and say where it lies. Raises ``ERR_DISK``."""
        rows = form.encode_table(table)
        offset = self.length
        if self._cipher is not None:
            crc = self._append_sealed(self._cipher, rows, content)
        else:
            crc = self._append_large(rows, content) if len(content) > 4 * SLICE else self._append(rows, content)
        place = form.FramePlace(offset, self.length - offset, len(table), crc)
        self.places.append(place)
        return place

    def _append(self, rows: bytes, content: bytes) -> int:
        payload = self._compressor.compress(content)
        records = len(rows) // form.ENTRY_BYTES
        body_crc = zlib.crc32(payload, zlib.crc32(rows))
        head, crc = form.encode_frame_header(records, len(content), len(payload), body_crc)
        self._write(b"".join((head, rows, payload)))
        return crc

    def _append_sealed(self, cipher: Cipher, rows: bytes, content: bytes) -> int:
        """Write a sealed frame, which is in memory whole however long the record is."""
        payload = b"".join(self._compressor.pieces(content))
        records = len(rows) // form.ENTRY_BYTES
        fields, _ = form.encode_frame_header(records, len(content), len(payload), 0, sealed=True)
        body = cipher.seal(rows + payload, form.sealed_for(self._header, self.path.name, self.length, fields))
        head, crc = form.encode_frame_header(records, len(content), len(payload), zlib.crc32(body), sealed=True)
        self._write(head + body)
        return crc

    def _append_large(self, rows: bytes, content: bytes) -> int:
        """Write a frame piece by piece, its header last: memory stays small however long the record is."""
        start = self.length
        self._write(bytes(form.FRAME_HEADER_BYTES) + rows)
        body_crc = zlib.crc32(rows)
        for piece in self._compressor.pieces(content):
            self._write(piece)
            body_crc = zlib.crc32(piece, body_crc)
        records = len(rows) // form.ENTRY_BYTES
        payload = self.length - start - form.FRAME_HEADER_BYTES - len(rows)
        head, crc = form.encode_frame_header(records, len(content), payload, body_crc)
        with disk_errors(self.path):
            os.lseek(self._handle, start, os.SEEK_SET)
            os.write(self._handle, head)
            os.lseek(self._handle, self.length, os.SEEK_SET)
        return crc

    def _write(self, data: bytes) -> None:
        with disk_errors(self.path):
            view = memoryview(data)
            while view:
                view = view[os.write(self._handle, view) :]
        self.length += len(data)

    def finish(self) -> None:
        """Write the footer: the pack never changes again."""
        self._write(form.encode_footer(self.places, self.length))

    def sync(self) -> None:
        """Make everything written durable. Raises ``ERR_DISK``."""
        with disk_errors(self.path):
            os.fsync(self._handle)

    def close(self, *, keep: int | None = None) -> None:
        """Close the file; with ``keep``, first cut what was written beyond that length."""
        try:
            if keep is not None and keep < self.length:
                os.ftruncate(self._handle, keep)
        finally:
            os.close(self._handle)


class PackReader:
    """Reads frames of one pack by their place. Never writes; bytes beyond the valid length do not exist for it."""

    def __init__(self, path: Path) -> None:
        """Open ``path``. Raises ``OSError``."""
        self.path = path
        self._handle = os.open(path, os.O_RDONLY | _FLAGS)

    def size(self) -> int:
        """Bytes of the file, an unfinished tail included."""
        return os.fstat(self._handle).st_size

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to ``length`` bytes from ``offset``."""
        if hasattr(os, "pread"):
            return os.pread(self._handle, length, offset)
        os.lseek(self._handle, offset, os.SEEK_SET)
        return os.read(self._handle, length)

    def header(self) -> tuple[form.PackClass, bytes]:
        """Return class and owner. Raises ``ValueError``."""
        return form.decode_header(self.read_at(0, form.HEADER_BYTES))

    def frame(self, offset: int, length: int) -> Frame:
        """Read the frame of ``length`` bytes at ``offset``, checked.

        Raises ``ValueError`` or ``OSError``; ``ERR_KEY`` for a sealed one whose key is not known.
        """
        return self.frame_with(offset, length, None)

    def frame_with(self, offset: int, length: int, cipher: Cipher | None) -> Frame:
        """As :meth:`frame`; a sealed one is opened with ``cipher``, if that is given, whatever the vault's is."""
        data = self.read_at(offset, length)
        header, table, payload = form.split_frame(data, lambda sealed: self._unseal(sealed, offset, data, cipher))
        rows = form.decode_table(table)
        if sum(row[1] for row in rows) != header.content:
            raise ValueError("the frame's table does not add up")
        return Frame(offset, length, header.crc, rows, decompress(payload, header.content))

    def _unseal(self, sealed: bytes, offset: int, frame: bytes, cipher: Cipher | None) -> bytes:
        """Open the body of a frame. Raises ``ValueError``, ``ERR_KEY``."""
        place = form.sealed_for(self.read_at(0, form.HEADER_BYTES), self.path.name, offset, frame)
        return (cipher or keyring.cipher_of(_vault_of(self.path))).open(sealed, place)

    def walk(self, end: int) -> Iterator[Frame | str]:
        """Yield every whole frame before byte ``end``, and a sentence for each damaged stretch between them.

        Needs no journal: behind damage it goes on where the next sound frame begins. Ends at the footer.
        """
        offset = form.HEADER_BYTES
        while offset < end:
            head = self.read_at(offset, form.FRAME_HEADER_BYTES)
            if head[:4] == form.FOOTER_MAGIC:
                return
            try:
                frame = self.frame(offset, min(form.decode_frame_header(head).length, end - offset))
                yield frame
                offset += frame.length
            except ValueError as error:
                yield f"at byte {offset}: {error}"
                offset = self._next_frame(offset + 1, end)

    def _next_frame(self, offset: int, end: int) -> int:
        """Return where the next bytes lie that look like the beginning of a frame or of the footer, or ``end``."""
        while offset < end:
            block = self.read_at(offset, min(SLICE, end - offset))
            found = [at for at in map(block.find, _SIGNS) if at >= 0]
            if found:
                return offset + min(found)
            if len(block) < len(form.FRAME_MAGIC):
                return end
            offset += len(block) - len(form.FRAME_MAGIC) + 1
        return end

    def footer(self, end: int) -> list[form.FramePlace]:
        """Read the footer of a closed pack of ``end`` bytes. Raises ``ValueError``."""
        if end < form.HEADER_BYTES + form.footer_bytes(0):
            raise ValueError("the pack has no footer")
        start = form.footer_start(self.read_at(end - form.END_BYTES, form.END_BYTES))
        if not form.HEADER_BYTES <= start <= end - form.footer_bytes(0):
            raise ValueError("the pack's footer is damaged")
        return form.decode_footer(self.read_at(start, end - start))

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


def _vault_of(path: Path) -> Path:
    """Return the vault of a pack, which lies in its folder of packs."""
    return path.parent.parent
