/* Listings of functions of mapped files and of the kernel. */
#include "load/listing_parts.h"

#include "base/status.h"

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
	return 0;
}

int listing_of_kernel(struct load *load, const struct origin *origin, struct listing *listing)
{
	listing->start_avma = origin->start_svma;
	listing->machine = listing_recorded_machine(load);
	listing->reason = "the recording does not hold the kernel's own code";
	return 0;
}
