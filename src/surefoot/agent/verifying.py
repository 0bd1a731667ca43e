"""Act only inside the shield of what was learned so far: `Agent(…, verify=…)`.

What came of all actions is counted, an interval model is made of the counts, and of that the shield of a property: an
action is refused unless the property can be kept after it whatever the true probabilities are inside their intervals.
The shield is a hard check like a gate: neither the fast path nor the slow one gets past it.

Learning anew costs about as much as the model has branches. So it is done when the outcomes that came in since the
last time are at least an eighth of that many, and a quarter of all (a sixteenth, where something happened that the
model had held for impossible); an agent that lives long learns anew less and less often. In between what happened is
not forgotten: an action that led where the shield's model says it cannot is refused until then.

Each time is an entry of the journal, with the labels that were found and a digest of the shield, so that a replay makes
the same shield from the entries before it, without the functions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
import numpy as np

from surefoot import values
from surefoot.agent.decision import Option
from surefoot.agent.episode_events import Began, Came, Decided, Shielded
from surefoot.agent.knowledge_base import raw_of
from surefoot.agent.offers import Offers
from surefoot.checking.formula import Binary, Formula, Label, Operator, Reward, Unary, parse
from surefoot.checking.shield import Shield, shield
from surefoot.errors import BadArgument, BadProperty
from surefoot.journal import Journal
from surefoot.journal.chain import parse as entry_of
from surefoot.learners._tables import named
from surefoot.learners.counts import Counts, Method
from surefoot.learners.learned import LearnedModel
from surefoot.learners.pooling import pooled

__all__ = ["Verifier", "Verify", "signs_of"]

_GROWTH, _GROWTH_IF_SURPRISED = 0.25, 0.0625
"""Learn anew when there are so many more outcomes, as a part of those that were learned from."""
_SHARE = 8
"""But not before there are as many new ones as the model has branches, divided by this."""
_attribute = property  # inside `Verify` its name is that of a field
_BUILT_IN = ("ended", "unseen", "trial", "init", "deadlock")


@dataclass(frozen=True)
class Verify:
    """Say what an agent keeps, and on what evidence.

    Args:
        property: `P` with a bound over F, G, U, W or R, as for `shield`: 'P>=0.95 [ G !"bad" ]'.
        labels: {name: whether a state has it}, for the labels of the property; they read a state as the map keeps it:
            where the agent has a `key`, what that made of it. `ended` is there unasked: where episodes ended.
        confidence: that the true model is inside the intervals, in (0, 1).
        method: see `Counts.intervals`; `anytime` holds however often the shield is learned anew.
        support: None: anything may follow an action, even what was never seen. `seen`: what followed an action is all
            that can; then what always led to one place is certain to lead there.
        pooled: whether outcomes of like actions are counted together, see `surefoot.learners.pooling`.
        trials: how often each action may be tried in each state before the shield judges it, an int >= 0. With 0 an
            agent that knows nothing may do nothing: let it learn without `verify` first.
        unseen_labels: what may be true of states never seen; None: each label that speaks against the property.

    Raises:
        BadProperty: it cannot be read, is no `P` with a bound, or has a label that is not given; or one that speaks for
            the property in one place and against it in another, where `unseen_labels` have to say what to expect.
        BadArgument: an argument is out of its range.

    Example:
        >>> Verify('P>=0.95 [ G !"bad" ]', {"bad": lambda state: state == 5}).against
        ('bad',)
        >>> Verify('P>=0.95 [ G !"bad" ]')
        Traceback (most recent call last):
        surefoot.errors.BadProperty: nothing says which states are "bad": give labels={"bad": …}; there are ended, ...
    """

    property: str
    labels: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    confidence: float = 0.95
    method: Method = "anytime"
    support: Literal["seen"] | None = None
    pooled: bool = False
    trials: int = 0
    unseen_labels: Collection[str] | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        asked = parse(self.property)
        if not isinstance(asked, Operator) or asked.kind != "P" or asked.bound is None:
            raise BadProperty(f"an agent keeps P with a bound, such as 'P>=0.95 [ G !\"bad\" ]'; got {self.property!r}")
        for name, check in self.labels.items():
            if not callable(check):
                raise BadArgument(f"labels[{name!r}] must be a function of a state, got {check!r}")
        if self.support not in (None, "seen"):
            raise BadArgument(f"support must be None or 'seen', got {self.support!r}")
        if type(self.trials) is not int or self.trials < 0:
            raise BadArgument(f"trials must be an int >= 0, got {self.trials!r}")
        if not (isinstance(self.confidence, float) and 0 < self.confidence < 1):
            raise BadArgument(f"confidence must be a number in (0, 1), such as 0.95, got {self.confidence!r}")
        known = [*self.labels, *_BUILT_IN]
        for name in signs_of(asked):
            if name not in known:
                hint = f"{name!r}: …".replace("'", '"')
                raise BadProperty(
                    f'nothing says which states are "{name}": give labels={{{hint}}}; there are {", ".join(known)}'
                )
        mixed = sorted(name for name, signs in signs_of(asked).items() if len(signs) > 1)
        if mixed and self.unseen_labels is None:
            raise BadProperty(
                f"{', '.join(mixed)} speaks for {self.property} in one place and against it in another: say with "
                f"unseen_labels=[…] what states never seen may be"
            )
        # A small shield of anything: what it refuses about the property it refuses now.
        counts = Counts()
        counts.end(0)
        marks: dict[str, Callable[[Any], bool]] = dict.fromkeys(self.labels, lambda state: False)
        model = counts.intervals(confidence=self.confidence, method=self.method, initial=0, labels=marks).model
        shield(model, self.property)

    @_attribute
    def against(self) -> tuple[str, ...]:
        """Return the labels that states never seen are taken to have."""
        if self.unseen_labels is not None:
            return tuple(self.unseen_labels)
        return self._labels(-1)

    @_attribute
    def helpful(self) -> tuple[str, ...]:
        """Return the labels that speak for the property, which the outcome of a trial is taken to have."""
        return tuple(name for name in self._labels(1) if name not in self.against)

    def _labels(self, sign: int) -> tuple[str, ...]:
        asked = parse(self.property)
        assert isinstance(asked, Operator)  # it was checked
        return tuple(sorted(name for name, signs in signs_of(asked).items() if signs == {sign} and name != "init"))

    def rules(self) -> dict[str, Any]:
        """Return all but the functions, as it is recorded."""
        return {
            "confidence": self.confidence,
            "labels": sorted(self.labels),
            "method": self.method,
            "pooled": self.pooled,
            "property": self.property,
            "support": self.support,
            "trials": self.trials,
            "unseen_labels": None if self.unseen_labels is None else list(self.unseen_labels),
        }

    @classmethod
    def of(cls, given: Verify | str | Mapping[str, Any]) -> Verify:
        """Return it, made of a property alone, or of what `rules` recorded (then with labels that nothing has).

        Raises:
            BadArgument: it is none of these.
            BadProperty: see `Verify`.

        Example:
            >>> Verify.of('P>=0.5 [ F "ended" ]').trials
            0
        """
        if isinstance(given, Verify):
            return given
        if isinstance(given, str):
            return cls(given)
        if not isinstance(given, Mapping):
            raise BadArgument(f"verify must be a property or a Verify, got {given!r}")
        none: dict[str, Callable[[Any], Any]] = dict.fromkeys(given["labels"], lambda state: False)
        return cls(**{**given, "labels": none})


def signs_of(formula: Formula | Reward) -> dict[str, set[int]]:
    """Return for each label of a formula whether it speaks for it (1), against it (-1), or both.

    Example:
        >>> from surefoot.checking.formula import parse
        >>> signs_of(parse('P>=0.9 [ !"bad" U "goal" ]')), signs_of(parse('P<=0.1 [ F "bad" ]'))
        ({'bad': {-1}, 'goal': {1}}, {'bad': {-1}})
    """
    found: dict[str, set[int]] = {}

    def walk(part: Any, sign: int) -> None:
        match part:
            case Label():
                found.setdefault(part.name, set()).add(sign)
            case Unary():
                walk(part.of, -sign if part.operator == "!" else sign)
            case Binary(operator="<=>"):
                for one in (part.left, part.right):
                    walk(one, 1)
                    walk(one, -1)
            case Binary():
                walk(part.left, -sign if part.operator == "=>" else sign)
                walk(part.right, sign)
            case Operator():
                walk(part.of, sign if part.compare in (">", ">=", "=?") else -sign)
            case Reward():
                walk(part.of, sign)
            case _:
                pass

    walk(formula, 1)
    return found


@dataclass
class _Evidence:
    """What is known of one map."""

    counts: Counts = field(default_factory=Counts)
    tried: dict[tuple[bytes, bytes], int] = field(default_factory=dict)
    offers: dict[bytes, bytes] = field(default_factory=dict)
    outcomes: int = 0
    marks: dict[str, set[bytes]] = field(default_factory=dict)
    asked: set[bytes] = field(default_factory=set)
    current: _Current | None = None


@dataclass
class _Current:
    """The shield that holds now, and what happened since."""

    shield: Shield
    learned: LearnedModel
    outcomes: int
    digest: str
    choices: dict[tuple[str, str], int]
    states: dict[str, int]
    surprised: set[tuple[bytes, bytes]] = field(default_factory=set)


class Verifier:
    """Keep the shields of an agent's maps up with its journal.

    Args:
        verify: what to keep.
        journal: the agent's.

    Example:
        >>> from surefoot.journal import open_journal
        >>> verifier = Verifier(Verify('P>=0.5 [ F "ended" ]'), open_journal())
        >>> verifier.shield("main") is None, verifier.due("main")
        (True, False)
    """

    def __init__(self, verify: Verify, journal: Journal) -> None:
        """Read nothing yet."""
        self.verify = verify
        self.rules = verify.rules()
        self._raw = values.encode(self.rules)
        self._journal = journal
        self.forget()

    def forget(self) -> None:
        """Go back to what the journal says, which is read when it is needed."""
        self._position = 0
        self._maps: dict[str, _Evidence] = {}
        self._episodes: dict[int, str] = {}
        self._pending: dict[int, Decided] = {}
        self._offers = Offers()

    def shield(self, map: str = "main") -> Shield | None:
        """Return the shield of a map as it was learned last; None where nothing was learned."""
        current = self._of(map).current
        return None if current is None else current.shield

    def learned(self, map: str = "main") -> LearnedModel | None:
        """Return the model that the shield of a map is of, with its claim; None where nothing was learned."""
        current = self._of(map).current
        return None if current is None else current.learned

    def _of(self, map_: str) -> _Evidence:
        return self._maps.setdefault(map_, _Evidence())

    # ── what happened ───────────────────────────────────────────────────────────────────────────────────────────────

    def catch_up(self) -> None:
        """Take in what the journal says since the last time."""
        for line in self._journal.lines(self._position):
            self._position += 1
            if line.find(b'"stream":"agent"', 0, 60) >= 0:
                entry = entry_of(line)
                taker = _TAKERS.get(entry.kind)
                if taker is not None:
                    self._take(taker(bytes(entry.raw)))

    def _take(self, event: Any) -> None:
        match event:
            case Began():
                self._episodes[event.episode] = event.map
                self._of(event.map).counts.start(values.decode_known(bytes(event.state)))
            case Decided():
                self._pending[event.episode] = event
                self._offer(self._of(self._episodes[event.episode]), event)
            case Came():
                decided = self._pending.pop(event.episode)
                if event.verdict != "fault":
                    self._count(self._of(self._episodes[event.episode]), decided, event)
            case _:
                evidence = self._of(event.map)
                current = evidence.current
                known = current is not None and (current.digest, current.outcomes) == (event.digest, event.outcomes)
                if not known or bytes(event.rules) != self._raw:
                    evidence.current = None  # somebody else's: learn anew before the next decision

    def _offer(self, evidence: _Evidence, event: Decided) -> None:
        state, long = bytes(event.state), self._offers.take(event)
        options = bytes(event.options) if long is None else b"[%b]" % b",".join(long)
        actions = [bytes(one.action) for one in _actions(options)]
        told = b",".join(actions)
        if evidence.offers.get(state) != told:
            evidence.offers[state] = told
            evidence.counts.offer(values.decode_known(state), *map(values.decode_known, actions))

    def _count(self, evidence: _Evidence, decided: Decided, event: Came) -> None:
        state, action, to = bytes(decided.state), bytes(decided.action), bytes(event.to)
        over = event.done and event.verdict == "accepted"
        decode = values.decode_known
        evidence.counts.observe(decode(state), decode(action), decode(to), ended=over)
        evidence.tried[state, action] = evidence.tried.get((state, action), 0) + 1
        evidence.outcomes += 1
        if evidence.current is not None and not _foresaw(evidence.current, state, action, to):
            evidence.current.surprised.add((state, action))

    # ── learning ────────────────────────────────────────────────────────────────────────────────────────────────────

    def due(self, map_: str) -> bool:
        """Say whether enough came in for the shield of a map to be learned anew."""
        evidence = self._of(map_)
        current = evidence.current
        if current is None:
            return evidence.outcomes > 0
        new = evidence.outcomes - current.outcomes
        if new * _SHARE < current.learned.model.n_branches:
            return False
        return new >= (_GROWTH_IF_SURPRISED if current.surprised else _GROWTH) * current.outcomes

    def learn(self, map_: str, recorded: Shielded | None = None) -> Shielded:
        """Learn the shield of a map anew, and return the event that says so.

        Args:
            map_: the map.
            recorded: take the labels from this event instead of from the functions.
        """
        evidence, verify = self._of(map_), self.verify
        first = evidence.current is None if recorded is None else recorded.first
        if first:
            evidence.marks, evidence.asked = {name: set() for name in verify.labels}, set()
        found = self._found(evidence) if recorded is None else _marks(recorded)
        for name, states in found.items():
            evidence.marks.setdefault(name, set()).update(states)
        labels = {name: _has(states) for name, states in evidence.marks.items()}
        given: dict[str, Any] = {
            "confidence": verify.confidence,
            "method": verify.method,
            "support": verify.support,
            "labels": labels,
            "unseen_labels": verify.against,
            "trials": verify.trials,
            "trial_labels": verify.helpful,
        }
        learned = pooled(evidence.counts, **given) if verify.pooled else evidence.counts.intervals(**given)
        made = shield(learned.model, verify.property)
        model = learned.model
        names = [model.state_name(s) for s in range(model.n_states)]
        actions = [model.action_name(a) for a in range(model.n_actions)]
        pairs = zip(model.choice_state.tolist(), model.choice_action.tolist(), strict=True)
        choices = {(names[s], actions[a]): choice for choice, (s, a) in enumerate(pairs)}
        digest = _digest(choices, made)
        places = {name: number for number, name in enumerate(names)}
        evidence.current = _Current(made, learned, evidence.outcomes, digest, choices, places)
        said = {name: sorted(raw.decode() for raw in where) for name, where in found.items() if where}
        return Shielded(
            map_,
            first,
            evidence.outcomes,
            model.n_choices,
            int(made.allowed.sum()),
            digest,
            msgspec.Raw(values.encode(said)),
            msgspec.Raw(self._raw),
        )

    def _found(self, evidence: _Evidence) -> dict[str, set[bytes]]:
        """Return the labels of the states that were not asked about yet."""
        found: dict[str, set[bytes]] = {}
        for state in evidence.counts.states:
            raw = values.encode_state(state)
            if raw in evidence.asked:
                continue
            evidence.asked.add(raw)
            for name, check in self.verify.labels.items():
                try:
                    has = bool(check(raw_of(state)))
                except Exception as error:
                    raise BadArgument(
                        f"labels[{name!r}] raised {type(error).__name__} in {state!r}: {error}"
                    ) from error
                if has:
                    found.setdefault(name, set()).add(raw)
        return found

    # ── judging ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def judge(
        self, map_: str, state: bytes, options: tuple[Option, ...], note: Callable[[Shielded], object]
    ) -> tuple[Option, ...]:
        """Return options with what the shield says of them; learn it anew where that is due.

        Args:
            map_: the map.
            state: where, encoded.
            options: what is on offer.
            note: records that the shield was learned.
        """
        self.catch_up()
        if self.due(map_):
            note(self.learn(map_))
        judged = tuple(option.shielded(self.why(map_, state, option.key)) for option in options)
        current = self._of(map_).current
        stale = current is not None and any(self._stale(self._of(map_), (state, option.key)) for option in options)
        if stale and all(option.shield is not None for option in judged):  # do not stop for want of a fresh look
            note(self.learn(map_))
            judged = tuple(option.shielded(self.why(map_, state, option.key)) for option in options)
        return judged

    def why(self, map_: str, state: bytes, action: bytes) -> str | None:
        """Return why the shield refuses an action, None where it allows it."""
        evidence, pair = self._of(map_), (state, action)
        times, text = evidence.tried.get(pair, 0), self.verify.property
        if times < self.verify.trials:
            return None
        current = evidence.current
        if pair in (current.surprised if current is not None else ()):
            return f"{text} is not shown of it: it led where nothing said that it could"
        choice = None if current is None else current.choices.get((named(state), named(action)))
        learned_from = 0 if current is None or choice is None else int(current.learned.tried[choice])
        if current is None or choice is None or learned_from < max(self.verify.trials, 1):
            told = f" yet: it was tried {times} times, and not judged since" if times else ": it was never tried"
            return f"{text} is not shown of it{told}"
        made = current.shield
        if made.allowed[choice]:
            return None
        worth = float(made.worth[choice])
        # Rounded away from the bound, so that what is refused reads so.
        shown = (np.floor if made.above else np.ceil)(worth * 1000) / 1000
        return (
            f"after it {text} can be kept with {shown:g} {'at most' if made.above else 'at least'}, by what was learned"
        )

    def _stale(self, evidence: _Evidence, pair: tuple[bytes, bytes]) -> bool:
        """Say whether an action is refused only because the shield is older than what happened."""
        current = evidence.current
        assert current is not None  # asked only of one
        if pair in current.surprised:
            return True
        choice = current.choices.get((named(pair[0]), named(pair[1])))
        times = 0 if choice is None else int(current.learned.tried[choice])
        return evidence.tried.get(pair, 0) > times and times < max(self.verify.trials, 1)


class _Action(msgspec.Struct):
    """As much of an option as is needed."""

    action: msgspec.Raw


_actions = msgspec.json.Decoder(list[_Action]).decode
_TAKERS = {kind.kind: msgspec.json.Decoder(kind).decode for kind in (Began, Decided, Came, Shielded)}


def _foresaw(current: _Current, state: bytes, action: bytes, to: bytes) -> bool:
    """Say whether a model holds an outcome for possible; of what it does not know at all it says nothing."""
    choice, model = current.choices.get((named(state), named(action))), current.learned.model
    if choice is None or not current.learned.tried[choice]:
        return True
    place, unseen = current.states.get(named(to)), current.states.get("unseen")
    first, last = int(model.branch_start[choice]), int(model.branch_start[choice + 1])
    return any(int(target) in (place, unseen) for target in model.target[first:last])


def _marks(event: Shielded) -> dict[str, set[bytes]]:
    return {name: {raw.encode() for raw in where} for name, where in values.decode(bytes(event.marks)).items()}


def _has(states: set[bytes]) -> Callable[[Any], bool]:
    return lambda state: values.encode_state(state) in states


def _digest(choices: Mapping[tuple[str, str], int], made: Shield) -> str:
    """Return a digest of what is allowed where."""
    rows = [[state, action, bool(made.allowed[choice])] for (state, action), choice in choices.items()]
    return hashlib.sha256(values.encode(rows)).hexdigest()
