"""Programs that read ELF and DWARF, and what they must say of an image."""
import re
import shutil
import subprocess

import polyperf

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
