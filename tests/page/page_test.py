#!/usr/bin/env python3
"""The page in a real browser: page_test.py POLYPERF SCREENS CASE[,CASE...]. Its pictures are left in the folder
SCREENS. What the cases do there is in looking.cjs, showing.cjs and trusting.cjs. To start a browser takes longer
than most of them: those that are asked for together have one.
"""
import json
import lzma
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import handmade
import live
import polyperf
import readers

CAPTURES = HERE.parent / "data" / "captures"
BUCKET_NS = 1 << 18


class Recording:
    """A capture, or a recording made here, with its dumps and maps."""

    def __init__(self, program, folder, capture=None):
        self.program = program
        self.folder = folder
        self.path = folder / "perf.data"
        self.extra = []
        for path in sorted((CAPTURES / capture).iterdir()) if capture else []:
            name = path.name.removesuffix(".xz")
            if not re.fullmatch(r"perf\.data|jit-\d+\.dump|perf-\d+\.map", name):
                continue
            content = lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()
            (folder / name).write_bytes(content)
            if name != "perf.data":
                self.add(folder / name)

    def add(self, path):
        pid = re.search(r"\d+", path.name)[0]
        self.extra += ["--dump" if path.suffix == ".dump" else "--map", f"{pid}={path}"]

    def report(self, *options):
        done = polyperf.run(self.program, "report", "-i", self.path, *self.extra,
                            "--self-contained", "--format", "json", *options)
        return json.loads(done.stdout)["events"][0]

    def page(self):
        polyperf.run(self.program, "report", "-i", self.path, *self.extra, "--self-contained",
                     f"--html={self.folder / 'page.html'}")
        return self.folder / "page.html"


def capture(program, folder, name="node24-perf-prof"):
    made = folder / name
    made.mkdir()
    return Recording(program, made, name)


PAGES = []


def browse(page, wanted):
    """Has the cases that `wanted` names run on a page, with what each is held against: by look()."""
    PAGES.append({"file": str(page), "cases": wanted})


def look(screens):
    """Runs what was asked for since the last time."""
    path = screens / f"{next(iter(PAGES[0]['cases']))}.json"
    path.write_text(json.dumps(PAGES))
    PAGES.clear()
    readers.node(HERE / "page.cjs", screens, path)


def test_counts(program, folder):
    for name in "node24-perf-prof", "java17-jvmti", "py3.13-jitdump-dwarf":
        recording = capture(program, folder, name)
        total = recording.report("--children")
        browse(recording.page(), {"counts": {
            "total": total["rows"], "self": recording.report()["rows"], "samples": total["samples"],
            "exact": total["trust"]["exact"]}})


def wanted_of_search(recording):
    """Both functions are leaves: no sample is counted twice."""
    report = recording.report()
    rows = [row for row in report["rows"] if re.match("alpha|beta", row["symbol"])]
    assert len(rows) == 2
    share = 100 * sum(row["weight"] for row in rows) / report["weight"]
    return {"pattern": "^(alpha|beta)", "share": f"{share:.2f}"}


def wanted_of_time(recording):
    """Buckets 200 to 500 are cut out, whose length is worked out as the page does."""
    whole = recording.report()
    shift = 18
    while (whole["last_ns"] - whole["first_ns"]) >> shift >= 2000:
        shift += 1
    edges = [whole["first_ns"] + (bucket << shift) for bucket in (200, 500)]
    part = recording.report("--time", ",".join(f"{ns // 10**9}.{ns % 10**9:09}" for ns in edges))
    assert 0 < part["samples"] < whole["samples"]
    return {"from": 200, "to": 500, "samples": part["samples"], "all": whole["samples"]}


def test_using(program, folder):
    recording = capture(program, folder)
    browse(recording.page(), {
        "zoom": None, "pointer": None, "keyboard": None, "policy": None,
        "search": wanted_of_search(recording), "time": wanted_of_time(recording),
        "sandwich": {"name": "alpha work.js:2:15", "caller": "(anonymous) work.js:1:1"}})


def test_looking(program, folder):
    browse(capture(program, folder).page(), {"looks": None, "colours": None, "accessible": None})


def shares(recording):
    report = recording.report()
    return {row["symbol"]: 100 * row["weight"] / report["weight"] for row in report["rows"]}


def test_difference(program, folder):
    """Of one program on two versions of node; the second one is there twice."""
    sides = [capture(program, folder, name) for name in ("node20-perf-prof", "node24-perf-prof")]
    page = folder / "diff.html"
    polyperf.run(program, "diff", "--self-contained", *sides[0].extra, *sides[1].extra, f"--html={page}",
                 sides[0].path, "--", sides[1].path, sides[1].path)
    before, after = map(shares, sides)
    rows = []
    for name in "alpha work.js:2:15", "beta work.js:3:14", "gamma work.js:4:15":
        change = after[name] - before[name]
        # None of the three is expected to differ by more than noise.
        rows.append([name, f"≈ {'+' if change > 0 else '−'}{abs(change):.2f} pp", f"{before[name]:.2f}%",
                     f"{after[name]:.2f}%"])
    names = ["node20-perf-prof/perf.data", "node24-perf-prof/perf.data, node24-perf-prof/perf.data"]
    browse(page, {"difference": {"rows": rows, "title": " → ".join(names)}})


HOSTILE = {
    "</script><script>globalThis.broken=1</script>": None,
    "<img src=x onerror=globalThis.broken=1>": None,
    "<!--<script>": None,
    "\"'`${globalThis.broken=1}&lt;": None,
    "right\u202eto\u2066left": r"right\u202eto\u2066left",
    "line\nbreak\tand\x1b[31m\x07": r"line\u000abreak\u0009and\u001b[31m\u0007",
    "zero\u200bwidth\ufeff": r"zero\u200bwidth\ufeff",
    "not \udcff utf": "not \ufffd utf",
    "javascript:globalThis.broken=1": None,
    "__proto__": None,
    "constructor": None,
    "x" * 65536: "",
}


def hostile_recording(program, folder):
    """Every name calls the next, and is where some samples are; so are the object and the thread."""
    recording = handmade.Recording()
    dump = handmade.Dump(7)
    recording.comm(7, 1, "</title><b>\u202e")
    recording.mmap(7, 2, 0x100000, 0x10000, str(folder / "jit-7.dump"))
    recording.mmap(7, 3, 0x500000, 0x1000, "/<b>evil\u202e</b>.so")
    for i, name in enumerate(HOSTILE):
        dump.load(10, 0x1000 + i * 0x100, 0x100, name)
    frames = [0x1010 + i * 0x100 for i in range(len(HOSTILE))]
    for i in range(len(frames)):
        for time in range(3):
            recording.sample(7, 1000 + (3 * i + time) * BUCKET_NS, *frames[i::-1])
    recording.sample(7, 999, 0x500010, *frames[::-1])
    dump.write(folder / "jit-7.dump")
    recording.write(folder / "perf.data")
    made = Recording(program, folder)
    made.add(folder / "jit-7.dump")
    return made


def check_markup(page):
    """Between the marks of a block of data is nothing that could end it."""
    text = page.read_text(encoding="ascii", errors="surrogateescape")
    blocks = re.findall(r'<script type="application/x-polyperf" data-name="[\w-]+">(.*?)</script>', text, re.S)
    faults = [f"a block holds {found[0]!r}" for block in blocks
              if (found := re.search("[^A-Za-z0-9+/=]", block))]
    if not blocks or faults or text.count("<script") != len(blocks) + 1:
        polyperf.fail(*faults, f"{len(blocks)} blocks, {text.count('<script')} scripts")


def test_hostile(program, folder):
    recording = hostile_recording(program, folder)
    page = recording.page()
    check_markup(page)
    report = {row["symbol"] for row in recording.report()["rows"]}
    names = [name if shown is None else shown for name, shown in HOSTILE.items() if shown != ""]
    # What polyperf itself makes of a name is another matter: all that a report has is shown.
    assert len(report) >= len(HOSTILE)
    browse(page, {"hostile": {"names": names, "whole": "x" * 65536}})


def test_served(program, folder):
    """The browser of the user's choice gets the address, and the page is there until Ctrl-C."""
    recording = capture(program, folder)
    command = [program, "open", "--self-contained", *recording.extra, recording.path]
    chosen = folder / "browser"
    chosen.write_text(f'#!/bin/sh\necho "$1" >{folder}/asked.tmp && mv {folder}/asked.tmp {folder}/asked\n')
    chosen.chmod(0o755)
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "BROWSER": str(chosen)})
    try:
        address = serving.stdout.readline().strip()
        browse(address, {"served": None})
        look(pathlib.Path(sys.argv[2]))
        asked = live.wait_until("a browser is started", lambda: (folder / "asked").exists()
                                and (folder / "asked").read_text().strip())
        serving.send_signal(signal.SIGINT)
        if serving.wait(60) != 0 or asked != address:
            polyperf.fail(f"exit code {serving.returncode}, {asked!r} was asked for, not {address!r}")
    finally:
        serving.kill()
    # Without a display there is none, and the page is a file.
    for name in "BROWSER", "DISPLAY", "WAYLAND_DISPLAY":
        os.environ.pop(name, None)
    polyperf.run(*command, cwd=folder)
    check_markup(folder / "polyperf.html")


CASES = {
    "counts": test_counts, "using": test_using, "looking": test_looking, "difference": test_difference,
    "hostile": test_hostile, "served": test_served,
}


def main(program, screens, cases):
    readers.chromium()
    screens = pathlib.Path(screens)
    screens.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        for case in cases.split(","):
            folder = pathlib.Path(name, case)
            folder.mkdir()
            CASES[case](program, folder)
        if PAGES:
            look(screens)


if __name__ == "__main__":
    main(*sys.argv[1:])
