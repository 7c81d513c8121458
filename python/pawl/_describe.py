"""A table described in one paid release."""

import os

from ._estimators import PawlClassifier, PawlRegressor
from ._program import Workplace, run
from ._released import Report, claim
from ._table import Table, declare


class Description:
    """What pawl describe released: ``statement`` holds all figures, ``report`` is the page."""

    def __init__(self, statement, page):
        self.statement, self.report = statement, Report(page)

    @property
    def figures(self):
        """The section of figures: columns, associations, and the target by level."""
        return self.statement["description"]

    def __repr__(self):
        return f'<description of {self.statement["data"]["name"]}: {claim(self.statement)}>'

    def _repr_html_(self):
        return self.report._repr_html_()


def describe(X, y=None, *, dataset, epsilon=None, delta=None, target=None, schema=None, classes=None, bounds_y=None, bounds=None, unit=None,
             rows_per_unit=None, rows=None, public=False, updated=False, ledger=None, budget=None, columns=None, flags=(), binary=None):
    """Describes a table in one release that is paid for: counts, histograms, quantiles and the target by level.

    The arguments are those of PawlClassifier and PawlRegressor; without y, ``target`` names a column of X. ``columns`` are those to
    describe. Give the table as it will be fitted, with y: other columns are other bytes, which the ledger tells apart. A public data set
    costs nothing without ``epsilon``."""
    declared = dict(schema=schema, bounds=bounds, unit=unit, rows_per_unit=rows_per_unit, rows=rows, public=public)
    if y is None:
        t = Table.of(X)
        text, texts = declare(t, dataset, **declared)
        table = t.csv(texts)
    else:
        own = PawlRegressor(epsilon, dataset, bounds_y=bounds_y, target=target, **declared) if bounds_y is not None else PawlClassifier(
            epsilon, dataset, classes=classes, target=target, **declared)
        _, target, _, text, table = own._given(X, y)
    with Workplace(text) as w:
        arguments = ["describe", "-", "--schema", w.schema, "--json", "--out", w.out]
        for name, value in (("epsilon", epsilon), ("delta", delta), ("target", target), ("budget", budget), ("columns", columns and ",".join(columns))):
            if value is not None:
                arguments += ["--" + name, str(value)]
        statement = run([*arguments, *(["--updated"] if updated else []), *flags], rows=table, binary=binary, ledger=ledger)
        with open(os.path.join(w.out, "describe.html"), encoding="utf-8") as f:
            return Description(statement, f.read())
