/* An annotated function, as text with a cursor. */
#include "tui/browser_internal.h"

#include "base/status.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void browser_annotate_clear(struct browser *b)
{
	struct browser_code *code = &b->code;
	vector_clear(&code->marks);
	vector_clear(&code->hot);
	vector_clear(&code->steps);
	pane_clear(&code->pane);
	arena_clear(&code->names);
	*code = (struct browser_code){ 0 };
}

static int by_heat(const void *left, const void *right, void *context)
{
	const annotate_marks *marks = context;
	const struct annotate_mark *a = &marks->items[*(const uint32_t *)left];
	const struct annotate_mark *b = &marks->items[*(const uint32_t *)right];
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static bool sort_hot(struct browser_code *code)
{
	code->hot.count = 0;
	code->hot_at = 0;
	for (uint32_t i = 0; i < code->marks.count; i++) {
		if (!code->marks.items[i].weight)
			continue;
		uint32_t *slot = vector_push(&code->hot);
		if (!slot)
			return false;
		*slot = i;
	}
	if (code->hot.count)
		qsort_r(code->hot.items, code->hot.count, sizeof(uint32_t), by_heat, &code->marks);
	return true;
}

static void go_to_hot(struct browser *b, size_t at)
{
	struct browser_code *code = &b->code;
	if (!code->hot.count) {
		browser_complain(b, "no line has samples");
		return;
	}
	code->hot_at = at < code->hot.count ? at : 0;
	pane_choose(&code->pane, code->marks.items[code->hot.items[code->hot_at]].line);
}

void browser_annotate_show(struct browser *b)
{
	struct browser_code *code = &b->code;
	struct sink text = { 0 };
	const struct annotate_style style = { .colour = true,
					      .ascii = !screen_is_utf8(b->screen),
					      .marks = &code->marks };
	code->marks.count = 0;
	annotate_write_text(&text, code->doc, &code->options, &style);
	int got = sink_failed(&text) ? STATUS_NO_MEMORY : 0;
	if (got == 0)
		got = pane_set(&code->pane, sink_bytes(&text));
	if (got == 0 && !sort_hot(code))
		got = STATUS_NO_MEMORY;
	sink_clear(&text);
	browser_check(b, got);
}

/* Samples that zooms choose are those that are annotated. */
static void add_samples(const struct browser *b, struct browser_asked *asked)
{
	const struct profile *profile = b->model.profile;
	asked->event = b->model.event;
	for (size_t i = 0; i < b->model.zooms.count; i++) {
		const struct model_zoom *zoom = &b->model.zooms.items[i];
		if (zoom->kind == MODEL_COMM) {
			asked->comm = profile_text(profile, zoom->value);
		} else if (zoom->kind == MODEL_THREAD) {
			asked->is_of_thread = true;
			asked->pid = profile->threads.items[zoom->value].pid;
			asked->tid = profile->threads.items[zoom->value].tid;
		}
	}
}

/* Draws only what is another number than before. */
struct telling {
	struct browser *browser;
	unsigned percent;
};

static void tell(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct telling *telling = context;
	const unsigned percent = total ? (unsigned)(100 * (unsigned __int128)done / total) : 100;
	if (percent == telling->percent)
		return;
	telling->percent = percent;
	browser_say(telling->browser, "Reading code and lines: %s %u %%", what, percent);
	browser_draw(telling->browser);
}

/* Reads code and lines, the first time from the recording: the person is told. */
static bool load(struct browser *b, const char *name, const char *object)
{
	struct telling telling = { .browser = b, .percent = UINT_MAX };
	struct progress progress = { .tell = tell, .context = &telling };
	struct browser_asked asked = { .name = name, .object = object, .progress = &progress };
	const struct annotate *doc = NULL;
	add_samples(b, &asked);
	browser_say(b, "Reading code and lines ...");
	browser_draw(b);
	const int got = b->in->annotate(b->in->context, &asked, &doc);
	sink_reset(&b->message);
	if (got == STATUS_NO_MEMORY)
		browser_check(b, got);
	else if (got == STATUS_NOT_FOUND)
		browser_complain(b, "no sample is of the code of %s", name);
	else if (got < 0)
		browser_complain(b, "%s: %s", name, status_text(got));
	if (got < 0)
		return false;
	b->code.doc = doc;
	return true;
}

/* False where nothing can be shown; then all stays as it was. */
static bool annotate(struct browser *b, const char *name, const char *object, uint32_t version)
{
	struct browser_code *code = &b->code;
	/* The names may be those of a document that goes. */
	const char *kept_name = arena_copy(&code->names, name, strlen(name));
	const char *kept_object = object ? arena_copy(&code->names, object, strlen(object)) : NULL;
	if (!kept_name || (object && !kept_object)) {
		browser_check(b, STATUS_NO_MEMORY);
		return false;
	}
	const struct annotate *before = code->doc;
	code->doc = NULL;
	if (!load(b, kept_name, kept_object)) {
		/* The document before is gone: it is asked for again. */
		if (before && b->view == BROWSER_ANNOTATE && !b->is_over) {
			struct browser_asked asked = { .name = code->shown.name,
						       .object = code->shown.object };
			add_samples(b, &asked);
			if (b->in->annotate(b->in->context, &asked, &code->doc) < 0)
				b->view = BROWSER_TABLE;
		}
		return false;
	}
	code->shown = (struct browser_step){ .name = kept_name, .object = kept_object };
	code->options.version = version;
	code->options.context = 3;
	b->view = BROWSER_ANNOTATE;
	const unsigned rows = screen_canvas(b->screen)->rows;
	code->pane.at = (struct scroll){ .page = rows > 2 ? rows - 2 : 0 };
	code->pane.shift = 0;
	browser_annotate_show(b);
	if (code->hot.count)
		go_to_hot(b, 0);
	return true;
}

void browser_annotate_open(struct browser *b)
{
	const struct profile *profile = b->model.profile;
	const struct report_group *group = browser_table_group(b);
	if (!group || !b->in->annotate)
		return;
	if (!group->key.symbol) {
		browser_complain(b, "rows are no functions here");
		return;
	}
	browser_annotate_clear(b);
	const char *object = group->key.object ? profile_text(profile, group->key.object) : NULL;
	(void)annotate(b, profile_text(profile, group->key.symbol), object, group->key.version);
}

static void go_back(struct browser *b)
{
	struct browser_code *code = &b->code;
	if (!code->steps.count) {
		b->view = BROWSER_TABLE;
		return;
	}
	const struct browser_step step = code->steps.items[--code->steps.count];
	if (annotate(b, step.name, step.object, 0))
		pane_choose(&code->pane, step.line);
	else
		b->view = BROWSER_TABLE;
}

/* The mark of a line, or NULL. */
static const struct annotate_mark *mark_at(const struct browser_code *code, size_t line)
{
	for (size_t i = 0; i < code->marks.count; i++)
		if (code->marks.items[i].line == line)
			return &code->marks.items[i];
	return NULL;
}

static void follow_jump(struct browser *b, const struct annotate_mark *from)
{
	struct browser_code *code = &b->code;
	for (size_t i = 0; i < code->marks.count; i++) {
		const struct annotate_mark *mark = &code->marks.items[i];
		if (mark->function == from->function && mark->row == from->target_row) {
			pane_choose(&code->pane, mark->line);
			return;
		}
	}
	browser_complain(b, "where it jumps to is not shown");
}

/* "memcpy+0x10" is in memcpy. */
static void follow_call(struct browser *b, const char *callee)
{
	struct browser_code *code = &b->code;
	const char *plus = strrchr(callee, '+');
	const size_t size = plus && plus > callee && strncmp(plus, "+0x", 3) == 0
				? (size_t)(plus - callee)
				: strlen(callee);
	struct browser_step step = code->shown;
	step.line = code->pane.at.chosen;
	const char *name = arena_copy(&code->names, callee, size);
	struct browser_step *slot = vector_push(&code->steps);
	if (!name || !slot) {
		browser_check(b, STATUS_NO_MEMORY);
		return;
	}
	*slot = step;
	if (!annotate(b, name, NULL, 0)) {
		if (code->steps.count)
			code->steps.count--;
		/* Texts of marks went with the document that they were of. */
		if (b->view == BROWSER_ANNOTATE && !b->is_over)
			browser_annotate_show(b);
	}
}

static void follow(struct browser *b)
{
	const struct annotate_mark *mark = mark_at(&b->code, b->code.pane.at.chosen);
	if (mark && mark->target_row)
		follow_jump(b, mark);
	else if (mark && mark->callee[0])
		follow_call(b, mark->callee);
	else
		browser_complain(b, "no jump, and no call of what has a name");
}

static void choose_view(struct browser *b, enum annotate_view view)
{
	b->code.options.view = view;
	browser_annotate_show(b);
	if (b->code.hot.count)
		go_to_hot(b, 0);
}

static void next_version(struct browser *b, bool back)
{
	struct browser_code *code = &b->code;
	const struct annotate_function *function =
	    code->doc->functions.count ? &code->doc->functions.items[0] : NULL;
	const size_t count = function ? function->versions.count : 0;
	size_t at = count ? annotate_version_asked(code->doc, function, &code->options) : 0;
	if (count < 2 || at >= count) {
		browser_complain(b, "there is one version");
		return;
	}
	at = (at + (back ? count - 1 : 1)) % count;
	code->options.version =
	    code->doc->profile->functions.items[function->versions.items[at].function].version;
	browser_annotate_show(b);
	if (code->hot.count)
		go_to_hot(b, 0);
}

static bool view_key(struct browser *b, int32_t key)
{
	static const struct {
		char key;
		enum annotate_view view;
	} views[] = { { 'm', ANNOTATE_MIXED },
		      { 'a', ANNOTATE_ASM },
		      { 's', ANNOTATE_SOURCE },
		      { 'b', ANNOTATE_VERSIONS } };
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (key == views[i].key) {
			choose_view(b, views[i].view);
			return true;
		}
	return false;
}

void browser_annotate_draw(struct browser *b, struct canvas *canvas, const struct area *area)
{
	pane_draw(&b->code.pane, canvas, area);
}

void browser_annotate_key(struct browser *b, int32_t key)
{
	struct browser_code *code = &b->code;
	if (view_key(b, key) || pane_key(&code->pane, key))
		return;
	switch (key) {
	case 'H':
		go_to_hot(b, 0);
		break;
	case KEY_IS_TAB:
		go_to_hot(b, code->hot_at + 1);
		break;
	case KEY_IS_BACK_TAB:
		go_to_hot(b, code->hot_at ? code->hot_at - 1 : code->hot.count - 1);
		break;
	case KEY_IS_ENTER:
		follow(b);
		break;
	case '[':
	case ']':
		next_version(b, key == '[');
		break;
	case 'v':
		browser_menu_open(b, BROWSER_MENU_VERSION);
		break;
	case 'r':
		code->options.raw_bytes = !code->options.raw_bytes;
		browser_annotate_show(b);
		break;
	case KEY_IS_ESCAPE:
		if (code->pane.find.is_set)
			(void)pane_search(&code->pane, "");
		else
			go_back(b);
		break;
	case 'q':
		go_back(b);
		break;
	default:
		break;
	}
}
