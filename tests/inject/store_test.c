#include "inject/store.h"

#include "base/status.h"
#include "failing_memory.h"
#include "inject/store_files.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint8_t ID_A[20] = { 0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6, 0x07, 0x18, 0x29, 0x3a,
				  0x4b, 0x5c, 0x6d, 0x7e, 0x8f, 0x90, 0x11, 0x22, 0x33, 0x44 };
static const uint8_t ID_B[20] = { 0xb0 };

static char folder[PATH_MAX];
static char out[PATH_MAX + 16];
static char cache[PATH_MAX + 16];

static int set_up(void **state)
{
	(void)state;
	char made[] = "/tmp/store_test-XXXXXX";
	umask(022);
	if (!mkdtemp(made) || !realpath(made, folder))
		return -1;
	(void)snprintf(out, sizeof(out), "%s/OUT.data", folder);
	(void)snprintf(cache, sizeof(cache), "%s/deep/cache", folder);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int count;

static int count_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)path;
	(void)st;
	(void)kind;
	count += ftw->level > 0;
	return 0;
}

/* All that lies below the test's folder. */
static int entries(void)
{
	count = 0;
	assert_int_equal(nftw(folder, count_one, 8, FTW_PHYS), 0);
	return count;
}

static const char *in_folder(const char *path)
{
	static char joined[2 * PATH_MAX];
	(void)snprintf(joined, sizeof(joined), "%s/%s", folder, path);
	return joined;
}

static void expect_content(const char *path, const char *content)
{
	char got[64] = "";
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got) - 1), strlen(content));
	assert_string_equal(got, content);
	close(fd);
}

static void write_file(const char *path, const char *content)
{
	const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static int mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	return (int)(st.st_mode & 07777);
}

static ino_t inode_of(const char *path)
{
	struct stat st;
	assert_int_equal(lstat(path, &st), 0);
	return st.st_ino;
}

static struct image_store *open_store(const char *cache_dir)
{
	struct image_store *store;
	assert_int_equal(image_store_open(&store, out, cache_dir), 0);
	return store;
}

struct image {
	uint32_t pid;
	const char *program;
	const uint8_t *id;
	const char *content;
};

static int try_to_put(struct image_store *store, const struct image *image, const char **path)
{
	int fd;
	const int got = image_store_begin(store, &fd);
	if (got < 0)
		return got;
	assert_int_equal(write(fd, image->content, strlen(image->content)), strlen(image->content));
	return image_store_commit(store, image->pid, image->program,
				  (struct bytes){ image->id, 20 }, path);
}

static const char *put(struct image_store *store, struct image image)
{
	static const char *path;
	assert_int_equal(try_to_put(store, &image, &path), 0);
	return path;
}

static void images_lie_beside_the_output(void **state)
{
	(void)state;
	struct image_store *store = open_store(NULL);
	assert_int_equal(entries(), 0);
	const char *node = put(store, (struct image){ 7, "node", ID_A, "one" });
	const char *php = put(store, (struct image){ 4000000000u, "php", ID_B, "two" });
	assert_string_equal(node, in_folder("OUT.data.d/7-a1b2c3d4e5f60718/jitted-node.so"));
	assert_string_equal(php, in_folder("OUT.data.d/4000000000-b000000000000000/jitted-php.so"));
	expect_content(node, "one");
	expect_content(php, "two");
	assert_int_equal(mode_of(node), 0644);
	assert_int_equal(mode_of(in_folder("OUT.data.d")), 0755);
	assert_int_equal(image_store_remove_older(store), 0);
	image_store_close(store);
	assert_int_equal(entries(), 5);
}

static const struct {
	const char *program;
	const char *file;
} NAMES[] = {
	{ "", "jitted-code.so" },
	{ "../../etc/passwd", "jitted-.._.._etc_passwd.so" },
	{ "[kworker/0:1]", "jitted-_kworker_0_1_.so" },
	{ "a b\n\xc3\xa9", "jitted-a_b___.so" },
	{ "0123456789012345678901234567890123456789012345678901234567890123456789",
	  "jitted-0123456789012345678901234567890123456789012345678901234567890123.so" },
};

static void names_of_programs_are_made_safe(void **state)
{
	(void)state;
	struct image_store *store = open_store(NULL);
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		const char *path = put(store, (struct image){ 1, NAMES[i].program, ID_A, "x" });
		assert_string_equal(strrchr(path, '/') + 1, NAMES[i].file);
		expect_content(path, "x");
	}
	image_store_close(store);
}

static void umask_counts(void **state)
{
	(void)state;
	umask(077);
	struct image_store *store = open_store(NULL);
	const char *path = put(store, (struct image){ 7, "node", ID_A, "one" });
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(mode_of(in_folder("OUT.data.d")), 0700);
	image_store_close(store);
	store = open_store(cache);
	(void)put(store, (struct image){ 7, "node", ID_A, "one" });
	assert_int_equal(mode_of(cache), 0700);
	image_store_close(store);
}

static void equal_files_stay_and_others_are_replaced(void **state)
{
	(void)state;
	struct image_store *store = open_store(NULL);
	const char *path = put(store, (struct image){ 7, "node", ID_A, "one" });
	const ino_t inode = inode_of(path);
	path = put(store, (struct image){ 7, "node", ID_A, "one" });
	assert_int_equal(inode_of(path), inode);
	path = put(store, (struct image){ 7, "node", ID_A, "two" });
	assert_int_not_equal(inode_of(path), inode);
	expect_content(path, "two");
	/* A link in its place is replaced, and what it leads to is not touched. */
	write_file(in_folder("precious"), "half");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("../../precious", path), 0);
	path = put(store, (struct image){ 7, "node", ID_A, "new" });
	expect_content(path, "new");
	expect_content(in_folder("precious"), "half");
	image_store_close(store);
	assert_int_equal(entries(), 4);
}

static void what_was_not_committed_is_dropped(void **state)
{
	(void)state;
	int fd;
	struct image_store *store = open_store(NULL);
	assert_int_equal(image_store_begin(store, &fd), 0);
	assert_int_equal(write(fd, "x", 1), 1);
	image_store_close(store);
	assert_int_equal(entries(), 0);
	store = open_store(NULL);
	assert_int_equal(image_store_begin(store, &fd), 0);
	assert_int_equal(image_store_begin(store, &fd), 0);
	const char *path;
	assert_int_equal(image_store_commit(store, 1, "x", (struct bytes){ ID_A, 7 }, &path),
			 STATUS_CORRUPT);
	assert_int_equal(image_store_begin(store, &fd), 0);
	assert_int_equal(image_store_commit(store, 1, "x", (struct bytes){ ID_A, 21 }, &path),
			 STATUS_CORRUPT);
	assert_int_equal(image_store_commit(store, 1, "x", (struct bytes){ ID_A, 20 }, &path),
			 STATUS_CORRUPT);
	image_store_close(store);
	assert_int_equal(entries(), 0);
	image_store_close(NULL);
}

/* A run that is killed at any time: nothing that looks like an image and is none. */
static void killed_runs_leave_nothing_half(void **state)
{
	(void)state;
	const pid_t child = fork();
	if (child == 0) {
		int fd;
		struct image_store *store = open_store(NULL);
		(void)put(store, (struct image){ 7, "node", ID_A, "one" });
		(void)image_store_begin(store, &fd);
		(void)!write(fd, "half", 4);
		(void)raise(SIGKILL);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	expect_content(in_folder("OUT.data.d/7-a1b2c3d4e5f60718/jitted-node.so"), "one");
	struct image_store *store = open_store(NULL);
	(void)put(store, (struct image){ 8, "node", ID_A, "one" });
	assert_int_equal(image_store_remove_older(store), 0);
	image_store_close(store);
	assert_int_equal(entries(), 3);
}

static void links_and_strangers_are_not_entered(void **state)
{
	(void)state;
	const char *path;
	struct image image = { 7, "node", ID_A, "one" };
	assert_int_equal(mkdir(in_folder("elsewhere"), 0755), 0);
	assert_int_equal(symlink("elsewhere", in_folder("OUT.data.d")), 0);
	struct image_store *store = open_store(NULL);
	assert_int_equal(try_to_put(store, &image, &path), STATUS_DENIED);
	assert_int_equal(image_store_remove_older(store), 0);
	image_store_close(store);
	assert_int_equal(unlink(in_folder("OUT.data.d")), 0);
	assert_int_equal(mkdir(in_folder("OUT.data.d"), 0755), 0);
	assert_int_equal(symlink("../elsewhere", in_folder("OUT.data.d/7-a1b2c3d4e5f60718")), 0);
	store = open_store(NULL);
	assert_int_equal(try_to_put(store, &image, &path), STATUS_DENIED);
	image_store_close(store);
	assert_int_equal(unlink(in_folder("OUT.data.d/7-a1b2c3d4e5f60718")), 0);
	write_file(in_folder("OUT.data.d/7-a1b2c3d4e5f60718"), "a file");
	store = open_store(NULL);
	assert_int_equal(try_to_put(store, &image, &path), STATUS_DENIED);
	image_store_close(store);
	assert_int_equal(unlink(in_folder("OUT.data.d/7-a1b2c3d4e5f60718")), 0);
	if (geteuid() != 0)
		skip_because("only root can give a folder to somebody else");
	assert_int_equal(chown(in_folder("OUT.data.d"), 12345, 12345), 0);
	store = open_store(NULL);
	assert_int_equal(try_to_put(store, &image, &path), STATUS_DENIED);
	image_store_close(store);
	assert_int_equal(mkdir(in_folder("OUT.data.d/7-a1b2c3d4e5f60718"), 0755), 0);
	write_file(in_folder("OUT.data.d/7-a1b2c3d4e5f60718/jitted-node.so"), "old");
	assert_int_equal(chown(in_folder("OUT.data.d"), 0, 0), 0);
	assert_int_equal(chown(in_folder("OUT.data.d/7-a1b2c3d4e5f60718"), 12345, 12345), 0);
	store = open_store(NULL);
	assert_int_equal(image_store_remove_older(store), 0);
	assert_int_equal(try_to_put(store, &image, &path), STATUS_DENIED);
	image_store_close(store);
	expect_content(in_folder("OUT.data.d/7-a1b2c3d4e5f60718/jitted-node.so"), "old");
	/* Who owns the folder that it lies in could do anything anyway. */
	assert_int_equal(chown(in_folder("OUT.data.d"), 12345, 12345), 0);
	assert_int_equal(chown(folder, 12345, 12345), 0);
	store = open_store(NULL);
	assert_int_equal(try_to_put(store, &image, &path), 0);
	image_store_close(store);
}

static void older_images_go_and_nothing_else(void **state)
{
	static const char *const STAYS[] = {
		"OUT.data.d/7-a1b2c3d4e5f60718/notes.txt",
		"OUT.data.d/7-a1b2c3d4e5f6071/jitted-node.so",
		"OUT.data.d/7-a1b2c3d4e5f607189/jitted-node.so",
		"OUT.data.d/x-a1b2c3d4e5f60718/jitted-node.so",
		"OUT.data.d/jitted-node.so",
		"OUT.data.d/.unfinished-no",
		"OUT.data.d/9-a1b2c3d4e5f60718",
	};
	static const char *const FOLDERS[] = {
		"OUT.data.d",
		"OUT.data.d/7-a1b2c3d4e5f60718",
		"OUT.data.d/7-a1b2c3d4e5f6071",
		"OUT.data.d/7-a1b2c3d4e5f607189",
		"OUT.data.d/x-a1b2c3d4e5f60718",
		"OUT.data.d/5-0000000000000000",
		"OUT.data.d/7-a1b2c3d4e5f60718/jitted-folder.so",
		"elsewhere",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(FOLDERS) / sizeof(FOLDERS[0]); i++)
		assert_int_equal(mkdir(in_folder(FOLDERS[i]), 0755), 0);
	for (size_t i = 0; i < sizeof(STAYS) / sizeof(STAYS[0]); i++)
		write_file(in_folder(STAYS[i]), "mine");
	write_file(in_folder("elsewhere/jitted-node.so"), "mine");
	assert_int_equal(symlink("../elsewhere", in_folder("OUT.data.d/6-0000000000000000")), 0);
	assert_int_equal(symlink("../../elsewhere/jitted-node.so",
				 in_folder("OUT.data.d/7-a1b2c3d4e5f60718/jitted-link.so")),
			 0);
	const int stay = entries() - 1;
	write_file(in_folder("OUT.data.d/7-a1b2c3d4e5f60718/jitted-node.so"), "old");
	write_file(in_folder("OUT.data.d/5-0000000000000000/jitted-php.so"), "old");
	write_file(in_folder("OUT.data.d/.unfinished-0123456789abcdef"), "old");
	write_file(in_folder("OUT.data.d/7-a1b2c3d4e5f60718/.unfinished-0123456789abcdef"), "old");

	struct image_store *store = open_store(NULL);
	const char *path = put(store, (struct image){ 7, "php", ID_A, "new" });
	assert_int_equal(image_store_remove_older(store), 0);
	expect_content(path, "new");
	image_store_close(store);
	assert_int_equal(entries(), stay + 1);
	for (size_t i = 0; i < sizeof(STAYS) / sizeof(STAYS[0]); i++)
		expect_content(in_folder(STAYS[i]), "mine");
	expect_content(in_folder("elsewhere/jitted-node.so"), "mine");
}

static void older_images_go_though_there_is_no_new_one(void **state)
{
	(void)state;
	struct image_store *store = open_store(NULL);
	assert_int_equal(image_store_remove_older(store), 0);
	(void)put(store, (struct image){ 7, "node", ID_A, "one" });
	image_store_close(store);
	assert_int_equal(entries(), 3);
	store = open_store(NULL);
	assert_int_equal(image_store_remove_older(store), 0);
	image_store_close(store);
	assert_int_equal(entries(), 0);
}

static void discarding_takes_back_what_is_new(void **state)
{
	(void)state;
	struct image_store *store = open_store(NULL);
	(void)put(store, (struct image){ 7, "node", ID_A, "one" });
	image_store_close(store);
	store = open_store(NULL);
	const char *path = put(store, (struct image){ 7, "node", ID_A, "one" });
	(void)put(store, (struct image){ 8, "node", ID_B, "two" });
	expect_content(path, "one");
	image_store_discard(store);
	image_store_close(store);
	assert_int_equal(entries(), 3);

	assert_int_equal(nftw(in_folder("OUT.data.d"), remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
	store = open_store(NULL);
	(void)put(store, (struct image){ 8, "node", ID_B, "two" });
	image_store_discard(store);
	image_store_close(store);
	assert_int_equal(entries(), 0);
}

#define NAMED "jit/7-a1b2c3d4e5f60718/jitted-node.so"
#define LINKED ".build-id/a1/b2c3d4e5f60718293a4b5c6d7e8f9011223344"
#define BUILD_ID "a1b2c3d4e5f60718293a4b5c6d7e8f9011223344"

static const char *in_cache(const char *path)
{
	static char joined[2 * PATH_MAX];
	(void)snprintf(joined, sizeof(joined), "%s/%s", cache, path);
	return joined;
}

/* What the build id of the first image leads to. */
static void expect_link(uint32_t pid)
{
	static char target[PATH_MAX];
	char expected[2 * PATH_MAX];
	const ssize_t size = readlink(in_cache(LINKED), target, sizeof(target) - 1);
	assert_true(size > 0);
	target[size] = '\0';
	(void)snprintf(expected, sizeof(expected),
		       "../..%s/jit/%u-a1b2c3d4e5f60718/jitted-node.so/" BUILD_ID, cache, pid);
	assert_string_equal(target, expected);
}

static void caches_have_the_layout_of_perf(void **state)
{
	(void)state;
	struct image_store *store = open_store(cache);
	const char *path = put(store, (struct image){ 7, "node", ID_A, "one" });
	assert_string_equal(path, in_cache(NAMED));
	expect_content(path, "one");
	assert_int_equal(mode_of(path), 0644);
	expect_link(7);
	expect_content(in_cache(LINKED "/elf"), "one");
	assert_int_equal(mode_of(in_cache(".build-id")), 0755);
	struct stat named;
	struct stat added;
	assert_int_equal(stat(path, &named), 0);
	assert_int_equal(stat(in_cache(LINKED "/elf"), &added), 0);
	assert_int_equal(named.st_ino, added.st_ino);
	/* The same code in another process: the id leads to the first. */
	(void)put(store, (struct image){ 8, "node", ID_A, "one" });
	expect_link(7);
	assert_int_equal(image_store_remove_older(store), 0);
	expect_content(in_cache(NAMED), "one");
	image_store_discard(store);
	image_store_close(store);
	assert_int_equal(entries(), 2); /* deep/cache */
}

static void what_is_wrong_in_a_cache_is_mended(void **state)
{
	(void)state;
	struct image_store *store = open_store(cache);
	(void)put(store, (struct image){ 7, "node", ID_A, "one" });
	image_store_close(store);
	assert_int_equal(unlink(in_cache(LINKED)), 0);
	assert_int_equal(symlink("nowhere", in_cache(LINKED)), 0);
	assert_int_equal(unlink(in_cache(NAMED)), 0);
	write_file(in_cache(NAMED), "other");
	const int all = entries();
	store = open_store(cache);
	(void)put(store, (struct image){ 7, "node", ID_A, "one" });
	expect_content(in_cache(NAMED), "one");
	expect_link(7);
	expect_content(in_cache(LINKED "/elf"), "one");
	assert_int_equal(entries(), all);
	image_store_close(store);
	/* Nothing is new now, so nothing is taken back. */
	store = open_store(cache);
	(void)put(store, (struct image){ 7, "node", ID_A, "one" });
	image_store_discard(store);
	image_store_close(store);
	assert_int_equal(entries(), all);
	expect_content(in_cache(LINKED "/elf"), "one");
}

static void links_below_a_cache_are_not_entered(void **state)
{
	(void)state;
	const char *path;
	struct image image = { 7, "node", ID_A, "one" };
	assert_int_equal(mkdir(in_folder("deep"), 0755), 0);
	assert_int_equal(mkdir(cache, 0755), 0);
	assert_int_equal(mkdir(in_folder("elsewhere"), 0755), 0);
	assert_int_equal(symlink("../../elsewhere", in_cache("jit")), 0);
	struct image_store *store = open_store(cache);
	assert_int_equal(try_to_put(store, &image, &path), STATUS_DENIED);
	image_store_close(store);
	assert_int_equal(entries(), 4);
	/* The cache itself may be one. */
	assert_int_equal(unlink(in_cache("jit")), 0);
	assert_int_equal(symlink("deep/cache", in_folder("link")), 0);
	store = open_store(in_folder("link"));
	assert_string_equal(put(store, image), in_cache(NAMED));
	image_store_close(store);
}

static void file_systems_without_nameless_files_do(void **state)
{
	(void)state;
	struct store_file file;
	bool is_new;
	const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(store_file_open(&file, fd, 0644, true), 0);
	assert_true(store_is_unfinished(file.name));
	assert_int_equal(write(file.fd, "one", 3), 3);
	assert_int_equal(store_file_publish(&file, fd, "name", &is_new), 0);
	assert_true(is_new);
	expect_content(in_folder("name"), "one");
	assert_int_equal(store_file_open(&file, fd, 0644, true), 0);
	assert_int_equal(write(file.fd, "one", 3), 3);
	assert_int_equal(store_file_publish(&file, fd, "name", &is_new), 0);
	assert_false(is_new);
	assert_int_equal(store_file_open(&file, fd, 0644, true), 0);
	store_file_drop(&file);
	close(fd);
	assert_int_equal(entries(), 1);
}

static void outputs_in_no_folder_fail(void **state)
{
	(void)state;
	struct image_store *store;
	assert_int_equal(image_store_open(&store, in_folder("no/OUT.data"), NULL), STATUS_IO);
	assert_int_equal(errno, ENOENT);
	write_file(in_folder("file"), "");
	assert_int_equal(image_store_open(&store, out, in_folder("file/cache")), 0);
	int fd;
	assert_int_equal(image_store_begin(store, &fd), STATUS_IO);
	assert_int_equal(errno, ENOTDIR);
	image_store_close(store);
}

static void full_disks_are_told(void **state)
{
	(void)state;
	struct rlimit limit;
	const char *path;
	int fd;
	struct image_store *store = open_store(NULL);
	assert_int_equal(image_store_begin(store, &fd), 0);
	/* The folder that is to hold it cannot be made. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	const struct rlimit none = { (rlim_t)fd + 1, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(image_store_commit(store, 1, "x", (struct bytes){ ID_A, 20 }, &path),
			 STATUS_IO);
	assert_int_equal(errno, EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	image_store_discard(store);
	image_store_close(store);
}

static void without_memory(void **state)
{
	(void)state;
	const char *const caches[] = { NULL, cache };
	for (size_t i = 0; i < 2; i++) {
		for (size_t n = 1;; n++) {
			struct image_store *store = NULL;
			const char *path;
			struct image image = { 7, "node", ID_A, "one" };
			memory_fail_at(n);
			int got = image_store_open(&store, out, caches[i]);
			if (got == 0)
				got = try_to_put(store, &image, &path);
			const bool has_failed = memory_has_failed();
			memory_fail_at(0);
			assert_int_equal(got, has_failed ? STATUS_NO_MEMORY : 0);
			image_store_close(store);
			if (!has_failed)
				break;
		}
	}
}

static void expect_default(const char *expected)
{
	char *dir;
	assert_int_equal(image_store_default_cache(&dir), 0);
	assert_string_equal(dir, expected);
	free(dir);
}

static void the_default_cache_is_that_of_perf(void **state)
{
	(void)state;
	unsetenv("PERF_CONFIG");
	unsetenv("PERF_CONFIG_NOGLOBAL");
	setenv("PERF_CONFIG_NOSYSTEM", "1", 1);
	setenv("HOME", folder, 1);
	char expected[PATH_MAX + 16];
	(void)snprintf(expected, sizeof(expected), "%s/.debug", folder);
	expect_default(expected);
	write_file(in_folder(".perfconfig"), "[buildid]\n\tdir = /from/home\n");
	expect_default("/from/home");
	write_file(in_folder("other"), "[buildid]\ndir = \"/from/other\"\n");
	setenv("PERF_CONFIG", in_folder("other"), 1);
	expect_default("/from/other");
	unsetenv("PERF_CONFIG");
	setenv("PERF_CONFIG_NOGLOBAL", "1", 1);
	expect_default(expected);
	unsetenv("PERF_CONFIG_NOGLOBAL");
	if (geteuid() == 0) {
		assert_int_equal(chown(in_folder(".perfconfig"), 12345, 12345), 0);
		expect_default(expected);
	}
	unlink(in_folder(".perfconfig"));
	/* Nothing lies beside a pipe. */
	struct image_store *store;
	assert_int_equal(image_store_open(&store, "-", NULL), 0);
	assert_string_equal(put(store, (struct image){ 7, "node", ID_A, "one" }),
			    in_folder(".debug/" NAMED));
	image_store_close(store);
	expect_content(in_folder(".debug/" LINKED "/elf"), "one");
	unsetenv("HOME");
	expect_default(".debug");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(images_lie_beside_the_output),
		TEST(names_of_programs_are_made_safe),
		TEST(umask_counts),
		TEST(equal_files_stay_and_others_are_replaced),
		TEST(what_was_not_committed_is_dropped),
		TEST(killed_runs_leave_nothing_half),
		TEST(links_and_strangers_are_not_entered),
		TEST(older_images_go_and_nothing_else),
		TEST(older_images_go_though_there_is_no_new_one),
		TEST(discarding_takes_back_what_is_new),
		TEST(caches_have_the_layout_of_perf),
		TEST(what_is_wrong_in_a_cache_is_mended),
		TEST(links_below_a_cache_are_not_entered),
		TEST(file_systems_without_nameless_files_do),
		TEST(outputs_in_no_folder_fail),
		TEST(full_disks_are_told),
		TEST(without_memory),
		TEST(the_default_cache_is_that_of_perf),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
