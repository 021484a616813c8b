"""Writing the records of a corpus: ids, clock, words, lines and the anomalies among them."""

from __future__ import annotations

import base64
import json
import math
import random
from datetime import timedelta

from corpus.vocabulary import BAD_BYTES, BAD_MARK, WORDS


class Writer:
    """Keeps the state of one run and writes its lines."""

    def __init__(self, a):
        self.a = a
        self.r = random.Random(a.seed)
        self.ratio = a.size_mb * 1e6 / a.records
        blob = base64.b64encode(self.r.randbytes(3_000_000)).decode()
        self.blob = blob
        self.zipf = [1.0 / math.pow(i + 2, 0.85) for i in range(len(WORDS))]
        self.word_pool = self.r.choices(WORDS, weights=self.zipf, k=400_000)
        self.wp = 0
        self.bytes = 0
        self.recs = 0  # records that carry a uuid
        self.lines = 0
        self.by_type = {}
        self.threads = []
        self.sessions = []
        self.files = {}
        self.anomalies = []
        self.out = None
        self.cur_path = None
        self.lineno = 0
        self.pending_concat = None
        self.todo_concat = a.concat
        self.todo_bad = a.bad_utf8
        self.todo_malformed = a.malformed
        self.msg_n = 0
        self.images = 0
        self.image_bytes = 0
        self.compactions = 0
        self.sidechain_recs = 0
        self.subagent_files = 0

    # ── small helpers ────────────────────────────────────────────────
    def uuid(self):
        h = f"{self.r.getrandbits(128):032x}"
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"

    def hexid(self, n):
        return ("%0" + str(n) + "x") % self.r.getrandbits(4 * n)

    def words(self, n):
        if self.wp + n >= len(self.word_pool):
            self.wp = self.r.randrange(1000)
        out = self.word_pool[self.wp : self.wp + n]
        self.wp += n
        return " ".join(out)

    def sentence(self, n=None):
        s = self.words(n or self.r.randint(6, 18))
        return s[:1].upper() + s[1:] + "."

    def para(self, k):
        return " ".join(self.sentence() for _ in range(k))

    def lognorm(self, mean, sigma, lo, hi):
        return max(lo, min(hi, int(self.r.lognormvariate(mean, sigma))))

    def ts(self, gap=None):
        self.clock += timedelta(seconds=gap if gap is not None else self.r.uniform(0.4, 9))
        return self.clock.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.clock.microsecond // 1000:03d}Z"

    # ── writing ──────────────────────────────────────────────────────
    def write(self, obj, fh=None):
        own = fh is not None
        line = json.dumps(obj, separators=(",", ":"), ensure_ascii=False)
        raw = line.encode("utf-8")
        if BAD_MARK in line:
            raw = raw.replace(BAD_MARK.encode("utf-8"), self.r.choice(BAD_BYTES))
        self.by_type[obj.get("type")] = self.by_type.get(obj.get("type"), 0) + 1
        if obj.get("uuid"):
            self.recs += 1
            if obj.get("isSidechain"):
                self.sidechain_recs += 1
        self.bytes += len(raw) + 1
        if own:
            fh.write(raw + b"\n")
            self.lines += 1
            return
        # two objects on one physical line, as concurrent writers leave them
        if self.pending_concat is not None:
            raw, self.pending_concat = self.pending_concat + raw, None
            self.anomalies.append({"kind": "concat", "path": self.cur_path, "line": self.lineno + 1})
        elif (
            self.todo_concat
            and obj.get("uuid")
            and self.lineno >= self.a.safe_head
            and self.recs >= self.a.records * (self.a.concat - self.todo_concat + 1) / (self.a.concat + 1)
        ):
            self.todo_concat -= 1
            self.pending_concat = raw
            return
        self.out.write(raw + b"\n")
        self.lineno += 1
        self.lines += 1
        if BAD_MARK in line:
            self.anomalies.append(
                {"kind": "bad_utf8", "path": self.cur_path, "line": self.lineno, "uuid": obj.get("uuid")}
            )
        if (
            self.todo_malformed
            and self.lineno >= self.a.safe_head
            and self.recs >= self.a.records * (self.a.malformed - self.todo_malformed + 1) / (self.a.malformed + 1.5)
        ):
            self.todo_malformed -= 1
            self.out.write(b'{"type":"user","uuid":"cut-off-rec' + b"\n\n")
            self.anomalies.append({"kind": "malformed", "path": self.cur_path, "line": self.lineno + 1})
            self.lineno += 2
            self.lines += 2
            self.bytes += 38

    def env(self, typ, parent, side=None):
        o = {
            "parentUuid": parent,
            "isSidechain": bool(side),
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.sid,
            "version": f"2.1.{self.ver}",
            "gitBranch": self.branch,
            "slug": self.slug,
        }
        if side and side is not True:
            o["agentId"] = side
        o["type"] = typ
        return o
