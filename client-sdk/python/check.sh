#!/usr/bin/env bash
# Checks this SDK: lint, types, tests (against a bus, if there is a jar of one), the wheel in an environment of its own, and the
# conformance kit with both faces, if it was built.
#
#   PYTHON         which Python to use (3.11 or newer), default python3
#   EVENTBUS_JAR   the bus, default that of this repository, if it was built
#   FUZZ_SECONDS   how long the decoder is fuzzed, default a moment
set -euo pipefail

here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${PYTHON:-python3}"
jar="${EVENTBUS_JAR:-$here/../../eventbus-server/target/eventbus.jar}"

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "check: no Python 3.11 or newer ($python): left out"
  exit 0
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# Nothing is written beside the sources.
export PYTHONDONTWRITEBYTECODE=1 RUFF_CACHE_DIR="$work/ruff" MYPY_CACHE_DIR="$work/mypy" HYPOTHESIS_STORAGE_DIRECTORY="$work/hypothesis"
cp -r "$here" "$work/source"
pip=(-m pip --quiet --disable-pip-version-check)

"$python" -m venv "$work/venv"
"$work/venv/bin/python" "${pip[@]}" install --no-compile -e "$here[dev]"
cd "$here"
"$work/venv/bin/ruff" format --check --quiet . || { echo "check: ruff format would change files" >&2; exit 1; }
"$work/venv/bin/ruff" check --quiet .
echo "check: ruff passed"
"$work/venv/bin/mypy" | tail -n 20
# It fetches its own Node where there is none.
if timeout 120 "$work/venv/bin/pyright" --version >/dev/null 2>&1; then
  "$work/venv/bin/pyright" --pythonpath "$work/venv/bin/python" | tail -n 20
else
  echo "check: pyright does not start here: left out"
fi
if [ -f "$jar" ]; then
  EVENTBUS_JAR="$(cd "$(dirname "$jar")" && pwd)/$(basename "$jar")"
  export EVENTBUS_JAR
else
  unset EVENTBUS_JAR
  echo "check: no jar of a bus: the tests against one are left out"
fi
"$work/venv/bin/python" -m pytest -p no:cacheprovider

"$work/venv/bin/python" "${pip[@]}" wheel --no-deps --wheel-dir "$work/wheel" "$work/source"
"$python" -m venv "$work/empty"
"$work/empty/bin/python" "${pip[@]}" install --no-compile "$work"/wheel/*.whl
(cd "$work" && "$work/empty/bin/python" -c '
import eventbus, eventbus.sync, importlib.resources
assert (importlib.resources.files("eventbus") / "py.typed").is_file(), "no py.typed"
print("check: the wheel", eventbus.__version__, "works in an empty environment")')

kit="$here/../../conformance/target/eventbus-conformance.jar"
if [ -f "$kit" ]; then
  for face in "" --sync; do
    "${JAVA_HOME:+$JAVA_HOME/bin/}java" -jar "$kit" --testee "'$work/venv/bin/python' '$here/tests/testee.py' $face" >"$work/kit" 2>&1 ||
      { tail -n 40 "$work/kit" >&2; exit 1; }
    echo "check: conformance${face:+ ($face)}: $(tail -n 1 "$work/kit")"
  done
else
  echo "check: conformance: left out, $(basename "$kit") is not built"
fi
