#include "record/interpreters.h"

#include "base/idmap.h"
#include "base/status.h"
#include "base/vector.h"
#include "interp/interp.h"
#include "os/clock.h"
#include "os/proc.h"
#include "record/agents.h"
#include "record/attr.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEVER UINT64_MAX

enum { MAX_PROCESSES = 4096 };

/* The loader is at work when a process is seen first: what it has not mapped or set up yet makes a
 * refusal. The wait is doubled each time; the last look is 2 s behind the first.
 */
static const uint64_t first_wait_ns = 2ull * 1000 * 1000;
enum { MAX_LOOKS = 10 };
/* Programs that are walked load modules one by one. */
static const uint64_t loading_pause_ns = 100ull * 1000 * 1000;
/* Whether the walk is loaded is asked this often. */
static const uint64_t load_pause_ns = 10ull * 1000 * 1000;

struct watched {
	pid_t pid; /* 0: a free place */
	unsigned look_count;
	uint64_t due_ns; /* of the next look */
	uint64_t looked_ns;
	bool
	    was_looked_at; /* as this program: `seen` is not of its parent, or from before exec() */
	bool is_walked;    /* the walker was told of `seen.walk`, with its ids */
	struct interp_process seen; /* by the last look */
};

struct interpreters {
	const struct say *say;
	struct walker *walker; /* NULL: none, for this reason */
	enum { LOAD_NONE, LOAD_RUNNING, LOAD_DONE, LOAD_FAILED } load_state;
	bool has_started; /* records are coming in: nothing may take long */
	pthread_t thread;
	atomic_bool is_thread_done;
	int load_result;
	int load_errno;
	char reason[256];
	bool was_reason_said;
	const struct agents *agents; /* which tell of Pythons; NULL: nobody else does */
	struct interp_cache cache;
	struct idmap by_pid; /* index + 1 in `watched` */
	VECTOR(struct watched) watched;
	uint64_t due_ns; /* not after the first of them */
	VECTOR(struct interp_found) told;
	bool is_full;
	bool has_stacks;
};

const char *interpreters_reason(int status, char *buffer, size_t size)
{
	const char *words = walker_error();
	if (status == STATUS_DENIED)
		return "that takes CAP_BPF and CAP_PERFMON";
	if (status == STATUS_UNSUPPORTED && !*words)
		return "that takes Linux 5.17 with BTF";
	if (status != STATUS_UNSUPPORTED)
		return status == STATUS_IO ? strerror(errno) : status_text(status); // NOLINT
	(void)snprintf(buffer, size, "%.*s", (int)strcspn(words, "\n"), words);
	return buffer;
}

/* The event that the walk writes into, of one CPU: asks more of the user than events of processes.
 */
static int try_output(void)
{
	const struct attr_support support = { .clockid = true };
	const struct perf_event_attr attr = attr_for_frames(&support);
	const int fd = os_perf_open(&attr, -1, 0);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	return errno == EACCES || errno == EPERM ? STATUS_DENIED : STATUS_IO;
}

static void keep_reason(struct interpreters *in, int result)
{
	char buffer[sizeof(in->reason)];
	const char *reason = interpreters_reason(result, buffer, sizeof(buffer));
	(void)snprintf(in->reason, sizeof(in->reason), "%s", reason);
}

/* Who asked for the walk gets it or an error; others are told when an interpreter is seen. */
static int conclude(struct interpreters *in, enum record_interpreters how, int result)
{
	if (result == 0 || result == STATUS_NO_MEMORY)
		return result;
	keep_reason(in, result);
	if (how == RECORD_INTERPRETERS_AUTO)
		return 0;
	say_error(in->say, "interpreters cannot be walked: %s", in->reason);
	if (result == STATUS_DENIED)
		say_try(in->say, "sudo polyperf record ...");
	return result;
}

static int try_and_open(struct walker **walker, bool later)
{
	const struct walker_options options = { .max_processes = MAX_PROCESSES, .later = later };
	const int result = try_output();
	*walker = NULL;
	return result ? result : walker_open(walker, &options);
}

int interpreters_try(void)
{
	struct walker *walker;
	const int result = try_and_open(&walker, false);
	walker_close(walker);
	return result;
}

static int open_walker(struct interpreters *in, enum record_interpreters how)
{
	int result = try_and_open(&in->walker, true);
	/* What the walk itself will ask for. */
	if (result == 0 && access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		walker_close(in->walker);
		in->walker = NULL;
		result = STATUS_UNSUPPORTED;
	}
	return conclude(in, how, result);
}

int interpreters_expect(struct interpreters *in, enum record_interpreters how)
{
	const int result = in->walker ? walker_load(in->walker) : 0;
	in->load_state = result < 0 ? LOAD_FAILED : LOAD_DONE;
	return conclude(in, how, result);
}

static void *load_in_thread(void *context)
{
	struct interpreters *in = context;
	in->load_result = walker_load(in->walker);
	in->load_errno = errno;
	atomic_store(&in->is_thread_done, true);
	return NULL;
}

static void finish_loading(struct interpreters *in, int result)
{
	in->load_state = result < 0 ? LOAD_FAILED : LOAD_DONE;
	if (result < 0)
		keep_reason(in, result);
}

static void start_loading(struct interpreters *in)
{
	if (in->has_started && pthread_create(&in->thread, NULL, load_in_thread, in) == 0)
		in->load_state = LOAD_RUNNING;
	else
		finish_loading(in, walker_load(in->walker));
}

void interpreters_start(struct interpreters *in, bool is_likely)
{
	in->has_started = true;
	if (is_likely && in->walker && in->load_state == LOAD_NONE)
		start_loading(in);
}

/* True as soon as the walk can be told of processes. */
static bool is_loaded(struct interpreters *in)
{
	if (!in->walker)
		return false;
	if (in->load_state == LOAD_RUNNING && atomic_load(&in->is_thread_done)) {
		pthread_join(in->thread, NULL);
		errno = in->load_errno;
		finish_loading(in, in->load_result);
	}
	if (in->load_state == LOAD_NONE)
		start_loading(in);
	return in->load_state == LOAD_DONE;
}

int interpreters_new(struct interpreters **made, enum record_interpreters how,
		     const struct say *say)
{
	struct interpreters *in = calloc(1, sizeof(*in));
	if (!in)
		return STATUS_NO_MEMORY;
	in->say = say;
	in->due_ns = NEVER;
	const int result = open_walker(in, how);
	if (result < 0) {
		interpreters_free(in);
		return result;
	}
	*made = in;
	return 0;
}

void interpreters_free(struct interpreters *in)
{
	if (!in)
		return;
	if (in->load_state == LOAD_RUNNING)
		pthread_join(in->thread, NULL);
	walker_close(in->walker);
	interp_cache_clear(&in->cache);
	idmap_clear(&in->by_pid);
	vector_clear(&in->watched);
	vector_clear(&in->told);
	free(in);
}

void interpreters_leave_python(struct interpreters *in, const struct agents *agents)
{
	in->agents = agents;
}

struct walker *interpreters_walker(const struct interpreters *in)
{
	return in->load_state == LOAD_FAILED ? NULL : in->walker;
}

void interpreters_have_stacks(struct interpreters *in)
{
	in->has_stacks = true;
}

const struct walk_process *interpreters_process(const struct interpreters *in, pid_t pid)
{
	const uint32_t index = idmap_get(&in->by_pid, (uint64_t)pid);
	return index ? &in->watched.items[index - 1].seen.walk : NULL;
}

static struct watched *find(struct interpreters *in, pid_t pid)
{
	const uint32_t index = idmap_get(&in->by_pid, (uint64_t)pid);
	return index ? &in->watched.items[index - 1] : NULL;
}

static struct watched *add(struct interpreters *in, pid_t pid)
{
	uint32_t *index = idmap_put(&in->by_pid, (uint64_t)pid);
	if (!index)
		return NULL;
	size_t place = 0;
	while (place < in->watched.count && in->watched.items[place].pid)
		place++;
	if (place == in->watched.count && !vector_push(&in->watched))
		return NULL;
	*index = (uint32_t)place + 1;
	in->watched.items[place] = (struct watched){ .pid = pid, .due_ns = NEVER };
	return &in->watched.items[place];
}

static void stop_walking(struct interpreters *in, struct watched *watched)
{
	if (watched->is_walked)
		(void)walker_remove(in->walker, watched->pid);
	watched->is_walked = false;
}

static void drop(struct interpreters *in, struct watched *watched)
{
	stop_walking(in, watched);
	uint32_t *index = idmap_put(&in->by_pid, (uint64_t)watched->pid);
	if (index)
		*index = 0;
	watched->pid = 0;
	watched->due_ns = NEVER;
}

static void mark(struct interpreters *in, struct watched *watched, uint64_t due_ns)
{
	if (due_ns < watched->due_ns)
		watched->due_ns = due_ns;
	if (due_ns < in->due_ns)
		in->due_ns = due_ns;
}

/* Everything that was found can be walked. */
static bool is_settled(const struct watched *watched)
{
	return watched->seen.found_count &&
	       watched->seen.walk.runtime_count == watched->seen.found_count;
}

void interpreters_mapping(struct interpreters *in, const struct build_id_file *file)
{
	struct watched *watched = find(in, file->pid);
	const bool is_boring = !file->inode || file->path[0] != '/' ||
			       interp_cache_has(&in->cache, file->maj, file->min, file->inode);
	if (watched && is_settled(watched)) {
		if (!is_boring && watched->seen.found_count < WALK_MAX_RUNTIMES)
			mark(in, watched, watched->looked_ns + loading_pause_ns);
		return;
	}
	if (!watched && !is_boring)
		watched = add(in, file->pid);
	if (watched)
		mark(in, watched, 0);
}

/* Whatever it has now will be seen by a look: records of several CPUs come in no order. */
void interpreters_exec(struct interpreters *in, pid_t pid)
{
	struct watched *watched = find(in, pid);
	if (!watched)
		return;
	watched->look_count = 0;
	watched->was_looked_at = false;
	mark(in, watched, 0);
}

/* While the parent lives, its descriptor is taken for the child, too: but it may not live long. */
void interpreters_fork(struct interpreters *in, pid_t parent_pid, pid_t pid)
{
	struct watched *parent = find(in, parent_pid);
	struct watched *child = find(in, pid);
	if (child)
		mark(in, child, 0);
	if (child || !parent)
		return;
	child = add(in, pid);
	parent = find(in, parent_pid); /* it may have moved */
	if (!child)
		return;
	*child = *parent;
	child->pid = pid;
	child->was_looked_at = false;
	if (parent->is_walked)
		child->is_walked = walker_add(in->walker, pid, &child->seen.walk) == 0;
	else if (child->seen.walk.runtime_count && interpreters_walker(in))
		mark(in, child, 0);
	in->due_ns = child->due_ns < in->due_ns ? child->due_ns : in->due_ns;
}

static bool is_agents(const struct interpreters *in, const struct interp_found *found)
{
	return in->agents && found->runtime.language == WALK_PYTHON;
}

static void tell_refusal(struct interpreters *in, const struct interp_found *found,
			 const char *language, pid_t pid)
{
	if (found->refusal) {
		say_note(in->say, "%s %s (process %d): its functions are not read: %s", language,
			 found->version, pid, found->refusal);
		return;
	}
	const bool is_slot = found->runtime.language == WALK_SLOT;
	if (is_slot && in->has_stacks) {
		say_note(in->say,
			 "%s %s (process %d): its functions are read from the copies of its stack",
			 language, found->version, pid);
		return;
	}
	const bool lacks_agent = is_agents(in, found);
	say_note(in->say, "%s %s (process %d): its functions are not read at each sample: %s",
		 language, found->version, pid,
		 lacks_agent ? "no agent came into it, and the kernel may not be asked"
			     : in->reason);
	if (!in->was_reason_said)
		say_try(in->say, is_slot
				     ? "polyperf record -g dwarf ..., or sudo polyperf record ..."
				     : "sudo polyperf record ...");
	in->was_reason_said = true;
}

static void tell_of(struct interpreters *in, const struct interp_found *found, pid_t pid)
{
	for (size_t i = 0; i < in->told.count; i++) {
		const struct interp_found *told = &in->told.items[i];
		if (told->runtime.language == found->runtime.language &&
		    told->refusal == found->refusal && strcmp(told->version, found->version) == 0)
			return;
	}
	struct interp_found *slot = vector_push(&in->told);
	if (slot)
		*slot = *found;
	const char *language = interp_language_name((enum walk_language)found->runtime.language);
	if (interpreters_walker(in) && !found->refusal)
		say_note(in->say, "%s %s (process %d): its functions are read at each sample",
			 language, found->version, pid);
	else
		tell_refusal(in, found, language, pid);
}

static void tell(struct interpreters *in, const struct watched *watched, bool with_refusals)
{
	for (size_t i = 0; i < watched->seen.found_count; i++)
		if (!is_agents(in, &watched->seen.found[i]) &&
		    (with_refusals || !watched->seen.found[i].refusal))
			tell_of(in, &watched->seen.found[i], watched->pid);
}

/* An agent that is on its way says so before its process ends. */
static void tell_at_end(struct interpreters *in, const struct watched *watched)
{
	tell(in, watched, true);
	for (size_t i = 0; i < watched->seen.found_count; i++)
		if (is_agents(in, &watched->seen.found[i]) && watched->was_looked_at &&
		    !agents_have(in->agents, watched->pid))
			tell_of(in, &watched->seen.found[i], watched->pid);
}

/* The leader of a process may end before its other threads do. */
static bool has_threads(pid_t pid)
{
	struct proc_ids tids = { 0 };
	const bool has = proc_tasks(pid, &tids) == 0 && tids.count > 1;
	vector_clear(&tids);
	return has;
}

void interpreters_exit(struct interpreters *in, pid_t pid)
{
	struct watched *watched = find(in, pid);
	if (!watched || has_threads(pid))
		return;
	tell_at_end(in, watched);
	drop(in, watched);
}

/* A process whose end was missed keeps its place until others need it. */
static void sweep(struct interpreters *in)
{
	for (size_t i = 0; i < in->watched.count; i++) {
		struct watched *watched = &in->watched.items[i];
		if (watched->pid && kill(watched->pid, 0) != 0 && errno == ESRCH)
			drop(in, watched);
	}
}

static bool is_same_program(const struct walk_process *a, const struct walk_process *b)
{
	return a->start_code_avma == b->start_code_avma && a->end_code_avma == b->end_code_avma &&
	       a->start_stack_avma == b->start_stack_avma;
}

/* A runtime that was known before keeps its number: what was told of its code holds. */
static void keep_ids(struct walk_process *walk, const struct walk_process *before)
{
	for (uint32_t i = 0; i < walk->runtime_count; i++)
		for (uint32_t k = 0; k < before->runtime_count; k++)
			if (walk->runtimes[i].language == before->runtimes[k].language)
				walk->runtimes[i].id = before->runtimes[k].id;
}

static void start_walking(struct interpreters *in, struct watched *watched,
			  const struct walk_process *before)
{
	struct walk_process *walk = &watched->seen.walk;
	if (watched->is_walked && is_same_program(walk, before))
		keep_ids(walk, before);
	if (watched->is_walked && memcmp(walk, before, sizeof(*walk)) == 0)
		return;
	int result = walker_add(in->walker, watched->pid, walk);
	if (result < 0 && errno == E2BIG) {
		sweep(in);
		result = walker_add(in->walker, watched->pid, walk);
	}
	watched->is_walked = result == 0;
	if (result < 0 && !in->is_full) {
		in->is_full = true;
		say_warning(in->say, "process %d is not walked: %s", watched->pid, strerror(errno));
	}
}

static void look_at(struct interpreters *in, struct watched *watched, uint64_t now_ns)
{
	const struct walk_process before = watched->seen.walk;
	const int result = interp_process_open(&watched->seen, &in->cache, watched->pid);
	watched->due_ns = NEVER;
	watched->looked_ns = now_ns;
	watched->was_looked_at = true;
	if (result < 0 || !watched->seen.found_count) {
		drop(in, watched);
		return;
	}
	if (!watched->seen.walk.runtime_count)
		stop_walking(in, watched);
	else if (is_loaded(in))
		start_walking(in, watched, &before);
	if (in->load_state == LOAD_RUNNING) {
		watched->due_ns = now_ns + load_pause_ns;
		return;
	}
	const unsigned round = watched->look_count++;
	if (!is_settled(watched) && round < MAX_LOOKS)
		watched->due_ns = now_ns + (first_wait_ns << round);
	tell(in, watched, watched->due_ns == NEVER);
}

uint64_t interpreters_look(struct interpreters *in, uint64_t now_ns)
{
	if (in->due_ns > now_ns)
		return in->due_ns;
	in->due_ns = NEVER;
	for (size_t i = 0; i < in->watched.count; i++) {
		struct watched *watched = &in->watched.items[i];
		if (watched->due_ns <= now_ns)
			look_at(in, watched, now_ns);
		if (watched->due_ns < in->due_ns)
			in->due_ns = watched->due_ns;
	}
	return in->due_ns;
}

void interpreters_end(struct interpreters *in)
{
	for (size_t i = 0; i < in->watched.count; i++)
		if (in->watched.items[i].pid)
			tell_at_end(in, &in->watched.items[i]);
}
