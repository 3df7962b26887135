/* records.h - what the records of perf.data say, decoded one kind at a time.
 *
 *   struct perfdata_mmap map;
 *   if (perfdata_decode_mmap(file, &record, &map) == 0)
 *           use(&map);
 *
 * Each decoder takes records of its kinds only, returns 0 or STATUS_TRUNCATED
 * or STATUS_CORRUPT, and allocates nothing. Strings and bytes point into the
 * record's body. `id` is the sample_id trailer (all zero where the attrs have
 * no sample_id_all): its time_ns is the record's time.
 */
#ifndef FORMAT_PERFDATA_RECORDS_H
#define FORMAT_PERFDATA_RECORDS_H

#include "format/perfdata/reader.h"

struct perfdata_sample_id {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns; /* in the recording's clock */
	uint64_t id;
	uint32_t cpu;
	uint64_t present; /* PERFDATA_SAMPLE_* bits that were there */
};

/* Only what the event's sample_type has is filled; the rest is zero. */
struct perfdata_sample {
	uint64_t present; /* the event's sample_type */
	size_t event;     /* index for perfdata_event() */
	uint8_t cpumode;  /* enum perfdata_cpumode */
	uint64_t ip_avma;
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t addr;
	uint64_t id;
	uint32_t cpu;
	uint64_t period; /* attr.sample_period where samples carry none */
	/* `chain_count` words in host byte order, unaligned; context marks included.
	 * Points into the record, or (other byte order) into the reader until the next decode.
	 */
	const uint8_t *chain;
	size_t chain_count;
	struct bytes raw;
	uint64_t user_regs_abi;  /* 0: none, 1: 32-bit, 2: 64-bit */
	uint64_t user_regs_mask; /* which registers user_regs holds, ascending */
	struct bytes user_regs;  /* 8 bytes each, file byte order */
	struct bytes user_stack; /* only the part the kernel could copy */
	uint64_t cgroup;
};

struct perfdata_mmap {
	struct perfdata_sample_id id;
	uint32_t pid;
	uint32_t tid;
	uint64_t start_avma;
	uint64_t size;
	uint64_t file_off;
	uint32_t prot;  /* PROT_*; 0 in old MMAP records: see is_exec */
	uint32_t flags; /* MAP_* */
	uint32_t maj;
	uint32_t min;
	uint64_t inode;
	uint64_t inode_generation;
	struct bytes build_id; /* empty where the record has none */
	const char *path;
	bool is_exec;
	bool is_kernel; /* the kernel, a module: pid is -1 */
};

struct perfdata_comm {
	struct perfdata_sample_id id;
	uint32_t pid;
	uint32_t tid;
	const char *comm;
	bool is_exec;
};

/* FORK and EXIT. */
struct perfdata_task {
	struct perfdata_sample_id id;
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t tid;
	uint32_t parent_tid;
	uint64_t time_ns; /* the record's own; the trailer's may be missing */
};

/* LOST and LOST_SAMPLES. */
struct perfdata_lost {
	struct perfdata_sample_id id;
	uint64_t event_id; /* 0 in LOST_SAMPLES */
	uint64_t count;
};

struct perfdata_ksymbol {
	struct perfdata_sample_id id;
	uint64_t start_avma;
	uint32_t size;
	uint16_t kind; /* 1: BPF, 2: out-of-line code such as trampolines */
	bool is_unregister;
	const char *name;
};

struct perfdata_bpf_event {
	struct perfdata_sample_id id;
	uint16_t kind; /* 1: loaded, 2: unloaded */
	uint32_t program_id;
	uint8_t tag[8];
};

enum { PERFDATA_NAMESPACE_LIMIT = 16 };

struct perfdata_namespaces {
	struct perfdata_sample_id id;
	uint32_t pid;
	uint32_t tid;
	size_t count;
	struct {
		uint64_t dev;
		uint64_t inode;
	} links[PERFDATA_NAMESPACE_LIMIT]; /* net, uts, ipc, pid, user, mnt, cgroup, time */
};

struct perfdata_cgroup {
	struct perfdata_sample_id id;
	uint64_t cgroup;
	const char *path;
};

struct perfdata_text_poke {
	struct perfdata_sample_id id;
	uint64_t avma;
	struct bytes old_code;
	struct bytes new_code;
};

/* How TSC stamps become nanoseconds: ns = zero + (tsc * mult >> shift), see the
 * kernel's perf_event_mmap_page.
 */
struct perfdata_time_conv {
	uint64_t shift;
	uint64_t mult;
	uint64_t zero;
	uint64_t cycles; /* the last three only where cap_short */
	uint64_t mask;
	bool cap_zero;
	bool cap_short;
};

int perfdata_decode_sample(struct perfdata *, const struct perfdata_record *,
			   struct perfdata_sample *);
int perfdata_decode_mmap(struct perfdata *, const struct perfdata_record *, struct perfdata_mmap *);
int perfdata_decode_comm(struct perfdata *, const struct perfdata_record *, struct perfdata_comm *);
int perfdata_decode_task(struct perfdata *, const struct perfdata_record *, struct perfdata_task *);
int perfdata_decode_lost(struct perfdata *, const struct perfdata_record *, struct perfdata_lost *);
int perfdata_decode_ksymbol(struct perfdata *, const struct perfdata_record *,
			    struct perfdata_ksymbol *);
int perfdata_decode_bpf_event(struct perfdata *, const struct perfdata_record *,
			      struct perfdata_bpf_event *);
int perfdata_decode_namespaces(struct perfdata *, const struct perfdata_record *,
			       struct perfdata_namespaces *);
int perfdata_decode_cgroup(struct perfdata *, const struct perfdata_record *,
			   struct perfdata_cgroup *);
int perfdata_decode_text_poke(struct perfdata *, const struct perfdata_record *,
			      struct perfdata_text_poke *);
int perfdata_decode_time_conv(struct perfdata *, const struct perfdata_record *,
			      struct perfdata_time_conv *);

/* The time of any record that carries one, or 0. Cheap: reads the trailer only. */
uint64_t perfdata_record_time_ns(struct perfdata *, const struct perfdata_record *);

/* A static name such as "MMAP2", or "type 99" in a static buffer's stead: "unknown". */
const char *perfdata_record_name(uint32_t type);

#endif
