"""Check the coverage floor: every core package has its share of lines and branches run by tests.

Usage: ``python scripts/coverage_floor.py COVERAGE.json`` (what ``coverage json`` writes). Exits 1 below the floor.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

LINES, BRANCHES = 90.0, 80.0  # percent
FLOORED = ("kernel", "storage", "search", "record")


def measure(report: dict[str, Any]) -> dict[str, Counter[str]]:
    """Add up the report's files by package: ``{package: counts}``."""
    packages: dict[str, Counter[str]] = {}
    for name, file in report["files"].items():
        parts = Path(name).parts
        package = parts[parts.index("fabula") + 1]
        summary = file["summary"]
        packages.setdefault(package, Counter()).update(
            lines=summary["num_statements"],
            run=summary["covered_lines"],
            branches=summary["num_branches"],
            taken=summary["covered_branches"],
        )
    return packages


def percent(part: int, whole: int) -> float:
    """Return a share in percent; nothing to cover is covered."""
    return 100.0 * part / whole if whole else 100.0


def main() -> int:
    """Print one line per package, and say which are below the floor."""
    packages = measure(json.loads(Path(sys.argv[1]).read_text()))
    below = []
    print(f"coverage (floor for {', '.join(FLOORED)}: {LINES:.0f} % lines, {BRANCHES:.0f} % branches)")
    for name, counts in sorted(packages.items()):
        lines, branches = percent(counts["run"], counts["lines"]), percent(counts["taken"], counts["branches"])
        low = name in FLOORED and (lines < LINES or branches < BRANCHES)
        below += [name] if low else []
        print(f"  {name:<14} {lines:5.1f} % lines  {branches:5.1f} % branches{'  BELOW THE FLOOR' if low else ''}")
    missing = [name for name in FLOORED if name not in packages]
    if below or missing:
        print(f"below the floor: {', '.join(below + missing)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
