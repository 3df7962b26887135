#include "tui/find.h"

#include <ctype.h>
#include <string.h>

/* "\S" and the like are no capital letters. */
static bool has_capital(const char *expression)
{
	for (const char *p = expression; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (isupper((unsigned char)*p))
			return true;
	}
	return false;
}

const char *find_set(struct find *find, const char *expression)
{
	find_clear(find);
	if (!expression[0])
		return NULL;
	const int flags = REG_EXTENDED | (has_capital(expression) ? 0 : REG_ICASE);
	const int got = regcomp(&find->pattern, expression, flags);
	if (got != 0) {
		(void)regerror(got, &find->pattern, find->error, sizeof(find->error));
		return find->error;
	}
	find->is_set = true;
	return NULL;
}

void find_clear(struct find *find)
{
	if (find->is_set)
		regfree(&find->pattern);
	find->is_set = false;
}

bool find_next(const struct find *find, struct bytes text, size_t from, size_t *start, size_t *end)
{
	const size_t size = text.size < FIND_TEXT_LIMIT ? text.size : FIND_TEXT_LIMIT;
	if (!find->is_set || from > size)
		return false;
	/* Sanitizers look for the NUL that REG_STARTEND does without. */
	char copy[FIND_TEXT_LIMIT + 1];
	if (size)
		memcpy(copy, text.data, size);
	copy[size] = '\0';
	regmatch_t match = { .rm_so = (regoff_t)from, .rm_eo = (regoff_t)size };
	if (regexec(&find->pattern, copy, 1, &match, REG_STARTEND | (from ? REG_NOTBOL : 0)) != 0)
		return false;
	*start = (size_t)match.rm_so;
	*end = (size_t)match.rm_eo;
	return true;
}

bool find_matches(const struct find *find, struct bytes text)
{
	size_t start;
	size_t end;
	return find_next(find, text, 0, &start, &end);
}
