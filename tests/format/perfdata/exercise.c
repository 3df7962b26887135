#include "format/perfdata/exercise.h"

#include "base/hash.h"
#include "format/perfdata/bpf.h"
#include "format/perfdata/features.h"
#include "format/perfdata/records.h"

/* Keeps reads of opaque bytes from being optimised away. */
static volatile uint8_t touched;

static void touch(struct bytes bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		touched ^= bytes.data[i];
}

static void mix(uint64_t *digest, uint64_t value)
{
	*digest = hash_mix(*digest, value);
}

static void mix_text(uint64_t *digest, const char *text)
{
	*digest = hash_bytes(text, strlen(text), *digest);
}

static void mix_bytes(uint64_t *digest, struct bytes bytes)
{
	*digest = bytes.size ? hash_bytes(bytes.data, bytes.size, *digest) : *digest + 1;
}

static void mix_id(uint64_t *digest, const struct perfdata_sample_id *id)
{
	mix(digest, id->pid);
	mix(digest, id->tid);
	mix(digest, id->time_ns);
	mix(digest, id->id);
	mix(digest, id->cpu);
	mix(digest, id->present);
}

static void mix_sample(uint64_t *digest, const struct perfdata_sample *sample)
{
	mix(digest, sample->present);
	mix(digest, sample->event);
	mix(digest, sample->cpumode);
	mix(digest, sample->ip_avma);
	mix(digest, sample->pid);
	mix(digest, sample->tid);
	mix(digest, sample->time_ns);
	mix(digest, sample->addr);
	mix(digest, sample->id);
	mix(digest, sample->cpu);
	mix(digest, sample->period);
	if (sample->chain_count)
		mix_bytes(digest, (struct bytes){ sample->chain, 8 * sample->chain_count });
	mix(digest, sample->raw.size);
	mix(digest, sample->user_regs_abi);
	mix(digest, sample->user_regs_mask);
	mix(digest, sample->user_regs.size);
	mix(digest, sample->user_stack.size);
	mix(digest, sample->cgroup);
	touch(sample->raw);
	touch(sample->user_regs);
	touch(sample->user_stack);
}

static void mix_extra(uint64_t *digest, const struct perfdata *file,
		      const struct perfdata_sample_extra *extra)
{
	struct perfdata_read_value value;
	for (size_t i = 0; perfdata_sample_read(file, extra, i, &value) == 0; i++) {
		mix(digest, value.value);
		mix(digest, value.id);
		mix(digest, value.lost);
	}
	mix(digest, extra->branches.size);
	mix(digest, extra->stream_id);
	mix(digest, extra->weight);
	mix(digest, extra->data_src);
	mix(digest, extra->transaction);
	mix(digest, extra->intr_regs_abi);
	mix(digest, extra->intr_regs_mask);
	mix(digest, extra->phys_addr);
	mix(digest, extra->data_page_size);
	mix(digest, extra->code_page_size);
	mix(digest, extra->aux.size);
	touch(extra->branches);
	touch(extra->intr_regs);
	touch(extra->aux);
}

/* One decoder each; they return true if the record was theirs and whole. */
#define EXERCISE(name, kind, fields)                                                             \
	static bool exercise_##name(struct perfdata *file, const struct perfdata_record *record, \
				    uint64_t *digest)                                            \
	{                                                                                        \
		struct perfdata_##kind it;                                                       \
		if (perfdata_decode_##name(file, record, &it) != 0)                              \
			return false;                                                            \
		fields;                                                                          \
		return true;                                                                     \
	}

EXERCISE(mmap, mmap,
	 (mix_id(digest, &it.id), mix(digest, it.pid), mix(digest, it.tid),
	  mix(digest, it.start_avma), mix(digest, it.size), mix(digest, it.file_off),
	  mix(digest, it.prot), mix(digest, it.flags), mix(digest, it.maj), mix(digest, it.min),
	  mix(digest, it.inode), mix(digest, it.inode_generation), mix_bytes(digest, it.build_id),
	  mix_text(digest, it.path), mix(digest, it.is_exec), mix(digest, it.is_kernel)))
EXERCISE(comm, comm,
	 (mix_id(digest, &it.id), mix(digest, it.pid), mix(digest, it.tid),
	  mix_text(digest, it.comm), mix(digest, it.is_exec)))
EXERCISE(task, task,
	 (mix_id(digest, &it.id), mix(digest, it.pid), mix(digest, it.parent_pid),
	  mix(digest, it.tid), mix(digest, it.parent_tid), mix(digest, it.time_ns)))
EXERCISE(lost, lost, (mix_id(digest, &it.id), mix(digest, it.event_id), mix(digest, it.count)))
EXERCISE(ksymbol, ksymbol,
	 (mix_id(digest, &it.id), mix(digest, it.start_avma), mix(digest, it.size),
	  mix(digest, it.kind), mix(digest, it.is_unregister), mix_text(digest, it.name)))
EXERCISE(bpf_event, bpf_event,
	 (mix_id(digest, &it.id), mix(digest, it.kind), mix(digest, it.program_id),
	  mix_bytes(digest, (struct bytes){ it.tag, sizeof(it.tag) })))
EXERCISE(cgroup, cgroup,
	 (mix_id(digest, &it.id), mix(digest, it.cgroup), mix_text(digest, it.path)))
EXERCISE(text_poke, text_poke,
	 (mix_id(digest, &it.id), mix(digest, it.avma), mix_bytes(digest, it.old_code),
	  mix_bytes(digest, it.new_code)))
EXERCISE(time_conv, time_conv,
	 (mix(digest, it.shift), mix(digest, it.mult), mix(digest, it.zero), mix(digest, it.cycles),
	  mix(digest, it.mask), mix(digest, it.cap_zero), mix(digest, it.cap_short)))
EXERCISE(aux, aux,
	 (mix_id(digest, &it.id), mix(digest, it.offset), mix(digest, it.size),
	  mix(digest, it.flags)))
EXERCISE(throttle, throttle,
	 (mix_id(digest, &it.id), mix(digest, it.time_ns), mix(digest, it.event_id)))
EXERCISE(switch, switch,
	 (mix_id(digest, &it.id), mix(digest, it.other_pid), mix(digest, it.other_tid),
	  mix(digest, it.is_out), mix(digest, it.is_preempt)))
EXERCISE(deferred_chain, deferred_chain,
	 (mix_id(digest, &it.id), mix(digest, it.cookie),
	  mix_bytes(digest, (struct bytes){ it.chain, 8 * it.chain_count })))
EXERCISE(build_id, build_id,
	 (mix(digest, (uint64_t)it.pid), mix_bytes(digest, it.build_id), mix_text(digest, it.path)))

static bool exercise_namespaces(struct perfdata *file, const struct perfdata_record *record,
				uint64_t *digest)
{
	struct perfdata_namespaces it;
	if (perfdata_decode_namespaces(file, record, &it) != 0)
		return false;
	mix_id(digest, &it.id);
	mix(digest, it.pid);
	mix(digest, it.tid);
	for (size_t i = 0; i < it.count; i++) {
		mix(digest, it.links[i].dev);
		mix(digest, it.links[i].inode);
	}
	return true;
}

static bool exercise_id_index(struct perfdata *file, const struct perfdata_record *record,
			      uint64_t *digest)
{
	struct perfdata_id_entry it;
	int status = 0;
	for (size_t i = 0; (status = perfdata_decode_id_entry(file, record, i, &it)) == 0; i++) {
		mix(digest, it.id);
		mix(digest, it.ring);
		mix(digest, it.cpu);
		mix(digest, it.tid);
	}
	return status == STATUS_NOT_FOUND;
}

static bool exercise_sample(struct perfdata *file, const struct perfdata_record *record,
			    uint64_t *digest)
{
	struct perfdata_sample sample;
	struct perfdata_sample_extra extra;
	if (perfdata_decode_sample(file, record, &sample) != 0)
		return false;
	mix_sample(digest, &sample);
	if (perfdata_decode_sample_extra(file, record, &extra) == 0)
		mix_extra(digest, file, &extra);
	return true;
}

typedef bool exercise_function(struct perfdata *, const struct perfdata_record *, uint64_t *);

static exercise_function *const EXERCISES[] = {
	[PERFDATA_MMAP] = exercise_mmap,
	[PERFDATA_LOST] = exercise_lost,
	[PERFDATA_COMM] = exercise_comm,
	[PERFDATA_EXIT] = exercise_task,
	[PERFDATA_THROTTLE] = exercise_throttle,
	[PERFDATA_UNTHROTTLE] = exercise_throttle,
	[PERFDATA_FORK] = exercise_task,
	[PERFDATA_SAMPLE] = exercise_sample,
	[PERFDATA_MMAP2] = exercise_mmap,
	[PERFDATA_AUX] = exercise_aux,
	[PERFDATA_LOST_SAMPLES] = exercise_lost,
	[PERFDATA_SWITCH] = exercise_switch,
	[PERFDATA_SWITCH_CPU_WIDE] = exercise_switch,
	[PERFDATA_NAMESPACES] = exercise_namespaces,
	[PERFDATA_KSYMBOL] = exercise_ksymbol,
	[PERFDATA_BPF_EVENT] = exercise_bpf_event,
	[PERFDATA_CGROUP] = exercise_cgroup,
	[PERFDATA_TEXT_POKE] = exercise_text_poke,
	[PERFDATA_CALLCHAIN_DEFERRED] = exercise_deferred_chain,
	[PERFDATA_HEADER_BUILD_ID] = exercise_build_id,
	[PERFDATA_ID_INDEX] = exercise_id_index,
	[PERFDATA_TIME_CONV] = exercise_time_conv,
};

static void walk(struct perfdata *file, struct perfdata_exercise *result)
{
	struct perfdata_record record;
	while ((result->status = perfdata_next(file, &record)) > 0) {
		result->record_count++;
		mix(&result->digest, record.type);
		mix(&result->digest, record.misc);
		mix(&result->digest, perfdata_record_time_ns(file, &record));
		mix_text(&result->digest, perfdata_record_name(record.type));
		touch(record.body);
		exercise_function *exercise = record.type < sizeof(EXERCISES) / sizeof(EXERCISES[0])
						  ? EXERCISES[record.type]
						  : NULL;
		if (exercise && exercise(file, &record, &result->digest))
			result->decoded_count++;
	}
}

static void read_events(const struct perfdata *file, uint64_t *digest)
{
	for (size_t i = 0; i < perfdata_event_count(file); i++) {
		const struct perfdata_event *event = perfdata_event(file, i);
		mix_text(digest, event->name);
		touch(event->raw);
		mix(digest, event->attr.type);
		mix(digest, event->attr.config);
		mix(digest, event->attr.sample_type);
		mix(digest, event->attr.flags);
		mix(digest, event->attr.sample_stack_user);
		mix(digest, (uint64_t)event->attr.clockid);
		for (size_t k = 0; k < event->id_count; k++)
			mix(digest, event->ids[k]);
	}
}

static void read_bpf(const struct perfdata *file, uint64_t *digest)
{
	struct perfdata_bpf_program program;
	struct perfdata_bpf_btf btf;
	struct perfdata_bpf_walk walk = perfdata_bpf_programs(file);
	while (perfdata_bpf_program_next(&walk, &program) > 0) {
		mix(digest, program.kind + ((uint64_t)program.id << 32));
		mix(digest, program.btf_id + ((uint64_t)program.bad_arrays << 32));
		mix_text(digest, program.name);
		for (uint32_t i = 0; i < PERFDATA_BPF_ARRAYS; i++)
			touch(program.arrays[i].bytes);
		for (uint32_t i = 0; i < program.arrays[PERFDATA_BPF_LINE_INFO].count; i++) {
			struct cursor c = perfdata_bpf_cursor(&program, PERFDATA_BPF_LINE_INFO, i);
			struct cursor at =
			    perfdata_bpf_cursor(&program, PERFDATA_BPF_LINE_AVMAS, i);
			mix(digest, cursor_u32(&c));
			mix(digest, cursor_u64(&at));
		}
	}
	walk = perfdata_bpf_btfs(file);
	while (perfdata_bpf_btf_next(&walk, &btf) > 0) {
		mix(digest, btf.id);
		mix_bytes(digest, btf.content);
	}
}

static void read_features(const struct perfdata *file, uint64_t *digest)
{
	uint64_t a = 0;
	uint64_t b = 0;
	uint32_t online = 0;
	uint32_t available = 0;
	struct perfdata_clock_data clocks = { 0 };
	struct perfdata_compression compression = { 0 };
	struct perfdata_build_id id;
	for (unsigned i = 0; i < PERFDATA_FEATURE_LIMIT; i++)
		touch(perfdata_feature(file, i));
	for (unsigned i = PERFDATA_FEATURE_HOSTNAME; i <= PERFDATA_FEATURE_CPUID; i++)
		if (i != PERFDATA_FEATURE_NRCPUS)
			mix_text(digest, perfdata_feature_text(file, i));
	for (size_t i = 0; perfdata_cmdline(file, i); i++)
		mix_text(digest, perfdata_cmdline(file, i));
	if (perfdata_clock_data(file, &clocks) == 0)
		mix(digest, clocks.clockid ^ clocks.wall_clock_ns ^ clocks.clockid_ns);
	if (perfdata_sample_time(file, &a, &b) == 0)
		mix(digest, a - b);
	if (perfdata_clock_resolution(file, &a) == 0)
		mix(digest, a);
	if (perfdata_total_memory(file, &a) == 0)
		mix(digest, a);
	if (perfdata_cpu_count(file, &online, &available) == 0)
		mix(digest, online + ((uint64_t)available << 32));
	if (perfdata_compression(file, &compression) == 0)
		mix(digest, compression.kind + compression.block_bytes);
	struct cursor c = perfdata_build_ids(file);
	while (perfdata_build_id_next(&c, &id) > 0) {
		mix_bytes(digest, id.build_id);
		mix_text(digest, id.path);
		mix(digest, (uint64_t)id.pid);
	}
	read_bpf(file, digest);
}

static uint64_t count_problems(const struct perfdata *file)
{
	uint64_t count = 0;
	for (size_t i = 0; i < perfdata_problem_count(file); i++) {
		const struct perfdata_problem *problem = perfdata_problem(file, i);
		count += problem->count;
		touched ^= (uint8_t)strlen(problem->what);
	}
	return count;
}

struct perfdata_exercise perfdata_exercise(struct bytes in)
{
	struct perfdata_exercise result = { 0 };
	struct perfdata *file = NULL;
	uint64_t error_offset = 0;
	result.status = perfdata_open(&file, in, &error_offset);
	if (result.status < 0)
		return result;
	struct perfdata_exercise first = { 0 };
	walk(file, &first);
	perfdata_rewind(file);
	walk(file, &result);
	if (!first.status && !result.status && first.record_count != result.record_count)
		__builtin_trap();
	if (perfdata_end_offset(file) > in.size)
		__builtin_trap();
	read_events(file, &result.digest);
	read_features(file, &result.digest);
	result.problem_count = count_problems(file);
	perfdata_close(file);
	return result;
}
