#!/usr/bin/env bash
# Checks this SDK: lint, types, the sdist and the wheel, tests (against a bus, if there is a jar of one), and the conformance kit with both faces,
# if it was built. One environment for all of it; what does not need the other runs at the same time.
#
#   PYTHON         which Python to use (3.11 or newer), default python3
#   EVENTBUS_JAR   the bus, default that of this repository, if it was built
#   FUZZ_SECONDS   how long the decoder is fuzzed, default a moment
set -euo pipefail

here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${PYTHON:-python3}"
jar="${EVENTBUS_JAR:-$here/../../eventbus-server/target/eventbus.jar}"
kit="$here/../../conformance/target/eventbus-conformance.jar"
java="${JAVA_HOME:+$JAVA_HOME/bin/}java"

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "check: no Python 3.11 or newer ($python): left out"
  exit 0
fi
work="$(mktemp -d)"
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
# Caches are not written beside the sources.
export PYTHONPYCACHEPREFIX="$work/pycache" RUFF_CACHE_DIR="$work/ruff" MYPY_CACHE_DIR="$work/mypy" HYPOTHESIS_STORAGE_DIRECTORY="$work/hypothesis"
cp -r "$here" "$work/source"
cd "$here"

# The environment has only the dependencies of the wheel while the wheel is tried; then the tools are added.
bin="$work/venv/bin"
if "$python" -m pip --version >/dev/null 2>&1; then
  # Without pip, whose installation takes longer than the environment.
  "$python" -m venv --without-pip "$work/venv"
  pip() { "$python" -m pip --quiet --disable-pip-version-check --python "$bin/python" "$@"; }
else
  "$python" -m venv "$work/venv"
  pip() { "$bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
fi
requirements() {
  "$bin/python" -c '
import sys, tomllib
found = tomllib.load(open("pyproject.toml", "rb"))
for key in sys.argv[1].split("."):
    found = found[key]
print(*found)' "$1"
}
# shellcheck disable=SC2046
pip install --no-compile --target "$work/build" $(requirements build-system.requires)
(cd "$work/source" && PYTHONPATH="$work/build" "$bin/python" -m hatchling build -d "$work/dist" >"$work/build.log" 2>&1) ||
  { cat "$work/build.log" >&2; exit 1; }
"$bin/python" - "$work/source" "$work"/dist/*.tar.gz "$work"/dist/*.whl <<'PY'
import pathlib, sys, tarfile, zipfile

source, sdist, wheel = map(pathlib.Path, sys.argv[1:])
sources = source / "src"
files = {p.relative_to(sources).as_posix() for p in sources.rglob("*") if p.suffix in (".py", ".typed")}
for archive, held in (
    (sdist, {name.partition("/src/")[2] for name in tarfile.open(sdist).getnames()}),
    (wheel, set(zipfile.ZipFile(wheel).namelist())),
):
    if missing := sorted(files - held):
        sys.exit(f"check: {archive.name} has no {', '.join(missing)}")
PY
pip install --no-compile "$work"/dist/*.whl
(cd "$work" && "$bin/python" -c '
import eventbus, eventbus.sync, importlib.metadata, importlib.resources
assert any(f.name == "LICENSE" for f in importlib.metadata.files("eventbus-client") or ()), "no licence"
assert (importlib.resources.files("eventbus") / "py.typed").is_file(), "no py.typed"
print("check: the sdist and the wheel", eventbus.__version__, "are complete; the wheel works in an empty environment")')
# shellcheck disable=SC2046
pip install --no-compile $(requirements project.optional-dependencies.dev)

"$bin/ruff" format --check --quiet . || { echo "check: ruff format would change files" >&2; exit 1; }
"$bin/ruff" check --quiet .
echo "check: ruff passed"

types() {
  "$bin/mypy" | tail -n 20
  # Skipped without Node, because pyright would fetch one.
  if command -v node >/dev/null; then
    "$bin/pyright" --pythonpath "$bin/python" | tail -n 20
  else
    echo "check: pyright needs Node: left out"
  fi
}

# Both variants share the core: the synchronous one plays only the scenarios in which an application calls something.
conformance() {
  local face="$1" log="$work/kit$1"
  shift
  "$java" -jar "$kit" --testee "'$bin/python' '$here/tests/testee.py' $face" "$@" >"$log" 2>&1 || { tail -n 40 "$log"; return 1; }
  echo "check: conformance${face:+ ($face)}: $(tail -n 1 "$log")"
}

kits() {
  types
  if [ -f "$kit" ]; then
    conformance ""
    conformance --sync --only 'C*' --only 'P*' --only 'S*' --only 'D*' --only 'F*' --only 'J*' --only 'K*' --only 'X*'
  else
    echo "check: conformance: left out, $(basename "$kit") is not built"
  fi
}

if [ -f "$jar" ]; then
  EVENTBUS_JAR="$(cd "$(dirname "$jar")" && pwd)/$(basename "$jar")"
  export EVENTBUS_JAR
else
  unset EVENTBUS_JAR
  echo "check: no jar of a bus: the tests against one are left out"
fi
(set -euo pipefail && kits) >"$work/kits.log" 2>&1 &
pids+=($!)
failed=0
"$bin/python" -m pytest -p no:cacheprovider || failed=1
wait "${pids[0]}" || failed=1
pids=()
cat "$work/kits.log"
exit "$failed"
