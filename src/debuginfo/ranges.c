#include "debuginfo/ranges.h"

#include "base/status.h"

#include <dwarf.h>

static uint64_t read_sized(struct cursor *c, unsigned size)
{
	switch (size) {
	case 1:
		return cursor_u8(c);
	case 2:
		return cursor_u16(c);
	case 4:
		return cursor_u32(c);
	case 8:
		return cursor_u64(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

static struct cursor cursor_at(const struct range_reader *r, struct bytes section, uint64_t offset)
{
	struct cursor c = cursor_over(section);
	c.swap = r->swap;
	if (offset > section.size)
		cursor_fail(&c);
	else
		(void)cursor_take(&c, (size_t)offset);
	return c;
}

static bool address_at(const struct range_reader *r, uint64_t index, uint64_t *svma)
{
	uint64_t offset;
	if (__builtin_mul_overflow(index, r->address_size, &offset) ||
	    __builtin_add_overflow(offset, r->addr_base, &offset))
		return false;
	struct cursor c = cursor_at(r, r->addr, offset);
	*svma = read_sized(&c, r->address_size);
	return !cursor_failed(&c);
}

/* DW_FORM_addrx3. */
static uint64_t read_three(struct cursor *c)
{
	const uint64_t first = cursor_u8(c);
	const uint64_t second = cursor_u8(c);
	const uint64_t third = cursor_u8(c);
	return c->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		   ? first << 16 | second << 8 | third
		   : third << 16 | second << 8 | first;
}

/* Where the bytes of an attribute are. An implicit constant's are in the abbreviation. */
static struct cursor cursor_of(const struct range_reader *r, const Dwarf_Attribute *attr)
{
	const uint8_t *at = attr->valp;
	if (!at || at < r->info.data || at >= r->info.data + r->info.size)
		return cursor_at(r, r->info, UINT64_MAX);
	return cursor_at(r, r->info, (uint64_t)(at - r->info.data));
}

/* False where the attribute is no address. */
static bool read_address(const struct range_reader *r, const Dwarf_Attribute *attr, uint64_t *svma)
{
	struct cursor c = cursor_of(r, attr);
	uint64_t index;
	switch (attr->form) {
	case DW_FORM_addr:
		*svma = read_sized(&c, r->address_size);
		return !cursor_failed(&c);
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		index = cursor_uleb(&c);
		break;
	case DW_FORM_addrx1:
		index = cursor_u8(&c);
		break;
	case DW_FORM_addrx2:
		index = cursor_u16(&c);
		break;
	case DW_FORM_addrx3:
		index = read_three(&c);
		break;
	case DW_FORM_addrx4:
		index = cursor_u32(&c);
		break;
	default:
		return false;
	}
	return !cursor_failed(&c) && address_at(r, index, svma);
}

/* Before DWARF 4 constants of these sizes stood for offsets. */
static bool read_offset(const struct range_reader *r, const Dwarf_Attribute *attr, uint64_t *offset)
{
	struct cursor c = cursor_of(r, attr);
	switch (attr->form) {
	case DW_FORM_data4:
		*offset = cursor_u32(&c);
		break;
	case DW_FORM_data8:
		*offset = cursor_u64(&c);
		break;
	case DW_FORM_sec_offset:
		*offset = read_sized(&c, r->offset_size);
		break;
	default:
		return false;
	}
	return !cursor_failed(&c);
}

bool range_reader_offset(const struct range_reader *r, Dwarf_Die *die, unsigned name,
			 uint64_t *offset)
{
	Dwarf_Attribute attr;
	return dwarf_attr(die, name, &attr) && read_offset(r, &attr, offset);
}

static uint64_t base_of(const struct range_reader *r, Dwarf_Die *unit, unsigned name)
{
	uint64_t base;
	return range_reader_offset(r, unit, name, &base) ? base : 0;
}

bool range_reader_init(struct range_reader *r, const struct dwarf_file *file, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	r->info = file->info;
	r->ranges = file->ranges;
	r->rnglists = file->rnglists;
	r->addr = file->addr;
	r->swap = file->swap;
	if (dwarf_cu_info(unit->cu, &r->version, NULL, NULL, NULL, NULL, &r->address_size,
			  &r->offset_size) != 0)
		return false;
	r->addr_base = base_of(r, unit, r->version < 5 ? DW_AT_GNU_addr_base : DW_AT_addr_base);
	r->rnglists_base = base_of(r, unit, DW_AT_rnglists_base);
	r->ranges_base = 0;
	r->split_ranges_base = base_of(r, unit, DW_AT_GNU_ranges_base);
	r->low_svma = 0;
	if (dwarf_attr(unit, DW_AT_low_pc, &attr) && !read_address(r, &attr, &r->low_svma))
		return false;
	return true;
}

bool range_reader_split(struct range_reader *r, const struct dwarf_file *dwo, Dwarf_Die *unit)
{
	uint8_t address_size;
	if (dwarf_cu_info(unit->cu, &r->version, NULL, NULL, NULL, NULL, &address_size,
			  &r->offset_size) != 0 ||
	    address_size != r->address_size)
		return false;
	r->info = dwo->info;
	r->rnglists = dwo->rnglists;
	r->ranges_base = r->split_ranges_base;
	/* Behind the header of the only table that there is: DWARF 5, 7.28. */
	r->rnglists_base = r->offset_size == 8 ? 20 : 12;
	return true;
}

static int add(const struct range_reader *r, const struct span *range, struct span_table *ranges)
{
	struct span clean = *range;
	const struct span *code = span_find(r->code, clean.start_svma);
	if (!code || clean.end_svma <= clean.start_svma)
		return 0;
	if (clean.end_svma > code->end_svma)
		clean.end_svma = code->end_svma;
	struct span *slot = vector_push(ranges);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = clean;
	return 1;
}

/* Many DIEs may point at one long list. */
static bool take_one(const struct range_reader *r)
{
	if (!*r->budget)
		return false;
	--*r->budget;
	return true;
}

/* .debug_ranges, DWARF 2 to 4: pairs of addresses. */
static int add_pairs(const struct range_reader *r, uint64_t offset, uint32_t value,
		     struct span_table *ranges)
{
	struct cursor c = cursor_at(r, r->ranges, offset);
	const uint64_t most = r->address_size == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t base = r->low_svma;
	int count = 0;
	for (;;) {
		const uint64_t start = read_sized(&c, r->address_size);
		const uint64_t end = read_sized(&c, r->address_size);
		if (cursor_failed(&c) || (!start && !end) || !take_one(r))
			return count;
		if (start == most) {
			base = end;
			continue;
		}
		const struct span range = { base + start, base + end, value };
		const int got = add(r, &range, ranges);
		if (got < 0)
			return got;
		count += got;
	}
}

/* An entry of .debug_rnglists. Returns 1 where it is a range, 0 where it changes the base, -1 at
 * the end and where it cannot be read.
 */
static int read_entry(const struct range_reader *r, struct cursor *c, uint64_t *base,
		      struct span *range)
{
	const uint8_t kind = cursor_u8(c);
	uint64_t first = 0;
	uint64_t second = 0;
	bool is_known = true;
	const bool is_indexed = kind == DW_RLE_base_addressx || kind == DW_RLE_startx_endx ||
				kind == DW_RLE_startx_length;
	if (is_indexed)
		is_known = address_at(r, cursor_uleb(c), &first);
	else if (kind == DW_RLE_offset_pair)
		first = cursor_uleb(c);
	else if (kind != DW_RLE_end_of_list)
		first = read_sized(c, r->address_size);
	if (kind == DW_RLE_startx_endx)
		is_known = address_at(r, cursor_uleb(c), &second) && is_known;
	else if (kind == DW_RLE_start_end)
		second = read_sized(c, r->address_size);
	else if (kind == DW_RLE_offset_pair || kind == DW_RLE_startx_length ||
		 kind == DW_RLE_start_length)
		second = cursor_uleb(c);
	if (cursor_failed(c) || !is_known || kind == DW_RLE_end_of_list ||
	    kind > DW_RLE_start_length)
		return -1;
	if (kind == DW_RLE_base_addressx || kind == DW_RLE_base_address) {
		*base = first;
		return 0;
	}
	if (kind == DW_RLE_offset_pair) {
		first += *base;
		second += *base;
	} else if (kind == DW_RLE_startx_length || kind == DW_RLE_start_length) {
		second += first;
	}
	range->start_svma = first;
	range->end_svma = second;
	return 1;
}

static int add_list(const struct range_reader *r, uint64_t offset, uint32_t value,
		    struct span_table *ranges)
{
	struct cursor c = cursor_at(r, r->rnglists, offset);
	uint64_t base = r->low_svma;
	int count = 0;
	while (take_one(r)) {
		struct span range = { .value = value };
		const int kind = read_entry(r, &c, &base, &range);
		if (kind < 0)
			break;
		const int got = kind ? add(r, &range, ranges) : 0;
		if (got < 0)
			return got;
		count += got;
	}
	return count;
}

static int add_ranges(const struct range_reader *r, const Dwarf_Attribute *attr, uint32_t value,
		      struct span_table *ranges)
{
	uint64_t offset;
	if (attr->form == DW_FORM_rnglistx) {
		struct cursor c = cursor_of(r, attr);
		const uint64_t index = cursor_uleb(&c);
		if (cursor_failed(&c) || index > r->rnglists.size)
			return 0;
		c = cursor_at(r, r->rnglists, r->rnglists_base + index * r->offset_size);
		offset = r->rnglists_base + read_sized(&c, r->offset_size);
		return cursor_failed(&c) ? 0 : add_list(r, offset, value, ranges);
	}
	if (!read_offset(r, attr, &offset))
		return 0;
	return r->version >= 5 ? add_list(r, offset, value, ranges)
			       : add_pairs(r, offset + r->ranges_base, value, ranges);
}

int range_reader_add(const struct range_reader *r, Dwarf_Die *die, uint32_t value,
		     struct span_table *ranges)
{
	Dwarf_Attribute attr;
	struct span range = { .value = value };
	if (dwarf_attr(die, DW_AT_high_pc, &attr)) {
		Dwarf_Attribute low;
		Dwarf_Word length;
		if (!dwarf_attr(die, DW_AT_low_pc, &low) ||
		    !read_address(r, &low, &range.start_svma))
			return 0;
		if (!read_address(r, &attr, &range.end_svma)) {
			if (dwarf_formudata(&attr, &length) != 0)
				return 0;
			range.end_svma = range.start_svma + length;
		}
		return add(r, &range, ranges);
	}
	return dwarf_attr(die, DW_AT_ranges, &attr) ? add_ranges(r, &attr, value, ranges) : 0;
}
