#!/bin/sh
# Runs real coding agents end to end, with the Python that has fabula installed (PYTHON, else the development environment).
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" tests/e2e/run.py "$@"
