"""Small recordings, dumps and maps, made record by record.

    recording = handmade.Recording()
    recording.mmap(7, 100, 0x1000, 0x1000, "//anon")
    recording.sample(7, 200, 0x1010)
    recording.write(path)

    dump = handmade.Dump(7)
    dump.load(150, 0x1000, 0x100, "f")
    dump.write(folder / "jit-7.dump")
"""
import struct

IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 32, 256
SAMPLE_TYPE = IP | TID | TIME | CALLCHAIN | PERIOD
FREQUENCY_CLOCK = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 24 | 1 << 25
CLOCK_MONOTONIC = 1
ATTR_SIZE = 112
USER, COMM_EXEC = 2, 1 << 13
CONTEXT_USER = 2**64 - 512
HEADER_ATTR = 64
FINISHED_ROUND = 68


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text):
    raw = text.encode(errors="surrogateescape") + b"\0"
    return raw + bytes(-len(raw) % 8)


def attribute():
    return struct.pack("<IIQQQQQIIQQQQIiQII", 1, ATTR_SIZE, 0, 1000000, SAMPLE_TYPE, 0,
                       FREQUENCY_CLOCK, 0, 0, 0, 0, 0, 0, 0, CLOCK_MONOTONIC, 0, 0, 0)


class Recording:
    def __init__(self):
        self.records = b""

    def add(self, kind, misc, body, pid, time):
        trailer = struct.pack("<IIQ", pid, pid, time)
        self.records += record(kind, misc, body + trailer)

    def mmap(self, pid, time, start, size, path, executable=True):
        body = struct.pack("<IIQQQIIQQII", pid, pid, start, size, 0, 0, 0, 0, 0,
                           5 if executable else 3, 2)
        misc = USER if executable else USER | 1 << 13
        self.add(10, misc, body + padded(path), pid, time)

    def comm(self, pid, time, name, executed=False):
        body = struct.pack("<II", pid, pid) + padded(name)
        self.add(3, USER | COMM_EXEC * executed, body, pid, time)

    def fork(self, parent, pid, time):
        self.add(7, 0, struct.pack("<IIIIQ", pid, parent, pid, parent, time), parent, time)

    def sample(self, pid, time, *frames):
        body = struct.pack("<QIIQQ", frames[0], pid, pid, time, 1)
        body += struct.pack(f"<Q{1 + len(frames)}Q", 1 + len(frames), CONTEXT_USER, *frames)
        self.records += record(9, USER, body)

    def round(self):
        self.records += record(FINISHED_ROUND, 0, b"")

    def write(self, path):
        attrs_at, data_at = 104, 104 + ATTR_SIZE + 16
        header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, ATTR_SIZE + 16, attrs_at,
                                           ATTR_SIZE + 16, data_at, len(self.records), 0, 0)
        ids = struct.pack("<QQ", 0, 0)
        path.write_bytes(header + bytes(32) + attribute() + ids + self.records)

    def write_pipe(self, path):
        path.write_bytes(b"PERFILE2" + struct.pack("<Q", 16)
                         + record(HEADER_ATTR, 0, attribute() + struct.pack("<Q", 1))
                         + self.records)


class Dump:
    """Of process `pid`, as the process itself sees its number."""

    def __init__(self, pid):
        self.pid = pid
        self.count = 0
        self.content = struct.pack("<4sIIIIIQQ", b"DTiJ", 1, 40, 62, 0, pid, 0, 0)

    def add(self, kind, time, body):
        self.content += struct.pack("<IIQ", kind, 16 + len(body), time) + body

    def load(self, time, start, size, name):
        self.count += 1
        # Code that can be told from other code.
        code = (b"\x0f\x1f\x84" + struct.pack("<IB", self.count, 0x90)) * (size // 8 + 1)
        head = struct.pack("<IIQQQQ", self.pid, self.pid, start, start, size, self.count)
        self.add(0, time, head + name.encode(errors="surrogateescape") + b"\0" + code[:size])
        return self.count

    def move(self, time, index, old, new, size):
        self.add(1, time, struct.pack("<IIQQQQQ", self.pid, self.pid, new, old, new, size, index))

    def write(self, path):
        path.write_bytes(self.content)
