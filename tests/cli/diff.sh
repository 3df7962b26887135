# Recordings of one program under two versions of a runtime, and under two ways of telling its code.
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
for capture in node20-perf-prof node24-perf-prof java17-jvmti java17-perfmap; do
	unpack "$capture"
done
difference() { # ARGUMENT...
	echo "-- diff $*"
	polyperf diff --self-contained \
		$(find . -name '*.dump' -printf '--dump=%p ' -o -name '*.map' -printf '--map=%p ') \
		"$@" || echo "exit $?"
}
node20=node20-perf-prof/perf.data
node24=node24-perf-prof/perf.data
java=java17-jvmti/perf.data
map=java17-perfmap/perf.data

difference --top 12 $node20 $node24
difference --top 12 --by total $node20 $node24
difference --top 5 --children --sort after $node20 $node24
difference --percent-limit 2 --format csv $node20 $node24
difference --symbol 'gamma*' --format json $node20 $node24
difference --dso '\[jit\]' --top 8 $java $map
difference --changed $node20 $node20
difference --top 3 $node20,$node20 $node24,$node24
difference --top 3 $node20 $node20 -- $node24
difference --by cpu-second --top 2 --sort ratio $java $map
difference --by second --top 2 --sort symbol $java $map

cp $node20 perf.data.old
cp $node24 perf.data
difference --top 1
difference --top 1 $java
cp $node20 a,b
difference --top 1 a,b $node20

difference --event nothing $node20 $node24
difference --top 1 $node20 nowhere
difference $node20 $node24 $java
difference $node20 --
difference --by miles
difference --sort miles
difference --top 0
