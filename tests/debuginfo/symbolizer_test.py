"""Lines and inlined functions of 1,000 random addresses, against llvm-symbolizer.

    symbolizer_test.py PLACES CASE
    symbolizer_test.py PLACES object FILE      one that is there already

A case is COMPILER-LANGUAGE-VERSION[-FORM[+FORM]]. Forms put the same debug information elsewhere (split,
packed, a debug file, what dwz shares): llvm-symbolizer is asked about the object as the compiler made
it, since version 14 reads some of these forms and not others.

Every answer must be equal, line for line, but for what these rules say:
- Where no unit has code, llvm-symbolizer answers from the symbol table, with line 0. We say nothing:
  symbols are another part's task. The name of the outermost function comes from there, too, and is
  not compared.
- Where a unit's folder is relative ("./elf", as Debian builds), llvm-symbolizer puts it twice in front
  of names that have it already.
- Of functions whose linkage name is not told llvm-symbolizer gives the bare name, we the namespaces
  and types around it, too.
- What the linker threw away (forms "unused" and "dead") leaves its lines at address 0, and where code
  lies as low, llvm-symbolizer mistakes them for those of the code. So "dead" asks it about the same
  objects, linked higher.
"""
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import polyperf  # noqa: E402

COUNT = 1000
# How many of the addresses are to be in inlined functions, by language and whether it is dead.c.
SHARE = {("c", False): 0.15, ("c++", False): 0.6, ("c", True): 0}
TWICE = re.compile(r"^(\.[^/]*(?:/.*?)?)/\1/")


# Forms that the compiler or linker makes; the others are made of what is linked.
BUILT = ("", "split", "unused", "dead")


def parse_ours(text):
    answers, frames = [], []
    for line in text.splitlines():
        if line.startswith("= "):
            answers.append(frames)
            frames = []
        else:
            name, file, number, column = line.split("\t")
            frames.append((name, file, int(number), int(column)))
    return answers


def parse_theirs(text):
    answers = []
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        frames = []
        for name, place in zip(lines[::2], lines[1::2]):
            file, number, column = place.rsplit(":", 2)
            file = TWICE.sub(r"\1/", "" if file == "??" else file)
            frames.append((name, file, int(number), int(column)))
        if frames:
            answers.append(frames)
    return answers


def text_range(path):
    for line in polyperf.run("readelf", "-SW", path).stdout.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1] == ".text":
            return int(words[3], 16), int(words[5], 16)
    return polyperf.fail(f"{path} has no .text")


def text_bytes(path):
    out = path.with_suffix(".text")
    polyperf.run("objcopy", "-O", "binary", "--only-section=.text", path, out)
    return out.read_bytes()


def is_same(mine, theirs):
    (my_name, *my_place), (their_name, *their_place) = mine, theirs
    return my_place == their_place and (
        my_name == their_name or bool(their_name) and my_name.endswith("::" + their_name))


def compare(places, plain, ours):
    (start, size), (our_start, our_size) = text_range(plain), text_range(ours)
    if size != our_size:
        polyperf.fail(f"{our_size} bytes of code, not {size}")
    offsets = [random.Random(str(k)).randrange(size) for k in range(COUNT)]
    addresses = [start + offset for offset in offsets]
    got = parse_ours(polyperf.run(
        places, ours, input="".join(f"0x{our_start + offset:x}\n" for offset in offsets)).stdout)
    wanted = parse_theirs(polyperf.run(
        "llvm-symbolizer", f"--obj={plain}", "--inlines", "--functions=linkage", "--no-demangle",
        input="".join(f"0x{address:x}\n" for address in addresses)).stdout)
    if len(got) != COUNT or len(wanted) != COUNT:
        polyperf.fail(f"{len(got)} and {len(wanted)} answers to {COUNT} questions")
    faults = []
    for address, mine, theirs in zip(addresses, got, wanted):
        if not mine and len(theirs) == 1 and theirs[0][2] == 0:
            continue
        wanted_here = theirs[:-1] + [("", *theirs[-1][1:])]
        if len(mine) != len(wanted_here) or not all(map(is_same, mine, wanted_here)):
            faults.append(f"{address:x}: {mine}\n  llvm-symbolizer: {theirs}")
    known = sum(bool(frames) for frames in got)
    inlined = sum(len(frames) > 1 for frames in got)
    deepest = max(map(len, got))
    print(f"{known} known, {inlined} of them inlined, up to {deepest} deep, {len(faults)} differ")
    return faults, known, inlined


def build(folder, compiler, language, version, form):
    flags = ["-O2", f"-gdwarf-{version}", "-fPIC"]
    if language == "c":
        root = HERE.parent.parent
        sources = sorted((root / "src/base").glob("*.c"))
        flags += ["-std=gnu17", "-D_GNU_SOURCE", f"-I{root / 'src'}"]
        link = ["-shared"]
        if form in ("dead", "high"):
            sources = [HERE / "dead.c"]
            flags += ["-ffunction-sections", "-fno-inline-small-functions", "-fvisibility=hidden"]
            link += ["-nostdlib", "-Wl,--gc-sections", "-Wl,-z,noseparate-code",
                     "-Wl,--undefined=used"]
            link += ["-Wl,-Ttext-segment=0x100000"] if form == "high" else []
    else:
        sources, link = [HERE / "work.cpp"], []
        compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
    if form == "unused":
        flags += ["-DWITH_UNUSED", "-ffunction-sections"]
        link += ["-Wl,--gc-sections"]
    if form == "split":
        flags.append("-gsplit-dwarf")
    objects = []
    for source in sources:
        objects.append(folder / f"{source.stem}.o")
        polyperf.run(compiler, *flags, "-c", source, "-o", objects[-1], cwd=folder)
    result = folder / "program"
    polyperf.run(compiler, *link, "-Wl,--build-id", *objects, "-o", result, cwd=folder)
    return result


def move(plain, form, folder):
    """Where our own answers come from."""
    moved = folder / "moved"
    moved.unlink(missing_ok=True)
    if form in ("zlib", "zlib-gnu"):
        polyperf.run("objcopy", f"--compress-debug-sections={form}", plain, moved)
    elif form == "debuglink":
        polyperf.run("objcopy", "--only-keep-debug", plain, folder / "program.debug")
        polyperf.run("objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id",
                     f"--add-gnu-debuglink={folder / 'program.debug'}", plain, moved)
    elif form == "dwz":
        if not shutil.which("dwz"):
            polyperf.skip("dwz is not installed")
        shutil.copy(plain, moved)
        shutil.copy(plain, folder / "other")
        polyperf.run("dwz", "-m", "shared.debug", "moved", "other", cwd=folder)
        if not (folder / "shared.debug").exists():
            polyperf.fail("dwz found nothing to share")
    else:
        polyperf.fail(f"no form is called {form}")
    return moved


def check_case(places, case):
    compiler, language, version, *form = case.split("-", 3)
    form = form[0] if form else ""
    for program in (compiler, "llvm-symbolizer", "objcopy"):
        if not shutil.which(program):
            polyperf.skip(f"{program} is not installed")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain = folder / "plain"
        plain.mkdir()
        twin = {"split": "", "dead": "high"}.get(form, form)
        original = build(plain, compiler, language, version, twin)
        if twin != form:
            other = folder / form
            other.mkdir()
            ours = build(other, compiler, language, version, form)
            if text_bytes(ours) != text_bytes(original):
                polyperf.fail(f"the code is not the same as without {form}")
        else:
            ours = original
        checked = [compare(places, original, ours)]
        for moved in form.split("+") if form not in BUILT else []:
            print(f"{moved}: ", end="")
            checked.append(compare(places, original, move(original, moved, folder)))
    faults = [fault for found, _, _ in checked for fault in found]
    known, inlined = (min(counts) for counts in list(zip(*checked))[1:])
    if known < COUNT * 0.9 or inlined < COUNT * SHARE[language, form == "dead"]:
        faults.append("too few of the addresses have lines or inlined functions to show anything")
    return faults


def check_object(places, path):
    path = pathlib.Path(path)
    if not path.exists():
        polyperf.skip(f"{path} is not there")
    if subprocess.run([places, path], input="", capture_output=True, text=True).returncode:
        polyperf.skip(f"{path} has no debug information here")
    faults, known, inlined = compare(places, path, path)
    if known < COUNT * 0.9 or inlined < COUNT * 0.1:
        faults.append("too few of the addresses have lines or inlined functions to show anything")
    return faults


def main():
    places, case = sys.argv[1:3]
    faults = check_object(places, sys.argv[3]) if case == "object" else check_case(places, case)
    if faults:
        polyperf.fail(*faults[:10], f"{len(faults)} in all")


if __name__ == "__main__":
    main()
