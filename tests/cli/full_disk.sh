# Output that cannot be written is an error, not a silent success.
if ! [ -c /dev/full ]; then
	echo "SKIP: no /dev/full"
	exit 77
fi
polyperf help >/dev/full || echo "exit $?"
polyperf --version >/dev/full || echo "exit $?"
polyperf help --usage >/dev/full || echo "exit $?"
