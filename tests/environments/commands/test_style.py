"""How programs are asked, and which style a program gets."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot.environments.commands.style import FAULT_CODES, STYLES, HelpStyle, style_for
from surefoot.errors import BadArgument


@pytest.mark.parametrize(
    ("style", "root", "page"),
    [
        ("--help", ("--help",), ("remote", "add", "--help")),
        ("-h", ("-h",), ("remote", "add", "-h")),
        ("help", ("help",), ("help", "remote", "add")),
        ("git", ("help", "-a"), ("remote", "add", "-h")),
        ("npm", ("help",), ("remote", "add", "-h")),
    ],
)
def test_the_arguments_of_each_style(style: str, root: tuple[str, ...], page: tuple[str, ...]) -> None:
    assert STYLES[style].arguments(()) == root
    assert STYLES[style].arguments(("remote", "add")) == page


def test_every_style_is_tried_here_and_asks_for_help() -> None:
    assert set(STYLES) == {"--help", "-h", "help", "git", "npm"}
    for style in STYLES.values():
        assert {"--help", "-h", "help"} & set(style.page)
        assert not style.accepted & style.faults


@pytest.mark.parametrize(
    ("program", "given", "style"),
    [
        ("git", None, "git"),
        ("go", None, "help"),
        ("npm", None, "npm"),
        ("shutdown", None, "--help"),
        ("", None, "--help"),
        ("git", "--help", "--help"),
        ("uv", "help", "help"),
    ],
)
def test_the_style_of_a_program(program: str, given: str | None, style: str) -> None:
    assert style_for(program, given) is STYLES[style]


def test_a_style_of_ones_own_is_taken_as_it_is() -> None:
    own = HelpStyle(root=("-?",), page=("explain", "*", "now"))
    assert style_for("git", own) is own
    assert own.arguments(("a", "b")) == ("explain", "a", "b", "now")


def test_what_is_no_style_is_refused() -> None:
    with pytest.raises(BadArgument, match=r"^help must be a HelpStyle or one of --help, -h, git, help, npm, got '\?'$"):
        style_for("git", "?")


@pytest.mark.parametrize("page", [(), ("--help",), ("*", "*")])
def test_a_page_has_one_place_for_the_words(page: Any) -> None:
    with pytest.raises(BadArgument, match=r"^page must hold '\*' once, where the words of the command go, got "):
        HelpStyle(page=page)


def test_a_code_is_not_accepted_and_a_fault() -> None:
    with pytest.raises(BadArgument, match=r"^a code is either accepted or a fault, these are both: \[75\]$"):
        HelpStyle(accepted=frozenset({0, 75}))
    assert HelpStyle(accepted=frozenset({0, 75}), faults=FAULT_CODES - {75}).accepted == {0, 75}
