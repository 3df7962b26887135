/* The file: few large writes, and none where nothing is. */
#include "image/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	BUFFER_SIZE = 1 << 20,
	/* A smaller gap is written as zeros: a hole would save no block. */
	MAX_WRITTEN_GAP = 4096,
	/* Not copied into the buffer before it is written. */
	DIRECT_SIZE = 256 * 1024,
};

struct writer {
	int fd;
	uint8_t *buffer;
	uint64_t off; /* where the buffer belongs */
	size_t used;
};

static int write_at(int fd, const uint8_t *data, size_t size, uint64_t off)
{
	while (size) {
		const ssize_t wrote = pwrite(fd, data, size, (off_t)off);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return STATUS_IO;
		data += wrote;
		off += (uint64_t)wrote;
		size -= (size_t)wrote;
	}
	return 0;
}

static int flush(struct writer *w)
{
	const int got = write_at(w->fd, w->buffer, w->used, w->off);
	w->off += w->used;
	w->used = 0;
	return got;
}

/* Pieces come by offset and do not overlap. */
static int put(struct writer *w, uint64_t off, struct bytes piece)
{
	if (!piece.size)
		return 0;
	const uint64_t gap = off - (w->off + w->used);
	int got = 0;
	if (gap > MAX_WRITTEN_GAP || w->used + gap + piece.size > BUFFER_SIZE) {
		got = flush(w);
		w->off = off;
	} else {
		memset(w->buffer + w->used, 0, gap);
		w->used += gap;
	}
	if (got < 0)
		return got;
	if (piece.size >= DIRECT_SIZE) {
		got = flush(w);
		if (got == 0)
			got = write_at(w->fd, piece.data, piece.size, off);
		w->off = off + piece.size;
		return got;
	}
	memcpy(w->buffer + w->used, piece.data, piece.size);
	w->used += piece.size;
	return 0;
}

static int put_all(struct writer *w, const struct image *image)
{
	int got = put(w, 0, sink_bytes(&image->head));
	for (uint32_t i = 0; got == 0 && i < image->present.count; i++) {
		const struct function *f = &image->functions.items[image->present.order[i]];
		got = put(w, f->file_off, f->code);
	}
	for (unsigned i = SECTION_SYMTAB; got == 0 && i < SECTION_COUNT; i++)
		if (image->sections[i].index)
			got = put(w, image->sections[i].off, sink_bytes(&image->contents[i]));
	if (got == 0)
		got = put(w, image->headers_off, sink_bytes(&image->headers));
	return got == 0 ? flush(w) : got;
}

int image_write(struct image *image, int fd)
{
	if (!image->is_finished) {
		errno = EINVAL;
		return STATUS_IO;
	}
	struct arena arena = { 0 };
	struct writer w = { .fd = fd, .buffer = arena_new(&arena, uint8_t, BUFFER_SIZE) };
	int got = w.buffer ? 0 : STATUS_NO_MEMORY;
	if (got == 0 && ftruncate(fd, (off_t)image->file_size))
		got = STATUS_IO;
	if (got == 0)
		got = put_all(&w, image);
	const int saved = errno;
	arena_clear(&arena);
	errno = saved;
	return got;
}
