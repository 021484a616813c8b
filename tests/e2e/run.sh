#!/bin/sh
# Runs the memory beside the program that its format comes from, then real coding agents, end to end, with the Python that has
# fabula installed (PYTHON, else the development environment). Both run whatever the first says.
set -eu
cd "$(dirname "$0")/../.."
python="${PYTHON:-.venv/bin/python}"
status=0
"$python" tests/e2e/beside_memhtml.py || status=$?
"$python" tests/e2e/run.py "$@" || status=$?
exit $status
