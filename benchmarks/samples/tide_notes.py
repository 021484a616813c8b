"""The story of ``tide-notes``, an invented notes app: Japanese, a picture, Gemini CLI, OpenCode; and an old session."""

from __future__ import annotations

from datetime import UTC, datetime

from fabula.testing.rollouts import GeminiChat, OpenCodeStorage
from fabula.testing.transcripts import ClaudeSession, Ticker, stable_uuid

CWD = "/home/mira/code/tide-notes"


def japanese() -> ClaudeSession:
    """A conversation in Japanese, with a screenshot."""
    session = ClaudeSession("tide/search", CWD, Ticker(datetime(2026, 4, 7, 3, 10, tzinfo=UTC)), "search")
    session.title("ノートの全文検索")
    session.prompt("全角と半角が混ざると検索に引っかかりません。原因を調べてください。", image=True)
    session.tool(
        "Grep",
        {"pattern": "normalize", "path": f"{CWD}/src"},
        f"{CWD}/src/search/tokenise.ts:12:  return text.toLowerCase()",
    )
    session.reply(
        "トークン化で NFKC 正規化をしていないのが原因です。「ＡＢＣ」と「ABC」が別の単語として索引に入っています。"
    )
    path = f"{CWD}/src/search/tokenise.ts"
    change = {
        "old_string": "text.toLowerCase()",
        "new_string": 'text.normalize("NFKC").toLowerCase()',
        "replace_all": False,
    }
    session.tool("Edit", {"file_path": path, **change}, f"The file {path} has been updated successfully.")
    session.tool(
        "Bash", {"command": "npm test -- search", "description": "Run search tests"}, "Tests: 21 passed, 21 total"
    )
    session.reply("修正しました。NFKC で正規化してから索引に入れるので、全角・半角を区別せずに検索できます。🌊")
    return session


def offline() -> GeminiChat:
    """Gemini CLI is asked how notes should merge."""
    chat = GeminiChat("tide/offline", CWD, Ticker(datetime(2026, 4, 20, 8, 0, tzinfo=UTC)))
    chat.prompt("How should notes behave when the phone is offline for a week?")
    chat.reply(
        "Queue edits locally and merge by paragraph; show a conflict only where both sides changed the same one.",
        ("read_file", {"absolute_path": f"{CWD}/docs/sync.md"}, "# Sync\n\nLast write wins."),
        thought="Last write wins loses edits.",
    )
    return chat


def release() -> GeminiChat:
    """Gemini CLI writes release notes."""
    chat = GeminiChat("tide/release", CWD, Ticker(datetime(2026, 4, 12, 10, 0, tzinfo=UTC)))
    chat.prompt("Write release notes for 2.4 from the last commits.")
    log = "Output: 81f0c2d Normalise width before indexing\nExit Code: 0"
    chat.reply("I will read the log first.", ("run_shell_command", {"command": "git log --oneline -3"}, log))
    notes = "## 2.4\n\n- Search treats full-width and half-width characters alike.\n- Notes open in under 50 ms.\n"
    arguments = {"file_path": f"{CWD}/RELEASE.md", "content": notes}
    chat.reply("The notes are in RELEASE.md.", ("write_file", arguments, "Successfully created and wrote to new file"))
    return chat


def opencode() -> OpenCodeStorage:
    """OpenCode tidies the type checker's configuration."""
    session = OpenCodeStorage("tide/strict", CWD, "Strict TypeScript", Ticker(datetime(2026, 2, 11, 18, 0, tzinfo=UTC)))
    session.begin()
    session.message("user", {"type": "text", "text": "Turn on strict mode in tsconfig and tell me what breaks."})
    session.message(
        "assistant",
        {"type": "reasoning", "text": "strict first, then count the errors."},
        session.tool("bash", {"command": "npx tsc --noEmit | wc -l"}, "37\n"),
        {
            "type": "text",
            "text": "Strict mode finds 37 errors; 31 of them are undefined checks in src/editor/selection.ts.",
        },
    )
    return session


def legacy() -> list[dict[str, object]]:
    """A session of early 2025: no prompt ids, an inline sidechain, a summary as title."""
    session = stable_uuid("session", "ferry-cli/old")
    ids = [stable_uuid("legacy", number) for number in range(7)]
    base = {"userType": "external", "cwd": "/home/mira/code/ferry-cli", "sessionId": session, "version": "1.0.24"}

    def node(number: int, parent: int | None, kind: str, content: object, *, side: bool = False) -> dict[str, object]:
        message: dict[str, object] = {"role": kind, "content": content}
        if kind == "assistant":
            usage = {
                "input_tokens": 4,
                "output_tokens": 50,
                "cache_read_input_tokens": 9000,
                "cache_creation_input_tokens": 0,
            }
            message |= {
                "id": f"msg_0legacy{number}",
                "type": "message",
                "model": "claude-sonnet-4-20250514",
                "usage": usage,
            }
        above = None if parent is None else ids[parent]
        head = {"parentUuid": above, "isSidechain": side, **base, "type": kind, "message": message}
        return {**head, "uuid": ids[number], "timestamp": f"2025-06-14T11:0{number}:00.000Z"}

    call = {"type": "tool_use", "id": "toolu_01legacy0000000000000001", "name": "Task", "input": {
        "description": "Find the parser", "prompt": "Where are departure times parsed?"}}  # fmt: skip
    answer = {
        "type": "tool_result",
        "tool_use_id": call["id"],
        "content": "In ferry/times.py, function parse_departure.",
    }
    return [
        {"type": "summary", "summary": "Departure times after midnight", "leafUuid": ids[6]},
        node(0, None, "user", "Sailings after midnight are shown on the wrong day. Where is that parsed?"),
        node(1, 0, "assistant", [call]),
        node(2, None, "user", "Where are departure times parsed?", side=True),
        node(3, 2, "assistant", [{"type": "text", "text": "In ferry/times.py, function parse_departure."}], side=True),
        node(4, 1, "user", [answer]),
        node(
            5,
            4,
            "assistant",
            [{"type": "text", "text": "parse_departure drops the day when the hour is 24 or more; carry it over."}],
        ),
        node(6, 5, "user", "Please do, thanks."),
    ]
