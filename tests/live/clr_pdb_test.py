"""Portable PDBs: every sequence point, document, embedded source and kickoff method, as
System.Reflection.Metadata reads them.

    clr_pdb_test.py POLYPERF CLR_POINTS
"""
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "lib"))
import csharp  # noqa: E402
import polyperf  # noqa: E402

CORPUS = TESTS.parent / "fuzz" / "corpus" / "clr_pdb"
ENOUGH = 100  # points; a reader that sees none would agree with one that sees none
PACKAGED = 30  # PDBs of packages that lie on the machine
ASSEMBLIES_BYTES = 20 << 20


def make_files():
    """Of the oracle itself: beside the assembly, and in it with all sources."""
    source = TESTS / "clr" / "Points.cs"
    oracle = csharp.build(source, "points", "-debug:portable")
    return oracle, [oracle.with_suffix(".pdb"), csharp.build(source, "embedded", "-debug:embedded", "-embed", "-optimize")]


def packaged_files():
    """PDBs that packages brought along: of other compilers, and larger. Ones for Windows have another format."""
    found = []
    for path in sorted((pathlib.Path.home() / ".nuget" / "packages").glob("**/*.pdb")):
        if len(found) == PACKAGED:
            break
        with path.open("rb") as file:
            if file.read(4) == b"BSJB" and path.stat().st_size < ASSEMBLIES_BYTES:
                found.append(path)
    return found


def read(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        polyperf.fail(f"{command[0]}: {done.stdout[-500:]}{done.stderr[-1000:]}")
    return done.stdout.splitlines()


def main():
    points = sys.argv[2]
    oracle, files = make_files()
    files += [CORPUS / "portable.pdb", CORPUS / "sources.pdb"]
    files += packaged_files()
    wanted = read("dotnet", oracle, *files)
    got = read(points, *files)
    for number, (ours, theirs) in enumerate(zip(got, wanted)):
        if ours != theirs:
            polyperf.fail(f"line {number + 1}: {ours!r} instead of {theirs!r}")
    if len(got) != len(wanted):
        polyperf.fail(f"{len(got)} lines instead of {len(wanted)}")
    for kind, least in (("0:0-0:0", 5), ("source", 4), ("kickoff", 3), ("document", 5), ("-", ENOUGH)):
        if sum(kind in line for line in got) < least:
            polyperf.fail(f"fewer than {least} lines with {kind!r}")
    print(f"{len(files)} files, {len(got)} lines")


main()
