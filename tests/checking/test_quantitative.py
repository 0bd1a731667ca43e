from __future__ import annotations

import numpy as np
import pytest

from surefoot.checking import _paths
from surefoot.checking.formula import parse
from surefoot.checking.quantitative import check, holds_where
from surefoot.errors import BadArgument, BadProperty, MissingExtra, Undecided
from surefoot.models import MDP, MarkovChain, RewardModel
from surefoot.models.examples import die, grid
from surefoot.models.solution import Status
from surefoot.solvers.storm import is_there

WALK = MDP(
    choice_start=[0, 2, 3, 3],
    choice_action=[0, 1, 0],
    branch_start=[0, 1, 3, 4],
    target=[1, 0, 2, 0],
    probability=[1.0, 0.5, 0.5, 1.0],
    initial=0,
    action_names=["wait", "go"],
    labels={"goal": [2], "mid": [1]},
    rewards={"cost": RewardModel(choice=[1.0, 2.0, 1.0]), "pain": RewardModel(state=[0.0, 3.0, 0.0])},
)
"""From s0 wait goes to s1 and back, go reaches the goal with 1/2."""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('P=? [ F "six" ]', 1 / 6),
        ('P=? [ F<=3 "six" ]', 1 / 8),
        ('P=? [ F<=0 "six" ]', 0),
        ('P=? [ F=3 "six" ]', 1 / 8),
        ('P=? [ F[4,5] "six" ]', 5 / 32),
        ('P=? [ F>=3 "six" ]', 1 / 6),
        ('P=? [ X "init" ]', 0),
        ('P=? [ G !"six" ]', 5 / 6),
        ('P=? [ G<=3 !"six" ]', 7 / 8),
        ('P=? [ !"done" U "six" ]', 1 / 6),
        ('P=? [ !"six" W "five" ]', 5 / 6),
        ('P=? [ "five" R !"six" ]', 5 / 6),
        ("P=? [ F face=6 ]", 1 / 6),
        ("P=? [ F face>4 ]", 1 / 3),
        ('S=? [ "six" ]', 1 / 6),
        ('R{"tosses"}=? [ F "done" ]', 11 / 3),
        ('R=? [ F "six" ]', np.inf),
        ("R=? [ C ]", 11 / 3),
        ("R=? [ C<=2 ]", 2),
        ("R=? [ S ]", 0),
        ("R=? [ I=1 ]", 1),
        ("R=? [ Cdiscount=0.5 ]", 1.8),
    ],
)
def test_the_die(text: str, value: float) -> None:
    if text.startswith("R=? [ I"):
        model = die().replace(rewards={"r": RewardModel(state=np.r_[0.0, np.ones(12)])})
    else:
        model = die()
    answer = check(model, text)
    assert answer.lower is not None
    assert answer.upper is not None
    assert answer.lower <= value <= answer.upper
    assert answer.lower == answer.upper or answer.upper - answer.lower < 1e-4
    assert answer.holds is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Pmax=? [ F "goal" ]', 1),
        ('Pmin=? [ F "goal" ]', 0),
        ('Pmax=? [ X "mid" ]', 1),
        ('Pmin=? [ X "mid" ]', 0),
        ('Rmin{"cost"}=? [ F "goal" ]', 4),
        ('R{"cost"}max=? [ F "goal" ]', np.inf),
        ('R{"pain"}max=? [ C<=3 ]', 3),
        ('R{"pain"}min=? [ C ]', 0),
        ('R{"pain"}max=? [ S ]', 1.5),
        ('Smax=? [ "mid" ]', 0.5),
        ('Pmax=? [ F ("mid" & P>=1 [ X "init" ]) ]', 1),
    ],
)
def test_an_mdp(text: str, value: float) -> None:
    answer = check(WALK, text)
    assert answer.lower is not None
    assert answer.upper is not None
    assert answer.lower <= value <= answer.upper


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ('P>=0.1 [ F "six" ]', True),
        ('P<0.1 [ F "six" ]', False),
        ('P>0.166 [ F "six" ]', True),
        ('P<=0.1667 [ F "six" ]', True),
        ('P>=1 [ F "done" ]', True),
        ('P>=0.16666667 [ F "six" ]', False),
        ('"init" & P>=0.1 [ F "six" ]', True),
        ('"done" => P>=1 [ G "done" ]', True),
        ("face = 0", True),
    ],
)
def test_bounds_are_decided(text: str, holds: bool) -> None:
    answer = check(die(), text)
    assert answer.holds is holds
    assert bool(answer) is holds
    assert ("holds" if holds else "does not hold") in repr(answer)


def test_what_the_bounds_leave_open_is_neither() -> None:
    third = MarkovChain(
        choice_start=[0, 1, 2, 2, 2],
        branch_start=[0, 2, 4],
        target=[1, 3, 0, 2],
        probability=[0.5, 0.5, 0.5, 0.5],
        initial=0,
        labels={"goal": [2]},
    )
    answer = check(third, f'P>={1 / 3!r} [ F "goal" ]')
    if answer.holds is None:
        with pytest.raises(Undecided, match="ask with a smaller tolerance"):
            bool(answer)
        with pytest.raises(Undecided, match="too close to"):
            check(third, f'true & P>={1 / 3!r} [ F "goal" ]')
    else:
        assert answer.upper is not None
        assert answer.upper - answer.lower < 1e-9  # type: ignore[operator]  # numbers here
    with pytest.raises(Undecided, match="read lower and upper"):
        bool(check(third, 'P=? [ F "goal" ]'))


def test_a_bound_on_an_mdp_speaks_of_all_choices_unless_it_says_max() -> None:
    assert check(WALK, 'P>=0.5 [ F "goal" ]').holds is False
    assert check(WALK, 'Pmax>=0.5 [ F "goal" ]').holds is True
    assert check(WALK, 'P<=0.5 [ F "goal" ]').holds is False
    assert check(WALK, 'Pmin<=0.5 [ F "goal" ]').holds is True


def test_interval_models_say_who_picks() -> None:
    bet = MarkovChain(
        choice_start=[0, 1, 1, 1],
        branch_start=[0, 2],
        target=[1, 2],
        lower=[0.25, 0.5],
        upper=[0.5, 0.75],
        initial=0,
        labels={"win": [1]},
    )
    with pytest.raises(BadProperty, match="the model has intervals: ask for Pmax or Pmin instead of P"):
        check(bet, 'P=? [ F "win" ]')
    for text, value in (('Pmin=? [ F "win" ]', 0.25), ('Pmax=? [ F "win" ]', 0.5), ('Pmax=? [ X "win" ]', 0.5)):
        answer = check(bet, text)
        assert answer.lower <= value <= answer.upper  # type: ignore[operator]  # numbers here
    assert check(bet, 'P>=0.2 [ F "win" ]').holds is True
    assert check(bet, 'P>=0.3 [ F "win" ]').holds is False
    choice = MDP(
        **{name: getattr(bet, name) for name in MDP._FIELDS if name not in ("choice_action", "action_names")},
        choice_action=[0],
    )
    worst, best = check(choice, 'Pmax=? [ F "win" ]'), check(choice, 'Pmax=? [ F "win" ]', nature="cooperative")
    assert worst.upper < 0.3 < best.lower  # type: ignore[operator]  # numbers here
    assert check(choice, 'Pmaxmax=? [ F "win" ]').lower == best.lower
    with pytest.raises(BadProperty, match="is for interval models"):
        check(WALK, 'Pmaxmin=? [ F "goal" ]')
    for text in ("R=? [ S ]", "R=? [ C ]", 'S=? [ "win" ]'):
        paid = choice.replace(rewards={"r": RewardModel(choice=[1.0])})
        with pytest.raises(BadProperty, match="interval models"):
            check(paid, text.replace("=?", "max=?"))


def test_several_states_to_start_in_are_weighed() -> None:
    model = die().with_initial({"six": 0.25, "five": 0.75})
    answer = check(model, 'P>=0.2 [ F "six" ]')
    assert answer.holds is True
    assert answer.lower == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('Pmax=? [ F "gaol" ]', "did you mean 'goal'"),
        ('P=? [ F "goal" ]', "the model has choices: ask for Pmax or Pmin instead of P"),
        ('R{"cots"}max=? [ F "goal" ]', "did you mean 'cost'"),
        ('Rmax=? [ F "goal" ]', 'say which, R{"cost"}, R{"pain"}'),
        ('R{"cost"}max=? [ I=2 ]', "this reward model pays elsewhere"),
        ('"mid" & Pmax=? [ F "goal" ]', "inside a formula give it a bound"),
    ],
)
def test_what_does_not_fit_the_model_is_shown(text: str, message: str) -> None:
    with pytest.raises(BadProperty, match=message.replace("{", r"\{")) as caught:
        check(WALK, text)
    assert str(caught.value).endswith("^")


def test_other_refusals() -> None:
    with pytest.raises(BadArgument, match="nature must be"):
        check(WALK, "true", nature="kind")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(BadProperty, match="the model has not any reward model"):
        check(WALK.replace(rewards={}), 'Rmax=? [ F "goal" ]')
    with pytest.raises(BadProperty, match="the total of rewards below 0 need not exist"):
        check(WALK.replace(rewards={"r": RewardModel(choice=[-1.0, 0.0, 0.0])}), "Rmax=? [ C ]")


@pytest.mark.skipif(is_there(), reason="the package stormpy is installed")
def test_paths_inside_paths_need_storm() -> None:
    with pytest.raises(MissingExtra, match=r"surefoot\[storm\]"):
        check(die(), 'P=? [ F (G "six") ]')


def test_the_policy_and_the_status_come_with_the_answer() -> None:
    answer = check(grid(), 'Pmax=? [ F "goal" ]')
    assert answer.status in (Status.EXACT, Status.CERTIFIED)
    assert answer.policy is not None
    how = _paths.How(WALK, "true")
    assert holds_where(WALK, parse("true"), how).all()
    assert check(WALK, "true").status is Status.EXACT
    assert check(WALK, "true").policy is None
