#!/usr/bin/env bash
# Builds the wheel and the sdist, and checks them: wheels.sh OUT [CARGO-PROFILE]
# One wheel serves all Pythons from 3.10 on (abi3). On Linux, zig links it against an old glibc, so that it
# is a manylinux2014 wheel. The tools are those of requirements-dev.txt; $PYTHON is an interpreter that has them.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: wheels.sh OUT [CARGO-PROFILE]" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
profile=${2:-release}
cd "$(dirname "$0")"
python=${PYTHON:-python3}

# Licences are part of both, and lie at the top of the repository.
cp ../LICENSE-MIT ../LICENSE-APACHE .
trap 'rm -f LICENSE-MIT LICENSE-APACHE' EXIT

rm -f "$out"/tripcoil-*
linux=()
if [ "$(uname -s)" = Linux ]; then
    # Zig would link an unwinder of its own. But CPython before 3.14 ends threads by glibc's, and two
    # unwinders on one stack crash.
    unwinder=$("${CC:-cc}" -print-file-name=libgcc_s.so.1)
    linux=(--zig --compatibility manylinux2014 -- -C "link-arg=$unwinder")
fi
"$python" -m maturin build --quiet --locked --profile "$profile" --out "$out" ${linux[@]+"${linux[@]}"}
"$python" -m maturin sdist --out "$out"

"$python" -m twine check --strict "$out"/*
"$python" -m abi3audit --strict --assume-minimum-abi3 3.10 "$out"/*.whl
if [ "$(uname -s)" = Linux ]; then
    "$python" -m auditwheel show "$out"/*.whl | tee "$out/auditwheel.txt"
    grep -q 'manylinux_2_17' "$out/auditwheel.txt" || { echo "wheels: not a manylinux2014 wheel"; exit 1; }
    grep -q 'libgcc_s' "$out/auditwheel.txt" || { echo "wheels: an unwinder of its own"; exit 1; }
    rm "$out/auditwheel.txt"
fi
# Whoever looks for a crate with a fault in it finds it in the wheel's list.
"$python" - "$out"/*.whl <<'CHECK'
import json
import sys
import zipfile

for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as wheel:
        lists = [json.loads(wheel.read(name)) for name in wheel.namelist() if ".dist-info/sboms/" in name]
    listed = {component["name"] for found in lists for component in found["components"]}
    if not {"tripcoil-core", "pyo3", "serde_json"} <= listed:
        sys.exit(f"wheels: no list of what is in {path}")
CHECK
ls -l "$out"
