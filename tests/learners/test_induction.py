"""Conditions induced without a vocabulary: found, conservative, the same in every order, refutable, exported."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc

from surefoot import ConservativeActionModel, Vocabulary, open_journal
from surefoot.errors import BadArgument, MergeRefused, ValueRejected
from surefoot.learners._induction.snapshots import slice_of
from surefoot.learners.induction import InducedActionModel
from surefoot.testing.action_model_liars import TRANSITIONS
from surefoot.testing.action_models import check_action_model

Asked = tuple[Any, str, Mapping[str, Any]]

Call = tuple[Any, str, dict[str, Any]]
STATUSES = ("open", "sent", "lost")


def shop(rng: random.Random) -> dict[str, Any]:
    """Return a state with two tables: orders refer to users."""
    users = {f"u{n}": {"money": rng.randrange(100), "tier": rng.choice(("gold", "none"))} for n in range(30)}
    orders = {
        f"A{n}": {"status": rng.choice(STATUSES), "owner": f"u{rng.randrange(30)}", "price": rng.randrange(100)}
        for n in range(60)
    }
    return {"users": users, "orders": orders, "on": True}


def calls(seed: int, count: int) -> list[Call]:
    """Return calls to pay for orders, some by strangers, some of orders that do not exist."""
    rng, found = random.Random(seed), []
    for _ in range(count):
        state = shop(rng)
        order = f"A{rng.randrange(70)}"
        known = state["orders"].get(order, {"owner": "u1"})
        who = known["owner"] if rng.random() < 0.7 else f"u{rng.randrange(30)}"
        found.append((state, "pay", {"order": order, "user": who}))
    return found


def pays(state: Any, args: Any) -> bool:
    order, user = state["orders"].get(args["order"]), state["users"].get(args["user"])
    if order is None or user is None:
        return False
    return bool(order["status"] == "open" and order["owner"] == args["user"] and order["price"] <= user["money"])


def learned(rows: list[Call], rule: Callable[[Any, Any], bool], **options: Any) -> InducedActionModel:
    model = InducedActionModel(**options)
    for state, action, args in rows:
        model.observe(state, action, args, rule(state, args))
    return model.settle()


def merged(rows: list[Call], rule: Callable[[Any, Any], bool], **options: Any) -> InducedActionModel:
    """Return the settled model of some calls, without the selections on the way."""
    model = InducedActionModel(**options)
    for state, action, args in rows:
        kept = slice_of(state, args)
        learner = model._learner
        learner.take(learner.shelf.put(kept, args), kept, action, args, rule(state, args))
    return model.settle()


@pytest.fixture(scope="module")
def model() -> InducedActionModel:
    return merged(calls(1, 260), pays)


def test_without_a_vocabulary_the_model_induces_its_own() -> None:
    assert type(ConservativeActionModel()) is InducedActionModel
    assert isinstance(ConservativeActionModel(), ConservativeActionModel)
    assert type(ConservativeActionModel(Vocabulary({"a": lambda state, args: len(state)}))) is ConservativeActionModel


def test_joins_references_and_numbers_are_found(model: InducedActionModel) -> None:
    words = " | ".join(rule.words for rule in model.conditions("pay"))
    assert "orders[order].status in {'open'}" in words
    assert "user == orders[order].owner" in words
    assert "orders[order].price <= users[" in words
    wrong = unknown = 0
    held_out = calls(2, 300)
    for state, action, args in held_out:
        verdict = model.predict(state, action, args).verdict
        unknown += verdict == "unknown"
        wrong += verdict == ("refuse" if pays(state, args) else "accept")
    assert wrong == 0
    assert unknown < 0.25 * len(held_out)


def test_a_refusal_is_explained_with_its_path(model: InducedActionModel) -> None:
    state, _, args = next(
        row for row in calls(3, 99) if row[0]["orders"].get(row[2]["order"], {}).get("status") == "sent"
    )
    answer = model.predict(state, "pay", args)
    assert answer.verdict == "refuse"
    found = str(model.explain(state, "pay", args))
    assert "orders[order].status is 'sent', accepted only for 'open'" in found
    assert "nearest accepted case" in found


def test_the_order_of_observations_does_not_matter_once_settled() -> None:
    rows = calls(4, 80)
    one, other = merged(rows, pays), merged(rows[::-1], pays)
    assert one.fingerprint() == other.fingerprint()
    assert one.to_json() == other.to_json()
    assert one.to_python() == other.to_python()


def test_merging_is_observing_both() -> None:
    rows = calls(5, 60)
    both = merged(rows, pays)
    one = merged(rows[:30], pays).merge(merged(rows[30:], pays))
    assert one.to_json() == both.to_json()
    assert one.fingerprint() == both.fingerprint()
    with pytest.raises(MergeRefused, match="has a vocabulary"):
        one.merge(ConservativeActionModel(Vocabulary({"a": lambda state, args: len(state)})))


def test_a_journal_replays_to_the_same_model_and_relearns_with_a_vocabulary() -> None:
    journal = open_journal()
    model = learned(calls(6, 30), pays, journal=journal)
    again = ConservativeActionModel.replay(journal)
    assert isinstance(again, InducedActionModel)
    assert again.to_json() == model.to_json()
    told = model.relearn(Vocabulary({"on": lambda state, args: state["on"]}))
    assert told.summary("pay")["transitions"] == 30


def test_the_exported_vocabulary_refuses_what_the_conditions_refuse(model: InducedActionModel) -> None:
    scope: dict[str, Any] = {}
    exec(model.to_python(), scope)
    hand = ConservativeActionModel(scope["vocabulary"])
    for state, action, args in calls(1, 260):
        hand.observe(state, action, args, pays(state, args))
    for state, action, args in calls(7, 120):
        answer = hand.predict(state, action, args)
        assert answer.verdict != ("refuse" if pays(state, args) else "accept")


def test_a_struck_condition_comes_back_with_evidence_and_a_pinned_one_falls_to_an_acceptance() -> None:
    model = InducedActionModel()
    for n in range(12):
        model.observe({"open": n % 2 == 0, "n": n}, "enter", {}, n % 2 == 0)
    assert [rule.key for rule in model.strike("enter", "domain(open)").conditions("enter")] == []
    for n in range(80):
        model.observe({"open": n % 2 == 0, "n": n}, "enter", {}, n % 2 == 0)
    assert "domain(open)" in [rule.key for rule in model.conditions("enter")]
    model = InducedActionModel()
    for n in range(6):
        model.observe({"open": True}, "enter", {"day": n}, True)
    model.pin("enter", "domain(open)")
    assert [rule.source for rule in model.conditions("enter")] == ["human"]
    assert model.predict({"open": False}, "enter", {"day": 1}).verdict == "refuse"
    model.observe({"open": False}, "enter", {"day": 1}, True)
    assert model.refuted == ("enter: domain(open)",)
    assert model.predict({"open": False}, "enter", {"day": 1}).verdict != "refuse"
    with pytest.raises(BadArgument, match="no condition that every accepted call"):
        model.pin("enter", "domain(shut)")


def test_an_outcome_that_contradicts_takes_effect_at_once() -> None:
    model = merged(calls(8, 120), pays)
    state, action, args = next(r for r in calls(9, 200) if model.predict(*r).verdict == "accept")
    model.observe(state, action, args, False)
    assert model.predict(state, action, args).verdict != "accept"
    state, action, args = next(r for r in calls(9, 200) if model.predict(*r).verdict == "refuse")
    model.observe(state, action, args, True)
    assert model.predict(state, action, args).verdict != "refuse"


def test_the_rate_of_flakes_is_that_of_its_posterior() -> None:
    model = InducedActionModel()
    for fine in range(3):
        mean, high = model.flake_rate("go")
        assert mean == pytest.approx(0.3 / (6.3 + fine))
        assert betainc(0.3, 6.0 + fine, high) == pytest.approx(0.95)
        model.observe({"at": "hall"}, "go", {"to": "yard"}, True)


def wallet(rng: random.Random, most: int) -> Call:
    """Return a call to pay for an order by some card: gift cards hold less than `most`, others no balance."""
    gifts = {f"g{n}": {"kind": "gift", "balance": rng.randrange(most)} for n in range(6)}
    cards = {**gifts, **{f"c{n}": {"kind": "card"} for n in range(6)}}
    orders = {f"A{n}": {"price": rng.randrange(60, 300)} for n in range(30)}
    return (
        {"cards": cards, "orders": orders},
        "pay",
        {"order": f"A{rng.randrange(33)}", "card": rng.choice([*cards, "x"])},
    )


def covers(state: Any, args: Any) -> bool:
    card, order = state["cards"].get(args["card"]), state["orders"].get(args["order"])
    return bool(card and order and (card["kind"] != "gift" or order["price"] <= card["balance"]))


def is_gift(call: Call) -> bool:
    return str(call[2]["card"]).startswith("g")


def test_what_stands_in_for_a_condition_does_not_refuse_what_that_would_let_pass() -> None:
    rng = random.Random(1)
    rows = [call for call in [wallet(rng, 90) for _ in range(140)] if not (is_gift(call) and covers(*call[::2]))]
    model = merged(rows, covers)  # no gift card ever covered an order: is it the kind, or the balance?
    rich = [call for call in [wallet(rng, 400) for _ in range(200)] if is_gift(call) and covers(*call[::2])]
    assert len(rich) > 20
    assert {model.predict(*call).verdict for call in rich} == {"unknown"}
    poor = [call for call in [wallet(rng, 50) for _ in range(100)] if is_gift(call) and call[2]["order"] <= "A29"]
    assert {model.predict(*call).verdict for call in poor} == {"refuse"}


def test_a_reason_met_once_that_would_have_been_foreseen_does_not_keep_everything_unknown() -> None:
    rows = [row for row in calls(12, 200) if pays(*row[::2]) or row[2]["user"] == owner_of(row)][:64]
    rows.append(next(row for row in calls(13, 200) if not pays(*row[::2]) and only_a_stranger(row)))
    model = merged(rows, pays)
    verdicts = [model.predict(*row).verdict for row in calls(14, 200) if pays(*row[::2])]
    assert verdicts.count("accept") > 0.5 * len(verdicts)


def owner_of(row: Call) -> Any:
    return row[0]["orders"].get(row[2]["order"], {}).get("owner")


def only_a_stranger(row: Call) -> bool:
    state, _, args = row
    known = owner_of(row)
    return known is not None and pays(state, {**args, "user": known})


def moved(rng: random.Random) -> Call:
    """Return a call to change a booking's days, one of them or both; a booking has two keys."""
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 7) for day in (1, 9, 17, 25)]
    spans = [sorted(rng.sample(days, 2)) for _ in range(12)]
    rows = [{"house": n % 4, "room": n // 4, "starts": span[0], "ends": span[1]} for n, span in enumerate(spans)]
    given = {name: rng.choice(days) for name in rng.choice((("starts",), ("ends",), ("starts", "ends")))}
    return {"bookings": rows}, "move", {"house": rng.randrange(4), "room": rng.randrange(4), **given}


def in_order(state: Any, args: Any) -> bool:
    keys = ("house", "room")
    held = next((row for row in state["bookings"] if all(row[key] == args[key] for key in keys)), None)
    return held is not None and {**held, **args}["starts"] < {**held, **args}["ends"]


def test_what_a_record_will_hold_is_compared_found_by_two_keys_and_as_days() -> None:
    rng = random.Random(3)
    model = merged([moved(rng) for _ in range(240)], in_order)
    words = " | ".join(rule.words for rule in model.conditions("move"))
    found = "bookings[house=house, room=room]"
    assert f"time((starts else {found}.starts)) < time((ends else {found}.ends))" in words
    verdicts = [(model.predict(*call).verdict, in_order(*call[::2])) for call in [moved(rng) for _ in range(200)]]
    assert not {("accept", False), ("refuse", True)} & set(verdicts)
    assert sum(verdict == "unknown" for verdict, _ in verdicts) < 0.1 * len(verdicts)


@pytest.mark.parametrize("accepted", [True, False])
def test_thirty_calls_alike_are_enough(accepted: bool) -> None:
    model = InducedActionModel()
    for _ in range(30):
        model.observe({"open": True}, "enter", {"door": 1}, accepted)
    verdict = model.predict({"open": True}, "enter", {"door": 1}).verdict
    assert verdict == ("accept" if accepted else "refuse")


def test_a_flake_like_many_before_keeps_nothing_from_being_accepted() -> None:
    rng, model, said = random.Random(5), InducedActionModel(), []
    for n in range(700):
        free, colour = rng.random() < 0.6, rng.choice(("red", "blue"))
        before = model.observe({"open": free, "colour": colour}, "enter", {}, free and rng.random() > 0.06)
        if n >= 400 and free:
            said.append(before.verdict)
    assert said.count("accept") > 0.95 * len(said)
    for _ in range(20):  # flakes no more: a rule has changed
        model.observe({"open": True, "colour": "red"}, "enter", {}, accepted=False)
    assert model.predict({"open": True, "colour": "red"}, "enter", {}).verdict != "accept"


@pytest.mark.nightly
def test_flakes_are_told_from_rules() -> None:
    rng = random.Random(0)
    model = merged(calls(10, 160), lambda state, args: pays(state, args) and rng.random() > 0.05)
    mean, high = model.flake_rate("pay")
    assert mean < high < 0.3
    wrong = sum(
        model.predict(state, action, args).verdict == ("refuse" if pays(state, args) else "accept")
        for state, action, args in calls(11, 150)
    )
    assert wrong == 0


def test_messages_separate_reasons_that_the_calls_do_not() -> None:
    model = InducedActionModel()
    for n in range(24):  # both conditions fail together, and neither alone
        state = {"open": n % 2 == 0, "lit": n % 2 == 0, "day": n % 5}
        model.observe(state, "enter", {}, n % 2 == 0, reason=None if n % 2 == 0 else f"door {n} is shut")
    assert len(model.conditions("enter")) == 1
    assert model.predict({"open": False, "lit": True, "day": 1}, "enter", {}).verdict == "unknown"


def test_it_asks_about_what_it_does_not_know() -> None:
    model = InducedActionModel()
    for n in range(40):
        model.observe({"open": n % 2 == 0, "lit": n % 2 == 0}, "enter", {}, n % 2 == 0)
    sure: Asked = ({"open": True, "lit": True}, "enter", {})
    open_question: Asked = ({"open": True, "lit": False}, "enter", {})
    asked = model.next_probe([sure, open_question])
    assert asked is not None
    assert asked.state is open_question[0]


def test_a_sure_refusal_is_asked_about_only_while_nothing_else_was_tried() -> None:
    model = InducedActionModel()
    sure: tuple[Any, str, dict[str, Any]] = ({"open": False}, "enter", {})
    for _ in range(40):
        model.observe({"open": False}, "enter", {}, False)
    assert model.predict(*sure).verdict == "refuse"
    asked = model.next_probe([sure])
    assert asked is not None
    assert asked.refused > 0.9
    for _ in range(40):
        model.observe({"open": True}, "enter", {}, True)
    assert model.predict(*sure).verdict == "refuse"
    assert model.next_probe([sure]) is None


def test_refusals_that_were_asked_for_do_not_vouch_for_reasons_not_met() -> None:
    def taught(*, asked: bool) -> InducedActionModel:
        model = InducedActionModel()
        for n in range(8):
            model.observe({"open": n % 2 == 0}, "enter", {}, n % 2 == 0)
        for _ in range(20):
            question = model.next_probe([({"open": False}, "enter", {})]) if asked else None
            assert (question is not None) == asked
            assert question is None or question.stands_for == 0.0
            model.observe({"open": False}, "enter", {}, False)
        return model

    by_chance, chosen = taught(asked=False), taught(asked=True)
    missed = [model._learner.judges["enter"].known.missed for model in (by_chance, chosen)]
    assert missed[0] < missed[1]


def test_what_is_refused_for_something_else_says_nothing_about_a_bound() -> None:
    model = InducedActionModel()
    for n in range(160):
        amount, mode = n % 20, ("day", "dusk")[n // 20 % 2]
        mode = "day" if amount == 12 else mode  # so that 12 was refused, but for the mode
        model.observe({"mode": mode, "day": n % 7}, "pay", {"amount": amount}, mode == "dusk" and amount >= 12)
    verdicts = [model.predict({"mode": "dusk", "day": 3}, "pay", {"amount": n}).verdict for n in (11, 12, 13)]
    assert verdicts == ["refuse", "unknown", "accept"]


def test_the_schema_names_types_and_references(model: InducedActionModel) -> None:
    found = model.schema()["pay"]
    assert found["order"]["references"] == ["orders"]
    assert found["orders[order].status"]["values"] == ["lost", "open", "sent"]
    assert found["orders[order].price"]["types"] == ["int"]


def test_what_is_not_plain_is_refused_and_changes_nothing() -> None:
    model = InducedActionModel()
    before = model.fingerprint()
    with pytest.raises(ValueRejected):
        model.observe({"a": object()}, "go", {}, True)
    with pytest.raises(BadArgument, match="reason must be a str"):
        model.observe({}, "go", {}, False, reason=3)  # type: ignore[arg-type]  # the error is what is tested
    assert model.fingerprint() == before
    assert model.predict({}, "go", {}).reason == "'go' was never observed"
    with pytest.raises(BadArgument, match="'seed'"):
        InducedActionModel(caution="seed")


@pytest.mark.nightly
def test_it_keeps_the_laws_of_action_models() -> None:
    report = check_action_model(ConservativeActionModel, TRANSITIONS, TRANSITIONS)
    assert (report["false_accepts"], report["false_refusals"]) == (0, 0)


LITERALS: list[Callable[[Any, Any], bool]] = [
    lambda s, a: s["mode"] == "auto",
    lambda s, a: s["mode"] != "off",
    lambda s, a: a["by"] == s["owner"],
    lambda s, a: a["by"] != s["owner"],
    lambda s, a: s["kind"] == "x",
    lambda s, a: a["what"] in s["have"],
    lambda s, a: s["have"].get(a["what"], {}).get("free", True),
]


@pytest.mark.nightly
@settings(deadline=None)
@given(
    clauses=st.lists(st.lists(st.integers(0, len(LITERALS) - 1), min_size=1, max_size=3), min_size=1, max_size=3),
    seed=st.integers(0, 10_000),
)
def test_in_safe_mode_nothing_is_accepted_that_is_refused(clauses: list[list[int]], seed: int) -> None:
    """A hidden rule: a conjunction of disjunctions of up to three conditions."""
    rng = random.Random(seed)

    def call() -> Call:
        have = {name: {"free": rng.random() < 0.5} for name in ("p", "q", "r") if rng.random() < 0.7}
        state = {
            "mode": rng.choice(("auto", "hand", "off")),
            "owner": rng.choice("ab"),
            "kind": rng.choice("xy"),
            "have": have,
        }
        return state, "do", {"by": rng.choice("ab"), "what": rng.choice("pqr")}

    def rule(state: Any, args: Any) -> bool:
        return all(any(LITERALS[n](state, args) for n in clause) for clause in clauses)

    model = merged([call() for _ in range(60)], rule, caution="safe")
    for _ in range(60):
        state, action, args = call()
        assert model.predict(state, action, args).verdict != "accept" or rule(state, args)
