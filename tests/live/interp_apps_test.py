#!/usr/bin/env python3
"""Web applications of Debian's frameworks under load, by the functions and lines that reports show.

    interp_apps_test.py POLYPERF flask | django

Views, templates and the frameworks themselves must be named with lines, called as they are, and hardly
a sample in the evaluator may be without a function of Python's. Exit code 77: not here.
"""
import ast
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import frame_truth  # noqa: E402
import live  # noqa: E402
import polyperf  # noqa: E402
import walked  # noqa: E402

POLYPERF = sys.argv[1]
PYTHON = "/usr/bin/python3.11"
WORKLOADS = HERE / "workloads"
# Functions of the program, and who must be somewhere above each.
APPS = {
    "flask": ("flask_app.py", ("index", "numbers", "sign", "missing"),
              {"Flask.full_dispatch_request": "flask/app.py", "Flask.wsgi_app": "flask/app.py",
               "BaseHandler.run": "wsgiref/handlers.py",
               "ThreadingMixIn.process_request_thread": "socketserver.py"},
              # What Jinja made of the template is a function `root` of the template's.
              {"root": "page.html", "Template.render": "jinja2/environment.py"}),
    "django": ("django_app.py", ("index", "numbers", "sign"),
               {"BaseHandler._get_response": "django/core/handlers/base.py",
                "WSGIHandler.__call__": "django/core/handlers/wsgi.py"},
               {"ForNode.render": "django/template/defaulttags.py", "Template.render": "django/template/base.py"}),
}
EVALUATOR = "_PyEval_EvalFrameDefault"
BARE_PERCENT, UNLINED_PERCENT = 0.5, 0.5


def record(folder, program):
    log, recording = folder / "log", folder / "recording.data"
    done = subprocess.run([POLYPERF, "record", "--interpreters=walk", "-F", "1999", "-g", "dwarf,32768", "-o",
                           str(recording), "--", PYTHON, "-B", str(WORKLOADS / program), str(log), "2"],
                          capture_output=True, text=True, timeout=240)
    walked.need_walk(done)
    begin, end, count = map(int, log.read_text().split())
    samples = [sample for sample in frame_truth.read_samples(POLYPERF, recording) if begin < sample.time < end]
    print(f"{count} requests in {(end - begin) / 1e9:.1f} s, {len(samples)} samples")
    assert count > 50 and len(samples) > 500, "hardly a request"
    return samples


def lines_of(program):
    """The first and last line of each function, which begins where its first decorator stands: that line
    is the one of its first instruction.
    """
    tree = ast.parse((WORKLOADS / program).read_text())
    return {node.name: (min(part.lineno for part in (node, *node.decorator_list)), node.end_lineno)
            for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def check_functions(samples, program, functions, callers):
    """Each function of the program is there, within its lines, and below the framework."""
    lines, seen, places = lines_of(program), collections.Counter(), collections.defaultdict(set)
    for sample in samples:
        above = set()
        for frame in reversed(sample.frames):
            above.add(frame.name)
            if not frame.dso.endswith(f"/{program}") or frame.name not in functions:
                continue
            first, last = lines[frame.name]
            assert first <= frame.line <= last, f"not a line of {frame.name}: {sample}"
            missing = [name for name in callers if name not in above]
            assert not missing, f"{missing} did not call {frame.name}: {sample}"
            seen[frame.name] += 1
            places[frame.name].add(frame.line)
    for name in functions:
        print(f"  {name}: {seen[name]} frames, lines {sorted(places[name])}")
        assert seen[name] >= 3, f"{name} was not seen"


def check_files(samples, files):
    found = collections.defaultdict(collections.Counter)
    for sample in samples:
        for frame in sample.frames:
            found[frame.name][frame.dso] += frame.line > 0
    for name, file in files.items():
        assert any(dso.endswith(file) and count > 3 for dso, count in found[name].items()), (name, found[name])


def main():
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", f"import {sys.argv[2]}"],
                                                    capture_output=True).returncode:
        polyperf.skip(f"{sys.argv[2]} of Debian is not installed")
    program, functions, callers, parts = APPS[sys.argv[2]]
    with tempfile.TemporaryDirectory(prefix="apps-test-") as folder:
        samples = record(pathlib.Path(folder), program)
    frames = [frame for sample in samples for frame in sample.frames]
    # A thread that is being started or ended runs nothing of Python's.
    none = [sample for sample in samples if not sample.frames]
    bare = 100 * sum(EVALUATOR in sample.natives for sample in none) / len(samples)
    unlined = 100 * sum(not frame.line for frame in frames) / len(frames)
    unknown = 100 * sum("unknown" in frame.name for frame in frames) / len(frames)
    print(f"without frames: {100 * len(none) / len(samples):.2f} % of the samples, {bare:.2f} % in the evaluator; {len(frames) / len(samples):.1f} frames a sample, "
          f"{len({frame.dso for frame in frames})} files, {len({frame.name for frame in frames})} functions; "
          f"without a line: {unlined:.2f} %; unknown: {unknown:.2f} %")
    check_functions(samples, program, functions, callers)
    check_files(samples, {**callers, **parts})
    assert bare <= BARE_PERCENT, "the evaluator runs without frames"
    assert unlined <= UNLINED_PERCENT and unknown <= UNLINED_PERCENT


main()
