/* source.h - source files in a recording: by which name, for which path.
 *
 *   struct bytes path = source_path(file);                 as a runtime named it
 *   struct sink name = { 0 };
 *   if (source_member_name(path, &name))
 *           ...                                            "sources/root/home/me/a.js"
 *   sink_clear(&name);
 *
 * For those who put them there and those who look for them. docs/formats/recording.md.
 */
#ifndef BUNDLE_SOURCE_H
#define BUNDLE_SOURCE_H

#include "base/sink.h"

/* A source file as a path: "file:///a.mjs", as V8 names modules, is /a.mjs. */
struct bytes source_path(struct bytes file);

/* Could it be the path of a file? "node:internal/fs" and "<string>" are not. */
bool source_is_path(struct bytes path);

/* Appends the name of the member that holds the file of a path. False where there can be none. */
bool source_member_name(struct bytes path, struct sink *name);

/* What a URL's path says, in place: "%20" is a space. False where nothing was to be done. */
bool source_decode(char *path);

#endif
