#!/usr/bin/env bash
# Builds and checks what a release publishes of the Java, the JavaScript and the Python SDK. Publishes nothing.
#
# Usage: release.sh [--version VERSION] [--output DIRECTORY] [java] [javascript] [python]
#
#   --version VERSION    fails where the sources are of another version
#   --output DIRECTORY   where the files go, default target/release; what is there is removed
#   -h, --help           this text
#
# Without a name all three. Checked are: the versions of all parts agree; CHANGELOG.md has a heading "## VERSION - DATE", or for a snapshot
# entries under "## Unreleased"; everything is committed. Then each part is built from the commit, not from the directory, and used as by those
# who install it. A snapshot (-SNAPSHOT in pom.xml) is built in the same way, and said not to be for publishing.
#
#   MVN                the Maven command, default mvn; for example MVN="mvn -o"
#   MAVEN_REPOSITORY   where Maven keeps what it has downloaded, default ~/.m2/repository
#   PYTHON             which Python builds (3.11 or newer), default python3
#
# Exit codes: 0 all is as it has to be; 1 it is not; 2 wrong command line.
set -euo pipefail

root="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
wanted="" output="$root/target/release" parts=()
usage() { sed -n '2,/^set -euo/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; }
fail() { echo "release: $1" >&2; exit 1; }
wrong() { echo "release: $1 (see --help)" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) usage; exit 0 ;;
    --version) [ $# -gt 1 ] || wrong "--version without a version"; wanted="$2"; shift ;;
    --output) [ $# -gt 1 ] || wrong "--output without a directory"; output="$2"; shift ;;
    java | javascript | python) parts+=("$1") ;;
    *) wrong "unknown argument: $1" ;;
  esac
  shift
done
[ "${#parts[@]}" -gt 0 ] || parts=(java javascript python)
read -ra mvn <<<"${MVN:-mvn}"
python="${PYTHON:-python3}"
cd "$root"

# --- What the sources say

first() { sed -n "$2" "$1" | head -n 1; }
problems=0
agree() { # file, what it says, what was expected
  [ "$2" = "$3" ] || { echo "release: $1: '$2' (expected: '$3')" >&2; problems=$((problems + 1)); }
}
full="$(first pom.xml 's:^  <version>\(.*\)</version>.*:\1:p')"
version="${full%-SNAPSHOT}"
[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "pom.xml: '$full' (expected: three numbers, or these and -SNAPSHOT)"
[ -z "$wanted" ] || agree "pom.xml" "$full" "$wanted"
snapshot="" python_version="$version"
if [ "$full" != "$version" ]; then snapshot=yes python_version="$version.dev0"; fi
while read -r pom; do
  agree "$pom" "$(first "$pom" 's:^    <version>\(.*\)</version>.*:\1:p')" "$full"
done < <(git ls-files 'pom.xml' '*/pom.xml' | grep -v '^pom.xml$')
agree client-sdk/javascript/package.json "$(first client-sdk/javascript/package.json 's/^  "version": "\(.*\)",$/\1/p')" "$version"
agree client-sdk/javascript/src/environment.js "$(first client-sdk/javascript/src/environment.js "s/^const VERSION = '\(.*\)';$/\1/p")" "$version"
agree client-sdk/python/src/eventbus/_version.py "$(first client-sdk/python/src/eventbus/_version.py 's/^VERSION = "\(.*\)"$/\1/p')" "$python_version"
if [ -n "$snapshot" ]; then
  heading='^## Unreleased$'
else
  heading="^## ${version//./\\.} - [0-9]{4}-[0-9]{2}-[0-9]{2}\$"
  ! grep -q '"private": true' client-sdk/javascript/package.json || agree client-sdk/javascript/package.json "private" "a package that can be published"
fi
entries="$(awk -v heading="$heading" '$0 ~ heading { on = 1; next } /^## / { on = 0 } on && /^- / { n++ } END { print n + 0 }' CHANGELOG.md)"
[ "$entries" -gt 0 ] || agree CHANGELOG.md "no entries under a heading $heading" "some"
[ -z "$(git status --porcelain)" ] || agree "the working directory" "changes that are not committed" "none"
[ "$problems" = 0 ] || fail "$problems of these do not agree"
echo "release: version $full${snapshot:+, a snapshot: not for publishing}, $entries entries in the changelog"

# --- What is built

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/source"
git archive HEAD | tar -x -C "$work/source"
if [ -e "$output" ] && [ -n "$(ls -A "$output")" ] && [ ! -f "$output/SHA256SUMS" ]; then
  fail "$output has other files (expected: an empty directory, or one that this command has written)"
fi
rm -rf "$output"
mkdir -p "$output"
output="$(cd -P "$output" && pwd)"
# Says whose directory it is, also after a failure.
: >"$output/SHA256SUMS"
quietly() { # what, command: shows what it says only where it fails
  local what="$1"
  shift
  "$@" >"$work/log" 2>&1 || { tail -n 60 "$work/log" >&2; fail "$what failed"; }
}
holds() { # archive's list of files, file that has to be there
  grep -qxF "$2" <<<"$1" || fail "$3: no $2"
}

java_part() {
  local out="$output/java" jar="${JAVA_HOME:+$JAVA_HOME/bin/}jar" javac="${JAVA_HOME:+$JAVA_HOME/bin/}javac" module name avro
  mkdir "$out"
  (cd "$work/source" && quietly "mvn" "${mvn[@]}" -B -q verify -DskipTests -DskipITs -Dmaven.javadoc.skip=false -pl schemas,client-sdk/java -am)
  cp "$work/source/pom.xml" "$out/eventbus-parent-$full.pom"
  for module in schemas:eventbus-schemas client-sdk/java:eventbus-client; do
    name="${module#*:}-$full" module="$work/source/${module%%:*}"
    cp "$module/target/$name.jar" "$out/"
    cp "$module/pom.xml" "$out/$name.pom"
    local sources=(-C "$module/src/main/java" .)
    # Records that were made of the schemas.
    [ ! -d "$module/target/generated-sources/idl" ] || sources+=(-C "$module/target/generated-sources/idl" .)
    quietly "jar" "$jar" --create --file "$out/$name-sources.jar" "${sources[@]}"
    [ -s "$module/target/reports/apidocs/index.html" ] || fail "${name}: no Javadoc"
    quietly "jar" "$jar" --create --file "$out/$name-javadoc.jar" -C "$module/target/reports/apidocs" .
  done
  holds "$("$jar" --list --file "$out/eventbus-client-$full.jar")" io/eventbus/client/EventBusClient.class "eventbus-client-$full.jar"
  holds "$("$jar" --list --file "$out/eventbus-schemas-$full.jar")" io/eventbus/schema/eventbus.avpr "eventbus-schemas-$full.jar"
  # What is public has to be usable with these two and Avro.
  avro="$(first pom.xml 's:.*<avro.version>\(.*\)</avro.version>.*:\1:p')"
  avro="${MAVEN_REPOSITORY:-$HOME/.m2/repository}/org/apache/avro/avro/$avro/avro-$avro.jar"
  [ -f "$avro" ] || fail "no $avro (expected: Avro, which Maven has downloaded for the build)"
  cat >"$work/App.java" <<'JAVA'
import io.eventbus.client.EventBusClient;
class App {
  public static void main(String[] args) {
    try (EventBusClient client = EventBusClient.builder().url("ws://localhost:8080/bus").name("app").connect()) {
      client.send("a.b", "text");
    }
  }
}
JAVA
  quietly "javac with the jars" "$javac" --release 17 -proc:none -d "$work/app" -cp "$out/eventbus-client-$full.jar:$out/eventbus-schemas-$full.jar:$avro" "$work/App.java"
  echo "release: Java: eventbus-parent, eventbus-schemas and eventbus-client, with sources and Javadoc; a program compiles against them"
}

javascript_part() {
  local out="$output/javascript" source="$work/source/client-sdk/javascript" list
  mkdir "$out"
  cp "$work/source/LICENSE" "$source/"
  cd "$source"
  quietly "npm install" npm install --prefer-offline --no-package-lock --ignore-scripts --no-audit --no-fund --silent
  quietly "npm pack" npm pack --silent --pack-destination "$out"
  list="$(tar -tzf "$out/eventbus-client-$version.tgz")"
  for file in LICENSE README.md package.json src/index.js types/index.d.ts dist/eventbus.min.js; do
    holds "$list" "package/$file" "eventbus-client-$version.tgz"
  done
  mkdir "$work/npm"
  cd "$work/npm"
  echo '{"private":true,"type":"module"}' >package.json
  quietly "npm install of the package" npm install --silent --no-package-lock --offline --no-audit --no-fund "$out/eventbus-client-$version.tgz"
  quietly "import of the package" node --input-type=module -e "
    import { connect } from 'eventbus-client'; import 'eventbus-client/avro'; import 'eventbus-client/trace';
    if (typeof connect !== 'function') process.exit(1)"
  cd "$root"
  echo "release: JavaScript: eventbus-client-$version.tgz, $(wc -l <<<"$list") files; it can be installed and imported"
}

python_part() {
  local out="$output/python" source="$work/source/client-sdk/python" bin="$work/venv/bin" wheel sdist kind file
  mkdir "$out"
  cp "$work/source/LICENSE" "$source/"
  "$python" -m venv "$work/venv"
  # shellcheck disable=SC2046
  quietly "pip install" "$bin/pip" install --quiet --disable-pip-version-check $("$python" -c '
import sys, tomllib
print(*tomllib.load(open(sys.argv[1], "rb"))["project"]["optional-dependencies"]["release"])' "$source/pyproject.toml")
  (cd "$source" && quietly "hatchling" "$bin/python" -m hatchling build -d "$out")
  wheel="$out/eventbus_client-$python_version-py3-none-any.whl" sdist="$out/eventbus_client-$python_version.tar.gz"
  quietly "twine check" "$bin/twine" check --strict "$wheel" "$sdist"
  for file in eventbus/__init__.py eventbus/py.typed "eventbus_client-$python_version.dist-info/licenses/LICENSE"; do
    holds "$("$python" -m zipfile -l "$wheel" | awk '{ print $1 }')" "$file" "$(basename "$wheel")"
  done
  for kind in "$wheel" "$sdist"; do
    rm -rf "$work/app-venv"
    "$python" -m venv "$work/app-venv"
    quietly "pip install of $(basename "$kind")" "$work/app-venv/bin/pip" install --quiet --disable-pip-version-check "$kind"
    file="$(cd "$work" && "$work/app-venv/bin/python" -c 'import eventbus, eventbus.sync; print(eventbus.__version__)')"
    [ "$file" = "$python_version" ] || fail "$(basename "$kind"): version '$file' (expected: '$python_version')"
  done
  echo "release: Python: $(basename "$wheel") and $(basename "$sdist"); both can be installed and imported"
}

for part in "${parts[@]}"; do "${part}_part"; done
(cd "$output" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
echo "release: $(wc -l <"$output/SHA256SUMS") files and SHA256SUMS in $output; nothing was published"
