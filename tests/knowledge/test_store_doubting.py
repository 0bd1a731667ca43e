"""Taking out again what was added leaves no trace."""

from __future__ import annotations

import random

import pytest

from surefoot.knowledge.store import KnowledgeStore
from surefoot.knowledge.store_columns import name_of
from surefoot.knowledge.store_competing import Details

UNTRACED = pytest.mark.untraced  # what the first seed reaches is enough; to follow the others doubles what they take


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=UNTRACED if n < 4 else pytest.mark.nightly) for n in range(1, 40))]
)
def test_undo_is_exact(seed: int) -> None:
    rng = random.Random(seed)
    store = KnowledgeStore()
    for n in range(25):
        held = [item.id for item in store if item.status not in ("refuted", "retracted")]
        rests_on = rng.sample(held, min(len(held), rng.choice([0, 1, 2])))
        body = {"s": rng.randrange(4), "r": "is", "o": rng.randrange(3)}
        valid = rng.choice([None, None, (0, 2), (1, None)])
        try:
            store.add(
                "fact", body, source=rng.choice(["spec", "person", "outcome"]), derived_from=rests_on, valid=valid
            )
        except ValueError:
            continue  # it would rest on itself, or refute what it rests on
        if n % 7 == 3:
            store.flag([store.find()[0].id])
    fold = store._fold
    for _ in range(20):
        before = fold.size()
        item = rng.randrange(len(fold.item_key))
        rivals = tuple(i for i in fold.items_of(fold.item_key[item]) if i != item)
        details = Details(
            premises=tuple(i for i in rng.sample(range(len(fold.item_key)), 2) if i != item),
            supersedes=rivals[:1] if rng.random() < 0.5 else (),
            valid=rng.choice([None, (1, 3), (2, None)]),
            reconfirm_after=rng.choice([0, 2]),
            trial=rng.random() < 0.3,
        )
        new = rng.random()
        value = b"7" if new < 0.3 else fold.item_value[item]
        name = name_of(b"77", b'"is"', b"null") if new > 0.9 else fold.key_name[fold.item_key[item]]
        if new > 0.9:
            details = details._replace(supersedes=())
        fold.add(name, 0, value, rng.randrange(4), b'"new"', -1, details)
        fold.undo(before)
        assert fold.same_as(store.rebuild()._fold) is None
    store.tick(5)
    assert store.verify()


def test_a_statement_of_another_kind_is_tried_and_taken_out_again() -> None:
    store = KnowledgeStore()
    old = store.add("rule", 1, source="spec")
    use = store.add("rule", 2, source="spec", derived_from=[old])
    lines = len(store.journal)
    with pytest.raises(ValueError, match="would refute what it rests on"):
        store.add("rule", 3, source="spec", derived_from=[use], supersedes=[old])
    assert (len(store.journal), len(store)) == (lines, 2)
    assert store.verify()
    free = store.add("rule", 4, source="spec")
    store.add("rule", 3, source="spec", derived_from=[free], supersedes=[old])
    assert [store.get(i).status for i in (old, use)] == ["refuted", "retracted"]


def test_what_was_taken_back_can_be_stated_again_and_again() -> None:
    store = KnowledgeStore()
    for n in range(5):
        id_ = store.add("rule", 1, source="spec", by=str(n % 2))
        store.retract(id_)
    assert store._fold.gone_of(0) == [4, 3, 2, 1, 0]
    store.add("rule", 1, source="spec", by="0")
    store.add("rule", 1, source="spec", by="1")
    store.forget("0")
    assert (store._fold.rows_of(0), store.get(id_).by) == ([6], "1")
    assert store.verify()
