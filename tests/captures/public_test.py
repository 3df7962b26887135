#!/usr/bin/env python3
"""Files of other projects: every one must be read, none refused.

    public_test.py POLYPERF recordings|lint

Recordings must give the samples that the oracle finds in them. Dumps and maps are given to
lint, which may find fault with them but must know them for what they are.
"""
import lzma
import pathlib
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


def test_announcement(program, path):
    done = subprocess.run([program, "lint", path], capture_output=True, text=True, errors="replace")
    print(f"{path.name}: lint exits {done.returncode}")
    if done.returncode not in (0, 1):
        return f"{path.name}: lint exits {done.returncode}: {done.stderr.strip()[-300:]}"
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
                faults.append(test_announcement(program, target))
    if any(faults):
        polyperf.fail(*filter(None, faults))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
