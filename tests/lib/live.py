"""A place to record programs in, and checks that hold for every recording made there."""
import collections
import contextlib
import ctypes
import os
import pathlib
import platform
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import oracle
import polyperf

NAMED_SHARE = 99.0  # percent of the samples in JIT code
ENTRIES_OF_OTHERS = re.compile(r"hsperfdata_|clr-debug-pipe|dotnet-diagnostic|\.java_pid")


def why_no_sampling():
    """None where the kernel lets us sample our own process; else its reason."""
    number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
    if number is None:
        return f"no call number for {platform.machine()}"
    # type software, size, cpu-clock, period, no sample type, disabled | exclude_kernel | exclude_hv
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000000, 0, 0, 1 | 1 << 5 | 1 << 6).ljust(112, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(number, attr, 0, -1, -1, 0)
    if fd < 0:
        return f"perf_event_open: {os.strerror(ctypes.get_errno())}"
    os.close(fd)
    return None


PATIENCE = 120  # seconds; a busy machine is no fault


def wait_until(what, condition):
    """What the condition returns, once that is true."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            polyperf.fail(f"waited in vain: {what}")
        time.sleep(0.02)
    return found


def cpu_seconds(pid, with_children=False):
    """What a process has spent so far, and its children that have ended; 0 when there is none."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(map(int, fields[11:15 if with_children else 13])) / os.sysconf("SC_CLK_TCK")


def child_of(pid, name):
    """The process of that name among the descendants of pid, once it is there."""
    def find():
        todo = [pid]
        while todo:
            for task in pathlib.Path(f"/proc/{todo.pop()}/task").glob("*/children"):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    for child in map(int, task.read_text().split()):
                        if pathlib.Path(f"/proc/{child}/exe").resolve().name.startswith(name):
                            return child
                        todo.append(child)
        return None
    return wait_until(f"no {name} was started", find)


def is_sampling(recorder):
    """Whether a process has perf events open."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, NotADirectoryError):
        return any(os.readlink(link) == "anon_inode:[perf_event]"
                   for link in pathlib.Path(f"/proc/{recorder.pid}/fd").iterdir())
    return False


def let_run(recorder, pid, seconds):
    """Waits until the process has spent so much time of the processor while it was recorded, however
    long that takes.
    """
    wait_until("nothing is recorded", lambda: is_sampling(recorder) or recorder.poll() is not None)
    start = cpu_seconds(pid)
    wait_until(f"process {pid} hardly runs", lambda: cpu_seconds(pid) - start >= seconds
               or recorder.poll() is not None)


def let_be_read(recorder, said, pid, seconds):
    """The same from when the recorder has said, in the file `said`, that it reads the process's functions,
    or why it does not: to load what reads them takes the kernel a second.
    """
    told = re.compile(rf"\(process {pid}\): its functions are (not )?read")
    wait_until(f"functions of process {pid} are not read",
               lambda: told.search(said.read_text(errors="replace")) or recorder.poll() is not None)
    let_run(recorder, pid, seconds)


class Place:
    """Directories of one test: cwd, HOME, TMPDIR, and one for recordings."""

    def __init__(self, root):
        self.root = root
        self.cwd, self.home, self.tmp, self.out = (root / n for n in ("cwd", "home", "tmp", "out"))
        for path in (self.cwd, self.home, self.tmp, self.out):
            path.mkdir()
        self.environment = {**os.environ, "HOME": str(self.home), "TMPDIR": str(self.tmp)}
        self.environment.pop("XDG_RUNTIME_DIR", None)
        # A pid comes again: what another process left under its number is not ours.
        self.there_before = {path.name for path in pathlib.Path("/tmp").iterdir()}

    def run(self, *command, cwd=None):
        return polyperf.run(*command, cwd=cwd or self.cwd, env=self.environment, timeout=240)

    def start(self, *command, **options):
        return subprocess.Popen([str(word) for word in command], cwd=self.cwd, text=True,
                                env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, errors="replace", **options)

    def run_until(self, until, *command):
        """The same of a command that may fail. `until(process, said)` returns when it is to be interrupted;
        None: it ends by itself. `said` is the file with its errors.
        """
        said = self.out / "said"
        with open(said, "w") as errors, subprocess.Popen(
                [str(word) for word in command], cwd=self.cwd, env=self.environment,
                stdout=subprocess.DEVNULL, stderr=errors) as process:
            try:
                if until:
                    until(process, said)
                    process.send_signal(signal.SIGINT)
                process.wait(2 * PATIENCE)
            finally:
                process.kill()
        return subprocess.CompletedProcess(command, process.returncode, "", said.read_text(errors="replace"))

    def record(self, program, command, *options, cwd=None):
        """The recording, and what the recorded program printed: as runtimes tell by themselves."""
        recording = self.out / "recording.data"
        done = self.run(program, "record", "--interpreters", "off", *options, "-o", recording, "--", *command,
                        cwd=cwd)
        print(done.stderr.strip())
        return recording, done.stdout


    def record_all(self, program, command):
        """The same, interpreters walked where that is possible."""
        recording = self.out / "recording.data"
        done = self.run(program, "record", "-q", "-F", "1999", "-o", recording, "--", *command)
        return recording, done.stdout


@contextlib.contextmanager
def place():
    with tempfile.TemporaryDirectory(prefix="live-test-") as name:
        yield Place(pathlib.Path(name))


def left_behind(place, pids):
    """Files of the recorded processes, or of polyperf, that are still there."""
    faults = [f"left in cwd: {path.name}" for path in place.cwd.iterdir()]
    faults += [f"left in TMPDIR: {path.name}" for path in place.tmp.iterdir()
               if not ENTRIES_OF_OTHERS.match(path.name)]
    if (place.home / ".debug").exists():
        faults.append("left in HOME: .debug")
    for path in pathlib.Path("/tmp").iterdir():
        numbers = {int(number) for number in re.findall(r"\d+", path.name) if len(number) < 10}
        if (numbers & pids and path.name not in place.there_before
                and not ENTRIES_OF_OTHERS.match(path.name)):
            faults.append(f"left in /tmp: {path.name}")
    return faults


def stock_perf_faults(recording, sample_count):
    """Debian's perf must open the file and see the same samples."""
    perf = shutil.which("perf")
    if not perf:
        print("perf is not installed: not held against it")
        return []
    report = subprocess.run([perf, "report", "--stdio", "-i", recording], capture_output=True)
    script = subprocess.run([perf, "script", "-G", "-F", "tid,time,ip", "-i", recording],
                            capture_output=True, text=True, errors="replace")
    faults = []
    if report.returncode or script.returncode:
        faults.append(f"perf report exits {report.returncode}, perf script {script.returncode}: "
                      f"{script.stderr.strip()[-300:]}")
    seen = len(script.stdout.splitlines())
    if seen != sample_count:
        faults.append(f"perf script shows {seen} of {sample_count} samples")
    return faults


def leaf_names(program, recording):
    """The name and trust that polyperf gives the leaf of each (tid, time)."""
    fields = ("--ns", "-G", "-F", "pid,tid,time,ip,sym,trust")
    text = polyperf.run(program, "script", "-i", recording, *fields).stdout
    leaves = {}
    for sample in polyperf.read_script(text):
        name, _, trust = sample.frames[0].name.rpartition(" ")
        leaves[sample.tid, sample.time] = (name.strip(), trust)
    return leaves


def naming_faults(program, recording, minimum=100):
    """At least 99 of 100 samples in anonymous executable memory must have a name."""
    samples = oracle.samples_in_anonymous_code(recording.read_bytes())
    leaves = leaf_names(program, recording)
    unnamed, trusts = collections.Counter(), collections.Counter()
    for sample in samples:
        name, trust = leaves.get((sample.tid, sample.time), ("not printed", "unknown"))
        trusts[trust] += 1
        if trust == "unknown":
            unnamed[name, sample.frames[0] >> 12 << 12] += 1
    share = 100 * (1 - unnamed.total() / len(samples)) if samples else 0
    print(f"  {len(samples)} samples in JIT code, {share:.2f} % named: {dict(trusts)}")
    if len(samples) < minimum:
        return [f"only {len(samples)} samples in JIT code"]
    if share < NAMED_SHARE:
        worst = ", ".join(f"{count} in page {page:x}" for (_, page), count in unnamed.most_common(5))
        return [f"{share:.2f} % of the samples in JIT code have a name; not {worst}"]
    return []


def workload_faults(program, recording, printed):
    """The shares of alpha, beta and gamma in the report against the program's own."""
    text = polyperf.run(program, "report", "--format", "csv", "-i", recording).stdout
    counts = collections.Counter()
    for row in polyperf.read_report(text):
        counts[polyperf.worker_of(row["symbol"])] += row["samples"]
    return polyperf.share_faults(counts, polyperf.shares_printed(printed))


def caller_faults(program, recording, printed):
    """The same where alpha, beta and gamma only call what takes the time."""
    text = polyperf.run(program, "report", "--children", "--format", "csv", "-i", recording).stdout
    shares = collections.Counter()
    for row in polyperf.read_report(text, polyperf.CHILDREN_HEADER):
        shares[polyperf.worker_of(row["symbol"])] += row["children"]
    # Nearly all the time passes in them.
    return polyperf.share_faults(shares, polyperf.shares_printed(printed), minimum=80)


def whole_file_faults(program, recording, minimum=50):
    """A recording that was cut off must still be read to its end, by us and by perf."""
    samples = oracle.read_recording(recording.read_bytes())
    faults = stock_perf_faults(recording, len(samples))
    seen = len(leaf_names(program, recording))
    if seen < minimum or abs(seen - len({(s.tid, s.time) for s in samples})) > 0:
        faults.append(f"{seen} samples printed of {len(samples)} recorded")
    return faults


def recorded_pids(recording):
    return oracle.read_pids(recording.read_bytes())
