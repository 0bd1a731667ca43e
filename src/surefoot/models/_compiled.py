"""What numba compiles, where it is installed: the helper, and searches through graphs one state at a time.

The functions are plain Python, so that they can be read and tested without numba. This is the only module that
imports it.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from surefoot.errors import MissingExtra

__all__ = ["attract", "compiled", "compiler", "drop_stuck", "fill_branches", "is_there", "search_back", "turn_around"]


@cache
def is_there() -> bool:
    """Say whether numba is installed."""
    return find_spec("numba") is not None


@cache
def compiled(function: Any) -> Any:
    """Return a plain function, compiled; what was compiled is kept on disk.

    Raises:
        MissingExtra: numba is not installed.
    """
    return compiler("compiled sweeps")(cache=True, nogil=True)(function)


def compiler(what: str) -> Any:
    """Return numba's `njit`.

    Args:
        what: what it is needed for, for the message.

    Raises:
        MissingExtra: numba is not installed.
    """
    try:
        from numba import njit
    except ImportError as error:
        raise MissingExtra.of("numba", extra="fast", what=what) from error
    return njit


def search_back(
    start: Any, choice: Any, state: Any, through: Any, allowed: Any, seen: Any, nearer: Any, queue: Any
) -> None:
    """Mark in `seen` what leads to what is seen, breadth first, and in `nearer` by which choice."""
    end = 0
    for one in range(len(seen)):
        if seen[one]:
            queue[end] = one
            end += 1
    place = 0
    while place < end:
        one = queue[place]
        place += 1
        for at in range(start[one], start[one + 1]):
            taken = choice[at]
            owner = state[taken]
            if allowed[taken] and through[owner] and not seen[owner]:
                seen[owner] = True
                nearer[owner] = taken
                queue[end] = owner
                end += 1


def attract(start: Any, choice: Any, state: Any, through: Any, left: Any, leads: Any, hit: Any, queue: Any) -> None:
    """Mark in `hit` the states all of whose choices lead to what is hit; `left` counts the choices that do not yet."""
    end = 0
    for one in range(len(hit)):
        if hit[one]:
            queue[end] = one
            end += 1
    place = 0
    while place < end:
        one = queue[place]
        place += 1
        for at in range(start[one], start[one + 1]):
            taken = choice[at]
            if leads[taken]:
                continue
            leads[taken] = True
            owner = state[taken]
            left[owner] -= 1
            if left[owner] == 0 and through[owner] and not hit[owner]:
                hit[owner] = True
                queue[end] = owner
                end += 1


def drop_stuck(start: Any, choice: Any, state: Any, inside: Any, allowed: Any, left: Any, queue: Any) -> None:
    """Take out of `inside` what has no allowed choice, and the choices that lead there, until there is none."""
    end = 0
    for taken in range(len(allowed)):
        if allowed[taken]:
            left[state[taken]] += 1
    for one in range(len(inside)):
        if inside[one] and left[one] == 0:
            inside[one] = False
            queue[end] = one
            end += 1
    place = 0
    while place < end:
        one = queue[place]
        place += 1
        for at in range(start[one], start[one + 1]):
            taken = choice[at]
            if not allowed[taken]:
                continue
            allowed[taken] = False
            owner = state[taken]
            left[owner] -= 1
            if left[owner] == 0 and inside[owner]:
                inside[owner] = False
                queue[end] = owner
                end += 1


def fill_branches(
    start: Any,
    stop: Any,
    home: Any,
    to: Any,
    probability: Any,
    node: Any,
    decided: Any,
    discount: float,
    branch_start: Any,
    target: Any,
    weight: Any,
    constant: Any,
    stays: Any,
    leaves: Any,
) -> None:
    """Sort the branches of some choices into those to nodes, to decided states, and back to where they come from."""
    end = 0
    for row in range(len(start)):
        for branch in range(start[row], stop[row]):
            state = to[branch]
            share = probability[branch] * discount
            goes = node[state]
            if goes == home[row]:
                stays[row] += share
                continue
            leaves[row] += share
            if goes < 0:
                constant[row] += share * decided[state]
            else:
                target[end] = goes
                weight[end] = share
                end += 1
        branch_start[row + 1] = end


def turn_around(branch_start: Any, target: Any, start: Any, choice: Any) -> None:
    """Set `start` and `choice` to the choices that lead to each state: a counting sort of the branches."""
    for branch in range(len(target)):
        start[target[branch] + 1] += 1
    for state in range(len(start) - 1):
        start[state + 1] += start[state]
    place = start.copy()
    for row in range(len(branch_start) - 1):
        for branch in range(branch_start[row], branch_start[row + 1]):
            state = target[branch]
            choice[place[state]] = row
            place[state] += 1
