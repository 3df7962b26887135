#include "load/interpreted.h"

#include "base/search.h"
#include "base/status.h"
#include "format/jitdump/extensions.h"
#include "load/naming.h"

#include <stdlib.h>

/* A word: index of the record + 1, 0 for none; whether it was told too late; place + 1, 0 for none.
 */
enum { INDEX_SHIFT = 32, LATE_SHIFT = 31 };
#define PLACE_MASK ((1u << LATE_SHIFT) - 1)
#define NO_RECORD (1ull << LATE_SHIFT)

/* So many records of one id are looked at on either side of a sample's time. */
enum { SAME_LIMIT = 32 };

int interpreted_keep(struct load *load, const struct interpreted_method *about,
		     const struct jitdump_method *method)
{
	if (load->methods.count >= UINT32_MAX - 1)
		return 0;
	struct interpreted_method *kept = vector_push(&load->methods);
	struct process *process = load_process(load, about->pid);
	if (!kept || !process)
		return STATUS_NO_MEMORY;
	*kept = *about;
	kept->id = method->method_id;
	kept->bytecode_avma = method->bytecode_avma;
	kept->bytecode_size =
	    method->bytecode_size < PLACE_MASK ? method->bytecode_size : PLACE_MASK - 1;
	process->has_methods = true;
	load->sources.items[about->source].has_methods = true;
	return 0;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* As they were told, where all else is equal. */
static int by_id_and_time(const void *left, const void *right)
{
	const struct interpreted_method *a = left;
	const struct interpreted_method *b = right;
	int order = compare(a->pid, b->pid);
	order = order ? order : compare(a->id, b->id);
	order = order ? order : compare(a->time_ns, b->time_ns);
	order = order ? order : compare(a->source, b->source);
	return order ? order : compare(a->record_off, b->record_off);
}

void interpreted_seal(struct load *load)
{
	if (load->methods.count)
		qsort(load->methods.items, load->methods.count, sizeof(*load->methods.items),
		      by_id_and_time);
}

bool interpreted_is_by(const struct load *load, uint32_t code_id)
{
	static const char hotspot[] = "Interpreter";
	const struct code *code = &load->codes.items[code_id];
	return load->methods.count && load->sources.items[code->source].has_methods &&
	       code->name.size == sizeof(hotspot) - 1 &&
	       memcmp(code->name.data, hotspot, sizeof(hotspot) - 1) == 0;
}

/* How many are told of the id up to that time, or of smaller ids and processes. */
static size_t count_before(const struct load *load, const struct interpreted_place *place)
{
	const struct interpreted_method key = { .pid = place->pid,
						.id = place->id,
						.time_ns = place->time_ns,
						.source = UINT32_MAX,
						.record_off = UINT64_MAX };
	size_t count;
	SEARCH(count, load->methods.count, i, by_id_and_time(&load->methods.items[i], &key) <= 0);
	return count;
}

/* The record at an index, if it is of this function. */
static const struct interpreted_method *method_at(const struct load *load, size_t index,
						  const struct interpreted_place *place)
{
	const struct interpreted_method *method =
	    index < load->methods.count ? &load->methods.items[index] : NULL;
	return method && method->pid == place->pid && method->id == place->id ? method : NULL;
}

/* The place in the bytecode + 1; 0 where none of the words lies in it. */
static uint32_t place_in(const struct interpreted_method *method,
			 const struct interpreted_place *place)
{
	for (size_t i = 0; i < place->bytecode_count && method->bytecode_avma; i++) {
		const uint64_t offset = place->bytecode_avmas[i] - method->bytecode_avma;
		if (offset < method->bytecode_size)
			return (uint32_t)offset + 1;
	}
	return 0;
}

/* An id is used again when its function was unloaded or replaced. The latest record at or before
 * the sample counts, or the next one, since a runtime may tell in its own time; of these, one whose
 * bytecode the frame points into before all others: that is where the function itself was.
 */
static const struct interpreted_method *choose(const struct load *load,
					       const struct interpreted_place *place,
					       uint32_t *bytecode)
{
	const size_t after = count_before(load, place);
	const struct interpreted_method *latest = after ? method_at(load, after - 1, place) : NULL;
	const struct interpreted_method *next = method_at(load, after, place);
	const struct interpreted_method *method = latest;
	for (size_t i = 1; method && i <= SAME_LIMIT; i++) {
		if ((*bytecode = place_in(method, place)))
			return method;
		method = i < after ? method_at(load, after - 1 - i, place) : NULL;
	}
	method = next;
	for (size_t i = 1; method && i <= SAME_LIMIT; i++) {
		if ((*bytecode = place_in(method, place)))
			return method;
		method = method_at(load, after + i, place);
	}
	*bytecode = 0;
	return latest ? latest : next;
}

bool interpreted_is_known(const struct load *load, const struct interpreted_place *place)
{
	const size_t after = count_before(load, place);
	return (after && method_at(load, after - 1, place)) || method_at(load, after, place);
}

uint64_t interpreted_find(const struct load *load, const struct interpreted_place *place)
{
	uint32_t bytecode;
	const struct interpreted_method *method = choose(load, place, &bytecode);
	if (!method)
		return NO_RECORD;
	const uint64_t index = (uint64_t)(method - load->methods.items) + 1;
	const bool is_late = !bytecode && method->time_ns > place->time_ns;
	if (place->is_entry && method->bytecode_size)
		bytecode = 1;
	/* Where nobody asks for lines, one word for all places keeps chains few. */
	return index << INDEX_SHIFT | (uint64_t)is_late << LATE_SHIFT |
	       (load->options.lines ? bytecode : 0);
}

/* Tables are in no order: a loop's head may stand behind its body. */
static void set_line(struct load *load, struct jitdump_method *told, uint32_t bytecode,
		     struct profile_frame *frame)
{
	struct jitdump_method_line line;
	struct jitdump_method_line best = { 0 };
	while (jitdump_method_line_next(told, &line) > 0)
		if (line.bytecode <= bytecode && line.bytecode >= best.bytecode)
			best = line;
	naming_set_line(load, told->file, best.line, frame);
}

static bool read_record(const struct load *load, const struct interpreted_method *method,
			struct jitdump_record *record)
{
	const struct source *source = &load->sources.items[method->source];
	return source->reader &&
	       jitdump_reader_at(source->reader, method->record_off, record) == 1 &&
	       record->id == JITDUMP_METHOD && record->method.name.size;
}

bool interpreted_name(struct load *load, uint64_t word, struct profile_frame *frame,
		      struct interpreted_name *name)
{
	const size_t index = (size_t)(word >> INDEX_SHIFT);
	const bool is_late = word >> LATE_SHIFT & 1;
	const uint32_t bytecode = word & PLACE_MASK;
	struct jitdump_record record;
	*name = (struct interpreted_name){ .reason = "no method record for this frame" };
	if (!index || index > load->methods.count ||
	    !read_record(load, &load->methods.items[index - 1], &record))
		return false;
	struct interpreted_method *method = &load->methods.items[index - 1];
	if (is_late)
		name->told_ns = method->time_ns;
	frame->function = naming_of_method(load, method, record.method.name);
	frame->object_path = naming_path(load, load->sources.items[method->source].path);
	frame->is_jit = true;
	frame->trust = is_late ? PROFILE_EARLY : PROFILE_EXACT;
	frame->reason = is_late ? profile_intern(load, "announced after the sample") : 0;
	if (load->options.lines && bytecode)
		set_line(load, &record.method, bytecode - 1, frame);
	return true;
}
