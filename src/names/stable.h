/* stable.h - names folded so that a function has the same one in two recordings.
 *
 *   struct sink key = { 0 };
 *   struct stable_numbers numbers;
 *   names_stable(human, RUNTIME_V8, STABLE_BUILDS, &key, &numbers);
 *                    "alpha work.js:2:15" becomes "alpha work.js", numbers 2 and 15
 *
 * Takes names as names_split() and names_demangle() make them. What is folded depends on what the
 * two recordings have in common:
 *
 * - STABLE_RUNS, two runs of one program: only what a process makes up while it runs. Numbers of
 *   hidden classes, lambdas, proxies and accessors of a JVM, of methods that .NET emits, addresses,
 *   process ids. Two functions that come out equal are of one kind made at run time ("Main$$Lambda
 *   .run()"), and no name tells them apart from one run to the next.
 * - STABLE_BUILDS, two builds of one program: beyond that what moves when the source is edited, or
 *   compiled by another compiler. Lines and columns, numbers of lambdas and anonymous classes,
 *   suffixes of clones, hashes, versions of symbols. Here functions of one program can come out
 *   equal (all anonymous functions of a file), so who matches two programs must only believe it
 *   where one candidate is left on each side; `numbers` are what tells the others apart. See
 *   diff/match.h, which does that.
 *
 * No allocation but the sink's. Any thread. A name is not changed where no rule knows its shape.
 */
#ifndef NAMES_STABLE_H
#define NAMES_STABLE_H

#include "names/names.h"

enum stable_for {
	STABLE_RUNS,
	STABLE_BUILDS,
};

enum { STABLE_NUMBERS_KEPT = 4 };

/* What STABLE_BUILDS took out of a name, in the order of the name: line and column, or the numbers
 * of a lambda. When code is put in above, those of one file grow by the same amount.
 */
struct stable_numbers {
	uint64_t items[STABLE_NUMBERS_KEPT]; /* those beyond are dropped */
	unsigned count;
	size_t scope;     /* where in the folded name its file starts; 0: it has none */
	bool is_nameless; /* only what was taken out tells it from others: "(anonymous) work.js" */
};

/* Appends the folded name to `key`. `numbers` may be NULL. */
void names_stable(struct bytes name, enum runtime runtime, enum stable_for what, struct sink *key,
		  struct stable_numbers *numbers);

/* The same for the short name of the file that the code is in: "perf-123.map", "libc-2.36.so". */
void names_stable_object(struct bytes object, enum stable_for what, struct sink *key);

/* The runtime of a word that runtime_name() gave; RUNTIME_UNKNOWN for any other. */
enum runtime runtime_find(const char *name);

#endif
