"""Conclusions kept up to date against conclusions drawn from nothing, and the naive definition of both."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.learners._cases import VARIED, exact
from surefoot.learners._labels import WIDE
from surefoot.learners._refusals import holds
from surefoot.learners.evidence import COUNTED, ActionEvidence
from surefoot.learners.vocabulary import MISSING

label_st = st.sampled_from(["a", "above", "number", True, False, 1, 1.0, None, MISSING])
number_st = st.integers(0, 6) | st.sampled_from([0.0, -0.0, 0.5, 2.5, 4.25])
features_st = st.tuples(label_st, label_st, number_st, number_st, st.sampled_from(["a", ("a", 1), ("b",)]))
observation_st = st.tuples(features_st, st.booleans())


def learn(observations: list[tuple[tuple[Any, ...], bool]]) -> ActionEvidence:
    held = ActionEvidence(("a", "b", "c", "d", "e"))
    for n, (features, accepted) in enumerate(observations):
        held.observe(held.key_of(features), features, accepted, None, None, n)
    return held


def conclusions(held: ActionEvidence) -> Any:
    """Return what follows from the cases, without the numbers that codes happen to have."""

    def plain(item: Any) -> Any:
        if item[0] == "pair":
            return ("pair", *sorted(repr(held.meaning[code]) for code in item[1:]))
        return item

    signatures = sorted((sorted(map(repr, map(plain, s))), n) for s, n in held.signatures.items())
    together = {
        repr(held.meaning[code]): sorted(repr(held.meaning[c]) for c in held.seen_with(code))
        for code, count in enumerate(held.counts)
        if count
    }
    counts = {repr(held.meaning[code]): n for code, n in enumerate(held.counts) if n}
    ranges = [(n.low, n.high, len(n)) if n else None for n in held.numbers]
    culprits = {
        repr([held.meaning[c] for c in key]): (
            g.accepted_cases,
            g.refused_cases,
            {at: n.between(-99, 99) for at, n in g.refused.items() if n},
            {at: n.between(-99, 99) for at, n in g.accepted.items() if n},
        )
        for key, g in held.groups.items()
        if g.accepted_cases or g.refused_cases
    }
    relations = sorted(held.relations or ())
    totals = held.accepted, held.refused, held.flaked, held.accepted_cases
    return signatures, together, counts, ranges, culprits, relations, totals, sorted(held.quantities), held.oddly


def naive_open(held: ActionEvidence) -> list[str]:
    """Return the accepted labels that were not seen with each accepted label of every other condition."""
    accepted = [code for code, count in enumerate(held.counts) if count]
    found = []
    for code in accepted:
        others = {other for other in accepted if held.meaning[other][0] != held.meaning[code][0]}
        if not others <= held.seen_with(code):
            found.append(code)
    assert held.open_codes == set(found)
    return sorted(repr(held.meaning[code]) for code in found)


@given(st.lists(observation_st, max_size=40))
def test_kept_up_to_date_is_drawn_from_nothing(observations: list[Any]) -> None:
    held = learn(observations)
    before = conclusions(held)
    odd = sum(n for s, n in held.signatures.items() if not any(type(item[0]) is int for item in s))
    assert held.oddly == odd
    open_pairs = naive_open(held)
    held.conclude()
    assert conclusions(held) == before
    assert naive_open(held) == open_pairs


@given(st.lists(observation_st, max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=settings().max_examples // 2)
def test_the_order_does_not_matter(observations: list[Any], rng: random.Random) -> None:
    shuffled = [*observations]
    rng.shuffle(shuffled)
    assert conclusions(learn(observations)) == conclusions(learn(shuffled))


@given(st.lists(observation_st, max_size=40))
@settings(max_examples=settings().max_examples // 2)
def test_signatures_are_what_no_accepted_case_shows(observations: list[Any]) -> None:
    held = learn(observations)
    accepted = [case.features for case in held.cases.values() if case.accepted]
    for case in held.cases.values():
        if case.accepted:
            assert case.violations is None
            continue
        assert case.violations is not None
        for item in case.violations:
            if item[0] == "pair":
                (a, x), (b, y) = (held.meaning[code] for code in item[1:])
                assert not any(exact(f[a]) == exact(x) and exact(f[b]) == exact(y) for f in accepted)
            elif item[0] in ("equal", "at most", "member"):
                assert all(holds(item, f) for f in accepted)
                assert not holds(item, case.features)
            elif len(item) == 3:
                shown = [f[item[0]] for f in accepted if held.is_number(item[0], f[item[0]])]
                value = case.features[item[0]]
                assert not any(x >= value for x in shown) or not any(x <= value for x in shown)
            else:
                assert exact(case.features[item[0]]) not in {exact(f[item[0]]) for f in accepted}


def test_very_many_values_leave_the_pairs() -> None:
    held = ActionEvidence(("id", "kind"))
    for n in range(WIDE + 2):
        features = (f"id{n}", "x" if n % 2 else "y")
        held.observe(held.key_of(features), features, True, None, None, n)
    assert held.wide == {0}
    assert held.pairs(("id0", "x")) == []
    held.conclude()
    assert held.wide == {0}


def test_very_many_integers_are_quantities() -> None:
    held = ActionEvidence(("n",))
    for n in range(COUNTED + 1):
        held.observe(held.key_of((n,)), (n,), True, None, None, n)
    assert held.quantities == {0}
    assert (held.numbers[0].low, held.numbers[0].high) == (0, COUNTED)
    assert held.violations((30,)) == []
    assert held.violations((99,)) == [(0, "number", "above")]


def test_matching_many_violations_looks_at_the_signatures_instead() -> None:
    names = tuple(f"c{n}" for n in range(14))
    held = ActionEvidence(names)
    base = ("ok",) * 14
    held.observe(held.key_of(base), base, True, None, None, 0)
    bad = ("no", *base[1:])
    held.observe(held.key_of(bad), bad, False, None, None, 1)
    asked = ("no",) * 14
    found = held.matching(held.violations(asked), asked)
    assert found == (frozenset({(0, "no")}), 1)
    assert held.matching([], base) is None


def test_raw_identifiers_cost_no_more_memory_for_each_that_comes() -> None:
    held = ActionEvidence(("id", "kind"))
    for n in range(5 * WIDE):
        features = (f"id{n}", "x" if n % 2 else "y")
        held.observe(held.key_of(features), features, True, None, None, n)
    assert max(held._bits).bit_length() <= 2 * WIDE + 2
    assert max(held.together).bit_length() <= 2 * WIDE + 2


def test_effects_that_vary_very_much_are_not_kept() -> None:
    for backwards in (False, True):
        held = ActionEvidence(("a",))
        effects = [b"%d" % n for n in range(40)]
        for n, effect in enumerate(reversed(effects) if backwards else effects):
            held.observe(held.key_of(("x",)), ("x",), True, effect, None, n)
        assert held.effects == held.cases[("x",)].effects == {VARIED: 40}


def test_a_case_is_found_again_whatever_kinds_it_is_made_of() -> None:
    held = ActionEvidence(("a", "b"))
    vectors: list[tuple[Any, ...]] = [("x", 0.0), ("x", -0.0), ("x", 0), ("x", False), ("x", None), ("x", MISSING)]
    vectors += [("x", "0"), ("x", (0,)), ("x", (0.0,)), (("x",), "0")]
    for n, features in enumerate(vectors):
        held.observe(held.key_of(features), features, True, None, None, n)
    assert len(held.cases) == len(vectors)
    for features in vectors:
        again = tuple(list(features))
        case = held.find(again, set(map(type, again)) == {str})
        assert case is not None
        assert repr(case.features) == repr(features)
