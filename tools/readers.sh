#!/bin/sh
# Fetches the programs and libraries of others that read what we write, for tests
# (tests/lib/readers.py): from npm into build/readers/node_modules, from Debian into
# build/readers/bin. Says what it fetches, and nothing when all is there. Without them those tests
# are skipped.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
to=${POLYPERF_READERS:-$root/build/readers}

# A reader that grew would fail a test for no fault of ours: each is of one version.
list='@firefox-devtools/profiler-cli@0.10.0
@paulirish/trace_engine@0.0.65
ajv@8.20.0
axe-core@4.14.1
playwright-core@1.65.1
pprof-format@2.3.2
protobufjs@8.8.1
speedscope@1.25.0'

# Go's pprof is one program of a large package, of which nothing else is kept.
fetch_pprof() {
	echo "readers: taking pprof from the package golang-1.19-go" >&2
	part=$(mktemp -d) || return 1
	(cd "$part" && apt-get download -qq golang-1.19-go) 2>/dev/null &&
		dpkg-deb --fsys-tarfile "$part"/*.deb |
		tar -xO --wildcards './usr/lib/go-*/pkg/tool/linux_*/pprof' >"$part/pprof"
	mkdir -p "$to/bin" && [ -s "$part/pprof" ] && chmod +x "$part/pprof" &&
		mv "$part/pprof" "$to/bin/pprof"
	got=$?
	rm -rf "$part"
	return $got
}

if ! [ -x "$to/bin/pprof" ] && ! command -v apt-get >/dev/null; then
	echo "readers: no apt-get, so no pprof" >&2
elif ! [ -x "$to/bin/pprof" ] && ! fetch_pprof; then
	echo "readers: cannot get pprof" >&2
fi

[ "$list" = "$(cat "$to/list" 2>/dev/null)" ] && exit 0
if ! command -v npm >/dev/null; then
	echo "readers: no npm, so no readers of exports" >&2
	exit 0
fi
mkdir -p "$to"
# shellcheck disable=SC2086 # words are meant
set -- $list
echo "readers: fetching $* from npm" >&2
# All at once: npm removes what it was not told of.
if npm install --silent --no-audit --no-fund --no-save --ignore-scripts --prefix "$to" "$@" >&2; then
	echo "$list" >"$to/list"
else
	echo "readers: cannot get them" >&2
fi
