"""Rows: keeping the record."""

from __future__ import annotations

from fabula.cli.command import Argument, Command, Option
from fabula.cli.commands.rows import record_verb

_VAULT = Option("--vault", "also read a folder of sealed generations (vN-*.jsonl)", "path", repeat=True, metavar="DIR")
_ID = "the id, or a beginning of it that is unique"

COMMANDS: tuple[Command, ...] = (
    record_verb(
        "scan",
        "take in what is new: seal it in the vault and index it",
        options=(
            _VAULT,
            Option("--full", "read every file again, also unchanged ones"),
            Option("--no-seal", "index without sealing (for benches alone)", hidden=True),
        ),
        details="Other commands take in what is new by themselves; a scan reads everything and accounts for it.",
    ),
    record_verb("seal", "seal every byte of every source in the vault, without indexing", options=(_VAULT,)),
    record_verb(
        "verify",
        "check every sealed byte against its digest and name what a damage hits",
        options=(Option("--repair", "first read the packs back, and seal lost records again from their sources"),),
    ),
    record_verb(
        "restore",
        "write a sealed file back, byte for byte",
        arguments=(Argument("target", "a session's id or the path of a file that was sealed", metavar="SESSION|PATH"),),
        options=(
            Option("--generation", "which generation of the file; without it the newest", "int"),
            Option("--output", "the file to write; without it standard output", "path", metavar="FILE"),
            Option("--without-forgotten", "give what is left where something of the file was forgotten"),
        ),
    ),
    record_verb("rebuild", "make the map anew from vault and sources"),
    record_verb(
        "forget",
        "remove something from the record for good, with your consent",
        arguments=(
            Argument("targets", f"sessions, threads or records: {_ID}", "any", metavar="SESSION|THREAD|RECORD"),
        ),
        options=(
            Option("--pattern", "whatever holds this text, in any case", "text", ""),
            Option("--record", "the ids are records'; a thread often has the id of its first record"),
            Option("--regex", "the pattern is a regular expression"),
            Option("--sources", "also cut it out of Claude Code's own transcripts, where they keep other things"),
            Option("--apply", "ask for consent at the terminal, then do it; without it nothing is changed"),
        ),
        details="Erased from vault and map, and kept out of later scans. Other files of your agents stay as they are.",
        examples=("fabula record forget 3f2a", "fabula record forget --pattern hunter2 --apply"),
    ),
    record_verb(
        "title",
        "give a session a title of your own",
        arguments=(
            Argument("id", f"a session: {_ID}"),
            Argument("text", "the title; empty text takes it away", "some", joined=True),
        ),
    ),
    record_verb(
        "pin",
        "keep a session or thread at hand",
        arguments=(Argument("id", f"a session or thread: {_ID}"),),
    ),
    record_verb(
        "unpin",
        "take a pin away",
        handler="fabula.app.record.pin:unpin",
        request="fabula.app.record.pin:PinRequest",
        renderer="fabula.cli.render.pin:render",
        arguments=(Argument("id", f"a session or thread: {_ID}"),),
    ),
)
