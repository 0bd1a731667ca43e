"""Check that an action model keeps the laws of its protocol: one call, or one class of tests to inherit.

`check_action_model(make, transitions)` tries every law on what an environment did and returns a report, or raises
`ContractBroken` with the shortest run found that breaks one. `ActionModelContract` is the same as one test a law.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from surefoot import values
from surefoot.errors import BadArgument, ContractBroken, ValueRejected
from surefoot.protocols import ActionModel
from surefoot.testing import _model_checks as checks
from surefoot.testing._contract import ContractReport, Findings, Stated, left_out, shortest, skip
from surefoot.testing._model_driver import Plan, Seen, finding

__all__ = ["ActionModelContract", "ModelLaw", "ModelReport", "check_action_model"]

Transition = (
    tuple[Any, str, Mapping[str, Any], bool]
    | tuple[Any, str, Mapping[str, Any], bool, Any]
    | tuple[Any, str, Mapping[str, Any], bool, Any, Any]
)


class ModelLaw(Stated):
    """Name the laws of an action model, in the order in which they are told.

    Example:
        >>> ModelLaw.LATER.value
        'later outcomes count'
        >>> ModelLaw.PURE.statement
        'Asking for predictions or for the fingerprint changes no later answer.'
    """

    IS_MODEL = ("it is an action model", "`observe`, `predict` and `fingerprint` are methods that can be called.")
    ANSWERS = ("it answers", "`observe`, `predict` and `fingerprint` return for what was observed and do not raise.")
    PREDICTIONS = ("every answer is a Prediction", "`observe` and `predict` return a `Prediction`.")
    FORM = (
        "predictions are well formed",
        "The risk is a finite number >= 0, the support an int >= -1, the verdict one of three, confidence and rate are "
        "probabilities, effects and next state are plain values, the action is the one asked about or None.",
    )
    KEPT = (
        "what it is given stays as it was",
        "The model never changes a state, an argument or an effect that it is given.",
    )
    SAME = (
        "the same observations give the same model",
        "Two fresh models that observe the same give the same answers and the same fingerprint.",
    )
    PURE = ("asking changes nothing", "Asking for predictions or for the fingerprint changes no later answer.")
    SHARED = (
        "nothing is shared",
        "What a caller does later to what it gave, or to a prediction that it got, does not change the model.",
    )
    APART = ("two models go separate ways", "What one model observes changes nothing for another one.")
    BEFORE = (
        "observe returns the prediction made before",
        "`observe` returns what `predict` said just before, not what it says with the outcome known.",
    )
    MOVES = (
        "the fingerprint moves with what is learned",
        "The fingerprint is a text that the first observation moves; models that answer differently differ in it.",
    )
    UNSEEN = (
        "what was never seen is not accepted",
        "A fresh model accepts nothing, and an action that was never observed is never accepted.",
    )
    OFTEN = (
        "it answers what it has seen often",
        "A call that was accepted (or refused) 30 times in a row, and nothing else, is predicted to be.",
    )
    LATER = (
        "later outcomes count",
        "A call refused once and accepted 50 times since is not refused; nor accepted the other way round.",
    )
    OPPOSITE = (
        "it never contradicts what it saw",
        "A call that was only ever accepted in a state is not predicted to be refused there, nor the other way round.",
    )
    EFFECTS = (
        "predicted effects are those observed",
        "For a call that always had the same effect in a state, no other effect is predicted there.",
    )
    NEXT = (
        "predicted next states are those observed",
        "For a call that always led to the same state from a state, no other next state is predicted there.",
    )
    SUPPORT = (
        "the support counts cases",
        "The support of a prediction is not more than the number of observations of the action.",
    )
    PLAIN = (
        "what is not plain is refused and changes nothing",
        "Observing an effect or a next state that is not a plain value raises a TypeError or ValueError, and nothing "
        "is learned of it.",
    )
    ORDER = (
        "the order of observations does not matter",
        "The same observations in another order give the same answers and the same fingerprint.",
    )


ALWAYS = frozenset({ModelLaw.IS_MODEL, ModelLaw.ANSWERS, ModelLaw.PREDICTIONS, ModelLaw.FORM})
"""The laws that cannot be left out, because without them nothing else can be tried."""

_CHECKS: Mapping[ModelLaw, Callable[[Plan, Sequence[Seen]], int]] = {
    ModelLaw.IS_MODEL: checks.is_model,
    ModelLaw.ANSWERS: checks.answers,
    ModelLaw.PREDICTIONS: checks.predictions,
    ModelLaw.FORM: checks.form,
    ModelLaw.KEPT: checks.kept,
    ModelLaw.SAME: checks.same,
    ModelLaw.PURE: checks.pure,
    ModelLaw.SHARED: checks.shared,
    ModelLaw.APART: checks.apart,
    ModelLaw.BEFORE: checks.before,
    ModelLaw.MOVES: checks.moves,
    ModelLaw.UNSEEN: checks.unseen,
    ModelLaw.OFTEN: checks.often,
    ModelLaw.LATER: checks.later,
    ModelLaw.OPPOSITE: checks.opposite,
    ModelLaw.EFFECTS: checks.effects,
    ModelLaw.NEXT: checks.next_states,
    ModelLaw.SUPPORT: checks.support,
    ModelLaw.PLAIN: checks.plain,
    ModelLaw.ORDER: checks.order,
}


class ModelReport(ContractReport):
    """Say which laws of an action model were tried how often, and held.

    It is true, reads as a table (`print(report)`), and is a mapping with the keys `observations`, `actions`,
    `accepted`, `refused` and `answered` (how many of the observed calls get a verdict), and where calls were held out
    `held_out`, `precision` (of the predicted refusals, how many were refused), `recall` (of the refused calls that got
    a verdict, how many were predicted), `abstention` (how many got none), `false_accepts` and `false_refusals`, and
    where next states are given `next_states` (how many were predicted) and `wrong_next_states`. A share of nothing is
    None.

    Args:
        name: the name of the model's class.
        what: "an action model".
        counts: that mapping.
        tried: how often each law was tried.
        untried: the laws that were not tried, each with the reason.

    Example:
        >>> from surefoot.testing.action_model_liars import Rote, TRANSITIONS
        >>> report = check_action_model(Rote, TRANSITIONS)
        >>> bool(report), report["observations"] == len(TRANSITIONS), report.untried[ModelLaw.ORDER]
        (True, True, 'it is not claimed: order_free=True')
    """


def check_action_model(
    make: Callable[[], ActionModel],
    transitions: Iterable[Transition],
    held_out: Iterable[Transition] | None = None,
    *,
    order_free: bool | None = None,
    without: Collection[str] = (),
) -> ModelReport:
    """Try the laws of an action model, and return what was tried.

    Args:
        make: returns a fresh model at each call; called some hundred times.
        transitions: what an environment did, without noise: tuples (state, action, args, accepted), (…, effect) or
            (…, effect, next state). A model whose `observe` takes no `next_state` is not told of that.
        held_out: more of them that the model is not shown, to measure it on.
        order_free: whether the model claims that the order of observations does not matter; None: what its attribute
            `order_free` says, if it has one.
        without: names of laws to leave out, for a model that cannot keep them.

    Returns:
        A report, which is true.

    Raises:
        ContractBroken: a law is broken; the message is a report with the shortest run found that shows it.
        BadArgument: an argument is out of its range.
        ValueRejected: a transition is not one, or not plain.

    Cost: about 30 times that of observing and predicting each transition, and some hundred predictions for the laws
    about single calls.

    Example:
        >>> from surefoot.testing.action_model_liars import MODEL_LIARS, Rote, TRANSITIONS
        >>> check_action_model(Rote, TRANSITIONS, held_out=TRANSITIONS[:9])["abstention"]
        0.0
        >>> try:
        ...     check_action_model(MODEL_LIARS["never answers"].model, TRANSITIONS)
        ... except ContractBroken as broken:
        ...     print(str(broken).splitlines()[0])
        Silent breaks the law "it answers what it has seen often".
    """
    plan, seen = _planned(make, transitions, order_free)
    found = _tried(plan, seen, left_out(without, ModelLaw, ALWAYS))
    for law in found.broken:
        raise ContractBroken(_told(plan, seen, found, law))
    counts = checks.measured(plan, seen, None if held_out is None else _seen(held_out, "held_out"))
    return ModelReport(plan.name, "an action model", counts, found.tried, found.untried)


def _planned(make: Any, transitions: Any, order_free: bool | None) -> tuple[Plan, list[Seen]]:
    if not callable(make):
        raise BadArgument(f"make must be a function that returns a fresh model, got {make!r}")
    if order_free is not None and type(order_free) is not bool:
        raise BadArgument(f"order_free must be True, False or None, got {order_free!r}")
    seen = _seen(transitions, "transitions")
    if not seen:
        raise BadArgument("transitions must be one or more, got none: without them no law can be tried")
    return Plan(make, order_free), seen


def _seen(transitions: Iterable[Any], name: str) -> list[Seen]:
    """Return transitions encoded, so that nothing a model does can change them."""
    found = []
    for place, row in enumerate(transitions):
        if not isinstance(row, tuple | list) or not 4 <= len(row) <= 6:
            raise ValueRejected(
                f"{name}[{place}] must be (state, action, args, accepted[, effect[, next_state]]), got {row!r}"
            )
        state, action, args, accepted, effect, after = (*row, None, None)[:6]
        if not isinstance(action, str) or not isinstance(args, Mapping) or type(accepted) is not bool:
            raise ValueRejected(
                f"{name}[{place}] must have a text as the action, a mapping as the args, and True or False, got {row!r}"
            )
        codes = values.encode(state), action, values.encode(args), accepted, values.encode(effect)
        found.append(Seen(*codes, values.encode(after)))
    return found


def _tried(plan: Plan, seen: Sequence[Seen], without: frozenset[ModelLaw]) -> Findings[ModelLaw]:
    """Try every law."""
    found = Findings(ALWAYS, without)
    found.run({law: partial(check, plan, seen) for law, check in _CHECKS.items()})
    return found


def _told(plan: Plan, seen: Sequence[Seen], found: Findings[ModelLaw], law: ModelLaw) -> str:
    """Return the report about a broken law, with the shortest run that can be found."""
    shorter = shortest(seen, lambda rows: finding(_CHECKS[law], plan, rows)) or found.broken[law]
    return shorter.told(plan.name, "model", law, [other for other in found.broken if other is not law], law in ALWAYS)


class _Explored(NamedTuple):
    """What was found for a class of tests."""

    plan: Plan
    seen: list[Seen]
    found: Findings[ModelLaw]


class ActionModelContract:
    """Inherit a test for every law of an action model; write `make` and `transitions`.

    A test is skipped, and says why, where there is nothing to try a law on. All laws are tried once for the class.

    Attributes:
        order_free: see `check_action_model`.
        without: names of laws to leave out.

    Example:
        >>> from surefoot.testing.action_model_liars import Rote, TRANSITIONS
        >>> class TestRote(ActionModelContract):
        ...     def make(self):
        ...         return Rote()
        ...     def transitions(self):
        ...         return TRANSITIONS
        >>> TestRote().test_later_outcomes_count()
    """

    order_free: ClassVar[bool | None] = None
    without: ClassVar[Collection[str]] = ()
    _explored: ClassVar[_Explored | None] = None

    def make(self) -> ActionModel:
        """Return a fresh model."""
        raise NotImplementedError(f"write {type(self).__name__}.make(): it returns a fresh model")

    def transitions(self) -> Iterable[Transition]:
        """Return what an environment did, without noise; accepted and refused calls, some of them more than once."""
        raise NotImplementedError(f"write {type(self).__name__}.transitions(): it returns a list of tuples")

    def test_it_is_an_action_model(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.IS_MODEL)

    def test_it_answers(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.ANSWERS)

    def test_every_answer_is_a_prediction(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.PREDICTIONS)

    def test_predictions_are_well_formed(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.FORM)

    def test_what_it_is_given_stays_as_it_was(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.KEPT)

    def test_the_same_observations_give_the_same_model(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.SAME)

    def test_asking_changes_nothing(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.PURE)

    def test_nothing_is_shared(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.SHARED)

    def test_two_models_go_separate_ways(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.APART)

    def test_observe_returns_the_prediction_made_before(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.BEFORE)

    def test_the_fingerprint_moves_with_what_is_learned(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.MOVES)

    def test_what_was_never_seen_is_not_accepted(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.UNSEEN)

    def test_it_answers_what_it_has_seen_often(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.OFTEN)

    def test_later_outcomes_count(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.LATER)

    def test_it_never_contradicts_what_it_saw(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.OPPOSITE)

    def test_predicted_effects_are_those_observed(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.EFFECTS)

    def test_predicted_next_states_are_those_observed(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.NEXT)

    def test_the_support_counts_cases(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.SUPPORT)

    def test_what_is_not_plain_is_refused_and_changes_nothing(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.PLAIN)

    def test_the_order_of_observations_does_not_matter(self) -> None:
        """Hold the model to the law of this name."""
        self._holds(ModelLaw.ORDER)

    def _holds(self, law: ModelLaw) -> None:
        """Fail where `law` is broken, skip where there was nothing to try it on."""
        explored: _Explored | None = vars(type(self)).get("_explored")
        if explored is None:
            plan, seen = _planned(self.make, self.transitions(), self.order_free)
            found = _tried(plan, seen, left_out(self.without, ModelLaw, ALWAYS))
            explored = type(self)._explored = _Explored(plan, seen, found)
        found = explored.found
        if law in found.broken:
            raise ContractBroken(_told(explored.plan, explored.seen, found, law))
        if law in found.untried:
            skip(f"{law.value}: {found.untried[law]}")
