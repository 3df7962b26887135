"""The Firefox Profiler's own command line: its loader, and what it makes of a profile.

    with profiler_cli.session(path, folder) as ask:
        threads = ask("thread", "list")["threads"]

The folder's path must be short: a socket lies in it.
"""
import contextlib
import json
import os
import pathlib
import socket
import subprocess

import live
import polyperf
import readers

SESSION = "test"


@contextlib.contextmanager
def session(path, folder):
    """Its `load` waits half a second for the process that it starts, and leaves it behind: this starts
    it itself.
    """
    readers.need("node")
    program = readers.modules() / "@firefox-devtools" / "profiler-cli" / "dist" / "profiler-cli.js"
    environment = {**os.environ, "PROFILER_CLI_SESSION_DIR": str(folder)}
    log = pathlib.Path(folder) / "log"
    with open(log, "wb") as output:
        server = subprocess.Popen(["node", program, "--daemon", path, "--session", SESSION], env=environment,
                                  stdout=subprocess.DEVNULL, stderr=output)
    answers = set()

    def run(*words):
        return subprocess.run(["node", program, *map(str, words), "--json", "--session", SESSION],
                              env=environment, text=True, capture_output=True, timeout=120)

    def ask(*words):
        done = run(*words)
        if done.returncode:
            polyperf.fail(f"profiler-cli {' '.join(map(str, words))}: {done.stderr[-1000:]}")
        return json.loads(done.stdout)

    def is_listening():
        """A client that comes earlier takes the session for dead, and removes what tells of it."""
        if server.poll() is not None:
            polyperf.fail(f"profiler-cli: {log.read_text()[-1000:]}")
        for path in pathlib.Path(folder).iterdir():
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                return True
        return False

    def is_loaded():
        done = run("thread", "list")
        if "load failed" in done.stderr:
            polyperf.fail(f"profiler-cli: {done.stderr[-1000:]}")
        if done.returncode and done.stderr not in answers:
            print(f"profiler-cli: {done.stderr.strip()}")
            answers.add(done.stderr)
        return done.returncode == 0

    try:
        live.wait_until("profiler-cli does not listen", is_listening)
        live.wait_until("profiler-cli does not load", is_loaded)
        yield ask
    finally:
        server.terminate()
        server.wait()
