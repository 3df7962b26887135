#!/bin/sh
# An installation into an empty $DESTDIR has all parts, and they work from there.
#   tests/cli/install.sh BUILD
set -eu
build=$1
destdir=$(mktemp -d)
trap 'rm -rf "$destdir"' EXIT
DESTDIR=$destdir cmake --install "$build" --prefix /opt/polyperf >/dev/null
at=$destdir/opt/polyperf
"$at/bin/polyperf" --version
for file in share/man/man1/polyperf.1 share/man/man1/polyperf-help.1 \
	share/bash-completion/completions/polyperf share/doc/polyperf/README.md \
	share/doc/polyperf/LICENSE share/doc/polyperf/ARCHITECTURE.md \
	include/polyperf/interp.h; do
	test -s "$at/$file" || { echo "missing: $file"; exit 1; }
done
# Where the build had a JDK's headers.
[ ! -e "$build/libpolyperf-jvmti.so" ] || test -s "$(find "$at" -path '*/polyperf/libpolyperf-jvmti.so')" ||
	{ echo "missing: libpolyperf-jvmti.so"; exit 1; }
[ ! -e "$build/libpolyperf-python.so" ] || test -s "$(find "$at" -path '*/polyperf/libpolyperf-python.so')" ||
	{ echo "missing: libpolyperf-python.so"; exit 1; }
bash -c ". '$at/share/bash-completion/completions/polyperf' && complete -p polyperf"
outside=$(find "$destdir" -type f ! -path "$at/*")
[ -z "$outside" ] || { echo "outside the prefix: $outside"; exit 1; }
