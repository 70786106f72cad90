#!/usr/bin/env bash
# Checks that take too long for each build: the SDK in bundles of four bundlers, in Deno and Bun, the conformance kit in a page, a browser
# that stands still, and tokens that expire.
#
#   test/nightly/run.sh [bundles] [runtimes] [page] [stopped] [tokens]   all of them by default
#   EVENTBUS_JAR    jar of a bus; default the repository's
#   KIT_JAR         jar of the conformance kit; default the repository's
#   CHROMIUM        default /usr/bin/chromium
#   STOPPED_SECONDS how long the browser stands still; default 60
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")"
sdk="$(cd ../.. && pwd)"
parts=("$@")
[ $# -gt 0 ] || parts=(bundles runtimes page stopped tokens)
install=(npm install --prefer-offline --no-package-lock --ignore-scripts --no-audit --no-fund --silent)
[ -d "$sdk/node_modules" ] || (cd "$sdk" && "${install[@]}")
[ -d node_modules ] || "${install[@]}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failed=0

# A project that has the SDK as its users get it.
project() {
  mkdir "$work/$1"
  (cd "$sdk" && npm pack --silent --pack-destination "$work/$1" >/dev/null)
  (cd "$work/$1" && echo '{"private":true,"type":"module"}' >package.json && npm install --silent --no-package-lock --offline --no-audit --no-fund ./*.tgz >/dev/null)
}

for part in "${parts[@]}"; do
  case "$part" in
    bundles | runtimes)
      project "$part"
      node "$part.js" "$work/$part" || failed=1
      ;;
    page)
      kit="${KIT_JAR:-$sdk/../../conformance/target/eventbus-conformance.jar}"
      if [ ! -f "$kit" ]; then
        echo "page: left out, $(basename "$kit") is not built"
      elif "${JAVA_HOME:+$JAVA_HOME/bin/}java" -jar "$kit" --within 20000 --parallel 2 --testee "node $sdk/test/testee-page.js" --known-failing "$sdk/test/page-known-failing.txt" >"$work/page.log" 2>&1; then
        echo "page: conformance in Chromium: $(tail -n 1 "$work/page.log")"
      else
        tail -n 60 "$work/page.log" >&2
        failed=1
      fi
      ;;
    tokens) node tokens.js || failed=1 ;;
    stopped) node stopped.js "${STOPPED_SECONDS:-60}" || failed=1 ;;
    *)
      echo "$part: unknown (expected: bundles, runtimes, page, stopped, tokens)" >&2
      exit 2
      ;;
  esac
done
exit "$failed"
