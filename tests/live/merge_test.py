#!/usr/bin/env python3
"""Frames of interpreters among native ones, in reports of live recordings.

    merge_test.py POLYPERF stacks LANGUAGE [VERSION]
    merge_test.py POLYPERF compiled LANGUAGE
    merge_test.py POLYPERF slot TOY MODE
    merge_test.py POLYPERF lua POLYLUA
    merge_test.py POLYPERF flat
    merge_test.py POLYPERF annotate

`stacks` holds the groups of frames against the evaluators of whole native stacks, of every sample:
there are as many, or one fewer while the innermost has no frame. Exit code 77: not here.
"""
import collections
import csv
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import polyperf  # noqa: E402
import walked  # noqa: E402

PROGRAMS = HERE.parent / "interp/programs"
POLYPERF = sys.argv[1]
SUFFIXES = {"python": "py", "php": "php", "ruby": "rb", "perl": "pl", "luajit": "lua"}
EVALUATORS = {"python": "_PyEval_EvalFrameDefault", "php": "execute_ex", "ruby": "rb_vm_exec",
              "perl": "Perl_runops_standard", "luajit": "[unknown]"}  # Debian's has no symbol
LEAF = {"python": "größe", "php": r"Some\Where\leaf", "ruby": "leaf", "perl": "main::leaf", "luajit": "callers.lua:11"}
# Who is seen right above whom among the functions of the program, wherever C functions are between.
CALLERS = {
    "python": {"key": {"main"}, "Outer.Inner.method": {"key"}, "generator": {"Outer.Inner.method"},
               "main": {"<module>"}, "thrown": {"main"}},
    "php": {r"Some\Where\Caller::each": {"<main>"}},
    "ruby": {"block in method": {"method"}, "method": {"<main>"}, "long": {"<main>"}},
    "perl": {"Some::Caller::method": {"<main>"}, "main::__ANON__": {"<main>"}},
    "luajit": {"callers.lua:19": {"callers.lua:19", "callers.lua:60", "callers.lua:64"},
               "callers.lua:27": {"table.sort"}, "table.sort": {"callers.lua:64"},
               "callers.lua:31": {"string.gsub"}, "string.gsub": {"callers.lua:64"},
               "callers.lua:43": {"pcall"}, "pcall": {"callers.lua:64"}, "callers.lua:55": {"callers.lua:64"},
               "callers.lua:48": {"coroutine.wrap_aux"}, "coroutine.wrap_aux": {"callers.lua:64"},
               "callers.lua:64": {"<main>"}},
}
OPTIONS = {"luajit": ["-joff"]}
SECONDS = "1"  # of the processor: some 1000 samples
UNLINKED = "no frame of the interpreter: none is linked, as yet or any more"
OTHER = "no frame of the interpreter: another one runs here"
IDLE = "no frame of the interpreter: nothing runs"  # what is being entered is the outermost
UNPLACED = "what interprets it is not on the native stack"
LINE = re.compile(r"\s+([0-9a-f]+) (.*?)(?: # (.*))?$")

Frame = collections.namedtuple("Frame", "name reason")


def record(folder, language, version, *options, auto="--no-auto"):
    """The recording of a program that calls in all ways that its language has."""
    program = PROGRAMS / f"callers.{SUFFIXES[language]}"
    return record_command(folder, [walked.interpreter(language, version), *OPTIONS.get(language, []), str(program), SECONDS], *options, auto=auto)


def record_command(folder, command, *options, auto="--no-auto"):
    if "--interpreters" not in polyperf.run(POLYPERF, "record", "--help").stdout:
        polyperf.skip("record walks no interpreters")
    path = pathlib.Path(folder) / "recording.data"
    done = subprocess.run([POLYPERF, "record", "--interpreters=walk", auto, "-F", "997", *options, "-o",
                           str(path), "--", *command], capture_output=True, text=True, timeout=240)
    walked.need_walk(done)
    return path


def stacks_of(path, *options):
    text = polyperf.run(POLYPERF, "script", "-i", path, "-F", "ip,sym,reason", *options).stdout
    for block in re.split(r"\n\s*\n", text):
        found = [LINE.match(line) for line in block.splitlines() if line.strip()]
        frames = [Frame(line[2], line[3] or "") for line in found if line]
        if frames:
            yield frames


def case_stacks(language, version=None):
    evaluator, callers = EVALUATORS[language], CALLERS[language]
    if version in ("3.8", "3.9", "3.10"):  # code has no qualified name
        def short(name):
            return name.rsplit(".", 1)[-1]
        callers = {short(k): {short(v) for v in vs} for k, vs in callers.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = record(folder, language, version, "-g", "dwarf,65528")
        seen = collections.Counter()
        for frames in stacks_of(path):
            names = [frame.name for frame in frames]
            if not LEAF[language] in names and evaluator not in names:
                continue
            seen["all"] += 1
            left = [frame.reason for frame in frames
                    if frame.name == evaluator and frame.reason.startswith("no frame of")]
            extra = [frame for frame in frames if frame.reason == UNPLACED]
            seen["unlinked"] += left == [UNLINKED]
            # What was torn, or not resident, ends a walk early.
            seen["early"] += any(reason not in (UNLINKED, OTHER) for reason in left)
            # The file that Perl compiles is said to run what BEGIN runs.
            if (left.count(UNLINKED) > 1 or OTHER in left or extra) and "perl_parse" not in names:
                seen["broken"] += 1
                print("\n".join(f"  {frame.name} {frame.reason}" for frame in frames))
            ours = [name for name in names if name in callers or any(name in c for c in callers.values())]
            for callee, caller in zip(ours, ours[1:]):
                assert callee not in callers or caller in callers[callee], f"{callee} < {caller}: {frames}"
        print(dict(seen))
        assert seen["all"] > 200, "hardly a sample"
        assert seen["broken"] <= 0.002 * seen["all"], "groups that are not evaluators"
        assert seen["early"] <= 0.02 * seen["all"]
        assert seen["unlinked"] <= 0.05 * seen["all"]
        # With all shown there are as many evaluators as without, and the same functions.
        shown = [len([f for f in frames if f.name == evaluator]) for frames in stacks_of(path, "--native-frames")]
        assert sum(shown) > seen["all"], "the evaluators are not shown"


# Who stands right above whom: functions of the language, and C functions that they call.
TOY = {"main": {"run_until_end"}, "outer": {"main", "outer"}, "inner": {"outer", "compare"},
       "compare": {"sort"}, "sort": {"main"}}
TOY_LINES = {"inner": (10, 11), "compare": (13, 14), "outer": (7, 8), "main": (3, 5)}


def case_slot(toy, mode):
    """A slot's evaluator is known by its own word: with callers of either kind, with lines."""
    if not os.path.exists(toy):
        polyperf.skip("not on this machine")
    with tempfile.TemporaryDirectory() as folder:
        path = record_command(folder, [toy, str(PROGRAMS / "callers.toy"), SECONDS], "-g", mode)
        text = polyperf.run(POLYPERF, "script", "-i", path, "-F", "time,ip,sym,reason").stdout
        blocks = [block for block in re.split(r"\n\s*\n", text) if block.strip()]
        all_frames = list(stacks_of(path))
        # What was sampled before the program was looked at has no stacks.
        first = next(i for i, frames in enumerate(all_frames) if any(f.name in TOY for f in frames if f.name != "main"))
        print(f"{first} of {len(all_frames)} before the first look")
        assert first <= 100 and len(blocks) >= len(all_frames)
        seen = collections.Counter()
        for frames in all_frames[first:]:
            # The C function of this name starts the program.
            names = [frame.name for frame in frames]
            while names and names[-1] != "run_until_end":
                names.pop()
            if not names:
                continue
            seen["all"] += 1
            # What was inlined into the evaluator has the reason.
            left = [frame.reason for frame in frames if frame.reason or frame.name == "run"]
            left = [reason for reason in left if reason] or left
            seen["unlinked"] += left == [UNLINKED]
            if left and left not in ([UNLINKED], [IDLE]) or UNPLACED in [frame.reason for frame in frames]:
                seen["broken"] += 1
                print("\n".join(f"  {frame.name} {frame.reason}" for frame in frames))
            ours = [name for name in names if name in TOY or name in ("run", "run_until_end")]
            for callee, caller in zip(ours, ours[1:]):
                assert callee == "run" or caller in TOY[callee], f"{callee} < {caller}: {frames}"
                seen[callee] += 1
            # C functions are where they were called: one calls back, the other is called, and pushes
            # its frame a little later.
            for callee, caller in zip(names, names[1:]):
                assert callee != "compare" or caller.startswith("call_back"), frames
                assert not callee.startswith("sort_numbers") or caller in ("sort", "main"), frames
        print(dict(seen))
        assert seen["all"] > 500, "hardly a sample"
        assert seen["broken"] == 0, "groups that are not evaluators"
        assert seen["unlinked"] <= 0.02 * seen["all"]
        assert min(seen[name] for name in TOY) > 0
        shown = [len([f for f in frames if f.name == "run"]) for frames in stacks_of(path, "--native-frames")]
        assert sum(shown) > seen["all"], "the evaluators are not shown"
        text = polyperf.run(POLYPERF, "report", "-i", path, "--sort", "sym,srcline", "--format", "csv").stdout
        lines = collections.defaultdict(set)
        for row in csv.DictReader(io.StringIO(text)):
            file, _, line = row["srcline"].rpartition(":")
            if file.endswith("callers.toy"):
                lines[row["symbol"]].add(int(line))
        print(dict(lines))
        assert {"inner", "compare"} <= set(lines)
        for name, found in lines.items():
            assert found <= set(range(TOY_LINES[name][0] - 1, TOY_LINES[name][1] + 1)), name


# By the line that a function begins at.
LUA = {"2": {"9", "15", "20", "24", "28", "32", "39", "41", "45", "made"}, "9": {"16"}, "16": {"15"}, "15": {"45"},
       "20": {"45"}, "24": {"45"}, "28": {"45"}, "32": {"32", "45"}, "39": {"45"}, "41": {"45"}, "45": {"<main>"}}


def case_lua(polylua):
    """The evaluator is entered for some of the calls: from C, and for coroutines."""
    if not os.path.exists(polylua):
        polyperf.skip("no liblua5.4-dev")
    with tempfile.TemporaryDirectory() as folder:
        path = record_command(folder, [polylua, str(PROGRAMS / "callers54.lua"), "2"], "-g", "dwarf,32768")
        all_frames = list(stacks_of(path))
        first = next(i for i, frames in enumerate(all_frames) if any("callers54" in f.name for f in frames))
        print(f"{first} of {len(all_frames)} before the first look")
        seen = collections.Counter()
        for frames in all_frames[first:]:
            seen["all"] += 1
            left = [frame.reason for frame in frames if frame.name == "luaV_execute"]
            seen["unlinked"] += left == [UNLINKED]
            if left not in ([], [UNLINKED]) or UNPLACED in [frame.reason for frame in frames]:
                seen["broken"] += 1
                print("\n".join(f"  {frame.name} {frame.reason}" for frame in frames))
            ours = [f.name.rsplit(":", 1)[-1] for f in frames if re.search(r"^callers54\.lua:|^<main>$", f.name)]
            for callee, caller in zip(ours, ours[1:]):
                assert callee == "<main>" or caller in LUA[callee] | {"<main>"}, f"{callee} < {caller}: {frames}"
                seen[callee] += 1
            # C functions are between those that they were called by and call.
            names = [frame.name for frame in frames]
            for lua, native in (("callers54.lua:20", "sort"), ("callers54.lua:24", "str_gsub"), ("callers54.lua:9", "lua_resume")):
                if lua in names:
                    found = [i for i, name in enumerate(names) if name.startswith(native)]
                    if found and names.index(lua) < found[-1] < names.index("callers54.lua:45"):
                        continue
                    # Lua's stack has a function before the evaluator that will run it is entered: the one
                    # of these puts it there, the other calls both.
                    assert names[0] in ("luaD_precall", "luaD_callnoyield"), names
                    seen["about to run"] += 1
        print(dict(seen))
        assert seen["about to run"] <= 0.001 * seen["all"]
        assert seen["all"] > 300 and seen["broken"] <= 0.005 * seen["all"] and seen["unlinked"] <= 0.05 * seen["all"]
        assert all(seen[name] for name in LUA), "not all were seen"


def case_compiled(language):
    """Compiled code is shown once, in the place of its frame, with callers of both kinds."""
    with tempfile.TemporaryDirectory() as folder:
        # The runtime's own way is switched on, beside the walk.
        path = record(folder, language, None, "-g", "dwarf,32768", auto="--interpreters=walk")
        text = polyperf.run(POLYPERF, "report", "-i", path, "--sort", "sym,tier", "--format", "csv").stdout
        tiers = {row["tier"] for row in csv.DictReader(io.StringIO(text)) if LEAF[language] in row["symbol"]}
        print(tiers)
        if tiers <= {"interpreter"}:
            polyperf.skip(f"nothing of {language} was compiled")
        seen = collections.Counter()
        for frames in stacks_of(path):
            # What was compiled may be shown with its place.
            names = [frame.name.split(" callers.")[0] for frame in frames]
            if LEAF[language] not in names:
                continue
            seen["all"] += 1
            seen["twice"] += any(a == b == LEAF[language] for a, b in zip(names, names[1:]))
            seen["rooted"] += "<main>" in names
        print(dict(seen))
        assert seen["all"] > 100, "hardly a sample"
        assert seen["twice"] <= 0.005 * seen["all"], "compiled code stands beside its own frame"
        assert seen["rooted"] >= 0.98 * seen["all"]


def case_flat():
    """Without callers a function counts what its code took, line by line."""
    with tempfile.TemporaryDirectory() as folder:
        path = record(folder, "python", None)
        rows = polyperf.read_report(polyperf.run(POLYPERF, "report", "-i", path, "--format", "csv").stdout)
        first = rows[0]
        print(first)
        assert (first["symbol"], first["runtime"], first["object"]) == ("größe", "python", "callers.py")
        assert first["tier"] == "interpreter" and first["trust"] == "exact"
        left = [row for row in rows if row["symbol"] == EVALUATORS["python"]]
        assert sum(row["samples"] for row in left) <= 0.02 * sum(row["samples"] for row in rows)
        text = polyperf.run(POLYPERF, "report", "-i", path, "--sort", "sym,srcline").stdout
        lines = collections.Counter()
        for line in text.splitlines():
            if found := re.match(r"\s*[\d.]+%\s+(\d+)\s.*\bgröße\s+\S*/callers\.py:(\d+)$", line):
                lines[int(found[2])] += int(found[1])
        print(dict(lines))
        assert lines and set(lines) <= set(range(6, 11))
        assert lines[9] + lines[8] > 0.9 * lines.total()


def case_annotate():
    """A function's lines with their text."""
    with tempfile.TemporaryDirectory() as folder:
        path = record(folder, "python", None)
        text = polyperf.run(POLYPERF, "annotate", "-i", path, "größe").stdout
        found = re.search(r"^ *([\d.]+)% +\d+ +9  +total \+= i \* i$", text, re.M)
        assert found and float(found[1]) > 20, text


if __name__ == "__main__":
    globals()[f"case_{sys.argv[2]}"](*sys.argv[3:])
