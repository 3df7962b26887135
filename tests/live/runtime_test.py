#!/usr/bin/env python3
"""Records the workload of one runtime and holds the report against the program's own word.

    runtime_test.py POLYPERF RUNTIME

alpha, beta and gamma must be within 5 points of what the program prints, 99 of 100
samples in JIT code named, nothing left behind, and stock perf must open the file. Where there
is a perf map alone, its code must be in the recording.
Runtimes that Debian lacks are looked for in $NODE_NEWER, $DENO, $BUN, and in
the directory of tools/runtimes.sh. Exit code 77: the runtime is not there.
"""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "lib"))
import csharp
import javaclasses
import live
import map_code
import polyperf

WORKLOADS = HERE / "workloads"
SECONDS = "1"  # of the processor
# A few samples fall into each call of alpha, so that no share hangs on how rounds meet samples.
FREQUENCY = "4999"


def tool(name):
    """A program on PATH."""
    path = shutil.which(name)
    if not path:
        polyperf.skip(f"{name} is not installed")
    return path


def fetched(variable, name):
    """A program that Debian lacks."""
    folder = pathlib.Path(os.environ.get("POLYPERF_RUNTIMES", ROOT / "build" / "runtimes"))
    for path in (os.environ.get(variable), folder / "bin" / name, shutil.which(name)):
        if path and os.access(path, os.X_OK):
            return path
    polyperf.skip(f"no {name}: neither ${variable} nor {folder / 'bin' / name}")


def pyenv_python(version):
    """The newest python3.VERSION on PATH or of pyenv."""
    found = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
    path = found[-1] if found else shutil.which(f"python{version}")
    if not path:
        polyperf.skip(f"Python {version} is not installed")
    return path


def compile_to(place, *command):
    """Runs a compiler in a directory of its own, which is not looked at for leftovers."""
    built = place.root / "built"
    built.mkdir(exist_ok=True)
    done = subprocess.run([str(word) for word in command], cwd=built, capture_output=True, text=True,
                          env=place.environment)
    if done.returncode:
        polyperf.fail(f"{command[0]}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return built


def node(place):
    return [tool("node"), WORKLOADS / "work.js", SECONDS]


def node_newer(place):
    return [fetched("NODE_NEWER", "node24"), WORKLOADS / "work.js", SECONDS]


def wasm(place):
    return [tool("node"), WORKLOADS / "wasm.js", SECONDS]


def deno(place):
    return [fetched("DENO", "deno"), "run", "-A", WORKLOADS / "work.js", SECONDS]


def bun(place):
    return [fetched("BUN", "bun"), WORKLOADS / "work.js", SECONDS]


def java(_):
    built = javaclasses.build(tool("javac"), WORKLOADS / "Work.java")
    return [tool("java"), "-cp", built, "Work", SECONDS]


def dotnet(_):
    return [tool("dotnet"), csharp.build_workload(WORKLOADS / "Work.cs", "work"), SECONDS]


def mono(place):
    tool("mono")
    built = compile_to(place, tool("mcs"), "-out:work.exe", WORKLOADS / "Work.cs")
    return [tool("mono"), built / "work.exe", SECONDS]


def php(place):
    return [tool("php"), WORKLOADS / "work.php", SECONDS]


def erlang(place):
    tool("erl")
    built = compile_to(place, tool("erlc"), WORKLOADS / "work.erl")
    return [tool("erl"), "-noshell", "-pa", built, "-s", "work", "main", "-extra", SECONDS]


def luajit(place):
    return [tool("luajit"), WORKLOADS / "work.lua", SECONDS]


def ruby(place):
    program = tool("ruby")
    if subprocess.run([program, "--yjit", "-e", ""], capture_output=True).returncode:
        polyperf.skip("this ruby has no YJIT")
    return [program, "--yjit", WORKLOADS / "work.rb", SECONDS]


def python312(place):
    return [pyenv_python("3.12"), WORKLOADS / "work.py", SECONDS]


def python313(place):
    return [pyenv_python("3.13"), WORKLOADS / "work.py", SECONDS]


RUNTIMES = {
    "node": node, "node-newer": node_newer, "wasm": wasm, "deno": deno, "bun": bun, "java": java,
    "dotnet": dotnet, "mono": mono, "php": php, "erlang": erlang, "luajit": luajit, "ruby": ruby,
    "python3.12": python312, "python3.13": python313,
}
# Their JIT code only calls the interpreter: alpha is never the leaf, but always in the stack, which
# builds without frame pointers give up by unwind tables alone.
CALLERS_ONLY = ("python3.12", "python3.13")


def test(program, runtime):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        command = RUNTIMES[runtime](place)
        for leftover in place.tmp.iterdir():  # of compilers
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        callers_only = runtime in CALLERS_ONLY
        stacks = "dwarf" if callers_only else "fp"
        recording, printed = place.record(program, command, "-F", FREQUENCY, "-g", stacks)
        print(printed.strip())
        samples = live.oracle.read_recording(recording.read_bytes())
        faults = live.left_behind(place, live.recorded_pids(recording))
        if callers_only:
            faults += live.caller_faults(program, recording, printed)
        else:
            faults += live.workload_faults(program, recording, printed)
            faults += live.naming_faults(program, recording)
        faults += map_code.faults(program, recording)
        faults += live.stock_perf_faults(recording, len(samples))
        if faults:
            polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in RUNTIMES:
        sys.exit(f"{__doc__}\nruntimes: {' '.join(RUNTIMES)}")
    test(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
