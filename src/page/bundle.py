#!/usr/bin/env python3
"""Makes the page's files one C file: bundle.py OUT.c index.html FILE.css... FILE.js...

Each script becomes a block of one strict script, so that what it declares is its own; they meet in
the object `pp`. The page lets nothing run but this script and style, known by their hashes.
"""
import base64
import hashlib
import pathlib
import sys


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def array(name, text):
    data = text.encode()
    rows = "\n".join("\t" + ",".join(str(byte) for byte in data[at:at + 24]) + ","
                     for at in range(0, len(data), 24))
    return f"const unsigned char {name}[] = {{\n{rows}\n}};\nconst size_t {name}_size = sizeof({name});\n"


def main(out, index, *paths):
    read = {path: pathlib.Path(path).read_text() for path in paths}
    style = "\n".join(text for path, text in read.items() if path.endswith(".css"))
    script = "'use strict';\nconst pp = {};\n" + "".join(
        f"{{ // {pathlib.Path(path).name}\n{text}}}\n" for path, text in read.items() if path.endswith(".js"))
    for text, end in (style, "</style"), (script, "</script"), (script, "<!--"):
        if end in text.lower():
            sys.exit(f"bundle.py: {end} within the files would end them")
    page = pathlib.Path(index).read_text()
    for mark, text in (("@SCRIPT_HASH@", digest(script)), ("@STYLE_HASH@", digest(style)), ("@STYLE@", style),
                       ("@SCRIPT@", script)):
        if page.count(mark) != 1:
            sys.exit(f"bundle.py: {index} has {mark} {page.count(mark)} times")
        page = page.replace(mark, text)
    head, tail = page.split("@DATA@")
    pathlib.Path(out).write_text('#include "page/app.h"\n\n' + array("page_app_head", head)
                                 + array("page_app_tail", tail))


main(*sys.argv[1:])
