#!/usr/bin/env python3
"""perf resolves and unwinds made-up samples in an image: symbols, offsets and dumped stacks,
also through functions whose addresses were used before.  perf_test.py PERF_MAKE
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile


def main():
    if platform.machine() != "x86_64":
        print("the samples have x86-64's registers")
        sys.exit(77)
    if not shutil.which("perf"):
        print("no perf")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        wanted = subprocess.run([sys.argv[1], folder], capture_output=True, text=True,
                                check=True).stdout.splitlines()
        done = subprocess.run(["perf", "script", "-i", f"{folder}/perf.data", "-F", "ip,sym,symoff"],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "HOME": folder, "DEBUGINFOD_URLS": ""})
        found = [" ".join(re.findall(r"^\s+[0-9a-f]+ (\S+)$", sample, re.M))
                 for sample in re.split(r"\n\n+", done.stdout) if sample.strip()]
        # A return address is looked up one byte before: perf prints that offset.
        found = [sample for sample in found if sample]
        for number, want in enumerate(wanted):
            names = want.split()
            want = " ".join([names[0]] + [re.sub(r"0x(\w+)$", lambda m: hex(int(m[1], 16) - 1), n)
                                          for n in names[1:]])
            if number >= len(found) or not found[number].startswith(want):
                print("wanted", want, "\nfound ", found[number:number + 1], done.stderr)
                print(done.stdout)
                sys.exit(1)


main()
