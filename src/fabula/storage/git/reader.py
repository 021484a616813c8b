"""Reading objects through one long-lived ``git cat-file --batch``: packs, alternates, partial clones are git's job."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Iterator

    from fabula.storage.git.program import Git

_AHEAD = 64  # names sent before their answers are read: fewer bytes than a pipe holds


class Reader:
    """Objects by id or by any name that git understands. The process starts with the first question."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None

    def get(self, name: str) -> tuple[str, str, bytes] | None:
        """Return (id, kind, bytes) of an object, or ``None`` when there is none of this name."""
        return next(iter(self.each([name])))

    def data(self, name: str, kind: str) -> bytes:
        """Return the bytes of an object that must be there. Raises ``ERR_GIT``."""
        found = self.get(name)
        if found is None or found[1] != kind:
            raise FabulaError(
                "ERR_GIT", f"{self._git.root}: {kind} {name} is missing from the repository", _check(self)
            )
        return found[2]

    def each(self, names: Iterable[str]) -> Iterator[tuple[str, str, bytes] | None]:
        """Answer for many names, in order, without holding more than one answer. A name may hold no line feed."""
        names = list(names)
        for first in range(0, len(names), _AHEAD):
            part = names[first : first + _AHEAD]
            self._ask(part)
            waiting = len(part)
            try:
                while waiting:
                    waiting -= 1
                    yield self._answer()
            finally:
                if waiting:  # answers that nobody took would be read as those to the next question
                    self.close()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            process.wait()

    def _ask(self, names: list[str]) -> None:
        if any("\n" in name for name in names):
            raise FabulaError("ERR_PATH", "a name with a line feed cannot be looked up")
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = self._git.start("cat-file", "--batch")
        question = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(question)
            self._process.stdin.flush()
        except OSError as error:
            raise self._broken() from error

    def _answer(self) -> tuple[str, str, bytes] | None:
        assert self._process is not None
        assert self._process.stdout is not None
        header = self._process.stdout.readline().rstrip(b"\n")
        words = header.rsplit(b" ", 2)
        if header.endswith((b" missing", b" ambiguous")):
            return None
        if len(words) != 3 or not words[2].isdigit():
            raise self._broken()
        size = int(words[2])
        data = self._process.stdout.read(size + 1)
        if len(data) != size + 1:
            raise self._broken()
        return words[0].decode(), words[1].decode(), data[:-1]

    def _broken(self) -> FabulaError:
        self.close()
        return FabulaError("ERR_GIT", f"{self._git.root}: an object could not be read", _check(self))


def _check(reader: Reader) -> str:
    from shlex import quote

    return f"git -C {quote(str(reader._git.root))} fsck"  # noqa: SLF001 - of this module
