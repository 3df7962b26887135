#include "os/vdso.h"

#include <inttypes.h>
#include <stdio.h>

struct bytes os_vdso_image(void)
{
	struct bytes image = { .data = (const uint8_t *)"", .size = 0 };
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	while (maps && fgets(line, sizeof(line), maps)) {
		uintptr_t start;
		uintptr_t end;
		if (strstr(line, "[vdso]") &&
		    sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2 && start < end)
			image = (struct bytes){ (const uint8_t *)start, end - start };
	}
	if (maps)
		fclose(maps);
	return image;
}
