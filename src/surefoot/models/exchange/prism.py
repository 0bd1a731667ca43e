"""Models as the explicit files of PRISM, and of Storm, which has a dialect of them.

A model with the stem `folder/model` is these files:

| file | what it holds |
|---|---|
| `model.tra` | choices and branches; what is a chain, an MDP or a POMDP is told by the numbers in its first line |
| `model.lab` | labels; `init` is where an episode starts, `deadlock` where a branch back was added: no labels here |
| `model.srew`, `model.trew` | rewards on states and on branches; `model1.srew`, … where there are several |
| `model.sta` | the values of the variables of states, if all are whole numbers or bools |
| `model.clab` | names of actions, in Storm's dialect only; PRISM has them in `model.tra` |
| `model.surefoot.json` | what these files have no words for; other programs do not look at it, and it can be deleted |

In a .trew file a reward that is the same on all branches of a choice is one on the choice, as in PRISM's language;
otherwise it is on the branches. Both dialects want a choice in every state: where there is none, a branch back to the
state is written, and taken out again on reading.

Source: the PRISM manual, appendix "Explicit Model Files"; Storm's dialect was tried on Storm itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import numpy as np

from surefoot.errors import BadArgument, BadModel
from surefoot.models.exchange._rest import loops_of, rest_of, restored
from surefoot.models.exchange._rows import Rows, distinct, make, rewards_of, unlabelled
from surefoot.models.exchange._texts import checked_observations, loops, tokens_for
from surefoot.models.markov import Model, ObservedModel
from surefoot.models.rewards import RewardModel
from surefoot.models.valuations import MISSING, Valuations

__all__ = ["read_prism", "write_prism"]

Dialect = Literal["prism", "storm"]
_REST = ".surefoot.json"
_SUFFIXES = (".tra", ".lab", ".srew", ".trew", ".sta", ".clab", _REST)
_BUILT_IN = ("init", "deadlock")
_LABEL = re.compile(r'(\d+)\s*=\s*"([^"]*)"')
_REWARD_NAME = re.compile(r'#\s*Reward structure:?\s*"([^"]*)"', re.IGNORECASE)
_INTERVAL = re.compile(r"\[([^,\]]+),([^\]]+)\]")
_HINTS = {"dtmc": "dtmc", "mdp": "mdp"}


def write_prism(model: Model, path: str | Path, *, dialect: Dialect = "prism") -> list[Path]:
    """Write a model as explicit files, and return their paths; see the module for what they hold.

    Args:
        model: the model.
        path: where, without a suffix; files of an earlier model of that name are replaced or deleted.
        dialect: `"prism"`, or `"storm"` for what Storm reads with `--explicit`.

    Raises:
        BadModel: the files have no words for it (observations at random; in Storm's dialect all observations, intervals
            and negative rewards).

    Cost: linear; about 30 µs for each branch, of which half is reading it back.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> import tempfile
        >>> coin = MarkovChain(choice_start=[0, 1, 2, 3], branch_start=[0, 2, 3, 4], target=[1, 2, 1, 2],
        ...                    probability=[0.5, 0.5, 1.0, 1.0], initial=0, labels={"heads": [1]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = write_prism(coin, f"{folder}/coin")
        ...     print(files[0].read_text(encoding="utf-8"))
        ...     [file.name for file in files], read_prism(f"{folder}/coin") == coin
        3 4
        0 1 0.5
        0 2 0.5
        1 1 1.0
        2 2 1.0
        <BLANKLINE>
        (['coin.tra', 'coin.lab'], True)
    """
    if dialect not in ("prism", "storm"):
        raise BadArgument(f"dialect must be 'prism' or 'storm', got {dialect!r}")
    checked_observations(model, "a .tra file")
    if dialect == "storm":
        _check_for_storm(model)
    files = _Writer(model, dialect).files()
    added = loops(model)
    rest = rest_of(model, _read(files, None, added, 0.0), added)
    if rest is not None:
        files[_REST] = rest + "\n"
    stem = Path(path)
    for old in _files_of(stem):
        old.unlink()
    written = []
    for suffix, text in files.items():
        file = stem.with_name(stem.name + suffix)
        file.write_text(text, encoding="utf-8")
        written.append(file)
    return written


def _check_for_storm(model: Model) -> None:
    """Refuse what Storm's dialect has no words for."""
    parts = [(reward.state, reward.choice, reward.transition) for reward in model.rewards.values()]
    for what, there in (
        ("intervals", model.has_intervals),
        ("observations", model.has_observations),
        ("negative rewards", any(part is not None and (part < 0).any() for three in parts for part in three)),
    ):
        if there:
            raise BadModel(f"Storm's explicit files have no words for {what}: use write_drn")


def read_prism(path: str | Path, *, tolerance: float = 0.0) -> Model:
    """Return the model that explicit files hold, of either dialect; see the module for what they are.

    A POMDP of PRISM's own says what is observed in a state where that state is entered. A state that is never entered
    gets an observation of its own.

    Args:
        path: the path without a suffix, or that of the .tra file.
        tolerance: rows whose sum differs from 1 by at most this are divided by it.

    Raises:
        NotADistribution: a row does not sum to 1.
        BadModel: a file is missing, or a line of it is wrong.

    Cost: linear; about 20 µs for each branch.

    Example:
        >>> read_prism("nowhere/model")
        Traceback (most recent call last):
        surefoot.errors.BadModel: there is no file nowhere/model.tra
    """
    stem = Path(path)
    if stem.suffix in _SUFFIXES and not stem.with_name(stem.name + ".tra").exists():
        stem = stem.with_suffix("")
    for suffix in (".tra", ".lab"):
        if not stem.with_name(stem.name + suffix).is_file():
            raise BadModel(f"there is no file {stem}{suffix}")
    files = {file.name.removeprefix(stem.name): file.read_text(encoding="utf-8") for file in _files_of(stem)}
    return _read(files, files.pop(_REST, None), None, tolerance)


def _files_of(stem: Path) -> list[Path]:
    """Return the files of a model that are there."""
    names = [stem.name + suffix for suffix in _SUFFIXES]
    number = 1
    while any(stem.with_name(f"{stem.name}{number}{suffix}").is_file() for suffix in (".srew", ".trew")):
        names += [f"{stem.name}{number}.srew", f"{stem.name}{number}.trew"]
        number += 1
    return [stem.with_name(name) for name in names if stem.with_name(name).is_file()]


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Writer:
    """Write one model, in memory."""

    def __init__(self, model: Model, dialect: Dialect) -> None:
        self.model, self.storm = model, dialect == "storm"
        self.loops = loops(model)
        self.chain = model.kind == "dtmc"
        self.actions = tokens_for(model.action_names)

    def files(self) -> dict[str, str]:
        """Return {suffix: text}."""
        made = {".tra": self._lines(self._transitions()), ".lab": self._lines(self._labels())}
        if self.storm and not self.chain:
            made[".clab"] = self._lines(self._choice_labels())
        values = self._values()
        if values is not None:
            made[".sta"] = self._lines(values)
        rewards = self.model.rewards
        for number, (name, reward) in enumerate(rewards.items(), 1):
            place = "" if len(rewards) == 1 else str(number)
            state = np.zeros(self.model.n_states) if reward.state is None else reward.state.copy()
            state[self.loops] = 0.0  # a state that is never left pays nothing
            made[f"{place}.srew"] = self._lines(self._state_rewards(name, state))
            if reward.choice is not None or reward.transition is not None:
                made[f"{place}.trew"] = self._lines(self._branch_rewards(name, reward))
        return made

    @staticmethod
    def _lines(lines: Iterator[str]) -> str:
        return "".join(f"{line}\n" for line in lines)

    def _choices(self) -> Iterator[tuple[int, int, int | None]]:
        """Yield state, place in it and choice, None for a loop."""
        model = self.model
        for state in range(model.n_states):
            rows = model.choices(state)
            yield from ((state, place, choice) for place, choice in enumerate(rows))
            if not rows:
                yield state, 0, None

    def _order(self, choice: int) -> list[int]:
        """Return the branches of a choice, targets rising."""
        model = self.model
        first, last = int(model.branch_start[choice]), int(model.branch_start[choice + 1])
        found: list[int] = (first + np.argsort(model.target[first:last], kind="stable")).tolist()
        return found

    def _transitions(self) -> Iterator[str]:
        model = self.model
        sizes = f" {model.n_observations}" if isinstance(model, ObservedModel) else ""
        choices, branches = model.n_choices + len(self.loops), model.n_branches + len(self.loops)
        if self.storm:
            yield model.kind
        elif self.chain:
            yield f"{model.n_states} {branches}"
        else:
            yield f"{model.n_states} {choices} {branches}{sizes}"
        for state, place, choice in self._choices():
            lead = f"{state} " if self.chain else f"{state} {place} "
            for target, value in self._branches(state, choice):
                seen = f" {model.observations_of(target)[0][0]}" if isinstance(model, ObservedModel) else ""
                yield f"{lead}{target} {value}{seen}{self._action(place, choice)}"

    def _branches(self, state: int, choice: int | None) -> Iterator[tuple[int, str]]:
        """Yield the targets of a choice and the probabilities as they are written."""
        model = self.model
        if choice is None:
            yield state, "[1.0,1.0]" if model.has_intervals else "1.0"
            return
        for branch in self._order(choice):
            if model.lower is not None and model.upper is not None:
                value = f"[{float(model.lower[branch])!r},{float(model.upper[branch])!r}]"
            else:
                value = repr(float(model.probability[branch]))
            yield int(model.target[branch]), value

    def _action(self, place: int, choice: int | None) -> str:
        """Return the name of an action as it ends a line, empty where it has none."""
        model = self.model
        if choice is None or self.chain or self.storm:
            return ""
        number = int(model.choice_action[choice])
        count = int(np.diff(model.choice_start)[model.choice_state[choice]])
        return "" if model.action_name(number) == unlabelled(place, count) else f" {self.actions[number]}"

    def _labels(self) -> Iterator[str]:
        model = self.model
        names = [*_BUILT_IN, *tokens_for(model.labels, taken=_BUILT_IN)]
        dead = np.zeros(model.n_states, dtype=bool)
        dead[self.loops] = True
        table = np.array([model.initial > 0, dead, *model.labels.values()])
        if self.storm:
            yield from ("#DECLARATION", " ".join(names), "#END")
        else:
            yield " ".join(f'{number}="{name}"' for number, name in enumerate(names))
        for state in np.flatnonzero(table.any(axis=0)).tolist():
            held = np.flatnonzero(table[:, state]).tolist()
            if self.storm:
                yield f"{state} {' '.join(names[number] for number in held)}"
            else:
                yield f"{state}: {' '.join(map(str, held))}"

    def _choice_labels(self) -> Iterator[str]:
        yield from ("#DECLARATION", " ".join(self.actions), "#END")
        for state, place, choice in self._choices():
            if choice is not None:
                yield f"{state} {place} {self.actions[int(self.model.choice_action[choice])]}"

    def _state_rewards(self, name: str, state: Any) -> Iterator[str]:
        paid = np.flatnonzero(state).tolist()
        if not self.storm:
            yield from (f'# Reward structure "{_clean(name)}"', "# State rewards", f"{len(state)} {len(paid)}")
        yield from (f"{one} {float(state[one])!r}" for one in paid)

    def _branch_rewards(self, name: str, reward: RewardModel) -> Iterator[str]:
        model = self.model
        total = np.zeros(model.n_branches)
        total += 0 if reward.choice is None else reward.choice[model.branch_choice]
        total += 0 if reward.transition is None else reward.transition
        if not self.storm:
            sizes = [model.n_states, *([] if self.chain else [model.n_choices + len(self.loops)])]
            yield from (f'# Reward structure "{_clean(name)}"', "# Transition rewards")
            yield " ".join(map(str, [*sizes, np.count_nonzero(total)]))
        for state, place, choice in self._choices():
            lead = f"{state} " if self.chain else f"{state} {place} "
            for branch in self._order(choice) if choice is not None else ():
                if total[branch]:
                    yield f"{lead}{model.target[branch]} {float(total[branch])!r}"

    def _values(self) -> Iterator[str] | None:
        """Return the lines of the .sta file, None where it could not hold the values."""
        table = self.model.state_valuations
        if table is None or not table.variables or (table.codes == MISSING).any():
            return None
        rows = [[table.value(row, place) for place in range(len(table.variables))] for row in range(len(table))]
        if any(type(value) not in (int, bool) for row in rows for value in row):
            return None
        names = tokens_for([variable.name for variable in table.variables])
        lines = [f"({','.join(names)})"]
        lines += [f"{state}:({','.join(str(value).lower() for value in row)})" for state, row in enumerate(rows)]
        return iter(lines)


def _clean(name: str) -> str:
    """Return a name that may stand between quotes."""
    return re.sub(r'["\r\n]', "_", name)


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read(files: Mapping[str, str], rest: str | None, added: list[int] | None, tolerance: float) -> Model:
    """Return the model of {suffix: text}."""
    table = _Table(files[".tra"], frozenset(loops_of(rest) if added is None else added))
    if ".clab" in files:
        table.name_choices(files[".clab"])
    labels = _read_labels(files[".lab"], table)
    starts = labels.pop("init", [])
    labels.pop("deadlock", None)
    if not starts:
        raise BadModel('the .lab file gives no state the label "init": say where an episode starts')
    rows, names = table.rows(), _reward_names(files)
    arguments = rows.arrays(table.kind != "dtmc", tolerance=tolerance)
    arguments |= {"labels": labels, "initial": {state: 1 / len(starts) for state in starts}}
    if table.kind == "pomdp":
        arguments["observation"] = table.observations()
    arguments["rewards"] = _read_rewards(files, names, table, rows)
    if ".sta" in files:
        arguments["state_valuations"] = _read_values(files[".sta"], table.states)
    return restored(make(table.kind, **arguments), rest)


class _Table:
    """Hold the lines of a .tra file: (state, place of the choice, target, probability, observation, action)."""

    def __init__(self, text: str, added: frozenset[int]) -> None:
        lines = list(_words(text, ".tra"))
        if not lines:
            raise BadModel("the .tra file is empty")
        (_, first), *lines = lines
        self.storm = first[0] in _HINTS
        self.kind = _HINTS[first[0]] if self.storm else {2: "dtmc", 3: "mdp", 4: "pomdp"}.get(len(first), "")
        if not self.kind:
            raise BadModel(f"the .tra file begins with {' '.join(first)!r}: sizes are wanted, or dtmc or mdp (Storm)")
        self.added = added
        self.states = 0 if self.storm else _whole(first[0], ".tra", 1)
        self.n_observations = _whole(first[3], ".tra", 1) if self.kind == "pomdp" else 0
        self.seen_first = dict(self._first(number, words) for number, words in lines if words[0] == "-")
        self.lines = [self._line(number, words) for number, words in lines if words[0] != "-"]
        if self.storm:
            self.states = max((max(line[0], line[2]) for line in self.lines), default=-1) + 1
        self.lines = [line for line in self.lines if line[0] not in added]
        self.lines.sort(key=lambda line: line[:2])
        self.names: dict[tuple[int, int], str] = {line[:2]: line[5] for line in self.lines if line[5] is not None}

    def _first(self, number: int, words: list[str]) -> tuple[int, int]:
        """Return a state where an episode of a POMDP starts, and what is observed there: `- - 0 - 3`."""
        if self.kind != "pomdp" or len(words) != 5 or words[1] != "-" or words[3] != "-":
            at = f"line {number} of the .tra file, {' '.join(words)!r}"
            raise BadModel(f"{at}: only a POMDP has a line `- - state - observation`")
        return int(_within(words[2], self.states, ".tra", number)), _whole(words[4], ".tra", number)

    def _line(self, number: int, words: list[str]) -> tuple[int, int, int, Any, int, str | None]:
        chain = self.kind == "dtmc"
        at = f"line {number} of the .tra file, {' '.join(words)!r}"
        numbers = 2 if chain else 3
        extra = 1 if self.kind == "pomdp" else 0
        if not numbers + 1 + extra <= len(words) <= numbers + 2 + extra:
            raise BadModel(f"{at}: state, {'' if chain else 'choice, '}target and probability are wanted")
        try:
            whole = [int(word) for word in words[:numbers]]
            value = _probability(words[numbers])
            seen = int(words[numbers + 1]) if extra else 0
        except (ValueError, ZeroDivisionError) as error:
            raise BadModel(f"{at}: {error}") from None
        state, target = whole[0], whole[-1]
        for one in (state, target):
            if one < 0 or (not self.storm and one >= self.states):
                raise BadModel(f"{at}: there is no state {one}: numbers are in [0, {self.states})")
        action = words[numbers + 1 + extra] if len(words) == numbers + 2 + extra else None
        return state, 0 if chain else whole[1], target, value, seen, action

    def name_choices(self, text: str) -> None:
        """Take in the names of Storm's choice labels."""
        for number, words in _declared(text, ".clab")[1]:
            self.names[_whole(words[0], ".clab", number), _whole(words[1], ".clab", number)] = words[2]

    def rows(self) -> Rows:
        """Return the rows, and remember which choice and which branch each line became."""
        intervals = any(isinstance(line[3], tuple) for line in self.lines)
        rows = Rows(self.states, intervals=intervals)
        self.choice: dict[tuple[int, int], int] = {}
        for state, of_state in groupby(self.lines, key=lambda line: line[0]):
            groups = [(key, list(lines)) for key, lines in groupby(of_state, key=lambda line: line[:2])]
            names = distinct([None if self.kind == "dtmc" else self.names.get(key) for key, _ in groups])
            for name, (key, lines) in zip(names, groups, strict=True):
                self.choice[key] = len(rows.sizes)
                branches = [
                    (line[2], (line[3], line[3]) if intervals and type(line[3]) is float else line[3]) for line in lines
                ]
                rows.choice(state, name, branches)
        return rows

    def observations(self) -> list[int]:
        """Return what is observed in each state."""
        found = [self.seen_first.get(state, -1) for state in range(self.states)]
        for _, _, target, _, seen, _ in self.lines:
            if found[target] not in (-1, seen):
                raise BadModel(f"the .tra file gives state {target} the observations {found[target]} and {seen}")
            found[target] = seen
        fresh = max(self.n_observations, *found, 0) if self.states else 0
        for state, seen in enumerate(found):
            if seen < 0:
                found[state], fresh = fresh, fresh + 1
        return found


def _words(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each line that says something."""
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"\[([^\]]*)\]", lambda found: found[0].replace(" ", ""), line).split()
        if words and not words[0].startswith("#"):
            yield number, words


def _whole(word: str, file: str, number: int) -> int:
    try:
        return int(word)
    except ValueError:
        raise BadModel(f"line {number} of the {file} file: {word!r} is no whole number") from None


def _probability(word: str) -> Any:
    """Return a probability, or the ends of an interval."""
    found = _INTERVAL.fullmatch(word)
    if found is not None:
        return float(Fraction(found[1])), float(Fraction(found[2]))
    return float(Fraction(word))


def _declared(text: str, file: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the names that are declared, and the lines after them, in Storm's dialect."""
    head, end, _ = text.partition("#END")
    if not end:
        raise BadModel(f"the {file} file has no line #END")
    skipped = head.count("\n") + 1
    lines = [(number, words) for number, words in _words(text, file) if number > skipped]
    return head.replace("#DECLARATION", "").split(), lines


def _read_labels(text: str, table: _Table) -> dict[str, list[int]]:
    """Return the states of each label, in either dialect."""
    if text.lstrip().startswith("#DECLARATION"):
        declared, lines = _declared(text, ".lab")
        names: dict[str, str] = {name: name for name in declared}
    else:
        lines = list(_words(text, ".lab"))
        first = lines.pop(0)[0] if lines else 1
        names = dict(_LABEL.findall(text.splitlines()[first - 1] if text else ""))
    found: dict[str, list[int]] = {name: [] for name in names.values()}
    for number, (word, *held) in lines:
        state = _whole(word.rstrip(":"), ".lab", number)
        if table.storm and state >= table.states:
            table.states = state + 1
        for one in held:
            if one not in names:
                raise BadModel(
                    f"line {number} of the .lab file has the label {one}, which its first line does not name"
                )
            found[names[one]].append(state)
    return found


def _reward_names(files: Mapping[str, str]) -> dict[str, str]:
    """Return the name of the reward model of each number in the names of files."""
    found: dict[str, str] = {}
    for suffix, text in files.items():
        place, _, kind = suffix.rpartition(".")
        if kind in ("srew", "trew"):
            named = _REWARD_NAME.search(text)
            name = named[1] if named else (f"reward{place}" if place else "default")
            if named or place not in found:
                found[place] = name
    kept: dict[str, str] = {}
    for place, name in found.items():
        kept[place] = name if name and name not in kept.values() else f"reward{place}"
    return kept


def _read_rewards(files: Mapping[str, str], names: Mapping[str, str], table: _Table, rows: Rows) -> Any:
    """Return the reward models."""
    state: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    transition: dict[str, Any] = {}
    for place, name in names.items():
        state[name] = np.zeros(table.states)
        for number, words in _entries(files.get(f"{place}.srew", ""), f"{place}.srew", 2, table):
            state[name][_within(words[0], table.states, ".srew", number)] = _reward(words[1], ".srew", number)
        if f"{place}.trew" in files:
            paid = _branch_rewards(files[f"{place}.trew"], f"{place}.trew", table, rows)
            start = np.concatenate([[0], np.cumsum(rows.sizes)]).astype(np.int64)
            first = paid[start[:-1]] if len(paid) else paid
            if np.array_equal(np.repeat(first, np.diff(start)), paid):
                choice[name] = first
            else:
                transition[name] = paid
    return rewards_of(list(names.values()), state, choice, transition)


def _branch_rewards(text: str, file: str, table: _Table, rows: Rows) -> Any:
    """Return the reward of each branch."""
    start = np.concatenate([[0], np.cumsum(rows.sizes)]).astype(np.int64).tolist()
    paid = np.zeros(len(rows.target))
    chain = table.kind == "dtmc"
    for number, words in _entries(text, file, 3 if chain else 4, table):
        key = (_whole(words[0], ".trew", number), 0 if chain else _whole(words[1], ".trew", number))
        target, value = _whole(words[-2], ".trew", number), _reward(words[-1], ".trew", number)
        if key[0] in table.added:
            continue
        row = table.choice.get(key)
        branches = range(start[row], start[row + 1]) if row is not None else range(0)
        branch = next((one for one in branches if rows.target[one] == target), None)
        if branch is None:
            raise BadModel(f"line {number} of the .trew file, {' '.join(words)!r}: there is no such transition")
        paid[branch] = value
    return paid


def _entries(text: str, file: str, width: int, table: _Table) -> list[tuple[int, list[str]]]:
    """Return the lines of a file of rewards, without the sizes that PRISM begins with: states (choices) and lines."""
    lines = list(_words(text, ""))
    if not table.storm and lines:
        (number, sizes), *lines = lines
        counts = [_whole(word, file, number) for word in sizes]
        if len(counts) != (3 if width == 4 else 2) or counts[0] != table.states:
            raise BadModel(
                f"line {number} of the {file} file, {' '.join(sizes)!r}: the number of states, {table.states}, "
                f"{'that of choices, ' if width == 4 else ''}and that of the lines that follow are wanted"
            )
        if counts[-1] != len(lines):
            raise BadModel(f"the {file} file says that {counts[-1]} lines follow, and there are {len(lines)}")
    for number, words in lines:
        if len(words) != width:
            raise BadModel(f"line {number} of the {file} file, {' '.join(words)!r}: {width} numbers are wanted")
    return lines


def _within(word: str, count: int, file: str, number: int) -> int:
    place = _whole(word, file, number)
    if not 0 <= place < count:
        raise BadModel(f"line {number} of the {file} file: there is no state {place}: numbers are in [0, {count})")
    return place


def _reward(word: str, file: str, number: int) -> float:
    try:
        return float(Fraction(word))  # PRISM's exact mode writes 23/10
    except (ValueError, ZeroDivisionError):
        raise BadModel(f"line {number} of the {file} file: {word!r} is no number") from None


def _read_values(text: str, states: int) -> Valuations:
    """Return the values of a .sta file."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    names = lines[0].strip("()").split(",") if lines else []
    rows: list[dict[str, Any]] = [{} for _ in range(states)]
    for line in lines[1:]:
        number, _, given = line.partition(":")
        if not number.isdigit() or int(number) >= states:
            raise BadModel(f"the .sta file has the line {line!r}, but states are in [0, {states})")
        values = [_value(word) for word in given.strip("()").split(",")]
        if len(values) != len(names):
            raise BadModel(f"the .sta file has the line {line!r}, but {len(names)} variables")
        rows[int(number)] = dict(zip(names, values, strict=True))
    return Valuations.from_rows(names, rows)


def _value(word: str) -> Any:
    if word in ("true", "false"):
        return word == "true"
    return int(word) if re.fullmatch(r"-?\d+", word) else float(word) if re.fullmatch(r"-?[\d.eE+-]+", word) else word
