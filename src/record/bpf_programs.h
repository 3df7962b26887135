/* bpf_programs.h - what the recording keeps of the BPF programs that were loaded while it ran.
 *
 *   struct bpf_programs programs = { 0 };
 *   bpf_programs_find(&programs);            all that are there: at the start, and at the end
 *   bpf_programs_take(&programs, id);        one that the sideband tells of
 *   bpf_programs_put_events(&programs, &out, sample_type);
 *   bpf_programs_put(&programs, &info, &btf);
 *   bpf_programs_clear(&programs);
 *
 * Of each: code, addresses of its functions and of its lines, and the BTF that has the lines'
 * text. A program's information dies with it, so that it is asked for at once; one that was gone
 * before it could be asked is counted. Which will have samples nobody knows, so all are kept, up
 * to a limit in bytes; usual ones have 2 to 50 KB. Whoever may not ask gets none, which is no
 * error. One thread.
 */
#ifndef RECORD_BPF_PROGRAMS_H
#define RECORD_BPF_PROGRAMS_H

#include "base/idmap.h"
#include "base/sink.h"
#include "base/vector.h"

enum { BPF_PROGRAMS_BYTES = 256 << 20 };

struct bpf_known_program {
	uint32_t id;
	uint8_t tag[8];
};

struct bpf_programs {
	struct idmap known_programs;
	struct idmap known_btfs;
	VECTOR(struct bpf_known_program) list;
	struct sink infos; /* entries of BPF_PROG_INFO, behind their count */
	struct sink btfs;  /* and of BPF_BTF */
	uint32_t info_count;
	uint32_t btf_count;
	uint64_t gone_count; /* programs that were told of, and had left */
	uint64_t over_count; /* programs and BTF that are too large to be kept, or came too late */
	bool is_denied;
};

void bpf_programs_find(struct bpf_programs *programs);
void bpf_programs_take(struct bpf_programs *programs, uint32_t id);

/* BPF_EVENT records, as the kernel would have told of the programs that bpf_programs_find() found:
 * perf joins addresses to programs by these.
 */
void bpf_programs_put_events(const struct bpf_programs *programs, struct sink *out,
			     uint64_t sample_type);

/* The contents of both features. */
void bpf_programs_put(const struct bpf_programs *programs, struct sink *infos, struct sink *btfs);

void bpf_programs_clear(struct bpf_programs *programs);

#endif
