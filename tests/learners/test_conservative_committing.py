"""What was learned goes into a knowledge store; hard rules hold for every action."""

from __future__ import annotations

from surefoot import open_journal
from surefoot.knowledge.store import KnowledgeStore
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.vocabulary import Vocabulary

WORDS = Vocabulary({"open": lambda state, args: state["open"], "lit": lambda state, args: state["lit"]})


def taught(**options: object) -> ConservativeActionModel:
    model = ConservativeActionModel(WORDS, **options)  # type: ignore[arg-type]  # of several types
    for n in range(3):
        model.observe(
            {"open": True, "lit": True, "n": n}, "enter", {}, True, next_state={"open": True, "lit": True, "n": n + 1}
        )
        model.observe({"open": False, "lit": True, "n": n}, "enter", {}, False)
    model.observe({"open": True, "lit": False, "n": 0}, "knock", {}, True)
    return model


def test_each_action_is_an_item_of_its_own() -> None:
    store = KnowledgeStore()
    model = taught(journal=open_journal())
    written = model.commit(store, scope={"map": "house"})
    assert sorted(written) == ["enter", "knock"]
    item = store.get(written["enter"])
    assert (item.kind, item.status, item.source, item.by, item.scope) == (
        "action",
        "active",
        "outcome",
        "environment",
        {"map": "house"},
    )
    assert item.body["learned"] == model.summary("enter")
    assert item.body["effects"] == ["add 1 to n (3 calls)"]
    assert item.body["vocabulary"] == WORDS.fingerprint()
    assert sorted(item.body["predicates"]) == ["lit", "open"]
    assert "0" in str(store.why(written["enter"]))


def test_a_newer_version_refutes_the_older_one_and_the_same_is_not_written_twice() -> None:
    store, model = KnowledgeStore(), taught()
    first = model.commit(store)
    entries = len(store)
    assert model.commit(store) == first
    assert len(store) == entries
    model.observe({"open": False, "lit": False, "n": 0}, "enter", {}, False)
    second = model.commit(store)
    assert second["knock"] == first["knock"]
    assert [store.get(id).status for id in (first["enter"], second["enter"])] == ["refuted", "active"]
    other = taught().commit(store, scope="elsewhere")
    assert store.get(second["enter"]).status == store.get(other["enter"]).status == "active"


def test_items_of_others_are_left_alone() -> None:
    store = KnowledgeStore()
    mine = store.add("action", {"do": "stop", "action": "enter"}, source="person", by="Kim")
    taught().commit(store)
    assert store.get(mine).status == "active"


def test_a_store_keeps_the_observations_too() -> None:
    store = KnowledgeStore()
    model = taught(store=store)
    model.commit(store)
    again = ConservativeActionModel.replay(store, WORDS)
    assert again.fingerprint() == model.fingerprint()
    assert [str(rule) for rule in again.effects("enter")] == ["add 1 to n (3 calls)"]
    assert store.verify()


def test_a_reopened_store_has_what_was_committed() -> None:
    journal = open_journal()
    written = taught().commit(KnowledgeStore(journal=journal))
    assert KnowledgeStore(journal=journal).get(written["enter"]).usable


def test_a_hard_rule_with_a_value_is_read_for_every_action() -> None:
    words = Vocabulary(
        {"alive": lambda state, args: state["alive"], "a": lambda state, args: state["a"]},
        hard={"alive": True},
        only={"go": ["a"], "wait": []},
    )
    assert (words.of("go"), words.of("wait"), words.of("other")) == (("a", "alive"), ("alive",), ("a", "alive"))
    model = ConservativeActionModel(words)
    for action in ("go", "wait", "other"):
        found = model.predict({"alive": False, "a": 1}, action, {})
        assert (found.verdict, found.hard) == ("refuse", True)
    named = Vocabulary(words.predicates, hard=["alive"], only={"go": ["a"]})
    assert named.of("go") == ("a",)
