#!/usr/bin/env python3
"""sources_test.py POLYPERF LIST_CODE: a recording with `--sources` shows what is gone since."""
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import polyperf

PROGRAM = """// it was here
function alpha(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
let t = 0;
while (process.cpuUsage().user < 500000) t += alpha(100000);
console.log(t > 0);
"""


def rows_of(list_code, recording):
    text = polyperf.run(list_code, recording).stdout
    return [line.split("\t") for line in text.splitlines()]


def check(rows, is_kept):
    faults = []
    alpha = [row for row in rows if row[0].startswith("alpha ") and row[2] == "x86-64"]
    if not any(row[3].isdigit() and int(row[3]) > 0 and int(row[4]) > 1 for row in alpha):
        faults.append(f"alpha has no code with lines: {alpha}")
    sources = [row for row in rows if row[0] == "source" and row[1].endswith("/gone.js")]
    expected = [["in the recording", "// it was here"]] if is_kept else []
    if [row[2:] for row in sources] != expected:
        faults.append(f"kept {is_kept}: {sources}")
    return faults


def main(program, list_code):
    if not shutil.which("node"):
        polyperf.skip("node is not installed")
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    faults = []
    for options in (["--sources"], []):
        with live.place() as place:
            script = pathlib.Path(place.home) / "gone.js"
            script.write_text(PROGRAM)
            recording, _ = place.record(program, ["node", str(script)], *options)
            script.unlink()
            faults += check(rows_of(list_code, recording), bool(options))
    if faults:
        polyperf.fail(*faults)


main(*sys.argv[1:])
