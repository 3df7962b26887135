"""Starts children for as many seconds as its argument says: other programs at pids of forks, and
itself with "alien", whose functions must not be seen with the parent's descriptor.
"""
import subprocess
import sys
import time


def alien():
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        sum(range(100))


def start():
    subprocess.run([sys.executable, "-c", "for i in range(300000): i * i"])
    subprocess.run([sys.executable, __file__, "alien"])
    subprocess.run(["/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"])


def main():
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        start()
        sum(range(200000))


if sys.argv[1] == "alien":
    alien()
else:
    main()
