"""An agenda at work: asking gates, running done checks, overrides, dry runs, and its journal."""

from __future__ import annotations

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import WorldMap
from surefoot.errors import AppendFailed, BadArgument, NotAttached, ValueRejected
from surefoot.journal import open_journal
from surefoot.knowledge.agenda import Agenda
from surefoot.knowledge.agenda_views import GoalView
from surefoot.protocols import Call

FILES = ["agenda.jsonl", "agenda.json", "agenda.db"]


def never(state: Any, call: Any) -> bool:
    return False


def has(name: str) -> Any:
    return lambda state: bool(state[name] > 0)


def crafting(agenda: Agenda | None = None) -> Agenda:
    agenda = agenda or Agenda()
    return agenda.goal("wood", has("wood")).goal("plank", has("plank"), requires=["wood"]).goal("fish", has("fish"))


# ── asking the gates ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_gate_sees_the_whole_call() -> None:
    agenda = Agenda().gate("no room 2", lambda state, call: call.args.get("0") != 2, blocks="go")
    assert not agenda.allows("hall", ("go", 2))
    assert agenda.allows("hall", ("go", 3))
    assert not agenda.allows("hall", Call("go", {"0": 2}))
    assert agenda.allows("hall", ("go", "2"))
    assert agenda.allows("hall", 2)


def test_it_says_whether_there_are_gates() -> None:
    agenda = Agenda()
    assert not agenda.gated
    assert agenda.gate("closed", never, blocks="go").gated


def test_asking_changes_nothing_and_copies_the_call() -> None:
    def spoil(state: Any, call: Any) -> bool:
        call.args["items"].clear()
        return True

    agenda = Agenda().gate("a", spoil, blocks="buy").gate("b", lambda s, call: bool(call.args["items"]), blocks="buy")
    action = {"name": "buy", "items": ["a"]}
    head = agenda.head
    assert all(agenda.allows("hall", action) for _ in range(3))
    assert action == {"name": "buy", "items": ["a"]}
    assert agenda.head == head


def test_what_is_no_action_is_refused() -> None:
    with pytest.raises(ValueRejected, match="a list cannot be an action"):
        Agenda().allows("hall", ["go"])


def test_a_check_may_ask_the_agenda_itself_and_another_thread_too() -> None:
    agenda = Agenda()

    def nested(state: Any, call: Any) -> Any:
        answers: list[Any] = []
        thread = threading.Thread(target=lambda: answers.append(agenda.allows(state, "other").word))
        thread.start()
        thread.join(10)
        return answers == ["approve"]

    agenda.gate("nested", nested, blocks="go")
    assert agenda.allows("hall", "go")


# ── goals ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_goals_open_one_after_the_other() -> None:
    agenda = crafting()
    state = {"wood": 0, "plank": 0, "fish": 0}
    assert agenda.open(state) == ("wood", "fish")
    assert agenda.update(state) == {}
    assert agenda.update(state | {"wood": 1}) == {"wood": (False, True)}
    assert agenda.open(state) == ("plank", "fish")
    assert agenda.update(state | {"plank": 1, "fish": 1}).done == ("plank", "fish")
    assert agenda.open(state) == ()


def test_what_is_done_before_its_turn_counts_when_its_turn_comes() -> None:
    agenda = crafting()
    assert agenda.update({"wood": 0, "plank": 1, "fish": 0}) == {}
    assert agenda.update({"wood": 1, "plank": 1, "fish": 0}).done == ("wood", "plank")


def test_a_check_that_raises_is_reported_and_leaves_the_agenda_unchanged() -> None:
    agenda = crafting()
    before, head = agenda.fingerprint(), agenda.head
    result = agenda.update({"wood": 1, "fish": 0})
    assert not result.ok
    assert result.problems == {"plank": "KeyError: 'plank'"}
    assert result == {}
    assert (agenda.fingerprint(), agenda.head) == (before, head)
    assert agenda.update({"wood": 1, "plank": 0, "fish": 0}).done == ("wood",)


def test_a_problem_does_not_run_an_override_out() -> None:
    agenda = crafting().gate("hours", never, blocks="*").override("hours", "Ann", "a drill", expires_after=1)
    assert not agenda.update({}).ok
    assert agenda.allows({}, "go")


def test_sticky_or_asked_again() -> None:
    for sticky, after in [(True, True), (False, False)]:
        agenda = crafting(Agenda(sticky=sticky))
        agenda.update({"wood": 1, "plank": 1, "fish": 1})
        result = agenda.update({"wood": 0, "plank": 1, "fish": 1})
        assert result == ({} if sticky else {"wood": (True, False), "plank": (True, False)})
        assert agenda.goals()[1].done is after
        assert agenda.verify()


def test_sticky_is_recorded(tmp_path: Path) -> None:
    with crafting(Agenda(tmp_path / "a.db", sticky=False)) as agenda:
        count = len(agenda.journal)
    with Agenda(tmp_path / "a.db") as agenda:
        assert agenda.sticky is False
        assert len(agenda.journal) == count
        agenda.sticky = False
        assert len(agenda.journal) == count
        agenda.sticky = True
        assert len(agenda.journal) == count + 1
    with Agenda(tmp_path / "a.db", sticky=False) as agenda:
        assert agenda.sticky is False
        assert len(agenda.journal) == count + 2
        assert agenda.verify()
    with pytest.raises(BadArgument, match="sticky must be True or False, got 1"):
        Agenda(sticky=1)  # type: ignore[arg-type]  # wrong on purpose


def test_gates_keep_goals_closed() -> None:
    agenda = Agenda().gate("day", lambda state, call: state == "day" and call is None)
    agenda.goal("fish", has("fish"), gates=["day"]).goal("wood", has("wood"))
    assert agenda.open("night") == ("wood",)
    assert agenda.open("day") == ("fish", "wood")
    view = agenda.goals("night")[0]
    assert view == GoalView("fish", gates=("day",), reasons=("gate 'day': says no",), attached=True)
    agenda.gate("all shut", lambda state, call: state["x"], blocks_goals="*")
    assert agenda.open("day") == ()
    assert "could not be asked: TypeError" in agenda.goals("day")[1].reasons[0]
    assert [goal.open for goal in agenda.goals()] == [True, True]
    agenda.override("all shut", "Ann", "a drill")
    assert agenda.open("day") == ("fish", "wood")


def test_reopening_goals() -> None:
    agenda = crafting()
    agenda.update({"wood": 1, "plank": 1, "fish": 0})
    head = agenda.head
    assert agenda.reopen(["fish"]).head == head
    assert agenda.reopen(["plank"], "it broke").open({}) == ("plank", "fish")
    assert agenda.new_episode().open({}) == ("wood", "fish")
    head = agenda.head
    assert agenda.new_episode().head == head
    bad: list[Any] = [["nowhere"], [7]]
    for wrong in bad:
        with pytest.raises(ValueError, match=r"reopen names \['nowhere'\]|must be a str, got 7"):
            agenda.reopen(wrong)


def test_steps_are_checked() -> None:
    for wrong in (-1, 1.0, True):
        with pytest.raises(BadArgument, match="steps must be an int >= 0"):
            Agenda().update({}, steps=wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_checks_are_asked_again_when_the_agenda_changes_meanwhile() -> None:
    agenda = Agenda()
    asked = []

    def done(state: Any) -> bool:
        asked.append(state)
        if len(asked) == 1:
            agenda.goal("late", has("late"))
        return True

    agenda.goal("early", done)
    assert agenda.update({"late": 1}).done == ("early", "late")
    assert len(asked) == 2


@pytest.mark.untraced
def test_what_others_write_to_the_same_journal_does_not_matter() -> None:
    journal = open_journal()
    world = WorldMap(journal=journal, stream="map")
    agenda = Agenda(journal=journal)

    def done(state: Any) -> bool:
        world.arrive(state, "on", state + 1)
        return True

    agenda.goal("walked", done)
    assert agenda.update(1).done == ("walked",)
    assert world.claim(1, "on") is not None
    assert agenda.verify()
    assert world.verify()


# ── overrides ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_override_is_recorded_and_ends_after_some_updates(tmp_path: Path) -> None:
    with crafting(Agenda(tmp_path / "a.db")).gate("hours", never, blocks="*") as agenda:
        agenda.override("hours", "Ann", "a drill", expires_after=3)
        state = {"wood": 0, "plank": 0, "fish": 0}
        assert agenda.update(state).expired == ()
        view = agenda.gates()[0]
        assert (view.overridden_by, view.updates_left, view.steps_left) == (("Ann", "a drill"), 2, None)
    with crafting(Agenda(tmp_path / "a.db")).gate("hours", never, blocks="*") as agenda:
        assert agenda.gates()[0] == view
        assert agenda.update(state).expired == ()
        decision = agenda.allows(state, "go")
        assert decision
        assert decision.overridden == (("hours", "Ann", "a drill"),)
        assert agenda.update(state).expired == ("hours",)
        assert not agenda.allows(state, "go")
        count = len(agenda.journal)
        assert agenda.update(state).expired == ()
        assert len(agenda.journal) == count, "nothing runs out any more, so nothing is recorded"
        assert agenda.verify()


def test_an_override_ends_after_some_steps() -> None:
    agenda = Agenda().gate("hours", never, blocks="*")
    agenda.override("hours", "Ann", "a drill", expires_after=10, unit="steps")
    agenda.update(0, steps=0)
    agenda.update(0, steps=9)
    assert agenda.gates()[0].steps_left == 1
    assert agenda.update(0, steps=1).expired == ("hours",)


def test_an_override_without_an_end_lasts_until_it_is_cleared() -> None:
    agenda = Agenda().gate("hours", never, blocks="*").override("hours", "Ann", "a drill")
    count = len(agenda.journal)
    agenda.update(0, steps=1_000)
    assert len(agenda.journal) == count
    assert agenda.allows(0, "go")
    assert agenda.clear_override("hours", "Ann", "it is over")
    assert not agenda.clear_override("hours")
    assert not agenda.allows(0, "go")


def test_an_override_may_be_for_some_calls_only() -> None:
    agenda = Agenda().gate("hours", never, blocks="*")
    agenda.override("hours", "Ann", "this one", calls=[("go", 2), "look*"])
    allowed = [bool(agenda.allows(0, call)) for call in (("go", 2), ("go", 3), "go", "look_around")]
    assert allowed == [True, False, False, True]
    agenda.override("hours", "Bob", "another one", calls="go")
    assert [bool(agenda.allows(0, call)) for call in (("go", 2), "look_around")] == [True, False]


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"gate": "hors"}, BadArgument, r"override names \['hors'\], but the gates declared are \['hours'\]"),
        ({"who": ""}, BadArgument, "who must not be empty"),
        ({"who": 7}, ValueRejected, "who must be a str, got 7"),
        ({"why": " "}, BadArgument, "why must not be empty"),
        ({"expires_after": 0}, BadArgument, "expires_after must be an int >= 1 or None, got 0"),
        ({"expires_after": 1.5}, BadArgument, "expires_after must be an int >= 1 or None, got 1.5"),
        ({"unit": "days"}, BadArgument, "unit must be 'updates' or 'steps', got 'days'"),
        ({"calls": len}, BadArgument, "calls takes names, globs and whole calls"),
    ],
)
def test_an_override_is_checked(wrong: dict[str, Any], error: Any, message: str) -> None:
    agenda = Agenda().gate("hours", never, blocks="*")
    head = agenda.head
    with pytest.raises(error, match=message):
        agenda.override(**{"gate": "hours", "who": "Ann", "why": "a drill", **wrong})
    with pytest.raises(BadArgument, match="clear_override names"):
        agenda.clear_override("hors")
    assert agenda.head == head


# ── dry runs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_dry_run_says_what_would_have_been_blocked() -> None:
    agenda = (
        Agenda().gate("cap", lambda state, call: call.args["n"] <= state, blocks="buy").gate("no", never, blocks="x")
    )
    successes: list[Any] = [(3, {"name": "buy", "n": n}) for n in (1, 3, 5)] + [
        (0, "x"),
        (0, "y"),
        [0, {"name": "buy"}],
    ]
    run = agenda.dry_run(successes)
    assert (run.calls, [b.place for b in run.blocked]) == (6, [2, 3, 5])
    assert [b.decision.word for b in run.blocked] == ["reject", "reject", "escalate"]
    assert run.by_gate() == {"cap": 2, "no": 1}
    assert agenda.dry_run(successes, gates=["no"]).by_gate() == {"no": 1}
    agenda.override("no", "Ann", "a drill")
    assert agenda.dry_run(iter(successes), gates=["no"]).by_gate() == {"no": 1}
    with pytest.raises(BadArgument, match=r"dry_run names \['nowhere'\]"):
        agenda.dry_run([], gates=["nowhere"])
    with pytest.raises(BadArgument, match=r"recorded success 1 must be a pair \(state, action\), got 'go'"):
        agenda.dry_run([(1, "go"), "go"])  # type: ignore[list-item]  # wrong on purpose


# ── the journal ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", FILES)
def test_everything_is_restored(tmp_path: Path, name: str) -> None:
    with crafting(Agenda(tmp_path / name)).gate("hours", never, blocks="buy*") as agenda:
        agenda.update({"wood": 1, "plank": 0, "fish": 0})
        agenda.override("hours", "Ann", "a drill", expires_after=5)
        fingerprint, head = agenda.fingerprint(), agenda.head
    with Agenda(tmp_path / name) as agenda:
        assert (agenda.fingerprint(), agenda.head) == (fingerprint, head)
        assert agenda.verify(head=head)
        assert agenda.goals()[0].done
        assert agenda.gates()[0].overridden_by == ("Ann", "a drill")


def test_a_snapshot_is_plain_and_says_what_is_open() -> None:
    agenda = crafting().gate("hours", never, blocks="buy*", blocks_goals="fish").override("hours", "Ann", "a drill")
    agenda.update({"wood": 1, "plank": 0, "fish": 0})
    shot = agenda.snapshot({"wood": 0})
    assert shot == {
        "goals": {"wood": True, "plank": False, "fish": False},
        "open": ["plank", "fish"],
        "gates": ["hours"],
        "overrides": {"hours": ["Ann", "a drill"]},
        "sticky": True,
        "fingerprint": agenda.fingerprint(),
        "head": str(agenda.head),
    }
    agenda.clear_override("hours")
    assert agenda.snapshot({"wood": 0})["open"] == ["plank"]
    assert agenda.snapshot()["open"] == ["plank", "fish"]


def test_every_past_can_be_rebuilt() -> None:
    agenda = crafting().gate("hours", never, blocks="*")
    prints = [agenda.fingerprint()]
    agenda.update({"wood": 1, "plank": 0, "fish": 0})
    prints.append(agenda.fingerprint())
    agenda.override("hours", "Ann", "a drill", 2)
    prints.append(agenda.fingerprint())
    agenda.update({"wood": 1, "plank": 0, "fish": 0})
    prints.append(agenda.fingerprint())
    count = len(agenda.journal)
    assert [agenda.rebuild(count - n).fingerprint() for n in (3, 2, 1, 0)] == prints
    assert len(set(prints)) == 4
    past = agenda.rebuild(2)
    assert [view.name for view in past.goals()] == ["wood"]
    assert past.update({"wood": 1}).done == ("wood",), "its functions are attached"
    assert agenda.rebuild().fingerprint() == agenda.fingerprint()
    for wrong in (-1, count + 1, 1.0):
        with pytest.raises(BadArgument, match="rebuild"):
            agenda.rebuild(wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_copies_are_independent() -> None:
    agenda = crafting().gate("hours", never, blocks="*")
    for twin in (copy.deepcopy(agenda), copy.copy(agenda)):
        twin.update({"wood": 1, "plank": 1, "fish": 1})
        assert not twin.allows(1, "go")
        assert not agenda.goals()[0].done
    loaded = pickle.loads(pickle.dumps(agenda))
    assert loaded.fingerprint() == agenda.fingerprint()
    with pytest.raises(NotAttached):
        loaded.allows(1, "go")
    crafting(loaded).update({"wood": 1, "plank": 1, "fish": 1})
    assert not agenda.goals()[0].done
    assert repr(agenda) == "<Agenda in memory: 3 goals, 1 gates>"


def test_a_failed_write_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    agenda = crafting()
    before = agenda.fingerprint()

    def full(build: Any) -> None:
        raise AppendFailed("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(agenda.journal.backend, "extend", full)
        for change in (
            lambda: agenda.goal("axe", has("axe")),
            lambda: agenda.gate("hours", never),
            lambda: agenda.update({"wood": 1, "plank": 0, "fish": 0}),
            lambda: agenda.drop_goal("fish"),
        ):
            with pytest.raises(AppendFailed):
                change()
    assert agenda.fingerprint() == before
    assert agenda.verify()
    assert crafting(agenda).update({"wood": 1, "plank": 0, "fish": 0}).done == ("wood",)


def test_two_agendas_on_one_journal_keep_in_step() -> None:
    journal = open_journal()
    one, other = crafting(Agenda(journal=journal)), crafting(Agenda(journal=journal))
    apart = Agenda(journal=journal, stream="apart")
    one.update({"wood": 1, "plank": 0, "fish": 0})
    assert other.open({}) == ("plank", "fish")
    assert other.fingerprint() == one.fingerprint()
    assert apart.goals() == ()
    with pytest.raises(BadArgument, match="not both"):
        Agenda("somewhere", journal=journal)


def test_threads_lose_nothing() -> None:
    agenda = Agenda()

    def work(number: int) -> None:
        for n in range(10):
            agenda.goal(f"{number}-{n}", has("x")).gate(f"{number}-{n}", never, blocks="buy")
            agenda.update({"x": 0})
            agenda.allows({}, "buy")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(agenda.goals()), len(agenda.gates())) == (40, 40)
    assert len(agenda.update({"x": 1}).done) == 40
    assert agenda.verify()


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("goal"), st.integers(0, 3), st.integers(0, 2), st.lists(st.integers(0, 3), max_size=2)),
        st.tuples(st.just("gate"), st.integers(0, 2), st.booleans()),
        st.tuples(st.just("update"), st.integers(0, 4), st.integers(0, 3)),
        st.tuples(st.just("reopen")),
        st.tuples(st.just("sticky"), st.booleans()),
        st.tuples(st.just("override"), st.integers(0, 2), st.none() | st.integers(1, 3), st.booleans()),
        st.tuples(st.just("clear"), st.integers(0, 2)),
        st.tuples(st.just("drop"), st.booleans(), st.integers(0, 3)),
    ),
    max_size=25,
)


def above(limit: int) -> Any:
    return lambda state: state > limit


def make_change(agenda: Agenda, change: Any) -> None:
    match change:
        case ("goal", n, limit, requires):
            agenda.goal(f"g{n}", above(limit), requires=[f"g{m}" for m in requires], replace=True)
        case ("gate", n, strict):
            agenda.gate(f"h{n}", never if strict else lambda s, c: True, blocks="go", replace=True)
        case ("update", state, steps):
            agenda.update(state, steps=steps)
        case ("reopen",):
            agenda.reopen()
        case ("sticky", sticky):
            agenda.sticky = sticky
        case ("override", n, after, steps):
            agenda.override(f"h{n}", "Ann", "why", after, unit="steps" if steps else "updates")
        case ("clear", n):
            agenda.clear_override(f"h{n}")
        case ("drop", goal, n):
            agenda.drop_goal(f"g{n}") if goal else agenda.drop_gate(f"h{n}")


@given(CHANGES)
def test_live_reopened_and_rebuilt_are_the_same(changes: Any) -> None:
    journal = open_journal()
    agenda = Agenda(journal=journal)
    prints = {0: agenda.fingerprint()}
    for change in changes:
        before = agenda.fingerprint()
        try:
            make_change(agenda, change)
        except BadArgument:
            assert agenda.fingerprint() == before
        prints[len(journal)] = agenda.fingerprint()
        done = {view.name: view.done for view in agenda.goals()}
        if agenda.sticky is False and change[0] == "update":
            assert all(all(done[r] for r in view.requires) for view in agenda.goals() if view.done)
    assert Agenda(journal=journal).fingerprint() == agenda.fingerprint()
    assert agenda.verify()
    for place, fingerprint in prints.items():
        if place:
            assert agenda.rebuild(place).fingerprint() == fingerprint


def test_goals_of_a_state_that_is_only_thought_of() -> None:
    agenda = Agenda().goal("wood", lambda s: s["wood"] > 0).goal("axe", lambda s: s["axes"] > 0, requires=["wood"])
    head = agenda.head
    assert agenda.would({"wood": 1, "axes": 1}) == ("wood", "axe")
    assert agenda.would({"wood": 0, "axes": 1}) == ("axe",)  # what it requires is not asked
    assert agenda.would({"wood": 1}) == ("wood",)  # a check that cannot answer counts as no
    assert agenda.would({"wood": 1}, ["axe"]) == ()
    assert agenda.head == head
    with pytest.raises(BadArgument, match="would names"):
        agenda.would({}, ["gold"])
    with pytest.raises(NotAttached):
        Agenda(journal=agenda.journal).would({})


def test_refreshing_folds_the_journal_again_and_changes_nothing() -> None:
    agenda = Agenda().goal("wood", lambda s: s > 0)
    assert agenda.update(1).done == ("wood",)
    before = agenda.fingerprint()
    agenda.refresh()
    assert agenda.fingerprint() == before
    assert agenda.verify()
