#!/usr/bin/env bash
# Writes the API reference of the JavaScript SDK as HTML, with TypeDoc: reference.sh [DIRECTORY], default target/reference/javascript of the repository.
# Its tools are in reference/package.json, apart from those of the SDK; they are downloaded when they are not there.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
case "${1:-}" in -h | --help) sed -n '2,3s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
out="${1:-$here/../../target/reference/javascript}"
mkdir -p "$out"
out="$(cd -P "$out" && pwd)"

cd "$here/reference"
# No lock file, as in ../check.sh.
if ! cmp -s package.json node_modules/.installed; then
  npm install --prefer-offline --no-package-lock --ignore-scripts --no-audit --no-fund --silent
  cp package.json node_modules/.installed
fi
node_modules/.bin/typedoc --out "$out" --logLevel Warn
[ -s "$out/index.html" ] || { echo "reference: no index.html in $out" >&2; exit 1; }
echo "reference: $out/index.html"
