"""Lines of .NET code: those of sampled addresses, against the runtime's own IL and the PDB.

    clr_lines_test.py POLYPERF jit|optimized

A program calls from some thousand places. For each place it tells the native offset and the IL that the
runtime says it is of, and the line that System.Reflection.Metadata finds for that in the PDB. The same
places are return addresses in the samples' call chains: there ours must be that line. optimized: without
tiers, so that all of it has callees inlined.
"""
import collections
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "lib"))
import csharp  # noqa: E402
import live  # noqa: E402
import polyperf  # noqa: E402

METHODS = 40
CALLS = 30  # of each method
SECONDS = "2"
NEEDED = 1000  # sampled addresses
NEEDED_PLACES = 300  # of them that are different
FRAME = re.compile(r"^\t\s*([0-9a-f]+) .*\[sites\] (?!Truth::)\S+::(\S+?)\(.*\+0x([0-9a-f]+) \((.*)\)$")
IN_KERNEL = re.compile(r"^\t\s*[89a-f][0-9a-f]{15} ")
SHAPES = ("x += Truth.Spin({n});", "x = x + 1 - Truth.Spin(\n            x);", "if (Truth.Spin({n}) > 0) x++;",
          "for (int i = 0; i < 2; i++)\n            x += Truth.Spin(i);", "x += Inlined({n});",
          "{{ int y = Truth.Spin({n}) + Truth.Spin({n} + 1);\n        x += y; }}")


def write_source(path):
    methods = []
    for method in range(METHODS):
        lines = "\n        ".join(SHAPES[(method + n) % len(SHAPES)].format(n=n) for n in range(CALLS))
        methods.append(f"static int Method{method}(int x)\n    {{\n        {lines}\n        return x & 7;\n    }}\n")
    calls = "\n        ".join(f"x += Method{n}(x);" for n in range(METHODS))
    methods.append(f"static int All(int x)\n    {{\n        {calls}\n        return x & 7;\n    }}\n")
    template = (TESTS / "clr" / "Sites.cs").read_text()
    path.write_text(template.replace("//SITES//", "\n    ".join(methods), 1))


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


def sampled_calls(text):
    """((method, native offset), place) of return addresses; the innermost frame of the user's is none."""
    is_first = False
    call = None
    for line in text.splitlines() + [""]:
        if line.startswith("  ") and call:
            yield call, line.strip()
            call = None
            continue
        if call:
            yield call, None
            call = None
        if line.startswith("\t"):
            found = FRAME.match(line)
            if found and not is_first and found[4] != "inlined":
                call = found[2], int(found[3], 16)
            if not IN_KERNEL.match(line) and not line.endswith("(inlined)"):
                is_first = False
        elif line.strip() and not line.startswith("  "):
            is_first = True


def compare(calls, truth, source):
    """Counts of what was compared, and faults."""
    counts = collections.Counter()
    faults = set()
    places = set()
    for (name, offset), place in calls:
        wanted = truth.get((name, offset), -1)
        if wanted in (-1, None):
            counts["not told" if wanted == -1 else "of two versions"] += 1
            continue
        expected = f"{source}:{wanted}" if wanted else None
        counts["compared"] += 1
        counts["without a line"] += not wanted
        places.add((name, offset))
        if place != expected:
            faults.add(f"{name}+{offset:#x}: {place} instead of {expected}")
    return counts, places, sorted(faults)


def main(program, case):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        source = place.root / "Sites.cs"
        write_source(source)
        built = csharp.build(source, place.root / "sites.dll", "-optimize", "-debug:portable",
                             f"-pdb:{place.root / 'sites.pdb'}")
        if case == "optimized":
            place.environment["DOTNET_TieredCompilation"] = "0"
        log = place.root / "log"
        recording, _ = place.record(program, ["dotnet", built, log, SECONDS], "-F", "2000")
        text = polyperf.run(program, "script", "--raw-names", "-F", "+srcline,+symoff", "-i", recording).stdout
        truth, faults = read_truth(log)
        counts, places, wrong = compare(sampled_calls(text), truth, source)
    print(f"{len(truth)} places told; sampled addresses: {dict(counts)}, {len(places)} different")
    faults += wrong[:20]
    if counts["compared"] < NEEDED or len(places) < NEEDED_PLACES:
        faults.append(f"only {counts['compared']} sampled addresses of {len(places)} places were compared")
    if counts["not told"] > counts["compared"] / 10:
        faults.append(f"{counts['not told']} sampled return addresses are not told of")
    if faults:
        polyperf.fail(*faults)


main(*sys.argv[1:])
