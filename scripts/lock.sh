#!/bin/sh
# Write requirements/*.txt anew: exact versions with the hashes of all their files, for every supported Python and
# system, and no index address. Needs `uv` on the PATH. Called by `make lock`.
set -eu
cd "$(dirname "$0")/.."

lock() {
    out=$1
    shift
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
        --no-emit-find-links --no-header --no-annotate --upgrade "$@" --output-file "$out"
}

lock requirements/base.txt pyproject.toml
lock requirements/build.txt --group build
lock requirements/dev.txt pyproject.toml --all-extras --group dev
