"""A program with places for arguments, and a program whose answer is a part of the state."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.errors import BadArgument
from surefoot.processes import FAULT_CODES

__all__ = ["PARSERS", "Reader", "Tool"]

_PLACE = re.compile(r"\{(\w+)(\*?)\}")

PARSERS: Mapping[str, Callable[[str], Any]] = {
    "json": json.loads,
    "lines": lambda text: text.splitlines(),
    "text": lambda text: text.strip(),
}
"""The ways to read an answer that have a name.

Example:
    >>> PARSERS["json"]('{"ahead": 2}')
    {'ahead': 2}
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """Name a program and its arguments.

    Args:
        argv: the words; `{name}` in a word stands for an argument, and a word that is `{name*}` for a list of them.
        accepted: the exit codes that mean that the call was taken.
        faults: the exit codes of a breakdown; a signal is one always. All other codes are refusals.
        options: let an argument that has a word of its own begin with `-`; else such a call is refused, because the
            program would read it as an option.

    Attributes:
        names: the names of the arguments, each once, in the order of the words.

    Raises:
        BadArgument: there are no words, or a code is both accepted and a fault.

    Example:
        >>> tool = Tool(("git", "commit", "--message={text}", "--", "{files*}"))
        >>> tool.names, tool.words({"text": "Mend it", "files": ["a", "b"]})
        (('text', 'files'), ['git', 'commit', '--message=Mend it', '--', 'a', 'b'])
        >>> Tool(("git", "switch", "{branch}")).words({"branch": "--orphan"})
        "branch must not begin with '-', got '--orphan'"
    """

    argv: Sequence[str]
    accepted: Collection[int] = frozenset({0})
    faults: Collection[int] = FAULT_CODES
    options: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Read the places."""
        words = self.argv
        if isinstance(words, str) or not words or not all(isinstance(word, str) and "\0" not in word for word in words):
            raise BadArgument(f"argv must be the words of a command, got {words!r}")
        if both := frozenset(self.accepted) & frozenset(self.faults):
            raise BadArgument(f"a code is either accepted or a fault, these are both: {sorted(both)}")
        found = {place[1]: None for word in words for place in _PLACE.finditer(word)}
        object.__setattr__(self, "argv", tuple(words))
        object.__setattr__(self, "names", tuple(found))

    def words(self, args: Mapping[str, Any]) -> list[str] | str:
        """Return the command with its arguments in place, or what is wrong with them."""
        if set(args) != set(self.names):
            return f"the arguments are {', '.join(self.names) or 'none'}, got {', '.join(args) or 'none'}"
        made: list[str] = []
        for word in self.argv:
            whole = _PLACE.fullmatch(word)
            if whole is not None and whole[2]:
                given = args[whole[1]]
                if not isinstance(given, list | tuple):
                    return f"{whole[1]} must be a list, got {given!r}"
                found = [(whole[1], part, True) for part in given]
            else:
                found = [(place[1], args[place[1]], whole is not None) for place in _PLACE.finditer(word)]
            for name, value, alone in found:
                if (wrong := self._wrong(name, value, alone)) is not None:
                    return wrong
            if whole is not None:
                made += [str(value) for _, value, _ in found]
            else:
                made.append(_PLACE.sub(lambda place: str(args[place[1]]), word))
        return made

    def _wrong(self, name: str, value: Any, alone: bool) -> str | None:
        """Return what is wrong with an argument."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            return f"{name} must be a text or a whole number, got {value!r}"
        text = str(value)
        if "\0" in text or not text.isprintable():
            return f"{name} must be printable text, got {value!r}"
        if alone and not self.options and text.startswith("-"):
            return f"{name} must not begin with '-', got {value!r}"
        return None


@dataclass(frozen=True, slots=True)
class Reader:
    """Read a part of the state from what a program prints.

    Args:
        argv: the words of the command; it must change nothing.
        parse: how its standard output is read: "text" (without the space around it), "lines", "json", or a function of
            it that returns a plain value.
        absent: exit codes that mean that there is nothing to read: the part is None then. Any other code but 0 is a
            breakdown.

    Raises:
        BadArgument: there are no words, or no such way to read.

    Example:
        >>> Reader(("git", "rev-parse", "HEAD"), absent={128}).read(" 91f2a ")
        '91f2a'
    """

    argv: Sequence[str]
    parse: str | Callable[[str], Any] = "text"
    absent: Collection[int] = frozenset()

    def __post_init__(self) -> None:
        """Check the words."""
        if isinstance(self.argv, str) or not self.argv:
            raise BadArgument(f"argv must be the words of a command, got {self.argv!r}")
        if not callable(self.parse) and self.parse not in PARSERS:
            raise BadArgument(f"parse must be a function or one of {', '.join(PARSERS)}, got {self.parse!r}")

    def read(self, text: str) -> Any:
        """Return the value that a text stands for."""
        return self.parse(text) if callable(self.parse) else PARSERS[self.parse](text)
