"""What is asked of the memory's speed, and the table that says whether it is met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memories.timing import Spent

#: Medians in ms at 5,000 memories on the reference machine.
ASKS = {
    "search": 4.0,
    "write": 25.0,
    "batch of 5,000": 5_000.0,
    "rebuild": 1_500.0,
    "update after one change": 50.0,
}
ASKED_AT = 5_000
#: Updates are flat: at 20,000 memories within the same ask, and at most so many times what they take at 5,000.
FLAT_AT, FLAT = 20_000, 2.0
PROCESS = "search, whole process"
PROCESS_RATIO = 0.35  # of memhtml's
#: memhtml 0.15.1 on a machine of two shared cores, p50 / p95.
EARLIER = {
    (1_000, "init, whole process"): "1368 / 1662 ms", (1_000, "write, whole process"): "1592 / 2057 ms",
    (1_000, "write"): "129 / 269 ms", (5_000, "write"): "195 / 465 ms",
    (1_000, "batch of 1,000"): "6.46 s", (1_000, "search"): "10 / 17 ms", (1_000, "recall"): "10 / 16 ms",
    (1_000, PROCESS): "1478 / 1847 ms", (1_000, "recall, whole process"): "1093 / 1194 ms", (1_000, "rebuild"): "4.8 s",
    (1_000, "update after one change"): "1662 ms", (5_000, "batch of 5,000"): "26.63 s",
    (5_000, "search"): "56 / 103 ms", (5_000, "recall"): "47 / 89 ms", (5_000, PROCESS): "1667 / 2103 ms",
    (5_000, "recall, whole process"): "1615 / 2073 ms", (5_000, "rebuild"): "7.3 s",
    (5_000, "update after one change"): "1208 ms",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; ``passed`` is ``None`` where nothing was asked."""

    name: str
    figure: str
    cpu: str
    theirs: str
    ask: str = ""
    passed: bool | None = None


def judged(
    size: int, ours: Mapping[str, Spent], theirs: Mapping[str, Spent], updates: Mapping[int, float]
) -> list[Row]:
    """Compare figures with asks. ``updates``: the median of an update by size, of the sizes measured so far."""
    rows = []
    for name, spent in ours.items():
        beside = str(theirs[name]) if name in theirs else f"({EARLIER[size, name]})" if (size, name) in EARLIER else ""
        ask, passed = _ask(size, name, ours, theirs, updates)
        rows.append(Row(name, str(spent), f"{spent.cpu:,.1f}", beside, ask, passed))
    return rows


def _ask(
    size: int, name: str, ours: Mapping[str, Spent], theirs: Mapping[str, Spent], updates: Mapping[int, float]
) -> tuple[str, bool | None]:
    pace = max(1.0, ours[name].pace)
    if size == ASKED_AT and name in ASKS:
        return f"p50 <= {ASKS[name]:,.0f} ms{_scaled(pace)}", ours[name].median <= ASKS[name] * pace
    if size == FLAT_AT and name == "update after one change":
        most = ASKS[name]
        if ASKED_AT in updates:
            most = min(most, FLAT * updates[ASKED_AT])
        return f"flat: p50 <= {most:,.0f} ms{_scaled(pace)}", ours[name].median <= most * pace
    if name == PROCESS and name in theirs:
        share = ours[name].median / theirs[name].median
        return f"<= {PROCESS_RATIO} x memhtml's: {share:.3f}", share <= PROCESS_RATIO
    return "", None


def _scaled(pace: float) -> str:
    return f" x {pace:.2f}" if pace > 1.0 else ""


def table(title: str, rows: Sequence[Row]) -> str:
    """Return the table as text."""
    marks = {True: "pass", False: "FAIL", None: ""}
    head = f"{'':40} {'Fabula p50 / p95':>18} {'CPU ms':>8} {'memhtml':>18}"
    lines = [
        f"{row.name:40} {row.figure:>18} {row.cpu:>8} {row.theirs:>18}   {row.ask:28} {marks[row.passed]}".rstrip()
        for row in rows
    ]
    return "\n".join(["", title, head, *lines])
