#!/usr/bin/env python3
"""Holds the tables of offsets against the headers of all interpreters that are installed."""
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import polyperf  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent / "src"


def compilations():
    """(name, file, more arguments)"""
    table = str(SOURCE / "interp/python_tables.c")
    for folder in sorted([*glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/include/python3.*")),
                          *glob.glob("/usr/include/python3.*")]):
        name = pathlib.Path(folder).name
        if name not in {f"python3.{minor}" for minor in range(8, 15)}:
            continue
        if os.path.exists(f"{folder}/internal/pycore_pystate.h"):
            yield folder, "offsets_python.c", [f"-I{folder}", f"-I{folder}/internal", table]
    if shutil.which("php-config"):
        includes = polyperf.run("php-config", "--includes").stdout.split()
        yield "php", "offsets_php.c", includes
    for folder in glob.glob("/usr/lib/*/perl/5.*/CORE"):
        if os.path.exists(f"{folder}/perl.h"):
            yield folder, "offsets_perl.c", [f"-I{folder}", "-D_REENTRANT", "-DDEBIAN", "-lperl"]
    for header in glob.glob("/usr/include/*/ruby-3.1.0/rb_mjit_min_header-*.h"):
        yield header, "offsets_ruby.c", [f'-DRUBY_HEADER="{header}"', "-DRUBY_MINOR=1"]


def main():
    compiler = shutil.which("cc") or polyperf.skip("no C compiler")
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, source, arguments in compilations():
            program = os.path.join(folder, "offsets")
            polyperf.run(compiler, "-w", "-O2", "-D_GNU_SOURCE", "-std=gnu17", f"-I{SOURCE}", f"-I{HERE.parent}",
                         HERE / source, "-o", program, *arguments)
            done = subprocess.run([program], capture_output=True, text=True)
            print(f"{name}: {'as in the headers' if done.returncode == 0 else done.stdout}")
            if done.returncode:
                polyperf.fail(f"{name}: {done.returncode} offsets differ")
            count += 1
    if not count:
        polyperf.skip("no interpreter's headers are installed")


main()
