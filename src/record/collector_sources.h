/* collector_sources.h - source files for the recording: what the files that find them share. */
#ifndef RECORD_COLLECTOR_SOURCES_H
#define RECORD_COLLECTOR_SOURCES_H

#include "base/idmap.h"
#include "base/intern.h"
#include "os/file.h"
#include "record/collector_internal.h"

struct bundle_writer;

struct sources {
	struct collector *c;
	struct bundle_writer *writer;
	struct intern names; /* of members that were written, and of paths that were tried */
	struct idmap tried;  /* by process and path */
	struct idmap written;
	struct bytes last;           /* path that was seen last: most are named again and again */
	struct os_tree *below_start; /* the files below where the recording began; NULL: not read */
	uint32_t process;
	int result;
};

/* A source that somebody names: its file is looked for, with the rights of the process's user. */
void sources_take(struct sources *s, struct bytes file);
/* One whose text is known. */
void sources_take_text(struct sources *s, struct bytes file, struct bytes text);
/* A file that leads to sources, of an absolute path, with the same rights. Close it. */
bool sources_open(struct sources *s, const char *path, struct os_file *file);

/* collector_clr.c: what the symbols name of the methods that a .NET process told of. */
void sources_take_events(struct sources *s, struct bytes stream);

#endif
