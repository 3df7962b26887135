/* Listings of functions of mapped files and of the kernel. */
#include "load/listing_parts.h"

#include "base/status.h"
#include "load/clr.h"
#include "os/kernel.h"

/* No function of the kernel is larger. */
enum { KERNEL_LIMIT = 1 << 20 };

int listing_of_symbol(struct load *load, const struct origin *origin, struct listing *listing)
{
	struct object *object = &load->objects.items[origin->id];
	const struct symbol_table *table = load_object_symbols(load, object);
	listing->start_avma = origin->start_svma;
	listing->is_svma = true;
	if (!table) {
		listing->reason = object->reason;
		return 0;
	}
	listing->machine = listing_elf_machine(symbol_machine(table));
	listing->code = symbol_code(table, origin->start_svma, origin->size);
	if (!listing->code.size)
		listing->reason = "the file holds no instructions at this address";
	if (symbol_is_assembly(table))
		return clr_put_object_lines(load, origin->id, listing);
	struct debuginfo *info = load_object_debuginfo(load, object);
	return info ? listing_put_native_lines(load, info, listing) : 0;
}

/* The function lies where it lay when it was recorded: the same boot, and the same module. */
static bool is_still_there(struct load *load, uint64_t start_avma)
{
	struct symbol then;
	struct symbol now;
	const struct symbol_table *recorded = load_kernel_symbols(load);
	const struct symbol_table *running = load_running_kernel_symbols(load);
	return load_is_running_kernel(load) && recorded && running &&
	       symbol_find(recorded, start_avma, &then) && symbol_find(running, start_avma, &now) &&
	       now.start_svma == then.start_svma && strcmp(now.name, then.name) == 0;
}

static const char *read_kernel(struct load *load, const struct origin *origin, struct bytes *code)
{
	if (load->options.self_contained || !is_still_there(load, origin->start_svma))
		return "the code of a kernel can be read only while it runs";
	const size_t size =
	    origin->size < KERNEL_LIMIT ? (size_t)origin->size : (size_t)KERNEL_LIMIT;
	uint8_t *buffer = size ? arena_new(&load->scratch, uint8_t, size) : NULL;
	const int got = buffer ? kernel_code_read("/proc/kcore", origin->start_svma, buffer, size)
			       : STATUS_NO_MEMORY;
	switch (got) {
	case 0:
		*code = (struct bytes){ buffer, size };
		return NULL;
	case STATUS_DENIED:
		return "only root may read the kernel's code (/proc/kcore)";
	case STATUS_NOT_FOUND:
		return "this kernel does not show its code (/proc/kcore)";
	default:
		return status_text(got);
	}
}

int listing_of_kernel(struct load *load, const struct origin *origin, struct listing *listing)
{
	listing->start_avma = origin->start_svma;
	listing->machine = listing_recorded_machine(load);
	listing->reason = read_kernel(load, origin, &listing->code);
	return 0;
}
