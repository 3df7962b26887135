#!/usr/bin/env python3
"""record -p and attach on .NET processes that run already.

    dotnet_attach_test.py POLYPERF

One build of one program, all cases on it. Exit code 77: there is no SDK, or nothing can be sampled.
"""
import collections
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import csharp
import dotnet
import live
import polyperf

WORKLOADS = HERE / "workloads"
SAMPLING = ("-F", "1999", "--interpreters", "off")


class Server:
    """The program, once it has worked for a while."""

    def __init__(self, place, command, before=(), seconds=0.6):
        self.process = place.start(*before, *command, stdin=subprocess.PIPE)
        if self.process.stdout.readline() != "ready\n":
            polyperf.fail(f"no server: {self.process.communicate(timeout=60)}")
        self.pid = live.child_of(self.process.pid, "dotnet") if before else self.process.pid
        live.wait_until("the server hardly runs", lambda: live.cpu_seconds(self.pid) >= seconds)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def sockets(self):
        links = (os.readlink(path) for path in pathlib.Path(f"/proc/{self.pid}/fd").iterdir())
        return sum(link.startswith("socket:") for link in links)

    def writes(self):
        """What it tells its code in: its dump is mapped, its map open."""
        maps = pathlib.Path(f"/proc/{self.pid}/maps").read_text()
        links = [os.readlink(path) for path in pathlib.Path(f"/proc/{self.pid}/fd").iterdir()]
        return re.findall(r"jit-\d+\.dump", maps) + [link for link in links if ".map" in link]

    def end(self):
        output, errors = self.process.communicate(timeout=60)
        return [f"exit {self.process.returncode}, {output!r}, {errors!r}"
                for _ in [0] if self.process.returncode or errors]


def start_recorder(program, place, name, pid):
    recording = place.out / f"{name}.data"
    return recording, place.start(program, "record", *SAMPLING, "-o", recording, "-p", pid)


def end_recorder(recorder):
    recorder.send_signal(signal.SIGINT)
    _, errors = recorder.communicate(timeout=120)
    print(errors.strip())
    return errors


def counts_of(program, recording):
    text = polyperf.run(program, "report", "--format", "csv", "-i", recording).stdout
    counts = collections.Counter()
    for row in polyperf.read_report(text):
        counts[row["symbol"]] += row["samples"]
    return counts


def method_faults(program, recording):
    counts = counts_of(program, recording)
    return [f"{name} has {found} samples" for name in ("Server.Old", "Server.New")
            if (found := sum(n for symbol, n in counts.items() if symbol.startswith(name))) < 100]


def line_faults(program, recording):
    """Old and New are one line each; of Old the runtime tells as the recording ends."""
    lines = {number: name for number, text in enumerate((WORKLOADS / "Server.cs").read_text().splitlines(), 1)
             if (name := re.search(r"static int (Old|New)", text)) and (name := name[1])}
    text = polyperf.run(program, "report", "--sort", "symbol,srcline", "--format", "csv", "-i", recording).stdout
    faults = [f"{name} has no samples in line {number}" for number, name in lines.items()
              if not re.search(rf"Server\.{name}\(int\).*Server\.cs:{number}\b", text)]
    return faults if len(lines) == 2 else ["Server.cs is not what it was"]


def member_faults(recording, pid):
    listed = subprocess.run(["unzip", "-l", recording], capture_output=True, text=True).stdout
    sizes = {name: int(size) for size, name in re.findall(r"^ *(\d+) .* (\S+)$", listed, re.MULTILINE)}
    return [f"no {kind} of process {pid} worth {least} bytes in {sorted(sizes)}"
            for kind, least in (("jit", 10000), ("clr", 10000))
            if max((size for name, size in sizes.items() if name.startswith(f"process/{pid}/{kind}/")),
                   default=0) < least]


def attach(program, place, command):
    """Old code and new; the sockets of dead processes lie beside it; then all is as it was."""
    server = Server(place, command)
    stale = place.tmp / f"dotnet-diagnostic-{server.pid}-1-socket"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(stale))
    recording, recorder = start_recorder(program, place, "attach", server.pid)
    live.let_run(recorder, server.pid, 0.5)
    server.say("new")
    live.let_run(recorder, server.pid, 0.8)
    said = end_recorder(recorder)
    stale.unlink()
    faults = [] if "tells of its code while it is recorded" in said else ["not said"]
    faults += [f"still written: {name}" for name in server.writes()]
    server.say("path")
    if (line := server.process.stdout.readline()) != "path .\n":
        faults.append(f"its environment was changed: {line!r}")
    faults += server.end()
    faults += live.naming_faults(program, recording) + method_faults(program, recording)
    faults += member_faults(recording, server.pid) + line_faults(program, recording)
    return faults + live.left_behind(place, {server.pid})


def attach_command(program, place, command):
    """polyperf attach, twice, and --stop, twice."""
    server = Server(place, command, seconds=0.3)
    dumps = place.root / "dumps"
    dumps.mkdir()
    said = []
    for words in (["--dir", dumps], [], ["--stop"], ["--stop"]):
        done = subprocess.run([program, "attach", *map(str, words), str(server.pid)], capture_output=True,
                              text=True, env=place.environment, timeout=120)
        print(done.stderr.strip())
        said.append((done.returncode, done.stderr))
    faults = [f"exits {said}"] if [status for status, _ in said] != [0, 0, 0, 1] else []
    for at, words in ((0, "tells from now on"), (1, "tells already"), (2, "which stay"), (3, "does not tell")):
        if words not in said[at][1]:
            faults.append(f"not said: {words}")
    dump = dumps / f"jit-{server.pid}.dump"
    if not dump.exists() or b"Server::Old(int32)" not in dump.read_bytes():
        faults.append("Old is not in the dump")
    faults += [f"still written: {name}" for name in server.writes()]
    return faults + server.end() + live.left_behind(place, {server.pid})


def two(program, place, command):
    """The second finds it telling, the first dies: its session ends by itself."""
    server = Server(place, command, seconds=0.3)
    before = server.sockets()
    _, first = start_recorder(program, place, "first", server.pid)
    live.let_run(first, server.pid, 0.3)
    recording, second = start_recorder(program, place, "second", server.pid)
    live.let_run(second, server.pid, 0.3)
    first.kill()
    first.communicate(timeout=60)
    server.say("new")
    live.let_run(second, server.pid, 0.8)
    end_recorder(second)
    live.wait_until("a session is still open", lambda: server.sockets() <= before)
    faults = []
    stopped = subprocess.run([program, "attach", "--stop", str(server.pid)], capture_output=True, text=True)
    if stopped.returncode:
        faults.append(f"attach --stop: {stopped.stderr}")
    faults += [f"still written: {name}" for name in server.writes()]
    # What the dead one left.
    for path in place.tmp.glob("polyperf-*"):
        shutil.rmtree(path)
    return faults + server.end() + method_faults(program, recording) + live.left_behind(place, {server.pid})


def container(program, place, command):
    """Another PID namespace, and a /tmp of its own."""
    other = place.root / "other"
    other.mkdir()
    script = ('mount -t tmpfs none "$1" && mkdir "$1/kept" && mount --bind "$2" "$1/kept" && '
              'mount --move "$1" /tmp && shift 2 && exec "$@"')
    before = ["unshare", "-mpf", "--mount-proc", "env", "TMPDIR=/tmp", "sh", "-c", script, "sh", other,
              command[1].parent]
    tried = subprocess.run([*map(str, before), "true"], capture_output=True, text=True)
    if tried.returncode:
        print(f"no container: unshare or mount is not permitted: {tried.stderr.strip()}")
        return []
    server = Server(place, [command[0], f"/tmp/kept/{command[1].name}"], before=before)
    recording, recorder = start_recorder(program, place, "container", server.pid)
    live.let_run(recorder, server.pid, 0.4)
    server.say("new")
    live.let_run(recorder, server.pid, 0.6)
    end_recorder(recorder)
    inside = [path.name for path in pathlib.Path(f"/proc/{server.pid}/root/tmp").iterdir()
              if not re.match(r"clr-debug-pipe|dotnet-diagnostic|kept", path.name)]
    faults = [f"left in the container: {name}" for name in inside] + server.end()
    faults += live.naming_faults(program, recording) + method_faults(program, recording)
    faults += member_faults(recording, server.pid)
    return faults + live.left_behind(place, {server.pid})


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    if reason := live.why_no_sampling():
        polyperf.skip(reason)
    faults = []
    with live.place() as place:
        command = [dotnet.sdk()[0], csharp.build_workload(WORKLOADS / "Server.cs", "server")]
        for case in (attach, attach_command, two, container):
            found = case(program, place, command)
            print(f"{case.__name__}: {len(found)} faults")
            faults += [f"{case.__name__}: {fault}" for fault in found]
    if faults:
        polyperf.fail(*faults)


if __name__ == "__main__":
    main()
