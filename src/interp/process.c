#include "base/number.h"
#include "base/status.h"
#include "base/vector.h"
#include "interp/find.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/proc.h"
#include "os/proc_maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The first mapping of a file, with its beginning. */
struct place {
	uint64_t start_avma;
	uint64_t end_avma;
	uint64_t inode;
	uint64_t file; /* of device and inode */
	char *path;
	bool has_code;
};

struct search {
	pid_t pid;
	struct interp_process *process;
	struct interp_cache *cache;
	struct interp_view view;
	VECTOR(struct place) places;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Whose symbols are looked at: those of some libraries are a hundred thousand, and interpreters
 * are programs, or libraries that are named after what is in them.
 */
static bool may_be_interpreter(const struct place *place, bool is_program)
{
	static const char *const words[] = { "python", "php", "ruby", "perl", "luajit" };
	const char *name = base_name(place->path);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(name, words[i]))
			return true;
	return is_program;
}

static bool may_be_libc(const struct place *place)
{
	const char *name = base_name(place->path);
	return begins_with(name, "libc.so.") || begins_with(name, "libc-2.") ||
	       begins_with(name, "libpthread");
}

static int open_place(const struct search *search, const struct place *place, struct os_file *file)
{
	char path[PROC_MAPS_PATH_SIZE + 64];
	/* The very file, be it deleted or in another mount namespace; for the privileged. */
	(void)snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)search->pid,
		       (unsigned long long)place->start_avma, (unsigned long long)place->end_avma);
	if (os_file_open(file, path, OS_FILE_REGULAR) == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/root%s", (int)search->pid, place->path);
	return os_file_open(file, path, OS_FILE_REGULAR);
}

/* The file's beginning is mapped at the first segment's page. */
static bool find_bias(struct bytes image, uint64_t start_avma, uint64_t *bias_avma)
{
	enum { PAGE_MASK = 4095 };
	struct elf_image elf;
	size_t count = 0;
	bool is_found = false;
	if (elf_image_open(&elf, image) != 0)
		return false;
	if (elf_getphdrnum(elf.elf, &count) != 0)
		count = 0;
	for (size_t i = 0; i < count && i < UINT16_MAX && !is_found; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf.elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    segment.p_offset > PAGE_MASK)
			continue;
		*bias_avma = start_avma - (segment.p_vaddr & ~(uint64_t)PAGE_MASK);
		is_found = true;
	}
	elf_image_close(&elf);
	return is_found;
}

static struct place *place_of(struct search *search, uint64_t inode, const char *path)
{
	for (size_t i = search->places.count; i-- > 0;) {
		struct place *place = &search->places.items[i];
		if (place->inode == inode && strcmp(place->path, path) == 0)
			return place;
	}
	return NULL;
}

/* Neither device nor inode is spread well. */
static uint64_t file_key(uint32_t maj, uint32_t min, uint64_t inode)
{
	const uint64_t device = (uint64_t)maj << 32 | min;
	return (device * 0x9e3779b97f4a7c15u) ^ (inode * 0xff51afd7ed558ccdu);
}

static int list_places(struct search *search, struct bytes text)
{
	struct proc_maps maps;
	struct proc_mapping map;
	proc_maps_open(&maps, text);
	while (proc_maps_next(&maps, &map)) {
		if (map.path[0] != '/' || !map.inode)
			continue;
		struct place *place = place_of(search, map.inode, map.path);
		if (!place && map.file_off == 0) {
			place = vector_push(&search->places);
			if (!place)
				return STATUS_NO_MEMORY;
			*place = (struct place){ .start_avma = map.start_avma,
						 .end_avma = map.end_avma,
						 .inode = map.inode,
						 .file = file_key(map.maj, map.min, map.inode),
						 .path = strdup(map.path) };
			if (!place->path) {
				search->places.count--;
				return STATUS_NO_MEMORY;
			}
		}
		if (place && map.prot & PROT_EXEC)
			place->has_code = true;
	}
	return 0;
}

static bool has_language(const struct interp_process *process, uint8_t language)
{
	for (size_t i = 0; i < process->found_count; i++)
		if (process->found[i].runtime.language == language)
			return true;
	return false;
}

static void remember_none(struct search *search, const struct place *place)
{
	uint32_t *slot = search->cache ? idmap_put(&search->cache->files, place->file) : NULL;
	if (slot)
		*slot = 1;
}

static void look_into(struct search *search, const struct place *place, bool is_program)
{
	struct interp_process *process = search->process;
	struct interp_object object;
	struct interp_found found;
	struct os_file file;
	if (process->found_count == WALK_MAX_RUNTIMES ||
	    (search->cache && idmap_get(&search->cache->files, place->file)) ||
	    open_place(search, place, &file) != 0)
		return;
	object.image = file.bytes;
	int result = STATUS_NOT_FOUND;
	if (find_bias(file.bytes, place->start_avma, &object.bias_avma))
		result = may_be_interpreter(place, is_program)
			     ? interp_find(&object, &search->view, &found)
			     : interp_find_slot(&object, &search->view, &found);
	os_file_close(&file);
	if (result != 0)
		remember_none(search, place);
	if (result != 0 || has_language(process, found.runtime.language))
		return;
	process->found[process->found_count++] = found;
	if (!found.refusal)
		process->walk.runtimes[process->walk.runtime_count++] = found.runtime;
}

static void look_for_libc(struct search *search)
{
	for (size_t i = 0; i < search->places.count && !search->view.pthread_values_off; i++) {
		const struct place *place = &search->places.items[i];
		struct os_file file;
		/* The program itself is first: it may be linked statically. */
		if ((i && !may_be_libc(place)) || open_place(search, place, &file) != 0)
			continue;
		search->view.pthread_values_off = interp_pthread_values(file.bytes);
		os_file_close(&file);
	}
}

static void look(struct search *search)
{
	look_for_libc(search);
	for (size_t i = 0; i < search->places.count; i++)
		if (search->places.items[i].has_code)
			look_into(search, &search->places.items[i], i == 0);
}

void interp_cache_clear(struct interp_cache *cache)
{
	idmap_clear(&cache->files);
}

bool interp_cache_has(const struct interp_cache *cache, uint32_t maj, uint32_t min, uint64_t inode)
{
	return idmap_get(&cache->files, file_key(maj, min, inode)) != 0;
}

bool interp_address_space(struct walk_process *walk, const char *stat)
{
	enum { AFTER_NAME = 3, START_CODE = 26, END_CODE, START_STACK };
	uint64_t fields[START_STACK + 1] = { 0 };
	/* The name is in parentheses and may have any character. */
	const char *at = strrchr(stat, ')');
	if (!at)
		return false;
	at += 1;
	for (int i = AFTER_NAME; i <= START_STACK; i++) {
		if (*at != ' ')
			return false;
		at++;
		const struct bytes rest = { (const uint8_t *)at, strlen(at) };
		if (i >= START_CODE && !number_read(rest, 10, &fields[i]))
			return false;
		at += strcspn(at, " ");
	}
	walk->start_code_avma = fields[START_CODE];
	walk->end_code_avma = fields[END_CODE];
	walk->start_stack_avma = fields[START_STACK];
	/* Numbers that are not ours to see are 0 or 1. */
	return walk->start_stack_avma > 1;
}

static bool read_memory(void *context, uint64_t avma, void *to, size_t size)
{
	return os_memory_read(*(pid_t *)context, avma, to, size);
}

static int read_file(struct sink *text, pid_t pid, const char *name)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return proc_read(text, path);
}

int interp_process_open(struct interp_process *process, struct interp_cache *cache, pid_t pid)
{
	struct sink text = { .limit = 64 << 20 };
	struct search search = { .pid = pid,
				 .process = process,
				 .cache = cache,
				 .view = { .context = &pid, .read = read_memory } };
	*process = (struct interp_process){ .found_count = 0 };
	int result = read_file(&text, pid, "stat");
	if (result == 0) {
		sink_u8(&text, 0);
		if (sink_failed(&text))
			result = STATUS_NO_MEMORY;
		else if (!interp_address_space(&process->walk, (const char *)text.data))
			result = STATUS_DENIED;
	}
	sink_reset(&text);
	if (result == 0)
		result = read_file(&text, pid, "maps");
	if (result == 0)
		result = list_places(&search, sink_bytes(&text));
	if (result == 0)
		look(&search);
	for (size_t i = 0; i < search.places.count; i++)
		free(search.places.items[i].path);
	vector_clear(&search.places);
	sink_clear(&text);
	return result;
}
