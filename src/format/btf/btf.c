#include "format/btf/btf.h"

#include "base/status.h"

enum { HEADER_SIZE_LEAST = 24 };

/* The strings lie behind the header, whose own size newer versions may enlarge. */
static int find_strings(struct btf *btf, struct bytes bytes, struct cursor *c)
{
	const uint32_t header_size = cursor_u32(c);
	cursor_u32(c); /* where types begin */
	cursor_u32(c); /* and how long they are */
	const uint32_t strings_off = cursor_u32(c);
	const uint32_t strings_size = cursor_u32(c);
	if (cursor_failed(c))
		return STATUS_TRUNCATED;
	if (header_size < HEADER_SIZE_LEAST)
		return STATUS_CORRUPT;
	struct cursor whole = cursor_over(bytes);
	cursor_take(&whole, header_size);
	cursor_take(&whole, strings_off);
	const struct bytes strings = cursor_take(&whole, strings_size);
	if (cursor_failed(&whole))
		return STATUS_TRUNCATED;
	/* The first one is the empty string, so that offset 0 can mean none. */
	if (strings.size && (strings.data[0] || strings.data[strings.size - 1]))
		return STATUS_CORRUPT;
	btf->strings = strings;
	return 0;
}

int btf_init(struct btf *btf, struct bytes bytes)
{
	*btf = (struct btf){ 0 };
	struct cursor c = cursor_over(bytes);
	const uint16_t magic = cursor_u16(&c);
	if (cursor_failed(&c))
		return bytes.size ? STATUS_TRUNCATED : STATUS_NOT_FORMAT;
	c.swap = magic == __builtin_bswap16(BTF_MAGIC);
	if (magic != BTF_MAGIC && !c.swap)
		return STATUS_NOT_FORMAT;
	const uint8_t version = cursor_u8(&c);
	cursor_u8(&c); /* flags: none are defined */
	if (cursor_failed(&c))
		return STATUS_TRUNCATED;
	return version == BTF_VERSION ? find_strings(btf, bytes, &c) : STATUS_UNSUPPORTED;
}

const char *btf_string(const struct btf *btf, uint32_t string_off)
{
	if (string_off >= btf->strings.size)
		return "";
	return (const char *)btf->strings.data + string_off;
}
