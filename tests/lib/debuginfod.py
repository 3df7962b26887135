"""A debuginfod in a network of its own, for it listens on every address.

    debuginfod.enter_network()          runs the script again, inside
    with debuginfod.serving(folder, state) as server:
        server.wait_for(build_id)
        server.find("executable", build_id)
"""
import contextlib
import fcntl
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

import polyperf

PORT = 18002
INSIDE = "POLYPERF_TEST_NETWORK"
PROXIES = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")


def enter_network():
    """Returns inside; outside, the script ends as its run inside does."""
    if INSIDE in os.environ:
        for variable in PROXIES:
            os.environ.pop(variable, None)
        bring_loopback_up()
        return
    for program in ("debuginfod", "debuginfod-find", "unshare"):
        if not shutil.which(program):
            polyperf.skip(f"{program} is not installed")
    words = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-n"]
    probe = subprocess.run([*words, "true"], capture_output=True, text=True)
    if probe.returncode:
        polyperf.skip(f"{' '.join(words)}: {probe.stderr.strip()}")
    done = subprocess.run([*words, sys.executable, "-B", *sys.argv],
                          env={**os.environ, INSIDE: "1"})
    sys.exit(done.returncode)


def bring_loopback_up():
    SIOCSIFFLAGS, IFF_UP = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


class Server:
    def __init__(self, process, state):
        self.process, self.state = process, state
        self.environment = {**os.environ, "DEBUGINFOD_URLS": f"http://127.0.0.1:{PORT}",
                            "DEBUGINFOD_CACHE_PATH": str(state / "client")}

    def wait_for(self, build_id, what="executable"):
        """The server scans the folder first."""
        for _ in range(600):
            try:
                with urllib.request.urlopen(
                        f"http://127.0.0.1:{PORT}/buildid/{build_id}/{what}") as answer:
                    return answer.status == 200
            except (urllib.error.URLError, ConnectionError):
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        print((self.state / "log").read_text()[-2000:])
        return False

    def find(self, what, build_id):
        """The path of what the client got, or None."""
        done = subprocess.run(["debuginfod-find", what, build_id], env=self.environment,
                              capture_output=True, text=True)
        return pathlib.Path(done.stdout.strip()) if done.returncode == 0 else None


@contextlib.contextmanager
def serving(folder, state):
    with open(state / "log", "w") as log:
        process = subprocess.Popen(["debuginfod", "-F", "-p", str(PORT), "-d", state / "db.sqlite",
                                    "-t", "60", "-g", "0", folder], stdout=log, stderr=log)
        try:
            yield Server(process, state)
        finally:
            process.terminate()
            process.wait()
