"""How a program is asked for help, and how its exit codes are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from surefoot.errors import BadArgument
from surefoot.processes import FAULT_CODES

__all__ = ["FAULT_CODES", "STYLES", "HelpStyle", "style_for"]


@dataclass(frozen=True, slots=True)
class HelpStyle:
    """Say how one kind of program is asked for help.

    Args:
        root: the arguments that make the program list its commands.
        page: the arguments that ask for one command; `"*"` stands for its words.
        accepted: the exit codes of a help page.
        faults: the exit codes of a breakdown. A negative code (killed by a signal) is one always. All other codes are
            refusals.
        verbs: whether usage lines name further commands (`usage: git remote add <name>`). These are never asked for
            themselves, as many would run: the usage line is the help of such a command.
        any_title: whether every titled section of the root's answer lists commands.
        env: variables that this kind of program needs to be asked in peace.

    Raises:
        BadArgument: a code is both accepted and a fault, or `page` does not hold `"*"` once.

    Example:
        >>> HelpStyle(page=("help", "*")).arguments(("remote", "add"))
        ('help', 'remote', 'add')
        >>> HelpStyle().arguments(())
        ('--help',)
    """

    root: tuple[str, ...] = ("--help",)
    page: tuple[str, ...] = ("*", "--help")
    accepted: frozenset[int] = frozenset({0})
    faults: frozenset[int] = FAULT_CODES
    verbs: bool = False
    any_title: bool = False
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        if both := self.accepted & self.faults:
            raise BadArgument(f"a code is either accepted or a fault, these are both: {sorted(both)}")
        if self.page.count("*") != 1:
            raise BadArgument(f"page must hold '*' once, where the words of the command go, got {self.page!r}")

    def arguments(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return the arguments that ask for the help of `words`, the words after the program's name.

        Example:
            >>> STYLES["git"].arguments(("remote",)), STYLES["git"].arguments(())
            (('remote', '-h'), ('help', '-a'))
        """
        if not words:
            return self.root
        place = self.page.index("*")
        return (*self.page[:place], *words, *self.page[place + 1 :])


STYLES: Mapping[str, HelpStyle] = MappingProxyType(
    {
        "--help": HelpStyle(),
        "-h": HelpStyle(root=("-h",), page=("*", "-h")),
        "help": HelpStyle(root=("help",), page=("help", "*")),
        "npm": HelpStyle(root=("help",), page=("*", "-h")),
        "git": HelpStyle(
            root=("help", "-a"),
            page=("*", "-h"),
            accepted=frozenset({0, 129}),
            verbs=True,
            any_title=True,
            env=MappingProxyType(
                {
                    "FILTER_BRANCH_SQUELCH_WARNING": "1",
                    "GIT_CONFIG_NOSYSTEM": "1",
                    "GIT_TERMINAL_PROMPT": "0",
                }
            ),
        ),
    }
)
"""The styles that have a name. `git` shows its usage with exit code 129; `npm --help` alone has the code of an error.

Example:
    >>> sorted(STYLES)
    ['--help', '-h', 'git', 'help', 'npm']
"""

_PROGRAMS = {"git": "git", "go": "help", "npm": "npm"}
"""Programs whose style is not `--help`."""


def style_for(program: str, given: HelpStyle | str | None) -> HelpStyle:
    """Return the style to ask `program` in: the given one, or the one known for it, or `--help`.

    Nothing but `--help` is ever tried out: `-h` means *halt* to some programs.

    Raises:
        BadArgument: `given` is the name of no style.

    Example:
        >>> style_for("git", None) is STYLES["git"], style_for("uv", None) is STYLES["--help"]
        (True, True)
    """
    if isinstance(given, HelpStyle):
        return given
    name = _PROGRAMS.get(program, "--help") if given is None else given
    if name not in STYLES:
        raise BadArgument(f"help must be a HelpStyle or one of {', '.join(sorted(STYLES))}, got {given!r}")
    return STYLES[name]
