# What lint says of real files, and of files that are none.
captures=$DATA/captures
cp "$captures/python3.13-fork/jit-28455.dump" child.dump
xz -dc "$captures/python3.13-fork/jit-28453.dump.xz" >torn.dump
xz -dc "$captures/dotnet10-azmcp-g0/jit-17773.dump.xz" >dotnet.dump
xz -dc "$captures/node20-perf-prof/jit-23820.dump.xz" >node.dump
xz -dc "$captures/mono-jitmap/perf-967.map.xz" >mono.map
cp "$captures/lli14-mcjit/jit-7494.dump" llvm.dump
cp "$captures/public/parca-agent/nodejs-perf-map-regression" parca.map
cp "$captures/php8.2-function/perf-2104.map" php.map
xz -dc "$captures/public/linux-perf-data/sleep.compressed2.pipe.data.xz" >pipe.data

for file in child.dump torn.dump dotnet.dump node.dump llvm.dump mono.map parca.map php.map pipe.data; do
	polyperf lint $file || echo "exit $?"
done

echo "-- several, the least severe left out"
polyperf lint --level error php.map torn.dump mono.map || echo "exit $?"
polyperf lint --level error mono.map || echo "exit $?"
polyperf lint --quiet parca.map || echo "exit $?"
echo "-- every finding"
polyperf lint --all --level warning torn.dump | grep -c repeated-load

echo "-- a recording: perf.data with a zip behind it"
xz -dc "$captures/php8.2-function/perf.data.xz" >php.data
python3 - <<'PYTHON'
import zipfile
with zipfile.ZipFile("php.data", "a") as file:
    file.writestr("about.json", "{}")
    file.writestr("process/1/jit.dump", open("torn.dump", "rb").read(), zipfile.ZIP_DEFLATED)
    file.writestr("process/1/perf.map", open("parca.map", "rb").read())
    file.writestr("process/1/perf.map.times", "perfmap-times 1\n100 5 7 9\n90 5 7 9\n")
    file.writestr("process/2/perf.map", "")
PYTHON
polyperf lint --level error php.data || echo "exit $?"

echo "-- what is no such file"
: >empty
echo "int main(void) { return 0; }" >main.c
mkdir folder
polyperf lint empty || echo "exit $?"
polyperf lint main.c || echo "exit $?"
polyperf lint folder || echo "exit $?"
polyperf lint missing php.map || echo "exit $?"
polyperf lint || echo "exit $?"
polyperf lint --level all php.map || echo "exit $?"

echo "-- through a pipe, and names that would drive a terminal"
printf '10 10 a\n20 10 \033[2Jb\n' | polyperf lint - || echo "exit $?"
echo "-- kinds"
polyperf lint --kinds | wc -l
polyperf lint --kinds | while read -r kind rest; do
	grep -q "\`$kind\`" "$SOURCE/docs/lint.md" || echo "$kind is not in docs/lint.md"
done
