/* dotnet_ipc.h - the door of .NET, 5 and newer: how its own tools talk to it.
 *
 *   const int door = dotnet_ipc_find(&target);
 *   struct dotnet_call call = { .target = &target, .door_fd = door, .set = DOTNET_PROCESS,
 *                               .command = DOTNET_PROCESS_INFO_2, .cancel_fd = -1, ... };
 *   struct sink answer = { .limit = DOTNET_MESSAGE_LIMIT };
 *   got = dotnet_ipc_call(&call, &answer, &failure);
 *   dotnet_ipc_read_info(sink_bytes(&answer), &info);
 *
 * A runtime listens on dotnet-diagnostic-N-K-socket in its $TMPDIR or /tmp, where N is its own view
 * of its PID and K when it started, in ticks since the machine did. One request goes over a
 * connection, and one answer comes; behind that of "collect" the events follow, until the session
 * is stopped or the connection closed.
 *
 * A socket is never found by its path alone: what is connected to is the inode that was looked
 * at, and the kernel must say that the process itself listens there.
 *
 * Source: "Diagnostic IPC Protocol" in documentation/design-docs of dotnet/diagnostics.
 */
#ifndef ATTACH_DOTNET_IPC_H
#define ATTACH_DOTNET_IPC_H

#include "attach/target.h"
#include "base/sink.h"

enum {
	DOTNET_HEADER_SIZE = 20,
	DOTNET_MESSAGE_LIMIT = 65535, /* the size is a 16-bit number */
};

enum dotnet_set { DOTNET_EVENTS = 2, DOTNET_PROCESS = 4, DOTNET_ANSWER = 0xff };

enum dotnet_command {
	DOTNET_EVENTS_STOP = 1,
	DOTNET_EVENTS_COLLECT_2 = 3,
	DOTNET_EVENTS_COLLECT_4 = 5, /* .NET 9 */
	DOTNET_PROCESS_SET_VARIABLE = 3,
	DOTNET_PROCESS_INFO_2 = 4,     /* .NET 6 */
	DOTNET_PROCESS_ENABLE_MAP = 5, /* .NET 8 */
	DOTNET_PROCESS_DISABLE_MAP = 6,
	DOTNET_ANSWER_OK = 0,
	DOTNET_ANSWER_ERROR = 0xff,
};

/* Of ENABLE_MAP. */
enum dotnet_map_type { DOTNET_MAP_BOTH = 1, DOTNET_MAP_JITDUMP = 2, DOTNET_MAP_PERF_MAP = 3 };

/* HRESULTs. */
static const uint32_t DOTNET_UNKNOWN_COMMAND = 0x80131385;
static const uint32_t DOTNET_NOT_SUPPORTED = 0x80131515;

struct dotnet_call {
	const struct attach_target *target;
	int door_fd;
	uint8_t set;
	uint8_t command;
	struct bytes payload;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	int cancel_fd;        /* readable: give up; -1: none */
	int *kept_fd;         /* NULL, or takes the connection, whose next bytes are the events */
	/* NULL, or called once, when the answer takes more than two seconds. */
	void (*on_slow)(void *context);
	void *context;
};

/* How far a call came that failed. */
enum dotnet_stage {
	DOTNET_DONE,
	DOTNET_CONNECT, /* nobody listens, or one may not */
	DOTNET_PEER,    /* another process does */
	DOTNET_TALK,    /* the connection broke, or no answer came in time */
	DOTNET_GARBAGE, /* what came is no answer */
	DOTNET_REFUSED, /* it was answered with an error */
	DOTNET_CANCELLED,
};

struct dotnet_failure {
	enum dotnet_stage stage;
	int error;     /* errno, or 0 */
	uint32_t code; /* of DOTNET_REFUSED: an HRESULT */
};

/* An O_PATH descriptor of the process's socket, or -1 with errno: ENOENT where it has none. */
int dotnet_ipc_find(const struct attach_target *target);

/* The directory that it lies in, as the process sees it: its $TMPDIR, or /tmp. */
void dotnet_ipc_directory(const struct attach_target *target, char directory[PATH_MAX]);

/* Returns 0 with the answer's payload, or STATUS_IO, _TOO_BIG, _NO_MEMORY, and where. */
int dotnet_ipc_call(const struct dotnet_call *call, struct sink *answer,
		    struct dotnet_failure *failure);

struct dotnet_header {
	uint16_t size; /* of the whole message */
	uint8_t set;
	uint8_t command;
};

/* False where the bytes begin no message. */
bool dotnet_ipc_read_header(struct bytes message, struct dotnet_header *header);

/* What ProcessInfo2 tells. */
struct dotnet_info {
	uint64_t pid;     /* its own view */
	char version[32]; /* "10.0.12"; what is no printable ASCII as '?' */
	unsigned major;   /* 10; 0: the version says nothing */
};

bool dotnet_ipc_read_info(struct bytes payload, struct dotnet_info *info);

/* As UTF-16 with its length in front; "" is how a variable is taken away. False where the text is
 * no UTF-8.
 */
bool dotnet_ipc_put_text(struct sink *payload, const char *text);

/* Which providers' events: "Microsoft-Windows-DotNETRuntime:0x20018:5,..." as in
 * DOTNET_EventPipeConfig. The command to use comes by `major`: .NET 9 takes what the rundown
 * shall tell. False where the text is none.
 */
bool dotnet_ipc_put_collect(struct sink *payload, const char *config, unsigned major,
			    uint8_t *command);

#endif
