"""Which raw values explain refusals that the vocabulary does not."""

from __future__ import annotations

import random
from typing import Any

import pytest

from surefoot import open_journal
from surefoot.errors import BadArgument
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.suggesting import Suggestion, separate
from surefoot.learners.vocabulary import Vocabulary

WORDS = Vocabulary({"status": lambda state, args: state["orders"][args["id"]]["status"]})


def state_of(rng: random.Random) -> dict[str, Any]:
    return {
        "orders": {
            f"A{n}": {
                "status": "open",
                "frozen": rng.random() < 0.3,
                "price": rng.randint(1, 9),
                "items": [rng.choice("xyz")],
            }
            for n in range(3)
        },
        "gold": rng.randint(1, 9),
        "day": rng.randint(0, 10**6),
        "pair": ("hall", (("axe", rng.randint(1, 3)),)),
    }


def recorded(rule: Any, steps: int = 200) -> ConservativeActionModel:
    """Return a model of a world whose rule its vocabulary does not read."""
    rng = random.Random(4)
    model = ConservativeActionModel(WORDS, journal=open_journal())
    for _ in range(steps):
        state, args = state_of(rng), {"id": rng.choice(["A0", "A1", "A2"]), "what": rng.choice("xyz")}
        model.observe(state, "act", args, rule(state, args))
    return model


def works(model: ConservativeActionModel, found: Suggestion, rule: Any) -> None:
    """Add what was suggested to the vocabulary, and see that the model then knows the rule."""
    predicate = eval(found.code)  # the code of our own suggestion
    better = model.relearn(Vocabulary({**WORDS.predicates, "suggested": predicate}))
    rng = random.Random(5)
    for _ in range(50):
        state, args = state_of(rng), {"id": rng.choice(["A0", "A1", "A2"]), "what": rng.choice("xyz")}
        assert better.predict(state, "act", args).verdict == ("accept" if rule(state, args) else "refuse")


def frozen(state: Any, args: Any) -> bool:
    return not state["orders"][args["id"]]["frozen"]


def affordable(state: Any, args: Any) -> bool:
    return bool(state["orders"][args["id"]]["price"] <= state["gold"])


def contained(state: Any, args: Any) -> bool:
    return args["what"] in state["orders"][args["id"]]["items"]


def chosen(state: Any, args: Any) -> bool:
    return bool(args["what"] != "z")


@pytest.mark.parametrize(
    ("rule", "words", "code"),
    [
        (frozen, "orders[{id}].frozen is True", "state['orders'][args['id']]['frozen']"),
        (affordable, "orders[{id}].price is more than gold", "state['orders'][args['id']]['price'] <= state['gold']"),
        (contained, "{what} is not in orders[{id}].items", "args['what'] in state['orders'][args['id']]['items']"),
        (chosen, "{what} is 'z'", "args['what']"),
    ],
)
def test_the_missing_condition_is_the_best_suggestion(rule: Any, words: str, code: str) -> None:
    model = recorded(rule)
    best = model.suggest()[0]
    assert (best.what, best.code) == (words, f"lambda state, args: {code}")
    assert best.refused == best.unexplained > 20
    works(model, best, rule)


def test_a_place_in_a_tuple_of_pairs_can_be_read() -> None:
    def rule(state: Any, args: Any) -> bool:
        return bool(dict(state["pair"][1])["axe"] != 3)

    model = recorded(rule)
    best = model.suggest("act")[0]
    assert best.code == "lambda state, args: dict(state['pair'][1])['axe']"
    assert best.what == "pair[1].axe is above 2" or best.what == "pair[1].axe is 3"
    works(model, best, rule)


def test_what_is_never_repeated_tells_nothing() -> None:
    refused: list[Any] = [({"id": n}, {}) for n in range(10)]
    accepted: list[Any] = [({"id": -7 * n + 1000 * (n % 2)}, {}) for n in range(1, 11)]
    assert separate("act", refused, accepted) == []
    assert separate("act", [], accepted) == separate("act", refused, []) == []


def test_counts_are_given_where_only_a_part_is_explained() -> None:
    refused: list[Any] = [({"a": "x", "b": 1}, {})] * 3 + [({"a": "y", "b": 1}, {})]
    accepted: list[Any] = [({"a": "y", "b": 1}, {})] * 5
    (found,) = separate("act", refused, accepted)
    assert str(found) == "a is 'x': 3 of 4 unexplained refusals, none of 5 accepted"


def test_what_is_missing_can_be_what_tells() -> None:
    refused: list[Any] = [({"a": 1}, {})] * 3
    accepted: list[Any] = [({"a": 1, "key": "brass"}, {})] * 3
    assert separate("act", refused, accepted)[0].what == "key is not there"


def test_explained_refusals_and_other_actions_are_left_alone() -> None:
    model = ConservativeActionModel(WORDS, journal=open_journal())
    for status, accepted in (("open", True), ("sent", False)):
        model.observe({"orders": {"A": {"status": status}}}, "act", {"id": "A"}, accepted)
    assert model.suggest() == []
    assert model.suggest("dance") == []


def test_without_records_nothing_can_be_suggested() -> None:
    with pytest.raises(BadArgument, match="suggest needs recorded observations"):
        ConservativeActionModel(WORDS).suggest()
