#!/usr/bin/env bash
# Measures the package, built for release, beside its peers: run.sh [--quick]
# PYTHON chooses the interpreter (default python3). The peers are installed below the target directory.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=${CARGO_TARGET_DIR:-target}/python/bench
python=${PYTHON:-python3}
if ! diff -q python/requirements-bench.txt "$work/installed" > /dev/null 2>&1; then
    rm -rf "$work"
    "$python" -m venv "$work"
    "$work/bin/pip" install --quiet --disable-pip-version-check -r python/requirements-bench.txt
    cp python/requirements-bench.txt "$work/installed"
fi
python/lay-out.sh "$work/package" release
PYTHONPATH=$work/package exec "$work/bin/python" python/benches/peers.py "$@"
