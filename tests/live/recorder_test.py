#!/usr/bin/env python3
"""The recorder's own promises, held against Debian's perf where it is installed.

    recorder_test.py POLYPERF CASE

Cases: plain, compressed, dwarf, events, system, attach, threads, forks, neighbours, unprivileged,
special, stopped, terminal, status, idle.
"""
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import polyperf

# Two busy threads in C code, which holds no lock: zlib.
BUSY = """
import sys, threading, time, zlib
end = time.monotonic() + float(sys.argv[1])
data = bytes(range(256)) * 400
def spin():
    while time.monotonic() < end:
        zlib.compress(data, 6)
threads = [threading.Thread(target=spin) for _ in range(int(sys.argv[2]))]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
BUILD_ID = re.compile(r"^[0-9a-f]{16,40} (.+)$", re.M)
SUMMARY = re.compile(r"polyperf: (\d+) samples?(?: \((\d+) lost\))?, [0-9.]+ [KM]B in ")


def busy(seconds, threads=2):
    return [sys.executable, "-c", BUSY, str(seconds), str(threads)]


LOSS = re.compile(r"^Warning:$|^Processed \d+ (?:events|samples) and lost [\d.]+|^Check IO/CPU overload!")


def perf(*command, may_lose=False):
    """What perf prints; any complaint of its own is a fault."""
    program = shutil.which("perf")
    if not program:
        polyperf.skip("perf is not installed")
    done = subprocess.run([program, *map(str, command)], capture_output=True, text=True,
                          errors="replace", timeout=240)
    noise = re.compile(r"^# To display the perf.data header info|^#$|^$")
    said = [line for line in done.stderr.splitlines()
            if not noise.match(line) and not (may_lose and LOSS.match(line))]
    if done.returncode or said:
        polyperf.fail(f"perf {' '.join(map(str, command))}: exit {done.returncode}: {said[:5]}")
    return done.stdout


def summary(errors):
    """Samples and losses, as the last line of polyperf record tells them."""
    found = SUMMARY.search(errors)
    if not found:
        polyperf.fail(f"no summary: {errors[-500:]!r}")
    return int(found[1]), int(found[2] or 0)


def events_of(stats, name):
    found = re.search(rf"^\s*{name} events:\s+(\d+)", stats, re.M)
    return int(found[1]) if found else 0


def stock_faults(recording, sample_count, mapped=("libc", "libz"), may_lose=False):
    """All that Debian's perf says of a recording must be as if it were its own."""
    faults = []
    perf("report", "--stdio", "-g", "none", "-i", recording, may_lose=may_lose)
    perf("report", "--header-only", "-I", "-i", recording)
    script = perf("script", "-G", "--ns", "-F", "tid,time,ip", "-i", recording,
                  may_lose=may_lose).splitlines()
    if len(script) != sample_count:
        faults.append(f"perf script shows {len(script)} of {sample_count} samples")
    times = [float(line.split()[1].rstrip(":")) for line in script]
    if times != sorted(times):
        faults.append("perf does not get the samples in order")
    names = BUILD_ID.findall(perf("buildid-list", "-i", recording))
    for part in mapped:
        if not any(part in name for name in names):
            faults.append(f"no build id of {part}: {names}")
    if "sample_id_all: 1" not in perf("evlist", "-v", "-i", recording):
        faults.append("perf evlist -v shows no sample_id_all")
    dump = perf("report", "-D", "-i", recording, may_lose=may_lose)
    stats = dump.rpartition("Aggregated stats:")[2]
    if events_of(stats, "SAMPLE") != sample_count:
        faults.append(f"perf counts {events_of(stats, 'SAMPLE')} of {sample_count} samples")
    if not events_of(stats, "FINISHED_ROUND"):
        faults.append("no rounds")
    return faults


def record(program, place, *arguments):
    recording = place.out / "recording.data"
    done = place.run(program, "record", "--no-auto", "--interpreters", "off", "-o", recording,
                     *arguments)
    print(done.stderr.strip())
    return recording, *summary(done.stderr)


def recorded(program, place, *options):
    recording, samples, _ = record(program, place, *options, "-F", "1999", "--", *busy(1))
    faults = stock_faults(recording, samples)
    if samples < 200:
        faults.append(f"only {samples} samples")
    return faults


def plain(program, place):
    return recorded(program, place)


def compressed(program, place):
    return recorded(program, place, "-z")


def dwarf(program, place):
    faults = recorded(program, place, "-g", "dwarf,16384")
    script = perf("script", "-F", "ip,sym", "-i", place.out / "recording.data")
    if not re.search(r"deflate\b(?:.*\n)+?.*start_thread", script):
        faults.append("perf unwinds no stack from deflate to the start of the thread")
    return faults


def events(program, place):
    faults = recorded(program, place, "-e", "cpu-clock:u,page-faults", "-e", "context-switches")
    listed = perf("evlist", "-i", place.out / "recording.data").split()
    if listed[:3] != ["cpu-clock:u", "page-faults", "context-switches"]:
        faults.append(f"perf evlist shows {listed}")
    return faults


def system(program, place):
    if os.geteuid() != 0:
        polyperf.skip("needs root")
    recording, samples, _ = record(program, place, "-a", "--", *busy(1))
    faults = stock_faults(recording, samples)
    # It ran before, so its name is known from /proc alone.
    if " 1/1" not in perf("script", "--show-task-events", "-F", "comm,pid,tid", "-i", recording):
        faults.append("process 1 is not there")
    return faults


def attach(program, place):
    target = place.start(*busy(30))
    try:
        time.sleep(0.5)
        recording, samples, _ = record(program, place, "-p", target.pid, "--duration", "1")
        return stock_faults(recording, samples)
    finally:
        target.kill()
        target.communicate()


def threads(program, place):
    """Threads that are born while we attach are counted once."""
    born = """
import threading, time
def live(): time.sleep(0.02)
end = time.monotonic() + 20
while time.monotonic() < end:
    alive = [threading.Thread(target=live) for _ in range(20)]
    for one in alive: one.start()
    for one in alive: one.join()
"""
    target = place.start(sys.executable, "-c", born)
    try:
        time.sleep(0.5)
        # The period of cpu-clock is CPU time: twice as many samples, twice as much time.
        before = live.cpu_seconds(target.pid)
        recording, samples, lost = record(program, place, "-p", target.pid, "-e", "task-clock:uk",
                                          "-c", "200000", "--duration", "2")
        spent = live.cpu_seconds(target.pid) - before
        faults = stock_faults(recording, samples, mapped=("libc",))
        counted = (samples + lost) * 200000e-9
        if counted > spent * 1.2 + 0.1:
            faults.append(f"{counted:.2f} s sampled of {spent:.2f} s spent: some twice")
        return faults
    finally:
        target.kill()
        target.communicate()


def forks(program, place):
    """Hundreds of short processes on all CPUs: every birth, name and mapping in order."""
    recording, samples, lost = record(program, place, "-F", "4999", "--", "sh", "-c",
                                      "for i in $(seq 300); do /bin/true & done; wait")
    faults = stock_faults(recording, samples, mapped=("libc",))
    stats = perf("report", "--stats", "-i", recording)
    births, deaths = events_of(stats, "FORK"), events_of(stats, "EXIT")
    if births < 300 or deaths < births:
        faults.append(f"{births} births and {deaths} deaths of more than 300")
    if lost:
        faults.append(f"{lost} records lost")
    unknown = [line for line in perf("script", "-G", "-F", "comm,ip,dso", "-i", recording)
               .splitlines() if "[unknown]" in line and "ffffffff" not in line]
    if len(unknown) > samples // 20:
        faults.append(f"{len(unknown)} of {samples} samples lie in no mapping: {unknown[:3]}")
    return faults


def neighbours(program, place):
    """A perf record that watches our command too, and is not harmed; nor are we by one with build ids."""
    perf_program = shutil.which("perf")
    if not perf_program:
        polyperf.skip("perf is not installed")
    recording, outer = place.out / "recording.data", place.out / "outer.data"
    done = place.run(perf_program, "record", "-q", "-o", outer, program, "record", "--no-auto",
                     "--interpreters", "off", "-o",
                     recording, "--", *busy(1))
    faults = stock_faults(recording, summary(done.stderr)[0])
    perf("report", "--stdio", "-i", outer)
    place.run(perf_program, "record", "-q", "--buildid-mmap", "-o", outer, program, "record",
              "--interpreters", "off",
              "--no-auto", "-o", recording, "--", *busy(1))
    mapped = perf("report", "-D", "-i", recording)
    build_ids = set(re.findall(r"MMAP2 .*<([0-9a-f]+)>.*/libz", mapped))
    listed = set(re.findall(r"^([0-9a-f]+) .*/libz", perf("buildid-list", "-i", recording), re.M))
    if build_ids != listed or len(listed) != 1:
        faults.append(f"build ids of libz: {build_ids} mapped, {listed} listed")
    return faults


def unprivileged(program, place):
    """nobody, as far as this machine lets nobody."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or not setpriv:
        polyperf.skip("needs root and setpriv")
    paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    nobody = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups",
              "--inh-caps=-all", "--bounding-set=-all"]
    # Where nobody can come to it, and write.
    copy = place.root / "polyperf"
    shutil.copy(program, copy)
    place.root.chmod(0o755)
    place.out.chmod(0o777)
    place.cwd.chmod(0o755)
    recording = place.out / "recording.data"
    place.environment["TMPDIR"] = "/tmp"
    # One that nobody may start.
    python = shutil.which("python3", path="/usr/bin:/bin")
    if not python:
        polyperf.skip("no python3 in /usr/bin")
    command = [*nobody, copy, "record", "--no-auto", "-F", "1999", "-o", recording, "--",
               python, *busy(1)[1:]]
    done = subprocess.run([str(word) for word in command], cwd=place.cwd, env=place.environment,
                          capture_output=True, text=True, timeout=240)
    print(done.stderr.strip())
    if paranoid > 2:
        named = "kernel.perf_event_paranoid" in done.stderr and "try: sudo sysctl" in done.stderr
        return [] if done.returncode == 1 and named else ["the refusal names no way out"]
    if done.returncode:
        return [f"exit {done.returncode}"]
    # Perf reads no file of another user.
    os.chown(recording, 0, 0)
    faults = stock_faults(recording, summary(done.stderr)[0])
    if paranoid == 2 and "sudo sysctl kernel.perf_event_paranoid=1" not in done.stderr:
        faults.append("not said that the kernel is left out")
    if paranoid >= 2 and "ffffffff8" in perf("script", "-F", "ip", "-i", recording):
        faults.append("samples in the kernel")
    return faults


def special(program, place):
    """Devices and pipes are written to, never replaced."""
    null = os.stat("/dev/null")
    done = place.run(program, "record", "--no-auto", "-o", "/dev/null", "--", "true")
    summary(done.stderr)
    if os.stat("/dev/null").st_ino != null.st_ino:
        return ["/dev/null was replaced"]
    piped = subprocess.run([str(program), "record", "--no-auto", "-o", "-", "--", "echo", "hello"],
                           capture_output=True, env=place.environment, timeout=60)
    faults = []
    if piped.stdout[:8] != b"PERFILE2" or b"hello\n" in piped.stdout:
        faults.append("standard output is not the recording alone")
    if b"hello\n" not in piped.stderr:
        faults.append("the command's output is lost")
    return faults


def stopped(program, place):
    """A recorder that cannot run loses samples, and says how many."""
    recording = place.out / "recording.data"
    process = place.start(program, "record", "--no-auto", "--interpreters", "off", "-F", "9999", "-m", "32K",
                          "-o", recording, "--", *busy(60))
    child = live.child_of(process.pid, "python")
    live.let_run(process, child, 0.7)
    process.send_signal(signal.SIGSTOP)
    stopped_at = live.cpu_seconds(child)
    live.wait_until("nothing runs", lambda: live.cpu_seconds(child) - stopped_at > 1.5)
    process.send_signal(signal.SIGCONT)
    # There must be events once more: of what was lost before them they tell.
    live.let_run(process, child, 0.7)
    os.kill(child, signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    print(errors.strip())
    samples, lost = summary(errors)
    faults = stock_faults(recording, samples, may_lose=True)
    if not lost or "records were lost" not in errors or "try: " not in errors:
        faults.append("the loss is not said")
    told = 0
    for line in perf("report", "-D", "-i", recording, may_lose=True).splitlines():
        # "lost:5", and of what was lost last "lost samples :5".
        found = re.search(r"PERF_RECORD_LOST(?:_SAMPLES)?\b.*?\blost(?: samples )?:(\d+)", line)
        told += int(found[1]) if found else 0
    if told != lost:
        faults.append(f"{told} lost in the recording, {lost} on the terminal")
    return faults


def in_terminal(command, said, keys):
    """Exit status and all output of a command in a terminal of its own, given keys once it has said something."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    output = b""
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
        if keys and said in output:
            os.write(terminal, keys)
            keys = None
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output.decode(errors="replace")


def terminal(program, place):
    """Ctrl-C reaches the command, whose own way to end is waited for."""
    recording = place.out / "recording.data"
    command = [str(program), "record", "--no-auto", "-o", str(recording), "--", "sh", "-c",
               "trap 'echo said; exit 5' INT; for i in $(seq 300000); do :; done; echo ready; while :; do :; done"]
    status, output = in_terminal(command, b"ready", b"\x03")
    print(output.strip())
    faults = stock_faults(recording, summary(output)[0], mapped=("libc",))
    if status != 5 or "said" not in output:
        faults.append(f"exit {status} instead of the command's own 5")
    command[-1] = "echo ready; read line; echo got $line"
    status, output = in_terminal(command, b"ready", b"words\n")
    if status or "got words" not in output:
        faults.append(f"the command cannot read from the terminal: {output!r}")
    return faults


def status(program, place):
    """The command's status; 126 and 127 as in a shell, and then the old file stays."""
    recording = place.out / "recording.data"
    recording.write_text("old")
    faults = []
    for command, wanted in (("no-such-command", 127), ("/etc/passwd", 126), ("false", 1), ("true", 0)):
        done = subprocess.run([str(program), "record", "--no-auto", "-o", str(recording), "--", command],
                              capture_output=True, text=True, env=place.environment, timeout=60)
        print(done.stderr.strip())
        if done.returncode != wanted:
            faults.append(f"{command}: exit {done.returncode}, not {wanted}")
        if (recording.read_bytes() == b"old") != (wanted > 1):
            faults.append(f"{command}: the file is not as it should be")
    left = [path.name for path in place.out.iterdir() if path != recording]
    return [*faults, *(f"left behind: {name}" for name in left)]


def idle(program, place):
    """While nothing happens the recorder sleeps, whatever it looks for."""
    faults = []
    for option in ("--interpreters=off", "--no-auto", "-q"):
        command = [str(program), "record", option, "-o", str(place.out / "recording.data"), "--", "sleep", "3"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=place.environment) as recorder:
            live.wait_until("nothing is recorded", lambda: live.is_sampling(recorder))
            before = live.cpu_seconds(recorder.pid)
            spent = before
            while recorder.poll() is None:
                spent = live.cpu_seconds(recorder.pid) or spent
                time.sleep(0.05)
        print(f"{option}: {spent - before:.2f} s of the processor")
        if spent - before > 1:
            faults.append(f"{option}: the recorder is busy for {spent - before:.2f} s of 3")
    return faults


CASES = {case.__name__: case for case in (
    plain, compressed, dwarf, events, system, attach, threads, forks, neighbours, unprivileged,
    special, stopped, terminal, status, idle)}


def main(program, case):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        faults = CASES[case](program, place)
    if faults:
        polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in CASES:
        sys.exit(f"{__doc__}")
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
