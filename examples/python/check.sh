#!/usr/bin/env bash
# Tests this client against the Java SDK: starts a bus, sends events and requests from Java to Python and from Python to Java, and
# compares the output. Exit code 0 means that all events arrived, in order.
#
#   PYTHON     which Python to use (3.11 or newer), default python3
#   EVENTBUS   the eventbus command, default the launcher of this repository
set -euo pipefail

here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
eventbus="${EVENTBUS:-$here/../../eventbus}"
work="$(mktemp -d)"
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

fail() {
  echo "check: $1" >&2
  for log in "$work"/*.err; do
    if [ -s "$log" ]; then echo "--- $(basename "$log")" >&2; tail -n 20 "$log" >&2; fi
  done
  exit 1
}

# Waits up to 60 s for a line in a file.
await() {
  for _ in $(seq 600); do
    grep -q -e "$2" "$1" 2>/dev/null && return 0
    sleep 0.1
  done
  fail "no '$2' in $(basename "$1") within 60 s"
}

"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
export PYTHONDONTWRITEBYTECODE=1
python="$work/venv/bin/python"

(cd "$here" && "$python" -m unittest test_workers) 2>"$work/workers.err" || fail "the tests of workers"
echo "check: workers: $(grep '^Ran ' "$work/workers.err"), without a bus"

"$eventbus" version >/dev/null || fail "the eventbus command does not work: $eventbus"
# Instead of the key in the user's home directory.
(umask 077 && head -c 32 /dev/urandom >"$work/resume-key")
"$eventbus" serve --host 127.0.0.1 --port 0 --set admin.enabled=false --set auth.resume-key-file="$work/resume-key" \
  --set durable.directory="$work/data" --set 'durable.journals=jobs jobs.>' 2>"$work/bus.err" &
pids+=($!)
await "$work/bus.err" 'listens on ws://'
url="$(sed -n 's/.*listens on \(ws:[^, ]*\).*/\1/p' "$work/bus.err" | head -n 1)"

for i in $(seq 500); do echo "event $i: grüße, 😀"; done >"$work/lines"
cat >"$work/compare.py" <<'EOF'
import json, sys
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
events = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
assert [e["payload"] for e in events] == lines, "payloads differ, or are in another order"
assert [e["sequence"] for e in events] == list(range(1, len(lines) + 1)), "sequences are not 1, 2, 3 …"
assert {(e["topic"], e.get("key")) for e in events} == {("check.ü.x", "schlüssel")}, "topic or key differs"
assert all(e.get("headers") == {"n": "ä", "empty": ""} for e in events), "headers differ"
EOF

# exchange NAME, then the commands of the subscriber up to --, then those of the publisher
exchange() {
  local name="$1" subscriber=()
  shift
  while [ "$1" != -- ]; do subscriber+=("$1"); shift; done
  shift
  timeout 90 "${subscriber[@]}" >"$work/$name.out" 2>"$work/$name-subscriber.err" &
  local pid=$!
  pids+=("$pid")
  await "$work/$name-subscriber.err" 'subscribed to'
  timeout 60 "$@" <"$work/lines" 2>"$work/$name-publisher.err" >/dev/null || fail "$name: the publisher failed"
  wait "$pid" || fail "$name: the subscriber failed"
  "$python" "$work/compare.py" "$work/lines" "$work/$name.out" 2>"$work/$name-compare.err" || fail "$name: not the same"
  echo "check: $name: 500 events, all there and in order"
}

event=(--key schlüssel --header n=ä --header empty= check.ü.x)
exchange java-to-python "$python" "$here/subscribe.py" --url "$url" --count 500 'check.*.x' \
  -- "$eventbus" publish --url "$url" "${event[@]}"
exchange python-to-java "$eventbus" subscribe --url "$url" --output jsonl --count 500 'check.>' \
  -- "$python" "$here/publish.py" --url "$url" "${event[@]}"
exchange python-to-python "$python" "$here/subscribe.py" --url "$url" --count 500 --group g 'check.>' \
  -- "$python" "$here/publish.py" --url "$url" "${event[@]}"

# ask NAME ANSWER, then the commands of the member up to --, then those of the caller
ask() {
  local name="$1" wanted="$2" member=() got
  shift 2
  while [ "$1" != -- ]; do member+=("$1"); shift; done
  shift
  "${member[@]}" >/dev/null 2>"$work/$name-member.err" &
  local pid=$!
  pids+=("$pid")
  await "$work/$name-member.err" 'serves'
  got="$(timeout 60 "$@" 2>"$work/$name-caller.err")" || fail "$name: the caller failed"
  [ "$got" = "$wanted" ] || fail "$name: '$got' (expected: '$wanted')"
  kill "$pid"
  wait "$pid" || true
  echo "check: $name: asked and answered"
}

ask java-asks-python GRÜSSE "$python" "$here/respond.py" --url "$url" capitals -- "$eventbus" request --url "$url" capitals grüße
ask python-asks-java GRÜSSE "$eventbus" respond --url "$url" --exec 'tr s S | tr -d "\n"' shout \
  -- "$python" "$here/request.py" --url "$url" shout 'GRÜssE'

# Two workers share the events of a queue, and end in order.
workers=()
for i in 1 2; do
  "$python" "$here/work.py" --url "$url" --concurrency 4 shout 'jobs.>' >"$work/worker$i.out" 2>"$work/worker$i.err" &
  workers+=($!)
  pids+=($!)
  await "$work/worker$i.err" 'works on'
done
timeout 60 "$eventbus" publish --url "$url" jobs.a <"$work/lines" 2>"$work/work-publisher.err" >/dev/null || fail "work: the publisher failed"
for _ in $(seq 600); do
  [ "$(cat "$work"/worker?.out | wc -l)" -lt 500 ] || break
  sleep 0.1
done
kill "${workers[@]}"
for pid in "${workers[@]}"; do wait "$pid" || fail "work: a worker failed"; done
cat >"$work/shared.py" <<'EOF'
import json, sys
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
taken = [[json.loads(line) for line in open(path, encoding="utf-8")] for path in sys.argv[2:]]
events = sorted((e for one in taken for e in one), key=lambda e: e["position"])
assert [e["text"] for e in events] == [line.upper() for line in lines], f"{len(events)} events, or others"
assert all(taken), "a worker got none"
EOF
"$python" "$work/shared.py" "$work/lines" "$work"/worker?.out 2>"$work/work-compare.err" || fail "work: not the same"
echo "check: work: 500 events shared by two workers, each handled once"

kit="$here/../../conformance/target/eventbus-conformance.jar"
if [ -f "$kit" ]; then
  "${JAVA_HOME:+$JAVA_HOME/bin/}java" -jar "$kit" --testee "'$python' '$here/testee.py'" \
    >"$work/kit.err" 2>&1 || fail "the conformance kit"
  echo "check: conformance: $(tail -n 1 "$work/kit.err")"
else
  echo "check: conformance: left out, $(basename "$kit") is not built"
fi
