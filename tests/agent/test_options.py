from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Knowledge, LearnedGate, Protect, RiskBudget, Vocabulary, call_of
from surefoot.agent.decision import Option
from surefoot.agent.experience import Running
from surefoot.agent.knowledge_base import Place
from surefoot.agent.options import Looker, like
from surefoot.errors import BadArgument, ValueRejected
from surefoot.protocols import Prediction

HALL, YARD = Place("hall", b'"hall"', "hall"), Place("yard", b'"yard"', "yard")
scalars = st.one_of(st.text(max_size=3), st.integers(), st.booleans())
actions = st.one_of(
    st.text(min_size=1, max_size=5),
    st.tuples(st.text(min_size=1, max_size=4), scalars),
    st.tuples(st.text(min_size=1, max_size=4), st.dictionaries(st.text(min_size=1, max_size=3), scalars)),
    st.builds(lambda n, args: {"name": n, **args}, st.text(min_size=1), st.dictionaries(st.just("n"), scalars)),
    st.builds(lambda n, args: {"name": n, "args": args}, st.text(min_size=1), st.dictionaries(st.just("n"), scalars)),
)


@given(actions.filter(lambda a: not str(a if isinstance(a, str) else list(a)[0]).startswith("=")))
def test_a_call_in_the_shape_of_its_own_action_is_that_call(action: Any) -> None:
    call = call_of(action)
    if not call.name.startswith("="):
        assert call_of(like(action, call)) == call


def look(knowledge: Knowledge, offered: list[Any], risk: Any = None, gain: Any = None, goals: Any = ("",)) -> Any:
    running = Running(0, "main", HALL.key)
    looker, fold = Looker(knowledge, risk or Protect(), gain), knowledge.experience.fold
    options, _ = looker.look(HALL, offered, goals, running, fold, gated=bool(knowledge.agenda.gates()))
    return options


def test_each_action_is_looked_at_once() -> None:
    knowledge = Knowledge().gate("cap", lambda s, call: call_of(("buy", 1)), blocks="buy")
    assert [o.action for o in look(knowledge, [("buy", 9), ("buy", 1), "wait", "wait"])] == [("buy", 1), "wait"]


def test_what_failed_lately_is_marked() -> None:
    knowledge = Knowledge()
    knowledge.failures.failed("hall", "open", "locked")
    found = {o.action: o.failed for o in look(knowledge, ["open", "wait"])}
    assert "locked" in found["open"]
    assert found["wait"] is None


def test_what_an_action_model_foresees_advances_a_goal() -> None:
    class Seer:
        def observe(self, state: Any, action: str, args: Any, accepted: bool, effect: Any = None) -> Prediction:
            return Prediction("unknown")

        def predict(self, state: Any, action: str, args: Any) -> Prediction:
            ahead = {"north": "garden", "south": {"wood": 1}}.get(action)
            return Prediction("accept" if ahead else "refuse", support=3, next_state=ahead)

        def fingerprint(self) -> str:
            return "seer"

    knowledge = Knowledge(model=Seer()).goal("garden", lambda s: s == "garden")
    knowledge.goal("wood", lambda s: s["wood"] > 0)
    found = {o.action: o.advances for o in look(knowledge, ["north", "south", "up"], goals=("garden", "wood"))}
    assert found == {"north": ("garden",), "south": ("wood",), "up": ()}
    assert [o.gain for o in look(knowledge, ["north", "up"], goals=("garden",))] == [1.0, 0.0]
    knowledge.experience.fold.targets["main"] = {"": {b'"garden"': None}}
    assert [o.advances for o in look(knowledge, ["north", "south"])] == [("",), ()]


def test_a_policy_that_weighs_is_told_what_begins_a_known_way() -> None:
    knowledge = Knowledge()
    knowledge.map().arrive("hall", "north", "garden")
    knowledge.experience.fold.targets["main"] = {"": {b'"garden"': None}}
    found = {o.action: o.gain for o in look(knowledge, ["north", "up"], risk=RiskBudget())}
    assert found == {"north": 1.0, "up": 0.0}
    assert [o.choice for o in look(knowledge, ["up"], risk=LearnedGate("depth"))] == ["ask"]


def test_a_policy_must_say_one_of_three_words() -> None:
    class Odd:
        def decide(self, prediction: Prediction, gain: float = 0.0, key: Any = None) -> Any:
            return type("Choice", (), {"word": "perhaps", "reason": ""})

    with pytest.raises(BadArgument, match="perhaps"):
        look(Knowledge(), ["up"], risk=Odd())


def test_an_action_that_is_no_plain_value_is_refused() -> None:
    with pytest.raises(ValueRejected):
        look(Knowledge(), [object()])


def test_predicates_read_the_worlds_own_state() -> None:
    read: list[Any] = []

    def seen(state: Any, args: Any) -> str:
        read.append(state)
        return "seen"

    knowledge = Knowledge(vocabulary=Vocabulary({"seen": seen}))
    running = Running(0, "main", b'"x"')
    here, fold = Place("x", b'"x"', {"raw": 1}), knowledge.experience.fold
    Looker(knowledge, Protect(), None).look(here, ["up"], ("",), running, fold)
    assert read == [{"raw": 1}]


@given(st.lists(st.tuples(st.sampled_from(["up", "down"]), st.sampled_from([HALL, YARD]), st.booleans()), max_size=12))
def test_an_option_that_was_kept_is_what_a_fresh_look_makes(told: list[tuple[str, Place, bool]]) -> None:
    knowledge = Knowledge()
    keeping = Looker(knowledge, Protect(), None)
    fold, running = knowledge.experience.fold, Running(0, "main", HALL.key)
    for action, place, accepted in told:
        knowledge.actions.observe(place.state, action, {}, accepted, {"n": 1} if accepted else None)
        if not accepted and place is YARD:
            knowledge.map().refuse(place.state, action)
            knowledge.map().drop("who knows")
        for here in (HALL, YARD):
            fresh = Looker(knowledge, Protect(), None).look(here, ["up", "down"], ("",), running, fold)
            again = keeping.look(here, ["up", "down"], ("",), running, fold)
            assert again == fresh
            assert [o.encode() for o in again[0]] == [Option.of(o.as_data()).encode() for o in fresh[0]]
