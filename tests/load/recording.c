#include "load/recording.h"

#include "bundle/bundle.h"
#include "format/jitdump/layout.h"
#include "format/perfdata/features.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_ID = 100, EVENT_LIMIT = 4, CHAIN_LIMIT = 256 };

static struct perfdata_new_id id_at(const struct recording *r, uint32_t pid, uint64_t time_ns)
{
	return (struct perfdata_new_id){ .sample_type = r->sample_type,
					 .pid = pid,
					 .tid = pid,
					 .time_ns = time_ns,
					 .id = FIRST_ID };
}

void recording_begin(struct recording *r)
{
	recording_begin_as(r, &(struct recording_shape){ 0 });
}

/* bx, bp, sp, ip, r13 of asm/perf_regs.h. */
enum { REGISTERS = 1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 21 };

/* x29, lr, sp, pc. */
static const uint64_t arm64_registers = (uint64_t)0xf << 29;

enum {
	FRAMES_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
};

/* The attrs of all events of samples differ in their periods alone. */
static struct perf_event_attr attr_of(const struct recording *r, size_t event)
{
	const bool has_stacks = r->sample_type & PERF_SAMPLE_STACK_USER;
	if (r->has_frames && event + 1 == r->event_count)
		return (struct perf_event_attr){
			.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(struct perf_event_attr),
			.config = PERF_COUNT_SW_BPF_OUTPUT,
			.sample_period = 1,
			.sample_type = FRAMES_TYPE,
			.sample_id_all = !r->has_no_ids,
			.use_clockid = 1,
			.clockid = 1,
		};
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000 + event,
		.sample_type = r->sample_type,
		.sample_id_all = !r->has_no_ids,
		.use_clockid = 1,
		.clockid = 1, /* CLOCK_MONOTONIC */
		.exclude_callchain_user = has_stacks,
		.sample_regs_user = !has_stacks   ? 0
				    : r->is_arm64 ? arm64_registers
						  : REGISTERS,
		.sample_stack_user = has_stacks ? 8192 : 0,
	};
}

static void make_folder(struct recording *r)
{
	strncpy(r->dir, "/tmp/polyperf-load-XXXXXX", sizeof(r->dir) - 1);
	if (!mkdtemp(r->dir))
		abort();
	(void)snprintf(r->path, sizeof(r->path), "%s/perf.data", r->dir);
}

void recording_begin_as(struct recording *r, const struct recording_shape *shape)
{
	*r = (struct recording){ .is_arm64 = shape->is_arm64,
				 .has_no_ids = shape->has_no_ids,
				 .has_frames = shape->has_frames,
				 .sample_type = shape->sample_type };
	if (!r->sample_type)
		r->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
	if (!shape->has_no_folder)
		make_folder(r);
	struct perf_event_attr attrs[EVENT_LIMIT];
	uint64_t ids[EVENT_LIMIT];
	struct perfdata_new_event events[EVENT_LIMIT];
	r->event_count = (shape->event_count ? shape->event_count : 1) + shape->has_frames;
	for (size_t i = 0; i < r->event_count; i++) {
		attrs[i] = attr_of(r, i);
		ids[i] = FIRST_ID + i;
		events[i] =
		    (struct perfdata_new_event){ .attr = &attrs[i],
						 .attr_size = sizeof(attrs[i]),
						 .ids = &ids[i],
						 .id_count = 1,
						 .name = attrs[i].config == PERF_COUNT_SW_BPF_OUTPUT
							     ? "polyperf:frames"
							     : "cpu-clock" };
	}
	r->layout = perfdata_begin(&r->out, events, r->event_count);
}

void recording_map(struct recording *r, const struct recording_map *what)
{
	const struct perfdata_new_id id = id_at(r, what->pid, what->time_ns);
	const uint16_t data = what->is_data ? PERF_RECORD_MISC_MMAP_DATA : 0;
	const struct perfdata_new_mmap2 map = {
		.pid = what->pid,
		.tid = what->pid,
		.start_avma = what->start_avma,
		.size = what->size,
		.file_off = what->file_off,
		.prot = what->is_data ? PROT_READ : PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.misc = (uint16_t)(PERF_RECORD_MISC_USER | data),
		.path = what->path,
	};
	perfdata_put_mmap2(&r->out, &map, r->has_no_ids ? NULL : &id);
}

void recording_mmap(struct recording *r, uint32_t pid, uint64_t time_ns, uint64_t start,
		    uint64_t size, const char *path)
{
	recording_map(
	    r,
	    &(struct recording_map){
		.pid = pid, .time_ns = time_ns, .start_avma = start, .size = size, .path = path });
}

void recording_comm(struct recording *r, uint32_t pid, uint64_t time_ns, const char *comm,
		    bool is_exec)
{
	const struct perfdata_new_id id = id_at(r, pid, time_ns);
	const size_t at = r->out.size;
	perfdata_put_comm(&r->out, pid, pid, comm, r->has_no_ids ? NULL : &id);
	if (is_exec) {
		const uint16_t misc = PERF_RECORD_MISC_COMM_EXEC;
		memcpy(r->out.data + at + 4, &misc, sizeof(misc));
	}
}

void recording_fork(struct recording *r, uint32_t parent, uint32_t pid, uint64_t time_ns)
{
	const struct perfdata_new_id id = id_at(r, pid, time_ns);
	perfdata_put_fork(&r->out, pid, parent, pid, parent, r->has_no_ids ? NULL : &id);
}

void recording_fork_exec(struct recording *r, uint32_t parent, uint32_t pid, uint64_t time_ns)
{
	const size_t at = r->out.size;
	const uint16_t misc = PERFDATA_MISC_FORK_EXEC;
	recording_fork(r, parent, pid, time_ns);
	memcpy(r->out.data + at + 4, &misc, sizeof(misc));
}

static void put_chain(struct sink *out, const struct recording_what *what)
{
	sink_u64(out, what->chain_count);
	for (size_t i = 0; i < what->chain_count; i++)
		sink_u64(out, what->chain[i]);
}

static void put_branches(struct sink *out, const struct recording_what *what)
{
	sink_u64(out, what->branch_count);
	for (size_t i = 0; i < what->branch_count; i++) {
		sink_u64(out, what->branches[i][0]);
		sink_u64(out, what->branches[i][1]);
		sink_u64(out, 0);
	}
}

static void put_stack(struct sink *out, const struct recording_stack *stack, bool is_arm64)
{
	const uint64_t size = stack->count * sizeof(*stack->words);
	const size_t wanted = stack->wanted > stack->count ? stack->wanted : stack->count;
	sink_u64(out, PERF_SAMPLE_REGS_ABI_64);
	if (!is_arm64)
		sink_u64(out, stack->bx);
	sink_u64(out, stack->bp);
	if (is_arm64)
		sink_u64(out, stack->lr);
	sink_u64(out, stack->sp);
	sink_u64(out, stack->ip);
	if (!is_arm64)
		sink_u64(out, stack->r13);
	sink_u64(out, wanted * sizeof(*stack->words));
	for (size_t i = 0; i < stack->count; i++)
		sink_u64(out, stack->words[i]);
	for (size_t i = stack->count; i < wanted; i++)
		sink_u64(out, 0);
	if (wanted)
		sink_u64(out, size);
}

void recording_put_sample(struct recording *r, const struct recording_what *what)
{
	struct sink *out = &r->out;
	const size_t at = out->size;
	sink_u32(out, PERF_RECORD_SAMPLE);
	sink_u16(out, what->is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);
	sink_u16(out, 0);
	if (r->sample_type & PERF_SAMPLE_IDENTIFIER)
		sink_u64(out, FIRST_ID + what->event);
	if (r->sample_type & PERF_SAMPLE_IP)
		sink_u64(out, what->ip_avma);
	if (r->sample_type & PERF_SAMPLE_TID) {
		sink_u32(out, what->pid);
		sink_u32(out, what->tid);
	}
	if (r->sample_type & PERF_SAMPLE_TIME)
		sink_u64(out, what->time_ns);
	if (r->sample_type & PERF_SAMPLE_ADDR)
		sink_u64(out, what->addr);
	if (r->sample_type & PERF_SAMPLE_PERIOD)
		sink_u64(out, 1);
	if (r->sample_type & PERF_SAMPLE_CALLCHAIN)
		put_chain(out, what);
	if (r->sample_type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(out, what);
	if (what->stack)
		put_stack(out, what->stack, r->is_arm64);
	if (!what->stack && r->sample_type & PERF_SAMPLE_REGS_USER)
		sink_u64(out, 0); /* none */
	if (!what->stack && r->sample_type & PERF_SAMPLE_STACK_USER)
		sink_u64(out, 0);
	const uint16_t size = (uint16_t)(out->size - at);
	memcpy(out->data + at + 6, &size, sizeof(size));
}

void recording_put_frames(struct recording *r, uint32_t tid, uint64_t time_ns, struct bytes raw)
{
	struct sink *out = &r->out;
	const uint32_t padded = (uint32_t)((raw.size + 4 + 7) & ~(size_t)7) - 4;
	sink_u32(out, PERF_RECORD_SAMPLE);
	sink_u16(out, PERF_RECORD_MISC_KERNEL);
	sink_u16(out, (uint16_t)(8 + 8 + 8 + 8 + 4 + padded));
	sink_u64(out, FIRST_ID + r->event_count - 1);
	sink_u32(out, tid);
	sink_u32(out, tid);
	sink_u64(out, time_ns);
	sink_u32(out, padded);
	sink_put(out, raw.data, raw.size);
	sink_zeros(out, padded - raw.size);
}

void recording_put_walk(struct recording *r, uint64_t time_ns, const struct walk_stack *stack,
			const struct walk_frame *frames, size_t count)
{
	struct sink raw = { 0 };
	struct walk_stack whole = *stack;
	whole.head.magic = WALK_MAGIC;
	whole.head.version = WALK_VERSION;
	whole.head.kind = WALK_STACK;
	whole.head.size = (uint32_t)(sizeof(whole) + count * sizeof(*frames));
	whole.frame_count = (uint16_t)count;
	sink_put(&raw, &whole, sizeof(whole));
	sink_put(&raw, frames, count * sizeof(*frames));
	recording_put_frames(r, stack->tid, time_ns, sink_bytes(&raw));
	sink_clear(&raw);
}

void recording_walked_record(struct sink *raw, const struct recording_walked *code)
{
	const char *texts[WALK_TEXT_COUNT] = { code->name, code->owner, code->file };
	struct walk_definition definition = {
		.head = { WALK_MAGIC, WALK_VERSION, WALK_DEFINITION, (uint8_t)code->language, 0, 0,
			  code->key.pid },
		.key = code->key,
		.first_line = code->first_line,
		.code_kind = code->kind,
	};
	const size_t start = raw->size;
	sink_zeros(raw, sizeof(definition));
	for (size_t i = 0; i < WALK_TEXT_COUNT; i++) {
		const size_t size = texts[i] ? strlen(texts[i]) : 0;
		definition.texts[i].bytes = (uint16_t)size;
		if (size)
			sink_put(raw, texts[i], size);
		sink_zeros(raw, (8 - size % 8) % 8);
	}
	definition.texts[WALK_TEXT_NAME].flags = (uint8_t)code->flags;
	definition.head.size = (uint32_t)(raw->size - start);
	memcpy(raw->data + start, &definition, sizeof(definition));
}

void recording_put_walked(struct recording *r, uint32_t tid, uint64_t time_ns,
			  const struct recording_walked *code)
{
	struct sink raw = { 0 };
	recording_walked_record(&raw, code);
	recording_put_frames(r, tid, time_ns, sink_bytes(&raw));
	sink_clear(&raw);
}

void recording_sample(struct recording *r, uint32_t pid, uint32_t tid, uint64_t time_ns,
		      const uint64_t *chain, size_t count)
{
	uint64_t words[CHAIN_LIMIT] = { (uint64_t)PERF_CONTEXT_USER };
	memcpy(&words[1], chain, count * sizeof(*chain));
	recording_put_sample(r, &(struct recording_what){ .pid = pid,
							  .tid = tid,
							  .time_ns = time_ns,
							  .ip_avma = chain[0],
							  .chain = words,
							  .chain_count = count + 1 });
}

void recording_round(struct recording *r)
{
	perfdata_put_finished_round(&r->out);
}

void recording_file(struct recording *r, const char *name, struct bytes content)
{
	char path[160];
	(void)snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	FILE *file = fopen(path, "wbe");
	if (!file || fwrite(content.data, 1, content.size, file) != content.size || fclose(file))
		abort();
}

static void patch_header(struct recording *r)
{
	struct sink header = { 0 };
	perfdata_header(&header, &r->layout);
	memcpy(r->out.data, header.data, header.size);
	sink_clear(&header);
}

static void write_file(struct recording *r)
{
	patch_header(r);
	recording_file(r, "perf.data", sink_bytes(&r->out));
	sink_clear(&r->out);
}

struct bytes recording_seal(struct recording *r)
{
	struct perfdata_new_feature features[4] = { { .feature = PERFDATA_FEATURE_VERSION } };
	size_t count = 0;
	r->layout.data_size = r->out.size - r->layout.data_offset;
	if (r->version)
		perfdata_put_text(&features[count++].content, r->version);
	if (r->is_arm64) {
		features[count].feature = PERFDATA_FEATURE_ARCH;
		perfdata_put_text(&features[count++].content, "aarch64");
	}
	for (size_t i = 0; i < 2 && r->features[i].feature; i++)
		features[count++] =
		    (struct perfdata_new_feature){ r->features[i].feature, r->features[i].content };
	if (count)
		perfdata_features(&r->out, &r->layout, r->out.size, features, count);
	for (size_t i = 0; i < count; i++)
		sink_clear(&features[i].content);
	patch_header(r);
	return sink_bytes(&r->out);
}

void recording_finish(struct recording *r)
{
	recording_file(r, "perf.data", recording_seal(r));
	sink_clear(&r->out);
}

/* The records so far. */
static struct bytes records_of(const struct recording *r)
{
	return (struct bytes){ r->out.data + r->layout.data_offset,
			       r->out.size - r->layout.data_offset };
}

void recording_finish_compressed(struct recording *r)
{
	struct perfdata_compressor *compressor;
	struct sink packed = { 0 };
	if (perfdata_compressor_open(&compressor, 1) < 0 ||
	    perfdata_compress(compressor, records_of(r), &packed) < 0)
		abort();
	perfdata_compressor_close(compressor);
	r->out.size = r->layout.data_offset;
	sink_put(&r->out, packed.data, packed.size);
	sink_clear(&packed);
	r->layout.data_size = r->out.size - r->layout.data_offset;
	write_file(r);
}

void recording_finish_pipe(struct recording *r)
{
	struct sink pipe = { 0 };
	const struct bytes records = records_of(r);
	perfdata_put_pipe_header(&pipe);
	for (size_t i = 0; i < r->event_count; i++) {
		const struct perf_event_attr attr = attr_of(r, i);
		const uint64_t id = FIRST_ID + i;
		const struct perfdata_new_event event = {
			.attr = &attr, .attr_size = sizeof(attr), .ids = &id, .id_count = 1
		};
		if (!perfdata_put_header_attr(&pipe, &event))
			abort();
	}
	sink_put(&pipe, records.data, records.size);
	recording_file(r, "perf.data", sink_bytes(&pipe));
	sink_clear(&pipe);
	sink_clear(&r->out);
}

void recording_members(struct recording *r, const struct recording_member *members, size_t count)
{
	struct bundle_writer *writer;
	const int fd = open(r->path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || bundle_writer_open(&writer, fd, false) < 0)
		abort();
	for (size_t i = 0; i < count; i++)
		if (bundle_writer_add(writer, members[i].name, members[i].content) < 0)
			abort();
	if (bundle_writer_close(writer) < 0)
		abort();
	close(fd);
}

void recording_remove(struct recording *r)
{
	char command[128];
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", r->dir);
	if (system(command) != 0)
		abort();
}

void dump_begin(struct sink *dump, uint32_t pid)
{
	sink_u32(dump, JITDUMP_MAGIC);
	sink_u32(dump, JITDUMP_VERSION);
	sink_u32(dump, JITDUMP_HEADER_SIZE);
	sink_u32(dump, 62);
	sink_u32(dump, 0);
	sink_u32(dump, pid);
	sink_u64(dump, 0);
	sink_u64(dump, 0);
}

void dump_put(struct sink *dump, const struct dump_code *code)
{
	sink_u32(dump, JITDUMP_CODE_LOAD);
	sink_u32(dump, (uint32_t)(16 + 40 + strlen(code->name) + 1 + code->size));
	sink_u64(dump, code->time_ns);
	sink_u32(dump, code->pid);
	sink_u32(dump, code->tid ? code->tid : code->pid);
	sink_u64(dump, code->start_avma);
	sink_u64(dump, code->start_avma);
	sink_u64(dump, code->size);
	sink_u64(dump, code->index);
	sink_cstr(dump, code->name);
	if (code->code)
		sink_put(dump, code->code, code->size);
	else
		sink_zeros(dump, code->size);
}

void dump_load(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t size,
	       const char *name)
{
	dump_put(dump, &(struct dump_code){ .pid = pid,
					    .time_ns = time_ns,
					    .start_avma = start,
					    .size = size,
					    .index = start,
					    .name = name });
}

void dump_move(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t from, uint64_t to,
	       uint64_t size)
{
	sink_u32(dump, JITDUMP_CODE_MOVE);
	sink_u32(dump, 16 + 48);
	sink_u64(dump, time_ns);
	sink_u32(dump, pid);
	sink_u32(dump, pid);
	sink_u64(dump, to);
	sink_u64(dump, from);
	sink_u64(dump, to);
	sink_u64(dump, size);
	sink_u64(dump, from);
}

void dump_unload(struct sink *dump, uint32_t pid, uint64_t time_ns, uint64_t start)
{
	sink_u32(dump, JITDUMP_UNLOAD);
	sink_u32(dump, JITDUMP_UNLOAD_SIZE);
	sink_u64(dump, time_ns);
	sink_u32(dump, pid);
	sink_u32(dump, pid);
	sink_u64(dump, start);
	sink_u64(dump, 0);
	sink_u64(dump, start);
}

void dump_lines(struct sink *dump, uint64_t code_avma, const struct dump_line *lines, size_t count)
{
	const size_t at = dump->size;
	sink_u32(dump, JITDUMP_DEBUG_INFO);
	sink_u32(dump, 0);
	sink_u64(dump, 0);
	sink_u64(dump, code_avma);
	sink_u64(dump, count);
	for (size_t i = 0; i < count; i++) {
		sink_u64(dump, lines[i].avma);
		sink_u32(dump, lines[i].line);
		sink_u32(dump, lines[i].column);
		sink_cstr(dump, lines[i].file);
	}
	const uint32_t size = (uint32_t)(dump->size - at);
	memcpy(dump->data + at + 4, &size, sizeof(size));
}

void dump_unwinding(struct sink *dump, struct bytes unwinding, uint64_t eh_frame_hdr_size)
{
	sink_u32(dump, JITDUMP_UNWINDING_INFO);
	sink_u32(dump, (uint32_t)(JITDUMP_UNWINDING_INFO_SIZE + unwinding.size));
	sink_u64(dump, 0);
	sink_u64(dump, unwinding.size);
	sink_u64(dump, eh_frame_hdr_size);
	sink_u64(dump, 0);
	sink_put(dump, unwinding.data, unwinding.size);
}

void dump_method(struct sink *dump, const struct dump_method *method)
{
	const uint32_t name_size = (uint32_t)strlen(method->name) + 1;
	const uint32_t file_size = method->file ? (uint32_t)strlen(method->file) + 1 : 0;
	const uint32_t lines_size = method->line_count * JITDUMP_METHOD_LINE_SIZE;
	sink_u32(dump, JITDUMP_METHOD);
	sink_u32(dump, JITDUMP_METHOD_SIZE + lines_size + name_size + file_size);
	sink_u64(dump, method->time_ns);
	sink_u32(dump, method->pid);
	sink_u32(dump, method->pid);
	sink_u64(dump, method->id);
	sink_u64(dump, method->bytecode_avma);
	sink_u64(dump, method->bytecode_size);
	sink_u32(dump, method->line_count);
	sink_u32(dump, name_size + file_size);
	sink_u32(dump, 0);
	sink_u32(dump, 0);
	sink_u32(dump, method->file ? name_size : JITDUMP_NO_STRING);
	sink_u32(dump, 0);
	for (uint32_t i = 0; i < 2 * method->line_count; i++)
		sink_u32(dump, method->lines[i]);
	sink_cstr(dump, method->name);
	if (method->file)
		sink_cstr(dump, method->file);
}

void dump_tier(struct sink *dump, uint64_t code_avma, const char *tier)
{
	const uint32_t strings = (uint32_t)strlen(tier) + 1;
	sink_u32(dump, JITDUMP_ANNOTATIONS);
	sink_u32(dump, JITDUMP_ANNOTATIONS_SIZE + JITDUMP_ANNOTATION_ENTRY_SIZE + strings);
	sink_u64(dump, 1);
	sink_u64(dump, code_avma);
	sink_u32(dump, 1);
	sink_u32(dump, strings);
	sink_u32(dump, 0);
	sink_u32(dump, 0);
	sink_u32(dump, 1); /* what it says is the tier */
	sink_u32(dump, 0);
	sink_cstr(dump, tier);
}
