"""The command `surefoot`: explore worlds, ask maps, prove records, from a shell.

| command | what it does |
|---|---|
| `surefoot explore WORLD` | check whatever can be reached and nobody has checked |
| `surefoot walk WORLD --to STATE` | get to a state |
| `surefoot agent WORLD --goal STATE` | let an agent act, and keep what it knows |
| `surefoot way` | show the cheapest known way between two states |
| `surefoot show` | show what a map knows, of the world or of one state |
| `surefoot why` | tell the story of one claim: who said what, on what evidence |
| `surefoot verify` | check that a record is whole, and the one you hold a head or a key of |
| `surefoot replay JOURNAL` | make each decision of an agent again, from its journal alone |
| `surefoot report JOURNAL` | say what an agent did, as a page too |
| `surefoot export` | write a map as a page, or as DOT, GraphML or JSON |
| `surefoot learn JOURNAL` | make a model of what happened, with intervals that hold with a stated confidence |
| `surefoot check MODEL PROPERTY` | work out what a model keeps of a property, with proved bounds |
| `surefoot shield MODEL PROPERTY` | say which actions can still keep a property, and why not the others |
| `surefoot demo` | explore, walk and prove, on the standard library's files and the commands of git |

Loading this module loads nothing else; a command loads what it needs when it runs.

Example:
    >>> main(["explore", "corridor:3"])
    explored corridor:3: nothing left
    ...
    0
    >>> main(["explore", "corridoor:3"])
    2
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        arguments: what follows `surefoot` on the command line; None takes it from there.

    Example:
        >>> main(["explore", "corridor:3", "--json"])
        {"accepted":7,"command":"explore",...
        0
    """
    from surefoot.cli.group import run

    return int(run(arguments))
