/* walk_image.c - stops a process, walks it as the kernel would, and writes what was read.
 *
 *   walk_image PID > tests/data/frames/NAME.image
 *
 * The last line of the output has the frames: look at them before they are believed.
 */
#include "base/status.h"
#include "interp/host.h"
#include "interp/image.h"
#include "interp/interp.h"
#include "os/memory.h"

#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

struct target {
	pid_t pid;
	struct image image;
};

static bool read_target(void *context, uint64_t avma, void *to, size_t size)
{
	struct target *target = context;
	if (!os_memory_read(target->pid, avma, to, size))
		return false;
	image_add(&target->image, avma, to, size);
	return true;
}

static bool stop(pid_t pid, struct walk_registers *registers)
{
	struct user_regs_struct user;
	int status;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0 ||
	    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, pid, NULL, &user) != 0)
		return false;
	*registers = (struct walk_registers){ .ip = user.rip,
					      .sp = user.rsp,
					      .bp = user.rbp,
					      .bx = user.rbx,
					      .si = user.rsi,
					      .r14 = user.r14,
					      .r15 = user.r15,
					      .fs = user.fs_base,
					      .dx = user.rdx,

					      .r12 = user.r12,
					      .r13 = user.r13 };
	return true;
}

int main(int argc, char **argv)
{
	struct target target = { .pid = argc == 2 ? (pid_t)strtol(argv[1], NULL, 10) : 0 };
	struct sink out = { .limit = 1 << 20 };
	struct told told = { .out = &out };
	struct host host = {
		.context = &target, .read = read_target, .told = &told, .failing_read = -1
	};
	struct interp_process process;
	if (target.pid <= 0)
		return 2;
	const int found = interp_process_open(&process, NULL, target.pid);
	if (found != 0 || !process.walk.runtime_count ||
	    !stop(target.pid, &target.image.registers)) {
		fprintf(stderr, "walk_image: %s\n", found ? status_text(found) : "nothing to walk");
		return 1;
	}
	process.walk.runtimes[0].id = 1;
	target.image.runtime = process.walk.runtimes[0];
	const struct walk_sample at = { .pid = 1, .tid = 1 };
	host_walk(&host, &target.image.runtime, &target.image.registers, &at);
	ptrace(PTRACE_DETACH, target.pid, NULL, NULL);
	/* Behind time, pid, tid and ip. */
	sink_u8(&out, 0);
	char *line = (char *)out.data;
	for (int i = 0; i < 4 && line; i++)
		line = strchr(line, '\t') ? strchr(line, '\t') + 1 : NULL;
	if (line) {
		line[strcspn(line, "\n")] = '\0';
		target.image.expected = strdup(line);
	}
	printf("# %s %s\n", interp_language_name(process.found[0].runtime.language),
	       process.found[0].version);
	image_write(&target.image, stdout);
	image_clear(&target.image);
	told_clear(&told);
	host_clear(&host);
	sink_clear(&out);
	return 0;
}
