"""Prices of mechanisms. Nothing is read and nothing is charged."""

import json

from ._program import run
from ._released import number, rows
from .errors import UsageError


class Answer(dict):
    """The answer of pawl account or pawl calibrate, as its JSON. ``epsilon`` and ``delta`` hold together."""

    @property
    def epsilon(self):
        return number(self["privacy"]["epsilon"])

    @property
    def delta(self):
        return number(self["privacy"]["delta"])

    @property
    def value(self):
        """The number that calibrate found, None of an account."""
        return self.get("value")

    def _repr_html_(self):
        found = [(self["free"].replace("_", " "), f'{self["value"]:g}')] if self.get("free") else []
        return rows(found + [("epsilon", f"{self.epsilon:.6g}"), ("delta", f"{self.delta:g}"), ("method", self["privacy"]["accountant"]),
                             ("an even chance becomes at most", f'{100 * number(self["posterior_at_half"]):.1f} %')], "Cost")


def _flags(**given):
    out = []
    for name, value in given.items():
        if value is not None:
            out += ["--" + name.replace("_", "-"), str(value)]
    return out


def account(event=None, *, sampling_rate=None, rows=None, batch=None, noise_multiplier=None, steps=None, epochs=None,
            delta=None, epsilon=None, relation=None, accountant=None, binary=None):
    """The epsilon of a training by DP-SGD, or of an event (a dict, a list of events, a statement), as an Answer.

    ``sampling_rate``, or ``batch`` of ``rows``, is how likely a row joins a step; ``noise_multiplier`` the standard
    deviation of the noise over the clipping norm; ``steps`` or ``epochs`` how long it trains. ``delta`` asks for epsilon,
    ``epsilon`` for delta."""
    training = _flags(sampling_rate=sampling_rate, rows=rows, batch=batch, noise_multiplier=noise_multiplier, steps=steps, epochs=epochs)
    how = _flags(delta=delta, epsilon=epsilon, relation=relation, accountant=accountant)
    if (event is None) == (not training):
        raise UsageError("an account is for either a training run or an event", "give event, or sampling_rate, noise_multiplier and steps")
    if event is None:
        return Answer(run(["account", "dpsgd", "--json", *training, *how], binary=binary))
    return Answer(run(["account", "event", "-", "--json", *how], rows=json.dumps(event).encode(), binary=binary))


def calibrate(*, epsilon, delta=None, sampling_rate=None, rows=None, batch=None, noise_multiplier=None, steps=None, epochs=None,
              relation=None, accountant=None, binary=None):
    """The one number of a training by DP-SGD that was left out (noise, steps or rate), such that the target is met, as
    an Answer with ``value``."""
    return Answer(run(["calibrate", "dpsgd", "--json", *_flags(
        epsilon=epsilon, delta=delta, sampling_rate=sampling_rate, rows=rows, batch=batch, noise_multiplier=noise_multiplier, steps=steps,
        epochs=epochs, relation=relation, accountant=accountant)], binary=binary))
