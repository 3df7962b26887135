"""Reads the symbols of a 64-bit little-endian ELF file the obvious way."""
import collections
import struct

Symbol = collections.namedtuple("Symbol", "name value size")
Section = collections.namedtuple("Section", "name kind flags address offset size link")

SHT_SYMTAB, SHT_NOTE, SHT_NOBITS = 2, 7, 8
STT_FUNC = 2
NT_GNU_BUILD_ID = 3


class Image:
    def __init__(self, data):
        assert data[:6] == b"\x7fELF\x02\x01", "not a 64-bit little-endian ELF file"
        self.data = data
        at, = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3a)
        headers = [struct.unpack_from("<IIQQQQI", data, at + k * size) for k in range(count)]
        if headers and count and names >= count:
            raise AssertionError("no section names")
        table = headers[names][4]
        self.sections = [Section(self.text(table + name), kind, flags, address, offset, length, link)
                         for name, kind, flags, address, offset, length, link in headers]

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode(errors="surrogateescape")

    def section_at(self, address):
        for section in self.sections:
            if section.flags & 2 and section.address <= address < section.address + section.size:
                return section
        return None

    def functions(self):
        """Of .symtab, in its order."""
        found = []
        for table in (s for s in self.sections if s.kind == SHT_SYMTAB):
            names = self.sections[table.link].offset
            for at in range(table.offset, table.offset + table.size, 24):
                name, info, _, _, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
                if info & 15 == STT_FUNC:
                    found.append(Symbol(self.text(names + name), value, size))
        return found

    def code(self, symbol):
        """Its bytes; none where the section takes no room in the file."""
        section = self.section_at(symbol.value)
        if section is None or section.kind == SHT_NOBITS:
            return b""
        at = symbol.value - section.address + section.offset
        return self.data[at:at + symbol.size]

    def build_id(self):
        for note in (s for s in self.sections if s.kind == SHT_NOTE):
            name, size, kind = struct.unpack_from("<III", self.data, note.offset)
            if kind == NT_GNU_BUILD_ID:
                at = note.offset + 12 + (name + 3 & ~3)
                return self.data[at:at + size].hex()
        return None
