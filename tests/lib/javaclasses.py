"""Classes of the tests' programs in Java, compiled once by each JDK and kept."""
import pathlib
import subprocess

import kept
import polyperf

# A compiler that is left after a second does not get its own code compiled for long runs.
QUICK = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none")


def compile_to(folder, javac, words):
    done = subprocess.run([javac, *words, "-d", folder], capture_output=True, text=True)
    if done.returncode:
        polyperf.fail(done.stderr[-500:])


def build(javac, *sources):
    """The folder with the classes of these sources, and with what a debugger wants of them."""
    javac = pathlib.Path(javac).resolve()
    jdk = javac.parent.parent
    words = [*QUICK, "-g", "-encoding", "UTF-8", *sources]
    # The file tells the JDK's version.
    return kept.folder(f"{sources[0].stem}-{jdk.name}", [javac, jdk / "release", *words],
                       lambda folder: compile_to(folder, javac, words))
