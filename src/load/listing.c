#include "load/listing.h"

#include "base/status.h"
#include "format/perfdata/features.h"
#include "load/listing_parts.h"
#include "load/naming.h"

#include <elf.h>
#include <inttypes.h>

enum listing_machine listing_elf_machine(uint32_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return LISTING_X86_64;
	case EM_AARCH64:
		return LISTING_AARCH64;
	default:
		return LISTING_UNKNOWN_MACHINE;
	}
}

enum listing_machine listing_recorded_machine(const struct load *load)
{
	const char *arch = perfdata_feature_text(load->perf, PERFDATA_FEATURE_ARCH);
	if (strcmp(arch, "x86_64") == 0)
		return LISTING_X86_64;
	return strcmp(arch, "aarch64") == 0 ? LISTING_AARCH64 : LISTING_UNKNOWN_MACHINE;
}

static const struct origin *origin_of(const struct load *load, const struct profile *profile,
				      uint32_t function)
{
	static const struct origin unknown;
	return function < profile->functions.count && function < load->origins.items.count
		   ? &load->origins.items.items[function]
		   : &unknown;
}

int load_listing(struct load *load, const struct profile *profile, uint32_t function,
		 struct listing *listing)
{
	const struct origin *origin = origin_of(load, profile, function);
	switch (origin->kind) {
	case ORIGIN_CODE:
		return listing_of_code(load, origin, listing);
	case ORIGIN_SYMBOL:
		return listing_of_symbol(load, origin, listing);
	case ORIGIN_KERNEL:
		return listing_of_kernel(load, origin, listing);
	case ORIGIN_INTERPRETED:
		listing->reason = "an interpreter ran it: there are no instructions of its own";
		return 0;
	case ORIGIN_INLINED:
		listing->reason = "it was inlined: its instructions are among its callers'";
		return 0;
	default:
		listing->reason = "nobody knows what code is there";
		return 0;
	}
}

/* What an address leads to. */
struct target {
	uint32_t name; /* string of the load */
	uint64_t offset;
};

/* `object` is NULL for the kernel. */
static bool target_of_symbol(struct load *load, struct object *object, uint64_t svma,
			     struct target *target)
{
	const struct symbol_table *table =
	    object ? load_object_symbols(load, object) : load_kernel_symbols(load);
	struct symbol symbol;
	if (!table || !symbol_find(table, svma, &symbol))
		return false;
	target->name = naming_symbol_as_written(load, object, &symbol);
	target->offset = svma - symbol.start_svma;
	return true;
}

static void target_of_code(struct load *load, const struct timeline_hit *hit, uint64_t avma,
			   struct target *target)
{
	const struct code *code = &load->codes.items[hit->object];
	target->name =
	    naming_as_written(load, code->name, load->sources.items[code->source].runtime);
	target->offset = avma - hit->start_avma;
}

static bool target_in_kernel(struct load *load, uint64_t avma, uint64_t time_ns,
			     struct target *target)
{
	struct timeline_hit hit;
	timeline_find(load->timeline, TIMELINE_KERNEL_PID, avma, time_ns, &hit);
	if (hit.layer == LAYER_CODE && hit.trust == TRUST_EXACT) {
		target_of_code(load, &hit, avma, target);
		return true;
	}
	return target_of_symbol(load, NULL, avma, target);
}

static bool target_in_process(struct load *load, const struct origin *origin, uint64_t avma,
			      struct target *target)
{
	const struct address address = { .pid = origin->pid,
					 .avma = avma,
					 .time_ns = origin->last.time_ns };
	struct decision decision;
	struct symbol symbol;
	uint64_t svma;
	load_decide(load, &address, &decision);
	if (decision.speaker == SPEAKER_CODE && decision.hit.trust != TRUST_STALE) {
		target_of_code(load, &decision.hit, avma, target);
		return true;
	}
	if (decision.speaker != SPEAKER_MAPPING ||
	    !load_symbol_at(load, &address, &decision.hit, &symbol, &svma))
		return false;
	return target_of_symbol(load, &load->objects.items[decision.hit.object], svma, target);
}

static bool find_target(struct load *load, const struct origin *origin, uint64_t address,
			struct target *target)
{
	switch (origin->kind) {
	case ORIGIN_CODE:
		if (load->sources.items[load->codes.items[origin->id].source].pid ==
		    TIMELINE_KERNEL_PID)
			return target_in_kernel(load, address, origin->last.time_ns, target);
		return target_in_process(load, origin, address, target);
	case ORIGIN_SYMBOL:
		return target_of_symbol(load, &load->objects.items[origin->id], address, target);
	case ORIGIN_KERNEL:
		return target_in_kernel(load, address, UINT64_MAX - 1, target);
	default:
		return false;
	}
}

const char *load_listing_target(struct load *load, const struct profile *profile, uint32_t function,
				uint64_t address)
{
	struct target target;
	if (!find_target(load, origin_of(load, profile, function), address, &target))
		return "";
	const char *name = intern_get(&load->strings, target.name);
	if (!target.offset)
		return name;
	struct sink text = { 0 };
	sink_printf(&text, "%s+0x%" PRIx64, name, target.offset);
	const uint32_t id =
	    sink_failed(&text) ? INTERN_NONE : intern_bytes(&load->strings, sink_bytes(&text));
	sink_clear(&text);
	return intern_get(&load->strings, id);
}
