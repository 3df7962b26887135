# Real code of six runtimes by instruction and line, and what is said where there is nothing to show.
captures=$DATA/captures
unpack() { # CAPTURE
	mkdir -p "$1"
	for file in "$captures/$1"/*.xz; do
		xz -dc "$file" >"$1/$(basename "$file" .xz)"
	done
	for file in "$captures/$1"/*.dump "$captures/$1"/*.map; do
		[ ! -f "$file" ] || cp "$file" "$1"
	done
}
annotate() { # CAPTURE ARGUMENT...
	capture=$1
	shift
	[ -d "$capture" ] || unpack "$capture"
	echo "-- $capture $*"
	polyperf annotate --self-contained -i "$capture/perf.data" \
		$(find "$capture" -name '*.dump' -printf '--dump=%p ' -o -name '*.map' -printf '--map=%p ') \
		"$@" || echo "exit $?"
}

mkdir source
{
	echo "// nine lines, so that each function has one"
	echo "function alpha(n, k) { /* the hottest */ }"
	printf '\tfunction beta(n, k) {}\n'
} >source/work.js
touch -d 2020-01-01 source/work.js # before any recording

annotate lli14-mcjit
annotate lli14-mcjit --syntax att --asm --percent-limit 5 --context 1 --raw-bytes
annotate node20-perf-prof beta --percent-limit 3 --context 0 --source-path /home/user/corpus/work=source
annotate node20-perf-prof alpha --by-version --source-path source
annotate node20-perf-prof work.js --source-path source --context 1
annotate node20-perf-prof work.js:5 --asm --percent-limit 20
annotate node20-perf-prof work.js:12
annotate node20-perf-prof alpha --version 1 --percent-limit 1 --context 2
annotate java17-jvmti --percent-limit 4 --context 0
annotate java17-jvmti Work.java
annotate dotnet10-azmcp-g2 --percent-limit 1 --context 1
annotate php8.2-function --percent-limit 4 --context 0
annotate ebpf --dso '[[]bpf]'

echo "-- what may mean several, or nothing"
annotate node20-perf-prof a.pha
annotate node20-perf-prof rec --dso '[[]jit]'
annotate node20-perf-prof alpha --version 9
annotate node20-perf-prof --event instructions
polyperf annotate alpha || echo "exit $?"
echo "a recording as the only argument"
polyperf annotate php8.2-function/perf.data | head -n 2
polyperf annotate --view all || echo "exit $?"
polyperf annotate --version 0 || echo "exit $?"

echo "-- into files, whose names say the format"
annotate lli14-mcjit -o alpha.html >log && cat log && head -n 1 alpha.html && tail -n 1 alpha.html
annotate lli14-mcjit -o alpha.json >log && cat log
python3 - <<'PYTHON'
import json
for function in json.load(open("alpha.json"))["functions"]:
    version, = function["versions"]
    print(function["symbol"], function["samples"], version["machine"],
          sum(row["samples"] for row in version["instructions"]))
PYTHON
annotate lli14-mcjit -o alpha.txt >log && cat log && wc -l alpha.txt
annotate lli14-mcjit -o missing/alpha.html
ls

echo "-- for an old terminal, and for one with colours"
LC_ALL=C annotate lli14-mcjit --asm | grep -- '-j\|>'
annotate lli14-mcjit --asm --color always | grep -c "$(printf '\033')\[31m"
