/* reader.h - the records of the interpreter walk (bpf/abi.h), from untrusted bytes.
 *
 *   struct frames_record record;
 *   if (frames_read(&record, raw) == 0 && record.head.kind == WALK_STACK)
 *           for (uint32_t i = 0; i < record.stack.frame_count; i++)
 *                   use(frames_at(&record, i));
 *
 * `raw` is the raw data of a sample of the event named FRAMES_EVENT_NAME, without its
 * 32-bit size; the kernel's padding behind it is passed over. Names come in the encodings
 * that runtimes keep them in: frames_text() makes UTF-8. Owns nothing; any thread.
 */
#ifndef FORMAT_FRAMES_READER_H
#define FORMAT_FRAMES_READER_H

#include "base/bytes.h"
#include "base/sink.h"
#include "bpf/abi.h"

/* What the output event is called in a recording (EVENT_DESC, perf script). */
#define FRAMES_EVENT_NAME "polyperf:frames"

struct frames_record {
	struct walk_head head;
	union {
		struct walk_stack stack;
		struct walk_definition definition;
		struct walk_table table;
		struct walk_told told;
	};
	struct bytes frames;                 /* of a stack, packed */
	struct bytes texts[WALK_TEXT_COUNT]; /* of a definition, as written */
	struct bytes piece;                  /* of the line table: of a definition its beginning */
};

/* Returns 0, STATUS_NOT_FORMAT (no record of the walk), _UNSUPPORTED (another version),
 * _TRUNCATED or _CORRUPT.
 */
int frames_read(struct frames_record *record, struct bytes raw);

/* The record at the beginning of many, which begin at multiples of 8. Moves *records behind it.
 * Returns as frames_read(), STATUS_NOT_FOUND at their end.
 */
int frames_next(struct frames_record *record, struct bytes *records);

/* Index below stack.frame_count. */
struct walk_frame frames_at(const struct frames_record *record, uint32_t index);

/* Appends a text of a definition as UTF-8 without an end. Surrogates and what is no character
 * become U+FFFD.
 */
void frames_text(struct sink *out, const struct frames_record *record, enum walk_text_index index);

/* Why a stack ended, for people; "" for numbers that are none. */
const char *frames_end_text(unsigned end);

#endif
