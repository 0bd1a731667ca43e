"""Cases as arrays against a dictionary of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from surefoot.learners import _caseindex
from surefoot.learners._caseindex import Index, beyond_floats, listed
from surefoot.learners.evidence import ActionEvidence


def draw(rng: random.Random, width: int, numbers: bool) -> tuple[Any, ...]:
    labels = [rng.choice(["a", "b", True, False, None, "d", 3]) for _ in range(width)]
    return (*labels, rng.choice([0.0, -0.0, 0.5, 1, 2.25])) if numbers else tuple(labels)


@pytest.mark.parametrize("table", [0, 22])
@pytest.mark.parametrize("width", [1, 4, 30])
@pytest.mark.parametrize("numbers", [False, True])
def test_each_row_is_found_where_its_case_is(
    monkeypatch: pytest.MonkeyPatch, table: int, width: int, numbers: bool
) -> None:
    monkeypatch.setattr(_caseindex, "_TABLE", table)
    monkeypatch.setattr(_caseindex, "_ROOM", 4)
    rng = random.Random(width)
    count = width + numbers
    evidence = ActionEvidence(tuple(f"c{at}" for at in range(count)))
    index: Index | None = None
    for n in range(80):
        features = draw(rng, width, numbers)
        evidence.observe(evidence.key_of(features), features, rng.random() < 0.6, None, None, n)
        if n % 20 < 18:
            continue
        if index is None or evidence.touched is None:
            index = Index(evidence)
        index.refresh()
        rows = [case.features for case in evidence.cases.values()] + [draw(rng, width, numbers) for _ in range(40)]
        columns = [listed("", column, at in evidence.quantities) for at, column in enumerate(zip(*rows, strict=True))]
        looked = [index.look_up(at, column) for at, column in enumerate(columns)]
        places = index.find(index.words(index.join(looked), columns, len(rows))).tolist()
        for features, place in zip(rows, places, strict=True):
            case = evidence.cases.get(evidence.key_of(features))
            assert (case is None) == (place < 0)
            if case is not None:
                assert index.cases[place] is case
                assert (index.accepted[place], index.refused[place]) == (case.accepted, case.refused)
                assert index.explained[place] == bool(case.violations)


def test_what_no_float_holds() -> None:
    assert beyond_floats([1, 2**53])
    assert beyond_floats([-(2**60)])
    assert not beyond_floats([2**53 - 1, 1e300, "x", True])
