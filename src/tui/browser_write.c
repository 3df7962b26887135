/* What is shown, as a file. */
#include "tui/browser_internal.h"

#include <errno.h>
#include <string.h>

enum { FILE_COLUMNS = 200 };

void browser_write_ask(struct browser *b)
{
	browser_ask(b, BROWSER_ASKS_FILE,
		    "Write to: ", b->view == BROWSER_TABLE ? "report.txt" : "annotate.txt");
}

static void put_table(struct browser *b, struct sink *out)
{
	sink_text(out, b->in->title);
	browser_table_path(b, out);
	sink_text(out, "\n");
	sink_put(out, b->trust.data, b->trust.size);
	sink_text(out, "\n\n");
	table_write(&b->table, out, FILE_COLUMNS, !screen_is_utf8(b->screen));
}

static void put_code(const struct browser *b, struct sink *out)
{
	for (size_t i = 0; i < b->code.pane.lines.count; i++) {
		pane_line_text(&b->code.pane, i, out);
		sink_text(out, "\n");
	}
}

void browser_write(struct browser *b, bool replaces)
{
	struct sink text = { 0 };
	const char *path = browser_text(&b->path);
	if (b->view == BROWSER_TABLE)
		put_table(b, &text);
	else
		put_code(b, &text);
	if (sink_failed(&text))
		browser_complain(b, "out of memory");
	else if (strcmp(path, "-") == 0)
		browser_complain(b, "standard output is the screen");
	else if (b->in->write(b->in->context, path, sink_bytes(&text), replaces))
		browser_say(b, "written to %s", path);
	else if (errno == EEXIST && !replaces)
		browser_ask(b, BROWSER_ASKS_REPLACE, "It is there. Replace it? (y/n) ", "");
	else
		browser_complain(b, "%s: %s", path, strerror(errno));
	sink_clear(&text);
}
