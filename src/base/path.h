/* path.h - parts of paths. Any thread. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <string.h>

/* What is behind the last slash, in `path`; all of a path that ends with one. */
static inline const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

#endif
