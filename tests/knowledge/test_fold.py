"""The columns behind a map."""

from __future__ import annotations

from surefoot import WorldMap
from surefoot.knowledge.fold import Fold
from surefoot.knowledge.settings import Settings


def test_folds_are_compared_column_by_column() -> None:
    a, b = Fold(), Fold()
    assert a.same_as(b) is None
    a.see(b'"s"', b'"x"', b"", 0)
    b.see(b'"s"', b'"y"', b"", 0)
    assert a.same_as(b) == "action_key"


def test_flapping_is_counted_in_switches() -> None:
    m = WorldMap()
    for to in "bcbc":
        m.arrive("a", "x", to)
    m.arrive("a", "y", "b")
    assert [c.action for c in m.flapping()] == ["x"]
    assert m.flapping(4) == []
    m.drop()
    assert m.flapping() == []
    m.arrive("a", "x", "d")
    claim = m.claim("a", "x")
    assert claim is not None
    assert claim.counts == (("d", 1),)


def test_a_drop_of_unknown_states_drops_nothing() -> None:
    m = WorldMap()
    m.arrive("a", "x", "b")
    assert m.drop(states=["nowhere"]) == 0
    assert m.states() == ["a", "b"]
    assert m.drop(states=["a", "a", "b"]) == 1


def test_a_drop_leaves_a_supposition_as_it_is() -> None:
    m = WorldMap().see("a", "x", to="b")
    m.arrive("a", "y", "c")
    assert m.drop() == 1
    assert [(claim.action, claim.status, claim.doubtful) for claim in m.claims()] == [
        ("x", "hypothesis", False),
        ("y", "hypothesis", True),
    ]


def test_a_sign_of_what_is_confirmed_is_no_news() -> None:
    m = WorldMap()
    m.arrive("a", "x", "b")
    count = len(m.journal)
    assert len(m.see("a", "x", to="b").journal) == count
    assert len(m.see("a", "x", to="c").journal) == count + 1


def test_ages_start_with_the_setting_for_what_is_confirmed_only() -> None:
    fold = Fold()
    fold.arrive(b'"a"', b'"x"', b'"b"', 0)
    fold.see(b'"a"', b'"y"', b"", 1)
    fold.configure(Settings(stale_after=1))
    for n in range(2):
        fold.visit(b'"a"', b"")
        assert (fold.opens[0] - 1) == (n == 1)


def test_a_claim_confirmed_again_ages_anew() -> None:
    m = WorldMap(stale_after=2)
    m.arrive("a", "x", "b")
    m.arrive("a", "x", "b")
    m.visit("b")
    m.visit("b")
    assert m.frontier() == []
    m.visit("b")
    assert m.frontier() == [("a", "x")]


def test_a_refused_action_that_once_worked_is_to_be_checked_when_its_sign_changes() -> None:
    m = WorldMap().see("a", "x", to="b")
    m.arrive("a", "x", "b")
    m.refuse("a", "x")
    m.see("a", "x", to="b")
    assert m.frontier() == []
    m.see("a", "x", to="c")
    claim = m.claim("a", "x")
    assert claim is not None
    assert (claim.refused, claim.doubtful, claim.to) == (False, True, "b")


def test_seeing_ages_what_was_confirmed() -> None:
    m = WorldMap(stale_after=1)
    m.arrive("a", "x", "b")
    m.see("a", "y")
    assert m.frontier() == [("a", "y")]
    m.see("a", "z")
    assert m.frontier() == [("a", "x"), ("a", "y"), ("a", "z")]
    assert m.verify()
