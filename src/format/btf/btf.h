/* btf.h - the strings of a BTF section: what line info of BPF programs points into.
 *
 *   struct btf btf;
 *   if (btf_init(&btf, bytes) == 0)
 *           puts(btf_string(&btf, line.file_name_off));
 *
 * Reads BTF of either byte order. Types are not decoded: nothing here asks for them. Borrows the
 * bytes, allocates nothing; any thread. Format: docs/formats/btf.md.
 */
#ifndef FORMAT_BTF_BTF_H
#define FORMAT_BTF_BTF_H

#include "base/bytes.h"

enum { BTF_MAGIC = 0xeb9f, BTF_VERSION = 1 };

struct btf {
	struct bytes strings; /* ends with a NUL, unless empty */
};

/* Returns 0, or STATUS_NOT_FORMAT, _UNSUPPORTED (a version), _TRUNCATED, or _CORRUPT where the
 * strings are not as they must be; `btf` has no strings then.
 */
int btf_init(struct btf *btf, struct bytes bytes);

/* The string at an offset; "" where there is none. Never NULL. */
const char *btf_string(const struct btf *btf, uint32_t string_off);

#endif
