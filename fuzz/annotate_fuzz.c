/* annotate_fuzz.c - a profile, its listings, a question and a source, all made of the input.
 *
 * Whatever they are: no sample is lost, none counts twice, and all writers end.
 */
#include "annotate/write.h"
#include "base/escape.h"
#include "base/status.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUNCTIONS = 4, FRAMES = 24, ENTRIES = 12, TEXTS = 8 };

/* What the input has said so far. */
struct input {
	struct cursor c;
	struct profile profile;
	const char *texts[TEXTS];
	struct intern strings;
	struct bytes code; /* at an offset of its own for each function */
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A new item, which there is always memory for. */
#define ADD(vector, ...)                                                \
	do {                                                            \
		__typeof__((vector)->items) item = vector_push(vector); \
		require(item != NULL);                                  \
		*item = (__typeof__(*item))__VA_ARGS__;                 \
	} while (0)

static uint32_t below(struct input *in, uint32_t limit)
{
	return cursor_u8(&in->c) % limit;
}

static const char *text(struct input *in)
{
	return in->texts[below(in, TEXTS)];
}

static void make_texts(struct input *in)
{
	for (size_t i = 0; i < TEXTS; i++) {
		const struct bytes bytes = cursor_take(&in->c, below(in, 12));
		in->texts[i] = intern_get(&in->strings, intern_bytes(&in->strings, bytes));
	}
}

static void make_profile(struct input *in)
{
	struct profile *p = &in->profile;
	ADD(&p->events, intern_text(&p->strings, text(in)));
	const uint32_t thread = profile_add_thread(p, 1, 1, 0);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct profile_function *f = vector_push(&p->functions);
		require(f != NULL);
		f->name = intern_text(&p->strings, text(in));
		f->raw_name = intern_text(&p->strings, text(in));
		f->object = intern_text(&p->strings, text(in));
		f->tier = intern_text(&p->strings, text(in));
		f->runtime = f->tier;
		f->version = below(in, 4);
	}
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct profile_frame *f = vector_push(&p->frames);
		require(f != NULL);
		f->function = below(in, FUNCTIONS);
		f->has_offset = below(in, 8);
		f->offset = below(in, 8) ? below(in, 64) : cursor_u64(&in->c);
		f->file = intern_text(&p->strings, text(in));
		f->line = below(in, 8) ? below(in, 8) : cursor_u32(&in->c);
		f->inlined_into = below(in, 2) ? below(in, FRAMES + 2) : 0;
	}
	for (uint32_t i = 0; i < FRAMES; i++) {
		const uint32_t frames[2] = { below(in, FRAMES), 0 };
		const struct profile_row row = { .thread = thread,
						 .stack =
						     profile_add_stack(p, frames, below(in, 3)),
						 .count = below(in, 4) + 1,
						 .weight = below(in, 4) };
		profile_add(p, &row);
	}
}

/* The same for every call: it reads a copy of the cursor. */
static int give_listing(void *context, uint32_t function, struct listing *listing)
{
	struct input in = *(const struct input *)context;
	(void)cursor_take(&in.c, (size_t)function * 3);
	listing->machine = (enum listing_machine)below(&in, 3);
	listing->start_avma = below(&in, 2) ? 0x1000 : cursor_u64(&in.c);
	listing->loaded_ns = cursor_u32(&in.c);
	listing->code = below(&in, 8) ? in.code : (struct bytes){ 0 };
	listing->reason = below(&in, 2) ? "no reason" : NULL;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		ADD(&listing->lines, {
					 .offset = below(&in, 64),
					 .line = below(&in, 8),
					 .scope = below(&in, 6),
					 .file = text(&in),
					 .text = below(&in, 4) ? NULL : text(&in),
				     });
		ADD(&listing->notes, {
					 .offset = below(&in, 64),
					 .size = below(&in, 4) ? 0 : cursor_u32(&in.c),
					 .kind = below(&in, 2) ? "data" : text(&in),
					 .text = text(&in),
				     });
		ADD(&listing->bytecodes, { below(&in, 64), (int32_t)below(&in, 5) - 1 });
	}
	for (uint32_t i = 0; i < 4; i++)
		ADD(&listing->scopes, {
					  .name = text(&in),
					  .call_file = text(&in),
					  .call_line = below(&in, 3),
					  .around = below(&in, 6),
				      });
	return 0;
}

static const char *give_target(void *context, uint32_t function, uint64_t address)
{
	const struct input *in = context;
	(void)function;
	return in->texts[address % TEXTS];
}

static int give_source(void *context, const char *file, struct listing_source_text *source)
{
	const struct input *in = context;
	if (strlen(file) % 2)
		return STATUS_NOT_FOUND;
	*source = (struct listing_source_text){ .text = in->code, .found = file };
	return 0;
}

static void check_sums(const struct annotate *doc)
{
	for (size_t i = 0; i < doc->functions.count; i++) {
		const struct annotate_function *function = &doc->functions.items[i];
		uint64_t sum = 0;
		for (size_t v = 0; v < function->versions.count; v++) {
			const struct annotate_version *version = &function->versions.items[v];
			uint64_t rows = 0;
			for (size_t r = 0; r < version->rows.count; r++)
				rows += version->rows.items[r].count.samples;
			require(!version->rows.count || rows == version->count.samples);
			sum += version->count.samples;
		}
		require(sum == function->count.samples);
	}
}

static void write_all(const struct annotate *doc, struct input *in)
{
	const struct annotate_options options = {
		.view = (enum annotate_view)below(in, 4),
		.version = below(in, 3),
		.all_versions = below(in, 2),
		.context = below(in, 4),
		.percent_limit = below(in, 3),
		.raw_bytes = below(in, 2),
	};
	const struct annotate_style style = { .width = below(in, 100), .ascii = below(in, 2) };
	struct sink out = { 0 };
	annotate_write_text(&out, doc, &options, &style);
	for (size_t start = 0, i = 0; i < out.size; i++)
		if (out.data[i] == '\n') {
			/* Lines that are cut may end inside nothing: only whole characters are. */
			require(escape_is_plain((struct bytes){ out.data + start, i - start }));
			start = i + 1;
		}
	sink_reset(&out);
	annotate_write_json(&out, doc);
	require(out.size && !memchr(out.data, '\x1b', out.size));
	sink_reset(&out);
	annotate_write_html(&out, doc, &options);
	require(out.size && !memchr(out.data, '\x1b', out.size));
	require(!memmem(out.data, out.size, "<script", 7));
	sink_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .c = cursor_over((struct bytes){ data, size }) };
	struct annotate_choice choice = { .kind = ANNOTATE_NOTHING };
	struct annotate doc = { .event = 0 };
	in.code = cursor_take(&in.c, below(&in, 64));
	make_texts(&in);
	make_profile(&in);
	const struct annotate_query query = { .text = below(&in, 6) ? text(&in) : NULL,
					      .top = below(&in, 4) };
	const struct annotate_inputs inputs = { { &in, give_listing, give_target, give_source },
						below(&in, 2) };
	require(annotate_choose(&choice, &in.profile, 0, &query) == 0);
	if (choice.kind == ANNOTATE_FUNCTIONS || choice.kind == ANNOTATE_FILE) {
		require(annotate_build(&doc, &in.profile, 0, &choice, &inputs) == 0);
		check_sums(&doc);
		write_all(&doc, &in);
	}
	annotate_clear(&doc);
	annotate_choice_clear(&choice);
	profile_clear(&in.profile);
	intern_clear(&in.strings);
	return 0;
}
