from __future__ import annotations

from typing import Any

import pytest

from surefoot import values
from surefoot.environments.corridor import Corridor
from surefoot.protocols import Outcome, faulted
from surefoot.testing._checks import examine
from surefoot.testing._probe import Chooser, Plan
from surefoot.testing._search import _Actions, _LeastTried, _Picks
from surefoot.testing._trial import Trial
from surefoot.testing.honest import Hallway
from surefoot.testing.laws import Law


def taken(trial: Trial) -> list[Any]:
    """Return the actions of a run; None is a reset."""
    return [None if item.action is None else values.decode(item.action) for item in trial.items]


def trial_of(make: Any, chooser: Chooser, *, seed: int = 0) -> Trial:
    trial = Trial(Plan(make), seed, chooser)
    assert trial.run()
    return trial


def test_episodes_follow_one_another() -> None:
    trial = trial_of(lambda: Corridor(length=2), _Actions([b'"right"'] * 5))
    assert taken(trial) == [None, "right", "right", None, "right", "right", None, "right"]
    assert list(trial.episode()) == [0, 1, 2]


def test_a_run_does_not_end_with_a_reset() -> None:
    trial = trial_of(lambda: Corridor(length=2), _Actions([b'"right"', b'"right"', b'"up"']))
    assert taken(trial) == [None, "right", "right"]
    assert len(trial.offers) == 3
    assert trial.episode() == range(3)


def test_what_is_not_on_offer_is_passed_over() -> None:
    actions = [values.encode(action) for action in ("up", "left", "up", "right")]
    assert taken(trial_of(Corridor, _Actions(actions))) == [None, "left", "right"]
    assert taken(trial_of(Corridor, _Actions(actions, anyway=True))) == [None, "up", "left", "up", "right"]


def test_the_least_tried_comes_next() -> None:
    run = taken(trial_of(Hallway, _LeastTried(9)))
    assert run == [None, "left", "right", "wait", "left", "wait", "right", "right", "left", "wait"]


def test_bytes_stand_for_actions() -> None:
    assert taken(trial_of(Hallway, _Picks(bytes([2, 1, 3, 255])))) == [None, "wait", "right", "left", "left"]

    class Wide(Hallway):
        def actions(self, state: Any) -> Any:
            return list(range(1000))

    picked = taken(trial_of(Wide, _Picks(bytes(range(0, 250, 10)))))
    assert len(set(picked)) > 20
    assert max(picked[1:]) > 256


def test_a_chooser_of_ones_own() -> None:
    with pytest.raises(NotImplementedError):
        trial_of(Hallway, Chooser(1))
    assert taken(trial_of(Hallway, Chooser(0))) == [None]


class Down(Hallway):
    """Be out of order in cell 2, in every other instance."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        Down.made += 1
        self.odd = Down.made % 2

    def take(self, action: Any) -> Outcome[Any]:
        return faulted(self.state(), "503") if self.cell == 2 and self.odd else super().take(action)


def test_a_replay_ends_at_a_fault() -> None:
    trial = trial_of(Down, _Actions([b'"right"'] * 4))
    for _ in range(4):
        assert not trial.same(Law.RESET, "again")
    assert not trial.breaches
    assert trial_of(Hallway, _Actions([b'"right"'] * 3)).same(Law.RESET, "again")


def test_one_law_alone() -> None:
    class Twice(Hallway):
        def actions(self, state: Any) -> Any:
            return ["right", "right"]

        def save_state(self) -> Any:
            return None

        def restore_state(self, token: Any) -> Any:
            raise KeyError(token)

        def signs(self, state: Any) -> Any:
            return []

    def broken(only: Law | None) -> set[Law]:
        return set(examine(Plan(Twice), 0, _Picks(b"123"), only=only).breaches)

    assert broken(None) == {Law.ONCE, Law.SNAPSHOT}
    assert broken(Law.SNAPSHOT) == {Law.ONCE, Law.SNAPSHOT}, "the form of what the run returns is checked anyway"
    assert broken(Law.RESET) == {Law.ONCE}


def test_a_breach_of_the_seeds_is_not_blamed_on_a_later_law() -> None:
    class Moody(Hallway):
        made = 0

        def __init__(self) -> None:
            super().__init__()
            Moody.made += 1
            self.mood = Moody.made

        def take(self, action: Any) -> Any:
            return super().take("wait" if self.mood > 4 else action)

    trial = trial_of(Moody, _Actions([b'"right"'] * 3))
    for _ in range(4):
        trial.same(Law.RESET, "again")
    assert set(trial.breaches) == {Law.SEEDED}
