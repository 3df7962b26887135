# On a terminal long output goes through the pager; --no-pager and "cat" write straight to it.
if ! command -v script >/dev/null; then
	echo "SKIP: no script(1) to make a terminal"
	exit 77
fi
on_terminal() {
	script -qec "$1" /dev/null </dev/null | tr -d '\r' | head -n 2
}
on_terminal "POLYPERF_PAGER='sed s/^/paged:/' polyperf help help"
on_terminal "PAGER='sed s/^/paged:/' polyperf help help"
on_terminal "POLYPERF_PAGER=cat PAGER='sed s/^/paged:/' polyperf help help"
on_terminal "PAGER='sed s/^/paged:/' polyperf --no-pager help help"
# A reader who leaves early ends it quietly, and the status is told.
on_terminal "POLYPERF_PAGER='head -n 1' polyperf help help"
# Piped, nothing is paged.
PAGER='sed s/^/paged:/' polyperf help help | head -n 1
