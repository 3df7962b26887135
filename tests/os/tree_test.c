#include "os/tree.h"

#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tree_test-XXXXXX";

static const char *const folders[] = { "a", "a/b", "a/b/c", "z", "z/b", ".hidden" };
static const char *const files[] = { "top.c",     "a/one.c",   "a/b/one.c",     "a/b/c/deep.c",
				     "z/b/one.c", "z/other.c", ".hidden/one.h", "a/.h.c" };

static int make_files(void **state)
{
	char path[128];
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, folders[i]);
		if (mkdir(path, 0700) != 0)
			return -1;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
	(void)snprintf(path, sizeof(path), "%s/a/loop", folder);
	if (symlink(folder, path) != 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/link.c", folder);
	return symlink("top.c", path);
}

static int remove_files(void **state)
{
	char command[64];
	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static struct os_tree *read_tree(const char *front)
{
	struct os_tree *tree =
	    os_tree_read(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), front);
	assert_non_null(tree);
	return tree;
}

static void assert_found(const struct os_tree *tree, const char *path, size_t least,
			 const char *expected)
{
	const char *found = os_tree_find(tree, path, least);
	if (expected)
		assert_non_null(found);
	if (expected)
		assert_string_equal(found, expected);
	else
		assert_null(found);
}

static void the_longest_common_end_wins(void **state)
{
	struct os_tree *tree = read_tree("front/");
	(void)state;
	assert_found(tree, "top.c", 1, "front/top.c");
	assert_found(tree, "/x/y/top.c", 1, "front/top.c");
	assert_found(tree, "/x/y/top.c", 2, NULL);
	assert_found(tree, "deep.c", 1, "front/a/b/c/deep.c");
	assert_found(tree, "c/deep.c", 2, "front/a/b/c/deep.c");
	assert_found(tree, "/x/a/b/one.c", 2, "front/a/b/one.c");
	assert_found(tree, "/x/a/one.c", 2, "front/a/one.c");
	assert_found(tree, "z/other.c", 2, "front/z/other.c");
	os_tree_free(tree);
}

static void of_equally_good_ones_none_is_taken(void **state)
{
	struct os_tree *tree = read_tree("");
	(void)state;
	assert_found(tree, "one.c", 1, NULL);
	assert_found(tree, "b/one.c", 2, NULL);
	assert_found(tree, "z/b/one.c", 2, "z/b/one.c");
	os_tree_free(tree);
}

static void only_whole_components_count(void **state)
{
	struct os_tree *tree = read_tree("");
	(void)state;
	assert_found(tree, "op.c", 1, NULL);
	assert_found(tree, "stop.c", 1, NULL);
	assert_found(tree, "b", 1, NULL);
	assert_found(tree, "", 1, NULL);
	assert_found(tree, "/", 1, NULL);
	os_tree_free(tree);
}

static void links_and_hidden_ones_are_passed_over(void **state)
{
	struct os_tree *tree = read_tree("");
	(void)state;
	assert_found(tree, "link.c", 1, NULL);
	assert_found(tree, "one.h", 1, NULL);
	assert_found(tree, ".h.c", 1, NULL);
	assert_found(tree, "loop/top.c", 2, NULL);
	os_tree_free(tree);
}

static void what_cannot_be_read_is_empty(void **state)
{
	struct os_tree *tree = os_tree_read(-1, "");
	(void)state;
	assert_non_null(tree);
	assert_found(tree, "top.c", 1, NULL);
	os_tree_free(tree);
	os_tree_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_common_end_wins),
		cmocka_unit_test(of_equally_good_ones_none_is_taken),
		cmocka_unit_test(only_whole_components_count),
		cmocka_unit_test(links_and_hidden_ones_are_passed_over),
		cmocka_unit_test(what_cannot_be_read_is_empty),
	};
	return cmocka_run_group_tests(tests, make_files, remove_files);
}
