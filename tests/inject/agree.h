/* agree.h - does stock perf name on an injected recording what our own reports name?
 *
 *   struct agreement agreement;
 *   agree(load, "OUT.data", &agreement);
 *   assert_string_equal(agreement.complaint, "");
 *
 * Reads OUT.data from its first record to its last as perf does (perf_model.h, image_symbols.h),
 * and asks load_owner_at() for each address of each sample: its own, its callers', what its
 * branches and its data address lead to.
 *
 *   code            the function of that name in an image, at the same distance from its start
 *   a mapped file   that file, at that offset
 *   memory          no file
 *   nobody          no function
 *
 * A return address is looked up by perf as it is, by us a byte before. Where the two have different
 * owners perf cannot be told; then it must at least have the byte before right.
 */
#ifndef TESTS_INJECT_AGREE_H
#define TESTS_INJECT_AGREE_H

#include "load/code.h"

struct agreement {
	size_t samples;
	size_t addresses;
	size_t codes;       /* of them: code */
	size_t files;       /* mapped files */
	size_t interpreted; /* functions of interpreters */
	size_t mappings;
	size_t disorder;     /* samples older than the one before */
	bool gave_up;        /* without memory, or the model would have become too large */
	char complaint[640]; /* the first difference; "": none */
};

void agree(struct load *load, const char *output, struct agreement *agreement);

#endif
