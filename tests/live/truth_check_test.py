#!/usr/bin/env python3
"""The checker must find each fault that it is there to find."""
import argparse
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import map_code
import truth_check

LOG = """# pid 7
7 1000000 2000000 first 1000 256
7 2100000 3000000 second 1000 128
7 3500000 4000000 third 2000 64
8 1000000 4000000 other 9000 16
"""
RIGHT = """  7 0.001000000: 1000 first exact
  7 0.002000000: 10ff first exact
  7 0.003000000: 107f second early
  8 0.003999999: 9004 other exact
  7 0.001500000: 400123 main exact
"""


class Checker(unittest.TestCase):
    def check(self, samples, trust=True, **changed):
        options = argparse.Namespace(trust=trust, min_right=100.0, min_samples=1, show=3)
        vars(options).update(changed)
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")
            log.write_text(LOG)
            self.printed = io.StringIO()
            with contextlib.redirect_stdout(self.printed):
                return truth_check.check(log, samples.splitlines(), options)

    def test_all_right(self):
        self.assertEqual(self.check(RIGHT), [])
        self.assertIn("4 of 4 right", self.printed.getvalue())

    def test_without_trust(self):
        self.assertEqual(self.check("7 0.001000000:  1000 first\n", trust=False), [])

    def test_wrong_name_called_exact(self):
        faults = self.check(RIGHT + "7 0.001500000: 1010 second exact\n", min_right=50)
        self.assertEqual(faults, ["1 wrong names are called exact"])

    def test_wrong_name_that_is_flagged(self):
        line = "7 0.001500000: 1010 second ambiguous\n"
        self.assertEqual(self.check(RIGHT + line, min_right=80), [])
        self.assertEqual(self.check(RIGHT + line), ["80.00 % right, wanted 100.0 %"])

    def test_name_at_another_time(self):
        """The old owner of a reused address is wrong once the new one runs."""
        faults = self.check("7 0.002500000: 1010 first exact\n")
        self.assertIn("1 wrong names are called exact", faults)

    def test_unnamed_is_not_right(self):
        self.assertEqual(self.check(RIGHT + "7 0.001500000: 1010 [unknown] unknown\n"),
                         ["80.00 % right, wanted 100.0 %"])

    def test_boundary_is_judged(self):
        self.assertEqual(self.check("7 0.002001000: 10f0 first exact\n"), [])
        self.assertIn("1 wrong names are called exact",
                      self.check("7 0.002001000: 10f0 second exact\n"))

    def test_astray(self):
        faults = self.check(RIGHT + "7 0.003700000: 1010 second exact\n")
        self.assertEqual(faults, ["1 samples in logged code at times when it did not run"])

    def test_too_few_samples(self):
        self.assertEqual(self.check(RIGHT, min_samples=5), ["only 4 samples to judge, wanted 5"])
        self.assertTrue(self.check(""))

    def code_faults(self, made, loads, min_right=100.0):
        runs = {7: [truth_check.Run(10, 20, "first", 4096, 2), truth_check.Run(30, 40, "second", 4096, 2)]}
        told = map_code.Map("process/7/perf.map", 7, {}, [
            map_code.Load(time, 4096, len(code), 0, name, code) for time, name, code in loads], b"")
        with contextlib.redirect_stdout(io.StringIO()):
            return list(truth_check.code_faults(runs, made, [told], min_right))

    def test_code(self):
        made = {(7, "first"): b"ab", (7, "second"): b"cd"}
        right = [(15, b"first", b"ab"), (31, b"second", b"cd")]
        self.assertEqual(self.code_faults(made, right), [])
        self.assertTrue(self.code_faults(made, right[:1]))
        self.assertEqual(self.code_faults(made, right[:1], min_right=50), [])
        early = [(15, b"first", b"xx"), right[1]]
        self.assertEqual(self.code_faults(made, early, min_right=50),
                         ["wrong code of first, read 5 ns before its end"])
        # Read when the next one was there already: lost, and no fault.
        late = [(31, b"first", b"cd"), right[1]]
        self.assertEqual(self.code_faults(made, late, min_right=50), [])
        self.assertTrue(self.code_faults({}, []))

    def test_line_that_is_no_sample(self):
        with self.assertRaises(SystemExit):
            self.check("lost 3 events\n")
        with self.assertRaises(SystemExit):
            self.check("7 0.001000000: 1000 first certain\n")


if __name__ == "__main__":
    unittest.main()
