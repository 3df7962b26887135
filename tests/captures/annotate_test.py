#!/usr/bin/env python3
"""What annotate counts of a capture must be what report and script say of it.

    annotate_test.py POLYPERF CAPTURE

For every function with samples: the sum over its instructions is the number that `report
--no-inline` gives, and the samples of each source line are those whose first line in `script
-F +srcline` it is.
"""
import collections
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import captures_test
import polyperf

EVERYTHING = ("--top", "10000", "--format", "json")


def sum_of(items):
    return sum(item["samples"] for item in items)


def compare_functions(document, rows):
    wanted = collections.Counter()
    for row in rows:
        if row["trust"] != "unknown":
            wanted[row["symbol"], row["object"]] += row["samples"]
    got, faults, shown = collections.Counter(), [], 0
    for function in document["functions"]:
        key = function["symbol"], function["object"]
        got[key] += function["samples"]
        for version in function["versions"]:
            places = version.get("instructions", version.get("offsets"))
            shown += "instructions" in version
            if sum_of(places) != version["samples"] or sum_of(version["lines"]) != version["samples"]:
                faults.append(f"{key} version {version['version']}: {sum_of(places)} samples at "
                              f"instructions, {sum_of(version['lines'])} at lines, "
                              f"of {version['samples']}")
        if sum_of(function["versions"]) != function["samples"]:
            faults.append(f"{key}: the versions do not sum up")
    for key in wanted.keys() | got.keys():
        if wanted[key] != got[key]:
            faults.append(f"{key}: {got[key]} samples, {wanted[key]} in the report")
    print(f"{len(got)} functions, {shown} versions with instructions")
    return faults


def compare_lines(document, script):
    counts = collections.Counter()
    for function in document["functions"]:
        for line in function["lines"]:
            if line["line"]:
                counts[f"{document['files'][line['file']]['path']}:{line['line']}"] += line["samples"]
    print(f"{len(counts)} lines, {counts.total()} samples")
    return [f"{line}: {counts[line]} samples, {script[line]} in the script"
            for line in counts.keys() | script.keys() if counts[line] != script[line]]


def script_lines(program, recording):
    # A sample is its innermost frame, the address far to the right, and perhaps a line below it.
    text = polyperf.run(program, "script", "-G", "-i", recording, "-F", "ip,sym,srcline").stdout
    counts = collections.Counter()
    for line in text.split("\n"):
        if line.startswith("  ") and not line.startswith("   ") and ":" in line:
            counts[line.strip()] += 1
    return counts


def test(program, capture):
    with tempfile.TemporaryDirectory() as name:
        recording, _, _ = captures_test.unpack(capture, pathlib.Path(name))
        report = polyperf.run(program, "report", "--no-inline", "-i", recording, "--format", "csv")
        document = json.loads(polyperf.run(program, "annotate", "-i", recording, *EVERYTHING).stdout)
        faults = compare_functions(document, polyperf.read_report(report.stdout))
        faults += compare_lines(document, script_lines(program, recording))
        if faults:
            polyperf.fail(*faults[:20])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    test(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
