"""A program that NativeAOT compiled: methods, lines, and what is not .NET's in the same object.

    nativeaot_test.py POLYPERF

The workload of the other runtimes is published, recorded and reported: alpha, beta and gamma within 5
points of what it prints, by their names in C#, of runtime dotnet and tier aot, with the lines that they
stand in; the raw names are what stock perf shows. It is stripped, as by default: names and lines
come from work.dbg beside it. Exit code 77: there is no SDK, or no compiler of NativeAOT to be had.
"""
import collections
import pathlib
import re
import shutil
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "lib"))
import dotnet  # noqa: E402
import live  # noqa: E402
import polyperf  # noqa: E402

WORKLOADS = TESTS / "live" / "workloads"
NEEDED = {"dotnet": "the SDK of .NET", "clang": "clang, which links for NativeAOT", "perf": "stock perf"}
# What says that the compiler's package, or what it links with, is not there.
MISSING = r"NU1\d\d\d|NETSDK1\d\d\d|MSB3073|Platform linker|unable to find library"


def publish():
    for program, what in NEEDED.items():
        if not shutil.which(program):
            polyperf.skip(f"{what} is not installed")
    return dotnet.made(["publish", "-p:PublishAot=true", "-r", "linux-x64"],
                       [WORKLOADS / "Work.cs", WORKLOADS / "work.csproj"], MISSING) / "work"


def rows_of(program, recording, *options):
    text = polyperf.run(program, "report", "-i", recording, "--format=csv", *options).stdout
    return polyperf.read_report(text)


def share_faults(rows, printed):
    counts = collections.Counter()
    for row in rows:
        if (row["runtime"], row["tier"]) == ("dotnet", "aot"):
            name = re.fullmatch(r"Work\.(alpha|beta|gamma)", row["symbol"])
            counts[name[1] if name else ""] += row["samples"]
    return polyperf.share_faults(counts, polyperf.shares_printed(printed))


def line_faults(program, recording):
    """The line of each sample in alpha is the one in which it is written."""
    source = (WORKLOADS / "Work.cs").read_text(encoding="utf-8").split("\n")
    line = next(i for i, text in enumerate(source, 1) if " alpha(int n" in text)
    text = polyperf.run(program, "script", "-i", recording, "-F", "+srcline").stdout
    places = re.findall(r"\sWork\.alpha\+\S+ \(.*\)\n\s+(\S+)", text)
    right = sum(place.endswith(f"/Work.cs:{line}") for place in places)
    return [] if right > 100 and right == len(places) else [f"lines of alpha: {right} of {len(places)} right"]


def main(program):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        built = publish()
        if not built.with_name("work.dbg").is_file():
            polyperf.fail("it was not stripped")
        recording, printed = place.record(program, [built, "0.8"], "-F", "4999", "-g")
        print(printed.strip())
        rows = rows_of(program, recording)
        faults = share_faults(rows, printed) + line_faults(program, recording)
        # The runtime's own code in C++ is in the same object.
        native = {row["symbol"] for row in rows if row["object"] == "work" and row["runtime"] == "native"}
        raw = {row["symbol"] for row in rows_of(program, recording, "--raw-names")}
        print(f"{len(rows)} functions; native ones of the program: {', '.join(sorted(native))[:200]}")
        stock = polyperf.run("perf", "report", "-i", recording, "--stdio", "--no-children", "-g", "none").stdout
        for name in ("work_Work__alpha", "work_Work__beta", "work_Work__gamma"):
            if name not in raw:
                faults.append(f"--raw-names has no {name}")
            if name not in stock:
                faults.append(f"stock perf has no {name}")
        if faults:
            polyperf.fail(*faults)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
