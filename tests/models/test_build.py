from __future__ import annotations

import enum
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot
from surefoot.errors import BadModel, ModelError, NotADistribution, UnknownName
from surefoot.models import BoolDomain, IntDomain, Variable
from surefoot.models.build import build
from surefoot.models.markov import HMM, MDP, POMDP, MarkovChain, Model


def naive(initial: Any, actions: Any, step: Any) -> dict[Any, dict[Any, dict[Any, float]]]:
    """Return {state: {action: {target: probability}}}, found one state at a time."""
    found: dict[Any, dict[Any, dict[Any, float]]] = {}
    queue = [initial]
    for state in queue:
        if state in found:
            continue
        found[state] = {}
        for action in actions(state):
            row: dict[Any, float] = {}
            for probability, after in step(state, action):
                if probability:
                    row[after] = row.get(after, 0.0) + probability
                    queue.append(after)
            found[state][action] = row
    return found


def told(model: Model) -> dict[Any, dict[Any, dict[Any, float]]]:
    """Return the same of a model, by names."""
    return {
        model.state_name(state): {
            model.action_name(int(action)): {
                model.state_name(int(target)): float(odds)
                for target, odds in zip(*model.row(state, int(action)), strict=True)
            }
            for action in model.available(state)
        }
        for state in range(model.n_states)
    }


@given(
    st.dictionaries(
        st.integers(0, 12),
        st.dictionaries(
            st.sampled_from(["a", "b", "c"]),
            st.lists(st.tuples(st.integers(0, 4), st.integers(0, 12)), min_size=1, max_size=5).filter(
                lambda r: sum(w for w, _ in r)
            ),
            max_size=3,
        ),
        max_size=8,
    ),
    st.sampled_from([int, str, lambda n: (n % 3, n), lambda n: (n, f"t{n}"), lambda n: frozenset({n})]),
)
def test_agrees_with_a_plain_search(table: Any, dressed: Callable[[int], Any]) -> None:
    bare = {dressed(n): n for n in range(13)}

    def step(state: Any, action: str) -> list[tuple[float, Any]]:
        row = table[bare[state]][action]
        return [(weight / sum(w for w, _ in row), dressed(after)) for weight, after in row]

    def actions(state: Any) -> list[str]:
        return list(table.get(bare[state], {}))

    model = build(dressed(0), actions, step)
    wanted = naive(dressed(0), actions, step)
    shown = [state if isinstance(state, str) else repr(state) for state in wanted]
    assert list(model.state_names) == shown, "states are numbered in the order in which they are found"
    got = told(model)
    for state, row in wanted.items():
        name = state if isinstance(state, str) else repr(state)
        assert got[name].keys() == row.keys()
        for action, odds in row.items():
            by_name = {after if isinstance(after, str) else repr(after): p for after, p in odds.items()}
            assert got[name][action] == pytest.approx(by_name, abs=1e-12)
            assert list(got[name][action]) == list(by_name), "branches keep the order in which they were given"
        assert model.state(state) == shown.index(name)


def test_the_kind_follows_from_the_functions() -> None:
    assert surefoot.build is build
    step: Any = lambda state, action=None: [(1.0, "a")]  # noqa: E731  # shorter than a def
    assert type(build("a", step=step)) is MarkovChain
    assert type(build("a", lambda s: ["go"], step)) is MDP
    assert type(build("a", lambda s: ["go"], step, observe=lambda s: "o")) is POMDP
    assert type(build("a", step=step, observe=lambda s: "o")) is HMM


def test_a_chain_may_take_the_action_that_it_has_not() -> None:
    one = build(0, step=lambda state: [(0.5, 1), (0.5, 0)] if state == 0 else [])
    two = build(0, step=lambda state, action: [(0.5, 1), (0.5, 0)] if state == 0 else [])
    assert one == two
    assert one.absorbing.tolist() == [False, True]


def test_states_that_look_alike_stay_apart() -> None:
    others = [1, True, 1.0, (1,), (True,), (1.0,), "one", 0.0, -0.0, None, b"1"]
    model = build("start", step=lambda s: [(1 / len(others), other) for other in others] if s == "start" else [])
    assert model.n_states == 1 + len(others)
    assert [model.state_name(model.state(other)) for other in others] == [
        other if isinstance(other, str) else repr(other) for other in others
    ]


ALIKE: list[Any] = [
    1,
    True,
    1.0,
    "1",
    0,
    False,
    -0.0,
    (1,),
    (True,),
    (1.0,),
    (0,),
    (-0.0,),
    ((1,), 0),
    ((True,), 0),
    None,
]


@given(st.lists(st.lists(st.sampled_from(ALIKE), min_size=1, max_size=3), min_size=1, max_size=40), st.integers(1, 16))
def test_look_alikes_stay_apart_whenever_they_are_found(rows: list[list[Any]], limit: int) -> None:
    """States are numbered many at once; these come in any order, after any number of plain ones."""
    place = {("at", n): [(0.5, ("at", n + 1)), (0.5, ("one", n))] for n in range(len(rows))}

    def step(state: Any) -> list[tuple[float, Any]]:
        if isinstance(state, tuple) and state[0] == "at":
            return place.get(state, [])
        if isinstance(state, tuple) and state[0] == "one":
            return [(1 / len(rows[state[1]]), one) for one in rows[state[1]]]
        return []

    every = dict.fromkeys(repr(one) for row in rows for one in row)
    model = build(("at", 0), step=step, name=repr)
    assert set(model.state_names) == set(every) | {repr(one) for one in [*place, ("at", len(rows))]} | {
        repr(("one", n)) for n in range(len(rows))
    }
    if model.n_states > limit:
        with pytest.raises(BadModel, match=f"more than limit={limit} states; step"):
            build(("at", 0), step=step, name=repr, limit=limit)
    assert build(("at", 0), step=step, name=repr, limit=model.n_states) == model


def test_names_are_made_when_somebody_asks_and_go_through_a_pickle() -> None:
    model = build((0, 0), step=lambda s: [(0.5, ((s[0] + 1) % 3, s[1])), (0.5, (s[0], (s[1] + 1) % 3))])
    again = pickle.loads(pickle.dumps(build((0, 0), step=lambda s: [])))
    assert list(again.state_names) == ["(0, 0)"]
    assert model.state((2, 1)) == model.state("(2, 1)") == list(model.state_names).index("(2, 1)")
    assert "(3, 0)" not in model.state_names
    with pytest.raises(UnknownName, match=r"there is no state '\(3, 0\)'"):
        model.state((3, 0))


def test_numbers_of_numpy_are_the_same_states_as_pythons() -> None:
    def step(state: tuple[int, int], action: str) -> list[tuple[float, Any]]:
        x, y = np.array(state) + 1
        return [(0.5, (x % 3, y % 3)), (0.5, (int(x) % 3, int(y) % 3))]

    model = build((0, 0), lambda s: ["go"], step)
    assert list(model.state_names) == ["(0, 0)", "(1, 1)", "(2, 2)"]
    assert build(0, step=lambda n: [(1.0, np.int64(n + 1) % 3)]).n_states == 3
    assert build(np.int64(0), step=lambda n: [(1.0, 0)]).state_names[0] == "0"


def test_equal_targets_are_added_up_and_zeros_left_out() -> None:
    model = build("a", step=lambda s: [(0.25, "b"), (0.5, "a"), (0.0, "never"), (0.25, "b")] if s == "a" else [])
    assert told(model) == {"a": {"": {"b": 0.5, "a": 0.5}}, "b": {}}


def test_rewards_are_on_what_their_functions_ask_for() -> None:
    model = build(
        0,
        lambda s: ["go", "stay"] if s < 3 else [],
        lambda s, a: [(0.5, s + 1), (0.25, s), (0.25, s)] if a == "go" else [(1.0, s)],
        reward={
            "state": lambda s: 10.0 * s,
            "choice": lambda s, a: s + (a == "go"),
            "way": lambda s, a, to: 100.0 * (to > s),
            "own": lambda s, a, to=None: 1.0,
        },
    )
    assert {name: repr(one) for name, one in model.rewards.items()} == {
        "state": "RewardModel(state: 4)",
        "choice": "RewardModel(choice: 6)",
        "way": "RewardModel(transition: 9)",
        "own": "RewardModel(choice: 6)",
    }
    assert model.expected_reward("state").tolist() == [0, 0, 10, 10, 20, 20]
    assert model.expected_reward("choice").tolist() == [1, 0, 2, 1, 3, 2]
    assert model.expected_reward("way").tolist() == [50, 0, 50, 0, 50, 0]


def test_rewards_of_chains_are_on_states_or_on_the_way() -> None:
    model = build(
        0,
        step=lambda n: [(0.5, n + 1), (0.5, n)] if n < 2 else [],
        reward={
            "time": lambda n: 1.0,
            "up": lambda n, to: float(to > n),
            "also": lambda n, action, to: float(action is None),
        },
    )
    assert model.expected_reward("time").tolist() == [1, 1]
    assert model.expected_reward("up").tolist() == [0.5, 0.5]
    assert model.expected_reward("also").tolist() == [1, 1]
    assert build(0, step=lambda n: [(1.0, 0)], reward=lambda n: 2).reward().state is not None


def test_labels_values_and_observations() -> None:
    model = build(
        {(0, True): 0.5, (1, False): 0.5},
        lambda s: ["flip"],
        lambda s, a: [(1.0, (s[0], not s[1]))],
        labels=lambda s: ["up", "even"] if s == (0, True) else "even" if s[0] == 0 else None,
        valuation=lambda s: {"x": s[0], "up": s[1]},
        variables=[Variable("x", IntDomain(0, 1)), Variable("up", BoolDomain())],
        observe=lambda s: {"left": 0.75, "right": 0.25} if s[0] == 0 else "right",
        observation_valuation=lambda seen: {"side": seen},
    )
    assert model.initial.tolist() == [0.5, 0.5, 0, 0]
    assert {label: model.states_with(label).tolist() for label in model.labels} == {"up": [0], "even": [0, 2]}
    assert [model.valuation(state) for state in range(2)] == [{"x": 0, "up": True}, {"x": 1, "up": False}]
    assert model.observations_of(0)[1].tolist() == [0.75, 0.25]
    assert model.observations_of(1)[0].tolist() == [model.observation_number("right")]
    assert model.observation_valuation("left") == {"side": "left"}


def test_observations_may_be_pairs_and_are_added_up() -> None:
    model = build(0, step=lambda n: [(1.0, 0)], observe=lambda n: [(0.5, (1, 2)), (0.25, "x"), (0.25, "x"), (0.0, "y")])
    assert list(model.observation_names) == ["(1, 2)", "x", "y"]
    assert model.observations_of(0)[1].tolist() == [0.5, 0.5]


def test_intervals_anywhere_make_an_interval_model() -> None:
    model = build(
        0,
        lambda s: ["sure", "vague"] if s == 0 else [],
        lambda s, a: [(1.0, 0)] if a == "sure" else [((0.1, 0.2), 1), ((0.2, 0.3), 1), ((0.5, 0.8), 2), ((0, 0), 3)],
    )
    assert model.lower is not None
    assert model.upper is not None
    assert (model.lower.tolist(), model.upper.tolist()) == ([1.0, pytest.approx(0.3), 0.5], [1.0, 0.5, 0.8])
    mixed = build("a", step=lambda s: [((0.25, 0.5), "a"), (0.5, "b"), (0.25, "b")] if s == "a" else [])
    assert mixed.lower is not None
    assert mixed.lower.tolist() == [0.25, 0.75]


def test_steps_may_be_mappings_tuples_generators_and_exact_numbers() -> None:
    ways: list[Any] = [
        {"b": 0.5, "a": 0.5},
        ((0.5, "b"), (0.5, "a")),
        [[0.5, "b"], [0.5, "a"]],
        [(Fraction(1, 2), "b"), (np.float32(0.5), "a")],
    ]
    models = [build("a", step=lambda s, way=way: way if s == "a" else []) for way in ways]
    models.append(build("a", step=lambda s: (pair for pair in ways[1]) if s == "a" else []))
    assert all(model == models[0] for model in models)
    assert build("a", lambda s: (a for a in ("x", "y")), lambda s, a: [(1, s)]).n_choices == 2
    assert build("a", lambda s: ("x", "y"), lambda s, a: [(1, s)]).n_choices == 2


def test_actions_may_be_any_values() -> None:
    acts = [("move", 1), 1, True, {"name": "cancel", "order": "A1"}, "go"]
    model = build(0, lambda s: acts, lambda s, a: [(1.0, 0)])
    assert list(model.action_names) == ["('move', 1)", "1", "True", '{"name":"cancel","order":"A1"}', "go"]
    assert model.action(("move", 1)) == 0


@dataclass(frozen=True)
class Cell:
    x: int
    y: int = 0


@dataclass(unsafe_hash=True)
class Loose:
    x: int
    seen: list[int] = field(default_factory=list, hash=False)


@dataclass(frozen=True)
class Boxed:
    items: list[int]

    def __hash__(self) -> int:
        return 7


def test_states_may_be_objects() -> None:
    model = build(Cell(0), step=lambda c: [(0.5, Cell((c.x + 1) % 4)), (0.5, c)])
    assert list(model.state_names) == [repr(Cell(x)) for x in range(4)]
    assert model.state(Cell(2)) == 2
    pairs = build((Cell(0), "a"), step=lambda s: [(1.0, (Cell((s[0].x + 1) % 3), "a"))])
    assert pairs.n_states == 3
    loose = build(Loose(0), step=lambda s: [(1.0, Loose((s.x + 1) % 3))], name=lambda s: f"x={s.x}")
    assert list(loose.state_names) == ["x=0", "x=1", "x=2"]


def _walk(state: Loose, action: str) -> list[tuple[float, Any]]:
    return [(1.0, Loose((state.x + 1) % 3))]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("actions", r"actions\(Loose\(x=0, seen=\[\]\)\) changed the state .*, to Loose\(x=1"),
        ("step", r"step\(Loose\(x=0, seen=\[\]\), 'go'\) changed the state"),
        ("reward", r"reward\(Loose\(x=0, seen=\[\]\)\) changed the state"),
        ("labels", r"labels\(Loose\(x=0, seen=\[\]\)\) changed the state"),
        ("valuation", r"valuation\(Loose\(x=0, seen=\[\]\)\) changed the state"),
        ("observe", r"observe\(Loose\(x=0, seen=\[\]\)\) changed the state"),
    ],
)
def test_a_function_that_changes_its_state_is_caught(function: str, message: str) -> None:
    good: dict[str, Any] = {
        "actions": lambda s: ["go"],
        "step": _walk,
        "reward": lambda s, a: 1.0,
        "labels": lambda s: [],
        "valuation": lambda s: {"x": s.x},
        "observe": lambda s: "o",
    }

    def bad(state: Loose, *more: Any) -> Any:
        state.x += 1
        return good[function](state, *more)

    functions = good | {function: (lambda s, a: bad(s, a)) if function in ("step", "reward") else lambda s: bad(s)}
    with pytest.raises(BadModel, match=message):
        build(Loose(0), **functions)


def test_a_change_inside_a_state_is_caught_even_where_its_hash_stays() -> None:
    def step(state: Boxed) -> list[tuple[float, Any]]:
        state.items.append(1)
        return [(1.0, state)]

    with pytest.raises(BadModel, match=r"changed the state that it was given, to Boxed\(items=\[0, 1\]\)"):
        build(Boxed([0]), step=step)


def bad_step(found: Any) -> Any:
    return lambda s, a: found if s == 0 else [(1.0, 0)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"step": None}, BadModel, "build needs step=: a function"),
        ({"initial": [0]}, BadModel, r"initial is \[0\], a list that cannot be hashed: use a tuple"),
        ({"initial": {0: 0.5}}, NotADistribution, "the initial distribution sums to 0.5"),
        ({"initial": {}}, BadModel, "initial is an empty mapping"),
        (
            {"step": bad_step([(1.0, [1])])},
            BadModel,
            r"step\(0, 'go'\) leads to \[1\], which holds a list .* use a tuple",
        ),
        ({"step": bad_step([(1.0, {1: 2})])}, BadModel, "use a tuple of its items, sorted"),
        ({"step": bad_step([(1.0, {1, 2})])}, BadModel, "use a frozenset"),
        (
            {"step": bad_step([(1.0, (1, [2]))])},
            BadModel,
            r"leads to \(1, \[2\]\), which holds a tuple or another thing",
        ),
        ({"step": bad_step([(1.0, (Cell(0), [2]))])}, BadModel, "which holds a tuple or another thing"),
        ({"step": bad_step([(0.5, 1), (0.4, 2)])}, NotADistribution, r"action 'go' in state '0' sum to 0\.9"),
        ({"step": bad_step([(1.5, 1), (-0.5, 2)])}, NotADistribution, "probability -0.5|probability 1.5"),
        ({"step": bad_step([(math.nan, 1)])}, NotADistribution, "probability nan"),
        ({"step": bad_step([])}, NotADistribution, "action 'go' in state '0' leads nowhere"),
        ({"step": bad_step(None)}, BadModel, r"step\(0, 'go'\) returned None: a list of pairs"),
        ({"step": bad_step(3)}, BadModel, r"step\(0, 'go'\) returned 3: a list of pairs"),
        ({"step": bad_step("ab")}, BadModel, r"step\(0, 'go'\) returned 'ab': a list of pairs"),
        ({"step": bad_step([1])}, BadModel, r"step\(0, 'go'\) returned 1 in its list: pairs"),
        ({"step": bad_step([(1.0, 1, 2)])}, BadModel, r"step\(0, 'go'\) returned \(1.0, 1, 2\) in its list"),
        ({"step": bad_step([(1.0, 1), (0.5, 1, 2)])}, BadModel, r"returned \(0.5, 1, 2\) in its list"),
        ({"step": bad_step([("x", 1)])}, BadModel, r"step\(0, 'go'\) has the probability 'x': a number or a pair"),
        ({"step": bad_step([((0.1, 0.2, 0.3), 1)])}, BadModel, "a number or a pair"),
        ({"step": bad_step([((0.6, 0.7), 1), ((0.6, 0.7), 2)])}, NotADistribution, "hold no distribution"),
        ({"actions": lambda s: None}, BadModel, r"actions\(0\) is None: return a list"),
        ({"actions": lambda s: "go"}, BadModel, r"actions\(0\) is the text 'go': return a list, such as \['go'\]"),
        ({"actions": lambda s: ["go", "go"]}, BadModel, "state '0' has two choices with the action 'go'"),
        ({"reward": lambda s, a: None}, BadModel, r"reward 'reward' of \(0, 'go'\) is None: a number is wanted"),
        ({"reward": lambda s, a: {"x": 1}}, BadModel, "for several reward models give reward="),
        ({"reward": lambda s, a, b, c: 1}, BadModel, "reward 'reward' takes 4 arguments; it is called with"),
        ({"reward": lambda s, a: math.inf}, BadModel, "the reward of choice 0 is inf"),
        ({"valuation": lambda s: 3}, BadModel, r"valuation\(0\) is 3: a dict"),
        (
            {"valuation": lambda s: {"x": s}, "variables": [Variable("x", IntDomain(0, 0))]},
            BadModel,
            "variable 'x' has a wrong value in state 1: 1 is not in IntDomain",
        ),
        ({"observe": lambda s: {}}, NotADistribution, "state '0' has no observation"),
        ({"observe": lambda s: {"o": 0.5}}, NotADistribution, r"the observations of state '0' sum to 0\.5"),
        ({"observe": lambda s: [1]}, BadModel, r"observe\(0\) returned 1 in its list"),
        (
            {"observe": lambda s: s, "observation_valuation": lambda o: {"x": [o]}},
            BadModel,
            "variable 'x' in observation 0",
        ),
        ({"name": lambda s: "same"}, BadModel, r"the states 0 and 1 have one name, 'same': .* name=\.\.\."),
        ({"limit": 1}, BadModel, r"more than limit=1 states; step\(0, 'go'\) leads to one more, 1"),
    ],
)
def test_what_is_no_model_is_refused(options: dict[str, Any], error: type[ModelError], message: str) -> None:
    given: dict[str, Any] = {"initial": 0, "actions": lambda s: ["go"], "step": lambda s, a: [(1.0, 1 - s)]} | options
    with pytest.raises(error, match=message):
        build(given.pop("initial"), **given)


def test_two_states_of_one_name_are_refused() -> None:
    with pytest.raises(BadModel, match="the states '1' and 1 have one name, '1'"):
        build("1", step=lambda s: [(1.0, 1)])


def test_objects_that_are_named_by_their_place_in_memory_are_refused() -> None:
    with pytest.raises(BadModel, match="named by where it is in memory"):
        build(object(), step=lambda s: [(1.0, s)])
    assert build(object(), step=lambda s: [(1.0, s)], name=lambda s: "it").state("it") == 0


def test_what_a_function_raises_says_for_which_state() -> None:
    def broken(state: int, *more: Any) -> Any:
        raise ZeroDivisionError("no")

    cases: list[tuple[dict[str, Any], str]] = [
        ({"actions": lambda s: broken(s)}, "in actions(0)"),
        ({"step": lambda s, a: broken(s)}, "in step(0, 'go')"),
        ({"labels": lambda s: broken(s)}, "in labels(0)"),
        ({"reward": lambda s, a: broken(s)}, "in reward 'reward' of (0, 'go')"),
    ]
    for options, note in cases:
        given: dict[str, Any] = {"actions": lambda s: ["go"], "step": lambda s, a: [(1.0, s)]} | options
        with pytest.raises(ZeroDivisionError) as caught:
            build(0, **given)
        assert caught.value.__notes__ == [note]


def test_more_states_than_a_block_are_found_without_a_cap() -> None:
    model = build(0, lambda s: ["up"] if s < 20_000 else [], lambda s, a: [(1.0, s + 1)])
    assert (model.n_states, model.n_choices) == (20_001, 20_000)
    assert np.array_equal(model.target, np.arange(1, 20_001))


def test_progress_is_reported() -> None:
    seen: list[tuple[int, int]] = []
    build(0, step=lambda s: [(1.0, (s + 1) % 100)], progress=lambda done, found: seen.append((done, found)))
    assert seen[-1] == (100, 100)
    assert all(done <= found for done, found in seen)


def test_a_bar_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich draws on what it takes for a terminal
    monkeypatch.setenv("TERM", "xterm")
    build(0, step=lambda s: [(1.0, (s + 1) % 100)], progress=True)
    assert "exploring" in capsys.readouterr().err
    build(0, step=lambda s: [(1.0, (s + 1) % 100)], progress=False)
    build(0, step=lambda s: [(1.0, (s + 1) % 100)])
    assert capsys.readouterr().err == ""


class Point(NamedTuple):
    x: int
    tag: str = "p"


class Light(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True, slots=True)
class Slim:
    at: Point
    light: Light


def test_objects_that_cannot_change_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("copy.deepcopy")
    assert build(Point(0), step=lambda p: [(1.0, Point((p.x + 1) % 3))]).n_states == 3
    flip = {Light.RED: Light.GREEN, Light.GREEN: Light.RED}
    assert build(Light.RED, step=lambda light: [(1.0, flip[light])]).n_states == 2
    slim = build(Slim(Point(0), Light.RED), step=lambda s: [(1.0, Slim(Point(1 - s.at.x), flip[s.light]))])
    assert slim.n_states == 2


def test_a_named_tuple_and_a_tuple_are_two_states() -> None:
    model = build((0, "p"), step=lambda s: [(1.0, Point(0))])
    assert list(model.state_names) == ["(0, 'p')", "Point(x=0, tag='p')"]


@pytest.mark.parametrize("odd", [(True, "a"), (1.0, "a"), (("a",), 1), (None,), ((),)])
def test_tuples_of_words_and_others_are_kept_apart_whenever_the_others_come(odd: Any) -> None:
    words = [(n, "a") for n in range(100)]

    def step(state: Any) -> list[tuple[float, Any]]:
        if state == (90, "a"):
            return [(0.5, odd), (0.5, (91, "a"))]
        return [(1.0, words[(words.index(state) + 1) % 100] if state in words else words[0])]

    model = build(words[0], step=step)
    assert list(model.state_names) == [*map(repr, words[:91]), repr(odd), *map(repr, words[91:])]
    assert model == build(words[0], step=step, limit=101)
    with pytest.raises(BadModel, match="more than limit=100 states"):
        build(words[0], step=step, limit=100)


def test_a_list_that_a_function_uses_again_does_no_harm() -> None:
    buffer: list[tuple[float, int]] = []

    def step(state: int, action: str) -> list[tuple[float, int]]:
        buffer.clear()
        buffer.append((1.0, (state + (1 if action == "up" else 2)) % 5))
        return buffer

    model = build(0, lambda s: ["up", "jump"], step)
    assert model == build(0, lambda s: ["up", "jump"], lambda s, a: list(step(s, a)))
    assert model.n_states == 5


def test_equal_targets_of_some_rows_leave_the_others_as_they_are() -> None:
    rows = {0: [(0.5, 1), (0.5, 2)], 1: [(0.25, 2), (0.5, 0), (0.25, 2)], 2: [(0.125, 1)] * 8}
    model = build(0, step=rows.__getitem__, reward={"way": lambda s, to: float(10 * s + to)})
    assert (model.target.tolist(), model.probability.tolist()) == ([1, 2, 2, 0, 1], [0.5, 0.5, 0.5, 0.5, 1.0])
    way = model.rewards["way"].transition
    assert way is not None
    assert way.tolist() == [1.0, 2.0, 12.0, 10.0, 21.0]
