#!/usr/bin/env python3
"""Programs of .NET, each recorded: are samples in managed code named, whatever the runtime is told to do?

    dotnet_test.py POLYPERF CASE

matrix: the workload with ReadyToRun, tiers, PGO and W^X on and off, so that each pair of settings is met once;
all 16 with $POLYPERF_DOTNET_ALL. web: an ASP.NET Core server under load. roslyn: a compiler. build: `dotnet build`
of a console project. runtime-8, runtime-9, core-2.0: the workload on older runtimes. stacks-fp, stacks-dwarf: managed
frames, and native ones between them, to the start of the thread.

Managed is what tests/lib/managed.py finds by mappings alone; 99 of 100 such samples must have a name. Shares of
alpha, beta and gamma must be the program's own within 5 points. Exit code 77: there is no .NET, or no runtime.
"""
import collections
import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import csharp  # noqa: E402
import dotnet  # noqa: E402
import live  # noqa: E402
import managed  # noqa: E402
import polyperf  # noqa: E402
import runtime_test  # noqa: E402

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SWITCHES = ("DOTNET_ReadyToRun", "DOTNET_TieredCompilation", "DOTNET_TieredPGO", "DOTNET_EnableWriteXorExecute")
# Whichever two are taken of the four, each of their four combinations is in a row.
PAIRWISE = ("1111", "1000", "0100", "0010", "0001")
RUNTIMES = {"runtime-8": "net8.0", "runtime-9": "net9.0"}
WHOLE_STACKS = 95.0  # percent
OLD_NAMED_SHARE = 95.0  # .NET Core 2.0 tells of few stubs, and its line of a method with an umlaut is torn
# What begins threads has no frame pointer itself.
STARTS = r"(_start|__libc_start_call_main|start_thread|(__GI_)?(__)?clone3?)$"


def settings():
    """Rows of the matrix."""
    assert all({(row[i], row[j]) for row in PAIRWISE} == set(itertools.product("01", "01"))
               for i, j in itertools.combinations(range(len(SWITCHES)), 2)), "a pair is missing"
    rows = map("".join, itertools.product("10", repeat=4)) if os.environ.get("POLYPERF_DOTNET_ALL") else PAIRWISE
    return [dict(zip(SWITCHES, row)) for row in rows]


def matrix(place):
    work = csharp.build_workload(dotnet.WORKLOADS / "Work.cs", "work")
    program, _ = dotnet.sdk()
    faults = []
    for row in settings():
        title = " ".join(f"{name.removeprefix('DOTNET_')}={value}" for name, value in row.items())
        print(title)
        place.environment.update(row)
        recording, printed = place.record(PROGRAM, [program, work, "0.4"], "-q", "-F", "4999", "-g", "fp")
        faults += [f"{title}: {fault}" for fault in (
            *live.workload_faults(PROGRAM, recording, printed), *managed.naming_faults(PROGRAM, recording),
            *live.left_behind(place, live.recorded_pids(recording)))]
    return faults


def ask(address, end, counts):
    """Requests one after the other, until `end` is set."""
    host, port = re.match(r"http://([^:]+):(\d+)", address).groups()
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    while not end.is_set():
        for method, path, body in (("GET", "/", None), ("GET", "/squares/300", None),
                                   ("POST", "/turned", "some words to turn " * 50), ("GET", "/nowhere", None)):
            connection.request(method, path, body)
            connection.getresponse().read()
            counts.append(1)
    connection.close()


def under_load(recorder, seconds):
    """Clients until the server has spent so much time; then it is told to end."""
    address = recorder.stdout.readline()
    server = live.child_of(recorder.pid, "dotnet")
    end, counts = threading.Event(), []
    clients = [threading.Thread(target=ask, args=(address, end, counts)) for _ in range(2)]
    for client in clients:
        client.start()
    try:
        live.let_run(recorder, server, seconds)
    finally:
        end.set()
        for client in clients:
            client.join()
        os.kill(server, signal.SIGTERM)
    _, said = recorder.communicate(timeout=120)
    print(f"{len(counts)} requests; {said.strip()}")
    return [] if recorder.returncode == 0 and len(counts) > 100 else [f"exit {recorder.returncode}, {len(counts)} requests"]


def web(place):
    server = dotnet.build("Web.cs", "web.csproj")
    program, _ = dotnet.sdk()
    recording = place.out / "recording.data"
    recorder = place.start(PROGRAM, "record", "-q", "--interpreters", "off", "-F", "1999", "-g", "fp", "-o", recording,
                           "--", program, server)
    return [*under_load(recorder, 2.5), *managed.naming_faults(PROGRAM, recording, minimum=1000),
            *names_faults(recording, ("Microsoft.AspNetCore.", "System.Text.Json.", "Squares"))]


def names_faults(recording, wanted):
    """Each of these is in the name of some function of the report, or of a caller."""
    text = polyperf.run(PROGRAM, "report", "--children", "--format", "csv", "-i", recording).stdout
    rows = polyperf.read_report(text, polyperf.CHILDREN_HEADER)
    return [f"no function of {name}" for name in wanted if not any(name in row["symbol"] for row in rows)]


def roslyn(place):
    command = dotnet.compiler_command(place.root, 12)
    recording, _ = place.record(PROGRAM, command, "-q", "-F", "1999", "-g", "fp")
    return [*managed.naming_faults(PROGRAM, recording, minimum=1000),
            *names_faults(recording, ("Microsoft.CodeAnalysis.CSharp.",))]


def build(place):
    project = place.root / "console"
    command = dotnet.project_to_build(project)
    place.environment.update(dotnet.QUIET)
    recording, _ = place.record(PROGRAM, command, "-q", "-F", "499", "-g", "fp", cwd=project)
    return [*managed.naming_faults(PROGRAM, recording, minimum=1000),
            *names_faults(recording, ("Microsoft.Build.", "Microsoft.CodeAnalysis."))]


def older(place, framework):
    work = dotnet.publish(place.root / "built", framework)
    recording, printed = place.record(PROGRAM, [work, "0.5"], "-q", "-F", "4999", "-g", "fp")
    return [*live.workload_faults(PROGRAM, recording, printed), *managed.naming_faults(PROGRAM, recording),
            *live.left_behind(place, live.recorded_pids(recording))]


def core(place):
    """.NET Core 2.0, which has a perf map alone, asked for by an older variable; of precompiled code it tells nothing."""
    program = runtime_test.fetched("DOTNET_CORE", "dotnet2.0")
    runtime_test.tool("mcs")
    built = runtime_test.compile_to(place, "mcs", "-out:work.dll", dotnet.WORKLOADS / "Work.cs")
    (built / "work.runtimeconfig.json").write_text(json.dumps({"runtimeOptions": {
        "framework": {"name": "Microsoft.NETCore.App", "version": "2.0.0"},
        "configProperties": {"System.Globalization.Invariant": True}}}))
    recording, printed = place.record(PROGRAM, [program, built / "work.dll", "1"], "-q", "-F", "1999", "-g", "fp")
    return [*live.workload_faults(PROGRAM, recording, printed),
            *managed.naming_faults(PROGRAM, recording, floor=OLD_NAMED_SHARE),
            *live.left_behind(place, live.recorded_pids(recording))]


def stacks(recording, name):
    """Names of the stacks, innermost first, in which a function is."""
    text = polyperf.run(PROGRAM, "script", "-i", recording, "--ns", "--no-inline", "-F", "pid,tid,time,ip,sym").stdout
    names = ([frame.name for frame in sample.frames] for sample in polyperf.read_script(text))
    return [stack for stack in names if any(name in frame for frame in stack)]


def whole_faults(found, name, minimum=50):
    """The share of stacks that go on to where a thread begins."""
    whole = sum(bool(stack and re.match(STARTS, stack[-1])) for stack in found)
    share = 100 * whole / max(len(found), 1)
    print(f"  {len(found)} stacks with {name}, {share:.2f} % whole")
    ends = collections.Counter(stack[-1] for stack in found if not re.match(STARTS, stack[-1]))
    for end, count in ends.most_common(5):
        print(f"    ended {count}: in {end}")
    return [f"{len(found)} stacks with {name}, {share:.2f} % whole"] if share < WHOLE_STACKS or whole < minimum else []


def mixed(place):
    """Managed code that the C library's qsort calls, which managed code called: from copied stacks."""
    program, _ = dotnet.sdk()
    work = csharp.build_workload(dotnet.WORKLOADS / "Mixed.cs", "mixed")
    recording, _ = place.record(PROGRAM, [program, work, "0.8"], "-q", "-F", "499", "-g", "dwarf,16384")
    found = stacks(recording, "Mixed.Compare")
    wanted = ("Mixed.Compare", "qsort", "Mixed.Sort", "Mixed.Run", "Thread.StartCallback")
    ordered = sum(in_order(stack, wanted) for stack in found)
    print(f"  {ordered} of {len(found)} go through {', '.join(wanted)}")
    faults = whole_faults(found, "Mixed.Compare")
    return faults if ordered >= 0.99 * len(found) else [*faults, f"only {ordered} of {len(found)} stacks are in order"]


def in_order(stack, wanted):
    """Whether these are parts of names of the stack, the one above the other."""
    frames = iter(stack)
    return all(any(part in frame for frame in frames) for part in wanted)


def pointers(place):
    """Managed code keeps frame pointers: stacks of the workload as the kernel walks them."""
    program, _ = dotnet.sdk()
    work = csharp.build_workload(dotnet.WORKLOADS / "Work.cs", "work")
    recording, _ = place.record(PROGRAM, [program, work, "0.4"], "-q", "-F", "1999", "-g", "fp")
    return whole_faults(stacks(recording, "Work.alpha"), "Work.alpha")


CASES = {"core-2.0": core, "stacks-fp": pointers, "stacks-dwarf": mixed, "matrix": matrix, "web": web, "roslyn": roslyn, "build": build,
         **{name: lambda place, framework=framework: older(place, framework) for name, framework in RUNTIMES.items()}}


def main():
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        faults = CASES[sys.argv[2]](place)
    if faults:
        polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in CASES:
        sys.exit(f"{__doc__}\ncases: {' '.join(CASES)}")
    main()
