"""Declaring once, attaching after reopening, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.errors import BadArgument, NotAttached, ValueRejected
from surefoot.journal import open_journal
from surefoot.knowledge import agenda_declaring
from surefoot.knowledge.agenda import Agenda
from surefoot.protocols import Call


def more(limit: int) -> Callable[[Any], bool]:
    return lambda state: bool(state > limit)


def never(state: Any, call: Any) -> bool:
    return False


def always(state: Any, call: Any) -> bool:
    return True


def declare(agenda: Agenda) -> Agenda:
    agenda.gate("hours", never, blocks=["buy*", ("go", 2), lambda call: "x" in call.args], trigger=always)
    agenda.goal("wood", more(0)).goal("plank", more(1), requires=["wood"], gates=["hours"])
    return agenda


def attached(agenda: Agenda) -> list[bool]:
    return [goal.attached for goal in agenda.goals()] + [gate.attached for gate in agenda.gates()]


# ── once ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_second_declaration_with_the_same_content_is_no_entry(tmp_path: Path) -> None:
    with declare(Agenda(tmp_path / "agenda.db")) as agenda:
        count = len(agenda.journal)
        assert declare(agenda) is agenda
        assert len(agenda.journal) == count == 4
    for _ in range(3):
        with declare(Agenda(tmp_path / "agenda.db")) as agenda:
            assert len(agenda.journal) == count
            assert all(attached(agenda))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda a, **k: a.goal("plank", more(2), requires=["wood"], gates=["hours"], **k), "done"),
        (lambda a, **k: a.goal("plank", more(1), gates=["hours"], **k), "requires"),
        (lambda a, **k: a.goal("plank", more(1), requires=["wood"], **k), "gates"),
        (lambda a, **k: a.gate("hours", always, blocks="buy*", **k), "blocks, check, trigger"),
        (lambda a, **k: a.gate("plain", always, **k), "check"),
        (lambda a, **k: a.gate("plain", never, blocks_goals="wood", **k), "blocks_goals"),
        (lambda a, **k: a.gate("plain", never, blocks=(1).__eq__, **k), "blocks"),
    ],
)
def test_another_declaration_under_the_same_name_is_an_error_or_replaces(change: Any, part: str) -> None:
    agenda = declare(Agenda()).gate("plain", never)
    agenda.update(5)
    before, head = agenda.fingerprint(), agenda.head
    with pytest.raises(BadArgument, match=f"is declared already, with something else in: {part}; .*replace=True"):
        change(agenda)
    assert (agenda.fingerprint(), agenda.head) == (before, head)
    assert all(attached(agenda))
    change(agenda, replace=True)
    assert agenda.fingerprint() != before
    assert agenda.verify()
    count = len(agenda.journal)
    change(agenda)
    assert len(agenda.journal) == count


def test_a_goal_that_is_declared_anew_is_not_done_and_keeps_its_place() -> None:
    agenda = Agenda().goal("wood", more(0)).goal("axe", more(0))
    assert agenda.update(1).done == ("wood", "axe")
    agenda.goal("wood", more(5), replace=True)
    assert [(view.name, view.done) for view in agenda.goals()] == [("wood", False), ("axe", True)]


def test_a_gate_that_is_declared_anew_is_not_overridden() -> None:
    agenda = Agenda().gate("hours", never, blocks="*").override("hours", "Ann", "a drill")
    assert agenda.allows(0, "go")
    agenda.gate("hours", lambda state, call: "still closed", blocks="*", replace=True)
    assert not agenda.allows(0, "go")


def test_the_very_same_functions_are_the_same_whatever_they_remember() -> None:
    seen: list[Any] = []

    def check(state: Any, call: Any) -> bool:
        seen.append(call)
        return True

    def done(state: Any) -> bool:
        seen.append(state)
        return False

    def blocks(call: Call) -> bool:
        seen.append(call)
        return True

    agenda = Agenda().gate("g", check, blocks=blocks, trigger=check).goal("wood", done)
    agenda.update(1)
    assert agenda.allows(1, "go")
    head = agenda.head
    assert agenda.gate("g", check, blocks=blocks, trigger=check).goal("wood", done).head == head
    with pytest.raises(BadArgument, match="blocks"):
        agenda.gate("g", check, blocks=[blocks, "go"], trigger=check)
    with pytest.raises(BadArgument, match="trigger"):
        agenda.gate("g", check, blocks=blocks)
    with pytest.raises(BadArgument, match="requires"):
        agenda.goal("axe", more(1)).goal("wood", done, requires=["axe"])


def test_a_declaration_of_another_python_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(agenda_declaring, "_PYTHON", "3.9")
        agenda = Agenda().goal("wood", more(0))
        other = Agenda(journal=agenda.journal)
    this = f"{sys.version_info[0]}.{sys.version_info[1]}"
    with pytest.raises(BadArgument, match=rf"python \(it was under Python 3.9, this is {this}: their bytecode cannot"):
        other.goal("wood", more(0))
    assert agenda.update(1).done == ("wood",)


# ── validation ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("declaring", "error", "message"),
    [
        (lambda a: a.goal("new", 7), ValueRejected, "goal 'new': done must be a function, got 7"),
        (lambda a: a.goal("", more(1)), BadArgument, "name must not be empty"),
        (lambda a: a.goal(7, more(1)), ValueRejected, "name must be a str, got 7"),
        (lambda a: a.goal("new", more(1), requires="wood"), ValueRejected, r"wrap it, \['wood'\]"),
        (lambda a: a.goal("new", more(1), requires=7), ValueRejected, "requires must be a collection of names, got 7"),
        (
            lambda a: a.goal("new", more(1), requires=["wod"]),
            BadArgument,
            r"requires \['wod'\], but the goals declared",
        ),
        (lambda a: a.goal("new", more(1), requires=["new"]), BadArgument, "goal 'new' requires itself"),
        (lambda a: a.goal("new", more(1), gates=["wood"]), BadArgument, r"has the gates \['wood'\], but the gates"),
        (
            lambda a: a.goal("wood", more(0), requires=["plank"], replace=True),
            BadArgument,
            "goal 'wood' would close a circle, .*(wood -> plank|plank -> wood)",
        ),
        (lambda a: a.gate("new", "never"), ValueRejected, "gate 'new': check must be a function, got 'never'"),
        (lambda a: a.gate("new", never, trigger=1), ValueRejected, "gate 'new': trigger must be a function"),
        (lambda a: a.gate(None, never), ValueRejected, "name must be a str, got None"),
        (lambda a: a.gate("new", never, blocks=""), BadArgument, "gate 'new': blocks holds an empty name"),
        (lambda a: a.gate("new", never, blocks=7), ValueRejected, "gate 'new': blocks must be a name"),
        (
            lambda a: a.gate("new", never, blocks_goals=len),
            BadArgument,
            "blocks_goals takes names, globs and whole calls",
        ),
        (lambda a: a.gate("new", never, blocks_goals=[1]), ValueRejected, "blocks_goals takes names and globs, got"),
        (lambda a: a.drop_goal("wod"), BadArgument, r"drop_goal names \['wod'\]"),
        (lambda a: a.drop_goal(["wood"]), BadArgument, r"drop_goal names \[\['wood'\]\]"),
        (lambda a: a.drop_goal("wood"), BadArgument, r"goal 'wood' is required by \['plank'\]"),
        (lambda a: a.drop_goal("plank", 7), ValueRejected, "why must be a str, got 7"),
        (lambda a: a.drop_gate("wood"), BadArgument, r"drop_gate names \['wood'\]"),
        (lambda a: a.drop_gate("hours"), BadArgument, r"gate 'hours' is named by the goals \['plank'\]"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(declaring: Any, error: Any, message: str) -> None:
    agenda = declare(Agenda())
    before, head = agenda.fingerprint(), agenda.head
    with pytest.raises(error, match=message):
        declaring(agenda)
    assert (agenda.fingerprint(), agenda.head) == (before, head)


def test_goals_and_gates_have_names_of_their_own() -> None:
    agenda = Agenda().gate("wood", never, blocks="wood").goal("wood", more(0))
    assert agenda.open(0) == ("wood",)
    assert not agenda.allows(0, "wood")
    agenda.gate("no wood", never, blocks_goals="w*")
    assert agenda.open(0) == ()
    assert agenda.allows(0, "water")


def test_dropping() -> None:
    agenda = declare(Agenda())
    agenda.drop_goal("plank").drop_gate("hours", "open all day")
    assert [view.name for view in agenda.goals()] == ["wood"]
    assert agenda.gates() == ()
    assert agenda.rebuild(4).gates()[0].attached
    assert agenda.verify()


# ── reopening ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_not_attached_says_how_to_mend_it(tmp_path: Path) -> None:
    with declare(Agenda(tmp_path / "agenda.jsonl")) as agenda:
        agenda.update(1)
    with Agenda(tmp_path / "agenda.jsonl") as agenda:
        assert [(view.name, view.done, view.attached) for view in agenda.goals()] == [
            ("wood", True, False),
            ("plank", False, False),
        ]
        with pytest.raises(
            NotAttached, match=r"goal 'plank' was declared in another run.*agenda.goal\('plank', done=…\)"
        ):
            agenda.update(2)
        for call in ("buy", ("go", 2), "sell"):  # "sell": the function in `blocks` cannot be asked
            with pytest.raises(
                NotAttached, match=r"gate 'hours' was declared in another run.*agenda.drop_gate\('hours'\)"
            ):
                agenda.allows(1, call)
        with pytest.raises(NotAttached):
            agenda.open(1)
        with pytest.raises(NotAttached):
            agenda.dry_run([(1, "buy")])
        declare(agenda)
        assert agenda.update(2).done == ("plank",)
        assert not agenda.allows(1, "buy")


def test_what_is_not_needed_need_not_be_attached() -> None:
    journal = open_journal()
    agenda = Agenda(journal=journal).gate("hours", never, blocks="buy*").goal("wood", more(0))
    agenda.update(1)
    other = Agenda(journal=journal)
    assert other.allows(1, "go")
    assert other.update(1) == {}
    assert other.open(1) == ()


def test_functions_of_a_declaration_that_was_replaced_elsewhere_are_not_used() -> None:
    journal = open_journal()
    one = Agenda(journal=journal).gate("hours", never, blocks="*").goal("wood", more(0))
    other = Agenda(journal=journal)
    other.gate("hours", always, blocks="*", replace=True).goal("wood", more(9), replace=True)
    with pytest.raises(NotAttached, match="gate 'hours' was declared anew elsewhere"):
        one.allows(1, "go")
    with pytest.raises(NotAttached, match="goal 'wood' was declared anew elsewhere"):
        one.update(1)
    assert not any(attached(one))
    assert other.allows(1, "go")
