# A recording of Node.js, and what is asked for wrongly.
capture=$DATA/captures/node20-perf-prof
for file in "$capture"/*.xz; do
	xz -dc "$file" >"$(basename "$file" .xz)"
done
export_() { # ARGUMENT...
	echo "-- export $*"
	polyperf export --self-contained "--dump=$(ls ./*.dump)" "$@" || echo "exit $?"
}
few() { # the ends of the stacks that most samples have
	awk '{ print $NF, $0 }' | sort -rn -k1,1 | cut -d' ' -f2- | sed -n "s/.*\(.\{70\}\)$/... \1/;1,$1p"
}

export_ --format folded | few 6
export_ --format folded --kinds | few 4
export_ --format folded --weight --threads | few 4
export_ --format folded --reverse | cut -d';' -f1-2 | sort | uniq -c | sort -rn | head -4

export_ -o a.svg --title 'Node & co.'
grep -o '<text id="heading".*</text>' a.svg
grep -o '<title>[^<]*alpha[^<(]*([^<]*' a.svg | head -3
export_ -o b.svg --icicle --reverse --weight
grep -o '<text id="heading".*</text>' b.svg
grep -o '<text id="summary".*</text>' b.svg

export_ -o a.callgrind
head -8 a.callgrind
tail -1 a.callgrind

export_ -o a.trace.json.gz
gzip -dc a.trace.json.gz | grep '"ph":"M"'
gzip -dc a.trace.json.gz | grep -c '"ph":"X"'
gzip -dc a.trace.json.gz | tail -1

export_ -o app.unknown
export_
export_ --format nothing
export_ --format pprof --icicle
export_ --title T --format folded
export_ --format folded --event cycles
export_ --format folded -o no/such/folder.folded
ls
