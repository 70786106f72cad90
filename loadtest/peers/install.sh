#!/usr/bin/env bash
# Fetches the servers of peers that are not on Maven Central, with the ordinary package clients.
#
#   loadtest/peers/install.sh            everything that is missing
#   loadtest/peers/install.sh nats       NATS only, and a program with its Go client (needs Go)
#   loadtest/peers/install.sh mosquitto  Mosquitto only (needs apt-get and the right to install)
#   loadtest/peers/install.sh etcd       etcd only (likewise)
#   loadtest/peers/install.sh rabbitmq   RabbitMQ only (likewise); the package's own service is stopped
#
# Go programs go to peers/bin beside this script, which Git ignores. The others go where the system's packages go.
# A program that cannot be had is named; the load test then reports its system as absent.
set -uo pipefail

here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
bin="$here/bin"
failed=0
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi

nats() {
  nats_server && nats_call
}

# Caller and member of the workload "requests" with NATS's Go client.
nats_call() {
  (cd "$here/../src/main/go" && go build -o "$bin/nats-call" .) && "$bin/nats-call" --version
}

nats_server() {
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

mosquitto() { package mosquitto mosquitto; }

etcd() { package etcd etcd-server; }

rabbitmq() {
  if PATH="$PATH:/usr/sbin" type -P rabbitmq-server >/dev/null; then
    echo "rabbitmq-server is there"
    return 0
  fi
  package rabbitmq-server rabbitmq-server || return 1
  # The package starts a service where the system lets it.
  if [ -d /run/systemd/system ]; then
    "${as_root[@]}" systemctl disable --now rabbitmq-server
  elif "${as_root[@]}" service rabbitmq-server status >/dev/null 2>&1; then
    "${as_root[@]}" service rabbitmq-server stop
  fi
}

# The program, and the package that brings it.
package() {
  # Debian keeps servers out of the PATH of ordinary users.
  if PATH="$PATH:/usr/sbin" type -P "$1" >/dev/null; then
    echo "$1 is there"
    return 0
  fi
  if ! command -v apt-get >/dev/null; then
    echo "$1: no apt-get here: install $1 with the system's package manager" >&2
    return 1
  fi
  "${as_root[@]}" apt-get install -y --no-install-recommends "$2"
}

for peer in "${@:-all}"; do
  case "$peer" in
    nats) nats || failed=1 ;;
    mosquitto) mosquitto || failed=1 ;;
    etcd) etcd || failed=1 ;;
    rabbitmq) rabbitmq || failed=1 ;;
    all)
      nats || failed=1
      mosquitto || failed=1
      etcd || failed=1
      rabbitmq || failed=1
      ;;
    *)
      echo "peer: $peer (expected: nats, mosquitto, etcd or rabbitmq)" >&2
      exit 2
      ;;
  esac
done
exit "$failed"
