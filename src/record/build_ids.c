#include "record/build_ids.h"

#include "clr/build_id.h"
#include "format/perfdata/writer.h"
#include "os/vdso.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
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

static size_t read_fd(int fd, uint8_t build_id[20])
{
	/* Read, not mapped: the file may shrink while we look at it. */
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const size_t size = read_elf(elf, build_id);
	elf_end(elf);
	return size;
}

/* The same holds here. */
static bool read_at(void *context, uint64_t off, void *buffer, size_t size)
{
	return pread(*(const int *)context, buffer, size, (off_t)off) == (ssize_t)size;
}

/* Assemblies of .NET, which has code of theirs mapped as other files of programs are. */
static size_t read_pe(int fd, uint8_t build_id[20])
{
	struct stat opened;
	if (fstat(fd, &opened) != 0 || opened.st_size < 0)
		return 0;
	const struct clr_build_file file = { &fd, read_at, (uint64_t)opened.st_size };
	return clr_build_id(&file, build_id) ? CLR_BUILD_ID_SIZE : 0;
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

static size_t read_file(const struct build_id_file *file, uint8_t build_id[20])
{
	elf_version(EV_CURRENT);
	if (strcmp(file->path, "[vdso]") == 0)
		return read_vdso(build_id);
	if (ends_with(file->path, " (deleted)"))
		return 0;
	const int fd = open_file(file);
	if (fd < 0)
		return 0;
	size_t size = read_fd(fd, build_id);
	if (!size)
		size = read_pe(fd, build_id);
	close(fd);
	return size;
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
	item->size = (uint8_t)read_file(file, item->bytes);
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
	}
}

void build_ids_clear(struct build_ids *ids)
{
	intern_clear(&ids->keys);
	intern_clear(&ids->paths);
	sink_clear(&ids->key);
	vector_clear(&ids->items);
}
