/* The rows of a function, made when they are first asked for. */
#include "base/hash.h"
#include "unwind/cfi_table.h"

/* While the rows of a function are made. */
struct making {
	struct cfi_table *table;
	struct cfi_function *function;
	const struct cfi_cie *cie;
	const uint8_t *expressions;
};

static bool is_equal(const struct cfi_row *row, const struct cfi_row *other)
{
	const size_t count = (size_t)__builtin_popcountll(row->ruled);
	return row->ruled == other->ruled && row->expressions == other->expressions &&
	       row->return_register == other->return_register &&
	       row->is_signal == other->is_signal &&
	       memcmp(&row->cfa, &other->cfa, sizeof(row->cfa)) == 0 &&
	       (!count || memcmp(row->rules, other->rules, count * sizeof(*row->rules)) == 0);
}

/* The row's number, from 1; 0 without memory, or past the limit of what a table may take. */
static uint32_t keep_row(struct cfi_table *table, const struct cfi_row *row)
{
	const size_t count = (size_t)__builtin_popcountll(row->ruled);
	const uint64_t hash =
	    hash_bytes(row->rules, count * sizeof(*row->rules),
		       hash_bytes(&row->cfa, sizeof(row->cfa), row->ruled ^ row->return_register));
	uint32_t *slot = idmap_put(&table->by_hash, hash);
	if (!slot)
		return CFI_NO_ROW;
	if (*slot && is_equal(&table->distinct.items[*slot - 1], row))
		return *slot;
	struct cfi_rule *rules = arena_new(&table->rules, struct cfi_rule, count ? count : 1);
	struct cfi_row *kept = rules ? vector_push(&table->distinct) : NULL;
	if (!kept)
		return CFI_NO_ROW;
	if (count)
		memcpy(rules, row->rules, count * sizeof(*rules));
	*kept = *row;
	kept->rules = rules;
	*slot = (uint32_t)table->distinct.count;
	return *slot;
}

bool cfi_put_row(struct cfi_table *table, struct cfi_function *f, uint32_t off,
		 const struct cfi_row *row)
{
	struct cfi_place *place = vector_push(&table->rows);
	if (!place)
		return false;
	place->off = off;
	place->row = row ? keep_row(table, row) : CFI_NO_ROW;
	f->row_count++;
	return true;
}

static bool put_row(void *context, uint64_t svma, const struct cfi_state *state)
{
	struct making *m = context;
	struct cfi_rule rules[UNWIND_REGISTERS];
	struct cfi_row row = { .cfa = state->cfa,
			       .ruled = state->ruled,
			       .rules = rules,
			       .expressions = m->expressions,
			       .return_register = m->cie->return_register,
			       .is_signal = m->cie->is_signal };
	size_t count = 0;
	bool is_plain = true;
	for (uint64_t left = state->ruled; left; left &= left - 1) {
		const unsigned number = (unsigned)__builtin_ctzll(left);
		rules[count++] = state->rules[number];
		is_plain &= state->rules[number].kind == CFI_AT_CFA;
		if (number == row.return_register)
			row.plain_return = (uint8_t)count;
	}
	if (!is_plain || m->cie->is_signal)
		row.plain_return = 0;
	return cfi_put_row(m->table, m->function, (uint32_t)(svma - m->function->start_svma),
			   state->has_cfa ? &row : NULL);
}

void cfi_make_rows(struct cfi_table *table, struct cfi_function *f)
{
	struct cfi_entries *e = &table->entries[f->source];
	struct cfi_fde fde;
	f->first_row = (uint32_t)table->rows.count;
	if (f->source == CFI_OF_STUBS) {
		cfi_make_stub_rows(table, f);
		return;
	}
	if (!cfi_entries_at(e, f->entry_off, &fde))
		return;
	struct making making = {
		.table = table, .function = f, .cie = &e->cie, .expressions = e->section->bytes.data
	};
	const struct cfi_program program = { .machine = table->machine,
					     .section = e->section,
					     .cie = &e->cie,
					     .instructions = fde.instructions,
					     .start_svma = f->start_svma,
					     .end_svma = f->start_svma + f->size,
					     .put = put_row,
					     .context = &making };
	/* Without the rest the last row would seem to hold to the end. */
	if (!cfi_program_run(&program))
		f->row_count = 0;
}
