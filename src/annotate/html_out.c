#include "annotate/html_out.h"

#include "annotate/text_out.h"
#include "base/escape.h"

#include <inttypes.h>

/* Nothing is loaded and nothing runs, whatever a name may hold. */
void html_begin(const struct html *h)
{
	sink_text(h->out, "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
			  "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
			  "style-src 'unsafe-inline'\">\n"
			  "<meta name=viewport content=\"width=device-width\">\n<title>");
}

void html_begin_body(const struct html *h)
{
	sink_text(
	    h->out,
	    "</title>\n<style>\n"
	    ":root{color-scheme:light "
	    "dark;--text:#1b1f24;--quiet:#6a737d;--page:#fff;--box:#f6f8fa;"
	    "--edge:#d0d7de;--bar:#ffd8a8;--hot:#c92a2a;--warm:#2b8a3e;--source:#0b5c8a;"
	    "--link:#0550ae}\n"
	    "@media "
	    "(prefers-color-scheme:dark){:root{--text:#dde3ea;--quiet:#8b949e;--page:#0d1117;"
	    "--box:#161b22;--edge:#30363d;--bar:#6b3d12;--hot:#ff8787;--warm:#69db7c;"
	    "--source:#79c0ff;--link:#79c0ff}}\n"
	    "body{font:14px/1.45 system-ui,sans-serif;color:var(--text);background:var(--page);"
	    "margin:1rem auto;max-width:90rem;padding:0 1rem}\n"
	    "h2{font-size:1.15rem;margin:1.5rem 0 .3rem;overflow-wrap:anywhere}"
	    "small,.q,.gap{color:var(--quiet);font-weight:normal}p{margin:.3rem 0}\n"
	    "a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}\n"
	    "table{border-collapse:collapse;font:12.5px/1.4 ui-monospace,monospace;margin:.4rem "
	    "0}\n"
	    "th{font-weight:600;text-align:right;padding:.1rem .6rem;color:var(--quiet)}\n"
	    "td{text-align:right;padding:0 "
	    ".6rem;white-space:pre;font-variant-numeric:tabular-nums}\n"
	    ".list td,.list th{border-bottom:1px solid var(--edge)}\n"
	    ".s,.i,.gap,.file{text-align:left}.i{min-width:16rem}.n,.o,.b{color:var(--quiet)}"
	    ".s{color:var(--source)}.list .s{color:inherit}\n"
	    ".file{color:var(--text);background:var(--box);padding:.2rem .6rem}\n"
	    ".src td{background:var(--box)}.src .s b{color:var(--quiet);font-weight:normal}"
	    ".in{color:var(--text);font-weight:600}\n"
	    ".p{background:linear-gradient(to right,var(--bar) calc(var(--p)*1%),transparent 0)}\n"
	    ".hot{color:var(--hot);font-weight:600}.warm{color:var(--warm)}"
	    ".a{color:var(--quiet);padding:0;line-height:1.4}\n"
	    "tr:target td,.asked td{outline:1px solid var(--link)}tr:hover "
	    "td{filter:brightness(.95)}\n"
	    ".wide{overflow-x:auto}summary{cursor:pointer;font-weight:600;margin:.5rem 0}\n"
	    "details{border:1px solid var(--edge);border-radius:6px;padding:0 .8rem;margin:.5rem "
	    "0}\n"
	    "@media print{body{margin:0;max-width:none}details{border:0;padding:0}"
	    ".wide{overflow:visible}td{white-space:pre-wrap}tr{break-inside:avoid}"
	    ".p{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n"
	    "</style></head><body>\n");
}

void html_end(const struct html *h)
{
	sink_text(h->out, "</body></html>\n");
}

void html_bytes(const struct html *h, struct bytes text)
{
	escape_html(h->out, text);
}

void html_text(const struct html *h, const char *text)
{
	html_bytes(h, (struct bytes){ (const uint8_t *)text, strlen(text) });
}

void html_string(const struct html *h, uint32_t string)
{
	html_bytes(h, intern_get_bytes(&h->doc->profile->strings, string));
}

void html_source(const struct html *h, struct bytes text, uint32_t column)
{
	struct sink spread = { 0 };
	text_put_excerpt(&spread, text, column);
	html_bytes(h, sink_bytes(&spread));
	h->out->failed |= sink_failed(&spread);
	sink_clear(&spread);
}

void html_percent(const struct html *h, const struct annotate_count *count,
		  const struct annotate_count *whole)
{
	const double percent = annotate_percent(count, whole);
	const enum text_ink heat = text_heat(percent);
	if (!count->samples)
		sink_text(h->out, "<td>");
	else
		sink_printf(h->out, "<td class=\"p%s\" style=\"--p:%.1f\">%.2f%%",
			    heat == TEXT_HOT    ? " hot"
			    : heat == TEXT_WARM ? " warm"
						: "",
			    percent, percent);
}

void html_counts(const struct html *h, const struct annotate_count *count,
		 const struct annotate_count *whole)
{
	html_percent(h, count, whole);
	sink_text(h->out, "<td>");
	if (count->samples)
		sink_printf(h->out, "%" PRIu64, count->samples);
}
