"""Which names of real runtimes come out equal when they are folded: those of two runs must not be
joined beyond what a process makes up while it runs.

    stable_corpus_test.py FOLD_NAMES
"""
import collections
import lzma
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from polyperf import fail  # noqa: E402 # pylint: disable=wrong-import-position

CAPTURES = pathlib.Path(__file__).resolve().parent.parent / "data/captures"

# By runtime: recordings, and how many different names each has at least.
RECORDINGS = {
    "v8": {"node20-perf-basic": 2000, "node20-perf-prof": 2000, "node24-perf-prof": 2000},
    "jvm": {"java17-jvmti": 200, "java17-perfmap": 200},
    "dotnet": {"dotnet10-azmcp-g0": 8000, "dotnet10-azmcp-g2": 8000},
    "mono": {"mono-jitmap": 100},
    "erlang": {"erlang25-dump": 8000, "erlang25-map": 8000},
    "python": {"py3.12-perfmap": 150, "py3.13-jitdump": 150},
    "php": {"php8.2-function": 40},
    "llvm": {"lli14-mcjit": 4},
}
# Of the names of a recording no more may need their numbers to be told apart between builds.
MOST_FOLDED = 0.02


def content(path):
    return lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()


def names_of_dump(data):
    at = struct.unpack_from("<I", data, 8)[0]
    while at + 16 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0 and size >= 56:
            yield data[at + 56:data.index(b"\0", at + 56)]
        at += max(size, 16)


def names_of_map(data):
    for line in data.splitlines():
        parts = line.split(b" ", 2)
        if len(parts) == 3:
            yield parts[2]


def names_of(capture):
    names = set()
    for path in sorted((CAPTURES / capture).iterdir()):
        if ".dump" in path.name:
            names.update(names_of_dump(content(path)))
        elif ".map" in path.name:
            names.update(names_of_map(content(path)))
    return sorted(name for name in names if name)


def joined(folded, column):
    """The names as people write them that one folded name stands for, where they are several."""
    groups = collections.defaultdict(set)
    for line in folded:
        groups[line[column]].add(line[0])
    return {key: names for key, names in groups.items() if len(names) > 1}


def fold(tool, runtime, names):
    """(as people write it, for runs, for builds) of each name."""
    output = subprocess.run([tool, runtime], input=b"\0".join(names) + b"\0",
                            stdout=subprocess.PIPE, check=True).stdout
    lines = [line.split(b"\t") for line in output.split(b"\n")]
    return [line for line in lines if len(line) == 3]


def main(tool):
    faults, folded_count = [], 0
    for runtime, recordings in RECORDINGS.items():
        for recording, least in recordings.items():
            folded = fold(tool, runtime, names_of(recording))
            count = len({line[0] for line in folded})
            runs, builds = joined(folded, 1), joined(folded, 2)
            in_builds = sum(map(len, builds.values()))
            folded_count += in_builds
            print(f"{recording}: {count} names, {sum(map(len, runs.values()))} joined for runs, "
                  f"{in_builds} for builds")
            if count < least:
                faults.append(f"{recording}: {count} names, not {least}")
            faults += [f"{recording}: for runs {sorted(names)} are {key}"
                       for key, names in runs.items()]
            if in_builds > MOST_FOLDED * count:
                faults.append(f"{recording}: {in_builds} names joined for builds: "
                              f"{sorted(builds)[:10]}")
    if not folded_count:
        faults.append("nothing is folded at all")
    if faults:
        fail(*faults)


if __name__ == "__main__":
    main(sys.argv[1])
