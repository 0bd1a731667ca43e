"""Calls to make to further stateful tool APIs of bfcl-eval: travel, messages, a vehicle, a file system."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from _tools_apis import SOURCES, Api, scenarios

__all__ = ["Files", "Messages", "Travel", "Vehicle"]

AIRPORTS = ("SFO", "LAX", "JFK", "ORD", "BOS", "RMS", "SBK", "OKD", "CRH", "LHR")
CITIES = ("San Francisco", "Los Angeles", "Rivermist", "London", "Tokyo")
NAMES = ("Ada", "Noor", "Mei", "Raj", "Lena", "Omar", "Alice", "Bob", "Catherine", "Daniel")


class Travel(Api):
    """Bookings on cards with a balance, behind a token; fares are in the code, not in the state."""

    domain = "travel"
    weights = {
        "book_flight": 30,
        "cancel_booking": 14,
        "purchase_insurance": 16,
        "register_credit_card": 8,
        "set_budget_limit": 6,
        "get_credit_card_balance": 6,
        "retrieve_invoice": 6,
        "contact_customer_support": 5,
        "verify_traveler_information": 9,
        "authenticate_travel": 2,
    }
    kinds = {
        "book_flight": ("token", "card", "airport", "date", "class", "poor", "poor"),
        "cancel_booking": ("token", "booking"),
        "purchase_insurance": ("token", "card", "booking", "budget", "budget"),
        "register_credit_card": ("token", "again"),
        "set_budget_limit": ("token",),
        "get_credit_card_balance": ("token", "card"),
        "retrieve_invoice": ("token", "booking"),
        "contact_customer_support": ("booking",),
        "verify_traveler_information": ("name", "date", "age", "passport"),
    }
    hidden = (*Api.hidden, "_flight_cost_lookup")

    def __init__(self, rng: random.Random) -> None:
        """Load the package's scenarios that have a token, each with one card more and a few bookings."""
        found = []
        for number, scenario in enumerate(scenarios("TravelAPI")):
            if not scenario.get("access_token"):
                continue
            for turn in range(3):
                cards = {name: {"balance": 1000.0, **card} for name, card in scenario["credit_card_list"].items()}
                cards[f"{8_000_000 + 10 * number + turn}"] = {"balance": float(rng.randrange(50, 3_000))}
                booked = {
                    str(rng.randrange(10**6, 10**7)): {
                        "card_id": rng.choice(list(cards)),
                        "travel_date": f"2026-0{rng.randrange(1, 10)}-1{rng.randrange(10)}",
                        "travel_from": "SFO",
                        "travel_to": rng.choice(("LAX", "JFK", "BOS")),
                        "travel_class": "economy",
                        "travel_cost": float(rng.randrange(100, 900)),
                        "transaction_id": str(rng.randrange(10**7, 10**8)),
                    }
                    for _ in range(rng.choice((0, 1, 2)))
                }
                budget = rng.choice((None, float(rng.randrange(100, 4_000)), scenario.get("budget_limit")))
                changes = {"credit_card_list": cards, "booking_record": booked, "budget_limit": budget}
                found.append({**scenario, **changes, "random_seed": 100 * number + turn})
        super().__init__(import_module(f"{SOURCES}.travel_booking").TravelAPI, found, rng)

    def _token(self, intent: list[str]) -> dict[str, Any]:
        wrong = self.rng.choice(("", "abc", f"{self.rng.randrange(10**5, 10**6)}"))
        return {"access_token": wrong if "token" in intent else self.api.access_token}

    def _card(self, intent: list[str]) -> dict[str, Any]:
        cards = self.api.credit_card_list
        if "card" in intent or not cards:
            return {"card_id": f"{self.rng.randrange(10**11, 10**12)}"}
        if "poor" in intent:
            return {"card_id": min(sorted(cards), key=lambda name: cards[name].get("balance", 0))}
        return {"card_id": self.rng.choice(sorted(cards))}

    def _booking(self, intent: list[str]) -> dict[str, Any]:
        booked = sorted(self.api.booking_record)
        made_up = f"{self.rng.randrange(10**6, 10**7)}"
        return {"booking_id": self.rng.choice(booked) if booked and "booking" not in intent else made_up}

    def _book_flight(self, intent: list[str]) -> dict[str, Any]:
        rng = self.rng
        date = f"202{rng.randrange(5, 9)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        if "date" in intent:
            date = rng.choice(("2026-13-01", "01/02/2026", "tomorrow", "2026-02-30", date.replace("-", "/")))
        places = rng.choice((("SFO", "LAX"), ("SFO", "JFK"), ("LAX", "BOS"), ("JFK", "ORD"), ("ORD", "BOS")))
        if "airport" in intent:
            places = rng.choice((("XXX", "LAX"), ("SFO", "sfo"), tuple(rng.sample(AIRPORTS, 2))))
        kinds = ("coach", "Business", "") if "class" in intent else ("economy", "economy", "business", "first")
        args = {"travel_date": date, "travel_from": places[0], "travel_to": places[1]}
        return self._token(intent) | self._card(intent) | args | {"travel_class": rng.choice(kinds)}

    def _cancel_booking(self, intent: list[str]) -> dict[str, Any]:
        return self._token(intent) | self._booking(intent)

    def _retrieve_invoice(self, intent: list[str]) -> dict[str, Any]:
        return self._token(intent) | self._booking(intent)

    def _contact_customer_support(self, intent: list[str]) -> dict[str, Any]:
        return self._booking(intent) | {"message": self.rng.choice(("please call", "where is it?"))}

    def _purchase_insurance(self, intent: list[str]) -> dict[str, Any]:
        limit = self.api.budget_limit
        cost = float(self.rng.randrange(20, 400))
        if "budget" in intent and limit is not None:
            cost = round(limit * self.rng.choice((1.0, 1.01, 1.5)) + self.rng.choice((0.0, 0.5, 1.0)), 2)
        more = {"insurance_type": self.rng.choice(("travel", "luggage")), "insurance_cost": cost}
        return self._token(intent) | self._booking(intent) | self._card(intent) | more

    def _register_credit_card(self, intent: list[str]) -> dict[str, Any]:
        rng = self.rng
        number = rng.choice(sorted(self.api.credit_card_list) or ["1"])
        if "again" not in intent:
            number = f"{rng.randrange(10**15, 10**16)}"
        card = {"card_number": number, "expiration_date": "10/2027", "cardholder_name": rng.choice(NAMES)}
        return self._token(intent) | card | {"card_verification_number": rng.randrange(100, 1_000)}

    def _set_budget_limit(self, intent: list[str]) -> dict[str, Any]:
        return self._token(intent) | {"budget_limit": float(self.rng.randrange(50, 4_000))}

    def _get_credit_card_balance(self, intent: list[str]) -> dict[str, Any]:
        return self._token(intent) | self._card(intent)

    def _verify_traveler_information(self, intent: list[str]) -> dict[str, Any]:
        rng, api = self.rng, self.api
        birth = f"{rng.randrange(1950, 2000)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        if "age" in intent:
            birth = f"20{rng.randrange(15, 24)}-05-06"
        if "date" in intent:
            birth = rng.choice(("05/06/1990", "1990-14-01", "1990"))
        number = f"{rng.choice(('CA', 'us', 'GB')) if 'passport' in intent else 'US'}{rng.randrange(10**6, 10**7)}"
        last = rng.choice(NAMES) if "name" in intent else api.user_last_name
        more = {"date_of_birth": birth, "passport_number": number}
        return {"first_name": api.user_first_name, "last_name": last, **more}

    def _authenticate_travel(self, intent: list[str]) -> dict[str, Any]:
        names = {"user_first_name": self.rng.choice(NAMES), "user_last_name": self.rng.choice(NAMES)}
        return {"client_id": "c", "client_secret": "s", "refresh_token": "r", "grant_type": "read_write", **names}


class Messages(Api):
    """A workspace: who is logged in, users by name, and a list of messages, each a record of one key."""

    domain = "messages"
    weights = {
        "send_message": 26,
        "delete_message": 20,
        "message_login": 14,
        "add_contact": 14,
        "get_user_id": 10,
        "view_messages_sent": 6,
        "search_messages": 6,
    }
    kinds = {
        "send_message": ("receiver",),
        "delete_message": ("receiver",),
        "message_login": ("user",),
        "add_contact": ("again",),
        "get_user_id": ("name",),
    }

    def __init__(self, rng: random.Random) -> None:
        """Load the package's scenarios, some with nobody logged in."""
        found = []
        for number, scenario in enumerate([*scenarios("MessageAPI"), {}]):
            for turn in range(4):
                changes = {"current_user": None} if turn == 0 else {}
                found.append({**scenario, **changes, "random_seed": 10 * number + turn})
        super().__init__(import_module(f"{SOURCES}.message_api").MessageAPI, found, rng)

    def _user(self, wrong: bool) -> str:
        made_up = (f"USR{self.rng.randrange(300, 900)}", "Alice", "usr001", "")
        return str(self.rng.choice(made_up if wrong else sorted(self.api.user_map.values())))

    def _send_message(self, intent: list[str]) -> dict[str, Any]:
        text = self.rng.choice(("hello", "see you at three", "please review"))
        return {"receiver_id": self._user("receiver" in intent), "message": text}

    def _delete_message(self, intent: list[str]) -> dict[str, Any]:
        held = sorted({receiver for message in self.api.inbox for receiver in message})
        plain = self.rng.choice(held) if held and "receiver" not in intent else None
        return {"receiver_id": plain or self._user(self.rng.random() < 0.3)}

    def _message_login(self, intent: list[str]) -> dict[str, Any]:
        return {"user_id": self._user("user" in intent)}

    def _add_contact(self, intent: list[str]) -> dict[str, Any]:
        made_up = f"{self.rng.choice(NAMES)} {self.rng.choice(NAMES)}"
        return {"user_name": self.rng.choice(sorted(self.api.user_map)) if "again" in intent else made_up}

    def _get_user_id(self, intent: list[str]) -> dict[str, Any]:
        made_up = (*NAMES[:6], "USR001", "alice", "")
        return {"user": self.rng.choice(made_up if "name" in intent else sorted(self.api.user_map))}

    def _search_messages(self, intent: list[str]) -> dict[str, Any]:
        return {"keyword": self.rng.choice(("hello", "the", "xyz"))}


class Vehicle(Api):
    """A car: plain values at the root, doors by name; some refusals change something all the same."""

    domain = "vehicle"
    weights = {
        "startEngine": 22,
        "fillFuelTank": 14,
        "lockDoors": 12,
        "adjustClimateControl": 8,
        "setHeadlights": 6,
        "activateParkingBrake": 6,
        "pressBrakePedal": 14,
        "releaseBrakePedal": 3,
        "setCruiseControl": 15,
    }
    kinds = {
        "startEngine": ("mode",),
        "fillFuelTank": ("negative", "much", "much"),
        "lockDoors": ("door",),
        "adjustClimateControl": ("fan",),
        "setHeadlights": ("mode",),
        "activateParkingBrake": ("mode",),
        "pressBrakePedal": ("position",),
        "setCruiseControl": ("speed", "speed"),
    }

    def __init__(self, rng: random.Random) -> None:
        """Load the package's scenarios, some with the engine running, the doors locked or the pedal down."""
        found = []
        for number, scenario in enumerate(scenarios("VehicleControlAPI")):
            for turn in range(4):
                changes: dict[str, Any] = {"random_seed": 10 * number + turn, "fuelLevel": rng.randrange(0, 500) / 10}
                if turn > 0:
                    doors = ("driver", "passenger", "rear_left", "rear_right")
                    changes["doorStatus"] = dict.fromkeys(doors, "locked")
                if turn > 1:
                    changes |= {"brakePedalStatus": "pressed", "brakePedalForce": 1000.0}
                if turn == 3:
                    changes["engineState"] = "running"
                found.append({**scenario, **changes})
        super().__init__(import_module(f"{SOURCES}.vehicle_control").VehicleControlAPI, found, rng)

    def _startEngine(self, intent: list[str]) -> dict[str, Any]:
        return {"ignitionMode": self.rng.choice(("STOP", "start", "GO")) if "mode" in intent else "START"}

    def _fillFuelTank(self, intent: list[str]) -> dict[str, Any]:
        left = 50 - self.api.fuelLevel
        amount = self.rng.uniform(0, max(0.0, left))
        if "much" in intent:
            amount = left + self.rng.choice((0.0, 0.1, 1.0, 10.0))
        return {"fuelAmount": round(-amount - 0.1 if "negative" in intent else amount, 1)}

    def _lockDoors(self, intent: list[str]) -> dict[str, Any]:
        doors = self.rng.sample(sorted(self.api.doorStatus), self.rng.choice((1, 2, 4, 4)))
        if "door" in intent:
            doors[self.rng.randrange(len(doors))] = self.rng.choice(("trunk", "Driver", "front_left"))
        return {"unlock": self.rng.random() < 0.3, "door": doors}

    def _adjustClimateControl(self, intent: list[str]) -> dict[str, Any]:
        speed = self.rng.choice((-5, 101, 150)) if "fan" in intent else self.rng.randrange(0, 101)
        return {"temperature": float(self.rng.randrange(16, 30)), "fanSpeed": speed, "mode": "auto"}

    def _setHeadlights(self, intent: list[str]) -> dict[str, Any]:
        return {"mode": self.rng.choice(("dim", "ON", "") if "mode" in intent else ("on", "off", "auto"))}

    def _activateParkingBrake(self, intent: list[str]) -> dict[str, Any]:
        return {"mode": self.rng.choice(("on", "engaged", "") if "mode" in intent else ("engage", "release"))}

    def _pressBrakePedal(self, intent: list[str]) -> dict[str, Any]:
        sound = (1.0, 1.0, 1.0, 0.5, 0.0)
        return {"pedalPosition": self.rng.choice((1.5, -0.5, 1.01) if "position" in intent else sound)}

    def _setCruiseControl(self, intent: list[str]) -> dict[str, Any]:
        speed = 5 * self.rng.randrange(0, 25)
        if "speed" in intent:
            speed = self.rng.choice((speed + 1, speed + 3, -5, 125, 140))
        near = float(self.rng.randrange(10, 200))
        return {"speed": speed, "activate": self.rng.random() < 0.8, "distanceToNextVehicle": near}


class Files(Api):
    """A file system: what is in the current directory, and the whole tree."""

    domain = "files"
    weights = {"touch": 14, "mkdir": 10, "cat": 10, "rm": 9, "rmdir": 10, "mv": 14, "cp": 14, "echo": 10, "cd": 9}
    kinds = {
        "touch": ("there", "characters"),
        "mkdir": ("there", "characters"),
        "cat": ("missing", "other"),
        "rm": ("missing",),
        "rmdir": ("missing", "other"),
        "mv": ("missing", "onto", "path"),
        "cp": ("missing", "onto", "path"),
        "echo": ("missing", "characters"),
        "cd": ("missing", "other"),
    }

    def __init__(self, rng: random.Random) -> None:
        """Load the package's scenarios."""
        found = [{**scenario} for scenario in scenarios("GorillaFileSystem")]
        super().__init__(import_module(f"{SOURCES}.gorilla_file_system").GorillaFileSystem, found, rng)

    def look(self, action: str, args: dict[str, Any]) -> dict[str, Any]:
        """Return the current directory with what is in it, and the tree."""
        here = self.api._current_dir
        above = here.parent.name if here.parent else None
        return {"here": {"name": here.name, "parent": above, "contents": _tree(here)}, "tree": _tree(self.api.root)}

    def begin(self, side: str) -> None:
        """Start in a scenario, mostly in a directory of it that has something in it."""
        super().begin(side)
        while True:
            below = [
                one for one in self.api._current_dir.contents.values() if hasattr(one, "contents") and one.contents
            ]
            if not below or self.rng.random() < 0.2:
                return
            self.api._current_dir = self.rng.choice(below)

    def _names(self, directory: bool) -> list[str]:
        held = self.api._current_dir.contents
        return sorted(name for name, one in held.items() if hasattr(one, "contents") == directory)

    def _name(self, intent: list[str], *, directory: bool) -> str:
        """Return the name of a file or directory that is here, or one with the planted fault."""
        rng = self.rng
        if "other" in intent:
            directory = not directory
        held = self._names(directory)
        if "missing" in intent or not held:
            return rng.choice(("nothing.txt", "gone", "report2.txt", "README", "tmp"))
        return rng.choice(held)

    def _new(self, intent: list[str], ending: str) -> str:
        rng, held = self.rng, sorted(self.api._current_dir.contents)
        name = f"{rng.choice(('notes', 'draft', 'data', 'old'))}{rng.randrange(1_000)}{ending}"
        if "characters" in intent:
            return f"{name[:3]}{rng.choice('|/?%*:><')}{name[3:]}"
        return rng.choice(held) if "there" in intent and held else name

    def _touch(self, intent: list[str]) -> dict[str, Any]:
        return {"file_name": self._new(intent, ".txt")}

    def _mkdir(self, intent: list[str]) -> dict[str, Any]:
        return {"dir_name": self._new(intent, "")}

    def _cat(self, intent: list[str]) -> dict[str, Any]:
        return {"file_name": self._name(intent, directory=False)}

    def _rm(self, intent: list[str]) -> dict[str, Any]:
        return {"file_name": self._name(intent, directory=self.rng.random() < 0.2)}

    def _rmdir(self, intent: list[str]) -> dict[str, Any]:
        return {"dir_name": self._name(intent, directory=True)}

    def _mv(self, intent: list[str]) -> dict[str, Any]:
        rng, source = self.rng, self._name(intent, directory=self.rng.random() < 0.2)
        target = self._new([], ".txt")
        if "path" in intent:
            target = f"sub/{target}"
        elif "onto" in intent:
            target = self._name([], directory=False)
        elif rng.random() < 0.5:
            target = self._name([], directory=True)
        if target == source:  # a directory that is moved into itself has no end
            target = self._new([], ".txt")
        return {"source": source, "destination": target}

    def _cp(self, intent: list[str]) -> dict[str, Any]:
        return self._mv(intent)

    def _echo(self, intent: list[str]) -> dict[str, Any]:
        name = self._new(intent, ".txt") if "characters" in intent else self._name(intent, directory=False)
        return {"content": self.rng.choice(("hello", "one two three", "")), "file_name": name}

    def _cd(self, intent: list[str]) -> dict[str, Any]:
        return {"folder": ".." if self.rng.random() < 0.2 else self._name(intent, directory=True)}


def _tree(directory: Any) -> dict[str, Any]:
    """Return what is in a directory, by name."""
    return {
        name: {"type": "directory", "contents": _tree(one)}
        if hasattr(one, "contents")
        else {"type": "file", "content": one.content}
        for name, one in directory.contents.items()
    }
