"""What needs nothing but Python."""

import datetime
import glob
import os
import pickle
import tempfile
import unittest

from common import SCHEMA, Case, patients, pawl
from pawl._table import Table, cell, declare


class Classifier(Case):
    def test_job(self):
        x, y = patients()
        clf = self.classifier(budget=2)
        self.assertIn("nothing is charged", clf._repr_html_())
        self.assertIs(clf.fit(x, y), clf)
        self.assertEqual(self.entries(), 1)
        self.assertEqual(list(clf.classes_), ["well", "ill"])
        self.assertGreater(clf.score_, 0.7)
        self.assertEqual(clf.score_.how, "released on held-out rows")
        self.assertLess(clf.score_.interval[0], clf.score_)
        self.assertEqual(clf.statement_["privacy"]["epsilon_asked"], "1")
        self.assertIn("<html", clf.report_.html)
        self.assertIn(clf.entry_, clf._repr_html_())
        old = {"age": [85, 22], "ward": ["A", "B"], "smokes": [True, False]}
        self.assertEqual(list(clf.predict(old)), ["ill", "well"])
        proba = clf.predict_proba(old)
        self.assertGreater(proba[0][1], 0.5)
        self.assertAlmostEqual(sum(proba[0]), 1)
        again = pickle.loads(pickle.dumps(clf))
        self.assertEqual(list(again.predict(old)), ["ill", "well"])
        self.assertEqual((again.score_, again.score_.baseline), (clf.score_, clf.score_.baseline))
        self.assertEqual(self.entries(), 1, "predictions are free")
        self.assertEqual(again.score(old, ["ill", "ill"], public=True), 0.5)
        self.refuses(pawl.UsageError, "exact and not charged", "score_", clf.score, x, y)
        self.refuses(pawl.UsageError, "fitted.*charged once more", "pawl search", clf.fit, x, y)
        out = os.path.join(self.folder, "out")
        clf.save(out)
        checked = pawl.verify(out)
        self.assertEqual((checked["verified"], checked["entry"]), (True, clf.entry_))
        self.assertIn("signed these files", checked._repr_html_())
        self.assertEqual(pawl.verify(self.folder)._repr_html_(), checked._repr_html_())
        with open(os.path.join(out, "report.html"), "a") as f:
            f.write("<!-- -->")
        self.refuses(pawl.PawlError, "report.html is not the file that was signed", "do not rely", pawl.verify, out)
        # A second job of the same data set fits into the budget, a third does not.
        self.assertLess(pawl.ledger.left("clinic", self.ledger)[0], 1.01)
        self.refuses(pawl.RefusedError, "budget exhausted", "steward", self.classifier(epsilon=1.9).fit, x, y)

    def test_rows_leave_no_file(self):
        x, y = patients(400)
        # A cell that no number of a report is by chance.
        x["age"][0] = 77.50813746291
        seen = []
        real = pawl._estimators.run

        def looking(*args, **kwargs):
            out = real(*args, **kwargs)
            for path in glob.glob(os.path.join(tempfile.gettempdir(), "pawl-*", "**"), recursive=True):
                if os.path.isfile(path):
                    with open(path, "rb") as f:
                        seen.append(b"77.50813746" in f.read() and path)
            return out

        pawl._estimators.run = looking
        try:
            self.classifier(epsilon=1, rows="about 400", flags=["--anyway"]).fit(x, y)
        finally:
            pawl._estimators.run = real
        self.assertGreater(len(seen), 3)
        self.assertFalse(any(seen), [path for path in seen if path])

    def test_declarations(self):
        x, y = patients(20)
        refuses = self.refuses
        refuses(pawl.UsageError, "column 'age', and 1 more: no bounds or categories", "schema=", self.classifier(schema={"smokes": "boolean"}).fit, x, y)
        refuses(pawl.UsageError, "'target' is not declared", "", self.classifier(classes=None).fit, x, y)
        refuses(pawl.UsageError, "a value that classes does not declare", "public", self.classifier(classes=["well", "dead"]).fit, x, y)
        refuses(pawl.UsageError, "two finite numbers", "schema=", self.classifier(schema={**SCHEMA, "age": (9, 9)}).fit, x, y)
        refuses(pawl.UsageError, "'patient' is not a column", "", self.classifier(unit="patient", rows_per_unit=1).fit, x, y)
        refuses(pawl.UsageError, "needs rows_per_unit", "", self.classifier(unit="ward").fit, x, y)
        refuses(pawl.UsageError, "category", "", self.classifier(schema={**SCHEMA, "ward": ["A", "B"]}).fit, x, y)
        refuses(pawl.UsageError, "dataset is missing", "", self.classifier(dataset=None).fit, x, y)
        refuses(pawl.UsageError, "no-such.yaml", "template", self.classifier(schema="no-such.yaml").fit, x, y)
        refuses(pawl.UsageError, "is not there", "go build", self.classifier(binary="/no/such/pawl").fit, x, y)
        refuses(ValueError, "different lengths", "", self.classifier().fit, {**x, "age": [1]}, y)

    def test_schema_file(self):
        x, y = patients(400)
        path = os.path.join(self.folder, "clinic.yaml")
        with open(path, "w") as f:
            f.write("version: 1\nunit: row\nrows: about 400\ncolumns:\n  - {name: age, type: integer, lower: 0, upper: 100}\n"
                    "  - {name: ward, type: categorical, categories: [A, B, C]}\n  - {name: smokes, type: boolean}\n"
                    "  - {name: state, type: categorical, categories: [well, ill]}\n")
        clf = self.classifier(schema=path, classes=None, rows=None, target="state", epsilon=2, flags=["--anyway"]).fit(x, y)
        self.assertEqual(list(clf.classes_), ["well", "ill"])
        self.assertEqual(clf.statement_["data"]["name"], "clinic")
        with open(path, "a") as f:
            f.write("dataset: other\n")
        self.refuses(pawl.UsageError, "declares the data set 'other'", "owns the budget", self.classifier(schema=path, target="state").fit, x, y)

    def test_parameters(self):
        clf = self.classifier()
        self.assertEqual(type(clf)(**clf.get_params()).get_params(), clf.get_params())
        self.assertEqual(clf.set_params(epsilon=3).epsilon, 3)
        self.assertRaises(ValueError, clf.set_params, color=1)
        self.assertIn("epsilon=3", repr(clf))
        self.assertNotIn("preset='balanced'", repr(self.classifier(preset="balanced")))


class Regressor(Case):
    def test_public(self):
        x, _ = patients(500)
        y = [2.0 * a + 30 * s for a, s in zip(x["age"], x["smokes"])]
        r = pawl.PawlRegressor(5, "stays", delta=1e-6, schema=SCHEMA, bounds_y=(0, 250), rows=500, ledger=self.ledger, public=True, model="linear")
        r.fit(x, y)
        self.assertEqual(r.score_.metric, "mean_absolute_error")
        self.assertGreater(r.score(x, y), 0.5, "public rows have an exact score")
        r.set_params(updated=True).fit(x, y)
        self.assertEqual(self.entries(), 2, "public data may be fitted again")
        self.refuses(pawl.UsageError, "'target' is not declared", "bounds_y", pawl.PawlRegressor(1, "s2", schema=SCHEMA, ledger=self.ledger).fit, x, y)

    def test_public_is_the_ledger_s_word(self):
        x, y = patients(400)
        self.classifier(flags=["--anyway"]).fit(x, y)
        clf = self.classifier(public=True)
        clf.statement_, clf.entry_ = {}, "0"
        self.refuses(pawl.UsageError, "charged once more", "", clf.fit, x, y)


class Prices(Case):
    def test_account(self):
        a = pawl.account(sampling_rate=0.01, noise_multiplier=1, steps=1000, delta=1e-5)
        self.assertAlmostEqual(a.epsilon, 1.8287, 3)
        self.assertIn("1.82865", a._repr_html_())
        self.assertAlmostEqual(pawl.account({"kind": "gaussian", "noise_multiplier": 2}, delta=1e-5).epsilon, 1.993, 2)
        self.assertGreater(pawl.calibrate(epsilon=1, delta=1e-5, sampling_rate=0.01, steps=1000).value, 1)
        self.refuses(pawl.UsageError, "either a training run or an event", "", pawl.account)
        self.refuses(pawl.CheckFailedError, "unknown kind", "", pawl.account, {"kind": "wish"}, delta=1e-5)
        self.refuses(pawl.UsageError, "noise", "", pawl.account, sampling_rate=0.01, noise_multiplier=-1, steps=10, delta=1e-5)

    def test_describe(self):
        x, _ = patients()
        d = pawl.describe(x, dataset="clinic", epsilon=0.5, delta=1e-6, schema=SCHEMA, rows="about 2000", ledger=self.ledger)
        self.assertIn("age", str(d.figures))
        self.assertIn("<html", d.report.html)
        self.assertEqual(self.entries(), 1)
        self.refuses(pawl.UsageError, "no bounds", "schema=", pawl.describe, x, dataset="clinic", epsilon=1, ledger=self.ledger)

    def test_ledger(self):
        self.refuses(pawl.PawlError, "nobody|no ledger", "", pawl.ledger.show, "nobody", ledger=self.ledger)
        self.assertIsNone(pawl.ledger.public("nobody", self.ledger))


class Tables(unittest.TestCase):
    def test_cells(self):
        for value, want in [(None, ""), (float("nan"), ""), (True, "true"), (3, "3"), (3.0, "3.0"), (1e-7, "1e-07"), (float("inf"), "inf"), ("NA", "NA"),
                            (datetime.date(2024, 2, 3), "2024-02-03"), (datetime.datetime(2024, 2, 3, 4, 5), "2024-02-03T04:05:00")]:
            self.assertEqual(cell(value), want)
        self.assertEqual(cell(3.0, category=True), "3")

    def test_csv(self):
        t = Table.of([[1, 'a "b"'], [None, "c,\nd"]])
        self.assertEqual(t.csv(), b'x0,x1\n1,"a ""b"""\n,"c,\nd"\n')
        for bad in ([], [[]], [1, 2], [[1], [1, 2]]):
            self.assertRaises(ValueError, Table.of, bad)

    def test_schema(self):
        t = Table.of({"day": [None], "n": [1], "id": [4], "why": ["x"]})
        text, categories = declare(t, "a: b", unit="id", rows_per_unit=2, public=False, rows="about 10",
                                   schema={"day": (datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)), "n": [1, 2.0], "why": "text"})
        self.assertEqual(categories, ("n",))
        for line in ('dataset: "a: b"', 'unit: {name: "id", column: "id", rows: 2}', "rows: about 10", '{name: "n", type: categorical, missing: "unknown", categories: ["1", "2"]}',
                     'lower: 2020-01-01', '{name: "id", type: ignore}'):
            self.assertIn(line, text)

    def test_unit_row(self):
        t = Table.of({"n": [1]})
        self.assertIn("unit: row\n", declare(t, "a", unit="row", schema={"n": (0, 1)})[0])
        self.assertRaises(pawl.UsageError, declare, t, "a", unit="patient", schema={"n": (0, 1)})
        self.assertRaises(pawl.UsageError, declare, Table.of({"row": [1]}), "a", unit="row", schema={"row": (0, 1)})


if __name__ == "__main__":
    unittest.main()
