/* Reads the directory itself: the minizip of Debian 12 (1.1) takes no offset
 * beyond 4 GiB, and borrowing stored members needs to know where they lie.
 */
#include "base/arena.h"
#include "base/search.h"
#include "base/status.h"
#include "base/vector.h"
#include "bundle/list.h"
#include "os/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum {
	NAME_LIMIT = 4096, /* the writer's limit, too */
	MEMBER_LIMIT = 1 << 20,
	END_SIZE = 22, /* of the end record, without the comment */
	LOCATOR_SIZE = 20,
	END_SIGNATURE = 0x06054b50,
	LOCATOR_SIGNATURE = 0x07064b50,
	END64_SIGNATURE = 0x06064b50,
	ENTRY_SIGNATURE = 0x02014b50,
	LOCAL_SIGNATURE = 0x04034b50,
	EXTRA_ZIP64 = 1,
	FLAG_ENCRYPTED = 1,
	METHOD_STORED = 0,
	METHOD_DEFLATED = 8,
	/* Dumps deflate to a third or a tenth, a tail of zeros to a thousandth. A small
	 * recording may not make us fill the memory.
	 */
	ANY_RATIO_BYTES = 64 << 20,
	RATIO_LIMIT = 100,
};

static const uint64_t UNPACKED_LIMIT = (uint64_t)16 << 30; /* of all members together */
static const uint32_t IN_EXTRA = 0xffffffff;               /* the field is in the zip64 extra */

struct member {
	const char *name;
	size_t number; /* in the directory */
	uint64_t size;
	uint64_t packed_size;
	uint64_t header_off; /* of the local header, in the recording */
	uint32_t crc;
	uint16_t method;
	uint16_t flags;
	bool is_read;
	struct bytes content;
	uint8_t *unpacked; /* owned; NULL where `content` lies in the recording */
	/* Of a list: */
	int fd; /* owned; -1: the content is there */
	uint64_t file_off;
	struct os_file file;
};

struct bundle {
	struct bytes recording;
	uint64_t base_off; /* what the zip's offsets count from: 0 in our own recordings */
	uint64_t unpacked_bytes;
	struct arena names;
	VECTOR(struct member) members; /* sorted by name */
	bool is_list;                  /* of list.h: there is no recording */
};

struct directory {
	struct bytes bytes;
	uint64_t count;
	uint64_t start_off; /* as the end record says */
};

/* Zip files are little-endian. */
static struct cursor cursor_at(struct bytes in, uint64_t offset)
{
	struct cursor c = cursor_over(in);
	c.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	if (offset > in.size)
		cursor_fail(&c);
	else
		c.pos += offset;
	return c;
}

/* The end record is the last thing in the file, but for a comment of up to 64 KiB. */
static bool find_end(struct bytes in, size_t *end_off)
{
	for (size_t comment = 0; comment <= UINT16_MAX && comment + END_SIZE <= in.size;
	     comment++) {
		const size_t offset = in.size - END_SIZE - comment;
		struct cursor c = cursor_at(in, offset);
		if (cursor_u32(&c) != END_SIGNATURE)
			continue;
		cursor_take(&c, 16);
		if (cursor_u16(&c) == comment) {
			*end_off = offset;
			return true;
		}
	}
	return false;
}

/* In front of the end record may be a locator of a larger one. Returns where the
 * directory must end, after changing what the larger one knows better.
 */
static uint64_t read_end64(struct bytes in, size_t end_off, struct directory *dir, uint64_t *size)
{
	if (end_off < LOCATOR_SIZE)
		return end_off;
	struct cursor locator = cursor_at(in, end_off - LOCATOR_SIZE);
	if (cursor_u32(&locator) != LOCATOR_SIGNATURE)
		return end_off;
	cursor_take(&locator, 4); /* disk */
	const uint64_t end64_off = cursor_u64(&locator);
	struct cursor c = cursor_at(in, end64_off);
	if (cursor_u32(&c) != END64_SIGNATURE)
		return end_off;
	cursor_take(&c, 8 + 2 + 2 + 4 + 4 + 8); /* size, versions, disks, entries on this disk */
	const uint64_t count = cursor_u64(&c);
	const uint64_t directory_size = cursor_u64(&c);
	const uint64_t start_off = cursor_u64(&c);
	if (cursor_failed(&c))
		return end_off;
	dir->count = count;
	dir->start_off = start_off;
	*size = directory_size;
	return end64_off;
}

static int find_directory(struct bundle *bundle, struct directory *dir)
{
	const struct bytes in = bundle->recording;
	size_t end_off;
	if (!find_end(in, &end_off))
		return STATUS_NOT_FORMAT;
	struct cursor c = cursor_at(in, end_off);
	cursor_take(&c, 4 + 2 + 2 + 2); /* signature, disks, entries on this disk */
	dir->count = cursor_u16(&c);
	uint64_t size = cursor_u32(&c);
	dir->start_off = cursor_u32(&c);
	const uint64_t directory_end_off = read_end64(in, end_off, dir, &size);

	if (size > directory_end_off)
		return STATUS_CORRUPT;
	const uint64_t start_off = directory_end_off - size;
	if (dir->start_off > start_off)
		return STATUS_CORRUPT;
	bundle->base_off = start_off - dir->start_off;
	dir->bytes = (struct bytes){ .data = in.data + start_off, .size = (size_t)size };
	return 0;
}

static void read_extra(struct cursor *extra, struct member *member)
{
	while (cursor_left(extra) >= 4) {
		const uint16_t id = cursor_u16(extra);
		const uint16_t size = cursor_u16(extra);
		struct cursor field = cursor_sub(extra, size);
		if (id != EXTRA_ZIP64)
			continue;
		if (member->size == IN_EXTRA)
			member->size = cursor_u64(&field);
		if (member->packed_size == IN_EXTRA)
			member->packed_size = cursor_u64(&field);
		if (member->header_off == IN_EXTRA)
			member->header_off = cursor_u64(&field);
		return;
	}
}

static int read_entry(struct bundle *bundle, struct cursor *c, struct member *member)
{
	if (cursor_u32(c) != ENTRY_SIGNATURE)
		return STATUS_CORRUPT;
	cursor_take(c, 2 + 2); /* versions */
	member->flags = cursor_u16(c);
	member->method = cursor_u16(c);
	cursor_take(c, 4); /* date */
	member->crc = cursor_u32(c);
	member->packed_size = cursor_u32(c);
	member->size = cursor_u32(c);
	const uint16_t name_size = cursor_u16(c);
	const uint16_t extra_size = cursor_u16(c);
	const uint16_t comment_size = cursor_u16(c);
	cursor_take(c, 2 + 2 + 4); /* disk, attributes */
	member->header_off = cursor_u32(c);
	const struct bytes name = cursor_take(c, name_size);
	struct cursor extra = cursor_sub(c, extra_size);
	cursor_take(c, comment_size);
	if (cursor_failed(c))
		return STATUS_CORRUPT;
	if (name_size >= NAME_LIMIT)
		return STATUS_TOO_BIG;
	read_extra(&extra, member);

	char *copy = arena_new(&bundle->names, char, (size_t)name_size + 1);
	if (!copy)
		return STATUS_NO_MEMORY;
	if (name_size)
		memcpy(copy, name.data, name_size);
	member->name = copy;
	return 0;
}

/* By name; of two with one name the first in the directory comes first. */
static int compare(const void *a, const void *b)
{
	const struct member *left = a;
	const struct member *right = b;
	const int order = strcmp(left->name, right->name);
	return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

static int list_members(struct bundle *bundle)
{
	struct directory dir;
	int got = find_directory(bundle, &dir);
	if (got < 0)
		return got;
	if (dir.count > MEMBER_LIMIT)
		return STATUS_TOO_BIG;
	struct cursor c = cursor_at(dir.bytes, 0);
	for (size_t i = 0; i < dir.count; i++) {
		struct member *member = vector_push(&bundle->members);
		if (!member)
			return STATUS_NO_MEMORY;
		member->number = i;
		got = read_entry(bundle, &c, member);
		if (got < 0)
			return got;
	}
	if (bundle->members.count)
		qsort(bundle->members.items, bundle->members.count, sizeof(struct member), compare);
	return 0;
}

int bundle_open(struct bundle **opened, struct bytes recording)
{
	struct bundle *bundle = calloc(1, sizeof(*bundle));
	if (!bundle)
		return STATUS_NO_MEMORY;
	bundle->recording = recording;
	const int got = list_members(bundle);
	if (got < 0) {
		bundle_close(bundle);
		return got;
	}
	*opened = bundle;
	return 0;
}

void bundle_close(struct bundle *bundle)
{
	if (!bundle)
		return;
	for (size_t i = 0; i < bundle->members.count; i++) {
		struct member *member = &bundle->members.items[i];
		free(member->unpacked);
		if (bundle->is_list) {
			os_file_close(&member->file);
			if (member->fd >= 0)
				close(member->fd);
		}
	}
	vector_clear(&bundle->members);
	arena_clear(&bundle->names);
	free(bundle);
}

size_t bundle_count(const struct bundle *bundle)
{
	return bundle->members.count;
}

struct bundle_member bundle_member(const struct bundle *bundle, size_t index)
{
	const struct member *member = &bundle->members.items[index];
	return (struct bundle_member){ .name = member->name, .size = member->size };
}

static struct member *find(struct bundle *bundle, const char *name)
{
	size_t count;
	SEARCH(count, bundle->members.count, i, strcmp(bundle->members.items[i].name, name) < 0);
	if (count == bundle->members.count || strcmp(bundle->members.items[count].name, name) != 0)
		return NULL;
	return &bundle->members.items[count];
}

/* The member's bytes as they lie in the recording. */
static int locate(const struct bundle *bundle, const struct member *member, struct bytes *packed)
{
	const uint64_t size = bundle->recording.size;
	if (member->header_off > size - bundle->base_off)
		return STATUS_CORRUPT;
	struct cursor c = cursor_at(bundle->recording, bundle->base_off + member->header_off);
	if (cursor_u32(&c) != LOCAL_SIGNATURE)
		return STATUS_CORRUPT;
	cursor_take(&c, 2 + 2); /* version, flags */
	const uint16_t method = cursor_u16(&c);
	cursor_take(&c, 4 + 4 + 4 + 4); /* date, and what the directory says, too */
	const uint16_t name_size = cursor_u16(&c);
	const uint16_t extra_size = cursor_u16(&c);
	cursor_take(&c, name_size);
	cursor_take(&c, extra_size);
	if (cursor_failed(&c) || method != member->method || member->packed_size > cursor_left(&c))
		return STATUS_CORRUPT;
	*packed = cursor_take(&c, (size_t)member->packed_size);
	return 0;
}

/* Returns true if `packed` inflates to exactly `size` bytes. */
static bool inflate_all(struct bytes packed, uint8_t *to, size_t size)
{
	enum { STEP = 1 << 30 }; /* zlib counts in 32 bits */
	z_stream stream = { 0 };
	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return false;
	stream.next_in = (z_const Bytef *)packed.data;
	stream.next_out = to;
	int got = Z_OK;
	while (got == Z_OK) {
		if (stream.avail_in == 0) {
			stream.avail_in = (uInt)(packed.size < STEP ? packed.size : STEP);
			packed.size -= stream.avail_in;
		}
		if (stream.avail_out == 0) {
			stream.avail_out = (uInt)(size < STEP ? size : STEP);
			size -= stream.avail_out;
		}
		/* Z_BUF_ERROR: the input ends early, or there is more than `size`. */
		got = inflate(&stream, Z_NO_FLUSH);
	}
	const bool whole = got == Z_STREAM_END && stream.avail_out == 0 && size == 0;
	inflateEnd(&stream);
	return whole;
}

static int unpack(struct bundle *bundle, struct member *member, struct bytes packed)
{
	if (member->size > UNPACKED_LIMIT - bundle->unpacked_bytes ||
	    (member->size > ANY_RATIO_BYTES && member->size / RATIO_LIMIT > packed.size))
		return STATUS_TOO_BIG;
	const size_t size = (size_t)member->size;
	uint8_t *data = malloc(size + 1); /* inflate() wants a place even for nothing */
	if (!data)
		return STATUS_NO_MEMORY;
	if (!inflate_all(packed, data, size)) {
		free(data);
		return STATUS_CORRUPT;
	}
	bundle->unpacked_bytes += size;
	member->unpacked = data;
	member->content = (struct bytes){ .data = data, .size = size };
	return 0;
}

static int read_member(struct bundle *bundle, struct member *member)
{
	const bool stored = member->method == METHOD_STORED;
	if ((member->flags & FLAG_ENCRYPTED) || (!stored && member->method != METHOD_DEFLATED))
		return STATUS_UNSUPPORTED;
	int got = locate(bundle, member, &member->content);
	if (got < 0)
		return got;
	if (stored && member->size != member->packed_size)
		return STATUS_CORRUPT;
	if (!stored)
		got = unpack(bundle, member, member->content);
	if (got < 0)
		return got;
	return crc32_z(0, member->content.data, member->content.size) == member->crc
		   ? 0
		   : STATUS_CORRUPT;
}

int bundle_list_new(struct bundle **bundle)
{
	*bundle = calloc(1, sizeof(**bundle));
	if (!*bundle)
		return STATUS_NO_MEMORY;
	(*bundle)->is_list = true;
	return 0;
}

static struct member *list_member(struct bundle *bundle, const char *name)
{
	char *copy = arena_copy(&bundle->names, name, strlen(name));
	struct member *member = copy ? vector_push(&bundle->members) : NULL;
	if (!member)
		return NULL;
	*member = (struct member){
		.name = copy, .number = bundle->members.count - 1, .fd = -1, .file = { .slot = -1 }
	};
	return member;
}

int bundle_list_add(struct bundle *bundle, const char *name, struct bytes content)
{
	struct member *member = list_member(bundle, name);
	if (!member)
		return STATUS_NO_MEMORY;
	member->unpacked = malloc(content.size + 1);
	if (!member->unpacked)
		return STATUS_NO_MEMORY;
	if (content.size)
		memcpy(member->unpacked, content.data, content.size);
	member->content = (struct bytes){ member->unpacked, content.size };
	member->size = content.size;
	member->is_read = true;
	return 0;
}

int bundle_list_add_file(struct bundle *bundle, const char *name, const struct bundle_part *part)
{
	struct member *member = list_member(bundle, name);
	if (!member)
		return STATUS_NO_MEMORY;
	member->fd = fcntl(part->fd, F_DUPFD_CLOEXEC, 0);
	member->file_off = part->offset;
	member->size = part->limit;
	return member->fd < 0 ? STATUS_IO : 0;
}

void bundle_list_sort(struct bundle *bundle)
{
	if (bundle->members.count)
		qsort(bundle->members.items, bundle->members.count, sizeof(struct member), compare);
}

static int read_file(struct member *member)
{
	const int got = os_file_open_fd(&member->file, member->fd);
	if (got < 0)
		return got;
	const struct bytes all = member->file.bytes;
	const uint64_t left = all.size > member->file_off ? all.size - member->file_off : 0;
	member->content = (struct bytes){
		all.data + (left ? member->file_off : 0),
		(size_t)(left < member->size ? left : member->size),
	};
	return 0;
}

int bundle_read(struct bundle *bundle, const char *name, struct bytes *bytes)
{
	struct member *member = find(bundle, name);
	if (!member)
		return STATUS_NOT_FOUND;
	if (!member->is_read) {
		const int got = bundle->is_list ? read_file(member) : read_member(bundle, member);
		if (got < 0) {
			bundle->unpacked_bytes -= member->unpacked ? member->content.size : 0;
			free(member->unpacked);
			member->unpacked = NULL;
			return got;
		}
		member->is_read = true;
	}
	*bytes = member->content;
	return 0;
}
