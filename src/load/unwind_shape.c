/* Frames of code that no table speaks of: most keep frame pointers, some have a shape that is
 * known. docs/unwinding.md tells where each is from.
 */
#include "load/unwind.h"
#include "unwind/frame_code.h"
#include "unwind/rules.h"

enum { WORD = 8, CALL_BYTES = 8, PYTHON_STUB_BYTES = 16 };

/* x86-64's in DWARF's numbering. */
enum { R12 = 12, R13 = 13 };

/* Whose code a return address leads to. */
static void decide_return(const struct walk *walk, uint64_t avma, struct decision *decision)
{
	const struct address address = { .pid = walk->sample->pid,
					 .avma = avma,
					 .time_ns = walk->sample->time_ns,
					 .is_return = true };
	load_decide(walk->load, &address, decision);
}

/* A word that lies behind a call of a mapped file, and what that calls, where it says so. */
struct return_site {
	uint32_t object;
	uint64_t target_svma; /* 0: not told */
};

static bool is_behind_call(const struct walk *walk, uint64_t avma, struct return_site *site)
{
	struct load *load = walk->load;
	struct decision decision;
	decide_return(walk, avma, &decision);
	const struct timeline_hit *hit = &decision.hit;
	if (decision.speaker != SPEAKER_MAPPING ||
	    load->objects.items[hit->object].kind == OBJECT_ANONYMOUS)
		return false;
	const uint64_t file_off = avma - hit->start_avma + hit->file_off;
	struct bytes before = table_object_bytes(load, hit->object, file_off - CALL_BYTES);
	int64_t distance;
	if (file_off < CALL_BYTES || before.size < CALL_BYTES)
		return false;
	before.size = CALL_BYTES;
	if (!unwind_ends_with_call(UNWIND_X86_64, before, &distance))
		return false;
	*site = (struct return_site){ .object = hit->object };
	uint64_t svma;
	if (distance &&
	    symbol_file_to_svma(load->objects.items[hit->object].symbols, file_off - 1, &svma))
		site->target_svma = svma + 1 + (uint64_t)distance;
	return true;
}

/* Does a frame whose CFA is so far from sp return behind a call? */
static bool returns_behind_call(const struct walk *walk, const struct unwind_frame *frame,
				uint64_t cfa_offset, struct return_site *site)
{
	uint64_t sp;
	uint64_t word;
	return unwind_get(frame->registers, UNWIND_X86_64_SP, &sp) &&
	       unwind_stack_word(frame, sp + cfa_offset - WORD, &word) &&
	       is_behind_call(walk, word, site);
}

/* YJIT up to Ruby 3.2: pushes its three registers when it is entered from vm_exec; methods that it
 * compiled jump to each other.
 */
static bool find_ruby(const struct walk *walk, const struct unwind_frame *frame,
		      struct unwind_place *how)
{
	enum { FRAME_BYTES = 4 * WORD };
	static const struct cfi_rule rules[] = {
		{ .kind = CFI_AT_CFA, .operand = -4 * WORD }, /* rbx */
		{ .kind = CFI_AT_CFA, .operand = -3 * WORD }, /* r12 */
		{ .kind = CFI_AT_CFA, .operand = -2 * WORD }, /* r13 */
		{ .kind = CFI_AT_CFA, .operand = -WORD },
	};
	struct return_site site;
	for (int32_t size = FRAME_BYTES; size <= FRAME_BYTES + 2 * WORD; size += WORD) {
		if (!returns_behind_call(walk, frame, (uint64_t)size, &site))
			continue;
		how->code = UNWIND_RULE;
		how->rule = unwind_rule_fixed(UNWIND_X86_64, size, false);
		how->rule.ruled =
		    1u << UNWIND_X86_64_BX | 1u << R12 | 1u << R13 | 1u << UNWIND_X86_64_PC;
		how->rule.rules = rules;
		how->rule.plain_return = sizeof(rules) / sizeof(rules[0]);
		return true;
	}
	return false;
}

/* The row of the function's body, where its frame is complete. */
static bool row_of_function(struct load *load, uint32_t object, const char *name,
			    struct cfi_row *row)
{
	struct cfi_table *table = table_of_object(load, object);
	struct symbol symbol;
	const struct symbol_table *symbols = load->objects.items[object].symbols;
	if (!table || !symbol_find_name(symbols, name, &symbol))
		return false;
	const struct cfi_row *found = cfi_find(table, symbol.start_svma + symbol.size / 2);
	if (!found || found->cfa.kind != CFI_REGISTER || found->cfa.number != UNWIND_X86_64_SP)
		return false;
	*row = *found;
	return true;
}

/* The row of PHP's loop in an object that may be PHP; NULL where it is not. */
static const struct cfi_row *php_loop(struct load *load, uint32_t id)
{
	struct object *object = &load->objects.items[id];
	if (!object->loop_was_read) {
		object->loop_was_read = true;
		struct cfi_row row;
		const bool has_loop =
		    object->kind == OBJECT_FILE &&
		    strstr(intern_get(&load->strings, object->short_name), "php") &&
		    row_of_function(load, id, "execute_ex", &row);
		object = &load->objects.items[id];
		object->has_loop = has_loop;
		if (has_loop)
			object->loop = row;
	}
	return object->has_loop ? &object->loop : NULL;
}

/* PHP's JIT: code that runs in the frame of the interpreter's loop, from which it was jumped to.
 * Versions differ in the room that they take below it.
 */
static bool find_php(const struct walk *walk, const struct unwind_frame *frame,
		     struct unwind_place *how)
{
	static const int32_t rooms[] = { 0, 16, WORD, 16 + WORD };
	struct return_site site;
	for (uint32_t i = 0; i < walk->load->objects.count; i++) {
		const struct cfi_row *row = php_loop(walk->load, i);
		for (size_t n = 0; row && n < sizeof(rooms) / sizeof(rooms[0]); n++) {
			const int32_t size = row->cfa.operand + rooms[n];
			if (!returns_behind_call(walk, frame, (uint64_t)size, &site))
				continue;
			how->code = UNWIND_RULE;
			how->rule = *row;
			how->rule.cfa.operand = size;
			return true;
		}
	}
	return false;
}

/* LuaJIT's traces run in the frame of its interpreter, made by what a call in the same file leads
 * to: assembly that is described as having its frame from its first byte on. Traces that need more
 * room take it below.
 */
static bool find_luajit(const struct walk *walk, const struct unwind_frame *frame,
			struct unwind_place *how)
{
	enum { LEAST = 8 * WORD, MOST = 64 * WORD };
	struct return_site site;
	for (int32_t size = LEAST; size <= MOST; size += WORD) {
		if (!returns_behind_call(walk, frame, (uint64_t)size, &site) || !site.target_svma)
			continue;
		struct cfi_table *table = table_of_object(walk->load, site.object);
		const struct cfi_row *row = table ? cfi_find(table, site.target_svma) : NULL;
		if (!row || row->cfa.kind != CFI_REGISTER || row->cfa.number != UNWIND_X86_64_SP ||
		    row->cfa.operand <= WORD || row->cfa.operand > size)
			continue;
		how->code = UNWIND_RULE;
		how->rule = *row;
		how->rule.cfa.operand = size;
		return true;
	}
	return false;
}

/* CPython's trampolines call with a word of room, or with a frame pointer. */
static bool find_python(const struct walk *walk, struct unwind_place *how)
{
	static const uint8_t push_bp = 0x55;
	const struct bytes code = walk->place->code;
	if (code.size && memchr(code.data, push_bp, code.size < 5 ? code.size : 5))
		return false;
	how->code = UNWIND_STUB;
	return true;
}

static bool find_by_runtime(const struct walk *walk, const struct unwind_frame *frame,
			    struct unwind_place *how)
{
	if (walk->place->runtime == RUNTIME_PYTHON)
		return find_python(walk, how);
	if (frame->machine != UNWIND_X86_64)
		return false;
	switch (walk->place->runtime) {
	case RUNTIME_RUBY:
		return find_ruby(walk, frame, how);
	case RUNTIME_PHP:
		return find_php(walk, frame, how);
	case RUNTIME_LUAJIT:
		return find_luajit(walk, frame, how);
	default:
		return false;
	}
}

/* Nobody said that this code keeps frame pointers: there must be one that can be right. */
static bool may_have_frame_pointer(const struct unwind_frame *frame)
{
	uint64_t bp;
	uint64_t sp;
	uint64_t word;
	return unwind_get(frame->registers, unwind_bp(frame->machine), &bp) &&
	       unwind_get(frame->registers, unwind_sp(frame->machine), &sp) && bp >= sp &&
	       unwind_frame_word(frame, WORD, &word);
}

static struct bytes code_behind(const struct place *place, uint64_t avma)
{
	const uint64_t before = avma - place->start_avma;
	if (avma < place->start_avma || before > place->code.size)
		return (struct bytes){ 0 };
	return (struct bytes){ place->code.data + before, place->code.size - (size_t)before };
}

/* What a prologue or an epilogue shows. HotSpot's tables speak of neither. */
static bool find_by_code(const struct walk *walk, const struct unwind_frame *frame,
			 struct unwind_place *how)
{
	const struct place *place = walk->place;
	if (!frame->is_exact || !place->code.size || frame->avma < place->start_avma ||
	    (place->kind == PLACE_ROW && place->runtime != RUNTIME_JVM))
		return false;
	how->code = UNWIND_RULE;
	return unwind_rule_of_code(frame->machine, place->code, frame->avma - place->start_avma,
				   &how->rule);
}

/* Code that was announced, or a file's. */
static bool is_code(const struct walk *walk, uint64_t return_avma)
{
	struct decision decision;
	decide_return(walk, return_avma, &decision);
	return decision.speaker == SPEAKER_CODE ||
	       (decision.speaker == SPEAKER_MAPPING &&
		walk->load->objects.items[decision.hit.object].kind != OBJECT_ANONYMOUS);
}

/* The return address is the topmost word, if that leads to code. Adapters that make room for
 * arguments keep what sp was in r13.
 */
static bool find_frameless(const struct walk *walk, const struct unwind_frame *frame,
			   struct unwind_place *how)
{
	enum { ROOM_LIMIT = 1 << 16 };
	static const struct cfi_rule rules[] = {
		{ .kind = CFI_REGISTER, .number = R13 }, /* rsp */
		{ .kind = CFI_AT_CFA, .operand = -WORD },
	};
	uint64_t sp;
	uint64_t sender_sp;
	uint64_t word;
	if (!walk->place->is_frameless || !frame->is_exact || frame->machine != UNWIND_X86_64 ||
	    !unwind_get(frame->registers, UNWIND_X86_64_SP, &sp) ||
	    !unwind_stack_word(frame, sp, &word) || !is_code(walk, word))
		return false;
	how->code = UNWIND_RULE;
	how->rule = unwind_rule_entry(UNWIND_X86_64);
	if (walk->place->has_room && unwind_get(frame->registers, R13, &sender_sp) &&
	    sender_sp > sp && sender_sp - sp < ROOM_LIMIT) {
		how->rule.ruled |= 1u << UNWIND_X86_64_SP;
		how->rule.rules = rules;
		how->rule.plain_return = 0;
	}
	return true;
}

/* HotSpot's tables hold at calls. Between them a few instructions that it puts in place of a
 * method, such as those that compare strings, push what they need: as many words deeper.
 */
static bool find_pushed(const struct walk *walk, const struct unwind_frame *frame,
			struct unwind_place *how)
{
	enum { MOST_WORDS = 4 };
	const struct cfi_row *row = &walk->place->row;
	uint64_t sp;
	uint64_t word;
	if (walk->place->runtime != RUNTIME_JVM || !frame->is_exact ||
	    row->cfa.kind != CFI_REGISTER || row->cfa.number != unwind_sp(frame->machine) ||
	    !unwind_get(frame->registers, row->cfa.number, &sp))
		return false;
	for (int32_t room = 0; room <= MOST_WORDS * WORD; room += WORD) {
		const uint64_t cfa = sp + (uint64_t)(row->cfa.operand + room);
		if (!unwind_stack_word(frame, cfa - WORD, &word) || !is_code(walk, word))
			continue;
		how->rule = *row;
		how->rule.cfa.operand += room;
		return room != 0;
	}
	return false;
}

/* HotSpot's interpreter puts what its caller's sp was into its frame: adapters make room for
 * arguments between a compiled caller and the frame.
 */
static bool find_interpreter(const struct unwind_frame *frame, struct unwind_place *how)
{
	enum { SENDER_SP = -WORD, ROOM_LIMIT = 1 << 16 };
	static const struct cfi_rule rules[] = {
		{ .kind = CFI_AT_CFA, .operand = -2 * WORD },             /* rbp */
		{ .kind = CFI_AT_CFA, .operand = -2 * WORD + SENDER_SP }, /* rsp */
		{ .kind = CFI_AT_CFA, .operand = -WORD },
	};
	uint64_t bp;
	uint64_t sender_sp;
	if (frame->machine != UNWIND_X86_64 ||
	    !unwind_get(frame->registers, UNWIND_X86_64_BP, &bp) ||
	    !unwind_frame_word(frame, SENDER_SP, &sender_sp) || sender_sp - bp < 2ull * WORD ||
	    sender_sp - bp > ROOM_LIMIT)
		return false;
	how->code = UNWIND_RULE;
	how->rule = unwind_rule_frame_pointer(UNWIND_X86_64);
	how->rule.ruled |= 1u << UNWIND_X86_64_SP;
	how->rule.rules = rules;
	how->rule.plain_return = 0;
	return true;
}

void shape_find(const struct walk *walk, const struct unwind_frame *frame, struct unwind_place *how)
{
	const struct place *place = walk->place;
	if (place->kind == PLACE_UNKNOWN || find_by_code(walk, frame, how))
		return;
	how->code = UNWIND_RULE;
	if (place->kind == PLACE_ROW) {
		if (!find_pushed(walk, frame, how))
			how->row = &place->row;
		return;
	}
	const uint64_t pc_avma = frame->is_exact ? frame->avma : frame->avma + 1;
	if (unwind_is_signal_return(frame->machine, code_behind(place, pc_avma))) {
		how->rule = unwind_rule_signal(frame->machine);
		return;
	}
	if (place->kind == PLACE_CODE &&
	    (find_frameless(walk, frame, how) || find_by_runtime(walk, frame, how)))
		return;
	if (place->is_interpreter && find_interpreter(frame, how))
		return;
	how->code = UNWIND_FRAME_POINTER;
	/* A table that is not there: the walk ends here. */
	if (place->kind == PLACE_MAPPED && !may_have_frame_pointer(frame))
		how->code = UNWIND_CFI;
}
