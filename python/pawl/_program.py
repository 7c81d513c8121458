"""Finds the program and runs it."""

import json
import os
import shutil
import subprocess
import tempfile
import warnings

from .errors import PawlError, PawlWarning, UsageError, of_status


def program(path=None):
    """The path of the program: ``path``, or the environment variable PAWL_BINARY, or pawl on the PATH.

    Raises UsageError where there is none."""
    wanted = path or os.environ.get("PAWL_BINARY") or "pawl"
    found = shutil.which(os.path.expanduser(os.fspath(wanted)))
    if found is None:
        raise UsageError(
            f"the program {wanted} is not there" if wanted != "pawl" else "the program pawl is not on the PATH",
            "build it with: go build -o pawl ./cmd/pawl; then set PAWL_BINARY, or pass binary=PATH",
        )
    return found


def version(binary=None):
    """The version of the program."""
    return run(["version", "--json"], binary=binary)["version"]


def run(arguments, rows=None, binary=None, ledger=None, parse=True, stacklevel=3):
    """Runs pawl and returns its JSON, or its output as text. ``rows`` are given to its standard input.

    Warnings become PawlWarning, an exit status other than 0 an exception with message and hint."""
    command = [program(binary), *arguments]
    if ledger is not None:
        command += ["--ledger", os.fspath(ledger)]
    with subprocess.Popen(command, stdin=subprocess.PIPE if rows is not None else subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            out, said = process.communicate(rows)
        except KeyboardInterrupt:
            process.terminate()  # it ends as at a terminal: what was charged stays charged
            process.communicate()
            raise
    said = said.decode("utf-8", "replace").splitlines()
    if process.returncode != 0:
        raise _error(process.returncode, said)
    for line in said:
        kind, _, text = line.partition(": ")
        if kind in ("warning", "NOT PRIVATE"):
            warnings.warn(text if kind == "warning" else line, PawlWarning, stacklevel=stacklevel)
    out = out.decode("utf-8")
    return json.loads(out) if parse else out


def _error(status, said):
    """What the program said after "error:", which may be several lines, and its hints."""
    start = next((i for i, line in enumerate(said) if line.startswith("error: ")), None)
    if start is None:
        if status < 0:
            return PawlError(f"pawl was ended by signal {-status}", "a job that was charged stays charged: pawl ledger show", 1)
        return PawlError(f"pawl ended with exit status {status}: " + " ".join(said[-3:]), status=status)
    message, hints = [said[start][len("error: "):]], []
    for line in said[start + 1:]:
        text = line.strip()
        if text.startswith("hint: "):
            hints.append(text[len("hint: "):])
        elif text:
            message.append(line)
    return of_status(status)("\n".join(message), "\n".join(dict.fromkeys(hints)), status)


class Workplace:
    """A temporary folder with the schema, which is public, and room for what is released. No row is written to it.
    A release that the ledger did not confirm is held back in it, and then the folder stays."""

    def __init__(self, schema):
        self.text = schema

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="pawl-")
        self.schema, self.out = os.path.join(self.folder.name, "schema.yaml"), os.path.join(self.folder.name, "out")
        with open(self.schema, "w", encoding="utf-8") as f:
            f.write(self.text)
        return self

    def files(self):
        """The released files by name, as bytes."""
        out = {}
        for folder, _, names in os.walk(self.out):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    out[os.path.relpath(path, self.out).replace(os.sep, "/")] = f.read()
        return out

    def __exit__(self, kind, *_):
        if kind is not None and os.path.isdir(self.out) and any(n.endswith(".pawl") for n in os.listdir(self.out)):
            self.folder._finalizer.detach()
            return
        self.folder.cleanup()


