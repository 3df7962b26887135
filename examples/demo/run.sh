#!/bin/sh
# The demonstration behind `./polyperf demo [PROGRAM...]`: runs one small program a
# runtime under `polyperf record`, all in one recording, and prints the report. Each
# program spends known shares of its time in alpha, beta and gamma, and says so
# itself; the last table holds the two against each other.
#   examples/demo/run.sh BUILD [PROGRAM...]
set -u
here=$(dirname "$(readlink -f "$0")")
all='tinyjit node bun java dotnet mono php python ruby luajit erlang'

has() {
	command -v "$1" >/dev/null 2>&1
}

# The first CPython that can announce its functions (3.12 and later).
find_python() {
	for python in python3 python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.*/bin/python3; do
		if "$python" -c 'import sys; sys.activate_stack_trampoline("perf")' 2>/dev/null; then
			echo "$python"
			return
		fi
	done
}

# prepare PROGRAM: true if it can run here; compiles what must be compiled.
prepare() {
	case $1 in
	tinyjit) [ -x "$build/examples/tinyjit" ] ;;
	node | bun | php | luajit) has "$1" ;;
	java) has java && has javac && javac -d "$out" "$here/Work.java" ;;
	mono) has mono && has mcs && mcs -optimize -out:"$out/work-mono.exe" "$here/Work.cs" ;;
	dotnet) has dotnet && prepare_dotnet ;;
	python) python=$(find_python) && [ -n "$python" ] && ln -sf "$(readlink -f "$(command -v "$python")")" "$out/python3" ;;
	ruby) has ruby && ruby --yjit -e '' ;;
	erlang) has erl && has erlc && erlc -o "$out" "$here/work.erl" ;;
	*) false ;;
	esac >"$out/prepare.log" 2>&1
}

prepare_dotnet() {
	version=$(dotnet --version) || return
	[ -n "$(find "$out/dotnet/work.dll" -newer "$here/Work.cs" 2>/dev/null)" ] && return
	mkdir -p "$out/dotnet-source" && cp "$here/Work.cs" "$here/work.csproj" "$out/dotnet-source" &&
		dotnet build "$out/dotnet-source" -nologo -c Release -o "$out/dotnet" \
			-p:DemoFramework="net${version%%.*}.0"
}

start() {
	case $1 in
	tinyjit) "$build/examples/tinyjit" | sed 's/^tinyjit //' ;;
	node) node "$here/work.js" ;;
	bun) bun "$here/work.js" ;;
	java) java -cp "$out" Work ;;
	mono) mono "$out/work-mono.exe" ;;
	dotnet) dotnet "$out/dotnet/work.dll" ;;
	php) php "$here/work.php" ;;
	python) "$out/python3" "$here/work.py" ;;
	ruby) ruby "$here/work.rb" ;;
	luajit) luajit "$here/work.lua" ;;
	erlang) erl -noshell -pa "$out" -s work main ;;
	esac
}

# What the recording runs: every program in turn, its own words into "said".
if [ "$1" = --programs ]; then
	build=$2 out=$3
	shift 3
	for program in "$@"; do
		said=$(start "$program") || echo "demo: $program failed" >&2
		echo "$program $said"
	done >"$out/said"
	exit 0
fi

build=$1
out=$(dirname "$build")/demo
shift
mkdir -p "$out"
[ $# -gt 0 ] || eval "set -- $all"
here_are='' missing=''
for program in "$@"; do
	if prepare "$program"; then
		here_are="$here_are $program"
	else
		missing="$missing $program"
	fi
done
[ -z "$missing" ] || echo "demo: not on this machine:$missing" >&2
[ -n "$here_are" ] || exit 1
echo "demo: recording$here_are, about a second each" >&2

# shellcheck disable=SC2086 # words are meant
"$build/polyperf" record -o "$out/perf.data" -- sh "$0" --programs "$build" "$out" $here_are || exit
"$build/polyperf" report -i "$out/perf.data" --percent-limit 0.5 || exit

echo
"$build/polyperf" report -i "$out/perf.data" --format csv |
	awk -f "$here/compare.awk" "$out/said" -
echo
echo "The recording is $out/perf.data; look further with"
echo "  ./polyperf report -g -i $out/perf.data"
echo "  perf report -i $out/perf.data"
