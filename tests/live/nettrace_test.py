"""Event streams of .NET: every event, method, map, module and type as the TraceEvent library reads them.

    nettrace_test.py POLYPERF NETTRACE_DUMP
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "lib"))
import csharp  # noqa: E402
import dotnet  # noqa: E402
import polyperf  # noqa: E402

EVENTS = ("Microsoft-Windows-DotNETRuntime:0x40000a0018:5,"
          "Microsoft-Windows-DotNETRuntimePrivate:0x40000:5")
STATEMENTS = 4000  # so many places that the map of one method comes in three events
PROVIDERS = {"1": "Microsoft-Windows-DotNETRuntime", "2": "Microsoft-Windows-DotNETRuntimeRundown"}
TIERS = {"InstrumentedTier": "QuickJittedInstrumented", "InstrumentedTierOptimized": "OptimizedTier1Instrumented",
         "PreJIT": "Unknown"}  # as the library calls them
TIER_BITS = 0x380  # which the library takes out of the flags
LEAST = {"method": 20, "map": 10, "module": 3, "details": 20, "types": 20,
         "rundown method": 100, "rundown map": 10, "rundown module": 3}


def compile_program(folder):
    """tests/data/nettrace/Work.cs with one method made large."""
    source = (TESTS / "data" / "nettrace" / "Work.cs").read_text()
    statement = "        x = x * 3 + sink; sink += x;\n"
    (folder / "Work.cs").write_text(source.replace(statement, statement * STATEMENTS))
    return csharp.build(folder / "Work.cs", "stream", "-optimize")


def record(program, stream, **more):
    environment = dict(os.environ, DOTNET_EnableEventPipe="1", DOTNET_EventPipeOutputStreaming="1",
                       DOTNET_EventPipeOutputPath=str(stream), DOTNET_EventPipeConfig=EVENTS,
                       DOTNET_RichDebugInfo="1")
    environment.update(more)
    subprocess.run(["dotnet", program], env=environment, check=True, stdout=subprocess.DEVNULL, timeout=60)
    return stream


def build_oracle():
    folder = TESTS / "live" / "nettrace"
    return dotnet.made(["build"], [folder / "TraceEvents.cs", folder / "TraceEvents.csproj"],
                       missing=r"NU1\d\d\d") / "TraceEvents.dll"


def lines_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        polyperf.fail(f"{command[0]}: {done.stdout[-500:]}{done.stderr[-1000:]}")
    return [line.split("\t") for line in done.stdout.split("\n") if line]


def as_the_library_says(fields):
    """Of one line of ours; None for what the library does not give."""
    kind = fields[0]
    if kind == "event":
        _, provider, number, version, _, thread, size = fields
        return (kind, PROVIDERS.get(provider, ""), number, version, thread, size)
    if kind.endswith("method") or kind == "unload":
        fields[6] = format(int(fields[6], 16) & ~TIER_BITS, "x")
        tier = fields.pop(8)
        fields.insert(7, TIERS.get(tier, tier))
    return tuple(fields)


def theirs(fields):
    if fields[0] == "event" and fields[1] not in PROVIDERS.values():
        fields[1] = ""  # it does not know the name of the private one
    return tuple(fields)


def check_rich(lines):
    """What the library does not read: against what the source says, and the other map."""
    names = {line[1]: line[10] for line in lines if line[0] == "method" and line[9] == "Work"}
    found = {names[line[1]]: line for line in lines if line[0] == "rich" and line[1] in names}
    if int(found["Huge"][4]) < STATEMENTS:
        polyperf.fail(f"the large method has {found['Huge'][4]} places")
    parents = [node.split("<")[1] for node in found["Outer"][5].split(" ")]
    inlined = [node.split("@")[0] for node in found["Outer"][5].split(" ")]
    if sorted(parents) != ["-1", "0", "0", "1", "1"] or len(set(inlined)) != 3:
        polyperf.fail(f"Outer inlines {found['Outer'][5]}")
    maps = {line[1]: line for line in lines if line[0] == "map"}
    for name, line in found.items():
        places = {place.rsplit(":", 2)[0] for place in line[6].split(" ") if place.split(":")[2] == "0"}
        plain = {place for place in maps[line[1]][4].split(" ") if not place.startswith("-")}
        if len(places & plain) * 2 < len(plain):
            polyperf.fail(f"{name}: {sorted(places)[:9]} are not the places {sorted(plain)[:9]}")
    return len(found)


def check_lost(dump, oracle, program, folder):
    """With a buffer that is far too small, both miss the same number of events."""
    stream = record(program, folder / "lost.nettrace", DOTNET_EventPipeCircularMB="1",
                    DOTNET_EventPipeConfig="Microsoft-Windows-DotNETRuntime:0xffffffffffffffff:5")
    ours = lines_of(dump, stream, "quiet")[-1][4]
    wanted = [line[1] for line in lines_of("dotnet", oracle, stream) if line[0] == "lost"][0]
    if ours != wanted:
        polyperf.fail(f"{ours} lost events instead of {wanted}")
    return ours


def main():
    dump = sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = compile_program(folder)
        stream = record(program, folder / "work.nettrace")
        lines = lines_of(dump, stream)
        if lines[-1][:2] != ["end", "0"] or lines[-1][3:] != ["1", "0"] or any(line[0] == "problem" for line in lines):
            polyperf.fail(f"the stream is not whole: {lines[-1]}")
        oracle = build_oracle()
        wanted = collections.Counter(theirs(line) for line in lines_of("dotnet", oracle, stream)
                                     if line[0] != "lost")
        lost = check_lost(dump, oracle, program, folder)
    rich = check_rich([list(line) for line in lines])
    got = collections.Counter(as_the_library_says(line) for line in lines
                              if line[0] not in ("stream", "end", "rich"))
    for what, count in (got - wanted).most_common(3):
        print(f"ours alone, {count}: {what}")
    for what, count in (wanted - got).most_common(3):
        print(f"theirs alone, {count}: {what}")
    if got != wanted:
        polyperf.fail("the two readers differ")
    kinds = collections.Counter(key[0] for key in got.elements())
    for kind, least in LEAST.items():
        if kinds[kind] < least:
            polyperf.fail(f"only {kinds[kind]} of {kind}")
    print(f"{sum(got.values())} lines agree; {rich} maps with inlined methods; {lost} lost in a small buffer:",
          dict(kinds))


main()
