"""The example program and the notebook beside it, whose cells are run in order."""

import contextlib
import gzip
import itertools
import json
import os
import subprocess
import sys
import unittest
from unittest import mock

from common import ROOT, pawl

EXAMPLES = os.path.join(ROOT, "examples", "python")


class Examples(unittest.TestCase):
    def test_program(self):
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, "adult.py")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"accuracy 8\d\.\d %.*released on held-out rows\nepsilon 1 at delta 1e-06")

    def test_notebook(self):
        """By the interpreter itself: the last line of a cell is shown as a notebook shows it."""
        with open(os.path.join(EXAMPLES, "adult.ipynb"), encoding="utf-8") as f:
            cells = json.load(f)["cells"]
        before, names, shown = os.getcwd(), {}, []
        os.chdir(EXAMPLES)
        opened = gzip.open
        first = mock.patch("gzip.open", lambda *a, **k: contextlib.nullcontext(itertools.islice(opened(*a, **k), 6000)))  # test_program takes all rows
        first.start()
        try:
            for c in cells:
                if c["cell_type"] != "code":
                    continue
                body, _, last = c["source"].rpartition("\n")
                try:
                    last = compile(last, "cell", "eval")
                except SyntaxError:
                    body, last = c["source"], None
                exec(compile(body, "cell", "exec"), names)
                if last is not None:
                    value = eval(last, names)
                    shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
        finally:
            first.stop()
            os.chdir(before)
        self.assertEqual(len(shown), 6)
        self.assertIn("<iframe", shown[1])
        self.assertIn("Accuracy", shown[2])
        self.assertLess(pawl.ledger.left("census", names["ledger"])[0], 0.5)


if __name__ == "__main__":
    unittest.main()
