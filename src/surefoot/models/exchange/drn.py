"""Models as DRN text, the explicit format that Storm reads and writes.

| DRN | here |
|---|---|
| `@type: DTMC`, `MDP`, `POMDP` | `MarkovChain`, `MDP`, `POMDP`; an `HMM` is written as a POMDP of one action |
| the label `init` | the initial states, each as likely; it is not a label |
| `action __NOLABEL__` | the name of the action is empty, or `#0`, `#1`, … where a state has several choices |
| `[…]` after a state | the rewards on states |
| `[…]` after an action | the rewards on choices; transition rewards are written as what they pay on average |
| `@value_type: double-interval` | an interval model |
| a branch back to the state, as its only choice | written where a state has no choices, since Storm wants one |
| `//[x=1 & y=2]` after a state, as Storm writes it | the values of the variables of states |

What DRN has no words for (names of states, domains of variables, initial distributions, transition rewards, …) stands
in a comment, `// surefoot: …`, which Storm skips.

Source: the Storm project's description of the DRN format; what the description leaves open was tried on Storm itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import BadModel
from surefoot.models.exchange._rest import MARK, loops_of, rest_of, restored
from surefoot.models.exchange._rows import Rows, distinct, make, rewards_of, unlabelled
from surefoot.models.exchange._texts import checked_observations, folded_rewards, loops, tokens_for
from surefoot.models.markov import Model, ObservedModel
from surefoot.models.valuations import Valuations

__all__ = ["from_drn", "read_drn", "to_drn", "write_drn"]

_NO_LABEL = "__NOLABEL__"
_TYPES = {"DTMC": "dtmc", "MDP": "mdp", "POMDP": "pomdp"}
_WRITTEN = {"dtmc": "DTMC", "mdp": "MDP", "pomdp": "POMDP", "hmm": "POMDP"}
_TOKEN = re.compile(r'"([^"]*)"|(\S+)')
_STATE = re.compile(r"state\s+(\d+)\s*(?:!\S+\s*)?(?:\{(\d+)\})?\s*(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?\s*(.*)")
_ACTION = re.compile(r'action\s+(?:"([^"]*)"|([^\[]*[^\[\s]))\s*(?:\[((?:[^\[\]]|\[[^\]]*\])*)\])?\s*')
_REWARD = re.compile(r"\[\s*([^,\]]+),\s*([^\]]+)\]|([^,\s]+)")
_INTERVAL = re.compile(r"\[\s*([^,\]]+),\s*([^\]]+)\]")


def to_drn(model: Model) -> str:
    """Return a model as DRN text, numbers with all their digits.

    Raises:
        BadModel: observations are drawn at random, for which DRN has no words.

    Cost: linear; about 15 µs for each branch, of which half is reading it back.

    Example:
        >>> from surefoot.models import MDP, RewardModel
        >>> mdp = MDP(choice_start=[0, 1, 1], choice_action=[0], branch_start=[0, 2], target=[0, 1],
        ...           probability=[0.25, 0.75], initial=0, action_names=["go"], labels={"goal": [1]},
        ...           rewards={"cost": RewardModel(choice=[1.0])})
        >>> print(to_drn(mdp).partition("@model")[2].expandtabs(4))
        <BLANKLINE>
        state 0 [0.0] init
            action go [1.0]
                0 : 0.25
                1 : 0.75
        state 1 [0.0] goal
            action __NOLABEL__ [0.0]
                1 : 1.0
        <BLANKLINE>
    """
    checked_observations(model, "DRN")
    text = "\n".join(_lines(model)) + "\n"
    added = loops(model)
    rest = rest_of(model, _Reader(text, 0.0, frozenset(added)).model(), added)
    return text if rest is None else f"// {MARK}{rest}\n{text}"


def write_drn(model: Model, path: str | Path) -> None:
    """Write a model to a DRN file; see `to_drn`.

    Raises:
        BadModel: DRN has no words for it.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> import tempfile
        >>> loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_drn(loop, f"{folder}/loop.drn")
        ...     read_drn(f"{folder}/loop.drn") == loop
        True
    """
    Path(path).write_text(to_drn(model), encoding="utf-8")


def read_drn(path: str | Path, *, tolerance: float = 0.0) -> Model:
    """Return the model of a DRN file; see `from_drn`.

    Raises:
        BadModel: it is no DRN text, or no model of a kind that there is here.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "no.drn").write_text("state 0", encoding="utf-8")
        ...     read_drn(f"{folder}/no.drn")
        Traceback (most recent call last):
        surefoot.errors.BadModel: this is no DRN text: there is no line @type
    """
    return from_drn(Path(path).read_text(encoding="utf-8"), tolerance=tolerance)


def from_drn(text: str, *, tolerance: float = 0.0) -> Model:
    """Return the model that DRN text describes.

    Args:
        text: the text.
        tolerance: rows whose sum differs from 1 by at most this are divided by it. Storm writes ten digits, so that
            rows of many branches may need `1e-6`.

    Raises:
        NotADistribution: a row does not sum to 1.
        BadModel: it is no DRN text, or no model of a kind that there is here (CTMC, MA, SMG; parameters).

    Cost: linear; about 8 µs for each line.

    Example:
        >>> chain = from_drn('''@type: DTMC
        ... @parameters
        ...
        ... @reward_models
        ... steps
        ... @nr_states
        ... 2
        ... @model
        ... state 0 [1] init
        ...     action 0
        ...         0 : 1/3
        ...         1 : 2/3
        ... state 1 [0] end
        ... ''')
        >>> chain.row(0)[1].tolist(), chain.labels_of(1), chain.reward("steps").state.tolist()
        ([0.3333333333333333, 0.6666666666666666], ('end',), [1.0, 0.0])
    """
    return _Reader(text, tolerance).model()


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _lines(model: Model) -> Iterator[str]:
    """Yield the lines of a model."""
    states, actions = folded_rewards(model)
    names = tokens_for(model.rewards)
    kind = "double-interval" if model.has_intervals else "double"
    yield from (f"@type: {_WRITTEN[model.kind]}", f"@value_type: {kind}", "@parameters", "", "@reward_models")
    yield from (
        " ".join(names),
        "@nr_states",
        str(model.n_states),
        "@nr_choices",
        str(model.n_choices + len(loops(model))),
        "@model",
    )
    labels = [_quoted(name) for name in tokens_for(model.labels, taken=("init",), keep=_QUOTABLE)]
    action_names = tokens_for(model.action_names, taken=(_NO_LABEL,), keep=_BARE)
    place_of = {name: place for place, name in enumerate(model.labels)}
    initial = (model.initial > 0).tolist()
    for state in range(model.n_states):
        seen = f" {{{model.observations_of(state)[0][0]}}}" if isinstance(model, ObservedModel) else ""
        marks = [*(["init"] if initial[state] else []), *(labels[place_of[name]] for name in model.labels_of(state))]
        yield f"state {state}{seen}{_paid(states, state)}{''.join(' ' + mark for mark in marks)}"
        rows = model.choices(state)
        if not rows:
            nothing = f" [{', '.join(['0.0'] * len(names))}]" if names else ""
            yield f"\taction {_NO_LABEL}{nothing}"
            yield f"\t\t{state} : {'[1.0, 1.0]' if model.has_intervals else '1.0'}"
        for place, choice in enumerate(rows):
            number = int(model.choice_action[choice])
            plain = model.action_name(number) == unlabelled(place, len(rows))
            yield f"\taction {_NO_LABEL if plain else action_names[number]}{_paid(actions, choice)}"
            yield from _branches(model, choice)


_QUOTABLE = re.compile(r'[^"\n\r]+')
_BARE = re.compile(r"[^\s\"\[\]{}]+")


def _quoted(name: str) -> str:
    """Return a token, in quotes if it needs them."""
    return name if _BARE.fullmatch(name) else f'"{name}"'


def _paid(rewards: Sequence[Any], place: int) -> str:
    """Return the rewards at a place."""
    return f" [{', '.join(repr(float(array[place])) for array in rewards)}]" if rewards else ""


def _branches(model: Model, choice: int) -> Iterator[str]:
    """Yield the lines of the branches of a choice, targets rising."""
    where = slice(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
    order = np.argsort(model.target[where], kind="stable")
    targets = model.target[where][order].tolist()
    if model.lower is not None and model.upper is not None:
        ends = zip(model.lower[where][order].tolist(), model.upper[where][order].tolist(), strict=True)
        values = [f"[{low!r}, {high!r}]" for low, high in ends]
    else:
        values = [repr(value) for value in model.probability[where][order].tolist()]
    yield from (f"\t\t{target} : {value}" for target, value in zip(targets, values, strict=True))


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Reader:
    """Read one text."""

    def __init__(self, text: str, tolerance: float, added: frozenset[int] = frozenset()) -> None:
        self.lines = text.splitlines()
        self.added = added
        self.tolerance = tolerance
        self.kind = ""
        self.intervals = False
        self.rewards: list[str] = []
        self.rest: str | None = None
        self.count = 0
        self.observation: list[int] = []
        self.state_rewards: list[list[float]] = []
        self.choice_rewards: list[list[float]] = []
        self.labels: dict[str, list[int]] = {}
        self.values: list[dict[str, Any]] = []
        self.names: list[str | None] = []
        self.branches: list[list[tuple[int, Any]]] = []

    def model(self) -> Model:
        """Return the model."""
        start = self._header()
        self.added = self.added or loops_of(self.rest)
        self.rows = Rows(self.count, intervals=self.intervals)
        for number, line in enumerate(self.lines[start:], start + 1):
            try:
                self._line(line)
            except (ValueError, ZeroDivisionError) as error:
                raise BadModel(f"line {number} of the DRN text, {line.strip()!r}: {error}") from None
        self._close()
        if len(self.state_rewards) != self.count:
            raise BadModel(f"the DRN text says @nr_states {self.count}, but it has {len(self.state_rewards)} states")
        return restored(make(self.kind, **self._arguments()), self.rest)

    def _header(self) -> int:
        """Read what stands before `@model`; return the number of the line after it."""
        section = ""
        for number, line in enumerate(self.lines):
            word = line.strip()
            if word.startswith("//"):
                found = word.removeprefix("//").strip()
                self.rest = found.removeprefix(MARK) if found.startswith(MARK) else self.rest
            elif word.startswith("@"):
                section, _, value = word[1:].partition(":")
                section = section.strip()
                if section == "model":
                    if not self.kind:
                        break
                    return number + 1
                self._word(section, value.strip())
            elif word:
                self._word(section, word)
        raise BadModel(f"this is no DRN text: there is no line {'@model' if self.kind else '@type'}")

    def _word(self, section: str, value: str) -> None:
        """Take in one word of the header."""
        if not value:
            return
        if section == "type":
            if value.upper() not in _TYPES:
                raise BadModel(f"a DRN text of type {value} cannot be read: there are {', '.join(_TYPES)}")
            self.kind = _TYPES[value.upper()]
        elif section == "value_type":
            if value not in ("double", "double-interval", "rational", "rational-interval"):
                raise BadModel(f"values of the type {value} cannot be read: fix the parameters first")
            self.intervals = value.endswith("interval")
        elif section == "parameters":
            raise BadModel(f"the DRN text has the parameters {value}: fix them first, a model has numbers")
        elif section == "reward_models":
            self.rewards += value.split()
        elif section == "nr_states":
            self.count = int(value)

    def _line(self, line: str) -> None:
        """Take in one line of the model."""
        word = line.strip()
        if word.startswith("//["):
            self.values[-1] = _valuation(word[3:].removesuffix("]"))
        elif not word or word.startswith("//"):
            return
        elif word.startswith("state"):
            self._close()
            self._state(word)
        elif word.startswith("action"):
            self._action(word)
        else:
            target, colon, value = word.partition(":")
            if not colon or not self.branches:
                raise ValueError("a line 'state …', 'action …' or 'target : probability' is wanted")
            number = int(target)
            if not 0 <= number < self.count:
                raise ValueError(f"there is no state {number}: numbers are in [0, {self.count})")
            self.branches[-1].append((number, self._value(value)))

    def _state(self, word: str) -> None:
        found = _STATE.fullmatch(word)
        number = len(self.state_rewards)
        if found is None or int(found[1]) != number:
            raise ValueError(f"'state {number}' is wanted here, states come in the order of their numbers")
        self.observation.append(int(found[2] or 0))
        self.state_rewards.append(self._numbers(found[3]))
        self.values.append({})
        for quoted, plain in _TOKEN.findall(found[4]):
            self.labels.setdefault(quoted or plain, []).append(number)

    def _action(self, word: str) -> None:
        found = _ACTION.fullmatch(word)
        if found is None or not self.state_rewards:
            raise ValueError("'action NAME [rewards]' is wanted, after a state")
        name = found[1] if found[1] is not None else found[2]
        self.names.append(None if name == _NO_LABEL else name)
        self.choice_rewards.append(self._numbers(found[3]))
        self.branches.append([])

    def _numbers(self, given: str | None) -> list[float]:
        """Return the rewards in brackets, one for each reward model."""
        numbers = [_reward(*one) for one in _REWARD.findall(given or "")]
        if not self.rewards and numbers:
            self.rewards = ["default"] if len(numbers) == 1 else [f"default{n}" for n in range(len(numbers))]
        if len(numbers) > len(self.rewards):
            raise ValueError(f"there are {len(numbers)} rewards but only the names {self.rewards}")
        return numbers + [0.0] * (len(self.rewards) - len(numbers))

    def _value(self, given: str) -> Any:
        """Return a probability, or the ends of an interval."""
        found = _INTERVAL.fullmatch(given.strip())
        if found is not None:
            if not self.intervals:
                raise ValueError("an interval, but @value_type is not double-interval")
            return float(Fraction(found[1].strip())), float(Fraction(found[2].strip()))
        value = float(Fraction(given.strip()))
        return (value, value) if self.intervals else value

    def _close(self) -> None:
        """Put the choices of the last state into the rows."""
        state = len(self.state_rewards) - 1
        chain = self.kind == "dtmc"
        if state in self.added:
            del self.choice_rewards[len(self.choice_rewards) - len(self.names) :]
            self.names, self.branches = [], []
        for name, branches in zip(distinct(self.names), self.branches, strict=True):
            self.rows.choice(state, "" if chain else name, branches)
        self.names, self.branches = [], []

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of the model."""
        starts = self.labels.pop("init", [])
        if not starts:
            raise BadModel("no state of the DRN text has the label init: say where an episode starts")
        state, choice = _columns(self.state_rewards, self.rewards), _columns(self.choice_rewards, self.rewards)
        found = self.rows.arrays(self.kind != "dtmc", tolerance=self.tolerance)
        found |= {"labels": self.labels, "rewards": rewards_of(self.rewards, state, choice)}
        found["initial"] = {one: 1 / len(starts) for one in starts}
        if self.kind == "pomdp":
            found["observation"] = self.observation
        if any(self.values):
            found["state_valuations"] = Valuations.from_rows(None, self.values)
        return found


def _reward(low: str, high: str, value: str) -> float:
    """Return a reward, which may be written as an interval of one number."""
    if value:
        return float(Fraction(value))
    if Fraction(low) != Fraction(high):
        raise ValueError(f"the reward is the interval [{low}, {high}]; rewards are numbers here")
    return float(Fraction(low))


def _columns(rows: list[list[float]], names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of a table of rewards by name."""
    return {
        name: np.array([row[place] if place < len(row) else 0.0 for row in rows], np.float64)
        for place, name in enumerate(names)
    }


def _valuation(text: str) -> dict[str, Any]:
    """Return the values that Storm writes behind a state: `x=1 & !b & c`."""
    found: dict[str, Any] = {}
    for part in filter(None, (one.strip() for one in text.split("&"))):
        name, equals, value = part.partition("=")
        if not equals:
            found[part.removeprefix("!")] = not part.startswith("!")
        elif value in ("true", "false"):
            found[name] = value == "true"
        else:
            number = Fraction(value)
            found[name] = int(number) if number.denominator == 1 and "." not in value else float(number)
    return found
