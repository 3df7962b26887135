#include "base/sink.h"
#include "interp/interp.h"
#include "os/file.h"
#include "record/runtimes.h"
#include "record/runtimes_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct word {
	const char *word;
	const char *runtime;
};

/* Names of programs that are a runtime, or that start one. */
static const struct word WORDS[] = {
	{ "node", "node" },      { "nodejs", "node" },     { "npm", "node" },
	{ "npx", "node" },       { "yarn", "node" },       { "pnpm", "node" },
	{ "tsx", "node" },       { "ts-node", "node" },    { "deno", "deno" },
	{ "bun", "bun" },        { "bunx", "bun" },        { "java", "java" },
	{ "jshell", "java" },    { "mvn", "java" },        { "gradle", "java" },
	{ "gradlew", "java" },   { "sbt", "java" },        { "scala", "java" },
	{ "kotlin", "java" },    { "clojure", "java" },    { "groovy", "java" },
	{ "dotnet", "dotnet" },  { "mono", "mono" },       { "php", "php" },
	{ "composer", "php" },   { "erl", "erlang" },      { "escript", "erlang" },
	{ "elixir", "erlang" },  { "iex", "erlang" },      { "mix", "erlang" },
	{ "rebar3", "erlang" },  { "python", "python" },   { "pytest", "python" },
	{ "uvicorn", "python" }, { "gunicorn", "python" }, { "luajit", "luajit" },
	{ "ruby", "ruby" },      { "irb", "ruby" },        { "rake", "ruby" },
	{ "bundle", "ruby" },    { "rails", "ruby" },      { "rspec", "ruby" },
	{ "lli", "llvm" },       { "perl", "perl" },       { "prove", "perl" },
};

/* Programs whose arguments name the program that matters. */
static const char *const WRAPPERS[] = {
	"env",     "sudo",    "doas",   "nice",  "ionice",      "time",  "timeout",  "taskset",
	"numactl", "chrt",    "setsid", "nohup", "stdbuf",      "xargs", "sh",       "bash",
	"dash",    "zsh",     "ksh",    "ash",   "unshare",     "su",    "runuser",  "setpriv",
	"make",    "nsenter", "chroot", "exec",  "systemd-run", "watch", "parallel",
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* "python3.12" and "node-24" are the word too, "nodemon" is not. */
static bool is_word(const char *name, const char *word)
{
	const size_t size = strlen(word);
	return strncmp(name, word, size) == 0 &&
	       (name[size] == 0 || strchr("0123456789.-", name[size]) != NULL);
}

static uint32_t match(const char *path)
{
	const char *name = base_name(path);
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
		if (!is_word(name, WORDS[i].word))
			continue;
		for (size_t n = 0; runtimes_name(n); n++)
			if (strcmp(runtimes_name(n), WORDS[i].runtime) == 0)
				return 1u << n;
		return 1u << RUNTIMES_PERL_BIT;
	}
	return 0;
}

static bool is_wrapper(const char *path)
{
	const char *name = base_name(path);
	for (size_t i = 0; i < sizeof(WRAPPERS) / sizeof(WRAPPERS[0]); i++)
		if (strcmp(name, WRAPPERS[i]) == 0)
			return true;
	return false;
}

/* The words of a shell's or env's one argument, roughly: quotes are blanks, too. */
static uint32_t match_words(struct arena *arena, const char *text)
{
	static const char SEPARATORS[] = " \t\n'\";|&()";
	uint32_t found = 0;
	while (*text) {
		text += strspn(text, SEPARATORS);
		const size_t size = strcspn(text, SEPARATORS);
		const char *word = size ? runtimes_copy(arena, text, size) : NULL;
		if (word)
			found |= match(word);
		text += size;
	}
	return found;
}

/* The first line of a script, behind its "#!"; false of what is no script. */
static bool read_first_line(struct arena *arena, const char *name, const char *search_path,
			    char line[256])
{
	const char *path = runtimes_find_program(arena, name, search_path);
	const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0)
		return false;
	const ssize_t got = read(fd, line, 255);
	close(fd);
	if (got < 3 || memcmp(line, "#!", 2) != 0)
		return false;
	line[got] = 0;
	line[strcspn(line, "\n")] = 0;
	memset(line, ' ', 2);
	return true;
}

/* What the first line of a script names. */
static uint32_t match_script(struct arena *arena, const char *name, const char *search_path)
{
	char line[256];
	return read_first_line(arena, name, search_path, line) ? match_words(arena, line) : 0;
}

uint32_t runtimes_recognise(struct arena *arena, const char *const *command,
			    const char *search_path)
{
	uint32_t found = 0;
	bool wrapped = true;
	for (size_t i = 0; command[i] && wrapped; i++) {
		found |= match(command[i]) | match_script(arena, command[i], search_path);
		if (i > 0)
			found |= match_words(arena, command[i]);
		else
			wrapped = is_wrapper(command[0]);
	}
	return found;
}

bool runtimes_are_interpreted(const char *const *command, char *const *environment)
{
	static const char *const INTERPRETED[] = { "python", "php", "ruby", "luajit" };
	struct arena arena = { 0 };
	const uint32_t found =
	    runtimes_recognise(&arena, command, runtimes_getenv(environment, "PATH"));
	arena_clear(&arena);
	bool is_interpreted = found >> RUNTIMES_PERL_BIT & 1;
	for (size_t i = 0; i < sizeof(INTERPRETED) / sizeof(INTERPRETED[0]); i++)
		for (size_t n = 0; runtimes_name(n); n++)
			is_interpreted |=
			    (found >> n & 1) && strcmp(runtimes_name(n), INTERPRETED[i]) == 0;
	return is_interpreted;
}

/* A note in the program itself says that it publishes its frames. */
static bool has_slot(struct arena *arena, const char *name, const char *search_path)
{
	const struct interp_view nothing = { 0 };
	const char *path = runtimes_find_program(arena, name, search_path);
	struct interp_found found;
	struct os_file file;
	if (!path || os_file_open(&file, path, OS_FILE_REGULAR) != 0)
		return false;
	const struct interp_object object = { .image = file.bytes };
	const bool has = interp_find_slot(&object, &nothing, &found) == 0;
	os_file_close(&file);
	return has;
}

/* The program that a script's first line names. */
static const char *script_program(struct arena *arena, const char *name, const char *search_path,
				  char line[256])
{
	if (!read_first_line(arena, name, search_path, line))
		return NULL;
	line += strspn(line, " \t");
	line[strcspn(line, " \t")] = 0;
	return line;
}

bool runtimes_have_slot(const char *const *command, char *const *environment)
{
	const char *search_path = runtimes_getenv(environment, "PATH");
	struct arena arena = { 0 };
	bool has = false;
	/* Behind a wrapper any word may be the program. */
	for (size_t i = 0; command[i] && !has && (i == 0 || is_wrapper(command[0])); i++) {
		char line[256];
		const char *program = script_program(&arena, command[i], search_path, line);
		has = has_slot(&arena, command[i], search_path) ||
		      (program && has_slot(&arena, program, search_path));
	}
	arena_clear(&arena);
	return has;
}

bool runtimes_starts_others(const char *const *command, char *const *environment)
{
	struct arena arena = { 0 };
	char line[256];
	const char *search_path = runtimes_getenv(environment, "PATH");
	const bool is_script = read_first_line(&arena, command[0], search_path, line);
	arena_clear(&arena);
	return is_script || is_wrapper(command[0]);
}

/* True if the program is an ELF file that holds `text`: V8 keeps the names of its flags. */
static bool program_holds(const char *path, const char *text, bool *is_elf)
{
	*is_elf = false;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	if (fd < 0)
		return false;
	void *data = MAP_FAILED;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 4)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return false;
	*is_elf = memcmp(data, "\177ELF", 4) == 0;
	const bool found = *is_elf && memmem(data, (size_t)st.st_size, text, strlen(text)) != NULL;
	munmap(data, (size_t)st.st_size);
	return found;
}

const char *const *runtimes_node_options(struct arena *arena, const char *const *command,
					 const char *search_path, const char *private_dir)
{
	enum { MOST = 6 + 1 }; /* and NULL */
	const char *path =
	    command[0] ? runtimes_find_program(arena, command[0], search_path) : NULL;
	if (!path || !(is_word(base_name(path), "node") || is_word(base_name(path), "nodejs")))
		return NULL;
	bool is_elf;
	const bool has_path_option = program_holds(path, "perf_prof_path", &is_elf);
	const char **options = is_elf ? arena_new(arena, const char *, MOST) : NULL;
	if (!options)
		return NULL;
	size_t count = 0;
	options[count++] = "--no-logfile-per-isolate";
	options[count++] = runtimes_printf(arena, "--logfile=%s/v8.log", private_dir);
	if (has_path_option) {
		options[count++] = "--perf-prof";
		options[count++] = runtimes_printf(arena, "--perf-prof-path=%s", private_dir);
	}
	if (has_path_option || access(".", W_OK | X_OK) != 0) {
		options[count++] = "--perf-basic-prof";
		options[count++] = "--interpreted-frames-native-stack";
	}
	for (size_t i = 0; i < count; i++)
		if (!options[i])
			return NULL;
	return options;
}
