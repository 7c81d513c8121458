"""Released files checked without the ledger that paid for them."""

import os

from ._program import run
from ._released import number, rows


class Verified(dict):
    """What pawl verify found, as its JSON. ``proves`` and ``does_not_prove`` list what that shows, in words."""

    def _repr_html_(self):
        claim = f'epsilon {number(self["epsilon_claimed"]):g} at delta {number(self["delta"]):g}' if self["private"] else "NOT PRIVATE"
        return rows([("Claim", claim), ("Entry", f'{self["entry"]} of {self["dataset"]}'), ("Key", self["public_key"])]
                    + [("Shown", p) for p in self["proves"]] + [("Not shown", p) for p in self["does_not_prove"]], "Verified")


def verify(path, public_key=None, binary=None):
    """Checks the folder that a job wrote, or that ``save`` of an estimator did, without ledger and data.

    With ``public_key`` only that key passes, as pawl ledger key prints it. Raises PawlError where something does not
    hold, UsageError where there is no statement or no signature."""
    key = ["--public-key", public_key] if public_key else []
    return Verified(run(["verify", os.path.expanduser(os.fspath(path)), "--json", *key], binary=binary))
