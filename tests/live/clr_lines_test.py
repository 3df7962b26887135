"""Lines of .NET code: those of sampled addresses, against the runtime's own IL and the PDB.

    clr_lines_test.py POLYPERF NETTRACE_DUMP jit|optimized

A program calls from some thousand places. For each place it tells the native offset and the IL that the
runtime says it is of, and the line that System.Reflection.Metadata finds for that in the PDB. The same
places are return addresses in the samples' call chains: there ours must be that line.

All sampled addresses, those of interrupted instructions too, are held against what the JIT told in the
event stream (as nettrace_dump prints it, which another test holds against TraceEvent) and the PDB's
points (as System.Reflection.Metadata prints them), joined here. optimized: without tiers, so that all of
it has callees inlined.
"""
import bisect
import collections
import pathlib
import re
import sys
import zipfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "lib"))
import csharp  # noqa: E402
import live  # noqa: E402
import polyperf  # noqa: E402

METHODS = 40
CALLS = 30  # of each method
SECONDS = "1.2"  # of the processor
NEEDED = 1000  # sampled addresses
NEEDED_PLACES = 300  # of them that are different
NEEDED_INTERRUPTED = 300
FRAME = re.compile(r"^\t\s*([0-9a-f]+) .*\[sites\] (\S+)::(\S+?)\(.*\+0x([0-9a-f]+) \((.*)\)$")
IN_KERNEL = re.compile(r"^\t\s*[89a-f][0-9a-f]{15} ")
SHAPES = ("x += Truth.Spin({n});", "x = x + 1 - Truth.Spin(\n            x);", "if (Truth.Spin({n}) > 0) x++;",
          "for (int i = 0; i < 2; i++)\n            x += Truth.Spin(i);", "x += Inlined({n});",
          "{{ int y = Truth.Spin({n}) + Truth.Spin({n} + 1);\n        x += y; }}")
Frame = collections.namedtuple("Frame", "start offset owner name is_leaf place")
NO_IL, PROLOG, EPILOG = -1, -2, -3


def write_source(path):
    methods = []
    for method in range(METHODS):
        lines = "\n        ".join(SHAPES[(method + n) % len(SHAPES)].format(n=n) for n in range(CALLS))
        methods.append(f"static int Method{method}(int x)\n    {{\n        {lines}\n        return x & 7;\n    }}\n")
    calls = "\n        ".join(f"x += Method{n}(x);" for n in range(METHODS))
    methods.append(f"static int All(int x)\n    {{\n        {calls}\n        return x & 7;\n    }}\n")
    template = (TESTS / "clr" / "Sites.cs").read_text()
    path.write_text(template.replace("//SITES//", "\n    ".join(methods), 1))


def read_frames(text):
    """Frames of the program's own code: of an address with inlined calls the outermost, which has it."""
    is_first = False
    frame = None
    for line in text.splitlines() + [""]:
        if frame:
            yield frame._replace(place=line.strip()) if line.startswith("  ") else frame
            frame = None
        if line.startswith("\t"):
            found = FRAME.match(line)
            if found and found[5] != "inlined":
                offset = int(found[4], 16)
                frame = Frame(int(found[1], 16) - offset, offset, found[2], found[3], is_first, None)
            if not IN_KERNEL.match(line) and not line.endswith("(inlined)"):
                is_first = False
        elif line.strip() and not line.startswith("  "):
            is_first = True


def read_truth(path):
    """By method and native offset: the line, 0 where there is none; None where two versions differ."""
    truth = {}
    faults = []
    for row in path.read_text().splitlines():
        name, native, il, line, told = row.split("\t")
        key = name, int(native)
        truth[key] = int(line) if truth.get(key, int(line)) == int(line) else None
        if line not in ("0", told):
            faults.append(f"{name} at IL {il}: line {line} in the PDB, {told} for the runtime")
    return truth, faults


def check_runtime(frames, log, source):
    """Return addresses against the program's own log."""
    truth, faults = read_truth(log)
    counts = collections.Counter()
    wrong, places = set(), set()
    for frame in frames:
        if frame.is_leaf or frame.owner == "Truth":
            continue
        wanted = truth.get((frame.name, frame.offset), -1)
        if wanted in (-1, None):
            counts["not told" if wanted == -1 else "of two versions"] += 1
            continue
        counts["compared"] += 1
        places.add((frame.name, frame.offset))
        if frame.place != (f"{source}:{wanted}" if wanted else None):
            wrong.add(f"{frame.name}+{frame.offset:#x}: {frame.place} instead of line {wanted}")
    print(f"by the runtime: {dict(counts)}, {len(places)} different")
    if counts["compared"] < NEEDED or len(places) < NEEDED_PLACES:
        faults.append(f"only {counts['compared']} sampled addresses of {len(places)} places were compared")
    if counts["not told"] > counts["compared"] / 10:
        faults.append(f"{counts['not told']} sampled return addresses are not told of")
    return faults + sorted(wrong)[:20]


class Lines:
    """What stream and PDB say: the line of a native offset in the code at an address."""

    def __init__(self, events, points):
        self.codes, self.maps, self.points, self.made = {}, {}, collections.defaultdict(list), {}
        for row in events.splitlines():
            fields = row.removeprefix("rundown ").split("\t")
            if fields[0] == "method":
                self.codes[int(fields[3], 16)] = fields[1], fields[7], int(fields[5], 16)
            elif fields[0] == "map":
                pairs = [pair.split(":") for pair in fields[4].split()]
                self.maps[fields[1], fields[2]] = [(int(native, 16), int(il)) for il, native in pairs]
        for row in points.splitlines():
            found = re.match(r"(06[0-9a-f]{6}) (\d+) (\d+) (\d+):", row)
            if found:
                self.points[int(found[1], 16)].append((int(found[2]), int(found[4])))

    def line_of_il(self, token, il):
        points = self.points[token]
        at = bisect.bisect_right(points, (il, 1 << 30))
        return points[at - 1][1] if at else 0

    def table(self, start):
        """(native offset, line), ascending. Places without IL count for what is before them, and those
        around the body for its first and its last line.
        """
        if start not in self.made:
            method, version, token = self.codes[start]
            table, line = [], 0
            for native, il in sorted(self.maps.get((method, version), []), key=lambda entry: entry[0]):
                if il == NO_IL:
                    continue
                found = self.line_of_il(token, 0 if il == PROLOG else 1 << 29 if il == EPILOG else il)
                line = found if found or il >= 0 else line
                table.append((native, line))
            self.made[start] = table
        return self.made[start]

    def line(self, start, offset):
        table = self.table(start)
        at = bisect.bisect_right(table, (offset, 1 << 30))
        return table[at - 1][1] if at else 0


def check_stream(frames, lines, source):
    """All addresses against stream and PDB; a return address is behind its call."""
    counts = collections.Counter()
    wrong, places = set(), set()
    for frame in frames:
        if frame.start not in lines.codes or not lines.table(frame.start):
            counts["not told"] += 1
            continue
        wanted = lines.line(frame.start, frame.offset - (not frame.is_leaf))
        counts["interrupted" if frame.is_leaf else "returned to"] += 1
        places.add((frame.start, frame.offset))
        if frame.place != (f"{source}:{wanted}" if wanted else None):
            wrong.add(f"{frame.name}+{frame.offset:#x} of {frame.start:#x}: {frame.place} instead of line {wanted}")
    print(f"by stream and PDB: {dict(counts)}, {len(places)} different")
    faults = sorted(wrong)[:20]
    if counts["interrupted"] < NEEDED_INTERRUPTED:
        faults.append(f"only {counts['interrupted']} interrupted addresses were compared")
    if counts["not told"] > counts.total() / 20:
        faults.append(f"{counts['not told']} sampled addresses are of code that the stream does not tell of")
    return faults


def read_events(dump, recording, folder):
    with zipfile.ZipFile(recording) as members:
        names = [name for name in members.namelist() if name.endswith(".nettrace")]
        if len(names) != 1:
            polyperf.fail(f"event streams in the recording: {names}")
        stream = folder / "events.nettrace"
        stream.write_bytes(members.read(names[0]))
    return polyperf.run(dump, stream).stdout


def main(program, dump, case):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        log = place.root / "log"
        write_source(place.root / "Sites.cs")
        built = csharp.build(place.root / "Sites.cs", "sites", "-optimize", "-debug:portable")
        source, symbols = built.with_name("Sites.cs"), built.with_suffix(".pdb")
        oracle = csharp.build(TESTS / "clr" / "Points.cs", "points", "-debug:portable")
        if case == "optimized":
            place.environment["DOTNET_TieredCompilation"] = "0"
        recording, _ = place.record(program, ["dotnet", built, log, SECONDS], "-F", "2000")
        text = polyperf.run(program, "script", "--raw-names", "-F", "+srcline,+symoff", "-i", recording).stdout
        frames = list(read_frames(text))
        faults = check_runtime(frames, log, source)
        lines = Lines(read_events(dump, recording, place.root), polyperf.run("dotnet", oracle, symbols).stdout)
        faults += check_stream(frames, lines, source)
    if faults:
        polyperf.fail(*faults)


main(*sys.argv[1:])
