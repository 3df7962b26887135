/* writer.h - the parts of a perf.data file, as bytes.
 *
 * A file is: header (with the sections' places), attrs with their ids, data
 * (records), feature sections. The caller writes data as it comes, then patches
 * the header. These calls only make bytes; who owns the file descriptor keeps
 * the offsets.
 *
 *   struct perfdata_layout layout = perfdata_begin(&out, events, event_count);
 *   ... write `out`, then records, to the file; set layout.data_size ...
 *   perfdata_features(&out, &layout, layout.data_offset + layout.data_size, features, count);
 *   ... write `out` behind the records ...
 *   perfdata_header(&out, &layout);
 *   ... write `out` over the first bytes of the file ...
 *
 * All numbers are in host byte order. A call without memory marks the sink as
 * failed. Texts too long for a record are cut.
 */
#ifndef FORMAT_PERFDATA_WRITER_H
#define FORMAT_PERFDATA_WRITER_H

#include "base/sink.h"
#include "format/perfdata/layout.h"

#include <stdint.h>

/* Attr fields that stock perf may not know yet are left out where they are 0,
 * since perf opens no file with attrs larger than its own.
 */
struct perfdata_new_event {
	const void *attr; /* a struct perf_event_attr of attr_size bytes, host order */
	uint32_t attr_size;
	const uint64_t *ids;
	size_t id_count;
	const char *name;
};

struct perfdata_layout {
	uint64_t attrs_offset;
	uint64_t attrs_size;
	uint64_t attr_entry_size;
	uint64_t data_offset; /* where the first record goes */
	uint64_t data_size;   /* set by the caller when all records are written */
	uint64_t feature_bits[4];
};

/* Header (data_size 0: an interrupted file still tells where data starts), ids and attrs. */
struct perfdata_layout perfdata_begin(struct sink *out, const struct perfdata_new_event *events,
				      size_t event_count);
/* The same for events copied from another file: zero words at an attr's end stay. */
struct perfdata_layout perfdata_begin_copy(struct sink *out,
					   const struct perfdata_new_event *events,
					   size_t event_count);

/* The header alone, to be written over the first bytes of the file. */
void perfdata_header(struct sink *out, const struct perfdata_layout *layout);

enum { PERFDATA_HEADER_SIZE = 104 };

/* Feature sections follow the data. Fill each `content` (it starts empty; the
 * caller owns and clears it), then perfdata_features() writes the table and
 * them, in the order perf asks for, for a file whose data end at `offset`, and
 * sets layout->feature_bits. Of a feature given twice the first counts.
 */
struct perfdata_new_feature {
	unsigned feature;
	struct sink content;
};
void perfdata_features(struct sink *out, struct perfdata_layout *layout, uint64_t offset,
		       const struct perfdata_new_feature *features, size_t count);

/* Contents of single sections. */
void perfdata_put_text(struct sink *content, const char *text);
void perfdata_put_cmdline(struct sink *content, const char *const *args, size_t count);
void perfdata_put_event_desc(struct sink *content, const struct perfdata_new_event *events,
			     size_t event_count);
void perfdata_put_build_id(struct sink *content, uint16_t misc, int32_t pid, struct bytes build_id,
			   const char *path);
void perfdata_put_clock_data(struct sink *content, uint32_t clockid, uint64_t wall_clock_ns,
			     uint64_t clockid_ns);

void perfdata_put_clock_resolution(struct sink *content, uint64_t resolution_ns); /* CLOCKID */
void perfdata_put_nrcpus(struct sink *content, uint32_t online, uint32_t available);
void perfdata_put_total_memory(struct sink *content, uint64_t kib);
void perfdata_put_sample_time(struct sink *content, uint64_t first_ns, uint64_t last_ns);
/* `block_bytes`: the most that was ever given to perfdata_compress() at once. Perf's
 * readers unpack into a buffer of that size. `ratio`: unpacked to packed, rounded.
 */
void perfdata_put_compressed_feature(struct sink *content, uint32_t level, uint32_t ratio,
				     uint32_t block_bytes);

/* The sample_id trailer of a synthesized record, in the order sample_type asks for. */
struct perfdata_new_id {
	uint64_t sample_type;
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t id;
	uint32_t cpu;
};

struct perfdata_new_mmap2 {
	uint32_t pid;
	uint32_t tid;
	uint64_t start_avma;
	uint64_t size;
	uint64_t file_off;
	uint32_t maj;
	uint32_t min;
	uint64_t inode;
	uint64_t inode_generation;
	struct bytes build_id; /* up to 20 bytes; where given it replaces maj..generation */
	uint32_t prot;
	uint32_t flags;
	uint16_t misc;
	const char *path;
};

/* Whole records, appended to `out`. `id` may be NULL where the attrs have no sample_id_all. */
void perfdata_put_mmap2(struct sink *out, const struct perfdata_new_mmap2 *map,
			const struct perfdata_new_id *id);
/* The kernel's own mapping, or a module: an MMAP record of pid -1. */
void perfdata_put_kernel_mmap(struct sink *out, uint64_t start_avma, uint64_t size,
			      uint64_t file_off, const char *path,
			      const struct perfdata_new_id *id);
void perfdata_put_comm(struct sink *out, uint32_t pid, uint32_t tid, const char *comm,
		       const struct perfdata_new_id *id);
void perfdata_put_fork(struct sink *out, uint32_t pid, uint32_t parent_pid, uint32_t tid,
		       uint32_t parent_tid, const struct perfdata_new_id *id);
void perfdata_put_namespaces(struct sink *out, uint32_t pid, uint32_t tid,
			     const uint64_t (*dev_inode)[2], size_t count,
			     const struct perfdata_new_id *id);
void perfdata_put_ksymbol(struct sink *out, uint64_t start_avma, uint32_t size, uint16_t kind,
			  const char *name, const struct perfdata_new_id *id);
void perfdata_put_lost_samples(struct sink *out, uint64_t count, const struct perfdata_new_id *id);
void perfdata_put_time_conv(struct sink *out, uint64_t shift, uint64_t mult, uint64_t zero);
void perfdata_put_finished_round(struct sink *out);
void perfdata_put_bpf_event(struct sink *out, uint16_t kind, uint32_t program_id,
			    const uint8_t tag[8], const struct perfdata_new_id *id);
void perfdata_put_cgroup(struct sink *out, uint64_t cgroup, const char *path,
			 const struct perfdata_new_id *id);
void perfdata_put_exit(struct sink *out, uint32_t pid, uint32_t parent_pid, uint32_t tid,
		       uint32_t parent_tid, const struct perfdata_new_id *id);
/* The trailer alone, for records the caller makes. */
void perfdata_put_id(struct sink *out, const struct perfdata_new_id *id);

/* Pipe mode: a short header, then what a file has around its records as records among them:
 * attrs first, then what names them and what the features say.
 */
enum { PERFDATA_FEATURE_RECORD_LIMIT = 65535 - 16 }; /* bytes of a feature that fit into a record */
void perfdata_put_pipe_header(struct sink *out);
/* An attr is made at least as long as in perf 5.13 to 6.2: these take what lies behind an attr of
 * their own size for the ids. False if the ids do not fit into a record.
 */
bool perfdata_put_header_attr(struct sink *out, const struct perfdata_new_event *event);
void perfdata_put_event_name(struct sink *out, uint64_t id, const char *name);
/* False if it is too large, and nothing is written. */
bool perfdata_put_header_feature(struct sink *out, unsigned feature, struct bytes content);
/* `content` as of the feature TRACING_DATA. */
bool perfdata_put_tracing_data(struct sink *out, struct bytes content);

/* Packs records into COMPRESSED records: one zstd stream from the first call to
 * the last, so the pieces must stay in order and none may be missing. Everything
 * given is in `out` when the call returns; every piece can be unpacked alone by a
 * reader that has those before.
 */
struct perfdata_compressor;

/* Level 1 to 22; 0 is zstd's default. Returns 0 or NO_MEMORY. */
int perfdata_compressor_open(struct perfdata_compressor **compressor, int level);
void perfdata_compressor_close(struct perfdata_compressor *compressor);

/* Returns 0, or NO_MEMORY, after which the stream is broken. */
int perfdata_compress(struct perfdata_compressor *compressor, struct bytes records,
		      struct sink *out);

#endif
