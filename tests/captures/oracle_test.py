#!/usr/bin/env python3
"""The oracle must find the samples that stock perf finds; and it must know an old owner from a new one."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import captures_test
import oracle

LINE = re.compile(r"\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s+([0-9a-f]+)")


def samples_of_perf(recording):
    command = ["perf", "script", "-i", str(recording), "--ns", "-G", "-F", "pid,tid,time,ip"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for found in map(LINE.match, text.splitlines()):
        yield (int(found[1]), int(found[2]), int(found[3]) * 10**9 + int(found[4]), int(found[5], 16))


class AgainstPerf(unittest.TestCase):
    @unittest.skipUnless(shutil.which("perf"), "perf is not installed")
    def test_same_samples(self):
        for path in sorted(captures_test.CAPTURES.glob("*/perf.data.xz")):
            with self.subTest(path.parent.name), tempfile.TemporaryDirectory() as folder:
                recording, _, _ = captures_test.unpack(path.parent.name, pathlib.Path(folder))
                samples = oracle.read_recording(recording.read_bytes())
                own = sorted((s.pid, s.tid, s.time, s.frames[0]) for s in samples)
                self.assertEqual(own, sorted(samples_of_perf(recording)))


class Lookup(unittest.TestCase):
    def setUp(self):
        loads = [oracle.Code(time, start, start + 0x100, name) for time, start, name in (
            (1000, 0x1000, "old"), (2000, 0x1080, "new"), (9000, 0x1000, "newest"))]
        self.process = oracle.Process(loads, oracle.read_map(b"0x2000 10 a b\r\n2000 10 c\nbad\n"))

    def test_by_time(self):
        for time, address, name in ((1000, 0x1000, "old"), (1999, 0x10ff, "old"),
                                    (2000, 0x1080, "new"), (2000, 0x117f, "new"),
                                    (9000, 0x1080, "newest")):
            self.assertEqual(self.process.name(address, time), name)

    def test_dead_half(self):
        self.assertIsNone(self.process.name(0x1000, 2000))
        self.assertIsNone(self.process.name(0x1100, 9000))

    def test_early(self):
        self.assertEqual(self.process.name(0x1000, 1), "old")
        self.assertEqual(self.process.name(0x1100, 1), "new")

    def test_map(self):
        self.assertEqual(self.process.name(0x200f, 5), "c")
        self.assertIsNone(self.process.name(0x2010, 5))


if __name__ == "__main__":
    unittest.main()
