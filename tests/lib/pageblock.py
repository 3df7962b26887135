"""The data of a page, as its scripts read it.

    columns = pageblock.read(path, "events")            docs/page.md
    columns["events.time"]                              numbers
    pageblock.strings(columns)[columns["events.name"][0]]
"""
import base64
import gzip
import re
import struct

LETTERS = {1: "B", 2: "H", 4: "I", 8: "d"}


def padded(size):
    return -(-size // 8) * 8


def read(path, block):
    """{name: numbers, or text}"""
    page = path.read_text(errors="surrogateescape")
    packed = re.search(rf'data-name="{block}">([^<]*)<', page)[1]
    content = gzip.decompress(base64.b64decode(packed))
    columns = {}
    at = 0
    while at + 16 <= len(content):
        kind, name_size, size, _ = struct.unpack_from("<IIII", content, at)
        start = at + 16 + padded(name_size)
        values = content[start:start + size]
        name = content[at + 16:at + 16 + name_size].decode()
        columns[name] = struct.unpack(f"<{size // kind}{LETTERS[kind]}", values) if kind else values.decode()
        at = start + padded(size)
    return columns


def strings(columns):
    content = bytes(columns["strings.bytes"])
    starts = (0, *columns["strings.end"])
    return ["", *(content[start:end].decode(errors="replace")
                  for start, end in zip(starts, columns["strings.end"]))]
