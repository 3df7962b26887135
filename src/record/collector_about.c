#include "base/escape.h"
#include "record/collector_internal.h"

#include <stdio.h>
#include <string.h>

static struct bytes bytes_of(const char *text)
{
	return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

/* One line a process, as docs/formats/recording.md has it. */
void collector_put_processes(const struct collector *c, struct sink *out)
{
	for (size_t i = 0; i < c->processes.count; i++) {
		const struct process *process = &c->processes.items[i];
		sink_printf(out, "%d\tstart=%llu", process->pid,
			    (unsigned long long)process->start_ns);
		if (process->end_ns)
			sink_printf(out, "\tend=%llu", (unsigned long long)process->end_ns);
		for (uint32_t n = 0; n < process->number_count; n++)
			sink_printf(out, "%s%u", n ? "," : "\tnspid=", process->numbers[n]);
		if (process->was_seen)
			sink_printf(out, "\tuid=%u\tpidns=%llu\tmntns=%llu", process->owner,
				    (unsigned long long)process->pid_namespace,
				    (unsigned long long)process->mount_namespace);
		if (process->root_fd >= 0)
			sink_text(out, "\troot=other");
		if (*process->executable) {
			sink_text(out, "\texe=");
			escape_terminal(out, bytes_of(process->executable));
		}
		sink_u8(out, '\n');
	}
}

/* A member "key": "text" of an object; `*is_first` says whether a comma comes before. */
static void put_text(struct sink *out, bool *is_first, const char *key, const char *text)
{
	sink_printf(out, "%s\"%s\": \"", *is_first ? "" : ", ", key);
	escape_json(out, bytes_of(text));
	sink_u8(out, '"');
	*is_first = false;
}

static void put_list(struct sink *out, const char *key, const char *const *texts, size_t count)
{
	sink_printf(out, ",\n  \"%s\": [", key);
	for (size_t i = 0; i < count; i++) {
		sink_text(out, i ? ", \"" : "\"");
		escape_json(out, bytes_of(texts[i]));
		sink_u8(out, '"');
	}
	sink_u8(out, ']');
}

static void put_clock(struct sink *out, const char *key, struct os_clock_pair pair,
		      uint64_t boot_ns)
{
	sink_printf(out,
		    ",\n  \"%s\": {\"monotonic_ns\": %llu, \"realtime_ns\": %llu, "
		    "\"boottime_ns\": %llu}",
		    key, (unsigned long long)pair.mono_ns, (unsigned long long)pair.wall_ns,
		    (unsigned long long)boot_ns);
}

/* What we added, not what the user had: that may hold secrets, and recordings are sent. */
static void put_runtimes(struct sink *out, const struct runtimes *runtimes)
{
	sink_text(out, ",\n  \"runtimes\": [");
	size_t written = 0;
	for (size_t i = 0; runtimes && i < runtimes_count(runtimes); i++) {
		const struct runtimes_setting setting = runtimes_setting(runtimes, i);
		bool is_first = true;
		sink_text(out, written++ ? ",\n    {" : "\n    {");
		put_text(out, &is_first, "runtime", setting.runtime);
		put_text(out, &is_first, "variable", setting.variable);
		put_text(out, &is_first, "added", setting.added);
		put_text(out, &is_first, "why", setting.why);
		sink_u8(out, '}');
	}
	sink_text(out, written ? "\n  ]" : "]");
}

static void put_file(struct sink *out, size_t *written, const char *member, pid_t pid,
		     const char *path)
{
	bool is_first = true;
	sink_text(out, (*written)++ ? ",\n    {" : "\n    {");
	put_text(out, &is_first, "member", member);
	put_text(out, &is_first, "path", path);
	sink_printf(out, ", \"pid\": %d}", pid);
}

static void put_files(const struct collector *c, struct sink *out)
{
	size_t written = 0;
	sink_text(out, ",\n  \"files\": [");
	for (size_t i = 0; i < c->dumps.count; i++) {
		const struct dump *dump = &c->dumps.items[i];
		const bool is_known = dump->process != COLLECTOR_NONE;
		if (dump->member)
			put_file(out, &written, dump->member,
				 is_known ? c->processes.items[dump->process].pid : 0, dump->path);
	}
	for (size_t i = 0; i < c->maps.count; i++) {
		const struct map *map = &c->maps.items[i];
		char path[64];
		if (map->process == COLLECTOR_NONE || !map->member)
			continue;
		const struct process *process = &c->processes.items[map->process];
		const bool is_ours = map->directory == c->private_directory ||
				     map->directory == process->told_directory;
		const char *where = is_ours                                 ? ""
				    : map->directory == c->tmpdir_directory ? "$TMPDIR/"
									    : "/tmp/";
		(void)snprintf(path, sizeof(path), "%sperf-%u.map", where, map->number);
		put_file(out, &written, map->member, process->pid, path);
	}
	sink_text(out, written ? "\n  ]" : "]");
}

void collector_put_about(const struct collector *c, const struct collector_about *about,
			 struct sink *out)
{
	bool is_first = true;
	sink_text(out, "{\n  \"format\": 1, ");
	put_text(out, &is_first, "polyperf", POLYPERF_VERSION);
	size_t words = 0;
	while (about->command && about->command[words])
		words++;
	put_list(out, "command", about->command, words);
	put_clock(out, "start", c->start_clock, c->start_boot_ns);
	put_clock(out, "end", os_clock_pair(), collector_boot_ns());
	put_runtimes(out, about->runtimes);
	put_files(c, out);
	collector_put_code(c, out);
	collector_put_sources(c, out);
	put_list(out, "notes", about->notes, about->note_count);
	put_list(out, "collector_notes", c->notes.items, c->notes.count);
	sink_text(out, "\n}\n");
}
