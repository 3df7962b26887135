#include "annotate/write.h"

#include "annotate/place.h"
#include "base/escape.h"

#include <inttypes.h>

static void put_string(struct sink *out, struct bytes text)
{
	sink_u8(out, '"');
	escape_json(out, text);
	sink_u8(out, '"');
}

static void put_cstr(struct sink *out, const char *text)
{
	put_string(out, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

static void put_interned(struct sink *out, const struct annotate *doc, uint32_t string)
{
	put_string(out, intern_get_bytes(&doc->profile->strings, string));
}

static void put_count(struct sink *out, const struct annotate_count *count)
{
	sink_printf(out, "\"samples\":%" PRIu64 ",\"weight\":%" PRIu64, count->samples,
		    count->weight);
}

static void put_files(struct sink *out, const struct annotate *doc)
{
	sink_text(out, "\"files\":[");
	for (uint32_t i = 0; i < doc->sources.count; i++) {
		const struct annotate_source *source = &doc->sources.items[i];
		sink_text(out, i ? ",\n{\"path\":" : "\n{\"path\":");
		put_string(out, annotate_file_name(doc, i));
		sink_text(out, ",\"found\":");
		if (source->found)
			put_cstr(out, source->found);
		else
			sink_text(out, "null");
		sink_printf(out, ",\"is_newer\":%s}", source->is_newer ? "true" : "false");
	}
	sink_text(out, "\n]");
}

static void put_line(struct sink *out, const struct annotate *doc, const struct annotate_line *line)
{
	struct bytes text;
	sink_printf(out, "{\"file\":%" PRIu32 ",\"line\":%" PRIu32 ",", line->file, line->line);
	put_count(out, &line->count);
	if (annotate_line_text(doc, line->file, line->line, &text)) {
		sink_text(out, ",\"text\":");
		put_string(out, text);
	}
}

/* `splits`: of the function, or NULL. */
static void put_lines(struct sink *out, const struct annotate *doc, const annotate_lines *lines,
		      const struct annotate_function *splits)
{
	sink_text(out, "[");
	for (size_t i = 0; i < lines->count; i++) {
		const struct annotate_line *line = &lines->items[i];
		sink_text(out, i ? ",\n" : "\n");
		put_line(out, doc, line);
		for (size_t v = 0; splits && v < splits->versions.count; v++)
			sink_printf(out, "%s%" PRIu64, v ? "," : ",\"samples_by_version\":[",
				    splits->splits.items[line->first_split + v].samples);
		sink_text(out, splits && splits->versions.count ? "]}" : "}");
	}
	sink_text(out, "]");
}

static void put_notes(struct sink *out, const struct listing *listing, struct place_notes notes)
{
	sink_text(out, "[");
	for (size_t i = notes.first; i < notes.end; i++) {
		const struct listing_note *note = &listing->notes.items[i];
		sink_printf(out, "%s{\"offset\":%" PRIu32 ",\"size\":%" PRIu32 ",\"kind\":",
			    i > notes.first ? "," : "", note->offset, note->size);
		put_cstr(out, note->kind);
		sink_text(out, ",\"text\":");
		put_cstr(out, note->text);
		sink_text(out, "}");
	}
	sink_text(out, "]");
}

static void put_target(struct sink *out, const struct annotate_version *version,
		       const struct annotate_row *row)
{
	const uint64_t offset = row->target - version->listing.start_avma;
	sink_printf(out, ",\"target\":\"0x%" PRIx64 "\"", row->target);
	if (offset < version->listing.code.size)
		sink_printf(out, ",\"target_offset\":%" PRIu64, offset);
	if (row->callee[0]) {
		sink_text(out, ",\"target_name\":");
		put_cstr(out, row->callee);
	}
}

/* What the rows of code have more than the others. */
static void put_code(struct sink *out, const struct annotate *doc,
		     const struct annotate_version *version, const struct annotate_row *row)
{
	const struct listing *listing = &version->listing;
	sink_printf(out, ",\"size\":%u,\"bytes\":\"", row->size);
	for (size_t i = 0; i < row->size; i++)
		sink_printf(out, "%02x", listing->code.data[row->offset + i]);
	sink_text(out, "\",\"text\":");
	put_string(out, place_text(doc, row));
	if (row->flow != ANNOTATE_FLOW_ON)
		sink_printf(out, ",\"flow\":\"%s\"",
			    annotate_flow_name((enum annotate_flow)row->flow));
	if (row->has_target)
		put_target(out, version, row);
	const int32_t bytecode = place_bytecode(listing, row->offset);
	if (bytecode >= 0)
		sink_printf(out, ",\"bytecode\":%" PRId32, bytecode);
	const struct place_notes notes = place_notes(listing, row);
	if (notes.end > notes.first) {
		sink_text(out, ",\"notes\":");
		put_notes(out, listing, notes);
	}
}

static void put_row(struct sink *out, const struct annotate *doc,
		    const struct annotate_version *version, const struct annotate_row *row)
{
	uint32_t file = 0;
	const struct listing_line *line = place_line(version, row, &file);
	sink_printf(out, "{\"kind\":\"%s\",",
		    annotate_row_kind_name((enum annotate_row_kind)row->kind));
	if (row->kind != ANNOTATE_ROW_NOWHERE)
		sink_printf(out, "\"offset\":%" PRIu64 ",", row->offset);
	put_count(out, &row->count);
	if (row->size)
		put_code(out, doc, version, row);
	if (line) {
		sink_printf(out, ",\"file\":%" PRIu32 ",\"line\":%" PRIu32, file, line->line);
		if (line->column)
			sink_printf(out, ",\"column\":%" PRIu32, line->column);
		if (line->scope && line->scope <= version->listing.scopes.count)
			sink_printf(out, ",\"scope\":%" PRIu32, line->scope - 1);
	}
	sink_text(out, "}");
}

static void put_scopes(struct sink *out, const struct listing *listing)
{
	sink_text(out, ",\"scopes\":[");
	for (size_t i = 0; i < listing->scopes.count; i++) {
		const struct listing_scope *scope = &listing->scopes.items[i];
		sink_text(out, i ? ",{\"name\":" : "{\"name\":");
		put_cstr(out, scope->name);
		sink_text(out, ",\"call_file\":");
		put_cstr(out, scope->call_file);
		sink_printf(out,
			    ",\"call_line\":%" PRIu32 ",\"call_column\":%" PRIu32 ",\"around\":",
			    scope->call_line, scope->call_column);
		if (scope->around && scope->around <= listing->scopes.count)
			sink_printf(out, "%" PRIu32 "}", scope->around - 1);
		else
			sink_text(out, "null}");
	}
	sink_text(out, "]");
}

/* Where there are no instructions, the samples by offset are all that can be told. */
static void put_hits(struct sink *out, const struct annotate_version *version)
{
	const char *separator = "";
	sink_text(out, ",\"offsets\":[");
	for (size_t i = 0; i < version->hits.count; i++) {
		const struct annotate_hit *hit = &version->hits.items[i];
		sink_printf(out, "%s{\"offset\":", separator);
		if (hit->has_offset)
			sink_printf(out, "%" PRIu64 ",", hit->offset);
		else
			sink_text(out, "null,");
		put_count(out, &hit->count);
		sink_text(out, "}");
		separator = ",";
	}
	sink_text(out, "]");
}

static const char *machine_name(enum listing_machine machine)
{
	return machine == LISTING_X86_64 ? "x86_64" : machine == LISTING_AARCH64 ? "aarch64" : "";
}

static void put_version(struct sink *out, const struct annotate *doc,
			const struct annotate_version *version)
{
	const struct listing *listing = &version->listing;
	const struct profile_function *f = &doc->profile->functions.items[version->function];
	sink_printf(out, "\n{\"version\":%" PRIu32 ",\"tier\":", f->version);
	put_interned(out, doc, f->tier);
	sink_text(out, ",\"runtime\":");
	put_interned(out, doc, f->runtime);
	sink_text(out, ",\"raw_name\":");
	put_interned(out, doc, f->raw_name);
	sink_text(out, ",");
	put_count(out, &version->count);
	sink_printf(out, ",\"inlined_samples\":%" PRIu64 ",\"machine\":\"%s\"",
		    version->inlined.samples, machine_name(listing->machine));
	sink_printf(out, ",\"start\":\"0x%" PRIx64 "\",\"is_as_linked\":%s,\"size\":%zu",
		    listing->start_avma, listing->is_svma ? "true" : "false", listing->code.size);
	sink_printf(out, ",\"loaded_ns\":%" PRIu64 ",\"unloaded_ns\":%" PRIu64, listing->loaded_ns,
		    listing->unloaded_ns);
	sink_text(out, ",\"lines\":");
	put_lines(out, doc, &version->lines, NULL);
	put_scopes(out, listing);
	if (version->rows.count) {
		sink_text(out, ",\"instructions\":[");
		for (size_t i = 0; i < version->rows.count; i++) {
			sink_text(out, i ? ",\n" : "\n");
			put_row(out, doc, version, &version->rows.items[i]);
		}
		sink_text(out, "],\"notes_behind\":");
		put_notes(out, listing, place_last_notes(version));
	} else {
		sink_text(out, ",\"no_instructions\":");
		if (version->no_code)
			put_cstr(out, version->no_code);
		else
			sink_text(out, "null");
		put_hits(out, version);
	}
	sink_text(out, "}");
}

static void put_hosts(struct sink *out, const struct annotate *doc,
		      const struct annotate_function *function)
{
	sink_text(out, "\"inlined_elsewhere\":{");
	put_count(out, &function->elsewhere);
	sink_text(out, ",\"lines\":");
	put_lines(out, doc, &function->elsewhere_lines, NULL);
	sink_text(out, ",\"into\":[");
	for (size_t i = 0; i < function->hosts.count; i++) {
		const struct annotate_host *host = &function->hosts.items[i];
		const struct profile_function *f = &doc->profile->functions.items[host->function];
		sink_text(out, i ? ",{\"symbol\":" : "{\"symbol\":");
		put_interned(out, doc, f->name);
		sink_printf(out, ",\"version\":%" PRIu32 ",", f->version);
		put_count(out, &host->count);
		sink_text(out, "}");
	}
	sink_text(out, "]}");
}

static void put_function(struct sink *out, const struct annotate *doc,
			 const struct annotate_function *function)
{
	sink_text(out, "\n{\"symbol\":");
	put_interned(out, doc, function->name);
	sink_text(out, ",\"object\":");
	put_interned(out, doc, function->object);
	sink_text(out, ",");
	put_count(out, &function->count);
	sink_text(out, ",\"lines\":");
	put_lines(out, doc, &function->lines, function);
	sink_text(out, ",");
	put_hosts(out, doc, function);
	sink_text(out, ",\"versions\":[");
	for (size_t i = 0; i < function->versions.count; i++) {
		sink_text(out, i ? "," : "");
		put_version(out, doc, &function->versions.items[i]);
	}
	sink_text(out, "]}");
}

void annotate_write_json(struct sink *out, const struct annotate *doc)
{
	const struct profile *profile = doc->profile;
	const struct annotate_choice *choice = doc->choice;
	sink_text(out, "{\"event\":");
	put_interned(out, doc,
		     doc->event < profile->events.count ? profile->events.items[doc->event] : 0);
	sink_text(out, ",");
	put_count(out, &doc->total);
	sink_text(out, ",");
	put_files(out, doc);
	if (choice->kind == ANNOTATE_FILE) {
		sink_text(out, ",\"source\":");
		put_string(out, (struct bytes){ (const uint8_t *)choice->file, choice->file_size });
		sink_printf(out, ",\"source_line\":%" PRIu32 ",\"source_lines\":", choice->line);
		put_lines(out, doc, &doc->file_lines, NULL);
	}
	sink_text(out, ",\"functions\":[");
	for (size_t i = 0; i < doc->functions.count; i++) {
		sink_text(out, i ? "," : "");
		put_function(out, doc, &doc->functions.items[i]);
	}
	sink_text(out, "]}\n");
}
