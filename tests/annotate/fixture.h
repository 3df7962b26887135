/* fixture.h - profiles, listings and sources made by hand, and documents made of them.
 *
 *   struct fixture f;
 *   fixture_begin(&f);
 *   uint32_t fib = fixture_function(&f, "fib", "turbofan", 2);
 *   fixture_sample(&f, fixture_frame(&f, fib, 4, "fib.js", 2), 10);
 *   fixture_listing(&f, fib)->code = ...;
 *   fixture_build(&f, "fib");
 *   ... f.doc ...
 *   fixture_end(&f);
 */
#ifndef TESTS_ANNOTATE_FIXTURE_H
#define TESTS_ANNOTATE_FIXTURE_H

#include "annotate/write.h"

enum { FIXTURE_FUNCTIONS = 32, FIXTURE_START = 0x401000, FIXTURE_PERIOD = 10 };

struct fixture {
	struct profile profile;
	uint32_t thread;
	struct listing listings[FIXTURE_FUNCTIONS]; /* by function: copied for each document */
	const char *source_name;                    /* one file that has a text; or NULL */
	const char *source_text;
	bool source_is_newer;
	bool att;
	struct annotate_choice choice;
	struct annotate doc;
};

void fixture_begin(struct fixture *f);
void fixture_end(struct fixture *f);

/* Of the object "[jit]" and the runtime "v8". Returns its id. */
uint32_t fixture_function(struct fixture *f, const char *name, const char *tier, uint32_t version);
uint32_t fixture_frame(struct fixture *f, uint32_t function, uint64_t offset, const char *file,
		       uint32_t line);
/* Inlined into the function of another frame. */
uint32_t fixture_inlined(struct fixture *f, uint32_t function, uint32_t into, const char *file,
			 uint32_t line);
/* A stack of the frame, those it was inlined into, and a caller. Weight is FIXTURE_PERIOD each. */
void fixture_sample(struct fixture *f, uint32_t frame, uint64_t count);

struct listing *fixture_listing(struct fixture *f, uint32_t function);
void fixture_line(struct listing *listing, uint32_t offset, const char *file, uint32_t line,
		  uint32_t scope);
void fixture_note(struct listing *listing, uint32_t offset, uint32_t size, const char *kind,
		  const char *text);

/* Returns what annotate_choose() and annotate_build() return; the choice must be of something. */
int fixture_build(struct fixture *f, const char *text);
/* Forgets the document and the choice. */
void fixture_unbuild(struct fixture *f);

/* x86-64: push rbp; mov rbp, rsp; test edi, edi; jle +3; lea eax, [rdi+rdi]; call +0x100;
 * jne to the test; pop rbp; ret. 20 bytes.
 */
extern const struct bytes fixture_code;

/* The fib of most tests: two versions, an inlined g, lines, notes, a source. */
void fixture_fib(struct fixture *f);

/* The whole as text, JSON or HTML, as a C string in `out`. */
enum fixture_format { FIXTURE_TEXT, FIXTURE_JSON, FIXTURE_HTML };
const char *fixture_write(const struct fixture *f, struct sink *out, enum fixture_format format,
			  const struct annotate_options *options);

#endif
