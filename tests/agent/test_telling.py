from __future__ import annotations

from typing import Any

import msgspec
import pytest

from surefoot import Knowledge
from surefoot.agent.decision import Answer, Option, event_of
from surefoot.agent.episode_events import Began
from surefoot.agent.knowledge_base import Place
from surefoot.agent.loop import Look, Noticed, note
from surefoot.agent.telling import arrive_at, took
from surefoot.errors import ContractBroken, ValueRejected
from surefoot.protocols import Outcome, faulted, moved, refused

A, B, C = (Place(name, b'"%b"' % name.encode(), name) for name in "abc")
GO = Option("go")


def begun() -> Knowledge:
    knowledge = Knowledge()
    note(knowledge.experience, Began(0, "main", None, msgspec.Raw(A.key)))
    return knowledge


def tell(knowledge: Knowledge, here: Place, outcome: Outcome[Any], there: Place) -> Any:
    running = knowledge.experience.fold.running[0]
    answer = Answer("go", "slow", "unchecked")
    note(knowledge.experience, event_of((0, running.steps, "0:0", here.key), ("",), (GO,), answer))
    return took(knowledge, running, GO, here, outcome, there)


@pytest.mark.parametrize(
    ("outcome", "error"), [(refused("a", "no"), ContractBroken), (moved("b", effect=object()), ValueRejected)]
)
def test_what_breaks_the_contract_is_not_recorded(outcome: Outcome[Any], error: type[Exception]) -> None:
    knowledge = begun()
    with pytest.raises(error):
        tell(knowledge, A, outcome, B)
    assert [entry.kind for entry in knowledge.journal.entries()][-1] == "decide"
    assert knowledge.map().claim("a", "go") is None


def test_a_fault_teaches_nothing() -> None:
    knowledge = begun()
    assert tell(knowledge, A, faulted("a", "a time-out"), A).why == "a time-out"
    assert knowledge.map().claim("a", "go") is None
    assert knowledge.actions.predict("a", "go", {}).verdict == "unknown"


def test_a_contradiction_puts_that_place_in_doubt_and_no_other() -> None:
    knowledge = begun()
    for here, there in ((A, B), (A, B), (A, B), (B, C)):
        assert not tell(knowledge, here, moved(there.state), there).drift
    knowledge.map().arrive("a", "stay", "a")
    assert tell(knowledge, A, moved("c"), C).drift
    claims = {(c.state, c.action): c.doubtful for c in knowledge.map().claims()}
    assert claims == {("a", "go"): False, ("a", "stay"): True, ("b", "go"): False}


def test_what_is_no_longer_on_offer_is_refused_on_the_map() -> None:
    knowledge, noticed = Knowledge(), Noticed()
    for offered in (["go", "wait"], ["wait"]):
        arrive_at(knowledge.map(), A, Look({}, offered, ()), lambda state: A, noticed)
    assert [claim.action for claim in knowledge.map().claims("a") if claim.refused] == ["go"]
