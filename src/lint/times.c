#include "format/perfmap/times.h"

#include "base/status.h"
#include "lint/lint_internal.h"

/* The reader passes over lines that do not hold; here each is said. A line holds
 * if the reader, given the lines before it, takes it.
 */
int lint_times(struct lint *lint, struct bytes file)
{
	struct perfmap_times times;
	struct perfmap_stretch stretch;
	const int got = perfmap_times_init(&times, file);
	if (got < 0)
		return got;
	uint64_t count = 0;
	uint64_t line = 1;
	size_t line_off = times.next_offset;
	while (line_off < file.size) {
		const bool is_there =
		    perfmap_times_at(&times, times.stretch.end_offset, &stretch) > 0;
		count += is_there;
		/* All lines between the last one taken and this one were passed over. */
		while (line_off < times.next_offset) {
			const uint8_t *start = file.data + line_off;
			const uint8_t *newline = memchr(start, '\n', file.size - line_off);
			const size_t next = newline ? (size_t)(newline - file.data) + 1 : file.size;
			line++;
			if (!is_there || next < times.next_offset)
				lint_tell(lint, LINT_TIMES_LINE,
					  (struct lint_place){
					      .offset = line_off, .line = line, .record = "" },
					  newline ? "no line of times, or it goes back"
						  : "the file ends inside this line");
			line_off = next;
		}
	}
	sink_printf(&lint->contents, "%" PRIu64 " stretch%s", count, count == 1 ? "" : "es");
	return STATUS_OK;
}
