#include "format/perfmap/times.h"

#include "base/status.h"

static const char first_line[] = "perfmap-times 1\n";

int perfmap_times_init(struct perfmap_times *times, struct bytes text)
{
	const size_t size = sizeof(first_line) - 1;
	if (text.size < size || memcmp(text.data, first_line, size) != 0)
		return STATUS_NOT_FORMAT;
	*times = (struct perfmap_times){ .text = text, .next_offset = size };
	return STATUS_OK;
}

/* A decimal number that `until` ends; false if it is none, or too large. */
static bool read_decimal(struct cursor *c, uint8_t until, uint64_t *value)
{
	uint64_t read = 0;
	for (bool is_first = true;; is_first = false) {
		const uint8_t byte = cursor_u8(c);
		if (cursor_failed(c))
			return false;
		if (byte == until && !is_first)
			break;
		if (byte < '0' || byte > '9')
			return false;
		if (__builtin_mul_overflow(read, 10u, &read) ||
		    __builtin_add_overflow(read, (uint64_t)(byte - '0'), &read))
			return false;
	}
	*value = read;
	return true;
}

static bool read_stretch(struct bytes line, struct perfmap_stretch *stretch)
{
	struct cursor c = cursor_over(line);
	return read_decimal(&c, ' ', &stretch->end_offset) &&
	       read_decimal(&c, ' ', &stretch->earliest_ns) &&
	       read_decimal(&c, ' ', &stretch->best_ns) &&
	       read_decimal(&c, '\n', &stretch->latest_ns) &&
	       stretch->earliest_ns <= stretch->best_ns && stretch->best_ns <= stretch->latest_ns;
}

static bool is_after(const struct perfmap_stretch *next, const struct perfmap_stretch *last)
{
	return next->end_offset > last->end_offset && next->earliest_ns >= last->earliest_ns &&
	       next->best_ns >= last->best_ns && next->latest_ns >= last->latest_ns;
}

/* Reads on to the next line that holds; false at the end, a torn last line included. */
static bool advance(struct perfmap_times *times)
{
	bool is_line_lost = false;
	while (times->next_offset < times->text.size) {
		const uint8_t *start = times->text.data + times->next_offset;
		const uint8_t *newline = memchr(start, '\n', times->text.size - times->next_offset);
		if (!newline)
			break;
		const struct bytes line = { .data = start, .size = (size_t)(newline - start) + 1 };
		times->next_offset += line.size;
		struct perfmap_stretch stretch;
		if (read_stretch(line, &stretch) && is_after(&stretch, &times->stretch)) {
			/* The lost line's bytes count to this stretch, so it began earlier. */
			if (is_line_lost)
				stretch.earliest_ns = times->stretch.earliest_ns;
			times->stretch = stretch;
			return true;
		}
		is_line_lost = true;
	}
	times->next_offset = times->text.size;
	return false;
}

int perfmap_times_at(struct perfmap_times *times, uint64_t offset, struct perfmap_stretch *stretch)
{
	while (times->stretch.end_offset <= offset)
		if (!advance(times))
			return 0;
	*stretch = times->stretch;
	return 1;
}

void perfmap_times_begin(struct sink *out)
{
	sink_text(out, first_line);
}

void perfmap_times_put(struct sink *out, const struct perfmap_stretch *stretch)
{
	sink_printf(out, "%llu %llu %llu %llu\n", (unsigned long long)stretch->end_offset,
		    (unsigned long long)stretch->earliest_ns, (unsigned long long)stretch->best_ns,
		    (unsigned long long)stretch->latest_ns);
}
