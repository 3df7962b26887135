#!/usr/bin/env python3
"""Holds the walk of dumped stacks against stock perf, frame pointers, a slow walk, and what is known.

    unwind_test.py POLYPERF CASE

Native programs: cpp, cpp-clang, cpp-8192, cpp-fp, cpp-fp-clang, python3.11. What makes code:
python3.12, python3.13, node, java, php, erlang, ruby, luajit. Several runtimes in one stack: several.
Each is recorded by stock perf and by polyperf, and prints how many of the stacks reach the
thread's first function. Exit code 77: something is not there.
"""
import bisect
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import callframes
import java_test
import live
import polyperf
import runtime_test
import unwound
import userstack

WORKLOADS = HERE / "workloads"


# --- native programs ---

def build_frames(case, *flags, compiler="g++", library=()):
    compiler = runtime_test.tool(compiler)
    built = case.place.root / "built"
    built.mkdir(exist_ok=True)
    for words in (["-fPIC", "-shared", *library, "-o", "libframes.so", WORKLOADS / "frames_lib.cpp"],
                  ["-o", "frames", WORKLOADS / "frames.cpp", "-L.", "-lframes", "-Wl,-rpath,$ORIGIN",
                   "-pthread"]):
        done = subprocess.run([compiler, "-O2", "-fasynchronous-unwind-tables", *flags, *map(str, words)],
                              cwd=built, capture_output=True, text=True)
        if done.returncode:
            polyperf.fail(done.stderr[-1000:])
    return built / "frames"


def native(case, command, size=unwound.BYTES, floor=unwound.WHOLE):
    for title, path in (("perf record", case.record_by_perf(command, size)),
                        ("polyperf record", case.record(command, size)[0])):
        recording, ours, perfs = unwound.measure(case, f"{title}, {size} bytes", path, floor=floor)
        unwound.hold_against_slow_walk(case, title, recording, ours, perfs)
        unwound.hold_against_report(case, title, path, recording, ours)


def cpp(case):
    native(case, [build_frames(case, "-fomit-frame-pointer"), "1"])


# A library that says in .debug_frame alone how its frames are found.
DEBUG_FRAME = ("-g", "-fno-asynchronous-unwind-tables", "-fno-exceptions")


def cpp_clang(case):
    native(case, [build_frames(case, "-fomit-frame-pointer", compiler="clang++", library=DEBUG_FRAME),
                  "0.7"])


def cpp_8192(case):
    """Also with PLTs for indirect branch tracking."""
    program = build_frames(case, "-fomit-frame-pointer", "-fcf-protection=full", "-Wl,-z,ibtplt")
    native(case, [program, "0.7"], 8192)


# What a function of the frame-pointer build begins with, and the instructions at which rbp is not its
# own: then its return address is above that many bytes.
ENDBR, PUSH_RBP, MOVE_RBP, RETURN = b"\xf3\x0f\x1e\xfa", b"\x55", b"\x48\x89\xe5", b"\xc3"
LEAF_STATES = ((ENDBR, 0), (PUSH_RBP, 0), (RETURN, 0), (MOVE_RBP, 8))


class Functions:
    """Of a program that keeps frame pointers: which have none, since they call nothing."""

    def __init__(self, path):
        self.image = path.read_bytes()
        loads = callframes.Elf(self.image).loads
        lines = polyperf.run("nm", "-n", "--defined-only", path).stdout.splitlines()
        svmas = [int(line.split()[0], 16) for line in lines if line.split()[1] in "tTwW"]
        self.starts = [svma - load.svma + load.offset for svma in svmas for load in loads
                       if load.svma <= svma < load.svma + load.size]

    def begins_with(self, offset):
        """What the code of the function there begins with, as far as it matters."""
        start = self.starts[bisect.bisect_right(self.starts, offset) - 1]
        return self.image[start:start + 32].removeprefix(ENDBR)

    def is_odd(self, offset):
        """Whether it does other things before it sets rbp up: it has to align its frame."""
        return self.begins_with(offset).find(PUSH_RBP + MOVE_RBP) > 0

    def has_frame(self, offset):
        return self.begins_with(offset).startswith(PUSH_RBP + MOVE_RBP)

    def leaf_caller(self, raw, offset):
        """The return address where rbp is the caller's still, or again; None where it is the leaf's."""
        code = self.image[offset:offset + 4]
        states = [above for bytes, above in LEAF_STATES if code.startswith(bytes)]
        if self.has_frame(offset) and not states:
            return None
        return userstack.word_at(raw, raw.registers[userstack.RSP] + (states or [0])[0])


def frame_pointer_chain(functions, path, raw, memory):
    """Offsets in the program of the return addresses that rbp's chain gives, as far as its own code
    goes; None where the leaf is not its own, or one whose code does not tell.
    """
    def offset(address):
        mapping = memory.find(raw.pid, address)
        return address - mapping.start + mapping.offset if mapping else address

    def is_own(address):
        mapping = memory.find(raw.pid, address)
        return bool(mapping) and mapping.path == str(path)

    here = raw.registers[userstack.RIP]
    if not is_own(here) or functions.is_odd(offset(here)):
        return None
    caller = functions.leaf_caller(raw, offset(here))
    if caller is None:
        chain = userstack.frame_pointer_chain(raw, here, is_own)
    else:
        chain = [caller] + userstack.frame_pointer_chain(raw, caller - 1, is_own)
    return [offset(address) for address in chain]


def fp(case, compiler):
    """A build that has both: the chain of rbp, as far as it leads through the program's own code."""
    flags = ["-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls"]
    if compiler == "g++":  # Let rbp be set up at once, and not only where something is called.
        flags += ["-fno-shrink-wrap", "-fno-schedule-insns2", "-fno-reorder-blocks-and-partition"]
    path = build_frames(case, *flags, compiler=compiler)
    functions = Functions(path)
    data, _ = case.record([path, "0.8"])
    title = f"{compiler}, frame pointers"
    recording, ours, perfs = unwound.measure(case, title, data)
    unwound.hold_against_slow_walk(case, title, recording, ours, perfs)
    compared = links = wrong = 0
    for raw, memory in userstack.samples(data.read_bytes()):
        chain = frame_pointer_chain(functions, path, raw, memory)
        if chain is None:
            continue
        mine = [frame.address for frame in ours[raw.tid, raw.time]][1:len(chain) + 1]
        compared, links = compared + 1, links + len(chain)
        if mine != chain:
            wrong += 1
            if wrong < 4:
                print(f"      {raw.time}: rbp {list(map(hex, chain[:9]))}, we {list(map(hex, mine[:9]))}")
    unwound.print_share("against rbp", [("samples", f"{compared},"), ("frames", f"{links},"),
                                        ("wrong", wrong)])
    case.expect(compared > unwound.MINIMUM and links > 10 * compared,
                f"only {links} frames in {compared} samples")
    case.expect(wrong == 0, f"{wrong} of {compared} stacks are not those of the frame pointers")


def cpp_fp(case):
    fp(case, "g++")


def cpp_fp_clang(case):
    fp(case, "clang++")


def python311(case):
    native(case, ["/usr/bin/python3", WORKLOADS / "chain.py", "0.4"])


# --- runtimes that make code ---

def made_code(case, command, floor_of_perf=0.0, wanted=None, floor=unwound.WHOLE):
    """Both recorders. Stock perf's recording has no names: only its stacks are looked at."""
    path = case.record_by_perf(command)
    recording, ours, perfs = unwound.measure(case, "perf record", path, floor=floor_of_perf)
    unwound.hold_against_slow_walk(case, "perf record", recording, ours, perfs)
    path, printed = case.record(command)
    injected = case.perf.folder / "injected.data"
    polyperf.run(case.program, "inject", "-q", "-i", path, "-o", injected)
    recording, ours, perfs = unwound.measure(case, "polyperf record, inject", path, injected, floor)
    unwound.hold_against_slow_walk(case, "polyperf record", recording, ours, perfs)
    if wanted:
        unwound.hold_against_known(case, "known functions", ours, printed, wanted)
    return ours, perfs


PYTHON_CHAIN = ((r"<module>", r"\bouter\b"),
                (r"\bby_(?:key|generator|reduce)\b", r"Middle\.__call__", r"\binner\b", r"\bleaf\b"))
NODE_CHAIN = ((r"\(anonymous\) chain\.js", r"\bouter\b"), (r"\brun\b", r"\binner\d*\b", r"\bleaf\b"))
JAVA_CHAIN = ((r"JavaMain", r"Chain\.main",),
              (r"Chain\.outer", r"Chain\$Middle\.run", r"Chain\.inner", r"Chain\.leaf"))


def python(version):
    def run(case):
        interpreter = runtime_test.pyenv_python(version)
        command = [interpreter, WORKLOADS / "chain.py", "0.4"]
        ours, perfs = made_code(case, command, unwound.WHOLE, PYTHON_CHAIN)
        if version == "3.13":  # The one runtime of which perf learns how to unwind its code.
            unwound.hold_against_perf(case, "perf, frame by frame", ours, perfs)
    return run


def node(case):
    command = [runtime_test.tool("node"), "--no-turbo-inlining", WORKLOADS / "chain.js", "0.4"]
    made_code(case, command, unwound.WHOLE, NODE_CHAIN)


def java(case):
    """With every JDK that is there; middle() stays interpreted."""
    runtime_test.tool("javac")
    for jdk in java_test.jdks():
        built = case.place.root / jdk.name
        subprocess.run([jdk / "bin" / "javac", "-d", built, WORKLOADS / "Chain.java"], check=True)
        print(f"  {jdk.name}")
        made_code(case, [jdk / "bin" / "java", "-cp", built, "-XX:CompileCommand=quiet",
                         "-XX:CompileCommand=exclude,Chain$Middle::run",
                         "-XX:CompileCommand=dontinline,Chain*::*", "Chain", "0.6"], 0, JAVA_CHAIN)


def php(case):
    made_code(case, [runtime_test.tool("php"), WORKLOADS / "work.php", "0.5"], unwound.WHOLE)


def erlang(case):
    runtime_test.tool("erl")
    built = runtime_test.compile_to(case.place, runtime_test.tool("erlc"), WORKLOADS / "work.erl")
    made_code(case, [runtime_test.tool("erl"), "-noshell", "-pa", built, "-s", "work", "main",
                     "-extra", "1"])


def ruby(case):
    """Code that YJIT's map does not name is taken for code with frame pointers."""
    made_code(case, [*runtime_test.ruby(case.place)[:-1], "0.5"], floor=85)


def luajit(case):
    made_code(case, [runtime_test.tool("luajit"), WORKLOADS / "work.lua", "0.5"])


# --- several in one process ---

SEVERAL_CHAIN = (
    (r"JavaMain", r"Several\.main"),
    (r"Several\.javaOuter", r"Several\.javaInner", r"Several\.python", r"Java_Several_python",
     r"\bpython_outer\b", r"\bpython_inner\b", r"\brun_php\b", r"zend_eval_string", r"\bphp_outer\b",
     r"zend_call_function", r"\bphp_leaf\b"))
PHP_SETTINGS = """zend_extension=opcache.so
opcache.enable_cli=1
opcache.jit=function
opcache.jit_buffer_size=64M
opcache.jit_debug=0x10
opcache.file_update_protection=0
"""


def build_several(case):
    """Java's library with a Python in it; returns the command."""
    python = pathlib.Path(runtime_test.pyenv_python("3.13")).parent.parent
    headers = python / "include" / "python3.13"
    if not (python / "lib" / "libpython3.13.so").exists() or not headers.exists():
        polyperf.skip("Python 3.13 has no shared library")
    if not list(pathlib.Path("/usr/lib").glob("**/libphp8.2.so")):
        polyperf.skip("libphp8.2-embed is not installed")
    jdk = pathlib.Path(runtime_test.tool("javac")).resolve().parent.parent
    built = runtime_test.compile_to(case.place, jdk / "bin" / "javac", "-d", ".",
                                    WORKLOADS / "Several.java")
    runtime_test.compile_to(case.place, runtime_test.tool("gcc"), "-O2", "-shared", "-fPIC",
                            f"-I{headers}", f"-I{jdk}/include", f"-I{jdk}/include/linux", "-o", "libseveral.so",
                            WORKLOADS / "several.c", f"-L{python}/lib", "-lpython3.13",
                            f"-Wl,-rpath,{python}/lib")
    settings = built / "php"
    settings.mkdir()
    (settings / "settings.ini").write_text(PHP_SETTINGS)
    case.place.environment["PHP_INI_SCAN_DIR"] = str(settings)
    return [jdk / "bin" / "java", "-cp", built, "Several", built / "libseveral.so", "1",
            WORKLOADS / "several.py", WORKLOADS / "several.php"]


def several(case):
    """Java calls C calls Python calls PHP. PHP is set up here: its jitdump and that of Python, which has
    the same name, would destroy each other; for PHP, a perf map will do.
    """
    path, printed = case.record(build_several(case), unwound.BYTES, "--runtime=php=off")
    recording, ours, perfs = unwound.measure(case, "several runtimes", path)
    unwound.hold_against_slow_walk(case, "several runtimes", recording, ours, perfs)
    unwound.hold_against_known(case, "known functions", ours, printed, SEVERAL_CHAIN)


CASES = {
    "cpp": cpp, "cpp-clang": cpp_clang, "cpp-8192": cpp_8192, "cpp-fp": cpp_fp,
    "cpp-fp-clang": cpp_fp_clang,
    "python3.11": python311,
    "python3.12": python("3.12"), "python3.13": python("3.13"), "node": node, "java": java, "php": php,
    "erlang": erlang, "ruby": ruby, "luajit": luajit, "several": several,
}


def test(program, name):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        case = unwound.Case(program, place)
        CASES[name](case)
        if case.faults:
            polyperf.fail(*case.faults)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in CASES:
        sys.exit(f"{__doc__}\ncases: {' '.join(CASES)}")
    test(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
