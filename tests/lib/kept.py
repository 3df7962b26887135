"""What tests compile, kept in the build folder: made once, by whichever test comes first.

    folder = kept.folder("Jit-openjdk-17", [source, "-g"], lambda folder: compile_java(folder, source))

`parts` are all that the result depends on: files, by their content, and words. Where one of them is another than it
was, the result is made anew, in another folder. It belongs to all tests: copy what is to be changed.
"""
import fcntl
import hashlib
import pathlib
import shutil

# Beside the runtimes of tools/runtimes.sh: what is made is the same for every way to build us.
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "kept"
DIGITS = 12


def key_of(parts):
    digest = hashlib.sha256()
    for part in parts:
        content = part.read_bytes() if isinstance(part, pathlib.Path) and part.is_file() else str(part).encode()
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()[:DIGITS]


def folder(name, parts, make):
    """What `make` puts into the empty folder that it is given, by this test or by an earlier one."""
    ROOT.mkdir(parents=True, exist_ok=True)
    made = ROOT / f"{name}-{key_of(parts)}"
    done = made.with_name(f"{made.name}.done")
    with open(made.with_name(f"{made.name}.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            # An earlier one was ended while it was at it.
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir()
            make(made)
            done.touch()
    return made
