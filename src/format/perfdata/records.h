/* records.h - what the records of perf.data say, decoded one kind at a time.
 *
 *   struct perfdata_mmap map;
 *   if (perfdata_decode_mmap(file, &record, &map) == 0)
 *           use(&map);
 *
 * Each decoder takes records of its kinds only, returns 0 or STATUS_TRUNCATED
 * or STATUS_CORRUPT (STATUS_NOT_FOUND for a sample of an event that no attr
 * speaks of), counts that among the reader's problems, and allocates nothing.
 * Strings and bytes point into the record's body. `id` is the sample_id trailer
 * (all zero where the attrs have no sample_id_all): its time_ns is the record's
 * time. After a failure what was to be filled holds nothing of use.
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
	/* What it tried to copy: where that is more, the stack's memory ended there. */
	uint64_t user_stack_wanted_bytes;
	uint64_t cgroup;
};

/* What a sample has besides and is seldom asked for. Bytes are in file byte order. */
struct perfdata_sample_extra {
	size_t event;
	struct bytes read;     /* counter values: see perfdata_sample_read() */
	struct bytes branches; /* 24 bytes each: from, to, flags */
	uint64_t stream_id;
	uint64_t weight;
	uint64_t data_src;
	uint64_t transaction;
	uint64_t intr_regs_abi;
	uint64_t intr_regs_mask;
	struct bytes intr_regs;
	uint64_t phys_addr;
	uint64_t data_page_size;
	uint64_t code_page_size;
	struct bytes aux;
};

/* One counter of PERF_SAMPLE_READ: the event's own, or one of its group. */
struct perfdata_read_value {
	uint64_t value;
	uint64_t id;   /* 0 if not told */
	uint64_t lost; /* 0 if not told */
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

/* AUX: new data in the trace buffer, which itself comes in AUXTRACE records. */
struct perfdata_aux {
	struct perfdata_sample_id id;
	uint64_t offset;
	uint64_t size;
	uint64_t flags;
};

/* THROTTLE and UNTHROTTLE: sampling was too fast and stood still between them. */
struct perfdata_throttle {
	struct perfdata_sample_id id;
	uint64_t time_ns;
	uint64_t event_id;
};

/* SWITCH and SWITCH_CPU_WIDE. */
struct perfdata_switch {
	struct perfdata_sample_id id;
	uint32_t other_pid; /* next (out) or previous (in); 0 in SWITCH */
	uint32_t other_tid;
	bool is_out;
	bool is_preempt;
};

/* The user part of an earlier sample's chain, which has the cookie behind
 * PERFDATA_CONTEXT_USER_DEFERRED.
 */
struct perfdata_deferred_chain {
	struct perfdata_sample_id id;
	uint64_t cookie;
	const uint8_t *chain; /* as in struct perfdata_sample */
	size_t chain_count;
};

/* One entry of ID_INDEX. */
struct perfdata_id_entry {
	uint64_t id;
	uint64_t ring; /* number of the buffer its records went through */
	uint64_t cpu;  /* UINT64_MAX: any */
	uint64_t tid;
};

int perfdata_decode_sample(struct perfdata *, const struct perfdata_record *,
			   struct perfdata_sample *);
int perfdata_decode_sample_extra(struct perfdata *, const struct perfdata_record *,
				 struct perfdata_sample_extra *);
/* Counter `index` of a sample: 0, or NOT_FOUND past the last. */
int perfdata_sample_read(const struct perfdata *, const struct perfdata_sample_extra *,
			 size_t index, struct perfdata_read_value *);
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

int perfdata_decode_aux(struct perfdata *, const struct perfdata_record *, struct perfdata_aux *);
int perfdata_decode_throttle(struct perfdata *, const struct perfdata_record *,
			     struct perfdata_throttle *);
int perfdata_decode_switch(struct perfdata *, const struct perfdata_record *,
			   struct perfdata_switch *);
int perfdata_decode_deferred_chain(struct perfdata *, const struct perfdata_record *,
				   struct perfdata_deferred_chain *);

/* Entry `index` of an ID_INDEX record: 0, NOT_FOUND past the last, or TRUNCATED. */
int perfdata_decode_id_entry(struct perfdata *, const struct perfdata_record *, size_t index,
			     struct perfdata_id_entry *);

/* The time of any record that carries one, or 0. Cheap: reads the trailer only. */
uint64_t perfdata_record_time_ns(struct perfdata *, const struct perfdata_record *);

/* A static name such as "MMAP2", or "unknown". */
const char *perfdata_record_name(uint32_t type);

#endif
