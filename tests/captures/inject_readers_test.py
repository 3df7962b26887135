#!/usr/bin/env python3
"""Readers of ELF and DWARF must take an injected capture's images, and find the right lines.

    inject_readers_test.py POLYPERF CAPTURE

Where the runtime told lines, 100 addresses are chosen at random; llvm-symbolizer, eu-addr2line,
addr2line and `perf script -F +srcline` must find what the oracle reads out of the dump.
"""
import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import captures_test
import elf
import handmade
import injected
import oracle
import polyperf
import readers
import stock

ADDRESSES = 100
Place = collections.namedtuple("Place", "load offset line lines address")  # address in the image


def choose_places(dumps, image, count):
    """Addresses in code whose line is known, in the image that has it."""
    symbols = collections.defaultdict(list)
    for symbol in image.functions():
        symbols[symbol.name, symbol.size, image.code(symbol)].append(symbol)
    choices = []
    for path in dumps:
        for load, lines in oracle.read_lines(path.read_bytes()):
            same = symbols[load.name, load.end - load.start, load.code]
            # Which of several equal functions has which lines could not be told.
            if len(same) == 1 and lines:
                choices.append((load, lines, same[0]))
    chance, places = random.Random(1), []
    while choices and len(places) < count:
        load, lines, symbol = chance.choice(choices)
        offset = chance.randrange(symbol.size)
        line = oracle.line_at(lines, offset)
        if line and line.line > 0 and line.file:
            places.append(Place(load, offset, line, lines, symbol.value + offset))
    return places


def line_faults(places, path):
    faults = collections.Counter()
    for name, answers in readers.lines_of(path, [place.address for place in places]).items():
        for place, (file, line, column) in zip(places, answers):
            if not readers.is_at(place.line, file, line):
                faults[f"{name}: {file}:{line} in {place.load.name}+{place.offset:#x}, the dump "
                       f"says {place.line.file}:{place.line.line}"] += 1
            elif column and place.line.column > 0 and column != place.line.column:
                faults[f"{name}: column {column}, the dump says {place.line.column}"] += 1
        print(f"{name}: {len(answers)} addresses")
    return faults


def srcline_faults(program, folder, dump, places):
    """A recording of samples at these addresses alone: perf is slow where programs have lines."""
    pid = oracle.pid_of(dump, r"jit-(\d+)\.dump")
    recording = handmade.Recording()
    recording.comm(pid, 1, "made", executed=True)
    recording.mmap(pid, 2, 0x7fff00000000, 0x1000, f"/run/{dump.name}")
    times = {}
    last = max(load.time for load in oracle.read_jitdump(dump.read_bytes()))
    for number, place in enumerate(places):
        # Where the address was reused later, only in time.
        time = place.load.time + 1 + number
        times[min(time, last + 1000 + number)] = place
    for time, place in sorted(times.items()):
        recording.sample(pid, time, place.load.start + place.offset)
    path = folder / "places.data"
    recording.write(path)
    target = injected.inject(program, path, folder / "places-out.data")
    perf = stock.Perf(folder)
    text = perf.run("script", "--ns", "-F", "time,ip,sym,srcline", "--full-source-path",
                    "-i", target, accepted=(0, 129)).stdout
    return compare_srclines(text, times, perf, target)


def compare_srclines(text, times, perf, target):
    if not text:  # an older perf has no --full-source-path
        text = perf.run("script", "--ns", "-F", "time,ip,sym,srcline", "-i", target).stdout
    faults, found, time = collections.Counter(), 0, None
    for row in text.splitlines():
        head = re.match(r"\s*(\d+)\.(\d{9}):", row)
        answer = re.match(r"  (\S.*):(\d+)$", row)
        if head:
            time = int(head[1]) * 10**9 + int(head[2])
        elif answer and time in times:
            found += 1
            place = times[time]
            if not readers.is_at(place.line, answer[1], int(answer[2])):
                faults[f"perf: {answer[1]}:{answer[2]} in {place.load.name}+{place.offset:#x}, "
                       f"the dump says {place.line.file}:{place.line.line}"] += 1
    print(f"perf script -F +srcline: {found} of {len(times)} addresses have a line")
    if found < len(times):
        faults[f"perf finds {found} lines of {len(times)}"] += 1
    return faults


def why_stock_line_is_wrong(place, is_biased, file, line):
    """perf keeps the 0x40, and ends the lines with the last of them."""
    offset = place.offset - (oracle.ELF_HEADER_SIZE if is_biased else 0)
    seen = oracle.line_at(place.lines, offset)
    if line == 0 and (seen is None or offset >= place.lines[-1].offset):
        return "before its first or behind its last line"
    return "0x40 off" if is_biased and seen and readers.is_at(seen, file, line) else None


def stock_line_faults(places, folder, recording, dump):
    """Where perf's own injection has another line, the reason must be known."""
    data = dump.read_bytes()
    # perf makes a file a function, thousands: those alone that are looked at.
    (folder / dump.name).write_bytes(oracle.part_of_jitdump(data, {place.load.index for place in places}))
    stock.Perf(folder).inject_jit(recording)
    is_biased, damaged = oracle.is_biased(data), oracle.damaged_lines(data)
    reasons, faults = collections.Counter(), collections.Counter()
    indices = collections.Counter(load.index for load in oracle.read_jitdump(data))
    pid = oracle.pid_of(dump, r"jit-(\d+)\.dump")
    for place in places:
        if indices[place.load.index] > 1:
            reasons["the code index is there twice"] += 1
            continue
        path = folder / f"jitted-{pid}-{place.load.index}.so"
        symbol = elf.Image(path.read_bytes()).functions()[0]
        # A damaged file name may have a newline in it.
        answer = readers.run(["addr2line", "-e", path, f"{symbol.value + place.offset:#x}"]).stdout
        found = re.match(r"(.*):(\d+|\?)(?: \(.*\))?\n$", answer, re.S)
        file, line = found[1], int(found[2]) if found[2] != "?" else 0
        if readers.is_at(place.line, file, line):
            continue
        # An overwritten name may end early, and then the rest of the record is misread.
        reason = ("its file's name was overwritten" if place.load.start in damaged else
                  why_stock_line_is_wrong(place, is_biased, file, line))
        if reason:
            reasons[reason] += 1
        else:
            faults[f"perf inject --jit: {answer!r} in {place.load.name}+{place.offset:#x}, the dump "
                   f"says {place.line.file}:{place.line.line}, for no known reason"] += 1
    print(f"perf inject --jit: of {len(places)} lines wrong {dict(reasons)}")
    return faults


def test(program, capture, folder):
    recording, dumps, _ = captures_test.unpack(capture, folder)
    target = injected.inject(program, recording, folder / "ours.data", "--all")
    paths, faults = injected.images(target), []
    if not paths:
        return ["no image"]
    for path in paths:
        faults += readers.structure_faults(path)
    lines = collections.Counter()
    if dumps and any(oracle.read_lines(path.read_bytes()) for path in dumps):
        places = choose_places(dumps, elf.Image(paths[0].read_bytes()), ADDRESSES)
        if len(places) < ADDRESSES:
            faults.append(f"only {len(places)} places with a line")
        lines += line_faults(places, paths[0])
        lines += srcline_faults(program, folder, dumps[0], places)
        aside = folder / "stock"
        aside.mkdir()
        lines += stock_line_faults(places[:30], aside, recording, dumps[0])
    return faults + [f"{count} times: {fault}" for fault, count in lines.most_common(20)]


def main(program, capture):
    with tempfile.TemporaryDirectory(prefix="inject-readers-") as name:
        faults = test(program, capture, pathlib.Path(name))
    if faults:
        polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
