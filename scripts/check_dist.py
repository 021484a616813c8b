"""Check what the built files hold: the wheel is the package and nothing else, the sdist is what a packager needs.

Usage: ``python scripts/check_dist.py DIST``. Exits 1 and names what is missing or surplus.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
#: Folders and files whose every committed file belongs into the sdist.
SHIPPED = ("src", "tests", "docs", "benchmarks", "requirements", "scripts", "Makefile", "pyproject.toml", "README.md",
           "CHANGELOG.md", "LICENSE", "THIRD_PARTY_NOTICES.md", "SECURITY.md", "AGENTS.md")  # fmt: skip
LARGEST_WHEEL = 8_000_000  # bytes; the embedding table is seven of them


def committed(*paths: str) -> set[str]:
    """Return the committed files below some paths, relative to the repository."""
    listed = subprocess.run(["git", "ls-files", "-z", *paths], cwd=REPOSITORY, capture_output=True, check=True)
    return {name for name in listed.stdout.decode().split("\0") if name and (REPOSITORY / name).exists()}


def wheel_faults(wheel: Path) -> list[str]:
    """Compare a wheel with the package's committed files."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    package = {name for name in names if ".dist-info/" not in name}
    metadata = {name.partition(".dist-info/")[2] for name in names - package}
    wanted = {name.removeprefix("src/") for name in committed("src/fabula")}
    faults = [f"wheel lacks {name}" for name in sorted(wanted - package)]
    faults += [f"wheel has {name}, which is not committed" for name in sorted(package - wanted)]
    needed = {"METADATA", "entry_points.txt", "licenses/LICENSE", "licenses/THIRD_PARTY_NOTICES.md"}
    faults += [f"wheel lacks {name} in its metadata" for name in sorted(needed - metadata)]
    if wheel.stat().st_size > LARGEST_WHEEL:
        faults.append(f"wheel weighs {wheel.stat().st_size:,} bytes, at most {LARGEST_WHEEL:,} are meant")
    return faults


def sdist_faults(sdist: Path) -> list[str]:
    """Compare an sdist with the committed files that it should carry."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    wanted = committed(*SHIPPED)
    extra = names - wanted - {"PKG-INFO", ".gitignore"}
    return [f"sdist lacks {name}" for name in sorted(wanted - names)] + [f"sdist has {name}" for name in sorted(extra)]


def main() -> int:
    """Check the one wheel and the one sdist in a folder."""
    dist = Path(sys.argv[1])
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    faults = wheel_faults(wheel) + sdist_faults(sdist)
    for fault in faults:
        print(fault)
    print(
        f"{wheel.name} ({wheel.stat().st_size:,} bytes), {sdist.name}: {'faults' if faults else 'file lists are right'}"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
