#!/usr/bin/env bash
# Checks the JavaScript SDK: types, lint, tests, the package, and a run against a bus, in Chromium and of the conformance kit where they are.
# The tests run in parallel to the rest, because they mostly wait, and at the end in parallel to the kit. test/nightly/run.sh has longer checks.
#
#   EVENTBUS_JAR   jar of a bus to test against; default the repository's, where it is built
#   KIT_JAR        jar of the conformance kit; default the repository's, where it is built
#   CHROMIUM       browser to test in; default /usr/bin/chromium, where it is
#   FUZZ_SECONDS   how long the decoders are fuzzed; default 1
#   SEED           repeats random tests
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")"

if ! command -v npm >/dev/null || ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null; then
  echo "check: the JavaScript SDK is left out: Node $(node --version 2>/dev/null || echo is not here) (expected: 20.19 or newer, with npm)"
  exit 0
fi

# No lock file: it would name its author's registry. The versions in package.json are exact.
if ! cmp -s package.json node_modules/.installed; then
  npm install --prefer-offline --no-package-lock --ignore-scripts --no-audit --no-fund --silent
  cp package.json node_modules/.installed
fi

logs="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$logs"' EXIT
declare -A running
begin() {
  local name="$1"
  shift
  "$@" >"$logs/$name" 2>&1 &
  running[$name]=$!
}
# Waits for a step; shows the end of its output if it has failed.
end() {
  echo "check: $1"
  if ! wait "${running[$1]}"; then
    "${2:-cat}" "$logs/$1" | tail -n 200 >&2
    exit 1
  fi
}
failures() { sed -n '/failing tests:/,$p' "$1"; }

mapfile -t tests < <(find test -name node_modules -prune -o -name '*.test.js' -print | sort)
# Parallel, because tests with a bus mostly wait for it.
begin tests node --test --test-concurrency=3 --test-timeout=240000 --test-reporter=spec "${tests[@]}"
for step in "types node_modules/.bin/tsc" "lint node_modules/.bin/eslint ." "package ./check-package.sh"; do
  read -ra command <<<"$step"
  begin "${command[@]}"
  end "${command[0]}"
done
cat "$logs/package"

kit="${KIT_JAR:-../../conformance/target/eventbus-conformance.jar}"
if [ -f "$kit" ]; then
  # A generous limit: a busy machine is no fault of the client.
  begin conformance "${JAVA_HOME:+$JAVA_HOME/bin/}java" -jar "$kit" --within 20000 --testee 'node test/testee.js'
fi
end tests failures
grep -E '^ℹ (tests|pass|skipped)' "$logs/tests" | tr '\n' ' '
echo
# Skipped tests, each reason once.
grep -oE '# (left out|no jar|the conformance kit).*' "$logs/tests" | sort | uniq -c | sed -E 's/^ *([0-9]+) # /check: \1 tests left out: /' || true
if [ -f "$kit" ]; then
  end conformance
  tail -n 1 "$logs/conformance"
else
  echo "check: conformance: left out, $(basename "$kit") is not built"
fi
