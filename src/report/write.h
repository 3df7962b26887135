/* write.h - a report as text, CSV or JSON.
 *
 *   struct report_view view = { profile, event, &options, &groups, &tree, &summary };
 *   struct sink out = { 0 };
 *   report_write_text(&out, &view, width);
 *
 * Names are escaped for where they go. The caller prints and clears the sink.
 */
#ifndef REPORT_WRITE_H
#define REPORT_WRITE_H

#include "report/groups.h"
#include "report/summary.h"
#include "report/tree.h"

struct report_view {
	const struct profile *profile;
	uint32_t event;
	const struct report_options *options;
	const struct report_groups *groups;
	const struct report_tree_nodes *tree;
	const struct report_summary *summary;
};

/* `width`: of the terminal, to cut long names; 0 cuts nothing. */
void report_write_text(struct sink *out, const struct report_view *view, unsigned width);

/* Header "overhead,samples,runtime,tier,trust,symbol,object" for the default keys. */
void report_write_csv(struct sink *out, const struct report_view *view);

/* One object an event; the caller puts them into a list. */
void report_write_json(struct sink *out, const struct report_view *view);

#endif
