from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from surefoot import values
from surefoot.environments.corridor import Corridor
from surefoot.errors import MissingExtra, ValueRejected
from surefoot.testing import strategies
from surefoot.testing.honest import Hallway, Notebook, Windy

drawn = settings(max_examples=3_000, phases=[Phase.generate])


@given(strategies.values())
def test_values_are_taken_and_come_back(value: Any) -> None:
    data = values.encode(value)
    assert values.encode(values.decode(data)) == data


@given(strategies.states())
def test_states_are_taken_and_can_be_keys(state: Any) -> None:
    assert values.encode_state(state) == values.encode(state)
    assert {state: 1}


@given(strategies.actions())
def test_actions_are_taken(action: Any) -> None:
    assert values.encode_action(action)


@given(strategies.look_alikes())
def test_look_alikes_are_two_states(pair: tuple[Any, Any]) -> None:
    one, other = pair
    assert values.encode_state(one) != values.encode_state(other)


@given(strategies.not_plain())
def test_what_is_not_plain_is_refused_by_every_gate(value: Any) -> None:
    for gate in (values.encode, values.encode_state, values.encode_action):
        with pytest.raises(ValueRejected):
            gate(value)


@given(strategies.not_states())
def test_what_is_no_state_is_plain_all_the_same(value: Any) -> None:
    assert values.encode(value)
    with pytest.raises(ValueRejected, match="cannot be a state"):
        values.encode_state(value)


def has(value: Any, kind: Any) -> bool:
    """Say whether something in `value` is of a kind: a type, or a test of a scalar."""
    if isinstance(value, dict):
        return kind is dict or has(tuple(value), kind) or has(tuple(value.values()), kind)
    if isinstance(value, list | tuple):
        return type(value) is kind or any(has(part, kind) for part in value)
    return type(value) is kind if isinstance(kind, type) else bool(kind(value))


@pytest.mark.parametrize(
    "kind",
    [
        *(type(None), bool, int, float, str, tuple, list, dict),
        pytest.param(lambda part: type(part) is int and abs(part) > 2**64, id="a big int"),
        pytest.param(lambda part: repr(part) == "-0.0", id="minus zero"),
        pytest.param(lambda part: isinstance(part, str) and any(c < " " for c in part), id="a control character"),
        pytest.param(lambda part: isinstance(part, str) and any(c > "\uffff" for c in part), id="beyond the BMP"),
        pytest.param(lambda part: isinstance(part, str) and part.startswith("~"), id="a tilde in front"),
    ],
)
def test_all_kinds_of_values_are_drawn(kind: Any) -> None:
    find(strategies.values(), lambda value: has(value, kind), settings=drawn)


def test_names_of_actions_and_keys_are_awkward_too() -> None:
    find(strategies.actions(), lambda a: isinstance(a, dict) and any(k.startswith("~") for k in a), settings=drawn)
    find(
        strategies.states(),
        lambda s: isinstance(s, tuple) and any(isinstance(part, tuple) for part in s),
        settings=drawn,
    )


@pytest.mark.parametrize("make", [Corridor, Hallway, Notebook, Windy])
def test_walks_can_be_walked(make: Any) -> None:
    @settings(max_examples=settings().max_examples // 2)
    @given(strategies.walks(make, seeds=(3, 4), most=12))
    def check(walk: strategies.Walk) -> None:
        world = make()
        state = world.reset(seed=walk.seed)
        assert walk.seed in (3, 4)
        assert len(walk.actions) <= 12
        for place, action in enumerate(walk.actions):
            assert action in world.actions(state)
            outcome = world.step(action)
            state = outcome.state
            assert not outcome.done or place == len(walk.actions) - 1

    check()


def test_a_walk_shrinks_to_the_shortest_way() -> None:
    def ends(walk: strategies.Walk) -> bool:
        world = Corridor(length=3)
        world.reset(seed=walk.seed)
        return any(world.step(action).done for action in walk.actions)

    assert find(strategies.walks(lambda: Corridor(length=3)), ends) == (0, ["right"] * 3)


def test_a_walk_ends_where_nothing_is_on_offer() -> None:
    class DeadEnd(Hallway):
        def actions(self, state: Any) -> Any:
            return ["right"] if state < 2 else []

    assert find(strategies.walks(DeadEnd, seeds=[0]), lambda walk: len(walk.actions) > 1).actions == ["right"] * 2
    with pytest.raises(NoSuchExample):
        find(
            strategies.walks(DeadEnd, seeds=[0]), lambda walk: len(walk.actions) > 2, settings=settings(max_examples=60)
        )


def test_a_walk_closes_its_world() -> None:
    still_open = set()

    class Held(Hallway):
        def __init__(self) -> None:
            super().__init__()
            still_open.add(self)

        def close(self) -> None:
            still_open.discard(self)

        def take(self, action: Any) -> Any:
            if action == "left" and self.cell == 2:
                raise ZeroDivisionError
            return super().take(action)

    with pytest.raises(ZeroDivisionError):
        find(strategies.walks(Held), lambda walk: len(walk.actions) > 20)
    assert not still_open


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.setitem(sys.modules, "hypothesis.strategies", None)
    for name in strategies.__all__:
        if name == "Walk":
            continue
        with pytest.raises(
            MissingExtra, match=r"strategies need the package hypothesis: pip install 'surefoot\[testing"
        ):
            getattr(strategies, name)(*([Corridor] if name == "walks" else []))


def test_importing_the_module_does_not_load_hypothesis() -> None:
    script = "import sys, surefoot.testing.strategies; print('hypothesis' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_the_draws_are_strategies() -> None:
    for name in strategies.__all__:
        if name not in ("Walk", "walks"):
            assert isinstance(getattr(strategies, name)(), st.SearchStrategy)
