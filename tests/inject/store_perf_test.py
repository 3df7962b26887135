#!/usr/bin/env python3
"""Images where polyperf puts them, found by those who look for them by build id.

    store_perf_test.py STORE_IMAGE BUSY CASE

Cases: layout and list (perf buildid-cache), report, archive, debuginfod. BUSY, an ELF file with a
build id, stands for an image.
"""
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import polyperf

PID = 4242
PORT = 18002
INSIDE = "--inside"


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


# --- a debuginfod, in a network of its own: it listens on every address ---


def enter_network(arguments):
    need("debuginfod", "debuginfod-find", "unshare")
    words = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-n"]
    probe = subprocess.run([*words, "true"], capture_output=True, text=True)
    if probe.returncode:
        polyperf.skip(f"{' '.join(words)}: {probe.stderr.strip()}")
    done = subprocess.run([*words, sys.executable, "-B", __file__, *arguments, INSIDE])
    sys.exit(done.returncode)


def bring_loopback_up():
    SIOCSIFFLAGS, IFF_UP = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


@contextlib.contextmanager
def server(folder, state):
    log = open(state / "log", "w")
    process = subprocess.Popen(["debuginfod", "-F", "-p", str(PORT), "-d", state / "db.sqlite",
                                "-t", "60", "-g", "0", folder], stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_for(build_id, process, state):
    """The server scans the folder first."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(
                    f"http://127.0.0.1:{PORT}/buildid/{build_id}/executable") as answer:
                return answer.status == 200
        except (urllib.error.URLError, ConnectionError):
            if process.poll() is not None:
                break
            time.sleep(0.1)
    print((state / "log").read_text()[-2000:])
    return False


def debuginfod_faults(store):
    bring_loopback_up()
    state = store.folder / "state"
    state.mkdir()
    image = pathlib.Path(store.put(cache=False))
    environment = {**os.environ, "DEBUGINFOD_URLS": f"http://127.0.0.1:{PORT}",
                   "DEBUGINFOD_CACHE_PATH": str(state / "client")}
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        environment.pop(variable, None)
        os.environ.pop(variable, None)
    faults = []
    with server(store.folder / "OUT.data.d", state) as process:
        if not wait_for(store.build_id, process, state):
            return ["the server does not know the build id"]
        for what in ("executable", "debuginfo"):
            found = polyperf.run("debuginfod-find", what, store.build_id, env=environment)
            if pathlib.Path(found.stdout.strip()).read_bytes() != image.read_bytes():
                faults.append(f"{what}: another file")
        unknown = subprocess.run(["debuginfod-find", "executable", "00" * 20], env=environment,
                                 capture_output=True)
        if unknown.returncode == 0:
            faults.append("the server knows what is not there")
    return faults


CASES = {"layout": layout_faults, "list": list_faults, "report": report_faults,
         "archive": archive_faults, "debuginfod": debuginfod_faults}


def main():
    arguments = [word for word in sys.argv[1:] if word != INSIDE]
    program, busy, case = arguments
    if case == "debuginfod" and INSIDE not in sys.argv:
        enter_network(arguments)
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
