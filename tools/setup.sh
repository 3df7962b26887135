#!/bin/sh
# Installs the Debian packages of the named sets (tools/packages.txt) that are missing.
# Says which before it does, and says nothing when all are there.
#   tools/setup.sh build test live
# Packages of the set `live` are wanted, not needed: those that cannot be had are named.
set -u
list=$(dirname "$0")/packages.txt

is_there() { # CHECK PACKAGE
	case $1 in
	cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
	pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
	file:*) [ -e "${1#file:}" ] ;;
	deb:) [ "$(dpkg-query -W -f='${db:Status-Status}' "$2" 2>/dev/null)" = installed ] ;;
	esac
}

missing_of() { # SET
	grep "^$1[[:space:]]" "$list" | while read -r _ package check; do
		is_there "$check" "$package" || printf ' %s' "$package"
	done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		env DEBIAN_FRONTEND=noninteractive "$@"
	else
		sudo env DEBIAN_FRONTEND=noninteractive "$@"
	fi
}

install() { # PACKAGE...
	as_root apt-get install -y -q --no-install-recommends "$@" >"$log" 2>&1
}

needed='' wanted=''
for set in "$@"; do
	if ! grep -q "^${set}[[:space:]]" "$list"; then
		echo "setup: no set '$set' in $list" >&2
		exit 2
	elif [ "$set" = live ]; then
		wanted="$wanted$(missing_of live)"
	else
		needed="$needed$(missing_of "$set")"
	fi
done
[ -z "$needed$wanted" ] && exit 0

if ! command -v apt-get >/dev/null; then
	echo "setup: this is no Debian; please install what these packages hold:$needed$wanted" >&2
	[ -z "$needed" ]
	exit
fi
if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
	echo "setup: please install as root: apt-get install$needed$wanted" >&2
	[ -z "$needed" ]
	exit
fi

echo "setup: installing the Debian packages$needed$wanted" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
as_root apt-get update -q >"$log" 2>&1 || cat "$log" >&2
# shellcheck disable=SC2086 # words are meant
if [ -n "$needed" ] && ! install $needed; then
	cat "$log" >&2
	echo "setup: could not install$needed" >&2
	exit 1
fi
# shellcheck disable=SC2086
if [ -n "$wanted" ] && ! install $wanted; then
	for package in $wanted; do
		install "$package" || echo "setup: cannot install $package" >&2
	done
fi
exit 0
