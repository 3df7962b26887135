#!/usr/bin/env python3
"""The walk in the kernel on running interpreters: frames_test.py WALK_LIVE CASE [VERSION]

Every frame of every sample must be one that the program can have: each caller at the line of
a call of the frame below it, each innermost frame within its function. One that is not is a
failure, not a share of failures.
"""
import collections
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import live  # noqa: E402
import polyperf  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "interp/programs"
WALK_LIVE = sys.argv[1]
HZ = 997
WARM, SECONDS = 0.3, 0.7  # of the processor: before the walk, and while it is watched

Frame = collections.namedtuple("Frame", "name file line flags")
Stack = collections.namedtuple("Stack", "time pid tid ip end flags frames")
ENTRY, GENERATOR, NATIVE = 1, 2, 4

# Who calls whom, and where: (caller, line) of each function. None: nobody.
PYTHON = {
    "größe": {("глубина", 16), ("thrown", 38), ("made_up.<locals>.<lambda>", 5)},
    "глубина": {("глубина", 15), ("generator", 21)},
    "generator": {("Outer.Inner.method", 27)},
    "Outer.Inner.method": {("key", 31)},
    "key": {("main", 49)},
    "made_up.<locals>.<lambda>": {("made_up", 6)},
    "made_up": {("main", 50)},
    "thrown": {("main", 51)},
    "main": {("<module>", 54)},
    "<module>": {None},
}
PYTHON_LINES = {"größe": (6, 10), "глубина": (13, 16), "generator": (19, 21), "Outer.Inner.method": (26, 27),
                "key": (30, 31), "made_up.<locals>.<lambda>": (5, 5), "made_up": (4, 6),
                "thrown": (34, 38), "main": (46, 51), "<module>": (1, 54)}
PHP = {
    "leaf": {("generator", 15), ("", 38), ("", 1)},
    "generator": {("Caller::method", 22)},
    "Caller::method": {("{closure}", 30)},
    "{closure}": {("array_map", 0)},
    "array_map": {("Caller::each", 29)},
    "range": {("Caller::each", 31)},
    "Caller::each": {("", 37)},
    "getrusage": {("", 36)},
    "": {None, ("", 38)},
}
RUBY = {
    "leaf": {("block in method", 6), ("long", 27)},
    "block in method": {("C", 0)},
    "C": {("C", 0), ("method", 5), ("<main>", 33), ("<main>", 34), ("<main>", 32), ("long", None)},
    "method": {("<main>", 35)},
    "long": {("<main>", 36)},
    "<main>": {None},
}
PERL = {
    "main::leaf": {("Some::Caller::method", 11), ("main::__ANON__", 29), ("", 37), ("", 1)},
    "main::__ANON__": {("", 36)},
    "Some::Caller::method": {("", 35)},
    "": {None, ("", 38)},
}


# A tail call has no frame, and compiled code that of where it begins.
LUAJIT = {
    "leaf": {("deep", 21), ("by", 28), ("replace", 32), ("sum", 36), ("thrown", 44), ("produce", 50), ("index", 56)},
    "deep": {("deep", 23), ("work", 74)},
    "tail": {("work", 74)},
    "by": {("table.sort", 0)},
    "table.sort": {("work", 65)},
    "replace": {("string.gsub", 0)},
    "string.gsub": {("work", 66)},
    "tostring": {("string.gsub", 0)},
    "sum": {("work", 67)},
    "math.sin": {("sum", 38)},
    "select": {("sum", 37), ("sum", 38)},
    "thrown": {("pcall", 0)},
    "error": {("thrown", 45)},
    "pcall": {("work", 68)},
    "coroutine.wrap": {("work", 69)},
    "produce": {("coroutine.wrap_aux", 0)},
    "coroutine.yield": {("produce", 50)},
    "coroutine.wrap_aux": {("work", 70), ("work", 71), ("work", 72)},
    "index": {("work", 73)},
    "work": {("", 80)},
    "now": {("", 79), ("", 78)},
    "tonumber": {("now", 8), ("", 78)},
    "ffi.meta.__call": {("now", 7)},
    "ffi.meta.__index": {("now", 7), ("now", 8)},
    "ffi.clib.__index": {("now", 7)},
    "": {("C", 0)},
    "C": {None},
}
LUAJIT_FUNCTIONS = {6: "now", 11: "leaf", 19: "deep", 27: "by", 31: "replace", 35: "sum", 43: "thrown",
                    48: "produce", 55: "index", 60: "tail", 64: "work"}
LUAJIT_LAST = {"now": 9, "leaf": 17, "deep": 25, "by": 29, "replace": 33, "sum": 41, "thrown": 46, "produce": 52,
               "index": 57, "tail": 62, "work": 76}


def let_run(pid, seconds, walker=None):
    """Until it, or a child, has had so much of the processor, or its walker has ended."""
    start = live.cpu_seconds(pid, with_children=True)
    live.wait_until(f"process {pid} hardly runs", lambda: walker and walker.poll() is not None
                    or live.cpu_seconds(pid, with_children=True) - start >= seconds)


def walk(command, cwd=None):
    """Lines of walk_live on a program, as stacks, and its counts."""
    # A session of its own: its children end with it.
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            let_run(process.pid, WARM)
            # The kernel takes a second to look at what walks: walk_live lets it go on then.
            os.kill(process.pid, signal.SIGSTOP)
            with subprocess.Popen([WALK_LIVE, str(process.pid), str(live.PATIENCE), str(HZ)], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as walker:
                let_run(process.pid, SECONDS, walker)
                output, errors = walker.communicate()
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    if walker.returncode in (77, 78):
        polyperf.skip(errors.strip())
    assert walker.returncode == 0, errors
    stacks, counts = [], {}
    for line in output.splitlines():
        if line.startswith("# "):
            name, value = line[2:].split(" ", 1)
            counts[name] = value
            continue
        words = line.split("\t")
        frames = []
        for word in words[6:]:
            name, file, at, flags = word.rsplit("|", 3)
            frames.append(Frame(name, file, int(at), int(flags)))
        stacks.append(Stack(*map(int, words[:3]), int(words[3], 16), words[4], int(words[5]), frames))
    print(" ".join(f"{name}={value}" for name, value in counts.items()))
    return process.pid, stacks, {k: int(v) for k, v in counts.items() if v.isdigit()}


def check_counts(counts, least):
    assert counts["samples"] >= least, "hardly a sample"
    assert counts["bad"] == 0 and counts["lost"] == 0
    assert counts["undefined"] == 0, "frames whose code was never told"
    if counts["has_times"]:
        assert counts["joined"] == counts["samples"], "samples without a stack of their time"


def check_ends(stacks, least=0.99):
    ends = collections.Counter(stack.end for stack in stacks)
    print(dict(ends))
    # What is torn or not resident ends a stack; of a warm program that must be rare.
    assert ends["complete"] >= least * len(stacks), "too few whole stacks"
    # PHP's frames lead to what was freed for a moment; that it is no code was seen.
    assert ends["a frame without code"] <= max(2, 0.002 * len(stacks))


def check_calls(stacks, calls, lines, name_of, may_have_none=False, may_be_wrong=0):
    without, wrong = 0, []
    for stack in stacks:
        if stack.end != "complete":
            continue
        names = [name_of(frame) for frame in stack.frames]
        for i, name in enumerate(names):
            callers = calls.get(name)
            assert callers, f"no such function: {stack}"
            caller = (names[i + 1], stack.frames[i + 1].line) if i + 1 < len(names) else None
            if caller not in callers and not (caller and (caller[0], None) in callers):
                wrong.append(f"{name} is not called from {caller}: {stack}")
        if lines and stack.frames:
            first, last = lines[names[0]]
            line = stack.frames[0].line
            # Python's compiler gives some instructions no line: of handlers, of generators' entries.
            without += line == 0 and first > 0
            assert line == 0 or first <= line <= last, f"not a line of {names[0]}: {stack}"
    assert may_have_none or without <= 0.02 * len(stacks), "too many samples without a line"
    print(*wrong, sep="\n", end="\n" if wrong else "")
    assert len(wrong) <= may_be_wrong, f"{len(wrong)} of {len(stacks)} stacks cannot be"


def python_of(version):
    if version == "debian":
        return "/usr/bin/python3.11" if os.path.exists("/usr/bin/python3.11") else None
    found = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}"))
    return found[0] if found else None


def case_python(version):
    path = python_of(version) or polyperf.skip(f"Python {version} is not installed")
    _, stacks, counts = walk([path, str(PROGRAMS / "callers.py"), "60"])
    check_counts(counts, 100)
    check_ends(stacks)
    calls, lines = PYTHON, PYTHON_LINES
    if version in ("3.8", "3.9", "3.10"):  # code has no qualified name
        def short(name):
            return name.rsplit(".", 1)[-1] if "." in name else name
        calls = {short(k): {v and (short(v[0]), v[1]) for v in vs} for k, vs in PYTHON.items()}
        lines = {short(k): v for k, v in PYTHON_LINES.items()}
    check_calls(stacks, calls, lines, lambda frame: frame.name)
    assert {name for stack in stacks for name in (f.name for f in stack.frames)} >= {"größe", "main"}
    assert any(f.flags & GENERATOR for stack in stacks for f in stack.frames)


def case_churn(version):
    path = python_of(version) or polyperf.skip(f"Python {version} is not installed")
    pid, stacks, counts = walk([path, str(PROGRAMS / "churn.py"), "20"])
    assert counts["bad"] == 0 and counts["lost"] == 0
    # Of new code a part of the definition may not be read at first: swapped, or never touched.
    assert counts["undefined"] == 0, "frames whose code was never told"
    check_ends(stacks)
    made, deepest = 0, 0
    for stack in stacks:
        deepest = max(deepest, len(stack.frames) if stack.end == "complete" else 0)
        for frame in stack.frames:
            if frame.name.startswith("fn_"):
                number = int(frame.name[3:])
                made += 1
                assert frame.file == f"<{number}>", stack
                assert 0 <= frame.line - (number % 50 + 1) <= 4, stack
    assert made > 50, "no code that was made"
    assert deepest > 200, f"nothing deep: {deepest}"
    assert {stack.pid for stack in stacks} > {pid}, "the child was not walked"
    assert len({stack.tid for stack in stacks}) > 4, "threads were not walked"


def case_subinterpreters(version):
    path = python_of(version) or polyperf.skip(f"Python {version} is not installed")
    _, stacks, counts = walk([path, str(PROGRAMS / "subinterpreters.py"), "60"])
    assert counts["bad"] == 0 and counts["lost"] == 0 and counts["undefined"] == 0
    seen = collections.Counter()
    for stack in stacks:
        names = [frame.name for frame in stack.frames]
        if stack.end != "complete" or not {"in_sub", "in_main"} & set(names):
            continue
        seen["in_sub" in names] += 1
        if "in_sub" in names:  # another interpreter's frames are its own
            assert names == ["in_sub", "run_sub", "<module>"], stack
        else:
            assert "work" in names and "run_sub" not in names, stack
    print(dict(seen))
    assert seen[True] > 50 and seen[False] > 5


def case_spawn(version):
    """A child's program is not walked with what was said of its parent."""
    path = python_of(version) or polyperf.skip(f"Python {version} is not installed")
    pid, stacks, counts = walk([path, str(PROGRAMS / "spawn.py"), "60"])
    assert counts["bad"] == 0 and counts["lost"] == 0
    names = {frame.name for stack in stacks for frame in stack.frames}
    assert "start" in names and "alien" not in names, names
    # From fork() to exec() a child is a copy of its parent: it may be seen in the call.
    for stack in stacks:
        if stack.pid != pid and stack.frames:
            assert "start" in [frame.name for frame in stack.frames], stack


def case_php(_):
    path = shutil.which("php") or polyperf.skip("PHP is not installed")
    _, stacks, counts = walk([path, str(PROGRAMS / "callers.php"), "60"])
    check_counts(counts, 100)
    check_ends(stacks)
    # From 8.4 on closures are named after where they are.
    check_calls(stacks, PHP, None,
                lambda frame: re.sub(r"(Caller::)?{closure.*}", "{closure}",
                                     frame.name.replace("Some\\Where\\", "")))


def case_ruby(_):
    path = shutil.which("ruby") or polyperf.skip("Ruby is not installed")
    _, stacks, counts = walk([path, str(PROGRAMS / "callers.rb"), "60"])
    check_counts(counts, 100)
    check_ends(stacks)
    check_calls(stacks, RUBY, None, lambda frame: "C" if frame.flags & NATIVE else frame.name)


def case_perl(_):
    path = shutil.which("perl") or polyperf.skip("Perl is not installed")
    _, stacks, counts = walk([path, str(PROGRAMS / "callers.pl"), "60"])
    check_counts(counts, 100)
    check_ends(stacks)
    # A context is filled in after it was put on the stack: see docs/interpreters.md.
    check_calls(stacks, PERL, None, lambda frame: frame.name, may_be_wrong=max(1, len(stacks) // 1000))


def luajit_name(frame):
    """Functions of Lua are called by their place; this program's have names in the tables above."""
    if frame.flags & NATIVE and not frame.name:
        return "C"
    file, _, line = frame.name.rpartition(":")
    if not file:
        return frame.name
    assert file == "callers.lua", frame
    return LUAJIT_FUNCTIONS[int(line)]


def case_luajit(*options):
    path = shutil.which("luajit") or polyperf.skip("LuaJIT is not installed")
    _, stacks, counts = walk([path, *options, str(PROGRAMS / "callers.lua"), "60"])
    check_counts(counts, 100)
    # Entering the interpreter and leaving it takes some instructions each, and this program does little else.
    check_ends(stacks, 0.97)
    lines = {name: (line, LUAJIT_LAST[name]) for line, name in LUAJIT_FUNCTIONS.items()}
    lines[""] = (1, 81)
    for native in set(LUAJIT) - set(lines):
        lines[native] = (0, 0)
    check_calls(stacks, LUAJIT, lines, luajit_name, may_have_none=not options)
    seen = {luajit_name(frame) for stack in stacks for frame in stack.frames}
    assert seen >= {"leaf", "deep", "by", "table.sort", "string.gsub", "error", "produce", "work"}, seen


TOY = {
    "main": {None},
    "outer": {("main", 4), ("outer", 8)},
    "inner": {("outer", 7), ("compare", 14)},
    "compare": {("sort", 0)},
    "sort": {("main", 5)},
}
TOY_LINES = {"main": (2, 5), "outer": (6, 8), "inner": (9, 11), "compare": (12, 14), "sort": (0, 0)}


def case_toy(program):
    if not os.path.exists(program):
        polyperf.skip("not on this machine")
    _, stacks, counts = walk([program, str(PROGRAMS / "callers.toy"), "60"])
    check_counts(counts, 100)
    running = [stack for stack in stacks if stack.end != "nothing runs"]
    assert len(running) > 0.5 * len(stacks)
    check_ends(running)
    check_calls(running, TOY, TOY_LINES, lambda frame: frame.name)
    assert all(frame.flags & ENTRY or frame.name == "sort" and frame.flags & NATIVE
               for stack in stacks for frame in stack.frames)


# By the line that a function begins at, or the file of a chunk; "C": what is written in C.
LUA = {
    "2": {("9", 11), ("15", 17), ("20", 21), ("24", 25), ("28", 29), ("32", 34), ("39", 39), ("41", 42), ("45", 46),
          ("made", 2)},
    "9": {("16", 16)},
    "16": {("C", 0)},
    "15": {("C", 0)},
    "20": {("C", 0)},
    "24": {("C", 0)},
    "28": {("C", 0)},
    "32": {("32", 36), ("45", 52)},
    "39": {("45", 53)},
    "41": {("45", 54)},
    "made": {("45", 55)},
    "45": {("callers54.lua", 59)},
    "C": {("15", 16), ("9", 12), ("28", 30), ("41", 43), ("24", 26), ("45", None), ("callers54.lua", 58),
          ("callers54.lua", 57), ("C", 0)},
    "callers54.lua": {None},
}
LUA_LINES = {"2": (2, 8), "9": (9, 14), "16": (16, 16), "15": (15, 19), "20": (20, 23), "24": (24, 27), "28": (28, 31),
             "32": (32, 37), "39": (39, 39), "41": (41, 44), "45": (45, 56), "made": (1, 2), "callers54.lua": (1, 60),
             "C": (0, 0)}


def lua_name(frame):
    if frame.flags & NATIVE:
        return "C"
    return frame.name.rsplit(":", 1)[1] if frame.name else os.path.basename(frame.file)


def case_lua(program):
    """PUC-Rio's Lua in a program that says where its state is: coroutines, callbacks from C, errors."""
    if not os.path.exists(program):
        polyperf.skip("no liblua5.4-dev")
    _, stacks, counts = walk([program, str(PROGRAMS / "callers54.lua"), "60"])
    check_counts(counts, 100)
    check_ends(stacks)
    check_calls(stacks, LUA, LUA_LINES, lua_name)
    seen = collections.Counter(name for stack in stacks for name in {lua_name(frame) for frame in stack.frames})
    print(dict(seen))
    assert all(seen[name] for name in LUA), "not all were seen"
    # In a loop of instructions that write down nothing the place is in a register.
    leaves = collections.Counter(stack.frames[0].line for stack in stacks if stack.frames and
                                 lua_name(stack.frames[0]) == "2")
    print(dict(leaves))
    assert leaves[4] + leaves[5] > 0.98 * leaves.total() and leaves[5] > leaves[4] > 0
    # A coroutine's callers are those of what resumed it.
    wanted = ["9", "16", "C", "15", "C", "45", "callers54.lua"]
    assert any([lua_name(frame) for frame in stack.frames][-len(wanted):] == wanted for stack in stacks)


# The function that runs once for each native activation.
EVALUATORS = {
    "python": ("callers.py", "_PyEval_EvalFrameDefault"),
    "php": ("callers.php", "execute_ex"),
    "ruby": ("callers.rb", "rb_vm_exec"),
    "perl": ("callers.pl", "Perl_runops_standard"),
}


def groups_of(tool, pid, evaluator):
    """(groups of frames, activations) of a stopped process; None where a frame is missing."""
    native = subprocess.run(["eu-stack", "-p", str(pid)], capture_output=True, text=True).stdout
    line = polyperf.run(tool, str(pid)).stdout.splitlines()[-1].split("\t")
    if line[0] != "expect complete":
        return None
    return (sum(int(word.rsplit("|", 1)[1]) & ENTRY for word in line[2:]),
            len(re.findall(rf" {evaluator}(?!\.)", native)))


def case_groups(language):
    """Frames fall into as many groups as the evaluator is on the native stack."""
    tool = pathlib.Path(WALK_LIVE).with_name("walk_image")
    name, _, version = language.partition("-")
    program, evaluator = EVALUATORS[name]
    path = python_of(version) if name == "python" else shutil.which(name)
    if not path or not shutil.which("eu-stack"):
        polyperf.skip(f"{language} or eu-stack is not installed")
    whole = 0
    with subprocess.Popen([path, str(PROGRAMS / program), "60"], stdout=subprocess.DEVNULL,
                          start_new_session=True) as process:
        try:
            let_run(process.pid, WARM)
            for _ in range(15):
                os.kill(process.pid, signal.SIGSTOP)
                time.sleep(0.02)
                found = groups_of(tool, process.pid, evaluator)
                os.kill(process.pid, signal.SIGCONT)
                time.sleep(0.02)
                if not found:
                    continue
                groups, evals = found
                assert evals > 0, "no evaluator on the native stack"
                # PHP links a frame before it enters what will run it.
                most = evals + 1 if name == "php" else evals
                assert evals - 1 <= groups <= most, f"{groups} groups, {evals} evaluators"
                whole += groups == evals
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    print(f"{whole} of 15 stacks with all groups")
    assert whole >= 10


def case_namespace(program):
    """In a PID namespace: records have its pids, as samples have."""
    command = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*command, "true"], capture_output=True).returncode:
        polyperf.skip("no PID namespaces here")
    done = subprocess.run([*command, sys.executable, "-B", __file__, WALK_LIVE, "toy", program])
    sys.exit(done.returncode)


def case_budget(_):
    """What the verifier looks at grows faster than the program: it is held to a number."""
    path = python_of("debian") or polyperf.skip("Debian's Python is not installed")
    _, _, counts = walk([path, "-c", "while True: pass"])
    budget = dict(re.findall(r"^(\w+) +(\d+)", (PROGRAMS.parent / "budget.txt").read_text(), re.M))
    for name in ("instructions", "verified_instructions"):
        assert 0 < counts[name] <= int(budget[name]), \
            f"{counts[name]} {name}, of {budget[name]} in tests/interp/budget.txt"


globals()[f"case_{sys.argv[2]}"](*(sys.argv[3:] or [None] * (sys.argv[2] != "luajit")))
