/* wire.h - perf.data bytes for tests, in either byte order, made without the
 * code under test.
 *
 *   struct wire w = { .swap = true };
 *   wire_begin(&w, events, count);
 *   const size_t at = wire_record(&w, PERFDATA_COMM, 0);
 *   wire_u32(&w, pid);
 *   ...
 *   wire_end_record(&w, at);
 *   struct bytes file = wire_finish(&w);    a copy of exact size
 *   free((void *)file.data);
 *   wire_clear(&w);
 */
#ifndef TESTS_FORMAT_PERFDATA_WIRE_H
#define TESTS_FORMAT_PERFDATA_WIRE_H

#include "base/sink.h"
#include "format/perfdata/features.h"
#include "format/perfdata/records.h"

struct wire_event {
	uint32_t type;
	uint32_t attr_size; /* 0: 136 */
	uint64_t config;
	uint64_t sample_period;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags;
	uint64_t branch_sample_type;
	uint64_t regs_user;
	uint64_t regs_intr;
	const uint64_t *ids;
	size_t id_count;
};

struct wire {
	struct sink out;
	bool swap; /* write the other byte order */
	size_t data_at;
	size_t table_at; /* of the feature sections */
	size_t feature_count;
	uint64_t feature_bits[4];
};

void wire_u8(struct wire *w, uint8_t value);
void wire_u16(struct wire *w, uint16_t value);
void wire_u32(struct wire *w, uint32_t value);
void wire_u64(struct wire *w, uint64_t value);
void wire_put(struct wire *w, const void *data, size_t size);
void wire_text(struct wire *w, const char *text); /* with NUL, padded to 8 */
void wire_attr(struct wire *w, const struct wire_event *event);

void wire_begin(struct wire *w, const struct wire_event *events, size_t count);
void wire_begin_pipe(struct wire *w);

size_t wire_record(struct wire *w, uint32_t type, uint16_t misc);
void wire_end_record(struct wire *w, size_t at);
void wire_trailer(struct wire *w, uint64_t sample_type, const struct perfdata_sample_id *id);

/* The records are complete: features follow, in ascending order, each given before it is filled. */
void wire_end_data(struct wire *w, const unsigned *features, size_t count);
void wire_feature(struct wire *w);     /* the next one begins here */
void wire_end_feature(struct wire *w); /* and ends here */
void wire_string(struct wire *w, const char *text, size_t padded_size);

/* What was written, copied to memory of exactly its size. */
struct bytes wire_finish(const struct wire *w);
void wire_clear(struct wire *w);

/* Another copy, of the first `size` bytes; both are freed with wire_free(). */
struct bytes wire_copy(struct bytes in, size_t size);
void wire_free(struct bytes bytes);

/* A file from tests/data/perfdata. Fails the test if it is not there. */
struct bytes wire_load(const char *name);

#endif
