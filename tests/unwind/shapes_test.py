#!/usr/bin/env python3
"""Builds a program of frames of all shapes, runs it, and walks the stacks that it wrote down.

  shapes_test.py KIND WALKER      KIND: one of KINDS

The program tells what the C library's own unwinder finds at the same place. What a machine lacks
is a skip, with its reason, and status 77.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["library", "realigned", "alloca", "huge", "signal", "trap", "other_stack", "thread"]
THROW = ["cleanup", "cleanup_outer", "handler"]
BOTH = '__asm__(".cfi_sections .eh_frame, .debug_frame");\n'

# C compiler, C++ compiler, flags of the compilers, flags of the link
KINDS = {
    "gcc": ("gcc", "g++", ["-O2", "-fomit-frame-pointer"], []),
    "gcc_small": ("gcc", "g++", ["-Os", "-fcf-protection=full"], ["-no-pie"]),
    "gcc_fast": ("gcc", "g++", ["-O3", "-mno-red-zone", "-fno-plt"], ["-static"]),
    "gcc_plain": ("gcc", "g++", ["-O0"], []),
    "clang": ("clang", "clang++", ["-O2"], []),
    "clang_frames": ("clang", "clang++", ["-O2", "-fno-omit-frame-pointer"], []),
    "debug_file": ("gcc", "g++", ["-O2", "-g", "-fomit-frame-pointer"], []),
    "debug_file_old": ("gcc", "g++", ["-O1", "-g"], []),
    "aarch64": ("aarch64-linux-gnu-gcc", None, ["-O2"], []),
    "aarch64_signed": ("aarch64-linux-gnu-gcc", None,
                       ["-O2", "-mbranch-protection=standard", "-march=armv8.3-a"], []),
    "aarch64_plain": ("aarch64-linux-gnu-gcc", None, ["-O0", "-fstack-protector-all"], []),
}


def skip(reason):
    print(reason)
    sys.exit(77)


def run(*command):
    got = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, errors="replace")
    if got.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {got.returncode}\n{got.stdout[-6000:]}")
    return got.stdout


def build(kind, folder):
    compiler, other, flags, link = KINDS[kind]
    for program in filter(None, (compiler, other)):
        if not shutil.which(program):
            skip(f"no {program}")
    if kind.startswith("aarch64") and not shutil.which("qemu-aarch64"):
        skip("no qemu-aarch64")
    objects = []
    for source in ["shapes.c", "shapes_capture.c"] + (["shapes_throw.cc"] if other else []):
        text = (HERE / source).read_text()
        copy = folder / source
        copy.write_text((BOTH if kind.startswith("debug_file") else "") + text)
        objects.append(copy.with_suffix(".o"))
        language = ["-std=gnu17", "-D_GNU_SOURCE"] if source.endswith(".c") else []
        run(compiler if source.endswith(".c") else other, *language, *flags, f"-I{HERE}",
            "-c", copy, "-o", objects[-1])
    run(other or compiler, *flags, *link, *objects, "-o", folder / "shapes", "-pthread")
    return bool(other)


def tables(kind, folder):
    """A copy of the program without call frame information, and a debug file with it."""
    program = folder / "shapes"
    packed = {"debug_file": "zlib", "debug_file_old": "zlib-gnu"}[kind]
    run("objcopy", "--only-keep-debug", program, folder / "plain.debug")
    run("objcopy", f"--compress-debug-sections={packed}", folder / "plain.debug",
        folder / "packed.debug")
    run("objcopy", "--strip-debug", "--remove-section", ".eh_frame", "--remove-section",
        ".eh_frame_hdr", program, folder / "bare")
    sections = run("readelf", "-SW", folder / "packed.debug")
    assert "debug_frame" in sections, sections
    return [["--tables", program, folder / "bare", folder / name]
            for name in ("plain.debug", "packed.debug")]


def main():
    kind, walker = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        has_throw = build(kind, folder)
        out = folder / "out"
        out.mkdir()
        start = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"] if "aarch64" in kind else []
        run(*start, folder / "shapes", out)
        captures = [out / name for name in NAMES + (THROW if has_throw else [])]
        for options in tables(kind, folder) if kind.startswith("debug_file") else [[]]:
            print(run(walker, *options, *captures), end="")


if __name__ == "__main__":
    main()
