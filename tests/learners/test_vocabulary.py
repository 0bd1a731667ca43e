"""Conditions: what is read, what cannot be, and what is broken."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from surefoot import MISSING, UNREAD
from surefoot.errors import BadArgument, ValueRejected
from surefoot.learners.vocabulary import BrokenPredicate, Vocabulary


def first(state: Any, args: Any) -> Any:
    return state[0]


def size(state: Any, args: Any) -> int:
    return len(state)


def test_names_are_sorted_and_chosen_by_action() -> None:
    vocabulary = Vocabulary({"b": lambda s, a: 2, "a": lambda s, a: 1}, only={"wait": ["b"], "rest": []})
    assert vocabulary.features({}, "go", {}) == (1, 2)
    assert vocabulary.features({}, "wait", {}) == (2,)
    assert vocabulary.features({}, "rest", {}) == ()


@pytest.mark.parametrize("error", [KeyError("x"), IndexError("x"), LookupError("x")])
def test_what_cannot_be_read_is_missing(error: Exception) -> None:
    def absent(state: Any, args: Any) -> Any:
        raise error

    vocabulary = Vocabulary({"gone": absent, "unread": lambda s, a: UNREAD, "list": lambda s, a: [1, [2]]})
    assert vocabulary.features({}, "go", {}) == (MISSING, (1, [2]), MISSING)


@pytest.mark.parametrize("error", [TypeError("x"), NameError("x"), AttributeError("x"), ValueError("x")])
def test_a_broken_predicate_names_itself(error: Exception) -> None:
    def broken(state: Any, args: Any) -> Any:
        raise error

    with pytest.raises(BrokenPredicate, match=f"predicate 'odd' raised {type(error).__name__}: x"):
        Vocabulary({"odd": broken}).features({}, "go", {})


def test_missing_is_a_value_of_its_own() -> None:
    marks: list[object] = [MISSING, UNREAD]
    assert "MISSING" not in marks
    assert MISSING is not None
    for same in (copy.copy(MISSING), copy.deepcopy(MISSING), pickle.loads(pickle.dumps(MISSING))):
        assert same is MISSING
    assert repr(UNREAD) == "UNREAD"


@pytest.mark.parametrize(
    ("predicates", "options", "message"),
    [
        ({}, {}, "at least one predicate"),
        ({"a": len}, {"hard": ["b"]}, r"hard names \['b'\]"),
        ({"a": len}, {"hard": "a"}, "wrap it"),
        ({"a": len}, {"only": {"go": ["b"]}}, r"only\['go'\] names"),
    ],
)
def test_bad_vocabularies(predicates: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        Vocabulary(predicates, **options)


def test_predicates_are_callable_and_named() -> None:
    with pytest.raises(TypeError, match="must be callable"):
        Vocabulary({"a": 3})  # type: ignore[dict-item]  # wrong on purpose
    with pytest.raises(TypeError, match="must be a str"):
        Vocabulary({3: len})  # type: ignore[dict-item]  # wrong on purpose
    with pytest.raises(ValueRejected, match="predicate 'a' returned a value that is not plain"):
        Vocabulary({"a": lambda s, a: {1}}).features({}, "go", {})


def test_fingerprints_move_with_code_closure_defaults_and_settings() -> None:
    def above(limit: int) -> Any:
        def read(state: Any, args: Any) -> Any:
            return state > limit

        return read

    prints = {
        Vocabulary({"a": above(1)}).fingerprint(),
        Vocabulary({"a": above(2)}).fingerprint(),
        Vocabulary({"a": lambda s, a: s}).fingerprint(),
        Vocabulary({"a": lambda s, a: a}).fingerprint(),
        Vocabulary({"a": above(1)}, hard=["a"]).fingerprint(),
        Vocabulary({"a": above(1)}, hard={"a": True}).fingerprint(),
        Vocabulary({"a": above(1)}, only={"go": []}).fingerprint(),
        Vocabulary({"b": above(1)}).fingerprint(),
    }
    assert len(prints) == 8
    assert Vocabulary({"a": above(1)}).fingerprint() == Vocabulary({"a": above(1)}).fingerprint()


def test_a_condition_that_could_not_be_read_once_is_read_again_and_copies_read_the_same() -> None:
    pair = Vocabulary({"first": first, "size": size})
    assert pair.read(["a"], "look", {}) == (("a", 1), False)
    assert pair.read([], "look", {}) == ((MISSING, 0), False)
    for copied in (pair, pickle.loads(pickle.dumps(pair)), copy.deepcopy(pair)):
        assert copied.read(["b", "c"], "look", {}) == (("b", 2), False)
        assert copied.fingerprint() == pair.fingerprint()
