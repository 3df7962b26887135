#include "names/names_internal.h"

/* Files that every package has: the folder above tells them apart. */
static bool is_common_name(struct bytes file)
{
	static const char *const COMMON[] = { "index.", "main.", "mod.", "__init__.", "__main__." };
	for (size_t i = 0; i < sizeof(COMMON) / sizeof(COMMON[0]); i++)
		if (text_starts(file, COMMON[i]))
			return true;
	return false;
}

/* From "node_modules/" on in a package, else the file's own name, with its folder
 * where the name says nothing. "node:fs" and "<frozen os>" are whole as they are.
 */
static struct bytes short_path(struct bytes path)
{
	static const char PACKAGES[] = "/node_modules/";
	if (text_starts(path, "node:") || text_starts(path, "<"))
		return path;
	for (struct bytes rest = path;;) {
		const size_t at = text_find(rest, PACKAGES);
		if (at == TEXT_NONE) {
			if (rest.size < path.size)
				return rest;
			break;
		}
		rest = text_from(rest, at + strlen(PACKAGES));
	}

	const size_t slash = text_last(path, '/');
	if (slash == TEXT_NONE || slash + 1 == path.size)
		return path;
	const struct bytes file = text_from(path, slash + 1);
	if (!is_common_name(file))
		return file;
	const size_t above = text_last(text_until(path, slash), '/');
	return text_from(path, above == TEXT_NONE ? 0 : above + 1);
}

void put_place(struct sink *human, struct bytes place)
{
	struct bytes path = place;
	if (text_drop_number(&path, ':'))
		text_drop_number(&path, ':');
	const struct bytes position = text_from(place, path.size);
	if (path.size)
		put(human, short_path(path));
	else
		sink_text(human, "<anonymous>");
	put(human, position);
}

static bool starts_path(struct bytes text)
{
	static const char *const STARTS[] = { "/",     "./",           "../",     "node:",
					      "file:", "http:",        "https:",  "native ",
					      "<",     "evalmachine.", "webpack", "wasm://",
					      "data:" };
	for (size_t i = 0; i < sizeof(STARTS) / sizeof(STARTS[0]); i++)
		if (text_starts(text, STARTS[i]))
			return true;
	return false;
}

/* Both names and paths may hold spaces ("naïve größe /home/me/my app/a.js:8:39"):
 * the first space before something that looks like the start of a path wins, else
 * the last one.
 */
void cut_place(struct bytes text, struct bytes *name, struct bytes *place)
{
	struct bytes unnumbered = text;
	*name = text;
	*place = text_from(text, text.size);
	if (!text_drop_number(&unnumbered, ':'))
		return;

	size_t cut = TEXT_NONE;
	for (size_t i = 0; i < unnumbered.size && cut == TEXT_NONE; i++)
		if (text.data[i] == ' ' && starts_path(text_from(text, i + 1)))
			cut = i;
	if (cut == TEXT_NONE)
		cut = text_last(text, ' ');
	if (cut == TEXT_NONE)
		return;
	*name = text_until(text, cut);
	*place = text_from(text, cut + 1);
}
