#include "cli/parse.h"

#include "base/number.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

/* Reads digits up to the first other character, where *end then points. */
static bool read_number(const char *text, unsigned base, uint64_t *value, const char **end)
{
	const struct bytes all = { (const uint8_t *)text, strlen(text) };
	const size_t length = number_read(all, base, value);
	*end = text + length;
	return length > 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool parse_u64(const char *text, uint64_t *value)
{
	const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint64_t number;
	const char *end;
	if (!read_number(is_hex ? text + 2 : text, is_hex ? 16 : 10, &number, &end) || *end)
		return false;
	*value = number;
	return true;
}

bool parse_u32(const char *text, uint32_t *value)
{
	uint64_t number;
	if (!parse_u64(text, &number) || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	return true;
}

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcmp(units->name, name) == 0)
			return units;
	return NULL;
}

bool parse_pid(const char *text, pid_t *value)
{
	uint32_t pid;
	if (!parse_u32(text, &pid) || pid == 0 || pid > INT_MAX)
		return false;
	*value = (pid_t)pid;
	return true;
}

bool parse_size_bytes(const char *text, uint64_t *value)
{
	static const struct unit units[] = {
		{ "", 1 },
		{ "B", 1 },
		{ "K", 1 << 10 },
		{ "KB", 1 << 10 },
		{ "KiB", 1 << 10 },
		{ "k", 1 << 10 },
		{ "M", 1 << 20 },
		{ "MB", 1 << 20 },
		{ "MiB", 1 << 20 },
		{ "G", 1 << 30 },
		{ "GB", 1 << 30 },
		{ "GiB", 1 << 30 },
		{ 0 },
	};
	uint64_t number;
	const char *end;
	if (!read_number(text, 10, &number, &end))
		return false;
	const struct unit *unit = find_unit(units, end);
	if (!unit || __builtin_mul_overflow(number, unit->factor, &number))
		return false;
	*value = number;
	return true;
}

enum { NS_IN_SECOND = 1000000000 };

/* NUMBER[.DIGITS] in units of `factor` nanoseconds; digits below one nanosecond are dropped. */
static bool read_decimal(const char *text, const char **end, const struct unit *units,
			 uint64_t *value)
{
	uint64_t whole;
	if (!read_number(text, 10, &whole, end))
		return false;
	const char *digits = *end;
	if (*digits == '.') {
		const char *after = digits + 1;
		while (is_digit(*after))
			after++;
		if (after == digits + 1)
			return false;
		*end = after;
	}
	const struct unit *unit = find_unit(units, *end);
	if (!unit || __builtin_mul_overflow(whole, unit->factor, &whole))
		return false;
	uint64_t place = unit->factor;
	if (*digits == '.')
		for (digits++; digits < *end && place >= 10; digits++) {
			place /= 10;
			if (__builtin_add_overflow(whole, (uint64_t)(*digits - '0') * place,
						   &whole))
				return false;
		}
	*value = whole;
	return true;
}

bool parse_duration_ns(const char *text, uint64_t *value)
{
	static const struct unit units[] = {
		{ "", NS_IN_SECOND },
		{ "s", NS_IN_SECOND },
		{ "ms", 1000000 },
		{ "us", 1000 },
		{ "ns", 1 },
		{ "m", 60ull * NS_IN_SECOND },
		{ "min", 60ull * NS_IN_SECOND },
		{ "h", 3600ull * NS_IN_SECOND },
		{ 0 },
	};
	const char *end;
	return read_decimal(text, &end, units, value);
}

bool parse_seconds_ns(const char *text, uint64_t *value)
{
	static const struct unit units[] = { { "", NS_IN_SECOND }, { 0 } };
	const char *end;
	return read_decimal(text, &end, units, value);
}

bool parse_percent(const char *text, double *value)
{
	static const struct unit units[] = { { "", NS_IN_SECOND }, { "%", NS_IN_SECOND }, { 0 } };
	uint64_t billionths;
	const char *end;
	if (!read_decimal(text, &end, units, &billionths) || billionths > 100ull * NS_IN_SECOND)
		return false;
	*value = (double)billionths / NS_IN_SECOND;
	return true;
}

int parse_word(const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	return -1;
}

bool parse_list(const char *text, bool (*each)(void *context, const char *item), void *context)
{
	char item[4096];
	for (;;) {
		const size_t length = strcspn(text, ",");
		if (length == 0 || length >= sizeof(item))
			return false;
		memcpy(item, text, length);
		item[length] = '\0';
		if (!each(context, item))
			return false;
		if (!text[length])
			return true;
		text += length + 1;
	}
}
