"""A program is run shut in, and whatever it starts is gone afterwards. Each test runs a real one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from surefoot.environments.commands.asking import Answer, ask

Write = Callable[[str], str]


@pytest.fixture
def program(tmp_path: Path) -> Write:
    """Return a function that writes a shell script and returns its path."""

    def write(script: str) -> str:
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    return write


def asked(*argv: str, timeout: float = 60.0, most_output: int = 10_000, **env: str) -> Answer:
    return ask(argv, env=env, timeout=timeout, most_output=most_output)


class Pulse:
    """Know whether anything of a program still lives: whatever it starts inherits the writing end of this pipe."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pulse"
        os.mkfifo(self.path)
        self._reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def beats(self) -> bool:
        """Say whether somebody holds the writing end."""
        try:
            return os.read(self._reader, 100) != b""
        except BlockingIOError:
            return True

    def stops(self) -> bool:
        """Say whether it comes to an end (a killed process lets go of its files a moment later)."""
        deadline = time.monotonic() + 30
        while self.beats():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True


@pytest.fixture
def pulse(tmp_path: Path) -> Pulse:
    return Pulse(tmp_path)


def test_what_is_answered(program: Write) -> None:
    answer = asked(program('echo "  usage: $1"; echo; echo "oh" >&2; exit 3'), "a b; exit 9")
    assert answer == Answer(3, out="  usage: a b; exit 9\n\n", err="oh\n")
    assert (answer.text, answer.message) == ("  usage: a b; exit 9\n\n", "oh")


def test_what_counts_as_the_text_and_the_message() -> None:
    assert Answer(0, out="  \n", err="help\n").text == "help\n"
    assert Answer(1, out="no\nmore", err="\n").message == "no"
    assert Answer(1).message == ""
    assert Answer(1, err="x" * 300).message == "x" * 200


def test_it_runs_in_an_empty_folder_that_is_gone_afterwards(program: Write, tmp_path: Path) -> None:
    answer = asked(
        program('pwd; ls -A . "$HOME" "$TMPDIR"; touch a "$HOME/b"; pwd > "$KEEP"'), KEEP=str(tmp_path / "where")
    )
    assert answer.out.splitlines()[:2] == ["~", ".:"]
    assert all(line.endswith(":") or line in ("", "~") for line in answer.out.splitlines())
    where = Path((tmp_path / "where").read_text().strip())
    assert not where.exists()
    assert not where.parent.exists()


def test_of_the_variables_it_sees_only_these(program: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("GIT_DIR", "/somewhere")
    names = {line.partition("=")[0] for line in asked(program("env"), EXTRA="1").out.splitlines()}
    made_by_the_shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert names - made_by_the_shell == {
        *(
            "COLUMNS",
            "EXTRA",
            "GIT_CEILING_DIRECTORIES",
            "GIT_PAGER",
            "HOME",
            "LC_ALL",
            "MANPAGER",
            "NO_COLOR",
            "PAGER",
        ),
        *("PATH", "PIP_DISABLE_PIP_VERSION_CHECK", "PYTHONDONTWRITEBYTECODE", "TERM", "TMPDIR"),
    }


def test_it_has_no_input_and_no_terminal(program: Write) -> None:
    assert asked(program("cat; test -t 0 || echo none; (: < /dev/tty) 2> /dev/null || echo none")).out == "none\nnone\n"


def test_it_has_a_session_of_its_own() -> None:
    mine = asked(sys.executable, "-c", "import os; print(os.getsid(0) == os.getpid() == os.getpgrp())")
    assert mine.out == "True\n"


def test_one_that_does_not_answer_is_a_fault_and_gone_with_all_it_started(program: Write, pulse: Pulse) -> None:
    answer = asked(program(f"exec 3> {pulse.path}; echo started; sleep 600 & sleep 600"), timeout=0.5)
    assert answer == Answer(None, fault="no answer within 0.5 s")
    assert pulse.stops()


def test_one_that_closes_its_pipes_and_goes_on_is_late_too(program: Write, pulse: Pulse) -> None:
    answer = asked(program(f"exec 3> {pulse.path} > /dev/null 2>&1; sleep 600"), timeout=0.5)
    assert answer == Answer(None, fault="no answer within 0.5 s")
    assert pulse.stops()


def test_what_it_leaves_behind_is_killed_and_not_waited_for(program: Write, pulse: Pulse) -> None:
    answer = asked(program(f"exec 3> {pulse.path}; sleep 600 & echo done"))
    assert answer == Answer(0, out="done\n")
    assert pulse.stops()


def test_too_much_output_is_a_fault(program: Write, pulse: Pulse) -> None:
    answer = asked(program(f"exec 3> {pulse.path}; yes & yes >&2"), most_output=100_000)
    assert answer == Answer(None, fault="more than 100000 bytes of output")
    assert pulse.stops()


def test_as_much_output_as_allowed_is_taken(program: Write) -> None:
    assert asked(program("printf 1234567; printf 890 >&2"), most_output=10) == Answer(0, out="1234567\n", err="890\n")
    assert asked(program("printf 1234567; printf 890 >&2"), most_output=9).fault == "more than 9 bytes of output"


def test_a_signal_shows_as_a_negative_code(program: Write) -> None:
    assert asked(program("kill -SEGV $$")).code == -11


def test_what_cannot_be_started_is_a_fault(program: Write, tmp_path: Path) -> None:
    assert asked(str(tmp_path / "nowhere")).fault == "cannot be started: No such file or directory"
    assert asked(str(tmp_path)).fault == "cannot be started: Permission denied"
    broken = Path(program(""))
    broken.write_bytes(b"\x7fELF")
    assert asked(str(broken)).fault == "cannot be started: Exec format error"


def test_no_process_of_ours_is_left_a_zombie(program: Write) -> None:
    asked(program("exit 0"))
    asked(program("sleep 600"), timeout=0.2)
    try:
        ended, _ = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        ended = 0
    assert ended == 0
