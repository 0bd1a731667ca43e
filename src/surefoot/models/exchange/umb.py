"""UMB files, the binary format that several model checkers share (extra `umb`).

| UMB | here |
|---|---|
| no player, or one | `MarkovChain` and `HMM`, or `MDP` and `POMDP` |
| initial states | the initial distribution, each as likely |
| atomic propositions | labels |
| rewards on states, choices and branches | the same |
| observations of states | the same, one a state |
| variables of states and of observations | variables, with the domain that their bounds are |
| a branch back to the state, as its only choice | written where a state has no choices, since Storm wants one |
| names of choice actions | names of actions; names of branch actions are left out |

What UMB has no words for (names of states, domains of variables, initial distributions, …) stands in the comment of the
file's model data, where other programs do not look. Exact rationals are rounded once.

Source: the Unified Markov Binary format, as the package umbi (MIT) reads and writes it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from tarfile import TarError
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


def read_umb(path: str | Path, *, tolerance: float = 0.0) -> Model:
    """Return the model of a UMB file.

    Args:
        path: the file.
        tolerance: rows whose sum differs from 1 by at most this are divided by it.

    Raises:
        MissingExtra: umbi is not installed.
        BadModel: there is no such file, or it holds no model of a kind that there is here.

    Cost: linear; about 11 µs for each branch, most of it in umbi.

    Example:
        >>> try:
        ...     read_umb("nowhere.umb")
        ... except (MissingExtra, BadModel) as error:
        ...     print(type(error).__name__ in ("MissingExtra", "BadModel"))
        True
    """
    umbi = _umbi()
    if not Path(path).is_file():
        raise BadModel(f"there is no file {path}")
    try:
        held = umbi.umb.read(str(path))
    except (AssertionError, KeyError, NotImplementedError, TarError, ValueError) as error:
        raise BadModel(f"umbi cannot read {path}: {error}") from error
    return from_umb(held, tolerance=tolerance)


def write_umb(model: Model, path: str | Path) -> None:
    """Write a model to a UMB file.

    Raises:
        MissingExtra: umbi is not installed.
        BadModel: observations are drawn at random, for which UMB has no words.

    Cost: linear; about 35 µs for each branch, most of it in umbi.

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
    held = to_umb(model)
    _umbi().umb.write(held, str(path))


def to_umb(model: Model) -> Any:
    """Return a model as umbi's `ExplicitUmb`, which is what a file holds.

    Raises:
        MissingExtra: umbi is not installed.
        BadModel: observations are drawn at random.

    Cost: linear; about 5 µs for each branch.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> try:
        ...     print(to_umb(loop).branch_to_target)
        ... except MissingExtra:
        ...     print([0])
        [0]
    """
    checked_observations(model, "UMB")
    umbi = _umbi()
    held = _Writer(model, umbi).held()
    added = loops(model)
    rest = rest_of(model, _read(held, frozenset(added), 0.0), added)
    if rest is not None:
        held.index.model_data = umbi.umb.index.ModelData(comment=MARK + rest)
    held.validate()
    return held


def from_umb(held: Any, *, tolerance: float = 0.0) -> Model:
    """Return the model of an `ExplicitUmb` of umbi; nothing is imported for it.

    Args:
        held: what a file holds.
        tolerance: rows whose sum differs from 1 by at most this are divided by it.

    Raises:
        BadModel: it has rates, or more than one player.

    Cost: linear; about 4 µs for each branch.

    Example:
        >>> from_umb("no file")
        Traceback (most recent call last):
        surefoot.errors.BadModel: an ExplicitUmb of umbi is wanted, got 'no file'
    """
    system = getattr(getattr(held, "index", None), "transition_system", None)
    if system is None:
        raise BadModel(f"an ExplicitUmb of umbi is wanted, got {held!r}")
    if system.time != "discrete":
        raise BadModel(f"time is {system.time}: only models in steps (discrete) can be read")
    if system.num_players > 1:
        raise BadModel(f"it has {system.num_players} players: only models of one player or none can be read")
    comment = held.index.model_data.comment if held.index.model_data is not None else None
    rest = comment.removeprefix(MARK) if comment and comment.startswith(MARK) else None
    return restored(_read(held, loops_of(rest), tolerance), rest)


def _umbi() -> Any:
    """Return the package umbi."""
    try:
        import umbi
        import umbi.binary
        import umbi.binary.struct_type
        import umbi.datatypes
        import umbi.umb
        import umbi.version
    except ImportError as error:
        raise MissingExtra.of("umbi", extra="umb", what="UMB files") from error
    return umbi


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Writer:
    """Write one model."""

    def __init__(self, model: Model, umbi: Any) -> None:
        self.ours, self.umbi = model, umbi
        self.choices: list[int | None] = []
        self.branches: list[int | None] = []
        self.double = self._sized(umbi.datatypes.NumericPrimitiveType.DOUBLE)
        self.bool = self._sized(umbi.datatypes.PrimitiveType.BOOL)

    def _sized(self, kind: Any) -> Any:
        return self.umbi.binary.SizedType.for_type(kind)

    def held(self) -> Any:
        """Return what a file holds."""
        ours, index = self.ours, self.umbi.umb.index
        made = self.umbi.umb.ExplicitUmb()
        self._rows(made)
        system = index.TransitionSystem(
            time="discrete",
            num_players=1 if ours.has_actions else 0,
            num_states=ours.n_states,
            num_initial_states=int(np.count_nonzero(ours.initial)),
            num_choices=len(self.choices),
            num_choice_actions=ours.n_actions if ours.has_actions else 0,
            num_branches=len(self.branches),
            branch_probability_type=self._kind_of_probability(),
        )
        made.index = index.UmbIndex(
            format_version=self.umbi.version.__format_version__,
            format_revision=self.umbi.version.__format_revision__,
            transition_system=system,
        )
        made.state_is_initial = (ours.initial > 0).tolist()
        if ours.has_actions:
            made.state_to_player = [0] * ours.n_states
            made.choice_action_to_string = list(ours.action_names)
        self._notes(made)
        tables = {"states": ours.state_valuations}
        if isinstance(ours, ObservedModel):
            system.num_observations, system.observations_apply_to = ours.n_observations, "states"
            made.entity_to_observation = ours.observation.tolist()
            tables["observations"] = ours.observation_valuations
        self._variables(made, tables)
        return made

    def _kind_of_probability(self) -> Any:
        if not self.ours.has_intervals:
            return self.double
        return self._sized(self.umbi.datatypes.IntervalType(self.umbi.datatypes.NumericPrimitiveType.DOUBLE))

    def _rows(self, made: Any) -> None:
        """Add the choices and their branches."""
        ours = self.ours
        values: list[Any] = ours.probability.tolist()
        whole: Any = 1.0
        if ours.lower is not None and ours.upper is not None:
            interval = self.umbi.datatypes.Interval
            whole = interval(1.0, 1.0)
            values = [interval(*ends) for ends in zip(ours.lower.tolist(), ours.upper.tolist(), strict=True)]
        starts, targets = ours.branch_start.tolist(), ours.target.tolist()
        made.state_to_choices, made.choice_to_branches = [0], [0]
        made.branch_to_target, made.branch_to_probability = [], []
        actions: list[int] = []
        for state in range(ours.n_states):
            for choice in ours.choices(state) or (None,):  # None: a branch back, where there is no choice
                self.choices.append(choice)
                actions.append(0 if choice is None else int(ours.choice_action[choice]))
                self.branches += [None] if choice is None else range(starts[choice], starts[choice + 1])
                made.choice_to_branches.append(len(self.branches))
                for at in self.branches[made.choice_to_branches[-2] :]:
                    made.branch_to_target.append(state if at is None else targets[at])
                    made.branch_to_probability.append(whole if at is None else values[at])
            made.state_to_choices.append(len(self.choices))
        if ours.has_actions and ours.n_actions:
            made.choice_to_choice_action = actions

    def _notes(self, made: Any) -> None:
        """Add labels and rewards; their names are aliases, since what UMB allows as names is narrow."""
        ours, describe = self.ours, self.umbi.umb.index.AnnotationDescription
        made.annotations, made.index.annotations = {}, {}
        for category, names in (("aps", list(ours.labels)), ("rewards", list(ours.rewards))):
            told: dict[str, Any] = {}
            values: dict[str, Any] = {}
            for word, name in zip(_words(names), names, strict=True):
                parts = {"states": ours.labels[name].tolist()} if category == "aps" else self._paid(name)
                alias = name if (category, name) != ("aps", "init") else None  # a name that is taken
                kind = self.bool if category == "aps" else self.double
                told[word] = describe(alias=alias, applies_to=list(parts), type=kind)
                values[word] = parts
            if told:
                made.annotations[category], made.index.annotations[category] = values, told

    def _paid(self, name: str) -> dict[str, list[float]]:
        """Return the parts of a reward; a state that is never left pays nothing."""
        ours, reward = self.ours, self.ours.rewards[name]
        parts: dict[str, list[float]] = {}
        if reward.state is not None or (reward.choice is None and reward.transition is None):
            state = np.zeros(ours.n_states) if reward.state is None else reward.state.copy()
            state[np.diff(ours.choice_start) == 0] = 0.0
            parts["states"] = state.tolist()
        for part, where, given in (
            ("choices", self.choices, reward.choice),
            ("branches", self.branches, reward.transition),
        ):
            if given is not None:
                numbers = given.tolist()
                parts[part] = [0.0 if place is None else numbers[place] for place in where]
        return parts

    def _variables(self, made: Any, tables: dict[str, Valuations | None]) -> None:
        """Add the variables whose values are all there, and whole numbers, numbers or bools."""
        struct, types = self.umbi.binary.struct_type, self.umbi.datatypes
        kinds = {
            bool: self.bool,
            int: self._sized(types.NumericPrimitiveType.INT),
            float: self.double,
        }
        for place, table in tables.items():
            columns: dict[str, list[Any]] = {}
            for at, variable in enumerate(table.variables if table is not None else ()):
                assert table is not None
                if (table.codes[:, at] == MISSING).any():
                    continue
                values = [table.value(row, at) for row in range(len(table))]
                if len({type(value) for value in values}) == 1 and type(values[0]) in kinds:
                    columns[variable.name] = values
            if not columns or any(abs(v) >= 2**63 for c in columns.values() for v in c):
                continue
            fields = [struct.StructAttribute(name=n, sized_type=kinds[type(c[0])]) for n, c in columns.items()]
            spare = -sum(one.size_bits for one in fields) % 8
            padding = [struct.StructPadding(padding=spare)] if spare else []
            described = self.umbi.umb.index.valuations.ValuationDescription(
                unique=False, classes=[struct.StructType(fields=[*fields, *padding])]
            )
            made.index.valuations = {**(made.index.valuations or {}), place: described}
            rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
            made.valuations = {**(made.valuations or {}), place: rows}


_WORD = re.compile("[a-z0-9_-]+")


def _words(names: Iterable[str]) -> list[str]:
    """Return what UMB allows as a name of an annotation: the names themselves go to the aliases."""
    return tokens_for([name.lower() for name in names], taken=("init",), keep=_WORD)


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read(held: Any, added: Collection[int], tolerance: float) -> Model:
    """Return what a file says, but for its comment."""
    system = held.index.transition_system
    acts = bool(system.num_players)
    choices = held.state_to_choices or list(range(system.num_states + 1))
    notes = _notes(held, "rewards")
    on_branches = {name: parts["branches"] for name, parts in notes.items() if "branches" in parts}
    rows = _rows(held, choices, on_branches, added)
    arguments = rows.arrays(acts, tolerance=tolerance)
    starts = [state for state, initial in enumerate(held.state_is_initial) if initial]
    if not starts:
        raise BadModel("no state is initial: say where an episode starts")
    kept = np.array([state not in added for state in np.repeat(np.arange(system.num_states), np.diff(choices))])
    labels = {name: np.asarray(parts["states"], dtype=bool) for name, parts in _notes(held, "aps").items()}
    if "init" in labels and np.array_equal(labels["init"], held.state_is_initial):
        del labels["init"]
    arguments |= {
        "initial": {state: 1 / len(starts) for state in starts},
        "labels": labels,
        "rewards": rewards_of(
            list(notes),
            {name: _floats(parts["states"]) for name, parts in notes.items() if "states" in parts},
            {name: _floats(parts["choices"])[kept] for name, parts in notes.items() if "choices" in parts},
            rows.transition_rewards(),
        ),
    }
    tables = _tables(held)
    arguments["state_valuations"] = tables.get("states")
    observed = bool(system.num_observations)
    if observed:
        if system.observations_apply_to != "states":
            raise BadModel("observations of branches cannot be read: only those of states")
        arguments["observation"] = list(held.entity_to_observation)
        arguments["observation_names"] = [f"o{number}" for number in range(system.num_observations)]
        arguments["observation_valuations"] = tables.get("observations")
    return make(("pomdp" if observed else "mdp") if acts else ("hmm" if observed else "dtmc"), **arguments)


def _rows(held: Any, choices: Sequence[int], on_branches: dict[str, Any], added: Collection[int]) -> Rows:
    """Return the choices of all states, but for those that a writer of ours added."""
    system = held.index.transition_system
    branches = held.choice_to_branches or list(range(system.num_choices + 1))
    values = held.branch_to_probability
    intervals = any(hasattr(value, "left") for value in values or ())
    rows = Rows(system.num_states, list(on_branches), intervals=intervals)
    for state in range(system.num_states):
        of_state = range(choices[state], choices[state + 1])
        if state in added:
            continue
        names = distinct([_name(held, choice) for choice in of_state]) if system.num_players else [""] * len(of_state)
        for name, choice in zip(names, of_state, strict=True):
            where = range(branches[choice], branches[choice + 1])
            if values is None and len(where) > 1:
                raise BadModel(f"state {state} has a choice of {len(where)} branches without probabilities")
            found = []
            for at in where:
                value = 1.0 if values is None else values[at]
                ends = (float(getattr(value, "left", value)), float(getattr(value, "right", value)))
                paid = (float(numbers[at]) for numbers in on_branches.values())
                found.append((held.branch_to_target[at], ends if intervals else float(value), *paid))
            rows.choice(state, name, found)
    return rows


def _name(held: Any, choice: int) -> str | None:
    """Return the name of the action of a choice, None where it has none."""
    if held.choice_to_choice_action is None:
        return None
    action = held.choice_to_choice_action[choice]
    names = held.choice_action_to_string
    return str(names[action]) if names else f"a{action}"


def _notes(held: Any, category: str) -> dict[str, dict[str, Any]]:
    """Return {name: {what they are of: values}} of the labels or the rewards."""
    told = (held.index.annotations or {}).get(category) or {}
    return {note.alias or word: held.annotations[category][word] for word, note in told.items()}


def _floats(values: Sequence[Any]) -> Any:
    return np.array([float(value) for value in values])


def _tables(held: Any) -> dict[str, Valuations]:
    """Return the values of the variables, by what has them; bounds become domains."""
    found = {}
    for place, told in (held.index.valuations or {}).items():
        if len(told.classes) != 1:
            raise BadModel(f"the valuations of {place} have {len(told.classes)} classes; only one can be read")
        variables = []
        shift: dict[str, int] = {}
        for one in told.classes[0].attributes:
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
