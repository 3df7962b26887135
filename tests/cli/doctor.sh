# What does not depend on the machine: the shape, and runtimes of our own in $PATH.
mkdir -p bin opt/versions/3.3.4/bin opt/otp/bin opt/otp/releases
for program in bin/node opt/php8.2 opt/versions/3.3.4/bin/ruby opt/otp/bin/erl opt/python3.11; do
	printf '#!/bin/sh\n' >$program
	chmod +x $program
done
echo "13.1.5 25" >opt/otp/releases/start_erl.data
ln -s ../opt/php8.2 bin/php
ln -s ../opt/versions/3.3.4/bin/ruby bin/ruby
ln -s ../opt/otp/bin/erl bin/erl
ln -s ../opt/python3.11 bin/python3
doctor() {
	PATH=$PWD/bin "$BUILD/polyperf" doctor "$@"
}

echo "-- runtimes"
status=0
doctor >text || status=$?
sed -n '/^Runtimes/,/^$/p' text | sed -e "s:$PWD:PLACE:" \
	-e 's/^ *\(no variable: the kernel\|its functions cannot be named\|LD_PRELOAD=libpolyperf-python.so\).*/           (by privilege)/'
echo "-- verdict and exit status agree"
case "$status $(tail -n 1 text)" in
"0 Recording works here." | "1 Recording does not work here.") echo yes ;;
*) echo "no: $status" && tail -n 1 text ;;
esac
echo "-- what is looked at"
sed -n '3,/^$/p' text | grep -E '^(ok|limited|refused)' | cut -c 10-27 | sed 's/ *$//'
echo "-- json says the same"
doctor --format json >json || true
python3 - <<'PYTHON'
import json
said = json.load(open("json"))
lines = [line for line in open("text") if line.startswith(("ok ", "limited ", "refused "))]
print(len(said["findings"]) == len(lines), sorted(said))
print([runtime["name"] for runtime in said["runtimes"]])
print(all(finding["verdict"] != "refused" for finding in said["findings"]) == said["can_record"])
PYTHON
echo "-- no such format, no arguments"
doctor --format xml || echo "exit $?"
doctor now || echo "exit $?"
