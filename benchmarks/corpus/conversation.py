"""Threads of a corpus: prompts, steps, subagents, compactions."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import timedelta

from corpus.content import Content
from corpus.vocabulary import ALTERNATIVES, COMPONENTS, PROBLEMS, QUALIFIERS, TECHS, VERBS


class Conversation(Content):
    """Writes one thread after the other and remembers what belongs to it."""

    # ── one thread ───────────────────────────────────────────────────
    def topic(self):
        prob, para = self.r.choice(PROBLEMS)
        comp = self.r.choice(COMPONENTS)
        tech = self.r.choice(TECHS)
        qual = self.r.choice(QUALIFIERS)
        verb = self.r.choice(VERBS)
        ident = f"{comp.split()[0].lower()}_{prob.split()[-1].lower()}_{self.hexid(4)}"
        a, b = self.r.sample(ALTERNATIVES, 2)
        return {
            "verb": verb,
            "problem": prob,
            "paraphrase": para,
            "component": comp,
            "tech": tech,
            "qual": qual,
            "ident": ident,
            "title": f"{verb} {prob} in the {qual} {comp} with {tech}",
            "decision": f"chose {a} over {b} because {self.words(6)}",
            "alts": (a, b),
        }

    def prompt_text(self, t):
        return "{} the {} we see in the {} {} ({}). Look at `{}` first. {}".format(
            t["verb"].lower(),
            t["problem"],
            t["qual"],
            t["component"],
            t["tech"],
            t["ident"],
            self.para(self.r.randint(0, 3)),
        )

    def speak(self, t, k):
        s = self.para(k)
        x = self.r.random()
        if x < 0.45:
            s += " The {} in the {} comes from `{}`.".format(t["problem"], t["component"], t["ident"])
        elif x < 0.6:
            s += " Decision: {}.".format(t["decision"])
        if self.r.random() < 0.03:
            s += f"\n- [ ] {self.words(5)}\n- [x] {self.words(5)}"
        return s

    def steps(self, parent, pid, t, members, n, side=None):
        for _ in range(n):
            blocks = []
            if self.r.random() < 0.45:
                blocks.append(self.thinking(self.para(self.r.randint(1, 4)) if self.r.random() < 0.6 else ""))
            if self.r.random() < 0.35:
                blocks.append({"type": "text", "text": self.speak(t, 1)})
            calls = [self.make_call(t) for _ in range(self.r.choices([1, 2, 3], weights=[86, 10, 4])[0])]
            blocks += [c[0] for c in calls]
            ids = self.assistant_blocks(parent, blocks, members, side)
            holders = ids[-len(calls) :]
            for h, (use, out, detail, err) in zip(holders, calls, strict=False):
                content, extra = out, detail
                if self.r.random() < 0.15:
                    content = [{"type": "text", "text": out}]
                if use["name"] in ("Bash", "WebFetch", "Grep") and self.want_image() and self.r.random() < 0.6:
                    content = [{"type": "text", "text": out[:200]}, self.image_block()]
                    extra = None
                parent = self.tool_result(h, use["id"], content, pid, members, side, extra, err)
            if self.r.random() < 0.3:
                u = self.attachment(parent, side)
                if self.r.random() < 0.95:  # attachments sit in the chain
                    parent = u
        ids = self.assistant_blocks(
            parent, [{"type": "text", "text": self.speak(t, self.r.randint(1, 5))}], members, side
        )
        return ids[-1]

    def attachment(self, parent, side=None):
        o = self.env("attachment", parent, side)
        o["attachment"] = {
            "type": "hook_success",
            "hookName": "PostToolUse:Bash",
            "hookEvent": "PostToolUse",
            "command": "lint.sh",
            "stdout": self.words(8),
            "stderr": "",
            "exitCode": 0,
            "durationMs": 23,
            "toolUseID": "toolu_01" + self.hexid(22),
            "content": "",
        }
        o["uuid"] = self.uuid()
        o["timestamp"] = self.ts(0.01)
        self.write(o, *self.sink)
        self.extra_members.append(o["uuid"])
        return o["uuid"]

    def sidechain(self, parent, pid, t, members):
        """A subagent: Agent tool_use in the main chain, its own records, a result."""
        tid = "toolu_01" + self.hexid(22)
        agent = "a" + self.hexid(16)
        use = {
            "type": "tool_use",
            "id": tid,
            "name": "Agent",
            "input": {"description": self.words(4), "prompt": self.para(3), "subagent_type": "Explore"},
        }
        holder = self.assistant_blocks(parent, [use], members)[-1]
        mode = self.a.subagents
        if mode == "mixed":
            mode = self.r.choice(["inline", "files"])
        saved = self.sink
        fh = None
        if mode == "files":
            d = os.path.join(self.sess_dir, "subagents")
            os.makedirs(d, exist_ok=True)
            fh = open(os.path.join(d, f"agent-{agent}.jsonl"), "wb")  # noqa: SIM115 - closed when the subagent ends
            with open(os.path.join(d, f"agent-{agent}.meta.json"), "w") as m:
                json.dump({"agentType": "Explore", "toolUseId": tid}, m)
            self.sink = (fh,)
            self.subagent_files += 1
        tag = agent if mode == "files" else True
        u = self.uuid()
        o = self.env("user", None, tag)
        anchored_by_source = mode == "inline" and self.r.random() < 0.3
        if not anchored_by_source:
            o["promptId"] = pid
        else:
            o["sourceToolAssistantUUID"] = holder
        o["message"] = {"role": "user", "content": use["input"]["prompt"]}
        o["uuid"] = u
        o["timestamp"] = self.ts()
        self.write(o, *self.sink)
        side_members = [u]
        self.steps(u, None if anchored_by_source else pid, t, side_members, self.lognorm(1.9, 0.7, 2, 40), tag)
        if fh:
            fh.close()
            self.sink = saved
        members += side_members
        return self.tool_result(
            holder,
            tid,
            [{"type": "text", "text": self.para(3)}],
            pid,
            members,
            extra={
                "status": "completed",
                "agentId": agent,
                "agentType": "Explore",
                "totalTokens": 9000,
                "totalToolUseCount": 7,
                "totalDurationMs": 60000,
            },
        )

    def thread(self, parent):
        t = self.topic()
        pid = self.uuid()
        members = []
        self.extra_members = []
        self.clock += timedelta(seconds=self.lognorm(4.5, 1.4, 5, 200_000))
        if self.r.random() < 0.15:
            self.write(
                {
                    "type": "queue-operation",
                    "operation": "enqueue",
                    "timestamp": self.ts(),
                    "sessionId": self.sid,
                    "content": "queued",
                }
            )
        u = self.uuid()
        o = self.env("user", parent)
        o["promptId"] = pid
        text = self.prompt_text(t)
        if self.want_image() and self.r.random() < 0.9:
            o["message"] = {"role": "user", "content": [{"type": "text", "text": text}, self.image_block()]}
        else:
            o["message"] = {"role": "user", "content": text}
        o["permissionMode"] = "default"
        o["promptSource"] = "typed"
        o["uuid"] = u
        first_ts = o["timestamp"] = self.ts()
        self.write(o)
        members.append(u)
        if self.r.random() < 0.5:
            backups = {}
            for p in self.r.sample(self.proj_files, min(2, len(self.proj_files))):
                f = self.files.get(p)
                if f is None:
                    continue
                name = f"{hashlib.sha256(p.encode()).hexdigest()[:16]}@v{self.r.randint(1, 99)}"
                d = os.path.join(self.a.out, "file-history", self.sid)
                os.makedirs(d, exist_ok=True)
                with open(os.path.join(d, name), "w", encoding="utf-8") as fh:
                    fh.write(f["text"])
                backups[p] = {"backupFileName": name, "version": 1, "backupTime": self.ts(0.01)}
            self.write(
                {
                    "type": "file-history-snapshot",
                    "messageId": u,
                    "snapshot": {"messageId": u, "trackedFileBackups": backups, "timestamp": self.ts(0.01)},
                    "isSnapshotUpdate": False,
                }
            )
        n = self.lognorm(0.85, 0.95, 0, 60)
        half = n // 2
        leaf = u
        branch = []
        if half:
            leaf = self.steps(leaf, pid, t, members, half)
        if self.r.random() < self.a.sidechain_rate:
            leaf = self.sidechain(leaf, pid, t, members)
        if self.r.random() < 0.02:  # an answer thrown away by a retry
            branch = []
            self.assistant_blocks(leaf, [{"type": "text", "text": "abandoned attempt " + self.para(1)}], branch)
            members += branch
        if self.r.random() < 0.01:
            o = self.env("assistant", leaf)
            o["message"] = {
                "model": "<synthetic>",
                "id": "m",
                "type": "message",
                "role": "assistant",
                "content": [{"type": "text", "text": "API Error: overloaded"}],
                "usage": {"input_tokens": 0, "output_tokens": 0},
            }
            o["isApiErrorMessage"] = True
            o["uuid"] = self.uuid()
            o["timestamp"] = self.ts()
            self.write(o)
            members.append(o["uuid"])
            leaf = o["uuid"]
        leaf = self.steps(leaf, pid, t, members, n - half)
        if self.r.random() < 0.25:
            o = self.env("system", leaf)
            o.update(subtype="turn_duration", durationMs=62243, isMeta=False)
            o["uuid"] = self.uuid()
            o["timestamp"] = self.ts(0.02)
            self.write(o)
            members.append(o["uuid"])
            leaf = o["uuid"]
        members += self.extra_members
        self.threads.append(
            {
                "prompt_id": pid,
                "session_id": self.sid,
                "project": self.project,
                "first_ts": first_ts,
                "title": t["title"],
                "ident": t["ident"],
                "decision": t["decision"],
                "q_title": t["title"],
                "q_ident": t["ident"],
                "q_keywords": "{} {} {}".format(t["problem"], t["component"], t["tech"]),
                "q_paraphrase": "{} {}".format(t["component"], t["paraphrase"]),
                "abandoned": branch,
                "members": members,
            }
        )
        self.write({"type": "last-prompt", "lastPrompt": text[:200], "leafUuid": leaf, "sessionId": self.sid})
        return leaf

    def compaction(self, leaf):
        self.compactions += 1
        keep = self.threads[-1]["members"][-3:] if self.threads else [leaf]
        wall, anchor = self.uuid(), self.uuid()
        o = self.env("system", None)
        o.update(
            logicalParentUuid=leaf,
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
        )
        o["uuid"] = wall
        o["timestamp"] = self.ts()
        o["compactMetadata"] = {
            "trigger": "auto",
            "preTokens": 167710,
            "postTokens": 9000,
            "durationMs": 90000,
            "cumulativeDroppedTokens": 158000,
            "preservedSegment": {"headUuid": keep[0], "anchorUuid": anchor, "tailUuid": keep[-1]},
            "preservedMessages": {"anchorUuid": anchor, "uuids": keep, "allUuids": keep},
        }
        self.write(o)
        s = self.env("user", wall)
        if self.threads:
            s["promptId"] = self.threads[-1]["prompt_id"]
            self.threads[-1]["members"] += [anchor]
        s["isCompactSummary"] = True
        s["isVisibleInTranscriptOnly"] = True
        s["message"] = {
            "role": "user",
            "content": "This session is being continued from a previous conversation. " + self.para(40),
        }
        s["uuid"] = anchor
        s["timestamp"] = self.ts()
        self.write(s)
        return anchor
