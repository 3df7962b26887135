#include "record/follow.h"

#include "base/status.h"
#include "os/clock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	/* Measured between a write and a follower that inotify woke: median 56, p99 125 us. */
	FIRST_LAG_NS = 56 * 1000,
	NEAR_NS = 150 * 1000, /* an mtime this near to being seen is the write itself */
	/* Room for the one call between two readings of the clocks. */
	CLOCK_SLACK_NS = 2 * 1000,
	/* A larger change of the wall clock between two checks is somebody setting it. */
	CLOCK_STEP_NS = 1000 * 1000,
	TAIL_SIZE = 4096,            /* lines are shorter; the longest seen had 722 bytes */
	STRETCH_LIMIT = 1 << 20,     /* 32 MB; later lines are noted many at a time */
	STRETCHES_AT_FIRST = 1 << 8, /* so that the first lines need no allocation */
};

/* Elsewhere a server or another machine may stamp, with a clock of its own. */
static bool stamps_with_our_clock(int fd)
{
	struct statfs fs;
	if (fstatfs(fd, &fs) != 0)
		return false;
	switch ((unsigned long)fs.f_type) {
	case TMPFS_MAGIC:
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/* Nothing in a file was written before there was the file. */
static uint64_t born_ns(int fd, int64_t wall_offset_ns)
{
	struct statx stx;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &stx) != 0 || !(stx.stx_mask & STATX_BTIME))
		return 0;
	const int64_t wall_ns = stx.stx_btime.tv_sec * 1000000000 + stx.stx_btime.tv_nsec;
	const int64_t mono_ns = wall_ns - wall_offset_ns - CLOCK_SLACK_NS;
	return mono_ns > 0 ? (uint64_t)mono_ns : 0;
}

int follow_start(struct follow *follow, int fd, uint64_t not_before_ns)
{
	struct stat st;
	if (fstat(fd, &st) != 0) {
		close(fd);
		return STATUS_IO;
	}
	const struct os_clock_pair pair = os_clock_pair();
	*follow = (struct follow){
		.fd = fd,
		.device = st.st_dev,
		.inode = st.st_ino,
		.owner = st.st_uid,
		.has_true_mtime = stamps_with_our_clock(fd),
		.known_at_ns = not_before_ns,
		.wall_offset_ns = (int64_t)(pair.wall_ns - pair.mono_ns),
		.wall_offset_at_ns = pair.mono_ns,
		.usual_lag_ns = FIRST_LAG_NS,
	};
	if (follow->has_true_mtime) {
		const uint64_t birth_ns = born_ns(fd, follow->wall_offset_ns);
		if (birth_ns > not_before_ns && birth_ns < pair.mono_ns)
			follow->known_at_ns = birth_ns;
	}
	(void)vector_reserve(&follow->stretches, STRETCHES_AT_FIRST);
	return 0;
}

/* Where the last line begins, whole or not. Returns false where that is further from
 * the end than any line should be long.
 */
static bool find_last_line(int fd, uint64_t from_off, uint64_t end_off, uint64_t *line_off)
{
	char tail[TAIL_SIZE];
	const bool is_all = end_off - from_off <= TAIL_SIZE;
	const size_t size = is_all ? (size_t)(end_off - from_off) : TAIL_SIZE;
	const ssize_t got = pread(fd, tail, size, (off_t)(end_off - size));
	if (got != (ssize_t)size || size == 0)
		return false;
	const char *newline = memrchr(tail, '\n', size - 1);
	if (newline)
		*line_off = end_off - size + (uint64_t)(newline - tail) + 1;
	else
		*line_off = from_off;
	return newline || is_all;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Times never go back from one stretch to the next: the file is only appended to. */
static void add_stretch(struct follow *follow, struct perfmap_stretch stretch)
{
	struct perfmap_stretch *last =
	    follow->stretches.count ? &follow->stretches.items[follow->stretches.count - 1] : NULL;
	if (last) {
		stretch.earliest_ns = clamp(stretch.earliest_ns, last->earliest_ns, UINT64_MAX);
		stretch.latest_ns = clamp(stretch.latest_ns, last->latest_ns, UINT64_MAX);
		stretch.best_ns = clamp(stretch.best_ns, last->best_ns, UINT64_MAX);
	}
	stretch.earliest_ns = clamp(stretch.earliest_ns, 0, stretch.latest_ns);
	stretch.best_ns = clamp(stretch.best_ns, stretch.earliest_ns, stretch.latest_ns);
	struct perfmap_stretch *slot =
	    follow->stretches.count < STRETCH_LIMIT ? vector_push(&follow->stretches) : NULL;
	if (slot) {
		*slot = stretch;
	} else if (last) {
		last->end_offset = stretch.end_offset;
		last->latest_ns = stretch.latest_ns;
	}
}

/* One look at the file. */
struct look {
	uint64_t before_ns; /* the size was asked for after this ... */
	uint64_t after_ns;  /* ... and before this */
	uint64_t size;
	struct timespec mtime;
	uint64_t line_off;     /* where the last line begins */
	bool has_line;         /* and whether that is known */
	bool is_mtime_of_last; /* the mtime is that of the last write into `size` */
};

static bool look(int fd, struct look *seen)
{
	struct stat st;
	*seen = (struct look){ .before_ns = os_clock_mono_ns() };
	if (fstat(fd, &st) != 0)
		return false;
	seen->after_ns = os_clock_mono_ns();
	seen->size = (uint64_t)st.st_size;
	seen->mtime = st.st_mtim;
	return true;
}

/* A write stamps the file first and makes it longer last: the mtime that was seen may
 * be that of a write under way. Writes lock the inode; reading (on XFS) or looking for
 * a hole (elsewhere) waits for that lock. So if the size is the same behind both, no
 * write was under way.
 */
static void finish_look(const struct follow *follow, struct look *seen)
{
	struct stat st;
	seen->has_line =
	    find_last_line(follow->fd, follow->known_size, seen->size, &seen->line_off);
	if (!follow->has_true_mtime)
		return;
	(void)lseek(follow->fd, (off_t)(seen->size - 1), SEEK_HOLE);
	seen->is_mtime_of_last = fstat(follow->fd, &st) == 0 && (uint64_t)st.st_size == seen->size;
}

/* The mtime in our clock, or 0 where it cannot be believed. */
static uint64_t believable_mtime(struct follow *follow, const struct look *seen)
{
	const struct os_clock_pair pair = os_clock_pair();
	const int64_t offset_ns = (int64_t)(pair.wall_ns - pair.mono_ns);
	const int64_t drift_ns = offset_ns - follow->wall_offset_ns;
	/* The wall clock may be slewed by a thousandth of the time that went by. */
	const int64_t allowed_ns =
	    CLOCK_STEP_NS + (int64_t)((pair.mono_ns - follow->wall_offset_at_ns) / 1000);
	follow->wall_offset_ns = offset_ns;
	follow->wall_offset_at_ns = pair.mono_ns;
	if (!seen->is_mtime_of_last || drift_ns > allowed_ns || drift_ns < -allowed_ns)
		return 0;
	const int64_t wall_ns = (int64_t)seen->mtime.tv_sec * 1000000000 + seen->mtime.tv_nsec;
	const int64_t mono_ns = wall_ns - offset_ns - CLOCK_SLACK_NS;
	return mono_ns > 0 && (uint64_t)mono_ns <= seen->after_ns ? (uint64_t)mono_ns : 0;
}

static void note_growth(struct follow *follow, const struct look *seen)
{
	const uint64_t mtime_ns = believable_mtime(follow, seen);
	const uint64_t lag_ns = mtime_ns ? seen->after_ns - mtime_ns : UINT64_MAX;
	struct perfmap_stretch stretch = { seen->size, follow->known_at_ns,
					   seen->after_ns - follow->usual_lag_ns, seen->after_ns };
	if (lag_ns < NEAR_NS) {
		stretch.best_ns = mtime_ns;
		follow->usual_lag_ns += lag_ns / 8;
		follow->usual_lag_ns -= follow->usual_lag_ns / 8;
	}
	if (seen->has_line && seen->line_off > follow->known_size) {
		stretch.end_offset = seen->line_off;
		add_stretch(follow, stretch);
	}
	stretch.end_offset = seen->size;
	if (seen->has_line)
		stretch.earliest_ns = clamp(mtime_ns, follow->known_at_ns, UINT64_MAX);
	add_stretch(follow, stretch);
}

bool follow_check(struct follow *follow)
{
	bool has_changed = false;
	/* One that writes faster than we look gets what it deserves: wide intervals. */
	for (int round = 0; round < 4; round++) {
		struct look seen;
		if (!look(follow->fd, &seen))
			break;
		if (seen.size < follow->known_size) {
			has_changed = true;
			follow->cut_count++;
			follow->has_shrunk |= follow->known_size > follow->skip_off;
			follow->stretches.count = 0;
			follow->known_size = 0;
			follow->skip_off = 0;
		}
		const bool has_grown = seen.size > follow->known_size;
		if (has_grown) {
			finish_look(follow, &seen);
			note_growth(follow, &seen);
			follow->last_mtime =
			    seen.is_mtime_of_last ? seen.mtime : (struct timespec){ 0 };
		}
		has_changed |= has_grown;
		follow->known_size = seen.size;
		follow->known_at_ns = seen.before_ns;
		if (!has_grown || seen.is_mtime_of_last)
			break;
	}
	return has_changed;
}

void follow_skip(struct follow *follow)
{
	struct stat st;
	if (fstat(follow->fd, &st) != 0)
		return;
	follow->skip_off = (uint64_t)st.st_size;
	follow->known_size = (uint64_t)st.st_size;
	follow->stretches.count = 0;
}

void follow_settle(struct follow *follow)
{
	for (size_t i = 0; i < follow->stretches.count; i++) {
		struct perfmap_stretch *stretch = &follow->stretches.items[i];
		*stretch = (struct perfmap_stretch){ .end_offset = stretch->end_offset };
	}
}

void follow_forget(struct follow *follow, uint64_t before_ns)
{
	struct perfmap_stretch *stretches = follow->stretches.items;
	size_t count = 0;
	while (count < follow->stretches.count && stretches[count].latest_ns < before_ns)
		count++;
	if (count < 2)
		return;
	stretches[0] = (struct perfmap_stretch){ .end_offset = stretches[count - 1].end_offset };
	follow->stretches.count -= count - 1;
	memmove(&stretches[1], &stretches[count],
		(follow->stretches.count - 1) * sizeof(stretches[0]));
}

bool follow_was_rewritten(const struct follow *follow)
{
	struct stat st;
	if (!follow->last_mtime.tv_sec || follow->has_shrunk)
		return false;
	(void)lseek(follow->fd, (off_t)(follow->known_size - 1), SEEK_HOLE);
	return fstat(follow->fd, &st) == 0 && (uint64_t)st.st_size == follow->known_size &&
	       (st.st_mtim.tv_sec != follow->last_mtime.tv_sec ||
		st.st_mtim.tv_nsec != follow->last_mtime.tv_nsec);
}

void follow_put_times(const struct follow *follow, struct sink *out)
{
	perfmap_times_begin(out);
	for (size_t i = 0; i < follow->stretches.count; i++) {
		struct perfmap_stretch stretch = follow->stretches.items[i];
		stretch.end_offset -= follow->skip_off;
		perfmap_times_put(out, &stretch);
	}
}

void follow_clear(struct follow *follow)
{
	if (follow->fd >= 0)
		close(follow->fd);
	follow->fd = -1;
	vector_clear(&follow->stretches);
}
