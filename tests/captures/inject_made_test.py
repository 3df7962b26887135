#!/usr/bin/env python3
"""What stock perf shows of injected recordings that are made for one case each.

    inject_made_test.py POLYPERF

Each case says which name stands at which time and address; perf must show it, and so must
`polyperf script` of the recording itself.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import handmade
import injected
import stock

MS = 1_000_000
PID = 424201
CHILD = 424202
BASE = 0x7f0000000000
HEAP = "//anon"
PROGRAM = None


class Case(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="inject-made-")
        self.addCleanup(self.holder.cleanup)
        self.folder = pathlib.Path(self.holder.name)
        self.perf = stock.Perf(self.folder)
        self.recording = handmade.Recording()
        self.dump = handmade.Dump(PID)
        self.wanted = {}
        self.dead = set()  # (pid, time, name) that polyperf calls stale
        self.recording.comm(PID, 1 * MS, "made", executed=True)
        self.recording.mmap(PID, 2 * MS, BASE, 0x100000, HEAP)
        self.recording.mmap(PID, 3 * MS, 0x7fff00000000, 0x1000, f"/run/jit-{PID}.dump")

    def expect(self, ms, address, name, pid=PID):
        """A sample, and the name its leaf must have; None: none but that of dead code."""
        self.recording.sample(pid, int(ms * MS), address)
        self.wanted[pid, int(ms * MS)] = name

    def load(self, ms, start, size, name):
        return self.dump.load(int(ms * MS), start, size, name)

    def write(self):
        self.dump.write(self.folder / f"jit-{PID}.dump")
        path = self.folder / "made.data"
        self.recording.write(path)
        return path

    def check(self, recording=None):
        recording = recording or self.write()
        target = injected.inject(PROGRAM, recording, self.folder / "out.data")
        self.check_leaves(injected.own_script(PROGRAM, recording))
        self.check_leaves(self.perf.script(target))
        return target

    def check_leaves(self, samples):
        """Dead code may have its old name, if polyperf says that it is dead."""
        names = {}
        for sample in samples:
            name, trust = sample.frames[0].name, sample.frames[0].trust
            if trust == "stale":
                self.dead.add((sample.tid, sample.time, name))
            key = sample.tid, sample.time
            is_dead = (*key, name) in self.dead
            names[key] = None if is_dead or name == stock.UNKNOWN else name
        self.assertEqual(names, self.wanted)


class Time(Case):
    def test_reuse(self):
        self.load(10, BASE + 0x1000, 0x100, "old")
        self.load(20, BASE + 0x1080, 0x100, "new")
        self.load(30, BASE + 0x1000, 0x40, "newest")
        for ms, offset, name in ((15, 0x1010, "old"), (16, 0x10ff, "old"), (17, 0x1300, None),
                                 (25, 0x1080, "new"), (26, 0x117f, "new"), (27, 0x1180, None),
                                 (35, 0x1000, "newest"), (36, 0x103f, "newest"),
                                 (37, 0x1090, "new"), (19.999, 0x1090, "old"), (20, 0x1090, "new")):
            self.expect(ms, BASE + offset, name)
        self.check()

    def test_rest_of_overwritten_code(self):
        self.load(10, BASE + 0x1000, 0x300, "old")
        self.load(20, BASE + 0x1100, 0x100, "new")
        for ms, offset, name in ((15, 0x1010, "old"), (16, 0x1110, "old"), (25, 0x1010, None),
                                 (26, 0x1110, "new"), (27, 0x1210, None)):
            self.expect(ms, BASE + offset, name)
        self.check()

    def test_same_function_again(self):
        self.load(10, BASE + 0x1000, 0x100, "f")
        self.load(20, BASE + 0x3000, 0x100, "f")
        self.load(30, BASE + 0x1000, 0x100, "g")
        for ms, offset, name in ((15, 0x1010, "f"), (25, 0x1010, "f"), (26, 0x3010, "f"),
                                 (35, 0x1010, "g"), (36, 0x3010, "f")):
            self.expect(ms, BASE + offset, name)
        self.check()

    def test_before_its_load(self):
        self.expect(9, BASE + 0x1010, "late")
        self.load(10, BASE + 0x1000, 0x100, "late")
        self.expect(11, BASE + 0x1010, "late")
        self.check()

    def test_before_its_load_where_another_was(self):
        self.load(10, BASE + 0x1000, 0x100, "first")
        self.load(20, BASE + 0x1000, 0x100, "second")
        self.expect(19, BASE + 0x1010, "first")
        self.expect(21, BASE + 0x1010, "second")
        self.check()

    def test_move(self):
        index = self.load(10, BASE + 0x1000, 0x100, "moving")
        self.dump.move(20 * MS, index, BASE + 0x1000, BASE + 0x2000, 0x100)
        self.load(50, BASE + 0x1000, 0x100, "successor")
        for ms, offset, name in ((15, 0x1010, "moving"), (25, 0x2010, "moving"),
                                 (26, 0x1010, None), (55, 0x1010, "successor"),
                                 (56, 0x20ff, "moving")):
            self.expect(ms, BASE + offset, name)
        self.check()

    def test_move_within_itself(self):
        index = self.load(10, BASE + 0x1000, 0x100, "sliding")
        self.dump.move(20 * MS, index, BASE + 0x1000, BASE + 0x1080, 0x100)
        for ms, offset, name in ((15, 0x1010, "sliding"), (25, 0x1110, "sliding"),
                                 (26, 0x1010, None)):
            self.expect(ms, BASE + offset, name)
        self.check()

    def test_samples_not_in_order(self):
        """Two CPUs: what the second wrote before the round ended is older than the first's."""
        self.load(10, BASE + 0x1000, 0x100, "old")
        self.load(20, BASE + 0x1000, 0x100, "new")
        self.recording.round()
        for ms, name in ((22, "new"), (23, "new"), (11, "old"), (21, "new"), (12, "old")):
            self.expect(ms, BASE + 0x1010, name)
        self.recording.round()
        self.expect(25, BASE + 0x1010, "new")
        self.recording.round()
        self.check()

    def test_callers(self):
        self.load(10, BASE + 0x1000, 0x100, "callee")
        self.load(10, BASE + 0x1100, 0x100, "caller")
        self.load(20, BASE + 0x1000, 0x100, "other")
        self.recording.sample(PID, 15 * MS, BASE + 0x1010, BASE + 0x1120)
        self.recording.sample(PID, 25 * MS, BASE + 0x1010, BASE + 0x1120)
        target = injected.inject(PROGRAM, self.write(), self.folder / "out.data")
        names = [[frame.name for frame in s.frames] for s in self.perf.script(target)]
        self.assertEqual(names, [["callee", "caller"], ["other", "caller"]])


class Memory(Case):
    def test_protection_changes(self):
        """Each mprotect to executable is a mapping for the kernel; the code stays."""
        self.load(10, BASE + 0x1000, 0x100, "first")
        self.recording.mmap(PID, 11 * MS, BASE, 0x10000, HEAP)
        self.expect(12, BASE + 0x1010, "first")
        self.load(20, BASE + 0x1200, 0x100, "second")
        self.recording.mmap(PID, 21 * MS, BASE, 0x10000, HEAP)
        self.recording.mmap(PID, 22 * MS, BASE + 0x1000, 0x1000, "[anon:js-code]")
        self.expect(23, BASE + 0x1010, "first")
        self.expect(24, BASE + 0x1210, "second")
        self.check()

    def test_memfd(self):
        self.recording.mmap(PID, 4 * MS, BASE, 0x10000, "/memfd:doublemapper (deleted)")
        self.load(10, BASE + 0x1000, 0x100, "first")
        self.recording.mmap(PID, 11 * MS, BASE, 0x10000, "/memfd:doublemapper (deleted)")
        self.expect(12, BASE + 0x1010, "first")
        self.expect(13, BASE + 0x2010, None)
        self.check()

    def test_file_mapped_over_it(self):
        self.load(10, BASE + 0x1000, 0x100, "first")
        self.expect(15, BASE + 0x1010, "first")
        self.recording.mmap(PID, 20 * MS, BASE, 0x10000, "/nonexistent/library.so")
        self.expect(25, BASE + 0x1010, None)
        self.load(30, BASE + 0x1000, 0x100, "second")
        self.expect(35, BASE + 0x1010, "second")
        self.check()

    def test_data_mapped_elsewhere(self):
        self.load(10, BASE + 0x1000, 0x100, "first")
        self.recording.mmap(PID, 11 * MS, BASE + 0x20000, 0x1000, HEAP, executable=False)
        self.expect(15, BASE + 0x1010, "first")
        self.check()

    def test_exec(self):
        self.load(10, BASE + 0x1000, 0x100, "first")
        self.expect(15, BASE + 0x1010, "first")
        self.recording.comm(PID, 20 * MS, "next", executed=True)
        self.recording.mmap(PID, 21 * MS, BASE, 0x10000, HEAP)
        self.expect(25, BASE + 0x1010, None)
        self.check()


class Processes(Case):
    def test_fork(self):
        """The child has what was there; what the parent does later is not the child's."""
        self.load(10, BASE + 0x1000, 0x100, "old")
        self.recording.fork(PID, CHILD, 20 * MS)
        self.load(30, BASE + 0x1000, 0x100, "new")
        self.expect(35, BASE + 0x1010, "new")
        self.expect(36, BASE + 0x1010, "old", CHILD)
        self.check()

    def test_fork_with_a_dump_of_its_own(self):
        self.load(10, BASE + 0x1000, 0x100, "old")
        self.load(10, BASE + 0x2000, 0x100, "shared")
        self.recording.fork(PID, CHILD, 20 * MS)
        self.recording.mmap(CHILD, 21 * MS, 0x7fff00001000, 0x1000, f"/run/jit-{CHILD}.dump")
        own = handmade.Dump(CHILD)
        own.load(25 * MS, BASE + 0x1000, 0x100, "own")
        own.write(self.folder / f"jit-{CHILD}.dump")
        for ms, offset, name, pid in ((22, 0x1010, "old", CHILD), (30, 0x1010, "own", CHILD),
                                      (31, 0x2010, "shared", CHILD), (32, 0x1010, "old", PID)):
            self.expect(ms, BASE + offset, name, pid)
        self.check()

    def test_strangers_with_the_same_addresses(self):
        self.recording.comm(CHILD, 1 * MS, "other", executed=True)
        self.recording.mmap(CHILD, 2 * MS, BASE, 0x100000, HEAP)
        self.recording.mmap(CHILD, 3 * MS, 0x7fff00001000, 0x1000, f"/run/jit-{CHILD}.dump")
        other = handmade.Dump(CHILD)
        other.load(12 * MS, BASE + 0x1000, 0x200, "theirs")
        other.write(self.folder / f"jit-{CHILD}.dump")
        self.load(10, BASE + 0x1000, 0x100, "mine")
        self.expect(15, BASE + 0x1010, "mine")
        self.expect(16, BASE + 0x1010, "theirs", CHILD)
        self.expect(17, BASE + 0x1110, None)
        self.expect(18, BASE + 0x1110, "theirs", CHILD)
        self.check()

    def test_namespace(self):
        """The process calls itself 1; its dump's mapping says which it is outside."""
        self.recording = handmade.Recording()
        self.recording.comm(PID, 1 * MS, "made", executed=True)
        self.recording.mmap(PID, 2 * MS, BASE, 0x100000, HEAP)
        self.recording.mmap(PID, 3 * MS, 0x7fff00000000, 0x1000, "/run/jit-1.dump")
        self.dump = handmade.Dump(1)
        self.load(10, BASE + 0x1000, 0x100, "inside")
        self.expect(15, BASE + 0x1010, "inside")
        path = self.write()
        (self.folder / f"jit-{PID}.dump").rename(self.folder / "jit-1.dump")
        self.check(path)


class Names(Case):
    def test_names_of_all_kinds(self):
        names = ["two words", "a:b:c", "größe", "operator()(int, char const*)", "x" * 3000, "*^~+",
                 "<anonymous>", "JS:*f /a b/c.js:1:2", "#hash", "trailing)", "[bracketed]"]
        for k, name in enumerate(names):
            self.load(10 + k, BASE + 0x1000 * (1 + k), 0x100, name)
            self.expect(50 + k, BASE + 0x1000 * (1 + k) + 0x10, name)
        self.check()

    def test_map(self):
        (self.folder / f"perf-{PID}.map").write_text(
            f"{BASE + 0x1000:x} 100 first\n{BASE + 0x2000:x} 80 second one\n")
        for ms, offset, name in ((15, 0x1010, "first"), (16, 0x1100, None), (17, 0x207f, "second one")):
            self.expect(ms, BASE + offset, name)
        self.check()

    def test_map_beside_a_dump(self):
        (self.folder / f"perf-{PID}.map").write_text(
            f"{BASE + 0x1000:x} 100 in_both\n{BASE + 0x2000:x} 80 in_the_map\n")
        self.load(10, BASE + 0x1000, 0x100, "in_the_dump")
        self.expect(15, BASE + 0x1010, "in_the_dump")
        self.expect(16, BASE + 0x2010, "in_the_map")
        self.check()


class Ways(Case):
    def fill(self):
        for k in range(50):
            self.load(10 + k, BASE + 0x1000 + k % 7 * 0x80, 0x100, f"f{k}")
            self.expect(10.5 + k, BASE + 0x1010 + k % 7 * 0x80, f"f{k}")

    def test_pipe_input(self):
        self.fill()
        self.write()
        self.recording.write_pipe(self.folder / "pipe.data")
        self.check(self.folder / "pipe.data")

    def test_pipes(self):
        self.fill()
        path = self.write()
        done = subprocess.run([PROGRAM, "inject", "-i", "-", "-o", "-"], input=path.read_bytes(),
                              capture_output=True, cwd=self.folder,
                              env=injected.environment(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / "through.data").write_bytes(done.stdout)
        self.check_leaves(injected.own_script(PROGRAM, path))
        self.perf.build_ids = self.folder / ".debug"  # there is no folder beside a pipe
        self.check_leaves(self.perf.script("through.data"))

    def test_same_input_same_bytes(self):
        self.fill()
        first = self.check()
        kept = first.read_bytes(), {p.relative_to(self.folder): p.read_bytes()
                                    for p in injected.images(first)}
        again = injected.inject(PROGRAM, self.write(), self.folder / "out.data")
        self.assertEqual(kept, (again.read_bytes(), {p.relative_to(self.folder): p.read_bytes()
                                                     for p in injected.images(again)}))

    def test_one_file_a_process_and_nothing_else(self):
        self.fill()
        path = self.write()
        before = set(self.folder.rglob("*"))
        target = injected.inject(PROGRAM, path, self.folder / "out.data")
        made = {p for p in set(self.folder.rglob("*")) - before if not p.is_dir()}
        self.assertEqual(made, {target, *injected.images(target)})
        self.assertEqual(len(injected.images(target)), 1)

    def test_all_code_or_what_was_hit(self):
        self.fill()
        for k in range(500):
            self.load(100, BASE + 0x40000 + k * 0x100, 0x100, f"idle{k}")
        hit = self.check()
        whole = injected.inject(PROGRAM, self.write(), self.folder / "all.data", "--all")
        self.check_leaves(self.perf.script(whole))
        self.assertEqual(len(injected.sizes_of(hit)), 50)
        self.assertEqual(len(injected.sizes_of(whole)), 550)

    def test_human_names(self):
        self.load(10, BASE + 0x1000, 0x100, "JS:*alpha /home/u/work.js:2:32")
        self.expect(15, BASE + 0x1010, "alpha")
        human = injected.inject(PROGRAM, self.write(), self.folder / "human.data", "--human-names")
        text = subprocess.run([PROGRAM, "script", "-i", self.folder / "made.data", "--ns", "-F",
                               stock.FIELDS], capture_output=True, text=True, check=True).stdout
        name = stock.read_script(text)[0].frames[0].name
        self.assertEqual(self.perf.script(human)[0].frames[0].name, name)
        self.assertNotIn("JS:", name)

    def test_nothing_to_inject(self):
        self.recording.sample(PID, 15 * MS, BASE + 0x1010)
        self.wanted[PID, 15 * MS] = None
        self.check()


class WherePerfIsWrong(Case):
    """What perf's own injection makes of it: the reason for each difference that is let pass."""

    def check_both(self, dump_name=f"jit-{PID}.dump"):
        """Ours is right; returns perf's names."""
        path = self.write()
        (self.folder / f"jit-{PID}.dump").rename(self.folder / dump_name)
        self.check(path)
        samples = self.perf.script(self.perf.inject_jit(path))
        if not re.match(r"perf version 6\.1\b", self.perf.run("--version").stdout):
            self.skipTest("shown for perf 6.1 alone")
        return [sample.frames[0].name for sample in samples]

    def test_code_index_twice(self):
        self.load(10, BASE + 0x1000, 0x100, "first")
        self.dump.count -= 1
        self.load(11, BASE + 0x2000, 0x100, "second")
        self.expect(15, BASE + 0x1010, "first")
        self.expect(16, BASE + 0x2010, "second")
        self.assertEqual(self.check_both(), ["second", "second"])

    def test_name_of_the_dump(self):
        """bun puts the thread before the process."""
        self.recording = handmade.Recording()
        self.recording.comm(PID, 1 * MS, "made", executed=True)
        self.recording.mmap(PID, 2 * MS, BASE, 0x100000, HEAP)
        name = f"jit-{PID + 7}-{PID}.dump"
        self.recording.mmap(PID, 3 * MS, 0x7fff00000000, 0x1000, f"/run/{name}")
        self.load(10, BASE + 0x1000, 0x100, "first")
        self.expect(15, BASE + 0x1010, "first")
        self.assertEqual(self.check_both(name), [stock.UNKNOWN])

    def test_before_its_load(self):
        self.expect(9, BASE + 0x1010, "late")
        self.load(10, BASE + 0x1000, 0x100, "late")
        self.assertEqual(self.check_both(), [stock.UNKNOWN])

    def test_map_of_code_in_memfd(self):
        """.NET: the kernel sees a file there, so perf looks into no map."""
        self.recording.mmap(PID, 4 * MS, BASE, 0x10000, "/memfd:doublemapper (deleted)")
        self.dump = handmade.Dump(PID)
        perf_map = self.folder / f"perf-{PID}.map"
        perf_map.write_text(f"{BASE + 0x1000:x} 100 managed\n")
        self.expect(15, BASE + 0x1010, "managed")
        path = self.write()
        self.check(path)
        with stock.maps_in_tmp([perf_map]):
            samples = self.perf.script(path)
        self.assertEqual(samples[0].frames[0].name, stock.UNKNOWN)

    def test_lines_of_a_map_overlap(self):
        self.dump = handmade.Dump(PID)
        perf_map = self.folder / f"perf-{PID}.map"
        perf_map.write_text(f"{BASE + 0x1000:x} 100 first\n{BASE + 0x1000:x} 80 second\n")
        self.expect(15, BASE + 0x1010, "second")
        path = self.write()
        self.check(path)
        with stock.maps_in_tmp([perf_map]):
            samples = self.perf.script(path)
        self.assertNotEqual(samples[0].frames[0].name, "second")

    def test_call_ends_the_code(self):
        """Never what follows, which called nobody; the caller's name would be best."""
        self.load(10, BASE + 0x1000, 0x100, "callee")
        self.load(10, BASE + 0x2000, 0x100, "caller")
        self.load(10, BASE + 0x2100, 0x100, "what_follows")
        self.recording.sample(PID, 15 * MS, BASE + 0x1010, BASE + 0x2100)
        path = self.write()
        target = injected.inject(PROGRAM, path, self.folder / "out.data")
        self.assertEqual(injected.own_script(PROGRAM, path)[0].frames[1].name, "caller")
        self.assertNotEqual(self.perf.script(target)[0].frames[1].name, "what_follows")
        theirs = self.perf.script(self.perf.inject_jit(path))
        self.assertEqual(theirs[0].frames[1].name, "what_follows")

    def test_overwritten_code(self):
        self.load(10, BASE + 0x1000, 0x300, "old")
        self.load(20, BASE + 0x1100, 0x100, "new")
        self.expect(25, BASE + 0x1010, None)
        self.assertEqual(self.check_both(), ["old"])

    def test_move(self):
        index = self.load(10, BASE + 0x1000, 0x100, "moving")
        self.dump.move(20 * MS, index, BASE + 0x1000, BASE + 0x2000, 0x100)
        self.expect(25, BASE + 0x2010, "moving")
        self.assertEqual(self.check_both(), ["moving"])

    def test_namespace(self):
        self.recording = handmade.Recording()
        self.recording.comm(PID, 1 * MS, "made", executed=True)
        self.recording.mmap(PID, 2 * MS, BASE, 0x100000, HEAP)
        self.recording.mmap(PID, 3 * MS, 0x7fff00000000, 0x1000, "/run/jit-1.dump")
        self.dump = handmade.Dump(1)
        self.load(10, BASE + 0x1000, 0x100, "inside")
        self.expect(15, BASE + 0x1010, "inside")
        self.assertEqual(self.check_both("jit-1.dump"), [stock.UNKNOWN])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
