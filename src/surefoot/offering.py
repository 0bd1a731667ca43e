"""The calls that a world of tools or statements offers in a state: the same for all worlds whose user declares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from surefoot import values

__all__ = ["Offer", "offered"]

Offer: TypeAlias = Sequence[Mapping[str, Any]] | Callable[[Any], Iterable[Mapping[str, Any]]]
"""With which arguments a call is on offer: a list of them, or a function of the state.

Example:
    >>> offer: Offer = [{"n": 1}, {"n": 2}]
"""


def offered(calls: Mapping[str, bool], offers: Mapping[str, Offer], state: Any) -> list[Any]:
    """Return the calls on offer in a state as actions, in the order of the calls, each once.

    Args:
        calls: by name, whether a call without an offer may be made, bare.
        offers: by name, with which arguments a call is on offer.
        state: what the functions among them are given; a copy, since they may change it.

    Example:
        >>> offered({"list": True, "add": False, "drop": False}, {"add": [{"n": 1}, {"n": 1}, {}]}, None)
        ['list', {'name': 'add', 'args': {'n': 1}}, 'add']
    """
    found: dict[bytes, Any] = {}
    for name, bare in calls.items():
        offer = offers.get(name)
        given: Iterable[Mapping[str, Any]]
        if offer is None:
            given = [{}] if bare else []
        else:
            given = offer(state) if callable(offer) else offer
        for args in given:
            action = {"name": name, "args": values.copy(dict(args))} if args else name
            found.setdefault(values.encode_action(action), action)
    return list(found.values())
