#!/usr/bin/env python3
"""Functions that fell back, against what their runtimes say of it themselves: falls_test.py POLYPERF CASE.

Cases: node, java. No fall is told that the runtime does not know of, and those of the functions that
the workload is about are found.
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import javaclasses
import live
import pageblock
import polyperf

WORKLOADS = HERE / "workloads"
SECONDS = "1"  # of the processor


def falls(program, recording):
    """How often each function of the profile fell back."""
    page = recording.with_suffix(".html")
    polyperf.run(program, "report", "-i", recording, f"--html={page}", "--functions=0")
    events = pageblock.read(page, "events")
    names = pageblock.strings(events)
    kinds = [kind["key"] for kind in json.loads(events["about"])["kinds"]]
    return collections.Counter(names[name] for name, kind in zip(events["events.name"], events["events.kind"])
                               if kinds[kind] == "fell_back")


def record(program, place, *command):
    recording = place.root / "falls.data"
    done = subprocess.run([program, "record", "-q", "-F", "1999", "-g", "-o", recording, "--", *command],
                          cwd=place.cwd, capture_output=True, text=True)
    if done.returncode:
        polyperf.fail(f"record: {done.stderr[-500:]}")
    return recording, done.stdout


def compare(found, told, wanted, name_of):
    """`told`: how often the runtime gave code of a function up, by the name that it has there."""
    faults = [f"{name} fell {count} times, the runtime says {told[name_of(name)]}"
              for name, count in found.items() if count > told[name_of(name)]]
    for name in wanted:
        if not told[name]:
            polyperf.skip(f"the runtime gave no code of {name} up")
        if not sum(count for other, count in found.items() if name_of(other) == name):
            faults.append(f"{name} fell {told[name]} times, none was found: {dict(found)}")
    if faults:
        polyperf.fail(*faults)
    print(f"found {dict(found)}, told {dict(told)}")


def test_node(program, place):
    if not shutil.which("node"):
        polyperf.skip("there is no node")
    recording, printed = record(program, place, "node", "--trace-deopt", WORKLOADS / "falls.js", SECONDS)
    told = collections.Counter(name or "(anonymous)" for name in
                               re.findall(r"begin\. deoptimizing \S+ <JSFunction (\S*?) ?\(sfi", printed))
    compare(falls(program, recording), told, ["poly"], lambda name: name.split(" ")[0])


def test_java(program, place):
    if not shutil.which("javac"):
        polyperf.skip("there is no JDK")
    classes = javaclasses.build(shutil.which("javac"), WORKLOADS / "Falls.java")
    recording, printed = record(program, place, "java", "-XX:+PrintCompilation", "-cp", classes, "Falls", SECONDS)
    # "   849   14       4       Falls::total (27 bytes)   made not entrant"; % is code for a loop.
    told = collections.Counter(
        name.replace("::", ".") for attributes, name in
        re.findall(r"^ +\d+ +\d+ ([ %s!bn]*) +4 +(\S+) .*made not entrant", printed, re.M) if "%" not in attributes)
    compare(falls(program, recording), told, ["Falls.total"], lambda name: name.split("(")[0])


def main(program, case):
    if reason := live.why_no_sampling():
        polyperf.skip(reason)
    with live.place() as place:
        {"node": test_node, "java": test_java}[case](program, place)


main(*sys.argv[1:])
