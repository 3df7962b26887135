#!/usr/bin/env python3
"""Agents in Pythons: agent_test.py POLYPERF CASE [VERSION]

What an agent tells must be what the kernel's walk tells of the very same samples; it must not
disturb the program, and leave nothing behind.
"""
import collections
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import frames
import live
import polyperf

PROGRAMS = HERE.parent / "interp/programs"
POLYPERF = pathlib.Path(sys.argv[1]).resolve()
FIRST_AGENT = 1 << 31  # runtimes of agents are numbered from here on
READ = re.compile(r"^polyperf: Python ([\w.]+) \(process (\d+)\): its functions are read .* by an agent", re.M)
SUMS = re.compile(r"agents: (\d+) samples with their stack, (\d+) without; (\d+) stacks without their sample, "
                  r"left out; (\d+) samples of the same time left out")


def python(version="3.11"):
    found = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}"))
    debian = f"/usr/bin/python{version}"
    return debian if os.path.exists(debian) else found[0] if found else polyperf.skip(f"no Python {version}")


def record(place, *arguments, how="agent", check=True, user=(), **options):
    """The recording and what polyperf said."""
    file = place.out / "recording.data"
    words = [*user, POLYPERF, "record", "-v", "--interpreters", how, "-o", file, *arguments]
    done = subprocess.run([str(word) for word in words], cwd=place.cwd, env=place.environment, text=True,
                          capture_output=True, errors="replace", timeout=240, **options)
    said = [line for line in done.stderr.splitlines() if not re.match(r"polyperf: \w+: \w*=", line)]
    print("\n".join(said))
    if how == "agent" and re.search("agents cannot be put into Pythons: (it takes Linux|Operation not)", done.stderr):
        polyperf.skip("no events that raise signals here")
    if check:
        assert done.returncode == 0, done.returncode
    return (frames.Recording(file) if file.exists() else None), done


def sums(done):
    return [int(number) for number in SUMS.search(done.stderr).groups()]


def check_sums(done, least, alone=0.02):
    joined, without, unmatched, dropped = sums(done)
    assert joined >= least, f"only {joined} samples with a stack"
    assert without <= alone * joined + 2, f"{without} samples without"
    assert unmatched <= 0.01 * joined + 2, f"{unmatched} stacks without their sample"
    return joined


def names(recording, pid=None):
    """How often a function is innermost, and how often it is there at all."""
    inner, all_names = collections.Counter(), collections.Counter()
    for sample, stack in recording.joined():
        if stack and stack.frames and pid in (None, sample.pid):
            inner[stack.frames[0].name.split(".")[-1]] += 1
            all_names.update({frame.name for frame in stack.frames})
            assert "?" not in [frame.name for frame in stack.frames], f"code that was never told: {stack}"
            assert stack.ip == sample.ip and stack.pid == sample.pid
    return inner, all_names


def case_both(place, version):
    """The kernel's walk and the agent, on the same samples."""
    file = place.out / "both.data"
    done = subprocess.run([POLYPERF.parent / "record_both", file, python(version), PROGRAMS / "callers.py", "1"],
                          cwd=place.cwd, env=place.environment, capture_output=True, text=True, errors="replace")
    print(done.stderr)
    if done.returncode and re.search("CAP_BPF|5.1[78]|built without", done.stderr):
        polyperf.skip("the walk cannot be had here")
    assert done.returncode == 0
    recording = frames.Recording(file)
    by_walk, by_agent = {}, {}
    for stack in recording.stacks:
        (by_agent if stack.runtime >= FIRST_AGENT else by_walk)[stack.tid, stack.time] = stack
    shared = by_walk.keys() & by_agent.keys()
    samples = {(sample.tid, sample.time) for sample in recording.samples if sample.event != "polyperf:frames"}
    assert by_agent.keys() <= samples
    differ = [(by_walk[key], by_agent[key]) for key in shared
              if (by_walk[key].frames, by_walk[key].end, by_walk[key].flags & 1) !=
              (by_agent[key].frames, by_agent[key].end, by_agent[key].flags & 1)]
    print(f"{len(shared)} samples with both, {len(differ)} differ; {len(by_walk)} walked, {len(by_agent)} by the agent")
    for pair in differ[:5]:
        print(*pair, sep="\n")
    # Memory that is not resident the kernel's walk cannot read, and the agent can.
    real = [pair for pair in differ if pair[0].end < 6]
    assert len(shared) > 200 and not real, f"{len(real)} differ"
    assert len(shared) > 0.99 * len(by_agent)


def as_nobody(place):
    """How nobody starts things, in places that nobody can write to."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        polyperf.skip("needs root and setpriv")
    paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    if paranoid > 2:
        polyperf.skip(f"kernel.perf_event_paranoid is {paranoid}")
    place.root.chmod(0o755)
    for path in (place.out, place.cwd, place.home, place.tmp):
        path.chmod(0o777)
    return ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all"]


def as_bare_root():
    """As root, whose files it can read, but with no capability."""
    return ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]


def open_to_all(path):
    return all(folder.stat().st_mode & 1 for folder in pathlib.Path(path).resolve().parents)


def case_unprivileged(place, version):
    """Without any privilege, by itself: functions and lines."""
    user = as_nobody(place)
    path = python(version)
    script = place.root / "callers.py"
    shutil.copy(PROGRAMS / "callers.py", script)
    if not open_to_all(path):
        user = as_bare_root()
    recording, done = record(place, "--", path, script, "0.7", how="auto", user=user)
    assert READ.search(done.stderr)[1].startswith(version), done.stderr
    assert "PYTHONPERFSUPPORT" not in done.stderr
    check_sums(done, 100)
    inner, everything = names(recording)
    assert inner["größe"] > 20 and everything["main"] > 50, everything
    place.tmp.chmod(0o777)
    report = polyperf.run(POLYPERF, "report", "--sort", "sym,srcline", "-i", place.out / "recording.data").stdout
    assert re.search(r"größe +\S*/callers\.py:\d+", report), report
    left = [path for path in place.tmp.iterdir()]
    assert not left, f"left behind: {left}"
    check_stock(place.out / "recording.data", recording)


def check_stock(file, recording):
    """Stock perf sees each sample once, in order."""
    if not shutil.which("perf"):
        return
    os.chown(file, 0, 0)
    for arguments in (("report", "--stdio", "-g", "none"), ("script",), ("evlist", "-v")):
        done = subprocess.run(["perf", *arguments, "-i", file], capture_output=True, text=True, errors="replace")
        said = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("#")]
        assert done.returncode == 0 and not said, f"perf {arguments}: {done.returncode} {said[:3]}"
    rows = subprocess.run(["perf", "script", "-G", "--ns", "-F", "event,time", "-i", file], capture_output=True,
                          text=True).stdout.splitlines()
    times = [float(row.split()[0].rstrip(":")) for row in rows]
    assert times == sorted(times), "perf does not get the samples in order"
    assert len(rows) == len(recording.samples)


def check_once(recording, hertz=999):
    """No thread has more samples than its time on the CPU has room for."""
    by_thread = collections.defaultdict(list)
    for sample in recording.samples:
        if sample.event != "polyperf:frames":
            by_thread[sample.tid, sample.event].append(sample.time)
    for (tid, event), times in by_thread.items():
        times.sort()
        close = sum(b - a < 0.4e9 / hertz for a, b in zip(times, times[1:]))
        assert close <= 0.05 * len(times) + 3, f"thread {tid}: {close} of {len(times)} samples of {event} come twice"


# Of the processor, not of the clock: on a busy machine there are to be as many samples.
SPIN = """
import sys, threading, time, os
def spin(seconds):
    end = time.thread_time() + seconds
    n = 0
    while time.thread_time() < end:
        for _ in range(1000): n += 1
    return n
def work(seconds=1.0): return spin(seconds)
"""


def run_text(place, text, *options, version="3.11", **keywords):
    """In user space alone, where each sample is the agent's."""
    return record(place, "--user-only", *options, "--", python(version), "-c", SPIN + text, **keywords)


def case_threads(place):
    recording, done = run_text(place, "threads = [threading.Thread(target=work, args=(0.6,)) for _ in range(4)]\n"
                               "for t in threads: t.start()\nfor t in threads: t.join()\n")
    check_sums(done, 100)
    tids = {stack.tid for stack in recording.stacks if "work" in [frame.name for frame in stack.frames]}
    assert len(tids) == 4, tids
    names(recording)
    check_once(recording)


def case_fork(place):
    recording, done = run_text(place, "def child(): work(0.3)\n"
                               "for _ in range(2):\n"
                               "    if os.fork() == 0:\n"
                               "        child()\n"
                               "        if os.fork() == 0: work(0.2)\n"
                               "        os._exit(0)\n"
                               "work(0.3)\nos.wait(); os.wait(); time.sleep(0.6)\n")
    check_sums(done, 100)
    pids = {stack.pid for stack in recording.stacks}
    assert len(pids) == 5, pids
    inner, everything = names(recording)
    assert everything["child"] > 60 and everything["work"] > 120
    # They follow their parent's footsteps: what a sample is of is told in its own process's records.
    assert {stack.runtime for stack in recording.stacks} == {FIRST_AGENT + i for i in range(5)}
    check_once(recording)


def case_subprocess(place):
    recording, done = run_text(place, "import subprocess\n"
                               "code = open(sys.argv[0]).read() if 0 else None\n"
                               "inner = 'import time\\ndef inside():\\n  end = time.thread_time() + 0.3\\n"
                               "  while time.thread_time() < end:\\n"
                               "    for _ in range(1000): pass\\ninside()'\n"
                               "for _ in range(2): subprocess.run([sys.executable, '-c', inner], check=True)\n"
                               "subprocess.run(['/bin/sh', '-c', 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'])\n"
                               "subprocess.run([sys.executable, '-E', '-c', inner], check=True)\n")
    check_sums(done, 100)
    assert len({stack.pid for stack in recording.stacks}) == 4
    _, everything = names(recording)
    assert everything["inside"] > 100
    shell = [s for s in recording.samples if s.pid not in {stack.pid for stack in recording.stacks}]
    assert shell, "the shell was not sampled"
    check_once(recording)


def case_exec(place):
    recording, done = run_text(place, "work(0.5)\n"
                               "os.execv('/bin/sh', ['sh', '-c', "
                               "'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exec \"$0\" \"$@\"', "
                               f"{python()!r}, '-c', {SPIN!r} + 'def after(): work(0.5)\\nafter()'])\n")
    check_sums(done, 100)
    stacks = {(stack.tid, stack.time) for stack in recording.stacks}
    inside = [s for s in recording.samples if s.event != "polyperf:frames"]
    first = [s.time for s, stack in recording.joined() if stack and "after" not in [f.name for f in stack.frames]]
    last = [s.time for s, stack in recording.joined() if stack and "after" in [f.name for f in stack.frames]]
    assert len(last) > 40 and len(first) > 40
    between = [s for s in inside if min(first) < s.time < min(last) and (s.tid, s.time) not in stacks]
    print(f"{len(between)} between")
    assert len(between) > 20, "the shell between was not sampled"
    check_once(recording)


def case_embedded(place):
    """The interpreter in a library."""
    found = [path for path in glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.1?"))
             if "libpython" in subprocess.run(["ldd", path], capture_output=True, text=True).stdout]
    if not found:
        polyperf.skip("no Python with a shared library")
    recording, done = record(place, "--", found[0], "-c", SPIN + "work(0.5)")
    check_sums(done, 100)
    assert names(recording)[1]["work"] > 60


def case_handler(place):
    """The program's own use of SIGTRAP goes on, whenever it begins."""
    _, done = run_text(place, "import signal, ctypes\n"
                       "seen = []\n"
                       "assert signal.getsignal(signal.SIGTRAP) == signal.SIG_DFL\n"
                       "signal.signal(signal.SIGTRAP, lambda n, f: seen.append(n))\n"
                       "for i in range(100):\n"
                       "    os.kill(os.getpid(), signal.SIGTRAP); work(0.01)\n"
                       "assert len(seen) == 100, len(seen)\n"
                       "signal.signal(signal.SIGTRAP, signal.SIG_IGN)\n"
                       "os.kill(os.getpid(), signal.SIGTRAP); work(0.3)\n"
                       "assert signal.getsignal(signal.SIGTRAP) == signal.SIG_IGN\n"
                       "signal.signal(signal.SIGUSR1, lambda n, f: seen.append(n))\n"
                       "os.kill(os.getpid(), signal.SIGUSR1); work(0.1)\n"
                       "assert len(seen) == 101\n"
                       "print('well')\n")
    assert "well" in done.stdout
    check_sums(done, 100)


def case_default_handler(place):
    """Without a handler of its own it ends by SIGTRAP."""
    _, done = run_text(place, "import signal\nwork(0.3)\nos.kill(os.getpid(), signal.SIGTRAP)\nwork(3)\nprint('alive')\n",
                       check=False)
    assert "alive" not in done.stdout and done.returncode == 128 + signal.SIGTRAP, done.returncode


def case_killed(place):
    """A program that is killed, and a recorder that is: neither leaves anything behind, or harms the other."""
    recording, done = run_text(place, "if os.fork() == 0: work(9)\nelse:\n  work(0.4)\n  import signal\n"
                               "  os.killpg(0, signal.SIGUSR2)\n", check=False, start_new_session=True)
    fresh = subprocess.Popen([POLYPERF, "record", "--interpreters", "agent", "-o", place.out / "other.data", "--",
                              python(), "-c", SPIN + "work(1.2); open('well', 'w')"], cwd=place.cwd, env=place.environment,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    live.let_run(fresh, live.child_of(fresh.pid, "python"), 0.4)
    fresh.kill()
    fresh.wait()
    live.wait_until("the program ended with its recorder", (place.cwd / "well").exists)


def case_hung(place):
    """A recorder that does not answer is not waited for, and what it does later hurts nobody."""
    code = SPIN + "work(0.5); os.execv('/bin/sh', ['sh', '-c', 'i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done; >well'])"
    with subprocess.Popen([POLYPERF, "record", "-v", "--interpreters", "agent", "-o", place.out / "other.data", "--", "sh",
                           "-c", 'sleep 1.5; "$0" -c "$1"', python(), code], cwd=place.cwd, env=place.environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        live.child_of(process.pid, "sleep")
        process.send_signal(signal.SIGSTOP)
        exe = pathlib.Path(f"/proc/{live.child_of(process.pid, 'python')}/exe")
        live.wait_until("python waits for its recorder", lambda: not exe.resolve().name.startswith("python"))
        process.send_signal(signal.SIGCONT)
        said = process.stderr.read()
    print(said[-600:])
    assert process.returncode == 0 and (place.cwd / "well").exists(), process.returncode


def case_others(place):
    """Programs that are no Python know nothing of it; static ones, and those with a sanitizer, too."""
    compiler = shutil.which("cc") or polyperf.skip("no compiler")
    source = place.root / "other.c"
    source.write_text("#include <signal.h>\n#include <stdio.h>\n#include <string.h>\n"
                      "static void on(int n) { (void)n; }\n"
                      "int main(void) { struct sigaction a, b; memset(&a, 0, sizeof a); a.sa_handler = on;\n"
                      "  if (sigaction(SIGTRAP, 0, &b) || b.sa_handler != SIG_DFL) return 1;\n"
                      "  if (sigaction(SIGTRAP, &a, 0) || raise(SIGTRAP)) return 2;\n"
                      "  if (sigaction(SIGTRAP, 0, &b) || b.sa_handler != on) return 3;\n"
                      "  if (signal(SIGUSR1, on) != SIG_DFL || raise(SIGUSR1) || signal(SIGUSR1, SIG_DFL) != on) return 4;\n"
                      "  if (sigaction(77, &a, 0) != -1 || signal(-1, on) != SIG_ERR) return 5;\n"
                      "  FILE *maps = fopen(\"/proc/self/maps\", \"r\"); char line[4096]; int there = 0;\n"
                      "  while (fgets(line, sizeof line, maps)) there |= strstr(line, \"polyperf-agent\") != 0;\n"
                      "  puts(there ? \"a ring\" : \"no ring\"); return there; }\n")
    for options in ((), ("-static",), ("-fsanitize=address",)):
        program = place.root / "other"
        built = subprocess.run([compiler, source, "-o", program, "-w", *options], capture_output=True)
        if built.returncode:
            print(f"{options}: cannot be built")
            continue
        _, done = record(place, "--", program)
        assert "no ring" in done.stdout, f"{options}: {done.stdout}"
        assert not READ.search(done.stderr)


def case_blocked(place):
    """While SIGTRAP is blocked nothing is told, and nothing is joined wrongly."""
    recording, done = run_text(place, "import signal\n"
                               "def quiet():\n"
                               "    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTRAP]); spin(0.3)\n"
                               "    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTRAP])\n"
                               "work(0.3); quiet(); work(0.3)\n")
    joined, without, unmatched, _ = sums(done)
    assert joined > 200 and without > 50 and unmatched < 3
    names(recording)
    assert not [s for s in recording.stacks if "quiet" in [f.name for f in s.frames]][8:]


def case_many(place):
    """Many that are short."""
    recording, done = run_text(place, "import multiprocessing as mp\n"
                               "def one(i): return spin(0.01)\n"
                               "if __name__ == '__main__':\n"
                               "    for i in range(40):\n"
                               "        if os.fork() == 0: one(i); os._exit(0)\n"
                               "        os.wait()\n"
                               "    with mp.get_context('fork').Pool(4) as pool: pool.map(one, range(100))\n")
    assert len({stack.pid for stack in recording.stacks}) > 35
    check_sums(done, 100, alone=0.05)
    names(recording)
    check_once(recording)


def case_refused(place):
    """Where it cannot be, it is said."""
    _, done = record(place, "-p", os.getpid(), "--duration", "0.1", check=False)
    assert done.returncode == 1 and "for commands" in done.stderr
    _, done = record(place, "--no-auto", "--", "true", check=False)
    assert done.returncode == 1 and "--no-auto" in done.stderr
    _, done = record(place, "--runtime", "python=off", "--", "true", check=False)
    assert done.returncode == 1 and "left alone" in done.stderr


def case_absent(place):
    """A Python that no agent came into is told of; copies of one that has an agent are not."""
    user = as_nobody(place)
    path = python()
    if not open_to_all(path):
        user = as_bare_root()
    _, done = record(place, "--", "env", "-i", path, "-c", SPIN + "spin(0.5)\n", how="auto", user=user)
    assert re.search(r"Python \S+ \(process \d+\): its functions are not read .*: no agent", done.stderr), done.stderr
    place.tmp.chmod(0o777)
    inner = "import subprocess\nfor _ in range(20): subprocess.run(['true'])\n"
    (place.out / "recording.data").unlink()
    _, done = record(place, "--", path, "-c", inner, how="auto", user=user)
    assert "not read" not in done.stderr, done.stderr


def case_dwarf(place):
    recording, done = run_text(place, "work(0.5)\n", "-g", "dwarf")
    check_sums(done, 100)
    check_once(recording)
    report = polyperf.run(POLYPERF, "report", "--children", "-i", place.out / "recording.data").stdout
    assert re.search(r"python +interpreter +exact +work", report), report


def case_events(place):
    # Shared memory is touched for the first time page by page, whatever size the kernel likes best.
    faults = "import mmap\nfor i in range(10):\n m = mmap.mmap(-1, 20 << 20)\n for k in range(0, len(m), 4096): m[k] = 1\n"
    recording, done = run_text(place, f"{faults}work(0.4)\n", "-e", "cpu-clock,page-faults,task-clock")
    # Walking touches memory for the first time, too: those page faults are in the handler.
    check_sums(done, 200, alone=0.1)
    told = {(stack.tid, stack.time) for stack in recording.stacks if stack.frames}
    events = collections.Counter(s.event for s in recording.samples if (s.tid, s.time) in told)
    print(events)
    assert events["cpu-clock"] > 60 and events["task-clock"] > 60 and events["page-faults"] > 10


def main():
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        globals()[f"case_{sys.argv[2].replace('-', '_')}"](place, *sys.argv[3:])


main()
