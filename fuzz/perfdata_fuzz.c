/* Any bytes as a perf.data: opened, walked twice, every record through its decoder. */
#include "format/perfdata/exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)perfdata_exercise((struct bytes){ data, size });
	return 0;
}
