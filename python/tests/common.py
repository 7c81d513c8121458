"""Where the tests keep their ledgers, and small tables."""

import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))

import pawl  # noqa: E402

_home = tempfile.TemporaryDirectory(prefix="pawl-test-")
for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
    os.environ[name] = _home.name
os.environ.pop("PAWL_LEDGER", None)
if "PAWL_BINARY" not in os.environ and shutil.which("pawl") is None and shutil.which("go"):
    os.environ["PAWL_BINARY"] = os.path.join(_home.name, "pawl")
    subprocess.run(["go", "build", "-o", os.environ["PAWL_BINARY"], "./cmd/pawl"], cwd=ROOT, check=True)

SCHEMA = {"age": (0, 100), "ward": ["A", "B", "C"], "smokes": "boolean"}


def patients(n=2000, seed=1):
    """Columns of made-up patients and the target, on which age and smoking have an effect."""
    r = random.Random(seed)
    x = {"age": [], "ward": [], "smokes": []}
    y = []
    for _ in range(n):
        age, smokes = r.randrange(20, 90), r.random() < 0.3
        x["age"].append(age)
        x["ward"].append(r.choice("ABC"))
        x["smokes"].append(smokes)
        y.append("ill" if age + 40 * smokes + r.gauss(0, 10) > 70 else "well")
    return x, y


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pawl-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.ledger = "sqlite:" + os.path.join(folder.name, "ledger.db")

    def classifier(self, **given):
        return pawl.PawlClassifier(**{**dict(epsilon=1, dataset="clinic", delta=1e-6, schema=SCHEMA, classes=["well", "ill"],
                                             rows="about 2000", ledger=self.ledger, preset="quick"), **given})

    def entries(self):
        """How many charges the ledger holds. Its file is read without pawl, which takes a process each time."""
        path = self.ledger.removeprefix("sqlite:")
        if not os.path.exists(path):
            return 0
        with contextlib.closing(sqlite3.connect(path)) as db:
            return db.execute("SELECT count(*) FROM ledger_records WHERE kind IN ('reserve', 'book')").fetchone()[0]

    def refuses(self, kind, message, hint, call, *args, **kwargs):
        """The call raises, with these words in message and hint, and charges nothing."""
        before = self.entries()
        with self.assertRaises(kind) as caught:
            call(*args, **kwargs)
        self.assertRegex(str(caught.exception), message)
        if hint:
            self.assertRegex(caught.exception.hint, hint)
        self.assertEqual(self.entries(), before)
