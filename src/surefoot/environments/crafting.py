"""A toy world of places, materials, tools and recipes, where most of what can be tried is refused, and says why.

It is made to learn rules in: the same rules in another layout (`ISLAND`), other rules in the same layout (`CHANGED`).

Refusals: the flag (`accepted=False`), each with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from surefoot.errors import BadArgument, NotStarted
from surefoot.protocols import Outcome, ended, moved, refused

__all__ = ["CHANGED", "ISLAND", "MEADOW", "WORLDS", "Bag", "Crafting", "Land", "Place", "Recipe", "State"]

Bag = tuple[tuple[str, int], ...]
"""What is carried: (thing, how many) in the order of the names, each at least once.

Example:
    >>> Crafting().reset()[1]
    ()
"""

State = tuple[str, Bag]
"""Where, and with what.

Example:
    >>> Crafting().reset()
    ('camp', ())
"""

Action = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """Say what is at a place.

    Attributes:
        ways: the places that one gets to from here.
        materials: what can be taken here, without end.
        stations: what one can work at here.

    Example:
        >>> MEADOW.places["wood"].materials
        ('branch', 'log')
    """

    ways: tuple[str, ...]
    materials: tuple[str, ...] = ()
    stations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """Say what it takes to make one of a thing.

    Attributes:
        uses: how many of which thing are used up, each >= 1.
        at: the station that it is made at; None: anywhere.

    Example:
        >>> MEADOW.recipes["axe"]
        Recipe(uses={'branch': 1, 'stone': 1}, at='bench')
    """

    uses: Mapping[str, int]
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Land:
    """Hold the layout and the rules of a world.

    Attributes:
        places: the places by name.
        recipes: what can be made.
        goal: making this ends the episode.
        start: where episodes begin.
        tools: {material: the thing that must be carried to take it}; a material that is not named needs none.
        room: how many things the bag holds, an int >= 1.

    Raises:
        BadArgument: a way, the start or the goal leads to what is not there, or `room` is out of range.

    Example:
        >>> harder = replace(MEADOW, tools={**MEADOW.tools, "stone": "axe"})
        >>> harder.tools["stone"], MEADOW.tools.get("stone")
        ('axe', None)
    """

    places: Mapping[str, Place]
    recipes: Mapping[str, Recipe]
    goal: str
    start: str
    tools: Mapping[str, str] = field(default_factory=dict)
    room: int = 6

    def __post_init__(self) -> None:
        """Check that everything named is there."""
        if self.start not in self.places:
            raise BadArgument(f"start is {self.start!r}: there is no such place, there are {sorted(self.places)}")
        if self.goal not in self.recipes:
            raise BadArgument(f"goal is {self.goal!r}: it has no recipe, there are {sorted(self.recipes)}")
        if type(self.room) is not int or self.room < 1:
            raise BadArgument(f"room must be an int >= 1, got {self.room!r}")
        for name, place in self.places.items():
            for way in place.ways:
                if way not in self.places:
                    raise BadArgument(f"a way leads from {name!r} to {way!r}: there is no such place")
        for name, recipe in self.recipes.items():
            if any(type(number) is not int or number < 1 for number in recipe.uses.values()):
                raise BadArgument(f"the recipe of {name!r} must use ints >= 1, got {dict(recipe.uses)!r}")

    @property
    def materials(self) -> list[str]:
        """Return what can be taken somewhere, by name.

        Example:
            >>> MEADOW.materials
            ['branch', 'log', 'ore', 'stone']
        """
        return sorted({material for place in self.places.values() for material in place.materials})


_RECIPES = {
    "axe": Recipe({"branch": 1, "stone": 1}, "bench"),
    "bell": Recipe({"ingot": 2}, "forge"),
    "ingot": Recipe({"log": 1, "ore": 1}, "forge"),
    "pick": Recipe({"branch": 1, "stone": 2}, "bench"),
}
_TOOLS = {"log": "axe", "ore": "pick"}

MEADOW = Land(
    places={
        "camp": Place(("brook", "wood"), stations=("bench",)),
        "brook": Place(("camp", "hill"), ("stone",)),
        "wood": Place(("camp", "hill"), ("branch", "log")),
        "hill": Place(("brook", "wood", "kiln"), ("ore", "stone")),
        "kiln": Place(("hill",), stations=("forge",)),
    },
    recipes=_RECIPES,
    goal="bell",
    start="camp",
    tools=_TOOLS,
)
"""Five places around a camp.

Example:
    >>> sorted(MEADOW.places)
    ['brook', 'camp', 'hill', 'kiln', 'wood']
"""

ISLAND = Land(
    places={
        "beach": Place(("jetty", "grove"), ("branch", "stone")),
        "jetty": Place(("beach",), stations=("bench", "forge")),
        "grove": Place(("beach", "cave", "spring"), ("log",)),
        "cave": Place(("grove",), ("ore",)),
        "spring": Place(("grove", "ruin")),
        "ruin": Place(("spring",), ("branch", "stone"), ("bench",)),
    },
    recipes=_RECIPES,
    goal="bell",
    start="beach",
    tools=_TOOLS,
)
"""The rules of `MEADOW` in six other places.

Example:
    >>> ISLAND.recipes == MEADOW.recipes, set(ISLAND.places) & set(MEADOW.places)
    (True, set())
"""

CHANGED = replace(MEADOW, tools={"ore": "axe"})
"""The places of `MEADOW` with other tools: a log is taken by hand, ore with an axe.

Example:
    >>> CHANGED.places == MEADOW.places, CHANGED.tools
    (True, {'ore': 'axe'})
"""

WORLDS: Mapping[str, Land] = {"meadow": MEADOW, "island": ISLAND, "changed": CHANGED}
"""The lands by name.

Example:
    >>> sorted(WORLDS)
    ['changed', 'island', 'meadow']
"""


class Crafting:
    """Go from place to place, take materials, make things, until the goal is made.

    An action is a pair: `("go", place)`, `("take", material)`, `("make", thing)` or `("drop", thing)`. On offer are the
    moves to every other place, every material, every recipe, and what is carried, whether it will be accepted or not:
    finding that out is what this world is for. There is no randomness, so every seed gives the same episode.

    Args:
        land: a `Land`, or the name of one in `WORLDS`.

    Raises:
        BadArgument: there is no such land.

    Cost: constant time for a step, linear in the size of the land for `actions`.

    Example:
        >>> world = Crafting("meadow")
        >>> world.reset(seed=0)
        ('camp', ())
        >>> world.step(("make", "axe")).reason
        'not enough branch'
        >>> world.step(("go", "wood")).state, world.step(("take", "log")).reason
        (('wood', ()), 'needs axe')
        >>> world.step(("take", "branch")).effect
        {'bag': {'branch': 1}}
    """

    def __init__(self, land: Land | str = "meadow") -> None:
        """Build the world; `reset` puts the walker into it."""
        if isinstance(land, str):
            if land not in WORLDS:
                raise BadArgument(f"land must be a Land or one of {sorted(WORLDS)}, got {land!r}")
            land = WORLDS[land]
        elif not isinstance(land, Land):
            raise BadArgument(f"land must be a Land or one of {sorted(WORLDS)}, got {land!r}")
        self.land = land
        self._place: str | None = None
        self._bag: dict[str, int] = {}

    def reset(self, seed: int | None = None) -> State:
        """Start at the land's start with an empty bag; `seed` changes nothing.

        Example:
            >>> Crafting("island").reset(seed=3)
            ('beach', ())
        """
        self._place, self._bag = self.land.start, {}
        return self._state()

    def actions(self, state: State) -> Sequence[Action]:
        """Return the actions on offer in `state`, none once the goal is made.

        Raises:
            BadArgument: it is no state of this world.

        Example:
            >>> Crafting().actions(("kiln", (("ore", 1),)))[-2:]
            [('make', 'pick'), ('drop', 'ore')]
        """
        place, bag = self._checked(state)
        if self.land.goal in bag:
            return []
        return [
            *(("go", name) for name in sorted(self.land.places) if name != place),
            *(("take", material) for material in self.land.materials),
            *(("make", thing) for thing in sorted(self.land.recipes)),
            *(("drop", thing) for thing in sorted(bag)),
        ]

    def step(self, action: Action) -> Outcome[State]:
        """Take an action, or say why not.

        Raises:
            NotStarted: before `reset`, or after the episode was over.

        Example:
            >>> world = Crafting()
            >>> _ = world.reset()
            >>> world.step(("go", "kiln")).reason, world.step("dance").reason
            ('no way there', 'no such action')
        """
        if self._place is None:
            raise NotStarted(f"step({action!r}) before reset(): call reset(seed=...) first")
        if self.land.goal in self._bag:
            raise NotStarted(f"step({action!r}) after the episode was over: call reset(seed=...) first")
        verb, what = action if _is_pair(action) else ("", "")
        do = {"go": self._go, "take": self._take, "make": self._make, "drop": self._drop}.get(verb)
        effect = "no such action" if do is None else do(what)
        if isinstance(effect, str):
            return refused(self._state(), effect)
        return (ended if self.land.goal in self._bag else moved)(self._state(), effect=effect)

    def _go(self, place: str) -> dict[str, Any] | str:
        """Go to a place; return the effect, or why not."""
        if place not in self.land.places[self._here()].ways:
            return "no way there"
        self._place = place
        return {"place": place}

    def _take(self, material: str) -> dict[str, Any] | str:
        """Take one of a material; return the effect, or why not."""
        if material not in self.land.places[self._here()].materials:
            return "none here"
        tool = self.land.tools.get(material)
        if tool is not None and tool not in self._bag:
            return f"needs {tool}"
        return self._exchange({material: 1})

    def _make(self, thing: str) -> dict[str, Any] | str:
        """Make one of a thing; return the effect, or why not."""
        recipe = self.land.recipes.get(thing)
        if recipe is None:
            return "no such recipe"
        for part, number in sorted(recipe.uses.items()):
            if self._bag.get(part, 0) < number:
                return f"not enough {part}"
        if recipe.at is not None and recipe.at not in self.land.places[self._here()].stations:
            return f"no {recipe.at} here"
        change = {part: -number for part, number in recipe.uses.items()}
        return self._exchange({**change, thing: change.get(thing, 0) + 1})

    def _drop(self, thing: str) -> dict[str, Any] | str:
        """Drop one of a thing; return the effect, or why not."""
        return self._exchange({thing: -1}) if thing in self._bag else "not in the bag"

    def _exchange(self, change: dict[str, int]) -> dict[str, Any] | str:
        """Change what is in the bag; return the effect, or why not."""
        if sum(self._bag.values()) + sum(change.values()) > self.land.room:
            return "the bag is full"
        for thing, number in change.items():
            held = self._bag.get(thing, 0) + number
            self._bag[thing] = held
            if not held:
                del self._bag[thing]
        return {"bag": dict(sorted(change.items()))}

    def describe(self, state: State) -> dict[str, Any]:
        """Return what can be seen in `state`: where, what is carried, what is here, and the recipes' parts.

        What each material needs, and where things are made, is not told: that is to be learned.

        Raises:
            BadArgument: it is no state of this world.

        Example:
            >>> seen = Crafting().describe(("hill", (("pick", 1),)))
            >>> seen["materials"], seen["bag"], seen["free"], seen["recipes"]["ingot"]
            (['ore', 'stone'], {'pick': 1}, 5, {'log': 1, 'ore': 1})
        """
        name, bag = self._checked(state)
        place = self.land.places[name]
        return {
            "place": name,
            "bag": bag,
            "free": self.land.room - sum(bag.values()),
            "ways": list(place.ways),
            "materials": list(place.materials),
            "stations": list(place.stations),
            "recipes": {thing: dict(recipe.uses) for thing, recipe in self.land.recipes.items()},
        }

    def save_state(self) -> State:
        """Return a token for `restore_state`: the state.

        Raises:
            NotStarted: before `reset`.

        Example:
            >>> world = Crafting()
            >>> world.reset() == world.save_state()
            True
        """
        self._here("save_state()")
        return self._state()

    def restore_state(self, token: State) -> State:
        """Go to a state, also one of another world with such places and things, and return it.

        Raises:
            BadArgument: it is no state of this world.

        Example:
            >>> world = Crafting("changed")
            >>> _ = world.restore_state(("hill", (("axe", 1),)))
            >>> world.step(("take", "ore")).state
            ('hill', (('axe', 1), ('ore', 1)))
        """
        self._place, self._bag = self._checked(token)
        return self._state()

    def _here(self, call: str = "step") -> str:
        if self._place is None:
            raise NotStarted(f"{call} before reset(): call reset(seed=...) first")
        return self._place

    def _state(self) -> State:
        return self._here(), tuple(sorted(self._bag.items()))

    def _checked(self, state: State) -> tuple[str, dict[str, int]]:
        """Return place and bag of a state, if it is one."""
        try:
            place, held = state
            bag = dict(held)
            sound = (
                type(state) is tuple
                and place in self.land.places
                and tuple(sorted(bag.items())) == held
                and all(type(thing) is str and type(n) is int and n > 0 for thing, n in held)
                and sum(bag.values()) <= self.land.room
            )
        except (TypeError, ValueError):
            sound = False
        if not sound:
            raise BadArgument(
                f"a state of this world is (place, ((thing, number), ...)) in the order of the names, at most "
                f"{self.land.room} things, got {state!r}; the places are {sorted(self.land.places)}"
            )
        return place, bag


def _is_pair(action: object) -> bool:
    return type(action) is tuple and len(action) == 2 and all(type(part) is str for part in action)
