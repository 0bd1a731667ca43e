"""Run a program once, shut in: no shell, no input, no terminal, an empty folder, limits on its time and its output."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from surefoot.environments.commands.grammar import plain_text
from surefoot.processes import QUIET, run

__all__ = ["Answer", "ask"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold what a program answered, or what broke.

    Args:
        code: its exit code; negative when a signal killed it; None with a fault.
        out: what it wrote to standard output, as `plain_text`.
        err: the same of standard error.
        fault: what broke, None when it came to its end.

    Example:
        >>> Answer(0, "", "warning").text
        'warning'
    """

    code: int | None
    out: str = ""
    err: str = ""
    fault: str | None = None

    @property
    def text(self) -> str:
        """Return standard output, or standard error when that is blank."""
        return self.out if self.out.strip() else self.err

    @property
    def message(self) -> str:
        """Return the first line of standard error, or of standard output when that is blank; at most 200 characters."""
        lines = (self.err if self.err.strip() else self.out).strip().splitlines()
        return lines[0].strip()[:200] if lines else ""


def ask(argv: Sequence[str], *, env: Mapping[str, str], timeout: float, most_output: int) -> Answer:
    r"""Run `argv` and return what it answered; whatever it has started in its process group is killed afterwards.

    The program gets an empty working folder, an empty home and a folder for temporary files, which are removed after
    the call, no input, no controlling terminal, and of the variables of this process only `PATH`. Where its answer
    names one of those folders it reads `~`.

    Args:
        argv: the program and its arguments; no shell reads them.
        env: variables to set besides those above.
        timeout: seconds that it may take.
        most_output: bytes that it may write.

    Cost: about 3 ms and what the program takes.

    Example:
        >>> import sys
        >>> ask([sys.executable, "-c", "print('hello')"], env={}, timeout=30, most_output=1000)
        Answer(code=0, out='hello\n', err='', fault=None)
    """
    # a process that left the group may still write into the folder while it is removed: that is no error of ours
    with tempfile.TemporaryDirectory(prefix="surefoot-", ignore_cleanup_errors=True) as folder:
        home, here, scratch = (os.path.join(folder, name) for name in ("home", "here", "tmp"))
        for place in (home, here, scratch):
            os.mkdir(place)
        variables = {
            "PATH": os.environ.get("PATH", os.defpath),
            **QUIET,
            "GIT_CEILING_DIRECTORIES": folder,
            "HOME": home,
            "TMPDIR": scratch,
            **env,
        }
        done = run(argv, folder=here, env=variables, timeout=timeout, most_output=most_output)
        if done.fault:
            return Answer(None, fault=done.fault)
        own = re.compile(b"|".join(re.escape(os.fsencode(place)) for place in (home, here, scratch)))
        return Answer(done.code, *(plain_text(own.sub(b"~", data)) for data in (done.out, done.err)))
