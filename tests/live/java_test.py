#!/usr/bin/env python3
"""The agent for JVMs, held against what HotSpot itself and the program say.

    java_test.py POLYPERF AGENT CASE

Cases: tiers, lines, inlining, lambda, unload, attach, attach-command, container, other-user,
many, checked, killed, long-names, control, javac, sanitized. JDKs are looked for in
$JAVA_HOME, on PATH, and in /usr/lib/jvm; every case runs with each of them. Exit code 77: there is none.
"""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import javaclasses
import jitdump
import live
import oracle
import polyperf

WORKLOADS = HERE / "workloads"
JIT_SOURCE = WORKLOADS / "Jit.java"
SAMPLING = ("-F", "1999", "-g", "fp")
NAMED = 99.5  # percent of the samples in JIT code, with name and tier
CLASSES = 150
BEFORE = 0.7  # seconds of the processor that a JVM has spent when it is attached to


def jdks():
    """Folders of all JDKs, each once."""
    java = shutil.which("java")
    folders = [os.environ.get("JAVA_HOME"), java and pathlib.Path(java).resolve().parent.parent,
               *sorted(pathlib.Path("/usr/lib/jvm").glob("*"))]
    found = {}
    for folder in filter(None, folders):
        javac = pathlib.Path(folder) / "bin/javac"
        if javac.exists():
            found.setdefault(javac.resolve(), javac.resolve().parent.parent)
    return list(found.values())


class Case:
    """One JDK, and a place to run it in."""

    def __init__(self, program, agent, jdk, place):
        self.program, self.agent, self.jdk, self.place = program, agent, jdk, place
        self.java = jdk / "bin/java"
        self.dumps = place.root / "dumps"
        self.dumps.mkdir()
        self.classes = place.root / "classes"
        self.faults = []

    def compile(self, *sources):
        shutil.copytree(javaclasses.build(self.jdk / "bin/javac", *sources), self.classes, dirs_exist_ok=True)

    def expect(self, condition, fault):
        if not condition:
            self.faults.append(f"{self.jdk.name}: {fault}")

    def agent_option(self, words=""):
        return f"-agentpath:{self.agent}=dir={self.dumps}{words}"

    def run(self, what, seconds, *options, words=""):
        """A JVM with the agent; its output, and all code of its dump."""
        done = subprocess.run([self.java, self.agent_option(words), *options, "-cp", self.classes,
                               "Jit", what, str(seconds)], capture_output=True, text=True,
                              env=self.place.environment, timeout=120)
        if done.returncode or f"done {what}" not in done.stdout:
            polyperf.fail(f"exit {done.returncode}: {done.stdout[-300:]}{done.stderr[-1000:]}")
        return done, jitdump.read(self.only_dump().read_bytes())

    def only_dump(self):
        found = list(self.dumps.glob("**/jit-*.dump"))
        if len(found) != 1:
            polyperf.fail(f"{len(found)} dumps: {found}")
        return found[0]

    def start(self, *options, before=()):
        """A JVM that works in early(), long enough to be compiled already."""
        process = self.place.start(*before, self.java, *options, "-cp", self.classes, "Jit", "phases",
                                   stdin=subprocess.PIPE)
        if process.stdout.readline() != "ready\n":
            polyperf.fail(f"no JVM: {process.communicate(timeout=60)}")
        is_java = pathlib.Path(f"/proc/{process.pid}/exe").resolve().name == "java"
        pid = process.pid if is_java else live.child_of(process.pid, "java")
        live.wait_until("the JVM hardly runs", lambda: live.cpu_seconds(pid) >= BEFORE)
        return process, pid

    def record_running(self, process, pid, *options, early=0.6, late=0.0):
        """record -p for so many seconds of the JVM's work in early() and in late(); what was said of it."""
        recording = self.place.out / "recording.data"
        recorder = self.place.start(self.program, "record", *options, "-o", recording, "-p", pid)
        live.let_run(recorder, pid, early)
        if late:
            process.stdin.write("late\n")
            process.stdin.flush()
            live.let_run(recorder, pid, late)
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=120)
        print(said.strip())
        self.expect(recorder.returncode == 0, f"record: exit {recorder.returncode}")
        return recording, said

    def named_share(self, recording, minimum=200):
        """Samples in anonymous code that have a name and a tier."""
        samples = oracle.samples_in_anonymous_code(recording.read_bytes())
        text = polyperf.run(self.program, "script", "-i", recording, "--ns", "-G", "-F",
                            "pid,tid,time,ip,sym,trust").stdout
        trusts = {(s.tid, s.time): s.frames[0].name.rpartition(" ")[2]
                  for s in polyperf.read_script(text)}
        named = sum(trusts.get((s.tid, s.time), "unknown") != "unknown" for s in samples)
        report = polyperf.run(self.program, "report", "--format", "csv", "-i", recording).stdout
        rows = [row for row in polyperf.read_report(report) if row["object"] == "[jit]"]
        tiers = collections.Counter()
        for row in rows:
            tiers[row["tier"]] += row["samples"]
        share = 100 * named / max(len(samples), 1)
        untiered = tiers[""] + tiers["compiled"]
        print(f"  {self.jdk.name}: {len(samples)} samples in JIT code, {share:.2f} % named; {dict(tiers)}")
        self.expect(len(samples) >= minimum, f"only {len(samples)} samples in JIT code")
        self.expect(share >= NAMED, f"{share:.2f} % named")
        self.expect(untiered * 100 <= (100 - NAMED) * max(tiers.total(), 1),
                    f"{untiered} of {tiers.total()} samples without tier")
        return samples, rows


def bundled_code(case, recording):
    """All code of the one dump in a recording."""
    target = case.place.root / "unzipped"
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["unzip", "-q", recording, "process/*", "-d", target], capture_output=True)
    found = list(target.glob("process/*/jit/*.dump"))
    if len(found) != 1:
        polyperf.fail(f"{len(found)} dumps in the recording")
    return jitdump.read(found[0].read_bytes())


def hot_lines():
    """Line numbers of JIT_SOURCE by the share that stands behind them."""
    text = JIT_SOURCE.read_text().splitlines()
    return {int(found[1]): number for number, line in enumerate(text, 1)
            if (found := re.search(r"// hot (\d+)", line))}


def tiers(case):
    """record's own choice: everything named, with a tier; alpha, beta and gamma as they say."""
    case.compile(WORKLOADS / "Work.java")
    recording, printed = case.place.record(case.program, [case.java, "-cp", case.classes, "Work", "1"],
                                           *SAMPLING)
    case.named_share(recording)
    case.faults += live.workload_faults(case.program, recording, printed)
    case.faults += live.left_behind(case.place, live.recorded_pids(recording))
    case.faults += live.stock_perf_faults(recording, len(oracle.read_recording(recording.read_bytes())))


def lines(case):
    """The lines of the samples in a method with two hot ones."""
    case.compile(JIT_SOURCE)
    recording, _ = case.place.record(case.program, [case.java, "-cp", case.classes, "Jit", "lines", "1"],
                                     *SAMPLING)
    codes = [code for code in bundled_code(case, recording) if code.name == "LJit;lines(I)I"]
    hit = collections.Counter()
    for sample in oracle.samples_in_anonymous_code(recording.read_bytes()):
        for code in codes:
            if code.address <= sample.frames[0] < code.address + code.size:
                hit[code.line_at(sample.frames[0])] += 1
                break
    hot = hot_lines()
    body = {number for line in hot.values() for number in (line - 1, line)}  # with the loop's head
    inside = sum(count for where, count in hit.items() if where and where[1] in body)
    case.expect(hit.total() > 500, f"only {hit.total()} samples in lines()")
    case.expect(inside >= 0.97 * hit.total(), f"{inside} of {hit.total()} samples in its loops: {hit}")
    case.expect(all(where is None or where[0] == "Jit.java" for where in hit), f"files: {hit}")
    loops = {share: sum(count for where, count in hit.items() if where and where[1] in (line - 1, line))
             for share, line in hot.items()}
    for share, count in loops.items():
        got = 100 * count / max(sum(loops.values()), 1)
        case.expect(abs(got - share) < 6, f"the loop of {share} % has {got:.1f} % of the samples")


def printed_inlines(text, method):
    """Chains of (bytecode, callee) that the last compilation of a method says it inlined."""
    chains, stack, is_in = set(), [], False
    for line in text.splitlines():
        header = re.match(r"\s*\d+\s+\d+[ %nbs!*]+(\d)\s+(\S+::\S+) ", line)
        if header:
            if "made " not in line:
                is_in = header[1] == "4" and header[2] == method
                chains = set() if is_in else chains
            continue
        found = re.match(r"(\s+)@ (\d+)\s+(\S+)::(\S+) \(\d+ bytes\)\s*(.*)", line)
        if not found or not is_in:
            continue
        depth = len(found[1])
        stack = [entry for entry in stack if entry[0] < depth]
        if re.match(r"inline|force inline", found[5]):
            stack.append((depth, (int(found[2]), f"L{found[3].replace('.', '/')};{found[4]}")))
            chains.add(tuple(entry[1] for entry in stack))
    return chains


def dump_inlines(code):
    chains, stack = set(), []
    for scope in code.inlines:
        stack = stack[:scope.depth]
        stack.append((scope.call_bytecode, scope.name[:scope.name.index("(")]))
        chains.add(tuple(stack))
    return chains


def inlining(case):
    """Pairs of caller and callee as HotSpot prints them."""
    case.compile(JIT_SOURCE)
    done, codes = case.run("outer", 0.5, "-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintInlining",
                           "-XX:+PrintCompilation", "-XX:CompileCommand=dontinline,Jit::never",
                           "-XX:CompileCommand=inline,Jit::middle", "-XX:-BackgroundCompilation")
    wanted = printed_inlines(done.stdout, "Jit::outer")
    compiled = [code for code in codes if code.name == "LJit;outer(I)I" and code.tier == "c2"]
    case.expect(compiled, "outer() was not compiled by C2")
    got = dump_inlines(compiled[-1]) if compiled else set()
    print(f"  {case.jdk.name}: {sorted(got)}")
    case.expect(len(wanted) == 4, f"HotSpot printed {wanted}")
    case.expect(got == wanted, f"inlined {sorted(got)}, HotSpot says {sorted(wanted)}")
    # Calls stand where the source has them.
    source = JIT_SOURCE.read_text().splitlines()
    for scope in compiled[-1].inlines if compiled else []:
        callee = re.search(r";(\w+)\(", scope.name)[1]
        case.expect(f"{callee}(" in source[scope.call_line - 1], f"{callee} is not called at {scope}")
        case.expect(scope.call_file == "Jit.java", f"called in {scope.call_file}")


def lambda_names(case):
    """Hidden classes have names that are the same in the next run."""
    case.compile(JIT_SOURCE)
    _, codes = case.run("lambda", 0.3)
    names = {code.name for code in codes if "Lambda" in code.name and "Jit" in code.name}
    names |= {scope.name for code in codes for scope in code.inlines if "Jit$$Lambda" in scope.name}
    case.expect("LJit$$Lambda;getAsInt()I" in names, f"lambdas are named {names}")
    case.expect(not any(re.search(r"0x|/\d|Lambda\$\d", name) for name in names), f"{names}")


def unload(case):
    """Classes come and go, many times, and the collector of garbage takes their code."""
    case.compile(JIT_SOURCE)
    _, codes = case.run("plugins", 0.3, "-Xlog:disable", "-XX:+UseSerialGC", "-XX:-UseOnStackReplacement")
    plugins = [code for code in codes if code.name.startswith("LJit$Plugin;getAsInt")]
    gone = [code for code in plugins if code.unload_time]
    print(f"  {case.jdk.name}: {len(plugins)} plugins, {len(gone)} unloaded")
    case.expect(len(plugins) > 10, f"only {len(plugins)} compilations")
    case.expect(len(gone) > 5, f"{len(gone)} of {len(plugins)} unloaded")
    case.expect(all(code.unload_time >= code.time for code in gone), "unloaded before it was there")
    indices = [code.index for code in codes]
    case.expect(indices == list(range(len(indices))), "code_index is not dense")


def attach(case):
    """record -p: names for what was there and for what comes; then it is as before."""
    case.compile(JIT_SOURCE)
    target, pid = case.start("-XX:+PreserveFramePointer")
    try:
        recording, told = case.record_running(target, pid, *SAMPLING, early=0.7, late=0.5)
        maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    finally:
        output, errors = target.communicate(timeout=60)
    _, rows = case.named_share(recording)
    names = collections.Counter()
    for row in rows:
        names[row["symbol"]] += row["samples"]
    for name in ("Jit.early(int)", "Jit.late(int)"):
        case.expect(names[name] > 300, f"{name} has {names[name]} samples")
    case.expect("tells of its code while it is recorded" in told, "not said")
    case.expect("jit-" not in maps, "the dump is still mapped")
    case.expect(output == "done phases\n", f"output: {output!r}")
    said = [line for line in errors.splitlines() if not line.startswith("WARNING: ")]
    case.expect(not said, f"errors: {said}")
    case.faults += live.left_behind(case.place, {pid})


def attach_command(case):
    """polyperf attach, twice, and --stop, twice; the dump as others would read it."""
    case.compile(JIT_SOURCE)
    target, pid = case.start()
    commands = [["attach", "--dir", case.dumps, pid], ["attach", pid],
                ["attach", "--stop", pid], ["attach", "--stop", pid]]
    try:
        said = []
        for command in commands:
            done = subprocess.run([case.program, *map(str, command)], capture_output=True, text=True,
                                  env=case.place.environment, timeout=60)
            print(done.stderr.strip())
            said.append((done.returncode, done.stderr))
    finally:
        output, _ = target.communicate(timeout=60)
    case.expect([status for status, _ in said] == [0, 0, 0, 1], f"exits {said}")
    case.expect("tells already" in said[1][1], "not said that it runs")
    case.expect("does not tell" in said[3][1], "not said that it does not")
    case.expect(output == "done phases\n", f"output: {output!r}")
    codes = jitdump.read(case.only_dump().read_bytes())
    case.expect(any(code.name == "LJit;early(I)I" and code.time == 0 and code.tier for code in codes),
                "early() is not in the dump")
    lint = subprocess.run([case.program, "lint", case.only_dump()], capture_output=True, text=True)
    case.expect("error" not in lint.stdout and "warning" not in lint.stdout, lint.stdout)


def expect_unharmed(case, target):
    output, _ = target.communicate(timeout=60)
    case.expect(output == "done phases\n", f"output: {output!r}")


def container(case):
    """Another PID namespace, and a /tmp of its own: neither our dumps nor our library are there."""
    if os.geteuid() != 0:
        polyperf.skip("needs root")
    hidden = case.agent.parent
    other = case.place.root / "other"
    other.mkdir()
    script = ('mount -t tmpfs none "$1" && mkdir "$1/kept" && mount --bind "$2" "$1/kept" && '
              'mount --move "$1" /tmp && mount -t tmpfs none "$3" && shift 3 && exec "$@"')
    # The classes lie in the /tmp that goes; the mount keeps them.
    command = ["unshare", "-mpf", "--mount-proc", "sh", "-c", script, "sh", other, case.classes, hidden]
    case.compile(JIT_SOURCE)
    tried = subprocess.run([*command, "true"], capture_output=True, text=True)
    if tried.returncode:
        polyperf.skip(f"unshare or mount is not permitted: {tried.stderr.strip()}")
    case.classes = pathlib.Path("/tmp/kept")
    target, pid = case.start(before=command)
    try:
        recording, _ = case.record_running(target, pid, *SAMPLING)
        inside = [path.name for path in pathlib.Path(f"/proc/{pid}/root/tmp").iterdir()
                  if not re.match(r"hsperfdata_|kept|\.java_pid", path.name)]
    finally:
        expect_unharmed(case, target)
    case.named_share(recording)
    case.expect(not inside, f"left in the container: {inside}")


def other_user(case):
    """root attaches to nobody's JVM; nobody does not attach to root's."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or not setpriv:
        polyperf.skip("needs root and setpriv")
    nobody = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all"]
    case.compile(JIT_SOURCE)
    for path in (case.place.root, case.classes):
        path.chmod(0o755)
    target, pid = case.start(before=nobody)
    try:
        recording, _ = case.record_running(target, pid, *SAMPLING)
    finally:
        expect_unharmed(case, target)
    case.named_share(recording)
    case.faults += live.left_behind(case.place, {pid})
    target, pid = case.start()
    try:
        copy = case.place.root / "polyperf"
        shutil.copy(case.program, copy)
        done = subprocess.run([*nobody, copy, "attach", str(pid)], capture_output=True, text=True)
        print(done.stderr.strip())
        case.expect(done.returncode == 1 and "try: sudo polyperf attach" in done.stderr,
                    f"nobody attaches to root's: {done.stderr}")
    finally:
        expect_unharmed(case, target)


def many(case):
    """Four JVMs at once under one recording."""
    case.compile(JIT_SOURCE)
    script = 'for i in 1 2 3 4; do "$@" & done; wait'
    recording, printed = case.place.record(case.program, ["sh", "-c", script, "sh", case.java, "-cp",
                                                          case.classes, "Jit", "lines", "0.5"], *SAMPLING)
    case.expect(printed.count("done lines") == 4, f"printed {printed!r}")
    case.named_share(recording)
    listed = subprocess.run(["unzip", "-l", recording], capture_output=True, text=True).stdout
    case.expect(len(re.findall(r"process/\d+/jit/jit-\d+\.dump", listed)) == 4, listed)
    case.faults += live.left_behind(case.place, live.recorded_pids(recording))


def checked(case):
    """The JVM's own check of its callers has nothing to say."""
    case.compile(JIT_SOURCE)
    done, codes = case.run("plugins", 0.3, "-Xcheck:jni")
    case.expect(not done.stderr and done.stdout == "done plugins\n",
                f"said: {done.stdout[:500]}{done.stderr[:500]}")
    case.expect(len(codes) > 100, f"only {len(codes)} pieces of code")


def killed(case):
    """kill -9: all that was told is there, and whole."""
    case.compile(JIT_SOURCE)
    process = case.place.start(case.java, case.agent_option(), "-cp", case.classes, "Jit", "plugins", "60")
    live.wait_until("no plugins are told", lambda: sum(
        path.read_bytes().count(b"LJit$Plugin;") for path in case.dumps.glob("**/*.dump")) > 20
        or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    codes = jitdump.read(case.only_dump().read_bytes())
    case.expect(sum(code.name.startswith("LJit$Plugin;") for code in codes) > 5, "plugins are not there")
    lint = subprocess.run([case.program, "lint", case.only_dump()], capture_output=True, text=True)
    print(lint.stdout.strip()[-300:])
    case.expect(not re.search(r"torn|garbage|cut", lint.stdout), lint.stdout[:500])


def long_names(case):
    """A method whose name fills its constant, in a class with the longest a file may have."""
    source = case.place.root / "LongName.java"
    method, inner = "m" * 65500, "C" * 200
    source.write_text(f"""public class LongName {{
        static class {inner} {{ static int {method}(int n) {{ int a = n; for (int i = 0; i < 1000; i++)
            a = a * 31 + i; return a; }} }}
        public static void main(String[] args) {{ int a = 0; for (int i = 0; i < 100000; i++)
            a += {inner}.{method}(i); System.out.println(a); }} }}""")
    case.compile(source)
    done = subprocess.run([case.java, case.agent_option(), "-cp", case.classes, "LongName"],
                          capture_output=True, text=True, timeout=60)
    case.expect(done.returncode == 0 and not done.stderr, f"exit {done.returncode}: {done.stderr[:300]}")
    codes = [code for code in jitdump.read(case.only_dump().read_bytes())
             if code.name.startswith(f"LLongName${inner};mmm")]
    case.expect(codes and all(len(code.name) < 9000 and code.name.endswith("(I)I") for code in codes),
                f"named {[code.name[-20:] for code in codes]}")


def control(case):
    """A file switches the telling on and off while the JVM runs."""
    case.compile(JIT_SOURCE)
    switch = case.place.root / "switch"
    process, pid = case.start(case.agent_option(f",control={switch}"))
    case.expect(not list(case.dumps.iterdir()), "a dump is there before it was asked for")
    switch.touch()
    live.wait_until("what was compiled before is not told", lambda: any(
        code.name == "LJit;early(I)I" for path in case.dumps.glob("**/*.dump") if path.stat().st_size
        for code in jitdump.read(path.read_bytes())))
    found = list(case.dumps.glob("**/*.dump"))
    case.expect(len(found) == 1, f"{len(found)} dumps after the file appeared")
    switch.unlink()
    live.wait_until("the dump is still mapped", lambda: str(case.dumps) not in
                    pathlib.Path(f"/proc/{pid}/maps").read_text())
    expect_unharmed(case, process)


def generate_classes(folder, count):
    folder.mkdir()
    for i in range(count):
        (folder / f"G{i}.java").write_text(
            f"class G{i} {{ int f{i}; static int m(int a, String s) {{ int r = a * {i} + s.length(); "
            f"for (int k = 0; k < r; k++) {{ r ^= k * {i + 1}; if (r > 100) r -= G{(i * 7) % count}.g(k); }}"
            f"return r; }} static int g(int b) {{ return new java.util.ArrayList<Integer>().size() + b; }} }}\n")


def javac(case):
    """A real program: the compiler over a hundred classes."""
    sources = case.place.root / "sources"
    generate_classes(sources, CLASSES)
    listing = case.place.root / "sources.txt"
    listing.write_text("\n".join(map(str, sorted(sources.glob("*.java")))))
    out = case.place.root / "compiled"
    out.mkdir()
    recording, _ = case.place.record(case.program, [case.jdk / "bin/javac", "-d", out, f"@{listing}"],
                                     *SAMPLING)
    case.expect(len(list(out.glob("*.class"))) == CLASSES, "not all was compiled")
    case.named_share(recording)
    codes = bundled_code(case, recording)
    lined = sum(bool(code.lines) for code in codes if code.tier and code.tier != "native")
    methods = sum(bool(code.tier and code.tier != "native") for code in codes)
    print(f"  {case.jdk.name}: {methods} methods, {lined} with lines")
    case.expect(methods > 1000 and lined > 0.97 * methods, f"{lined} of {methods} methods have lines")
    case.faults += live.left_behind(case.place, live.recorded_pids(recording))


def preload_sanitizer(case):
    """For an agent that was built with clang's address sanitizer."""
    runtime = subprocess.run(["clang", "-print-file-name=libclang_rt.asan-x86_64.so"], capture_output=True,
                             text=True).stdout.strip()
    if not os.path.isabs(runtime) or not os.path.exists(runtime):
        polyperf.skip("clang's shared sanitizer runtime is not installed")
    case.place.environment.update(LD_PRELOAD=runtime, ASAN_OPTIONS="handle_segv=0:detect_leaks=0")


def sanitized(case):
    """The agent built with clang's address sanitizer, in a JVM."""
    case.compile(JIT_SOURCE)
    preload_sanitizer(case)
    for what in ("plugins", "outer"):
        done, codes = case.run(what, 0.5)
        case.expect("Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr[:800])
        case.expect(len(codes) > 100, f"only {len(codes)} pieces of code")
        case.only_dump().unlink()


CASES = {"tiers": tiers, "lines": lines, "inlining": inlining, "lambda": lambda_names, "unload": unload,
         "attach": attach, "attach-command": attach_command, "container": container,
         "other-user": other_user, "many": many, "checked": checked, "killed": killed,
         "long-names": long_names, "control": control, "javac": javac, "sanitized": sanitized}
WITHOUT_SAMPLING = ("inlining", "lambda", "unload", "attach-command", "checked", "killed", "long-names",
                    "control", "sanitized")


def run_case(program, agent, run, needs_sampling):
    """In a place of its own for each JDK."""
    found = jdks()
    if not found:
        polyperf.skip("no JDK is installed")
    if not agent.exists():
        polyperf.skip("libpolyperf-jvmti.so is not built: there is no jvmti.h")
    reason = live.why_no_sampling()
    if reason and needs_sampling:
        polyperf.skip(reason)
    faults = []
    for jdk in found:
        with live.place() as place:
            case = Case(program, agent, jdk, place)
            run(case)
            faults += case.faults
    if faults:
        polyperf.fail(*faults)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] not in CASES:
        sys.exit(f"{__doc__}")
    run_case(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(),
             CASES[sys.argv[3]], sys.argv[3] not in WITHOUT_SAMPLING)
