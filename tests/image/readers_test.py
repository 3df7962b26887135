#!/usr/bin/env python3
"""An image in the hands of programs that others wrote: readelf, eu-elflint, llvm-dwarfdump,
addr2line, eu-addr2line, llvm-symbolizer.  readers_test.py IMAGE_MAKE READER KIND
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COUNT = 300


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def fail(*what):
    print(*what)
    sys.exit(1)


def read_functions(printed):
    """[(file offset, size, name, is present, {offset: [line, ...]})]"""
    functions = []
    for row in printed.splitlines():
        off, size, name, kind, *lines = row.split("\t")
        wanted = {}
        for line in lines:
            offset, places = line.split("=")
            wanted[int(offset)] = places.split(",")
        functions.append((int(off, 16), int(size), name, kind == "present", wanted))
    return functions


def check_readelf(image, functions):
    """Says nothing but what is there."""
    done = run("readelf", "-aW", image)
    if done.returncode or done.stderr or "arning" in done.stdout:
        fail("readelf:", done.stderr, re.findall(".*arning.*", done.stdout))
    for dump in ("info", "decodedline", "aranges", "Ranges", "frames"):
        done = run("readelf", f"--debug-dump={dump}", image)
        if done.returncode or done.stderr:
            fail(f"readelf --debug-dump={dump}:", done.stderr)
    symbols = re.findall(r"^ +\d+: (\w+) +(\d+) FUNC +LOCAL +DEFAULT +\d+ (\S+)$",
                         run("readelf", "-sW", image).stdout, re.M)
    found = [(int(off, 16), int(size), name) for off, size, name in symbols]
    if found != [function[:3] for function in functions]:
        fail("readelf: other symbols than were put in:", found[:3])


def check_elflint(image, _):
    done = run("eu-elflint", "--gnu-ld", image)
    if done.returncode or done.stdout.strip() != "No errors":
        fail("eu-elflint:", done.stdout, done.stderr)


def check_dwarfdump(image, _):
    done = run("llvm-dwarfdump", "--verify", image)
    if done.returncode or not done.stdout.rstrip().endswith("No errors."):
        fail("llvm-dwarfdump:", done.stdout[-2000:], done.stderr)


def queries(functions):
    """[(file offset, function name, wanted lines, is inlined)]"""
    return [(off + offset, name, places)
            for off, _, name, _, wanted in functions for offset, places in wanted.items()]


def check_frames(asked, frames, reader):
    """frames: for each question [(function, line), ...], innermost first."""
    for (off, name, places), got in zip(asked, frames, strict=True):
        # eu-addr2line puts the "." that relative paths count from in front twice.
        got_places = ["?" if "?" in place else place.replace("././", "./") for _, place in got]
        if got_places != places or got[-1][0] != name:
            fail(f"{reader}: {off:#x}: wanted {name} {places}, got {got}")
        inlined = [frame[0] for frame in got[:-1]]
        if inlined not in ([], ["outer_inlined"], ["inner_inlined", "outer_inlined"]):
            fail(f"{reader}: {off:#x}: inlined {inlined}")


def check_addr2line(image, functions):
    asked = queries(functions)
    text = "".join(f"{off:#x}\n" for off, _, _ in asked)
    printed = run("addr2line", "-a", "-i", "-f", "-e", image, text=text).stdout
    blocks = re.split(r"^0x\w+\n", printed, flags=re.M)[1:]
    frames = []
    for block in blocks:
        lines = block.splitlines()
        frames.append(list(zip(lines[0::2], [re.sub(r" \(disc.*", "", l) for l in lines[1::2]])))
    check_frames(asked, frames, "addr2line")


def check_eu_addr2line(image, functions):
    asked = queries(functions)
    text = "".join(f"{off:#x}\n" for off, _, _ in asked)
    printed = run("eu-addr2line", "-a", "-i", "-f", "-e", image, text=text).stdout
    blocks = re.split(r"^0x\w+\n", printed, flags=re.M)[1:]
    frames = []
    for block in blocks:
        lines = block.splitlines()
        names = [re.sub(r" inlined at .*", "", line) for line in lines[0::2]]
        frames.append(list(zip(names, [re.sub(r"^\?\?.*", "?", l) for l in lines[1::2]])))
    check_frames(asked, frames, "eu-addr2line")


def check_symbolizer(image, functions):
    asked = queries(functions)
    text = "".join(f"{off:#x}\n" for off, _, _ in asked)
    done = run("llvm-symbolizer", "--inlines", "--output-style=JSON", "-e", image, text=text)
    frames = []
    for answer in done.stdout.splitlines():
        for question in json.loads(answer) if answer.startswith("[") else [json.loads(answer)]:
            frames.append([(symbol["FunctionName"], f"{symbol['FileName']}:{symbol['Line']}"
                            if symbol["FileName"] else "?") for symbol in question["Symbol"]])
    check_frames(asked, frames, "llvm-symbolizer")


READERS = {
    "readelf": check_readelf,
    "eu-elflint": check_elflint,
    "llvm-dwarfdump": check_dwarfdump,
    "addr2line": check_addr2line,
    "eu-addr2line": check_eu_addr2line,
    "llvm-symbolizer": check_symbolizer,
}


def main():
    make, reader, kind = sys.argv[1:4]
    if not shutil.which(reader):
        print(f"no {reader}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        image = pathlib.Path(folder) / "image.so"
        made = run(make, image, str(COUNT), kind)
        if made.returncode:
            fail("image_make:", made.returncode, made.stderr)
        functions = read_functions(made.stdout)
        if len(functions) != COUNT:
            fail("image_make:", len(functions), "functions")
        READERS[reader](image, functions)


main()
