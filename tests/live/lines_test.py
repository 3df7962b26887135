"""Lines and inlined functions of native frames in a recording.

    lines_test.py POLYPERF recorded|debuginfod

recorded: `script -F +srcline` of a C++ program gives for each frame what llvm-symbolizer gives for its
address; return addresses are looked up at minus one. With --no-inline the same frames are left, less
the inlined ones. debuginfod: the program was stripped, and a server has its debug file.
"""
import collections
import pathlib
import re
import shutil
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "lib"))
import debuginfod  # noqa: E402
import live  # noqa: E402
import polyperf  # noqa: E402

SOURCE = TESTS / "debuginfo" / "work.cpp"
FRAME = re.compile(r"^\t\s*([0-9a-f]+) (.*) \((.*)\)$")
NEEDED = 1000  # frames of the program, so that the answer says something


def build(place):
    for program in ("g++", "llvm-symbolizer", "objcopy"):
        if not shutil.which(program):
            polyperf.skip(f"{program} is not installed")
    program = place.cwd / "work"
    polyperf.run("g++", "-O2", "-g", "-fno-omit-frame-pointer", "-no-pie", "-Wl,--build-id", SOURCE,
                 "-o", program)
    return program


Frame = collections.namedtuple("Frame", "address name place inlined exact")


def read_frames(text, program):
    """Frames of the program, a list a sample; `place` is "FILE:LINE" or ""."""
    samples = []
    is_exact = False
    for line in text.splitlines():
        found = FRAME.match(line)
        if found:
            address, name, dso = int(found[1], 16), found[2], found[3]
            in_kernel = address >> 63
            frame = Frame(address, re.sub(r"\+0x[0-9a-f]+$", "", name), "", dso == "inlined",
                          is_exact and not in_kernel)
            if dso in (str(program), "inlined"):
                samples[-1].append(frame)
            else:
                samples[-1].append(None)
            if not in_kernel and dso != "inlined":
                is_exact = False
        elif line.startswith("  ") and samples and samples[-1]:
            if samples[-1][-1]:
                samples[-1][-1] = samples[-1][-1]._replace(place=line.strip())
        elif line.strip():
            samples.append([])
            is_exact = True
    return samples


def stacks_of(samples):
    """(address, is it exact, [(name, place)] innermost first) of each frame that has code."""
    for frames in samples:
        run = []
        for frame in frames:
            if frame is None:
                run = []
                continue
            run.append(frame)
            if not frame.inlined:
                yield frame.address, frame.exact, tuple((f.name, f.place) for f in run)
                run = []


def file_to_svma(program):
    """Of the segment with the code."""
    for line in polyperf.run("readelf", "-lW", program).stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in words[6:-1]:
            return int(words[2], 16) - int(words[1], 16)
    return polyperf.fail("no segment with code")


def ask(program, addresses):
    text = polyperf.run("llvm-symbolizer", f"--obj={program}", "--inlines", "--functions=linkage",
                        "--no-demangle", input="".join(f"0x{a:x}\n" for a in addresses)).stdout
    answers = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        answers.append(tuple((name, place.rsplit(":", 1)[0])
                             for name, place in zip(lines[::2], lines[1::2])))
    return dict(zip(addresses, answers))


def known(place):
    return "" if place.startswith("??") or place.endswith(":0") else place


def is_same(mine, theirs):
    """Where the linkage name is not told, ours has the namespaces and types around it."""
    return mine[1] == theirs[1] and (
        mine[0] == theirs[0] or mine[0].endswith("::" + theirs[0]))


def recorded(polyperf_program, place):
    program = build(place)
    recording, _ = place.record(polyperf_program, [program, *"0123456789" * 2], "-g")
    script = [polyperf_program, "script", "-i", recording, "--raw-names", "-F", "+srcline"]
    text = polyperf.run(*script).stdout
    bias = file_to_svma(program)
    stacks = [(address + bias - (0 if exact else 1), frames)
              for address, exact, frames in stacks_of(read_frames(text, program))]
    wanted = ask(program, sorted({address for address, _ in stacks}))
    faults = []
    for address, frames in stacks:
        theirs = tuple((name, known(p)) for name, p in wanted[address])
        # What no line is known of has its symbol's name, and the stubs of the linker have one here.
        if not any(p for _, p in frames + theirs):
            continue
        if len(frames) != len(theirs) or not all(map(is_same, frames, theirs)):
            faults.append(f"{address:x}: {frames}\n  llvm-symbolizer: {theirs}")
    inlined = sum(len(frames) > 1 for _, frames in stacks)
    print(f"{len(stacks)} frames of {len(wanted)} addresses, {inlined} with inlined functions, "
          f"{len(faults)} differ")
    if len(stacks) < NEEDED or inlined < len(stacks) * 0.3:
        faults.append("too few frames to show anything")
    outer = [(a, f[-1]) for a, _, f in stacks_of(read_frames(text, program))]
    alone = [(a, f[-1]) for a, _, f in stacks_of(read_frames(
        polyperf.run(*script, "--no-inline").stdout, program))]
    if [(a, f[0]) for a, f in outer] != [(a, f[0]) for a, f in alone]:
        faults.append("--no-inline has other frames")
    # There the line is that of the code, inside the inlined function.
    inner = [f[0][1] for _, f in stacks]
    if inner != [f[1] for _, f in alone]:
        faults.append("--no-inline has other lines")
    return faults


def by_debuginfod(polyperf_program, place):
    debuginfod.enter_network()
    program = build(place)
    recording, _ = place.record(polyperf_program, [program, *"0123456789" * 2], "-g")
    script = [polyperf_program, "script", "-i", recording, "-F", "+srcline"]
    clean = {**place.environment}
    clean.pop("DEBUGINFOD_URLS", None)
    wanted = polyperf.run(*script, env=clean).stdout
    served, state = place.root / "served", place.root / "state"
    served.mkdir()
    state.mkdir()
    build_id = re.search(r"Build ID: ([0-9a-f]+)", polyperf.run("readelf", "-n", program).stdout)[1]
    polyperf.run("objcopy", "--only-keep-debug", program, served / "work.debug")
    polyperf.run("strip", "--strip-all", program)
    faults = []
    bare = polyperf.run(*script, env=clean).stdout
    if bare == wanted or "work.cpp:" in bare:
        faults.append("the stripped program still has its lines: this shows nothing")
    with debuginfod.serving(served, state) as server:
        if not server.wait_for(build_id, "debuginfo"):
            return ["the server does not know the build id"]
        environment = {**place.environment,
                       **{name: server.environment[name]
                          for name in ("DEBUGINFOD_URLS", "DEBUGINFOD_CACHE_PATH")}}
        if polyperf.run(*script, "--self-contained", env=environment).stdout != \
                polyperf.run(*script, "--self-contained", env=clean).stdout:
            faults.append("--self-contained asks the server")
        if (state / "client").exists():
            faults.append("--self-contained has made the client's cache")
        if polyperf.run(*script, env=environment).stdout != wanted:
            faults.append("with the server's debug file the script is another")
    # What it got stays in the client's cache.
    if polyperf.run(*script, env=environment).stdout != wanted:
        faults.append("without the server, but with the cache, the script is another")
    if wanted.count("work.cpp:") < NEEDED:
        faults.append("too few lines to show anything")
    return faults


CASES = {"recorded": recorded, "debuginfod": by_debuginfod}


def main():
    program, case = sys.argv[1:3]
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        faults = CASES[case](program, place)
    if faults:
        polyperf.fail(*faults[:10], f"{len(faults)} in all")


main()
