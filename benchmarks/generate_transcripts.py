"""Seedable generator of realistic Claude Code transcript trees.

    python benchmarks/generate_transcripts.py OUT --size-mb 85 --seed 7
    python benchmarks/generate_transcripts.py OUT --size-mb 2 --records 800 --subagents files --vault 2

Everything is invented; the same arguments give the same bytes.  Layout:

    OUT/projects/<cwd, every char outside [A-Za-z0-9-] -> '-'>/<session-uuid>.jsonl
    OUT/projects/<...>/<session-uuid>/subagents/agent-<id>.jsonl  (+ .meta.json)
    OUT/file-history/<session>/<name>@vN          (rewind backups on disk)
    OUT/vault/<project>/<session>/v0-raw.jsonl    (with --vault N)
    OUT/manifest.json      ground truth: totals, sessions, files, anomalies
    OUT/threads.jsonl      one line per prompt thread: ids, title, queries, members
    OUT/cards.jsonl        a hand-made "card" per thread, to seed a card layer

Format facts that it reproduces:
  * promptId on user records only (prompts, tool results, compaction summaries)
  * one assistant record per content block; the blocks of one API response share
    message.id and requestId, and repeat (or grow) message.usage
  * tool_result's parentUuid and sourceToolAssistantUUID = the assistant record
    that holds its tool_use -> parallel calls make a DAG, not a chain
  * sidechains: inline with isSidechain:true (old layout) or own files with
    agentId and the parent's sessionId (new layout), first parentUuid null
  * compact_boundary (parentUuid null, logicalParentUuid, compactMetadata with
    preservedSegment/preservedMessages) then an isCompactSummary user record
  * file-history-snapshot, queue-operation, last-prompt, ai-title, custom-title,
    mode, permission-mode (no uuid); system turn_duration / stop_hook_summary /
    api_error / local_command; attachment records (hook_success and others)
  * base64 images in prompts and tool results; <synthetic> assistant records
  * concatenated JSON objects on one line, invalid UTF-8 bytes inside strings,
    blank lines, malformed lines, an optional unterminated last line
  * real edits: Write/Edit/MultiEdit/Read act on simulated files, so that file
    history can be checked against final hashes; sed through Bash changes files
    with no transcript content
"""

from __future__ import annotations

import argparse
import os

from corpus.tree import Tree
from corpus.vocabulary import PROJECTS


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("out")
    p.add_argument("--size-mb", type=float, default=85)
    p.add_argument("--records", type=int, default=0, help="records with a uuid (default: size-mb * 365)")
    p.add_argument("--seed", type=int, default=7)
    p.add_argument("--projects", type=int, default=4)
    p.add_argument("--sessions", type=int, default=0, help="default: max(4, size-mb / 8)")
    p.add_argument("--sidechain-rate", type=float, default=0.17)
    p.add_argument("--subagents", choices=["inline", "files", "mixed"], default="inline")
    p.add_argument("--compact-every", type=int, default=2500, metavar="RECORDS")
    p.add_argument("--concat", type=int, default=2)
    p.add_argument("--bad-utf8", type=int, default=6)
    p.add_argument("--malformed", type=int, default=1)
    p.add_argument(
        "--safe-head",
        type=int,
        default=0,
        metavar="LINES",
        help="no anomaly before this line of a file",
    )
    p.add_argument("--partial-tail", action="store_true")
    p.add_argument("--no-images", action="store_true")
    p.add_argument("--vault", type=int, default=0, help="seal and slim the N largest sessions")
    a = p.parse_args()
    a.out = os.path.abspath(a.out)
    a.records = a.records or int(a.size_mb * 365)
    a.sessions = a.sessions or max(4, int(a.size_mb / 8))
    a.projects = min(a.projects, len(PROJECTS), a.sessions)
    Tree(a).run()


if __name__ == "__main__":
    main()
