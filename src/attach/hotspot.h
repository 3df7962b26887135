/* hotspot.h - the door of HotSpot, JDK 8 to 25, as its own tools knock at it.
 *
 *   struct hotspot_call call = { .target = &target, .command = words, .count = 4 };
 *   struct sink answer = { .limit = HOTSPOT_ANSWER_LIMIT };
 *   got = hotspot_call(&call, &answer);
 *
 * A JVM listens on the socket /tmp/.java_pidN once it was asked to: by a file .attach_pidN of its
 * own user, in its current directory or /tmp, and SIGQUIT. N is its own view of its PID. Then
 * one request a connection goes: "1", the command and three words, each with a NUL behind it. The
 * answer is a decimal number, 0 for success, a newline, and text up to the end of the connection.
 *
 * Source: what jcmd and a JVM say to each other, seen with strace, and the JDK's public
 * com.sun.tools.attach documentation.
 */
#ifndef ATTACH_HOTSPOT_H
#define ATTACH_HOTSPOT_H

#include "attach/target.h"
#include "base/sink.h"

enum {
	HOTSPOT_WORDS = 4,
	HOTSPOT_WORD_SIZE = 1024, /* more of a word JVMs do not take */
	HOTSPOT_ANSWER_LIMIT = 64 << 10,
};

struct hotspot_call {
	const struct attach_target *target;
	const char *words[HOTSPOT_WORDS]; /* "load", path, "true", options */
	uint64_t timeout_ns;
	int cancel_fd; /* -1: none */
};

/* How far a call came that failed. */
enum hotspot_stage {
	HOTSPOT_DONE,
	HOTSPOT_BECOME,  /* taking on the user of the JVM */
	HOTSPOT_KNOCK,   /* making the file, or sending the signal */
	HOTSPOT_WAIT,    /* no socket appeared in time */
	HOTSPOT_CONNECT, /* the socket is another's */
	HOTSPOT_TALK,    /* the connection broke, or no answer came in time */
	HOTSPOT_FORK,
	HOTSPOT_CANCELLED,
};

struct hotspot_failure {
	enum hotspot_stage stage;
	int error; /* errno, or 0 */
};

/* Returns 0 with the whole answer, STATUS_TOO_BIG for a word, or STATUS_IO and where. */
int hotspot_call(const struct hotspot_call *call, struct sink *answer,
		 struct hotspot_failure *failure);

/* What a JVM says to "load". */
struct hotspot_answer {
	bool was_loaded; /* the agent's function was called, and returned `returned` */
	long returned;
	const char *text; /* why it was not loaded: its first line; in the answer itself */
	size_t text_size;
};

/* False where the bytes are no answer. */
bool hotspot_read_answer(struct bytes answer, struct hotspot_answer *read);

#endif
