#include "export/samples.h"

#include "base/status.h"
#include "base/vector.h"
#include "os/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_SAMPLES = 128 };

struct piece {
	uint64_t offset;
	uint32_t count;
	uint32_t next; /* piece of the same thread: index + 1; 0: the last */
};

struct of_thread {
	struct export_sample *gathered; /* PIECE_SAMPLES; NULL before its first and after the end */
	uint32_t gathered_count;
	uint32_t first; /* piece: index + 1 */
	uint32_t last;
	uint64_t count;
};

struct export_samples {
	int fd;
	uint64_t size;
	VECTOR(struct piece) pieces;
	VECTOR(struct of_thread) threads;
};

int export_samples_open(struct export_samples **samples)
{
	*samples = calloc(1, sizeof(**samples));
	if (!*samples)
		return STATUS_NO_MEMORY;
	(*samples)->fd = os_file_unnamed();
	if ((*samples)->fd >= 0)
		return 0;
	const int why = errno;
	free(*samples);
	*samples = NULL;
	errno = why;
	return STATUS_IO;
}

static int put_piece(struct export_samples *samples, struct of_thread *thread)
{
	struct piece *piece = vector_push(&samples->pieces);
	if (!piece)
		return STATUS_NO_MEMORY;
	piece->offset = samples->size;
	piece->count = thread->gathered_count;
	const uint32_t id = (uint32_t)samples->pieces.count;
	if (thread->last)
		samples->pieces.items[thread->last - 1].next = id;
	else
		thread->first = id;
	thread->last = id;
	thread->gathered_count = 0;
	const size_t size = piece->count * sizeof(*thread->gathered);
	samples->size += size;
	return os_file_write(samples->fd, thread->gathered, size);
}

int export_samples_add(struct export_samples *samples, const struct export_sample *sample)
{
	while (samples->threads.count <= sample->thread)
		if (!vector_push(&samples->threads))
			return STATUS_NO_MEMORY;
	struct of_thread *thread = &samples->threads.items[sample->thread];
	if (!thread->gathered)
		thread->gathered = calloc(PIECE_SAMPLES, sizeof(*thread->gathered));
	if (!thread->gathered)
		return STATUS_NO_MEMORY;
	thread->gathered[thread->gathered_count++] = *sample;
	thread->count++;
	return thread->gathered_count == PIECE_SAMPLES ? put_piece(samples, thread) : 0;
}

int export_samples_end(struct export_samples *samples)
{
	int got = 0;
	for (size_t i = 0; i < samples->threads.count; i++) {
		struct of_thread *thread = &samples->threads.items[i];
		if (got == 0 && thread->gathered_count)
			got = put_piece(samples, thread);
		free(thread->gathered);
		thread->gathered = NULL;
	}
	return got;
}

uint64_t export_samples_count(const struct export_samples *samples, uint32_t thread)
{
	return thread < samples->threads.count ? samples->threads.items[thread].count : 0;
}

static int read_piece(const struct export_samples *samples, const struct piece *piece,
		      struct export_sample *into)
{
	return os_file_read_at(samples->fd, into, piece->count * sizeof(*into), piece->offset);
}

int export_samples_each(const struct export_samples *samples, uint32_t thread,
			int (*visit)(void *context, const struct export_sample *sample),
			void *context)
{
	struct export_sample read[PIECE_SAMPLES];
	uint32_t next = thread < samples->threads.count ? samples->threads.items[thread].first : 0;
	while (next) {
		const struct piece *piece = &samples->pieces.items[next - 1];
		int got = read_piece(samples, piece, read);
		for (uint32_t i = 0; got == 0 && i < piece->count; i++)
			got = visit(context, &read[i]);
		if (got != 0)
			return got;
		next = piece->next;
	}
	return 0;
}

/* Where a thread's samples are read, while all are. */
struct stand {
	uint32_t thread;
	uint32_t next; /* piece to read: index + 1 */
	uint32_t at;
	uint32_t count;
	struct export_sample *read; /* PIECE_SAMPLES */
};

/* A heap: the stand whose sample is next is the first. */
struct stands {
	struct stand *items;
	size_t count;
	struct export_sample *room; /* what has been read of each */
};

static bool is_before(const struct stand *a, const struct stand *b)
{
	const uint64_t a_ns = a->read[a->at].time_ns;
	const uint64_t b_ns = b->read[b->at].time_ns;
	return a_ns != b_ns ? a_ns < b_ns : a->thread < b->thread;
}

static void sink_down(struct stands *stands, size_t at)
{
	for (;;) {
		size_t first = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < stands->count &&
			    is_before(&stands->items[child], &stands->items[first]))
				first = child;
		if (first == at)
			return;
		const struct stand moved = stands->items[at];
		stands->items[at] = stands->items[first];
		stands->items[first] = moved;
		at = first;
	}
}

static int read_next(const struct export_samples *samples, struct stand *stand)
{
	const struct piece *piece = &samples->pieces.items[stand->next - 1];
	const int got = read_piece(samples, piece, stand->read);
	stand->at = 0;
	stand->count = piece->count;
	stand->next = piece->next;
	return got;
}

static int open_stands(const struct export_samples *samples, struct stands *stands)
{
	size_t count = 1;
	for (size_t i = 0; i < samples->threads.count; i++)
		count += samples->threads.items[i].first ? 1 : 0;
	stands->items = calloc(count, sizeof(*stands->items));
	stands->room = calloc(count, PIECE_SAMPLES * sizeof(*stands->room));
	if (!stands->items || !stands->room)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < samples->threads.count; i++) {
		struct stand *stand = &stands->items[stands->count];
		if (!samples->threads.items[i].first)
			continue;
		stand->thread = i;
		stand->next = samples->threads.items[i].first;
		stand->read = stands->room + PIECE_SAMPLES * stands->count++;
		const int got = read_next(samples, stand);
		if (got < 0)
			return got;
	}
	for (size_t i = stands->count / 2; i-- > 0;)
		sink_down(stands, i);
	return 0;
}

/* Goes on to the next sample of the first stand; one that has none is left out. */
static int go_on(const struct export_samples *samples, struct stands *stands)
{
	struct stand *first = &stands->items[0];
	int got = 0;
	if (++first->at == first->count && first->next) {
		got = read_next(samples, first);
	} else if (first->at == first->count) {
		*first = stands->items[--stands->count];
	}
	if (got == 0)
		sink_down(stands, 0);
	return got;
}

int export_samples_in_time(const struct export_samples *samples,
			   int (*visit)(void *context, const struct export_sample *sample),
			   void *context)
{
	struct stands stands = { 0 };
	int got = open_stands(samples, &stands);
	while (got == 0 && stands.count) {
		const struct stand *first = &stands.items[0];
		got = visit(context, &first->read[first->at]);
		if (got == 0)
			got = go_on(samples, &stands);
	}
	free(stands.items);
	free(stands.room);
	return got;
}

void export_samples_close(struct export_samples *samples)
{
	if (!samples)
		return;
	for (size_t i = 0; i < samples->threads.count; i++)
		free(samples->threads.items[i].gathered);
	vector_clear(&samples->threads);
	vector_clear(&samples->pieces);
	(void)close(samples->fd);
	free(samples);
}
