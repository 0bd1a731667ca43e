from __future__ import annotations

import pytest

from surefoot.cli.showing import columns, counted, say, say_json


def test_columns_stand_under_one_another_whatever_the_script() -> None:
    assert columns([("日本", "a", "x"), ("b", "ccc", "y")]) == ["  日本  a    x", "  b     ccc  y"]
    assert columns([("a", ""), ("b", "c")], indent="") == ["a", "b  c"]
    assert columns([]) == []


def test_nothing_is_cut() -> None:
    assert columns([("x" * 500, "y")]) == ["  " + "x" * 500 + "  y"]


def test_numbers_have_their_nouns() -> None:
    assert [counted(n, "step") for n in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
    assert counted(1234, "entry", "entries") == "1,234 entries"


def test_json_is_one_line_and_exact(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"b": ("x", (1, True, 1.0)), "a": 2**60})
    assert capsys.readouterr().out == '{"a":{"~i":"0x1000000000000000"},"b":["x",[1,true,1.0]]}\n'


def test_lines_have_no_blanks_at_their_end(capsys: pytest.CaptureFixture[str]) -> None:
    say("a  ", "")
    assert capsys.readouterr().out == "a\n\n"
