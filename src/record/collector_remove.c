/* Takes away what the recorded processes left behind because we made them.
 *
 * A file goes only if it was made after the recording began, is still the one that was
 * copied, and belongs to a process that was recorded. The private directory goes as a
 * whole, with private_dir_remove().
 */
#include "base/number.h"
#include "record/collector_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* File systems stamp with the clock of the last tick, up to 10 ms ago. */
static const uint64_t tick_ns = 10000000;

static bool is_born_since(const struct collector *c, int directory, const char *name,
			  struct statx *stx)
{
	if (statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, stx) != 0)
		return false;
	/* A file system that keeps no time of birth: better leave a file than take one. */
	if (!(stx->stx_mask & STATX_BTIME) || !S_ISREG(stx->stx_mode))
		return false;
	const uint64_t birth_ns =
	    (uint64_t)stx->stx_btime.tv_sec * 1000000000u + stx->stx_btime.tv_nsec;
	return birth_ns + tick_ns >= c->start_clock.wall_ns;
}

/* `device` and `inode` are those of the file that was copied. */
static void remove_file(struct collector *c, uint32_t directory, const char *name, int held_fd)
{
	struct statx stx;
	struct stat st;
	const int at = c->directories.items[directory].fd;
	if (fstat(held_fd, &st) != 0 || !is_born_since(c, at, name, &stx) ||
	    stx.stx_ino != st.st_ino)
		return;
	if (unlinkat(at, name, 0) == 0)
		c->totals.removed_count++;
}

/* "isolate-0x3b385bc0-19141-v8.log": 19141; 0 for other names. */
static uint32_t v8_log_number(const char *name)
{
	static const char START[] = "isolate-0x";
	if (strncmp(name, START, sizeof(START) - 1) != 0)
		return 0;
	name += sizeof(START) - 1;
	const size_t digits = strspn(name, "0123456789abcdefABCDEF");
	if (digits == 0 || name[digits] != '-')
		return 0;
	uint32_t number;
	const char *rest = number_skip_u32(name + digits + 1, &number);
	return rest && strcmp(rest, "-v8.log") == 0 ? number : 0;
}

static bool is_of_ours(struct collector *c, uint32_t number, uid_t owner)
{
	for (size_t i = c->processes.count; i-- > 0;)
		if (process_number(&c->processes.items[i]) == number &&
		    collector_may_own(c, (uint32_t)i, owner))
			return true;
	return false;
}

/* V8 opens its log in the current directory, writes a few lines, and leaves it there. */
static void remove_v8_logs(struct collector *c, uint32_t index)
{
	const int fd =
	    openat(c->directories.items[index].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream) {
		if (fd >= 0)
			close(fd);
		return;
	}
	const struct dirent *entry;
	while ((entry = readdir(stream))) {
		struct statx stx;
		const uint32_t number = v8_log_number(entry->d_name);
		if (number && is_born_since(c, fd, entry->d_name, &stx) &&
		    is_of_ours(c, number, stx.stx_uid) && unlinkat(fd, entry->d_name, 0) == 0)
			c->totals.removed_count++;
	}
	closedir(stream);
}

static bool is_current_of_any(const struct collector *c, uint32_t index)
{
	if (index == c->start_directory)
		return true;
	for (size_t i = 0; i < c->processes.count; i++)
		if (c->processes.items[i].current_directory == index)
			return true;
	for (size_t i = 0; i < c->dumps.count; i++)
		if (c->dumps.items[i].directory == index)
			return true;
	return false;
}

/* .NET Core lists the images that it loads beside its map; nobody needs that. */
static void remove_list_of_images(struct collector *c, const struct map *map)
{
	const int at = c->directories.items[map->directory].fd;
	struct statx stx;
	char name[32];
	(void)snprintf(name, sizeof(name), "perfinfo-%u.map", map->number);
	if (is_born_since(c, at, name, &stx) && is_of_ours(c, map->number, stx.stx_uid) &&
	    unlinkat(at, name, 0) == 0)
		c->totals.removed_count++;
}

void collector_remove_files(struct collector *c)
{
	for (size_t i = 0; i < c->dumps.count; i++) {
		const struct dump *dump = &c->dumps.items[i];
		if (dump->directory != COLLECTOR_NONE && dump->process != COLLECTOR_NONE)
			remove_file(c, dump->directory, dump->name, dump->fd);
	}
	for (size_t i = 0; i < c->maps.count; i++) {
		const struct map *map = &c->maps.items[i];
		char name[32];
		(void)snprintf(name, sizeof(name), "perf-%u.map", map->number);
		if (map->process == COLLECTOR_NONE)
			continue;
		remove_file(c, map->directory, name, map->follow.fd);
		remove_list_of_images(c, map);
	}
	for (uint32_t i = 0; i < c->directories.count; i++)
		if (is_current_of_any(c, i))
			remove_v8_logs(c, i);
}
