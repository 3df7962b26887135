"""The case `export`: a recording of many samples in each format, and what perf needs for the like."""
import subprocess

# What is written; what of perf it stands against; how many times faster it must be. Where perf writes
# nothing alike, its bare listing of the samples stands for what any converter of it needs at least.
FORMATS = (
    ("folded", "stackcollapse", 50), ("svg", "flamegraph", 50), ("html", "flamegraph", 50),
    ("pprof", "script", 10), ("callgrind", "script", 10), ("otlp", "script", 5), ("jfr", "script", 5),
    ("speedscope", "script", 5), ("firefox", "script", 5), ("chrome", "script", 1),
)
MOST_GROWTH = 32e6  # bytes, from a fifth of the samples to all of them


def perf_commands(perf):
    core = subprocess.run(["perf", "--exec-path"], check=True, capture_output=True, text=True).stdout.strip()
    scripts = f"{core}/scripts/python"
    return {
        "script": ("perf script", [*perf, "script", "-i", "few.data", "-F", "comm,tid,ip,sym"]),
        "stackcollapse": ("perf's stackcollapse", [*perf, "script", "-i", "few.data", "-s",
                                                   f"{scripts}/stackcollapse.py"]),
        "flamegraph": ("perf's flamegraph", [*perf, "script", "-i", "few.data", "-s",
                                             f"{scripts}/flamegraph.py", "--", "-f", "json", "-o",
                                             "perf.json"]),
    }


def megabytes(count):
    return f"{count / 1e6:.0f} MB"


def measure(table, folder, polyperf, perf, run, few, scale):
    """`run` measures one command; few.data has `few` samples, many.data `scale` times as many."""
    theirs = {key: (name, run(command, folder, 1).scaled(scale))
              for key, (name, command) in perf_commands(perf).items()}
    for name, against, at_least in FORMATS:
        command = [polyperf, "export", "-q", "--experimental", "--format", name]
        part = run([*command, "-i", "fifth.data", "-o", "fifth.out"], folder, 1)
        ours = run([*command, "-i", "many.data", "-o", "many.out"], folder, 1)
        written = (folder / "many.out").stat().st_size
        tool, other = theirs[against]
        ratio, growth = other.seconds / ours.seconds, ours.anonymous_bytes - part.anonymous_bytes
        table.add(f"export to {name}", f"{other.seconds:.0f} s ({tool}, from {few // 1000}k samples)",
                  f"{ours.seconds:.1f} s, {megabytes(ours.anonymous_bytes)} "
                  f"({megabytes(part.anonymous_bytes)} for 1/5), {megabytes(written)} written",
                  f"{ratio:.1f}x", f"at least {at_least}x, at most +{megabytes(MOST_GROWTH)}",
                  ratio >= at_least and growth <= MOST_GROWTH)
