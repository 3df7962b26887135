#!/usr/bin/env python3
"""What stock perf shows of interpreted functions, in injected recordings of real programs.

    inject_interpreted_test.py POLYPERF stacks LANGUAGE STACKS [TOY]
    inject_interpreted_test.py POLYPERF unprivileged TOY
    inject_interpreted_test.py POLYPERF compiled | pipe | record | report | annotate

stacks: every frame of every sample is what `polyperf script` shows of the recording.
compiled: the same where functions of PHP are compiled, too.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import injected
import interpreted
import live
import merge_test
import polyperf
import stock
import walked

SECONDS = "0.6"  # of the processor: some 600 samples, whose every frame is looked up by perf
PROGRAMS = merge_test.PROGRAMS


def command_of(language):
    program = PROGRAMS / f"callers.{merge_test.SUFFIXES[language]}"
    return ["--", walked.interpreter(language, None), str(program), SECONDS]


def record(program, place, command, *options, auto="--no-auto", until=None):
    """The recording; one that does not end by itself is ended when `until` returns."""
    path = place.out / "recording.data"
    words = [program, "record", "--interpreters=walk", auto, "-F", "997", *options, "-o", path, *command]
    walked.need_walk(place.run_until(until, *words))
    return path


def wanted_of(program, recording, *options):
    return interpreted.read(polyperf.run(program, "script", "--no-inline", "--raw-names", "--ns", "-i", recording,
                                         "-F", interpreted.FIELDS, *options).stdout)


def seen_by(perf, recording, *options):
    # Where memory has no file, perf asks an addr2line that ends at once, and would die of SIGPIPE.
    return interpreted.read(perf.run("script", "--no-inline", "--max-stack", "1024", "--ns", "-i", recording,
                                     "-F", interpreted.FIELDS, *options, restore_signals=False).stdout)


def hold(program, place, recording, target, *options, unwinds=False, seen=None):
    """Stock perf on the one against ourselves on the other."""
    seen = seen or seen_by(stock.Perf(place.root), target, *options)
    counts, faults = interpreted.compare(seen, wanted_of(program, recording, *options), unwinds)
    print(dict(counts))
    for fault, count in faults.most_common(20):
        print(f"{count} times {fault}")
    assert not faults, f"{faults.total()} differences"
    assert counts["samples"] > 50, "hardly a sample"
    return counts


def inject(program, place, recording, *options):
    return injected.inject(program, recording, place.out / "injected.data", *options)


def case_stacks(program, place, language, stacks, toy=None):
    if language == "toy":  # the first seconds of a command that names no interpreter are missing
        process = place.start(toy, PROGRAMS / "callers.toy", "60")
        try:
            recording = record(program, place, ["-p", process.pid], "-g", stacks,
                               until=lambda recorder, said: live.let_be_read(recorder, said, process.pid,
                                                                             float(SECONDS)))
        finally:
            process.kill()
            process.communicate()
    else:
        recording = record(program, place, command_of(language), "-g", stacks)
    target = inject(program, place, recording)
    # Without callers perf has one frame a sample.
    options = ["-G"] if stacks == "no" else []
    seen = seen_by(stock.Perf(place.root), target, *options)
    counts = hold(program, place, recording, target, *options, unwinds="dwarf" in stacks, seen=seen)
    # Most of Ruby's evaluator has no symbol: without callers nothing says that it is one.
    share = 0 if (language, stacks) == ("ruby", "no") else 0.1 if stacks == "no" else 0.8
    assert counts["in an interpreter"] > share * counts["samples"]
    # Functions in C have none.
    assert counts["with a line"] > 0.6 * counts["interpreted"]
    assert counts["damaged"] <= 0.01 * counts["samples"]
    # What we read in it ourselves is the same again.
    again, faults = interpreted.compare(wanted_of(program, target, *options), seen, "dwarf" in stacks)
    print(dict(again), dict(faults))
    assert not faults


def case_compiled(program, place):
    recording = record(program, place, command_of("php"), "-g", "dwarf,32768", auto="--interpreters=walk")
    target = inject(program, place, recording)
    counts = hold(program, place, recording, target, unwinds=True)
    assert counts["interpreted"] > 50
    if not counts["compiled"]:
        polyperf.skip("nothing was compiled")


def case_unprivileged(program, place, toy):
    """Frames from the copies of stacks, where the walk cannot be had."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        polyperf.skip("needs root and setpriv")
    place.root.chmod(0o755)
    for path in (place.out, place.cwd, place.home, place.tmp):
        path.chmod(0o777)
    recording = place.out / "recording.data"
    done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", program, "record",
                           "--no-auto", "-F", "997", "-g", "dwarf,32768", "-o", recording, "--", toy,
                           PROGRAMS / "callers.toy", SECONDS], capture_output=True, text=True, timeout=240,
                          cwd=place.cwd, env=place.environment)
    print(done.stderr)
    if done.returncode and "perf events are closed" in done.stderr:
        polyperf.skip("users may not sample here")
    assert done.returncode == 0
    recording.chmod(0o644)
    os.chown(recording, 0, 0)
    counts = hold(program, place, recording, inject(program, place, recording), unwinds=True)
    assert counts["in an interpreter"] > 0.8 * counts["samples"]


def case_pipe(program, place):
    recording = record(program, place, command_of("python"), "-g", "fp")
    target = place.out / "injected.data"
    command = f"{program} inject -q -i - -o - < {recording} > {target}"
    subprocess.run(["sh", "-c", command], check=True, env=injected.environment(place.root))
    counts = hold(program, place, recording, target)
    assert counts["in an interpreter"] > 0.8 * counts["samples"]


def case_record(program, place):
    recording = record(program, place, command_of("python"), "-g", "fp", "--inject")
    counts = hold(program, place, recording, recording.with_name("recording.injected.data"))
    assert counts["in an interpreter"] > 0.8 * counts["samples"]


def case_report(program, place):
    """The rows of perf's report, its call graph, and no event of ours."""
    recording = record(program, place, command_of("python"), "-g", "fp")
    target = inject(program, place, recording)
    perf = stock.Perf(place.root)
    assert "polyperf:" not in perf.run("evlist", "-i", target).stdout
    assert "polyperf:" in perf.run("evlist", "-i", recording).stdout
    text = perf.run("script", "-i", target).stdout
    assert "BPF output" not in text and "polyperf:frames" not in text
    graph = perf.run("report", "-i", target, "--stdio", "-g", "caller,srcline", "--no-children").stdout
    assert re.search(r"\[\.\] größe", graph), graph[:2000]
    assert re.search(r"<module> callers\.py:54", graph), graph[:4000]
    lines = perf.run("report", "-i", target, "--stdio", "-g", "none", "--no-children", "--sort",
                     "sym,srcline").stdout
    assert re.search(r"größe +callers\.py:9\b", lines), lines
    own = polyperf.run(program, "lint", recording).stdout
    assert re.search(r"[1-9]\d* samples, [1-9]\d* of frames of interpreters", own), own


def case_annotate(program, place):
    """There is nothing to disassemble but what does nothing; its lines are those of the function."""
    recording = record(program, place, command_of("python"), "-g", "no")
    target = inject(program, place, recording)
    text = stock.Perf(place.root).run("annotate", "-i", target, "--stdio", "-l", "größe").stdout
    print(text[:3000])
    assert "nop" in text
    assert "callers.py:9" in text


def main(program, case, *arguments):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        globals()[f"case_{case}"](program, place, *arguments)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:])
