"""UMB files, the binary format that several model checkers share (extra `umb`).

| UMB | here |
|---|---|
| no player, or one | `MarkovChain` and `HMM`, or `MDP` and `POMDP` |
| initial states | the initial distribution, each as likely |
| atomic propositions | labels |
| rewards on states, choices and branches | the same |
| observations of states | the same, one a state |
| variables of states and of observations | variables without domains |
| a branch back to the state, as its only choice | written where a state has no choices, since Storm wants one |
| names of choice actions | names of actions; names of branch actions are left out |

What UMB has no words for (names of states, domains of variables, initial distributions, …) stands in the comment of the
file's model data, where other programs do not look. Exact rationals are rounded once.

Source: the Unified Markov Binary format, as the package umbi (MIT) reads and writes it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import BadModel, MissingExtra
from surefoot.models.exchange._rest import MARK, loops_of, rest_of, restored
from surefoot.models.exchange._rows import Rows, distinct, make, rewards_of
from surefoot.models.exchange._texts import checked_observations, loops, tokens_for
from surefoot.models.markov import Model, ObservedModel
from surefoot.models.spaces import IntDomain, Variable
from surefoot.models.valuations import MISSING, Valuations

__all__ = ["from_umb", "read_umb", "to_umb", "write_umb"]

_PLAIN = (bool, int, float, str)


def read_umb(path: str | Path, *, tolerance: float = 0.0) -> Model:
    """Return the model of a UMB file.

    Args:
        path: the file.
        tolerance: rows whose sum differs from 1 by at most this are divided by it.

    Raises:
        MissingExtra: umbi is not installed.
        BadModel: there is no such file, or it holds no model of a kind that there is here.

    Cost: what umbi takes, and about 3 µs for each branch.

    Example:
        >>> try:
        ...     read_umb("nowhere.umb")
        ... except (MissingExtra, BadModel) as error:
        ...     print(type(error).__name__ in ("MissingExtra", "BadModel"))
        True
    """
    ats = _umbi().ats
    if not Path(path).is_file():
        raise BadModel(f"there is no file {path}")
    held = _umbi().umb.read(str(path))
    tables = _tables(held)
    held.index.valuations = held.valuations = None  # umbi 0.2.5 refuses bounds and offsets, which Storm writes
    made = ats.explicit_umb_to_explicit_ats(held)
    made.annotations = {"rewards": {}, "aps": {}}
    for category, add in (("rewards", made.add_reward_annotation), ("aps", made.add_ap_annotation)):
        # umbi 0.2.5 keeps the last annotation of a category only, so all are taken from one level below
        for name, told in ((held.index.annotations or {}).get(category) or {}).items():
            note = add(name=name, alias=told.alias)
            for place in told.applies_to or ():
                note.set_values_for(ats.EntityClass(place), held.annotations[category][name][place])
    return _from_umb(made, tables, tolerance)


def write_umb(model: Model, path: str | Path) -> None:
    """Write a model to a UMB file.

    Raises:
        MissingExtra: umbi is not installed.
        BadModel: observations are drawn at random, for which UMB has no words.

    Cost: linear; about 10 µs for each branch.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> import tempfile
        >>> loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     try:
        ...         write_umb(loop, f"{folder}/loop.umb")
        ...         print(read_umb(f"{folder}/loop.umb") == loop)
        ...     except MissingExtra as missing:
        ...         print(str(missing).endswith("pip install 'surefoot[umb]'"))
        True
    """
    _umbi().ats.write(to_umb(model), str(path))


def to_umb(model: Model) -> Any:
    """Return a model as umbi's `ExplicitAts`.

    Raises:
        MissingExtra: umbi is not installed.
        BadModel: observations are drawn at random.

    Cost: linear; about 5 µs for each branch.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> try:
        ...     print(to_umb(loop).num_states)
        ... except MissingExtra:
        ...     print(1)
        1
    """
    checked_observations(model, "UMB")
    ats = _Writer(model, _umbi()).ats()
    added = loops(model)
    tables = {} if ats.variable_valuations is None else ats.variable_valuations
    counts = {"states": model.n_states, "observations": ats.num_observations}
    read = {place.value: _valuations(table, counts[place.value]) for place, table in tables.items()}
    rest = rest_of(model, _read(ats, read, added, 0.0), added)
    if rest is not None:
        ats.model_info = _umbi().ats.ModelInfo(comment=MARK + rest)
    ats.validate()
    return ats


def from_umb(ats: Any, *, tolerance: float = 0.0) -> Model:
    """Return the model of an `ExplicitAts` of umbi; nothing is imported for it.

    Args:
        ats: the transition system.
        tolerance: rows whose sum differs from 1 by at most this are divided by it.

    Raises:
        BadModel: it has rates, or more than one player.

    Cost: linear; about 3 µs for each branch.

    Example:
        >>> from_umb("no system")
        Traceback (most recent call last):
        surefoot.errors.BadModel: an ExplicitAts of umbi is wanted, got 'no system'
    """
    tables = {}
    for place, count in (("states", "num_states"), ("observations", "num_observations")):
        given = (getattr(ats, "variable_valuations", None) or {}).get(place)
        if given is not None:
            tables[place] = _valuations(given, getattr(ats, count))
    return _from_umb(ats, tables, tolerance)


def _from_umb(ats: Any, tables: Mapping[str, Valuations], tolerance: float) -> Model:
    """Return the model of a transition system whose variables were read already."""
    if not hasattr(ats, "num_players") or not hasattr(ats, "get_state_choices"):
        raise BadModel(f"an ExplicitAts of umbi is wanted, got {ats!r}")
    if ats.time.value != "discrete":
        raise BadModel(f"time is {ats.time.value}: only models in steps (discrete) can be read")
    if ats.num_players > 1:
        raise BadModel(f"it has {ats.num_players} players: only models of one player or none can be read")
    comment = ats.model_info.comment if ats.model_info is not None else None
    rest = comment.removeprefix(MARK) if comment and comment.startswith(MARK) else None
    return restored(_read(ats, tables, loops_of(rest), tolerance), rest)


def _umbi() -> Any:
    """Return the package umbi."""
    try:
        import umbi
        import umbi.ats
        import umbi.datatypes
        import umbi.umb
    except ImportError as error:
        raise MissingExtra.of("umbi", extra="umb", what="UMB files") from error
    return umbi


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Writer:
    """Make one transition system."""

    def __init__(self, model: Model, umbi: Any) -> None:
        self.ours, self.umbi = model, umbi
        self.loops = set(loops(model))

    def ats(self) -> Any:
        """Return the transition system."""
        ours, package = self.ours, self.umbi.ats
        made = package.ExplicitAts()
        made.time = package.TimeType.DISCRETE
        made.num_players = 1 if ours.has_actions else 0
        if ours.has_actions:
            made.state_to_player = [0] * ours.n_states
            made.num_choice_actions = ours.n_actions
            made.choice_action_to_name = list(ours.action_names)
        for _ in range(ours.n_states):
            made.add_state()
        made.set_initial_states(np.flatnonzero(ours.initial).tolist())
        self._choices(made)
        for word, (name, mask) in zip(_words(ours.labels), ours.labels.items(), strict=True):
            alias = name if name != "init" else None  # a name that is taken
            made.add_ap_annotation(name=word, alias=alias).set_state_values(mask.tolist())
        for word, (name, reward) in zip(_words(ours.rewards), ours.rewards.items(), strict=True):
            note = made.add_reward_annotation(name=word, alias=name)
            if reward.choice is not None:
                note.set_choice_values(self._spread(reward.choice.tolist(), self.choices))
            if reward.transition is not None:
                note.set_branch_values(self._spread(reward.transition.tolist(), self.branches))
            if reward.state is not None or not note.has_values:
                state = np.zeros(ours.n_states) if reward.state is None else reward.state.copy()
                state[list(self.loops)] = 0.0  # a state that is never left pays nothing
                note.set_state_values(state.tolist())
        self._seen(made)
        return made

    def _choices(self, made: Any) -> None:
        """Add the choices and their branches."""
        ours = self.ours
        starts, targets, values = ours.branch_start.tolist(), ours.target.tolist(), self._values()
        self.choices: list[int | None] = []
        self.branches: list[int | None] = []
        for state in range(ours.n_states):
            for choice in ours.choices(state):
                one = made.add_state_choice(state)
                self.choices.append(choice)
                if ours.has_actions:
                    one.action = int(ours.choice_action[choice])
                for at in range(starts[choice], starts[choice + 1]):
                    one.add_branch(target=targets[at], prob=values[at])
                    self.branches.append(at)
            if state in self.loops:
                one = made.add_state_choice(state)
                if ours.n_actions and ours.has_actions:
                    one.action = 0
                whole = self.umbi.datatypes.Interval(1.0, 1.0) if ours.has_intervals else 1.0
                one.add_branch(target=state, prob=whole)
                self.choices.append(None)
                self.branches.append(None)

    @staticmethod
    def _spread(values: list[float], places: list[int | None]) -> list[float]:
        """Return the values at their places, and 0 at those that were added."""
        return [0.0 if place is None else values[place] for place in places]

    def _values(self) -> list[Any]:
        ours = self.ours
        if ours.lower is not None and ours.upper is not None:
            interval = self.umbi.datatypes.Interval
            ends = zip(ours.lower.tolist(), ours.upper.tolist(), strict=True)
            return [interval(low, high) for low, high in ends]
        values: list[Any] = ours.probability.tolist()
        return values

    def _seen(self, made: Any) -> None:
        """Add observations, and the values of variables."""
        ours, package = self.ours, self.umbi.ats
        tables = package.EntityClassValuations()
        if (states := self._table(ours.state_valuations)) is not None:
            tables.set_state_valuations(states)
        if isinstance(ours, ObservedModel):
            made.add_observation_annotation(num_observations=ours.n_observations)
            made.observation_annotation.set_state_values(ours.observation.tolist())
            if (sights := self._table(ours.observation_valuations)) is not None:
                tables.set_observation_valuations(sights)
        if tables.has_values:
            made.variable_valuations = tables

    def _table(self, ours: Valuations | None) -> Any:
        """Return the variables whose values are all there and of one plain type."""
        if ours is None:
            return None
        made = self.umbi.ats.EntityValuations()
        for place, variable in enumerate(ours.variables):
            if (ours.codes[:, place] == MISSING).any():
                continue
            values = [ours.value(row, place) for row in range(len(ours))]
            if len({type(value) for value in values}) == 1 and type(values[0]) in _PLAIN:
                theirs = made.add_variable(variable.name)
                for row, value in enumerate(values):
                    made.set_entity_valuation(row, {theirs: value})
        return made if made.num_variables else None


_WORD = re.compile("[a-z0-9_-]+")


def _words(names: Iterable[str]) -> list[str]:
    """Return what UMB allows as a name of an annotation: the names themselves go to the aliases."""
    return tokens_for([name.lower() for name in names], taken=("init",), keep=_WORD)


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read(ats: Any, tables: Mapping[str, Valuations], added: Collection[int], tolerance: float) -> Model:
    """Return what a transition system says, but for its comment."""
    choices = [(state, list(ats.get_state_choices(state))) for state in ats.states]
    kept = np.array([state not in added for state, of_state in choices for _ in of_state], dtype=bool)
    values = [branch.prob for _, of_state in choices for choice in of_state for branch in choice.branches]
    intervals = any(hasattr(value, "left") for value in values)
    notes = {note.alias or name: note for name, note in ats.reward_annotations.items()}
    on_branches = {name: note.branch_values for name, note in notes.items() if note.has_branch_values}
    rows = Rows(ats.num_states, list(on_branches), intervals=intervals)
    at = 0
    for state, of_state in choices:
        names = distinct([_name(ats, choice.action) for choice in of_state])
        if state in added:
            at += sum(choice.num_branches for choice in of_state)
            continue
        for name, choice in zip(names if ats.num_players else [""] * len(of_state), of_state, strict=True):
            branches = []
            for branch in choice.branches:
                paid = [float(numbers[at]) for numbers in on_branches.values()]
                branches.append((branch.target, _probability(branch.prob, choice, intervals), *paid))
                at += 1
            rows.choice(state, name, branches)
    arguments = rows.arrays(bool(ats.num_players), tolerance=tolerance)
    starts = list(ats.initial_states)
    if not starts:
        raise BadModel("no state is initial: say where an episode starts")
    arguments |= {
        "initial": {state: 1 / len(starts) for state in starts},
        "labels": {
            note.alias or name: np.asarray(note.state_values, dtype=bool)
            for name, note in ats.ap_annotations.items()
            if name != "init" or not np.array_equal(note.state_values, ats.state_is_initial)
        },
        "rewards": rewards_of(
            list(notes),
            {name: _floats(note.state_values) for name, note in notes.items() if note.has_state_values},
            {name: _floats(note.choice_values)[kept] for name, note in notes.items() if note.has_choice_values},
            rows.transition_rewards(),
        ),
    }
    arguments["state_valuations"] = tables.get("states")
    seen = ats.observation_annotation
    if seen is not None and ats.num_observations:
        if not seen.has_state_values:
            raise BadModel("observations of branches cannot be read: only those of states")
        arguments["observation"] = [int(one) for one in seen.state_values]
        arguments["observation_names"] = [f"o{number}" for number in range(seen.num_observations)]
        arguments["observation_valuations"] = tables.get("observations")
    observed = "observation" in arguments
    kind = ("pomdp" if observed else "mdp") if ats.num_players else ("hmm" if observed else "dtmc")
    return make(kind, **arguments)


def _name(ats: Any, action: int | None) -> str | None:
    """Return the name of an action, None where it has none."""
    if action is None:
        return None
    names = ats.choice_action_to_name
    return str(names[action]) if names else f"a{action}"


def _probability(value: Any, choice: Any, intervals: bool) -> Any:
    """Return a probability as a float, or the ends of an interval; where none is given there is one branch."""
    if value is None:
        if choice.num_branches > 1:
            raise BadModel(f"state {choice.state} has a choice of {choice.num_branches} branches without probabilities")
        value = 1.0
    if intervals:
        return float(getattr(value, "left", value)), float(getattr(value, "right", value))
    return float(value)


def _floats(values: Sequence[Any]) -> Any:
    return np.array([float(value) for value in values])


def _tables(held: Any) -> dict[str, Valuations]:
    """Return the values of the variables in a file, by what has them; bounds become domains."""
    found = {}
    for place, told in (held.index.valuations or {}).items():
        if len(told.classes) != 1:
            raise BadModel(f"the valuations of {place} have {len(told.classes)} classes; only one can be read")
        columns = [one for one in told.classes[0].attributes if getattr(one, "name", None)]
        variables, shift = [], {}
        for one in columns:
            bounds = isinstance(one.lower, int) and isinstance(one.upper, int)
            variables.append(Variable(one.name, IntDomain(one.lower, one.upper) if bounds else None))
            shift[one.name] = one.offset or 0
        rows = [
            {name: _value(value, shift[name]) for name, value in row.items() if name in shift and value is not None}
            for row in held.valuations[place]
        ]
        found[place] = Valuations.from_rows(variables, rows)
    return found


def _value(value: Any, offset: int) -> Any:
    """Return a plain value; numbers are stored with an offset taken off."""
    if isinstance(value, bool | str):
        return value
    value = value + offset if offset else value
    return value if isinstance(value, int | float) else float(value)


def _valuations(table: Any, count: int) -> Valuations:
    """Return the values of variables."""
    names = [variable.name for variable in table.variables]
    rows: list[dict[str, Any]] = []
    for entity in range(count):
        given = table.get_entity_valuation(entity)
        pairs = ((variable.name, value) for variable, value in given.items() if value is not None)
        rows.append({name: _value(value, 0) for name, value in pairs})
    return Valuations.from_rows(names, rows)
