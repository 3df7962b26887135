#include "export/proto.h"

/* How a field is written. */
enum { WIRE_VARINT, WIRE_FIXED64, WIRE_LENGTH };

static void put_varint(struct sink *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		sink_u8(out, (uint8_t)(value | 0x80));
	sink_u8(out, (uint8_t)value);
}

static uint64_t varint_size(uint64_t value)
{
	uint64_t size = 1;
	while (value >>= 7)
		size++;
	return size;
}

void proto_begin(struct sink *out, unsigned field, uint64_t size)
{
	put_varint(out, field << 3 | WIRE_LENGTH);
	put_varint(out, size);
}

void proto_message(struct sink *out, unsigned field, const ProtobufCMessage *message)
{
	const size_t size = protobuf_c_message_get_packed_size(message);
	proto_begin(out, field, size);
	uint8_t *to = sink_reserve(out, size);
	if (to)
		protobuf_c_message_pack(message, to);
}

uint64_t proto_bytes_size(unsigned field, uint64_t size)
{
	return varint_size(field << 3) + varint_size(size) + size;
}

uint64_t proto_message_size(unsigned field, const ProtobufCMessage *message)
{
	return proto_bytes_size(field, protobuf_c_message_get_packed_size(message));
}

void proto_bytes(struct sink *out, unsigned field, struct bytes bytes)
{
	proto_begin(out, field, bytes.size);
	sink_put(out, bytes.data, bytes.size);
}

void proto_varint(struct sink *out, unsigned field, uint64_t value)
{
	put_varint(out, field << 3 | WIRE_VARINT);
	put_varint(out, value);
}
