/* test.h - what every cmocka test file includes. Corpus files are found under
 * TEST_DATA (tests/data), set by the build.
 */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Ends the case as skipped and says why: the summary of `make check` shows it. */
#define skip_because(reason)                   \
	do {                                   \
		print_message("%s\n", reason); \
		skip();                        \
	} while (0)

#endif
