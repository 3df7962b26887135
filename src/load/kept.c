#include "load/kept.h"

#include "base/arena.h"
#include "base/status.h"
#include "debuginfo/debuginfo.h"
#include "load/open_files.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	OBJECT_LIMIT = 2048, /* with their files all are dropped when there are more */
	FILE_LIMIT = 1024,
	HEADER_BYTES = 40, /* of a jitdump: PID and time make it another one */
	DUMP_UNUSED_LOADS = 3,
	KALLSYMS_LOADS = 256, /* modules come and go */
};

struct kept_dump {
	char *name;
	uint8_t header[HEADER_BYTES]; /* its first bytes, as many as there were */
	size_t header_size;
	struct digest digest;
	uint32_t used;
};

struct load_kept {
	uint32_t keep_loads;
	uint32_t load;
	VECTOR(struct load_kept_object) objects;
	open_files files;
	struct arena texts; /* of objects */
	VECTOR(struct kept_dump) dumps;
	struct os_file kallsyms_file;
	struct symbol_table *kallsyms;
	uint32_t kallsyms_load; /* that read them; 0: none yet */
};

struct load_kept *load_kept_new(uint32_t keep_loads)
{
	struct load_kept *kept = calloc(1, sizeof(*kept));
	if (kept) {
		kept->keep_loads = keep_loads;
		kept->kallsyms_file.slot = -1;
	}
	return kept;
}

static void free_object(struct load_kept_object *object)
{
	symbol_table_free(object->symbols);
	debuginfo_close(object->debuginfo);
	object->symbols = NULL;
	object->debuginfo = NULL;
	object->has_symbols = object->has_debuginfo = false;
}

static void drop_objects(struct load_kept *kept)
{
	for (size_t i = 0; i < kept->objects.count; i++)
		free_object(&kept->objects.items[i]);
	open_files_clear(&kept->files);
	vector_clear(&kept->objects);
	arena_clear(&kept->texts);
}

static void drop_kallsyms(struct load_kept *kept)
{
	symbol_table_free(kept->kallsyms);
	kept->kallsyms = NULL;
	os_file_close(&kept->kallsyms_file);
	kept->kallsyms_load = 0;
}

static void free_dump(struct kept_dump *dump)
{
	digest_clear(&dump->digest);
	free(dump->name);
}

void load_kept_free(struct load_kept *kept)
{
	if (!kept)
		return;
	drop_objects(kept);
	drop_kallsyms(kept);
	for (size_t i = 0; i < kept->dumps.count; i++)
		free_dump(&kept->dumps.items[i]);
	vector_clear(&kept->dumps);
	free(kept);
}

static void drop_unused_dumps(struct load_kept *kept)
{
	size_t left = 0;
	for (size_t i = 0; i < kept->dumps.count; i++) {
		if (kept->dumps.items[i].used + DUMP_UNUSED_LOADS < kept->load)
			free_dump(&kept->dumps.items[i]);
		else
			kept->dumps.items[left++] = kept->dumps.items[i];
	}
	kept->dumps.count = left;
}

void load_kept_begin(struct load_kept *kept)
{
	kept->load++;
	if (kept->objects.count > OBJECT_LIMIT || kept->files.count > FILE_LIMIT)
		drop_objects(kept);
	if (kept->kallsyms_load && kept->kallsyms_load + KALLSYMS_LOADS < kept->load)
		drop_kallsyms(kept);
	drop_unused_dumps(kept);
}

static void identify(struct load_kept_object *object)
{
	struct stat st;
	const bool is_there = stat(object->path, &st) == 0;
	object->device = is_there ? st.st_dev : 0;
	object->inode = is_there ? st.st_ino : 0;
	object->mtime_ns =
	    is_there ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : 0;
}

/* Another file is at the path now; or there was none, and one load after it is asked again. */
static bool is_outdated(const struct load_kept_object *object)
{
	struct load_kept_object now = *object;
	identify(&now);
	return now.device != object->device || now.inode != object->inode ||
	       now.mtime_ns != object->mtime_ns;
}

static bool is_same(const struct load_kept_object *object, const char *path, struct bytes build_id)
{
	return strcmp(object->path, path) == 0 && object->build_id.size == build_id.size &&
	       (!build_id.size || memcmp(object->build_id.data, build_id.data, build_id.size) == 0);
}

struct load_kept_object *load_kept_object(struct load_kept *kept, const char *path,
					  struct bytes build_id)
{
	for (size_t i = 0; i < kept->objects.count; i++) {
		struct load_kept_object *object = &kept->objects.items[i];
		if (!is_same(object, path, build_id))
			continue;
		/* What a load under way has seen stays until that is closed. */
		if (object->used != kept->load && is_outdated(object)) {
			free_object(object);
			identify(object);
		}
		object->used = kept->load;
		return object;
	}
	const char *path_copy = arena_copy(&kept->texts, path, strlen(path));
	const char *id_copy = arena_copy(&kept->texts, build_id.data, build_id.size);
	struct load_kept_object *object = path_copy && id_copy ? vector_push(&kept->objects) : NULL;
	if (!object)
		return NULL;
	object->path = path_copy;
	object->build_id = (struct bytes){ (const uint8_t *)id_copy, build_id.size };
	object->used = kept->load;
	identify(object);
	return object;
}

static bool open_file(void *context, const char *path, struct bytes *bytes)
{
	struct load_kept *kept = context;
	return open_files_add(&kept->files, path, bytes);
}

static void close_file(void *context, struct bytes bytes)
{
	struct load_kept *kept = context;
	open_files_drop(&kept->files, bytes);
}

struct symbol_files load_kept_files(struct load_kept *kept)
{
	return (struct symbol_files){ .context = kept, .open = open_file, .close = close_file };
}

bool load_kept_image(struct load_kept *kept, struct bytes *image)
{
	void *copy = arena_alloc(&kept->texts, image->size, 1, _Alignof(max_align_t));
	if (!copy)
		return false;
	memcpy(copy, image->data, image->size);
	image->data = copy;
	return true;
}

struct symbol_table *load_kept_kallsyms(struct load_kept *kept)
{
	if (kept->kallsyms_load)
		return kept->kallsyms;
	kept->kallsyms_load = kept->load;
	if (os_file_open(&kept->kallsyms_file, "/proc/kallsyms", OS_FILE_PLAIN) < 0 ||
	    symbol_table_kallsyms(&kept->kallsyms, kept->kallsyms_file.bytes) < 0)
		kept->kallsyms = NULL;
	return kept->kallsyms;
}

static struct kept_dump *find_dump(struct load_kept *kept, const char *name)
{
	for (size_t i = 0; i < kept->dumps.count; i++)
		if (strcmp(kept->dumps.items[i].name, name) == 0)
			return &kept->dumps.items[i];
	char *copy = strdup(name);
	struct kept_dump *dump = copy ? vector_push(&kept->dumps) : NULL;
	if (!dump) {
		free(copy);
		return NULL;
	}
	dump->name = copy;
	return dump;
}

/* Of the file of this name, if it is still the one that was read before. */
static struct kept_dump *dump_of(struct load_kept *kept, const char *name, struct bytes file)
{
	struct kept_dump *dump = find_dump(kept, name);
	if (!dump)
		return NULL;
	const size_t size = file.size < HEADER_BYTES ? file.size : HEADER_BYTES;
	const size_t known = dump->header_size;
	if (size < known || memcmp(dump->header, file.data, known) != 0 ||
	    file.size < dump->digest.next_off)
		digest_clear(&dump->digest);
	memcpy(dump->header, file.data, size);
	dump->header_size = size;
	dump->used = kept->load;
	return dump;
}

struct digest *load_kept_dump(struct load_kept *kept, const char *name,
			      struct jitdump_reader *reader)
{
	struct kept_dump *dump = dump_of(kept, name, reader->file);
	if (!dump || digest_update(&dump->digest, reader, kept->keep_loads) < 0)
		return NULL;
	return &dump->digest;
}

struct digest *load_kept_map(struct load_kept *kept, const char *name, struct bytes map,
			     struct perfmap_times *times)
{
	struct kept_dump *dump = dump_of(kept, name, map);
	if (!dump || digest_update_map(&dump->digest, map, times, kept->keep_loads) < 0)
		return NULL;
	return &dump->digest;
}
