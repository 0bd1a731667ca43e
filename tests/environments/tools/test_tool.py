"""Arguments go where they belong, and nothing becomes an option, a shell word or a path by accident."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot.environments.tools.tool import PARSERS, Reader, Tool
from surefoot.errors import BadArgument


def test_arguments_take_their_places() -> None:
    tool = Tool(("run", "--name={name}", "{n}", "{files*}", "{name}"))
    assert tool.names == ("name", "n", "files")
    assert tool.words({"name": "a b; rm *", "n": 3, "files": ["x", "y"]}) == [
        "run",
        "--name=a b; rm *",
        "3",
        "x",
        "y",
        "a b; rm *",
    ]
    assert Tool(("ls",)).words({}) == ["ls"]


@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        ({}, "the arguments are a, b, got none"),
        ({"a": "1", "b": [], "c": 1}, "the arguments are a, b, got a, b, c"),
        ({"a": "-rf", "b": []}, "a must not begin with '-', got '-rf'"),
        ({"a": -1, "b": []}, "a must not begin with '-', got -1"),
        ({"a": "x", "b": "y"}, "b must be a list, got 'y'"),
        ({"a": "x", "b": ["--all"]}, "b must not begin with '-', got '--all'"),
        ({"a": True, "b": []}, "a must be a text or a whole number, got True"),
        ({"a": None, "b": []}, "a must be a text or a whole number, got None"),
        ({"a": "x\0y", "b": []}, "a must be printable text, got 'x\\x00y'"),
    ],
)
def test_what_is_no_argument_is_said(args: dict[str, Any], wrong: str) -> None:
    assert Tool(("run", "{a}", "{b*}")).words(args) == wrong


def test_options_may_be_let_through() -> None:
    assert Tool(("ls", "{how}"), options=True).words({"how": "-l"}) == ["ls", "-l"]
    assert Tool(("grep", "-e{what}")).words({"what": "-x"}) == ["grep", "-e-x"]


@pytest.mark.parametrize("argv", ["git status", (), ("a\0",), (1,)])
def test_a_tool_is_a_list_of_words(argv: Any) -> None:
    with pytest.raises(BadArgument, match="argv must be the words of a command, got"):
        Tool(argv)


def test_a_code_is_one_thing() -> None:
    with pytest.raises(BadArgument, match=r"these are both: \[75\]"):
        Tool(("a",), accepted={0, 75})


def test_readers_read() -> None:
    assert [Reader(("x",), how).read(" [1,\n2] \n") for how in ("json", "lines", "text", len)] == [
        [1, 2],
        [" [1,", "2] "],
        "[1,\n2]",
        9,
    ]
    with pytest.raises(BadArgument, match="parse must be a function or one of json, lines, text, got 'yaml'"):
        Reader(("x",), "yaml")
    with pytest.raises(BadArgument, match="argv must be the words"):
        Reader("ls")
    assert sorted(PARSERS) == ["json", "lines", "text"]
