#!/usr/bin/env python3
"""Code of .NET that was compiled ahead (ReadyToRun): its names, against others' word.

    clr_test.py POLYPERF LIST

LIST is clr_image_list. Each method of the framework's largest assembly is held against a listing by
System.Reflection.Metadata, and against what the runtime told of those that ran. Where the runtime tells
nothing, samples in assemblies are named all the same, but not by another build of the file; and stock
perf has the same names of them, injected.
"""
import collections
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import csharp
import dotnet
import injected
import jitdump
import live
import oracle
import polyperf
import stock

CORE = "System.Private.CoreLib.dll"
COMPARED = 10000  # methods at least
NAMED = 99.0  # percent of the samples in assemblies
TIERS = r"\[(?:PreJIT|PreJit-cold)\]$"
DEPTHS = {"[": 1, "(": 1, "<": 1, "]": -1, ")": -1, ">": -1}  # by what opens and closes lists
Method = collections.namedtuple("Method", "rva size start token name")


def read_methods(text):
    """Of LIST: ranges of code by address, those of one method put together."""
    methods = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        rva, size, start, token, name = line.split(" ", 4)
        rva, size, start = (int(number, 16) for number in (rva, size, start))
        key = (start, "[PreJit-cold]" in name)
        first = methods.setdefault(key, Method(rva, size, start, token, name))
        methods[key] = first._replace(size=rva + size - first.rva)
    return list(methods.values())


def split(name):
    """(type without arguments, method without arguments, count of parameters) of a raw name."""
    text = re.sub(TIERS, "", name)
    depth, open_at = 0, len(text) - 1
    # The last list: pointers to functions have some, too.
    for found in reversed(list(re.finditer(r"[()]", text)) if text.endswith(")") else []):
        depth += DEPTHS[found[0]]
        if depth == 0:
            open_at = found.start()
            break
    owner, _, method = text[:open_at].partition("::")
    depth, start = 0, 0
    for found in re.finditer(r"[][()]", owner):
        depth += DEPTHS[found[0]]
        if found[0] == "]" and depth == 0 and owner[found.end():found.end() + 1] == " ":
            start = found.end() + 1
    parameters = text[open_at + 1:-1]
    depth, count = 0, 1 if parameters else 0
    for found in re.finditer(r"[][()<>,]", parameters):
        depth += DEPTHS.get(found[0], 0)
        count += found[0] == "," and depth == 0
    return without_arguments(owner[start:]), without_arguments(method), count


def without_arguments(name):
    return re.sub(r"\[.*\]$", "", name)


def listing_faults(methods, listing):
    """Names of all methods, against those of their tokens."""
    wanted = {}
    for line in listing.splitlines():
        token, owner, method, count = line.split("\t")
        wanted[token] = (owner, method, int(count))
    others = [f"{method.name}: the listing has {wanted.get(method.token)} at {method.token}"
              for method in methods if split(method.name) != wanted.get(method.token)]
    print(f"{len(methods)} methods, {len(others)} named otherwise by the listing")
    if len(methods) < COMPARED:
        return [f"only {len(methods)} methods"]
    return others[:5]


def mappings_of(recording, name):
    """(start, end, offset in the file, path) of what is mapped executable from files so named."""
    found = []
    for kind, misc, body in oracle.read_records(recording.read_bytes())[0]:
        if kind == oracle.RECORD_MMAP2 and not misc & oracle.MISC_MMAP_DATA:
            _, _, start, size, off = struct.unpack_from("<IIQQQ", body)
            path = body[64:].split(b"\0")[0].decode()
            if path.endswith("/" + name):
                found.append((start, start + size, off, path))
    return found


def sections_of(path):
    """(RVA, offset in the file, bytes in the file) of a PE file's sections."""
    data = pathlib.Path(path).read_bytes()[:4096]
    header = struct.unpack_from("<I", data, 60)[0]
    count, options_size = struct.unpack_from("<H12xH", data, header + 6)
    at = header + 24 + options_size
    fields = [struct.unpack_from("<8xIIII", data, at + 40 * i) for i in range(count)]
    return [(rva, off, size) for _, rva, size, off in fields]


def rva_of(address, mapping, sections):
    start, _, mapped_off, _ = mapping
    off = address - start + mapped_off
    return next((rva + off - at for rva, at, size in sections if at <= off < at + size), None)


def told_faults(methods, recording):
    """What the runtime told of those that ran, against the file's own."""
    mappings = mappings_of(recording, CORE)
    sections = sections_of(mappings[0][3])
    by_start = {method.rva: method for method in methods}
    told = [code for name in zipfile.ZipFile(recording).namelist() if "/jit/" in name
            for code in jitdump.read(zipfile.ZipFile(recording).read(name))
            if re.search(TIERS, code.name)]
    seen, others = 0, []
    for code in told:
        for mapping in mappings:
            if mapping[0] <= code.address < mapping[1]:
                seen += 1
                rva = rva_of(code.address, mapping, sections)
                method = by_start.get(rva)
                if method is None or (method.size, method.name) != (code.size, code.name):
                    others.append(f"{code.name} at {rva:x}, {code.size} bytes, is {method}")
    print(f"{seen} methods told by the runtime, {len(others)} otherwise")
    return others[:5] if seen > 300 else [f"only {seen} of {len(told)} methods were told"]


def names(program, lister, place, command):
    recording, _ = place.record(program, command + ["busy", "1"], "-g", "no")
    path = mappings_of(recording, CORE)[0][3]
    methods = read_methods(place.run(lister, path).stdout)
    listing = place.run(*command, "list", path).stdout
    return listing_faults(methods, listing) + told_faults(methods, recording)


def assembly_faults(program, recording):
    """At least 99 of 100 samples in mapped assemblies must have the name of a method."""
    text = polyperf.run(program, "report", "--format", "csv", "-i", recording).stdout
    rows = [row for row in polyperf.read_report(text) if row["object"].endswith(".dll")]
    count = sum(row["samples"] for row in rows)
    named = sum(row["samples"] for row in rows if row["trust"] == "exact" and row["runtime"] == "dotnet"
                and row["tier"] in ("prejit", "stub"))
    print(f"{named} of {count} samples in assemblies named")
    if count < 100:
        return [f"only {count} samples in assemblies"]
    return [] if 100 * named >= NAMED * count else [f"{named} of {count} samples named"]


def other_build_faults(program, place, recording):
    """Another build of an assembly has other code: it names nothing."""
    path = mappings_of(recording, CORE)[0][3]
    other = place.out / "other.data"
    data = recording.read_bytes()
    build_id = build_id_of(data, path)
    assert any(build_id), "the recording has no build id of the assembly"
    other.write_bytes(data.replace(build_id, bytes(range(20))))
    text = polyperf.run(program, "report", "--format", "csv", "-i", other).stdout
    rows = [row for row in polyperf.read_report(text) if row["object"] == CORE]
    if not rows or any(row["trust"] != "unknown" for row in rows):
        return [f"another build names frames: {rows[:3]}"]
    return []


def inject_faults(program, place, recording):
    """Stock perf, which reads no assemblies, has the same names."""
    if not shutil.which("perf"):
        print("perf is not installed: not held against it")
        return []
    target = injected.inject(program, recording, place.out / "injected.data")
    own = [sample.frames[0] for sample in injected.own_script(program, recording, "-G")]
    theirs = [sample.frames[0] for sample in stock.Perf(place.root).script(target, "-G")]
    if len(own) != len(theirs):
        return [f"perf shows {len(theirs)} samples, polyperf {len(own)}"]
    methods = [(one, other) for one, other in zip(own, theirs)
               if one.dso.endswith(".dll") and one.name != stock.UNKNOWN]
    others = [f"{one.name} is {other.name} in perf" for one, other in methods
              if (one.name.strip(), one.offset) != (other.name.strip(), other.offset)]
    print(f"{len(methods)} samples in assemblies injected, {len(others)} named otherwise by perf")
    return others[:5] if len(methods) >= 100 else [f"only {len(methods)} samples in assemblies"]


def off(program, lister, place, command):
    recording, _ = place.record(program, command + ["busy", "1"], "--runtime", "dotnet=off", "-g",
                                "no", "-F", "4999")
    samples = len(oracle.read_recording(recording.read_bytes()))
    return (assembly_faults(program, recording) + live.stock_perf_faults(recording, samples)
            + other_build_faults(program, place, recording)
            + inject_faults(program, place, recording))


def build_id_of(data, path):
    for kind, _, body in oracle.read_records(data)[0]:
        if kind == oracle.RECORD_MMAP2 and body[64:].split(b"\0")[0].decode() == path:
            return body[36:56]
    return b""


def main():
    program, lister = sys.argv[1:]
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        command = [dotnet.sdk()[0], csharp.build_workload(dotnet.WORKLOADS / "Methods.cs", "methods")]
        faults = names(program, lister, place, command) + off(program, lister, place, command)
        if faults:
            polyperf.fail(*faults)


main()
