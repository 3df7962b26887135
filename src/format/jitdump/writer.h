/* writer.h - puts jitdump records into a sink, as reader.h gives them back.
 *
 *   struct sink out = { 0 };
 *   jitdump_put_header(&out, &(struct jitdump_new_header){ EM_X86_64, pid, now_ns });
 *   jitdump_put_load(&out, now_ns, &(struct jitdump_code_load){ ... });
 *   jitdump_put_close(&out, now_ns);
 *   if (sink_failed(&out))
 *           ...
 *
 * In host byte order, stamps in ns. For files that nobody reads while they grow: a
 * runtime that announces its own code has other needs. No errors of its own: what
 * does not fit fails the sink. Format: docs/formats/jitdump.md.
 */
#ifndef FORMAT_JITDUMP_WRITER_H
#define FORMAT_JITDUMP_WRITER_H

#include "base/sink.h"
#include "format/jitdump/reader.h"

struct jitdump_new_header {
	uint32_t elf_machine;
	uint32_t pid;
	uint64_t time_ns;
};

void jitdump_put_header(struct sink *out, const struct jitdump_new_header *header);

/* The name ends at its first NUL, the only byte that a name cannot hold; `code` must have
 * code_size bytes. A record beyond 4 GiB, more than its size field can say, fails the sink.
 */
void jitdump_put_load(struct sink *out, uint64_t time_ns, const struct jitdump_code_load *load);

/* The size of that record. */
uint64_t jitdump_load_bytes(const struct jitdump_code_load *load);

/* A line from an address on. */
struct jitdump_new_line {
	uint64_t avma;
	uint32_t line;
	uint32_t column;
	struct bytes file; /* ends at its first NUL */
};

/* About the LOAD that follows. */
void jitdump_put_debug_info(struct sink *out, uint64_t time_ns, uint64_t code_avma,
			    const struct jitdump_new_line *lines, size_t count);

void jitdump_put_close(struct sink *out, uint64_t time_ns);

#endif
