#include "record/build_ids.h"

#include "clr/build_id.h"
#include "format/perfdata/writer.h"
#include "os/vdso.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Size of the GNU build id in one note segment, or 0. */
static size_t find_note(Elf *elf, const GElf_Phdr *segment, uint8_t build_id[20])
{
	enum { NOTES_LIMIT = 1 << 20 };
	if (segment->p_filesz > NOTES_LIMIT)
		return 0;
	Elf_Data *notes = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz,
					       segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	GElf_Nhdr note;
	size_t name_at;
	size_t at;
	for (size_t next = 0;
	     notes && (next = gelf_getnote(notes, next, &note, &name_at, &at)) > 0;) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp((const char *)notes->d_buf + name_at, "GNU", sizeof("GNU")) != 0)
			continue;
		if (note.n_descsz == 0 || note.n_descsz > 20)
			return 0;
		memcpy(build_id, (const char *)notes->d_buf + at, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

static size_t read_elf(Elf *elf, uint8_t build_id[20])
{
	size_t count;
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_NOTE)
			continue;
		const size_t size = find_note(elf, &segment, build_id);
		if (size)
			return size;
	}
	return 0;
}

static bool read_at(void *context, uint64_t off, void *buffer, size_t size)
{
	return pread(*(const int *)context, buffer, size, (off_t)off) == (ssize_t)size;
}

static bool has_signature(int fd, const GElf_Phdr *segment)
{
	enum { DATA_LIMIT = 16 << 20 };
	if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W) || !segment->p_filesz ||
	    segment->p_filesz > DATA_LIMIT)
		return false;
	const size_t size = segment->p_filesz;
	uint8_t *data = malloc(size);
	const bool has = data && read_at(&fd, segment->p_offset, data, size) &&
			 memmem(data, size, CLR_BUNDLE_SIGNATURE, sizeof(CLR_BUNDLE_SIGNATURE));
	free(data);
	return has;
}

/* Only where something is behind all that is the program is it looked through. */
static bool is_single_file(Elf *elf, int fd, uint64_t file_size)
{
	GElf_Ehdr header;
	size_t count;
	bool has = false;
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0 ||
	    !gelf_getehdr(elf, &header) ||
	    header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize >= file_size)
		return false;
	GElf_Phdr segment;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_offset + segment.p_filesz >= file_size)
			return false;
	for (size_t i = 0; i < count && !has; i++)
		has = gelf_getphdr(elf, (int)i, &segment) && has_signature(fd, &segment);
	return has;
}

static void read_fd(int fd, struct build_id *item)
{
	/* Read, not mapped: the file may shrink while we look at it. */
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct stat opened;
	item->size = (uint8_t)read_elf(elf, item->bytes);
	if (fstat(fd, &opened) == 0 && opened.st_size > 0) {
		const struct clr_build_file file = { &fd, read_at, (uint64_t)opened.st_size };
		item->has_bundle =
		    is_single_file(elf, fd, file.size) && clr_bundle_id(&file, item->bundle);
		/* Assemblies of .NET: their code is mapped as that of ELF files is. */
		if (!item->size && clr_build_id(&file, item->bytes))
			item->size = CLR_BUILD_ID_SIZE;
	}
	elf_end(elf);
}

static int open_file(const struct build_id_file *file)
{
	char path[4200];
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	(void)snprintf(path, sizeof(path), "/proc/%d/root%s", file->pid, file->path);
	int fd = open(path, flags);
	if (fd < 0)
		fd = open(file->path, flags);
	struct stat opened;
	if (fd >= 0 && (fstat(fd, &opened) != 0 || !S_ISREG(opened.st_mode) ||
			(file->inode && opened.st_ino != file->inode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The kernel's vdso is no file, but is in our own memory too. */
static size_t read_vdso(uint8_t build_id[20])
{
	const struct bytes image = os_vdso_image();
	Elf *elf = image.size ? elf_memory((char *)image.data, image.size) : NULL;
	const size_t size = read_elf(elf, build_id);
	elf_end(elf);
	return size;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t size = strlen(text);
	const size_t end_size = strlen(end);
	return size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
}

static void read_file(const struct build_id_file *file, struct build_id *item)
{
	elf_version(EV_CURRENT);
	if (strcmp(file->path, "[vdso]") == 0)
		item->size = (uint8_t)read_vdso(item->bytes);
	if (file->path[0] != '/' || ends_with(file->path, " (deleted)"))
		return;
	const int fd = open_file(file);
	if (fd < 0)
		return;
	read_fd(fd, item);
	close(fd);
}

/* "//anon" is how the kernel calls memory without a file. */
static bool is_file(const char *path)
{
	return (path[0] == '/' && path[1] != '/') || strcmp(path, "[vdso]") == 0;
}

static struct build_id *item_of(struct build_ids *ids, const struct build_id_file *file)
{
	sink_reset(&ids->key);
	sink_u32(&ids->key, file->maj);
	sink_u32(&ids->key, file->min);
	sink_u64(&ids->key, file->inode);
	sink_text(&ids->key, file->path);
	const uint32_t id =
	    sink_failed(&ids->key) ? INTERN_NONE : intern_bytes(&ids->keys, sink_bytes(&ids->key));
	if (id == INTERN_NONE)
		return NULL;
	if (id <= ids->items.count)
		return &ids->items.items[id - 1];
	struct build_id *item = vector_push(&ids->items);
	if (!item)
		return NULL;
	item->path = intern_text(&ids->paths, file->path);
	read_file(file, item);
	return item;
}

struct bytes build_ids_find(struct build_ids *ids, const struct build_id_file *file)
{
	const struct build_id *item = is_file(file->path) ? item_of(ids, file) : NULL;
	return item ? (struct bytes){ item->bytes, item->size } : (struct bytes){ 0 };
}

static void put_kernel(const struct kernel_layout *kernel, struct sink *content)
{
	if (kernel->build_id_size)
		perfdata_put_build_id(content, PERFDATA_CPUMODE_KERNEL, -1,
				      (struct bytes){ kernel->build_id, kernel->build_id_size },
				      "[kernel.kallsyms]");
	for (size_t i = 0; i < kernel->modules.count; i++) {
		const struct kernel_module *module = &kernel->modules.items[i];
		uint8_t build_id[20];
		const size_t size = kernel_module_build_id(module->name, build_id);
		char name[128];
		(void)snprintf(name, sizeof(name), "[%s]", module->name);
		if (size)
			perfdata_put_build_id(content, PERFDATA_CPUMODE_KERNEL, -1,
					      (struct bytes){ build_id, size },
					      module->path ? module->path : name);
	}
}

static void put_bundle(const struct build_id *item, const char *program, struct sink *content)
{
	char path[4200];
	(void)snprintf(path, sizeof(path), "%s" CLR_BUNDLE_SUFFIX, program);
	perfdata_put_build_id(content, PERFDATA_CPUMODE_USER, -1,
			      (struct bytes){ item->bundle, sizeof(item->bundle) }, path);
}

void build_ids_put(const struct build_ids *ids, const struct kernel_layout *kernel,
		   struct sink *content)
{
	put_kernel(kernel, content);
	for (size_t i = 0; i < ids->items.count; i++) {
		const struct build_id *item = &ids->items.items[i];
		if (item->size)
			perfdata_put_build_id(content, PERFDATA_CPUMODE_USER, -1,
					      (struct bytes){ item->bytes, item->size },
					      intern_get(&ids->paths, item->path));
		if (item->has_bundle)
			put_bundle(item, intern_get(&ids->paths, item->path), content);
	}
}

void build_ids_clear(struct build_ids *ids)
{
	intern_clear(&ids->keys);
	intern_clear(&ids->paths);
	sink_clear(&ids->key);
	vector_clear(&ids->items);
}
