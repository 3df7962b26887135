"""Stock perf in a folder of its own: it looks for no file elsewhere and leaves none there."""
import collections
import contextlib
import functools
import os
import pathlib
import re
import shutil
import subprocess

import oracle
import polyperf

Sample = collections.namedtuple("Sample", "tid time event frames")
# The offset is None where there is no name; trust is what polyperf alone prints.
Frame = collections.namedtuple("Frame", "name offset dso trust", defaults=(None,))

HEAD = re.compile(r"\s*(-?\d+)\s+(\d+)\.(\d{9}):\s+(\S+?):(?:\s+(\S.*)?)?$")
NAMED = re.compile(r"\s*[0-9a-f]+ (.*)\+0x([0-9a-f]+) \((.*)\)(?: (\w+))?$")
# Stubs of .NET that are told of nowhere have a name in polyperf, and no symbol that perf could find.
UNNAMED = re.compile(r"\s*[0-9a-f]+ \[(?:unknown|unannounced)\] \((.*)\)(?: (\w+))?$")
UNKNOWN = "[unknown]"
FIELDS = "tid,time,event,ip,sym,symoff,dso"


@functools.cache
def read_frame(line):
    found = NAMED.match(line)
    if found:
        return Frame(found[1].strip(), int(found[2], 16), found[3], found[4])
    found = UNNAMED.match(line)
    if not found:
        polyperf.fail(f"no frame: {line!r}")
    return Frame(UNKNOWN, None, found[1], found[2])


def read_script(text):
    """Samples from `script --ns -F FIELDS`, of perf and of polyperf."""
    samples, frames = [], set()
    for line in text.split("\n"):
        if line in frames:  # most are there many times
            samples[-1].frames.append(read_frame(line))
            continue
        if not line.strip():
            continue
        found = HEAD.match(line)
        if found:
            time = int(found[2]) * 10**9 + int(found[3])
            samples.append(Sample(int(found[1]), time, found[4], []))
            if found[5]:
                samples[-1].frames.append(read_frame(found[5]))
        elif samples:
            samples[-1].frames.append(read_frame(line))
            frames.add(line)
        else:
            polyperf.fail(f"no sample: {line!r}")
    return samples


class Perf:
    def __init__(self, folder):
        self.program = shutil.which("perf")
        if not self.program:
            polyperf.skip("perf is not installed")
        self.folder = folder
        self.build_ids = folder / "build-ids"
        self.environment = {**os.environ, "HOME": str(folder), "PERF_CONFIG": "/dev/null",
                            "DEBUGINFOD_URLS": "", "PAGER": "cat", "LC_ALL": "C.UTF-8"}

    def run(self, *command, accepted=(0,), build_ids=None, **options):
        """The finished process, run in the folder."""
        words = [self.program, "--buildid-dir", str(build_ids or self.build_ids), *map(str, command)]
        done = subprocess.run(words, capture_output=True, text=True, errors="surrogateescape",
                              cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, **options)
        if done.returncode not in accepted:
            polyperf.fail(f"{' '.join(words)}: exit {done.returncode}: {done.stderr[-1000:]}")
        return done

    def script(self, recording, *options):
        done = self.run("script", "--no-inline", "--ns", "-F", FIELDS, "-i", recording, *options)
        return read_script(done.stdout)

    def inject_jit(self, recording):
        """What `perf inject --jit` makes of a recording whose dumps lie in the folder."""
        injected = self.folder / "perf-injected.data"
        patched = self.folder / "patched.data"
        patched.write_bytes(with_dumps_in_cwd(recording.read_bytes()))
        # A file a function lies beside it already: without three directories and a link for each,
        # which take longer to make and to remove than all the rest.
        self.run("inject", "--jit", "-f", "-i", patched, "-o", injected, build_ids="/dev/null")
        return injected


def with_dumps_in_cwd(content):
    """perf reads the dump under the path of its marker mapping alone: make it a relative one."""
    paths = {event.path for event in oracle.read_events(content)
             if isinstance(event, oracle.Mapping) and re.search(r"/jit-\d+\.dump$", event.path)}
    for path in map(str.encode, paths):
        here = b"./" + path.rpartition(b"/")[2]
        assert len(here) <= len(path), f"no room for {here} in {path}"
        content = content.replace(path + b"\0", here.ljust(len(path), b"\0") + b"\0")
    return content


@contextlib.contextmanager
def maps_in_tmp(maps):
    """Perf maps where perf looks for them; only where nobody else has one of that name."""
    placed = []
    try:
        for path in maps:
            target = pathlib.Path("/tmp", path.name)
            try:
                with open(target, "xb") as file:
                    placed.append(target)
                    file.write(path.read_bytes())
            except FileExistsError:
                polyperf.skip(f"{target} is somebody else's")
        yield
    finally:
        for target in placed:
            target.unlink()


@functools.cache
def is_image(dso):
    """A file with code of a process, of perf's injection or of ours."""
    return re.search(r"(?:^|/)jitted-[^/]*\.so$", dso) is not None


@functools.cache
def is_code(dso):
    """What polyperf, and perf without injection, say where a program made code."""
    return is_image(dso) or re.search(r"(?:^|/)perf-\d+\.map$", dso) is not None
