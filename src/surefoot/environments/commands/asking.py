"""Run a program once, shut in: no shell, no input, no terminal, an empty folder, limits on its time and its output."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from surefoot.environments.commands.grammar import plain_text

__all__ = ["Answer", "ask"]

_QUIET = {
    "COLUMNS": "200",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TERM": "dumb",
}
_LATE = "late"
_GLANCE = 0.2
"""Seconds of silence after which a program that has ended is taken to have said all, though its pipe is held open."""


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
            **_QUIET,
            "GIT_CEILING_DIRECTORIES": folder,
            "HOME": home,
            "TMPDIR": scratch,
            **env,
        }
        deadline = time.monotonic() + timeout
        try:
            process = subprocess.Popen(
                argv,
                cwd=here,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return Answer(None, fault=f"cannot be started: {error.strerror}")
        with process:
            try:
                out, err, fault = _collect(process, deadline, most_output)
                fault = fault or _await_end(process, deadline)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # not waited for yet, so the number is still its own
                process.wait()
        if fault:
            return Answer(None, fault={_LATE: f"no answer within {timeout:g} s"}.get(fault, fault))
        own = re.compile(b"|".join(re.escape(os.fsencode(place)) for place in (home, here, scratch)))
        return Answer(process.returncode, *(plain_text(own.sub(b"~", data)) for data in (out, err)))


def _collect(process: subprocess.Popen[bytes], deadline: float, most: int) -> tuple[bytes, bytes, str]:
    """Read both pipes to their end, or to the limits; return what came, and what broke ("" if nothing did)."""
    pipes: list[IO[bytes]] = [pipe for pipe in (process.stdout, process.stderr) if pipe]
    texts = {pipe.fileno(): bytearray() for pipe in pipes}
    fault = ""
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map() and not fault:
            left = deadline - time.monotonic()
            if left <= 0:
                fault = _LATE
                break
            ready = selector.select(min(left, _GLANCE))
            if not ready and _has_ended(process):
                break  # something that it left behind holds the pipe
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                texts[key.fd] += chunk
            if sum(map(len, texts.values())) > most:
                fault = f"more than {most} bytes of output"
    out, err = (bytes(texts[pipe.fileno()]) for pipe in pipes)
    return out, err, fault


def _await_end(process: subprocess.Popen[bytes], deadline: float) -> str:
    """Wait for the end of a program that has closed its pipes; return what broke if it does not come."""
    pause = 0.0005
    while not _has_ended(process):
        left = deadline - time.monotonic()
        if left <= 0:
            return _LATE
        time.sleep(min(pause, left))
        pause = min(2 * pause, 0.05)
    return ""


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Say whether the program has ended, without taking its exit code: until then nobody else gets its number."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
