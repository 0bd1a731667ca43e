"""What numba compiles, where it is installed: the helper, and searches through graphs one state at a time.

The functions are plain Python, so that they can be read and tested without numba. This is the only module that
imports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from surefoot.errors import MissingExtra

__all__ = [
    "attract",
    "compiled",
    "compiler",
    "drop_stuck",
    "fill_rows",
    "is_there",
    "keep_inside",
    "list_choices",
    "search_back",
    "spread",
    "sweep_attract",
    "sweep_back",
    "turn_around",
    "without_numba",
]


_hidden = False


def is_there() -> bool:
    """Say whether numba is installed."""
    return not _hidden and _found()


@cache
def _found() -> bool:
    return find_spec("numba") is not None


@contextmanager
def without_numba() -> Iterator[None]:
    """Work as if numba were not installed: to measure and to test what there is without it."""
    global _hidden
    before, _hidden = _hidden, True
    try:
        yield
    finally:
        _hidden = before


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


def sweep_back(
    choice_start: Any,
    branch_start: Any,
    target: Any,
    through: Any,
    allowed: Any,
    seen: Any,
    nearer: Any,
    waiting: Any,
    budget: int,
) -> bool:
    """Mark as `search_back` does, without predecessors: go over what is not seen yet, down and up, again and again.

    Each row is left at the first branch that decides it. Returns False when that took more than `budget` branches; what
    is marked by then is right.
    """
    count = 0
    for one in range(len(seen)):
        if not seen[one] and through[one] and choice_start[one] < choice_start[one + 1]:
            waiting[0, count] = one
            count += 1
    side, found, spent = 0, True, 0
    while found and count:
        found, kept = False, 0
        for place in range(count - 1, -1, -1):  # backwards, so that the next time the order is the other one
            one = waiting[side, place]
            taken = -1
            for choice in range(choice_start[one], choice_start[one + 1]):
                if not allowed[choice]:
                    continue
                branch, first = branch_start[choice + 1] - 1, branch_start[choice]
                while branch >= first and not seen[target[branch]]:
                    branch -= 1
                spent += branch_start[choice + 1] - branch
                if branch >= first:
                    taken = choice
                    break
            if taken >= 0:
                seen[one], nearer[one], found = True, taken, True
            else:
                waiting[1 - side, kept] = one
                kept += 1
            if spent > budget:
                return False
        side, count = 1 - side, kept
    return True


def sweep_attract(
    choice_start: Any,
    branch_start: Any,
    target: Any,
    through: Any,
    allowed: Any,
    stuck: bool,
    hit: Any,
    waiting: Any,
    budget: int,
) -> bool:
    """Mark in `hit` the states all of whose allowed choices lead to what is hit, in the way of `sweep_back`.

    `stuck` says whether a state without any allowed choice is hit.
    """
    count = 0
    for one in range(len(hit)):
        if not hit[one] and through[one] and (stuck or choice_start[one] < choice_start[one + 1]):
            waiting[0, count] = one
            count += 1
    side, found, spent = 0, True, 0
    while found and count:
        found, kept = False, 0
        for place in range(count - 1, -1, -1):
            one = waiting[side, place]
            free = False
            for choice in range(choice_start[one], choice_start[one + 1]):
                if not allowed[choice]:
                    continue
                branch, first = branch_start[choice + 1] - 1, branch_start[choice]
                while branch >= first and not hit[target[branch]]:
                    branch -= 1
                spent += branch_start[choice + 1] - branch
                if branch < first:
                    free = True
                    break
            if free:
                waiting[1 - side, kept] = one
                kept += 1
            else:
                hit[one], found = True, True
            if spent > budget:
                return False
        side, count = 1 - side, kept
    return True


def keep_inside(branch_start: Any, target: Any, inside: Any, allowed: Any) -> None:
    """Take out of `allowed` the choices that may lead out of what is `inside`."""
    for choice in range(len(allowed)):
        if allowed[choice]:
            branch, first = branch_start[choice + 1] - 1, branch_start[choice]
            while branch >= first and inside[target[branch]]:
                branch -= 1
            allowed[choice] = branch < first


def spread(
    choice_start: Any, branch_start: Any, target: Any, through: Any, allowed: Any, seen: Any, rounds: int
) -> bool:
    """Mark in `seen` what can be reached from what is seen, going over all states, down and up.

    Returns False when `rounds` were not enough.
    """
    states = len(seen)
    left = seen.copy()  # what still has to mark where it leads
    for step in range(rounds):
        found = False
        for place in range(states):
            one = place if step % 2 else states - 1 - place
            if not left[one]:
                continue
            left[one], found = False, True
            for choice in range(choice_start[one], choice_start[one + 1]):
                if not allowed[choice]:
                    continue
                for branch in range(branch_start[choice], branch_start[choice + 1]):
                    to = target[branch]
                    if through[to] and not seen[to]:
                        seen[to], left[to] = True, True
        if not found:
            return True
    return False


def list_choices(first: Any, choice_start: Any, choices: Any, kept: Any, home: Any) -> int:
    """List the choices of some states that may be taken, and the place of their state; return how many there are."""
    end = 0
    for node in range(len(first)):
        for choice in range(choice_start[first[node]], choice_start[first[node] + 1]):
            if choices[choice]:
                kept[end], home[end] = choice, node
                end += 1
    return end


def fill_rows(
    branch_start: Any,
    to: Any,
    probability: Any,
    kept: Any,
    home: Any,
    node: Any,
    decided: Any,
    paid: Any,
    discount: float,
    row_start: Any,
    target: Any,
    weight: Any,
    constant: Any,
) -> int:
    """Write the rows of some choices, with what is decided in their constants and what stays shared out.

    Choices that never leave their node are left out, and `kept` and `home` are made shorter. Returns how many rows are
    left. `paid` is empty where nothing is paid.
    """
    end, rows = 0, 0
    for place in range(len(kept)):
        choice, mine = kept[place], home[place]
        begin = end
        sure = stays = leaves = 0.0
        for branch in range(branch_start[choice], branch_start[choice + 1]):
            state = to[branch]
            share = probability[branch] * discount
            goes = node[state]
            if goes == mine:
                stays += share
                continue
            leaves += share
            if goes < 0:
                sure += share * decided[state]
            else:
                target[end], weight[end] = goes, share
                end += 1
        if discount == 1.0 and leaves == 0.0:
            end = begin
            continue
        if len(paid):
            sure += paid[choice]
        if stays > 0.0:
            # What stays is 1 minus what leaves: adding up what leaves keeps its digits where it is little.
            part = leaves if discount == 1.0 else 1.0 - stays
            sure /= part
            for branch in range(begin, end):
                weight[branch] /= part
        constant[rows], kept[rows], home[rows] = sure, choice, mine
        rows += 1
        row_start[rows] = end
    return rows


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
