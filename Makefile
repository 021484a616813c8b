# Everything a developer or a stranger runs. Needs Python 3.11 or newer, git and make; the rest is installed into .venv
# from the locked requirements.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
BASE := $(VENV)/.base-installed
DEV := $(VENV)/.dev-installed
WORKERS ?= auto

.PHONY: help demo setup test lint types tests coverage docs lock dist bench bench-record bench-retrieval bench-memory bench-start bench-vault clean
.DEFAULT_GOAL := help

help:
	@echo "make demo             see what Fabula does, on bundled sample transcripts (under two minutes)"
	@echo "make demo MINE=1      the same on the newest 200 MB of your own transcripts, read-only, in a temporary home"
	@echo "make test             set up, lint, check types, run every test, check the coverage floor"
	@echo "make lint             style and types alone"
	@echo "make docs             write the generated reference pages anew"
	@echo "make dist             build the sdist and the wheel into dist/"
	@echo "make bench-record     measure indexing, search and reading (REAL=DIR: on your own transcripts too)"
	@echo "make bench-memory     measure writing, searching and rebuilding memories, beside memhtml where npm installed it"
	@echo "make bench-retrieval  measure how well records and memories are found (LOCOMO=PATH)"
	@echo "make bench-vault      measure what many generations of one session cost (REAL=DIR: of your own transcripts)"
	@echo "make bench-start      measure how long commands take to start"
	@echo "make lock             renew requirements/*.txt (needs uv)"

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Fabula needs Python 3.11 or newer: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "setting up $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv $(VENV) || { echo "this Python has no venv module (Debian: apt install python3-venv)" >&2; exit 1; }

$(BASE): requirements/base.txt requirements/build.txt pyproject.toml | $(VENV)/bin/python
	@$(PIP) --require-hashes -r requirements/base.txt -r requirements/build.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements/dev.txt $(BASE)
	@echo "installing the development tools ..."
	@$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

setup: $(DEV)

demo: $(BASE)
	@$(BIN)/python scripts/demo.py $(if $(MINE),--mine)

test: lint tests coverage

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	MYPYPATH=benchmarks $(BIN)/mypy --explicit-package-bases benchmarks scripts

tests: $(DEV)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(WORKERS)

coverage: $(DEV)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage json --quiet -o .coverage.json
	@$(BIN)/python scripts/coverage_floor.py .coverage.json

docs: $(DEV)
	$(BIN)/python -m fabula.cli.reference docs/reference

dist: $(DEV)
	rm -rf dist
	$(BIN)/python -m build --no-isolation

lock:
	scripts/lock.sh

bench: bench-start bench-record

bench-start: $(DEV)
	$(BIN)/python benchmarks/start.py

bench-record: $(DEV)
	$(BIN)/python benchmarks/record.py $(if $(REAL),--real $(REAL))

bench-memory: $(DEV)
	$(BIN)/python benchmarks/memory.py $(if $(MEMHTML),--memhtml $(MEMHTML))

bench-retrieval: $(DEV)
	$(BIN)/python benchmarks/retrieval_memory.py $(if $(LOCOMO),--locomo $(LOCOMO)) $(if $(MEMHTML),--memhtml $(MEMHTML))
	$(if $(LOCOMO),$(BIN)/python benchmarks/retrieval.py --locomo $(LOCOMO))

bench-vault: $(DEV)
	$(BIN)/python benchmarks/vault.py $(if $(REAL),--real $(REAL))

clean:
	rm -rf $(VENV) dist .coverage .coverage.* .mypy_cache .ruff_cache .hypothesis
