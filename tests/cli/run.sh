#!/bin/sh
# Golden tests of the command line.
#   tests/cli/run.sh BUILD CASE [COMMAND ARG...]   compares one case
#   tests/cli/run.sh --accept [CASE...]            takes what the dev build prints as right
#
# CASE.sh runs in an empty directory of its own with the built polyperf first in
# $PATH and $DATA for tests/data; a case without a script is the COMMAND given.
# What it prints on both streams, and "[exit N]" where it fails, is held against
# CASE.out. A case that cannot run here prints "SKIP: why" and ends with 77.
set -u
here=$(dirname "$(readlink -f "$0")")
root=$(dirname "$(dirname "$here")")

show_case() { # BUILD CASE [COMMAND ARG...]
	build=$1 case=$2
	shift 2
	[ $# -gt 0 ] || set -- sh -eu "$here/$case.sh"
	(
		cd "$work" || exit 1
		env -i PATH="$build:$PATH" HOME="$work" TMPDIR="$work" LC_ALL=C.UTF-8 TZ=UTC \
			DATA="$root/tests/data" BUILD="$build" SOURCE="$root" "$@" 2>&1
	)
	status=$?
	[ $status = 0 ] || echo "[exit $status]"
	return $status
}

accept() { # CASE
	work=$(mktemp -d)
	case $1 in
	help_*) show_case "$root/build/dev" "$1" polyperf help "${1#help_}" >"$work.out" ;;
	*) show_case "$root/build/dev" "$1" >"$work.out" ;;
	esac
	if [ $? = 77 ]; then
		echo "$1: cannot run here"
		rm -f "$work.out"
	else
		cmp -s "$work.out" "$here/$1.out" || echo "$1: accepted"
		mv "$work.out" "$here/$1.out"
	fi
	rm -rf "$work"
}

if [ "${1:-}" = --accept ]; then
	shift
	if [ $# = 0 ]; then
		# shellcheck disable=SC2046 # names of cases hold no blanks
		set -- $(cd "$root/build/dev" && ctest -N | sed -n 's/.* cli\.\(.*\)/\1/p')
	fi
	for case in "$@"; do
		[ -f "$here/$case.sh" ] || [ "${case#help_}" != "$case" ] || continue
		accept "$case"
	done
	exit 0
fi

build=$(readlink -f "$1") case=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work" "$work.out"' EXIT
show_case "$build" "$case" "$@" >"$work.out"
if [ $? = 77 ]; then
	cat "$work.out"
	exit 77
fi
[ -f "$here/$case.out" ] || : >"$work.none"
if ! diff -u "$here/$case.out" "$work.out"; then
	echo "$case: not as expected; if it is right: tests/cli/run.sh --accept $case"
	exit 1
fi
