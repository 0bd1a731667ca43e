"""Calls to make to stateful tool APIs of bfcl-eval: sound ones, and ones with faults planted."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module, resources
from typing import Any, ClassVar

from _tools import ApiWorld

__all__ = ["Trading"]

SOURCES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
RUNS = ("base", "long_context", "miss_func", "miss_param")


def scenarios(api: str) -> list[dict[str, Any]]:
    """Return the states that the package's tasks start an API from, each once."""
    found = {}
    for run in RUNS:
        text = (resources.files("bfcl_eval") / "data" / f"BFCL_v4_multi_turn_{run}.json").read_text("utf-8")
        for line in text.splitlines():
            scenario = json.loads(line)["initial_config"].get(api)
            if scenario:
                found[json.dumps(scenario, sort_keys=True)] = scenario
    return [found[text] for text in sorted(found)]


class Api(ApiWorld):
    """An API whose calls are made up by one method an action, `_<action>(intent)`."""

    weights: ClassVar[Mapping[str, int]]
    kinds: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def propose(self) -> tuple[str, dict[str, Any], list[str]]:
        """Return a call that the state may or may not allow, and the faults planted in it."""
        (action,) = self.rng.choices(list(self.weights), list(self.weights.values()))
        intent = self.faults(self.kinds.get(action, ()))
        makes: Callable[[list[str]], dict[str, Any]] | None = getattr(self, f"_{action}", None)
        return action, makes(intent) if makes else {}, intent


class Trading(Api):
    """A broker: logged in or not, a balance, a market that is open or not, orders by number, a list of shares."""

    domain = "trading"
    weights = {
        "place_order": 30,
        "cancel_order": 12,
        "withdraw_funds": 14,
        "fund_account": 8,
        "remove_stock_from_watchlist": 9,
        "add_to_watchlist": 6,
        "get_order_details": 6,
        "get_stock_info": 4,
        "get_account_info": 3,
        "trading_login": 5,
        "trading_logout": 2,
    }
    kinds = {
        "place_order": ("symbol", "price", "amount", "funds", "funds", "funds"),
        "cancel_order": ("number", "done"),
        "withdraw_funds": ("amount", "funds", "funds"),
        "fund_account": ("amount",),
        "remove_stock_from_watchlist": ("symbol",),
        "add_to_watchlist": ("symbol",),
        "get_order_details": ("number",),
        "get_stock_info": ("symbol",),
    }

    def __init__(self, rng: random.Random) -> None:
        """Load the package's scenarios, each logged in and not, with the market open and closed."""
        super().__init__(import_module(f"{SOURCES}.trading_bot").TradingBot, self._variants(), rng)

    @staticmethod
    def _variants() -> Iterator[dict[str, Any]]:
        for scenario in scenarios("TradingBot"):
            for number in range(8):
                status = "Closed" if number in (0, 4) else "Open"
                changes = {"authenticated": number > 1, "market_status": status, "random_seed": number}
                yield {**scenario, **changes}

    def _symbol(self, wrong: bool) -> str:
        if wrong:
            return str(self.rng.choice(("AMZN", "IBM", "aapl", "", "ZZZZ", "NVDAX")))
        return str(self.rng.choice(sorted(self.api.stocks)))

    def _place_order(self, intent: list[str]) -> dict[str, Any]:
        rng, balance = self.rng, self.api.account_info["balance"]
        symbol = self._symbol("symbol" in intent)
        now = self.api.stocks.get(symbol, {"price": 100.0})["price"]
        price = round(now * rng.uniform(0.8, 1.2), 2)
        most = balance / price
        amount = max(1, int(most * rng.uniform(0.0, 0.6)))
        if "funds" in intent:  # more than there is, often by little
            amount = int(most * rng.choice((1.0, 1.05, 1.5, 3.0))) + rng.choice((0, 1, 1))
        if "amount" in intent:
            amount = rng.choice((0, -1, -5))
        if "price" in intent:
            price = rng.choice((0.0, -price, -1.0))
        kind = rng.choice(("Buy", "Buy", "Sell"))
        return {"order_type": kind, "symbol": symbol, "price": price, "amount": amount}

    def _number(self, intent: list[str]) -> int:
        numbers = [number for number in self.api.orders if isinstance(number, int)]
        done = [number for number in numbers if self.api.orders[number].get("status") == "Completed"]
        if "number" in intent or not numbers:
            return int(self.rng.choice((0, 1, 99999, self.api.order_counter, self.rng.randrange(10_000, 20_000))))
        fitting = done if "done" in intent else [number for number in numbers if number not in done]
        return int(self.rng.choice(fitting or numbers))

    def _cancel_order(self, intent: list[str]) -> dict[str, Any]:
        return {"order_id": self._number(intent)}

    def _get_order_details(self, intent: list[str]) -> dict[str, Any]:
        return {"order_id": self._number(intent)}

    def _money(self, intent: list[str], balance: float) -> float:
        rng = self.rng
        if "amount" in intent:
            return rng.choice((0.0, -10.0, -500.0))
        if "funds" in intent:
            return round(balance * rng.choice((1.0, 1.001, 1.1, 2.0)) + rng.choice((0.0, 0.0, 0.01, 1.0)), 2)
        return round(balance * rng.uniform(0.01, 0.7), rng.choice((0, 2)))

    def _withdraw_funds(self, intent: list[str]) -> dict[str, Any]:
        return {"amount": self._money(intent, self.api.account_info["balance"])}

    def _fund_account(self, intent: list[str]) -> dict[str, Any]:
        return {"amount": self._money(intent, 5_000.0)}

    def _remove_stock_from_watchlist(self, intent: list[str]) -> dict[str, Any]:
        held = self.api.watch_list
        return {"symbol": self.rng.choice(held) if held and "symbol" not in intent else self._symbol(wrong=False)}

    def _add_to_watchlist(self, intent: list[str]) -> dict[str, Any]:
        return {"stock": self._symbol("symbol" in intent)}

    def _get_stock_info(self, intent: list[str]) -> dict[str, Any]:
        return {"symbol": self._symbol("symbol" in intent)}

    def _trading_login(self, intent: list[str]) -> dict[str, Any]:
        return {"username": self.rng.choice(("ada", "lena", "kofi")), "password": f"pw{self.rng.randrange(1_000)}"}
