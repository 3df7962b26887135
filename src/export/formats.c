/* Which formats there are, and how an export is run. */
#include "export/export.h"

#include "base/status.h"
#include "export/gzip.h"

#include <string.h>

enum { ENOUGH_BYTES = 256 * 1024 };

static const struct export_format *const formats[] = {
#define X(name) &export_##name,
	EXPORT_FORMAT_LIST(X)
#undef X
};

enum {
#define X(name) INDEX_##name,
	EXPORT_FORMAT_LIST(X)
#undef X
	    FORMAT_COUNT,
};

const struct export_format *export_format_at(size_t index)
{
	return index < FORMAT_COUNT ? formats[index] : NULL;
}

const struct export_format *export_format_find(const char *name)
{
	const struct export_format *format;
	for (size_t i = 0; (format = export_format_at(i)); i++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}

/* The length of the extension in the list that the path ends with; 0: none. */
static size_t ending(const char *extensions, const char *path)
{
	const size_t size = strlen(path);
	size_t longest = 0;
	while (*extensions) {
		const size_t length = strcspn(extensions, " ");
		if (length > longest && length < size &&
		    strncmp(path + size - length, extensions, length) == 0)
			longest = length;
		extensions += length + strspn(extensions + length, " ");
	}
	return longest;
}

const struct export_format *export_format_of_path(const char *path)
{
	const struct export_format *found = NULL;
	const struct export_format *format;
	size_t longest = 0;
	for (size_t i = 0; (format = export_format_at(i)); i++) {
		const size_t length = ending(format->extensions, path);
		if (length > longest) {
			longest = length;
			found = format;
		}
	}
	return found;
}

static int hand_on(struct export_out *out)
{
	if (out->status == 0 && sink_failed(&out->sink))
		out->status = STATUS_NO_MEMORY;
	if (out->status == 0 && out->sink.size)
		out->status = out->write(out->context, out->sink.data, out->sink.size);
	sink_reset(&out->sink);
	return out->status;
}

int export_out_more(struct export_out *out)
{
	if (out->sink.size < ENOUGH_BYTES && !sink_failed(&out->sink))
		return out->status;
	return hand_on(out);
}

void export_out_clear(struct export_out *out)
{
	sink_clear(&out->sink);
}

static int run_plain(const struct export_format *format, struct export_out *out,
		     const struct export_view *view)
{
	const int got = format->write(out, view);
	return got < 0 ? got : hand_on(out);
}

int export_run(const struct export_format *format, struct export_out *out,
	       const struct export_view *view)
{
	if (!format->is_gzipped)
		return run_plain(format, out, view);
	struct export_gzip gzip;
	int got = export_gzip_open(&gzip, out);
	if (got < 0)
		return got;
	struct export_out plain = { .write = export_gzip_write, .context = &gzip };
	got = run_plain(format, &plain, view);
	export_out_clear(&plain);
	const int ended = export_gzip_end(&gzip);
	if (got == 0)
		got = ended;
	return got < 0 ? got : hand_on(out);
}

bool export_is_time(const struct profile *profile, uint32_t event)
{
	static const char *const clocks[] = { "cpu-clock", "task-clock" };
	const char *name = profile_text(profile, profile->events.items[event]);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		const size_t length = strlen(clocks[i]);
		if (strncmp(name, clocks[i], length) == 0 &&
		    (name[length] == '\0' || name[length] == ':'))
			return true;
	}
	return false;
}
