#!/usr/bin/env python3
"""Records the truth client and holds every sample in its code against its log.

    truth_test.py POLYPERF TRUTH MODE [OPTION OF TRUTH]...
"""
import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import map_code
import polyperf
import truth_check

# A perf map has no times: what the recorder saw of its growth must do for nearly all.
MAP_ALONE = ("map", "map-reuse")
MIN_RIGHT = 98.0  # there, of samples as of functions' code


def is_map_alone(mode, options):
    return mode in MAP_ALONE or "--announce=map" in options


def short(mode, options):
    """How long code lives: a dump has times, a map what the recorder saw of its growth."""
    return [] if is_map_alone(mode, options) else ["--ms", "0.3-1.3"]


def test(program, truth, mode, options):
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        log = place.out / "truth.log"
        dumps = place.root / "dumps"
        dumps.mkdir()
        code = place.out / "truth.code"
        command = [truth, mode, "--log", log, "--code", code, "--dir", dumps, *short(mode, options),
                   *options]
        recording, _ = place.record(program, command, "-F", "4999", "-e", "cpu-clock", "-g", "no")
        fields = ("--ns", "-F", "tid,time,ip,sym,trust")
        text = polyperf.run(program, "script", "-i", recording, *fields).stdout
        map_alone = is_map_alone(mode, options)
        rules = argparse.Namespace(trust=True, min_right=MIN_RIGHT if map_alone else 100.0,
                                   min_samples=2000, show=20)
        faults = truth_check.check(log, text.splitlines(), rules)
        faults += map_code.faults(program, recording)
        if map_alone:
            maps, _ = map_code.read_maps(recording)
            faults += truth_check.code_faults(truth_check.read_log(log),
                                              truth_check.read_code(code), maps, MIN_RIGHT)
        faults += live.left_behind(place, set(truth_check.read_pids(log)))
        if faults:
            polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    test(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3],
         sys.argv[4:])
