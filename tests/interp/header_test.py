#!/usr/bin/env python3
"""The installed interp.h in all languages and compilers: header_test.py BUILD [WALK_IMAGE]

What comes out is run, too, and its frames are read from outside: as a program at a fixed address,
one that may be anywhere, and a library.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

BUILD, TOOL = pathlib.Path(sys.argv[1]), sys.argv[2]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
COMPILERS = [("gcc", "c11"), ("gcc", "c17"), ("clang", "c11"), ("clang", "c17"), ("g++", "c++17"), ("clang++", "c++17")]
SHAPES = {"fixed": ["-no-pie", "-fno-pie"], "anywhere": ["-pie", "-fPIE"],
          "packed": ["-pie", "-fPIE", "-Wl,-z,pack-relative-relocs"], "library": ["-shared", "-fPIC"]}

SOURCE = """
#include <polyperf/interp.h>
#include <signal.h>
void interpret(struct polyperf_interp_code *code);
POLYPERF_INTERP_SLOT("header", interpret);
POLYPERF_INTERP_EVALUATOR void interpret(struct polyperf_interp_code *code)
{
	struct polyperf_interp_frame frame;
	polyperf_interp_push(&frame, code, POLYPERF_INTERP_ENTRY);
	polyperf_interp_line(&frame, 7);
	(void)raise(SIGSTOP);
	polyperf_interp_pop(&frame);
	polyperf_interp_retire(code);
}
"""
MAIN = """
extern void interpret(struct polyperf_interp_code *code);
int main(void)
{
	struct polyperf_interp_code code = { 3, "function", "Owner", "file.src", 5, 0 };
	interpret(&code);
	return polyperf_interp_top != 0 || code.generation != 0;
}
"""
LIBRARY = """
#ifdef __cplusplus
extern "C"
#endif
int start(void);
int start(void)
{
	struct polyperf_interp_code code = { 3, "function", "Owner", "file.src", 5, 0 };
	interpret(&code);
	return polyperf_interp_top != 0 || code.generation != 0;
}
"""
# Of Lua only that it is found: what it leads to is none of its own.
LUA = """
#include <polyperf/interp.h>
#include <signal.h>
POLYPERF_INTERP_LUA("Lua 5.4.4");
int main(void)
{
	void *before = polyperf_interp_lua(0);
	(void)raise(SIGSTOP);
	return before != 0 || polyperf_interp_lua(before) != 0;
}
"""
LOADER = "int start(void);\nint main(void) { return start(); }\n"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr or done.stdout}"
    return done.stdout


def build(folder, compiler, standard, shape):
    suffix = ".cc" if "+" in standard else ".c"
    source, made = folder / f"made{suffix}", folder / f"{compiler}-{standard}-{shape}"
    flags = [compiler, f"-std={standard}", *WARNINGS, "-O2", "-I", folder / "include"]
    if shape != "library":
        source.write_text(SOURCE + MAIN)
        run(*flags, *SHAPES[shape], source, "-o", made)
        return made
    source.write_text(SOURCE + LIBRARY)
    library = folder / f"lib{made.name}.so"
    run(*flags, *SHAPES[shape], source, "-o", library)
    (folder / "loader.c").write_text(LOADER)
    run("gcc", folder / "loader.c", "-o", made, library, f"-Wl,-rpath,{folder}")
    return made


def walk(made):
    """What is read of the program while it has stopped itself."""
    with subprocess.Popen([made]) as process:
        os.waitpid(process.pid, os.WUNTRACED)
        try:
            text = run(TOOL, process.pid)
        finally:
            os.kill(process.pid, signal.SIGCONT)
        assert process.wait() == 0
    return text


def check(made):
    text = walk(made)
    line = text.splitlines()[-1].split("\t")
    assert line[0] == "expect complete" and line[2:] == ["Owner::function|file.src|7|9"] or \
        line[2:] == ["function|file.src|7|9"], line
    # The evaluator: the second word of the description, behind numbers and the root.
    blob = bytes.fromhex(next(row.split()[1] for row in text.splitlines() if row.startswith("runtime ")))
    evaluators = [int.from_bytes(blob[at:at + 8], "little") for at in range(32, 64, 8)]
    assert evaluators[0] and not any(evaluators[1:]), evaluators


def check_lua(folder, compiler, standard):
    source, made = folder / ("lua.cc" if "+" in standard else "lua.c"), folder / "lua"
    source.write_text(LUA)
    run(compiler, f"-std={standard}", *WARNINGS, "-O2", "-I", folder / "include", source, "-o", made)
    text = walk(made)
    assert text.splitlines()[-1].split("\t") == ["expect nothing runs", "0"], text


def has_packed(folder, compiler):
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    return subprocess.run([compiler, folder / "empty.c", "-o", folder / "empty", *SHAPES["packed"]],
                          capture_output=True).returncode == 0


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("cmake", f"-DCMAKE_INSTALL_PREFIX={folder}", "-P", BUILD / "src/interp/cmake_install.cmake")
        count = 0
        for compiler, standard in COMPILERS:
            if not shutil.which(compiler):
                continue
            check_lua(folder, compiler, standard)
            for shape in SHAPES:
                if shape == "packed" and not has_packed(folder, compiler):
                    continue
                check(build(folder, compiler, standard, shape))
                count += 1
        print(f"{count} programs")
        assert count >= 6, "hardly a compiler is installed"


main()
