# What main() itself answers.
polyperf 2>overview || echo "exit $?"
polyperf --version | sed 's/ [0-9.]*$/ VERSION/'
polyperf --frobnicate || echo "exit $?"
polyperf hepl || echo "exit $?"
polyperf xyzzy || echo "exit $?"
polyperf help hepl || echo "exit $?"
polyperf help --frobnicate || echo "exit $?"
polyperf help one two || echo "exit $?"
polyperf help --usage
polyperf --no-pager help --usage
polyperf --help >help
polyperf help | cmp - help
cmp help overview
polyperf "$(printf 'a\033[31mb')" || echo "exit $?"
for limit in x -1 nan 1e400 101; do
	polyperf report --percent-limit $limit || echo "exit $?"
done
polyperf report --time 5,3 || echo "exit $?"
polyperf script --time x || echo "exit $?"
