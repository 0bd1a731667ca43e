"""stormvogel's models, both ways: to read one nothing is imported, to make one the extra `stormvogel` is needed.

| stormvogel | here |
|---|---|
| states, in the order of `model.states` | states, with the same numbers; those that cannot be reached too |
| actions, in the order in which the states first offer them | actions; the unnamed one is `""` |
| labels, `init` among them | labels; an episode starts where `init` is |
| friendly names | names of states; `#3` where state 3 has none; one again gets `#` and its number |
| variables with or without domains | variables; a value that a state has not is missing here too |
| predicates of observations | left out: they are computed |
| rewards on states, or on transitions | the same; a state without one has 0 |
| rewards on choices, or of several parts at once | written as rewards on transitions, which pay the same in each step |
| observations, one or a distribution | the same, numbered in the order in which the states first have them |
| `Interval` values | an interval model; nominal probabilities that are not the usual ones are lost |

Numbers become floats: a `Fraction` is rounded once. Models with rates (CTMC, MA) and with parameters are refused.

This module was written against what stormvogel 0.13 does, and holds no code of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from surefoot.errors import BadModel, MissingExtra
from surefoot.models._arrays import running_sum
from surefoot.models.exchange._rows import Rows, make
from surefoot.models.markov import HMM, MDP, POMDP, MarkovChain, Model, ObservedModel
from surefoot.models.rewards import RewardModel
from surefoot.models.spaces import BoolDomain, CategoricalDomain, Domain, IntDomain, Variable
from surefoot.models.valuations import Valuations

__all__ = ["from_stormvogel", "is_stormvogel", "to_stormvogel"]

_KINDS = {"DTMC": "dtmc", "MDP": "mdp", "POMDP": "pomdp", "HMM": "hmm"}


def is_stormvogel(model: object) -> bool:
    """Say whether something looks like a model of stormvogel; imports nothing.

    Example:
        >>> is_stormvogel("a text")
        False
    """
    return type(model).__module__.partition(".")[0] == "stormvogel" and hasattr(model, "model_type")


def from_stormvogel(model: Any, *, init_label: bool = True) -> MarkovChain | MDP | POMDP | HMM:
    """Return what a model of stormvogel says, as arrays; stormvogel need not be imported for it.

    Args:
        model: the model. It is only read; later changes to it are not seen.
        init_label: whether to keep the label `init` as a label, beside the initial distribution that it stands for.

    Raises:
        BadModel: its kind is CTMC or MA, it has parameters, or no state has the label `init`.
        NotADistribution: probabilities that do not sum to 1.

    Cost: linear; about 3 µs for each branch.

    Example:
        >>> from surefoot.models.exchange.stormvogel import to_stormvogel
        >>> from_stormvogel("no model")
        Traceback (most recent call last):
        surefoot.errors.BadModel: a model of stormvogel is wanted, got 'no model'
    """
    kind = getattr(getattr(model, "model_type", None), "name", None)
    if kind is None:
        raise BadModel(f"a model of stormvogel is wanted, got {model!r}")
    if kind not in _KINDS:
        raise BadModel(f"a {kind} cannot be read: it must be one of {', '.join(_KINDS)}")
    made: MarkovChain | MDP | POMDP | HMM = _Reader(model, _KINDS[kind], init_label).model()
    return made


def to_stormvogel(model: Model) -> Any:
    """Return a model of stormvogel.

    Raises:
        MissingExtra: stormvogel is not installed; it needs Python 3.12 or newer.
        BadModel: stormvogel has no words for it: several initial states, or a state that offers the action `""`
            beside others.

    Cost: linear; about 120 µs for a state of 16 branches, most of it in stormvogel.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> try:
        ...     print(from_stormvogel(to_stormvogel(loop)) == loop.with_labels(init=[0]))
        ... except MissingExtra as missing:
        ...     print(str(missing).endswith("pip install 'surefoot[stormvogel]'"))
        True
    """
    starts = np.flatnonzero(model.initial)
    if len(starts) != 1:
        raise BadModel(
            f"stormvogel has one initial state, but this model starts in {len(starts)}: "
            f"choose one with model.with_initial(state)"
        )
    try:
        import stormvogel.model as theirs
    except ImportError as error:
        raise MissingExtra.of("stormvogel", extra="stormvogel", what="stormvogel's models") from error
    return _Writer(model, int(starts[0]), theirs).model()


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Reader:
    """Read one model."""

    def __init__(self, model: Any, kind: str, init_label: bool) -> None:
        self.theirs, self.kind, self.init_label = model, kind, init_label
        self.states = list(model.states)
        self.number = {state: number for number, state in enumerate(self.states)}

    def model(self) -> Any:
        """Return the model."""
        labels = {
            str(name): sorted(self.number[state] for state in states)
            for name, states in self.theirs.state_labels.items()
        }
        starts = labels.get("init", []) if self.init_label else labels.pop("init", [])
        if not starts:
            raise BadModel("no state has the label init: say where an episode starts")
        rows = self._rows()
        arguments = rows.arrays(self.kind in ("mdp", "pomdp"))
        arguments |= {
            "initial": {state: 1 / len(starts) for state in starts},
            "state_names": _names([state.friendly_name for state in self.states]),
            "labels": labels,
            "rewards": {reward.name: self._reward(reward, rows) for reward in self.theirs.rewards},
            "state_valuations": _valuations([state.valuations for state in self.states], "state"),
        }
        if self.kind in ("pomdp", "hmm"):
            arguments |= self._observations()
        return make(self.kind, **arguments)

    def _rows(self) -> Rows:
        """Return the choices of all states."""
        intervals = bool(self.theirs.is_interval_model())
        rows = Rows(len(self.states), intervals=intervals)
        self.choice: dict[tuple[int, str], int] = {}
        for number, state in enumerate(self.states):
            for action, branches in state.choices:
                name = action.label or ""
                self.choice[number, name] = len(rows.sizes)
                pairs = [(self.number[to], self._value(value, intervals, number)) for value, to in branches]
                if pairs:
                    rows.choice(number, name, pairs)
        return rows

    def _value(self, value: Any, intervals: bool, state: int) -> Any:
        """Return a probability as a float, or the ends of an interval."""
        try:
            if intervals:
                low, high = getattr(value, "lower", value), getattr(value, "upper", value)
                return float(low), float(high)
            return float(value)
        except TypeError:
            raise BadModel(
                f"state {state} has the probability {value}, which is no number: fix the parameters first "
                f"(model.get_instantiated_model)"
            ) from None

    def _reward(self, reward: Any, rows: Rows) -> RewardModel:
        """Return a reward model; what was not set is 0."""
        state = transition = None
        if reward.transition_rewards:
            transition = np.zeros(len(rows.target))
            start = running_sum(rows.sizes).tolist()
            for (source, action, to), value in reward.transition_rewards.items():
                choice = self.choice[self.number[source], action.label or ""]
                transition[rows.target.index(self.number[to], start[choice], start[choice + 1])] = float(value)
        if reward.rewards:
            state = np.zeros(len(self.states))
            for one, value in reward.rewards.items():
                state[self.number[one]] = float(value)
        return RewardModel(state=state, transition=transition)

    def _observations(self) -> dict[str, Any]:
        """Return the observations as arguments of a model."""
        numbers: dict[Any, int] = {}
        seen: list[int] = []
        chances: list[float] = []
        sizes: list[int] = []
        for state in self.states:
            given = state.observation
            pairs = [(1.0, given)] if hasattr(given, "alias") else [(float(chance), one) for chance, one in given]
            pairs = [(chance, one) for chance, one in pairs if chance]
            sizes.append(len(pairs))
            for chance, one in pairs:
                seen.append(numbers.setdefault(one, len(numbers)))
                chances.append(chance)
        names = _names([one.alias for one in numbers])
        return {
            "observation": np.asarray(seen, np.int32),
            "observation_probability": chances,
            "observation_start": running_sum(sizes),
            "observation_names": names if names is not None else tuple(f"o{n}" for n in range(len(numbers))),
            "observation_valuations": _valuations([one.valuations or {} for one in numbers], "observation"),
        }


def _names(given: list[str | None]) -> list[str] | None:
    """Return names that are different: a name that comes again gets `#` and its number; None if none is given."""
    if not any(given):
        return None
    names: list[str] = []
    used = {_nameless(number) for number, name in enumerate(given) if not name}
    for number, name in enumerate(given):
        if not name:
            names.append(_nameless(number))
            continue
        while name in used:
            name = f"{name}#{number}"
        used.add(name)
        names.append(name)
    return names


def _nameless(number: int) -> str:
    """Return the name of what has none, where others have."""
    return f"#{number}"


def _valuations(rows: Iterable[Mapping[Any, Any]], what: str) -> Valuations | None:
    """Return the values of variables, None without any."""
    rows = [{one: value for one, value in row.items() if not hasattr(one, "expr")} for row in rows]
    domains: dict[str, Any] = {}
    for row in rows:
        for variable in row:
            if domains.get(variable.label) is None:
                domains[variable.label] = variable.domain
    if not domains:
        return None
    variables = [Variable(label, _domain(domain)) for label, domain in domains.items()]
    plain = [{variable.label: value for variable, value in row.items()} for row in rows]
    return Valuations.from_rows(variables, plain, owner=(what + " {}").format)


def _domain(theirs: Any) -> Domain | None:
    """Return a domain of ours."""
    if theirs is None:
        return None
    kind = type(theirs).__name__
    if kind == "IntDomain":
        return IntDomain(theirs.lo, theirs.hi, theirs.allow_none)
    if kind == "BoolDomain":
        return BoolDomain(theirs.allow_none)
    if kind == "CategoricalDomain":
        return CategoricalDomain(tuple(theirs.values), theirs.allow_none)
    raise BadModel(f"there is no domain like {theirs!r} here")


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Writer:
    """Make one model of stormvogel; `theirs` is its package of models."""

    def __init__(self, model: Model, start: int, theirs: Any) -> None:
        self.ours, self.start, self.theirs = model, start, theirs
        self.made = theirs.Model(theirs.ModelType[model.kind.upper()], create_initial_state=False)

    def model(self) -> Any:
        """Return the model."""
        ours = self.ours
        for label in ("init", *ours.labels):
            if label not in self.made.state_labels:
                self.made.add_label(label)
        self.states = self._states()
        self.actions = self._actions()
        for state in range(ours.n_states):
            choices = {
                self.actions[int(ours.choice_action[choice])]: self._branches(choice) for choice in ours.choices(state)
            }
            if not choices:
                continue
            if len(choices) > 1 and self.theirs.EmptyAction in choices:
                raise BadModel(
                    f"state {ours.state_name(state)!r} offers the action '' beside others, which stormvogel has no "
                    f"words for: give the action a name"
                )
            self.states[state].set_choices(choices if ours.has_actions else next(iter(choices.values())))
        for name, reward in ours.rewards.items():
            self._reward(self.made.new_reward_model(name), reward)
        return self.made

    def _states(self) -> list[Any]:
        """Make the states, and their observations."""
        ours = self.ours
        sights = self._sights() if isinstance(ours, ObservedModel) else []
        variables = [self._variable(one) for one in ours.state_variables]
        named = ours.state_names.given is not None
        made = []
        for state in range(ours.n_states):
            labels = [*ours.labels_of(state)]
            if state == self.start and "init" not in labels:
                labels.insert(0, "init")
            options: dict[str, Any] = {}
            if isinstance(ours, ObservedModel):
                seen, chances = ours.observations_of(state)
                spread = {sights[int(one)]: float(p) for one, p in zip(seen, chances, strict=True)}
                options["observation"] = self.theirs.Distribution(spread) if len(spread) > 1 else next(iter(spread))
            name = ours.state_name(state)
            options["friendly_name"] = name if named and name != _nameless(state) else None
            values = _by_variable(variables, ours.valuation(state))
            made.append(self.made.new_state(labels, valuations=values, **options))
        return made

    def _sights(self) -> list[Any]:
        """Make the observations."""
        ours = self.ours
        assert isinstance(ours, ObservedModel)
        variables = [self._variable(one) for one in ours.observation_variables]
        return [
            self.made.new_observation(name, _by_variable(variables, ours.observation_valuation(number)) or None)
            for number, name in enumerate(ours.observation_names)
        ]

    def _actions(self) -> list[Any]:
        """Make the actions that a state offers."""
        used = set(self.ours.choice_action.tolist()) if self.ours.has_actions else set()
        return [
            self.made.new_action(name) if name and number in used else self.theirs.EmptyAction
            for number, name in enumerate(self.ours.action_names)
        ]

    def _variable(self, variable: Variable) -> Any:
        domain: Any = None
        match variable.domain:
            case IntDomain(lo, hi, allow_none):
                domain = self.theirs.IntDomain(lo, hi, allow_none)
            case BoolDomain(allow_none):
                domain = self.theirs.BoolDomain(allow_none)
            case CategoricalDomain(values, allow_none):
                domain = self.theirs.CategoricalDomain(values, allow_none)
        return self.theirs.Variable(variable.name, domain)

    def _branches(self, choice: int) -> list[tuple[Any, Any]]:
        """Return the branches of a choice as stormvogel takes them."""
        ours = self.ours
        where = range(int(ours.branch_start[choice]), int(ours.branch_start[choice + 1]))
        if ours.lower is not None and ours.upper is not None:
            values = [self.theirs.Interval(float(ours.lower[at]), float(ours.upper[at])) for at in where]
        else:
            values = [float(ours.probability[at]) for at in where]
        return [(value, self.states[int(ours.target[at])]) for value, at in zip(values, where, strict=True)]

    def _reward(self, made: Any, reward: RewardModel) -> None:
        """Set the rewards of one reward model."""
        ours = self.ours
        if reward.choice is None and reward.transition is None:
            for state, value in enumerate(() if reward.state is None else reward.state.tolist()):
                made.set_state_reward(self.states[state], value)
            return
        total = np.zeros(ours.n_branches)
        if reward.state is not None:
            total += reward.state[ours.choice_state][ours.branch_choice]
        if reward.choice is not None:
            total += reward.choice[ours.branch_choice]
        if reward.transition is not None:
            total += reward.transition
        for at, value in enumerate(total.tolist()):
            choice = int(ours.branch_choice[at])
            made.set_transition_reward(
                self.states[int(ours.choice_state[choice])],
                self.actions[int(ours.choice_action[choice])],
                self.states[int(ours.target[at])],
                value,
            )


def _by_variable(variables: list[Any], values: Mapping[str, Any]) -> dict[Any, Any]:
    """Return {their variable: value}."""
    return {variable: values[variable.label] for variable in variables if variable.label in values}
