/* store_internal.h - what the files of the image store share. Not to be included elsewhere. */
#ifndef INJECT_STORE_INTERNAL_H
#define INJECT_STORE_INTERNAL_H

#include "base/arena.h"
#include "base/vector.h"
#include "inject/store.h"
#include "inject/store_files.h"

#include <stdbool.h>

enum { STORE_FOLDER_ROOM = 32, STORE_FILE_ROOM = 112 };

/* An image of this run. */
struct stored {
	char folder[STORE_FOLDER_ROOM]; /* PID-<16 hex> */
	char file[STORE_FILE_ROOM];     /* jitted-<program>.so */
	char build_id[44];              /* hex, of a cache */
	bool is_new;
	bool is_alias;    /* another name of the image before it */
	bool is_name_new; /* of a cache: in its folder jit ... */
	bool is_link_new; /* ... and in .build-id */
};

struct image_store {
	bool is_cache;
	char *root_path; /* OUT.data.d; or the cache, absolute once it is open */
	char *root_name; /* in parent_fd; beside only */
	int parent_fd;   /* beside only: the folder that OUT.data is in */
	int root_fd;     /* -1: not opened yet */
	bool made_root;  /* there was none */
	mode_t folder_mode;
	mode_t file_mode;
	struct store_file begun;
	VECTOR(struct stored) stored;
	struct arena paths;
};

/* store_cache.c */
int store_commit_to_cache(struct image_store *store, struct stored *image);
void store_discard_from_cache(struct image_store *store, const struct stored *image);
/* Makes `path` with its parents and opens it. */
int store_open_cache(struct image_store *store);

#endif
