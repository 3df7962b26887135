/* failing_memory.h - makes the nth allocation of the tested code fail.
 *
 *   for (size_t n = 1;; n++) {
 *           memory_fail_at(n);
 *           int got = build_it(&it);
 *           if (!memory_has_failed())
 *                   break;                 every allocation has failed once
 *           assert_int_equal(got, STATUS_NO_MEMORY);
 *   }
 *   memory_fail_at(0);
 *
 * In CMakeLists.txt: failing_memory(NAME_test). Counts malloc, calloc and realloc
 * of our own objects, not those of shared libraries.
 */
#ifndef TESTS_FAILING_MEMORY_H
#define TESTS_FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* The nth allocation from now on fails, alone; 0: none does. */
void memory_fail_at(size_t n);

/* True if it has come to that allocation. */
bool memory_has_failed(void);

/* How many bytes were asked for since the last memory_fail_at(). */
size_t memory_asked_bytes(void);

#endif
