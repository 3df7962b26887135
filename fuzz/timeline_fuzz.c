#include "script.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Operations and their order come from the input; the answers must follow the rules. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!script_holds((struct bytes){ .data = data, .size = size }))
		abort();
	return 0;
}
