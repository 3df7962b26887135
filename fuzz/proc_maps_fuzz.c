/* /proc/PID/maps, whose names are anyone's, and kallsyms: lines of text from the kernel. */
#include "os/kernel.h"
#include "os/proc_maps.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_maps *maps = malloc(sizeof(*maps));
	if (!maps)
		return 0;
	struct proc_mapping map;
	proc_maps_open(maps, (struct bytes){ data, size });
	while (proc_maps_next(maps, &map))
		if (map.start_avma >= map.end_avma || strlen(map.path) >= PROC_MAPS_PATH_SIZE)
			abort();
	free(maps);

	struct kernel_layout layout = { 0 };
	(void)kernel_layout_kallsyms(&layout, (struct bytes){ data, size });
	for (size_t i = 0; i < layout.jit.count; i++)
		if (!layout.jit.items[i].name)
			abort();
	kernel_layout_clear(&layout);
	uint8_t build_id[20];
	if (kernel_note_build_id((struct bytes){ data, size }, build_id) > sizeof(build_id))
		abort();
	return 0;
}
