/* The page (src/page): its row among the formats. The samples are not enough for it, since it shows
 * code, too; so who exports makes it from the recording itself.
 */
#include "export/export.h"

const struct export_format export_html = {
	.name = "html",
	.extensions = ".html .htm",
	.what = "the page of `polyperf report --html`, for a browser",
	.has_events = true,
	.is_page = true,
};
