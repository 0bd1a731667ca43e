from __future__ import annotations

from surefoot import WorldMap
from surefoot.agent.decision import Option
from surefoot.agent.experience import ExperienceFold, Running
from surefoot.agent.situation import Situation, conclude, situation_of
from surefoot.agent.ways import Ways


def here(
    *options: Option, known: WorldMap | None = None, running: Running | None = None, fold: ExperienceFold | None = None
) -> Situation:
    place = "a", b'"a"'
    running = running or Running(0, "main", b'"a"')
    return situation_of(place, ("",), options, known or WorldMap(), fold or ExperienceFold(), running, Ways())


def test_what_was_barred_elsewhere_is_left_out_and_a_failure_only_for_a_while() -> None:
    running = Running(0, "main", b'"a"')
    running.bar((b'"b"', b'"x"'), ("gate", "closed"))
    running.bar((b'"c"', b'"x"'), ("failed", "lately"))
    assert here(running=running).without == [("b", "x"), ("c", "x")]
    running.steps = 3
    assert here(running=running).without == [("b", "x")]
    running.bar((b'"b"', b'"x"'), None)
    assert here(running=running).without == []


def test_what_is_barred_here_is_left_out_unless_the_map_holds_it_for_refused() -> None:
    fold = ExperienceFold()
    fold.refused.add(("main", b'"a"', b'"y"'))
    shut = Option("x", gate=("reject", "no")), Option("y", "refuse", choice="avoid")
    situation = here(*shut, fold=fold)
    assert situation.without == [("a", "x")]
    assert situation.barred == [("a", "x"), ("a", "x"), ("a", "y")]
    assert situation.option("x") is None
    assert situation.option("z") is None


def test_a_cycle_is_barred_unless_it_may_be_chance() -> None:
    running, fold = Running(0, "main", b'"a"'), ExperienceFold()
    for _ in range(3):
        running.walk((b'"a"', b'"x"', b'"a"'))
    fold.runs["main", b'"a"', b'"x"'] = [[b'"b"', 1], [b'"a"', 3]]
    assert here(Option("x"), running=running, fold=fold).blocked == {
        b'"x"': ("loop", "it was done three times over, and led nowhere")
    }
    assert not here(Option("x"), running=running, fold=fold, known=WorldMap(stochastic=True)).blocked


def test_a_way_does_not_begin_with_what_is_barred_here() -> None:
    known, fold = WorldMap(), ExperienceFold()
    known.arrive("a", "x", "b")
    known.arrive("a", "y", "c")
    known.arrive("c", "z", "b")
    fold.targets["main"] = {"": {b'"b"': None, b'"a"': None}}
    assert here(Option("x"), Option("y"), known=known, fold=fold).way("") == "x"
    fold.refused.add(("main", b'"a"', b'"x"'))
    assert here(Option("x", failed="lately"), Option("y"), known=known, fold=fold).way("") == "y"
    assert here(known=known, fold=fold).way("wood") is None


def test_why_there_is_nothing_to_do() -> None:
    fold = ExperienceFold()
    fold.refused.add(("main", b'"a"', b'"x"'))
    assert conclude(here()).why == "nothing is on offer"
    assert conclude(here(Option("x", "refuse", choice="avoid"), fold=fold)).rule == "nothing left"
    assert conclude(here(Option("x", "refuse", choice="avoid"))).rule == "blocked"
    assert conclude(here(Option("x", "unknown", hard=True))).rule == "unsure"
    assert conclude(here(Option("x", gate=("terminate", "fire")))).rule == "terminated"
    running = Running(0, "main", b'"a"')
    running.bar((b'"b"', b'"x"'), ("gate", "closed"))
    assert conclude(here(running=running)).why == "closed"
    assert here(Option("x", failed="lately"), fold=fold).kinds == {"failed"}
