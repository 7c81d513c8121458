"""pawl fit against scikit-learn on the table of bench/table, 17 columns, in turn.

    python3 bench/table.py [ROWS]

Both read the CSV file, encode it and fit a logistic regression; pawl does it privately at
epsilon 1 and scores the model. Seconds of the processors and the peak of memory, medians
of three.
"""
import os
import statistics
import subprocess
import sys
import tempfile

rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
work = tempfile.mkdtemp()
csv, schema, binary = (os.path.join(work, n) for n in ("big.csv", "big.yaml", "pawl"))
with open(csv, "wb") as f:
    subprocess.run(["go", "run", "./bench/table", "-rows", str(rows), "-schema", schema], stdout=f, check=True)
subprocess.run(["go", "build", "-o", binary, "./cmd/pawl"], check=True)

peer = """
import pandas, sys
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
d = pandas.read_csv(sys.argv[1])
y, x = d.pop("y"), d
n, c = list(x.select_dtypes("number")), list(x.select_dtypes("object"))
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
