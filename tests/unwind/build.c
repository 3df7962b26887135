#include "unwind/build.h"

#include <string.h>

enum {
	PCREL_SDATA4 = 0x1b,
	VERSION_4 = 4,
	X86_64_PROGRAM_COUNTER = 16,
};

static size_t begin(struct section *s)
{
	if (s->is_64)
		sink_u32(&s->out, UINT32_MAX);
	const size_t at = s->out.size;
	if (s->is_64)
		sink_u64(&s->out, 0);
	else
		sink_u32(&s->out, 0);
	return at;
}

static void end(struct section *s, size_t at)
{
	while (s->out.size % sizeof(uint64_t))
		sink_u8(&s->out, 0);
	if (s->is_64)
		sink_patch_u64(&s->out, at, s->out.size - at - sizeof(uint64_t));
	else
		sink_patch_u32(&s->out, at, (uint32_t)(s->out.size - at - sizeof(uint32_t)));
}

static void put_id(struct section *s, bool is_cie)
{
	if (!s->is_debug_frame)
		sink_u32(&s->out, is_cie ? 0 : (uint32_t)(s->out.size - s->cie_off));
	else if (s->is_64)
		sink_u64(&s->out, is_cie ? UINT64_MAX : s->cie_off);
	else
		sink_u32(&s->out, is_cie ? UINT32_MAX : (uint32_t)s->cie_off);
}

static const char *letters_of(const struct section *s)
{
	return s->letters ? s->letters : s->is_debug_frame ? "" : "zR";
}

void put_cie(struct section *s, struct bytes program)
{
	const char *letters = letters_of(s);
	s->cie_off = s->out.size;
	const size_t at = begin(s);
	put_id(s, true);
	sink_u8(&s->out, s->version ? s->version : 1);
	sink_put(&s->out, letters, strlen(letters) + 1);
	if (s->version == VERSION_4) {
		sink_u8(&s->out, sizeof(uint64_t));
		sink_u8(&s->out, 0);
	}
	if (strcmp(letters, "eh") == 0)
		sink_u64(&s->out, SECTION_SVMA);
	sink_u8(&s->out, 1);
	sink_u8(&s->out, 0x78); /* -8 */
	sink_u8(&s->out, s->machine == UNWIND_AARCH64 ? UNWIND_AARCH64_LR : X86_64_PROGRAM_COUNTER);
	if (letters[0] == 'z') {
		const uint8_t encoding = s->encoding ? s->encoding : PCREL_SDATA4;
		const struct bytes extra =
		    s->extra.size ? s->extra : (struct bytes){ &encoding, 1 };
		sink_u8(&s->out, (uint8_t)extra.size);
		sink_put(&s->out, extra.data, extra.size);
	}
	sink_put(&s->out, program.data, program.size);
	end(s, at);
}

void put_fde(struct section *s, uint64_t start_svma, uint64_t size, struct bytes program)
{
	const bool has_augmentation = letters_of(s)[0] == 'z';
	const size_t at = begin(s);
	put_id(s, false);
	if (has_augmentation && !s->encoding) {
		sink_u32(&s->out, (uint32_t)(start_svma - (SECTION_SVMA + s->out.size)));
		sink_u32(&s->out, (uint32_t)size);
	} else {
		sink_u64(&s->out, start_svma);
		sink_u64(&s->out, size);
	}
	if (has_augmentation)
		sink_u8(&s->out, 0);
	sink_put(&s->out, program.data, program.size);
	end(s, at);
}

struct cfi_table *table_of(const struct section *s)
{
	struct cfi_table *table = NULL;
	struct cfi_sections sections = { .machine = s->machine };
	if (s->is_debug_frame) {
		sections.debug_frame = sink_bytes(&s->out);
	} else {
		sections.eh_frame = sink_bytes(&s->out);
		sections.eh_frame_svma = SECTION_SVMA;
	}
	return cfi_table_sections(&table, &sections) == 0 ? table : NULL;
}

const struct cfi_rule *rule_of(const struct cfi_row *row, unsigned number)
{
	const uint64_t bit = (uint64_t)1 << number;
	return row->ruled & bit ? &row->rules[__builtin_popcountll(row->ruled & (bit - 1))] : NULL;
}
