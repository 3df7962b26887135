/* otlp.h - what the files otlp*.c share. Not for others.
 *
 * Messages around others begin with their size, so all is gone through twice: once to measure, and
 * to learn what the dictionary holds, and once to write.
 */
#ifndef EXPORT_OTLP_H
#define EXPORT_OTLP_H

#include "export/otlp.pb-c.h"
#include "export/places.h"
#include "export/proto.h"

struct otlp {
	struct export_out *out;
	const struct export_view *view;
	struct places places;
	struct intern attributes;        /* packed: an id is an index in the table */
	VECTOR(uint32_t) index_of_stack; /* by stack of the profile: index in the table; 0: none */
	VECTOR(uint32_t) stacks;         /* in the table, from index 1 */
	VECTOR(int32_t) indices;
	VECTOR(Otlp__Line) lines;
	VECTOR(Otlp__Line *) line_pointers;
	struct sink scratch;
	bool is_measuring;
	uint64_t size; /* of what would have been written */
	int status;    /* of the first write that failed */
};

/* A field of the message under way, written or measured. */
void otlp_put(struct otlp *otlp, unsigned field, const ProtobufCMessage *message);

/* 0 or the status that ends the export. */
int otlp_status(const struct otlp *otlp);

/* Each returns the index of an attribute. */
int32_t otlp_text_attribute(struct otlp *otlp, const char *key, struct bytes value);
int32_t otlp_number_attribute(struct otlp *otlp, const char *key, int64_t value);

/* Keeps the index for a message's list of them, otlp->indices. */
void otlp_add_index(struct otlp *otlp, int32_t index);

int32_t otlp_stack(struct otlp *otlp, uint32_t stack);

/* All tables, of what was asked for: fields of a ProfilesDictionary. */
void otlp_put_dictionary(struct otlp *otlp);

#endif
