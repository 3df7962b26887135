/* Code of this very process, and of children of it, that maps in a temporary file speak of. */
#include "record/map_code.h"

#include "failing_memory.h"
#include "format/jitdump/reader.h"
#include "format/perfmap/reader.h"
#include "os/clock.h"
#include "record/map_code_internal.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REGION = 4 << 20, SLOT = 64 };

struct scene {
	uint8_t *region; /* filled with bytes that differ from place to place */
	char path[64];
	int writer_fd;
	struct follow follow;
	struct map_code code;
	struct map_code_room *room;
	uint64_t start_ns;
	struct sink dump;
};

static uint8_t byte_at(size_t off)
{
	return (uint8_t)((off * 2654435761u) >> 13);
}

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	*state = scene;
	scene->region = mmap(NULL, REGION, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < REGION; i++)
		scene->region[i] = byte_at(i);
	(void)snprintf(scene->path, sizeof(scene->path), "/tmp/map_code_test-XXXXXX");
	scene->writer_fd = mkstemp(scene->path);
	scene->start_ns = os_clock_mono_ns();
	const int fd = open(scene->path, O_RDONLY | O_CLOEXEC);
	if (scene->writer_fd < 0 || follow_start(&scene->follow, fd, scene->start_ns) < 0)
		return -1;
	scene->room = map_code_room_new();
	map_code_init(&scene->code);
	map_code_begin(&scene->code, getpid(), 0);
	return scene->room ? 0 : -1;
}

static int teardown(void **state)
{
	struct scene *scene = *state;
	map_code_clear(&scene->code, scene->room);
	assert_int_equal(scene->room->used_bytes, 0);
	map_code_room_free(scene->room);
	follow_clear(&scene->follow);
	close(scene->writer_fd);
	unlink(scene->path);
	munmap(scene->region, REGION);
	sink_clear(&scene->dump);
	free(scene);
	return 0;
}

static void write_text(struct scene *scene, const void *text, size_t size)
{
	assert_int_equal(write(scene->writer_fd, text, size), size);
}

__attribute__((format(printf, 2, 3))) static void put_text(struct scene *scene, const char *format,
							   ...)
{
	va_list args;
	char text[1024];
	va_start(args, format);
	const int size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	assert_true(size > 0 && (size_t)size < sizeof(text));
	write_text(scene, text, (size_t)size);
}

static void put_line(struct scene *scene, size_t off, size_t size, const char *name)
{
	put_text(scene, "%llx %zx %s\n", (unsigned long long)(uintptr_t)scene->region + off, size,
		 name);
}

static bool step(struct scene *scene)
{
	(void)follow_check(&scene->follow);
	return map_code_step(&scene->code, &scene->follow, scene->room);
}

static void step_to_end(struct scene *scene)
{
	while (step(scene))
		;
}

/* The whole jitdump: from the file and from memory. */
static struct bytes dump_of(struct scene *scene)
{
	sink_reset(&scene->dump);
	if (scene->code.spool_fd >= 0) {
		struct stat st;
		assert_int_equal(fstat(scene->code.spool_fd, &st), 0);
		uint8_t *to = sink_reserve(&scene->dump, (size_t)st.st_size);
		assert_int_equal(pread(scene->code.spool_fd, to, (size_t)st.st_size, 0),
				 st.st_size);
	}
	sink_put(&scene->dump, scene->code.out.data, scene->code.out.size);
	return sink_bytes(&scene->dump);
}

/* The line of the map that ends at `end_off` of the member. */
static struct perfmap_entry entry_at(struct scene *scene, uint64_t end_off)
{
	static char text[64 << 10];
	struct perfmap_reader reader;
	struct perfmap_entry entry;
	const uint64_t skip_off = scene->follow.skip_off;
	const uint64_t from = end_off > sizeof(text) ? end_off - sizeof(text) : 0;
	const ssize_t got =
	    pread(scene->writer_fd, text, (size_t)(end_off - from), (off_t)(skip_off + from));
	assert_int_equal(got, end_off - from);
	const char *newline = got > 1 ? memrchr(text, '\n', (size_t)got - 1) : NULL;
	const size_t begin = newline ? (size_t)(newline - text) + 1 : 0;
	perfmap_reader_init(&reader,
			    (struct bytes){ (const uint8_t *)text + begin, (size_t)got - begin });
	assert_int_equal(perfmap_reader_next(&reader, &entry), 1);
	return entry;
}

/* Every LOAD must say what its line says, and have the bytes that lie there. */
static size_t expect_sound(struct scene *scene)
{
	struct jitdump_reader reader;
	struct jitdump_record record;
	size_t count = 0;
	uint64_t last_ns = scene->start_ns;
	if (!scene->code.counts.line_count) {
		assert_int_equal(dump_of(scene).size, 0);
		return 0;
	}
	assert_int_equal(jitdump_reader_init(&reader, dump_of(scene)), 0);
	assert_int_equal(reader.pid, scene->code.pid);
	assert_true(reader.elf_machine != 0);
	while (jitdump_reader_next(&reader, &record) > 0 && record.id == JITDUMP_CODE_LOAD) {
		const struct jitdump_code_load *load = &record.code_load;
		const struct perfmap_entry entry = entry_at(scene, load->code_index);
		assert_int_equal(load->code_avma, entry.start_avma);
		assert_int_equal(load->vma, entry.start_avma);
		assert_true(load->code_size && load->code_size <= entry.size);
		assert_int_equal(load->code.size, load->code_size);
		assert_int_equal(load->name.size, entry.name.size);
		assert_memory_equal(load->name.data, entry.name.data, entry.name.size);
		const uint8_t *region = scene->region;
		const size_t off = (size_t)(load->code_avma - (uintptr_t)region);
		assert_in_range(off, 0, REGION - 1);
		for (size_t i = 0; i < load->code.size; i++)
			assert_int_equal(load->code.data[i], byte_at(off + i));
		assert_true(record.time_ns >= last_ns);
		last_ns = record.time_ns;
		count++;
	}
	assert_true(last_ns <= os_clock_mono_ns());
	assert_int_equal(reader.problem_count, 0);
	assert_int_equal(count, scene->code.counts.line_count);
	return count;
}

static bool has_code_of(struct scene *scene, const char *name)
{
	struct jitdump_reader reader;
	struct jitdump_record record;
	if (jitdump_reader_init(&reader, dump_of(scene)) < 0)
		return false;
	while (jitdump_reader_next(&reader, &record) > 0)
		if (record.id == JITDUMP_CODE_LOAD && record.code_load.name.size == strlen(name) &&
		    memcmp(record.code_load.name.data, name, strlen(name)) == 0)
			return true;
	return false;
}

static void test_a_line_at_a_time(void **state)
{
	struct scene *scene = *state;
	for (size_t i = 0; i < 300; i++) {
		char name[32];
		(void)snprintf(name, sizeof(name), "function %zu", i);
		put_line(scene, i * 7, 1 + i % 50, name);
		assert_false(step(scene));
		assert_int_equal(scene->code.counts.line_count, i + 1);
		assert_false(step(scene));
	}
	assert_int_equal(expect_sound(scene), 300);
	assert_true(map_code_finish(&scene->code));
	assert_int_equal(expect_sound(scene), 300);
}

static void test_nothing_to_read(void **state)
{
	struct scene *scene = *state;
	step_to_end(scene);
	assert_false(map_code_finish(&scene->code));
	put_text(scene, "no line\n");
	put_text(scene, "\n");
	put_line(scene, 0, 0, "without size");
	step_to_end(scene);
	assert_int_equal(scene->code.counts.line_count, 0);
	assert_false(map_code_finish(&scene->code));
}

static void test_before_its_process_is_known(void **state)
{
	struct scene *scene = *state;
	map_code_init(&scene->code);
	put_line(scene, 0, 16, "one");
	assert_false(step(scene));
	assert_int_equal(scene->code.counts.line_count, 0);
	map_code_begin(&scene->code, getpid(), 0);
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 1);
}

static void test_ranges_that_are_not_there(void **state)
{
	struct scene *scene = *state;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	assert_int_equal(munmap(scene->region + 16 * page, page), 0);
	put_line(scene, 0, 16, "first");
	put_line(scene, 16 * page + 16, 16, "unmapped");
	put_line(scene, 16, 16, "second");
	put_line(scene, 16 * page - 48, 64, "in part");
	put_line(scene, 17 * page - 8, 16, "late part");
	put_line(scene, 17 * page + 16, 16, "third");
	put_text(scene, "10 20 nowhere\n");
	put_text(scene, "ffffffff81000000 20 kernel\n");
	put_text(scene, "fffffffffffff000 ff0 the last page\n");
	put_line(scene, 32, 16, "fourth");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 5);
	assert_int_equal(scene->code.counts.unreadable_count, 5);
	assert_int_equal(scene->code.counts.code_bytes, 4 * 16 + 48);
	assert_true(has_code_of(scene, "first") && has_code_of(scene, "second") &&
		    has_code_of(scene, "third") && has_code_of(scene, "fourth") &&
		    has_code_of(scene, "in part"));
}

static void test_many_that_are_not_there(void **state)
{
	struct scene *scene = *state;
	for (size_t i = 0; i < 1000; i++)
		put_text(scene, "%zx 10 nowhere\n", 0x1000 + i * 16);
	put_line(scene, 0, 16, "there");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 1);
	assert_int_equal(scene->code.counts.unreadable_count, 1000);
}

static void test_sizes_up_to_the_limit(void **state)
{
	struct scene *scene = *state;
	put_line(scene, 5, MAP_CODE_LINE_BYTES, "just");
	put_line(scene, 5, MAP_CODE_LINE_BYTES + 1, "too long");
	put_text(scene, "0 7fffffffffff everything\n");
	put_line(scene, (size_t)2 * MAP_CODE_LINE_BYTES, 16, "small");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 2);
	assert_int_equal(scene->code.counts.too_long_count, 2);
	assert_true(has_code_of(scene, "just") && has_code_of(scene, "small"));
}

static void test_a_later_line_has_the_place(void **state)
{
	struct scene *scene = *state;
	put_line(scene, 0, 64, "replaced");
	put_line(scene, 128, 64, "overlapped");
	put_line(scene, 256, 64, "neighbour");
	put_line(scene, 0, 64, "later");
	put_line(scene, 191, 65, "over it");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 3);
	assert_int_equal(scene->code.counts.replaced_count, 2);
	assert_true(has_code_of(scene, "neighbour") && has_code_of(scene, "later") &&
		    has_code_of(scene, "over it"));
	/* What was read is not taken back: it was right then. */
	put_line(scene, 0, 64, "last");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 4);
	assert_int_equal(scene->code.counts.replaced_count, 2);
}

static void test_one_that_is_too_long_replaces_nothing(void **state)
{
	struct scene *scene = *state;
	put_line(scene, 0, 64, "function");
	put_line(scene, 0, REGION, "the whole region");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 1);
}

/* Lines that come while older ones still wait: they are first, and the older give way. */
static void test_new_lines_before_those_that_wait(void **state)
{
	struct scene *scene = *state;
	enum { WAITING = 2000, FRESH = 500 };
	for (size_t i = 0; i < WAITING; i++)
		put_line(scene, i * SLOT, SLOT, "waiting");
	assert_true(step(scene));
	const uint64_t first_round = scene->code.counts.line_count;
	assert_in_range(first_round, 1, WAITING - 1);
	/* Over some of the last, which were read, and over the first, which were not. */
	for (size_t i = 0; i < FRESH; i++)
		put_line(scene, (WAITING - FRESH / 2 + i) % WAITING * SLOT, SLOT, "fresh");
	assert_true(step(scene));
	put_line(scene, REGION - SLOT, SLOT, "freshest");
	assert_true(step(scene));
	assert_true(has_code_of(scene, "freshest"));
	step_to_end(scene);
	expect_sound(scene);
	const struct map_code_counts *counts = &scene->code.counts;
	assert_int_equal(counts->line_count + counts->replaced_count, WAITING + FRESH + 1);
	/* All fresh ones were read; of the old those that had no new one over them, and those
	 * that were read before there was one.
	 */
	assert_in_range(counts->line_count, WAITING + 1, WAITING + 1 + first_round);
	assert_int_equal(scene->code.levels.count, 0);
}

/* Bursts within bursts, deeper than there are levels: nothing is lost or read twice. */
static void test_bursts_within_bursts(void **state)
{
	struct scene *scene = *state;
	size_t put = 0;
	for (int round = 0; round < 3 * MAP_CODE_DEPTH; round++) {
		for (int i = 0; i < 300; i++, put++)
			put_line(scene, put * 100, 100, "burst");
		assert_true(step(scene));
		assert_true(scene->code.levels.count <= MAP_CODE_DEPTH);
	}
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), put);
	assert_int_equal(scene->code.counts.replaced_count, 0);
}

static void test_a_hundred_thousand_at_once(void **state)
{
	struct scene *scene = *state;
	enum { LINES = 100000 };
	struct sink text = { 0 };
	for (size_t i = 0; i < LINES; i++)
		sink_printf(&text, "%llx 28 f%zu\n",
			    (unsigned long long)(uintptr_t)scene->region + i * 40, i);
	write_text(scene, text.data, text.size);
	sink_clear(&text);
	size_t steps = 1;
	uint64_t before = 0;
	while (step(scene)) {
		steps++;
		assert_true(scene->code.counts.line_count - before <= MAP_CODE_STEP_LINES);
		before = scene->code.counts.line_count;
	}
	assert_true(steps >= LINES / MAP_CODE_STEP_LINES);
	assert_int_equal(expect_sound(scene), LINES);
	assert_true(scene->code.spool_fd >= 0);
	assert_true(scene->code.out.size < 1 << 20);
	assert_true(map_code_finish(&scene->code));
	assert_int_equal(scene->code.out.size, 0);
	assert_int_equal(expect_sound(scene), LINES);
}

static void test_torn_lines(void **state)
{
	struct scene *scene = *state;
	put_text(scene, "%llx 1", (unsigned long long)(uintptr_t)scene->region);
	assert_false(step(scene));
	put_text(scene, "0 al");
	assert_false(step(scene));
	assert_int_equal(scene->code.counts.line_count, 0);
	put_text(scene, "pha\n%llx 20 beta", (unsigned long long)(uintptr_t)scene->region + 64);
	assert_false(step(scene));
	assert_int_equal(expect_sound(scene), 1);
	assert_true(has_code_of(scene, "alpha"));
	put_text(scene, "\r\n");
	assert_false(step(scene));
	assert_int_equal(expect_sound(scene), 2);
	assert_true(has_code_of(scene, "beta"));
}

/* The lines around one that is longer than the buffer, wherever its ends fall. */
static void test_lines_longer_than_any_should_be(void **state)
{
	struct scene *scene = *state;
	static const size_t lengths[] = { MAP_CODE_TEXT_SIZE - 30,
					  MAP_CODE_TEXT_SIZE - 1,
					  MAP_CODE_TEXT_SIZE,
					  MAP_CODE_TEXT_SIZE + 1,
					  (size_t)2 * MAP_CODE_TEXT_SIZE,
					  (size_t)5 * MAP_CODE_TEXT_SIZE + 17 };
	size_t off = 0;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char *line = malloc(lengths[i]);
		memset(line, 'x', lengths[i]);
		line[lengths[i] - 1] = '\n';
		for (size_t around = 0; around < 3; around++, off += 16)
			put_line(scene, off, 16, "before");
		write_text(scene, line, lengths[i]);
		free(line);
		for (size_t around = 0; around < i; around++, off += 16)
			put_line(scene, off, 16, "behind");
	}
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), off / 16);
	assert_int_equal(scene->code.counts.replaced_count, 0);
}

static void test_somebody_elses_lines_in_front(void **state)
{
	struct scene *scene = *state;
	put_line(scene, 0, 16, "old");
	follow_skip(&scene->follow);
	put_line(scene, 16, 16, "new");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 1); /* code_index counts from behind the old */
	assert_true(has_code_of(scene, "new"));
}

static void test_another_process_of_the_number(void **state)
{
	struct scene *scene = *state;
	for (size_t i = 0; i < 1000; i++)
		put_line(scene, i * 16, 16, "old");
	assert_true(step(scene));
	const uint64_t before = scene->code.counts.line_count;
	map_code_end(&scene->code);
	assert_int_equal(scene->code.state, MAP_CODE_GONE);
	put_line(scene, 0, 16, "between");
	assert_false(step(scene));
	map_code_begin(&scene->code, getpid(), scene->follow.known_size);
	put_line(scene, 16, 16, "new");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), before + 1);
	assert_false(has_code_of(scene, "between"));
}

static void test_cut_short(void **state)
{
	struct scene *scene = *state;
	for (size_t i = 0; i < 1000; i++)
		put_line(scene, i * 16, 16, "old");
	assert_true(step(scene));
	assert_int_equal(ftruncate(scene->writer_fd, 0), 0);
	assert_int_equal(lseek(scene->writer_fd, 0, SEEK_SET), 0);
	put_line(scene, 16, 16, "new");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 1);
	assert_true(has_code_of(scene, "new"));
}

static void test_a_map_has_a_limit(void **state)
{
	struct scene *scene = *state;
	const size_t whole = MAP_CODE_MAP_BYTES / MAP_CODE_LINE_BYTES;
	for (size_t i = 0; i < whole + 5; i++) {
		put_line(scene, i % 3 * MAP_CODE_LINE_BYTES, MAP_CODE_LINE_BYTES, "large");
		step_to_end(scene);
	}
	assert_int_equal(scene->code.state, MAP_CODE_FULL);
	assert_true(scene->code.used_bytes <= MAP_CODE_MAP_BYTES);
	assert_int_equal(expect_sound(scene), whole - 1); /* their heads count, too */
	assert_true(map_code_finish(&scene->code));
}

static void test_all_have_a_limit(void **state)
{
	struct scene *scene = *state;
	put_line(scene, 0, 100, "one");
	step_to_end(scene);
	const uint64_t others = MAP_CODE_ALL_BYTES - 300;
	scene->room->used_bytes += others;
	put_line(scene, 100, 100, "two");
	put_line(scene, 200, 100, "three");
	step_to_end(scene);
	assert_int_equal(scene->code.state, MAP_CODE_FULL);
	assert_true(scene->room->used_bytes <= MAP_CODE_ALL_BYTES);
	assert_int_equal(expect_sound(scene), 1);
	scene->room->used_bytes -= others;
}

/* What lines speak of is remembered while others wait; lines all over the address space must
 * not fill the memory.
 */
static void test_lines_all_over_the_address_space(void **state)
{
	struct scene *scene = *state;
	struct sink text = { 0 };
	for (size_t i = 0; i < COVERED_PAGE_LIMIT + 1000; i++)
		sink_printf(&text, "%zx000 10 f\n", i + 16);
	write_text(scene, text.data, text.size);
	sink_clear(&text);
	step_to_end(scene);
	assert_int_equal(scene->code.state, MAP_CODE_FULL);
}

static void test_dropped(void **state)
{
	struct scene *scene = *state;
	for (size_t i = 0; i < 3000; i++)
		put_line(scene, i * 100, 100, "function");
	assert_true(step(scene));
	map_code_drop(&scene->code, scene->room);
	assert_int_equal(scene->room->used_bytes, 0);
	assert_false(step(scene));
	assert_false(map_code_finish(&scene->code));
}

static void test_the_process_has_ended(void **state)
{
	struct scene *scene = *state;
	const pid_t child = fork();
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	map_code_begin(&scene->code, child, 0);
	put_line(scene, 0, 16, "alive");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 1);
	kill(child, SIGKILL);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	put_line(scene, 16, 16, "of a zombie");
	step_to_end(scene);
	assert_int_equal(scene->code.state, MAP_CODE_GONE);
	(void)waitpid(child, NULL, 0);
	put_line(scene, 32, 16, "of none");
	step_to_end(scene);
	assert_int_equal(expect_sound(scene), 1);
	assert_true(map_code_finish(&scene->code));
}

/* Has process_vm_readv() fail, as Yama does for processes that are not our children. */
static bool forbid_reading(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static int read_without_permission(struct scene *scene)
{
	if (!forbid_reading())
		return 2;
	(void)follow_check(&scene->follow);
	const bool has_more = map_code_step(&scene->code, &scene->follow, scene->room);
	const bool is_refused = scene->code.state == MAP_CODE_REFUSED && scene->code.error == EPERM;
	return !has_more && is_refused && !map_code_finish(&scene->code) ? 0 : 3;
}

static void test_not_permitted(void **state)
{
	struct scene *scene = *state;
	for (size_t i = 0; i < 1000; i++)
		put_line(scene, i * 16, 16, "function");
	const pid_t child = fork();
	if (child == 0)
		_exit(read_without_permission(scene));
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		skip_because("no seccomp filters here");
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Each allocation fails once: what is there is sound, or is said not to be. */
static void test_without_memory(void **state)
{
	struct scene *scene = *state;
	for (size_t i = 0; i < 600; i++)
		put_line(scene, i * 300, 300, "function");
	(void)follow_check(&scene->follow);
	size_t n = 1;
	for (;; n++) {
		map_code_clear(&scene->code, scene->room);
		map_code_init(&scene->code);
		map_code_begin(&scene->code, getpid(), 0);
		memory_fail_at(n);
		while (map_code_step(&scene->code, &scene->follow, scene->room))
			;
		const bool is_there = map_code_finish(&scene->code);
		const bool has_failed = memory_has_failed();
		memory_fail_at(0);
		if (is_there)
			expect_sound(scene);
		if (!has_failed)
			break;
		assert_true(!is_there || scene->code.state == MAP_CODE_FULL);
	}
	assert_true(n > 3);
	assert_int_equal(expect_sound(scene), 600);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_line_at_a_time),
		TEST(test_nothing_to_read),
		TEST(test_before_its_process_is_known),
		TEST(test_ranges_that_are_not_there),
		TEST(test_many_that_are_not_there),
		TEST(test_sizes_up_to_the_limit),
		TEST(test_a_later_line_has_the_place),
		TEST(test_one_that_is_too_long_replaces_nothing),
		TEST(test_new_lines_before_those_that_wait),
		TEST(test_bursts_within_bursts),
		TEST(test_a_hundred_thousand_at_once),
		TEST(test_torn_lines),
		TEST(test_lines_longer_than_any_should_be),
		TEST(test_somebody_elses_lines_in_front),
		TEST(test_another_process_of_the_number),
		TEST(test_cut_short),
		TEST(test_a_map_has_a_limit),
		TEST(test_all_have_a_limit),
		TEST(test_lines_all_over_the_address_space),
		TEST(test_dropped),
		TEST(test_the_process_has_ended),
		TEST(test_not_permitted),
		TEST(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
