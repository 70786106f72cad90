#!/usr/bin/env bash
# Checks the JavaScript SDK: types, lint, tests, the package, and a run against a bus, in Chromium and of the conformance kit where they are.
#
#   EVENTBUS_JAR   jar of a bus to test against; default the repository's, where it is built
#   CHROMIUM       browser to test in; default /usr/bin/chromium, where it is
#   FUZZ_SECONDS   how long the decoders are fuzzed; default 1
#   SEED           repeats random tests
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")"

if ! command -v npm >/dev/null || ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null; then
  echo "check: the JavaScript SDK is left out: Node $(node --version 2>/dev/null || echo is not here) (expected: 20.19 or newer, with npm)"
  exit 0
fi

# No lock file: it would name the registry of whoever wrote it. The versions in package.json are exact.
if [ ! -d node_modules ] || [ package.json -nt node_modules ]; then
  npm install --no-package-lock --ignore-scripts --no-audit --no-fund --silent
  touch node_modules
fi

echo "check: types"
node_modules/.bin/tsc
echo "check: lint"
node_modules/.bin/eslint .
echo "check: tests"
mapfile -t tests < <(find test -name '*.test.js' | sort)
output="$(mktemp)"
trap 'rm -f "$output"' EXIT
if ! node --test --test-reporter=spec "${tests[@]}" >"$output" 2>&1; then
  sed -n '/failing tests:/,$p' "$output" | head -n 200
  exit 1
fi
grep -E '^ℹ (tests|pass|skipped)' "$output" | tr '\n' ' '
echo
# What was left out, once for each reason.
grep -oE '# (left out|no jar|the conformance kit).*' "$output" | sort | uniq -c | sed -E 's/^ *([0-9]+) # /check: \1 tests left out: /' || true
./check-package.sh

kit=../../conformance/target/eventbus-conformance.jar
if [ -f "$kit" ]; then
  "${JAVA_HOME:+$JAVA_HOME/bin/}java" -jar "$kit" --testee 'node test/testee.js' >"$output" 2>&1 || { tail -n 40 "$output" >&2; exit 1; }
  echo "check: conformance: $(tail -n 1 "$output")"
else
  echo "check: conformance: left out, $(basename "$kit") is not built"
fi
