#!/usr/bin/env python3
"""Interpreters with a slot, with and without privilege: slot_test.py POLYPERF CASE PROGRAM

Without privilege their frames are found in the copies of stacks. Exit code 77: not here.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import polyperf

PROGRAMS = HERE.parent / "interp/programs"
POLYPERF, PROGRAM = sys.argv[1], sys.argv[3]
AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
COPIED = re.compile(r"^polyperf: slot \w+ \(process \d+\): its functions are read from the copies of its stack$", re.M)
ENOUGH = 1  # second of the processor: some 1000 samples
TOY = ["main", "outer", "inner", "compare", "sort"]


def record(place, command, *options, user=()):
    path = place.out / ("theirs.data" if user else "ours.data")
    path.unlink(missing_ok=True)
    done = subprocess.run([*user, POLYPERF, "record", "-F", "997", *options, "-o", str(path), "--", *command],
                          cwd=place.cwd, env=place.environment, capture_output=True, text=True, timeout=240)
    print(done.stderr.strip())
    if done.returncode and "perf events are closed" in done.stderr:
        polyperf.skip("users may not sample here")
    assert done.returncode == 0, done.returncode
    return path, done.stderr


def record_copied(place, command):
    """As somebody who may not walk."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        polyperf.skip("needs root and setpriv")
    place.root.chmod(0o755)
    for path in (place.out, place.cwd, place.home, place.tmp):
        path.chmod(0o777)
    path, said = record(place, command, "-g", "dwarf", user=AS_NOBODY)
    assert COPIED.search(said), "the copies are not looked through"
    return path


def blocks(path, fields, *options):
    text = polyperf.run(POLYPERF, "script", "-i", str(path), "-F", fields, *options).stdout
    return [block for block in re.split(r"\n\s*\n", text) if block.strip()]


def toy_command(seconds):
    if not os.path.exists(PROGRAM):
        polyperf.skip("not on this machine")
    return [PROGRAM, str(PROGRAMS / "callers.toy"), str(seconds)]


def shares(path):
    """Of samples by the innermost function of the language, and what is wrong with them."""
    seen = collections.Counter()
    calls = {"inner": {"outer", "compare"}, "outer": {"main", "outer"}, "compare": {"sort"}, "sort": {"main"},
             "main": {"run_until_end"}}
    for block in blocks(path, "ip,sym,reason"):
        names = [line.split(None, 1)[1].split(" # ")[0].strip() for line in block.splitlines() if line.strip()]
        while names and names[-1] != "run_until_end":
            names.pop()
        ours = [name for name in names if name in TOY or name in ("run", "run_until_end", "[unknown]")]
        if not ours:
            continue
        seen["all"] += 1
        seen["run"] += "run" in ours
        seen["[unknown]"] += "[unknown]" in ours
        seen[ours[0]] += 1
        for callee, caller in zip(ours, ours[1:]):
            assert callee not in calls or caller in calls[callee] | {"[unknown]"}, f"{callee} < {caller}: {names}"
    print(dict(seen))
    assert seen["all"] > 500, "hardly a sample"
    return seen


def case_copied(place):
    """From the copies the same functions come as from the walk."""
    seen = shares(record_copied(place, toy_command(ENOUGH)))
    assert seen["run"] <= 0.02 * seen["all"] and seen["[unknown]"] <= 0.01 * seen["all"]
    path, said = record(place, toy_command(ENOUGH), "-g", "dwarf")
    if "CAP_BPF" in said or "built without" in said:
        return
    walked = shares(path)
    for name in TOY:
        assert abs(seen[name] / seen["all"] - walked[name] / walked["all"]) < 0.05, name


def case_lines(place):
    """Lines are in the frames: two of them share a function's time as they should."""
    path = record_copied(place, toy_command(ENOUGH))
    text = polyperf.run(POLYPERF, "report", "-i", str(path), "--sort", "sym,srcline").stdout
    lines = {int(row[1]): int(row[0]) for row in
             re.findall(r"^\s*[\d.]+%\s+(\d+)\s.*\binner\s+\S*callers\.toy:(\d+)$", text, re.M)}
    print(lines)
    assert set(lines) <= {9, 10, 11} and 2 < lines[10] / lines[11] < 4.5


def check_churn(path, least):
    """A name is that of the line, or there is none."""
    known = unknown = 0
    names = set()
    for block in blocks(path, "ip,sym,srcline,reason"):
        rows = [row.strip() for row in block.splitlines()]
        at = next((i for i, row in enumerate(rows) if re.search(r" (fn_\d+|\[unknown\])", row)), None)
        if at is None:
            continue
        found = re.search(r"fn_(\d+)", rows[at])
        if not found:
            unknown += 1
            continue
        number = int(found[1])
        assert rows[at + 1].startswith(f"f{number}.src:{number + 1}"), block
        known += 1
        names.add(number)
    print(f"{known} samples of {len(names)} functions, {unknown} without a name")
    assert len(names) >= least
    return known, unknown


def case_churn_walked(place):
    path, said = record(place, [PROGRAM, "2"], "-g", "dwarf")
    if "CAP_BPF" in said or "built without" in said:
        polyperf.skip("the walk cannot be had")
    known, unknown = check_churn(path, 100)
    assert unknown <= 0.005 * known


def case_churn_copied(place):
    """What is gone when its sample is read has no name."""
    check_churn(record_copied(place, [PROGRAM, "2"]), 10)


def main():
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        globals()[f"case_{sys.argv[2].replace('-', '_')}"](place)


main()
