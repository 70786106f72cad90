#!/bin/sh
# Plays all scenarios with each given testee: conformance/check.sh "node testee.js" "python3 testee.py --sync"
# KNOWN_FAILING names a file of scenarios that are known to fail, for all of them.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
jar=$root/conformance/target/eventbus-conformance.jar
[ $# -gt 0 ] || { echo "no testee (expected: a command that starts one, quoted)" >&2; exit 2; }
# Builds only the jar; tests belong to the build.
[ -f "$jar" ] || (cd "$root" && mvn -q -B package -pl conformance -am -DskipTests)
failed=0
for testee in "$@"; do
  echo "== $testee"
  java -jar "$jar" --testee "$testee" ${KNOWN_FAILING:+--known-failing "$KNOWN_FAILING"} || failed=1
done
exit $failed
