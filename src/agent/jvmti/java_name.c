#include "agent/jvmti/java_name.h"

#include <ctype.h>

enum { CLASS_LIMIT = 4000, METHOD_LIMIT = 1500, DESCRIPTOR_LIMIT = 2500 };

/* One unit of modified UTF-8, which is one of UTF-16; 0 and U+FFFD where it is damaged. */
static size_t read_unit(const uint8_t *at, size_t left, uint32_t *unit)
{
	const uint8_t first = at[0];
	if (first < 0x80) {
		*unit = first;
		return 1;
	}
	if ((first & 0xe0) == 0xc0 && left > 1 && (at[1] & 0xc0) == 0x80) {
		*unit = (uint32_t)(first & 0x1f) << 6 | (at[1] & 0x3f);
		return 2;
	}
	if ((first & 0xf0) == 0xe0 && left > 2 && (at[1] & 0xc0) == 0x80 &&
	    (at[2] & 0xc0) == 0x80) {
		*unit =
		    (uint32_t)(first & 0x0f) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3f);
		return 3;
	}
	*unit = 0xfffd;
	return 1;
}

static bool is_high(uint32_t unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(uint32_t unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

static size_t read_character(const uint8_t *at, size_t left, uint32_t *character)
{
	size_t size = read_unit(at, left, character);
	if (is_high(*character) && size < left) {
		uint32_t low;
		const size_t more = read_unit(at + size, left - size, &low);
		if (is_low(low)) {
			*character = 0x10000 + ((*character - 0xd800) << 10) + (low - 0xdc00);
			return size + more;
		}
	}
	/* Half a pair is no character; NUL would end the name. */
	if (is_high(*character) || is_low(*character) || *character == 0)
		*character = 0xfffd;
	return size;
}

static void put_character(struct sink *out, uint32_t c)
{
	if (c < 0x80) {
		sink_u8(out, (uint8_t)c);
		return;
	}
	if (c < 0x800) {
		sink_u8(out, (uint8_t)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		sink_u8(out, (uint8_t)(0xe0 | c >> 12));
		sink_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	} else {
		sink_u8(out, (uint8_t)(0xf0 | c >> 18));
		sink_u8(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		sink_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	}
	sink_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
}

/* Nearly every name is plain from its beginning to its end. */
static size_t plain_start(const uint8_t *text, size_t size)
{
	size_t plain = 0;
	while (plain < size && text[plain] > 0 && text[plain] < 0x80)
		plain++;
	return plain;
}

void java_name_put_text(struct sink *out, const char *text, size_t size, size_t limit)
{
	const uint8_t *at = (const uint8_t *)text;
	const size_t end = out->size + limit;
	const size_t plain = plain_start(at, size < limit ? size : limit);
	sink_put(out, at, plain);
	at += plain;
	size -= plain;
	while (size && out->size < end && !sink_failed(out)) {
		uint32_t character;
		const size_t used = read_character(at, size, &character);
		put_character(out, character);
		at += used;
		size -= used;
	}
	if (size)
		sink_text(out, "...");
}

/* Behind the name of a hidden class: ".0x0000000800c01000", or "/471910020" before JDK 15. */
static size_t without_address(const char *name, size_t size)
{
	size_t digits = size;
	while (digits > 0 && isxdigit((unsigned char)name[digits - 1]))
		digits--;
	size_t end = digits;
	if (end > 1 && end < size && name[end - 1] == 'x' && name[end - 2] == '0')
		end -= 2;
	if (end == size || end == 0)
		return size;
	const bool is_hexadecimal = end != digits;
	if (name[end - 1] == '.')
		return is_hexadecimal ? end - 1 : size;
	if (name[end - 1] != '/')
		return size;
	for (size_t i = digits; i < size && !is_hexadecimal; i++)
		if (!isdigit((unsigned char)name[i]))
			return size;
	return end - 1;
}

/* "Main$$Lambda$14" counts in the order in which lambdas happened to be linked. */
static size_t without_count(const char *name, size_t size)
{
	static const char LAMBDA[] = "$$Lambda$";
	size_t digits = size;
	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	const size_t marker = sizeof(LAMBDA) - 1;
	if (digits == size || digits < marker ||
	    memcmp(name + digits - marker, LAMBDA, marker) != 0)
		return size;
	return digits - 1;
}

void java_name_put(struct sink *out, const char *class_signature, const char *method,
		   const char *descriptor)
{
	size_t size = strlen(class_signature);
	if (size > 2 && class_signature[0] == 'L' && class_signature[size - 1] == ';') {
		const char *name = class_signature + 1;
		size -= 2;
		const size_t named = without_address(name, size);
		if (named < size)
			size = without_count(name, named);
		sink_u8(out, 'L');
		java_name_put_text(out, name, size, CLASS_LIMIT);
		sink_u8(out, ';');
	} else {
		java_name_put_text(out, class_signature, size, CLASS_LIMIT);
	}
	java_name_put_text(out, method, strlen(method), METHOD_LIMIT);
	const size_t descriptor_size = strlen(descriptor);
	java_name_put_text(out, descriptor, descriptor_size, DESCRIPTOR_LIMIT);
}

void java_name_put_file(struct sink *out, const char *class_signature, const char *file)
{
	if (class_signature[0] == 'L' && !strchr(file, '/')) {
		const char *slash = strrchr(class_signature, '/');
		/* That of "Main$$Lambda$1/471910020" stands before no class. */
		while (slash && isdigit((unsigned char)slash[1])) {
			const char *end = slash;
			slash = NULL;
			for (const char *at = class_signature; at < end; at++)
				if (*at == '/')
					slash = at;
		}
		if (slash)
			java_name_put_text(out, class_signature + 1,
					   (size_t)(slash - class_signature), CLASS_LIMIT);
	}
	java_name_put_text(out, file, strlen(file), METHOD_LIMIT);
}
