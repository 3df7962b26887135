/* names_fuzz.c - the first byte chooses what is known of the runtime, the rest is a name. */
#include "names/names.h"
#include "names/stable.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 16 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Whatever the name: nothing is lost in front, the parts are static or inside the name,
 * and the text stays in proportion.
 */
static void split(struct bytes raw, enum runtime runtime)
{
	struct name_parts parts;
	struct sink human = { 0 };
	sink_text(&human, "kept");
	names_split(raw, runtime, &parts, &human);
	require(!sink_failed(&human));
	require(human.size >= 4 && memcmp(human.data, "kept", 4) == 0);
	require(human.size <= 4 + MOST_BYTES || human.size == 4 + raw.size);
	require((unsigned)parts.runtime < RUNTIME_COUNT);
	require(parts.tier && strlen(parts.tier) < 32);
	require(!parts.place.size ||
		(parts.place.data >= raw.data && parts.place.size <= raw.size &&
		 (size_t)(parts.place.data - raw.data) <= raw.size - parts.place.size));
	require(runtime == RUNTIME_UNKNOWN || parts.runtime != RUNTIME_UNKNOWN);
	sink_clear(&human);
}

static void demangle(struct bytes raw)
{
	char *symbol = malloc(raw.size + 1);
	if (!symbol)
		return;
	if (raw.size)
		memcpy(symbol, raw.data, raw.size);
	symbol[raw.size] = '\0';
	struct sink human = { 0 };
	names_demangle(symbol, &human);
	require(!sink_failed(&human));
	require(human.size <= raw.size + MOST_BYTES);
	sink_clear(&human);
	free(symbol);
}

/* A symbol of NativeAOT, of a program that is named as its first bytes. */
static void split_aot(struct bytes raw)
{
	struct name_parts parts;
	struct sink human = { 0 };
	sink_text(&human, "kept");
	const struct bytes program = { raw.data, raw.size < 8 ? raw.size : 8 };
	names_split_aot(raw, program, &parts, &human);
	require(!sink_failed(&human));
	require(human.size >= 4 && memcmp(human.data, "kept", 4) == 0);
	require(human.size <= 4 + MOST_BYTES || human.size == 4 + raw.size);
	require(parts.runtime == RUNTIME_DOTNET && parts.tier && !parts.place.size);
	sink_clear(&human);
}

/* Folding takes out, and puts nothing in. */
static void fold(struct bytes name, enum runtime runtime)
{
	for (int what = STABLE_RUNS; what <= STABLE_BUILDS; what++) {
		struct stable_numbers numbers;
		struct sink key = { 0 };
		sink_text(&key, "kept");
		names_stable(name, runtime, (enum stable_for)what, &key, &numbers);
		require(!sink_failed(&key));
		require(memcmp(key.data, "kept", 4) == 0 && key.size - 4 <= name.size);
		require(numbers.count <= STABLE_NUMBERS_KEPT);
		require(numbers.scope <= key.size - 4);
		sink_reset(&key);
		names_stable_object(name, (enum stable_for)what, &key);
		require(!sink_failed(&key) && key.size <= name.size);
		sink_clear(&key);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	const struct bytes raw = { .data = data + 1, .size = size - 1 };
	const enum runtime runtime = (enum runtime)(data[0] % RUNTIME_COUNT);
	split(raw, runtime);
	split(raw, RUNTIME_UNKNOWN);
	demangle(raw);
	split_aot(raw);
	fold(raw, runtime);
	const struct name_evidence evidence = { .executable = raw };
	require((unsigned)names_guess(&evidence, &raw, 1) < RUNTIME_COUNT);
	return 0;
}
