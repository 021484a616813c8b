"""Run Fabula as a process of its own: the command ``fabula``, and ``python -m fabula``."""

from __future__ import annotations

import gc
import sys

COLLECTED_FROM = 100_000  # new values between two collections
INTERRUPTED = 130  # kernel.errors.Exit says the same, and is not loaded yet


def run() -> int:
    """Run the command line of this process and return its exit status.

    The cyclic collector looks less often: a short command makes no cycles worth its while. At the end everything is
    put out of its sight, for the process ends and nothing needs to be searched for cycles first. Together they take a
    sixth of the time of a search.
    """
    gc.set_threshold(COLLECTED_FROM)
    try:
        from fabula.cli.main import main

        status = main()
        gc.freeze()
    except KeyboardInterrupt:  # while the program was loading, or ending: in between it says so itself
        sys.stderr.write("fabula: interrupted\n")
        return INTERRUPTED
    return status


if __name__ == "__main__":
    sys.exit(run())
