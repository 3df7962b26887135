#include "annotate/html_out.h"

#include "annotate/walk.h"

#include <inttypes.h>

enum { HOSTS_SHOWN = 10 };

static const struct profile_function *function_of(const struct html *h,
						  const struct annotate_version *version)
{
	return &h->doc->profile->functions.items[version->function];
}

static void put_share(const struct html *h, const struct annotate_count *count)
{
	const struct profile *profile = h->doc->profile;
	sink_printf(h->out, "<p>%" PRIu64 "%s, %.2f%% of all %" PRIu64, count->samples,
		    annotate_samples(count), annotate_percent(count, &h->doc->total),
		    h->doc->total.samples);
	if (h->doc->event < profile->events.count) {
		sink_text(h->out, " of ");
		html_string(h, profile->events.items[h->doc->event]);
	}
	sink_text(h->out, "</p>\n");
}

static void put_hosts(const struct html *h, const struct annotate_function *function)
{
	if (!function->elsewhere.samples)
		return;
	sink_printf(h->out, "<p>%" PRIu64 "%s where it was inlined into ",
		    function->elsewhere.samples,
		    function->count.samples ? " more" : annotate_samples(&function->elsewhere));
	for (size_t i = 0; i < function->hosts.count && i < HOSTS_SHOWN; i++) {
		const struct annotate_host *host = &function->hosts.items[i];
		sink_text(h->out, i ? ", <code>" : "<code>");
		const struct profile_function *f =
		    &h->doc->profile->functions.items[host->function];
		html_string(h, f->name);
		sink_text(h->out, "</code>");
		if (annotate_host_is_version(h->doc, function, i))
			sink_printf(h->out, " version %" PRIu32, f->version);
		sink_printf(h->out, " (%" PRIu64 ")", host->count.samples);
	}
	if (function->hosts.count > HOSTS_SHOWN)
		sink_printf(h->out, " and %zu more", function->hosts.count - HOSTS_SHOWN);
	sink_text(h->out, "</p>\n");
}

static void put_time(const struct html *h, uint64_t time_ns)
{
	if (time_ns)
		sink_printf(h->out, "<td>%" PRIu64 ".%06" PRIu64, time_ns / 1000000000,
			    time_ns % 1000000000 / 1000);
	else
		sink_text(h->out, "<td>&#8211;");
}

static void put_versions(const struct html *h, const struct annotate_function *function)
{
	sink_text(h->out, "<table class=list><tr><th>Version<th>Tier<th>Loaded<th>Unloaded"
			  "<th>Bytes<th>Samples<th>Percent\n");
	for (size_t i = 0; i < function->versions.count; i++) {
		const struct annotate_version *version = &function->versions.items[i];
		sink_printf(h->out, "<tr><td><a href=\"#f%zuv%zu\">%" PRIu32 "</a><td>",
			    h->function, i, function_of(h, version)->version);
		html_string(h, function_of(h, version)->tier);
		put_time(h, version->listing.loaded_ns);
		put_time(h, version->listing.unloaded_ns);
		sink_printf(h->out, "<td>%zu<td>%" PRIu64, version->listing.code.size,
			    version->count.samples);
		html_percent(h, &version->count, &function->count);
		sink_text(h->out, "\n");
	}
	sink_text(h->out, "</table>\n");
}

/* Source lines; with a column a version where there are several. */
struct lines {
	const struct html *h;
	const struct annotate_count *whole;
	const struct annotate_function *by_version;
	uint32_t only_line;
};

static void put_line(void *context, const struct walk_line *line)
{
	static const struct annotate_count none;
	const struct lines *l = context;
	const struct html *h = l->h;
	sink_text(h->out,
		  l->only_line && line->number == l->only_line ? "<tr class=asked>" : "<tr>");
	html_counts(h, line->line ? &line->line->count : &none, l->whole);
	for (size_t i = 0; l->by_version && i < l->by_version->versions.count; i++) {
		const struct annotate_count *count =
		    line->line ? &l->by_version->splits.items[line->line->first_split + i] : &none;
		sink_text(h->out, "<td>");
		if (count->samples)
			sink_printf(h->out, "%" PRIu64, count->samples);
	}
	if (line->number)
		sink_printf(h->out, "<td class=n>%" PRIu32 "<td class=s>", line->number);
	else
		sink_text(h->out, "<td class=n><td class=q>line not known");
	if (line->has_text)
		html_source(h, line->text, 0);
	sink_text(h->out, "\n");
}

static void put_gap(void *context)
{
	const struct lines *l = context;
	const size_t columns = 4 + (l->by_version ? l->by_version->versions.count : 0);
	sink_printf(l->h->out, "<tr><td class=gap colspan=%zu>&#8942;\n", columns);
}

static void put_file(void *context, uint32_t file)
{
	const struct lines *l = context;
	const struct html *h = l->h;
	const struct annotate_source *source = &h->doc->sources.items[file];
	const size_t columns = 4 + (l->by_version ? l->by_version->versions.count : 0);
	sink_printf(h->out, "<tr><th class=file colspan=%zu>", columns);
	if (file)
		html_bytes(h, annotate_file_name(h->doc, file));
	else
		sink_text(h->out, "no file known");
	if (file && !source->found && !source->told.count)
		sink_text(h->out, " <small>source not found</small>");
	if (source->is_newer)
		sink_text(h->out, " <small class=hot>changed after the recording</small>");
	sink_text(h->out, "\n");
}

static void put_lines(const struct html *h, const annotate_lines *lines,
		      const struct annotate_count *whole,
		      const struct annotate_function *by_version, uint32_t only_line)
{
	struct lines l = { h, whole, by_version, only_line };
	if (by_version && by_version->versions.count < 2)
		l.by_version = NULL;
	sink_text(h->out, "<div class=wide><table class=code><tr><th>Percent<th>Samples");
	for (size_t i = 0; l.by_version && i < by_version->versions.count; i++)
		sink_printf(h->out, "<th>v%" PRIu32,
			    function_of(h, &by_version->versions.items[i])->version);
	sink_text(h->out, "<th>Line<th class=s>Source\n");
	annotate_walk_lines(&(const struct walk){ .doc = h->doc,
						  .options = h->options,
						  .lines = lines,
						  .whole = whole,
						  .only_line = only_line,
						  .context = &l,
						  .file = put_file,
						  .gap = put_gap,
						  .line = put_line });
	sink_text(h->out, "</table></div>\n");
}

static void put_version(struct html *h, const struct annotate_function *function, size_t index)
{
	const struct annotate_version *version = &function->versions.items[index];
	const struct profile_function *f = function_of(h, version);
	const size_t asked = annotate_version_asked(h->doc, function, h->options);
	h->version = index;
	sink_printf(h->out, "<details id=f%zuv%zu%s><summary>Version %" PRIu32, h->function, index,
		    index == asked ? " open" : "", f->version);
	if (f->tier) {
		sink_text(h->out, ", ");
		html_string(h, f->tier);
	}
	sink_printf(h->out, ": %" PRIu64 "%s</summary>\n", version->count.samples,
		    annotate_samples(&version->count));
	if (version->rows.count) {
		html_code(h, function, version);
	} else {
		sink_text(h->out, "<p>No instructions: ");
		html_text(h, version->no_code ? version->no_code : "they were not asked for");
		sink_text(h->out, ".</p>\n");
		put_lines(h, &version->lines, &version->count, NULL, 0);
	}
	sink_text(h->out, "</details>\n");
}

static void put_title(const struct html *h, const struct annotate_function *function)
{
	sink_text(h->out, "<section><h2>");
	html_string(h, function->name);
	sink_text(h->out, " <small>");
	html_string(h, function->object);
	if (function->versions.count) {
		sink_text(h->out, " ");
		html_string(h, function_of(h, &function->versions.items[0])->runtime);
	}
	sink_text(h->out, "</small></h2>\n");
	if (function->count.samples)
		put_share(h, &function->count);
	put_hosts(h, function);
}

static void put_function(struct html *h, const struct annotate_function *function)
{
	const bool is_line = h->doc->choice->line;
	const size_t asked = annotate_version_asked(h->doc, function, h->options);
	put_title(h, function);
	if (function->versions.count)
		put_versions(h, function);
	if (!function->versions.count)
		put_lines(h, &function->elsewhere_lines, &function->elsewhere, NULL, 0);
	else if (!is_line && h->options->view != ANNOTATE_ASM) {
		const bool is_open =
		    h->options->view == ANNOTATE_SOURCE || h->options->view == ANNOTATE_VERSIONS;
		sink_printf(h->out, "<details%s><summary>Source lines of all versions</summary>\n",
			    is_open ? " open" : "");
		put_lines(h, &function->lines, &function->count, function, 0);
		sink_text(h->out, "</details>\n");
	}
	for (size_t i = 0; h->options->view != ANNOTATE_SOURCE && i < function->versions.count; i++)
		if (!h->options->version || i == asked)
			put_version(h, function, i);
	sink_text(h->out, "</section>\n");
}

static void put_source_file(struct html *h)
{
	const struct annotate_choice *choice = h->doc->choice;
	struct annotate_count whole = { 0 };
	for (size_t i = 0; i < h->doc->file_lines.count; i++)
		annotate_count_add(&whole, &h->doc->file_lines.items[i].count);
	sink_text(h->out, "<section><h2>");
	html_bytes(h, (struct bytes){ (const uint8_t *)choice->file, choice->file_size });
	sink_text(h->out, "</h2>\n");
	put_share(h, &whole);
	put_lines(h, &h->doc->file_lines, &whole, NULL, choice->line);
	sink_text(h->out, "</section>\n");
	if (choice->line)
		return;
	sink_text(h->out, "<section><h2>Functions</h2><table class=list><tr><th>Percent"
			  "<th>Samples<th class=s>Function<th class=s>Object\n");
	for (size_t i = 0; i < h->doc->functions.count; i++) {
		const struct annotate_function *function = &h->doc->functions.items[i];
		sink_text(h->out, "<tr>");
		html_counts(h, &function->count, &whole);
		sink_text(h->out, "<td class=s>");
		html_string(h, function->name);
		sink_text(h->out, "<td class=s>");
		html_string(h, function->object);
		sink_text(h->out, "\n");
	}
	sink_text(h->out, "</table></section>\n");
}

static void put_document_title(const struct html *h)
{
	const struct annotate_choice *choice = h->doc->choice;
	if (choice->kind == ANNOTATE_FILE)
		html_bytes(h, (struct bytes){ (const uint8_t *)choice->file, choice->file_size });
	else if (h->doc->functions.count)
		html_string(h, h->doc->functions.items[0].name);
	sink_text(h->out, " &#8211; polyperf annotate");
}

void annotate_write_html(struct sink *out, const struct annotate *doc,
			 const struct annotate_options *options)
{
	struct html h = { .out = out, .doc = doc, .options = options };
	html_begin(&h);
	put_document_title(&h);
	html_begin_body(&h);
	if (doc->choice->kind == ANNOTATE_FILE)
		put_source_file(&h);
	if (doc->choice->kind == ANNOTATE_FUNCTIONS || doc->choice->line)
		for (h.function = 0; h.function < doc->functions.count; h.function++)
			put_function(&h, &doc->functions.items[h.function]);
	html_end(&h);
}
