/* Help, and lists to choose from. */
#include "tui/browser_internal.h"

#include "base/status.h"

#include <inttypes.h>
#include <string.h>

void browser_menu_clear(struct browser *b)
{
	vector_clear(&b->items);
	vector_clear(&b->values);
	arena_clear(&b->texts);
}

/* The text is in b->scratch. */
static void add_item(struct browser *b, uint32_t value)
{
	const char *copy = arena_copy(&b->texts, b->scratch.data, b->scratch.size);
	const char **item = vector_push(&b->items);
	uint32_t *slot = vector_push(&b->values);
	if (!copy || !item || !slot || sink_failed(&b->scratch)) {
		browser_check(b, STATUS_NO_MEMORY);
		return;
	}
	*item = copy;
	*slot = value;
	sink_reset(&b->scratch);
}

static void list_columns(struct browser *b)
{
	sink_text(&b->scratch, "As the report does");
	add_item(b, UINT32_MAX);
	for (uint32_t i = 0; i < b->model.column_count; i++) {
		sink_text(&b->scratch, b->titles[i]);
		add_item(b, i);
		if (b->model.sorted_by == (int)i)
			b->overlay.at.chosen = b->items.count - 1;
	}
}

static void list_zooms(struct browser *b)
{
	const struct profile *profile = b->model.profile;
	const struct report_group *group = browser_table_group(b);
	if (group && group->key.object) {
		sink_text(&b->scratch, "Object ");
		sink_text(&b->scratch, profile_text(profile, group->key.object));
		add_item(b, MODEL_OBJECT);
	}
	if (group && group->key.runtime) {
		sink_text(&b->scratch, "Runtime ");
		sink_text(&b->scratch, profile_text(profile, group->key.runtime));
		add_item(b, MODEL_RUNTIME);
	}
	sink_text(&b->scratch, "Thread ...");
	add_item(b, MODEL_THREAD);
	sink_text(&b->scratch, "Program ...");
	add_item(b, MODEL_COMM);
}

static void list_shares(struct browser *b, enum model_zoom_kind kind)
{
	const struct profile *profile = b->model.profile;
	model_shares shares = { 0 };
	browser_check(b, model_shares_of(&b->model, kind, &shares));
	for (size_t i = 0; i < shares.count; i++) {
		const struct model_share *share = &shares.items[i];
		sink_printf(&b->scratch, "%6.2f%%  ",
			    report_percent(&b->model.groups, share->weight));
		if (kind == MODEL_COMM) {
			sink_text(&b->scratch, profile_text(profile, share->value));
		} else {
			const struct profile_thread *thread = &profile->threads.items[share->value];
			sink_text(&b->scratch, profile_text(profile, thread->comm));
			sink_printf(&b->scratch, "  %" PRIu32, thread->tid);
			if (thread->pid != thread->tid)
				sink_printf(&b->scratch, " of %" PRIu32, thread->pid);
		}
		add_item(b, share->value);
	}
	vector_clear(&shares);
}

static void list_events(struct browser *b)
{
	const struct profile *profile = b->model.profile;
	for (uint32_t event = 0; event < profile->events.count; event++) {
		uint64_t count = 0;
		for (size_t i = 0; i < profile->rows.count; i++)
			if (profile->rows.items[i].event == event)
				count += profile->rows.items[i].count;
		if (!count)
			continue;
		sink_text(&b->scratch, profile_text(profile, profile->events.items[event]));
		sink_text(&b->scratch, "  ");
		sink_grouped(&b->scratch, count);
		if (event == b->model.event)
			b->overlay.at.chosen = b->items.count;
		add_item(b, event);
	}
}

static void list_versions(struct browser *b)
{
	const struct annotate *doc = b->code.doc;
	if (!doc || !doc->functions.count)
		return;
	const struct annotate_function *function = &doc->functions.items[0];
	const size_t asked = annotate_version_asked(doc, function, &b->code.options);
	for (size_t i = 0; i < function->versions.count; i++) {
		const struct annotate_version *version = &function->versions.items[i];
		const struct profile_function *f =
		    &doc->profile->functions.items[version->function];
		sink_printf(&b->scratch, "%" PRIu32 "  ", f->version);
		sink_text(&b->scratch, profile_text(doc->profile, f->tier));
		sink_printf(&b->scratch, "  %6.2f%%  %" PRIu64 "%s",
			    annotate_percent(&version->count, &function->count),
			    version->count.samples, annotate_samples(&version->count));
		if (i == asked)
			b->overlay.at.chosen = b->items.count;
		add_item(b, f->version);
	}
}

void browser_menu_open(struct browser *b, enum browser_menu menu)
{
	static const char *const titles[] = {
		[BROWSER_HELP] = "Keys",
		[BROWSER_MENU_SORT] = "Sort by",
		[BROWSER_MENU_ZOOM] = "Zoom into",
		[BROWSER_MENU_THREAD] = "Threads",
		[BROWSER_MENU_COMM] = "Programs",
		[BROWSER_MENU_EVENT] = "Events",
		[BROWSER_MENU_VERSION] = "Versions",
	};
	b->overlay = (struct overlay){ .title = titles[menu] };
	b->items.count = b->values.count = 0;
	sink_reset(&b->scratch);
	arena_clear(&b->texts);
	if (menu == BROWSER_HELP)
		b->overlay.help = browser_help(b->view);
	else if (menu == BROWSER_MENU_SORT)
		list_columns(b);
	else if (menu == BROWSER_MENU_ZOOM)
		list_zooms(b);
	else if (menu == BROWSER_MENU_THREAD)
		list_shares(b, MODEL_THREAD);
	else if (menu == BROWSER_MENU_COMM)
		list_shares(b, MODEL_COMM);
	else if (menu == BROWSER_MENU_EVENT)
		list_events(b);
	else
		list_versions(b);
	b->overlay.items = b->items.items;
	b->overlay.item_count = b->items.count;
	b->menu = menu == BROWSER_HELP || b->items.count ? menu : BROWSER_NO_MENU;
}

static void choose_zoom(struct browser *b, enum model_zoom_kind kind)
{
	const struct report_group *group = browser_table_group(b);
	if (kind == MODEL_THREAD)
		browser_menu_open(b, BROWSER_MENU_THREAD);
	else if (kind == MODEL_COMM)
		browser_menu_open(b, BROWSER_MENU_COMM);
	else if (group)
		browser_table_zoom(b, &(struct model_zoom){ .kind = kind,
							    .value = kind == MODEL_OBJECT
									 ? group->key.object
									 : group->key.runtime });
}

static void choose(struct browser *b, enum browser_menu menu, uint32_t value)
{
	switch (menu) {
	case BROWSER_MENU_SORT:
		b->model.sorted_by = value == UINT32_MAX ? -1 : (int)value;
		browser_table_build(b);
		break;
	case BROWSER_MENU_ZOOM:
		choose_zoom(b, (enum model_zoom_kind)value);
		break;
	case BROWSER_MENU_THREAD:
	case BROWSER_MENU_COMM:
		browser_table_zoom(b, &(struct model_zoom){ .kind = menu == BROWSER_MENU_THREAD
									? MODEL_THREAD
									: MODEL_COMM,
							    .value = value });
		break;
	case BROWSER_MENU_EVENT:
		b->model.event = value;
		browser_table_build(b);
		break;
	case BROWSER_MENU_VERSION:
		b->code.options.version = value;
		browser_annotate_show(b);
		break;
	default:
		break;
	}
}

void browser_menu_key(struct browser *b, int32_t key)
{
	const enum browser_menu menu = b->menu;
	const enum overlay_outcome outcome = overlay_key(&b->overlay, key);
	if (outcome == OVERLAY_STAYS)
		return;
	b->menu = BROWSER_NO_MENU;
	if (outcome == OVERLAY_CHOSEN)
		choose(b, menu, b->values.items[b->overlay.at.chosen]);
}
