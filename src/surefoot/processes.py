"""Run a program once, shut in: no shell, no input, no terminal, limits on its time and its output."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import IO

__all__ = ["FAULT_CODES", "QUIET", "Finished", "run"]

FAULT_CODES = frozenset({69, 71, 74, 75, 124, 134, 137, 139, 143})
"""Exit codes that are faults: of `sysexits.h` (unavailable, system, I/O, try later), of `timeout`, and 128 + a signal.

Example:
    >>> 75 in FAULT_CODES, 1 in FAULT_CODES
    (True, False)
"""

QUIET: Mapping[str, str] = MappingProxyType(
    {
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
)
"""Variables that keep programs from paging, colouring and asking.

Example:
    >>> QUIET["PAGER"]
    'cat'
"""

_LATE = "late"
_GLANCE = 0.2
"""Seconds of silence after which a program that has ended is taken to have said all, though its pipe is held open."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a program came to.

    Attributes:
        code: its exit code; negative when a signal killed it; None with a fault.
        out: what it wrote to standard output.
        err: the same of standard error.
        fault: what broke, None when it came to its end.

    Example:
        >>> Finished(0, b"hello").fault is None
        True
    """

    code: int | None
    out: bytes = b""
    err: bytes = b""
    fault: str | None = None


def run(argv: Sequence[str], *, folder: str, env: Mapping[str, str], timeout: float, most_output: int) -> Finished:
    r"""Run `argv` and return what it came to; whatever it has started in its process group is killed afterwards.

    It has no input and no controlling terminal. A program that moves into a session of its own escapes that.

    Args:
        argv: the program and its arguments; no shell reads them.
        folder: where it runs.
        env: all its variables.
        timeout: seconds that it may take.
        most_output: bytes that it may write.

    Cost: about 3 ms and what the program takes.

    Example:
        >>> import sys
        >>> run([sys.executable, "-c", "print('hello')"], folder=".", env={}, timeout=30, most_output=1000)
        Finished(code=0, out=b'hello\n', err=b'', fault=None)
    """
    deadline = time.monotonic() + timeout
    try:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Finished(None, fault=f"cannot be started: {error.strerror}")
    with process:
        try:
            out, err, fault = _collect(process, deadline, most_output)
            fault = fault or _await_end(process, deadline)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # not waited for yet, so the number is still its own
            process.wait()
    if fault:
        return Finished(None, fault={_LATE: f"no answer within {timeout:g} s"}.get(fault, fault))
    return Finished(process.returncode, out, err)


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
