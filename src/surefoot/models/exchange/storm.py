"""Models that Storm builds: from PRISM programs, from JANI files, and its own objects both ways (extra `storm`).

| Storm | here |
|---|---|
| DTMC, MDP, POMDP, with numbers or intervals | the same; exact rationals are rounded once |
| labels | labels, but for `init`, which is where an episode starts, and for `deadlock` where it holds nowhere |
| names of choices | names of actions; `""` where a choice has none, `#0`, `#1`, … where a state has several such |
| rewards on states, on choices, on transitions | the same; a reward model without a name is `"default"` |
| the values of the variables of a program | values of variables without domains |

Storm has no place for names of states, initial distributions and actions that no state offers, and wants a branch back
where a state has no choices. `surefoot.models.exchange.drn` keeps all of it.

Storm and its package stormpy are under the GPL. This module has no code of theirs and imports stormpy when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import BadModel, MissingExtra
from surefoot.models.exchange._rows import Rows, distinct, make, rewards_of
from surefoot.models.exchange._texts import checked_observations, loops
from surefoot.models.markov import Model, ObservedModel
from surefoot.models.valuations import Valuations

__all__ = ["from_stormpy", "read_jani", "read_prism_program", "to_stormpy"]

_KINDS = {"DTMC": "dtmc", "MDP": "mdp", "POMDP": "pomdp"}


def read_prism_program(
    path: str | Path, *, constants: Mapping[str, Any] | None = None, tolerance: float = 0.0
) -> Model:
    """Return the model that a program in PRISM's language describes; Storm builds it.

    Args:
        path: the file.
        constants: values for the constants that the program leaves open.
        tolerance: rows whose sum differs from 1 by at most this are divided by it.

    Raises:
        MissingExtra: stormpy is not installed.
        BadModel: Storm refuses the program, or it describes a CTMC, an MA or a game.

    Cost: what Storm takes, and about 6 µs for each branch.

    Example:
        >>> try:
        ...     read_prism_program("nowhere.prism")
        ... except (MissingExtra, BadModel) as error:
        ...     print(type(error).__name__ in ("MissingExtra", "BadModel"))
        True
    """
    stormpy = stormpy_module()
    return _built(path, lambda: stormpy.parse_prism_program(str(path), prism_compatibility=True), constants, tolerance)


def read_jani(path: str | Path, *, constants: Mapping[str, Any] | None = None, tolerance: float = 0.0) -> Model:
    """Return the model that a JANI file describes; Storm builds it.

    Args:
        path: the file.
        constants: values for the constants that the file leaves open.
        tolerance: rows whose sum differs from 1 by at most this are divided by it.

    Raises:
        MissingExtra: stormpy is not installed.
        BadModel: Storm refuses the file, or it describes a CTMC, an MA or a game.

    Cost: what Storm takes, and about 6 µs for each branch.

    Example:
        >>> try:
        ...     read_jani("nowhere.jani")
        ... except (MissingExtra, BadModel) as error:
        ...     print(type(error).__name__ in ("MissingExtra", "BadModel"))
        True
    """
    stormpy = stormpy_module()
    return _built(path, lambda: stormpy.parse_jani_model(str(path))[0], constants, tolerance)


def from_stormpy(model: Any, *, tolerance: float = 0.0) -> Model:
    """Return what a sparse model of stormpy says, as arrays.

    Args:
        model: the model.
        tolerance: rows whose sum differs from 1 by at most this are divided by it.

    Raises:
        BadModel: it is a CTMC, an MA or a game, it has parameters, or it is no sparse model.

    Cost: linear; about 6 µs for each branch.

    Example:
        >>> from_stormpy("no model")
        Traceback (most recent call last):
        surefoot.errors.BadModel: a sparse model of stormpy is wanted, got 'no model'
    """
    kind = getattr(getattr(model, "model_type", None), "name", None)
    if kind is None or not getattr(model, "is_sparse_model", False):
        raise BadModel(f"a sparse model of stormpy is wanted, got {model!r}")
    if kind not in _KINDS:
        raise BadModel(f"a {kind} cannot be read: it must be one of {', '.join(_KINDS)}")
    if model.has_parameters:
        raise BadModel("the model has parameters: fix them first, a model has numbers here")
    return _Reader(model, _KINDS[kind]).model(tolerance)


def to_stormpy(model: Model) -> Any:
    """Return a sparse model of stormpy.

    Raises:
        MissingExtra: stormpy is not installed.
        BadModel: Storm has no words for it: observations at random, or a label `init` that says something else than
            where an episode starts.

    Cost: linear; about 2 µs for each branch, and more for intervals.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> try:
        ...     print(from_stormpy(to_stormpy(loop)) == loop)
        ... except MissingExtra as missing:
        ...     print(str(missing).endswith("pip install 'surefoot[storm]'"))
        True
    """
    checked_observations(model, "Storm")
    if "init" in model.labels and not np.array_equal(model.labels["init"], model.initial > 0):
        raise BadModel("the label 'init' is where an episode starts in Storm, but not here: give it another name")
    return _Writer(model, stormpy_module()).model()


def stormpy_module() -> Any:
    """Return the package stormpy."""
    try:
        import stormpy
        import stormpy.datastructures
        import stormpy.environments
        import stormpy.exceptions
        import stormpy.models
    except ImportError as error:
        raise MissingExtra.of(
            "stormpy", extra="storm", what="PRISM programs, JANI files, Storm's models and solvers"
        ) from error
    return stormpy


def _built(path: str | Path, parse: Callable[[], Any], constants: Mapping[str, Any] | None, tolerance: float) -> Model:
    """Return what Storm builds from a file."""
    stormpy = stormpy_module()
    if not Path(path).is_file():
        raise BadModel(f"there is no file {path}")
    options = stormpy.BuilderOptions()
    for what in ("choice_labels", "state_valuations", "observation_valuations", "all_labels", "all_reward_models"):
        getattr(options, f"set_build_{what}")(True)
    try:
        program = parse()
        if constants:
            program, _ = stormpy.instantiate_constants(program, dict(constants))
        built = stormpy.build_model(program, options=options)
    except (stormpy.exceptions.StormError, RuntimeError, ValueError, TypeError) as error:
        raise BadModel(f"Storm refuses {path}: {error}") from error
    return from_stormpy(built, tolerance=tolerance)


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Reader:
    """Read one sparse model."""

    def __init__(self, model: Any, kind: str) -> None:
        self.theirs, self.kind = model, kind
        self.matrix = model.transition_matrix
        self.intervals = bool(model.supports_uncertainty)

    def model(self, tolerance: float) -> Model:
        """Return the model."""
        theirs = self.theirs
        names = [reward or "default" for reward in theirs.reward_models]
        rows = self._rows(names)
        starts = list(theirs.initial_states)
        if not starts:
            raise BadModel("no state of the model is initial: say where an episode starts")
        arguments = rows.arrays(self.kind != "dtmc", tolerance=tolerance)
        arguments |= {
            "initial": {int(state): 1 / len(starts) for state in starts},
            "labels": self._labels(),
            "rewards": self._rewards(names, rows),
            "state_valuations": _valuations(theirs.state_valuations) if theirs.has_state_valuations() else None,
        }
        if self.kind == "pomdp":
            arguments |= self._observations()
        return make(self.kind, **arguments)

    def _rows(self, names: list[str]) -> Rows:
        """Return the choices of all states."""
        theirs, matrix = self.theirs, self.matrix
        paid = {
            place: reward.transition_rewards
            for place, reward in enumerate(theirs.reward_models.values())
            if reward.has_transition_rewards
        }
        self.paid = [names[place] for place in paid]
        rows = Rows(theirs.nr_states, self.paid, intervals=self.intervals)
        labelling = theirs.choice_labeling if theirs.has_choice_labeling() else None
        for state in range(theirs.nr_states):
            first, last = matrix.get_row_group_start(state), matrix.get_row_group_end(state)
            given = [_label(labelling, row) for row in range(first, last)]
            actions = distinct(given) if self.kind != "dtmc" else [""] * (last - first)
            for action, row in zip(actions, range(first, last), strict=True):
                extras = [{entry.column: float(entry.value) for entry in one.get_row(row)} for one in paid.values()]
                branches = [
                    (entry.column, self._value(entry.value), *(extra.get(entry.column, 0.0) for extra in extras))
                    for entry in matrix.get_row(row)
                ]
                rows.choice(state, action, branches)
        return rows

    def _value(self, value: Any) -> Any:
        return (float(value.lower()), float(value.upper())) if self.intervals else float(value)

    def _labels(self) -> dict[str, list[int]]:
        labelling = self.theirs.labeling
        found = {name: [int(s) for s in labelling.get_states(name)] for name in sorted(labelling.get_labels())}
        found.pop("init", None)
        if not found.get("deadlock", True):
            del found["deadlock"]
        return found

    def _rewards(self, names: list[str], rows: Rows) -> Any:
        state: dict[str, Any] = {}
        choice: dict[str, Any] = {}
        for name, reward in zip(names, self.theirs.reward_models.values(), strict=True):
            if reward.has_state_rewards:
                state[name] = _numbers(reward.state_rewards)
            if reward.has_state_action_rewards:
                choice[name] = _numbers(reward.state_action_rewards)
        return rewards_of(names, state, choice, rows.transition_rewards())

    def _observations(self) -> dict[str, Any]:
        seen = [int(one) for one in self.theirs.observations]
        found: dict[str, Any] = {"observation": seen}
        if self.theirs.has_observation_valuations():
            table = _valuations(self.theirs.observation_valuations)
            if table is not None and len(table) == max(seen) + 1:
                found["observation_valuations"] = table
        return found


def _label(labelling: Any, row: int) -> str | None:
    """Return the name of a choice; several are joined."""
    names = sorted(labelling.get_labels_of_choice(row)) if labelling is not None else []
    return "|".join(names) if names else None


def _numbers(values: Iterable[Any]) -> Any:
    """Return rewards as an array; an interval of one number is that number."""
    return np.array([float(value.lower() if hasattr(value, "lower") else value) for value in values])


def _valuations(theirs: Any) -> Valuations | None:
    """Return the values of variables."""
    variables = list(theirs.get_all_variables())
    if not variables:
        return None
    rows = []
    for entity in range(theirs.get_number_of_entities()):
        row = {}
        for variable in variables:
            if theirs.entity_has_variable(entity, variable):
                value = theirs.get_value(entity, variable)
                row[variable.name] = value if isinstance(value, bool | int | float | str) else float(value)
        rows.append(row)
    return Valuations.from_rows([variable.name for variable in variables], rows)


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Writer:
    """Make one sparse model."""

    def __init__(self, model: Model, stormpy: Any) -> None:
        self.ours, self.stormpy = model, stormpy
        self.loops = loops(model)
        self.chain = not model.has_actions and not model.has_observations
        self.type: Any = stormpy.Interval if model.has_intervals else float
        self.rows = self._rows()

    def _rows(self) -> list[tuple[int, int | None]]:
        """Return the state and the choice of each row of the matrix, None for a branch back that is added."""
        found: list[tuple[int, int | None]] = []
        for state in range(self.ours.n_states):
            choices = self.ours.choices(state)
            found += [(state, choice) for choice in choices] or [(state, None)]
        return found

    def model(self) -> Any:
        """Return the model."""
        ours, models = self.ours, self.stormpy.models
        values: list[Any] = ours.probability.tolist()
        one: Any = 1.0
        if ours.lower is not None and ours.upper is not None:
            ends = zip(ours.lower.tolist(), ours.upper.tolist(), strict=True)
            values, one = [self.stormpy.Interval(low, high) for low, high in ends], self.stormpy.Interval(1.0, 1.0)
        parts = models.SparseModelComponents[self.type](
            transition_matrix=self._matrix(values, one), state_labeling=self._labels(), reward_models=self._rewards()
        )
        if not self.chain:
            parts.choice_labeling = self._choice_labels()
        if isinstance(ours, ObservedModel):
            parts.observability_classes = ours.observation.tolist()
            return models.SparsePomdp[self.type](parts, True)
        return (models.SparseDtmc if self.chain else models.SparseMdp)[self.type](parts)

    def _matrix(self, values: list[Any], loop: Any) -> Any:
        """Return one value a branch as a matrix."""
        ours = self.ours
        builder = self.stormpy.datastructures.SparseMatrixBuilder[self.type](
            len(self.rows), ours.n_states, 0, True, not self.chain, 0 if self.chain else ours.n_states
        )
        start = ours.branch_start.tolist()
        last = -1
        for row, (state, choice) in enumerate(self.rows):
            if state != last and not self.chain:
                builder.new_row_group(row)
            last = state
            if choice is None:
                builder.add_next_value(row, state, loop)
                continue
            for at in sorted(range(start[choice], start[choice + 1]), key=ours.target.__getitem__):
                builder.add_next_value(row, int(ours.target[at]), values[at])
        return builder.build()

    def _labels(self) -> Any:
        labelling = self.stormpy.models.StateLabeling(self.ours.n_states)
        for name, mask in {**self.ours.labels, "init": self.ours.initial > 0}.items():
            labelling.add_label(name)
            labelling.set_states(name, self._bits(self.ours.n_states, np.flatnonzero(mask).tolist()))
        return labelling

    def _choice_labels(self) -> Any:
        labelling = self.stormpy.models.ChoiceLabeling(len(self.rows))
        held: dict[str, list[int]] = {}
        for row, (_, choice) in enumerate(self.rows):
            name = "" if choice is None else self.ours.action_name(int(self.ours.choice_action[choice]))
            if name:
                held.setdefault(name, []).append(row)
        for name, choices in held.items():
            labelling.add_label(name)
            labelling.set_choices(name, self._bits(len(self.rows), choices))
        return labelling

    def _bits(self, length: int, places: list[int]) -> Any:
        return self.stormpy.datastructures.BitVector(length, places)

    def _rewards(self) -> dict[str, Any]:
        """Return the reward models; a state that is never left pays nothing."""
        kept = np.ones(self.ours.n_states)
        kept[self.loops] = 0.0
        wrap: Callable[[float], Any] = self.stormpy.Interval if self.ours.has_intervals else float
        found = {}
        for name, reward in self.ours.rewards.items():
            parts: list[Any] = [None, None, None]
            if reward.state is not None or (reward.choice is None and reward.transition is None):
                state = np.zeros(self.ours.n_states) if reward.state is None else reward.state * kept
                parts[0] = [wrap(value) for value in state.tolist()]
            if reward.choice is not None:
                paid = reward.choice.tolist()
                parts[1] = [wrap(0.0 if choice is None else paid[choice]) for _, choice in self.rows]
            if reward.transition is not None:
                parts[2] = self._matrix([wrap(value) for value in reward.transition.tolist()], wrap(0.0))
            found[name] = self.stormpy.models.SparseRewardModel[self.type](*parts)
        return found
