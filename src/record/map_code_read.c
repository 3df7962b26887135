#include "record/map_code_internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#elif defined(__riscv)
enum { OWN_MACHINE = EM_RISCV };
#elif defined(__powerpc64__)
enum { OWN_MACHINE = EM_PPC64 };
#elif defined(__s390x__)
enum { OWN_MACHINE = EM_S390 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

/* 32-bit programs run on 64-bit machines. */
uint16_t map_code_machine(pid_t pid)
{
	char path[32];
	Elf64_Ehdr header; /* begins like that of a 32-bit file */
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return OWN_MACHINE;
	const ssize_t got = pread(fd, &header, sizeof(header), 0);
	close(fd);
	const bool is_elf =
	    got == (ssize_t)sizeof(header) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
	return is_elf ? header.e_machine : OWN_MACHINE;
}

/* Hands out what one call copied from wants[at] on: whole ranges, until one that could not
 * be read to its end. Returns the first that was not tried.
 */
static size_t hand_out(struct map_code_room *room, size_t at, size_t copied)
{
	for (; at < room->want_count; at++) {
		struct map_code_want *want = &room->wants[at];
		want->got = copied < room->remote[at].iov_len ? copied : room->remote[at].iov_len;
		copied -= want->got;
		if (want->got < room->remote[at].iov_len)
			return at + 1;
	}
	return at;
}

bool map_code_read(struct map_code_room *room, pid_t pid)
{
	size_t size = 0;
	for (size_t i = 0; i < room->want_count; i++) {
		struct map_code_want *want = &room->wants[i];
		room->remote[i].iov_base = (void *)(uintptr_t)want->entry->start_avma; // NOLINT
		room->remote[i].iov_len = (size_t)want->entry->size;
		want->code_off = size;
		want->got = 0;
		size += room->remote[i].iov_len;
	}
	for (size_t at = 0; at < room->want_count;) {
		const size_t off = room->wants[at].code_off;
		const struct iovec local = { room->code + off, size - off };
		const ssize_t copied =
		    process_vm_readv(pid, &local, 1, &room->remote[at], room->want_count - at, 0);
		if (copied < 0 && errno != EFAULT)
			return false;
		at = hand_out(room, at, copied < 0 ? 0 : (size_t)copied);
	}
	return true;
}
