#!/bin/sh
# Runs one fuzz target with libFuzzer:  tools/fuzz.sh TARGET SECONDS
# New inputs go to build/fuzz/corpus/TARGET; a crash is left there and named.
set -eu
cd "$(dirname "$0")/.."
target=$1 seconds=$2
if [ ! -f "fuzz/${target}_fuzz.c" ]; then
	echo "fuzz: T=x with one of:" >&2
	for file in fuzz/*_fuzz.c; do
		file=${file#fuzz/}
		echo "  ${file%_fuzz.c}" >&2
	done
	exit 2
fi
tools/setup.sh build test
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${target}_fuzz"
found=build/fuzz/corpus/$target
mkdir -p "$found" "fuzz/corpus/$target"
exec "$(find build/fuzz -name "${target}_fuzz" -type f)" -max_total_time="$seconds" -timeout=10 \
	-rss_limit_mb=4096 -artifact_prefix="$found/" "$found" "fuzz/corpus/$target"
