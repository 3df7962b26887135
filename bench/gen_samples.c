/* gen_samples.c - a recording of many samples with deep stacks, made at once.
 *
 *   gen_samples OUT SAMPLES ELF...
 *
 * One process of eight threads that spends its time in the functions of the ELF
 * files given (a program and its libraries: addresses are real, so symbols
 * resolve). There are 4,000 stacks, 30 frames deep, that branch like those of a
 * real program; a few are much more frequent than the rest. 296 bytes a sample.
 */
#include "base/vector.h"
#include "cli/parse.h"
#include "recording.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	DEPTH = 30,
	STACKS = 4000,
	THREADS = 8,
	PID = 4242,
	SAMPLE_GAP_NS = 25000, /* eight threads at 5 kHz */
};

struct functions {
	VECTOR(uint64_t) starts; /* addresses in the process */
};

/* A repeatable stream: the same file for the same arguments. */
static uint64_t random_next(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void map_segments(struct recording *r, Elf *elf, const char *path, uint64_t base_avma)
{
	size_t count = 0;
	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X))
			continue;
		const uint64_t skew = segment.p_offset & 4095;
		const struct perfdata_new_mmap2 map = {
			.pid = PID,
			.tid = PID,
			.start_avma = base_avma + segment.p_vaddr - skew,
			.size = (segment.p_filesz + skew + 4095) & ~4095ull,
			.file_off = segment.p_offset - skew,
			.prot = PROT_READ | PROT_EXEC,
			.flags = MAP_PRIVATE,
			.misc = PERFDATA_CPUMODE_USER,
			.path = path,
		};
		const struct perfdata_new_id id = recording_id(r, PID, PID, 1);
		perfdata_put_mmap2(&r->records, &map, &id);
	}
}

static void add_functions(struct functions *functions, Elf *elf, uint64_t base_avma)
{
	Elf_Scn *section = NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data = NULL;
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; (uint64_t)i < header.sh_size / header.sh_entsize; i++) {
			GElf_Sym symbol;
			uint64_t *start;
			if (gelf_getsym(data, i, &symbol) && symbol.st_size > 16 &&
			    GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx &&
			    (start = vector_push(&functions->starts)))
				*start = base_avma + symbol.st_value;
		}
	}
}

static void load_elf(struct recording *r, struct functions *functions, const char *path,
		     uint64_t base_avma)
{
	char *full = realpath(path, NULL);
	const int fd = full ? open(full, O_RDONLY | O_CLOEXEC) : -1;
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (!elf)
		give_up(path);
	GElf_Ehdr header;
	if (gelf_getehdr(elf, &header) && header.e_type == ET_EXEC)
		base_avma = 0;
	map_segments(r, elf, full, base_avma);
	add_functions(functions, elf, base_avma);
	elf_end(elf);
	close(fd);
	free(full);
}

/* Each stack shares the outer part of an earlier one, and goes its own way from there. */
static void make_stacks(uint64_t (*stacks)[DEPTH], const struct functions *functions)
{
	for (size_t i = 0; i < STACKS; i++) {
		const size_t shared = i ? random_next() % DEPTH : 0;
		const uint64_t *other = stacks[i ? random_next() % i : 0];
		for (size_t frame = 0; frame < DEPTH; frame++) {
			const uint64_t start =
			    functions->starts.items[random_next() % functions->starts.count];
			stacks[i][frame] =
			    frame >= DEPTH - shared ? other[frame] : start + 1 + random_next() % 15;
		}
	}
}

static void put_samples(struct recording *r, uint64_t count, uint64_t (*stacks)[DEPTH])
{
	for (uint64_t i = 0; i < count; i++) {
		/* The least of three: early stacks are met more often than late ones. */
		uint64_t stack = random_next() % STACKS;
		for (int again = 0; again < 2; again++) {
			const uint64_t other = random_next() % STACKS;
			stack = other < stack ? other : stack;
		}
		const struct recording_sample sample = {
			.pid = PID,
			.tid = PID + (uint32_t)(random_next() % THREADS),
			.time_ns = 1000000000 + i * SAMPLE_GAP_NS,
			.chain = stacks[stack],
			.depth = DEPTH,
		};
		recording_sample(r, &sample);
		recording_flush(r, false);
	}
}

int main(int argc, char **argv)
{
	uint64_t count;
	if (argc < 4 || !parse_u64(argv[2], &count)) {
		(void)fprintf(stderr, "usage: gen_samples OUT SAMPLES ELF...\n");
		return 2;
	}
	elf_version(EV_CURRENT);
	struct recording r;
	recording_begin(&r, argv[1], "cpu-clock");
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		const struct perfdata_new_id id = recording_id(&r, PID, PID + thread, 1);
		if (thread)
			perfdata_put_fork(&r.records, PID, PID, PID + thread, PID, &id);
		perfdata_put_comm(&r.records, PID, PID + thread, "generated", &id);
	}
	struct functions functions = { 0 };
	for (int i = 3; i < argc; i++)
		load_elf(&r, &functions, argv[i], 0x550000000000 + (uint64_t)i * 0x100000000);
	static uint64_t stacks[STACKS][DEPTH];
	if (!functions.starts.count)
		give_up("no functions in these files");
	make_stacks(stacks, &functions);
	put_samples(&r, count, stacks);
	recording_end(&r);
	vector_clear(&functions.starts);
	return 0;
}
