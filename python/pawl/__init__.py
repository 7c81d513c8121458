"""pawl for Python: private models within a privacy budget.

The package runs the program pawl and needs nothing but Python. It takes frames of pandas
and arrays of numpy where they are there, and its estimators follow the conventions of
scikit-learn.

    >>> clf = pawl.PawlClassifier(epsilon=1, dataset="patients", schema="patients.yaml")
    >>> clf.fit(X, y)                # priced, charged in the ledger, then trained
    >>> clf.score_, clf.statement_   # what was released, and what it cost
    >>> clf.predict_proba(X_new)     # free

Types, bounds, categories and classes are declared, never taken from the rows. Rows go to
pawl through a pipe and are not written to a file.
"""

from . import ledger
from ._describe import Description, describe
from ._estimators import PawlClassifier, PawlRegressor
from ._price import Answer, account, calibrate
from ._program import program, version
from ._released import Report, Score
from ._verify import Verified, verify
from .errors import CheckFailedError, PawlError, PawlWarning, RefusedError, UsageError

__version__ = "0.1.0"

__all__ = [
    "Answer", "CheckFailedError", "Description", "PawlClassifier", "PawlError", "PawlRegressor", "PawlWarning",
    "RefusedError", "Report", "Score", "UsageError", "Verified", "account", "calibrate", "describe", "ledger", "program", "verify", "version",
]
