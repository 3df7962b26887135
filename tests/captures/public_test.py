#!/usr/bin/env python3
"""Files of other projects: every one must be read, none refused.

    public_test.py POLYPERF recordings|lint

Recordings must give the samples that the oracle finds in them. Dumps and maps are given to
lint, which may find fault with them but must know them for what they are, and find as much.
"""
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import oracle
import polyperf

PUBLIC = HERE.parent / "data" / "captures" / "public"


def test_recording(program, path, content):
    done = polyperf.run(program, "script", "-i", path, "--ns", "-F", "pid,tid,time,ip")
    got = [(sample.pid, sample.tid, sample.time) for sample in polyperf.read_script(done.stdout)]
    wanted = [(sample.pid, sample.tid, sample.time) for sample in oracle.read_recording(content)]
    assert wanted, "the oracle finds samples in all of them"
    if sorted(got) != sorted(wanted):
        return f"{path.name}: {len(got)} samples printed, {len(wanted)} recorded"
    polyperf.run(program, "report", "-i", path)
    return None


def test_announcement(program, path, content):
    done = subprocess.run([program, "lint", path], capture_output=True, text=True, errors="replace")
    summary = done.stdout.strip().splitlines()[-1:] or [""]
    print(f"lint exits {done.returncode}: {summary[0]}")
    if done.returncode not in (0, 1):
        return f"{path.name}: lint exits {done.returncode}: {done.stderr.strip()[-300:]}"
    if path.suffix == ".dump":
        kind, noun, wanted = "jitdump", "LOAD", len(oracle.read_jitdump(content))
    else:
        kind, noun, wanted = "perf map", "entries", len(oracle.read_map(content))
    found = re.search(rf"(\d+) {noun}", summary[0])
    got = int(found[1]) if found else 0
    # The oracle gives up where a dump is damaged; in a map it takes every line that is an entry.
    if f": {kind}, " not in summary[0] or got < wanted or kind == "perf map" and got != wanted:
        return f"{path.name}: {got} {noun}, the oracle finds {wanted}"
    return None


def main(program, what):
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(PUBLIC.glob("*/*")):
            if path.name.startswith(("LICENSE", "NOTICE", "README")):
                continue
            content = lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()
            target = pathlib.Path(folder, path.name.removesuffix(".xz"))
            target.write_bytes(content)
            if what == "recordings" and target.suffix == ".data":
                faults.append(test_recording(program, target, content))
            elif what == "lint" and target.suffix != ".data":
                faults.append(test_announcement(program, target, content))
    if any(faults):
        polyperf.fail(*filter(None, faults))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
