"""What is run is shut in, and comes to an end; `tests/environments/commands/test_asking.py` has the rest."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from surefoot.processes import FAULT_CODES, QUIET, Finished, run


def python(code: str, folder: Path, **options: float) -> Finished:
    given = {"timeout": 20.0, "most_output": 1000} | options
    return run([sys.executable, "-c", code], folder=str(folder), env={"A": "1"}, **given)  # type: ignore[arg-type]  # two kinds of number


def test_it_runs_where_it_is_told_with_the_variables_it_is_given(tmp_path: Path) -> None:
    told = python("import os, sys; print(os.getcwd(), sorted(set(os.environ) - {'LC_CTYPE'}))", tmp_path)
    assert told == Finished(0, f"{os.path.realpath(tmp_path)} ['A']\n".encode())


def test_codes_signals_and_what_breaks_are_told_apart(tmp_path: Path) -> None:
    assert python("import sys; sys.exit('no')", tmp_path) == Finished(1, b"", b"no\n")
    assert python("import os; os.kill(os.getpid(), 9)", tmp_path).code == -9
    assert python("import time; time.sleep(60)", tmp_path, timeout=0.2).fault == "no answer within 0.2 s"
    assert python("print('x' * 2000)", tmp_path).fault == "more than 1000 bytes of output"
    nothing = run(["/nowhere/at/all"], folder=str(tmp_path), env={}, timeout=1, most_output=1)
    assert nothing.fault == "cannot be started: No such file or directory"


def test_the_tables() -> None:
    assert QUIET["LC_ALL"] == "C"
    assert {124, 137} <= FAULT_CODES
    assert not {0, 1, 128} & FAULT_CODES
