#!/usr/bin/env python3
"""Holds the documents against the tree: the folder table against tools/layers.txt, paths and
links against files, the list of commands against the man pages that there will be.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
found = []


def layers():
    folders = {}
    for line in (ROOT / "tools/layers.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            folder, uses = line.split(":")
            folders[folder.strip()] = set(uses.split())
    return folders


def check_table(name):
    rows = {}
    for row in re.findall(r"^\| `src/([^`]+)/` \|.*\| ([^|]+) \|$", (ROOT / name).read_text(), re.M):
        rows[row[0]] = set(re.findall(r"`([^`]+)`", row[1]))
    for folder, uses in layers().items():
        if folder not in rows:
            found.append(f"{name}: no row for src/{folder}/")
        elif rows[folder] != uses:
            found.append(f"{name}: src/{folder}/ may include {' '.join(sorted(uses))}, "
                         f"not {' '.join(sorted(rows[folder]))}")
    for folder in rows.keys() - layers().keys():
        found.append(f"{name}: src/{folder}/ is not in tools/layers.txt")


def check_paths(path):
    name = path.relative_to(ROOT)
    text = path.read_text()
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if not re.match(r"\w+:", link) and not (path.parent / link).exists():
            found.append(f"{name}: no {link}")
    # `src/...` in backquotes: a file, a folder, or a pattern with a word in capitals.
    for quoted in re.findall(r"`((?:src|tests|tools|docs|bench|examples|fuzz)/[\w./-]+)`", text):
        pattern = re.sub(r"\b[A-Z]{2,}\b|[A-Z]{4,}", "*", quoted) if not quoted.endswith(".md") \
            else quoted.replace("NAME", "*")
        if not list(ROOT.glob(pattern.rstrip("/"))):
            found.append(f"{name}: no {quoted}")


def check_commands():
    listed = re.search(r"COMMAND_LIST\(X\)((?:.*\\\n)*.*)",
                       (ROOT / "src/cli/command.h").read_text())[1]
    commands = re.findall(r"X\((\w+)\)", listed)
    readme = (ROOT / "README.md").read_text()
    for command in commands:
        if command != "help" and f"polyperf {command}" not in readme:
            found.append(f"README.md: does not tell of `polyperf {command}`")
        if not (ROOT / f"tests/cli/help_{command}.out").exists():
            found.append(f"tests/cli/help_{command}.out: is missing")
    for command in set(re.findall(r"`polyperf (\w+)", readme)) - set(commands) - {"help"}:
        found.append(f"README.md: there is no command `polyperf {command}`")


check_table("docs/ARCHITECTURE.md")
documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
for document in documents:
    check_paths(document)
check_commands()
for line in found:
    print(line)
print(f"{len(documents)} documents, {len(found)} faults")
sys.exit(bool(found))
