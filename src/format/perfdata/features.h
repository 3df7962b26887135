/* features.h - the feature sections of perf.data, decoded.
 *
 *   struct perfdata_build_id id;
 *   struct cursor c = perfdata_build_ids(file);
 *   while (perfdata_build_id_next(&c, &id) > 0)
 *           ...
 */
#ifndef FORMAT_PERFDATA_FEATURES_H
#define FORMAT_PERFDATA_FEATURES_H

#include "format/perfdata/reader.h"

struct perfdata_build_id {
	uint16_t misc;
	int32_t pid;           /* -1: host, for any process */
	struct bytes build_id; /* up to 20 bytes */
	const char *path;
};

/* Covers the BUILD_ID feature; HEADER_BUILD_ID records of pipe mode decode with the same call. */
struct cursor perfdata_build_ids(const struct perfdata *file);
int perfdata_build_id_next(struct cursor *c, struct perfdata_build_id *id);
int perfdata_decode_build_id(struct perfdata *, const struct perfdata_record *,
			     struct perfdata_build_id *);

/* Text of HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID; "" if not there. */
const char *perfdata_feature_text(const struct perfdata *file, unsigned feature);

/* CMDLINE: argument `index`, or NULL past the last. */
const char *perfdata_cmdline(const struct perfdata *file, size_t index);

struct perfdata_clock_data {
	uint32_t clockid;
	uint64_t wall_clock_ns; /* CLOCK_REALTIME ... */
	uint64_t clockid_ns;    /* ... read together with the recording's clock */
};

struct perfdata_compression {
	uint32_t version;
	uint32_t kind; /* PERFDATA_COMPRESSION_ZSTD */
	uint32_t level;
	uint32_t ratio;
	uint32_t block_bytes; /* at most so much is in one compressed record, unpacked */
};

/* Each returns 0, STATUS_NOT_FOUND or STATUS_CORRUPT. */
int perfdata_clock_data(const struct perfdata *file, struct perfdata_clock_data *data);
int perfdata_sample_time(const struct perfdata *file, uint64_t *first_ns, uint64_t *last_ns);
int perfdata_clock_resolution(const struct perfdata *file, uint64_t *resolution_ns);
int perfdata_total_memory(const struct perfdata *file, uint64_t *kib);
int perfdata_compression(const struct perfdata *file, struct perfdata_compression *compression);
int perfdata_cpu_count(const struct perfdata *file, uint32_t *online, uint32_t *available);

#endif
