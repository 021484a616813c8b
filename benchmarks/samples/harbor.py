"""The story of ``harbor``, an invented ferry timetable service: a limiter is written, hardened and reviewed.

Three Claude Code sessions (one with a compaction), a fork, a subagent, a Codex rollout; one error is met twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from fabula.testing.rollouts import CodexRollout
from fabula.testing.transcripts import ClaudeSession, Ticker

CWD = "/home/mira/code/harbor"
LIMITER = f"{CWD}/src/harbor/limiter.py"
STORE = f"{CWD}/src/harbor/store.py"
BACKUP = "5c1d9e2b7a604f31@v1"  # in the folder of rewind backups

LIMITER_FIRST = '''"""A token bucket for the timetable API."""

import time


class Bucket:
    def __init__(self, rate: float, burst: int) -> None:
        self.rate = rate
        self.burst = burst
        self.tokens = burst
        self.updated = time.time()

    def allow(self) -> bool:
        now = time.time()
        self.tokens = min(self.burst, self.tokens + (now - self.updated) * self.rate)
        self.updated = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True
'''

STORE_FIRST = '''"""Timetables in SQLite."""

import sqlite3


def connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path)
'''

LOCKED = """============================= test session starts ==============================
collected 14 items

tests/test_store.py ..F...                                               [ 42%]
tests/test_limiter.py ........                                           [100%]

=================================== FAILURES ===================================
____________________________ test_two_importers_at_once ________________________

    def write(timetable):
>       connection.execute("insert into sailings values (?, ?, ?)", timetable)
E       sqlite3.OperationalError: database is locked

src/harbor/store.py:41: OperationalError
=========================== short test summary info ============================
FAILED tests/test_store.py::test_two_importers_at_once - sqlite3.OperationalError: database is locked
========================= 1 failed, 13 passed in 2.31s ========================="""

LOCKED_AGAIN = """Traceback (most recent call last):
  File "/home/mira/code/harbor/scripts/nightly.py", line 58, in <module>
    main()
  File "/home/mira/code/harbor/scripts/nightly.py", line 31, in main
    connection.execute("delete from sailings where day < ?", (cutoff,))
sqlite3.OperationalError: database is locked"""


STORE_LOCKING = """    connection = sqlite3.connect(path, timeout=5.0)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma busy_timeout = 5000")
    return connection
"""

BUCKETS = """        self.tokens -= 1
        return True


class Buckets:
    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, burst
        self.by_key: dict[str, Bucket] = {}

    def allow(self, key: str) -> bool:
        self.forget_idle()
        return self.by_key.setdefault(key, Bucket(self.rate, self.burst)).allow()

    def forget_idle(self) -> None:
        now = time.monotonic()
        for key in [k for k, b in self.by_key.items() if now - b.updated > IDLE]:
            del self.by_key[key]
"""

SWEEP = """        if now - self.swept < 60.0:
            return
        self.swept = now
"""

PATCH = """*** Begin Patch
*** Update File: src/harbor/limiter.py
@@ class Buckets:
         self.rate, self.burst = rate, burst
         self.by_key: dict[str, Bucket] = {}
+        self.swept = time.monotonic()

     def allow(self, key: str) -> bool:
@@     def forget_idle(self) -> None:
         now = time.monotonic()
+        if now - self.swept < 60.0:
+            return
+        self.swept = now
         for key in [k for k, b in self.by_key.items() if now - b.updated > IDLE]:
             del self.by_key[key]
*** End Patch
""".replace("\n\n", "\n \n")  # a context line that is empty still begins with its blank

API = """from harbor.store import connect


def timetable(day):
    return connect("harbor.db")
"""


def prose(text: str) -> str:
    """Return a text that was wrapped for the source code as one line."""
    return " ".join(text.split())


@dataclass
class Files:
    """The project's files as the sessions change them, so that the transcripts hold edits that really apply."""

    texts: dict[str, str] = field(default_factory=dict)

    def write(self, session: ClaudeSession, path: str, text: str) -> None:
        """Write a file through the session's ``Write`` tool."""
        kind = "update" if path in self.texts else "create"
        self.texts[path] = text
        detail = {"type": kind, "filePath": path, "content": text, "structuredPatch": []}
        session.tool(
            "Write", {"file_path": path, "content": text}, f"File created successfully at: {path}", detail=detail
        )

    def edit(self, session: ClaudeSession, path: str, *changes: tuple[str, str]) -> None:
        """Change a file through ``Edit`` (one change) or ``MultiEdit`` (several)."""
        edits = [{"old_string": old, "new_string": new, "replace_all": False} for old, new in changes]
        original = self.texts[path]
        self.replace(path, *changes)
        answer = f"The file {path} has been updated successfully."
        if len(edits) == 1:
            detail = {
                "filePath": path,
                "oldString": changes[0][0],
                "newString": changes[0][1],
                "originalFile": original,
            }
            session.tool("Edit", {"file_path": path, **edits[0]}, answer, detail=detail)
        else:
            session.tool("MultiEdit", {"file_path": path, "edits": edits}, answer)

    def replace(self, path: str, *changes: tuple[str, str]) -> None:
        """Apply changes that must each match exactly once."""
        for old, new in changes:
            if self.texts[path].count(old) != 1:
                raise ValueError(f"{path}: not exactly one {old!r}")
            self.texts[path] = self.texts[path].replace(old, new)

    def listing(self, path: str) -> str:
        """Return the file as the ``Read`` tool shows it."""
        lines = self.texts[path].splitlines()
        return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(lines, 1))


def at(month: int, day: int, hour: int) -> Ticker:
    """Return a clock that stands at an hour of 2026."""
    return Ticker(datetime(2026, month, day, hour, tzinfo=UTC))


def first(files: Files) -> ClaudeSession:
    """The limiter is designed and written; the known error is met and resolved for the first time."""
    session = ClaudeSession("harbor/limiter", CWD, at(3, 2, 9), "rate-limit")
    session.other("mode", mode="normal")
    session.title("Rate limiting for the timetable API")
    decide(files, session)
    said = "Good. Write it as src/harbor/limiter.py with tests."
    session.prompt(said)
    files.write(session, LIMITER, LIMITER_FIRST)
    files.write(session, STORE, STORE_FIRST)
    run_tests(session, LOCKED, failed=True)
    session.reply(
        prose("""The limiter's tests pass. One store test fails: `database is locked`, because two importers write at
        once and the connection waits for nothing. I will switch the store to WAL and give it a busy timeout.""")
    )
    files.edit(session, STORE, ("    return sqlite3.connect(path)\n", STORE_LOCKING))
    run_tests(session, "14 passed in 1.92s")
    session.reply("Fixed: WAL mode and a busy timeout of five seconds resolve `database is locked`; 14 tests pass.")
    files.edit(session, LIMITER, ("self.updated = time.time()\n\n", "self.updated = time.monotonic()\n\n"))
    files.edit(session, LIMITER, ("        now = time.time()\n", "        now = time.monotonic()\n"))
    session.reply(
        "The bucket now reads the monotonic clock, so that a daylight-saving change cannot refill or starve it."
    )
    session.system("turn_duration", durationMs=48_211)
    session.other("last-prompt", lastPrompt=said, leafUuid=session.leaf)
    return session


def decide(files: Files, session: ClaudeSession) -> None:
    """The first thread: a design decision after three parallel looks at the code."""
    session.prompt(
        prose("""The timetable API falls over when the ferry app refreshes at noon. Should we use a token bucket or a
        sliding window? Please decide and say why.""")
    )
    session.reply("Let me look at how requests arrive before choosing.", thought="Bursts at noon; what do clients do?")
    path = f"{CWD}/src/harbor/api.py"
    files.texts[path] = API
    reads = session.calls(
        ("Read", {"file_path": path}),
        ("Grep", {"pattern": "429", "path": f"{CWD}/src"}),
        ("Bash", {"command": "tail -3 logs/access.log", "description": "Look at recent requests"}),
    )
    session.result(reads[0], files.listing(path))
    session.result(reads[1], "No matches found")
    session.result(reads[2], '10.0.4.7 "GET /timetable?day=2026-03-01" 200 14ms\n' * 3)
    session.reply(
        prose("""I decided on a **token bucket** and rejected the sliding window. The ferry app refreshes in short
        bursts around noon: a bucket lets a burst of twenty through and then smooths to five a second; a sliding window
        would refuse the honest burst or need a much higher limit all day. It also needs two numbers a client instead
        of a list of timestamps."""),
        thought="Token bucket: constant state, allows bursts.",
    )


def run_tests(session: ClaudeSession, output: str, *, failed: bool = False) -> None:
    """Add a run of the test suite."""
    arguments = {"command": "pytest -q", "description": "Run the tests"}
    session.tool("Bash", arguments, output, failed=failed, detail="Error: Exit code 1" if failed else None)


def second(files: Files) -> tuple[ClaudeSession, ClaudeSession, str]:
    """A bucket for every client; with a subagent, a large output, a retry and a compaction.

    Returns also the subagent and the large output.
    """
    session = ClaudeSession("harbor/clients", CWD, at(3, 5, 14), "rate-limit")
    session.title("One bucket a client")
    session.title("Limiter: one bucket a client", custom=True)
    began = session.prompt(
        prose("""One greedy client can still starve the others. Give every client its own bucket, keyed by API key, and
        forget idle ones.""")
    )
    session.snapshot(began, {LIMITER: BACKUP})
    agent = survey(session)
    output = "".join(f"key=client-{number:03d} idle={(number * 7919) % 1800}s\n" for number in range(340))
    stub = f"""<persisted-output>
Output too large (9 KB). Full output saved to: /home/mira/.claude/{results_path(session)}

Preview (first 2 lines):
key=client-000 idle=0s
key=client-001 idle=719s
</persisted-output>"""
    session.tool("Bash", {"command": "python scripts/idle.py --all", "description": "List idle times"}, stub)
    with session.abandoned():
        session.prompt("Keep all of them in a dictionary for ever.")
        session.reply("All right: a dictionary that only grows; 340 entries are nothing.")
    session.prompt("No, forget idle ones: the keys rotate every week.")
    session.tool("Read", {"file_path": LIMITER}, files.listing(LIMITER))
    kept = session.reply("Then a bucket idle for ten minutes is dropped: it is full again, so nothing is lost.")
    session.compact(
        prose("""Summary: harbor's limiter is a token bucket (decided against a sliding window). Now adding one bucket a
        client, keyed by API key; idle buckets are dropped after 600 seconds because a full bucket carries no
        information."""),
        kept=[kept],
    )
    files.edit(
        session,
        LIMITER,
        ("import time\n\n\nclass Bucket:", "import time\n\nIDLE = 600.0\n\n\nclass Bucket:"),
        ("        self.tokens -= 1\n        return True\n", BUCKETS),
    )
    session.tool("Bash", {"command": "pytest -q tests/test_limiter.py"}, "9 passed in 0.41s")
    session.reply("Every API key has its own bucket, and one idle for ten minutes is forgotten. All nine tests pass.")
    return session, agent, output


def survey(parent: ClaudeSession) -> ClaudeSession:
    """Spawn the subagent that counts clients; the parent gets its answer. Returns the subagent's session."""
    task = "Find out how many distinct API keys call the timetable API a day and how long they stay idle."
    found = "About 340 keys a day; 95 % are idle for more than ten minutes between bursts."
    arguments = {"description": "Survey clients", "subagent_type": "Explore", "prompt": task}
    spawn = parent.calls(("Agent", arguments))[0]
    clock = Ticker(parent.clock.now)
    agent = ClaudeSession("harbor/survey", CWD, clock, parent.branch, agent="a7f3c2e1", parent_session=parent.id)
    agent.task(task)
    agent.tool("Bash", {"command": "cut -d' ' -f2 logs/keys.log | sort | uniq -c | wc -l"}, "341")
    agent.reply(found)
    parent.clock.pause(seconds=20)
    parent.result(spawn, found, detail={"status": "completed", "agentId": agent.agent, "totalTokens": 5120})
    return agent


def results_path(session: ClaudeSession) -> str:
    """Where the output that was too large for the transcript is kept."""
    return session.relative_path().removesuffix(".jsonl") + "/tool-results/b41f09c2.txt"


def third() -> ClaudeSession:
    """Months later the known error is back in the nightly job; what helped the first time helps again."""
    session = ClaudeSession("harbor/nightly", CWD, at(5, 18, 7), "main")
    session.title("Nightly clean-up fails")
    session.prompt("The nightly clean-up died again last night, see the log.")
    run = {"command": "python scripts/nightly.py", "description": "Run the nightly job"}
    session.tool("Bash", run, LOCKED_AGAIN, failed=True, detail="Error: Exit code 1")
    session.reply(
        prose("""It opens its own connection with sqlite3.connect instead of harbor.store.connect, so neither WAL nor
        the busy timeout that fixed this in March applies.""")
    )
    path = f"{CWD}/scripts/nightly.py"
    change = {"old_string": 'sqlite3.connect("harbor.db")', "new_string": 'connect("harbor.db")', "replace_all": False}
    session.tool("Edit", {"file_path": path, **change}, f"The file {path} has been updated successfully.")
    session.tool("Bash", run, "removed 1,204 sailings")
    session.reply("The nightly job now uses harbor.store.connect and removed 1,204 old sailings.")
    return session


def forked(session: ClaudeSession) -> ClaudeSession:
    """A fork of the second session asks another question."""
    fork = session.fork("harbor/fork")
    fork.clock.pause(hours=3)
    fork.prompt("In this fork: would Redis be worth it, so that two API processes share the buckets?")
    fork.reply(
        prose("""Not yet. One process serves all ferries today; Redis adds a network hop of about a millisecond to each
        request. I would wait until a second process exists.""")
    )
    return fork


def review(files: Files) -> CodexRollout:
    """Codex reviews the limiter and patches it."""
    rollout = CodexRollout("harbor/review", CWD, at(3, 9, 16))
    rollout.begin("rate-limit")
    rollout.prompt("Review src/harbor/limiter.py. Is anything slow under load?")
    rollout.thought("**Looking at forget_idle**\n\nIt walks every bucket on every request.")
    rollout.shell("sed -n 1,60p src/harbor/limiter.py", files.texts[LIMITER])
    rollout.reply("`forget_idle` walks all buckets on every request. I will sweep at most once a minute.")
    table = "        self.by_key: dict[str, Bucket] = {}\n"
    loop = "        now = time.monotonic()\n        for key in"
    swept = loop.replace("        for", SWEEP + "        for")
    files.replace(LIMITER, (table, table + "        self.swept = time.monotonic()\n"), (loop, swept))
    rollout.patch(PATCH, "Success. Updated the following files:\nM src/harbor/limiter.py\n")
    tests = "pytest -q tests/test_limiter.py"
    error = "E   AttributeError: 'Buckets' object has no attribute 'swept_at'"
    rollout.shell(tests, f"{error}\n1 failed, 8 passed in 0.44s\n", code=1)
    rollout.shell("sed -i s/swept_at/swept/ tests/test_limiter.py", "")
    rollout.shell(tests, "9 passed in 0.40s\n")
    rollout.reply("The sweep runs at most once a minute; the limiter's tests pass. Nothing else looks slow.")
    rollout.tokens(read=14_200, written=880)
    return rollout
