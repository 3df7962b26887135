/* Any bytes as a map's notes of times: nothing goes back, and what was read can be
 * written and read again.
 */
#include "format/perfmap/times.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap_times times;
	struct perfmap_stretch stretch = { 0 };
	struct perfmap_stretch last = { 0 };
	struct sink out = { 0 };
	if (perfmap_times_init(&times, (struct bytes){ .data = data, .size = size }) < 0)
		return 0;
	perfmap_times_begin(&out);
	uint64_t count = 0;
	while (perfmap_times_at(&times, last.end_offset, &stretch) > 0) {
		require(stretch.end_offset > last.end_offset);
		require(stretch.earliest_ns <= stretch.best_ns);
		require(stretch.best_ns <= stretch.latest_ns);
		require(stretch.earliest_ns >= last.earliest_ns);
		require(stretch.best_ns >= last.best_ns && stretch.latest_ns >= last.latest_ns);
		perfmap_times_put(&out, &stretch);
		last = stretch;
		count++;
	}
	require(!sink_failed(&out));
	struct perfmap_times again;
	require(perfmap_times_init(&again, sink_bytes(&out)) == 0);
	last = (struct perfmap_stretch){ 0 };
	for (; count; count--) {
		require(perfmap_times_at(&again, last.end_offset, &stretch) == 1);
		last = stretch;
	}
	require(perfmap_times_at(&again, last.end_offset, &stretch) == 0);
	sink_clear(&out);
	return 0;
}
