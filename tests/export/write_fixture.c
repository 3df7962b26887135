/* What a format writes of the fixture, or what the fixture holds, for tests that read with tools of
 * other languages.
 *
 *   write_fixture FORMAT EVENT      EVENT a number, or "all"
 *   write_fixture samples           a line each: thread, pid, tid, event, time_ns, period, then the
 *                                   frames, outermost first, as NAME/FILE:LINE:IS_INLINED:FRAME;
 *                                   texts in hexadecimal
 */
#include "export/fixture.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_hex(struct bytes text)
{
	for (size_t i = 0; i < text.size; i++)
		printf("%02x", text.data[i]);
}

static void put_frame(const struct profile *profile, uint32_t id)
{
	const struct profile_frame *frame = &profile->frames.items[id];
	putchar(' ');
	put_hex(export_name(profile, frame));
	putchar('/');
	put_hex(intern_get_bytes(&profile->strings, frame->file));
	printf(":%" PRIu32 ":%d:%" PRIu32, frame->line, frame->inlined_into != 0, id);
}

static int put_sample(void *context, const struct export_sample *sample)
{
	const struct profile *profile = context;
	const struct profile_thread *thread = &profile->threads.items[sample->thread];
	const struct profile_stack *stack = &profile->stacks.items[sample->stack];
	printf("%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64,
	       sample->thread, thread->pid, thread->tid, sample->event, sample->time_ns,
	       sample->period);
	for (uint32_t i = stack->depth; i-- > 0;)
		put_frame(profile, profile->frame_ids.items[stack->first + i]);
	putchar('\n');
	return 0;
}

static void put_samples(struct export_fixture *fixture)
{
	for (uint32_t thread = 0; thread < fixture->profile.threads.count; thread++)
		assert_int_equal(
		    export_samples_each(fixture->samples, thread, put_sample, &fixture->profile),
		    0);
}

int main(int argc, char **argv)
{
	struct export_fixture fixture;
	size_t size = 0;
	char *text = NULL;
	fixture_open(&fixture);
	const struct export_format *format = argc == 3 ? export_format_find(argv[1]) : NULL;
	if (format)
		text = fixture_write(&fixture, format,
				     strcmp(argv[2], "all") == 0 ? EXPORT_ALL_EVENTS
								 : (uint32_t)(argv[2][0] - '0'),
				     &size);
	else if (argc == 2)
		put_samples(&fixture);
	if (text)
		fwrite(text, 1, size, stdout);
	free(text);
	fixture_close(&fixture);
	return format || argc == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
