"""The case `export`: a recording of many samples in each format, and what perf needs for the like."""
import subprocess

# What is written; what of perf it stands against; how many times faster it must be; whether it is
# given no more than perf is. Where perf writes nothing alike, its bare listing of the samples stands
# for what any converter of it needs at least. No two samples of the recording are alike, which is the
# worst there is for a format that holds a span for each frame.
FORMATS = (
    ("folded", "stackcollapse", 50, False), ("svg", "flamegraph", 50, False),
    ("html", "flamegraph", 50, False), ("pprof", "script", 10, False), ("callgrind", "script", 10, False),
    ("otlp", "script", 5, False), ("jfr", "script", 5, False), ("speedscope", "script", 5, False),
    ("firefox", "script", 5, False), ("chrome", "script", 1, True),
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
    """`run` measures one command; few.data has `few` samples, many.data `scale` times as many. All use
    one core: CPU time does not hang on what else runs.
    """
    theirs = {key: (name, run(command, folder, 1).scaled(scale))
              for key, (name, command) in perf_commands(perf).items()}
    for name, against, at_least, is_small in FORMATS:
        command = [polyperf, "export", "-q", "--experimental", "--format", name, "-o", "out"]
        ours = run([*command, "-i", "few.data" if is_small else "many.data"], folder, 1)
        written = (folder / "out").stat().st_size
        part = ours if is_small else run([*command, "-i", "fifth.data"], folder, 1)
        if is_small:
            ours, written = ours.scaled(scale), written * scale
        (folder / "out").unlink()
        tool, other = theirs[against]
        ratio, growth = other.cpu / ours.cpu, ours.anonymous_bytes - part.anonymous_bytes
        table.add(f"export to {name}", f"{other.cpu:.0f} s ({tool}, from {few // 1000}k samples)",
                  f"{ours.cpu:.1f} s, {megabytes(ours.anonymous_bytes)} "
                  f"({megabytes(part.anonymous_bytes)} for {'the few' if is_small else '1/5'}), "
                  f"{megabytes(written)} written",
                  f"{ratio:.1f}x", f"at least {at_least}x, at most +{megabytes(MOST_GROWTH)}",
                  ratio >= at_least and growth <= MOST_GROWTH)
