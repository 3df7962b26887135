/* fold_names.c - names as diffs compare them, for stable_corpus_test.py.
 *
 *   fold_names RUNTIME < RAW
 *
 * Raw names, each ended by a NUL; for each a line: as people write it, folded for runs, folded for
 * builds, with tabs between them.
 */
#include "names/stable.h"

#include <stdio.h>
#include <stdlib.h>

static void fold(struct bytes raw, enum runtime runtime)
{
	struct name_parts parts;
	struct sink out = { 0 };
	names_split(raw, runtime, &parts, &out);
	const size_t human_size = out.size;
	for (int what = STABLE_RUNS; what <= STABLE_BUILDS; what++) {
		struct sink key = { 0 };
		names_stable((struct bytes){ out.data, human_size }, parts.runtime,
			     (enum stable_for)what, &key, NULL);
		sink_u8(&out, '\t');
		sink_put(&out, key.data, key.size);
		sink_clear(&key);
	}
	sink_u8(&out, '\n');
	if (!sink_failed(&out))
		fwrite(out.data, 1, out.size, stdout);
	sink_clear(&out);
}

int main(int argc, char **argv)
{
	char *name = NULL;
	size_t room = 0;
	ssize_t size;
	if (argc != 2)
		return 2;
	while ((size = getdelim(&name, &room, '\0', stdin)) > 1)
		fold((struct bytes){ (const uint8_t *)name, (size_t)size - 1 },
		     runtime_find(argv[1]));
	free(name);
	return 0;
}
