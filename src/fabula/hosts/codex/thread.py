"""What a rollout has said so far: its session, its turn, its open calls. Saved between scans as JSON."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from fabula.hosts.codex.injected import told_cwd
from fabula.hosts.fields import mapping_of, state_of, text_of
from fabula.kernel.ids import derived_id

if TYPE_CHECKING:
    from fabula.kernel.records import SourceFile

TURNS_KEPT = 200  # turns of a person that may still be rolled back
CALLS_KEPT = 1024  # calls whose results may still come or be repeated by events
_FRESH: dict[str, Any] = {
    "begun": False, "session": "", "root": "", "cwd": "", "branch": "", "model": "", "time": 0,
    "sidechain": False, "sdk": False, "spawned_by": "", "parent_session": "",
    "turn": "", "thread": "", "orphan": "", "closed": "",
    "items": False,  # a response item was seen: from then on events only repeat
    "counted": False,  # token usage records were seen: from then on token counts only repeat
    "mute": False,  # the last reasoning item had no readable text
    "to": 0,  # the byte up to which the file was read: a line before it is read again, and changes nothing
}  # fmt: skip


#: What a line that is read again finds: nothing that would take it for a repetition.
_ANEW: dict[str, Any] = {"items": False, "counted": False, "mute": True, "to": 0}
_PLACE = ("cwd", "model", "session", "root", "branch")  # what lines before a line told of it, beside its turn


class Thread:
    """The running state of one rollout file. ``state`` is what is saved."""

    def __init__(self, file: SourceFile, saved: dict[str, Any] | None) -> None:
        fresh = {
            **_FRESH,
            "calls": {},
            "runs": {},
            "failed": {},
            "seen": {},
            "said": {},
            "turns": [],
            "total": {},
            "log": [],
            "places": [],
        }
        self.state = state_of(saved, fresh)
        if not self.state["session"]:
            self.state["session"] = file.session
            self.state["root"] = file.session or derived_id("codex", file.path)

    # ── reading a line again ─────────────────────────────────────────

    def passed(self, offset: int, end: int) -> None:
        """A line was read: remember how far, and where the lines behind it stand when that changed."""
        state, log, places = self.state, self.state["log"], self.state["places"]
        state["to"] = end
        place = [state[name] for name in _PLACE]
        if not places or places[-1] != place:
            places.append(place)
        turn, thread = state["turn"], state["thread"]
        entry = [turn, "" if thread == turn else thread, len(places) - 1]
        if not log or log[-1][1:] != entry:
            log.append([offset, *entry])

    def as_at(self, offset: int) -> dict[str, Any]:
        """Return the state in which a line that was read before is read again."""
        own: dict[str, Any] = {"said": {}, "runs": {}, "turns": [], "total": {}, "log": [], "places": []}
        state = {**self.state, **_ANEW, **own}
        at = bisect_left(self.state["log"], offset, key=lambda entry: int(entry[0])) - 1
        if at < 0:
            return {**state, **dict.fromkeys(("turn", "thread", *_PLACE), "")}
        _, turn, thread, place = self.state["log"][at]
        state |= dict(zip(_PLACE, self.state["places"][place], strict=True))
        return {**state, "turn": turn, "thread": thread or turn}

    # ── who and where ────────────────────────────────────────────────

    def meta(self, payload: dict[str, Any]) -> None:
        """Take in a session's first line; a second one is the parent's, copied into a fork."""
        state = self.state
        own = text_of(payload, "id") or text_of(payload, "session_id")
        if state["begun"] and own != state["session"]:
            state["root"] = text_of(payload, "forked_from_id") or own or state["root"]
            return
        state["begun"] = True
        spawn = mapping_of(mapping_of(mapping_of(payload, "source"), "subagent"), "thread_spawn")
        forked = text_of(payload, "forked_from_id")
        parent = text_of(spawn, "parent_thread_id") or text_of(payload, "parent_thread_id")
        state["session"] = own or state["session"]
        state["root"] = forked or state["session"] or state["root"]
        state["cwd"] = text_of(payload, "cwd") or state["cwd"]
        state["branch"] = text_of(mapping_of(payload, "git"), "branch")
        state["sidechain"] = bool(mapping_of(payload, "source").get("subagent")) or (
            text_of(payload, "thread_source") == "subagent"
        )
        state["sdk"] = "sdk" in text_of(payload, "originator") or text_of(payload, "source") == "mcp"
        state["parent_session"] = parent or forked
        if state["sidechain"]:
            state["spawned_by"] = text_of(spawn, "spawn_call_id") or state["session"]

    def context(self, payload: dict[str, Any]) -> None:
        """Take in a turn's context."""
        state = self.state
        state["cwd"] = text_of(payload, "cwd") or state["cwd"]
        state["model"] = text_of(payload, "model") or state["model"]
        self.open_turn(text_of(payload, "turn_id"))

    def environment(self, text: str) -> None:
        """Learn the working folder from an injected notice, where no line gives it."""
        if not self.state["cwd"]:
            self.state["cwd"] = told_cwd(text)

    # ── turns ────────────────────────────────────────────────────────

    def open_turn(self, turn: str) -> None:
        """Go on to a turn. A prompt that was written before its turn keeps the thread that it opened."""
        state = self.state
        if turn and turn not in (state["turn"], state["closed"]):
            state["turn"] = turn
            state["thread"] = state["orphan"] or turn
            state["orphan"] = ""

    def close_turn(self) -> None:
        """A turn is over: the next prompt belongs to none until a new turn is opened."""
        state = self.state
        state["closed"], state["turn"], state["thread"] = state["turn"], "", ""

    def turn_of(self, payload: dict[str, Any]) -> str:
        """Return the turn that an item names itself, else the open one."""
        named = text_of(mapping_of(payload, "internal_chat_message_metadata_passthrough"), "turn_id")
        return named or str(self.state["turn"])

    def key(self, turn: str) -> str:
        """Return the thread key of what belongs to a turn. A subagent's records belong to the turn that spawned it."""
        state = self.state
        if state["sidechain"]:
            return ""
        return str(state["thread"]) if turn == state["turn"] else turn

    def prompted(self, uid: str, key: str) -> None:
        """Remember that a person's turn began with this record."""
        begun = self.state["turns"]
        begun.append(uid)
        del begun[:-TURNS_KEPT]
        if not key:
            self.state["orphan"] = uid
            self.state["thread"] = uid

    def roll_back(self, turns: int) -> str:
        """Take back the last ``turns`` turns of the person; return the uid of the first record taken back."""
        begun = self.state["turns"]
        if turns <= 0 or not begun:
            return ""
        first = str(begun[max(len(begun) - turns, 0)])
        del begun[max(len(begun) - turns, 0) :]
        return first

    # ── identity ─────────────────────────────────────────────────────

    def uid(self, kind: str, host_id: str, content: str, *, turn: str, offset: int) -> tuple[str, bool]:
        """Return (uid, whether the host gave an id) of an item.

        The turn, else the session at the root of the forks, is part of it, and so is the content: small providers
        number their ids from 1 in every session. Where an item has no id, its how-manieth occurrence stands for it.
        A fork that repeats its parent's lines under new timestamps repeats their uids.
        """
        scope = turn or self.state["root"]
        if host_id:
            return derived_id("codex", scope, kind, host_id, content), True
        key = derived_id("codex", scope, kind, content)
        places = self.state["seen"].setdefault(key, [])
        if offset not in places:
            places.append(offset)
        count = places.index(offset)
        return (key if count == 0 else derived_id(key, count)), False

    # ── calls ────────────────────────────────────────────────────────

    def called(self, tool_id: str, uid: str) -> None:
        """Remember the record of a call item."""
        _keep(self.state["calls"], tool_id, uid)

    def ran(self, tool_id: str, uid: str) -> None:
        """Remember the record of a tool run that no call item stands for."""
        _keep(self.state["runs"], tool_id, uid)

    def failed(self, tool_id: str) -> None:
        """Remember that a call ended badly: its result may not say so."""
        self.state["failed"][tool_id] = True

    def call_of(self, tool_id: str) -> str:
        """Return the uid of the record that made a call, else ``""``."""
        found = self.state["calls"].get(tool_id) or self.state["runs"].get(tool_id)
        return found if isinstance(found, str) else ""


def _keep(table: dict[str, str], tool_id: str, uid: str) -> None:
    if tool_id:
        table[tool_id] = uid
        if len(table) > CALLS_KEPT:
            del table[next(iter(table))]
