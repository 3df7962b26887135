"""The code that a recording has beside perf maps, and what must hold for all of it."""
import bisect
import collections
import re
import struct
import subprocess
import tempfile
import zipfile

import oracle

Line = collections.namedtuple("Line", "start size name")
Load = collections.namedtuple("Load", "time start size end_of_line name code")
Map = collections.namedtuple("Map", "member pid lines loads dump")

MEMBER = re.compile(r"process/(\d+)/perf(?:-\d+)?\.map")
LINE = re.compile(rb"\s*(?:0[xX])?([0-9a-fA-F]+)[ \t]+(?:0[xX])?([0-9a-fA-F]+) (.*)", re.DOTALL)
LINE_LIMIT = 1 << 20
COVERED_SHARE = 99.0  # percent of the samples in JIT code
ENOUGH_SAMPLES = 100  # to judge by
LINE_SHARE = 75.0  # percent of the lines; the last of a map may come too late


def read_lines(text):
    """Entries by the offset behind them."""
    lines, at = {}, 0
    for line in text.split(b"\n")[:-1]:
        at += len(line) + 1
        found = LINE.fullmatch(line.removesuffix(b"\r"))
        if found:
            lines[at] = Line(int(found[1], 16), int(found[2], 16), found[3])
    return lines


def read_loads(dump):
    loads, at = [], struct.unpack_from("<I", dump, 8)[0]
    while at < len(dump):
        kind, size, time = struct.unpack_from("<IIQ", dump, at)
        if kind == 0:
            start, length, index = struct.unpack_from("<QQQ", dump, at + 32)
            nul = dump.index(b"\0", at + 56)
            loads.append(Load(time, start, length, index, dump[at + 56:nul],
                              dump[nul + 1:at + size]))
        at += size
    return loads


def read_maps(recording):
    """All maps of the recording, with their code, and the processes that have a jitdump."""
    maps = []
    with zipfile.ZipFile(recording) as members:
        names = set(members.namelist())
        with_dump = {int(name.split("/")[1]) for name in names
                     if re.match(r"process/\d+/jit/", name)}
        for name in sorted(names):
            found = MEMBER.fullmatch(name)
            if found:
                dump = members.read(f"{name}.code") if f"{name}.code" in names else None
                maps.append(Map(name, int(found[1]), read_lines(members.read(name)),
                                read_loads(dump) if dump else [], dump))
    return maps, with_dump


def line_faults(where, lines, loads):
    """Each LOAD must be that of one line, and say what the line says."""
    seen, last = set(), 0
    for load in loads:
        line = lines.get(load.end_of_line)
        if line is None:
            yield f"{where}: no line ends at {load.end_of_line}"
        elif (load.start, load.name) != (line.start, line.name.split(b"\0")[0]):
            yield f"{where}: {load.name} at {load.start:x} for line {line}"
        elif not 0 < load.size <= min(line.size, LINE_LIMIT) or load.size != len(load.code):
            yield f"{where}: {load.size} bytes said, {len(load.code)} there, for line {line}"
        if load.end_of_line in seen:
            yield f"{where}: two LOADs for the line that ends at {load.end_of_line}"
        if load.time < last:
            yield f"{where}: a stamp goes back from {last} to {load.time}"
        seen.add(load.end_of_line)
        last = load.time


def lint_faults(program, where, dump):
    with tempfile.NamedTemporaryFile() as file:
        file.write(dump)
        file.flush()
        done = subprocess.run([program, "lint", "--level", "warning", file.name],
                              capture_output=True, text=True, errors="replace")
    return [f"{where}: polyperf lint: {done.stdout[-500:]}"] if done.returncode else []


def those_inside(addresses, spans):
    """The addresses that lie in one of the (start, end)."""
    spans = sorted(spans)
    starts, reach = [start for start, _ in spans], []
    for _, end in spans:
        reach.append(max(end, reach[-1]) if reach else end)
    inside = []
    for address in addresses:
        at = bisect.bisect_right(starts, address) - 1
        if at >= 0 and address < reach[at]:
            inside.append(address)
    return inside


def span_of(code):
    return code.start, code.start + code.size


def covered_faults(recording, maps):
    """The code that samples lie in must be there, as far as the map speaks of it, and most of
    the rest.
    """
    addresses = collections.defaultdict(list)
    for sample in oracle.samples_in_anonymous_code(recording.read_bytes()):
        addresses[sample.pid].append(sample.frames[0])
    for told in maps:
        named = those_inside(addresses[told.pid], map(span_of, told.lines.values()))
        covered = those_inside(named, map(span_of, told.loads))
        share = 100 * len(covered) / len(named) if named else 100
        print(f"  {told.member}: code of {len(told.loads)} of {len(told.lines)} lines, "
              f"and {share:.2f} % of {len(named)} samples")
        if len(named) >= ENOUGH_SAMPLES and share < COVERED_SHARE:
            yield f"{told.member}: code for {share:.2f} % of the samples"
        if 100 * len(told.loads) < LINE_SHARE * len(told.lines):
            yield f"{told.member}: code of {len(told.loads)} of {len(told.lines)} lines"


def faults(program, recording):
    maps, with_dump = read_maps(recording)
    found = [f"{told.member}: code beside a jitdump" for told in maps
             if told.pid in with_dump and told.dump]
    alone = [told for told in maps if told.pid not in with_dump]
    for told in alone:
        found += line_faults(told.member, told.lines, told.loads)
        if told.dump:
            found += lint_faults(program, told.member, told.dump)
    return found + list(covered_faults(recording, alone))
