#!/usr/bin/env python3
"""Frames of interpreters in recordings against what the programs logged of themselves.

    interp_truth_test.py POLYPERF LANGUAGE [VERSION]

The program (tests/interp/programs/truth.*) logs which function and line ran when; every sample that
lies in an interval of the log is held against it: see tests/lib/frame_truth.py. Exit code 77: not here.
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import frame_truth  # noqa: E402
import live  # noqa: E402
import polyperf  # noqa: E402
import walked  # noqa: E402

PROGRAMS = HERE.parent / "interp/programs"
POLYPERF = sys.argv[1]
SUFFIXES = {"python": "py", "php": "php", "php-jit": "php", "ruby": "rb", "perl": "pl", "luajit": "lua"}
SECONDS = "0.07"  # of CPU time, each case
FREQUENCY = "3999"
LONGER = {"php-jit": ["400000"]}  # compiled loops
CASES = {
    "python": {"lines", "scattered", "made", "again", "generators", "recursion", "callbacks", "exceptions",
               "signals", "threads", "crowd", "forking", "forked"},
    "php": {"lines", "scattered", "made", "again", "generators", "recursion", "callbacks", "exceptions",
            "forking", "forked"},
    "ruby": {"lines", "scattered", "made", "again", "generators", "recursion", "callbacks", "exceptions",
             "threads", "forking", "forked"},
    "perl": {"lines", "scattered", "made", "again", "recursion", "callbacks", "exceptions", "threads",
             "forking", "forked"},
    "luajit": {"lines", "scattered", "made", "again", "generators", "recursion", "callbacks", "exceptions",
               "forking", "forked"},
}
# Percent of the samples, and how many samples and places (of the truth) there must be at least.
FUNCTIONS, LINES, STACKS = 99.5, 98, 98
SAMPLES, PLACES, SAMPLES_OF_CASE = 600, 60, 10


def record(folder, language, version):
    # Compiled code has no lines: what interprets is held against the truth without it, too.
    off = [f"--runtime={language}=off"] if language in ("php", "ruby") else []
    name = language.removesuffix("-jit")
    log, recording = folder / "log", folder / "recording.data"
    program = PROGRAMS / f"truth.{SUFFIXES[language]}"
    done = subprocess.run([POLYPERF, "record", "--interpreters=walk", *off, "-F", FREQUENCY, "-g", "dwarf", "-o",
                           str(recording), "--", walked.interpreter(name, version), str(program), str(log), SECONDS,
                           *LONGER.get(language, [])],
                          capture_output=True, text=True, timeout=240)
    walked.need_walk(done)
    truth = frame_truth.Truth(sorted(folder.glob("log*")), program, short_names=version in ("3.8", "3.9", "3.10"))
    return truth, frame_truth.read_samples(POLYPERF, recording)


def shares(count):
    return [100 * count[kind] / max(count["samples"], 1) for kind in ("functions", "lines", "stacks")]


def check(language, truth, samples):
    wrong = []
    counts, places = frame_truth.count(samples, truth, wrong)
    counts["all"] = frame_truth.total(counts)
    places["all"] = {place for of_case in places.values() for place in of_case}
    frame_truth.table(counts, places)
    for sample, interval in wrong[:20]:
        seen = ", ".join(f"{frame.name}:{frame.line}" for frame in sample.frames[:3])
        print(f"  {interval.case}: {seen}, was {' '.join(f'{f.name}:{f.line}' for f in interval.stacks[0][:3] if f)}, "
              f"{sample.time - interval.begin} ns behind its begin, {interval.end - sample.time} ns before its end")
    # The truth must be one that could be missed.
    count = counts["all"]
    assert count["samples"] >= SAMPLES and len(places["all"]) >= PLACES, "hardly a sample"
    missing = [case for case in CASES[language.removesuffix("-jit")] if counts[case]["samples"] < SAMPLES_OF_CASE]
    assert not missing, f"hardly a sample of {missing}"
    other = frame_truth.total(frame_truth.count(samples, frame_truth.shifted(truth))[0])
    print(f"against a truth that is wrong: {', '.join(f'{share:.1f} %' for share in shares(other))}")
    assert all(share < limit for share, limit in zip(shares(other), (FUNCTIONS, 50, 1))), "any truth would do"
    functions, lines, stacks = shares(count)
    assert functions >= FUNCTIONS, "wrong functions"
    if language == "php-jit":
        # A line or none, but not another one.
        assert count["samples"] - count["lines"] - count["unlined"] <= (100 - LINES) / 100 * count["samples"]
        return
    assert lines >= LINES, "wrong lines"
    assert stacks >= STACKS, "wrong callers"


def main():
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    language, version = sys.argv[2], (sys.argv[3:] or [None])[0]
    with tempfile.TemporaryDirectory(prefix="truth-test-") as folder:
        check(language, *record(pathlib.Path(folder), language, version))


main()
