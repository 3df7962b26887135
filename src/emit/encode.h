/* encode.h - records as bytes, measured first and then written into room of that size.
 *
 *   struct ppjit_out out = { 0 };                  measures: no bytes, no room
 *   ppjit_encode_load(&out, &what);
 *   out = (struct ppjit_out){ .base = room, .room = size, .sizes = measured };
 *   ppjit_encode_load(&out, &what);                writes, and never beyond the room
 *   if (out.pos == size) ppjit_publish(jit, &span, out.first_id, out.first_size);
 *
 * The first eight bytes are not written: that is ppjit_publish().
 */
#ifndef EMIT_ENCODE_H
#define EMIT_ENCODE_H

#include <polyperf/jit.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PPJIT_PARTS = 6 };

struct ppjit_out {
	uint8_t *base; /* NULL: nothing is written, only counted */
	uint64_t room;
	uint64_t pos;
	uint64_t sizes[PPJIT_PARTS]; /* of each record, from the measuring round */
	uint32_t part;
	uint32_t first_id;
	uint32_t first_size;
	uint64_t time_ns;
};

struct ppjit_text {
	const char *data;
	size_t size;
};

/* What goes into the records of one load. */
struct ppjit_code {
	const struct polyperf_jit_load_info *load;
	struct ppjit_text name;
	const uint8_t *code;
	uint64_t readable_bytes; /* of the code; what is behind them is written as zeros */
	uint64_t code_bytes;     /* what the record holds: the size, or 0 */
	uint64_t index;
	uint32_t pid;
	uint32_t tid;
	uint32_t os_pid; /* for ppjit_copy() */
	bool may_vanish;
	bool has_vanished; /* out: the code could not be read after all */
};

void ppjit_encode_load(struct ppjit_out *out, struct ppjit_code *what);

struct ppjit_method {
	const struct polyperf_jit_method_info *method;
	struct ppjit_text name;
	uint32_t pid;
	uint32_t tid;
};

void ppjit_encode_method(struct ppjit_out *out, const struct ppjit_method *what);

struct ppjit_move {
	uint64_t old_address; /* UNLOAD: where the code was */
	uint64_t new_address;
	uint64_t size;
	uint64_t index;
	uint32_t pid;
	uint32_t tid;
};

void ppjit_encode_move(struct ppjit_out *out, const struct ppjit_move *what);
void ppjit_encode_unload(struct ppjit_out *out, const struct ppjit_move *what);

/* What is usable of a name: up to its first NUL, at most as long as readers believe. */
struct ppjit_text ppjit_name(const char *name, size_t size);

#endif
