#!/usr/bin/env python3
"""The example for authors of runtimes: it is named in a recording, and lint finds nothing.

  example_test.py MINIJIT POLYPERF
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command, **more):
    got = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, errors="replace", **more)
    return got.returncode, got.stdout


def main():
    minijit, polyperf = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="emit-example-") as name:
        folder = pathlib.Path(name)
        environment = {**os.environ, "JITDUMPDIR": name}
        status, text = run(minijit, env=environment)
        assert status == 0, text
        dumps = list(folder.glob("jit-*.dump"))
        assert len(dumps) == 1, dumps
        status, text = run(polyperf, "lint", dumps[0])
        assert status == 0 and "1 LOAD" in text and "0 warnings" not in text, text

        status, text = run(polyperf, "record", "-o", "r.data", minijit, cwd=folder)
        if status != 0 and re.search("perf_event|not permitted|denied", text):
            print("perf events are not to be had here")
            sys.exit(77)
        assert status == 0, text
        status, text = run(polyperf, "report", "-i", "r.data", cwd=folder)
        assert status == 0, text
        shares = [float(share) for share in
                  re.findall(r"^\s*(\d+\.\d+)%.*\b(?:run|count)\b", text, re.M)]
        assert sum(shares) > 80, text
        assert not list(folder.glob("jit-*/*.dump")), "left behind"
    print("the example's function is named")


if __name__ == "__main__":
    main()
