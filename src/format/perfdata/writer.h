/* writer.h - the parts of a perf.data file, as bytes.
 *
 * A file is: header (with the sections' places), attrs with their ids, data
 * (records), feature sections. The caller writes data as it comes, then patches
 * the header. These calls only make bytes; who owns the file descriptor keeps
 * the offsets.
 *
 *   struct perfdata_layout layout = perfdata_begin(&out, events, event_count);
 *   ... write out, then records ...
 *   perfdata_features_begin / _add / _end
 *   perfdata_header(&out, &layout)
 */
#ifndef FORMAT_PERFDATA_WRITER_H
#define FORMAT_PERFDATA_WRITER_H

#include "base/sink.h"
#include "format/perfdata/layout.h"

#include <stdint.h>

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

/* The header alone, to be written over the first bytes of the file. */
void perfdata_header(struct sink *out, const struct perfdata_layout *layout);

enum { PERFDATA_HEADER_SIZE = 104 };

/* Feature sections follow the data. Fill `sections` (each starts empty; the
 * caller owns and clears them), then perfdata_features() writes the table and
 * them, for a file whose data end at `offset`, and sets layout->feature_bits.
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

/* Whole records, appended to `out`. */
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

#endif
