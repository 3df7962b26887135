#include "record/attr.h"

#include "base/status.h"

#include <time.h>
#include <unistd.h>

static struct perf_event_attr dummy(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

enum flag {
	FLAG_NONE,
	FLAG_KERNEL,
	FLAG_CLOCKID,
	FLAG_COMM_EXEC,
	FLAG_MMAP2,
	FLAG_NAMESPACES,
	FLAG_KSYMBOL,
	FLAG_BPF_EVENT,
	FLAG_TEXT_POKE,
	FLAG_LOST,
};

static struct perf_event_attr dummy_with(enum flag flag)
{
	struct perf_event_attr attr = dummy();
	attr.exclude_kernel = attr.exclude_hv = flag != FLAG_KERNEL;
	attr.use_clockid = flag == FLAG_CLOCKID;
	attr.clockid = flag == FLAG_CLOCKID ? CLOCK_MONOTONIC : 0;
	attr.comm_exec = flag == FLAG_COMM_EXEC;
	attr.mmap = attr.mmap2 = flag == FLAG_MMAP2;
	attr.namespaces = flag == FLAG_NAMESPACES;
	attr.ksymbol = flag == FLAG_KSYMBOL;
	attr.bpf_event = flag == FLAG_BPF_EVENT;
	attr.text_poke = flag == FLAG_TEXT_POKE;
	attr.read_format = flag == FLAG_LOST ? PERF_FORMAT_ID | PERF_FORMAT_LOST : 0;
	return attr;
}

static bool can_open(enum flag flag)
{
	const struct perf_event_attr attr = dummy_with(flag);
	const int fd = os_perf_open(&attr, 0, -1);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int attr_probe(struct attr_support *support)
{
	if (!can_open(FLAG_NONE))
		return STATUS_IO;
	*support = (struct attr_support){
		.kernel = can_open(FLAG_KERNEL),
		.clockid = can_open(FLAG_CLOCKID),
		.comm_exec = can_open(FLAG_COMM_EXEC),
		.mmap2 = can_open(FLAG_MMAP2),
		.namespaces = can_open(FLAG_NAMESPACES),
		.ksymbol = can_open(FLAG_KSYMBOL),
		.bpf_event = can_open(FLAG_BPF_EVENT),
		.lost = can_open(FLAG_LOST),
	};
	/* The kernel's own bytes are nobody's business who may not see its addresses. */
	support->text_poke = support->kernel && can_open(FLAG_TEXT_POKE);
	return 0;
}

/* The general registers, ip, sp and flags: what unwinding by DWARF needs. The numbers
 * are those of the kernel's asm/perf_regs.h.
 */
#if defined(__x86_64__)
/* All but the data segments ds, es, fs, gs, which the kernel does not hand out. */
static const uint64_t user_registers = 0xff0fff;
#elif defined(__aarch64__)
static const uint64_t user_registers = (1ull << 33) - 1;
#else
static const uint64_t user_registers = 0;
#endif

/* The same in all events of a recording: readers that ask one of them know all. */
static void set_common(struct perf_event_attr *attr, const struct attr_support *support,
		       const struct attr_wants *wants)
{
	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	if (wants->stacks != RECORD_STACKS_NONE)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (wants->stacks == RECORD_STACKS_DWARF && user_registers != 0) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = user_registers;
		attr->sample_stack_user = wants->stack_bytes;
		attr->exclude_callchain_user = 1;
	}
	attr->read_format = PERF_FORMAT_ID | (support->lost ? PERF_FORMAT_LOST : 0u);
	attr->disabled = 1;
	attr->inherit = wants->inherit;
	attr->sample_id_all = 1;
	if (!support->kernel || wants->user_only) {
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
	}
	if (support->clockid) {
		attr->use_clockid = 1;
		attr->clockid = CLOCK_MONOTONIC;
	}
}

struct perf_event_attr attr_for_samples(const struct attr_support *support,
					const struct event *event, const struct attr_wants *wants)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.precise_ip = event->is_precision_best ? 3u : event->precision & 3u,
		.exclude_user = event->exclude_user,
		.exclude_kernel = event->exclude_kernel,
		.exclude_hv = event->exclude_hv,
		.exclude_guest = event->exclude_guest,
		.exclude_host = event->exclude_host,
	};
	set_common(&attr, support, wants);
	const bool has_own = event->period || event->frequency_hz;
	const uint64_t frequency = has_own ? event->frequency_hz : wants->frequency_hz;
	if (frequency) {
		attr.freq = 1;
		attr.sample_freq = frequency;
	} else {
		attr.sample_period = has_own ? event->period : wants->period;
	}
	return attr;
}

struct perf_event_attr attr_for_sideband(const struct attr_support *support,
					 const struct attr_wants *wants)
{
	struct perf_event_attr attr = {
		/* Not build_id: see docs/decisions/0007-build-ids-by-the-recorder.md. */
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		/* Unwind tables lie in mappings that are not executable. */
		.mmap_data = wants->stacks == RECORD_STACKS_DWARF,
		.comm = 1,
		.task = 1,
		.comm_exec = support->comm_exec,
		.mmap2 = support->mmap2,
		.namespaces = support->namespaces,
		.ksymbol = support->ksymbol,
		.bpf_event = support->bpf_event,
		.text_poke = support->text_poke,
	};
	set_common(&attr, support, wants);
	if (attr.exclude_kernel)
		attr.text_poke = 0;
	return attr;
}

struct perf_event_attr attr_for_programs(const struct perf_event_attr *sideband)
{
	struct perf_event_attr attr = *sideband;
	attr.disabled = attr.enable_on_exec = attr.inherit = 0;
	attr.mmap = attr.mmap2 = attr.mmap_data = 0;
	attr.comm = attr.comm_exec = attr.task = attr.namespaces = 0;
	attr.text_poke = 0;
	return attr;
}

struct perf_event_attr attr_for_frames(const struct attr_support *support)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		/* No period: the kernel knows of none here, and says 0. */
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
		.read_format = PERF_FORMAT_ID | (support->lost ? PERF_FORMAT_LOST : 0u),
		.sample_id_all = 1,
		.use_clockid = support->clockid,
		.clockid = support->clockid ? CLOCK_MONOTONIC : 0,
	};
}

struct perf_event_attr attr_for_ring(const struct attr_support *support, uint32_t watermark_bytes)
{
	struct perf_event_attr attr = dummy();
	attr.watermark = 1;
	attr.wakeup_watermark = watermark_bytes;
	if (support->clockid) {
		attr.use_clockid = 1;
		attr.clockid = CLOCK_MONOTONIC;
	}
	return attr;
}
