#!/usr/bin/env python3
"""Frames of interpreters in recordings: interpreters_test.py POLYPERF CASE [VERSION]

The file must hold the stack of each sample that the interpreter ran in, with the sample's very
time and thread, and stock perf must read it like any other.
"""
import collections
import contextlib
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import frames
import live
import polyperf

PROGRAMS = HERE.parent / "interp/programs"
POLYPERF = sys.argv[1]
ENOUGH = 0.7  # seconds of the processor: some 700 samples
SHARE = 0.99  # of the samples between the first and the last stack of a thread
OPTIONS = {"luajit": ["-joff"]}  # of what is compiled only the outermost function is in the frames
NOTHING_RUNS = (0, 2)  # a whole stack may be empty: Ruby compiles before anything runs
LEAVES = {"python": "größe", "php": "leaf", "ruby": "leaf", "perl": "leaf", "luajit": "11"}
SUFFIXES = {"python": "py", "php": "php", "ruby": "rb", "perl": "pl", "luajit": "lua"}
READ = re.compile(r"^polyperf: (\w+) ([\w.-]+) \(process (\d+)\): its functions are read at each sample$", re.M)
NOT_READ = re.compile(r"^polyperf: (\w+) [\w.-]+ \(process \d+\): its functions are not read.*: (.*)$", re.M)


def path_of(language, version=None):
    if language == "python" and version:
        found = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}"))
        path = found[0] if found else None
    elif language == "python":
        path = "/usr/bin/python3.11" if os.path.exists("/usr/bin/python3.11") else None
    else:
        path = shutil.which(language)
    return path or polyperf.skip(f"{language} {version or ''} is not installed")


def callers(language, seconds, version=None):
    program = str(PROGRAMS / f"callers.{SUFFIXES[language]}")
    return [path_of(language, version), *OPTIONS.get(language, []), program, str(seconds)]


def record(place, *arguments, until=None):
    """The recording and what polyperf said; one that does not end by itself is ended when `until` returns."""
    recording = place.out / "recording.data"
    done = place.run_until(until, POLYPERF, "record", "-o", recording, *arguments)
    print(done.stderr.strip())
    assert done.returncode == 0, done.returncode
    return recording, done.stderr


def need_walk(said):
    """The walk itself is tested elsewhere: here it is enough that it can be had."""
    found = NOT_READ.search(said)
    if found and re.search("CAP_BPF|built without|Linux 5.17", found[2]):
        polyperf.skip(found[2])


def check_share(recording, leaf, least, pid=None):
    """Samples with frames, among those between the first and the last of each thread."""
    inside = whole = busy = named = 0
    threads = collections.defaultdict(list)
    for sample, stack in recording.joined():
        if pid in (None, sample.pid):
            threads[sample.tid].append((sample, stack))
    for pairs in threads.values():
        pairs.sort(key=lambda pair: pair[0].time)
        with_frames = [i for i, (_, stack) in enumerate(pairs) if stack and stack.frames]
        if not with_frames:
            continue
        for sample, stack in pairs[with_frames[0]:with_frames[-1] + 1]:
            inside += 1
            whole += bool(stack and (stack.frames or stack.end in NOTHING_RUNS))
            busy += bool(stack and stack.frames)
            names = [re.split(r"[\\:]", frame.name)[-1] for frame in stack.frames] if stack else []
            named += leaf in names
            assert "?" not in names, f"code that was never told: {stack}"
            assert not stack or stack.pid == sample.pid
    print(f"{inside} samples inside, {whole} with stacks, {busy} with frames, {named} in or below {leaf}")
    assert inside >= least, "hardly a sample"
    # Entering LuaJIT's interpreter and leaving it takes some instructions each, and this program does little else.
    share = 0.97 if leaf == LEAVES["luajit"] else SHARE
    assert whole >= share * inside, "samples without their stack"
    assert busy >= 0.9 * inside, "too many samples without frames"
    assert named >= 0.2 * inside, f"hardly a sample of {leaf}"
    return inside


def check_stock(recording, event="cpu-clock"):
    """Stock perf reads both events, and says nothing against the file."""
    if not shutil.which("perf"):
        return
    text = ""
    for arguments in (("report", "--stdio", "-g", "none"), ("script",), ("script", "-F", "comm,event,ip,sym"),
                      ("evlist", "-v"), ("report", "--stdio", "--sort", "comm", "--stats")):
        done = subprocess.run(["perf", *arguments, "-i", str(recording)], capture_output=True, text=True,
                              errors="replace")
        said = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("#")]
        assert done.returncode == 0 and not said, f"perf {arguments}: {done.returncode} {said[:3]}"
        if arguments[0] == "report":
            assert "polyperf:frames" in done.stdout
        if arguments == ("script",):
            text = done.stdout
    rows = subprocess.run(["perf", "script", "-G", "--ns", "-F", "event,time", "-i", str(recording)],
                          capture_output=True, text=True).stdout.splitlines()
    times = [float(row.split()[0].rstrip(":")) for row in rows]
    assert times == sorted(times), "perf does not get the samples in order"
    whole = frames.Recording(recording)
    assert len(rows) == len(whole.samples), f"perf shows {len(rows)} of {len(whole.samples)} samples"
    # The type of the samples' event keeps its fields beside one that has fewer.
    assert re.search(r"^\t +[0-9a-f]+ \S+", text, re.M), "no call chains"


def case_command(place, language, version=None):
    file, said = record(place, "--", *callers(language, ENOUGH, version))
    need_walk(said)
    assert READ.search(said)[1].lower() == language
    recording = frames.Recording(file)
    assert recording.names.count("polyperf:frames") == 1
    count = check_share(recording, LEAVES[language], 100)
    assert re.search(r"^polyperf: (\d+) samples", said, re.M), said
    told = int(re.search(r"^polyperf: (\d+) samples", said, re.M)[1])
    assert count <= told <= len(recording.samples) - len(recording.stacks), "frames are no samples"
    check_stock(file)


@contextlib.contextmanager
def running(command, place, warm=0.3):
    """The command, when it has had so many seconds of the processor."""
    with subprocess.Popen(command, cwd=place.cwd, env=place.environment, stdout=subprocess.DEVNULL,
                          start_new_session=True) as process:
        try:
            live.wait_until(f"{command[0]} does not run", lambda: live.cpu_seconds(process.pid) >= warm)
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def case_attach(place, language, version=None):
    with running(callers(language, 60, version), place) as process:
        file, said = record(place, "-p", process.pid,
                            until=lambda recorder, said: live.let_be_read(recorder, said, process.pid, ENOUGH))
    need_walk(said)
    assert READ.search(said)[3] == str(process.pid)
    check_share(frames.Recording(file), LEAVES[language], 100, process.pid)


def case_system(place, *_):
    with running(callers("python", 60), place) as first, running(callers("perl", 60), place) as second:
        def until(recorder, said):
            for process in (first, second):
                live.let_be_read(recorder, said, process.pid, ENOUGH / 3)
        file, said = record(place, "-a", until=until)
    need_walk(said)
    recording = frames.Recording(file)
    check_share(recording, LEAVES["python"], 50, first.pid)
    check_share(recording, LEAVES["perl"], 50, second.pid)
    check_stock(file)


def hidden(place, language):
    """A program that does not say by its name what it is, nor by the command that starts it."""
    program = place.root / "innocent"
    shutil.copy(path_of(language), program)
    script = place.root / "start"
    script.write_text(f"#!/bin/sh\nsleep 0.3\n{program} {PROGRAMS}/callers.{SUFFIXES[language]} 60\nexit 0\n")
    script.chmod(0o755)
    return script


def toy_command(toy, seconds):
    if not os.path.exists(toy):
        polyperf.skip("not on this machine")
    return [toy, str(PROGRAMS / "callers.toy"), str(seconds)]


def check_toy(file, said):
    need_walk(said)
    assert READ.search(said)[1] == "slot" and READ.search(said)[2] == "toy"
    recording = frames.Recording(file)
    check_share(recording, "inner", 300)
    pairs = sorted(recording.joined(), key=lambda pair: pair[0].time)
    return next(i for i, (_, stack) in enumerate(pairs) if stack)


def case_slot_command(place, toy):
    """The walk is there when the program starts: it is looked at within some milliseconds."""
    first = check_toy(*record(place, "--", *toy_command(toy, ENOUGH)))
    assert first <= 100, f"{first} samples before the first stack"


def case_slot_wrapped(place, toy):
    """Also behind a wrapper, and where a script's first line names it."""
    first = check_toy(*record(place, "--", "env", "A=1", *toy_command(toy, ENOUGH)))
    assert first <= 100, f"{first} samples before the first stack"
    script = place.cwd / "script.toy"
    script.write_text(f"#!{toy}\n" + (PROGRAMS / "callers.toy").read_text())
    script.chmod(0o755)
    first = check_toy(*record(place, "--", str(script), ENOUGH))
    assert first <= 100, f"{first} samples before the first stack"


def case_slot_attach(place, toy):
    with running(toy_command(toy, 60), place) as process:
        found = record(place, "-p", process.pid,
                       until=lambda recorder, said: live.let_be_read(recorder, said, process.pid, ENOUGH))
        assert check_toy(*found) <= 100


def end_when_walked(recorder, said, parent):
    """Ends the program, however late it was seen, when enough of it was walked."""
    program = live.child_of(parent, "innocent")
    live.let_be_read(recorder, said, program, ENOUGH)
    os.kill(program, signal.SIGTERM)


def check_late(file, said):
    """The walk is loaded when the program is seen: what is sampled before that has no stacks."""
    need_walk(said)
    check_share(frames.Recording(file), LEAVES["perl"], 100)


def case_midrun(place, *_):
    def until(recorder, said):
        end_when_walked(recorder, said, recorder.pid)
        recorder.wait(live.PATIENCE)
    check_late(*record(place, "--", hidden(place, "perl"), until=until))


def case_midrun_attached(place, *_):
    start = place.root / "now"
    waits = f"until [ -e {start} ]; do sleep 0.1; done; {hidden(place, 'perl')}; sleep 60"

    def until(recorder, said):
        live.wait_until("nothing is recorded", lambda: live.is_sampling(recorder) or recorder.poll() is not None)
        start.touch()
        end_when_walked(recorder, said, process.pid)
    with running(["/bin/sh", "-c", waits], place, warm=0) as process:
        found = record(place, "-p", process.pid, until=until)
    check_late(*found)


ORPHAN = """
import os, sys, time
def spin():
    end = time.thread_time() + 0.7
    while time.thread_time() < end: pass
if os.fork() == 0:
    time.sleep(0.2) # the parent is gone
    spin()
    open(sys.argv[1], "w").write("done\\n")
    os._exit(0)
"""


def case_orphan(place, *_):
    """A child outlives the parent that it was forked from."""
    path = path_of("python")
    ends = place.root / "ends"
    os.mkfifo(ends)
    file, said = record(place, "--", "/bin/sh", "-c", f"{path} -c \"$0\" {ends}; read end <{ends}", ORPHAN)
    need_walk(said)
    recording = frames.Recording(file)
    pid = int(READ.search(said)[3])
    orphans = [pair for pair in recording.joined() if pair[0].pid > pid]
    walked = [s for _, s in orphans if s and "spin" in [f.name for f in s.frames]]
    print(f"{len(walked)} of {len(orphans)}")
    assert len(walked) > 0.9 * len(orphans) > 90


THREADS = """
import sys, threading, time, zlib
data = bytes(range(256)) * 400
def spin():
    end = time.thread_time() + 0.4
    while time.thread_time() < end: zlib.compress(data, 6)
threads = [threading.Thread(target=spin) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def case_threads(place, *_):
    file, said = record(place, "-z", "-e", "cpu-clock,page-faults", "--", path_of("python"), "-c", THREADS)
    need_walk(said)
    plain, said = record(place, "-e", "cpu-clock,page-faults", "--", path_of("python"), "-c", THREADS)
    recording = frames.Recording(plain)
    check_share(recording, "spin", 200)
    tids = {stack.tid for stack in recording.stacks if "spin" in [f.name for f in stack.frames]}
    assert len(tids) == 3, tids
    faults = [stack for sample, stack in recording.joined() if sample.event == "page-faults" and stack]
    assert any(stack.frames for stack in faults), "page faults have no frames"


def case_none(place, *_):
    """A recording without an interpreter is as it ever was."""
    file, said = record(place, "--", "/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
    assert not READ.search(said) and not NOT_READ.search(said)
    assert "polyperf:frames" not in frames.Recording(file).names
    if shutil.which("perf"):
        done = subprocess.run(["perf", "evlist", "-i", str(file)], capture_output=True, text=True)
        assert done.stdout.split() == ["cpu-clock", "dummy"] or "frames" not in done.stdout


def trampolines(said):
    return "PYTHONPERFSUPPORT=1" in said


def case_off(place, *_):
    file, said = record(place, "--interpreters", "off", "-v", "--", *callers("python", 0.5))
    assert trampolines(said) and not READ.search(said)
    assert "polyperf:frames" not in frames.Recording(file).names
    file, said = record(place, "-v", "--", *callers("python", 0.5))
    need_walk(said)
    assert not trampolines(said), "both"


def case_unprivileged(place, *_):
    """Who may not is told, and has an agent in Pythons, or else the trampolines."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        polyperf.skip("needs root and setpriv")
    place.root.chmod(0o755)
    for path in (place.out, place.cwd, place.home, place.tmp):
        path.chmod(0o777)
    # One that has no agent beside it.
    alone = place.root / "polyperf"
    shutil.copy(POLYPERF, alone)
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    arguments = ["record", "-o", str(place.out / "other.data")]
    as_nobody = [*nobody, POLYPERF, *arguments]
    command = ["-v", "--", *callers("python", 0.5)]
    done = subprocess.run([*nobody, alone, *arguments, *command], cwd=place.cwd, env=place.environment,
                          capture_output=True, text=True)
    print(done.stderr)
    if done.returncode and "perf events are closed" in done.stderr:
        polyperf.skip("users may not sample here")
    assert done.returncode == 0 and trampolines(done.stderr)
    assert "CAP_BPF" in NOT_READ.search(done.stderr)[2]
    if "agents cannot be put into Pythons: it takes Linux" not in done.stderr:
        done = subprocess.run([*as_nobody, *command], cwd=place.cwd, env=place.environment, capture_output=True,
                              text=True)
        print(done.stderr)
        assert done.returncode == 0 and not trampolines(done.stderr)
        assert re.search(r"Python [\w.]+ \(process \d+\): its functions are read .* by an agent", done.stderr)
    done = subprocess.run([*as_nobody, "--interpreters", "walk", *command], cwd=place.cwd,
                          env=place.environment, capture_output=True, text=True)
    assert done.returncode == 1 and "CAP_BPF" in done.stderr, done.stderr


def main():
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        globals()[f"case_{sys.argv[2].replace('-', '_')}"](place, *sys.argv[3:])


main()
