#include "cli/page_run.h"

#include "base/status.h"
#include "cli/command.h"
#include "cli/message.h"
#include "page/page.h"

#include <errno.h>
#include <stdio.h>

static int add(void *context, const struct profile *profile, const struct load_sample *sample)
{
	struct page_side *side = context;
	side->profile = profile;
	return page_add(side, &(struct page_told){
				  .time_ns = sample->has_time ? sample->time_ns : 0,
				  .thread = sample->thread,
				  .event = sample->event,
				  .stack = sample->stack,
				  .count = 1,
				  .weight = sample->period,
			      });
}

int page_run_make(struct load_args *args, struct sink *out)
{
	args->options.in_order = true;
	struct load *load = load_args_open(args);
	if (!load)
		return EXIT_INPUT;
	struct profile profile = { 0 };
	struct page_side side = { .name = args->options.input, .profile = &profile };
	int got = load_samples(load, &profile, add, &side);
	if (got == 0)
		got = page_write(out, &(struct page){ .sides = &side, .side_count = 1 });
	if (got < 0)
		message_error("%s", status_text(got));
	page_side_clear(&side);
	profile_clear(&profile);
	load_close(load);
	return got < 0 ? EXIT_INPUT : EXIT_OK;
}

static int write_file(const struct sink *out, const char *path)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wbe");
	bool is_written = file && fwrite(out->data, 1, out->size, file) == out->size;
	if (file && (file == stdout ? fflush(file) : fclose(file)) != 0)
		is_written = false;
	if (!is_written)
		message_file(path, STATUS_IO);
	return is_written ? EXIT_OK : EXIT_INPUT;
}

int page_run(struct load_args *args, const char *path)
{
	struct sink out = { 0 };
	int status = page_run_make(args, &out);
	if (status == EXIT_OK)
		status = write_file(&out, path);
	if (status == EXIT_OK && strcmp(path, "-") != 0)
		message_note("%s: open it in a browser", path);
	sink_clear(&out);
	return status;
}
