#include "annotate/text_out.h"

#include <inttypes.h>

enum { HOTTEST_LINES = 5, HOSTS_SHOWN = 5 };

static const struct profile_function *function_of(const struct text_out *t,
						  const struct annotate_version *version)
{
	return &t->doc->profile->functions.items[version->function];
}

size_t annotate_version_asked(const struct annotate *doc, const struct annotate_function *function,
			      const struct annotate_options *options)
{
	if (!options->version)
		return function->versions.count ? annotate_hottest(function) : SIZE_MAX;
	for (size_t i = 0; i < function->versions.count; i++) {
		const uint32_t id = function->versions.items[i].function;
		if (doc->profile->functions.items[id].version == options->version)
			return i;
	}
	return SIZE_MAX;
}

static const char *event_name(const struct text_out *t)
{
	const struct profile *profile = t->doc->profile;
	return t->doc->event < profile->events.count
		   ? profile_text(profile, profile->events.items[t->doc->event])
		   : "";
}

static void put_share(struct text_out *t, const struct annotate_count *count)
{
	const struct annotate_count *total = &t->doc->total;
	text_printf(t, TEXT_PLAIN, "%" PRIu64 "%s, %.2f%% of all %" PRIu64, count->samples,
		    annotate_samples(count), annotate_percent(count, total), total->samples);
	const char *event = event_name(t);
	if (event[0]) {
		text_put(t, TEXT_PLAIN, " of ");
		text_put_text(t, TEXT_PLAIN, event);
	}
}

/* "1234.567890", as script prints times and --time takes them. */
static void put_time(struct text_out *t, uint64_t time_ns, const char *otherwise, size_t column)
{
	if (time_ns)
		text_printf(t, TEXT_PLAIN, "%" PRIu64 ".%06" PRIu64, time_ns / 1000000000,
			    time_ns % 1000000000 / 1000);
	else
		text_put(t, TEXT_PLAIN, otherwise);
	text_pad(t, column);
}

static void put_inlined(struct text_out *t, const struct annotate_function *function)
{
	struct annotate_count inlined = { 0 };
	for (size_t i = 0; i < function->versions.count; i++)
		annotate_count_add(&inlined, &function->versions.items[i].inlined);
	if (inlined.samples) {
		text_printf(t, TEXT_PLAIN, "%" PRIu64 " of them in functions inlined into it",
			    inlined.samples);
		text_end_line(t);
	}
	if (!function->elsewhere.samples)
		return;
	text_printf(t, TEXT_PLAIN, "%" PRIu64 "%s where it was inlined into ",
		    function->elsewhere.samples,
		    function->count.samples ? " more" : annotate_samples(&function->elsewhere));
	for (size_t i = 0; i < function->hosts.count && i < HOSTS_SHOWN; i++) {
		const struct annotate_host *host = &function->hosts.items[i];
		text_put(t, TEXT_PLAIN, i ? ", " : "");
		const struct profile_function *f =
		    &t->doc->profile->functions.items[host->function];
		text_put_string(t, TEXT_PLAIN, f->name);
		if (annotate_host_is_version(t->doc, function, i))
			text_printf(t, TEXT_PLAIN, " version %" PRIu32, f->version);
		text_printf(t, TEXT_PLAIN, " (%" PRIu64 ")", host->count.samples);
	}
	if (function->hosts.count > HOSTS_SHOWN)
		text_printf(t, TEXT_PLAIN, " and %zu more", function->hosts.count - HOSTS_SHOWN);
	text_end_line(t);
}

static void put_title(struct text_out *t, const struct annotate_function *function)
{
	text_put_string(t, TEXT_TITLE, function->name);
	text_put(t, TEXT_PLAIN, "  ");
	text_put_string(t, TEXT_PLAIN, function->object);
	if (function->versions.count) {
		text_put(t, TEXT_PLAIN, "  ");
		text_put_string(t, TEXT_PLAIN,
				function_of(t, &function->versions.items[0])->runtime);
	}
	text_end_line(t);
	if (function->count.samples) {
		put_share(t, &function->count);
		text_end_line(t);
	}
	put_inlined(t, function);
}

static void put_version_row(struct text_out *t, const struct annotate_function *function,
			    const struct annotate_version *version, bool is_shown)
{
	const struct listing *listing = &version->listing;
	const struct profile_function *f = function_of(t, version);
	text_printf(t, TEXT_PLAIN, "%s %6" PRIu32 "  ", is_shown ? "*" : " ", f->version);
	text_put_string(t, TEXT_PLAIN, f->tier);
	text_pad(t, 22);
	put_time(t, listing->loaded_ns, "-", 40);
	put_time(t, listing->unloaded_ns, "-", 58);
	text_printf(t, TEXT_PLAIN, "%7zu  %8" PRIu64 "  ", listing->code.size,
		    version->count.samples);
	const double percent = annotate_percent(&version->count, &function->count);
	text_printf(t, text_heat(percent), "%6.2f%%", percent);
	text_end_line(t);
}

static bool is_shown(const struct text_out *t, const struct annotate_function *function, size_t i)
{
	const struct annotate_options *options = t->options;
	if (options->all_versions || options->view == ANNOTATE_VERSIONS ||
	    (options->view == ANNOTATE_SOURCE && !options->version))
		return true;
	return i == annotate_version_asked(t->doc, function, options);
}

/* Those that are shown below are marked, where not all are. */
static void put_versions(struct text_out *t, const struct annotate_function *function)
{
	size_t shown = 0;
	if (!function->versions.count)
		return;
	for (size_t i = 0; i < function->versions.count; i++)
		shown += is_shown(t, function, i);
	text_put(
	    t, TEXT_TITLE,
	    " Version  Tier        Loaded            Unloaded            Bytes   Samples  Percent");
	text_end_line(t);
	for (size_t i = 0; i < function->versions.count; i++)
		put_version_row(t, function, &function->versions.items[i],
				shown < function->versions.count && is_shown(t, function, i));
}

/* The lines with most samples, so that the eye need not look for them. */
static void put_hottest(struct text_out *t, const struct annotate_version *version)
{
	const annotate_lines *lines = &version->lines;
	const struct annotate_line *last = NULL;
	if (lines->count < 2)
		return;
	for (int shown = 0; shown < HOTTEST_LINES; shown++) {
		const struct annotate_line *best = NULL;
		for (size_t i = 0; i < lines->count; i++) {
			const struct annotate_line *line = &lines->items[i];
			const bool is_behind =
			    !last || line->count.weight < last->count.weight ||
			    (line->count.weight == last->count.weight && line > last);
			if (line->line && is_behind &&
			    (!best || line->count.weight > best->count.weight))
				best = line;
		}
		last = best;
		if (!best || annotate_percent(&best->count, &version->count) < 1)
			return;
		struct bytes text;
		text_put_count(t, &best->count, &version->count);
		text_put_bytes(t, TEXT_PLAIN, annotate_file_name(t->doc, best->file));
		text_printf(t, TEXT_PLAIN, ":%" PRIu32 "  ", best->line);
		if (annotate_line_text(t->doc, best->file, best->line, &text)) {
			while (text.size && (*text.data == ' ' || *text.data == '\t'))
				text = (struct bytes){ text.data + 1, text.size - 1 };
			text_put_source(t, text, 0);
		}
		text_end_line(t);
	}
}

static void put_version_title(struct text_out *t, const struct annotate_version *version)
{
	const struct profile_function *f = function_of(t, version);
	text_end_line(t);
	text_printf(t, TEXT_TITLE, "Version %" PRIu32, f->version);
	text_put(t, TEXT_TITLE, f->tier ? ", " : "");
	text_put_string(t, TEXT_TITLE, f->tier);
	text_end_line(t);
}

static void put_version(struct text_out *t, const struct annotate_function *function,
			const struct annotate_version *version)
{
	if (version->rows.count) {
		if (!t->doc->choice->line)
			put_hottest(t, version);
		text_code(t, function, version);
		return;
	}
	text_printf(t, TEXT_PLAIN, "No instructions: %s.",
		    version->no_code ? version->no_code : "they were not asked for");
	text_end_line(t);
	text_lines(t, &version->lines, &version->count, 0);
}

static void put_code(struct text_out *t, const struct annotate_function *function)
{
	for (size_t i = 0; i < function->versions.count; i++) {
		const struct annotate_version *version = &function->versions.items[i];
		if (!is_shown(t, function, i))
			continue;
		if (function->versions.count > 1)
			put_version_title(t, version);
		else
			text_end_line(t);
		put_version(t, function, version);
	}
}

static void put_function(struct text_out *t, const struct annotate_function *function)
{
	const size_t asked = annotate_version_asked(t->doc, function, t->options);
	put_title(t, function);
	put_versions(t, function);
	if (!function->versions.count) {
		text_put(t, TEXT_PLAIN, "It has no code of its own here: its lines are shown.");
		text_end_line(t);
		text_end_line(t);
		text_lines(t, &function->elsewhere_lines, &function->elsewhere, 0);
	} else if (t->options->view == ANNOTATE_VERSIONS) {
		text_end_line(t);
		text_by_version(t, function);
	} else if (t->options->view != ANNOTATE_SOURCE) {
		put_code(t, function);
	} else if (t->options->version && asked != SIZE_MAX) {
		const struct annotate_version *version = &function->versions.items[asked];
		text_end_line(t);
		text_lines(t, &version->lines, &version->count, 0);
	} else {
		text_end_line(t);
		text_lines(t, &function->lines, &function->count, 0);
	}
}

static void put_function_row(struct text_out *t, const struct annotate_function *function,
			     const struct annotate_count *whole)
{
	text_put_count(t, &function->count, whole);
	text_put_string(t, TEXT_PLAIN, function->name);
	text_put(t, TEXT_QUIET, "  ");
	text_put_string(t, TEXT_QUIET, function->object);
	text_end_line(t);
}

static void put_file(struct text_out *t)
{
	const struct annotate_choice *choice = t->doc->choice;
	struct annotate_count whole = { 0 };
	for (size_t i = 0; i < t->doc->file_lines.count; i++)
		annotate_count_add(&whole, &t->doc->file_lines.items[i].count);
	text_put_bytes(t, TEXT_TITLE,
		       (struct bytes){ (const uint8_t *)choice->file, choice->file_size });
	text_put(t, TEXT_PLAIN, ": ");
	put_share(t, &whole);
	text_end_line(t);
	text_end_line(t);
	text_lines(t, &t->doc->file_lines, &whole, choice->line);
	text_end_line(t);
	if (choice->line && !t->doc->functions.count) {
		text_printf(t, TEXT_PLAIN, "No sample is of line %" PRIu32 ".", choice->line);
		text_end_line(t);
		return;
	}
	if (!choice->line) {
		text_put(t, TEXT_TITLE, " Percent  Samples  Function");
		text_end_line(t);
	}
	for (size_t i = 0; i < t->doc->functions.count; i++) {
		const struct annotate_function *function = &t->doc->functions.items[i];
		if (!choice->line) {
			put_function_row(t, function, &whole);
			continue;
		}
		if (i)
			text_end_line(t);
		put_title(t, function);
		put_versions(t, function);
		if (t->options->view != ANNOTATE_SOURCE)
			put_code(t, function);
	}
}

void annotate_write_text(struct sink *out, const struct annotate *doc,
			 const struct annotate_options *options, const struct annotate_style *style)
{
	struct text_out t = { .out = out, .doc = doc, .options = options, .style = style };
	if (doc->choice->kind == ANNOTATE_FILE)
		put_file(&t);
	else
		for (size_t i = 0; i < doc->functions.count; i++) {
			if (i)
				text_end_line(&t);
			put_function(&t, &doc->functions.items[i]);
		}
	out->failed |= sink_failed(&t.scratch);
	sink_clear(&t.scratch);
}
