"""The program that pawl account export writes, under dp_accounting where it is installed, else under its names and arguments."""

import contextlib
import io
import os
import sys
import types
import unittest
from unittest import mock

from common import ROOT, pawl

try:
    import dp_accounting
except ImportError:
    dp_accounting = None

# The classes of dp_accounting.dp_event 0.6 with their arguments.
CLASSES = {
    "NoOpDpEvent": (), "NonPrivateDpEvent": (), "GaussianDpEvent": ("noise_multiplier",), "LaplaceDpEvent": ("noise_multiplier",),
    "EpsilonDeltaDpEvent": ("epsilon", "delta"), "ZCDpEvent": ("rho",), "ExponentialMechanismDpEvent": ("epsilon",),
    "RandomizedResponseDpEvent": ("noise_parameter", "num_buckets"), "SelfComposedDpEvent": ("event", "count"), "ComposedDpEvent": ("events",),
    "PoissonSampledDpEvent": ("sampling_probability", "event"), "SampledWithoutReplacementDpEvent": ("source_dataset_size", "sample_size", "event"),
    "RepeatAndSelectDpEvent": ("event", "mean", "shape"),
}


def stand_in():
    """A module of these names whose one accountant knows nothing, and whose other says 0.5 of each event."""
    def event(name, arguments):
        def make(self, **given):
            if set(given) != set(arguments):
                raise TypeError(f"{name} takes {arguments}, not {sorted(given)}")
            self.__dict__.update(given)
        return type(name, (), {"__init__": make})

    class Accountant:
        def __init__(self, neighboring_relation):
            self.relation = neighboring_relation

        def supports(self, event):
            return not hasattr(self, "nothing")

        def compose(self, event):
            self.event = event

        def get_epsilon(self, delta):
            return 0.5

    relation = types.SimpleNamespace(**{n: types.SimpleNamespace(name=n) for n in ("ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL")})
    return types.SimpleNamespace(
        NeighboringRelation=relation, dp_event=types.SimpleNamespace(**{n: event(n, a) for n, a in CLASSES.items()}),
        pld=types.SimpleNamespace(PLDAccountant=type("PLDAccountant", (Accountant,), {"nothing": True})), rdp=types.SimpleNamespace(RdpAccountant=Accountant))


class Export(unittest.TestCase):
    def test_program(self):
        program = pawl._program.run(["account", "export", os.path.join(ROOT, "examples", "events", "search-and-train.json"), "--delta", "1e-5"], parse=False)
        said, names = io.StringIO(), {"__name__": "__main__"}
        with mock.patch.dict(sys.modules, {} if dp_accounting else {"dp_accounting": stand_in()}), contextlib.redirect_stdout(said):
            exec(compile(program, "events.py", "exec"), names)
        self.assertEqual(names["events"][0].events[0].event.event.event.noise_multiplier, 2)
        self.assertRegex(said.getvalue(), r"pawl +epsilon 1\.09003 at delta 1e-05, ADD_OR_REMOVE_ONE, unit unit\nPLDAccountant +does not know all of these events\nRdpAccountant +epsilon ")
        if dp_accounting:
            self.assertAlmostEqual(names["epsilon"](lambda: dp_accounting.rdp.RdpAccountant(neighboring_relation=names["relation"])), 1.1, delta=0.1)


if __name__ == "__main__":
    unittest.main()
