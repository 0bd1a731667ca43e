"""Look at what is on offer: what is predicted of each action, what the gates and the risk policy say, what failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from surefoot import values
from surefoot.agent.decision import DONE, Option
from surefoot.agent.experience import DARES, ExperienceFold, Running
from surefoot.agent.knowledge_base import Knowledge, Place
from surefoot.errors import BadArgument, ValueRejected
from surefoot.knowledge.risk import Protect
from surefoot.knowledge.risk_choices import CHOICES
from surefoot.knowledge.worldmap import WorldMap
from surefoot.protocols import Call, Prediction, RiskPolicy

_KEPT = 16_384

__all__ = ["PROTECTS", "Gain", "Looker", "in_doubt", "like"]

Gain = Callable[[Any, Any, Sequence[str]], float]
"""What there is to gain: (state, action, open goals) -> a finite number >= 0.

Example:
    >>> gain: Gain = lambda state, action, goals: 2.0 if action == "dig" else 0.0
    >>> gain("hall", "dig", ["gold"])
    2.0
"""


PROTECTS = {"accept": "take", "refuse": "avoid", "unknown": "ask"}
"""What `Protect` says, by verdict.

Example:
    >>> PROTECTS[Prediction("unknown").verdict] == Protect().decide(Prediction("unknown")).word
    True
"""


def like(action: Any, call: Call) -> Any:
    """Return `call` as an action of the same shape as `action`.

    Example:
        >>> like(("buy", 9), Call("buy", {"0": 3})), like({"name": "buy", "n": 9}, Call("buy", {"n": 3}))
        (('buy', 3), {'name': 'buy', 'n': 3})
        >>> like("wait", Call("buy", {"n": 3})), like("wait", Call("look"))
        ({'name': 'buy', 'n': 3}, 'look')
    """
    args = dict(call.args)
    if isinstance(action, tuple) and list(args) == [str(place) for place in range(len(args))]:
        return (call.name, *args.values())
    if isinstance(action, tuple):
        return (call.name, args)
    if not args and not isinstance(action, dict):
        return call.name
    nested = isinstance(action, dict) and isinstance(action.get("args"), dict) and set(action) == {"name", "args"}
    return {"name": call.name, "args": args} if nested else {"name": call.name, **args}


def in_doubt(known: WorldMap, state: Any, action: Any, prediction: Prediction, cases: int = 0) -> Prediction:
    """Return what is predicted, or that it is unknown, where the refusal that is predicted is in doubt.

    It is where the map doubts what was refused in this very place, and where it rests on fewer than `cases` cases. A
    hard rule stands, whatever is in doubt.

    Example:
        >>> known, no = WorldMap().refuse("hall", "open"), Prediction("refuse", 0.7, 1)
        >>> in_doubt(known, "hall", "open", no).verdict, known.drop("a new key")
        ('refuse', 0)
        >>> in_doubt(known, "hall", "open", no).verdict
        'unknown'
    """
    if prediction.verdict != "refuse" or prediction.hard:
        return prediction
    if prediction.support >= cases:
        claim = known.claim(state, action)
        if claim is None or not claim.doubtful:
            return prediction
    return Prediction(
        "unknown",
        prediction.risk,
        prediction.support,
        f"in doubt: {prediction.reason}",
        action=prediction.action,
        rate=prediction.rate,
        evidence=prediction.evidence,
    )


@dataclass(frozen=True, slots=True)
class Looker:
    """Make options of the actions on offer.

    Args:
        knowledge: what is known.
        risk: the risk policy.
        gain: what there is to gain; None: 1 for what is expected to reach an open goal or begins a known way to one.
        kept: options of before, {encoded state: {encoded action: (stamp, the action's name, option, unseen)}}; one is
            taken again as long as nothing was observed of its action, see `Knowledge.stamp`, or, where it is for want
            of any observation here that nothing is predicted, nothing here.

    Example:
        >>> from surefoot.agent.experience import Running
        >>> looker = Looker(Knowledge(), Protect(), None)
        >>> running = Running(0, "main", b"0")
        >>> here, fold = Place(0, b"0", 0), looker.knowledge.experience.fold
        >>> options, choices = looker.look(here, ["left", "right"], ("",), running, fold)
        >>> [(option.action, option.choice) for option in options]
        [('left', 'ask'), ('right', 'ask')]
    """

    knowledge: Knowledge
    risk: RiskPolicy
    gain: Gain | None
    kept: dict[bytes, dict[bytes, tuple[Any, str, Option, bool]]] = field(default_factory=dict)

    def look(
        self,
        here: Place,
        offered: Sequence[Any],
        goals: tuple[str, ...],
        running: Running,
        fold: ExperienceFold,
        *,
        gated: bool = False,
    ) -> tuple[tuple[Option, ...], dict[bytes, Any]]:
        """Return the options, each once, and the risk policy's choices by encoded action.

        Args:
            here: where the agent is.
            offered: the actions on offer.
            goals: the open goals.
            running: the episode.
            fold: what is remembered of all episodes.
            gated: there are gates to ask.

        Raises:
            ValueRejected: an action is no plain value.
        """
        knowledge = self.knowledge
        failing = len(knowledge.failures) > 0 and bool(knowledge.failures.blocked(here.state))
        lasting = knowledge.exact and not gated and not failing and self.gain is None and type(self.risk) is Protect
        begins = self._begins(here, goals, running, fold)
        options: dict[bytes, Option] = {}
        choices: dict[bytes, Any] = {}
        kept_here = self.kept.get(here.key, {}) if lasting else {}
        stamp, unseen = knowledge.stamps(), knowledge.unseen
        for action in offered:
            key = values.encode_action(action)
            gate, instead = None, None
            if gated:
                gate, changed = self._gates(here, action)
                if changed is not None:
                    action, instead = changed, action
                    key = values.encode_action(action)
            if key in options:
                continue
            kept = kept_here.get(key)
            if kept is not None and (kept[0] == stamp(kept[1]) or (kept[3] and unseen(here.key, kept[1]))):
                option = kept[2]
                if option.verdict != "refuse" or not self._is_doubtful(here, option, running, fold):
                    options[key], choices[key] = option, None
                    continue
            failed = None
            if failing:
                said = knowledge.failures.check(here.state, action, offered)
                failed = said.reason if said.hard else None
            option, choices[key], alone = self._option(
                here, action, key, goals, begins, (gate, failed, instead), fold, running
            )
            options[key] = option
            if lasting and alone:
                self._keep(here.key, key, option)
        return tuple(options.values()), choices

    def _is_doubtful(self, here: Place, option: Option, running: Running, fold: ExperienceFold) -> bool:
        """Say whether a refusal may be in doubt by now, see `in_doubt`."""
        if (running.map, here.key, option.key) not in fold.refused and option.support < DARES[running.dares]:
            return True
        return self.knowledge.map(running.map).doubts(here.key, option.key)

    def _keep(self, here: bytes, key: bytes, option: Option) -> None:
        """Keep an option that only more observations of its action can change."""
        name = self.knowledge.call(option.action, key).name
        if len(self.kept) >= _KEPT:
            self.kept.clear()
        unseen = option.verdict == "unknown" and self.knowledge.unseen(here, name)
        self.kept.setdefault(here, {})[key] = self.knowledge.stamp(name), name, option, unseen

    def _begins(self, here: Place, goals: tuple[str, ...], running: Running, fold: ExperienceFold) -> frozenset[bytes]:
        """Return the encoded first actions of known ways, where a policy weighs what there is to gain."""
        if type(self.risk) is Protect or self.gain is not None:
            return frozenset()
        known, found = self.knowledge.map(running.map), set()
        for goal in goals:
            places = [p for p in fold.targets.get(running.map, {}).get(goal, ()) if p != here.key]
            action = known.next(here.state, [values.decode_known(p) for p in places]) if places else None
            if action is not None:
                found.add(values.encode_action(action))
        return frozenset(found)

    def _gates(self, here: Place, action: Any) -> tuple[tuple[str, str] | None, Any]:
        """Return what the gates object, and the action that they want instead."""
        decision = self.knowledge.agenda.allows(here.raw, action)
        if decision:
            return None, None
        if decision.word == "modify":
            assert decision.call is not None  # "modify" comes with one
            return None, like(action, decision.call)
        return (decision.word, decision.reason), None

    def _option(
        self,
        here: Place,
        action: Any,
        key: bytes,
        goals: tuple[str, ...],
        begins: frozenset[bytes],
        checked: tuple[tuple[str, str] | None, str | None, Any],
        fold: ExperienceFold,
        running: Running,
    ) -> tuple[Option, Any, bool]:
        """Return an option, the policy's choice, and whether it rests on nothing but observations of its action."""
        knowledge = self.knowledge
        prediction, alone = knowledge.predict(here, knowledge.call(action, key))
        cases = DARES[running.dares] if (running.map, here.key, key) not in fold.refused else 0
        doubted = in_doubt(knowledge.map(running.map), here.state, action, prediction, cases)
        alone, prediction = alone and doubted is prediction, doubted
        advances: tuple[str, ...] = ()
        if prediction.next_state is not None and prediction.verdict != "refuse":
            if (running.map, here.key, key) not in fold.runs:
                advances = self._foreseen(prediction, goals, fold, running)
        gain = self._gain_of(here, action, goals, bool(advances) or key in begins)
        choice, word, said = None, PROTECTS[prediction.verdict], None
        if type(self.risk) is not Protect:
            choice = self.risk.decide(prediction, gain=gain)
            word = choice.word
            if word not in CHOICES:
                raise BadArgument(f"{self.risk!r} said {word!r}: a risk policy says one of {', '.join(CHOICES)}")
            said = None if choice.reason == prediction.reason else str(choice.reason)
        gate, failed, instead = checked
        option = Option(
            action,
            prediction.verdict,
            float(prediction.risk),
            prediction.support,
            prediction.hard,
            prediction.reason,
            word,
            said,
            gate,
            failed,
            gain,
            advances,
            instead,
            key,
        )
        return option, choice, alone

    def _foreseen(
        self, prediction: Prediction, goals: tuple[str, ...], fold: ExperienceFold, running: Running
    ) -> tuple[str, ...]:
        """Return the open goals that the predicted next state reaches: by their checks, or because it is a known place.

        This is where what an action model foresees enters a decision; a longer look ahead would start here.
        """
        declared = tuple(goal for goal in goals if goal != DONE)
        found = set(self.knowledge.agenda.would(prediction.next_state, declared)) if declared else set()
        try:
            place = values.encode_state(prediction.next_state)
        except ValueRejected:  # a mapping: it is on the map as a text
            place = values.encode_state(values.encode(prediction.next_state).decode())
        on_map = fold.targets.get(running.map, {})
        return tuple(goal for goal in goals if goal in found or place in on_map.get(goal, ()))

    def _gain_of(self, here: Place, action: Any, goals: tuple[str, ...], helps: bool) -> float:
        if self.gain is None:
            return 1.0 if helps else 0.0
        given = self.gain(here.raw, action, goals)
        if isinstance(given, bool) or not isinstance(given, int | float) or not (isfinite(given) and given >= 0):
            raise BadArgument(f"gain(state, action, goals) must be a finite number >= 0, got {given!r} for {action!r}")
        return float(given)
