/* Methods that only the stream told of, as code objects. */
#include "load/clr_internal.h"

#include "base/hash.h"
#include "base/status.h"
#include "profile/events.h"

/* One process whose methods are put. */
struct putting {
	struct load *load;
	struct clr_process *process;
	uint32_t source;
	uint64_t dumped_until_ns;  /* 0: its dumps have no times */
	struct address_index told; /* by place and size: what the dumps have */
};

static int index_told(struct putting *put, const struct process *process)
{
	for (size_t i = 0; i < process->told.count; i++) {
		struct address_entry entry = process->told.items[i];
		entry.start_avma = hash_mix(entry.start_avma, entry.size);
		if (!address_index_put(&put->told, &entry))
			return STATUS_NO_MEMORY;
	}
	return 0;
}

/* A dump that was cut knows nothing of what came after. */
static bool is_in_dump(struct putting *put, const struct clr_code *code)
{
	if (put->dumped_until_ns && code->time_ns > put->dumped_until_ns &&
	    code->time_ns - put->dumped_until_ns > CLR_APART_NS)
		return false;
	const struct address_entry *told =
	    address_index_find(&put->told, hash_mix(code->start_avma, code->size));
	return told && told->size == code->size;
}

/* What was there at the end is mostly told a second time. */
static bool is_told_twice(const struct clr_process *p, const struct clr_code *code)
{
	if (code->time_ns)
		return false;
	const struct clr_code *last = clr_code_at(p, code->start_avma, UINT64_MAX);
	return last != code && last->method_id == code->method_id &&
	       last->version_id == code->version_id;
}

/* Code of an assembly's file came with it. */
static uint64_t time_of(const struct clr_process *p, const struct clr_code *code)
{
	const struct clr_module *module =
	    code->time_ns || code->is_jitted ? NULL : clr_module_of(p, code->module_id, 0);
	return module ? module->time_ns : code->time_ns;
}

static bool spell(struct load *load, const struct clr_process *p, const struct clr_code *code,
		  struct bytes *name)
{
	struct sink text = { 0 };
	clr_spell(p, code, true, &text);
	const char *copy =
	    sink_failed(&text) ? NULL : arena_copy(&load->scratch, text.data, text.size);
	*name = (struct bytes){ (const uint8_t *)copy, copy ? text.size : 0 };
	sink_clear(&text);
	return copy != NULL;
}

static int put_code(struct putting *put, const struct clr_code *told)
{
	struct load *load = put->load;
	const uint32_t pid = put->process->pid;
	const uint64_t time_ns = put->process->is_timed ? time_of(put->process, told) : 0;
	struct process *process = load_process(load, pid);
	struct address_entry *known = process ? vector_push(&process->told) : NULL;
	struct code *code = vector_push(&load->codes);
	if (!known || !code || !spell(load, put->process, told, &code->name))
		return STATUS_NO_MEMORY;
	code->source = put->source;
	const struct timeline_load to = { .start_avma = told->start_avma,
					  .size = told->size,
					  .earliest_ns = time_ns,
					  .time_ns = time_ns,
					  .latest_ns = time_ns,
					  .object = (uint32_t)load->codes.count - 1 };
	*known = (struct address_entry){ to.start_avma, to.size, to.object };
	const struct told_event event = { .time_ns = time_ns,
					  .earliest_ns = time_ns,
					  .start_avma = told->start_avma,
					  .size = told->size,
					  .code = to.object,
					  .pid = pid,
					  .kind = PROFILE_EVENT_COMPILED };
	int got = put->process->is_timed ? timeline_load(load->timeline, pid, &to)
					 : timeline_untimed(load->timeline, pid, &to);
	if (!put->process->is_timed)
		load_count_untimed(load);
	else if (got == 0)
		got = load_keep_event(load, &event);
	const struct piece piece = { .start_avma = to.start_avma,
				     .size = to.size,
				     .time_ns = time_ns,
				     .code = to.object,
				     .pid = pid };
	return got < 0 ? got : load_keep_piece(load, &piece);
}

/* Dynamic methods, and those of assemblies that can be unloaded, end: dumps do not tell so. */
static int put_ends(struct putting *put)
{
	const struct clr_process *p = put->process;
	int got = 0;
	for (size_t i = 0; got == 0 && p->is_timed && i < p->ends.count; i++) {
		const struct clr_end *end = &p->ends.items[i];
		const struct told_event event = { .time_ns = end->time_ns,
						  .earliest_ns = end->time_ns,
						  .start_avma = end->start_avma,
						  .pid = p->pid,
						  .kind = PROFILE_EVENT_UNLOADED };
		got = timeline_unload(put->load->timeline, p->pid, end->time_ns, end->start_avma);
		if (got == 0)
			got = load_keep_event(put->load, &event);
	}
	return got;
}

static int add_source(struct putting *put)
{
	struct source *source = load_add_source(put->load, put->process->pid, &put->source);
	if (!source)
		return STATUS_NO_MEMORY;
	source->runtime = RUNTIME_DOTNET;
	source->is_timed = put->process->is_timed;
	return 0;
}

static int put_process(struct load *load, struct clr_process *p)
{
	struct putting put = { .load = load, .process = p };
	struct process *process = load_process(load, p->pid);
	if (!process || add_source(&put) < 0)
		return STATUS_NO_MEMORY;
	put.dumped_until_ns = process->told_until_ns;
	int got = index_told(&put, process);
	for (size_t i = 0; got == 0 && i < p->codes.count; i++) {
		const struct clr_code *code = &p->codes.items[i];
		if (code->start_avma && code->size && code->name.units.size &&
		    !is_told_twice(p, code) && !is_in_dump(&put, code))
			got = put_code(&put, code);
	}
	if (got == 0)
		got = put_ends(&put);
	process = load_process_find(load, p->pid);
	if (process && p->is_timed && p->last_ns > process->told_until_ns)
		process->told_until_ns = p->last_ns;
	address_index_clear(&put.told);
	return got;
}

int clr_put_methods(struct load *load)
{
	int got = 0;
	for (size_t i = 0; load->clr && got == 0 && i < load->clr->processes.count; i++)
		got = put_process(load, &load->clr->processes.items[i]);
	return got;
}
