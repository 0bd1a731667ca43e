"""Vocabularies for τ-bench's retail tools, by one who has read them; recordings are read by `_recording.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from _recording import Probe, Recording

__all__ = ["ACTIONS", "MONEY", "PAIRS", "Probe", "Recording", "conditions"]

State = Mapping[str, Mapping[str, Any]]
Condition = Callable[[State, Mapping[str, Any]], Any]


# -- conditions that one who has read the tools would write -----------------------------------------------------------

REASONS = ("no longer needed", "ordered by mistake")


def _order(state: State, args: Mapping[str, Any]) -> Any:
    return state["orders"][args["order_id"]]


def _methods(state: State, args: Mapping[str, Any]) -> Any:
    return state["users"][_order(state, args)["user_id"]]["payment_methods"]


def _method(state: State, args: Mapping[str, Any]) -> Any:
    return _methods(state, args)[args["payment_method_id"]]


def _swaps(state: State, args: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Return each ordered item with the offer that shall replace it, None where its product has no such variant."""
    items = {item["item_id"]: item for item in reversed(_order(state, args)["items"])}
    pairs = zip(args["item_ids"], args["new_item_ids"], strict=False)
    return [(items[old], state["products"][items[old]["product_id"]]["variants"].get(new)) for old, new in pairs]


def items_in_order(state: State, args: Mapping[str, Any]) -> bool:
    """Say whether the order holds each of the items, as often as it is named."""
    return Counter(args["item_ids"]) <= Counter(item["item_id"] for item in _order(state, args)["items"])


def swaps_offered(state: State, args: Mapping[str, Any]) -> bool:
    """Say whether each new item is an available variant of the product that it replaces."""
    return all(new is not None and new["available"] for _, new in _swaps(state, args))


def covers_difference(state: State, args: Mapping[str, Any]) -> bool:
    """Say whether a gift card's balance covers the difference of the prices; other methods always do."""
    method = _method(state, args)
    if method["source"] != "gift_card":
        return True
    difference = 0.0
    for old, new in _swaps(state, args):
        difference += new["price"] - old["price"] if new is not None else 0.0
    return bool(round(method["balance"] - difference, 2) >= 0)


def covers_order(state: State, args: Mapping[str, Any]) -> bool:
    """Say whether a gift card's balance covers what was paid for the order; other methods always do."""
    method = _method(state, args)
    paid = _order(state, args)["payment_history"][0]["amount"]
    return bool(method["source"] != "gift_card" or method["balance"] >= paid)


def original_or_gift(state: State, args: Mapping[str, Any]) -> bool:
    """Say whether the method is the one that the order was paid with, or a gift card."""
    paid_with = _order(state, args)["payment_history"][0]["payment_method_id"]
    return bool(args["payment_method_id"] == paid_with or _method(state, args)["source"] == "gift_card")


def one_payment(state: State, args: Mapping[str, Any]) -> bool:
    """Say whether the order has seen one payment and nothing else."""
    return [entry["transaction_type"] for entry in _order(state, args)["payment_history"]] == ["payment"]


RICH: dict[str, Condition] = {
    "order exists": lambda state, args: args["order_id"] in state["orders"],
    "status": lambda state, args: _order(state, args)["status"],
    "reason is valid": lambda state, args: args["reason"] in REASONS,
    "items in order": items_in_order,
    "as many new items": lambda state, args: len(args["item_ids"]) == len(args["new_item_ids"]),
    "swaps offered": swaps_offered,
    "swaps change": lambda state, args: all(
        a != b for a, b in zip(args["item_ids"], args["new_item_ids"], strict=False)
    ),
    "own method": lambda state, args: args["payment_method_id"] in _methods(state, args),
    "covers difference": covers_difference,
    "covers order": covers_order,
    "one payment": one_payment,
    "method differs": lambda state, args: (
        args["payment_method_id"] != _order(state, args)["payment_history"][0]["payment_method_id"]
    ),
    "original or gift": original_or_gift,
    "user exists": lambda state, args: args["user_id"] in state["users"],
}
PAIRS = frozenset({"swaps offered", "swaps change"})
MONEY = frozenset({"covers difference", "covers order"})

_ORDER = ("order exists", "status")
_SWAP = (
    *_ORDER,
    "items in order",
    "as many new items",
    "swaps offered",
    "swaps change",
    "own method",
    "covers difference",
)
ACTIONS: dict[str, tuple[str, ...]] = {
    "cancel_pending_order": (*_ORDER, "reason is valid"),
    "exchange_delivered_order_items": _SWAP,
    "modify_pending_order_address": _ORDER,
    "modify_pending_order_items": _SWAP,
    "modify_pending_order_payment": (*_ORDER, "own method", "one payment", "method differs", "covers order"),
    "modify_user_address": ("user exists",),
    "return_delivered_order_items": (*_ORDER, "items in order", "own method", "original or gift"),
}
"""Which conditions are read for which tool."""


def conditions(without: Iterable[str] = ()) -> tuple[dict[str, Condition], dict[str, list[str]]]:
    """Return the predicates and `only` of a vocabulary, with some conditions left out."""
    left = {name: predicate for name, predicate in RICH.items() if name not in without}
    return left, {action: [name for name in names if name in left] for action, names in ACTIONS.items()}
