#!/usr/bin/env bash
# Measures the SDK beside nats.js on this machine, and prints a table. Needs Node, npm, Java and a jar of the bus; nats-server from the PATH or by Go.
#
#   bench/run.sh [--rounds 5] [--seconds 5] [--size 128] [--only WORDS]
#   EVENTBUS_JAR   default the repository's jar
#   NATS_SERVER    default nats-server, which is installed with Go where it is missing
#   CHROMIUM       default /usr/bin/chromium; pages are left out without it
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")"
[ -d node_modules ] || npm install --no-package-lock --ignore-scripts --no-audit --no-fund --silent
nats="${NATS_SERVER:-$(command -v nats-server || true)}"
if [ -z "$nats" ]; then
  nats="$PWD/node_modules/.bin/nats-server"
  [ -x "$nats" ] || GOBIN="$PWD/node_modules/.bin" go install github.com/nats-io/nats-server/v2@latest
fi
NATS_SERVER="$nats" exec node run.js "$@"
