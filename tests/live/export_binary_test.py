#!/usr/bin/env python3
"""Binary exports of captures, opened by the programs that they are for, against polyperf script.

    export_binary_test.py POLYPERF WRITE_FIXTURE FORMAT

Sample by sample the names, inlined functions, lines, threads and weights must be those that script
prints; hostile names those of the unit tests' fixture.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "lib"), str(TESTS / "captures")]
import captures_test
import polyperf
import readers

# Names of Java and lines of it; the kernel and BPF; inlined functions of libraries; many stacks.
CAPTURES = {
    "pprof": ("java17-jvmti", "ebpf", "py3.13-jitdump-dwarf", "node20-perf-basic"),
    "jfr": ("java17-jvmti", "ebpf"),  # it takes some seconds to read one
    "otlp": ("java17-jvmti", "ebpf", "node20-perf-basic"),
}
HEAD = re.compile(r"\s*(\d+)/(\d+)\s+(\d+)\.(\d{9}):\s*(\d+)\s*$")
FRAME = re.compile(r"\t\s*([0-9a-f]+) (.*?)( \(inlined\))?$")
PLACE = re.compile(r"  (.*):(\d+)$")

Frame = collections.namedtuple("Frame", "name file line inlined address")
Sample = collections.namedtuple("Sample", "pid tid time_ns period frames")


def samples_of(program, recording):
    """What script prints, which the tests of others hold against stock perf."""
    text = polyperf.run(program, "script", "--ns", "-F", "pid,tid,time,period,ip,sym,srcline", "-i",
                        recording).stdout
    samples = []
    for line in filter(str.strip, text.split("\n")):
        if head := HEAD.match(line):
            pid, tid, seconds, rest, period = map(int, head.groups())
            samples.append(Sample(pid, tid, seconds * 10**9 + rest, period, []))
        elif frame := FRAME.match(line):
            samples[-1].frames.append(
                Frame(frame[2], "", 0, frame[3] is not None, int(frame[1], 16)))
        elif place := PLACE.match(line):
            last = samples[-1].frames[-1]
            samples[-1].frames[-1] = last._replace(file=place[1], line=int(place[2]))
        else:
            polyperf.fail(f"no frame: {line!r}")
    return samples


def without_addresses(frames):
    return tuple(frame[:4] for frame in frames)


def counts_of(samples):
    """Number and weight by thread and stack."""
    found = collections.defaultdict(lambda: [0, 0])
    for sample in samples:
        both = found[sample.pid, sample.tid, without_addresses(sample.frames)]
        both[0] += 1
        both[1] += sample.period
    return dict(found)


def compare(what, got, wanted):
    faults = [f"{what}: {got.get(key)} and not {wanted.get(key)} of {key}"[:1000]
              for key in got.keys() | wanted.keys() if got.get(key) != wanted.get(key)]
    if faults:
        polyperf.fail(*faults[:5], f"{what}: {len(faults)} differ of {len(wanted)}")


def run_pprof(*arguments):
    done = readers.run([readers.program("pprof"), "-symbolize=none", *arguments])
    if done.returncode:
        polyperf.fail(f"pprof {arguments}: {done.stderr[-500:]}")
    return done.stdout


RAW_SAMPLE = re.compile(r"\s+(\d+)\s+(\d+): ([\d ]+)$")
RAW_LABEL = re.compile(r"(\w+):\[([^\]]*)\]")
RAW_LOCATION = re.compile(r"\s*(\d+): (0x[0-9a-f]+) (?:M=\d+ )?(.*)$")
RAW_LINE = re.compile(r"\s*(.*?) (<[^>]*>|\S*):(\d+) s=\d+(?:\(.*\))?$")


def read_raw(text):
    """Counts of `pprof -raw`, by thread and stack."""
    rows, locations, labels = [], {}, None
    section = ""
    for line in text.splitlines():
        if line in ("Locations", "Mappings", "Samples:"):
            section = line
        elif section == "Samples:" and (found := RAW_SAMPLE.match(line)):
            labels = {}
            rows.append((int(found[1]), int(found[2]), found[3].split(), labels))
        elif section == "Samples:" and labels is not None:
            labels.update(RAW_LABEL.findall(line))
        elif section == "Locations":
            rest = line
            if found := RAW_LOCATION.match(line):
                last = locations[found[1]] = []
                rest = found[3]
            name, file, number = RAW_LINE.match(rest).groups()
            last.append([name.strip(), file, int(number)])
    counts = collections.defaultdict(lambda: [0, 0])
    for count, weight, ids, labels in rows:
        frames = tuple((name, file, line, index + 1 < len(locations[id]))
                       for id in ids for index, (name, file, line) in enumerate(locations[id]))
        both = counts[int(labels["pid"]), int(labels["tid"]), frames]
        both[0] += count
        both[1] += weight
    return dict(counts)


def check_pprof_tools(path, samples):
    """Sums of the views that people look at, two profiles joined, and one taken from another."""
    leaves = collections.Counter()
    for sample in samples:
        leaves[sample.frames[0].name] += 1
    name, count = leaves.most_common(1)[0]
    top = run_pprof("-top", "-sample_index=samples", path)
    if not re.search(rf"^\s*{count}\s.*\s{re.escape(name)}$", top, re.M):
        polyperf.fail(f"{count} {name} is not in", top[:2000])
    joined = path.with_name("joined.pb.gz")
    run_pprof("-proto", f"-output={joined}", path, path)
    twice = {key: [2 * number for number in both] for key, both in counts_of(samples).items()}
    compare("joined", read_raw(run_pprof("-raw", joined)), twice)
    if "Showing nodes accounting for 0, 0%" not in run_pprof("-top", f"-diff_base={path}", path):
        polyperf.fail("a profile differs from itself")


def frames_of(sample):
    return tuple((frame["name"], frame["file"], frame["line"], frame["inlined"])
                 for frame in sample["frames"])


def check_pprof(program, recording, samples):
    path = recording.with_suffix(".pb.gz")
    polyperf.run(program, "export", "-i", recording, "-o", path)
    wanted = counts_of(samples)
    compare("pprof -raw", read_raw(run_pprof("-raw", path)), wanted)
    check_pprof_tools(path, samples)
    document = json.loads(readers.node("pprof.cjs", path))
    if document["types"][1][1] != "nanoseconds":
        polyperf.fail(f"types {document['types']}")
    got = collections.defaultdict(lambda: [0, 0])
    addresses, expected = set(), set()
    for sample in document["samples"]:
        both = got[sample["labels"]["pid"], sample["labels"]["tid"], frames_of(sample)]
        both[:] = [both[0] + sample["values"][0], both[1] + sample["values"][1]]
        addresses |= {(frame["name"], frame["address"]) for frame in sample["frames"]
                      if frame["mapping"] and frame["name"] != "[unknown]"}
    compare("pprof-format", dict(got), wanted)
    for sample in samples:
        expected |= {(frame.name, frame.address) for frame in sample.frames}
    # Script tells offsets in what is memory, too, where nobody knows a name; numbers of JavaScript
    # end at 2^53.
    wrong = [pair for pair in addresses - expected if pair[1] < 2**53]
    if wrong:
        polyperf.fail(f"{len(wrong)} of {len(addresses)} addresses: {wrong[:3]}")


PRIMITIVES = dict(Z="boolean", B="byte", C="char", D="double", F="float", I="int", J="long",
                  S="short", V="void")


def parameters_of(descriptor):
    """(I[Ljava/lang/String;)V as int, String[]"""
    names = []
    for arrays, one in re.findall(r"(\[*)(L[^;]*;|.)", descriptor[1:descriptor.rindex(")")]):
        name = one[1:-1].rpartition("/")[2] if one[0] == "L" else PRIMITIVES[one]
        names.append(name + "[]" * len(arrays))
    return ", ".join(names)


def is_method(method, name):
    written = (f"{method['type']['name'].replace('/', '.')}.{method['name']}"
               f"({parameters_of(method['descriptor'])})")
    return name in (written, method["name"])


def read_jfr(path, kind="jdk.ExecutionSample"):
    text = polyperf.run("jfr", "print", "--json", "--stack-depth", "100000", "--events", kind,
                        path).stdout
    return [event["values"] for event in json.loads(text)["recording"]["events"]]


def nanoseconds(time):
    """Of 2026-01-02T03:04:05.123456789Z within its day."""
    hours, minutes, seconds, part = re.match(r".*T(\d+):(\d+):(\d+)(?:\.(\d+))?Z$", time).groups()
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 10**9 + int(
        (part or "0").ljust(9, "0"))


def same_frame(got, frame):
    if not is_method(got["method"], frame.name):
        return False
    if frame.inlined and got["type"] not in ("Inlined", "Interpreted"):
        return False
    return got["lineNumber"] == frame.line


def check_jfr(program, recording, samples):
    path = recording.with_suffix(".jfr")
    polyperf.run(program, "export", "-i", recording, "-o", path)
    events = read_jfr(path)
    summary = polyperf.run("jfr", "summary", path).stdout
    if not re.search(rf"jdk.ExecutionSample\s+{len(samples)}\s", summary):
        polyperf.fail(f"not {len(samples)} samples in", summary)
    if len(events) != len(samples):
        polyperf.fail(f"{len(events)} and not {len(samples)} samples")
    start = nanoseconds(events[0]["startTime"])
    for event, sample in zip(events, samples):
        time_ns = (nanoseconds(event["startTime"]) - start) % (86400 * 10**9)
        got = (event["pid"], event["sampledThread"]["osThreadId"], time_ns)
        if got != (sample.pid, sample.tid, sample.time_ns - samples[0].time_ns):
            polyperf.fail(f"{got} and not {sample[:3]}")
        if float(event["weight"][2:-1]) != sample.period / 10**9:
            polyperf.fail(f"weight {event['weight']}, not {sample.period}")
        frames = (event["stackTrace"] or {"frames": []})["frames"]
        wrong = [pair for pair in zip(frames, sample.frames) if not same_frame(*pair)]
        if wrong or len(frames) != len(sample.frames):
            polyperf.fail(f"{len(frames)} frames, not {len(sample.frames)}: {wrong[:1]}")


def fixture_frame(word):
    """name, file, line, inlined: texts as they are shown."""
    name, _, rest = word.partition("/")
    file, line, inlined, _ = rest.split(":")
    return (shown(bytes.fromhex(name)), shown(bytes.fromhex(file)), int(line), inlined == "1")


def fixture_samples(write_fixture):
    """pid, tid, event, period, frames leaf first."""
    for line in polyperf.run(write_fixture, "samples").stdout.splitlines():
        words = line.split()
        frames = tuple(map(fixture_frame, reversed(words[6:])))
        yield int(words[1]), int(words[2]), int(words[3]), int(words[5]), frames


def shown(name):
    """Bytes as terminals are safe from."""
    text = ""
    for char in name.decode(errors="surrogateescape"):
        code = ord(char)
        if 0xdc80 <= code <= 0xdcff:
            text += f"\\x{code - 0xdc00:02x}"
        elif char in "\n\t":
            text += {"\n": "\\n", "\t": "\\t"}[char]
        elif code < 0x20 or code == 0x7f or char == "\u202e":
            text += "".join(f"\\x{byte:02x}" for byte in char.encode())
        else:
            text += char
    return text


def write_fixture_to(write_fixture, format, event, path):
    path.write_bytes(subprocess.run([write_fixture, format, event], check=True,
                                    capture_output=True).stdout)


def hostile_pprof(write_fixture, place):
    path = place / "fixture.pb.gz"
    write_fixture_to(write_fixture, "pprof", "all", path)
    wanted, got = collections.Counter(), collections.Counter()
    for pid, tid, event, period, frames in fixture_samples(write_fixture):
        wanted[pid, tid, event, frames] += period
    for sample in json.loads(readers.node("pprof.cjs", path))["samples"]:
        event = 0 if sample["values"][0] else 1
        got[sample["labels"]["pid"], sample["labels"]["tid"], event, frames_of(sample)] += \
            sample["values"][event * 2 + 1]
    compare("hostile names", got, wanted)
    run_pprof("-top", "-sample_index=cycles:u", path)


def hostile_jfr(write_fixture, place):
    path = place / "fixture.jfr"
    write_fixture_to(write_fixture, "jfr", "0", path)
    wanted = collections.Counter()
    for pid, tid, event, _, frames in fixture_samples(write_fixture):
        lines = (line if line < 2**31 else 0 for _, _, line, _ in frames)
        if event == 0:
            wanted[pid, tid, tuple((frame[0], line, frame[3])
                                   for frame, line in zip(frames, lines))] += 1
    got = collections.Counter()
    for event in read_jfr(path):
        frames = (event["stackTrace"] or {"frames": []})["frames"]
        got[event["pid"], event["sampledThread"]["osThreadId"],
            tuple((frame["method"]["name"], frame["lineNumber"], frame["type"] == "Inlined")
                  for frame in frames)] += 1
    compare("hostile names", got, wanted)
    remarks = [event["text"] for event in read_jfr(path, "polyperf.Remark")]
    if remarks[1] != "command: polyperf record -- app a b":
        polyperf.fail(f"remarks {remarks}")


def read_otlp(path):
    """Samples by pid, tid, event, weight, frames, and the times of each."""
    schema = TESTS.parent / "src" / "export" / "otlp.proto"
    found = collections.defaultdict(list)
    for sample in json.loads(readers.node("otlp.cjs", schema, path)):
        frames = tuple(map(tuple, sample["frames"]))
        key = sample["pid"], sample["tid"], sample["event"], sample["period"], frames
        found[key].append(int(sample["time_ns"]))
    return {key: sorted(times) for key, times in found.items()}


def check_otlp(program, recording, samples):
    path = recording.with_suffix(".otlp")
    polyperf.run(program, "export", "--experimental", "-i", recording, "-o", path)
    got, wanted = read_otlp(path), collections.defaultdict(list)
    first = min(min(times) for times in got.values())
    for sample in samples:
        key = sample.pid, sample.tid, 0, sample.period, without_addresses(sample.frames)
        wanted[key].append(first + sample.time_ns - samples[0].time_ns)
    compare("otlp", got, {key: sorted(times) for key, times in wanted.items()})


def hostile_otlp(write_fixture, place):
    path = place / "fixture.otlp"
    write_fixture_to(write_fixture, "otlp", "all", path)
    wanted = collections.Counter(fixture_samples(write_fixture))
    compare("hostile names", {key: len(times) for key, times in read_otlp(path).items()}, wanted)


CHECKS = {"pprof": (check_pprof, hostile_pprof), "jfr": (check_jfr, hostile_jfr),
          "otlp": (check_otlp, hostile_otlp)}
NEEDS = {"pprof": "pprof", "jfr": "jfr", "otlp": "node"}


def test(program, write_fixture, format):
    check, check_hostile = CHECKS[format]
    readers.program(NEEDS[format])
    with tempfile.TemporaryDirectory() as name:
        for capture in CAPTURES[format]:
            place = pathlib.Path(name) / capture
            place.mkdir()
            recording, _, _ = captures_test.unpack(capture, place)
            samples = samples_of(program, recording)
            check(program, recording, samples)
            inlined = sum(frame.inlined for sample in samples for frame in sample.frames)
            print(f"{capture}: {len(samples)} samples, {inlined} inlined frames")
        check_hostile(write_fixture, pathlib.Path(name))
    print(f"{len(CAPTURES[format]) + 1} passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    test(*sys.argv[1:])
