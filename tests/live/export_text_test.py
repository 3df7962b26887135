#!/usr/bin/env python3
"""Exports that are text, opened by their own readers, against report and script.

    export_text_test.py POLYPERF folded|svg|callgrind|chrome CAPTURE
    export_text_test.py POLYPERF hostile WRITE_FIXTURE

A capture is a folder of tests/data/captures. Folded stacks are read by flamegraph.pl, whose picture
ours must equal box by box, and by speedscope; callgrind's format by callgrind_annotate; Chrome's trace
events by DevTools' own library, call by call at the time of each sample. `hostile` gives all of them the
unit tests' fixture: interpreted and inlined functions, recursion, names that look like syntax.
"""
import collections
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE.parent / "captures")]
import captures_test
import polyperf
import readers
import stacks

LEAST_SAMPLES = 500
FLAMEGRAPH = pathlib.Path("/usr/share/perl5/Devel/NYTProf/flamegraph.pl")
SVG = "{http://www.w3.org/2000/svg}"


def export(program, recording, name, *options):
    path = recording.parent / name
    polyperf.run(program, "export", "-i", recording, "-o", path, *options)
    return path


def differences(what, got, wanted):
    """What two counters do not have in common, the largest first."""
    keys = sorted(got.keys() | wanted.keys(), key=lambda key: -abs(got[key] - wanted[key]))
    return [f"{what}: {key}: {got[key]}, not {wanted[key]}" for key in keys
            if got[key] != wanted[key]][:5]


# --- folded stacks ---

def field(name):
    return name.replace(";", ":")


def folded_of(samples, value=lambda sample: 1):
    counts = collections.Counter()
    for sample in samples:
        counts[";".join([sample.comm, *(field(frame.name) for frame in sample.frames)])] += value(sample)
    return counts


def read_folded(text):
    counts = collections.Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        counts[stack] += int(count)
    return counts


def plain(name):
    """As flamegraph.pl shows it."""
    return name.translate(str.maketrans("<>", "()"))


def flamegraph(path):
    """The boxes of flamegraph.pl: (title, width) and how often."""
    if not FLAMEGRAPH.exists():
        polyperf.skip(f"{FLAMEGRAPH} is not there: install libdevel-nytprof-perl")
    done = readers.run(["perl", FLAMEGRAPH, path])
    if done.returncode or done.stderr:
        polyperf.fail(f"flamegraph.pl: {done.stderr[-500:]}")
    found = re.findall(r'<title>([^<]*)</title><rect x="[^"]*" y="[^"]*" width="([0-9.]+)"', done.stdout)
    return sorted((plain(html.unescape(title).replace("(1 samples,", "(1 sample,")), float(width))
                  for title, width in found)


def widths(samples):
    """What flamegraph.pl should draw: samples by the start of their stacks."""
    counts = collections.Counter()
    for stack, count in folded_of(samples).items():
        names = stack.split(";")
        for depth in range(len(names) + 1):
            counts[tuple(names[:depth])] += count
    total = counts[()]
    return sorted(f"all ({total:,} samples, 100%)" if not stack else
                  f"{plain(stack[-1])} ({count:,} sample{'s' * (count != 1)}, {100 * count / total:.2f}%)"
                  for stack, count in counts.items() if count / total * 1180 >= 0.1)


def speedscope_rows(path):
    """Total and own weight by name, as the sandwich table shows them."""
    rows = json.loads(readers.node("speedscope.cjs", path, path.parent))["rows"]
    return {name: [int(text.partition(" ")[0].replace(",", "")) for text in (total, own)]
            for total, own, name in rows}


def check_folded(program, recording):
    samples = stacks.script(program, recording)
    path = export(program, recording, "x.folded")
    faults = differences("stacks", read_folded(path.read_text()), folded_of(samples))
    weighed = export(program, recording, "weighed.folded", "--weight").read_text()
    faults += differences("weights", read_folded(weighed), folded_of(samples, lambda one: one.period))
    titles = [title for title, _ in flamegraph(path)]
    faults += differences("flamegraph.pl", collections.Counter(titles), collections.Counter(widths(samples)))
    readers.chromium()
    own = stacks.report(program, recording)[0]
    # A report has a row for each object of a name.
    total = collections.Counter(name for one in samples for name in {frame.name for frame in one.frames})
    rows = speedscope_rows(path)
    for name, (total_count, own_count) in rows.items():
        if name in own and (total_count, own_count) != (total[name], own[name]):
            faults.append(f"speedscope: {name}: {total_count}, {own_count} not {total[name]}, {own[name]}")
    print(f"{len(titles)} boxes, {len(rows)} rows of speedscope")
    return faults, len(samples)


# --- flame graph ---

def boxes_of(path):
    root = ElementTree.parse(path).getroot()
    return sorted((plain(box.find(f"{SVG}title").text.split("\n")[0]), float(box.find(f"{SVG}rect").get("width")))
                  for box in root.find(f"{SVG}g[@id='boxes']"))


def box_faults(path, folded):
    """Names, counts and widths are those of flamegraph.pl."""
    ours, theirs = boxes_of(path), flamegraph(folded)
    print(f"{len(ours)} boxes")
    if [title for title, _ in ours] != [title for title, _ in theirs]:
        return differences("boxes", collections.Counter(title for title, _ in ours),
                           collections.Counter(title for title, _ in theirs))
    # Theirs are rounded, at both ends.
    return [f"{title}: {a} and {b} pixels" for (title, a), (_, b) in zip(ours, theirs) if abs(a - b) > 0.11]


def shown_faults(shown, name):
    """What the browser told of zoom and search."""
    faults = [f"{box['name']}: its text is wider than it" for box in shown["start"] + shown["zoomed"]
              if box["textWidth"] > box["width"]]
    if set(shown["found"]) != {box["name"] for box in shown["start"] if name in box["name"]}:
        faults.append(f"found: {set(shown['found'])}")
    if not shown["matched"].startswith(f"{len(shown['found'])} found, "):
        faults.append(f"matched: {shown['matched']}")
    if name not in shown["hovered"]:
        faults.append(f"hovered: {shown['hovered']}")
    zoomed = [box for box in shown["zoomed"] if name in box["name"]]
    if not zoomed or zoomed[0]["width"] < 1300 or not shown["zoomMatched"].endswith(" 100.00%"):
        faults.append(f"zoomed: {zoomed[:1]} {shown['zoomMatched']}")
    if not len(shown["zoomed"]) < len(shown["start"]):
        faults.append("nothing is hidden")
    if shown["reloaded"] != shown["zoomed"]:
        faults.append("a reload changes it")
    bare = [{**box, "isFound": False, "fill": ""} for box in shown["start"]]
    if [{**box, "isFound": False, "fill": ""} for box in shown["back"]] != bare or shown["cleared"]:
        faults.append("the way back does not lead back")
    if set(shown["dark"]) & {box["fill"] for box in shown["start"]}:
        faults.append("it is not dark in the dark")
    return faults


def check_svg(program, recording):
    folded = export(program, recording, "x.folded")
    path = export(program, recording, "x.svg", "--title", "a <title> & more")
    faults = box_faults(path, folded)
    readers.chromium()
    samples = stacks.script(program, recording)
    name = collections.Counter(sample.frames[-1].name for sample in samples
                               if sample.frames).most_common(1)[0][0]
    shown = json.loads(readers.node("flame_graph.cjs", path, path.parent, name))
    if shown["summary"].split()[:2] != [f"{len(samples):,}", "samples"]:
        faults.append(shown["summary"])
    return faults + shown_faults(shown, name), len(samples)


# --- callgrind ---

ROW = re.compile(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+([\d,]+) \(\s*[\d.]+%\)\s+(.*)$")


def number(text):
    return int(text.replace(",", ""))


def annotate(path, *options):
    readers.need("callgrind_annotate")
    done = subprocess.run(["callgrind_annotate", "--threshold=100", *options, path.name], cwd=path.parent,
                          capture_output=True, text=True)
    if done.returncode or done.stderr:
        polyperf.fail(f"callgrind_annotate: {done.stderr[-500:]}")
    return done.stdout


def split_name(text, names):
    """File and function of "file:function": both may have colons, so names tell."""
    parts = text.split(":")
    for at in range(1, len(parts)):
        if ":".join(parts[at:]) in names:
            return ":".join(parts[:at]), ":".join(parts[at:])
    return parts[0], ":".join(parts[1:])


def functions_of(text, names=()):
    """(weight, samples) by (file, function, object) of the table of functions."""
    found = {}
    table = text.partition("file:function\n")[2].partition("\n\n")[0]
    for line in table.splitlines():
        row = ROW.match(line)
        if row:
            start, _, what = row[3].rpartition(" [")
            found[*split_name(start, names), what.removesuffix("]")] = number(row[1]), number(row[2])
    return found


def by_name(functions):
    """Without threads, which are functions there."""
    weights, counts = collections.Counter(), collections.Counter()
    for (file, name, _), (weight, samples) in functions.items():
        if file != "[thread]":
            weights[name] += weight
            counts[name] += samples
    return +weights, +counts


def lines_of(text):
    """Own samples by (file, line number) of sources that were annotated."""
    found, file = collections.Counter(), None
    for line in text.splitlines():
        if head := re.match(r"-- Auto-annotated source: (?:.* \+ )?(.*)$", line):
            file = head[1]
        elif file and (row := re.match(r"\s*[\d,]+ \(.*?%\)\s+([\d,]+) \(.*?%\)\s+line (\d+)$", line)):
            found[file, int(row[2])] += number(row[1])
    return found


def report_names(program, recording, *options):
    counts, weights = stacks.report(program, recording, *options)
    for table in counts, weights:
        table.pop("", None)  # a sample without a stack
    return weights, counts


def line_faults(path, samples):
    """Sources are made up, and looked for from here on: callgrind_annotate wants them to be there."""
    wanted = collections.Counter(
        (sample.frames[-1].file, sample.frames[-1].line) for sample in samples
        if sample.frames and sample.frames[-1].line and ".." not in sample.frames[-1].file)
    for file, _ in wanted:
        source = path.parent / "sources" / file.lstrip("/")
        source.parent.mkdir(parents=True, exist_ok=True)
        last = max(line for of, line in wanted if of == file)
        source.write_text("".join(f"line {n}\n" for n in range(1, last + 1)))
    got = lines_of(annotate(path, "--auto=yes", "--context=0", f"--include={path.parent}/sources"))
    print(f"{len(wanted)} lines of sources")
    return differences("lines", got, wanted) + ([] if wanted else ["no lines"])


def check_callgrind(program, recording):
    samples = stacks.script(program, recording)
    path = export(program, recording, "x.callgrind")
    faults = []
    names = {frame.name for sample in samples for frame in sample.frames}
    for what, own, options in (("own", "no", ()), ("inclusive", "yes", ("--children",))):
        functions = functions_of(annotate(path, f"--inclusive={own}", "--auto=no"), names)
        got = by_name(functions)
        for table, wanted, unit in zip(got, report_names(program, recording, *options), ("ns", "samples")):
            faults += differences(f"{what} {unit}", table, +wanted)
        print(f"{what}: {len(functions)} functions")
    return faults + line_faults(path, samples), len(samples)


# --- Chrome's trace events ---

def calls_of(path):
    """By (pid, tid): calls with their start and end in nanoseconds, and whose they are in."""
    threads = json.loads(readers.node("trace_engine.cjs", path))
    found = {}
    for thread in threads:
        for call in thread["calls"]:
            call["start_ns"] = round(call["ts"] * 1000)
            call["end_ns"] = round(call["ts"] * 1000) + round(call["dur"] * 1000)
        found[thread["pid"], thread["tid"]] = thread["calls"]
    return found


def stack_at(calls, time_ns):
    """The innermost call at that time, with those around it, the outermost first. Times are written in
    eighths of microseconds."""
    time_ns -= time_ns % 125
    innermost = [call for call in calls if call["start_ns"] < time_ns <= call["end_ns"]]
    depths = collections.Counter()
    stack, at = [], None
    for call in innermost:
        depth, up = 0, call
        while up["parent"] >= 0:
            depth, up = depth + 1, calls[up["parent"]]
        depths[depth] += 1
        if at is None or depth >= at[0]:
            at = depth, call
    while at:
        call = at[1]
        stack.insert(0, call)
        at = (0, calls[call["parent"]]) if call["parent"] >= 0 else None
    return stack, all(count == 1 for count in depths.values())


def source_of(frame):
    return f"{frame.file}:{frame.line}" if frame.line else frame.file


def trace_faults(calls, samples):
    """At each sample's time its stack is on. A call has the line of its first sample."""
    faults, lines, inlined = [], 0, 0
    for sample in samples:
        stack, is_one = stack_at(calls[sample.pid, sample.tid], sample.time_ns)
        if not is_one or [call["name"] for call in stack] != [frame.name for frame in sample.frames]:
            faults.append(f"{sample}: {[call['name'] for call in stack]}")
            continue
        for call, frame in zip(stack, sample.frames):
            if call["args"].get("inlined", False) != frame.is_inlined:
                faults.append(f"{frame}: {call}")
            inlined += frame.is_inlined
        lines += bool(stack) and stack[-1]["args"].get("source", "") == source_of(sample.frames[-1])
    print(f"{lines} samples have their line, {inlined} frames are inlined")
    return faults


def check_chrome(program, recording):
    samples = stacks.script(program, recording)
    faults = trace_faults(calls_of(export(program, recording, "x.trace.json")), samples)
    return faults[:5], len(samples)


# --- what looks like syntax ---

def write(write_fixture, folder, format, name):
    path = folder / name
    path.write_bytes(subprocess.run([write_fixture, format, "0"], check=True, capture_output=True).stdout)
    return path


def check_hostile(write_fixture, folder):
    faults = []
    folded = write(write_fixture, folder, "folded", "x.folded")
    total = next(title for title, _ in flamegraph(folded) if title.startswith("all "))
    if total != "all (89 samples, 100%)":
        faults.append(f"flamegraph.pl: {total}")
    path = write(write_fixture, folder, "callgrind", "x.callgrind")
    text = annotate(path, "--inclusive=yes", "--tree=both", "--auto=yes")
    functions = functions_of(annotate(path, "--inclusive=yes", "--auto=no"))
    names = {name for _, name, _ in functions}
    wanted = {"(1) calls=2 3", "sum of 12", "kind_[j]", "[no name]", "job.run", "zlib.compress", "inner",
              "a;b\\nc\\t<script>alert(\"x\")</script>&amp;' --> ]]> \\x1b[31m"}
    if not wanted <= names or "x" * 65536 not in text:
        faults.append(f"callgrind_annotate: {wanted - names} are not there")
    # alpha is in 50 samples, and in some of them several times.
    if functions["/js/app.js", "alpha", "[jit]"] != (50000000, 50):
        faults.append(f"alpha: {functions['/js/app.js', 'alpha', '[jit]']}")
    calls = calls_of(write(write_fixture, folder, "chrome", "x.trace.json"))
    hostile = 'a;b\nc\t<script>alert("x")</script>&amp;\' --> ]]> \x1b[31m'
    if {call["name"] for call in calls[11, 11]} != {
            hostile, "sum of 12", "", "\ufffd\ufffd bytes \u202e left", "kind_[j]", "(1) calls=2 3", "x" * 65536}:
        faults.append(f"trace_engine: {[call['name'][:50] for call in calls[11, 11]]}")
    readers.chromium()
    svg = write(write_fixture, folder, "svg", "x.svg")
    faults += shown_faults(json.loads(readers.node("flame_graph.cjs", svg, folder, "<script>")), "<script>")
    return faults, LEAST_SAMPLES


CHECKS = {"folded": check_folded, "svg": check_svg, "callgrind": check_callgrind, "chrome": check_chrome}


def main():
    program, case, argument = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if case == "hostile":
            faults, count = check_hostile(argument, folder)
        else:
            recording, _, _ = captures_test.unpack(argument, folder)
            faults, count = CHECKS[case](program, recording)
    if count < LEAST_SAMPLES:
        faults.append(f"{count} samples are too few to tell")
    if faults:
        polyperf.fail(*faults)
    print(f"{count} samples")


main()
