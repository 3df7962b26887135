/* What is known of the recording, the categories, and the libraries. */
#include "export/firefox.h"

#include <string.h>

/* Colours as near to those of the page as the viewer has them. It needs one that is grey, for what
 * has no category.
 */
static const struct {
	const char *name;
	const char *colour;
} categories[] = {
	[PROFILE_LEVEL_INTERPRETER] = { "Interpreter", "magenta" },
	[PROFILE_LEVEL_BASELINE] = { "Baseline", "orange" },
	[PROFILE_LEVEL_OPTIMISED] = { "Optimised", "green" },
	[PROFILE_LEVEL_COMPILED] = { "Compiled", "yellow" },
	[PROFILE_LEVEL_PRECOMPILED] = { "Precompiled", "lightblue" },
	[PROFILE_LEVEL_STUB] = { "Stubs and built-ins", "brown" },
	[PROFILE_LEVEL_NATIVE] = { "Native", "blue" },
	[PROFILE_LEVEL_KERNEL] = { "Kernel", "purple" },
	[PROFILE_LEVEL_UNKNOWN] = { "Unknown", "grey" },
};

static struct bytes text_of(const struct firefox *ff, uint32_t string)
{
	return intern_get_bytes(&ff->view->profile->strings, string);
}

static void put_subcategories(const struct firefox *ff, struct sink *out, size_t level)
{
	sink_text(out, "[\"Other\"");
	for (size_t i = 0; i < ff->subcategories.count; i++) {
		const struct firefox_subcategory *sub = &ff->subcategories.items[i];
		if (sub->level != level)
			continue;
		sink_text(out, ",\"");
		escape_json(out, text_of(ff, sub->runtime));
		if (sub->tier) {
			sink_u8(out, ' ');
			escape_json(out, text_of(ff, sub->tier));
		}
		sink_u8(out, '"');
	}
	sink_text(out, "]");
}

static void put_categories(const struct firefox *ff, struct sink *out)
{
	sink_text(out, "\"categories\":[");
	for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++) {
		sink_printf(out, "%s\n{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":",
			    i ? "," : "", categories[i].name, categories[i].colour);
		put_subcategories(ff, out, i);
		sink_u8(out, '}');
	}
	sink_text(out, "],\n");
}

/* The last part of a path. */
static struct bytes base_of(struct bytes path)
{
	size_t at = path.size;
	while (at && path.data[at - 1] != '/')
		at--;
	return (struct bytes){ path.data + at, path.size - at };
}

static struct bytes bytes_of(const char *text)
{
	return text ? (struct bytes){ (const uint8_t *)text, strlen(text) } : (struct bytes){ 0 };
}

/* What the viewer writes above it all: a title, or the program that ran most. */
static struct bytes product(const struct firefox *ff)
{
	const struct profile *profile = ff->view->profile;
	const struct export_track *most = NULL;
	if (*ff->view->options->title)
		return bytes_of(ff->view->options->title);
	for (size_t i = 0; i < ff->tracks.items.count; i++)
		if (!most || ff->tracks.items.items[i].count > most->count)
			most = &ff->tracks.items.items[i];
	if (!most)
		return bytes_of("polyperf");
	const struct profile_thread *thread = &profile->threads.items[most->thread];
	const struct bytes program =
	    base_of(bytes_of(export_program_of(ff->view->about, thread->pid)));
	return program.size ? program : text_of(ff, thread->comm);
}

static void put_field(struct sink *out, const char *name, struct bytes text)
{
	if (!text.size)
		return;
	sink_printf(out, "\"%s\":", name);
	json_string(out, text);
	sink_text(out, ",");
}

static void put_command(const struct firefox *ff, struct sink *out)
{
	const struct export_about *about = ff->view->about;
	if (!about->command.count)
		return;
	sink_text(out, "\"arguments\":\"");
	for (size_t i = 0; i < about->command.count; i++) {
		if (i)
			sink_u8(out, ' ');
		escape_json(out, bytes_of(about->command.items[i]));
	}
	sink_text(out, "\",");
}

static void put_entry(struct sink *out, bool *is_later, const char *label, struct bytes text)
{
	if (!text.size)
		return;
	json_next(out, is_later);
	sink_printf(out, "\n{\"label\":\"%s\",\"format\":\"string\",\"value\":", label);
	json_string(out, text);
	sink_u8(out, '}');
}

/* What the viewer lists with the rest of what it knows of a profile. */
static void put_extra(const struct firefox *ff, struct sink *out)
{
	const struct export_about *about = ff->view->about;
	bool is_later = false;
	sink_text(out, "\"extra\":[{\"label\":\"Recording\",\"entries\":[");
	put_entry(out, &is_later, "Host", bytes_of(about->host));
	put_entry(out, &is_later, "Kernel", bytes_of(about->kernel));
	put_entry(out, &is_later, "Recorded by", bytes_of(about->recorder));
	json_next(out, &is_later);
	sink_printf(out,
		    "\n{\"label\":\"Lost samples\",\"format\":\"integer\",\"value\":%" PRIu64 "}",
		    ff->view->profile->lost_count);
	sink_text(out, "]}],\n");
}

int firefox_put_meta(struct firefox *ff)
{
	const struct export_about *about = ff->view->about;
	struct sink *out = &ff->out->sink;
	bool has_scripts = false;
	for (size_t i = 0; i < ff->functions.items.count; i++)
		has_scripts |= profile_runtime_is_of_thread(
		    profile_text(ff->view->profile, ff->functions.items.items[i].runtime));
	sink_text(
	    out, "\"meta\":{\"version\":36,\"preprocessedProfileVersion\":70,\"processType\":0,"
		 "\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		 "\"sourceCodeIsNotOnSearchfox\":true,\"importedFrom\":\"polyperf " POLYPERF_VERSION
		 "\",");
	sink_printf(out, "\"usesOnlyOneStackType\":%s,", has_scripts ? "false" : "true");
	sink_text(out, "\"interval\":");
	firefox_put_ms(out, ff->interval_ns);
	sink_text(out, ",\"startTime\":");
	firefox_put_ms(out, export_wall_ns(about, ff->zero_ns));
	sink_text(out, ",\n");
	put_field(out, "product", product(ff));
	put_command(ff, out);
	put_field(out, "CPUName", bytes_of(about->cpu));
	sink_text(out, "\"platform\":\"Linux\",\"oscpu\":\"Linux ");
	escape_json(out, bytes_of(about->arch));
	sink_text(out, "\",\n\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
		       "\"threadCPUDelta\":\"ns\"},\n");
	put_extra(ff, out);
	put_categories(ff, out);
	firefox_put_marker_schema(out);
	sink_text(out, "}");
	return export_out_more(ff->out);
}

static void put_hex(struct sink *out, struct bytes bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		sink_printf(out, "%02x", bytes.data[i]);
}

/* A build id as debuggers of other systems write one: a GUID, whose first three parts are numbers
 * of the machine, and an age.
 */
static void put_guid(struct sink *out, struct bytes build_id)
{
	static const uint8_t order[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	for (size_t i = 0; i < sizeof(order); i++)
		sink_printf(out, "%02X", order[i] < build_id.size ? build_id.data[order[i]] : 0);
	sink_u8(out, '0');
}

static void put_lib(const struct firefox *ff, struct sink *out, uint32_t path)
{
	const struct export_object *object = export_object_of(ff->view->about, path);
	const struct bytes build_id = object ? object->build_id : (struct bytes){ 0 };
	const struct bytes full = text_of(ff, path);
	const struct bytes base = base_of(full);
	sink_text(out, "{\"arch\":");
	json_string(out, bytes_of(ff->view->about->arch));
	sink_text(out, ",\"name\":");
	json_string(out, base);
	sink_text(out, ",\"path\":");
	json_string(out, full);
	sink_text(out, ",\"debugName\":");
	json_string(out, base);
	sink_text(out, ",\"debugPath\":");
	json_string(out, full);
	sink_text(out, ",\"breakpadId\":\"");
	if (build_id.size)
		put_guid(out, build_id);
	sink_text(out, "\",\"codeId\":");
	if (build_id.size) {
		sink_u8(out, '"');
		put_hex(out, build_id);
		sink_text(out, "\"}");
	} else {
		sink_text(out, "null}");
	}
}

int firefox_put_libs(struct firefox *ff)
{
	int got = 0;
	sink_text(&ff->out->sink, "\"libs\":[");
	for (size_t i = 0; got == 0 && i < ff->libs.items.count; i++) {
		sink_text(&ff->out->sink, i ? ",\n" : "\n");
		put_lib(ff, &ff->out->sink, ff->libs.items.items[i]);
		got = export_out_more(ff->out);
	}
	sink_text(&ff->out->sink, "]");
	return got;
}
