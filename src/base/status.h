/* status.h - the one list of ways a call can fail.
 *
 * A function that can fail returns `int`: zero or a positive count on success,
 * a negative `enum status` on failure. Libraries return; only cli/ prints.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#define STATUS_LIST(X)                                                \
	X(NO_MEMORY, "out of memory")                                 \
	X(TRUNCATED, "input ends inside a record")                    \
	X(CORRUPT, "a field contradicts the bytes around it")         \
	X(UNSUPPORTED, "a version or feature this build cannot read") \
	X(TOO_BIG, "larger than the limit the caller set")            \
	X(NOT_FORMAT, "not a file of this format")                    \
	X(IO, "a system call failed (errno says why)")                \
	X(NOT_FOUND, "not there")                                     \
	X(DENIED, "refused: wrong owner, a link, or no permission")

enum status_index {
	STATUS_INDEX_OK,
#define X(name, text) STATUS_INDEX_##name,
	STATUS_LIST(X)
#undef X
};

enum status {
	STATUS_OK = 0,
#define X(name, text) STATUS_##name = -STATUS_INDEX_##name,
	STATUS_LIST(X)
#undef X
};

/* A static string; never NULL, also for codes this build does not know. */
const char *status_text(int status);

#endif
