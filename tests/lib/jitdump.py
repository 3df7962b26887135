"""Jitdumps with polyperf's extension records (docs/formats/jitdump-extensions.md), as a test sees
them: an oracle that shares no code with the reader in src/."""
import collections
import struct

LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING = range(5)
PAD, UNLOAD, INLINES, BYTECODES, ANNOTATIONS, METHOD = range(0x50500000, 0x50500006)
NOTE_TIER = 1
NO_STRING = 0xffffffff

Line = collections.namedtuple("Line", "offset line file")
Inline = collections.namedtuple("Inline", "offset size depth call_line call_bytecode name call_file")


class Code:
    """A load with what was told of it just before."""

    def __init__(self, time, pid, tid, address, size, index, name):
        self.time, self.pid, self.tid, self.index, self.name = time, pid, tid, index, name
        self.address, self.size = address, size
        self.lines, self.inlines, self.bytecodes, self.tier = [], [], [], None
        self.unload_time = None

    def line_at(self, address):
        """(file, line) of the instruction; None where it has none."""
        found = None
        for line in self.lines:
            if line.offset > address - self.address:
                break
            found = line
        return (found.file, found.line) if found and found.line else None

    def scopes_at(self, address):
        """The inlined calls around an instruction, outermost first."""
        offset = address - self.address
        return [scope for scope in self.inlines if scope.offset <= offset < scope.offset + scope.size]


def text_at(data, at):
    return data[at:data.index(b"\0", at)].decode(errors="replace")


def read_lines(data, at, code_address):
    count = struct.unpack_from("<Q", data, at + 24)[0]
    at, lines = at + 32, []
    for _ in range(count):
        address, line, _ = struct.unpack_from("<QII", data, at)
        file = text_at(data, at + 16)
        at += 16 + data.index(b"\0", at + 16) - (at + 16) + 1
        lines.append(Line(address - code_address, line, file))
    return lines


def read_inlines(data, at):
    count, strings_size = struct.unpack_from("<II", data, at + 24)
    strings = at + 32 + 32 * count
    scopes = []
    for i in range(count):
        offset, size, depth, line, _, bytecode, name, file = struct.unpack_from("<IIIIIiII", data,
                                                                                at + 32 + 32 * i)
        assert name < strings_size
        scopes.append(Inline(offset, size, depth, line, bytecode, text_at(data, strings + name),
                             None if file == NO_STRING else text_at(data, strings + file)))
    return scopes


def read_tier(data, at):
    count = struct.unpack_from("<I", data, at + 24)[0]
    for i in range(count):
        _, _, kind, text = struct.unpack_from("<4I", data, at + 32 + 16 * i)
        if kind == NOTE_TIER and text != NO_STRING:
            return text_at(data, at + 32 + 16 * count + text)
    return None


def kinds(data):
    """(kind, time) of each record."""
    at, found = struct.unpack_from("<I", data, 8)[0], []
    while at + 16 <= len(data):
        kind, size, time = struct.unpack_from("<IIQ", data, at)
        if size < 16 or at + size > len(data):
            break
        found.append((kind, time))
        at += size
    return found


def read(data):
    """All code of a dump in order; torn records at its end are passed over."""
    codes, by_index, told = [], {}, {}
    at = struct.unpack_from("<I", data, 8)[0]
    while at + 16 <= len(data):
        kind, size, time = struct.unpack_from("<IIQ", data, at)
        if size < 16 or at + size > len(data):
            break
        if kind in (DEBUG_INFO, INLINES, BYTECODES, ANNOTATIONS):
            told[kind] = at
        elif kind == LOAD:
            pid, tid, _, address, length, index = struct.unpack_from("<IIQQQQ", data, at + 16)
            code = Code(time, pid, tid, address, length, index, text_at(data, at + 56))
            if DEBUG_INFO in told:
                code.lines = read_lines(data, told[DEBUG_INFO], address)
            if INLINES in told:
                code.inlines = read_inlines(data, told[INLINES])
            if BYTECODES in told:
                count = struct.unpack_from("<I", data, told[BYTECODES] + 24)[0]
                code.bytecodes = [struct.unpack_from("<Ii", data, told[BYTECODES] + 32 + 8 * i)
                                  for i in range(count)]
            if ANNOTATIONS in told:
                code.tier = read_tier(data, told[ANNOTATIONS])
            told = {}
            codes.append(code)
            by_index[index] = code
        elif kind == UNLOAD:
            index = struct.unpack_from("<Q", data, at + 40)[0]
            if index in by_index:
                by_index[index].unload_time = time
        at += size
    return codes
