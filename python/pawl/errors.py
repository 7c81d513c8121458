"""Errors of pawl as exceptions. Nothing is charged with a UsageError or a RefusedError."""


class PawlError(Exception):
    """Any error of pawl. ``message`` says what and where, ``hint`` how to mend it ("" for none),
    ``status`` is the exit status of the program: 1 here, the interrupted and the unavailable included."""

    status = 1

    def __init__(self, message, hint="", status=None):
        super().__init__(message + ("\nhint: " + hint if hint else ""))
        self.message, self.hint = message, hint
        if status is not None:
            self.status = status

    def __reduce__(self):
        return type(self), (self.message, self.hint, self.status)


class UsageError(PawlError, ValueError):
    """A mistake in what was asked or in the data (exit status 2)."""

    status = 2


class RefusedError(PawlError):
    """The ledger refuses the job, usually because the budget is used up (exit status 3)."""

    status = 3


class CheckFailedError(PawlError):
    """A privacy check failed: an edited ledger, or an event of unknown cost (exit status 4)."""

    status = 4


class PawlWarning(UserWarning):
    """A warning of pawl, which stops nothing."""


def of_status(status):
    """The class of an exit status."""
    return {2: UsageError, 3: RefusedError, 4: CheckFailedError}.get(status, PawlError)
