"""Three ways to falsify a copy of a journal that is kept as lines, for the demo to show that each is caught."""

from __future__ import annotations

import re
from pathlib import Path

from surefoot.errors import BadArgument
from surefoot.journal.chain import GENESIS, label_of, link, parse

__all__ = ["change_a_word", "cut_the_tail", "forge"]

_LEADS = re.compile(rb'"to":(\[[^\]]*\]|"(?:[^"\\]|\\.)*"|-?\d+)')
_LETTER = re.compile(rb"[A-Za-z0-9](?=[^A-Za-z0-9]*$)")


def change_a_word(path: str | Path) -> int:
    """Change one letter in an entry near the middle, so that it says something else, and return its number.

    Raises:
        BadArgument: no entry says that something leads somewhere.

    Example:
        >>> from surefoot import WorldMap
        >>> known = WorldMap().see("hall", "north", to="garden")
        >>> _ = known.save("copy.jsonl")
        >>> change_a_word("copy.jsonl"), WorldMap("copy.jsonl")
        Traceback (most recent call last):
        surefoot.errors.BrokenChain: entry 1 was edited: its hash does not fit what it says
    """
    lines = _read(path)
    number = _near_the_middle(lines)
    lines[number] = _changed(lines[number])
    _write(path, lines)
    return number


def cut_the_tail(path: str | Path, entries: int = 3) -> None:
    """Take the last entries away, so that what is left is a whole chain.

    Example:
        >>> from surefoot import WorldMap
        >>> known = WorldMap().see("hall", "north").see("hall", "south")
        >>> _ = known.save("copy.jsonl")
        >>> cut_the_tail("copy.jsonl", 1)
        >>> bool(WorldMap("copy.jsonl").verify()), bool(WorldMap("copy.jsonl").verify(head=known.head))
        (True, False)
    """
    _write(path, _read(path)[:-entries])


def forge(path: str | Path) -> int:
    """Change one letter as `change_a_word` does, and compute every hash after it anew; return the entry's number.

    Raises:
        BadArgument: no entry says that something leads somewhere.

    Example:
        >>> from surefoot import WorldMap
        >>> known = WorldMap().see("hall", "north", to="garden").see("hall", "south")
        >>> _ = known.save("copy.jsonl")
        >>> number = forge("copy.jsonl")
        >>> bool(WorldMap("copy.jsonl").verify()), bool(WorldMap("copy.jsonl").verify(head=known.head))
        (True, False)
    """
    lines = _read(path)
    number = _near_the_middle(lines)
    lines[number] = _changed(lines[number])
    prev = parse(lines[number - 1]).hash.encode() if number else GENESIS.encode()
    for place in range(number, len(lines)):
        entry = parse(lines[place])
        label = label_of(entry.stream, entry.kind)
        lines[place], prev = link(place, label, bytes(entry.raw), prev, bytes(entry.clock))
    _write(path, lines)
    return number


def _near_the_middle(lines: list[bytes]) -> int:
    """Return the place of an entry that says that something leads somewhere, an arrival if there is one."""
    for kind in (b'"kind":"arrive"', b'"kind":'):
        places = [n for n, line in enumerate(lines) if kind in line and _LETTER.search(_destination(line))]
        if places:
            return min(places, key=lambda n: abs(n - len(lines) // 2))
    raise BadArgument("no entry of this journal says that something leads somewhere: there is nothing to falsify")


def _destination(line: bytes) -> bytes:
    found = _LEADS.search(line)
    return b"" if found is None else found.group(1)


def _changed(line: bytes) -> bytes:
    """Return the line with the last letter of the destination changed."""
    found = _LEADS.search(line)
    assert found is not None  # _near_the_middle has looked
    letter = _LETTER.search(found.group(1))
    assert letter is not None
    old = letter.group()
    new = b"7" if old.isdigit() and old != b"7" else b"1" if old.isdigit() else b"x" if old != b"x" else b"y"
    place = found.start(1) + letter.start()
    return line[:place] + new + line[place + 1 :]


def _read(path: str | Path) -> list[bytes]:
    return Path(path).read_bytes().removesuffix(b"\n").split(b"\n")


def _write(path: str | Path, lines: list[bytes]) -> None:
    Path(path).write_bytes(b"".join(line + b"\n" for line in lines))
