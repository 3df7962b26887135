/* Assemblies and their symbols: files that are here, and are of the build that ran. */
#include "load/clr_internal.h"

#include "base/path.h"
#include "base/status.h"

static const char *interned(struct load *load, struct sink *text)
{
	const uint32_t id =
	    sink_failed(text) ? INTERN_NONE : intern_bytes(&load->strings, sink_bytes(text));
	sink_clear(text);
	return intern_get(&load->strings, id);
}

static const char *text_of(struct load *load, struct clr_text text)
{
	struct sink out = { 0 };
	clr_text_put(text, &out);
	return interned(load, &out);
}

/* "DIR/NAME", DIR being the assembly's. */
static const char *beside(struct load *load, const char *assembly, const char *name)
{
	struct sink out = { 0 };
	sink_put(&out, assembly, (size_t)(path_name_anywhere(assembly) - assembly));
	sink_text(&out, name);
	return interned(load, &out);
}

/* "work.dll" or "work.ni.dll" has its symbols in "work.pdb". */
static const char *with_pdb(struct load *load, const char *assembly)
{
	const char *name = path_name_anywhere(assembly);
	const char *dot = strrchr(name, '.');
	struct sink out = { 0 };
	sink_put(&out, assembly, dot ? (size_t)(dot - assembly) : strlen(assembly));
	sink_text(&out, ".pdb");
	return interned(load, &out);
}

static bool is_wanted(const struct clr_assembly *assembly, const struct clr_pdb *pdb)
{
	uint8_t id[20];
	clr_pdb_id(pdb, id);
	return assembly->has_pdb_guid &&
	       memcmp(id, assembly->pdb_guid, sizeof(assembly->pdb_guid)) == 0;
}

static bool take_pdb(struct clr_assembly *assembly, struct clr_pdb *pdb)
{
	if (is_wanted(assembly, pdb))
		assembly->pdb = pdb;
	else
		clr_pdb_free(pdb);
	return assembly->pdb != NULL;
}

static bool try_pdb(struct load *load, struct clr_assembly *assembly, const char *path)
{
	struct bytes file;
	struct clr_pdb *pdb;
	if (path[0] != '/' || load_keep_file(load, path, true, &file) < 0)
		return false;
	if (clr_pdb_open(&pdb, file) == 0 && take_pdb(assembly, pdb))
		return true;
	os_file_close(&load->files.items[--load->files.count]);
	return false;
}

static const char *bytes_text(struct load *load, struct bytes text)
{
	return intern_get(&load->strings, intern_bytes(&load->strings, text));
}

static void find_pdb(struct load *load, struct clr_assembly *assembly, const char *told_path,
		     const struct clr_identity *identity)
{
	const char *path = intern_get(&load->strings, assembly->path);
	struct clr_pdb *pdb;
	if (identity->embedded_pdb.size &&
	    clr_pdb_open_embedded(&pdb, identity->embedded_pdb) == 0 && take_pdb(assembly, pdb))
		return;
	if (*told_path &&
	    try_pdb(load, assembly, beside(load, path, path_name_anywhere(told_path))))
		return;
	if (try_pdb(load, assembly, with_pdb(load, path)) || try_pdb(load, assembly, told_path))
		return;
	(void)try_pdb(load, assembly, bytes_text(load, identity->pdb_path));
}

/* The file that is there now must be of the build that ran: a GUID that was told says which. */
static void open_image(struct load *load, struct clr_assembly *assembly,
		       struct clr_identity *identity)
{
	const char *path = intern_get(&load->strings, assembly->path);
	if (path[0] != '/' || load_keep_file(load, path, true, &assembly->file) < 0)
		return;
	if (clr_image_open(&assembly->image, assembly->file) < 0) {
		assembly->image = NULL;
		os_file_close(&load->files.items[--load->files.count]);
		return;
	}
	clr_image_identity(assembly->image, identity);
	if (!assembly->has_pdb_guid && identity->has_pdb_id) {
		memcpy(assembly->pdb_guid, identity->pdb_id, sizeof(assembly->pdb_guid));
		assembly->has_pdb_guid = true;
	}
	if (identity->has_pdb_id &&
	    memcmp(assembly->pdb_guid, identity->pdb_id, sizeof(assembly->pdb_guid)) != 0) {
		clr_image_free(assembly->image);
		assembly->image = NULL;
		*identity = (struct clr_identity){ 0 };
		os_file_close(&load->files.items[--load->files.count]);
	}
}

/* Opened at the first need; an assembly without any file stays, so that nobody looks again. */
static struct clr_assembly *assembly_of(struct load *load, const char *path,
					const uint8_t *pdb_guid, const char *pdb_path)
{
	static const uint8_t no_guid[16];
	struct clr *clr = clr_of(load);
	const uint32_t path_id = intern_text(&load->strings, path);
	if (!clr || path_id == INTERN_NONE)
		return NULL;
	const bool has_guid = pdb_guid && memcmp(pdb_guid, no_guid, sizeof(no_guid)) != 0;
	for (size_t i = 0; i < clr->assemblies.count; i++) {
		struct clr_assembly *known = &clr->assemblies.items[i];
		if (known->path == path_id &&
		    (!has_guid || memcmp(known->pdb_guid, pdb_guid, sizeof(no_guid)) == 0))
			return known;
	}
	struct clr_assembly *made = vector_push(&clr->assemblies);
	if (!made)
		return NULL;
	made->path = path_id;
	made->has_pdb_guid = has_guid;
	if (has_guid)
		memcpy(made->pdb_guid, pdb_guid, sizeof(made->pdb_guid));
	if (load->options.self_contained)
		return made;
	struct clr_identity identity = { 0 };
	open_image(load, made, &identity);
	find_pdb(load, made, pdb_path, &identity);
	return made;
}

struct clr_assembly *clr_assembly_at(struct load *load, const char *path)
{
	return assembly_of(load, path, NULL, "");
}

struct clr_assembly *clr_component(struct load *load, const struct clr_assembly *image,
				   struct bytes name)
{
	struct sink file = { 0 };
	sink_put(&file, name.data, name.size);
	sink_text(&file, ".dll");
	const char *path = intern_get(&load->strings, image->path);
	return clr_assembly_at(load, beside(load, path, interned(load, &file)));
}

struct clr_assembly *clr_assembly_of(struct load *load, struct clr_process *process,
				     uint64_t module_id, uint64_t time_ns)
{
	struct clr_module *module = clr_module_of(process, module_id, time_ns);
	if (!module || module->is_dynamic)
		return NULL;
	if (module->assembly)
		return &load->clr->assemblies.items[module->assembly - 1];
	const char *path = text_of(load, module->il_path);
	if (!*path)
		path = text_of(load, module->native_path);
	struct clr_assembly *found =
	    assembly_of(load, path, module->pdb_guid, text_of(load, module->pdb_path));
	if (found)
		module->assembly = (uint32_t)(found - load->clr->assemblies.items) + 1;
	return found;
}

void clr_assemblies_close(struct clr *clr)
{
	for (size_t i = 0; i < clr->assemblies.count; i++) {
		struct clr_assembly *assembly = &clr->assemblies.items[i];
		clr_pdb_free(assembly->pdb);
		clr_image_free(assembly->image);
		idmap_clear(&assembly->documents);
	}
	vector_clear(&clr->assemblies);
}

static uint32_t document_of(struct load *load, struct clr_assembly *assembly, uint32_t document)
{
	uint32_t *known = idmap_put(&assembly->documents, document);
	if (!known)
		return 0;
	if (!*known) {
		struct sink path = { 0 };
		(void)clr_pdb_document(assembly->pdb, document, &path);
		const uint32_t id = intern_bytes(&load->strings, sink_bytes(&path));
		sink_clear(&path);
		if (id == INTERN_NONE)
			return 0;
		*known = id + 1;
	}
	return *known - 1;
}

bool clr_source_line(struct load *load, struct clr_assembly *assembly, uint32_t token,
		     uint32_t il_off, struct clr_source_line *line)
{
	struct clr_line found;
	if (!assembly || !assembly->pdb || !token ||
	    !clr_pdb_find(assembly->pdb, token, il_off, &found))
		return false;
	*line = (struct clr_source_line){ .file = document_of(load, assembly, found.document),
					  .line = found.line,
					  .column = found.column };
	return line->file != 0;
}
