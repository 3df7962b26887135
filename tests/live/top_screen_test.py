#!/usr/bin/env python3
"""The screen of `polyperf top` in a real terminal, on a real program.

    top_screen_test.py POLYPERF [--accept] [CASE...]

screens/NAME.txt is what is seen, numbers and widths of columns aside; --accept saves what is shown now.
"""
import contextlib
import difflib
import os
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import live
import terminal
from terminal import Terminal

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
WORK = HERE / "workloads" / "phases.js"
PATH = f"{PROGRAM.parent}:{os.environ['PATH']}"


def masked(screen):
    """Without what differs from run to run, and from machine to machine."""
    text = re.sub(r"cpu-clock|cycles\S*", "EVENT", screen)
    text = re.sub(r" \(slowed\)|; [\d.]+ CPUs", "", text)
    text = re.sub(r"\d[\d,.:]*", "#", text)
    text = re.sub(r"^(\S+ % \w+(, )?)+ of", "TRUST of", text, flags=re.MULTILINE)
    text = re.sub(r"turbofan\+?|maglev\+?|sparkplug\+?", "TIER", text)
    return "\n".join(line.rstrip() for line in re.sub(r" +", " ", text).split("\n"))


def golden(t, name, until):
    """The masked screen becomes the saved one."""
    path = HERE / "screens" / f"{name}.txt"
    t.wait(until)
    if terminal.ACCEPT:
        path.write_text(masked(t.wait(until)), encoding="utf-8")
        return
    expected = path.read_text(encoding="utf-8")
    try:
        t.wait(lambda screen: masked(screen) == expected)
    except terminal.NotShown:
        lines = difflib.unified_diff(expected.splitlines(), masked(t.screen()).splitlines(), name, "shown",
                                     lineterm="", n=30)
        raise terminal.NotShown("\n".join(lines) + "\nif it is right: --accept") from None


@contextlib.contextmanager
def looking(options=""):
    with Terminal(rows=24, columns=110, env={"PATH": PATH}) as t:
        t.run("stty -a > before; clear; echo above")
        t.run(f"polyperf top -d 0.3 --window 1 {options} -- node {WORK} 300 300")
        t.wait("first")
        yield t


def only_first(screen):
    return "first" in screen and "TIER" in masked(screen)


def given_back(t):
    # What is typed before the shell asks is thrown away with the keys that nobody read.
    t.wait(lambda screen: not t.is_alternate() and screen.rstrip().endswith("\n$"))
    t.run("stty -a > after; cmp before after && echo the same")
    t.wait("\nthe same")
    assert "above" in t.screen() and t.cursor_is_shown()


def starts_pauses_and_ends():
    with looking("--filter 'symbol:first object:jit'") as t:
        golden(t, "top_start", only_first)
        t.keys("p")
        golden(t, "top_paused", "PAUSED")
        before = t.screen()
        t.keys("Space")
        t.wait(lambda screen: "PAUSED" not in screen and screen != before)
        t.keys("Escape")  # a key behind it at once would be Alt and that key
        t.wait("sorted by overhead")
        t.keys("q")
        given_back(t)


def sorts_and_filters():
    with looking() as t:
        t.keys("s")
        menu = t.wait("Sort by")
        assert all(word in menu for word in ("overhead", "total", "process")), menu
        t.keys("Down", "Down", "Down", "Enter")
        t.wait("sorted by symbol")
        t.keys("/")
        t.type("symbol:first object:jit")
        golden(t, "top_filtering", only_first)
        t.keys("Enter")
        golden(t, "top_filtered", only_first)
        t.keys("c")
        t.wait("Total")
        t.keys("w")
        t.wait("half as much every")
        t.keys("w")
        t.wait(lambda screen: re.search(r"samples in \d+ s", screen))
        t.keys("?")
        t.wait("its code, with the samples of the window")
        t.keys("q")
        t.keys("C-c")
        given_back(t)


def looks_into_a_function():
    with looking("--filter 'symbol:first object:jit'") as t:
        t.wait(only_first)
        t.keys("Enter")
        shown = t.wait(lambda screen: "Percent" in screen and "Version" in screen)
        assert "q:back" in shown, shown
        t.keys("v", "v")
        t.wait("function first(n)")
        t.keys("q")
        t.wait("q:quit")
        t.keys("q")
        given_back(t)


def ends_with_the_program():
    with Terminal(rows=24, columns=110, env={"PATH": PATH}) as t:
        t.run("stty -a > before; clear; echo above")
        t.run(f"polyperf top -d 0.3 -- node {WORK} 1 1")
        t.wait("ENDED")
        t.keys("q")
        given_back(t)


if not shutil.which("node"):
    print("skipped: node is not installed")
    sys.exit(77)
terminal.skip_without_tmux()
REASON = live.why_no_sampling()
if REASON:
    print(f"skipped: {REASON}")
    sys.exit(77)
terminal.run_cases([starts_pauses_and_ends, sorts_and_filters, looks_into_a_function, ends_with_the_program])
