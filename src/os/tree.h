/* tree.h - the files below a folder, to be found by the end of their path.
 *
 *   struct os_tree *tree = os_tree_read(open("src", O_RDONLY | O_DIRECTORY), "src/");
 *   const char *path = os_tree_find(tree, "com/acme/Foo.java", 3);
 *   os_tree_free(tree);
 *
 * Runtimes name source files from where they were built, or by package: only the end of such a path
 * means anything here. Links are not followed, hidden files and folders passed over; no more than
 * 200,000 files, 24 folders deep, so that the root given by mistake keeps nobody waiting. Any
 * thread, one at a time.
 */
#ifndef OS_TREE_H
#define OS_TREE_H

#include <stddef.h>

struct os_tree;

/* Takes over the fd; `front` comes before all paths. What cannot be read is as if it were not
 * there. NULL without memory.
 */
struct os_tree *os_tree_read(int folder_fd, const char *front);

/* The path of the one file that ends in the most components of `path`, at least in `least`; NULL
 * where there is none, or several are as good. Lives as long as the tree.
 */
const char *os_tree_find(const struct os_tree *tree, const char *path, size_t least);

void os_tree_free(struct os_tree *tree);

#endif
