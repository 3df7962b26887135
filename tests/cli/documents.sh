#!/bin/bash
# Man pages and completion are made for every command, and are sound.
#   tests/cli/documents.sh BUILD COMMAND...
set -u
build=$1
shift
passed=0 failed=0 skipped=0

ok() { # WHAT COMMAND...
	local what=$1
	shift
	local output
	if output=$("$@" 2>&1) && [ -z "$output" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s\n%s\n' "$what" "$output"
	fi
}

# The program's list of commands and the build's must be one.
same_commands() {
	diff <(COMP_WORDS=(polyperf '') COMP_CWORD=1; _polyperf; printf '%s\n' "${COMPREPLY[@]}" |
		grep -v '^-' | sort) <(printf '%s\n' "$@" | sort)
}

completes() { # EXPECTED WORD...
	local expected=$1
	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_polyperf
	[[ " ${COMPREPLY[*]} " == *" $expected "* ]] || echo "$*: ${COMPREPLY[*]}"
}

man_is_clean() { # PAGE
	{ MANWIDTH=80 man --warnings -E UTF-8 -l "$1" >/dev/null; } 2>&1
}

has_name() { # PAGE NAME
	lexgrog "$1" | grep -q "\"$2 - " || echo "lexgrog finds no name in $1"
}

# shellcheck source=/dev/null
ok "completion loads" source "$build/completion/polyperf"
# shellcheck source=/dev/null
source "$build/completion/polyperf"
ok "commands" same_commands "$@"
ok "completes a command" completes help polyperf he
ok "completes an option" completes --help polyperf help --h
ok "completes behind --no-pager" completes help polyperf --no-pager h
ok "completes help's command" completes help polyperf help he

for name in '' "$@"; do
	page=$build/man/polyperf${name:+-$name}.1
	ok "$page is there" test -s "$page"
	if command -v lexgrog >/dev/null && command -v man >/dev/null; then
		ok "$page: no warnings" man_is_clean "$page"
		ok "$page: its name" has_name "$page" "polyperf${name:+-$name}"
	else
		skipped=$((skipped + 2))
		echo "SKIP: no man-db to check $page"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
