/* The running kernel's memory as /proc/kcore shows it: an ELF core file of the whole address space.
 */
#include "base/status.h"
#include "os/kernel.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Memory is told in a few stretches, and in one for each node and hole beside them. */
enum { SEGMENT_LIMIT = 4096 };

static bool read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	uint8_t *at = buffer;
	while (size) {
		const ssize_t got = offset <= INT64_MAX ? pread(fd, at, size, (off_t)offset) : -1;
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}

static bool is_core(const Elf64_Ehdr *header)
{
	const uint8_t order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == order &&
	       header->e_type == ET_CORE && header->e_phentsize == sizeof(Elf64_Phdr) &&
	       header->e_phnum <= SEGMENT_LIMIT;
}

static int read_code(int fd, uint64_t avma, uint8_t *buffer, size_t size)
{
	Elf64_Ehdr header;
	if (!read_at(fd, &header, sizeof(header), 0) || !is_core(&header))
		return STATUS_NOT_FORMAT;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;
		if (!read_at(fd, &segment, sizeof(segment), header.e_phoff + i * sizeof(segment)))
			return STATUS_TRUNCATED;
		const uint64_t off = avma - segment.p_vaddr;
		if (segment.p_type != PT_LOAD || avma < segment.p_vaddr ||
		    off >= segment.p_filesz || size > segment.p_filesz - off)
			continue;
		return read_at(fd, buffer, size, segment.p_offset + off) ? 0 : STATUS_IO;
	}
	return STATUS_NOT_FOUND;
}

int kernel_code_read(const char *path, uint64_t avma, uint8_t *buffer, size_t size)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT                     ? STATUS_NOT_FOUND
		       : errno == EACCES || errno == EPERM ? STATUS_DENIED
							   : STATUS_IO;
	const int got = read_code(fd, avma, buffer, size);
	close(fd);
	return got;
}
