/* The texts of source files: from the recording, from symbols, or from where they lie now. */
#include "base/status.h"
#include "bundle/source.h"
#include "format/perfdata/features.h"
#include "load/clr.h"
#include "load/listing.h"
#include "load/load_internal.h"
#include "os/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

enum { SOURCE_LIMIT = 16 << 20 };

/* One file that is looked for. */
struct search {
	struct load *load;
	const char *file;
	struct listing_source_text *source;
	int failure; /* of the first file that was there and could not be taken */
};

/* The wall clock of the last sample; of the recording's file where that is not known. */
static uint64_t recorded_wall_ns(const struct load *load)
{
	struct perfdata_clock_data clock;
	uint64_t first_ns;
	uint64_t last_ns;
	if (perfdata_clock_data(load->perf, &clock) == 0 && clock.wall_clock_ns &&
	    perfdata_sample_time(load->perf, &first_ns, &last_ns) == 0 &&
	    last_ns > clock.clockid_ns)
		return clock.wall_clock_ns + (last_ns - clock.clockid_ns);
	return load->file.mtime_ns;
}

static bool begins_with(const char *path, const char *folder)
{
	return strncmp(path, folder, strlen(folder)) == 0;
}

/* Where others can write, no link is followed. */
static enum os_file_flags flags_of(const char *path)
{
	const bool is_shared = path[0] != '/' || begins_with(path, "/tmp/") ||
			       begins_with(path, "/var/tmp/") || begins_with(path, "/dev/shm/");
	return is_shared ? OS_FILE_UNTRUSTED : OS_FILE_REGULAR;
}

/* Opens a file, or finds that it is open. */
static int open_source(struct load *load, uint32_t path, const struct os_file **file)
{
	uint32_t *known = idmap_put(&load->read_sources, path);
	if (!known)
		return STATUS_NO_MEMORY;
	if (!*known) {
		const char *text = intern_get(&load->strings, path);
		struct os_file *slot = vector_push(&load->source_files);
		if (!slot)
			return STATUS_NO_MEMORY;
		int got = os_file_open(slot, text, flags_of(text));
		if (got == 0 && slot->bytes.size > SOURCE_LIMIT) {
			os_file_close(slot);
			got = STATUS_TOO_BIG;
		}
		if (got < 0) {
			load->source_files.count--;
			return got;
		}
		*known = (uint32_t)load->source_files.count;
	}
	*file = &load->source_files.items[*known - 1];
	return 0;
}

static bool try_path(struct search *search, const char *path)
{
	struct load *load = search->load;
	const struct os_file *file;
	const uint32_t id = intern_text(&load->strings, path);
	const int got = id == INTERN_NONE ? STATUS_NO_MEMORY : open_source(load, id, &file);
	if (got < 0) {
		const bool is_absent = got == STATUS_NOT_FOUND ||
				       (got == STATUS_IO && (errno == EISDIR || errno == ENOTDIR));
		if (!search->failure && !is_absent)
			search->failure = got;
		return false;
	}
	*search->source =
	    (struct listing_source_text){ .text = file->bytes,
					  .found = intern_get(&load->strings, id),
					  .is_newer = file->mtime_ns > recorded_wall_ns(load) };
	return true;
}

/* Nothing more is found without memory, and that is not for a lack of files. */
static bool has_memory(struct search *search, const struct sink *sink)
{
	if (sink_failed(sink) && !search->failure)
		search->failure = STATUS_NO_MEMORY;
	return !sink_failed(sink);
}

static bool try_joined(struct search *search, struct bytes front, const char *rest)
{
	struct sink path = { .limit = (size_t)2 * PATH_MAX };
	sink_put(&path, front.data, front.size);
	sink_cstr(&path, rest);
	const bool found = has_memory(search, &path) && try_path(search, (const char *)path.data);
	sink_clear(&path);
	return found;
}

/* "/a/b/../c/d.py": a name must not lead out of a folder, so only what is behind the dots counts.
 */
static const char *behind_dots(const char *path)
{
	const char *rest = path;
	for (const char *at = path; *at; at++) {
		if (at != path && at[-1] != '/')
			continue;
		const size_t size = strcspn(at, "/");
		if (size && size <= 2 && strspn(at, ".") == size)
			rest = at + size;
	}
	while (*rest == '/')
		rest++;
	return rest;
}

/* The files below a folder are listed once. NULL without memory. */
static const struct os_tree *tree_of(struct load *load, const char *slashed)
{
	const uint32_t path = intern_text(&load->strings, slashed);
	for (size_t i = 0; i < load->source_folders.count; i++)
		if (load->source_folders.items[i].path == path)
			return load->source_folders.items[i].tree;
	struct source_folder *folder =
	    path == INTERN_NONE ? NULL : vector_push(&load->source_folders);
	if (!folder)
		return NULL;
	const int fd = open(slashed, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	*folder = (struct source_folder){ .path = path, .tree = os_tree_read(fd, slashed) };
	return folder->tree;
}

static const char *find_below(struct search *search, const char *slashed, const char *rest,
			      size_t least)
{
	const struct os_tree *tree = tree_of(search->load, slashed);
	if (!tree && !search->failure)
		search->failure = STATUS_NO_MEMORY;
	return tree ? os_tree_find(tree, rest, least) : NULL;
}

/* Programs are built or run elsewhere, so the beginning of a path may mean nothing here:
 * FOLDER/a/b/c.py, FOLDER/b/c.py, then a file anywhere below that ends like it, then FOLDER/c.py.
 */
static bool try_slashed(struct search *search, const char *slashed)
{
	const struct bytes front = { (const uint8_t *)slashed, strlen(slashed) };
	const bool is_bare = !strchr(search->file, '/');
	const char *rest = behind_dots(search->file);
	const char *all = rest;
	for (; strchr(rest, '/'); rest = strchr(rest, '/') + 1)
		if (try_joined(search, front, rest))
			return true;
	const char *below = find_below(search, slashed, all, is_bare ? 1 : 2);
	/* Without directories to go by, the file at the top is meant. */
	if ((is_bare || !below) && *rest && try_joined(search, front, rest))
		return true;
	return below && try_path(search, below);
}

static bool try_folder(struct search *search, const char *folder)
{
	struct sink slashed = { .limit = PATH_MAX };
	size_t size = strlen(folder);
	while (size && folder[size - 1] == '/')
		size--;
	sink_put(&slashed, folder, size);
	sink_cstr(&slashed, "/");
	const bool found =
	    has_memory(search, &slashed) && try_slashed(search, (const char *)slashed.data);
	sink_clear(&slashed);
	return found;
}

/* "OLD=NEW" is a rule, for files whose path begins with OLD. */
static bool try_place(struct search *search, const char *place)
{
	const char *equals = strchr(place, '=');
	if (!equals)
		return try_folder(search, place);
	size_t size = (size_t)(equals - place);
	while (size > 1 && place[size - 1] == '/')
		size--;
	const char *file = search->file;
	if (!size || strncmp(file, place, size) != 0 ||
	    (file[size] != '/' && place[size - 1] != '/'))
		return false;
	const char *rest = file + size;
	const size_t new_size = strlen(equals + 1);
	const bool needs_slash = *rest != '/' && new_size && equals[new_size] != '/';
	struct sink front = { 0 };
	sink_put(&front, equals + 1, new_size);
	if (needs_slash)
		sink_u8(&front, '/');
	const bool found =
	    has_memory(search, &front) && try_joined(search, sink_bytes(&front), rest);
	sink_clear(&front);
	return found;
}

static bool try_member(struct search *search)
{
	struct load *load = search->load;
	const struct bytes path = { (const uint8_t *)search->file, strlen(search->file) };
	struct sink name = { 0 };
	struct bytes text;
	int got = STATUS_NOT_FOUND;
	if (load->bundle && source_member_name(path, &name)) {
		sink_u8(&name, '\0');
		if (has_memory(search, &name))
			got = bundle_read(load->bundle, (const char *)name.data, &text);
	} else {
		(void)has_memory(search, &name);
	}
	if (got < 0 && got != STATUS_NOT_FOUND && !search->failure)
		search->failure = got;
	const bool found = got == 0 && text.size <= SOURCE_LIMIT;
	sink_clear(&name);
	if (found)
		*search->source =
		    (struct listing_source_text){ .text = text, .found = "in the recording" };
	return found;
}

/* What was compiled, whatever a file of that path may be by now. */
static bool try_symbols(struct search *search)
{
	struct bytes text;
	const char *found;
	const int got = clr_source_text(search->load, search->file, &text, &found);
	if (got < 0 && got != STATUS_NOT_FOUND && !search->failure)
		search->failure = got;
	if (got == 0)
		*search->source = (struct listing_source_text){ .text = text, .found = found };
	return got == 0;
}

/* Where the path itself leads; what is relative was mostly so to where the recording was made. */
static bool try_itself(struct search *search, const char *path)
{
	if (path[0] == '/')
		return try_path(search, path);
	const char *beside = load_beside(search->load, path);
	if (!beside && !search->failure)
		search->failure = STATUS_NO_MEMORY;
	return beside && try_path(search, beside);
}

static bool try_all(struct search *search, const struct load_source_places *places)
{
	for (size_t i = 0; i < places->path_count; i++)
		if (try_place(search, places->paths[i]))
			return true;
	return !search->load->options.self_contained && try_itself(search, search->file);
}

int load_source(struct load *load, const struct load_source_places *places, const char *file,
		struct listing_source_text *source)
{
	*source = (struct listing_source_text){ 0 };
	if (!source_is_path((struct bytes){ (const uint8_t *)file, strlen(file) }))
		return STATUS_NOT_FOUND;
	struct search search = { .load = load, .file = file, .source = source };
	if (try_member(&search) || try_symbols(&search) || try_all(&search, places))
		return 0;
	/* Names of modules are URLs. */
	char *decoded = strchr(file, '%') ? strdup(file) : NULL;
	search.file = decoded;
	const bool found = decoded && source_decode(decoded) && try_all(&search, places);
	free(decoded);
	if (found)
		return 0;
	return search.failure ? search.failure : STATUS_NOT_FOUND;
}

void load_sources_close(struct load *load)
{
	for (size_t i = 0; i < load->source_files.count; i++)
		os_file_close(&load->source_files.items[i]);
	for (size_t i = 0; i < load->source_folders.count; i++)
		os_tree_free(load->source_folders.items[i].tree);
	vector_clear(&load->source_files);
	vector_clear(&load->source_folders);
	idmap_clear(&load->read_sources);
}
