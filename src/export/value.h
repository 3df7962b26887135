/* value.h - how events and what is known of them are told in formats with values of a type and a
 * unit.
 */
#ifndef EXPORT_VALUE_H
#define EXPORT_VALUE_H

#include "export/export.h"

/* "cpu" where the event is a clock and no other event is shown; else the event's name. */
struct bytes export_value_name(const struct export_view *view, uint32_t event, bool is_single);
/* "nanoseconds" or "count". */
const char *export_value_unit(const struct export_view *view, uint32_t event);
/* How much of that unit a sample stands for, as it was asked for; 0: it differs, or is not known.
 */
uint64_t export_value_period(const struct export_view *view, uint32_t event);

/* Makes sentences on the recording as a whole: where, what, by what, how many samples were lost
 * and how far names can be trusted. Each is given to `put`.
 * 0 or STATUS_NO_MEMORY.
 */
int export_remarks(const struct export_view *view, void (*put)(void *context, struct bytes remark),
		   void *context);

/* How far the name of the code that ran can be trusted. */
enum profile_trust export_stack_trust(const struct profile *profile, uint32_t stack);

#endif
