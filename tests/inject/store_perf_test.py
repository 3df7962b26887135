#!/usr/bin/env python3
"""Images where polyperf puts them, found by those who look for them by build id.

    store_perf_test.py STORE_IMAGE BUSY CASE

Cases: layout and list (perf buildid-cache), report, archive, debuginfod. BUSY, an ELF file with a
build id, stands for an image.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import debuginfod
import live
import polyperf

PID = 4242


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            polyperf.skip(f"{program} is not installed")


def build_id_of(path):
    notes = polyperf.run("readelf", "-n", path).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes)[1]


def tree(root):
    """Every entry below it: what it is, with the mode of a file and the target of a link."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(root))] = f"link to {os.readlink(path)}"
        else:
            found[str(path.relative_to(root))] = "folder" if path.is_dir() else "file"
    return found


class Store:
    def __init__(self, program, busy, folder):
        self.program, self.busy, self.folder = program, busy, folder
        self.cache = folder / "cache"
        self.build_id = build_id_of(busy)

    def put(self, cache):
        out = self.folder / "OUT.data"
        return polyperf.run(self.program, out, self.cache if cache else "", PID, "busy",
                            self.build_id, self.busy).stdout.strip()


def perf_with_cache(cache, *words, **options):
    return polyperf.run("perf", "--buildid-dir", cache, *words, **options).stdout


def layout_faults(store):
    """Perf makes of a file at the path that records name, entry by entry, the same cache."""
    named = pathlib.Path(store.put(cache=True))
    ours = tree(store.cache)
    shutil.rmtree(store.cache)
    named.parent.mkdir(parents=True)
    shutil.copy(store.busy, named)
    perf_with_cache(store.cache, "buildid-cache", "-a", named)
    perfs = {path: kind for path, kind in tree(store.cache).items()
             if not path.endswith("/probes")}
    return [f"{path}: {ours.get(path)}, perf makes it {perfs.get(path)}"
            for path in sorted(ours.keys() | perfs.keys()) if ours.get(path) != perfs.get(path)]


def list_faults(store):
    named = store.put(cache=True)
    listed = perf_with_cache(store.cache, "buildid-cache", "-l")
    return [] if listed.split() == [store.build_id, named] else [f"perf lists {listed!r}"]


def record_what_is_gone(store):
    """A recording of a program that is nowhere but in the cache then."""
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    program, data = store.folder / "gone", store.folder / "perf.data"
    shutil.copy(store.busy, program)
    polyperf.run("perf", "record", "-q", "-N", "-e", "cpu-clock:u", "-o", data, "--", program)
    program.unlink()
    return data


def report_faults(store):
    data = record_what_is_gone(store)
    view = ("report", "--stdio", "-i", data)
    if "spin_in_busy" in perf_with_cache(store.cache, *view):
        return ["perf finds the symbol without the cache: this shows nothing"]
    store.put(cache=True)
    report = perf_with_cache(store.cache, *view)
    return [] if "spin_in_busy" in report else [f"perf does not find the image: {report[-1000:]}"]


def archive_faults(store):
    need("bzip2")
    data = record_what_is_gone(store)
    store.put(cache=True)
    perf_with_cache(store.cache, "archive", data)
    with tarfile.open(f"{data}.tar.bz2") as archive:
        archive.extractall(store.folder / "unpacked")
    # As on another machine.
    report = perf_with_cache(store.folder / "unpacked", "report", "--stdio", "-i", data)
    return [] if "spin_in_busy" in report else [f"not in the archive: {report[-1000:]}"]


def debuginfod_faults(store):
    state = store.folder / "state"
    state.mkdir()
    image = pathlib.Path(store.put(cache=False))
    faults = []
    with debuginfod.serving(store.folder / "OUT.data.d", state) as server:
        if not server.wait_for(store.build_id):
            return ["the server does not know the build id"]
        for what in ("executable", "debuginfo"):
            found = server.find(what, store.build_id)
            if found is None or found.read_bytes() != image.read_bytes():
                faults.append(f"{what}: another file, or none")
        if server.find("executable", "00" * 20):
            faults.append("the server knows what is not there")
    return faults


CASES = {"layout": layout_faults, "list": list_faults, "report": report_faults,
         "archive": archive_faults, "debuginfod": debuginfod_faults}


def main():
    program, busy, case = sys.argv[1:]
    if case == "debuginfod":
        debuginfod.enter_network()
    need("readelf")
    if case != "debuginfod":
        need("perf")
    with tempfile.TemporaryDirectory(prefix="store-test-") as name:
        folder = pathlib.Path(name).resolve()
        os.environ["HOME"] = str(folder)
        faults = CASES[case](Store(program, busy, folder))
    if faults:
        polyperf.fail(*faults)
    print("1 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    main()
