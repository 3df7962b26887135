#include "base/number.h"

static unsigned digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - (unsigned)'0';
	if (c >= 'a' && c <= 'f')
		return c - (unsigned)'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - (unsigned)'A' + 10;
	return 16;
}

size_t number_read(struct bytes text, unsigned base, uint64_t *value)
{
	uint64_t sum = 0;
	size_t at = 0;
	for (; at < text.size && digit_of(text.data[at]) < base; at++)
		if (__builtin_mul_overflow(sum, base, &sum) ||
		    __builtin_add_overflow(sum, digit_of(text.data[at]), &sum))
			return 0;
	if (at)
		*value = sum;
	return at;
}

bool number_parse(struct bytes text, unsigned base, uint64_t *value)
{
	uint64_t number;
	const size_t length = number_read(text, base, &number);
	if (!length || length != text.size)
		return false;
	*value = number;
	return true;
}

bool number_parse_text(const char *text, uint64_t *value)
{
	return number_parse((struct bytes){ (const uint8_t *)text, strlen(text) }, 10, value);
}

const char *number_skip_u32(const char *text, uint32_t *value)
{
	uint64_t number;
	const size_t length =
	    number_read((struct bytes){ (const uint8_t *)text, strlen(text) }, 10, &number);
	if (!length || number > UINT32_MAX)
		return NULL;
	*value = (uint32_t)number;
	return text + length;
}
