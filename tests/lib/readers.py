"""Programs of others that read what we write: of ELF and DWARF, and those that tools/readers.sh
fetches for exports and the page.

    done = readers.node("speedscope.cjs", path)         tests/lib/speedscope.cjs, with its packages

A script is CommonJS: require() finds the packages. What is ESM alone is had by
`await import(require.resolve("PACKAGE"))`. For a browser see chromium.cjs.
"""
import os
import pathlib
import re
import shutil
import subprocess

import polyperf

LIB = pathlib.Path(__file__).resolve().parent

# What to run, and how it takes addresses on standard input or as arguments.
SYMBOLIZERS = {
    "llvm-symbolizer": ["llvm-symbolizer", "--no-inlines", "--functions=none", "--no-demangle",
                        "--relativenames", "-e"],
    "eu-addr2line": ["eu-addr2line", "-e"],
    "addr2line": ["addr2line", "-e"],
}
CHECKS = (
    (["readelf", "-aW"], False),
    (["eu-elflint", "--gnu-ld"], True),
    (["llvm-dwarfdump", "--verify"], True),
    (["eu-readelf", "-a"], False),
)


def need(name):
    if not shutil.which(name):
        polyperf.skip(f"{name} is not installed")


def folder():
    """Where tools/readers.sh puts what it fetches."""
    return pathlib.Path(os.environ.get("POLYPERF_READERS", LIB.parent.parent / "build" / "readers"))


def program(name):
    """The path of a program, from there or of the system."""
    found = shutil.which(name, path=folder() / "bin") or shutil.which(name)
    if not found:
        polyperf.skip(f"{name} is not installed: run tools/readers.sh")
    return found


def modules():
    """The folder node_modules there."""
    if not (folder() / "list").exists():
        polyperf.skip(f"no readers in {folder()}: run tools/readers.sh")
    return folder() / "node_modules"


def node(script, *arguments, **options):
    """What a script of this folder (or of an absolute path) printed; a failure ends the test."""
    need("node")
    environment = {**os.environ, "NODE_PATH": str(modules())}
    return polyperf.run("node", LIB / script, *arguments, env=environment, **options).stdout


def chromium():
    """The browser; `node` with chromium.cjs starts it."""
    need("chromium")
    modules()


def run(command, text=None):
    need(command[0])
    return subprocess.run(list(map(str, command)), input=text, capture_output=True, text=True,
                          errors="surrogateescape")


def structure_faults(path):
    """What a checker of ELF or DWARF has against the file."""
    faults = []
    for command, talks in CHECKS:
        done = run([*command, path])
        complaint = (done.stdout if talks else "") + done.stderr
        bad = done.returncode or re.search(r"[Ww]arning|[Ee]rror", done.stderr)
        if command[0] == "llvm-dwarfdump":
            bad = bad or re.search(r"^(?:error|warning|.*Errors detected)", done.stdout, re.M)
        elif command[0] == "eu-elflint":
            bad = bad or "No errors" not in done.stdout
        if bad:
            lines = complaint.strip().splitlines()
            faults.append(f"{' '.join(command)} {path.name}: exit {done.returncode}, "
                          f"{len(lines)} lines: {lines[:3]}")
    return faults


def read_place(line):
    """file, line, column of FILE:LINE[:COLUMN], as the symbolizers print it."""
    line = re.sub(r" \(discriminator \d+\)$", "", line.strip())
    found = re.match(r"(.*?):(\d+|\?)(?::(\d+))?$", line)
    if not found:
        polyperf.fail(f"no place: {line!r}")
    return found[1], int(found[2]) if found[2].isdigit() else 0, int(found[3] or 0)


def lines_of(path, addresses):
    """For each symbolizer, what it says of each address."""
    text = "".join(f"{address:#x}\n" for address in addresses)
    answers = {}
    for name, command in SYMBOLIZERS.items():
        rows = [row for row in run([*command, path], text).stdout.splitlines() if row.strip()]
        if len(rows) != len(addresses):
            polyperf.fail(f"{name}: {len(rows)} lines for {len(addresses)} addresses: {rows[:3]}")
        answers[name] = list(map(read_place, rows))
    return answers


def is_at(wanted, file, line):
    """A colon in a file's name would be taken for the one before the line: it may be another sign.
    A relative name may get a folder in front.
    """
    pattern = re.sub(":", ".", re.escape(wanted.file))
    return line == wanted.line and re.search(rf"(?:^|/){pattern}$", file) is not None
