#!/usr/bin/env python3
"""Makes files of text arrays of a C file: embed.py OUT.c HEADER NAME=FILE..."""
import pathlib
import sys


def main(out, header, *files):
    parts = [f'#include "{header}"\n']
    for name, _, path in (file.partition("=") for file in files):
        text = pathlib.Path(path).read_bytes()
        # They go into CDATA sections.
        if b"]]>" in text:
            sys.exit(f"embed.py: {path} holds ]]>, which would end it")
        rows = "\n".join("\t" + " ".join(f"{byte}," for byte in text[at:at + 24])
                         for at in range(0, len(text), 24))
        parts.append(f"const unsigned char {name}[] = {{\n{rows}\n}};\nconst size_t {name}_size = sizeof({name});\n")
    pathlib.Path(out).write_text("\n".join(parts))


main(*sys.argv[1:])
