/* proto.h - a large message of protobuf, written one field at a time.
 *
 *   proto_message(&out->sink, 2, &sample.base);            of a message made by protoc-c
 *   proto_bytes(&out->sink, 6, text);
 *
 * What is written one behind the other is the message around, which never is in memory as a whole.
 * Any thread.
 */
#ifndef EXPORT_PROTO_H
#define EXPORT_PROTO_H

#include "base/sink.h"

#include <protobuf-c/protobuf-c.h>

/* A field of a message, a text or bytes; and what it adds to the size of the message around. */
void proto_message(struct sink *out, unsigned field, const ProtobufCMessage *message);
uint64_t proto_message_size(unsigned field, const ProtobufCMessage *message);
void proto_bytes(struct sink *out, unsigned field, struct bytes bytes);
uint64_t proto_bytes_size(unsigned field, uint64_t size);

/* The beginning of a field of `size` bytes, which the caller writes. */
void proto_begin(struct sink *out, unsigned field, uint64_t size);

/* An integer that is not fixed. */
void proto_varint(struct sink *out, unsigned field, uint64_t value);

#endif
