/* java_name.h - Java's names as JVMTI gives them, and as symbols.
 *
 *   struct sink name = { .limit = JAVA_NAME_LIMIT };
 *   java_name_put(&name, "LWork;", "alpha", "(II)I");        LWork;alpha(II)I
 *
 * That is what perf's own agent writes, so perf and src/names can make `Work.alpha(int,
 * int)` of it. What differs from run to run is left out: `LMain$$Lambda$14.0x0000000800c01000;`
 * and `LMain$$Lambda$3/471910020;` are `LMain$$Lambda;`.
 *
 * JVMTI's strings are modified UTF-8: NUL in two bytes, and characters beyond U+FFFF in two times
 * three. Here they are UTF-8, and what is neither becomes U+FFFD. Any thread.
 */
#ifndef AGENT_JVMTI_JAVA_NAME_H
#define AGENT_JVMTI_JAVA_NAME_H

#include "base/sink.h"

/* Each part of a name may have 64 KB. Of longer ones the beginning is kept, and the last
 * character of a class, so that the whole can still be taken apart.
 */
enum { JAVA_NAME_LIMIT = 8192 };

void java_name_put(struct sink *out, const char *class_signature, const char *method,
		   const char *descriptor);

/* "java/util/HashMap.java" of "Ljava/util/HashMap$Node;" and "HashMap.java": where the file lies
 * in a source tree. A file with a slash stays as it is.
 */
void java_name_put_file(struct sink *out, const char *class_signature, const char *file);

/* At most about `limit` bytes of a modified UTF-8 string. */
void java_name_put_text(struct sink *out, const char *text, size_t size, size_t limit);

#endif
