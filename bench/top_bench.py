"""What `polyperf top` costs beside `perf top`: both watch the same programs at the same time."""
import os
import pty
import shutil
import subprocess
import time

WARM_UP, SECONDS = 8, 20
PROGRAM = """
function alpha(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) % 1000003; return x; }
function beta(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 17 + i) % 1000003; return x; }
let sink = 0;
for (let i = 0;; i++) { sink += alpha(20000) + beta(10000); if (i % 50 == 0) sink += eval(`(q => q + ${i})(1)`); }
"""


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(command, folder, environment):
    """On a terminal, which perf top asks for keys."""
    outer, inner = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=inner, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    os.close(inner)
    return process, outer


def shares(commands, folder, environment):
    """Of each, which run beside each other: percent of a CPU, when they are at work."""
    started = [start(command, folder, environment) for command in commands]
    time.sleep(WARM_UP)
    before, from_time = [cpu_seconds(process.pid) for process, _ in started], time.monotonic()
    time.sleep(SECONDS)
    after, spent = [cpu_seconds(process.pid) for process, _ in started], time.monotonic() - from_time
    for process, terminal in started:
        process.terminate()
        process.wait()
        os.close(terminal)
    return [100 * (end - begin) / spent for begin, end in zip(before, after)]


def measure(table, folder, polyperf, environment):
    node = shutil.which("node")
    if not node:
        print("  no node")
        return
    (folder / "busy.js").write_text(PROGRAM)
    with subprocess.Popen([node, "--perf-basic-prof", "busy.js"], cwd=folder) as busy:
        cases = [("node", ["-p", str(busy.pid)], 5)]
        if os.geteuid() == 0:
            cases.append(("the whole machine", ["-a"], 10))
        for what, whom, limit in cases:
            perf, ours = shares([["perf", "top", "--stdio", "-d", "2", "-F", "999", *whom],
                                 [polyperf, "top", "--stdio", "-d", "2", "-F", "999", *whom]], folder, environment)
            table.add(f"top of {what}, CPU at 999 Hz, a table every 2 s", f"{perf:.1f} %", f"{ours:.1f} %",
                      f"{perf / ours:.1f}x" if ours else "-", f"at most {limit} %", ours <= limit)
        busy.kill()
    os.unlink(f"/tmp/perf-{busy.pid}.map")
