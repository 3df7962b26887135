#include "annotate/fixture.h"

#include "base/status.h"

static const uint8_t code[] = {
	0x55,                         /*  0 push rbp */
	0x48, 0x89, 0xe5,             /*  1 mov rbp, rsp */
	0x85, 0xff,                   /*  4 test edi, edi */
	0x7e, 0x03,                   /*  6 jle b */
	0x8d, 0x04, 0x3f,             /*  8 lea eax, [rdi + rdi] */
	0xe8, 0xf0, 0x00, 0x00, 0x00, /*  b call 0x401100 */
	0x75, 0xf2,                   /* 10 jne 4 */
	0x5d,                         /* 12 pop rbp */
	0xc3,                         /* 13 ret */
};

const struct bytes fixture_code = { code, sizeof(code) };

void fixture_begin(struct fixture *f)
{
	*f = (struct fixture){ .source_name = NULL };
	struct profile *p = &f->profile;
	*vector_push(&p->events) = intern_text(&p->strings, "cpu-clock");
	f->thread = profile_add_thread(p, 7, 7, intern_text(&p->strings, "app"));
}

void fixture_unbuild(struct fixture *f)
{
	annotate_clear(&f->doc);
	annotate_choice_clear(&f->choice);
}

void fixture_end(struct fixture *f)
{
	fixture_unbuild(f);
	for (size_t i = 0; i < FIXTURE_FUNCTIONS; i++)
		listing_clear(&f->listings[i]);
	profile_clear(&f->profile);
}

uint32_t fixture_function(struct fixture *f, const char *name, const char *tier, uint32_t version)
{
	struct profile *p = &f->profile;
	struct profile_function *function = vector_push(&p->functions);
	function->name = intern_text(&p->strings, name);
	function->raw_name = function->name;
	function->object = intern_text(&p->strings, "[jit]");
	function->runtime = intern_text(&p->strings, "v8");
	function->tier = intern_text(&p->strings, tier);
	function->version = version;
	return (uint32_t)p->functions.count - 1;
}

uint32_t fixture_frame(struct fixture *f, uint32_t function, uint64_t offset, const char *file,
		       uint32_t line)
{
	struct profile *p = &f->profile;
	struct profile_frame *frame = vector_push(&p->frames);
	frame->avma = FIXTURE_START + offset;
	frame->offset = offset;
	frame->has_offset = true;
	frame->function = function;
	frame->file = intern_text(&p->strings, file);
	frame->line = line;
	return (uint32_t)p->frames.count - 1;
}

uint32_t fixture_inlined(struct fixture *f, uint32_t function, uint32_t into, const char *file,
			 uint32_t line)
{
	const uint32_t id = fixture_frame(f, function, 0, file, line);
	f->profile.frames.items[id].has_offset = false;
	f->profile.frames.items[id].inlined_into = into + 1;
	return id;
}

void fixture_sample(struct fixture *f, uint32_t frame, uint64_t count)
{
	enum { DEPTH = 16 };
	struct profile *p = &f->profile;
	uint32_t frames[DEPTH];
	uint32_t depth = 0;
	frames[depth++] = frame;
	while (depth < DEPTH - 1 && p->frames.items[frame].inlined_into &&
	       p->frames.items[frame].inlined_into <= p->frames.count) {
		frame = p->frames.items[frame].inlined_into - 1;
		frames[depth++] = frame;
	}
	frames[depth++] = 0;
	const struct profile_row row = { .thread = f->thread,
					 .stack = profile_add_stack(p, frames, depth),
					 .count = count,
					 .weight = FIXTURE_PERIOD * count };
	profile_add(p, &row);
}

struct listing *fixture_listing(struct fixture *f, uint32_t function)
{
	struct listing *listing = &f->listings[function];
	listing->machine = LISTING_X86_64;
	listing->start_avma = FIXTURE_START;
	return listing;
}

void fixture_line(struct listing *listing, uint32_t offset, const char *file, uint32_t line,
		  uint32_t scope)
{
	struct listing_line *entry = vector_push(&listing->lines);
	*entry =
	    (struct listing_line){ .offset = offset, .file = file, .line = line, .scope = scope };
}

void fixture_note(struct listing *listing, uint32_t offset, uint32_t size, const char *kind,
		  const char *text)
{
	struct listing_note *note = vector_push(&listing->notes);
	*note = (struct listing_note){ offset, size, kind, text };
}

#define COPY(to, from, field)                                                   \
	for (size_t i = 0; i < (from)->field.count; i++) {                      \
		__typeof__((to)->field.items) item = vector_push(&(to)->field); \
		if (!item)                                                      \
			return STATUS_NO_MEMORY;                                \
		*item = (from)->field.items[i];                                 \
	}

static int give_listing(void *context, uint32_t function, struct listing *listing)
{
	const struct fixture *f = context;
	if (function >= FIXTURE_FUNCTIONS)
		return 0;
	const struct listing *from = &f->listings[function];
	*listing = *from;
	memset(&listing->lines, 0, sizeof(listing->lines));
	memset(&listing->scopes, 0, sizeof(listing->scopes));
	memset(&listing->notes, 0, sizeof(listing->notes));
	memset(&listing->bytecodes, 0, sizeof(listing->bytecodes));
	COPY(listing, from, lines)
	COPY(listing, from, scopes)
	COPY(listing, from, notes)
	COPY(listing, from, bytecodes)
	return 0;
}

static const char *give_target(void *context, uint32_t function, uint64_t address)
{
	(void)context;
	(void)function;
	return address == FIXTURE_START + 0x100 ? "callee" : "";
}

static int give_source(void *context, const char *file, struct listing_source_text *text)
{
	const struct fixture *f = context;
	if (!f->source_name || strcmp(file, f->source_name) != 0)
		return STATUS_NOT_FOUND;
	*text = (struct listing_source_text){
		.text = { (const uint8_t *)f->source_text, strlen(f->source_text) },
		.found = f->source_name,
		.is_newer = f->source_is_newer,
	};
	return 0;
}

int fixture_build(struct fixture *f, const char *text)
{
	const struct annotate_query query = { .text = text };
	const struct annotate_inputs inputs = { { f, give_listing, give_target, give_source },
						f->att };
	const int got = annotate_choose(&f->choice, &f->profile, 0, &query);
	return got < 0 ? got : annotate_build(&f->doc, &f->profile, 0, &f->choice, &inputs);
}

void fixture_fib(struct fixture *f)
{
	const uint32_t main_ = fixture_function(f, "main", "sparkplug", 1);
	const uint32_t slow = fixture_function(f, "fib", "sparkplug", 1);
	const uint32_t fast = fixture_function(f, "fib", "turbofan", 2);
	const uint32_t inner = fixture_function(f, "g", "turbofan", 1);
	fixture_sample(f, fixture_frame(f, main_, 1, "app.js", 30), 5);
	fixture_sample(f, fixture_frame(f, slow, 0, "fib.js", 1), 2);
	fixture_sample(f, fixture_frame(f, fast, 4, "fib.js", 2), 60);
	const uint32_t around = fixture_frame(f, fast, 8, "fib.js", 3);
	fixture_sample(f, fixture_inlined(f, inner, around, "g.js", 7), 30);
	fixture_sample(f, fixture_frame(f, fast, 2, "fib.js", 1), 3);
	fixture_sample(f, fixture_frame(f, fast, 0x40, "fib.js", 0), 2);
	const uint32_t nowhere = fixture_frame(f, fast, 0, "", 0);
	f->profile.frames.items[nowhere].has_offset = false;
	fixture_sample(f, nowhere, 1);
	fixture_listing(f, main_)->reason = "its code was not kept";
	fixture_listing(f, inner)->reason = "it was inlined";
	fixture_listing(f, slow)->code = fixture_code;
	fixture_line(fixture_listing(f, slow), 0, "fib.js", 1, 0);

	struct listing *listing = fixture_listing(f, fast);
	listing->code = fixture_code;
	listing->loaded_ns = 1500000000;
	listing->unloaded_ns = 2000001000;
	*vector_push(&listing->scopes) =
	    (struct listing_scope){ .name = "g", .call_file = "fib.js", .call_line = 3 };
	fixture_line(listing, 0, "fib.js", 1, 0);
	fixture_line(listing, 4, "fib.js", 2, 0);
	fixture_line(listing, 8, "g.js", 7, 1);
	fixture_line(listing, 0xb, "fib.js", 3, 0);
	fixture_note(listing, 0, 4, "prologue", "");
	fixture_note(listing, 0x10, 0, "safepoint", "");
	fixture_note(listing, 0x10, 0, "deopt", "wrong map");
	*vector_push(&listing->bytecodes) = (struct listing_bytecode){ 4, 12 };
	*vector_push(&listing->bytecodes) = (struct listing_bytecode){ 0xb, -1 };
	f->source_name = "fib.js";
	f->source_text = "function fib(n) {\n\twhile (n > 0)\n\t\tn = g(n);\n}\n";
}

const char *fixture_write(const struct fixture *f, struct sink *out, enum fixture_format format,
			  const struct annotate_options *options)
{
	static const struct annotate_style style;
	if (format == FIXTURE_JSON)
		annotate_write_json(out, &f->doc);
	else if (format == FIXTURE_HTML)
		annotate_write_html(out, &f->doc, options);
	else
		annotate_write_text(out, &f->doc, options, &style);
	sink_u8(out, 0);
	return sink_failed(out) ? NULL : (const char *)out->data;
}
