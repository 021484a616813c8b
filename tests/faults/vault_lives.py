"""Random lives of a vault: whatever was done to it in whatever order, it holds what it should, and nothing else.

    python vault_lives.py --count 100 --seed 1       so many lives; exit 1 at the first that ends wrong
    python vault_lives.py --count 3 --calm           nobody is killed: the same lives every time

Sessions begin, grow and vanish; they are scanned, pruned, excised, composed and put back; records are forgotten,
garbage is collected, the vault is copied, its journal is lost or damaged and repaired. Each of these runs in a child
that is killed at a random moment in one case of three. At the end every line that a scan saw is served byte for byte
from the file it stood in, what was forgotten is nowhere, not in the copy either, the vault is sound, a map made anew
gives the same records, and no number of a generation or of a pack was given twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answers import access_to, damage
from erasing_points import app_of

from fabula.app.record import forget as forget_verb
from fabula.app.record.compose import ComposeRequest, compose
from fabula.app.record.excise import ExciseRequest, excise
from fabula.app.record.forget import ForgetRequest, forget
from fabula.app.record.prune import PruneRequest, prune
from fabula.app.record.thread import ThreadRequest, thread
from fabula.app.record.undo import UndoRequest, undo
from fabula.app.record.verify import VerifyRequest, verify
from fabula.app.vault import gc as gc_verb
from fabula.app.vault.copy import CopyRequest, copy
from fabula.app.vault.gc import GcRequest, gc
from fabula.kernel.clock import SystemClock
from fabula.kernel.errors import FabulaError
from fabula.record.vault.folder import PACKS, packs_on_disk
from fabula.record.vault.vault import Vault
from fabula.testing.prober import found_in
from fabula.testing.transcripts import ClaudeSession, json_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.app.wiring import App

STEPS = ("begin", "grow", "grow", "grow", "vanish", "prune", "prune", "excise", "compose", "put_back", "forget",
         "forget", "collect", "copy", "repair")  # fmt: skip
#: Refusals that are right: of what a step does not fit.
FITTING = {"ERR_NOT_FOUND", "ERR_USAGE", "ERR_CHANGED", "ERR_CHAIN", "ERR_STALE", "ERR_LIVE"}
KILLED, REFUSED, BROKEN = -signal.SIGKILL, 10, 11
LONG_AGO = 9_000  # seconds: a session that was just written counts as in use
LIFE = 10  # steps


class WrongEndError(Exception):
    """A life that ended wrong."""


class Life:
    """One vault, what was done to it, and what it must hold."""

    def __init__(self, seed: int, work: Path, *, calm: bool = False) -> None:
        self.calm = calm
        self.random = random.Random(seed)
        self.home, self.user, self.copied = work / "record", work / "user", work / "copy"
        self.claude = self.user / ".claude"
        self.claude.mkdir(parents=True)
        self.sessions: list[ClaudeSession] = []
        self.words: dict[str, str] = {}  # a word that one record alone holds -> that record's id
        self.gone: set[str] = set()
        self.lines: dict[bytes, set[str]] = {}  # that a scan saw -> the files they stood in
        self.numbers: dict[tuple[str, int], int] = {}  # of generations -> when they began
        self.packs: dict[int, bytes] = {}
        self.done: list[str] = []

    # -- what happens ----------------------------------------------------------------------------------------------

    def live(self) -> None:
        """Go through the steps; then look at what is left. Raises ``WrongEndError``."""
        self.begin()
        self.scan()
        for _ in range(LIFE):
            getattr(self, self.random.choice(STEPS))()
            self.scan()
            self.look_at_numbers()
        self.look_at_the_end()

    def begin(self) -> None:
        self.sessions.append(ClaudeSession(f"life-{len(self.sessions)}", cwd=f"/home/mira/{len(self.sessions) % 2}"))
        self._write(self.sessions[-1])

    def grow(self) -> None:
        self._write(self.random.choice(self.sessions))

    def vanish(self) -> None:
        if len(self.sessions) > 1:
            self._path(self.random.choice(self.sessions)).unlink(missing_ok=True)

    def scan(self) -> None:
        self._run("scan", lambda app: app.record.scan())
        for path in self.claude.rglob("*.jsonl"):
            for line in path.read_bytes().splitlines():
                if not any(word.encode() in line or self.words[word].encode() in line for word in self.gone):
                    self.lines.setdefault(line, set()).add(str(path))

    def prune(self) -> None:
        session = self.random.choice(self.sessions).id
        self._run("prune", lambda app: prune(app, PruneRequest(session, apply=True)))

    def put_back(self) -> None:
        session = self.random.choice(self.sessions).id
        self._run("undo", lambda app: undo(app, UndoRequest(session, apply=True)))

    def excise(self) -> None:
        session, lot = self.random.choice(self.sessions).id, self.random.random()

        def work(app: App) -> None:
            threads = thread(app, ThreadRequest(session)).threads
            if threads:
                excise(app, ExciseRequest(session, (threads[int(lot * len(threads))].id,), apply=True))

        self._run("excise", work)

    def compose(self) -> None:
        session = self.random.choice(self.sessions).id
        self._run("compose", lambda app: compose(app, ComposeRequest((session,), apply=True, cwd=self.user)))

    def forget(self) -> None:
        left = sorted(self.words.keys() - self.gone)
        if left:
            word = self.random.choice(left)
            self._run(f"forget {word}", lambda app: forget(app, ForgetRequest(pattern=word, apply=True)))
            self.gone.add(word)
            marks = word.encode(), self.words[word].encode()
            self.lines = {line: paths for line, paths in self.lines.items() if not any(mark in line for mark in marks)}

    def collect(self) -> None:
        def work(app: App) -> None:
            problems = gc(app, GcRequest(apply=True)).problems
            if problems:
                raise WrongEndError(str(problems))

        self._run("gc", work)

    def copy(self) -> None:
        self._run("copy", lambda app: copy(app, CopyRequest(str(self.copied))))

    def repair(self) -> None:
        journal = self.home / "vault" / "journal.db"
        how = self.random.choice(("none", "lost", "cut", "flipped"))
        if how == "lost":
            for suffix in ("", "-wal", "-shm"):
                journal.with_name(journal.name + suffix).unlink(missing_ok=True)
        elif how != "none":
            Vault.open(journal.parent, SystemClock()).close()  # brings the log in
            data = bytearray(journal.read_bytes())
            data[self.random.randrange(100, len(data))] ^= 1 << self.random.randrange(8)
            journal.write_bytes(data[: self.random.randrange(len(data))] if how == "cut" else data)
        self._run(f"repair {how}", lambda app: verify(app, VerifyRequest(repair=True)))

    # -- how -------------------------------------------------------------------------------------------------------

    def _path(self, session: ClaudeSession) -> Path:
        return self.claude / session.relative_path()

    def _write(self, session: ClaudeSession) -> None:
        first = len(session.records)
        for _ in range(self.random.randint(1, 4)):
            word = f"zq{len(self.words)}{''.join(self.random.choices('bcdfghjkm', k=7))}"
            noise = self.random.randbytes(self.random.choice((10, 3_000, 20_000))).hex()
            if self.random.random() < 0.5:
                self.words[word] = session.prompt(f"please look at {word}")
                session.reply(f"I did {noise}")
            else:
                self.words[word] = session.tool("Read", {"file_path": "/a.py"}, f"{word} {noise}", detail={"x": noise})
        path = self._path(session)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(b"".join(map(json_line, session.records[first:])))

    def _run(self, name: str, work: Callable[[App], object]) -> None:
        """Do something in a child, killed at a random moment in one case of three and then repeated."""
        for path in self.claude.rglob("*.jsonl"):
            os.utime(path, (time.time() - LONG_AGO,) * 2)
        moment = self.random.uniform(0.001, 0.2) if self.random.random() < 1 / 3 and not self.calm else 0.0
        status, said = self._in_child(work, moment)
        self.done.append(f"{name}{f' killed after {moment:.3f} s' if status == KILLED else ''}: {said}")
        if status == KILLED:
            status, said = self._in_child(work, 0.0)
            self.done.append(f"{name} again: {said}")
        if status == BROKEN or (
            status == REFUSED and said.partition(" ")[0] not in FITTING and "on purpose" not in said
        ):
            raise WrongEndError(said)

    def _in_child(self, work: Callable[[App], object], moment: float) -> tuple[int, str]:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            status, said = 0, "done"
            try:
                os.close(reading)
                if moment:
                    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
                    signal.setitimer(signal.ITIMER_REAL, moment)
                forget_verb.require_consent = gc_verb.require_consent = lambda *_: None
                work(app_of(self.home, self.user))
            except FabulaError as error:
                status, said = REFUSED, f"{error.code} {error.message}"
            except BaseException:
                status, said = BROKEN, traceback.format_exc()
            finally:
                os.write(writing, said.encode()[-4000:])
                os._exit(status)
        os.close(writing)
        with open(reading, "rb") as pipe:
            said = pipe.read().decode()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said

    # -- what must be ----------------------------------------------------------------------------------------------

    def look_at_numbers(self) -> None:
        """No number of a generation or a pack is given twice, and what a pack holds never changes."""
        with Vault.open(self.home / "vault", SystemClock(), read_only=True) as vault:
            for source in vault.sources():
                for generation in source.generations:
                    begun = self.numbers.setdefault((source.path, generation.number), generation.begun_at)
                    if begun != generation.begun_at:
                        raise WrongEndError(f"generation {generation.number} of {source.path} is another one")
            lengths = dict(vault.journal.rows("select id, length from packs where length > 0"))
        for number, name in packs_on_disk(self.home / "vault").items():
            data = (self.home / "vault" / PACKS / name).read_bytes()[: lengths.get(number, 0)]
            if not data.startswith(self.packs.get(number, b"")):
                raise WrongEndError(f"{name} is another pack")
            self.packs[number] = data

    def look_at_the_end(self) -> None:
        """What should be there is there, in the vault and in its copy; what was forgotten is not."""
        complaints = damage(self.home)
        if complaints:
            raise WrongEndError(str(complaints))
        self._look_into(self.home)
        before = self._records()
        with closing(access_to(self.home, self.user)) as access:
            access.scan(rebuild=True)
        if before != self._records():
            raise WrongEndError("a map made anew holds other records")
        if self.copied.exists():
            copy(app_of(self.home, self.user), CopyRequest(str(self.copied)))
            self._look_into(self.copied)

    def _look_into(self, home: Path) -> None:
        served: dict[bytes, set[str]] = {}
        with Vault.open(home / "vault", SystemClock(), read_only=True) as vault:
            for source in vault.sources():
                for generation in source.generations:
                    for line in b"".join(vault.stream(generation.id, fill=b"\0")).split(b"\n"):
                        served.setdefault(line.strip(b"\0"), set()).add(source.path)
        for line, paths in self.lines.items():
            if not paths <= served.get(line, set()):
                raise WrongEndError(f"{home.name} lacks {line[:300]!r} of {paths}")
        remains = found_in(home, sorted(self.gone))
        if remains:
            raise WrongEndError(f"{home.name} still holds {remains}")

    def _records(self) -> list[Any]:
        with closing(access_to(self.home, self.user)) as access:
            rows = access.reader().execute("select r.uid, r.kind, r.time, s.uid from records r"
                                           " join sessions s on s.id = r.session_id")  # fmt: skip
            return sorted(rows, key=repr)


def lived(seed: int, *, calm: bool = False) -> str:
    """Return what is wrong with a life, with all that was done; "" when nothing is."""
    work = Path(tempfile.mkdtemp())
    life = Life(seed, work, calm=calm)
    try:
        life.live()
    except (WrongEndError, FabulaError) as error:
        return json.dumps({"seed": seed, "wrong": str(error), "done": life.done}, indent=1)
    finally:
        with suppress(OSError):
            shutil.rmtree(work)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calm", action="store_true")
    asked = parser.parse_args()
    for seed in range(asked.seed, asked.seed + asked.count):
        wrong = lived(seed, calm=asked.calm)
        if wrong:
            sys.stderr.write(f"{wrong}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
