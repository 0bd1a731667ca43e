"""Batches say what single calls say, whatever the model has seen and however the calls are given."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadArgument, ValueRejected
from surefoot.learners import _caseindex
from surefoot.learners import evidence as module
from surefoot.learners.batches import Coded, Predictions
from surefoot.learners.conservative import CAUTIONS, ConservativeActionModel
from surefoot.learners.vocabulary import BrokenPredicate, Vocabulary

POOLS: dict[str, Callable[[random.Random], Any]] = {
    "label": lambda rng: rng.choice("abcde"),
    "skewed": lambda rng: rng.choices("abcde", (9, 7, 5, 3, 1))[0],
    "bool": lambda rng: rng.random() < 0.5,
    "mixed": lambda rng: rng.choice(["a", 1, True, None, 1.0, 0.0, -0.0, "1", 2]),
    "few ints": lambda rng: rng.randrange(4),
    "many ints": lambda rng: rng.randrange(200),
    "huge ints": lambda rng: rng.choice([1, 2**53, 2**53 + 1, -(2**70)]),
    "identifier": lambda rng: f"id{rng.randrange(10**6)}",
    "float": lambda rng: round(rng.random(), rng.choice([1, 3])),
    "container": lambda rng: rng.choice([("a",), ["a", "b"], {"k": 1}, ("a", 1), (0.0,), (-0.0,)]),
}
STYLES = [list(POOLS), ["label", "skewed", "bool"], ["float", "label", "few ints", "many ints"]]
State = dict[str, Any]
SEVERITIES: list[Any] = [1.0, 3, {"do": 0.25}]


def reader(name: str) -> Callable[[Any, Any], Any]:
    return lambda state, args: state[name]


def vocabulary(*names: str, **options: Any) -> Vocabulary:
    return Vocabulary({name: reader(name) for name in names}, **options)


class World:
    """A model that has seen some of a random world, and states to ask about: some seen, some new."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        width = rng.choice([1, 2, 3, 5, 8, 24])
        style = rng.choice(STYLES)
        self.pools = {f"c{at:02}": POOLS[rng.choice(style)] for at in range(width)}
        self.names = list(self.pools)
        self.gaps = rng.choice([0.0, 0.0, 0.05])
        required = rng.random() < 0.2
        hard: Any = {"c00": self.pools["c00"](rng)} if required else ["c00"] if rng.random() < 0.3 else ()
        self.model = ConservativeActionModel(
            vocabulary(*self.names, hard=hard),
            caution=rng.choice(CAUTIONS),
            severity=rng.choice(SEVERITIES),
        )
        self.rng = rng
        noise = rng.choice([0.0, 0.02, 0.3])
        name, other = rng.choice(self.names), rng.choice(self.names)
        kind = rng.randrange(3)

        def accepts(state: State) -> bool:
            x, y = state.get(name), state.get(other)
            if rng.random() < noise:
                return False
            if kind == 0:
                return random.Random(repr(x)).random() < 0.7
            if kind == 1:
                return random.Random(repr((x, y))).random() < 0.7
            return not (isinstance(x, float | int) and 0.3 < x < 0.6)

        self.accepts = accepts
        self.seen: list[State] = []
        for _ in range(rng.choice([0, 1, 60, 250])):
            self.observe()

    def state(self) -> State:
        if self.seen and self.rng.random() < 0.4:
            return self.rng.choice(self.seen)
        return {name: draw(self.rng) for name, draw in self.pools.items() if self.rng.random() >= self.gaps}

    def observe(self) -> None:
        state = self.state()
        self.seen.append(state)
        self.model.observe(state, "do", {}, self.accepts(state))

    def agree(self, found: Predictions, states: list[State]) -> None:
        single = [self.model.predict(state, "do", {}) for state in states]
        assert found.verdicts == [p.verdict for p in single]
        assert found.risk.tolist() == [p.risk for p in single]
        assert found.support.tolist() == [p.support for p in single]
        assert found.hard.tolist() == [p.hard for p in single]
        assert list(found) == single


@pytest.mark.parametrize("seed", range(25))
def test_a_batch_of_states_says_what_single_calls_say(seed: int) -> None:
    world = World(seed)
    for _ in range(3):
        states = [world.state() for _ in range(40)]
        world.agree(world.model.predict_many(states, "do"), states)
        for _ in range(10):  # what was kept for the batch follows
            world.observe()


@pytest.mark.parametrize("seed", range(25))
def test_columns_say_what_single_calls_say(seed: int) -> None:
    world = World(100 + seed)
    world.gaps = 0.0
    world.seen = [state for state in world.seen if len(state) == len(world.names)]
    for _ in range(2):
        states = [world.state() for _ in range(40)]
        lists = {name: [state[name] for state in states] for name in world.names}
        world.agree(world.model.predict_columns(lists, "do"), states)
        coded = {name: Coded(column, np.arange(len(column))) for name, column in lists.items()}
        world.agree(world.model.predict_columns(coded, "do"), states)
        arrays: dict[str, Any] = {}
        for name, column in lists.items():
            kinds = set(map(type, column))
            plain = (
                len(kinds) == 1
                and kinds <= {str, bool, int, float}
                and not any(abs(x) > 2**53 for x in column if kinds == {int})
            )
            arrays[name] = np.array(column) if plain else column
        world.agree(world.model.predict_columns(arrays, "do"), states)
        world.observe()


def test_a_model_that_changed_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOUCHED", 20)
    monkeypatch.setattr(_caseindex, "_ROOM", 2)
    monkeypatch.setattr(_caseindex, "_TABLE", 3)
    world = World(3)
    model = ConservativeActionModel(vocabulary("a", "b"))
    world.model = model
    rng = random.Random(1)
    states: list[State] = [{"a": a, "b": b} for a in [*"xyz", 1, 2.5] for b in "pq"]
    for n in range(300):
        model.observe(rng.choice(states), "do", {}, n > 150 or rng.random() < 0.5)
        if n % 7 == 0:
            world.agree(model.predict_many(states, "do"), states)
    other = ConservativeActionModel(model.vocabulary)
    other.observe({"a": "new", "b": "p"}, "do", {}, True)
    model.merge(other)
    world.agree(model.predict_many([*states, {"a": "new", "b": "p"}], "do"), [*states, {"a": "new", "b": "p"}])


def test_answers_of_a_batch_are_given_up_when_more_is_known() -> None:
    rng = random.Random(3)
    model = ConservativeActionModel(vocabulary("a", "b"))
    states = [{"a": a, "b": b} for a in "xyz" for b in "xyz"]
    answers = set()
    for step in range(240):
        quiet = step >= 160  # the other action shows what little noise there is
        model.observe(rng.choice(states), "wait" if quiet else "do", {}, quiet or rng.random() < 0.9)
        if step % 8 == 0:
            model.severity = rng.choice([1.0, 2.0])
        if step % 5 == 0:
            for batch in (model.predict_many(states, "do"), model.predict_many(states, "do")):
                single = [model.predict(state, "do") for state in states]
                assert batch.verdicts == [one.verdict for one in single]
                assert batch.risk.tolist() == [one.risk for one in single]
                assert batch.support.tolist() == [one.support for one in single]
            answers.add(tuple(batch.verdicts))
    assert len(answers) > 5


def test_very_many_conditions_need_more_than_one_word() -> None:
    names = [f"c{at:02}" for at in range(40)]
    model = ConservativeActionModel(vocabulary(*names))
    world = World(5)
    world.model = model
    rng = random.Random(2)
    states = [{name: rng.choice("abcdef") for name in names} for _ in range(300)]
    for state in states[:200]:
        model.observe(state, "do", {}, state["c00"] != "a")
    world.agree(model.predict_many(states, "do"), states)
    columns = {name: [state[name] for state in states] for name in names}
    world.agree(model.predict_columns(columns, "do"), states)


@pytest.mark.parametrize("mixed", [lambda words: words[0], lambda words: words[0] * 0])
def test_what_is_mixed_into_one_is_compared_whole(monkeypatch: pytest.MonkeyPatch, mixed: Any) -> None:
    monkeypatch.setattr(_caseindex, "_mixed", mixed)
    names = [f"c{at:02}" for at in range(70)]
    world = World(6)
    world.model = ConservativeActionModel(vocabulary(*names))
    states = [dict.fromkeys(names, label) for label in "abcd"]
    for n, state in enumerate(states):
        world.model.observe(state, "do", {}, n != 3)
    asked = [*states, *({**state, "c69": "a"} for state in states), {**states[0], "c69": "z"}]
    world.agree(world.model.predict_columns({name: [s[name] for s in asked] for name in names}, "do"), asked)


def test_integers_that_no_float_holds_are_asked_one_by_one() -> None:
    world = World(7)
    world.model = ConservativeActionModel(vocabulary("n", "kind"))
    for n in range(70):
        world.model.observe({"n": n, "kind": "a"}, "do", {}, True)
    states: list[State] = [{"n": 2**53 + n, "kind": "a"} for n in range(4)] + [{"n": 5, "kind": "a"}]
    for state in states[:3]:
        world.model.observe(state, "do", {}, False)
    world.agree(world.model.predict_many(states, "do"), states)
    world.agree(world.model.predict_columns({"n": [s["n"] for s in states], "kind": ["a"] * 5}, "do"), states)


def test_each_state_may_have_its_own_arguments() -> None:
    model = ConservativeActionModel(Vocabulary({"door": lambda state, args: state[args["name"]]}))
    model.observe({"a": "open"}, "enter", {"name": "a"}, True)
    states = [{"a": "open", "b": "shut"}] * 2
    assert model.predict_many(states, "enter", [{"name": "a"}, {"name": "b"}]).verdicts == ["accept", "unknown"]
    assert model.predict_many(iter(states), "enter", {"name": "a"}).verdicts == ["accept"] * 2  # type: ignore[arg-type]  # any iterable
    with pytest.raises(BadArgument, match="arguments for each of 2 states, got 1"):
        model.predict_many(states, "enter", [{"name": "a"}])


def test_an_action_that_was_never_observed_is_unknown() -> None:
    model = ConservativeActionModel(vocabulary("alive", hard={"alive": True}), severity=2.0)
    found = model.predict_many([{"alive": True}, {"alive": False}], "jump")
    assert (found.verdicts, found.risk.tolist(), found.hard.tolist()) == (
        ["unknown", "refuse"],
        [1.0, 2.0],
        [False, True],
    )
    assert model.actions() == []
    assert model.predict_many([], "jump").verdicts == []
    assert len(model.predict_columns({"alive": []}, "jump")) == 0


def test_what_is_read_later_must_be_of_the_same_model() -> None:
    model = ConservativeActionModel(vocabulary("a"))
    model.observe({"a": 1}, "do", {}, True, {"k": [1]})
    found = model.predict_many([{"a": 1}, {"a": 2}], "do")
    found[0].effects["k"].append(2)
    assert found[-2].effects == {"k": [1]}
    assert [p.verdict for p in found[:1]] == ["accept"]
    assert "1 unknown, 1 accept, 0 refuse" in repr(found)
    assert (found.accepts.tolist(), found.refuses.tolist()) == ([True, False], [False, False])
    with pytest.raises(IndexError, match="2 predictions, got 2"):
        found[2]
    model.observe({"a": 1}, "do", {}, True)
    assert found.verdicts == ["accept", "unknown"]
    with pytest.raises(BadArgument, match="observed 1 more since"):
        found[0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["x"]}, r"\['b'\] are missing"),
        ({"a": ["x"], "b": ["x"], "c": ["x"]}, r"\['c'\] are unknown"),
        ({"a": ["x"], "b": ["x", "y"]}, "same length"),
        ({"a": "x", "b": ["x"]}, "column 'a' must be a list"),
        ({"a": 3, "b": ["x"]}, "column 'a' must be a list"),
        ({"a": np.zeros((1, 1)), "b": ["x"]}, "one dimension"),
        ({"a": Coded(["x"], [1]), "b": ["x"]}, r"must be in 0\.\.0"),
        ({"a": Coded(["x"], [-1]), "b": ["x"]}, r"must be in 0\.\.0"),
        ({"a": Coded(["x"], [0.0]), "b": ["x"]}, "one row of integers"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: dict[str, Any], message: str) -> None:
    model = ConservativeActionModel(vocabulary("a", "b"))
    model.observe({"a": "x", "b": "x"}, "do", {}, True)
    with pytest.raises(BadArgument, match=message):
        model.predict_columns(columns, "do")


@pytest.mark.parametrize("column", [[float("nan")], np.array([float("inf")]), [{1}], Coded([object()], [0])])
def test_values_that_are_not_plain_are_refused(column: Any) -> None:
    model = ConservativeActionModel(vocabulary("a"))
    model.observe({"a": "x"}, "do", {}, True)
    with pytest.raises(ValueRejected, match="'a'"):
        model.predict_columns({"a": column}, "do")
    with pytest.raises(BrokenPredicate):
        model.predict_many([None], "do")


@pytest.mark.parametrize("seed", range(12))
def test_a_batch_foresees_what_single_calls_foresee(seed: int) -> None:
    """Next states and reported effects, by state and argument, under each caution; some calls change at random."""
    rng = random.Random(seed)
    odd = rng.choice([0.0, 0.0, 0.3])
    model = ConservativeActionModel(
        Vocabulary({"free": lambda s, a: s["free"] > 0, "kind": lambda s, a: s["kind"], "to": lambda s, a: a["to"]}),
        caution=rng.choice(CAUTIONS),
    )

    def call() -> tuple[State, State]:
        state = {"free": rng.randrange(3), "kind": rng.choice("ab"), "at": rng.choice("xyz"), "log": []}
        return state, {"to": rng.choice("xyz")}

    def after(state: State, args: State) -> State:
        moved = state | {"free": state["free"] - 1}
        return moved | ({"at": args["to"]} if state["kind"] == "a" and rng.random() >= odd else {"log": [args["to"]]})

    told = rng.choice(["next", "effect", "both", "some"])
    for _ in range(60):
        state, args = call()
        accepted = state["free"] > 0 and args["to"] != "z"
        more: dict[str, Any] = {}
        if accepted and (told in ("next", "both") or (told == "some" and rng.random() < 0.5)):
            more["next_state"] = after(state, args)
        if accepted and told in ("effect", "both"):
            more["effect"] = {"at": args["to"]} if state["kind"] == "a" else {"free": -1}
        model.observe(state, "move", args, accepted, **more)
    made = [call() for _ in range(50)]
    states, given = [one for one, _ in made], [two for _, two in made]
    single = [model.predict(state, "move", args) for state, args in made]
    read = [model.vocabulary.features(state, "move", args) for state, args in made]
    columns = dict(zip(model.vocabulary.of("move"), map(list, zip(*read, strict=True)), strict=True))
    for found in (
        model.predict_many(states, "move", given),
        model.predict_columns(columns, "move", states=states, args=given),
    ):
        assert list(found) == single
        assert found.next_states == [p.next_state for p in single]
    if told == "next" and not odd:
        assert any(p.next_state for p in single)
    assert model.predict_columns(columns, "move").next_states == [None] * 50


def test_states_and_arguments_must_fit_the_columns() -> None:
    model = ConservativeActionModel(vocabulary("a"))
    with pytest.raises(BadArgument, match="a state for each of 2 rows, got 1"):
        model.predict_columns({"a": ["x", "y"]}, "do", states=[{"a": "x"}])
    with pytest.raises(BadArgument, match="arguments for each of 1 states, got 2"):
        model.predict_columns({"a": ["x"]}, "do", states=[{"a": "x"}], args=[{}, {}])
