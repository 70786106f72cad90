#!/usr/bin/env bash
# Writes the API reference of the Python SDK as HTML, with pdoc: reference.sh [DIRECTORY], default target/reference/python of the repository.
# Its tools are those of the extra "reference" in pyproject.toml; they are put into an environment that is removed.
# PYTHON: which Python to use (3.11 or newer), default python3.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
case "${1:-}" in -h | --help) sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
out="${1:-$here/../../target/reference/python}"
mkdir -p "$out"
out="$(cd -P "$out" && pwd)"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export PYTHONPYCACHEPREFIX="$work/pycache"
cp -r "$here" "$work/source"
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-compile "$work/source[reference]"
"$work/venv/bin/python" -W error::UserWarning - "$out" <<'PY'
import pathlib
import sys

import pdoc

import eventbus.avro
import eventbus.sync

# Members inherited from private classes are shown as those of the clients.
for client in (eventbus.EventBus, eventbus.sync.EventBus):
    for base in client.__mro__[1:-1]:
        for name, member in vars(base).items():
            if not name.startswith("_") and name not in vars(client):
                setattr(client, name, member)
out = pathlib.Path(sys.argv[1])
pdoc.render.configure(docformat="restructuredtext", show_source=False)
pdoc.pdoc("eventbus", "eventbus.sync", "eventbus.avro", "!eventbus._", output_directory=out)
for module, page in (("eventbus", "eventbus.html"), ("eventbus.sync", "eventbus/sync.html")):
    text = (out / page).read_text("utf-8")
    for name in dir(sys.modules[module].EventBus):
        if not name.startswith("_") and f'id="EventBus.{name}"' not in text:
            sys.exit(f"reference: {module}.EventBus.{name} is not in {page}")
PY
for page in eventbus eventbus/sync eventbus/avro; do
  [ -s "$out/$page.html" ] || { echo "reference: no $page.html in $out" >&2; exit 1; }
done
echo "reference: $out/eventbus.html"
