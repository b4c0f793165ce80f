#!/usr/bin/env bash
# Lays out the package in a folder, importable, by cargo alone: lay-out.sh FOLDER [CARGO-PROFILE]
# For the conformance driver, the demo and the benches, which need no wheel.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: lay-out.sh FOLDER [CARGO-PROFILE]" >&2; exit 2; }
mkdir -p "$1/tripcoil"
out=$(cd "$1" && pwd)/tripcoil
profile=${2:-release}
cd "$(dirname "$0")/.."

# The module finds its interpreter's symbols when it is loaded. It is built for none in particular.
export PYO3_BUILD_EXTENSION_MODULE=1 PYO3_NO_PYTHON=1
cargo build --quiet --locked --package tripcoil-python --profile "$profile"
case $profile in
    dev | test) built=${CARGO_TARGET_DIR:-target}/debug ;;
    *) built=${CARGO_TARGET_DIR:-target}/$profile ;;
esac
rm -f "$out"/*.py "$out"/_native.*
cp python/tripcoil/*.py "$out"
case $(uname -s) in
    Darwin) library=lib_native.dylib ;;
    Linux) library=lib_native.so ;;
    *) echo "lay-out.sh: there is no recipe for this system" >&2 && exit 1 ;;
esac
# Not over the old one: a process may have it mapped.
cp "$built/$library" "$out/_native.abi3.so"
