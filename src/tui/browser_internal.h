/* browser_internal.h - what the files of the browser share.
 *
 * Keys go to the prompt if there is one, else to the overlay, else to the view on top.
 */
#ifndef TUI_BROWSER_INTERNAL_H
#define TUI_BROWSER_INTERNAL_H

#include "annotate/write.h"
#include "base/arena.h"
#include "report/summary.h"
#include "tui/browser.h"
#include "tui/model.h"
#include "tui/overlay.h"
#include "tui/pane.h"
#include "tui/prompt.h"
#include "tui/table.h"

enum browser_view { BROWSER_TABLE, BROWSER_ANNOTATE };

enum browser_question {
	BROWSER_ASKS_NOTHING,
	BROWSER_ASKS_SEARCH,
	BROWSER_ASKS_FILTER,
	BROWSER_ASKS_FILE,
	BROWSER_ASKS_REPLACE, /* y or n */
};

enum browser_menu {
	BROWSER_NO_MENU,
	BROWSER_HELP,
	BROWSER_MENU_SORT,
	BROWSER_MENU_ZOOM,
	BROWSER_MENU_THREAD,
	BROWSER_MENU_COMM,
	BROWSER_MENU_EVENT,
	BROWSER_MENU_VERSION,
};

/* Functions that were annotated before this one: the way back. */
struct browser_step {
	const char *name;
	const char *object;
	size_t line;
};

/* The annotated function that is shown. */
struct browser_code {
	const struct annotate *doc;
	struct annotate_options options;
	annotate_marks marks;
	VECTOR(uint32_t) hot; /* marks, hottest first */
	size_t hot_at;
	struct pane pane;
	VECTOR(struct browser_step) steps;
	struct browser_step shown;
	struct arena names;
};

struct browser {
	struct screen *screen;
	const struct browser_inputs *in;
	enum browser_view view;
	bool is_over;
	int status; /* negative: why it is over */

	struct model model;
	struct table table;
	struct table_column columns[REPORT_COLUMN_LIMIT];
	char titles[REPORT_COLUMN_LIMIT][24];
	struct sink trust; /* how far names can be trusted, with a NUL */
	struct sink part;  /* of names, that is filtered by */

	struct browser_code code;

	enum browser_question question;
	struct prompt prompt;
	size_t cursor_before; /* of the search */
	struct sink path;     /* to write to */

	enum browser_menu menu;
	struct overlay overlay;
	VECTOR(const char *) items;
	VECTOR(uint32_t) values; /* of the items */
	struct arena texts;      /* of the items */

	struct sink message; /* in the last line, up to the next key; with a NUL */
	bool message_is_error;
	struct sink scratch;
};

/* browser.c */
void browser_say(struct browser *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void browser_complain(struct browser *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A status that ends the browser, where it is negative. */
void browser_check(struct browser *b, int status);
void browser_ask(struct browser *b, enum browser_question question, const char *label,
		 const char *text);
void browser_draw(struct browser *b);

/* browser_table.c */
void browser_table_build(struct browser *b);
void browser_table_draw(struct browser *b, struct canvas *canvas, const struct area *area);
void browser_table_key(struct browser *b, int32_t key);
/* What is under the cursor; NULL where there are no rows. */
const struct report_group *browser_table_group(const struct browser *b);
/* The line about the row under the cursor. */
void browser_table_details(struct browser *b, struct canvas *canvas, unsigned row);
void browser_table_zoom(struct browser *b, const struct model_zoom *zoom);
/* Back from the last zoom; false where there was none. */
bool browser_table_zoom_back(struct browser *b);
/* "> thread 12 > libc.so" */
void browser_table_path(const struct browser *b, struct sink *out);
void browser_table_filter(struct browser *b, const char *part);

/* browser_menu.c */
void browser_menu_open(struct browser *b, enum browser_menu menu);
void browser_menu_key(struct browser *b, int32_t key);
void browser_menu_clear(struct browser *b);

/* browser_annotate.c */
void browser_annotate_open(struct browser *b);
void browser_annotate_draw(struct browser *b, struct canvas *canvas, const struct area *area);
void browser_annotate_key(struct browser *b, int32_t key);
/* The text again, with other options. */
void browser_annotate_show(struct browser *b);
void browser_annotate_clear(struct browser *b);

/* browser_write.c */
void browser_write_ask(struct browser *b);
void browser_write(struct browser *b, bool replaces);

/* browser_help.c */
const struct help_line *browser_help(enum browser_view view);

/* A sink as text. */
static inline const char *browser_text(struct sink *sink)
{
	sink_u8(sink, 0);
	if (sink_failed(sink))
		return "";
	sink->size--;
	return (const char *)sink->data;
}

#endif
