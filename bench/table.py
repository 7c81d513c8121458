"""pawl fit against scikit-learn on a drawn table of 17 columns, in turn.

    python3 bench/table.py [ROWS]

Both read the CSV file, encode it and fit a logistic regression; pawl does it privately at
epsilon 1 and scores the model. Seconds of the processors and the peak of memory, medians
of three.
"""
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile

rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
work = tempfile.mkdtemp()
csv, schema, binary = (os.path.join(work, n) for n in ("big.csv", "big.yaml", "pawl"))
rng = random.Random(1)
with open(csv, "w") as f:
    f.write(",".join([f"n{i}" for i in range(10)] + [f"c{i}" for i in range(6)] + ["y"]) + "\n")
    for _ in range(rows):
        n = [rng.randrange(1000) for _ in range(10)]
        c = [rng.randrange(8) for _ in range(6)]
        y = "yes" if n[0] + n[1] - 40 * c[0] + rng.gauss(0, 200) > 860 else "no"
        f.write(",".join(map(str, n)) + "," + ",".join(f"v{v}" for v in c) + f",{y}\n")
with open(schema, "w") as f:
    f.write(f"version: 1\nunit: {{name: row, max_rows: 1}}\nrows: {rows}\ncolumns:\n")
    for i in range(10):
        f.write(f"  - {{name: n{i}, type: integer, bounds: [0, 999]}}\n")
    for i in range(6):
        f.write(f"  - {{name: c{i}, type: categorical, categories: [{', '.join(f'v{v}' for v in range(8))}]}}\n")
    f.write("  - {name: y, type: categorical, categories: ['no', 'yes']}\n")
subprocess.run(["go", "build", "-o", binary, "./cmd/pawl"], check=True)

peer = """
import pandas, sys
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
d = pandas.read_csv(sys.argv[1])
y, x = d.pop("y"), d
n, c = [k for k in x if k[0] == "n"], [k for k in x if k[0] == "c"]
make_pipeline(make_column_transformer((StandardScaler(), n), (OneHotEncoder(), c)), LogisticRegression()).fit(x, y)
"""


def run(command):
    env = dict(os.environ, HOME=work, XDG_DATA_HOME=tempfile.mkdtemp(dir=work), XDG_STATE_HOME=tempfile.mkdtemp(dir=work))
    p = subprocess.Popen(command, env=env, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = p.stderr.read()
    _, status, used = os.wait4(p.pid, 0)
    if status:
        sys.exit(error.decode())
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


got = [(run([sys.executable, "-c", peer, csv]), run([binary, "fit", csv, "--schema", schema, "--target", "y", "--epsilon", "1", "--out", os.path.join(tempfile.mkdtemp(dir=work), "out")]))
       for _ in range(3)]
median = lambda side, what: statistics.median(g[side][what] for g in got)
print(f"{rows} rows: scikit-learn {median(0, 0):.1f} s, {median(0, 1):.0f} MB; pawl {median(1, 0):.1f} s, {median(1, 1):.0f} MB; "
      f"pawl ÷ scikit-learn {statistics.median(g[1][0] / g[0][0] for g in got):.2f} of time, {statistics.median(g[1][1] / g[0][1] for g in got):.2f} of memory")
