"""The ledger: budgets of data sets and what was spent of them. Reading charges nothing.

``ledger`` is an address (sqlite:PATH or postgres://USER@HOST/DATABASE), None for your own."""

from ._program import run
from .errors import PawlError


def names(ledger=None, binary=None):
    """The data sets of the ledger."""
    return [d["name"] for d in show(ledger=ledger, binary=binary)["datasets"]]


def show(name=None, ledger=None, binary=None):
    """The account of one data set, or of all, as pawl ledger show --json prints it."""
    return run(["ledger", "show", *([name] if name else []), "--json"], ledger=ledger, binary=binary)


def left(name, ledger=None, binary=None):
    """(epsilon, delta) that are left to a data set; epsilon is inf without a limit."""
    amount = show(name, ledger, binary)["left"]
    return float(amount["epsilon"]), float(amount["delta"])


def verify(name=None, ledger=None, binary=None):
    """Checks the chain of records. An edited log raises CheckFailedError."""
    return run(["ledger", "verify", *([name] if name else []), "--json"], ledger=ledger, binary=binary)


def public(name, ledger=None, binary=None):
    """Whether the ledger holds the data set as public; None where it does not know it."""
    try:
        return show(name, ledger, binary)["public"]
    except PawlError:
        return None
