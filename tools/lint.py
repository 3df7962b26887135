#!/usr/bin/env python3
"""House rules that a compiler does not know. Prints what breaks one as FILE:LINE: RULE, and
the count of rules at the end: `N passed, N failed`. Names given on the command line choose
rules: tools/lint.py tidy banned
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Each of these has an unbounded or unchecked way to go wrong; what to use instead.
BANNED = {
    "strcpy": "sink_text", "strcat": "sink_text", "sprintf": "sink_printf",
    "vsprintf": "sink_printf", "strncpy": "memcpy", "strncat": "sink_text", "gets": "getline",
    "strtok": "strcspn", "atoi": "base/number.h", "atol": "base/number.h", "atof": "base/number.h",
    "strtol": "base/number.h", "strtoul": "base/number.h", "strtoll": "base/number.h",
    "strtoull": "base/number.h", "sscanf": "base/number.h", "alloca": "arena_new",
    "system": "posix_spawn", "tmpnam": "mkostemp", "mktemp": "mkostemp",
}
# Memory that grows by hand belongs to base/; elsewhere one allocation of an opaque object or
# of a buffer of known size, and its free().
ALLOCATORS = ("realloc", "reallocarray")
ALLOCATING = ("src/base/",)
# Words that print; in src/ only cli/ may.
PRINTING = ("printf", "puts", "perror", "fprintf", "putchar", "exit", "abort", "assert")
# Non-ASCII text that is meant: people's languages in documents, names in test data. In comments
# of C files drawings are fine; nowhere is text that does not show what it is.
NON_ASCII = ("tests/", "fuzz/", "docs/", "examples/", "README.md", "CONTRIBUTING.md")
LOOK_AGAIN, SPLIT_BY = 500, 800


def files(*patterns):
    got = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *patterns],
                         cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in got.splitlines() if (ROOT / name).is_file()]


def text_of(name):
    return (ROOT / name).read_text(errors="surrogateescape")


def c_files():
    return files("*.c", "*.h")


def code_lines(name):
    """Lines without comments and strings, so that words in them do not count."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                  lambda m: re.sub(r"[^\n]", " ", m[0]), text_of(name), flags=re.S)
    return enumerate(text.splitlines(), 1)


def tool(command, names):
    if not shutil.which(command[0]):
        return [f"{command[0]} is not installed: tools/setup.sh lint"]
    got = subprocess.run([*command, *names], cwd=ROOT, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, errors="replace")
    return [got.stdout.rstrip()] if got.returncode != 0 else []


def rule_format():
    return tool(["clang-format", "--dry-run", "-Werror"], c_files())


# The analyser gives a function up after so many steps; its default of 225,000 takes six times
# as long over the whole tree.
ANALYSER = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang",
            "--extra-arg=max-nodes=40000"]


def tidy_file(entry, config):
    """What clang-tidy says of one file; nothing if it said nothing of the same text before."""
    source = entry["file"]
    words = shlex.split(entry["command"])
    words = words[:words.index("-o")] + words[words.index("-o") + 2:]
    text = subprocess.run([*words, "-E"], cwd=entry["directory"], capture_output=True).stdout
    key = hashlib.sha256(config + text).hexdigest()
    clean = ROOT / "build/tidy" / key
    if clean.exists():
        return ""
    got = subprocess.run(["clang-tidy", "-p", "build/tidy", "--quiet", *ANALYSER, source], cwd=ROOT,
                         capture_output=True, text=True, errors="replace")
    if got.returncode == 0:
        clean.touch()
        return ""
    return (got.stdout + got.stderr).replace(f"{ROOT}/", "").rstrip()


def rule_tidy():
    """clang-tidy over the sources that the dev build knows."""
    database = ROOT / "build/dev/compile_commands.json"
    if not shutil.which("clang-tidy"):
        return ["clang-tidy is not installed: tools/setup.sh lint"]
    if not database.exists():
        subprocess.run(["cmake", "--preset", "dev"], cwd=ROOT, stdout=subprocess.DEVNULL)
    (ROOT / "build/tidy").mkdir(exist_ok=True)
    config = (ROOT / ".clang-tidy").read_bytes() + " ".join(ANALYSER).encode()
    # A file that two libraries compile is looked at as the first one does: the analyser
    # mistakes its own state for the file's when it gets both.
    entries = {entry["file"]: entry for entry in reversed(json.loads(database.read_text()))
               if re.match(rf"{ROOT}/(src|fuzz|bench|examples)/", entry["file"])}
    (ROOT / "build/tidy/compile_commands.json").write_text(json.dumps(list(entries.values())))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda entry: tidy_file(entry, config), entries.values())
    return [text for text in found if text]


def rule_shell():
    scripts = [name for name in files() if not name.endswith((".c", ".h", ".py"))
               and re.match(r"#!.*\b(sh|bash)$", (text_of(name).splitlines() or [""])[0])]
    return tool(["shellcheck"], scripts)


def rule_python():
    found = []
    for name in files("*.py"):
        try:
            compile(text_of(name), name, "exec")
        except SyntaxError as error:
            found.append(f"{name}:{error.lineno}: {error.msg}")
    return found


def rule_layers():
    return tool([sys.executable, "tools/check_layers.py"], [])


def rule_banned():
    found = []
    word = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
    for name in files("src/*.c", "src/*.h"):
        for number, line in code_lines(name):
            for bad in word.findall(line):
                found.append(f"{name}:{number}: {bad}() is banned: use {BANNED[bad]}")
    return found


def rule_memory():
    found = []
    word = re.compile(r"(?<![\w.>])(" + "|".join(ALLOCATORS) + r")\s*\(")
    for name in files("src/*.c", "src/*.h"):
        if name.startswith(ALLOCATING):
            continue
        for number, line in code_lines(name):
            for bad in word.findall(line):
                found.append(f"{name}:{number}: {bad}() belongs to base/: use an arena, "
                             "VECTOR or sink")
    return found


def rule_printing():
    found = []
    word = re.compile(r"(?<![\w.>])(" + "|".join(PRINTING) + r")\s*\(")
    for name in files("src/*.c", "src/*.h"):
        if name.startswith("src/cli/"):
            continue
        for number, line in code_lines(name):
            for bad in word.findall(line):
                found.append(f"{name}:{number}: {bad}(): libraries neither print nor exit")
    return found


def rule_text():
    """Blanks at line ends, missing last newline, CR, characters outside ASCII."""
    found = []
    for name in files("*.c", "*.h", "*.py", "*.sh", "*.md", "*.txt", "*CMakeLists.txt",
                      "Makefile", "polyperf", ".ci/run"):
        # C: what is outside comments.
        ascii_lines = dict(code_lines(name)) if name.endswith((".c", ".h")) else {}
        if name.startswith(("tests/data/", "fuzz/corpus/")):
            continue
        text = text_of(name)
        if text and not text.endswith("\n"):
            found.append(f"{name}: no newline at the end")
        for number, line in enumerate(text.split("\n"), 1):
            if line.endswith((" ", "\t", "\r")) and not name.endswith(".md"):
                found.append(f"{name}:{number}: blank at the end")
            if not ascii_lines.get(number, line).isascii() and not name.startswith(NON_ASCII):
                found.append(f"{name}:{number}: not ASCII")
            if any(unicodedata.category(c) == "Cf" for c in line):
                found.append(f"{name}:{number}: an invisible character")
            if re.search(r"\b(TODO|FIXME|XXX)\b", line) and not name.endswith((".md", "lint.py")):
                found.append(f"{name}:{number}: finish it, or file an issue")
    return found


def rule_skips():
    return [f"{name}:{number}: say why: skip_because()" for name in files("tests/*.c")
            for number, line in code_lines(name) if re.search(r"\bskip\(\)", line)]


def rule_guards():
    """A header's guard is its path, so that two never collide."""
    found = []
    for name in files("src/*.h"):
        guard = re.sub(r"\W", "_", name.removeprefix("src/")).upper()
        if f"#ifndef {guard}\n#define {guard}\n" not in text_of(name):
            found.append(f"{name}: the guard is {guard}")
    return found


def rule_length():
    """Files are split by 800 lines; a look again at 500 is advice."""
    found, lengths = [], []
    for name in c_files():
        lines = text_of(name).count("\n")
        lengths.append(lines)
        if lines > SPLIT_BY:
            found.append(f"{name}: {lines} lines; split by {SPLIT_BY}")
        elif lines > LOOK_AGAIN:
            print(f"  note: {name}: {lines} lines")
    lengths.sort()
    if lengths:
        print(f"  {len(lengths)} C files, {sum(lengths)} lines; median "
              f"{lengths[len(lengths) // 2]}, 90 % up to {lengths[len(lengths) * 9 // 10]}, "
              f"largest {lengths[-1]}")
    return found


def main():
    rules = {name.removeprefix("rule_"): rule for name, rule in globals().items()
             if name.startswith("rule_")}
    chosen = sys.argv[1:] or list(rules)
    failed = 0
    for name in chosen:
        if name not in rules:
            sys.exit(f"lint: no rule '{name}'; there are: {' '.join(rules)}")
        start = time.monotonic()
        found = rules[name]()
        failed += bool(found)
        print(f"{name}: {'ok' if not found else 'FAILED'} ({time.monotonic() - start:.0f} s)")
        for line in found:
            print(line)
        sys.stdout.flush()
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
