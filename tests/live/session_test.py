#!/usr/bin/env python3
"""Recording sessions that do not go the easy way.

    session_test.py POLYPERF CASE

Cases: pidns, shells, npx, unwritable, interrupt, terminated, killed, attach, attach-exit.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import polyperf

WORK_JS = HERE / "workloads" / "work.js"
FREQUENCY = ("-F", "1999", "-g", "fp")
ENOUGH = 0.8  # seconds of the processor: some 1600 samples
SECONDS = "1"  # of the processor, of what runs to its end
FOR_LONG = "300"  # what runs until it is ended


def tool(name):
    path = shutil.which(name)
    if not path:
        polyperf.skip(f"{name} is not installed")
    return path


def node_faults(program, place, recording, printed):
    """What must hold whenever node ran to its end."""
    return [*live.left_behind(place, live.recorded_pids(recording)),
            *live.workload_faults(program, recording, printed),
            *live.naming_faults(program, recording)]


def pidns(program, place):
    """The process is 1 in its own namespace, and its /proc is gone when the report is made."""
    command = [tool("unshare"), "-pf", "--mount-proc", tool("node"), WORK_JS, SECONDS]
    if subprocess.run([*command[:3], "true"], capture_output=True).returncode:
        polyperf.skip("unshare is not permitted")
    recording, printed = place.record(program, command, *FREQUENCY)
    # Elsewhere, with nothing beside it: the recording alone must do.
    moved = place.root / "moved.data"
    recording.rename(moved)
    return node_faults(program, place, moved, printed)


def shells(program, place):
    """A script that runs env that runs a shell that runs node."""
    script = place.root / "start"
    script.write_text('#!/bin/sh\nenv X=1 bash -c "sh -c \\"node $1 1\\""\n')
    script.chmod(0o755)
    tool("node")
    recording, printed = place.record(program, [script, WORK_JS], *FREQUENCY)
    return node_faults(program, place, recording, printed)


def npx(program, place):
    """node started by npx from a package in cwd."""
    tool("node")
    package = place.root / "package"
    (package / "bin").mkdir(parents=True)
    shutil.copy(WORK_JS, package / "bin" / "work.js")
    starter = package / "bin" / "start.js"
    starter.write_text("#!/usr/bin/env node\nrequire('./work.js');\n")
    starter.chmod(0o755)
    (package / "package.json").write_text(json.dumps(
        {"name": "live-work", "version": "1.0.0", "bin": {"live-work": "bin/start.js"}}))
    command = [tool("npx"), "--offline", "--yes", "--package", package, "live-work", SECONDS]
    recording, printed = place.record(program, command, *FREQUENCY)
    return node_faults(program, place, recording, printed)


def unwritable(program, place):
    """node in a directory where it cannot write, where it would print its log on stdout."""
    recording = place.out / "recording.data"
    command = [program, "record", *FREQUENCY, "-o", recording, "--", tool("node"), WORK_JS, SECONDS]
    if os.geteuid() == 0:  # who may write anywhere, but not in what is mounted read-only
        script = 'mount -o bind,ro "$0" "$0" && cd "$0" && exec "$@"'
        done = place.run(tool("unshare"), "-m", "sh", "-c", script, place.cwd, *command)
    else:
        done = place.run(*command, cwd="/")
    print(done.stderr.strip())
    faults = node_faults(program, place, recording, done.stdout)
    lines = done.stdout.splitlines()
    if len(lines) != 1:
        faults.append(f"the program's output has {len(lines)} lines, not its own one")
    return faults


def finish(process, timeout=live.PATIENCE):
    """Its output and errors; the test fails if it does not end."""
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        polyperf.fail("polyperf record does not end")
    print(errors.strip())
    return output, errors


def interrupt(program, place):
    """Ctrl-C on a terminal: the signal goes to the whole process group."""
    recording = place.out / "recording.data"
    process = place.start(program, "record", *FREQUENCY, "-o", recording, "--", tool("node"), WORK_JS,
                          FOR_LONG, start_new_session=True)
    live.let_run(process, live.child_of(process.pid, "node"), ENOUGH)
    os.killpg(process.pid, signal.SIGINT)
    finish(process)
    return [*live.whole_file_faults(program, recording, minimum=500),
            *live.naming_faults(program, recording),
            *live.left_behind(place, live.recorded_pids(recording))]


def terminated(program, place):
    """SIGTERM to polyperf alone; the program it started must not be left running."""
    recording = place.out / "recording.data"
    process = place.start(program, "record", *FREQUENCY, "-o", recording, "--", tool("node"), WORK_JS,
                          FOR_LONG)
    node = live.child_of(process.pid, "node")
    live.let_run(process, node, ENOUGH)
    process.send_signal(signal.SIGTERM)
    finish(process)
    faults = live.whole_file_faults(program, recording, minimum=300)
    for _ in range(100):
        if not pathlib.Path(f"/proc/{node}").exists():
            break
        time.sleep(0.1)
    else:
        os.kill(node, signal.SIGKILL)
        faults.append("node went on running for 10 s")
    return faults


def killed(program, place):
    """The target dies by SIGKILL in the middle of whatever it was writing."""
    recording = place.out / "recording.data"
    process = place.start(program, "record", *FREQUENCY, "-o", recording, "--", tool("node"), WORK_JS,
                          FOR_LONG)
    node = live.child_of(process.pid, "node")
    live.let_run(process, node, ENOUGH)
    os.kill(node, signal.SIGKILL)
    finish(process)
    return [*live.whole_file_faults(program, recording, minimum=500),
            *live.naming_faults(program, recording),
            *live.left_behind(place, live.recorded_pids(recording))]


def attached(program, place, seconds, until):
    """Attaches to a node that writes a perf map by itself; `until` ends the recording."""
    target = place.start(tool("node"), "--perf-basic-prof", "--interpreted-frames-native-stack",
                         WORK_JS, seconds)
    map_path = pathlib.Path(f"/tmp/perf-{target.pid}.map")
    try:
        live.wait_until("no map", map_path.exists)
        recording = place.out / "recording.data"
        process = place.start(program, "record", *FREQUENCY, "-o", recording, "-p", target.pid,
                              start_new_session=True)
        until(process, target)
        finish(process)
        faults = [*live.whole_file_faults(program, recording, minimum=500),
                  *live.naming_faults(program, recording)]
        if not map_path.exists():
            faults.append("the map of a process that we did not start was removed")
        return faults
    finally:
        target.kill()
        target.communicate()
        map_path.unlink(missing_ok=True)


def attach(program, place):
    """-p, ended by Ctrl-C; the process goes on."""
    def until(process, target):
        live.let_run(process, target.pid, ENOUGH)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=live.PATIENCE)
        if target.poll() is not None:
            polyperf.fail("the process that was looked at has ended")
    return attached(program, place, FOR_LONG, until)


def attach_exit(program, place):
    """-p, ended by the end of the process."""
    def until(process, target):
        live.let_run(process, target.pid, ENOUGH)
        target.send_signal(signal.SIGTERM)
        target.wait(timeout=live.PATIENCE)
    return attached(program, place, FOR_LONG, until)


CASES = {"pidns": pidns, "shells": shells, "npx": npx, "unwritable": unwritable, "interrupt": interrupt,
         "terminated": terminated, "killed": killed, "attach": attach, "attach-exit": attach_exit}


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
