#!/usr/bin/env python3
"""Trains a private model of the census table Adult from Python, and prints its score and statement.

Run it from anywhere in a checkout: python3 examples/python/adult.py. It needs Python alone; with pandas the rows are
a frame. The table is public, but the job treats it as a sensitive one under a name of its own, with a ledger in a
temporary folder, so that it can be run as often as you like. Your own data belong into your own ledger: leave
ledger= out, and the budget of the data set lasts for all jobs.
"""

import csv
import gzip
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

import pawl  # noqa: E402

# What is public about the columns, from the publisher's description and from what a quantity means.
SCHEMA = {
    "age": (0, 120),
    "workclass": ["Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay", "Never-worked"],
    "fnlwgt": "ignore",
    "education": "ignore",  # education-num says the same
    "education-num": {"type": "integer", "lower": 1, "upper": 16},
    "marital-status": ["Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent", "Married-AF-spouse"],
    "occupation": ["Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty", "Handlers-cleaners", "Machine-op-inspct",
                   "Adm-clerical", "Farming-fishing", "Transport-moving", "Priv-house-serv", "Protective-serv", "Armed-Forces"],
    "relationship": ["Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"],
    "race": ["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"],
    "sex": ["Female", "Male"],
    "capital-gain": {"type": "numeric", "lower": 0, "upper": 100_000, "heavy_tailed": True},
    "capital-loss": {"type": "numeric", "lower": 0, "upper": 5_000, "heavy_tailed": True},
    "hours-per-week": (0, 168),
    "native-country": "ignore",
}


def table():
    """The rows as a frame of pandas, or without pandas as columns by name."""
    names = [*SCHEMA, "income"]
    with gzip.open(os.path.join(ROOT, "data", "dataset", "files", "adult.data.gz"), "rt") as f:
        rows = [[None if c == "?" else c for c in row] for row in csv.reader(f, skipinitialspace=True) if row]
    columns = dict(zip(names, map(list, zip(*rows))))
    y = columns.pop("income")
    try:
        import pandas
    except ImportError:
        return columns, y
    x = pandas.DataFrame(columns)
    for name in ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week"):
        x[name] = x[name].astype(int)
    return x, pandas.Series(y, name="income")


def main():
    with tempfile.TemporaryDirectory() as folder:
        if not os.environ.get("PAWL_BINARY") and not shutil.which("pawl"):
            os.environ["PAWL_BINARY"] = os.path.join(folder, "pawl")
            print("building pawl ...", file=sys.stderr)
            subprocess.run(["go", "build", "-o", os.environ["PAWL_BINARY"], "./cmd/pawl"], cwd=ROOT, check=True)
        x, y = table()
        clf = pawl.PawlClassifier(epsilon=1, delta="1e-6", dataset="census", schema=SCHEMA, classes=["<=50K", ">50K"], rows=32561,
                                  ledger="sqlite:" + os.path.join(folder, "ledger.db"))
        clf.fit(x, y)
        s, low, high = clf.score_, *clf.score_.interval
        print(f"accuracy {100 * s:.1f} % ({100 * low:.1f} to {100 * high:.1f}), most frequent class {100 * s.baseline:.1f} %, {s.how}")
        p = clf.statement_["privacy"]
        print(f'epsilon {p["epsilon"]} at delta {p["delta"]}, {p["relation"]}, unit {p["unit"]}, entry {clf.entry_} of data set {clf.statement_["budget"]["dataset"]}')
        print(f"epsilon left: {pawl.ledger.left('census', clf.ledger)[0]:.2f}")


if __name__ == "__main__":
    main()
