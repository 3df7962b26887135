/* The tables that all threads share, column by column, and the libraries. */
#include "export/firefox.h"

void firefox_put_ms(struct sink *out, uint64_t ns)
{
	json_number(out, ns / 1000000);
	unsigned rest = (unsigned)(ns % 1000000);
	if (!rest)
		return;
	unsigned digits = 6;
	for (; rest % 10 == 0; rest /= 10)
		digits--;
	sink_printf(out, ".%0*u", (int)digits, rest);
}

static int put_column(struct firefox *ff, const struct firefox_column *column, size_t count)
{
	struct sink *out = &ff->out->sink;
	int got = 0;
	sink_printf(out, "\"%s\":[", column->name);
	for (uint32_t row = 0; got == 0 && row < count; row++) {
		if (row)
			sink_u8(out, ',');
		if (column->put)
			column->put(ff, out, row);
		else
			sink_text(out, "null");
		got = export_out_more(ff->out);
	}
	sink_text(out, "],");
	return got;
}

int firefox_put_table(struct firefox *ff, const char *name, const struct firefox_column *columns,
		      size_t column_count, size_t count)
{
	int got = 0;
	sink_printf(&ff->out->sink, "\"%s\":{", name);
	for (size_t i = 0; got == 0 && i < column_count; i++)
		got = put_column(ff, &columns[i], count);
	sink_printf(&ff->out->sink, "\"length\":%zu}", count);
	return got;
}

/* --- stacks --- */

static void put_stack_frame(const struct firefox *ff, struct sink *out, uint32_t row)
{
	json_number(out, ff->nodes.items[row].frame);
}

/* How many rows before it the caller is; 0: there is none. */
static void put_prefix_offset(const struct firefox *ff, struct sink *out, uint32_t row)
{
	const uint32_t prefix = ff->nodes.items[row].prefix;
	json_number(out, prefix ? row + 1 - prefix : 0);
}

static const struct firefox_column stack_columns[] = {
	{ "frame", put_stack_frame },
	{ "prefixOffset", put_prefix_offset },
};

/* --- frames --- */

static void put_index_or(struct sink *out, uint32_t index_and_one, const char *none)
{
	if (index_and_one)
		json_number(out, index_and_one - 1);
	else
		sink_text(out, none);
}

static void put_address(const struct firefox *ff, struct sink *out, uint32_t row)
{
	if (ff->frames.items[row].lib)
		json_number(out, ff->frames.items[row].address);
	else
		sink_text(out, "-1");
}

static void put_frame_lib(const struct firefox *ff, struct sink *out, uint32_t row)
{
	put_index_or(out, ff->frames.items[row].lib, "-1");
}

static void put_inline_depth(const struct firefox *ff, struct sink *out, uint32_t row)
{
	json_number(out, ff->frames.items[row].inline_depth);
}

static void put_category(const struct firefox *ff, struct sink *out, uint32_t row)
{
	json_number(out, ff->frames.items[row].level);
}

static void put_subcategory(const struct firefox *ff, struct sink *out, uint32_t row)
{
	json_number(out, ff->frames.items[row].subcategory);
}

static void put_function(const struct firefox *ff, struct sink *out, uint32_t row)
{
	json_number(out, ff->functions.of_frame.items[row]);
}

static void put_frame_symbol(const struct firefox *ff, struct sink *out, uint32_t row)
{
	put_index_or(out, ff->frames.items[row].symbol, "null");
}

static void put_line(const struct firefox *ff, struct sink *out, uint32_t row)
{
	const struct profile_frame *frame = &ff->view->profile->frames.items[row];
	if (frame->file && frame->line)
		json_number(out, frame->line);
	else
		sink_text(out, "null");
}

static const struct firefox_column frame_columns[] = {
	{ "address", put_address },
	{ "lib", put_frame_lib },
	{ "inlineDepth", put_inline_depth },
	{ "category", put_category },
	{ "subcategory", put_subcategory },
	{ "func", put_function },
	{ "nativeSymbol", put_frame_symbol },
	{ "innerWindowID", NULL },
	{ "line", put_line },
	{ "column", NULL },
	{ "originalLocation", NULL },
};

/* --- functions --- */

static void put_function_name(const struct firefox *ff, struct sink *out, uint32_t row)
{
	firefox_put_string(ff, out, ff->functions.items.items[row].name);
}

static bool is_script(const struct firefox *ff, uint32_t row)
{
	const char *runtime =
	    profile_text(ff->view->profile, ff->functions.items.items[row].runtime);
	return profile_runtime_is_of_thread(runtime);
}

static void put_is_js(const struct firefox *ff, struct sink *out, uint32_t row)
{
	sink_text(out, is_script(ff, row) ? "true" : "false");
}

static void put_false(const struct firefox *ff, struct sink *out, uint32_t row)
{
	(void)ff;
	(void)row;
	sink_text(out, "false");
}

static void put_resource(const struct firefox *ff, struct sink *out, uint32_t row)
{
	const uint32_t object = ff->functions.items.items[row].object;
	put_index_or(out, object ? firefox_set_index(&ff->resources, object) + 1 : 0, "-1");
}

static void put_source(const struct firefox *ff, struct sink *out, uint32_t row)
{
	const uint32_t file = ff->functions.items.items[row].file;
	put_index_or(out, file ? firefox_set_index(&ff->sources, file) + 1 : 0, "null");
}

/* Where functions begin is not known: lines are those of frames. */
static const struct firefox_column function_columns[] = {
	{ "name", put_function_name }, { "isJS", put_is_js },        { "relevantForJS", put_false },
	{ "resource", put_resource },  { "source", put_source },     { "lineNumber", NULL },
	{ "columnNumber", NULL },      { "originalLocation", NULL },
};

/* --- resources, symbols, sources --- */

static void put_resource_name(const struct firefox *ff, struct sink *out, uint32_t row)
{
	firefox_put_string(ff, out, ff->resources.items.items[row]);
}

static void put_resource_type(const struct firefox *ff, struct sink *out, uint32_t row)
{
	(void)ff;
	(void)row;
	sink_text(out, "1"); /* a library */
}

static const struct firefox_column resource_columns[] = {
	{ "name", put_resource_name },
	{ "host", NULL },
	{ "type", put_resource_type },
};

static void put_symbol_lib(const struct firefox *ff, struct sink *out, uint32_t row)
{
	json_number(out, ff->symbols.items[row].lib);
}

static void put_symbol_address(const struct firefox *ff, struct sink *out, uint32_t row)
{
	json_number(out, ff->symbols.items[row].address);
}

static void put_symbol_name(const struct firefox *ff, struct sink *out, uint32_t row)
{
	firefox_put_string(ff, out, ff->symbols.items[row].name);
}

static const struct firefox_column symbol_columns[] = {
	{ "libIndex", put_symbol_lib },
	{ "address", put_symbol_address },
	{ "name", put_symbol_name },
	{ "functionSize", NULL },
};

static void put_file_name(const struct firefox *ff, struct sink *out, uint32_t row)
{
	firefox_put_string(ff, out, ff->sources.items.items[row]);
}

static void put_one(const struct firefox *ff, struct sink *out, uint32_t row)
{
	(void)ff;
	(void)row;
	sink_text(out, "1");
}

static const struct firefox_column source_columns[] = {
	{ "id", NULL },           { "filename", put_file_name },
	{ "startLine", put_one }, { "startColumn", put_one },
	{ "sourceMapURL", NULL }, { "content", NULL },
};

/* Where code was before it was translated: nobody tells. */
static const struct firefox_column location_columns[] = {
	{ "source", NULL },
	{ "line", NULL },
	{ "column", NULL },
};

static int put_strings(struct firefox *ff)
{
	struct sink *out = &ff->out->sink;
	int got = 0;
	sink_text(out, "\"stringArray\":[");
	for (size_t i = 0; got == 0 && i < ff->strings.items.count; i++) {
		sink_text(out, i ? ",\n" : "\n");
		json_string(
		    out, intern_get_bytes(&ff->view->profile->strings, ff->strings.items.items[i]));
		got = export_out_more(ff->out);
	}
	const char *name;
	for (size_t i = 0; (name = firefox_marker_name(i)); i++) {
		if (i || ff->strings.items.count)
			sink_u8(out, ',');
		json_text(out, name);
	}
	sink_text(out, "]");
	return got;
}

int firefox_put_shared(struct firefox *ff)
{
#define TABLE(name, columns, count)                                        \
	{                                                                  \
		name, columns, sizeof(columns) / sizeof(*(columns)), count \
	}
	const struct {
		const char *name;
		const struct firefox_column *columns;
		size_t column_count;
		size_t count;
	} tables[] = {
		TABLE("stackTable", stack_columns, ff->nodes.count),
		TABLE("frameTable", frame_columns, ff->frames.count),
		TABLE("funcTable", function_columns, ff->functions.items.count),
		TABLE("resourceTable", resource_columns, ff->resources.items.count),
		TABLE("nativeSymbols", symbol_columns, ff->symbols.count),
		TABLE("sources", source_columns, ff->sources.items.count),
		TABLE("sourceLocationTable", location_columns, 0),
	};
#undef TABLE
	int got = 0;
	sink_text(&ff->out->sink, "\"shared\":{\n");
	for (size_t i = 0; got == 0 && i < sizeof(tables) / sizeof(*tables); i++) {
		got = firefox_put_table(ff, tables[i].name, tables[i].columns,
					tables[i].column_count, tables[i].count);
		sink_text(&ff->out->sink, ",\n");
	}
	if (got == 0)
		got = put_strings(ff);
	sink_text(&ff->out->sink, "}");
	return got;
}
