/* Mapped objects and their symbols, opened at the first need. */
#include "load/load_internal.h"

#include "base/hash.h"
#include "base/path.h"
#include "base/status.h"
#include "clr/build_id.h"
#include "format/perfdata/features.h"
#include "load/kept.h"
#include "os/debuginfod.h"
#include "os/kernel.h"
#include "os/proc.h"
#include "os/vdso.h"
#include "symbol/debug_file.h"

#include <stdlib.h>
#include <sys/utsname.h>

static uint64_t object_key(uint32_t path, uint32_t build_id)
{
	return hash_mix(((uint64_t)path << 32) | build_id, 1);
}

static size_t object_slot(const struct load *load, uint32_t path, uint32_t build_id)
{
	const size_t mask = load->object_slot_count - 1;
	size_t at = object_key(path, build_id) & mask;
	for (; load->object_slots[at]; at = (at + 1) & mask) {
		const struct object *o = &load->objects.items[load->object_slots[at] - 1];
		if (o->path == path && o->build_id == build_id)
			break;
	}
	return at;
}

static bool grow_object_slots(struct load *load)
{
	if (load->objects.count * 2 < load->object_slot_count)
		return true;
	const size_t count = load->object_slot_count ? load->object_slot_count * 2 : 256;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(load->object_slots);
	load->object_slots = slots;
	load->object_slot_count = count;
	for (uint32_t i = 0; i < load->objects.count; i++) {
		const struct object *o = &load->objects.items[i];
		slots[object_slot(load, o->path, o->build_id)] = i + 1;
	}
	return true;
}

/* "/lib/modules/6.1/kernel/net/nf-tables.ko.xz" is what kallsyms calls [nf_tables]. */
static uint32_t module_name(struct load *load, const char *path)
{
	char name[128];
	const char *base = path_name(path);
	const size_t limit = sizeof(name) - 2;
	size_t size = 0;
	name[size++] = '[';
	for (; *base && *base != '.' && size < limit; base++)
		name[size++] = (char)(*base == '-' ? '_' : *base);
	name[size++] = ']';
	return intern_bytes(&load->strings, (struct bytes){ (const uint8_t *)name, size });
}

/* How reports call it. Files of memory keep perf's word for it. */
static uint32_t short_name_of(struct load *load, const char *path, enum object_kind kind)
{
	if (kind == OBJECT_KERNEL && strcmp(path, "[kernel.kallsyms]") == 0)
		return intern_text(&load->strings, "[kernel]");
	if (kind == OBJECT_KERNEL && path[0] == '/')
		return module_name(load, path);
	if (kind == OBJECT_ANONYMOUS && path[0] == '/')
		return intern_text(&load->strings, "[anon]");
	return intern_text(&load->strings, path_name(path));
}

uint32_t load_object(struct load *load, const char *path, struct bytes build_id,
		     enum object_kind kind)
{
	const uint32_t path_id = intern_text(&load->strings, path);
	const uint32_t build_id_id = intern_bytes(&load->strings, build_id);
	if (path_id == INTERN_NONE || build_id_id == INTERN_NONE || !grow_object_slots(load))
		return INTERN_NONE;
	const size_t at = object_slot(load, path_id, build_id_id);
	if (load->object_slots[at])
		return load->object_slots[at] - 1;
	struct object *object = vector_push(&load->objects);
	if (!object)
		return INTERN_NONE;
	*object = (struct object){ .path = path_id,
				   .short_name = short_name_of(load, path, kind),
				   .build_id = build_id_id,
				   .kind = kind };
	load->object_slots[at] = (uint32_t)load->objects.count;
	return load->object_slots[at] - 1;
}

/* Of a program whose path is this without its suffix, whatever its own build id is. */
static int take_bundle_id(struct load *load, const struct perfdata_build_id *id, size_t suffix)
{
	const size_t size = strlen(id->path) - suffix;
	const uint32_t path =
	    intern_bytes(&load->strings, (struct bytes){ (const uint8_t *)id->path, size });
	const uint32_t bundle_id = intern_bytes(&load->strings, id->build_id);
	if (path == INTERN_NONE || bundle_id == INTERN_NONE)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < load->objects.count; i++)
		if (load->objects.items[i].path == path)
			load->objects.items[i].bundle_id = bundle_id;
	return 0;
}

/* The BUILD_ID feature names files whose MMAP records carry none. */
static int take_build_id(struct load *load, const struct perfdata_build_id *id)
{
	const size_t suffix = strlen(CLR_BUNDLE_SUFFIX);
	const size_t size = strlen(id->path);
	if (size > suffix && strcmp(id->path + size - suffix, CLR_BUNDLE_SUFFIX) == 0)
		return take_bundle_id(load, id, suffix);
	const uint32_t path = intern_text(&load->strings, id->path);
	const uint32_t build_id = intern_bytes(&load->strings, id->build_id);
	if (path == INTERN_NONE || build_id == INTERN_NONE)
		return STATUS_NO_MEMORY;
	if (!load->object_slot_count)
		return 0;
	const size_t at = object_slot(load, path, 0);
	if (load->object_slots[at])
		load->objects.items[load->object_slots[at] - 1].feature_build_id = build_id;
	return 0;
}

int load_build_ids(struct load *load)
{
	struct cursor c = perfdata_build_ids(load->perf);
	struct perfdata_build_id id;
	while (perfdata_build_id_next(&c, &id) > 0) {
		const int got = take_build_id(load, &id);
		if (got < 0)
			return got;
	}
	return 0;
}

struct bytes load_object_build_id(const struct load *load, const struct object *object)
{
	const uint32_t id = object->build_id ? object->build_id : object->feature_build_id;
	return intern_get_bytes(&load->strings, id);
}

/* What symbol/ may open: plain files; each stays open until its table is freed. */
static bool open_file(void *context, const char *path, struct bytes *bytes)
{
	struct load *load = context;
	return !load->options.self_contained && open_files_add(&load->files, path, bytes);
}

/* As open_file; only where the options allow it. */
static bool fetch_debug(void *context, struct bytes build_id, struct bytes *bytes)
{
	struct load *load = context;
	struct os_file *file = vector_push(&load->files);
	if (!file)
		return false;
	if (os_debuginfod_open(file, build_id) < 0) {
		load->files.count--;
		return false;
	}
	*bytes = file->bytes;
	return true;
}

/* Closed all together with the load: tables keep names in the mapped files. */
static void close_file(void *context, struct bytes bytes)
{
	struct load *load = context;
	open_files_drop(&load->files, bytes);
}

static struct symbol_files files_of(struct load *load)
{
	if (load->options.kept)
		return load_kept_files(load->options.kept);
	const bool fetches = load->options.fetches_debug && !load->options.self_contained;
	return (struct symbol_files){ .context = load,
				      .open = open_file,
				      .close = close_file,
				      .fetch_debug = fetches ? fetch_debug : NULL };
}

/* A table of the debug file's own is wanted, wherever in it: it may be compressed. */
static int has_debug_frame(void *context, const struct elf_image *debug, const char *path)
{
	(void)context;
	(void)path;
	struct elf_section section;
	return elf_section_named(debug, ".debug_frame", &section) ||
	       elf_section_named(debug, ".zdebug_frame", &section);
}

struct bytes load_debug_frame_file(struct load *load, const char *path, struct bytes image)
{
	struct elf_image elf;
	struct symbol_files files = files_of(load);
	struct bytes bytes = { 0 };
	/* Not worth a download: nearly all that is in it is in the object's .eh_frame, too. */
	files.fetch_debug = NULL;
	if (elf_image_open(&elf, image) < 0)
		return bytes;
	const struct debug_file_search search = {
		.files = &files, .image = &elf, .path = path, .use = has_debug_frame
	};
	if (debug_file_find(&search, &bytes) <= 0)
		bytes = (struct bytes){ 0 };
	elf_image_close(&elf);
	return bytes;
}

bool load_vdso(struct load *load, struct bytes *image)
{
	if (load->bundle && bundle_read(load->bundle, "vdso", image) == 0)
		return true;
	struct utsname here;
	const char *release = perfdata_feature_text(load->perf, PERFDATA_FEATURE_OSRELEASE);
	if (uname(&here) || strcmp(here.release, release) != 0)
		return false;
	*image = os_vdso_image();
	return image->size != 0;
}

static const char *reason_of(int status, bool has_build_id)
{
	switch (status) {
	case STATUS_NOT_FOUND:
		return has_build_id ? "the file is not here, or has another build id"
				    : "the file is not here";
	case STATUS_NOT_FORMAT:
		return "the file is neither an ELF object nor an assembly";
	default:
		return status_text(status);
	}
}

/* What loads before know of it; NULL: this is the only one. */
static struct load_kept_object *kept_object(struct load *load, const struct object *object)
{
	if (!load->options.kept)
		return NULL;
	return load_kept_object(load->options.kept, intern_get(&load->strings, object->path),
				load_object_build_id(load, object));
}

/* The table reads names in the image, which may be the bundle's; kept ones outlive that. */
static int open_vdso_symbols(struct load *load, struct object *object)
{
	struct bytes image;
	if (!load_vdso(load, &image))
		return STATUS_NOT_FOUND;
	if (load->options.kept && !load_kept_image(load->options.kept, &image))
		return STATUS_NO_MEMORY;
	return symbol_table_image(&object->symbols, image);
}

static int open_symbols(struct load *load, struct object *object)
{
	const struct symbol_files files = files_of(load);
	if (object->kind == OBJECT_VDSO)
		return open_vdso_symbols(load, object);
	if (object->kind != OBJECT_FILE)
		return STATUS_NOT_FOUND;
	return symbol_table_file(&object->symbols, &files, intern_get(&load->strings, object->path),
				 load_object_build_id(load, object));
}

struct symbol_table *load_object_symbols(struct load *load, struct object *object)
{
	if (object->kind == OBJECT_KERNEL)
		return load_kernel_symbols(load);
	if (object->was_opened)
		return object->symbols;
	object->was_opened = true;
	const struct bytes build_id = load_object_build_id(load, object);
	struct load_kept_object *kept = kept_object(load, object);
	int got = kept && kept->has_symbols ? kept->symbols_status : open_symbols(load, object);
	if (kept && kept->has_symbols)
		object->symbols = kept->symbols;
	if (kept && !kept->has_symbols) {
		kept->has_symbols = true;
		kept->symbols = got < 0 ? NULL : object->symbols;
		kept->symbols_status = got;
	}
	if (got == 0 && object->bundle_id)
		object->has_other_bundle = !symbol_check_bundle(
		    object->symbols, intern_get_bytes(&load->strings, object->bundle_id));
	if (got < 0) {
		object->symbols = NULL;
		object->reason = load->options.self_contained  ? "its file was not to be opened"
				 : object->kind == OBJECT_VDSO ? "the vdso of another kernel"
							       : reason_of(got, build_id.size != 0);
	}
	return object->symbols;
}

bool load_object_may_have_methods(struct load *load, struct object *object)
{
	const struct symbol_files files = files_of(load);
	if (!object->was_looked_at && object->kind == OBJECT_FILE)
		object->may_have_methods =
		    symbol_may_have_methods(&files, intern_get(&load->strings, object->path));
	object->was_looked_at = true;
	return object->may_have_methods;
}

struct debuginfo *load_object_debuginfo(struct load *load, struct object *object)
{
	if (object->debuginfo_was_opened || object->kind != OBJECT_FILE)
		return object->debuginfo;
	object->debuginfo_was_opened = true;
	struct load_kept_object *kept = kept_object(load, object);
	if (kept && kept->has_debuginfo)
		return object->debuginfo = kept->debuginfo;
	const struct symbol_files files = files_of(load);
	if (debuginfo_open(&object->debuginfo, &files, intern_get(&load->strings, object->path),
			   load_object_build_id(load, object)) < 0)
		object->debuginfo = NULL;
	if (kept) {
		kept->has_debuginfo = true;
		kept->debuginfo = object->debuginfo;
	}
	return object->debuginfo;
}

/* The build id that the recording gives the kernel; empty where it gives none. */
static struct bytes recorded_kernel_id(const struct load *load)
{
	for (size_t i = 0; i < load->objects.count; i++) {
		const struct object *o = &load->objects.items[i];
		const struct bytes build_id = load_object_build_id(load, o);
		if (o->kind == OBJECT_KERNEL && build_id.size &&
		    strcmp(intern_get(&load->strings, o->path), "[kernel.kallsyms]") == 0)
			return build_id;
	}
	return (struct bytes){ 0 };
}

/* Another build has other symbols, even where it begins at the same address. */
bool load_is_running_kernel(const struct load *load)
{
	const struct bytes recorded = recorded_kernel_id(load);
	struct sink notes = { .limit = 1 << 16 };
	uint8_t here[20];
	size_t size = 0;
	if (recorded.size && proc_read(&notes, "/sys/kernel/notes") == 0)
		size = kernel_note_build_id(sink_bytes(&notes), here);
	sink_clear(&notes);
	/* Without both there is only the address of the text to go by. */
	return !size || (size == recorded.size && memcmp(here, recorded.data, size) == 0);
}

/* Where _text or _stext is: a reboot moves it, and then all other addresses are wrong too. */
static bool is_same_boot(const struct symbol_table *table, uint64_t text_avma)
{
	struct symbol symbol;
	return !text_avma ||
	       (symbol_find(table, text_avma, &symbol) && symbol.start_svma == text_avma);
}

struct symbol_table *load_running_kernel_symbols(struct load *load)
{
	struct bytes text;
	if (load->running_kallsyms_was_read)
		return load->running_kallsyms;
	load->running_kallsyms_was_read = true;
	if (load->options.kept)
		return load->running_kallsyms = load_kept_kallsyms(load->options.kept);
	if (load->options.self_contained ||
	    load_keep_file(load, "/proc/kallsyms", false, &text) < 0 ||
	    symbol_table_kallsyms(&load->running_kallsyms, text) < 0)
		load->running_kallsyms = NULL;
	return load->running_kallsyms;
}

struct symbol_table *load_kernel_symbols(struct load *load)
{
	if (load->kallsyms_was_read)
		return load->kallsyms;
	load->kallsyms_was_read = true;
	struct bytes text;
	if (load->bundle && bundle_read(load->bundle, "kernel/kallsyms", &text) == 0) {
		if (symbol_table_kallsyms(&load->kallsyms, text) < 0)
			load->kallsyms = NULL;
		return load->kallsyms;
	}
	struct symbol_table *table = load_running_kernel_symbols(load);
	if (!table)
		return NULL;
	if (!load_is_running_kernel(load) || !is_same_boot(table, load->kernel_text_avma)) {
		load_add_note(load, true,
			      "kernel symbols: the recording is from another kernel or "
			      "boot, so its kernel frames stay unnamed");
		return NULL;
	}
	load->kallsyms = table;
	return table;
}
