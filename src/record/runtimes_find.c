#include "agent/python/protocol.h"
#include "attach/library.h"
#include "base/number.h"
#include "base/sink.h"
#include "base/status.h"
#include "base/vector.h"
#include "interp/interp.h"
#include "os/file.h"
#include "record/private_dir.h"
#include "record/runtimes.h"
#include "record/runtimes_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char DEFAULT_PATH[] = "/usr/local/bin:/usr/bin:/bin";

const char *runtimes_getenv(char *const *environment, const char *name)
{
	const size_t size = strlen(name);
	for (size_t i = 0; environment && environment[i]; i++)
		if (strncmp(environment[i], name, size) == 0 && environment[i][size] == '=')
			return environment[i] + size + 1;
	return NULL;
}

bool runtimes_has_variable(char *const *environment, const char *start)
{
	for (size_t i = 0; environment && environment[i]; i++)
		if (strncmp(environment[i], start, strlen(start)) == 0)
			return true;
	return false;
}

char *runtimes_copy(struct arena *arena, const char *text, size_t size)
{
	return arena_copy(arena, text, size);
}

char *runtimes_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *made = NULL;
	const int size = vasprintf(&made, format, args);
	va_end(args);
	if (size < 0)
		return NULL;
	char *copy = runtimes_copy(arena, made, (size_t)size);
	free(made);
	return copy;
}

static char *resolve(struct arena *arena, const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || access(path, X_OK) != 0)
		return NULL;
	char *real = realpath(path, NULL);
	char *copy = real ? runtimes_copy(arena, real, strlen(real)) : NULL;
	free(real);
	return copy;
}

const char *runtimes_find_program(struct arena *arena, const char *name, const char *search_path)
{
	if (!*name)
		return NULL;
	if (strchr(name, '/'))
		return resolve(arena, name);
	for (const char *at = search_path ? search_path : DEFAULT_PATH;;) {
		const size_t size = strcspn(at, ":");
		char path[PATH_MAX];
		const int length =
		    snprintf(path, sizeof(path), "%.*s/%s", (int)size, size ? at : ".", name);
		const char *found =
		    length > 0 && (size_t)length < sizeof(path) ? resolve(arena, path) : NULL;
		if (found)
			return found;
		if (!at[size])
			return NULL;
		at += size + 1;
	}
}

/* The last "12.3" in one part of a path, or "-14" where `take_whole`. */
static bool version_in(struct bytes part, bool take_whole, struct bytes *version)
{
	bool found = false;
	for (size_t i = 0; i < part.size; i++) {
		size_t end = i;
		bool has_dot = false;
		while (end < part.size && (isdigit(part.data[end]) ||
					   (end > i && part.data[end] == '.' &&
					    end + 1 < part.size && isdigit(part.data[end + 1])))) {
			has_dot |= part.data[end] == '.';
			end++;
		}
		if (end == i)
			continue;
		if (has_dot || (take_whole && i > 0 && part.data[i - 1] == '-')) {
			*version = (struct bytes){ part.data + i, end - i };
			found = true;
		}
		i = end;
	}
	return found;
}

/* The part of a path that ends at `*end`, which moves to the end of the part before. */
static struct bytes part_before(const char *path, size_t *end)
{
	size_t begin = *end;
	while (begin > 0 && path[begin - 1] != '/')
		begin--;
	const struct bytes part = { (const uint8_t *)path + begin, *end - begin };
	*end = begin ? begin - 1 : 0;
	return part;
}

/* Of the program's own name, or of the folder of a version manager: X/bin/NAME. */
const char *runtimes_path_version(struct arena *arena, const char *path)
{
	size_t end = strlen(path);
	struct bytes version;
	bool found = version_in(part_before(path, &end), true, &version);
	if (!found) {
		const struct bytes folder = part_before(path, &end);
		const bool is_bin = folder.size == 3 && memcmp(folder.data, "bin", 3) == 0;
		found = is_bin && version_in(part_before(path, &end), false, &version);
	}
	const char *copy =
	    found ? runtimes_copy(arena, (const char *)version.data, version.size) : NULL;
	return copy ? copy : "";
}

/* The first bytes of a small file beside a program: DIR-OF-PROGRAM/RELATIVE. */
static const char *read_beside(struct arena *arena, const char *program, const char *relative)
{
	const char *slash = strrchr(program, '/');
	if (!slash)
		return NULL;
	const char *path =
	    runtimes_printf(arena, "%.*s/%s", (int)(slash - program), program, relative);
	const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0)
		return NULL;
	char text[8192];
	const ssize_t got = read(fd, text, sizeof(text));
	close(fd);
	return got > 0 ? runtimes_copy(arena, text, (size_t)got) : NULL;
}

/* start_erl.data: "13.1.5 25", the emulator's version and the release. */
unsigned runtimes_otp_release(struct arena *arena, const char *path)
{
	const char *text = read_beside(arena, path, "../releases/start_erl.data");
	const char *blank = text ? strchr(text, ' ') : NULL;
	uint32_t release = 0;
	return blank && number_skip_u32(blank + 1, &release) ? release : 0;
}

static bool is_at_least(const char *version, unsigned major, unsigned minor)
{
	uint32_t got_major;
	uint32_t got_minor = 0;
	const char *rest = number_skip_u32(version, &got_major);
	if (!rest)
		return false;
	if (*rest == '.')
		(void)number_skip_u32(rest + 1, &got_minor);
	return got_major > major || (got_major == major && got_minor >= minor);
}

uint32_t runtimes_facts_of_programs(struct arena *arena, const char *search_path)
{
	uint32_t facts = 0;
	const char *erl = runtimes_find_program(arena, "erl", search_path);
	if (erl && runtimes_otp_release(arena, erl) >= 25)
		facts |= FACT_ERLANG;
	const char *ruby = runtimes_find_program(arena, "ruby", search_path);
	if (!ruby)
		return facts;
	/* A version manager's launcher tells nothing: our script looks again by itself. */
	const char *version = runtimes_path_version(arena, ruby);
	const bool is_unknown = !*version;
	if (is_unknown || is_at_least(version, 3, 1))
		facts |= FACT_RUBY;
	if (is_unknown)
		facts |= FACT_RUBY_UNKNOWN;
	if (is_at_least(version, 3, 1) && !is_at_least(version, 3, 2))
		facts |= FACT_RUBY_31;
	if (is_at_least(version, 3, 3))
		facts |= FACT_RUBY_PERF;
	return facts;
}

/* False also where the path does not say. */
static bool is_unknown_python(const char *version)
{
	uint32_t major;
	uint32_t minor;
	const char *rest = number_skip_u32(version, &major);
	return rest && *rest == '.' && number_skip_u32(rest + 1, &minor) &&
	       (major != 3 || !interp_knows_python(minor));
}

bool runtimes_python_is_unknown(struct arena *arena, const char *const *command,
				const char *search_path)
{
	const char *path = command && command[0] && strstr(command[0], "python")
			       ? runtimes_find_program(arena, command[0], search_path)
			       : NULL;
	if (!path)
		path = runtimes_find_program(arena, "python3", search_path);
	return path && is_unknown_python(runtimes_path_version(arena, path));
}

/* Any of root's children may become another user. */
static bool is_for_children(const char *library)
{
	return private_dir_needs_no_quoting(library) &&
	       (geteuid() != 0 || attach_is_open_to_all(library));
}

static int copy_file(const char *from, const char *to)
{
	struct os_file file;
	int result = os_file_open(&file, from, OS_FILE_REGULAR);
	if (result < 0)
		return result;
	const int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	result = fd < 0 ? STATUS_IO : os_file_write(fd, file.bytes.data, file.bytes.size);
	if (fd >= 0 && fchmod(fd, 0644) != 0)
		result = STATUS_IO;
	if (fd >= 0)
		close(fd);
	os_file_close(&file);
	return result;
}

static const char *agent_for_children(struct arena *arena, const char *private_dir,
				      const char *name)
{
	char library[PATH_MAX];
	if (!attach_find_library_named(name, library))
		return NULL;
	if (is_for_children(library))
		return runtimes_copy(arena, library, strlen(library));
	const char *copy = runtimes_printf(arena, "%s/%s", private_dir, name);
	return copy && copy_file(library, copy) == 0 ? copy : NULL;
}

const char *runtimes_jvm_agent(struct arena *arena, const char *private_dir)
{
	return agent_for_children(arena, private_dir, "libpolyperf-jvmti.so");
}

const char *runtimes_python_agent(struct arena *arena, const char *private_dir)
{
	return agent_for_children(arena, private_dir, AGENT_LIBRARY);
}

/* What `polyperf doctor` looks for. */
struct program {
	const char *name;
	const char *runtime;
	const char *cannot; /* why it stays as it is, or NULL: the table of rows says how */
};

static const char NO_EMITTER[] = "its code cannot be named: it writes neither jitdump nor perf map";
static const char INTERPRETER[] = "an interpreter: its own native functions are named";

static const struct program PROGRAMS[] = {
	{ "node", "node", NULL },
	{ "deno", "deno", NULL },
	{ "bun", "bun", NULL },
	{ "java", "java", NULL },
	{ "dotnet", "dotnet", NULL },
	{ "mono", "mono", NULL },
	{ "php", "php", NULL },
	{ "erl", "erlang", NULL },
	{ "python3", "python", NULL },
	{ "python3.12", "python", NULL },
	{ "python3.13", "python", NULL },
	{ "python3.14", "python", NULL },
	{ "luajit", "luajit", NULL },
	{ "ruby", "ruby", NULL },
	{ "lli", "llvm", NULL },
	{ "pypy3", "pypy", NO_EMITTER },
	{ "sbcl", "sbcl", NO_EMITTER },
	{ "racket", "racket", NO_EMITTER },
	{ "guile", "guile", "its code cannot be named: its log holds addresses, not names" },
	{ "julia", "julia", "not tried; ENABLE_JITPROFILING=1 is what its manual says" },
	{ "gjs", "gjs", NO_EMITTER },
	{ "lua", "lua", INTERPRETER },
	{ "perl", "perl", INTERPRETER },
	{ "Rscript", "r", INTERPRETER },
	{ "tclsh", "tcl", INTERPRETER },
};

/* JAVA_VERSION="17.0.15", #define NODE_MAJOR_VERSION 20: the first match of `key` in a
 * file, up to the character in `end`.
 */
static const char *value_in(struct arena *arena, const char *text, const char *key, char end)
{
	const char *at = text ? strstr(text, key) : NULL;
	if (!at)
		return "";
	at += strlen(key);
	const size_t size = strcspn(at, (char[]){ end, '\n', 0 });
	const char *copy = runtimes_copy(arena, at, size);
	return copy ? copy : "";
}

/* The highest entry of the directory beside the program that starts with a digit. */
static const char *newest_beside(struct arena *arena, const char *program, const char *relative)
{
	const char *slash = strrchr(program, '/');
	const char *path =
	    slash ? runtimes_printf(arena, "%.*s/%s", (int)(slash - program), program, relative)
		  : NULL;
	DIR *directory = path ? opendir(path) : NULL;
	const char *newest = "";
	const struct dirent *entry;
	while (directory && (entry = readdir(directory))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    strverscmp(entry->d_name, newest) <= 0)
			continue;
		const char *copy = runtimes_copy(arena, entry->d_name, strlen(entry->d_name));
		newest = copy ? copy : newest;
	}
	if (directory)
		closedir(directory);
	return newest;
}

static const char *version_of(struct arena *arena, const struct program *program, const char *path)
{
	if (strcmp(program->runtime, "java") == 0)
		return value_in(arena, read_beside(arena, path, "../release"), "JAVA_VERSION=\"",
				'"');
	if (strcmp(program->runtime, "node") == 0) {
		const char *header = read_beside(arena, path, "../include/node/node_version.h");
		const char *major = value_in(arena, header, "#define NODE_MAJOR_VERSION ", ' ');
		const char *minor = value_in(arena, header, "#define NODE_MINOR_VERSION ", ' ');
		const char *both = *major ? runtimes_printf(arena, "%s.%s", major, minor) : NULL;
		return both ? both : runtimes_path_version(arena, path);
	}
	if (strcmp(program->runtime, "dotnet") == 0)
		return newest_beside(arena, path, "shared/Microsoft.NETCore.App");
	if (strcmp(program->runtime, "erlang") == 0) {
		const unsigned release = runtimes_otp_release(arena, path);
		const char *text = release ? runtimes_printf(arena, "OTP %u", release) : NULL;
		return text ? text : "";
	}
	return runtimes_path_version(arena, path);
}

/* "NODE_OPTIONS=...", put together from the rows. */
static const char *how_of(struct arena *arena, const struct program *program, const char *version,
			  uint32_t facts)
{
	if (program->cannot)
		return program->cannot;
	const bool is_python = strcmp(program->runtime, "python") == 0;
	const bool is_read =
	    is_python && !(facts & FACT_TRAMPOLINES) && !is_unknown_python(version);
	if (is_read && !(facts & FACT_PYTHON_AGENT))
		return "no variable: the kernel reads its functions at each sample";
	if (!is_read)
		facts |= FACT_TRAMPOLINES;
	if (is_python && !is_read && *version && !is_at_least(version, 3, 12))
		return "its functions cannot be named before 3.12: sampled as native code";
	struct sink text = { 0 };
	for (size_t i = 0; i < RUNTIMES_ROW_COUNT; i++) {
		const struct runtimes_row *row = &RUNTIMES_ROWS[i];
		if (strcmp(row->runtime, program->runtime) != 0 || (row->needs & ~facts))
			continue;
		sink_printf(&text, "%s%s=", text.size ? " " : "", row->variable);
		for (const char *c = row->value; *c; c++) {
			if (*c == '%')
				sink_text(&text, "DIR");
			else if (*c == '@')
				sink_text(&text, "libpolyperf-jvmti.so");
			else if (*c == '^')
				sink_text(&text, AGENT_LIBRARY);
			else
				sink_u8(&text, (uint8_t)*c);
		}
	}
	if (!text.size)
		sink_printf(&text, "left alone: %s", runtimes_obstacle(program->runtime, facts));
	const char *copy =
	    sink_failed(&text) ? NULL : runtimes_copy(arena, (const char *)text.data, text.size);
	sink_clear(&text);
	return copy;
}

int runtimes_find_installed(struct arena *arena, const char *search_path,
			    const struct runtimes_options *options,
			    struct runtimes_installed **found)
{
	enum { MOST = sizeof(PROGRAMS) / sizeof(PROGRAMS[0]) };
	struct runtimes_installed *list = arena_new(arena, struct runtimes_installed, MOST);
	if (!list)
		return STATUS_NO_MEMORY;
	char agent[PATH_MAX];
	const uint32_t python = options->is_walked    ? 0u
				: options->has_agents ? FACT_PYTHON_AGENT
						      : FACT_TRAMPOLINES;
	const uint32_t facts = python | FACT_DIRECTORY | FACT_FRAME_POINTERS | FACT_CWD_MAPPABLE |
			       FACT_EVENT_PIPE |
			       (attach_find_library(agent) ? FACT_JVM_AGENT : FACT_NO_JVM_AGENT) |
			       runtimes_facts_of_programs(arena, search_path);
	int count = 0;
	for (size_t i = 0; i < MOST; i++) {
		const char *path = runtimes_find_program(arena, PROGRAMS[i].name, search_path);
		bool is_known = !path;
		for (int k = 0; k < count && !is_known; k++)
			is_known = strcmp(list[k].path, path) == 0 &&
				   strcmp(list[k].runtime, PROGRAMS[i].runtime) == 0;
		if (is_known)
			continue;
		const char *version = version_of(arena, &PROGRAMS[i], path);
		const char *how = how_of(arena, &PROGRAMS[i], version, facts);
		if (!how)
			return STATUS_NO_MEMORY;
		list[count++] = (struct runtimes_installed){
			.runtime = PROGRAMS[i].runtime,
			.path = path,
			.version = version,
			.how = how,
		};
	}
	*found = list;
	return count;
}
