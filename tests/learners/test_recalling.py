"""What a journal holds of each observation, and what can be read from it again."""

from __future__ import annotations

import pytest

from surefoot import ConservativeActionModel, Vocabulary, open_journal
from surefoot.learners.recalling import VocabularyChanged

OPEN = Vocabulary({"open": lambda state, args: state["open"]})


def test_an_observation_is_written_down_with_all_that_it_told() -> None:
    journal = open_journal()
    model = ConservativeActionModel(OPEN, journal=journal, stream="door")
    state = {"open": True, "n": 1}
    model.observe(state, "enter", {"who": "Kim"}, True, {"in": "Kim"}, next_state={"open": True, "n": 2})
    model.observe(state, "enter", {"who": "Kim"}, False, reason="full")
    told, refused = (entry.data for entry in journal.entries(kind="observe", stream="door"))
    assert told == {
        "action": "enter",
        "args": {"who": "Kim"},
        "accepted": True,
        "state": state,
        "effect": {"in": "Kim"},
        "next_state": {"open": True, "n": 2},
        "vocabulary": OPEN.fingerprint(),
    }
    assert (refused["reason"], "next_state" in refused, "effect" in refused) == ("full", False, False)


def test_another_vocabulary_learns_the_effects_by_its_own_cases() -> None:
    model = ConservativeActionModel(OPEN, journal=open_journal())
    for n in range(6):
        dark = n % 2 == 0
        before = {"open": True, "dark": dark, "n": n * n}
        model.observe(before, "enter", {}, True, next_state={**before, "n": n * n + (3 if dark else 5)})
    assert model.effects("enter")[0].edits is None
    wider = model.relearn(Vocabulary({**OPEN.predicates, "dark": lambda state, args: state["dark"]}))
    assert [str(rule) for rule in wider.effects("enter")] == [
        "when dark is False: add 5 to n (3 calls)",
        "when dark is True: add 3 to n (3 calls)",
    ]


def test_a_changed_vocabulary_says_which_entry_was_read_with_another_one() -> None:
    journal = open_journal()
    ConservativeActionModel(OPEN, journal=journal).observe({"open": True}, "enter", {}, True)
    with pytest.raises(VocabularyChanged, match="entry 0 was observed with the vocabulary"):
        ConservativeActionModel.replay(journal, Vocabulary({"open": lambda state, args: not state["open"]}))
