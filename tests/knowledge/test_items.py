"""What a store shows to people."""

from __future__ import annotations

import pickle

import pytest

from surefoot.errors import BadArgument
from surefoot.knowledge.items import Assertion, Item, Key, Question, Side, item_id, shown
from surefoot.knowledge.store import KnowledgeStore


def test_a_fact_reads_as_a_sentence() -> None:
    store = KnowledgeStore()
    id_ = store.add("fact", {"s": ("a", 1), "r": "is", "o": "x" * 80}, {"map": "m"}, source="spec", by="Kim")
    item = store.get(id_)
    assert str(item) == f"fact {id_[:12]}: ('a', 1) is '{'x' * 58}… in {{'map': 'm'}}: active (spec, Kim)"
    assert (item.s, item.r, item.o, item.key) == (("a", 1), "is", "x" * 80, Key({"map": "m"}, ("a", 1), "is"))
    assert pickle.loads(pickle.dumps(item)) == item
    assert item.to_dict()["scope"] == {"map": "m"}


def test_another_item_has_a_body_and_no_key() -> None:
    item = Item("ab" * 32, "rule", "hypothesis", "spec", None, 3, ((1, None),), b'"stop"')
    assert str(item) == "rule abababababab: 'stop': hypothesis (spec)"
    assert (item.s, item.r, item.o, item.key, item.usable) == (None, None, None, None, False)
    assert item.to_dict()["valid"] == ((1, None),)


def test_an_assertion_tells_what_limits_it() -> None:
    said = Assertion(
        4, "spec", None, "counts", ("ab" * 32,), ("cd" * 32,), (None, 5), 3, True, True, raw_evidence=b"[1,2]"
    )
    assert str(said) == (
        "4 spec: counts  [rests on abababababab; supersedes cdcdcdcdcdcd; valid […, 5); for 3 ticks; on trial; "
        "resolves a question; evidence (1, 2)]"
    )
    gone = Assertion(4, "spec", "Kim", "retracted", valid=(2, None), ended=7, ended_by="Lee", raw_why=b'"no"')
    assert str(gone) == "4 spec, Kim: retracted (entry 7, Lee): 'no'  [valid [2, …)]"


def test_a_question_names_its_scope_and_its_sides() -> None:
    sides = (Side(1, "ab", "spec", ("a", "b")), Side(2, "cd", "spec"))
    assert str(Question(Key("shop", "tea", "costs"), sides)) == "'tea' costs in 'shop': 1 (spec, a, b) or 2 (spec)?"


def test_an_explanation_iterates_over_its_assertions() -> None:
    store = KnowledgeStore()
    base = store.add("rule", 1, source="spec")
    id_ = store.add("rule", 2, source="spec", derived_from=[base])
    told = store.why(id_)
    assert list(told) == list(told.assertions)
    assert f"  rests on rule {base[:12]}: 1: active (spec)" in str(told)
    assert told.entries == (1,)


class Deep:
    def __repr__(self) -> str:
        raise RecursionError


def test_what_is_nested_too_deep_for_python_is_named() -> None:
    assert shown(Deep()) == "a Deep nested too deep to show"
    assert shown("x" * 99) == "'" + "x" * 58 + "…"


def test_ids_are_of_kinds_that_exist() -> None:
    assert item_id("rule", 1) != item_id("skill", 1) != item_id("skill", 1, "here")
    with pytest.raises(BadArgument, match="kind must be one of fact"):
        item_id("rumour", 1)
