#include "base/escape.h"
#include "report/columns.h"
#include "report/write.h"

#include <inttypes.h>

enum { TREE_DEPTH = 512 };

static void put_string(struct sink *out, struct bytes text)
{
	sink_u8(out, '"');
	escape_json(out, text);
	sink_u8(out, '"');
}

static void put_interned(struct sink *out, const struct report_view *view, uint32_t string)
{
	put_string(out, intern_get_bytes(&view->profile->strings, string));
}

static void put_nodes(struct sink *out, const struct report_view *view, uint32_t id, unsigned depth)
{
	const char *separator = "";
	sink_text(out, "[");
	for (; id && depth < TREE_DEPTH; id = view->tree->nodes.items[id - 1].next) {
		const struct report_node *node = &view->tree->nodes.items[id - 1];
		const struct report_group_key *key = &view->groups->items.items[node->group].key;
		sink_printf(out, "%s{\"symbol\":", separator);
		put_interned(out, view, key->symbol);
		sink_text(out, ",\"object\":");
		put_interned(out, view, key->object);
		sink_printf(out, ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"children\":",
			    node->count, node->weight);
		put_nodes(out, view, node->first_child, depth + 1);
		sink_text(out, "}");
		separator = ",";
	}
	sink_text(out, "]");
}

static void put_row(struct sink *out, const struct report_view *view, uint32_t id)
{
	const struct report_column *columns[REPORT_COLUMN_LIMIT];
	const size_t count = report_columns(view->options, columns);
	const struct report_group *group = &view->groups->items.items[id];
	struct sink cell = { 0 };
	for (size_t i = 0; i < count; i++) {
		sink_reset(&cell);
		columns[i]->put(&cell, view->groups, view->profile, group);
		sink_printf(out, "%s\"%s\":", i ? "," : "{", columns[i]->name);
		if (columns[i]->kind != COLUMN_TEXT)
			sink_put(out, cell.data, cell.size);
		else
			put_string(out, sink_bytes(&cell));
	}
	sink_printf(out, ",\"weight\":%" PRIu64, group->total_weight);
	if (view->tree) {
		sink_printf(out, ",\"%s\":",
			    view->options->tree == REPORT_TREE_CALLERS ? "callers" : "callees");
		put_nodes(out, view, report_tree_first(view->tree, id), 0);
	}
	sink_text(out, "}");
	out->failed |= sink_failed(&cell);
	sink_clear(&cell);
}

static void put_summary(struct sink *out, const struct report_view *view)
{
	const struct report_summary *summary = view->summary;
	sink_text(out, "\"trust\":{");
	for (int trust = 0; trust < PROFILE_TRUST_COUNT; trust++)
		sink_printf(out, "%s\"%s\":%" PRIu64, trust ? "," : "",
			    profile_trust_name((enum profile_trust)trust),
			    summary->trust_counts[trust]);
	sink_printf(out, "},\"early_max_ns\":%" PRIu64 ",\"early_below_10us_and_tenfold\":[",
		    summary->early_max_ns);
	for (int i = 0; i < REPORT_EARLY_BUCKETS; i++)
		sink_printf(out, "%s%" PRIu64, i ? "," : "", summary->early_buckets[i]);
	sink_text(out, "],\"reasons\":[");
	for (size_t i = 0; i < summary->reasons.count; i++) {
		const struct report_reason *r = &summary->reasons.items[i];
		sink_printf(out, "%s{\"trust\":\"%s\",\"object\":", i ? "," : "",
			    profile_trust_name((enum profile_trust)r->trust));
		put_interned(out, view, r->object);
		sink_text(out, ",\"reason\":");
		put_interned(out, view, r->reason);
		sink_printf(out, ",\"samples\":%" PRIu64 "}", r->count);
	}
	sink_text(out, "],");
	report_ends_json(out, &summary->ends, view->profile);
}

void report_write_json(struct sink *out, const struct report_view *view)
{
	const struct profile *profile = view->profile;
	sink_text(out, "{\"event\":");
	put_interned(out, view,
		     view->event < profile->events.count ? profile->events.items[view->event] : 0);
	sink_printf(out,
		    ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"lost\":%" PRIu64
		    ",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64 ",",
		    view->groups->total_count, view->groups->total_weight, profile->lost_count,
		    profile->first_ns, profile->last_ns);
	put_summary(out, view);
	sink_text(out, ",\"rows\":[");
	for (size_t r = 0; r < view->groups->order.count; r++) {
		sink_text(out, r ? ",\n" : "\n");
		put_row(out, view, view->groups->order.items[r]);
	}
	sink_text(out, "\n]}");
}
