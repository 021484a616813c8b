"""What the records of a corpus hold: blocks, simulated files and tool calls on them."""

from __future__ import annotations

from corpus.vocabulary import BAD_MARK, DIRS, EXTS, STEMS, VERBS, WORDS
from corpus.writing import Writer


class Content(Writer):
    """Makes blocks, tool calls and their results; edits really apply to simulated files."""

    # ── content ──────────────────────────────────────────────────────
    def image_block(self):
        deficit = self.recs * self.ratio - self.bytes
        size = int(min(max(deficit, 8_000), self.lognorm(11.2, 0.6, 8_000, 900_000)))
        at = self.r.randrange(0, max(1, len(self.blob) - size))
        self.images += 1
        self.image_bytes += size
        return {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": self.blob[at : at + size]},
        }

    def want_image(self):
        return not self.a.no_images and self.bytes < self.recs * self.ratio - 8_000

    def usage(self):
        base = self.r.randint(9_000, 150_000)
        return {
            "input_tokens": self.r.randint(1, 40),
            "cache_creation_input_tokens": self.r.randint(100, 4000),
            "cache_read_input_tokens": base,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 900},
            "output_tokens": self.r.randint(20, 900),
            "service_tier": "standard",
        }

    def assistant_blocks(self, parent, blocks, members, side=None):
        """One record per block; returns the uuids in order."""
        mid, rid = "msg_01" + self.hexid(22), "req_011" + self.hexid(20)
        use = self.usage()
        out = []
        for i, b in enumerate(blocks):
            u = self.uuid()
            o = self.env("assistant", parent, side)
            w = dict(use)
            if i < len(blocks) - 1 and self.r.random() < 0.25:
                w["output_tokens"] = self.r.randint(1, 9)  # streaming partial
            o["message"] = {
                "model": self.model,
                "id": mid,
                "type": "message",
                "role": "assistant",
                "content": [b],
                "stop_reason": ("tool_use" if b["type"] == "tool_use" else None),
                "stop_sequence": None,
                "usage": w,
            }
            o["requestId"] = rid
            o["uuid"] = u
            o["timestamp"] = self.ts()
            self.write(o, *self.sink)
            members.append(u)
            out.append(u)
            parent = u
        return out

    def tool_result(self, parent, tool_id, content, pid, members, side=None, extra=None, error=False):
        u = self.uuid()
        o = self.env("user", parent, side)
        if pid:
            o["promptId"] = pid
        blk = {"tool_use_id": tool_id, "type": "tool_result", "content": content}
        if error:
            blk["is_error"] = True
        o["message"] = {"role": "user", "content": [blk]}
        o["uuid"] = u
        o["timestamp"] = self.ts()
        if extra is not None:
            o["toolUseResult"] = extra
        o["sourceToolAssistantUUID"] = parent
        self.write(o, *self.sink)
        members.append(u)
        return u

    def thinking(self, text):
        n = self.r.randint(300, 1400)
        at = self.r.randrange(0, len(self.blob) - n)
        return {"type": "thinking", "thinking": text, "signature": self.blob[at : at + n]}

    # ── simulated files ──────────────────────────────────────────────
    def pick_file(self):
        if self.proj_files and self.r.random() < 0.75:
            return self.r.choice(self.proj_files)
        p = f"{self.cwd}/{self.r.choice(DIRS)}/{self.r.choice(STEMS)}_{self.r.choice(WORDS[80:])}.{self.r.choice(EXTS)}"
        if p not in self.files:
            self.proj_files.append(p)
        return p

    def code_line(self, ident):
        k = self.r.randrange(5)
        if k == 0:
            return (
                f"def {self.r.choice(STEMS)}_{self.hexid(3)}({self.r.choice(WORDS[90:])}, {self.r.choice(WORDS[90:])}):"
            )
        if k == 1:
            return f"    {self.r.choice(WORDS[90:])} = {ident}({self.r.choice(WORDS[90:])})"
        if k == 2:
            return "    # " + self.words(self.r.randint(4, 10))
        if k == 3:
            return f"    if {self.r.choice(WORDS[90:])} > {self.r.randint(1, 999)}:"
        return f"    return {self.r.choice(STEMS)}.{self.r.choice(WORDS[90:])}"

    def body(self, n, ident):
        return "".join(self.code_line(ident) + f" \u00b7{self.hexid(4)}\n" for _ in range(n))

    # ── one tool step ────────────────────────────────────────────────
    def make_call(self, topic):
        """-> (tool_use block, result content, toolUseResult, is_error)"""
        tid = "toolu_01" + self.hexid(22)
        kind = self.r.choices(
            ["Bash", "Read", "Edit", "Write", "Grep", "MultiEdit", "Sed", "WebFetch", "TaskCreate"],
            weights=[34, 17, 19, 6, 10, 2, 2, 2, 3],
        )[0]
        err = False
        if kind == "Bash":
            cmd = "{} {} --filter {}".format(
                self.r.choice(["pytest -q", "cargo test -p", "npm test --", "go test ./..."]),
                self.r.choice(STEMS),
                topic["ident"],
            )
            out = "\n".join(self.words(self.r.randint(5, 16)) for _ in range(self.lognorm(1.6, 1.0, 1, 160)))
            if self.r.random() < 0.3:
                out += "\n" + self.para(1) + " " + topic["ident"]
            if (
                self.todo_bad
                and self.lineno >= self.a.safe_head
                and self.recs >= self.a.records * (self.a.bad_utf8 - self.todo_bad + 1) / (self.a.bad_utf8 + 1)
            ):
                self.todo_bad -= 1
                out += "\nbinary: " + BAD_MARK + " end"
            err = self.r.random() < 0.06
            return (
                {
                    "type": "tool_use",
                    "id": tid,
                    "name": "Bash",
                    "input": {"command": cmd, "description": self.words(5)},
                },
                out,
                {"stdout": out, "stderr": "", "interrupted": False, "isImage": False},
                err,
            )
        path = self.pick_file()
        f = self.files.get(path)
        if kind in ("Read", "Edit", "MultiEdit", "Sed") and f is None:
            kind = "Write"
        if kind == "Write":
            text = self.body(self.r.randint(8, 60), topic["ident"])
            self.files[path] = {
                "text": text,
                "edits": 0,
                "writes": 1 + (f["writes"] if f else 0),
                "sed": False,
                "project": self.project,
            }
            return (
                {"type": "tool_use", "id": tid, "name": "Write", "input": {"file_path": path, "content": text}},
                "File created successfully at: " + path,
                {"type": "create", "filePath": path, "content": text, "structuredPatch": []},
                False,
            )
        if kind == "Read":
            lines = f["text"].split("\n")[:-1]
            num = "\n".join(f"{i + 1:6d}\t{s}" for i, s in enumerate(lines))
            return (
                {"type": "tool_use", "id": tid, "name": "Read", "input": {"file_path": path}},
                num,
                {
                    "type": "text",
                    "file": {
                        "filePath": path,
                        "content": f["text"],
                        "numLines": len(lines),
                        "startLine": 1,
                        "totalLines": len(lines),
                    },
                },
                False,
            )
        if kind in ("Edit", "MultiEdit"):
            n = 1 if kind == "Edit" else 2
            edits, text = [], f["text"]
            for _ in range(n):
                lines = text.split("\n")[:-1]
                old = self.r.choice(lines)
                new = self.code_line(topic["ident"]) + f" \u00b7{self.hexid(4)}"
                edits.append({"old_string": old, "new_string": new, "replace_all": False})
                text = text.replace(old, new, 1)
            f["text"] = text
            f["edits"] += 1
            inp = dict(edits[0], file_path=path) if kind == "Edit" else {"file_path": path, "edits": edits}
            return (
                {"type": "tool_use", "id": tid, "name": kind, "input": inp},
                f"The file {path} has been updated successfully.",
                {
                    "filePath": path,
                    "oldString": edits[0]["old_string"],
                    "newString": edits[0]["new_string"],
                    "originalFile": None,
                    "structuredPatch": [
                        {"oldStart": 1, "lines": ["-" + edits[0]["old_string"], "+" + edits[0]["new_string"]]}
                    ],
                    "userModified": False,
                },
                False,
            )
        if kind == "Sed":
            old = self.r.choice(f["text"].split("\n")[:-1])
            new = old + " # sed"
            f["text"] = f["text"].replace(old, new, 1)
            f["sed"] = True
            return (
                {
                    "type": "tool_use",
                    "id": tid,
                    "name": "Bash",
                    "input": {"command": "sed -i 's/$/ # sed/' " + path, "description": "append a marker"},
                },
                "",
                {"stdout": "", "stderr": "", "interrupted": False},
                False,
            )
        if kind == "Grep":
            out = "\n".join(
                f"{self.r.choice(self.proj_files or [path])}:{self.r.randint(1, 400)}:{self.code_line(topic['ident'])}"
                for _ in range(self.r.randint(1, 25))
            )
            return (
                {"type": "tool_use", "id": tid, "name": "Grep", "input": {"pattern": topic["ident"], "path": self.cwd}},
                out,
                {"mode": "content", "numFiles": 3},
                False,
            )
        if kind == "WebFetch":
            return (
                {
                    "type": "tool_use",
                    "id": tid,
                    "name": "WebFetch",
                    "input": {"url": "https://example.invalid/" + self.hexid(6), "prompt": self.words(8)},
                },
                self.para(4),
                {"bytes": 900, "code": 200},
                False,
            )
        self.task_n += 1
        subj = "{} {}".format(self.r.choice(VERBS), topic["component"])
        return (
            {
                "type": "tool_use",
                "id": tid,
                "name": "TaskCreate",
                "input": {"subject": subj, "description": self.sentence(), "activeForm": subj},
            },
            f"Task #{self.task_n} created successfully: {subj}",
            {"task": {"id": str(self.task_n), "subject": subj}},
            False,
        )
