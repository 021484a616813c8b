"""From figures to a table: what was asked, what was measured, and whether that is enough."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from measure.floors import REFERENCE_DECODE
from measure.known_items import KINDS

#: Size up to which the asks of the 85 MB corpus hold; above it those of the 300 MB corpus.
SMALL_MB = 150

#: ask: (85 MB, 300 MB). Seconds of CPU are of the machine for which they were written.
INDEX_PER_MB = 1.8 / 85, 6.5 / 300
SEALED_PER_MB = 3.2 / 85, 11 / 300
UNCHANGED = 0.1, 0.3
TAIL = 0.010, 0.010
SEARCH = 0.020, 0.050
PEAK_MB = 150, 200
MAP_RATIO = 1.6
SHARES = {"title": 0.95, "keywords": 0.80, "paraphrase": 0.30}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table; ``passed`` is ``None`` where nothing was asked."""

    name: str
    figure: str
    ask: str
    passed: bool | None

    def as_dict(self) -> dict[str, Any]:
        """Return the line as JSON can hold it."""
        return asdict(self)


def judged(figures: dict[str, dict[str, Any]]) -> list[Line]:
    """Compare the figures with the asks; phases that did not run give no line."""
    floor = figures.get("floors")
    if floor is None:
        return []
    megabytes = floor["bytes"] / 1e6
    column = 0 if megabytes <= SMALL_MB else 1
    speed = floor["decode_cpu"] / (floor["bytes"] * REFERENCE_DECODE)  # seconds here for a second there
    lines = [Line("floor: read and decode", seconds(floor["decode_cpu"]), "", None)]
    lines.append(Line("floor: stat of every file", seconds(floor["stat_cpu"]), "", None))
    lines += indexing(figures, megabytes, column, speed)
    lines += searching(figures.get("searching"), column, speed)
    lines += correctness(figures)
    return lines


def indexing(figures: dict[str, dict[str, Any]], megabytes: float, column: int, speed: float) -> list[Line]:
    """Return the lines about reading, sealing, checking."""
    lines = []
    floor = figures["floors"]["decode_cpu"]
    for name, title, per_mb in (
        ("first_index", "first index", INDEX_PER_MB),
        ("first_index_sealed", "first index, sealed", SEALED_PER_MB),
    ):
        if name in figures:
            found = figures[name]
            ask = per_mb[column] * megabytes * speed
            figure = f"{seconds(found['cpu'])} ({found['cpu'] / floor:.1f} × floor, {found['wall']:.2f} s wall)"
            lines.append(Line(f"{title}: CPU", figure, f"≤ {seconds(ask)}", found["cpu"] <= ask))
            peak = found["peak_mb"]
            lines.append(
                Line(f"{title}: peak memory", f"{peak:.0f} MB", f"≤ {PEAK_MB[column]} MB", peak <= PEAK_MB[column])
            )
    for name, title, key, asks in (
        ("unchanged", "nothing changed: CPU", "cpu", UNCHANGED),
        ("tail", "tail of two records: CPU p50", "cpu_p50", TAIL),
    ):
        if name in figures:
            figure, ask = figures[name][key], asks[column] * speed
            lines.append(Line(title, seconds(figure), f"≤ {seconds(ask)}", figure <= ask))
    sealed = figures.get("first_index_sealed")
    if sealed and sealed["searchable"]:
        ratio = sealed["map"] / sealed["searchable"]
        figure = f"{ratio:.2f} × ({sealed['map'] / 1e6:.1f} MB)"
        lines.append(Line("map / searchable text", figure, f"≤ {MAP_RATIO} ×", ratio <= MAP_RATIO))
        vault = sealed["vault"] / figures["floors"]["bytes"]
        lines.append(Line("vault / transcripts", f"{vault:.2f} × ({sealed['vault'] / 1e6:.1f} MB)", "", None))
    return lines


def searching(found: dict[str, Any] | None, column: int, speed: float) -> list[Line]:
    """Return the lines about known-item search."""
    if found is None:
        return []
    made = f"{found['vectors']:.0f} in {seconds(found['vectors_cpu'])}"
    lines = [Line("thread vectors, made while searching", made, "", None)]
    for kind in KINDS:
        p50, p95, ask = found[f"{kind}_p50"], found[f"{kind}_p95"], SEARCH[column] * speed
        other = found[f"{kind}_yardstick_p95"]
        figure = f"{seconds(p50)} / {seconds(p95)} (exhaustive {seconds(other)})"
        lines.append(Line(f"search {kind}: p50 / p95", figure, f"≤ {seconds(ask)}", p95 <= ask))
    for kind in KINDS:
        for k in (1, 5):
            share, yardstick = found[f"{kind}_at{k}"], found[f"{kind}_yardstick_at{k}"]
            least = SHARES.get(kind, 0.0) if k == 1 else 0.0
            enough = share >= max(least, yardstick)
            asked = f"≥ {max(least, yardstick):.0%}" + (" (exhaustive)" if yardstick > least else "")
            lines.append(Line(f"recall@{k} of ceiling, {kind}", f"{share:.0%}", asked, enough))
    return lines


def correctness(figures: dict[str, dict[str, Any]]) -> list[Line]:
    """Return the lines about right and wrong."""
    lines = []
    if "accounting" in figures:
        found = figures["accounting"]
        wrong = found["wrong"]
        lines.append(Line("files counted unlike the reference", f"{wrong} of {found['files']}", "0", wrong == 0))
    if "truth" in figures:
        found = figures["truth"]
        right, members, live = found["right"], found["members"], found["live_called_abandoned"]
        lines.append(Line("records in the right thread", f"{right:,} of {members:,}", "all", right == members))
        lines.append(Line("live records called abandoned", f"{live}", "0", live == 0))
        lines.append(Line("abandoned records found", f"{found['abandoned_found']} of {found['abandoned']}", "", None))
    if "histories" in figures:
        found = figures["histories"]
        right, asked = found["right"], found["asked"]
        figure = f"{right} of {asked} (p95 {seconds(found['cpu_p95'])})"
        lines.append(Line("file history: last contents right", figure, "all", right == asked))
    if "tail" in figures:
        known = figures["tail"]["found"]
        lines.append(Line("appended records searchable", f"in {known} passages", "≥ 1", known >= 1))
    return lines


def seconds(value: float) -> str:
    """Return a time in a unit that suits its size."""
    return f"{value * 1000:.1f} ms" if value < 0.1 else f"{value:.2f} s"


def table(name: str, figures: dict[str, dict[str, Any]], lines: list[Line]) -> str:
    """Return the table as text."""
    floor = figures.get("floors", {"bytes": 0, "files": 0})
    head = f"{name}: {floor['bytes'] / 1e6:.1f} MB in {floor['files']} files"
    marks = {True: "pass", False: "FAIL", None: ""}
    width = max((len(line.name) for line in lines), default=0)
    body = [f"{line.name:<{width}}  {line.figure:<44}  {line.ask:<22}  {marks[line.passed]}".rstrip() for line in lines]
    return "\n".join([head, *body])
