/* The source files of a .NET process: events tell its methods, and PDBs the methods' documents.
 *
 * A PDB is in its assembly, beside it, or where the compiler put it, and has the GUID that the
 * process told. Texts that it holds are taken from it: they are what was compiled.
 */
#include "base/path.h"
#include "base/sort.h"
#include "base/status.h"
#include "clr/image.h"
#include "clr/pdb.h"
#include "format/nettrace/clr_event.h"
#include "record/collector_sources.h"

#include <limits.h>
#include <stdlib.h>

enum { GUID_BYTES = 16, PDB_ID_BYTES = 20 };

/* A method that ran, or was inlined into one. */
struct use {
	uint64_t owner; /* its module's id; of an inlined one its type's */
	uint32_t token;
	bool is_by_type;
};

struct told {
	VECTOR(struct clr_event_module) modules;
	VECTOR(struct use) uses;
	VECTOR(uint64_t) type_modules;
	struct idmap module_of_id; /* index + 1 */
	struct idmap type_of_id;   /* index into type_modules + 1 */
};

/* The symbols of one module. */
struct symbols {
	struct os_file assembly;
	struct os_file file;
	bool has_assembly;
	bool has_file;
	struct clr_pdb *pdb;
};

static bool take_module(struct told *told, const struct clr_event_module *module)
{
	uint32_t *known = idmap_put(&told->module_of_id, module->module_id);
	if (!known)
		return false;
	if (*known || module->is_dynamic)
		return true;
	struct clr_event_module *kept = vector_push(&told->modules);
	if (!kept)
		return false;
	*kept = *module;
	*known = (uint32_t)told->modules.count;
	return true;
}

static bool take_use(struct told *told, struct use use)
{
	struct use *kept = use.token ? vector_push(&told->uses) : NULL;
	if (kept)
		*kept = use;
	return kept || !use.token;
}

static bool take_types(struct told *told, struct clr_event_types types)
{
	struct clr_type type;
	while (clr_type_next(&types, &type)) {
		uint32_t *known = idmap_put(&told->type_of_id, type.type_id);
		if (!known)
			return false;
		if (*known)
			continue;
		uint64_t *module = vector_push(&told->type_modules);
		if (!module)
			return false;
		*module = type.module_id;
		*known = (uint32_t)told->type_modules.count;
	}
	return true;
}

static bool take_event(struct told *told, const struct clr_event *what)
{
	switch (what->kind) {
	case CLR_EVENT_MODULE:
		return take_module(told, &what->module);
	case CLR_EVENT_METHOD:
		return take_use(
		    told,
		    (struct use){ .owner = what->method.module_id,
				  .token = what->method.is_dynamic ? 0 : what->method.token });
	case CLR_EVENT_METHOD_DETAILS:
		return take_use(told, (struct use){ .owner = what->details.type_id,
						    .token = what->details.token,
						    .is_by_type = true });
	case CLR_EVENT_TYPES:
		return take_types(told, what->types);
	default:
		return true;
	}
}

static int read_stream(struct told *told, struct bytes stream)
{
	struct nettrace_reader *reader;
	struct nettrace_event event;
	int got = nettrace_open(&reader, stream, NULL);
	if (got < 0)
		return got == STATUS_NO_MEMORY ? got : 0;
	while ((got = nettrace_next(reader, &event)) > 0) {
		struct clr_event what;
		if (clr_event_read(&event, nettrace_pointer_size(reader), &what) == 0 &&
		    !take_event(told, &what)) {
			got = STATUS_NO_MEMORY;
			break;
		}
	}
	nettrace_free(reader);
	return got;
}

/* Index of the module + 1; 0: nobody told of it. */
static uint32_t module_of(const struct told *told, const struct use *use)
{
	uint64_t id = use->owner;
	if (use->is_by_type) {
		const uint32_t type = idmap_get(&told->type_of_id, id);
		id = type ? told->type_modules.items[type - 1] : 0;
	}
	return idmap_get(&told->module_of_id, id);
}

static bool is_wanted(const struct clr_event_module *module, struct clr_pdb *pdb)
{
	uint8_t id[PDB_ID_BYTES];
	clr_pdb_id(pdb, id);
	return memcmp(id, module->pdb_guid, GUID_BYTES) == 0;
}

/* Keeps it if it is the module's. */
static bool keep_pdb(struct symbols *symbols, const struct clr_event_module *module,
		     struct clr_pdb *pdb)
{
	if (is_wanted(module, pdb))
		symbols->pdb = pdb;
	else
		clr_pdb_free(pdb);
	return symbols->pdb != NULL;
}

static bool open_embedded(struct sources *s, struct symbols *symbols,
			  const struct clr_event_module *module, const char *path)
{
	struct clr_image *image;
	struct clr_identity identity;
	struct clr_pdb *pdb = NULL;
	symbols->has_assembly = sources_open(s, path, &symbols->assembly);
	if (!symbols->has_assembly || clr_image_open(&image, symbols->assembly.bytes) < 0)
		return false;
	clr_image_identity(image, &identity);
	if (identity.embedded_pdb.size)
		(void)clr_pdb_open_embedded(&pdb, identity.embedded_pdb);
	clr_image_free(image);
	return pdb && keep_pdb(symbols, module, pdb);
}

static bool open_at(struct sources *s, struct symbols *symbols,
		    const struct clr_event_module *module, const char *path)
{
	struct clr_pdb *pdb;
	symbols->has_file = sources_open(s, path, &symbols->file);
	if (!symbols->has_file)
		return false;
	if (clr_pdb_open(&pdb, symbols->file.bytes) == 0 && keep_pdb(symbols, module, pdb))
		return true;
	os_file_close(&symbols->file);
	symbols->has_file = false;
	return false;
}

static bool open_symbols(struct sources *s, struct symbols *symbols,
			 const struct clr_event_module *module)
{
	struct sink assembly = { .limit = PATH_MAX };
	struct sink told = { .limit = PATH_MAX };
	struct sink beside = { .limit = (size_t)2 * PATH_MAX };
	clr_text_put(module->il_path, &assembly);
	clr_text_put(module->pdb_path, &told);
	sink_u8(&assembly, '\0');
	sink_u8(&told, '\0');
	bool is_open = false;
	if (!sink_failed(&assembly) && !sink_failed(&told)) {
		const char *path = (const char *)assembly.data;
		const char *name = path_name_anywhere((const char *)told.data);
		sink_put(&beside, path, (size_t)(path_name_anywhere(path) - path));
		sink_cstr(&beside, name);
		is_open = open_embedded(s, symbols, module, path) ||
			  (*name && !sink_failed(&beside) &&
			   open_at(s, symbols, module, (const char *)beside.data)) ||
			  open_at(s, symbols, module, (const char *)told.data);
	}
	sink_clear(&assembly);
	sink_clear(&told);
	sink_clear(&beside);
	return is_open;
}

static void close_symbols(struct symbols *symbols)
{
	clr_pdb_free(symbols->pdb);
	if (symbols->has_file)
		os_file_close(&symbols->file);
	if (symbols->has_assembly)
		os_file_close(&symbols->assembly);
}

static void take_document(struct sources *s, const struct clr_pdb *pdb, uint32_t document)
{
	struct sink path = { 0 };
	struct sink text = { 0 };
	if (clr_pdb_document(pdb, document, &path)) {
		if (clr_pdb_source(pdb, document, &text) == 0)
			sources_take_text(s, sink_bytes(&path), sink_bytes(&text));
		else
			sources_take(s, sink_bytes(&path));
	}
	/* It is compared by its address, which the next path may have. */
	s->last = (struct bytes){ 0 };
	sink_clear(&path);
	sink_clear(&text);
}

/* The documents of methods, given by their uses. */
static void take_documents(struct sources *s, const struct clr_pdb *pdb, const struct told *told,
			   const struct pair *uses, size_t count)
{
	struct idmap taken = { 0 };
	uint32_t last_token = 0;
	for (size_t i = 0; i < count && s->result == 0; i++) {
		const struct clr_line *lines;
		const uint32_t token = told->uses.items[uses[i].value].token;
		const size_t line_count =
		    token == last_token ? 0 : clr_pdb_lines(pdb, token, &lines);
		last_token = token;
		for (size_t j = 0; j < line_count; j++) {
			if (j && lines[j].document == lines[j - 1].document)
				continue;
			uint32_t *is_taken = idmap_put(&taken, lines[j].document);
			if (!is_taken)
				s->result = STATUS_NO_MEMORY;
			else if (!*is_taken)
				take_document(s, pdb, lines[j].document);
			if (is_taken)
				*is_taken = 1;
		}
	}
	idmap_clear(&taken);
}

static void take_module_sources(struct sources *s, const struct told *told, uint32_t index,
				const struct pair *uses, size_t count)
{
	static const uint8_t NO_GUID[GUID_BYTES];
	const struct clr_event_module *module = &told->modules.items[index];
	struct symbols symbols = { 0 };
	if (memcmp(module->pdb_guid, NO_GUID, GUID_BYTES) != 0 && open_symbols(s, &symbols, module))
		take_documents(s, symbols.pdb, told, uses, count);
	close_symbols(&symbols);
}

/* Uses by module, then by token. */
static void take_all(struct sources *s, const struct told *told)
{
	struct pair *pairs = calloc(told->uses.count * 2 + 1, sizeof(*pairs));
	size_t count = 0;
	if (!pairs) {
		s->result = STATUS_NO_MEMORY;
		return;
	}
	for (size_t i = 0; i < told->uses.count; i++) {
		const struct use *use = &told->uses.items[i];
		const uint32_t module = module_of(told, use);
		if (module)
			pairs[count++] =
			    (struct pair){ (uint64_t)module << 32 | use->token, (uint32_t)i };
	}
	sort_pairs(pairs, pairs + told->uses.count, count);
	for (size_t from = 0; from < count && s->result == 0;) {
		const uint32_t module = (uint32_t)(pairs[from].key >> 32);
		size_t to = from;
		while (to < count && pairs[to].key >> 32 == module)
			to++;
		take_module_sources(s, told, module - 1, pairs + from, to - from);
		from = to;
	}
	free(pairs);
}

void sources_take_events(struct sources *s, struct bytes stream)
{
	struct told told = { 0 };
	const int got = read_stream(&told, stream);
	if (got < 0)
		s->result = got;
	else
		take_all(s, &told);
	vector_clear(&told.modules);
	vector_clear(&told.uses);
	vector_clear(&told.type_modules);
	idmap_clear(&told.module_of_id);
	idmap_clear(&told.type_of_id);
}
