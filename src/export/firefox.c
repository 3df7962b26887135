/* The Firefox Profiler's own format (https://profiler.firefox.com), which also its command line
 * reads. firefox.h tells where it is described.
 */
#include "export/firefox.h"

static int put_all(struct firefox *ff)
{
	struct sink *out = &ff->out->sink;
	sink_text(out, "{");
	int got = firefox_put_meta(ff);
	sink_text(out, ",\n");
	if (got == 0)
		got = firefox_put_libs(ff);
	sink_text(out, ",\n");
	if (got == 0)
		got = firefox_put_shared(ff);
	sink_text(out, ",\n");
	if (got == 0)
		got = firefox_put_threads(ff);
	sink_text(out, "}\n");
	return got;
}

static int write_firefox(struct export_out *out, const struct export_view *view)
{
	struct firefox ff = { .out = out, .view = view };
	int got = firefox_build(&ff);
	if (got == 0)
		got = put_all(&ff);
	firefox_clear(&ff);
	return got;
}

const struct export_format export_firefox = {
	.name = "firefox",
	.extensions = ".firefox.json.gz .fx.json.gz",
	.what = "samples and code events by thread, for the Firefox Profiler",
	.choices = EXPORT_TITLE,
	.is_gzipped = true,
	.is_binary = true,
	.has_events = true,
	.takes_samples = true,
	.takes_events = true,
	.write = write_firefox,
};
