from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from surefoot import testing
from surefoot.environments.corridor import Corridor
from surefoot.environments.from_gymnasium import FromGymnasium
from surefoot.errors import BadArgument, ContractBroken, MissingExtra, WorldUnavailable
from surefoot.protocols import Environment, Outcome, moved, refused
from surefoot.testing import EnvironmentContract, check_environment
from surefoot.testing._checks import REPLAYED
from surefoot.testing.environments import Report
from surefoot.testing.honest import Hallway, Windy
from surefoot.testing.laws import ALWAYS, Law
from surefoot.testing.liars import LIARS

FEW: dict[str, Any] = {"steps": 12, "long": 40, "examples": 4}


def breach_of(make: Callable[[], Any], **options: Any) -> str:
    with pytest.raises(ContractBroken) as caught:
        check_environment(make, **options)
    return str(caught.value)


def actions_in(report: str) -> list[str]:
    return re.findall(r"^    step\((.*?)\) +-> ", report, re.MULTILINE)


# ── the report ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_report_is_true_and_a_mapping() -> None:
    report = check_environment(Corridor)
    assert report
    assert dict(report) == {
        "seeds": 2,
        "steps": report.steps,
        "deterministic": True,
        "runs": 27,
        "refusals": report.tried[Law.REFUSED],
        "faults": 0,
    }
    assert len(report) == 6
    assert 1_000 < report.steps < 2_000
    assert report["refusals"] > 100
    with pytest.raises(KeyError):
        report["clones"]


def test_every_law_was_tried_or_there_is_a_reason() -> None:
    report = check_environment(Corridor, **FEW)
    assert set(report.tried) | set(report.untried) == set(Law)
    assert all(report.tried.values())
    assert report.untried == {
        Law.FAULTS: "no fault was met",
        Law.OFFERED: "not asked for: offered=True",
        Law.SIGNS: "it is not Signposted",
        Law.DESCRIPTIONS: "it is not Describable",
        Law.CLOSING: "it is not Closable",
        Law.CLONES: "no clone was given",
    }


def test_a_report_reads_as_a_table() -> None:
    lines = str(check_environment(Corridor, **FEW)).splitlines()
    assert re.fullmatch(
        r"Corridor keeps the laws of an environment \(2 seeds, 6 runs, \d+ steps, \d+ refusals, 0 faults\)\.", lines[0]
    )
    assert lines[2].split() == ["law", "tried"]
    assert [line[4:49].strip() for line in lines[3:]] == [law.value for law in Law]
    assert lines[-1].endswith("-  no clone was given")


def test_the_same_check_finds_the_same() -> None:
    assert check_environment(Windy, **FEW) == check_environment(Windy, **FEW)
    liar = LIARS["a lock after three refusals"].world
    some: dict[str, Any] = {"steps": 20, "long": 50, "examples": 3}
    report = breach_of(liar, **some)
    assert report == breach_of(liar, **some)
    assert actions_in(report) in (["'left'"] * 3 + ["'right'"] * 4, ["'left'"] * 4 + ["'right'"] * 4)


def test_the_dice_of_others_are_left_alone() -> None:
    before = random.getstate()
    check_environment(Corridor, **FEW)
    assert random.getstate() == before


# ── the shortest run ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("a refusal that moves", ["'left'"]),
        ("nan in one state", ["'right'", "'right'"]),
        ("an action offered twice", ["'right'", "'right'"]),
        ("a step after the end", ["'right'"] * 4),
        ("a token that lives", ["'right'"]),
        ("closing twice", []),
    ],
)
def test_the_run_that_is_told_is_the_shortest(name: str, run: list[str]) -> None:
    liar = LIARS[name]
    assert actions_in(breach_of(liar.world, seeds=[0], steps=30, long=50, examples=6, **liar.options)) == run


def test_randomness_after_step_31_takes_32_steps_to_see() -> None:
    assert "has 32 steps:" in breach_of(LIARS["random outcomes after step 31"].world, long=40, examples=1)


class Trap(Hallway):
    """Raise where the walk comes from cell 2 back to cell 1, and then waits."""

    def reset(self, seed: int | None = None) -> Any:
        self.past: list[Any] = []
        return super().reset(seed)

    def take(self, action: Any) -> Any:
        self.past = [*self.past[-3:], action]
        if self.past[-3:] == ["right", "left", "wait"] and self.cell == 1:
            raise ZeroDivisionError("caught")
        return super().take(action)


def test_shrinking_gives_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    liar = LIARS["random outcomes after step 31"]
    monkeypatch.setattr("surefoot.testing._search._MOST_TRIES", 3)
    steps = len(actions_in(breach_of(liar.world, examples=2, long=30 + 9)))
    assert 32 <= steps <= 39


def test_no_action_of_the_run_can_be_left_out() -> None:
    report = breach_of(Trap, long=60, examples=10)
    assert actions_in(report) == ["'right'", "'right'", "'left'", "'wait'"] or (
        "seed=1" in report and actions_in(report) == ["'right'", "'left'", "'wait'"]
    )
    assert "happened: step('wait') raised ZeroDivisionError: caught" in report
    assert report.startswith('Trap breaks the law "every step returns an Outcome".')


class Wide(Hallway):
    """Have many actions, of which one is a lie."""

    def actions(self, state: Any) -> Any:
        return list(range(60))

    def take(self, action: Any) -> Any:
        self.cell = action
        return moved(self.state(), effect={1, 2} if action == 55 else None)

    def signs(self, state: Any) -> Any:
        return []

    length = -1


def test_each_of_many_actions_is_taken_in_the_long_run() -> None:
    report = breach_of(Wide, long=60, examples=1, steps=2, seeds=[0])
    assert actions_in(report) == ["55"]
    assert "the effect is {1, 2}" in report
    assert check_environment(Wide, long=40, examples=1, steps=2, seeds=[0]), "a shorter run does not come to it"


class Often(Hallway):
    """Refuse to another cell from step 3 on."""

    def reset(self, seed: int | None = None) -> Any:
        self.count = 0
        return super().reset(seed)

    def take(self, action: Any) -> Any:
        self.count += 1
        return refused(3 - self.cell) if self.count > 2 else super().take(action)


def test_the_first_law_is_told_with_a_run_and_the_others_by_name() -> None:
    report = breach_of(Often, **FEW)
    assert report.startswith('Often breaks the law "a refused step leaves the state as it was".')
    assert len(actions_in(report)) == 3
    assert 'Broken too:\n    "' in report


# ── what is passed on, and what is let go of ────────────────────────────────────────────────────────────────────────


def test_a_world_that_is_not_there_breaks_no_law() -> None:
    class Gone(Corridor):
        steps = 0

        def step(self, action: str) -> Outcome[int]:
            Gone.steps += 1
            if Gone.steps > 150:
                raise WorldUnavailable("the disk was pulled out")
            return super().step(action)

    for _ in range(2):  # in the long run, then in a run that is drawn
        with pytest.raises(WorldUnavailable, match="pulled out"):
            check_environment(Gone, long=3, seeds=[0])
        Gone.steps = 100


def test_an_interrupt_is_passed_on() -> None:
    class Slow(Corridor):
        def step(self, action: str) -> Outcome[int]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_environment(Slow)


def test_every_instance_is_closed() -> None:
    still_open = set()

    class Held(Hallway):
        def __init__(self) -> None:
            super().__init__()
            still_open.add(self)

        def close(self) -> None:
            still_open.discard(self)

    check_environment(Held, **FEW)
    assert not still_open


def test_a_last_close_that_raises_is_told() -> None:
    class Stuck(Hallway):
        def close(self) -> None:
            if self.cell == 3:
                raise OSError("still in the door")

    report = breach_of(Stuck, **FEW)
    assert report.startswith('Stuck breaks the law "closing twice is harmless".')
    assert "In the end the instance was closed." in report
    assert "raised OSError: still in the door" in report


# ── arguments ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"make": Corridor()}, "make must be a function that returns a fresh environment, got <"),
        ({"seeds": []}, r"seeds must be one int or more, got \[\]"),
        ({"seeds": [True]}, r"seeds must be one int or more, got \[True\]"),
        ({"steps": 0}, "steps must be an int >= 1, got 0"),
        ({"long": 1.5}, "long must be an int >= 1, got 1.5"),
        ({"examples": True}, "examples must be an int >= 1, got True"),
        ({"policy": "left"}, "policy must be a function or None, got 'left'"),
        ({"clone": 3}, "clone must be a function or None, got 3"),
        ({"without": ["be nice"]}, r"without must be a collection of names of laws, got \['be nice'\]; they are \["),
        ({"without": "states are plain"}, "without must be a collection of names of laws, got 'states are plain'"),
        ({"without": [Law.STATES]}, "these laws cannot be left out, all others stand on them: .*STATES"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], says: str) -> None:
    made = []

    def make() -> Corridor:
        made.append(1)
        return Corridor()

    with pytest.raises(BadArgument, match=says):
        check_environment(**({"make": make} | arguments))
    assert not made


def test_one_environment_for_all_is_no_fresh_one() -> None:
    world = Corridor()
    with pytest.raises(
        BadArgument, match="make must return a fresh environment at each call, got the same object twice"
    ):
        check_environment(lambda: world)


def test_a_policy_adds_runs() -> None:
    asked: list[tuple[int, list[str]]] = []

    def policy(state: int, actions: Sequence[str]) -> str:
        asked.append((state, list(actions)))
        return actions[-1]

    report = check_environment(Corridor, policy=policy, **FEW)
    assert report["runs"] == 8
    assert asked[:4] == [(0, ["left", "right"]), (1, ["left", "right"]), (2, ["left", "right"]), (0, ["left", "right"])]
    assert len(asked) == 24


def test_a_walk_adds_runs_and_may_leave_the_offer() -> None:
    report = check_environment(Corridor, walk=["left", "up", "right"], **FEW)
    assert report["runs"] == 8
    without = check_environment(Corridor, **FEW)
    assert report["refusals"] - without["refusals"] == 4, "left and up, for both seeds"

    class Up(Corridor):
        def step(self, action: str) -> Outcome[int]:
            return Outcome(5, accepted=False) if action == "up" else super().step(action)

    assert actions_in(breach_of(Up, walk=["left", "up", "right"], **FEW)) == ["'up'"]


def test_laws_can_be_left_out() -> None:
    liar = LIARS["a lock after three refusals"]
    report = check_environment(liar.world, without=["a refusal leaves no trace"], **FEW)
    assert report.untried[Law.NO_TRACE] == "left out"
    assert Law.NO_TRACE not in report.tried


def test_a_world_of_chance_can_be_checked_for_the_rest() -> None:
    liar = LIARS["random effects"]
    report = check_environment(liar.world, without=[Law.SEEDED], **FEW)
    assert report["deterministic"] is False
    for law in REPLAYED - {Law.CLONES}:
        assert report.untried[law] == "it cannot be tried without 'the same seed gives the same episode'"
    assert Law.REFUSED in report.tried


def test_effects_that_are_not_plain_can_be_left_out() -> None:
    report = check_environment(LIARS["a set as an effect"].world, without=[Law.EFFECTS], **FEW)
    assert report.untried[Law.EFFECTS] == "left out"


def test_clones_are_counted() -> None:
    report = check_environment(Corridor, clone=lambda world, _: deepcopy(world), **FEW)
    assert report["clones"] == report.tried[Law.CLONES] > 20


def test_an_action_that_is_not_on_offer_is_tried_only_when_asked_for() -> None:
    liar = LIARS["anything is accepted"]
    assert check_environment(liar.world, **FEW).untried[Law.OFFERED] == "not asked for: offered=True"
    report = breach_of(liar.world, offered=True, **FEW)
    assert "step('surefoot: no such action')  ->  accepted, state 0" in report
    assert "happened: accepted" in report
    assert check_environment(Corridor, offered=True, **FEW).tried[Law.OFFERED] > 40


def test_an_action_of_another_state_is_not_on_offer_here() -> None:
    class Doors(Hallway):
        def actions(self, state: Any) -> Any:
            return {0: ["right", "sing"], 4: []}.get(state, ["left", "right"])

        def take(self, action: Any) -> Any:
            return super().take("wait" if action == "sing" else action)

        def signs(self, state: Any) -> Any:
            return []

    assert check_environment(Doors, **FEW)
    report = breach_of(Doors, offered=True, **FEW)
    assert "step('sing')" in report
    assert "expected: refused, or an exception: actions(1) is ['left', 'right']" in report


def test_an_action_that_is_not_on_offer_may_raise_but_needs_an_answer_if_it_does_not() -> None:
    class Strict(Hallway):
        def take(self, action: Any) -> Any:
            if action not in ("left", "right", "wait"):
                raise ValueError(action)
            return super().take(action)

    assert check_environment(Strict, offered=True, **FEW).tried[Law.OFFERED] > 40

    class Silent(Hallway):
        def take(self, action: Any) -> Any:
            return super().take(action) if action in ("left", "right", "wait") else None

    report = breach_of(Silent, offered=True, **FEW)
    assert report.startswith('Silent breaks the law "only what is offered is accepted".')
    assert "happened: step('surefoot: no such action') returned None (NoneType)" in report


def test_a_refusal_by_exception_that_moves_ends_the_trial_of_offers() -> None:
    class Shifty(Hallway):
        def take(self, action: Any) -> Any:
            if action not in ("left", "right", "wait"):
                self.cell = 3
                raise ValueError(action)
            return super().take(action)

    assert 0 < check_environment(Shifty, offered=True, **FEW).tried[Law.OFFERED] < 40


def test_other_seeds_are_not_made_up() -> None:
    class OneLevel(Corridor):
        def reset(self, seed: int | None = None) -> int:
            assert seed in (None, 7)
            return super().reset(seed)

    assert check_environment(OneLevel, seeds=[7], **FEW)


# ── other worlds ────────────────────────────────────────────────────────────────────────────────────────────────────


class Bare:
    """Have nothing to do."""

    def reset(self, seed: int | None = None) -> tuple[()]:
        return ()

    def actions(self, state: Any) -> tuple[str, ...]:
        return ()

    def step(self, action: Any) -> Outcome[tuple[()]]:
        raise AssertionError("nothing is on offer")


def test_a_world_without_actions() -> None:
    report = check_environment(Bare)
    assert report["steps"] == 0
    assert report.untried[Law.OUTCOMES] == "there was no step to try it on"
    assert report.untried[Law.SHARED] == "nothing that was returned can be changed"


def test_a_dead_end_is_no_end_of_the_check() -> None:
    class Cellar(Hallway):
        def actions(self, state: Any) -> Any:
            return [] if state == 2 else super().actions(state)

        def signs(self, state: Any) -> Any:
            return []

    report = check_environment(Cellar, **FEW)
    assert report["steps"] > 80
    assert report.untried[Law.AFTER_DONE] == "no episode came to its end"


def test_numbers_with_too_many_digits_can_be_told() -> None:
    class Big(Corridor):
        def reset(self, seed: int | None = None) -> int:
            return 10**5_000

        def actions(self, state: int) -> list[str]:
            return ["left"]

        def step(self, action: str) -> Outcome[int]:
            return refused(10**5_000 + 1)

    assert "<int, whose repr raises ValueError>" in breach_of(Big, **FEW)


class Told(Hallway):
    """Follow the seeds' page: a state is an object, and anything but right is left."""

    def reset(self, seed: int | None = None) -> Any:
        self.pos = 0
        return {"pos": 0}

    def actions(self, state: Any) -> Any:
        return ["left", "right"]

    def step(self, action: Any) -> Any:
        self.pos = max(0, self.pos + (1 if action == "right" else -1))
        return Outcome({"pos": self.pos}, accepted=True, effect={"pos": self.pos}, done=self.pos == 3)

    save_state = restore_state = signs = describe = close = None  # type: ignore[assignment]  # taken away


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(Told, id="objects"),
        pytest.param(lambda: FromGymnasium("FrozenLake-v1"), id="FrozenLake"),
        pytest.param(lambda: FromGymnasium("Blackjack-v1"), id="Blackjack"),
    ],
)
def test_real_worlds_pass(make: Callable[[], Environment[Any, Any]]) -> None:
    assert check_environment(make, **FEW)["deterministic"]


def test_a_no_op_that_is_read_as_a_refusal_leaves_a_trace_on_ice() -> None:
    def lake() -> FromGymnasium:
        return FromGymnasium("FrozenLake-v1", no_op="refused")

    assert breach_of(lake, **FEW).startswith('FromGymnasium breaks the law "a refusal leaves no trace".')
    assert check_environment(lake, without=[Law.NO_TRACE], **FEW)


# ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────────


class TestCorridor(EnvironmentContract):
    offered, steps, long, examples = True, 20, 40, 4

    def make(self) -> Corridor:
        return Corridor(length=3)

    def walk(self) -> list[str]:
        return ["left", "right", "right", "right"]

    def clone(self, world: Corridor, state: int) -> Corridor:
        return deepcopy(world)


def test_of(law: Law) -> str:
    return "test_" + law.value.lower().replace(" ", "_")


test_of.__test__ = False  # type: ignore[attr-defined]  # pytest reads it


def test_the_contract_has_a_test_for_every_law() -> None:
    tests = {name for name in vars(EnvironmentContract) if name.startswith("test_")}
    assert tests == {test_of(law) for law in Law} | {"test_the_walk_meets_a_refusal"}


@pytest.mark.parametrize("law", Law)
def test_the_contract_catches_a_liar_by_the_test_of_its_law(law: Law) -> None:
    liar = next(liar for liar in LIARS.values() if liar.law is law)

    class Contract(EnvironmentContract):
        steps, long, examples = 20, 50, 3
        offered = liar.options.get("offered", False)

        def make(self) -> Any:
            return liar.world()

        def walk(self) -> list[Any]:
            return ["left"]

    if "clone" in liar.options:
        Contract.clone = staticmethod(liar.options["clone"])
    with pytest.raises(ContractBroken, match=f'breaks the law "{law.value}"'):
        getattr(Contract(), test_of(law))()


def test_what_cannot_be_tried_behind_a_broken_law_is_skipped_and_says_so() -> None:
    class Contract(EnvironmentContract):
        def make(self) -> Any:
            return LIARS["bytes as actions"].world()

        def walk(self) -> list[str]:
            return ["left"]

    with pytest.raises(pytest.skip.Exception, match="a reset starts afresh: 'actions are plain' is broken, mend that"):
        Contract().test_a_reset_starts_afresh()


@pytest.mark.parametrize(
    ("walk", "says"),
    [
        ([], "walk.. must return one action or more, got none"),
        (["right"], r"no step of walk\(\), \['right'\], is refu"),
    ],
)
def test_the_walk_must_meet_a_refusal(walk: list[str], says: str) -> None:
    class Contract(EnvironmentContract):
        steps, long, examples = 5, 5, 1

        def make(self) -> Corridor:
            return Corridor()

        def walk(self) -> list[str]:
            return walk

    with pytest.raises(ContractBroken, match=says):
        Contract().test_the_walk_meets_a_refusal()


def test_a_world_that_never_refuses_says_so() -> None:
    class Contract(EnvironmentContract):
        refuses = False

        def walk(self) -> list[str]:
            return ["right"]

    with pytest.raises(pytest.skip.Exception, match="refuses = False: this world takes every action"):
        Contract().test_the_walk_meets_a_refusal()


def test_the_two_methods_must_be_written() -> None:
    with pytest.raises(NotImplementedError, match=r"write EnvironmentContract.walk\(\)"):
        EnvironmentContract().test_states_are_plain()
    with pytest.raises(NotImplementedError, match=r"write EnvironmentContract.make\(\)"):
        EnvironmentContract().make()


FILE = """
import pytest
from surefoot import testing
from surefoot.environments.corridor import Corridor
from surefoot.testing import EnvironmentContract
from surefoot.testing.liars import LIARS

class TestHonest(EnvironmentContract):
    long, examples = 50, 3
    refuses = False

    @pytest.fixture(autouse=True)
    def _length(self, tmp_path):
        self.length = len(tmp_path.name) % 3 + 2

    def make(self):
        return Corridor(self.length)

    def walk(self):
        return ["right"]

class TestLiar(EnvironmentContract):
    long, examples = 50, 3

    def make(self):
        return LIARS["a refusal that moves"].world()

    def walk(self):
        return ["left"]
"""


def test_pytest_runs_a_contract(tmp_path: Path) -> None:
    (tmp_path / "test_worlds.py").write_text(FILE)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-rsf",
        "-q",
        "test_worlds.py",
    ]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "2 failed, 42 passed, 10 skipped" in run.stdout
    assert "FAILED test_worlds.py::TestLiar::test_a_refused_step_leaves_the_state_as_it_was" in run.stdout
    assert "FAILED test_worlds.py::TestLiar::test_a_refusal_leaves_no_trace" in run.stdout
    assert "refuses = False: this world takes every action" in run.stdout
    assert "closing twice is harmless: it is not Closable" in run.stdout


# ── what is imported when ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(
        MissingExtra, match=r"checks of an environment need the package hypothesis: pip install 'surefoot"
    ):
        check_environment(Corridor, **FEW)

    class Contract(TestCorridor):
        __test__ = False
        _search = vars(TestCorridor).get("_search")

    monkeypatch.undo()
    contract = Contract()
    contract.test_it_answers()
    with monkeypatch.context() as without_pytest:
        without_pytest.setitem(sys.modules, "pytest", None)
        with pytest.raises(MissingExtra, match=r"contracts need the package pytest: pip install 'surefoot\[testing\]'"):
            contract.test_closing_twice_is_harmless()


def test_importing_the_package_loads_neither_pytest_nor_hypothesis() -> None:
    script = (
        "import sys, surefoot.testing as t; early = {'surefoot.testing.environments'} & set(sys.modules)\n"
        "t.EnvironmentContract, t.Law, t.Report, t.check_environment\n"
        "print(sorted(early), sorted({'pytest', 'hypothesis', 'numpy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "[] []\n"


def test_the_package_lists_its_names() -> None:
    assert set(testing.__all__) <= set(dir(testing))
    with pytest.raises(AttributeError, match=r"module 'surefoot.testing' has no attribute 'nowhere'"):
        testing.nowhere  # type: ignore[attr-defined]  # noqa: B018  # not there


def test_a_report_is_frozen() -> None:
    report = Report("Attic", 1, 1, 0, {}, dict.fromkeys(Law, "never"))
    with pytest.raises(AttributeError):
        report.seeds = 2  # type: ignore[misc]  # wrong on purpose
    assert len(ALWAYS) == 6
