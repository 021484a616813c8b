"""A whole corpus: projects, sessions, sealed generations and the manifest of what is true."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from datetime import UTC, datetime, timedelta

from corpus.conversation import Conversation
from corpus.vocabulary import COMPONENTS, MODELS, PROJECTS, VERBS, WORDS


def enc_cwd(cwd):
    """Return the name of the project folder of a working directory."""
    return re.sub(r"[^A-Za-z0-9-]", "-", cwd)


def slim(raw):
    """Return a line whose tool results are stubbed; a line that is no such record stays as it is."""
    try:
        o = json.loads(raw)
        for b in o["message"]["content"]:
            if b.get("type") == "tool_result":
                b["content"] = "[pruned]"
    except (ValueError, KeyError, TypeError):
        return raw
    o.pop("toolUseResult", None)
    return json.dumps(o, separators=(",", ":")).encode()


class Tree(Conversation):
    """Writes every file of the corpus."""

    # ── one session ──────────────────────────────────────────────────
    def session(self, project, cwd, budget_recs):
        self.project, self.cwd, self.sid = project, cwd, self.uuid()
        self.branch = self.r.choice(["main", "dev", "feat/" + self.hexid(4)])
        self.slug = "-".join(self.r.sample(WORDS[60:], 3))
        self.ver = self.r.randint(40, 220)
        self.model = self.r.choices(MODELS, weights=[5, 4, 1])[0]
        # sessions of one project follow each other, so that file edits replay in
        # timestamp order across sessions
        self.clock = (self.proj_clock.get(project) or datetime(2026, 1, 5, 8, tzinfo=UTC)) + timedelta(
            hours=self.r.randint(1, 90)
        )
        self.proj_files = self.all_proj_files.setdefault(project, [])
        self.task_n = 0
        pdir = os.path.join(self.a.out, "projects", enc_cwd(cwd))
        os.makedirs(pdir, exist_ok=True)
        self.cur_path = os.path.join(pdir, self.sid + ".jsonl")
        self.sess_dir = os.path.join(pdir, self.sid)
        self.lineno = 0
        self.sink = ()
        title = f"{self.r.choice(VERBS)} {self.r.choice(COMPONENTS)}"
        start_recs, start_bytes = self.recs, self.bytes
        last_wall = self.recs
        n_threads = 0
        with open(self.cur_path, "wb") as self.out:
            self.write({"type": "mode", "mode": "normal", "sessionId": self.sid})
            self.write(
                {
                    "type": "custom-title" if self.r.random() < 0.5 else "ai-title",
                    "customTitle": title,
                    "aiTitle": title,
                    "sessionId": self.sid,
                }
            )
            leaf = None
            while self.recs - start_recs < budget_recs:
                leaf = self.thread(leaf)
                n_threads += 1
                if self.recs - last_wall > self.a.compact_every:
                    leaf = self.compaction(leaf)
                    last_wall = self.recs
            if self.pending_concat is not None:
                self.out.write(self.pending_concat + b"\n")
                self.pending_concat = None
                self.lines += 1
            if self.a.partial_tail and not self.sessions:
                self.out.write(b'{"type":"assistant","uuid":"half')
                self.anomalies.append({"kind": "partial_tail", "path": self.cur_path})
        self.proj_clock[project] = self.clock
        self.sessions.append(
            {
                "session_id": self.sid,
                "project": project,
                "cwd": cwd,
                "title": title,
                "path": self.cur_path,
                "records": self.recs - start_recs,
                "bytes": self.bytes - start_bytes,
                "threads": n_threads,
            }
        )

    def vault(self, n):
        """For the n largest sessions: seal the file as v0-raw, then leave a slimmed live file.

        The tool results of the first 70 % of its lines are stubbed.
        """
        for s in sorted(self.sessions, key=lambda s: -s["bytes"])[:n]:
            d = os.path.join(self.a.out, "vault", s["project"], s["session_id"])
            os.makedirs(d, exist_ok=True)
            shutil.copy2(s["path"], os.path.join(d, "v0-raw.jsonl"))
            with open(s["path"], "rb") as f:
                lines = f.read().split(b"\n")
            cut = int(len(lines) * 0.7)
            out = [slim(raw) if i < cut and b'"tool_result"' in raw else raw for i, raw in enumerate(lines)]
            with open(s["path"], "wb") as f:
                f.write(b"\n".join(out))

    def run(self):
        a = self.a
        if os.path.exists(a.out):
            if not os.path.exists(os.path.join(a.out, "manifest.json")) and os.listdir(a.out):
                sys.exit(f"refusing: {a.out} is not empty and not ours")
            shutil.rmtree(a.out)
        os.makedirs(a.out)
        self.all_proj_files = {}
        self.proj_clock = {}
        projects = PROJECTS[: a.projects]
        cwds = {p: "/home/dev/code/" + p for p in projects}
        weights = [1.0 / (i + 1) ** 0.8 for i in range(a.sessions)]
        tot = sum(weights)
        for i, w in enumerate(weights):
            p = projects[i % len(projects)]
            left = a.records - self.recs
            want = int(a.records * w / tot)
            if i == a.sessions - 1:
                want = max(left, 1)
            self.session(p, cwds[p], max(1, min(want, max(left, 1))))
        if a.vault:
            self.vault(a.vault)
        files = [
            {
                "path": p,
                "project": f["project"],
                "edits": f["edits"],
                "writes": f["writes"],
                "sed": f["sed"],
                "sha256": hashlib.sha256(f["text"].encode()).hexdigest(),
            }
            for p, f in self.files.items()
        ]
        with open(os.path.join(a.out, "threads.jsonl"), "w") as f:
            f.writelines(json.dumps(t) + "\n" for t in self.threads)
        with open(os.path.join(a.out, "cards.jsonl"), "w") as f:
            f.writelines(
                json.dumps(
                    {
                        "prompt_id": t["prompt_id"],
                        "title": t["title"],
                        "type": "decision" if "chose" in t["decision"] else "workflow",
                        "topics": [t["q_keywords"].split()[0]],
                        "decisions": [t["decision"]],
                        "ideas": [],
                        "features": [],
                        "lessons": [],
                        "gotchas": [],
                        "open_questions": [],
                        "directives": [],
                        "files": [],
                        "outcome": "done",
                        "summary": t["title"] + ". " + t["decision"],
                        "cues": [],
                        "salient_entities": [t["ident"]],
                        "tags": [],
                    }
                )
                + "\n"
                for t in self.threads
            )
        total = sum(
            os.path.getsize(os.path.join(dp, fn))
            for dp, _, fns in os.walk(os.path.join(a.out, "projects"))
            for fn in fns
        )
        man = {
            "args": vars(a),
            "totals": {
                "bytes": total,
                "lines": self.lines,
                "records": self.recs,
                "by_type": self.by_type,
                "threads": len(self.threads),
                "sessions": len(self.sessions),
                "sidechain_records": self.sidechain_recs,
                "subagent_files": self.subagent_files,
                "images": self.images,
                "image_bytes": self.image_bytes,
                "compactions": self.compactions,
                "files": len(files),
            },
            "sessions": self.sessions,
            "files": files,
            "anomalies": self.anomalies,
        }
        with open(os.path.join(a.out, "manifest.json"), "w") as f:
            json.dump(man, f, indent=1)
        print(json.dumps(man["totals"], indent=1))
