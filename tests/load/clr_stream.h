/* clr_stream.h - an event stream of .NET, built event by event.
 *
 *   struct sink stream = { 0 };
 *   clr_stream_begin(&stream, pid);
 *   clr_stream_method(&stream, &(struct clr_stream_method){ .method_id = 1, ... });
 *   clr_stream_end(&stream);
 *
 * Each event has a block of its own, as the format allows.
 */
#ifndef TESTS_LOAD_CLR_STREAM_H
#define TESTS_LOAD_CLR_STREAM_H

#include "base/sink.h"

#include <stdint.h>

void clr_stream_begin(struct sink *out, uint32_t pid);
void clr_stream_end(struct sink *out);

enum clr_stream_flags {
	CLR_STREAM_DYNAMIC = 0x1,
	CLR_STREAM_JITTED = 0x8,
	CLR_STREAM_QUICK = 0x188,
	CLR_STREAM_TIER1 = 0x208,
	CLR_STREAM_PREJIT = 0x100,
};

struct clr_stream_method {
	uint64_t time_ns;
	uint64_t method_id;
	uint64_t version_id;
	uint64_t module_id;
	uint64_t start_avma;
	uint32_t size;
	uint32_t token;
	uint32_t flags;
	const char *owner;
	const char *name;
	const char *signature;
	bool is_rundown; /* was there at the end */
	bool is_unload;
};
void clr_stream_method(struct sink *out, const struct clr_stream_method *method);

struct clr_stream_module {
	uint64_t time_ns;
	uint64_t module_id;
	const char *path;
	const char *pdb_path;
	const uint8_t *pdb_guid;
};
void clr_stream_module(struct sink *out, const struct clr_stream_module *module);

struct clr_stream_pair {
	int32_t il_off;
	uint32_t native_off;
};
void clr_stream_il_map(struct sink *out, const struct clr_stream_method *method,
		       const struct clr_stream_pair *pairs, uint16_t count);

struct clr_stream_node {
	uint64_t method_id;
	uint32_t child;
	uint32_t sibling;
};
struct clr_stream_mapping {
	uint32_t native_off;
	uint32_t node;
	int32_t il_off;
};
struct clr_stream_rich {
	const struct clr_stream_node *nodes;
	uint32_t node_count;
	const struct clr_stream_mapping *mappings;
	uint32_t mapping_count;
};
void clr_stream_rich(struct sink *out, const struct clr_stream_method *method,
		     const struct clr_stream_rich *rich);

/* A method that was only inlined, and its type. */
void clr_stream_details(struct sink *out, uint64_t method_id, uint64_t type_id, uint32_t token);
void clr_stream_type(struct sink *out, uint64_t type_id, uint64_t module_id);

#endif
