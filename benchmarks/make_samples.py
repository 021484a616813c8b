"""Write the bundled samples: a small home with invented transcripts of six agents. The same bytes each time.

    python benchmarks/make_samples.py [FOLDER]        default: tests/data/samples

``expected.json`` beside the home says what a reader must find: JSON objects a file and the edited files' last contents.
"""

from __future__ import annotations

import json
import shutil
import sys
from hashlib import sha256
from pathlib import Path

from samples import harbor, signal_lamp, tide_notes

from fabula.testing.transcripts import ClaudeSession, json_line, project_folder

REPOSITORY = Path(__file__).resolve().parent.parent


def main() -> None:
    """Replace the samples in the folder named on the command line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "tests" / "data" / "samples"
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    files = harbor.Files()
    write_harbor(home, files)
    write_tide_notes(home)
    write_signal_lamp(home)
    (home / ".claude" / "history.jsonl").write_bytes(prompts(home))
    expected = {
        "objects": {
            str(path.relative_to(home)): path.read_bytes().count(b"\n") for path in sorted(home.rglob("*.jsonl"))
        },
        "files": {path: text for path, text in files.texts.items() if path in {harbor.LIMITER, harbor.STORE}},
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    digest = sha256(b"".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())).hexdigest()
    print(f"{home}: {size:,} bytes, sha256 {digest[:16]}…")


def write_harbor(home: Path, files: harbor.Files) -> None:
    """Write the sessions of the ferry service."""
    claude = home / ".claude"
    harbor.first(files).save(claude)
    backup = files.texts[harbor.LIMITER]
    session, agent, idle = harbor.second(files)
    session.save(claude)
    agent_file = agent.save(claude)
    call = next(block["id"] for record in session.records for block in blocks(record) if block.get("name") == "Agent")
    meta = {"agentType": "Explore", "description": "Survey clients", "toolUseId": call}
    agent_file.with_suffix(".meta.json").write_text(json.dumps(meta), encoding="utf-8")
    save_text(claude / harbor.results_path(session), idle)
    save_text(claude / "file-history" / session.id / harbor.BACKUP, backup)
    harbor.forked(session).save(claude)
    harbor.third().save(claude)
    harbor.review(files).save(home / ".codex")


def write_tide_notes(home: Path) -> None:
    """Write the sessions of the notes app and the old one."""
    tide_notes.japanese().save(home / ".claude")
    tide_notes.release().save(home / ".gemini")
    tide_notes.offline().save(home / ".gemini", lines=True)
    tide_notes.opencode().save(home / ".local" / "share" / "opencode")
    records = tide_notes.legacy()
    folder = home / ".claude" / "projects" / project_folder("/home/mira/code/ferry-cli")
    folder.mkdir(parents=True)
    (folder / f"{records[1]['sessionId']}.jsonl").write_bytes(b"".join(map(json_line, records)))


def write_signal_lamp(home: Path) -> None:
    """Write the sessions of the lamp controller."""
    signal_lamp.flicker().save(home / ".copilot")
    save_text(
        home / ".local" / "share" / "goose" / "sessions" / "20250505_060000.jsonl",
        b"".join(map(json_line, signal_lamp.morse())).decode(),
    )


def prompts(home: Path) -> bytes:
    """Return the prompt history: one prompt of each session, and one whose transcript is gone."""
    gone = {
        "display": "Draw the winter timetable as a table, please",
        "pastedContents": {},
        "timestamp": 1_769_000_000_000,
    }
    lines = [{**gone, "project": harbor.CWD, "sessionId": ClaudeSession("harbor/gone").id}]
    for path in sorted((home / ".claude" / "projects").glob("*/*.jsonl")):
        for line in path.read_bytes().splitlines():
            record = json.loads(line)
            if record.get("promptId") and isinstance(record["message"]["content"], str):
                said = record["message"]["content"]
                lines.append({"display": said, "pastedContents": {}, "timestamp": 1_772_442_000_000 + len(lines),
                              "project": record["cwd"], "sessionId": record["sessionId"]})  # fmt: skip
                break
    return b"".join(map(json_line, lines))


def blocks(record: dict[str, object]) -> list[dict[str, str]]:
    """Return the content blocks of a record, if it has any."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def save_text(path: Path, text: str) -> None:
    """Write a text file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
