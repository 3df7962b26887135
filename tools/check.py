#!/usr/bin/env python3
"""Builds, runs the tests and counts them: the last line is `N passed, N failed, N skipped`.

Counts single cases where a test tells them (cmocka's summary, or a closing line like ours),
else the ctest entry. Prints the output of what failed, and why what was skipped was.

Live tests share the kernel and the processors with whatever else runs. Those that failed are run
a second time, alone; one that passes then counts as passed, and is told of as UNSTEADY with what it
said at first. More than a few are no accident, and fail.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
OWN_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)


SECOND_TRIES = 4


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, passed, failed, skipped):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def say(text):
    print(text, flush=True)


def run(what, *command, env=None):
    """Runs a step quietly; its output is shown when it fails."""
    start = time.monotonic()
    got = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", env=env, stdin=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    say(f"{what}: {'ok' if got.returncode == 0 else 'FAILED'} ({seconds:.0f} s)")
    if got.returncode != 0:
        # Of a build only what went wrong, not each step that did not.
        say(re.sub(r"^\[\d+/\d+\] .*\n", "", got.stdout, flags=re.M))
    return got.returncode == 0


def cmocka_reasons(output):
    """Each skipped case with what it said before it skipped."""
    found = re.findall(r"^\[ RUN +\] (\w+)\n((?:(?!\[ +OK|\[ +FAILED|\[ RUN).*\n)*?)"
                       r"\[  SKIPPED \] \1$", output, re.M)
    return [f"{name}: {' '.join(said.split()) or 'no reason given'}" for name, said in found]


def cases_of(output, status):
    """(passed, failed, skipped, reasons) of one ctest entry."""
    if status == "skipped":
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        return 0, 0, 1, [lines[-1] if lines else "no reason given"]
    own = OWN_LINE.findall(output)
    if own:
        counts = [int(n or 0) for n in own[-1]]
        reasons = re.findall(r"^\s*(?:SKIP|skip|skipped)\b:?\s*(.+)$", output, re.M)
    elif "[==========]" in output:
        counts = [sum(int(n) for n in re.findall(pattern, output, re.M)) for pattern in (
            r"^\[  PASSED  \] (\d+) test", r"^\[  FAILED  \] .*?(\d+) test\(s\)",
            r"^\[  SKIPPED \] .*?(\d+) test\(s\)")]
        reasons = cmocka_reasons(output)
    else:
        counts, reasons = [1, 0, 0], []
    passed, failed, skipped = counts
    if status == "fail":
        return passed if own or "[==========]" in output else 0, max(failed, 1), skipped, reasons
    if failed:
        return passed, failed, skipped, reasons
    return passed, 0, skipped, reasons


def shortened(output, path):
    """The start, which names what failed first, and the end, which sums up."""
    lines = output.rstrip().splitlines()
    if len(lines) <= 150:
        return "\n".join(lines)
    return "\n".join(lines[:75] + [f"... {len(lines) - 150} lines more in {path} ..."] + lines[-75:])


def test_cases(path):
    return {case.get("name"): case for case in xml.parse(path).getroot().iter("testcase")}


def has_failed(case):
    return case.find("failure") is not None or case.get("status") == "fail"


def try_again(ctest, path, cases, env):
    """The cases of live tests that failed, as they were when run alone."""
    failed = [name for name, case in cases.items() if has_failed(case)]
    if not 0 < len(failed) <= SECOND_TRIES:
        return {}
    names = "|".join(map(re.escape, failed))
    subprocess.run([*ctest, "-j", "1", "-L", "live", "-R", f"^({names})$", "--output-junit", str(path)],
                   cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return test_cases(path) if path.exists() else {}


def read_results(path, preset, total, cases, again):
    for name, case in cases.items():
        if has_failed(case) and name in again and not has_failed(again[name]):
            say(f"\nUNSTEADY {preset}: {name}: failed at first, and passed alone\n"
                f"{shortened(case.findtext('system-out') or '', path)}\n")
            case = again[name]
        name = f"{preset}: {name}"
        output = case.findtext("system-out") or ""
        status = case.get("status")
        skipped = case.find("skipped")
        if has_failed(case):
            status = "fail"
        elif status in ("notrun", "disabled"):
            message = skipped.get("message", "") if skipped is not None else ""
            status = "skipped" if "SKIP" in message or status == "disabled" else "fail"
            output = output or message
        passed, failed, skips, reasons = cases_of(output, status)
        total.add(passed, failed, skips)
        if failed:
            say(f"\nFAILED {name}\n{shortened(output, path)}\n")
        elif skips:
            say(f"skipped {name}: " + ("\n    ".join(["", *reasons]) if len(reasons) > 1
                                      else "".join(reasons) or str(skips)))


def run_tests(preset, options, total):
    build = ROOT / "build" / preset
    results = build / "results.xml"
    if not run(f"{preset}: configure", "cmake", "--preset", preset,
               f"-DALL_TESTS={'ON' if options.all else 'OFF'}") or \
            not run(f"{preset}: build", "cmake", "--build", "--preset", preset,
                    "--", "-k", "0"):
        total.add(0, 1, 0)
        return
    second = build / "results-again.xml"
    results.unlink(missing_ok=True)
    second.unlink(missing_ok=True)
    ctest = ["ctest", "--test-dir", str(build), "--quiet", "--test-output-size-passed", "1000000",
             "--test-output-size-failed", "1000000", "--no-tests=ignore"]
    command = [*ctest, "-j", str(os.cpu_count() or 2), "--output-junit", str(results),
               *(["-R", options.only] if options.only else [])]
    env = {**os.environ,
           "UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "detect_leaks=1:print_legend=0"}
    start = time.monotonic()
    subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    if not results.exists():
        say(f"{preset}: ctest gave no results")
        total.add(0, 1, 0)
        return
    before = str(total)
    cases = test_cases(results)
    read_results(results, preset, total, cases, try_again(ctest, second, cases, env))
    say(f"{preset}: tests ran in {time.monotonic() - start:.0f} s" +
        ("" if str(total) != before else "; none matches"))


def run_lint(total):
    got = subprocess.run([sys.executable, str(ROOT / "tools/lint.py")], cwd=ROOT,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         errors="replace", stdin=subprocess.DEVNULL)
    own = OWN_LINE.findall(got.stdout)
    passed, failed, skipped = (int(n or 0) for n in own[-1]) if own else (0, 0, 0)
    if got.returncode != 0:
        failed = max(failed, 1)
    total.add(passed, failed, skipped)
    say("lint:\n" + OWN_LINE.sub("", got.stdout).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="tests whose names match, in the dev build alone")
    parser.add_argument("--preset", action="append", help="dev, asan; default: both")
    parser.add_argument("--all", action="store_true", help="whole matrices of versions and builds")
    parser.add_argument("--lint", action="store_true", help="house rules too, counted as tests")
    options = parser.parse_args()
    presets = options.preset or (["dev"] if options.only else ["dev", "asan"])

    total = Count()
    if not options.only:
        subprocess.run([str(ROOT / "tools/runtimes.sh")])
        subprocess.run([str(ROOT / "tools/readers.sh")])
    for preset in presets:
        run_tests(preset, options, total)
    if options.lint:
        run_lint(total)
    if not total.passed and not total.failed:
        say("no test was run")
        total.add(0, 1, 0)
    say(str(total))
    sys.exit(total.failed > 0)


main()
