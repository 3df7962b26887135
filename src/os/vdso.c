#include "os/vdso.h"

#include "base/number.h"

#include <stdio.h>

struct bytes os_vdso_image(void)
{
	struct bytes image = { .data = (const uint8_t *)"", .size = 0 };
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	while (maps && fgets(line, sizeof(line), maps)) {
		struct bytes rest = { (const uint8_t *)line, strlen(line) };
		uint64_t start;
		uint64_t end;
		const size_t length = number_read(rest, 16, &start);
		if (!strstr(line, "[vdso]") || !length || line[length] != '-')
			continue;
		rest = (struct bytes){ rest.data + length + 1, rest.size - length - 1 };
		if (number_read(rest, 16, &end) && start < end)
			image = (struct bytes){ (const uint8_t *)(uintptr_t)start, end - start };
	}
	if (maps)
		fclose(maps);
	return image;
}
