"""What a recording keeps of user stacks: registers and bytes of each sample, read the slow way.

Shares no code with polyperf. Little-endian x86-64 recordings with one layout of samples, as
oracle.py reads them.
"""
import bisect
import collections
import struct

import oracle

CALLCHAIN, RAW, BRANCH_STACK, REGS_USER, STACK_USER = 1 << 5, 1 << 10, 1 << 11, 1 << 12, 1 << 13
ATTR_SAMPLE_TYPE, ATTR_READ_FORMAT, ATTR_REGS_USER, ATTR_STACK_USER = 24, 32, 80, 88
# perf's number of each register (asm/perf_regs.h) by its DWARF number; 16 is the address itself.
PERF_NUMBERS = (0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8)
RAX, RBX, RBP, RSP, RIP = 0, 3, 6, 7, 16
PROT_EXEC = 4

# `registers` by DWARF number; `stack` are the bytes from rsp on; `is_cut` says that all of the size
# that was asked for came, so that the stack may go on.
Sample = collections.namedtuple("Sample", "pid tid time registers stack is_cut")
Mapping = collections.namedtuple("Mapping", "start end offset path")


def word_at(sample, address):
    """None where the dump lacks it."""
    at = address - sample.registers[RSP]
    if at < 0 or at + 8 > len(sample.stack):
        return None
    return struct.unpack_from("<Q", sample.stack, at)[0]


def attribute(data):
    """Sample type, and the mask of registers, of the first event."""
    header_size = struct.unpack_from("<Q", data, 8)[0]
    if header_size > 16:
        at = struct.unpack_from("<Q", data, 24)[0]
    else:
        at = 24  # the first record of a stream is the attribute
    return (struct.unpack_from("<Q", data, at + ATTR_SAMPLE_TYPE)[0],
            struct.unpack_from("<Q", data, at + ATTR_REGS_USER)[0],
            struct.unpack_from("<I", data, at + ATTR_STACK_USER)[0])


def read_sample(body, sample_type, mask):
    head = oracle.read_sample(body, sample_type & ~CALLCHAIN)
    at = 8 * sum(bool(sample_type & bit) for bit in (
        oracle.IDENTIFIER, oracle.IP, oracle.TID, oracle.TIME, oracle.ADDR, oracle.ID,
        oracle.STREAM, oracle.CPU, oracle.PERIOD))
    assert not sample_type & (oracle.READ | RAW | BRANCH_STACK), "a sample with more in it"
    if sample_type & CALLCHAIN:
        at += 8 + 8 * struct.unpack_from("<Q", body, at)[0]
    abi, at = struct.unpack_from("<Q", body, at)[0], at + 8
    registers = {}
    if abi:
        numbers = [number for number in range(64) if mask >> number & 1]
        values = dict(zip(numbers, struct.unpack_from(f"<{len(numbers)}Q", body, at)))
        at += 8 * len(numbers)
        registers = {dwarf: values[perf] for dwarf, perf in enumerate(PERF_NUMBERS) if perf in values}
    size, at = struct.unpack_from("<Q", body, at)[0], at + 8
    stack = b""
    if size:
        used = struct.unpack_from("<Q", body, at + size)[0]
        stack = body[at:at + min(size, used)]
    return Sample(head.pid, head.tid, head.time, registers, stack, len(stack) == size > 0)


class Memory:
    """The executable mappings of all processes; of what overlaps, the later one counts."""

    def __init__(self):
        self.mappings = collections.defaultdict(list)

    def add(self, pid, mapping):
        kept = [one for one in self.mappings[pid]
                if one.end <= mapping.start or one.start >= mapping.end]
        bisect.insort(kept, mapping)
        self.mappings[pid] = kept

    def find(self, pid, address):
        mappings = self.mappings[pid]
        at = bisect.bisect_right(mappings, address, key=lambda one: one.start) - 1
        return mappings[at] if at >= 0 and address < mappings[at].end else None


def samples(data):
    """(sample, memory as it was then) of each sample, in the order of time; processes that exec
    or fork are followed as far as mmap and fork records tell.
    """
    records, _ = oracle.read_records(data)
    sample_type, mask, _ = attribute(data)
    events = []
    for order, (kind, misc, body) in enumerate(records):
        if kind == oracle.RECORD_SAMPLE:
            sample = read_sample(body, sample_type, mask)
            events.append((sample.time, order, kind, sample))
        elif kind == oracle.RECORD_MMAP2 and not misc & oracle.MISC_MMAP_DATA:
            events.append((oracle.read_time(body, sample_type), order, kind, body))
        elif kind == oracle.RECORD_FORK:
            events.append((struct.unpack_from("<Q", body, 16)[0], order, kind, body))
    memory = Memory()
    for _, _, kind, what in sorted(events, key=lambda event: event[:2]):
        if kind == oracle.RECORD_SAMPLE:
            yield what, memory
        elif kind == oracle.RECORD_FORK:
            pid, parent = struct.unpack_from("<II", what)
            if pid != parent:
                memory.mappings[pid] = list(memory.mappings[parent])
        else:
            pid, _, start, size, offset = struct.unpack_from("<IIQQQ", what)
            path = what[64:].split(b"\0")[0].decode(errors="surrogateescape")
            memory.add(pid, Mapping(start, start + size, offset, path))


def frame_pointer_chain(sample, address, is_framed):
    """Return addresses from rbp's chain, as long as is_framed() says of the code, first that at
    `address`, that it keeps frame pointers.
    """
    chain, rbp = [], sample.registers[RBP]
    while is_framed(address):
        back, caller = word_at(sample, rbp), word_at(sample, rbp + 8)
        if back is None or caller is None:
            break
        chain.append(caller)
        address, rbp = caller - 1, back
    return chain
