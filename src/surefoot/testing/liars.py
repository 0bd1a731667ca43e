"""Worlds that lie, each about one law of an environment.

Use them to test a checker: it has to catch every liar in `LIARS`, by the law that is broken, and to pass every world in
`surefoot.testing.honest.HONEST`. A new law needs a liar, or nobody knows that the law is checked at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from surefoot.testing import _lies, _lies_in_answers
from surefoot.testing.honest import Hallway
from surefoot.testing.laws import Law

__all__ = ["LIARS", "Liar"]


class Liar(NamedTuple):
    """Name a world that breaks a law, and what `check_environment` needs to be told to see it.

    Example:
        >>> LIARS["a refusal that moves"].law.value
        'a refused step leaves the state as it was'
    """

    world: type[Any]
    law: Law
    options: Mapping[str, Any] = {}


def _same(world: Any, state: Any) -> Any:
    """Return no clone at all."""
    return world


def _fresh(world: Any, state: Any) -> Any:
    """Return a clone at the start."""
    clone = type(world)()
    clone.reset(seed=0)
    return clone


LIARS: Mapping[str, Liar] = {
    "actions is no method": Liar(_lies_in_answers.NoMethod, Law.IS_ENVIRONMENT),
    "a seed that raises": Liar(_lies_in_answers.LockedSeed, Law.ANSWERS),
    "a seed is required": Liar(_lies_in_answers.SeedRequired, Law.ANSWERS),
    "a seed by name only": Liar(_lies_in_answers.SeedByNameOnly, Law.ANSWERS),
    "no answer in one state": Liar(_lies_in_answers.NoListInCellThree, Law.ANSWERS),
    "a set as a state": Liar(_lies_in_answers.SetState, Law.STATES),
    "int keys in a state": Liar(_lies_in_answers.IntKeys, Law.STATES),
    "nan in one state": Liar(_lies_in_answers.NanState, Law.STATES),
    "bytes as actions": Liar(_lies_in_answers.BytesActions, Law.ACTIONS),
    "lists as actions": Liar(_lies_in_answers.ListActions, Law.ACTIONS),
    "a generator of actions": Liar(_lies_in_answers.GeneratedActions, Law.ACTIONS),
    "an action offered twice": Liar(_lies_in_answers.OfferedTwice, Law.ONCE),
    "a tuple of Gymnasium": Liar(_lies_in_answers.GymTuple, Law.OUTCOMES),
    "no outcome": Liar(_lies_in_answers.NothingReturned, Law.OUTCOMES),
    "an exception as a refusal": Liar(_lies_in_answers.RaisesAtTheWall, Law.OUTCOMES),
    "accepted is None": Liar(_lies_in_answers.AcceptedNone, Law.OUTCOMES),
    "accepted is 1": Liar(_lies_in_answers.AcceptedOne, Law.FORM),
    "done is 0": Liar(_lies_in_answers.DoneByCount, Law.FORM),
    "a number as a reason": Liar(_lies_in_answers.ReasonByNumber, Law.FORM),
    "a list as info": Liar(_lies_in_answers.InfoList, Law.FORM),
    "an accepted fault": Liar(_lies_in_answers.AcceptedFault, Law.FAULTS),
    "a set as an effect": Liar(_lies_in_answers.SetEffect, Law.EFFECTS),
    "nan deep in an effect": Liar(_lies_in_answers.NanEffect, Law.EFFECTS),
    "a state changed in place": Liar(_lies_in_answers.OneDict, Law.KEPT),
    "a refused move in place": Liar(_lies_in_answers.OneDictRefused, Law.KEPT),
    "a list of actions filled anew": Liar(_lies_in_answers.OneList, Law.KEPT),
    "an effect that grows": Liar(_lies_in_answers.GrowingEffect, Law.KEPT),
    "an info that grows": Liar(_lies_in_answers.GrowingInfo, Law.KEPT),
    "a refusal that moves": Liar(_lies.Sliding, Law.REFUSED),
    "a refusal that says 0.0 for 0": Liar(_lies.LookAlike, Law.REFUSED),
    "actions in random order": Liar(_lies.ShuffledActions, Law.SAME_ACTIONS),
    "actions of where it is": Liar(_lies.WhereItIs, Law.SAME_ACTIONS),
    "no answer about another state": Liar(_lies.NoAnswerElsewhere, Law.SAME_ACTIONS),
    "actions that run out": Liar(_lies.OutOfStock, Law.SAME_ACTIONS),
    "random outcomes of all actions but the first": Liar(_lies.RandomButTheFirst, Law.SEEDED),
    "random outcomes after step 31": Liar(_lies.RandomLater, Law.SEEDED),
    "a clock below 1e-9": Liar(_lies.SmallClock, Law.SEEDED),
    "now 1, now '1'": Liar(_lies.Flicker, Law.SEEDED),
    "now 1, now True": Liar(_lies.TrueFlicker, Law.SEEDED),
    "random effects": Liar(_lies.RandomEffect, Law.SEEDED),
    "random reasons": Liar(_lies.RandomReason, Law.SEEDED),
    "a random end": Liar(_lies.RandomEnd, Law.SEEDED),
    "the number of the instance in the state": Liar(_lies.NumberedInstances, Law.SEEDED),
    "an enum by identity": Liar(_lies.EnumOnly, Law.COPIES),
    "a call by the order of its keys": Liar(_lies.OrderOfKeys, Law.COPIES),
    "asking moves": Liar(_lies.AskingMoves, Law.ASKING),
    "asking throws the dice": Liar(_lies.AskingDraws, Law.ASKING),
    "one list of actions for all": Liar(_lies_in_answers.ConstantList, Law.SHARED),
    "a returned state that is read": Liar(_lies_in_answers.ReadsReturnedState, Law.SHARED),
    "a returned effect that is read": Liar(_lies_in_answers.ReadsReturnedEffect, Law.SHARED),
    "a returned info that is read": Liar(_lies_in_answers.ReadsReturnedInfo, Law.SHARED),
    "a battery that a reset does not load": Liar(_lies.Battery, Law.RESET),
    "a reset that is dirty in mid-episode": Liar(_lies.DirtyAfterTheMiddle, Law.RESET),
    "seeded at the first reset only": Liar(_lies.SeededOnce, Law.RESET),
    "one generator for all instances": Liar(_lies.OneGenerator, Law.APART),
    "one cell for all instances": Liar(_lies.OneCell, Law.APART),
    "a lock after three refusals": Liar(_lies.LockedOut, Law.NO_TRACE),
    "a refusal that throws the dice": Liar(_lies.RefusalDraws, Law.NO_TRACE),
    "a step after the end": Liar(_lies.StepAfterTheEnd, Law.AFTER_DONE),
    "anything is accepted": Liar(_lies.TakesAnything, Law.OFFERED, {"offered": True}),
    "a token that lives": Liar(_lies.LiveToken, Law.SNAPSHOT),
    "a token without the dice": Liar(_lies.HalfToken, Law.SNAPSHOT),
    "saving moves": Liar(_lies.SavingMoves, Law.SNAPSHOT),
    "a token for one use": Liar(_lies.TokenForOnce, Law.SNAPSHOT),
    "reading signs moves": Liar(_lies.SignsMove, Law.SIGNS),
    "signs to sets": Liar(_lies.SignsOfSets, Law.SIGNS),
    "a sign of nothing on offer": Liar(_lies.SignsOfNothing, Law.SIGNS),
    "signs in a dict": Liar(_lies.SignsByDict, Law.SIGNS),
    "signs of three parts": Liar(_lies.SignsOfThree, Law.SIGNS),
    "random signs": Liar(_lies.RandomSigns, Law.SIGNS),
    "describing moves": Liar(_lies.DescribingMoves, Law.DESCRIPTIONS),
    "a description by text": Liar(_lies.DescribesByText, Law.DESCRIPTIONS),
    "a description by objects": Liar(_lies.DescribesByObjects, Law.DESCRIPTIONS),
    "closing twice": Liar(_lies.ClosesOnce, Law.CLOSING),
    "closing before a reset": Liar(_lies.ClosesWhenStarted, Law.CLOSING),
    "a clone that is the original": Liar(Hallway, Law.CLONES, {"clone": _same}),
    "a clone at the start": Liar(Hallway, Law.CLONES, {"clone": _fresh}),
}
"""Every liar by what it does; each law has one or more.

Example:
    >>> from surefoot.testing.environments import check_environment
    >>> liar = LIARS["random outcomes after step 31"]
    >>> try:
    ...     check_environment(liar.world, **liar.options)
    ... except AssertionError as broken:
    ...     print(str(broken).splitlines()[0])
    RandomLater breaks the law "the same seed gives the same episode".
    >>> {liar.law for liar in LIARS.values()} == set(Law)
    True
"""
