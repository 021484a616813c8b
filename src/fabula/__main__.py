"""Run Fabula as ``python -m fabula``."""

from __future__ import annotations

import sys

from fabula.cli.main import main

sys.exit(main())
