/* The source files that jitdumps and symbols name, for `record --sources`. */
#include "record/collector_sources.h"

#include "base/status.h"
#include "bundle/source.h"
#include "format/jitdump/debug.h"
#include "format/jitdump/extensions.h"
#include "os/file.h"
#include "os/tree.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MEGABYTE = 1 << 20,
	FILE_BYTES = 4 * MEGABYTE,
	ALL_BYTES = 64 * MEGABYTE,
	FILES = 20000,
	TRIED = 200000, /* a hostile dump can name any number */
	LOOKED_AT = 4096,
	OPEN_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
};

static bool begins_with(const char *path, const char *folder)
{
	return strncmp(path, folder, strlen(folder)) == 0;
}

/* Names that a compiler made relative to a root of sources (com/acme/Foo.java, work.erl): the one
 * file below the folder where the command was started that ends so.
 */
static int open_below_start(struct sources *s, const char *path)
{
	const struct collector *c = s->c;
	if (c->options.attached)
		return -1;
	const int start = c->directories.items[c->start_directory].fd;
	if (!s->below_start)
		s->below_start =
		    os_tree_read(openat(start, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "");
	if (strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0 || !s->below_start)
		return -1;
	size_t components = 1;
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
		components++;
	const char *found = os_tree_find(s->below_start, path, components);
	return found ? openat(start, found, OPEN_FLAGS) : -1;
}

static int open_relative(struct sources *s, const struct process *process, const char *path)
{
	const struct collector *c = s->c;
	char cwd_path[32];
	if (!process->is_plain || c->start_directory == COLLECTOR_NONE)
		return -1;
	(void)snprintf(cwd_path, sizeof(cwd_path), "/proc/%d/cwd", process->pid);
	const int cwd =
	    process->end_ns == 0 ? open(cwd_path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int fd =
	    openat(cwd < 0 ? c->directories.items[c->start_directory].fd : cwd, path, OPEN_FLAGS);
	if (cwd >= 0)
		close(cwd);
	return fd >= 0 ? fd : open_below_start(s, path);
}

/* A program can name any file. So one that is not ours is opened with the rights of its user, and
 * only what that user may read without being in a group counts.
 */
static int open_with_rights(struct sources *s, const char *path)
{
	const struct process *process = &s->c->processes.items[s->process];
	const bool is_other = geteuid() == 0 && process->owner != 0;
	if (geteuid() == 0 && !process->was_seen)
		return -1;
	if (is_other)
		(void)setfsuid(process->owner);
	const int fd = path[0] == '/' ? collector_open_as(process, path, OPEN_FLAGS)
				      : open_relative(s, process, path);
	if (is_other)
		(void)setfsuid(0);
	return fd;
}

/* A file that the process's user may read and nobody else could have put there. */
static bool is_trusted(struct collector *c, uint32_t process, int fd, struct stat *st)
{
	if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode) || st->st_size <= 0 ||
	    !collector_may_own(c, process, st->st_uid))
		return false;
	const bool is_own = st->st_uid == c->processes.items[process].owner;
	return geteuid() != 0 || (st->st_mode & (is_own ? S_IRUSR : S_IROTH));
}

/* A text of moderate size. */
static bool is_source(struct collector *c, uint32_t process, int fd, uint64_t *size)
{
	struct stat st;
	uint8_t start[LOOKED_AT];
	if (!is_trusted(c, process, fd, &st) || st.st_size > FILE_BYTES)
		return false;
	const ssize_t got = pread(fd, start, sizeof(start), 0);
	*size = (uint64_t)st.st_size;
	return got > 0 && !memchr(start, '\0', (size_t)got);
}

static bool has_room(struct sources *s, uint64_t size)
{
	struct collector_totals *totals = &s->c->totals;
	const bool fits = totals->source_count < FILES && size <= ALL_BYTES - totals->source_bytes;
	if (fits) {
		totals->source_count++;
		totals->source_bytes += size;
	} else {
		totals->source_left_out_count++;
	}
	return fits;
}

/* Takes over the fd. */
static void write_source(struct sources *s, const char *member, int fd)
{
	uint64_t size;
	if (is_source(s->c, s->process, fd, &size) && has_room(s, size))
		s->result = bundle_writer_add_fd(s->writer, member, fd, size);
	close(fd);
}

/* Pseudo files are no sources, and reading one may do something. */
static bool is_pseudo(const char *path)
{
	return begins_with(path, "/proc/") || begins_with(path, "/sys/") ||
	       begins_with(path, "/dev/");
}

static void try_source(struct sources *s, struct bytes file, const char *member)
{
	const struct bytes plain = source_path(file);
	char path[PATH_MAX];
	if (plain.size >= sizeof(path))
		return;
	memcpy(path, plain.data, plain.size);
	path[plain.size] = '\0';
	/* Else a percent sign is one. */
	if (plain.size != file.size)
		(void)source_decode(path);
	if (is_pseudo(path))
		return;
	const int fd = open_with_rights(s, path);
	if (fd >= 0)
		write_source(s, member, fd);
}

static void write_text(struct sources *s, const char *member, struct bytes text)
{
	const size_t looked_at = text.size < LOOKED_AT ? text.size : LOOKED_AT;
	if (text.size && text.size <= FILE_BYTES && !memchr(text.data, '\0', looked_at) &&
	    has_room(s, text.size))
		s->result = bundle_writer_add(s->writer, member, text);
}

/* The first process that has a file of this name gives it. */
static void take(struct sources *s, struct bytes file, const struct bytes *text)
{
	struct sink name = { 0 };
	if (source_member_name(source_path(file), &name)) {
		const uint32_t id =
		    sink_failed(&name) ? INTERN_NONE : intern_bytes(&s->names, sink_bytes(&name));
		uint32_t *is_tried = idmap_put(&s->tried, ((uint64_t)s->process << 32) | id);
		uint32_t *is_written = idmap_put(&s->written, id);
		const size_t before = s->c->totals.source_count;
		if (id == INTERN_NONE || !is_tried || !is_written) {
			s->result = STATUS_NO_MEMORY;
		} else if (!*is_written && (text || !*is_tried)) {
			if (text)
				write_text(s, intern_get(&s->names, id), *text);
			else
				try_source(s, file, intern_get(&s->names, id));
			*is_written = s->c->totals.source_count > before;
		}
		if (is_tried)
			*is_tried = 1;
	}
	sink_clear(&name);
}

void sources_take(struct sources *s, struct bytes file)
{
	if (s->result < 0 || s->names.texts.count >= TRIED ||
	    (file.size == s->last.size && file.data == s->last.data))
		return;
	s->last = file;
	take(s, file, NULL);
}

void sources_take_text(struct sources *s, struct bytes file, struct bytes text)
{
	if (s->result == 0 && s->names.texts.count < TRIED)
		take(s, file, &text);
}

bool sources_open(struct sources *s, const char *path, struct os_file *file)
{
	struct stat st;
	char opened[32];
	if (path[0] != '/' || is_pseudo(path))
		return false;
	const int fd = open_with_rights(s, path);
	if (fd < 0)
		return false;
	(void)snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	const bool is_open = is_trusted(s->c, s->process, fd, &st) &&
			     os_file_open(file, opened, OS_FILE_REGULAR) == 0;
	close(fd);
	return is_open;
}

static void take_lines(struct sources *s, const struct jitdump_record *lines,
		       struct jitdump_debug_style style, struct bytes symbol)
{
	struct jitdump_debug_walk walk;
	struct jitdump_debug_entry entry;
	jitdump_debug_walk_init(&walk, lines, style);
	while (jitdump_debug_entry_next(&walk, &entry) > 0) {
		if (entry.is_name_damaged)
			entry.file = jitdump_debug_repair_name(entry.file, symbol);
		if (entry.file.size)
			sources_take(s, entry.file);
	}
}

static void take_scopes(struct sources *s, const struct jitdump_record *record)
{
	struct jitdump_about about = record->about;
	struct jitdump_inline scope;
	while (jitdump_inline_next(&about, &scope) > 0)
		if (scope.call_file.size)
			sources_take(s, scope.call_file);
}

static void take_dump(struct sources *s, struct bytes dump)
{
	const struct jitdump_debug_style style = jitdump_debug_style(dump);
	struct jitdump_reader reader;
	struct jitdump_record record;
	struct jitdump_record lines = { 0 };
	if (jitdump_reader_init(&reader, dump) < 0)
		return;
	while (s->result == 0 && jitdump_reader_next(&reader, &record) > 0) {
		switch (record.id) {
		case JITDUMP_DEBUG_INFO:
			lines = record;
			break;
		case JITDUMP_CODE_LOAD:
			if (lines.id)
				take_lines(s, &lines, style, record.code_load.name);
			lines.id = 0;
			break;
		case JITDUMP_INLINES:
			take_scopes(s, &record);
			break;
		case JITDUMP_METHOD:
			if (record.method.file.size)
				sources_take(s, record.method.file);
			break;
		default:
			break;
		}
	}
}

int collector_write_sources(struct collector *c, struct bundle_writer *writer)
{
	struct sources s = { .c = c, .writer = writer };
	for (size_t i = 0; c->options.sources && i < c->dumps.count && s.result == 0; i++) {
		const struct dump *dump = &c->dumps.items[i];
		struct os_file file;
		char path[32];
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dump->fd);
		if (dump->process == COLLECTOR_NONE ||
		    os_file_open(&file, path, OS_FILE_REGULAR) < 0)
			continue;
		s.process = dump->process;
		s.last = (struct bytes){ 0 };
		if (dump->is_events)
			sources_take_events(&s, file.bytes);
		else
			take_dump(&s, file.bytes);
		os_file_close(&file);
	}
	if (c->totals.source_left_out_count)
		collector_add_note(c,
				   "%zu source files are not in the recording: it holds no more "
				   "than %d MB of them",
				   c->totals.source_left_out_count, ALL_BYTES / MEGABYTE);
	os_tree_free(s.below_start);
	intern_clear(&s.names);
	idmap_clear(&s.tried);
	idmap_clear(&s.written);
	return s.result;
}

void collector_put_sources(const struct collector *c, struct sink *out)
{
	if (c->options.sources)
		sink_printf(out,
			    ",\n  \"sources\": {\"files\": %zu, \"bytes\": %llu, \"left_out\": "
			    "%zu}",
			    c->totals.source_count, (unsigned long long)c->totals.source_bytes,
			    c->totals.source_left_out_count);
}
