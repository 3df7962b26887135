#!/usr/bin/env python3
"""diff_test.py POLYPERF node|java|native: two runs of a program are found to be the same, function
by function; one whose alpha takes twice as long has that, and stock perf says the same in numbers.
"""
import csv
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import javaclasses
import live
import polyperf

MATCHED_SHARE = 99.0  # percent of the samples in functions that must be found again

NODE = """%s
function alpha(n) { let s = 1; for (let i = 0; i < %d * n; i++) s = (s * 31 + i) %% 1000003; return s; }
function beta(n) { let s = 1; for (let i = 0; i < 2 * n; i++) s = (s * 31 + i) %% 1000003; return s; }
const table = [(n) => alpha(n), (n) => beta(n), function (n) {
  let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) %% 1000003; return s; }];
let sum = 0;
for (let round = 0; round < 1500; round++) for (const f of table) sum += f(10000);
console.log(sum > 0);
"""

JAVA = """import java.util.function.IntUnaryOperator;
public class Shares {
  static int alpha(int n) { int s = 1; for (int i = 0; i < %d * n; i++) s = (s * 31 + i) %% 1000003; return s; }
  static int beta(int n) { int s = 1; for (int i = 0; i < 2 * n; i++) s = (s * 31 + i) %% 1000003; return s; }
  public static void main(String[] args) {
    IntUnaryOperator third = n -> { int s = 1; for (int i = 0; i < n; i++) s = (s * 31 + i) %% 1000003; return s; };
    IntUnaryOperator[] table = { Shares::alpha, Shares::beta, third };
    int sum = 0;
    for (int round = 0; round < 1500; round++) for (IntUnaryOperator f : table) sum += f.applyAsInt(10000);
    System.out.println(sum != 42);
  }
}
"""

NATIVE = """#define F(name, n) __attribute__((noinline)) unsigned name(unsigned x) { \\
  for (int i = 0; i < (n) * 1000; i++) x = (x * 31 + (unsigned)i) % 1000003; return x; }
F(alpha, 3 * ALPHA) F(beta, 2) F(gamma_, 1)
int main(int argc, char **argv) { unsigned x = (unsigned)argc; (void)argv;
  for (int i = 0; i < 6000; i++) x += alpha(x) + beta(x) + gamma_(x);
  return x == 42; }
"""


def make_node(folder, factor):
    """Twice the work in alpha, and, above it, two lines that were not there."""
    script = folder / "shares.js"
    script.write_text(NODE % ("// one\n// two" if factor > 1 else "", 3 * factor))
    return ["node", str(script)]


def make_java(folder, factor):
    (folder / "Shares.java").write_text(JAVA % (3 * factor))
    shutil.copytree(javaclasses.build(shutil.which("javac"), folder / "Shares.java"), folder, dirs_exist_ok=True)
    return ["java", "-cp", str(folder), "Shares"]


def make_native(folder, factor):
    (folder / "shares.c").write_text(NATIVE)
    polyperf.run("gcc", "-O1", f"-DALPHA={factor}", "-o", folder / "shares", folder / "shares.c")
    return [str(folder / "shares")]


MAKERS = {"node": (make_node, ["node"]), "java": (make_java, ["java", "javac"]),
          "native": (make_native, ["gcc"])}


def diff(program, before, after, *options):
    text = polyperf.run(program, "diff", "--format", "json", *options, before, after).stdout
    return json.loads(text)["rows"]


def of_name(rows, name):
    found = [row for row in rows if re.fullmatch(rf"(\w+\.)?{name}\b.*", row["symbol"])
             and row["runtime"] in ("v8", "jvm", "native")]
    found.sort(key=lambda row: -row["self"]["after"])
    if not found:
        polyperf.fail(f"no {name} in {[row['symbol'] for row in rows[:20]]}")
    return found[0]


def check_same(rows):
    """Two runs: what has many samples is found again, and the program's functions are the same."""
    faults = []
    code = [row for row in rows if row["object"] in ("[jit]", "shares")]
    matched = sum(row["self"]["before"] + row["self"]["after"]
                  for row in code if row["found"] != "once")
    whole = sum(row["self"]["before"] + row["self"]["after"] for row in code)
    print(f"{100 * matched / whole:.2f} % of {whole / 2:.1f} % of the samples are in functions "
          f"of both runs")
    if 100 * matched < MATCHED_SHARE * whole:
        faults.append(f"only in one run: {[row for row in code if row['found'] == 'once'][:10]}")
    for name in ("alpha", "beta"):
        figure = of_name(rows, name)["self"]
        # Noise is that of sampling; on a busy machine compilers take another share of the time.
        if abs(figure["change"]) > 2 * figure["noise"] + 3:
            faults.append(f"{name} changed between two runs: {figure}")
    return faults


def check_twice(rows, found):
    """alpha took twice as long; the others are what a busy machine is measured by."""
    faults = []
    alpha, beta = of_name(rows, "alpha"), of_name(rows, "beta")
    factor = [row["self"]["after"] / row["self"]["before"] for row in (alpha, beta)]
    print(f"alpha {factor[0]:.2f} times, beta {factor[1]:.2f} times; alpha was found {found}")
    if not 1.4 < factor[0] / factor[1] < 2.8:
        faults.append(f"alpha takes {factor[0]:.2f} times as long, beta {factor[1]:.2f} times")
    if alpha["self"]["verdict"] != "more":
        faults.append(f"alpha: {alpha}")
    if alpha["found"] != found:
        faults.append(f"alpha was not found {found}: {alpha}")
    grown = max((row for row in rows), key=lambda row: row["self"]["change"])
    if grown["symbol"] != alpha["symbol"]:
        faults.append(f"{grown['symbol']} grew more than alpha")
    return faults


def stock_faults(before, after, rows, folder):
    """Baseline and difference of each function as `perf diff` has them."""
    if not shutil.which("perf"):
        print("perf is not installed: not compared with it")
        return []
    done = subprocess.run(["perf", "diff", "-c", "delta", "-s", "symbol,dso", "-t", ";", before, after],
                          capture_output=True, text=True, cwd=folder, check=False)
    theirs = {}
    for line in csv.reader(io.StringIO(done.stdout), delimiter=";"):
        if len(line) == 4 and line[3].strip() == "shares":
            symbol = line[2].split("] ", 1)[-1].strip()
            theirs[symbol] = (float(line[0].strip() or 0), float(line[1].strip("+% ") or 0))
    faults = []
    for name in ("alpha", "beta", "gamma_"):
        ours = of_name(rows, name)["self"]
        stock = theirs.get(name)
        print(f"{name}: {ours['before']:.2f} {ours['change']:+.2f}, stock {stock}")
        if not stock or abs(stock[0] - ours["before"]) > 0.011 or \
                abs(stock[1] - ours["change"]) > 0.011:
            faults.append(f"{name}: stock perf has {stock}, not {ours}: {done.stderr[-500:]}")
    return faults


def main(program, case):
    make, needs = MAKERS[case]
    for tool in needs:
        if not shutil.which(tool):
            polyperf.skip(f"{tool} is not installed")
    reason = live.why_no_sampling()
    if reason:
        polyperf.skip(reason)
    with live.place() as place:
        home = pathlib.Path(place.home)
        recordings = []
        for name, factor in (("first", 1), ("second", 1), ("twice", 2)):
            # Each in a folder of its own: programs of one name, as builds of one are.
            folder = home / name
            folder.mkdir()
            recording, _ = place.record(program, make(folder, factor), "-F", "3999")
            recordings.append(shutil.move(recording, home / f"{name}.data"))
        first, second, twice = recordings
        faults = check_same(diff(program, first, second))
        by_total = diff(program, first, twice, "--by", "total")
        faults += check_twice(by_total, "folded" if case == "node" else "same")
        if case == "native":
            faults += stock_faults(first, twice, diff(program, first, twice), home)
    if faults:
        polyperf.fail(*faults)


main(*sys.argv[1:])
