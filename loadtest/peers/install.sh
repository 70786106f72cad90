#!/usr/bin/env bash
# Fetches the servers of peers that are not on Maven Central, with the ordinary package clients.
#
#   loadtest/peers/install.sh            everything that is missing
#   loadtest/peers/install.sh nats       NATS only (needs Go)
#   loadtest/peers/install.sh mosquitto  Mosquitto only (needs apt-get and the right to install)
#
# Go programs go to peers/bin beside this script, which Git ignores. Mosquitto goes where the system's packages go.
# What cannot be had is told; the load test then reports that system as absent.
set -uo pipefail

here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
bin="$here/bin"
failed=0

nats() {
  local version=v2.15.2
  if [ -x "$bin/nats-server" ] && "$bin/nats-server" --version | grep -qF "$version"; then
    echo "nats-server $version is there"
    return 0
  fi
  if ! command -v go >/dev/null; then
    echo "nats-server: Go is missing: install it (https://go.dev/doc/install) and run this again" >&2
    return 1
  fi
  mkdir -p "$bin"
  GOBIN="$bin" go install "github.com/nats-io/nats-server/v2@$version" && "$bin/nats-server" --version
}

mosquitto() {
  # Debian keeps it out of the PATH of ordinary users.
  if PATH="$PATH:/usr/sbin" command -v mosquitto >/dev/null; then
    echo "mosquitto is there"
    return 0
  fi
  if ! command -v apt-get >/dev/null; then
    echo "mosquitto: no apt-get here: install mosquitto with the system's package manager" >&2
    return 1
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  "${as_root[@]}" apt-get install -y --no-install-recommends mosquitto
}

for peer in "${@:-all}"; do
  case "$peer" in
    nats) nats || failed=1 ;;
    mosquitto) mosquitto || failed=1 ;;
    all)
      nats || failed=1
      mosquitto || failed=1
      ;;
    *)
      echo "peer: $peer (expected: nats or mosquitto)" >&2
      exit 2
      ;;
  esac
done
exit "$failed"
