"""Records programs with copies of their stacks, and says how well those are walked.

    case = unwound.Case(program, place)
    recording, ours, perfs = unwound.measure(case, "title", case.record_by_perf(command))
    unwound.hold_against_slow_walk(case, "title", recording, ours, perfs)

Whether a stack is whole is for the tables of ELF files to say, not for whose walk it is.
"""
import collections
import pathlib
import re

import polyperf
import stock
import walks

WHOLE = 98.0  # percent of the stacks, where nothing was cut off
CHAIN = 98.0  # percent of the samples of a phase whose known functions are all there
BYTES = 65528
RATE = "999"
# Erlang's processes, and what makecontext(3) made, have stacks of their own, which begin with what they
# return to. What Erlang calls in C runs on the scheduler's stack, and that of the process was not kept.
FIRST = re.compile(r"^(?:erts_beamasm:normal_exit/0|global::\w+|__start_context)$")
MINIMUM = 100  # samples, so that a comparison of nothing does not pass


class Case:
    def __init__(self, program, place):
        self.program, self.place, self.faults = program, place, []
        folder = place.root / "perf"
        folder.mkdir()
        self.perf = stock.Perf(folder)

    def expect(self, condition, fault):
        if not condition:
            self.faults.append(fault)

    def record_by_perf(self, command, size=BYTES):
        path = self.place.out / "perf.data"
        self.place.run(self.perf.program, "record", "-q", "-e", "cpu-clock:u", "-F", RATE, "-k", "1",
                       "-m", "4096", "--call-graph", f"dwarf,{size}", "-o", path, "--", *command)
        return path

    def record(self, command, size=BYTES, *options):
        """By polyperf; with what the program printed."""
        path = self.place.out / "polyperf.data"
        done = self.place.run(self.program, "record", "-q", "--interpreters", "off", "-F", RATE, "--user-only",
                              *options, "-g", f"dwarf,{size}", "-o", path, "--", *command)
        return path, done.stdout


def percent(part, all_of_it):
    return 100 * part / max(all_of_it, 1)


def print_share(title, values):
    print(f"  {title:30}" + "".join(f" {name} {value}" for name, value in values))


def name_of(frame):
    if frame.name == stock.UNKNOWN:
        return f"{pathlib.PurePath(frame.path).name}+{frame.address:x}"
    return frame.name


def describe(frames, count=5):
    return " < ".join(map(name_of, frames[:count]))


def is_whole(recording, frames):
    return recording.is_whole(frames) or bool(frames) and bool(FIRST.search(frames[-1].name))


def ends_of(recording, chains):
    """Of the samples whose stacks are not whole: where, and how often."""
    ends = collections.Counter()
    for sample in recording.samples:
        frames = chains.get(sample.key, [])
        if not recording.is_cut(sample) and not is_whole(recording, frames):
            last = frames[-1] if frames else walks.Frame(0, "nothing", "")
            where = pathlib.PurePath(last.path).name
            ends[f"ends in {last.name} ({where}), innermost {describe(frames, 3)}"] += 1
    return ends


def measure(case, title, path, injected=None, floor=WHOLE):
    """Prints and returns what is known of one recording, ours, and perf's."""
    recording = walks.Recording(path)
    ours = walks.of_polyperf(case.program, path)
    perfs = walks.of_perf(case.perf, injected or path)
    whole_keys, whole_of_perf = ({sample.key for sample in recording.samples
                                  if is_whole(recording, chains.get(sample.key))}
                                 for chains in (ours, perfs))
    # perf looks for the names of first functions in front of where they start.
    whole_of_perf |= {key for key in whole_keys if len(perfs.get(key, [])) == len(ours[key])}
    # Who reaches the thread's first function has all of it, whatever it looks like.
    kept = [sample for sample in recording.samples
            if sample.key in whole_keys | whole_of_perf or not recording.is_cut(sample)]
    whole, whole_of_perf = len(whole_keys), len(whole_of_perf)
    share, share_of_perf = percent(whole, len(kept)), percent(whole_of_perf, len(kept))
    print_share(title, [("samples", len(recording.samples)), ("cut", len(recording.samples) - len(kept)),
                        ("whole: polyperf", f"{share:.2f} %,"), ("perf", f"{share_of_perf:.2f} %")])
    for end, count in ends_of(recording, ours).most_common(5):
        print(f"      {count:5} x {end}")
    case.expect(len(kept) >= MINIMUM, f"{title}: only {len(kept)} samples")
    case.expect(share >= floor, f"{title}: {share:.2f} % of the stacks are whole")
    case.expect(whole >= whole_of_perf,
                f"{title}: perf has {whole_of_perf} whole stacks, polyperf {whole}")
    return recording, ours, perfs


def hold_against_report(case, title, path, recording, ours):
    """What `report` says of how many are whole."""
    text = polyperf.run(case.program, "report", "-i", path).stdout
    found = re.search(r"^stacks: ([0-9.]+) % whole", text, re.M)
    share = percent(sum(is_whole(recording, frames) for frames in ours.values()), len(ours))
    case.expect(found and abs(float(found[1]) - share) <= 1,
                f"{title}: report says {found and found[1]} % are whole, and {share:.1f} % are")


def is_as_slow_walk(sample, frames, is_perf):
    """All that the tables of ELF files say, and no more where they say that it is the end."""
    count = len(sample.places)
    return (walks.same(sample, frames, is_perf) == count
            and (sample.end != "whole" or len(frames) == count))


def how_perf_differs(sample, frames):
    at = walks.same(sample, frames, True)
    if at < len(frames):
        return f"goes elsewhere, behind {describe(frames[:at], 4)}"
    if sample.was_restored:
        return "ends early, where a register was popped already"
    return f"ends early, after {describe(frames, 4)}"


def hold_against_slow_walk(case, title, recording, ours, perfs):
    """Which of both is right where they differ is for the tables to say, and ours must always be."""
    wrong, differing, perf_right = 0, collections.Counter(), 0
    for sample in recording.samples:
        mine, theirs = ours.get(sample.key, []), perfs.get(sample.key, [])
        if is_as_slow_walk(sample, theirs, True):
            perf_right += 1
        else:
            differing[how_perf_differs(sample, theirs)] += 1
        if is_as_slow_walk(sample, mine, False):
            continue
        wrong += 1
        if wrong < 4:
            at = walks.same(sample, mine, False)
            wanted = [(path, hex(offset)) for path, offset in sample.places[at:at + 3]]
            print(f"      {sample.key}: {sample.end} after {len(sample.places)} frames; "
                  f"from {at} of {len(mine)} on not {describe(mine[at:])}, but {wanted}")
    total = len(recording.samples)
    print_share("  as the slow walk", [("polyperf", total - wrong), ("and perf", perf_right),
                                       ("of", total)])
    for text, count in differing.most_common(5):
        print(f"      {count:5} x perf {text}")
    case.expect(wrong == 0, f"{title}: {wrong} of {total} stacks are not what the tables say")


def hold_against_perf(case, title, ours, perfs):
    """Frame by frame with perf's walk of the injected recording: the same addresses, and in images, where
    they are others, the same names.
    """
    def is_same(mine, theirs):
        if stock.is_image(theirs.path):
            return mine.name.split()[0] in theirs.name
        return theirs.name.startswith("__vdso_") or 0 <= mine.address - theirs.address <= 1

    differing = [key for key, mine in ours.items()
                 if len(mine) != len(perfs.get(key, [])) or not all(map(is_same, mine, perfs[key]))]
    print_share(title, [("differing", len(differing)), ("of", len(ours))])
    for key in differing[:3]:
        print(f"      {key}: {describe(ours[key])}, perf: {describe(perfs.get(key, []))}")
    # Where a register was popped already, perf ends early.
    case.expect(len(differing) <= 0.01 * len(ours), f"{title}: {len(differing)} of {len(ours)} differ")


def phase_of(printed):
    found = re.search(r"phase (\d+) (\d+)", printed)
    if not found:
        polyperf.fail(f"no phase: {printed[-300:]!r}")
    return int(found[1]), int(found[2])


def has_chain(frames, callers, innermost):
    """Whether the callers follow one another, from the outermost function on, and where the stack
    has the innermost function, all those between.
    """
    names = [frame.name for frame in reversed(frames)]
    wanted = callers
    if re.search(innermost[-1], " ".join(names)):
        wanted = callers + innermost
    rest = iter(names)
    return all(any(re.search(pattern, name) for name in rest) for pattern in wanted)


def hold_against_known(case, title, chains, printed, wanted, warm_up=0.1):
    """The samples of the busiest thread in the phase must have the known callers."""
    start, end = phase_of(printed)
    start += int(warm_up * (end - start))
    inside = {key: frames for key, frames in chains.items() if start < key[1] < end}
    threads = collections.Counter(tid for tid, _ in inside)
    busiest = threads.most_common(1)[0][0] if threads else None
    found = [frames for (tid, _), frames in inside.items() if tid == busiest]
    without = [frames for frames in found if not has_chain(frames, *wanted)]
    share = percent(len(found) - len(without), len(found))
    print_share(title, [("of", len(found)), ("samples have the known callers", f"{share:.2f} %")])
    for text, count in collections.Counter(describe(frames, 12) for frames in without).most_common(3):
        print(f"      {count:5} x {text}")
    case.expect(len(found) >= MINIMUM, f"{title}: only {len(found)} samples in the phase")
    case.expect(share >= CHAIN, f"{title}: {share:.2f} % have the known callers")
