"""Which terms an action's calls offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surefoot.learners._induction.growing import MOST, Growth
from surefoot.learners._induction.measuring import measure, override

__all__ = ["grow"]


def grow(sample: Sequence[tuple[Any, Mapping[str, Any]]], arguments: frozenset[str] | None = None) -> Growth:
    """Return the terms that a sample of calls offers.

    Args:
        sample: (state, args) of calls, both accepted and refused ones.
        arguments: all names that arguments of the action ever had, those in the sample by default.

    Cost: about the number of terms (at most `MOST`) times the sample.

    Example:
        >>> sample = [({"open": {"A": {"x": 1}, "B": {"x": 2}}}, {"id": "A"}), ({"open": {"A": {"x": 1}}}, {"id": "B"})]
        >>> [term.key for term in grow(sample).offered if term.op == "get"]
        ['open[id]']
    """
    if arguments is None:
        arguments = frozenset(name for _, args in sample for name in args)
    growth = Growth(sample, arguments)
    growth.follow()
    growth.most = MOST
    override(growth)
    measure(growth)
    return growth
