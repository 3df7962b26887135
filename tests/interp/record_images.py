#!/usr/bin/env python3
"""Writes tests/data/frames/NAME.image of all interpreters that are there.

    record_images.py build/dev/tests/interp/walk_image [PATTERN [ROOT]]

Interpreters that this system has not are run in ROOT, by chroot: a folder with the files of
another system's packages.

An image is taken again until it has at least as many frames as asked for, so that all kinds
of calls are in it. Look at the frames (its last line) before you commit it.
"""
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data/frames"


def elsewhere(root):
    """As interpreters(), in a folder with the files of other packages."""
    yield "python3.14", "/usr/bin/python3.14", "callers.py", ("глубина", "key|", "main|")
    yield "php8.4", "/usr/bin/php8.4", "callers.php", ("generator", "method", "{closure")
    for version in ("2.7", "3.3"):
        yield f"ruby{version}", f"/usr/bin/ruby{version}", "callers.rb", ("leaf", "block in")
    for path in glob.glob(f"{root}/usr/bin/perl5.*.*"):
        name = "perl" + pathlib.Path(path).name[4:].rsplit(".", 1)[0]
        yield name, path[len(root):], "callers.pl", ("leaf", "method")


def interpreters(tool):
    for version in ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13"):
        for path in glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}")):
            yield f"python{version}", path, "callers.py", ("глубина", "key|", "main|")
    yield "python3.11-debian", "/usr/bin/python3.11", "callers.py", ("made_up", "<lambda>")
    yield "php8.2", shutil.which("php"), "callers.php", ("generator", "method", "{closure}")
    yield "ruby3.1", shutil.which("ruby"), "callers.rb", ("leaf", "block in")
    yield "ruby3.1-long", shutil.which("ruby"), "callers.rb", ("leaf", "long|")
    yield "perl5.36", "/usr/bin/perl", "callers.pl", ("leaf", "method")
    yield "perl5.36-sort", "/usr/bin/perl", "callers.pl", ("leaf", "__ANON__")
    toy = str(pathlib.Path(tool).parents[2] / "examples/toy")
    yield "toy", toy, "callers.toy", ("outer|callers.toy|8|9\touter|callers.toy|8", "inner")
    lua = str(pathlib.Path(tool).parents[2] / "examples/polylua")
    yield "lua5.4", lua, "callers54.lua", ("|11|", "|16|", "|48|")
    yield "lua5.4-sort", lua, "callers54.lua", ("|21|", "|49|")
    yield "lua5.4-deep", lua, "callers54.lua", ("|34|", "|36|")
    yield "toy-sort", toy, "callers.toy", ("inner", "compare", "sort")
    luajit = shutil.which("luajit")
    yield "luajit2.1", luajit, "callers.lua", ("callers.lua:11|", "callers.lua:19|", "|23|"), "-joff"
    yield "luajit2.1-sort", luajit, "callers.lua", ("callers.lua:11|", "table.sort|"), "-joff"
    yield "luajit2.1-coroutine", luajit, "callers.lua", ("callers.lua:11|", "coroutine.wrap_aux|"), "-joff"
    yield "luajit2.1-vararg", luajit, "callers.lua", ("math.sin|",), "-joff"
    yield "luajit2.1-index", luajit, "callers.lua", ("callers.lua:55|",), "-joff"
    yield "luajit2.1-thrown", luajit, "callers.lua", ("error|", "pcall|"), "-joff"
    yield "luajit2.1-compiled", luajit, "callers.lua", ("callers.lua:19|", "|0|24")


def record(tool, root, path, program, wanted, *options):
    # Some versions keep absolute paths: always the same one.
    shutil.copytree(HERE / "programs", f"{root}/tmp/programs", dirs_exist_ok=True)
    if root:
        path, options, program = "/usr/sbin/chroot", [root, path, *options], f"/tmp/programs/{program}"
    # What is searched of a C stack may be all of it, and the environment lies above.
    with subprocess.Popen([path, *options, program, "60"], cwd="/tmp/programs", env={}) as process:
        time.sleep(1)
        try:
            for _ in range(200):
                text = subprocess.run([tool, str(process.pid)], capture_output=True, text=True,
                                      check=True).stdout
                frames = text.splitlines()[-1]
                if frames.startswith("expect complete\t") and all(w in frames for w in wanted):
                    return text
        finally:
            process.kill()
    return None


def main():
    tool = os.path.abspath(sys.argv[1])
    root = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else ""
    for name, path, program, wanted, *options in elsewhere(root) if root else interpreters(tool):
        if not path or not os.path.exists(root + path) or (len(sys.argv) > 2 and sys.argv[2] not in name):
            continue
        text = record(tool, root, path, program, wanted, *options)
        if text:
            (DATA / f"{name}.image").write_text(text)
        print(name, text.splitlines()[-1] if text else "FAILED")


main()
