"""Reads recordings with frames of interpreters, from what docs/formats/ says of them alone."""
import collections
import struct

IP, TID, TIME, CPU, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 7, 1 << 8
CALLCHAIN, RAW, IDENTIFIER = 1 << 5, 1 << 10, 1 << 16
EVENT_DESC = 12
SAMPLE, COMM, EXIT = 9, 3, 4
STACK, DEFINITION, TABLE = 1, 2, 3
LUAJIT = 6

Sample = collections.namedtuple("Sample", "event pid tid time ip raw")
Stack = collections.namedtuple("Stack", "pid tid time ip language runtime end flags frames")
Frame = collections.namedtuple("Frame", "name owner file position flags")


def text(blob, at, size, encoding):
    return blob[at:at + size].decode(("utf-8", "latin-1", "utf-16-le", "utf-32-le")[encoding], "replace")


class Recording:
    """Samples of all events, stacks and definitions of an uncompressed perf.data file."""

    def __init__(self, path):
        self.data = path.read_bytes()
        magic, _, entry, attrs, attrs_size, data, data_size = struct.unpack_from("<8s6Q", self.data)
        assert magic == b"PERFILE2"
        self.names = self.read_names(data + data_size)
        self.events = {}  # by identifier: (name, sample_type)
        for i in range(attrs_size // entry):
            at = attrs + i * entry
            sample_type, = struct.unpack_from("<Q", self.data, at + 24)
            ids_at, ids_size = struct.unpack_from("<QQ", self.data, at + entry - 16)
            for k in range(ids_size // 8):
                number, = struct.unpack_from("<Q", self.data, ids_at + 8 * k)
                self.events[number] = (self.names[i], sample_type)
        assert attrs_size // entry == len(self.names), "events without a name"
        self.samples, self.stacks, self.definitions = [], [], {}
        self.tables = collections.Counter()
        self.read_records(data, data + data_size)

    def read_names(self, at):
        bits = int.from_bytes(self.data[72:104], "little")
        index = bin(bits & ((1 << EVENT_DESC) - 1)).count("1")
        at, _ = struct.unpack_from("<QQ", self.data, at + 16 * index)
        count, attr_size = struct.unpack_from("<II", self.data, at)
        at += 8
        names = []
        for _ in range(count):
            ids, = struct.unpack_from("<I", self.data, at + attr_size)
            size, = struct.unpack_from("<I", self.data, at + attr_size + 4)
            at += attr_size + 8
            names.append(self.data[at:at + size].split(b"\0")[0].decode())
            at += size + 8 * ids
        return names

    def read_records(self, at, end):
        # A stack may lie before the definitions that it needs, in another CPU's ring.
        raws = []
        while at < end:
            kind, _, size = struct.unpack_from("<IHH", self.data, at)
            assert size >= 8, f"no record at {at}"
            if kind == SAMPLE:
                sample = self.read_sample(at + 8)
                self.samples.append(sample)
                if sample.event == "polyperf:frames":
                    raws.append(sample.raw)
            at += size
        stacks = []
        for raw in raws:
            magic, version, kind, _, zero, size, _ = struct.unpack_from("<IBBBBII", raw)
            assert magic == 0x4b4c5750 and version == 1 and zero == 0 and len(raw) - 8 < size <= len(raw)
            if kind == STACK:
                stacks.append(raw)
            elif kind == DEFINITION:
                self.read_definition(raw)
            else:
                assert kind == TABLE
        self.stacks = [self.read_stack(raw) for raw in stacks]

    def read_sample(self, at):
        number, = struct.unpack_from("<Q", self.data, at)
        name, kind = self.events[number]
        fields = {"ip": 0, "raw": b""}
        at += 8
        for bit, form, keys in ((IP, "<Q", ("ip",)), (TID, "<II", ("pid", "tid")), (TIME, "<Q", ("time",)),
                                (CPU, "<II", ("cpu", "res")), (PERIOD, "<Q", ("period",))):
            if kind & bit:
                fields.update(zip(keys, struct.unpack_from(form, self.data, at)))
                at += struct.calcsize(form)
        if kind & RAW:
            assert not kind & CALLCHAIN
            size, = struct.unpack_from("<I", self.data, at)
            fields["raw"] = self.data[at + 4:at + 4 + size]
        return Sample(name, fields["pid"], fields["tid"], fields["time"], fields["ip"], fields["raw"])

    def read_definition(self, raw):
        code, check, pid, runtime = struct.unpack_from("<QQII", raw, 16)
        at, texts = 72, []
        for i in range(3):
            size, encoding, _ = struct.unpack_from("<HBB", raw, 60 + 4 * i)
            texts.append(text(raw, at, size, encoding))
            at += (size + 7) & ~7
        line, = struct.unpack_from("<I", raw, 40)
        if raw[6] == LUAJIT and line:  # functions have a place, no name
            texts[0] = f"{texts[2].rpartition('/')[2]}:{line}"
        self.definitions[pid, runtime, code, check] = texts

    def read_stack(self, raw):
        language = raw[6]
        pid, time, ip, tid, runtime, count, end, flags = struct.unpack_from("<IQQIIHBB", raw, 12)
        frames = []
        for i in range(count):
            code, check, position, frame_flags = struct.unpack_from("<QQiI", raw, 48 + 24 * i)
            texts = self.definitions.get((pid, runtime, code, check), ["?", "", ""])
            frames.append(Frame(*texts, position, frame_flags))
        return Stack(pid, tid, time, ip, language, runtime, end, flags, frames)

    def joined(self):
        """(sample, stack or None) of each sample of another event, by time and thread."""
        keys = {(stack.tid, stack.time, stack.runtime) for stack in self.stacks}
        assert len(keys) == len(self.stacks), "two stacks of one runtime for one sample"
        # A process with two runtimes has a stack of each: most often one of them runs nothing.
        by_key = {(stack.tid, stack.time): stack
                  for stack in sorted(self.stacks, key=lambda stack: len(stack.frames))}
        samples = [s for s in self.samples if s.event not in ("polyperf:frames", "dummy")]
        return [(sample, by_key.get((sample.tid, sample.time))) for sample in samples]
