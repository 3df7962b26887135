/* perfdata_internal.h - what the files of this folder share. Not to be included elsewhere. */
#ifndef FORMAT_PERFDATA_PERFDATA_INTERNAL_H
#define FORMAT_PERFDATA_PERFDATA_INTERNAL_H

#include "base/arena.h"
#include "base/vector.h"
#include "format/perfdata/reader.h"
#include "format/perfdata/records.h"

enum { SHAPE_NONE = 0xffff };

/* Where things are in the samples and trailers of an event; made once from its attr. */
struct perfdata_shape {
	uint16_t fixed_size;          /* a sample's fields before READ */
	uint16_t sample_id_at;        /* or SHAPE_NONE */
	uint16_t sample_time_at;      /* or SHAPE_NONE */
	uint16_t trailer_size;        /* 0 without sample_id_all */
	uint16_t trailer_id_from_end; /* or SHAPE_NONE */
	uint16_t trailer_time_at;     /* or SHAPE_NONE */
};

struct perfdata_source {
	struct perfdata_event event;
	struct perfdata_shape shape;
	uint64_t default_period;
	size_t index;
};

/* Sources live in the arena, so that pointers to their events stay good. */
struct perfdata_source_ref {
	struct perfdata_source *source;
};

struct perfdata_id_slot {
	uint64_t id;
	struct perfdata_source *source; /* NULL: free */
};

struct perfdata_problem_kind {
	struct perfdata_problem problem;
	uint64_t last_ordinal; /* the record it was counted for last */
};

struct perfdata_inflate;

struct perfdata {
	struct bytes in;
	const uint8_t *pos;
	const uint8_t *end; /* of the records, as far as known */
	uint64_t ordinal;
	bool swap;
	bool big_endian;
	bool pipe;
	bool interrupted;
	bool compressed;                  /* said so, or seen */
	bool has_odd_sizes;               /* compressed records were seen in this pass */
	bool at_end;                      /* of this pass */
	struct perfdata_inflate *inflate; /* NULL before the first compressed record */
	bool inflating;                   /* the current outer record may still give records */

	VECTOR(struct perfdata_source_ref) sources;
	const struct perfdata_source *only; /* the source, if there is just one */
	struct perfdata_id_slot *id_slots;
	size_t id_slot_count; /* a power of two, or 0 */
	size_t id_count;
	unsigned sample_id_words; /* bit n: ids of some event's samples are at 8 * n */
	unsigned
	    trailer_id_words;  /* bit n: ids of some event's trailers are 8 * n before the end */
	uint16_t trailer_size; /* of all events, or SHAPE_NONE where they differ */
	const struct perfdata_source
	    *without_id; /* the first one whose samples have none, or NULL */

	const uint8_t *data_begin;
	uint64_t end_offset;
	uint64_t learned_ordinal; /* what records up to here teach is known */
	struct bytes features[PERFDATA_FEATURE_LIMIT];
	uint64_t feature_bits[PERFDATA_FEATURE_LIMIT / 64];
	uint8_t *build_ids; /* of a pipe: the feature BUILD_ID, and room for it to grow */
	size_t build_id_capacity;
	VECTOR(const char *) cmdline;
	uint64_t *chain_scratch; /* a swapped callchain */
	VECTOR(struct perfdata_problem_kind) problems;
	struct arena arena;
};

static inline uint64_t perfdata_load64(const uint8_t *at, bool swap)
{
	uint64_t value;
	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

static inline uint32_t perfdata_load32(const uint8_t *at, bool swap)
{
	uint32_t value;
	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

static inline uint16_t perfdata_load16(const uint8_t *at, bool swap)
{
	uint16_t value;
	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap16(value) : value;
}

static inline uint64_t perfdata_get64(const struct perfdata *file, const uint8_t *at)
{
	return perfdata_load64(at, file->swap);
}

static inline uint32_t perfdata_get32(const struct perfdata *file, const uint8_t *at)
{
	return perfdata_load32(at, file->swap);
}

static inline uint16_t perfdata_get16(const struct perfdata *file, const uint8_t *at)
{
	return perfdata_load16(at, file->swap);
}

static inline struct cursor perfdata_cursor(const struct perfdata *file, struct bytes in)
{
	struct cursor c = cursor_over(in);
	c.swap = file->swap;
	return c;
}

/* problems.c: counts a problem; returns `status`, to be passed on. */
int perfdata_note(struct perfdata *file, uint32_t type, uint64_t offset, int status,
		  const char *what);
int perfdata_note_record(struct perfdata *file, const struct perfdata_record *record, int status,
			 const char *what);

/* header.c: fills the file's places, events and features from its first bytes. */
int perfdata_read_header(struct perfdata *file, uint64_t *error_offset);

/* attr.c */
void perfdata_read_attr(const struct perfdata *file, struct bytes in, struct perfdata_attr *attr);
const char *perfdata_make_name(struct arena *arena, const struct perfdata_attr *attr);

/* events.c: the id array is copied, `raw` (the attr's bytes) must stay. Returns 0 or NO_MEMORY. */
int perfdata_add_event(struct perfdata *file, const struct perfdata_attr *attr, struct bytes raw,
		       struct bytes ids);
struct perfdata_source *perfdata_find_id(const struct perfdata *file, uint64_t id);
const struct perfdata_source *perfdata_source_by_sample_id(const struct perfdata *file,
							   struct bytes body);
const struct perfdata_source *perfdata_source_by_trailer_id(const struct perfdata *file,
							    struct bytes body);
void perfdata_set_name(struct perfdata *file, struct perfdata_source *source, struct bytes name);

/* The event that a record belongs to, or NULL. */
static inline const struct perfdata_source *perfdata_source_of_sample(const struct perfdata *file,
								      struct bytes body)
{
	return file->only ? file->only : perfdata_source_by_sample_id(file, body);
}

static inline const struct perfdata_source *perfdata_source_of_trailer(const struct perfdata *file,
								       struct bytes body)
{
	return file->only ? file->only : perfdata_source_by_trailer_id(file, body);
}

static inline void perfdata_set_feature(struct perfdata *file, unsigned feature,
					struct bytes content)
{
	file->features[feature] = content;
	file->feature_bits[feature / 64] |= 1ull << (feature % 64);
}

/* features.c: takes names from EVENT_DESC and arguments from CMDLINE. */
void perfdata_learn_feature(struct perfdata *file, unsigned feature, struct bytes content);

/* learn.c: what HEADER_ATTR, EVENT_UPDATE, HEADER_FEATURE and HEADER_BUILD_ID records tell. */
int perfdata_learn(struct perfdata *file, const struct perfdata_record *record);
/* What follows a HEADER_TRACING_DATA record. */
void perfdata_learn_tracing_data(struct perfdata *file, struct bytes content);

/* inflate.c: feeds one COMPRESSED record; then perfdata_inflate_next() gives what is in it. */
int perfdata_inflate_feed(struct perfdata *file, const struct perfdata_record *outer);
int perfdata_inflate_next(struct perfdata *file, struct perfdata_record *record);
void perfdata_inflate_rewind(struct perfdata_inflate *inflate);
void perfdata_inflate_free(struct perfdata_inflate *inflate);
/* True if a record was begun and the input gave no end of it. */
bool perfdata_inflate_pending(const struct perfdata_inflate *inflate);

/* trailer.c: splits a record of the kernel into `body` and the trailer behind it. */
void perfdata_split_trailer(const struct perfdata *file, const struct perfdata_record *record,
			    struct cursor *body, struct perfdata_sample_id *id);

/* sample_tail.c: reads the fields behind the fixed ones; `extra` may be NULL. */
int perfdata_decode_tail(struct perfdata *file, const struct perfdata_attr *attr,
			 struct bytes bytes, struct perfdata_sample *sample,
			 struct perfdata_sample_extra *extra);

/* sample.c: `count` words at `at` in host byte order; NULL without memory. */
const uint8_t *perfdata_chain(struct perfdata *file, const uint8_t *at, size_t count);

/* reader.c: true if a record of a known type and of at most `left` bytes may begin
 * here. Unless `left` says that they are missing, 8 bytes must be readable.
 */
bool perfdata_plausible(const struct perfdata *file, const uint8_t *at, size_t left);

#endif
