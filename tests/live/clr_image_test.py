"""Code compiled ahead: every method that the runtime writes into its jitdump has the same name, address and size in
its assembly's file.

    clr_image_test.py POLYPERF CLR_IMAGE_LIST
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "lib"))
import csharp  # noqa: E402
import oracle  # noqa: E402
import polyperf  # noqa: E402

ENOUGH = 2000  # methods compared: the compiler, with little to compile, runs some ten thousand
ASSEMBLIES = 10


def dumped(folder):
    """What the C# compiler runs of code compiled ahead, as the runtime tells: (address, size, name)."""
    sdk = csharp.newest(csharp.root() / "sdk")
    environment = dict(os.environ, DOTNET_PerfMapEnabled="1", DOTNET_PerfMapStubGranularity="2",
                       DOTNET_PerfMapJitDumpPath=str(folder))
    command = ["dotnet", str(sdk / "Roslyn" / "bincore" / "csc.dll"), "-nologo", "-unsafe", "-noconfig", "-nostdlib",
               "-target:library", f"-r:{csharp.framework() / 'System.Private.CoreLib.dll'}",
               f"-out:{folder / 'shapes.dll'}", str(TESTS / "clr" / "shapes.cs")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        polyperf.fail(f"{command}: {done.stdout[-2000:]}{done.stderr[-1000:]}")
    found = []
    for dump in folder.glob("jit-*.dump"):
        found += [(load.start, load.end - load.start, load.name)
                  for load in oracle.read_jitdump(dump.read_bytes()) if "[PreJ" in load.name]
    return found, sdk


def listed(program, path):
    """Each method once, with its funclets: {start: (size, name)}."""
    done = subprocess.run([program, str(path)], capture_output=True, text=True)
    methods = {}
    for line in done.stdout.splitlines():
        if line.startswith("#"):
            continue
        rva, size, start, _, name = line.split(" ", 4)
        is_cold = name.endswith("[PreJit-cold]")
        key = (int(start, 16), is_cold)
        first, _, _ = methods.setdefault(key, (int(rva, 16), 0, name))
        methods[key] = (first, int(rva, 16) + int(size, 16) - first, name)
    return {first: (size, name) for first, size, name in methods.values()}


def base_of(methods, found):
    """Where the assembly was loaded: the distance that most of its methods agree on."""
    by_name = collections.defaultdict(list)
    for start, (size, name) in methods.items():
        by_name[size, name].append(start)
    votes = collections.Counter(address - start for address, size, name in found
                                for start in by_name.get((size, name), ()))
    return votes.most_common(1)[0] if votes else (0, 0)


def main():
    with tempfile.TemporaryDirectory() as name:
        found, sdk = dumped(pathlib.Path(name))
    code, assemblies = {}, 0
    named = {assembly for _, _, method in found for assembly in re.findall(r"\[([\w.]+)\] ", method)}
    for path in sorted([*csharp.framework().glob("*.dll"), *(sdk / "Roslyn" / "bincore").glob("*.dll")]):
        if path.stem not in named:
            continue
        methods = listed(sys.argv[2], path)
        base, votes = base_of(methods, found)
        if votes:
            assemblies += 1
            code.update((base + start, method) for start, method in methods.items())
    for address, size, method in found:
        if code.get(address) != (size, method):
            polyperf.fail(f"{method} of {size} bytes is {code.get(address)} here")
    if len(found) < ENOUGH or assemblies < ASSEMBLIES:
        polyperf.fail(f"only {len(found)} methods of {assemblies} assemblies")
    print(f"{len(found)} methods of {assemblies} assemblies")


main()
