/* recording.h - small recordings for tests: a perf.data file made record by record,
 * and a folder with dumps and maps beside it.
 *
 *   struct recording r;
 *   recording_begin(&r);
 *   recording_mmap(&r, 7, 100, 0x1000, 0x1000, "//anon");
 *   recording_sample(&r, 7, 7, 200, (uint64_t[]){ 0x1010 }, 1);
 *   recording_finish(&r);              r.path is the file
 *   recording_remove(&r);
 */
#ifndef TESTS_LOAD_RECORDING_H
#define TESTS_LOAD_RECORDING_H

#include "base/sink.h"
#include "format/perfdata/writer.h"

struct recording {
	char dir[64];
	char path[96];
	struct sink out;
	struct perfdata_layout layout;
	uint64_t sample_type;
	const char *version; /* of the program that recorded it; NULL: it does not say */
};

void recording_begin(struct recording *r);
void recording_mmap(struct recording *r, uint32_t pid, uint64_t time_ns, uint64_t start,
		    uint64_t size, const char *path);
void recording_comm(struct recording *r, uint32_t pid, uint64_t time_ns, const char *comm,
		    bool is_exec);
void recording_fork(struct recording *r, uint32_t parent, uint32_t pid, uint64_t time_ns);
/* `chain` leaf first, all in user mode; period 1. */
void recording_sample(struct recording *r, uint32_t pid, uint32_t tid, uint64_t time_ns,
		      const uint64_t *chain, size_t count);
void recording_round(struct recording *r);
void recording_finish(struct recording *r);

/* A file beside the recording. */
void recording_file(struct recording *r, const char *name, struct bytes content);
/* The zip at its end, after recording_finish(). */
struct recording_member {
	const char *name;
	struct bytes content;
};
void recording_members(struct recording *r, const struct recording_member *members, size_t count);
void recording_remove(struct recording *r);

/* Jitdump bytes: header of `pid`, then LOAD records. */
void dump_begin(struct sink *dump, uint32_t pid);
void dump_load(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t size,
	       const char *name);
void dump_move(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t from, uint64_t to,
	       uint64_t size);

#endif
