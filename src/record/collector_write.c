#include "base/status.h"
#include "os/proc.h"
#include "os/vdso.h"
#include "record/collector_internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 512 };

static int add_sink(struct bundle_writer *writer, const char *name, struct sink *content)
{
	const int got = sink_failed(content) ? STATUS_NO_MEMORY
					     : bundle_writer_add(writer, name, sink_bytes(content));
	sink_clear(content);
	return got;
}

/* How many maps of the same process are larger: the largest is the one that others see. */
static unsigned rank_of(const struct collector *c, size_t index)
{
	const struct map *map = &c->maps.items[index];
	const pid_t pid = c->processes.items[map->process].pid;
	unsigned rank = 0;
	for (size_t i = 0; i < c->maps.count; i++) {
		const struct map *other = &c->maps.items[i];
		if (i == index || other->process == COLLECTOR_NONE ||
		    c->processes.items[other->process].pid != pid)
			continue;
		rank += other->follow.known_size > map->follow.known_size ||
			(other->follow.known_size == map->follow.known_size && i < index);
	}
	return rank;
}

static int write_map(struct collector *c, struct bundle_writer *writer, size_t index)
{
	struct map *map = &c->maps.items[index];
	const pid_t pid = c->processes.items[map->process].pid;
	const unsigned rank = rank_of(c, index);
	char name[NAME_SIZE];
	if (rank == 0)
		(void)snprintf(name, sizeof(name), "process/%d/perf.map", pid);
	else
		(void)snprintf(name, sizeof(name), "process/%d/perf-%u.map", pid, rank + 1);
	if (!map->member || strcmp(map->member, name) != 0)
		map->member = collector_copy(c, name);
	const uint64_t size = map->follow.known_size - map->follow.skip_off;
	int got = bundle_writer_add_rest(writer, name, map->follow.fd, map->follow.skip_off, size);
	struct sink times = { 0 };
	const bool is_rewritten = follow_was_rewritten(&map->follow);
	if (is_rewritten) {
		collector_add_note(c,
				   "the map of process %d was written over in place: its names are "
				   "used without time",
				   pid);
		follow_settle(&map->follow);
	}
	follow_put_times(&map->follow, &times);
	(void)snprintf(name, sizeof(name), "%s.times", map->member);
	if (got == 0)
		got = add_sink(writer, name, &times);
	sink_clear(&times);
	/* Where lines were written over, code_index leads to others. */
	if (got == 0 && !is_rewritten)
		got = collector_write_code(c, writer, map);
	c->totals.map_count++;
	c->totals.map_bytes += size;
	return got;
}

static bool is_taken(const struct collector *c, const char *member)
{
	for (size_t i = 0; i < c->dumps.count; i++)
		if (c->dumps.items[i].member && strcmp(c->dumps.items[i].member, member) == 0)
			return true;
	return false;
}

/* A name for the zip: of the file, with nothing that unpacking could trip over. */
static void name_dump(struct collector *c, struct dump *dump)
{
	if (dump->member)
		return;
	char plain[256];
	(void)snprintf(plain, sizeof(plain), "%s", *dump->name ? dump->name : "dump");
	for (char *at = plain; *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-",
			    *at))
			*at = '_';
	if (plain[0] == '.')
		plain[0] = '_';
	char folder[64];
	(void)snprintf(folder, sizeof(folder), "unclaimed%s", dump->is_events ? "/clr" : "");
	if (dump->process != COLLECTOR_NONE)
		(void)snprintf(folder, sizeof(folder), "process/%d/%s",
			       c->processes.items[dump->process].pid,
			       dump->is_events ? "clr" : "jit");
	char name[NAME_SIZE];
	(void)snprintf(name, sizeof(name), "%s/%s", folder, plain);
	for (unsigned i = 2; is_taken(c, name); i++)
		(void)snprintf(name, sizeof(name), "%s/%s-%u", folder, plain, i);
	dump->member = collector_copy(c, name);
}

static int write_events(struct collector *c, struct bundle_writer *writer, struct dump *dump)
{
	const off_t size = lseek(dump->fd, 0, SEEK_END);
	const uint64_t bytes = size > 0 ? (uint64_t)size : 0;
	c->totals.events_count++;
	c->totals.events_bytes += bytes < COLLECTOR_EVENTS_LIMIT ? bytes : COLLECTOR_EVENTS_LIMIT;
	if (bytes > COLLECTOR_EVENTS_LIMIT)
		collector_add_note(c,
				   "of the events in %s, %llu MB, only the first %llu MB were kept",
				   dump->name, (unsigned long long)(bytes >> 20),
				   (unsigned long long)(COLLECTOR_EVENTS_LIMIT >> 20));
	return bundle_writer_add_fd(writer, dump->member, dump->fd, COLLECTOR_EVENTS_LIMIT);
}

static int write_dump(struct collector *c, struct bundle_writer *writer, struct dump *dump)
{
	name_dump(c, dump);
	if (dump->is_events)
		return write_events(c, writer, dump);
	c->totals.dump_count++;
	const off_t size = lseek(dump->fd, 0, SEEK_END);
	c->totals.dump_bytes += size > 0 ? (uint64_t)size : 0;
	return bundle_writer_add_fd(writer, dump->member, dump->fd, UINT64_MAX);
}

/* The kernel's functions: "ffffffff81000000 T _text\t[module]". Data is left out, and
 * all where kernel.kptr_restrict shows addresses as zeros.
 */
static void put_kernel_symbols(struct sink *out, struct bytes text)
{
	const char *at = (const char *)text.data;
	const char *end = at + text.size;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			return;
		const size_t size = (size_t)(newline - at) + 1;
		const char *type = memchr(at, ' ', size);
		const bool is_hidden = strspn(at, "0") >= 16;
		if (type && !is_hidden && strchr("tTwW", type[1]))
			sink_put(out, at, size);
		at = newline + 1;
	}
}

static int write_kernel(struct collector *c, struct bundle_writer *writer)
{
	struct sink all = { .limit = (size_t)256 << 20 };
	struct sink functions = { 0 };
	int got = 0;
	if (proc_read(&all, "/proc/kallsyms") == 0)
		put_kernel_symbols(&functions, sink_bytes(&all));
	sink_clear(&all);
	if (functions.size)
		got = add_sink(writer, "kernel/kallsyms", &functions);
	else
		collector_add_note(c, "the kernel hides its symbols (kernel.kptr_restrict): its "
				      "functions cannot be named later");
	sink_clear(&functions);
	return got;
}

static bool is_wanted(const struct collector *c, uint32_t process,
		      const struct collector_about *about)
{
	if (process == COLLECTOR_NONE)
		return true;
	const uint64_t end_ns = c->processes.items[process].end_ns;
	return !end_ns || end_ns >= about->since_ns;
}

int collector_write_members(struct collector *c, struct bundle_writer *writer,
			    const struct collector_about *about)
{
	int got = 0;
	c->totals.process_count = c->processes.count;
	for (size_t i = 0; i < c->dumps.count && got == 0; i++)
		if (is_wanted(c, c->dumps.items[i].process, about))
			got = write_dump(c, writer, &c->dumps.items[i]);
	for (size_t i = 0; i < c->maps.count && got == 0; i++)
		if (c->maps.items[i].process != COLLECTOR_NONE &&
		    is_wanted(c, c->maps.items[i].process, about))
			got = write_map(c, writer, i);
	if (got == 0)
		got = collector_write_sources(c, writer);
	const struct bytes vdso = os_vdso_image();
	if (got == 0 && vdso.size)
		got = bundle_writer_add(writer, "vdso", vdso);
	if (got == 0 && !about->without_kernel)
		got = write_kernel(c, writer);
	struct sink text = { 0 };
	if (got == 0) {
		collector_put_processes(c, &text);
		got = add_sink(writer, "processes.tsv", &text);
	}
	if (got == 0) {
		collector_put_about(c, about, &text);
		got = add_sink(writer, "about.json", &text);
	}
	return got;
}
