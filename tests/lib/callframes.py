"""Walks dumped stacks by the DWARF call frame information of ELF files: the slow, whole way.

    walker = callframes.Walker()
    addresses, end = walker.walk(sample, memory)

Knows all registers and all expressions, executes each description anew, and shares no code
with polyperf. Written after DWARF 5 (section 6.4) and the LSB's page on .eh_frame.
"""
import bisect
import collections
import ctypes
import mmap
import pathlib
import struct

import userstack
from userstack import RIP, RSP

SECTION_HEADER, PROGRAM_HEADER = 64, 56
PT_LOAD, SHT_NOBITS = 1, 8
TABLES = (".eh_frame", ".debug_frame")
WORD = 1 << 64
TRUNCATED = "truncated"

Load = collections.namedtuple("Load", "offset svma size")
Description = collections.namedtuple("Description", "start end common program")
Common = collections.namedtuple(
    "Common", "program code_align data_align return_register encoding is_signal has_augmentation")
# A step: how the caller's registers follow. `cfa` and each of `rules` is (kind, operand...).
Step = collections.namedtuple("Step", "cfa rules return_register is_signal")


POINTER_FORMS = {0: "<Q", 2: "<H", 3: "<I", 4: "<Q", 10: "<h", 11: "<i", 12: "<q"}


def pointer_form(encoding):
    """What reads a pointer, and whether it is relative to its own place."""
    return struct.Struct(POINTER_FORMS[encoding & 15]).unpack_from, {0: 0, 0x10: 1}[encoding & 0x70]


class Reader:
    def __init__(self, data, at=0, end=None):
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def take(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def bytes(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def unsigned(self):
        value = shift = 0
        while True:
            byte = self.take("B")
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return value

    def signed(self):
        value = shift = 0
        while True:
            byte = self.take("B")
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return value - (1 << shift) if byte & 64 else value

    def text(self):
        end = self.data.index(b"\0", self.at)
        found, self.at = self.data[self.at:end], end + 1
        return found

    def pointer(self, encoding, section_svma):
        """DW_EH_PE_*; from the section's start to self.at is as in memory."""
        if encoding == 0xff:
            return None
        read, is_relative = pointer_form(encoding)
        start, size = self.at, struct.calcsize(POINTER_FORMS[encoding & 15])
        self.at += size
        return (read(self.data, start)[0] + is_relative * (section_svma + start)) % WORD


class Elf:
    """Loads, and the sections with call frame information."""

    def __init__(self, data):
        assert data[:6] == b"\x7fELF\x02\x01", "not a little-endian ELF file of 64 bits"
        self.data = data
        programs, sections = struct.unpack_from("<QQ", data, 32)
        _, program_count, _, section_count, names = struct.unpack_from("<5H", data, 54)
        self.loads = []
        for at in range(programs, programs + program_count * PROGRAM_HEADER, PROGRAM_HEADER):
            kind, _, offset, svma, _, size = struct.unpack_from("<IIQQQQ", data, at)
            if kind == PT_LOAD:
                self.loads.append(Load(offset, svma, size))
        headers = [struct.unpack_from("<IIQQQQ", data, sections + index * SECTION_HEADER)
                   for index in range(section_count)]
        self.sections = {}
        for name, kind, _, svma, offset, size in headers:
            start = headers[names][4] + name
            text = data[start:data.find(b"\0", start)].decode()
            if kind != SHT_NOBITS and text in TABLES:
                self.sections[text] = (svma, data[offset:offset + size])
        self.tables = None
        entry = struct.unpack_from("<Q", data, 24)[0]
        self.entry_offset = next((entry - load.svma + load.offset for load in self.loads
                                  if load.svma <= entry < load.svma + load.size), 0)

    def svma_of(self, offset):
        for load in self.loads:
            if load.offset <= offset < load.offset + load.size:
                return offset - load.offset + load.svma
        return None

    def find(self, svma):
        """The description of the code there, or None."""
        if self.tables is None:
            self.tables = [Descriptions(*self.sections[name], name == ".eh_frame")
                           for name in TABLES if name in self.sections]
        found = (table.find(svma) for table in self.tables)
        return next((one for one in found if one), None)


class Descriptions:
    """Of one section, by where they start."""

    def __init__(self, svma, data, is_eh):
        self.svma, self.data, self.is_eh, self.commons = svma, data, is_eh, {}
        # Only where each one starts: most of a large program is never asked for.
        self.starts = sorted(self.read_starts())

    def read_starts(self):
        """(start of the code, offset) of each description. A browser's engine has some 100,000."""
        data, at, common_mark = self.data, 0, 0 if self.is_eh else 0xffffffff
        head, forms = struct.Struct("<II").unpack_from, {}
        while at + 8 <= len(data):
            size, identity = head(data, at)
            assert size < 0xfffffff0, "64-bit DWARF"
            if size and identity != common_mark:
                where = at + 4 - identity if self.is_eh else identity
                if where not in forms:
                    forms[where] = pointer_form(self.common(where).encoding)
                read, is_relative = forms[where]
                yield (read(data, at + 8)[0] + is_relative * (self.svma + at + 8)) % WORD, at
            at += 4 + size

    def common(self, at):
        if at not in self.commons:
            end = at + 4 + struct.unpack_from("<I", self.data, at)[0]
            self.commons[at] = read_common(Reader(self.data, at + 8, end))
        return self.commons[at]

    def head(self, at):
        """Where the code starts, its size, the CIE, and a reader behind that."""
        size, identity = struct.unpack_from("<II", self.data, at)
        reader = Reader(self.data, at + 8, at + 4 + size)
        common = self.common(at + 4 - identity if self.is_eh else identity)
        start = reader.pointer(common.encoding, self.svma)
        return start, reader.pointer(common.encoding & 15, self.svma), common, reader

    def find(self, svma):
        at = bisect.bisect_right(self.starts, (svma, 1 << 62)) - 1
        if at < 0:
            return None
        start, size, common, reader = self.head(self.starts[at][1])
        if svma >= start + size:
            return None
        if common.has_augmentation:
            reader.bytes(reader.unsigned())
        return Description(start, start + size, common, reader.data[reader.at:reader.end])


def read_common(reader):
    version = reader.take("B")
    augmentation = reader.text()
    if version == 4:
        assert reader.bytes(2) == b"\x08\0", "odd sizes of addresses"
    code_align, data_align = reader.unsigned(), reader.signed()
    return_register = reader.take("B") if version == 1 else reader.unsigned()
    encoding = 0
    if augmentation.startswith(b"z"):
        reader.unsigned()
        for letter in augmentation[1:].decode():
            if letter == "R":
                encoding = reader.take("B")
            elif letter == "L":
                reader.take("B")
            elif letter == "P":
                # Its value is not asked for; an absolute base keeps it apart from what we know.
                kind = reader.take("B")
                reader.bytes({0: 8, 2: 2, 3: 4, 4: 8}[kind & 7])
    return Common(reader.data[reader.at:reader.end], code_align, data_align, return_register, encoding,
                  b"S" in augmentation, augmentation.startswith(b"z"))


class Rows:
    """Executes the instructions of one description up to an address."""

    def __init__(self, description, svma):
        self.common, self.svma, self.at = description.common, svma, description.start
        self.cfa, self.rules, self.initial, self.saved = None, {}, {}, []
        self.run(self.common.program)
        self.initial = dict(self.rules)
        self.run(description.program)

    def advance(self, delta):
        """Whether the row that now begins still is at or below the address."""
        self.at += delta * self.common.code_align
        return self.at <= self.svma

    def restore(self, register):
        if register in self.initial:
            self.rules[register] = self.initial[register]
        else:
            self.rules.pop(register, None)

    def run(self, program):
        reader = Reader(program)
        while reader.at < reader.end:
            if not self.one(reader, reader.take("B")):
                return

    def one(self, reader, code):
        high, low, data_align = code & 0xc0, code & 0x3f, self.common.data_align
        rules = self.rules
        if high == 0x40:
            return self.advance(low)
        if high == 0x80:
            rules[low] = ("at", reader.unsigned() * data_align)
        elif high == 0xc0:
            self.restore(low)
        elif code in (2, 3, 4):
            return self.advance(reader.take({2: "B", 3: "H", 4: "I"}[code]))
        elif code == 5:
            register = reader.unsigned()
            rules[register] = ("at", reader.unsigned() * data_align)
        elif code == 6:
            self.restore(reader.unsigned())
        elif code == 7:
            rules[reader.unsigned()] = ("undefined",)
        elif code == 8:
            rules.pop(reader.unsigned(), None)
        elif code == 9:
            register = reader.unsigned()
            rules[register] = ("register", reader.unsigned())
        elif code == 10:
            self.saved.append((self.cfa, dict(rules)))
        elif code == 11:
            self.cfa, kept = self.saved.pop()
            self.rules = dict(kept)
        elif code == 12:
            register = reader.unsigned()
            self.cfa = ("register", register, reader.unsigned())
        elif code == 13:
            self.cfa = ("register", reader.unsigned(), self.cfa[2])
        elif code == 14:
            self.cfa = ("register", self.cfa[1], reader.unsigned())
        elif code == 15:
            self.cfa = ("expression", reader.bytes(reader.unsigned()))
        elif code in (16, 22):
            register = reader.unsigned()
            kind = "at expression" if code == 16 else "expression"
            rules[register] = (kind, reader.bytes(reader.unsigned()))
        elif code == 17:
            register = reader.unsigned()
            rules[register] = ("at", reader.signed() * data_align)
        elif code == 18:
            register = reader.unsigned()
            self.cfa = ("register", register, reader.signed() * data_align)
        elif code == 19:
            self.cfa = ("register", self.cfa[1], reader.signed() * data_align)
        elif code in (20, 21):
            register = reader.unsigned()
            operand = reader.unsigned() if code == 20 else reader.signed()
            rules[register] = ("value", operand * data_align)
        elif code == 0x2e:
            reader.unsigned()
        else:
            assert code == 0, f"instruction {code:#x}"
        return True


class Lost(Exception):
    """Why the walk ends here."""


def signed_word(value):
    return value - WORD if value >> 63 else value


def evaluate(expression, registers, sample, stack):
    """DWARF expressions, as far as call frames use them."""
    reader = Reader(expression)
    binary = {0x1a: lambda a, b: a & b, 0x1c: lambda a, b: a - b, 0x1e: lambda a, b: a * b,
              0x21: lambda a, b: a | b, 0x22: lambda a, b: a + b, 0x24: lambda a, b: a << (b & 63),
              0x25: lambda a, b: a >> (b & 63), 0x27: lambda a, b: a ^ b,
              0x29: lambda a, b: a == b, 0x2e: lambda a, b: a != b,
              0x2a: lambda a, b: signed_word(a) >= signed_word(b),
              0x2b: lambda a, b: signed_word(a) > signed_word(b),
              0x2c: lambda a, b: signed_word(a) <= signed_word(b),
              0x2d: lambda a, b: signed_word(a) < signed_word(b)}
    constants = {8: "B", 9: "b", 10: "H", 11: "h", 12: "I", 13: "i", 14: "Q", 15: "q"}
    while reader.at < reader.end:
        code = reader.take("B")
        if code in binary:
            second, first = stack.pop(), stack.pop()
            stack.append(int(binary[code](first, second)) % WORD)
        elif 0x30 <= code <= 0x4f:
            stack.append(code - 0x30)
        elif 0x70 <= code <= 0x8f:
            stack.append((registers_value(registers, code - 0x70) + reader.signed()) % WORD)
        elif code in constants:
            stack.append(reader.take(constants[code]) % WORD)
        elif code == 0x10:
            stack.append(reader.unsigned())
        elif code == 0x11:
            stack.append(reader.signed() % WORD)
        elif code == 0x12:
            stack.append(stack[-1])
        elif code == 0x23:
            stack.append((stack.pop() + reader.unsigned()) % WORD)
        elif code == 6:
            stack.append(memory_word(sample, stack.pop()))
        else:
            raise Lost(f"operation {code:#x}")
    return stack[-1]


def registers_value(registers, number):
    if number not in registers:
        raise Lost(f"register {number} is not known")
    return registers[number]


def memory_word(sample, address):
    value = userstack.word_at(sample, address)
    if value is None:
        raise Lost(TRUNCATED if address >= sample.registers[RSP] else "below the stack")
    return value


def vdso_bytes():
    """The kernel's own object, out of this process."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if line.endswith("[vdso]"):
            start, end = (int(word, 16) for word in line.split()[0].split("-"))
            return ctypes.string_at(start, end - start)
    return None


class Walker:
    def __init__(self):
        self.objects, self.steps = {}, {}
        # Of the last walk: the outermost frame's, and whether a register was in its place already.
        self.last_stack_pointer, self.was_restored = None, False

    def object_of(self, path):
        """None where there is no ELF file."""
        if path not in self.objects:
            self.objects[path] = None
            data = vdso_bytes() if path == "[vdso]" else None
            if data is None and path and pathlib.Path(path).is_file() and pathlib.Path(path).stat().st_size:
                with open(path, "rb") as file:
                    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if data and data[:4] == b"\x7fELF":
                self.objects[path] = Elf(data)
        return self.objects[path]

    def step_at(self, path, offset):
        if (path, offset) not in self.steps:
            self.steps[path, offset] = self.find_step(path, offset)
        return self.steps[path, offset]

    def find_step(self, path, offset):
        elf = self.object_of(path)
        svma = elf.svma_of(offset) if elf else None
        one = elf.find(svma) if svma is not None else None
        if not one:
            return None
        rows = Rows(one, svma)
        return Step(rows.cfa, rows.rules, one.common.return_register, one.common.is_signal)

    def is_signal_frame(self, path, offset):
        step = self.step_at(path, offset)
        return bool(step) and step.is_signal

    def walk(self, sample, memory, limit=1000):
        """Addresses, the innermost first, and why they end: "whole", or what was missing."""
        registers, is_call = dict(sample.registers), False
        addresses = [registers_value(registers, RIP)]
        self.was_restored = False
        while len(addresses) < limit:
            here = registers[RIP] - is_call
            self.last_stack_pointer = registers.get(RSP)
            mapping = memory.find(sample.pid, here)
            if not mapping:
                return addresses, "not in a mapping"
            step = self.step_at(mapping.path, here - mapping.start + mapping.offset)
            if not step:
                return addresses, f"nothing is said in {mapping.path}"
            if step.rules.get(step.return_register) == ("undefined",):
                return addresses, "whole"
            try:
                registers = self.caller(step, registers, sample)
            except Lost as why:
                return addresses, str(why)
            if not registers[RIP]:
                return addresses, "whole"
            addresses.append(registers[RIP])
            is_call = not step.is_signal
        return addresses, "too deep"

    def caller(self, step, registers, sample):
        if step.cfa[0] == "register":
            cfa = (registers_value(registers, step.cfa[1]) + step.cfa[2]) % WORD
        else:
            cfa = evaluate(step.cfa[1], registers, sample, [])
        # A handler may have had a stack of its own; else callers lie above.
        if cfa <= registers[RSP] and not step.is_signal:
            raise Lost("a frame below the one before")
        result = dict(registers)
        result[RSP] = cfa
        for register, rule in step.rules.items():
            kind = rule[0]
            if kind == "undefined":
                result.pop(register, None)
            elif kind == "at":
                place = (cfa + rule[1]) % WORD
                # Where an epilogue has taken it from the stack already, no rule says so.
                if place >= sample.registers[RSP]:
                    result[register] = memory_word(sample, place)
                else:
                    self.was_restored = True
            elif kind == "value":
                result[register] = (cfa + rule[1]) % WORD
            elif kind == "register":
                result[register] = registers_value(registers, rule[1])
            elif kind == "at expression":
                result[register] = memory_word(sample, evaluate(rule[1], registers, sample, [cfa]))
            else:
                result[register] = evaluate(rule[1], registers, sample, [cfa])
        result[RIP] = registers_value(result, step.return_register)
        return result
