"""Released files checked without the ledger that paid for them."""

import os

from ._program import run
from ._released import number, rows


class Verified(dict):
    """What pawl verify found, as its JSON. ``proves`` and ``does_not_prove`` list what that shows, in words. Of a folder
    of releases, ``releases`` has one for each."""

    def _repr_html_(self):
        return "".join(_facts(r) for r in self.get("releases", [self]))


def _facts(r):
    claim = f'epsilon {number(r["epsilon_claimed"]):g} at delta {number(r["delta"]):g}' if r["private"] else "NOT PRIVATE"
    return rows([("Claim", claim), ("Entry", f'{r["entry"]} of {r["dataset"]}'), ("Key", r["public_key"])]
                + [("Shown", p) for p in r["proves"]] + [("Not shown", p) for p in r["does_not_prove"]], "Verified: " + r["folder"])


def verify(path, public_key=None, binary=None):
    """Checks the folder that a job wrote, or that ``save`` of an estimator did, or a folder of them, without ledger and data.

    With ``public_key`` only that key passes, as pawl ledger key prints it. Raises PawlError where something does not
    hold, UsageError where there is no statement or no signature."""
    key = ["--public-key", public_key] if public_key else []
    return Verified(run(["verify", os.path.expanduser(os.fspath(path)), "--json", *key], binary=binary))
