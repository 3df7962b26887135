/* top_view_internal.h - what the files of top_view.h share. */
#ifndef TUI_TOP_VIEW_INTERNAL_H
#define TUI_TOP_VIEW_INTERNAL_H

#include "tui/top_view.h"

/* Filters and sorts what is shown. 0 or STATUS_NO_MEMORY. */
int top_view_make_rows(struct top_view *view);

/* Looks into the function of the chosen row. 0, STATUS_NOT_FOUND, _UNSUPPORTED (it has no name) or
 * _NO_MEMORY.
 */
int top_view_enter(struct top_view *view);
void top_view_leave_inside(struct top_view *view);

#endif
