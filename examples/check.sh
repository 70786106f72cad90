#!/usr/bin/env bash
# Starts the demo with its pages, and runs each example with its flights: the board and the map in Chromium, the service, the
# workers, the table.
#
#   EVENTBUS_JAR   the bus; default the repository's, where it is built
#   CHROMIUM       browser; default /usr/bin/chromium, where it is
#   PYTHON         which Python (3.11 or newer); default python3
#   SCREENSHOTS    directory for pictures of the pages; default none are taken
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")"

jar="${EVENTBUS_JAR:-../eventbus-server/target/eventbus.jar}"
export CHROMIUM="${CHROMIUM:-/usr/bin/chromium}"
python="${PYTHON:-python3}"
[ -f "$jar" ] || { echo "check: the examples are left out: no jar of a bus"; exit 0; }

work="$(mktemp -d)"
pids=()
end() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap end EXIT

# Waits up to 30 s for a line of a file.
await() {
  for _ in $(seq 300); do
    if grep -qE "$1" "$2"; then return 0; fi
    sleep 0.1
  done
  echo "check: no line '$1' within 30 s:" >&2
  cat "$2" >&2
  exit 1
}

# Starts a demo with these options, whose output goes to a file.
demo() {
  "${JAVA_HOME:+$JAVA_HOME/bin/}java" -jar "$jar" demo --keep "${@:2}" >"$1" 2>&1 &
  pids+=($!)
  await 'Ctrl-C ends it' "$1"
}

# Prints where a demo serves its pages.
pages() {
  grep -oE 'http://[^ ]+/board.html' "$1" | sed 's|/board.html||'
}

# Replays a day in about twenty seconds.
demo "$work/demo" --duration "${DURATION:-10m}"
bus="$(grep -oE 'ws://[^, ]+' "$work/demo" | head -n 1)"

if node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null; then
  node service/late.mjs "$bus" >"$work/service" 2>&1 &
  service=$!
  await 'left [0-9]+ minutes late' "$work/service"
  kill -TERM "$service"
  wait "$service" || { echo "check: the service ended with $? (expected: 0)" >&2; cat "$work/service" >&2; exit 1; }
  echo "check: service: $(tail -n 1 "$work/service")"
  node --test worker/claims.test.mjs >"$work/worker-test" || { cat "$work/worker-test" >&2; exit 1; }
  workers=()
  for i in 1 2; do
    node worker/compensate.mjs "$bus" >"$work/worker$i" 2>&1 &
    workers+=($!)
    pids+=($!)
  done
  for i in 1 2; do await 'paid for .* minutes late' "$work/worker$i"; done
  kill -TERM "${workers[@]}"
  for i in 1 2; do
    wait "${workers[i - 1]}" || { echo "check: worker $i ended with $? (expected: 0)" >&2; cat "$work/worker$i" >&2; exit 1; }
  done
  echo "check: workers: $(tail -n 1 "$work/worker2")"
  if [ ! -x "$CHROMIUM" ]; then
    echo "check: the pages are left out: no $CHROMIUM"
  elif [ ! -d ../client-sdk/javascript/node_modules/playwright-core ]; then
    echo "check: the pages are left out: client-sdk/javascript/check.sh installs what drives the browser"
  else
    # Some flights of a morning, and another a hundred years later.
    zcat flights/flights-2013-01.tsv.gz | awk -F'\t' -v OFS='\t' -v years=3155760000000 \
      'NR <= 500 && /"dest":"(BOS|IAD|BWI|DCA|BUF)"/ { print; $3 = sprintf("%.0f", $3 + years); last = $0 } END { print last }' >"$work/flights"
    gzip "$work/flights"
    demo "$work/pausing" --duration 1h --data "$work/flights.gz"
    timeout -k 5 300 node check-pages.mjs "$(pages "$work/demo")" "$(pages "$work/pausing")" "$(($(zcat "$work/flights.gz" | wc -l) - 1))" ${SCREENSHOTS:+"$SCREENSHOTS"}
  fi
else
  echo "check: the service, the workers and the pages are left out: no Node 20.19 or newer"
fi

if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  if ! "$python" -c 'import websockets' 2>/dev/null; then
    "$python" -m venv "$work/venv"
    "$work/venv/bin/python" -m pip --quiet --disable-pip-version-check install 'websockets>=15'
    python="$work/venv/bin/python"
  fi
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=../client-sdk/python/src timeout 60 "$python" delays/delays.py "$bus" --by airport --until 50 >"$work/delays"
  grep -qE '^[A-Z]{3} +[0-9]+ +[0-9]+% +[0-9]+ min' "$work/delays" || { cat "$work/delays" >&2; exit 1; }
  echo "check: delays: $(sed -n 2p "$work/delays" | tr -s ' ')"
else
  echo "check: the table of delays is left out: no Python 3.11 or newer"
fi

demo="${pids[0]}"
kill -TERM "$demo"
ended=0
wait "$demo" || ended=$?
# 128 plus the number of the signal, and no output behind the last line of the start.
if [ "$ended" != 143 ] || [ "$(tail -n 1 "$work/demo")" != 'Ctrl-C ends it' ]; then
  echo "check: the demo ended with $ended (expected: 143)" >&2
  cat "$work/demo" >&2
  exit 1
fi
echo "check: the demo ends when it is told to"
