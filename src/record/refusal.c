#include "record/refusal.h"

#include <errno.h>
#include <string.h>

static void explain_denied(const struct say *say, const struct refusal *refusal)
{
	const struct os_perf_limits limits = os_perf_limits();
	const int paranoid = limits.paranoid;
	if (!limits.is_privileged && paranoid > 2) {
		say_error(say, "perf events are closed to users: kernel.perf_event_paranoid is %d",
			  paranoid);
		say_try(say, "sudo sysctl kernel.perf_event_paranoid=1");
	} else if (!limits.is_privileged && refusal->system_wide && paranoid > 0) {
		say_error(say,
			  "watching all processes is not allowed: "
			  "kernel.perf_event_paranoid is %d",
			  paranoid);
		say_try(say, "sudo sysctl kernel.perf_event_paranoid=0");
	} else if (!limits.is_privileged && refusal->pid) {
		say_error(say,
			  "process %d belongs to another user, or does not let itself be traced",
			  refusal->pid);
		say_try(say, "the same with sudo");
	} else {
		say_error(say,
			  "perf_event_open is refused although kernel.perf_event_paranoid (%d) "
			  "allows it: a filter of the container, or a security module",
			  paranoid);
		say_try(say, "docker run --cap-add PERFMON --security-opt seccomp=unconfined");
	}
}

void refusal_explain(const struct say *say, int error, const struct refusal *refusal)
{
	switch (error) {
	case EACCES:
	case EPERM:
		explain_denied(say, refusal);
		break;
	case ENOSYS:
		say_error(say, "this kernel has no perf events (or the sandbox hides them)");
		break;
	case EMFILE:
	case ENFILE:
		say_error(say, "too many threads times CPUs: no more files can be opened");
		say_try(say, error == EMFILE ? "ulimit -Hn 1048576"
					     : "sudo sysctl fs.file-max=9223372036854775807");
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		say_error(say, "%s is not available on this machine", refusal->what);
		break;
	case EINVAL:
		say_error(say, "%s cannot be sampled like this on this machine", refusal->what);
		break;
	case EBUSY:
		say_error(say, "%s is taken by another profiler", refusal->what);
		break;
	default:
		say_error(say, "%s: %s", refusal->what, strerror(error));
		break;
	}
}

void refusal_note_kernel(const struct say *say)
{
	say_note(say,
		 "only user space is sampled: kernel.perf_event_paranoid is %d "
		 "(sudo sysctl kernel.perf_event_paranoid=1 adds the kernel)",
		 os_perf_limits().paranoid);
}
