"""Loop guards: what an agent did again and again without getting anywhere, it does not do once more.

A step is (state, action, what it led to), never the action alone: to press a button in five places is no loop. A cycle
is a run of 1 to 32 steps that was walked three times in a row, since the last progress.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["LONGEST", "TIMES", "cycle_of", "looping"]

LONGEST = 32
"""The longest cycle that is recognised, in steps.

Example:
    >>> LONGEST
    32
"""

TIMES = 3
"""How often a cycle is walked before it counts as one.

Example:
    >>> TIMES
    3
"""


def cycle_of(trail: Sequence[int]) -> int:
    """Return the length of the shortest cycle that a trail ends with, 0 for none.

    Args:
        trail: numbers of steps, the same step always the same number; the newest last.

    Cost: a few comparisons for each length.

    Example:
        >>> cycle_of([9, 1, 2, 1, 2, 1, 2]), cycle_of([1, 2, 3]), cycle_of([5, 5, 5])
        (2, 0, 1)
    """
    count = len(trail)
    for length in range(1, min(LONGEST, count // TIMES) + 1):
        if trail[-1] != trail[-1 - length]:
            continue
        newest = trail[count - length :]
        if all(trail[count - (n + 1) * length : count - n * length] == newest for n in range(1, TIMES)):
            return length
    return 0


def looping(trail: Sequence[int], steps: Sequence[tuple[bytes, bytes, bytes]], state: bytes) -> bytes | None:
    """Return the action that would go round a cycle once more from `state`; None when there is no cycle.

    Args:
        trail: the numbers of the steps walked, see `cycle_of`.
        steps: what each number stands for: (state, action, what it led to), encoded.
        state: where the agent is.

    Example:
        >>> steps = [(b"1", b'"up"', b"2"), (b"2", b'"down"', b"1")]
        >>> looping([0, 1] * 3, steps, b"1"), looping([0, 1] * 2, steps, b"1"), looping([0, 1] * 3, steps, b"5")
        (b'"up"', None, None)
    """
    length = cycle_of(trail)
    if not length:
        return None
    at, action, _ = steps[trail[-length]]
    return action if at == state else None
