"""Explanations."""

from __future__ import annotations

from typing import Any

from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.store_reading import rests_on


def say(store: KnowledgeStore, o: Any, source: str = "spec", s: Any = 1, **more: Any) -> str:
    return store.add("fact", {"s": s, "r": "is", "o": o}, source=source, **more)


def test_why_tells_the_whole_story() -> None:
    store = KnowledgeStore()
    base = say(store, "base", s=0, by="Kim")
    a = say(store, "a", by="plan", evidence="page 3", derived_from=[base])
    b = say(store, "b", "outcome", by="robot")
    store.flag([a], why="odd")
    say(store, "a", "verified")
    store.retract(a, only_from="plan", by="Kim", why="misread")
    told = store.why(a)
    assert str(told) == (
        f"fact {a[:12]}: 1 is 'a': refuted (verified)\n"
        f"  refuted by 'b' (outcome, robot, entry 2)\n"
        f"  1 spec, plan: retracted (entry 5, Kim): 'misread'  [rests on {base[:12]}; evidence 'page 3']\n"
        f"  4 verified: refuted"
    )
    assert (told.entries, told.flags[0].why, told.premises) == ((1, 2, 3, 4, 5), "odd", ())
    assert [item.id for item, _ in told.refuted_by] == [b]
    assert (told.assertions[0].ended, told.assertions[0].why, told.assertions[1].ended) == (5, "misread", None)
    assert store.why(b).reasons == ()
    store.forget("robot")
    assert store.why(b).assertions[0].ended == 6


def test_every_status_has_its_reason() -> None:
    store = KnowledgeStore()
    base = say(store, "base", s=0)
    rule = store.add("rule", 1, source="spec", derived_from=[base])
    store.flag([base])
    assert store.why(base).reasons == ("in doubt since entry 2",)
    assert store.why(rule).reasons == (f"rests on what is hypothesis: {base[:12]}",)
    store.retract(base)
    assert store.why(rule).reasons == ("nothing that it rests on holds any more",)
    assert store.why(base).reasons == ("everything said of it was taken back",)
    assert store.why(rule).assertions[0].standing == "without support"
    a, b = say(store, "a"), say(store, "b", by="Kim")
    assert store.why(a).reasons == ("in dispute with 'b' (spec, Kim, entry 5)",)
    store.resolve((None, 1, "is"), "b", by="Lee", why="seen it")
    told = store.why(a)
    assert told.reasons == ("refuted by 'b' (person, Lee, entry 6)",)
    assert [said.standing for said in told] == ["overruled"]
    assert store.why(b).assertions[1].evidence == "seen it"
    assert store.why(b).assertions[1].resolves


def test_what_is_undecided_says_so() -> None:
    store = KnowledgeStore()
    base = say(store, "base", "person", s=0)
    b = say(store, "b")
    a = say(store, "a", s=2, derived_from=[b])
    say(store, "a", s=2, derived_from=[base])
    c = say(store, "c", "outcome", derived_from=[a])
    rule = store.add("rule", 1, source="spec", derived_from=[a])
    store.retract(base)
    assert store.why(c).assertions[0].standing == "undecided"
    assert store.why(a).reasons == ("undecided: it hangs on an open question, or on itself through what it refutes",)
    assert store.why(rule).reasons == store.why(a).reasons
    assert store.why(b).reasons == ("in dispute with 'c' (outcome, entry 4)",)
    (question,) = store.questions()
    assert [side.value for side in question.sides] == ["b", "c"]


def test_disputes_in_time_name_only_who_is_meant() -> None:
    store = KnowledgeStore()
    a = say(store, "a", valid=(0, 5))
    say(store, "b", valid=(3, 8))
    say(store, "c", valid=(7, 9))
    say(store, "d", "verified", valid=(1, 2))
    assert store.why(a).reasons == ("in dispute with 'b' (spec, entry 1)",)
    (question,) = store.questions()
    assert [side.value for side in question.sides] == ["a", "b", "c"]
    assert store.why(store.find(o="d")[0].id).reasons == ("refuted by 'a' (spec, entry 0)",)


def test_what_replaced_an_item_is_named() -> None:
    store = KnowledgeStore()
    old = store.add("rule", 1, source="spec")
    new = store.add("rule", 2, source="spec", by="Kim", supersedes=old)
    assert store.why(old).reasons == (f"refuted by {new[:12]} (spec, Kim, entry 1)",)
    assert store.why(new).assertions[0].supersedes == (old,)


def test_rests_on_goes_all_the_way_and_round_in_circles() -> None:
    store = KnowledgeStore()
    a = say(store, "a", s=0)
    b = say(store, "b", s=1, derived_from=[a])
    say(store, "c", s=2, derived_from=[b, a])
    say(store, "a", s=0, derived_from=[b])
    fold = store._fold
    assert rests_on(fold, [2]) == [0, 1]
    assert rests_on(fold, [0]) == [1]
    store.retract(b)
    assert rests_on(fold, [1, 2]) == []
