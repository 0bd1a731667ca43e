"""Why a call is answered as it is."""

from __future__ import annotations

from typing import Any

from surefoot import open_journal
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.vocabulary import MISSING, Vocabulary

WORDS = Vocabulary(
    {
        "status": lambda state, args: state["orders"][args["id"]],
        "gold": lambda state, args: state["gold"],
        "alive": lambda state, args: state["alive"],
    },
    hard={"alive": True},
)


def asked(status: str = "open", gold: float = 5.0, alive: bool = True) -> dict[str, Any]:
    return {"orders": {"A": status}, "gold": gold, "alive": alive}


def taught() -> ConservativeActionModel:
    model = ConservativeActionModel(WORDS, journal=open_journal())
    for n in range(4):
        model.observe(asked(gold=float(n)), "cancel", {"id": "A"}, True)
    for n in range(3):
        model.observe(asked("sent", gold=float(n)), "cancel", {"id": "A"}, False)
    return model


def test_a_refusal_is_explained_by_what_no_accepted_case_shows() -> None:
    found = taught().explain(asked("sent", gold=2.5), "cancel", {"id": "A"})
    assert found.verdict == "refuse"
    assert found.refusing == ("status is 'sent'",)
    assert found.differs == (("gold", 2.5, 2.0), ("status", "sent", "open"))
    assert (found.evidence, found.nearest_evidence, found.accepted) == ((4, 5, 6), (2,), 1)
    assert str(found).splitlines() == [
        "'cancel' is refused: status is 'sent', never accepted (3 refusals)",
        "no accepted case shows that status is 'sent'",
        "nearest accepted case (1 time): gold is 2.0, not 2.5; status is 'open', not 'sent'",
        "evidence: journal entries 4, 5, 6",
        "of the nearest case: journal entries 2",
    ]


def test_what_is_unknown_is_explained_too() -> None:
    found = taught().explain(asked("lost", gold=99.0), "cancel", {"id": "A"})
    assert found.verdict == "unknown"
    assert found.refusing == ("gold is 99.0, above 3.0", "status is 'lost'")
    found = taught().explain(asked(), "cancel", {"id": "B"})
    assert dict(found.conditions)["status"] is MISSING
    assert "status is 'open', not MISSING" in str(found)


def test_an_accept_names_its_case() -> None:
    found = taught().explain(asked(gold=1.0), "cancel", {"id": "A"})
    assert (found.verdict, found.refusing, found.differs, found.evidence) == ("accept", (), (), (1,))
    assert "nearest accepted case (1 time): the same in every condition" in str(found)


def test_a_hard_rule_is_named_as_one() -> None:
    model = taught()
    for found in (
        model.explain(asked(alive=False), "cancel", {"id": "A"}),
        model.explain(asked(alive=False), "dance", {"id": "A"}),
    ):
        assert str(found).startswith(f"'{found.action}' is refused, a hard rule: alive is False and must be True")
    assert model.explain(asked(alive=False), "cancel", {"id": "A"}).refusing == ("alive is False and must be True",)


def test_an_action_that_was_never_observed_or_never_accepted_has_no_nearest_case() -> None:
    model = taught()
    found = model.explain(asked(), "dance", None)
    assert str(found) == "'dance' is unknown: 'dance' was never observed\nit was never accepted"
    model.observe(asked(), "dance", {"id": "A"}, False)
    found = model.explain(asked(), "dance", {"id": "A"})
    assert (found.verdict, found.nearest) == ("refuse", ())
    assert "it was never accepted" in str(found)


def test_the_nearest_case_is_the_nearest_in_numbers_among_equals() -> None:
    found = taught().explain(asked("sent", gold=2.9), "cancel", {"id": "A"})
    assert dict(found.nearest)["gold"] == 3.0


def test_explaining_changes_nothing() -> None:
    model = taught()
    before = model.fingerprint()
    model.explain(asked("lost"), "cancel", {"id": "A"})
    assert model.fingerprint() == before


def test_a_pair_that_was_never_accepted_is_told() -> None:
    words = Vocabulary({"key": lambda state, args: state["key"], "door": lambda state, args: state["door"]})
    model = ConservativeActionModel(words)
    for colour in ("red", "blue", "green"):
        for _ in range(9):
            model.observe({"key": colour, "door": colour}, "open", {}, True)
    model.observe({"key": "red", "door": "blue"}, "open", {}, False)
    found = model.explain({"key": "red", "door": "blue"}, "open", {})
    assert found.refusing == ("key is not equal to door",) or "door is 'blue' with key 'red'" in found.refusing
