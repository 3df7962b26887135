#include "record/doctor.h"

#include "agent/python/protocol.h"
#include "attach/library.h"
#include "base/sink.h"
#include "base/status.h"
#include "os/bpf.h"
#include "os/perf_event.h"
#include "os/proc.h"
#include "record/agents.h"
#include "record/interpreters.h"
#include "record/private_dir.h"
#include "record/runtimes_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WANTED_HZ = 4999 };

const char *doctor_verdict_name(enum doctor_verdict verdict)
{
	static const char *const NAMES[DOCTOR_VERDICT_COUNT] = { "ok", "limited", "refused" };
	return NAMES[verdict];
}

static void add(struct doctor *doctor, struct doctor_finding finding)
{
	struct doctor_finding *slot = vector_push(&doctor->findings);
	if (!slot)
		return;
	*slot = finding;
	if (!slot->text)
		slot->text = "";
	if (!slot->try)
		slot->try = "";
}

/* errno of opening an event on ourselves, or 0. */
static int try_event(uint32_t type, uint64_t config, bool with_kernel)
{
	const struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_kernel = !with_kernel,
		.exclude_hv = 1,
	};
	const int fd = os_perf_open(&attr, 0, -1);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void examine_sampling(struct doctor *doctor, const struct os_perf_limits *limits)
{
	struct doctor_finding finding = { .name = "sampling", .verdict = DOCTOR_REFUSED };
	const int error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false);
	if (error == 0) {
		finding.verdict = DOCTOR_OK;
		finding.text = "programs of this user can be recorded";
	} else if (error == ENOSYS) {
		finding.text = "this kernel has no perf events, or the sandbox hides them";
	} else if (!limits->is_privileged && limits->paranoid > 2) {
		finding.text = runtimes_printf(&doctor->arena,
					       "perf events are closed to users: "
					       "kernel.perf_event_paranoid is %d",
					       limits->paranoid);
		finding.try = "sudo sysctl kernel.perf_event_paranoid=1";
	} else {
		finding.text =
		    runtimes_printf(&doctor->arena,
				    "perf_event_open is refused (%s): by a filter of the "
				    "container, or a security module",
				    strerror(error)); // NOLINT
		finding.try = "docker run --cap-add PERFMON --security-opt seccomp=unconfined ...";
	}
	doctor->can_record = finding.verdict == DOCTOR_OK;
	add(doctor, finding);
}

static void examine_scope(struct doctor *doctor, const struct os_perf_limits *limits)
{
	const bool sees_kernel = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true) == 0;
	struct doctor_finding kernel = { .name = "kernel", .text = "samples in the kernel, too" };
	if (!sees_kernel) {
		kernel.verdict = DOCTOR_LIMITED;
		kernel.text = runtimes_printf(&doctor->arena,
					      "only user space is sampled: "
					      "kernel.perf_event_paranoid is %d",
					      limits->paranoid);
		kernel.try = "sudo sysctl kernel.perf_event_paranoid=1";
	}
	add(doctor, kernel);

	const bool sees_all = limits->is_privileged || limits->paranoid <= 0;
	struct doctor_finding all = { .name = "all processes", .text = "record -a is allowed" };
	if (!sees_all) {
		all.verdict = DOCTOR_LIMITED;
		all.text = runtimes_printf(&doctor->arena,
					   "record -a is refused: kernel.perf_event_paranoid is %d",
					   limits->paranoid);
		all.try = "sudo sysctl kernel.perf_event_paranoid=0";
	}
	add(doctor, all);
}

static void examine_counters(struct doctor *doctor)
{
	struct doctor_finding finding = { .name = "hardware counters",
					  .text = "cycles and others can be counted" };
	const int error = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
	if (error) {
		finding.verdict = DOCTOR_LIMITED;
		finding.text = "there are none, as in most virtual machines: time is sampled "
			       "instead of cycles (cpu-clock)";
	}
	add(doctor, finding);
}

static void examine_rates(struct doctor *doctor, const struct os_perf_limits *limits)
{
	struct doctor_finding rate = { .name = "sample rate" };
	rate.text = runtimes_printf(&doctor->arena, "up to %llu samples a second on each CPU",
				    (unsigned long long)limits->max_sample_rate);
	if (limits->max_sample_rate < WANTED_HZ) {
		rate.verdict = DOCTOR_LIMITED;
		rate.try = "sudo sysctl kernel.perf_event_max_sample_rate=100000";
	}
	add(doctor, rate);

	struct doctor_finding memory = { .name = "ring memory" };
	if (limits->can_lock) {
		memory.text = "as much as is asked for";
	} else {
		memory.text = runtimes_printf(&doctor->arena, "%llu kB for each CPU",
					      (unsigned long long)limits->mlock_bytes / 1024);
		if (limits->mlock_bytes / 1024 < 516) {
			memory.verdict = DOCTOR_LIMITED;
			memory.try = "sudo sysctl kernel.perf_event_mlock_kb=8192";
		}
	}
	add(doctor, memory);
}

/* True if /proc/kallsyms shows us addresses. */
static bool sees_kernel_addresses(void)
{
	char line[64];
	proc_line("/proc/kallsyms", line, sizeof(line));
	return line[0] && strspn(line, "0") < 16;
}

static void examine_kernel_symbols(struct doctor *doctor, const struct os_perf_limits *limits)
{
	struct doctor_finding finding = { .name = "kernel symbols",
					  .text = "the kernel's functions can be named" };
	if (!sees_kernel_addresses()) {
		finding.verdict = DOCTOR_LIMITED;
		finding.text = runtimes_printf(
		    &doctor->arena,
		    "the kernel hides its addresses: kernel.kptr_restrict is %ld, "
		    "kernel.perf_event_paranoid %d",
		    proc_number("/proc/sys/kernel/kptr_restrict", 0), limits->paranoid);
		finding.try = "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";
	}
	add(doctor, finding);
}

/* Writes to a file that has no name and looks at its times: two writes within a tick of
 * the clock differ only where the kernel stamps finely.
 */
static bool stamps_finely(const char *directory)
{
	const int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	struct stat before;
	struct stat after;
	bool is_fine = false;
	for (int i = 0; i < 8 && !is_fine; i++) {
		if (write(fd, "x", 1) != 1 || fstat(fd, &before) != 0 || write(fd, "y", 1) != 1 ||
		    fstat(fd, &after) != 0)
			break;
		const long long ns = (after.st_mtim.tv_sec - before.st_mtim.tv_sec) * 1000000000LL +
				     after.st_mtim.tv_nsec - before.st_mtim.tv_nsec;
		is_fine = ns > 0 && ns < 500000; /* the shortest tick is a millisecond */
	}
	close(fd);
	return is_fine;
}

static void examine_files(struct doctor *doctor)
{
	struct doctor_finding maps = { .name = "perf maps" };
	const int fd = inotify_init1(IN_CLOEXEC);
	if (fd < 0) {
		maps.verdict = DOCTOR_LIMITED;
		maps.text = "inotify is refused: maps are looked at every 10 ms instead";
		maps.try = "sudo sysctl fs.inotify.max_user_instances=1024";
	} else {
		close(fd);
		maps.text = stamps_finely("/tmp")
				? "each line can be dated to a few microseconds"
				: "each line can be dated to about 50 microseconds";
	}
	add(doctor, maps);

	struct private_dir dir;
	struct doctor_finding place = { .name = "private directory" };
	if (private_dir_make(&dir) == 0) {
		const char *slash = strrchr(dir.root, '/');
		place.text = runtimes_printf(&doctor->arena, "dumps go under %.*s",
					     (int)(slash - dir.root), dir.root);
		private_dir_remove(&dir);
	} else {
		place.verdict = DOCTOR_LIMITED;
		place.text = "no place for dumps can be written and mapped executable "
			     "($XDG_RUNTIME_DIR, $TMPDIR, /tmp, /var/tmp)";
		place.try = "sudo mount -o remount,exec /tmp";
	}
	add(doctor, place);
}

/* The effective capabilities, from /proc/self/status: no library for one line. */
static uint64_t capabilities(void)
{
	struct sink text = { .limit = 1 << 16 };
	uint64_t bits = 0;
	if (proc_read(&text, "/proc/self/status") == 0) {
		sink_u8(&text, 0);
		const char *line =
		    sink_failed(&text) ? NULL : strstr((const char *)text.data, "\nCapEff:\t");
		for (line = line ? line + 9 : ""; *line && *line != '\n'; line++)
			bits =
			    bits << 4 | (uint64_t)(*line <= '9' ? *line - '0' : *line - 'a' + 10);
	}
	sink_clear(&text);
	return bits;
}

static void examine_programs(struct doctor *doctor)
{
	struct doctor_finding programs = { .name = "bpf programs",
					   .text = "their code and lines go into recordings" };
	uint32_t id = 0;
	const int got = os_bpf_next(&id);
	if (got < 0 && got != STATUS_NOT_FOUND) {
		programs.verdict = DOCTOR_LIMITED;
		programs.text = "their code and lines cannot be read: that takes CAP_SYS_ADMIN";
		programs.try = "sudo polyperf record ...";
	}
	add(doctor, programs);
}

static void examine_privileges(struct doctor *doctor)
{
	static const struct {
		unsigned bit;
		const char *name;
	} KNOWN[] = { { 19, "CAP_SYS_PTRACE" },
		      { 21, "CAP_SYS_ADMIN" },
		      { 34, "CAP_SYSLOG" },
		      { 38, "CAP_PERFMON" },
		      { 39, "CAP_BPF" } };
	const uint64_t bits = capabilities();
	struct sink text = { 0 };
	for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++)
		if (bits >> KNOWN[i].bit & 1)
			sink_printf(&text, "%s%s", text.size ? ", " : "", KNOWN[i].name);
	struct doctor_finding held = { .name = "capabilities", .text = "none, as for most users" };
	if (text.size && !sink_failed(&text))
		held.text = runtimes_copy(&doctor->arena, (const char *)text.data, text.size);
	sink_clear(&text);
	add(doctor, held);

	const bool has_bpf = bits >> 39 & 1 || bits >> 21 & 1;
	struct doctor_finding bpf = { .name = "bpf", .text = "BPF programs can be loaded" };
	if (!has_bpf) {
		bpf.verdict = DOCTOR_LIMITED;
		bpf.text = "BPF programs cannot be loaded: that takes CAP_BPF and CAP_PERFMON";
		bpf.try =
		    "sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep \"$(command -v polyperf)\"";
	}
	add(doctor, bpf);
	examine_programs(doctor);
	struct doctor_finding btf = { .name = "btf",
				      .text = "the kernel describes its types "
					      "(/sys/kernel/btf/vmlinux)" };
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		btf.verdict = DOCTOR_LIMITED;
		btf.text = "the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)";
	}
	add(doctor, btf);
}

/* Returns whether they are walked. */
static bool examine_interpreters(struct doctor *doctor)
{
	struct doctor_finding walk = { .name = "interpreters",
				       .text = "functions of Python, PHP, Ruby and Perl are read "
					       "at each sample" };
	const int result = interpreters_try();
	if (result < 0) {
		char buffer[256];
		const char *reason = interpreters_reason(result, buffer, sizeof(buffer));
		walk.verdict = DOCTOR_LIMITED;
		walk.text = runtimes_printf(&doctor->arena,
					    "functions of Python, PHP, Ruby and Perl are not read "
					    "at samples: %s",
					    reason);
		if (result == STATUS_DENIED)
			walk.try = "sudo polyperf record ...";
	}
	add(doctor, walk);
	return result == 0;
}

/* Returns whether they can be had. */
static bool examine_agents(struct doctor *doctor)
{
	char library[PATH_MAX];
	const char *reason;
	struct doctor_finding agents = { .name = "python agent",
					 .text = "functions of Python can be read without "
						 "privilege, by a library in it" };
	if (!attach_find_library_named(AGENT_LIBRARY, library))
		agents.text = "not installed: without privilege functions of Python are not read";
	else if (agents_try(&reason) < 0)
		agents.text = runtimes_printf(
		    &doctor->arena, "without privilege functions of Python are not read: %s",
		    reason);
	else {
		add(doctor, agents);
		return true;
	}
	agents.verdict = DOCTOR_LIMITED;
	add(doctor, agents);
	return false;
}

static void examine_tools(struct doctor *doctor)
{
	const char *path = runtimes_find_program(&doctor->arena, "perf", getenv("PATH"));
	struct doctor_finding perf = { .name = "perf", .text = path };
	if (!path) {
		perf.verdict = DOCTOR_LIMITED;
		perf.text = "not installed; recordings can be read without it, too";
		perf.try = "sudo apt install linux-perf";
	}
	add(doctor, perf);
}

int doctor_examine(struct doctor *doctor)
{
	*doctor = (struct doctor){ 0 };
	const struct os_perf_limits limits = os_perf_limits();
	examine_sampling(doctor, &limits);
	examine_scope(doctor, &limits);
	examine_counters(doctor);
	examine_rates(doctor, &limits);
	examine_kernel_symbols(doctor, &limits);
	examine_files(doctor);
	examine_privileges(doctor);
	const bool is_walked = examine_interpreters(doctor);
	const bool has_agents = examine_agents(doctor);
	examine_tools(doctor);
	struct runtimes_installed *found;
	const int got = runtimes_find_installed(
	    &doctor->arena, getenv("PATH"),
	    &(struct runtimes_options){ .is_walked = is_walked, .has_agents = has_agents }, &found);
	if (got < 0)
		return got;
	doctor->runtimes = found;
	doctor->runtime_count = (size_t)got;
	return 0;
}

void doctor_clear(struct doctor *doctor)
{
	vector_clear(&doctor->findings);
	arena_clear(&doctor->arena);
}
