/* Any bytes as a dump, or a map, that grows: read in steps it says what it says when read at once
 * in the end, and what it says stays inside of the bytes.
 */
#include "load/digest.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct digest *digest, size_t size)
{
	require(digest->next_off <= size);
	for (size_t i = 0; i < digest->entries.count; i++) {
		const struct digest_entry *entry = &digest->entries.items[i];
		require(entry->load_off < size && entry->first_off <= entry->load_off);
		require(entry->move_off < size && entry->unload_off < size);
		require(entry->end_avma >= entry->start_avma);
	}
	require(digest->swept_count <= digest->entries.count);
}

/* An exact-size copy, so that ASan sees a read behind its end. */
static void update(struct digest *digest, const uint8_t *data, size_t size, bool is_map)
{
	struct jitdump_reader reader;
	uint8_t *copy = malloc(size ? size : 1);
	require(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	const struct bytes bytes = { copy, size };
	if (is_map) {
		require(digest_update_map(digest, bytes, NULL, 2) == 0);
		check(digest, size ? size : 1);
	} else if (jitdump_reader_init(&reader, bytes) == 0) {
		require(digest_update(digest, &reader, 2) == 0);
		check(digest, size);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { STEPS = 4 };
	if (size < 1)
		return 0;
	const bool is_map = data[0] & 1;
	struct digest digest = { 0 };
	for (size_t step = 1; step <= STEPS; step++)
		update(&digest, data + 1, (size - 1) * step / STEPS, is_map);
	/* Nothing more comes: what is there is what stays. */
	const size_t count = digest.entries.count;
	update(&digest, data + 1, size - 1, is_map);
	require(digest.entries.count <= count + 1);
	digest_clear(&digest);
	return 0;
}
