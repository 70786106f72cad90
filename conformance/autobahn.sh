#!/usr/bin/env bash
# Plays the cases of the public Autobahn|Testsuite at the echo endpoint of a bus (diagnostics.echo-path), and prints the failed ones.
#
#   autobahn.sh          starts a bus of its own, plays at ws and wss; openssl makes its certificate
#   autobahn.sh URL...   at these endpoints, ws:// or wss://, whose certificate is not checked
#
#   CASES          patterns of cases; default all that concern a server: '1.* 2.* 3.* 4.* 5.* 6.* 7.* 9.* 10.* 12.* 13.*'.
#                  9 has large messages, 12 and 13 compress (compression.enabled, compression.min-bytes=0)
#   EVENTBUS_JAR   jar of the bus; default the repository's
#   REPORTS        directory for reports of each case, as HTML and JSON; default none
#   PYTHON         default python3, 3.10 or newer
# The suite's own program needs Python 2. Another one, pinned below, plays its cases of release 25.10.1.
#
# Exit codes: 0 all passed; 1 some failed; 2 wrong command line; 77 left out, the last line says why.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${PYTHON:-python3}"
left_out() { echo "autobahn: left out: $1"; exit 77; }
case "${1:-}" in -h | --help) sed -n '2,/^set -euo/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;; esac
for url in "$@"; do
  [[ "$url" =~ ^wss?://[^/]+:[0-9]+/ ]] || { echo "autobahn: '$url' (expected: ws://HOST:PORT/PATH or wss://HOST:PORT/PATH)" >&2; exit 2; }
done
"$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || left_out "no $python of 3.10 or newer with venv"

work="$(mktemp -d)"
pids=()
cleanup() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check kosoku==0.1.0 >"$work/pip" 2>&1 || { tail -n 3 "$work/pip" >&2; left_out "kosoku cannot be installed"; }

if [ $# -eq 0 ]; then
  jar="${EVENTBUS_JAR:-$here/../eventbus-server/target/eventbus.jar}"
  [ -f "$jar" ] || left_out "no $jar"
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/certificate.pem" -days 2 -subj /CN=localhost >"$work/openssl" 2>&1 || left_out "openssl makes no certificate"
  start() { # scheme, further settings
    local log="$work/$1.log" port=""
    env -u EVENTBUS_JAR "${JAVA_HOME:+$JAVA_HOME/bin/}java" -jar "$jar" serve --set bus.name="$1" --set listen.port=0 --set admin.enabled=false \
      --set diagnostics.echo-path=/echo --set diagnostics.echo-message-bytes=17MiB --set compression.enabled=true \
      --set compression.min-bytes=0 --set timeouts.upgrade=30s "${@:2}" >"$log" 2>&1 &
    pids+=("$!")
    for _ in $(seq 300); do
      port="$(sed -nE "s|.*$1://[^ ]*:([0-9]+)/.*|\1|p" "$log" | head -n 1)"
      [ -z "$port" ] || break
      kill -0 "${pids[-1]}" 2>/dev/null || break
      sleep 0.2
    done
    [ -n "$port" ] || { tail -n 20 "$log" >&2; echo "autobahn: the bus does not start" >&2; exit 1; }
    urls+=("$1://127.0.0.1:$port/echo")
  }
  urls=()
  start ws
  start wss --set tls.certificate="$work/certificate.pem" --set tls.key="$work/key.pem"
  set -- "${urls[@]}"
fi
# Patterns must not be expanded by the shell.
set -f
# shellcheck disable=SC2086
"$work/venv/bin/python" "$here/autobahn.py" --reports "${REPORTS:-}" --cases ${CASES:-1.* 2.* 3.* 4.* 5.* 6.* 7.* 9.* 10.* 12.* 13.*} --urls "$@"
