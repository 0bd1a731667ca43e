"""Make every recorded decision again, from the journal alone, and say where the first one differs.

A copy of the journal is grown entry by entry. Before each decision all that was known is what the copy holds: the map,
the agent's experience, the failures, the goals that are done, and, where the vocabulary is at hand, the action model.
What code outside the journal answered (a gate, a done check, a slow path of your own, a risk policy of your own) is
taken as recorded; everything else is worked out again. A decision's seal catches what is taken as recorded, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from surefoot import values
from surefoot.agent.budget import Budget
from surefoot.agent.course import from_data
from surefoot.agent.decision import DONE, Answer, Decision, Option, Reader
from surefoot.agent.episode_events import Began, Came, Decided, Shielded, seal_of
from surefoot.agent.experience import DARES, Experience, Running
from surefoot.agent.fast import fast
from surefoot.agent.imagining import Ahead, leads
from surefoot.agent.knowledge_base import Knowledge, place_of, raw_of, stream_of
from surefoot.agent.options import PROTECTS, in_doubt
from surefoot.agent.situation import Situation, situation_of
from surefoot.agent.slow import HOPED, Search, judge, left_of, shorter
from surefoot.agent.uct import UCT
from surefoot.agent.ways import Ways
from surefoot.errors import BadArgument, SurefootError
from surefoot.journal import Journal
from surefoot.journal.backends.memory import MemoryBackend
from surefoot.journal.chain import parse
from surefoot.knowledge.agenda import Agenda
from surefoot.knowledge.failures import FailureMemory
from surefoot.knowledge.worldmap import WorldMap
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.protocols import Call, call_of

if TYPE_CHECKING:
    from surefoot.agent.verifying import Verifier

__all__ = ["Difference", "Divergence", "Replayed", "diff", "replay"]


_CHECKED = ("failed", "shield", "verdict", "support", "hard", "reason", "risk", "choice")
"""What is worked out again of an option."""


class Difference(NamedTuple):
    """Where a recorded decision is not what comes out when it is made again.

    Attributes:
        seq: the entry.
        field: which part of it.
        recorded, again: what stands there, and what should.

    Example:
        >>> str(Difference(7, "action", "left", "right"))
        "entry 7: action is recorded as 'left', and comes out as 'right'"
    """

    seq: int
    field: str
    recorded: Any
    again: Any

    def __str__(self) -> str:
        """Say it in words."""
        return f"entry {self.seq}: {self.field} is recorded as {self.recorded!r}, and comes out as {self.again!r}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of a replay. True when every decision came out as it is recorded.

    Attributes:
        decisions: how many were made again.
        predicted: of how many the predictions were made again too: not where the journal has a model or a key of its
            own.
        first: the first difference, None when there is none.

    Example:
        >>> bool(Replayed(3, 3)), Replayed(2, 2, Difference(7, "rule", "way", "skill")).ok
        (True, False)
    """

    decisions: int
    predicted: int = 0
    first: Difference | None = None

    @property
    def ok(self) -> bool:
        """Say whether there is no difference."""
        return self.first is None

    def __bool__(self) -> bool:
        """Return `ok`."""
        return self.ok

    def __str__(self) -> str:
        """Say it in one line."""
        if self.first is None:
            return f"{self.decisions} decisions made again from the journal: all the same"
        return f"after {self.decisions} decisions: {self.first}"


class _Differs(Exception):
    """A difference, on its way out."""

    def __init__(self, field: str, recorded: Any, again: Any) -> None:
        super().__init__(field)
        self.field, self.recorded, self.again = field, recorded, again


def _same(field: str, recorded: Any, again: Any) -> None:
    if recorded != again or type(recorded) is not type(again):
        raise _Differs(field, recorded, again)


def replay(knowledge: Knowledge) -> Replayed:
    """Make every decision that a journal holds again, and compare; stop at the first difference.

    Args:
        knowledge: whose journal; its vocabulary is used for the predictions, its functions are not called.

    Cost: about as much as deciding did; linear in the journal.

    Example:
        >>> from surefoot import Agent
        >>> from surefoot.environments.corridor import Corridor
        >>> knowledge = Knowledge()
        >>> _ = Agent(Corridor(length=1), knowledge=knowledge).run()
        >>> replay(knowledge).decisions, replay(knowledge).ok
        (2, True)
    """
    journal = knowledge.journal
    checked = journal.verify()
    if not checked:
        at = checked.entries if checked.at is None else checked.at
        return Replayed(0, 0, Difference(at, "the chain", checked.problem, "a whole one"))
    copy = _Copy(knowledge)
    for seq, line in enumerate(journal.lines()):
        try:
            copy.take(seq, line)
        except _Differs as found:
            return Replayed(copy.decisions, copy.predicted, Difference(seq, found.field, found.recorded, found.again))
        except (SurefootError, ValueError, LookupError) as error:
            return Replayed(copy.decisions, copy.predicted, Difference(seq, "the entry", str(error), "one that can be"))
    return Replayed(copy.decisions, copy.predicted)


def _slow_of(rules: Mapping[str, Any]) -> Search:
    """Return the slow path that is recorded."""
    return UCT(**rules["uct"]) if "uct" in rules else Search(**rules["search"])


def _as_recorded(decision: Decision) -> Answer:
    """Return a decision that rests on a plan which cannot be made again."""
    return Answer(decision.action, decision.path, decision.rule, decision.goal, decision.why, decision.answer)


class _Copy:
    """A journal that grows, and what follows from it."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.decisions = self.predicted = 0
        self._backend = MemoryBackend()
        self._journal = Journal(self._backend)
        self._experience = Experience(self._journal)
        self._agenda = Agenda(journal=self._journal)
        self._failures = FailureMemory(journal=self._journal)
        self._maps: dict[str, WorldMap] = {}
        self._ways = {"uct": Ways(solves=False), "search": Ways()}
        self._exact = knowledge.exact
        self._rules: dict[int, Mapping[str, Any]] = {}
        self._hashes: list[str] = []
        self._reader = Reader()
        self._calls: dict[bytes, Call] = {}
        self._verifier: Verifier | None = None
        self._model: ConservativeActionModel | None = None
        if knowledge.own:
            self._model = knowledge.model(None)
            self._digest = self._model.reads

    def take(self, seq: int, line: bytes) -> None:
        """Take in a line; make a decision again before it is taken in."""
        if line.find(b'"stream":"agent"', 0, 60) >= 0:
            entry = parse(line)
            if entry.kind == Decided.kind:
                self._decide(seq, msgspec.json.decode(bytes(entry.raw), type=Decided))
            elif entry.kind == Began.kind:
                began = msgspec.json.decode(bytes(entry.raw), type=Began)
                self._rules[began.episode] = values.decode(bytes(began.rules))
            elif entry.kind == Shielded.kind:
                self._learn(msgspec.json.decode(bytes(entry.raw), type=Shielded))
        elif line.find(b'"stream":"actions"', 0, 60) >= 0:
            self._observe(parse(line).data)
        self._backend.extend(lambda count, last: [line])
        self._hashes.append(line[-66:-2].decode())

    def _observe(self, data: Mapping[str, Any]) -> None:
        model = self._model
        if model is None:
            return
        if data["vocabulary"] != self._digest:
            self._model = None  # observed under another vocabulary: the predictions were other ones
            return
        told = {name: data.get(name) for name in ("effect", "reason", "next_state")}
        model.observe(data["state"], data["action"], data["args"], data["accepted"], **told)

    def _verify(self, rules: Mapping[str, Any]) -> Verifier:
        """Return what keeps shields by these rules, up with the copy."""
        from surefoot.agent.verifying import Verifier, Verify  # it loads the checking of models: only where it is used

        if self._verifier is None or self._verifier.rules != rules:
            self._verifier = Verifier(Verify.of(rules), self._journal)
        self._verifier.catch_up()
        return self._verifier

    def _learn(self, event: Shielded) -> None:
        """Learn a shield again."""
        again = self._verify(values.decode(bytes(event.rules))).learn(event.map, event)
        for name in ("outcomes", "choices", "allowed", "digest"):
            _same(f"shield.{name}", getattr(event, name), getattr(again, name))

    def _map(self, name: str) -> WorldMap:
        if name not in self._maps:
            self._maps[name] = WorldMap(journal=self._journal, stream=stream_of(name))
        return self._maps[name]

    def _decide(self, seq: int, event: Decided) -> None:
        """Make one decision again."""
        _same("seal", event.seal, seal_of(event))
        decision = self._reader.decision(seq, event)
        fold = self._experience.fold
        running = fold.running.get(decision.episode)
        if running is None:
            raise _Differs("episode", decision.episode, "one that is being played")
        _same("step", decision.step, running.steps)
        self._check_head(seq, decision.head)
        rules = self._rules[decision.episode]
        self._check_goals(decision)
        key = bytes(event.state)
        known = self._map(running.map)
        self._check_options(decision, rules, known, running)
        place = decision.state, key
        ahead = self._ahead(decision, rules, known)
        ways = self._ways["uct" if "uct" in rules["slow"] else "search"]
        here = situation_of(place, decision.goals, decision.options, known, fold, running, ways, ahead)
        answer = fast(here)
        spends = answer is None
        if answer is None:
            gone = Budget(**rules["budget"]).used_up(running.spent)
            if gone is not None:
                spends = False
                answer = fast(here, settle=True) or Answer(
                    None, "none", "out of budget", None, f"the slow path has used up its {gone}"
                )
            elif decision.path == "slow" and decision.rule == "course":
                answer = self._course_again(decision, here)
            elif "search" in rules["slow"] or "uct" in rules["slow"]:
                answer = _slow_of(rules["slow"]).find(here)
                if answer.plan is None and decision.answer is not None and not self._can_think(rules):
                    answer = _as_recorded(decision)
                _same("answer", decision.answer, answer.plan)
            elif decision.answer is None:
                raise _Differs("answer", None, "what the slow path said")
            else:
                answer = judge(here, decision.answer)
        action = None if answer.action is None else values.encode_action(answer.action).decode()
        _same("action", None if decision.action is None else bytes(event.action).decode(), action)
        for name in ("path", "rule", "goal", "why"):
            _same(name, getattr(decision, name), getattr(answer, name))
        _same("spent", sorted(decision.spent), ["decisions", "money", "seconds"] if spends else [])
        self.decisions += 1

    def _can_think(self, rules: Mapping[str, Any]) -> bool:
        """Say whether plans can be made again: there is the model, and states are what the predicates read."""
        return self._model is not None and not self._exact and bool(rules["plain"])

    def _ahead(self, decision: Decision, rules: Mapping[str, Any], known: WorldMap) -> Ahead | None:
        """Return what a look ahead asks; a done check is not called: it said what the recorded plan says."""
        wide = rules["slow"].get("search", {}).get("whole", 0)
        if not rules["plain"] or known.stochastic or not (self._can_think(rules) or wide):
            return None
        model = self._model if self._can_think(rules) else None
        plan = decision.answer if decision.rule == "plan" and decision.path == "slow" else None
        end = None if plan is None else values.encode_state(plan["legs"][-1][2])

        def would(state: Any, goals: tuple[str, ...]) -> tuple[str, ...]:
            return (plan["goal"],) if plan is not None and place_of(state, None).key == end else ()

        return Ahead(model, would, known, {}, wide)

    def _course_again(self, decision: Decision, here: Situation) -> Answer:
        """Look at a course again: what its goals' checks said is taken as recorded, each step is worked out."""
        on = here.on_course()
        if here.ahead is None or not (here.considers() or on is not None):
            raise _Differs("rule", decision.rule, "another: there is no course to think about")
        if decision.answer is None:
            if on is None:
                raise _Differs("rule", decision.rule, "another: there is no course here")
            why = "no shorter one is known" if here.considers() else HOPED
            return Answer(on[0].action, "slow", "course", None, why)
        left, most = left_of(here, on)
        strides, known = from_data(decision.answer), (here.fold, here.running)
        hopes, bound = decision.answer.get("hopes", []), decision.answer.get("bound", 0)
        if not 0 < len(strides) < left or strides[0].state != here.key or bound > most:
            raise _Differs("answer", decision.answer, f"a course from here of fewer than {left} steps")
        for place, (stride, after) in enumerate(zip(strides, [*strides[1:], None], strict=True)):
            told = self._model is not None or self._exact  # else what was predicted cannot be predicted again
            holds = not told or leads(here.ahead, stride, known, hope=place in hopes, last=after is None)
            if (after is not None and after.state != stride.to) or not holds:
                raise _Differs("answer", decision.answer, f"no step from {stride.state!r} to {stride.to!r}")
        action = values.decode_known(strides[0].action)
        return Answer(action, "slow", "course", None, shorter(strides, hopes, left), decision.answer)

    def _check_head(self, seq: int, head: str) -> None:
        """Compare the head that a decision read with the chain."""
        length, _, name = head.partition(":")
        if not length.isdecimal() or not 0 < int(length) <= seq:
            raise _Differs("head", head, f"{seq}:{self._hashes[-1]}")
        _same("head", name, self._hashes[int(length) - 1])

    def _check_goals(self, decision: Decision) -> None:
        """Compare the open goals with the agenda, as far as that needs none of its functions."""
        views = self._agenda.goals()
        if not views:
            _same("goals", decision.goals, (DONE,))
            return
        could = tuple(view.name for view in views if view.open)
        if any(goal not in could for goal in decision.goals):
            raise _Differs("goals", decision.goals, could)

    def _check_options(self, decision: Decision, rules: Mapping[str, Any], known: WorldMap, running: Running) -> None:
        """Predict again, ask the failures again, and, where the policy is ours and has no memory, the policy."""
        failing = bool(self._failures.blocked(decision.state))
        offered = (
            [option.action if option.instead_of is None else option.instead_of for option in decision.options]
            if failing
            else []
        )
        here, raw = values.encode_state(decision.state), self._raw(decision.state)
        cases = DARES[running.dares]
        model = self._model if self._exact or rules["plain"] else None
        fold = self._experience.fold
        verifier = self._verify(rules["verify"]) if "verify" in rules else None
        for option in decision.options:
            failed = None
            if failing:
                asked = option.action if option.instead_of is None else option.instead_of
                said = self._failures.check(decision.state, asked, offered)
                failed = said.reason if said.hard else None
            shielded = None if verifier is None else verifier.why(running.map, here, option.key)
            recorded: tuple[Any, ...] = option.failed, option.shield
            again: tuple[Any, ...] = failed, shielded
            if model is not None:
                call = self._call(option)
                told = model.predict(raw, call.name, call.args)
                tried = cases and (running.map, here, option.key) in fold.refused
                told = in_doubt(known, decision.state, option.action, told, 0 if tried else cases)
                choice = PROTECTS[told.verdict] if rules["risk"] == "Protect" else option.choice
                recorded += option.verdict, option.support, option.hard, option.reason, option.risk, option.choice
                again += told.verdict, told.support, told.hard, told.reason, float(told.risk), choice
            if recorded != again or list(map(type, recorded)) != list(map(type, again)):
                for name, one, other in zip(_CHECKED, recorded, again, strict=False):
                    _same(f"options[{option.action!r}].{name}", one, other)
        self.predicted += model is not None

    def _call(self, option: Option) -> Call:
        """Return an option's action split into name and arguments, each action once."""
        call = self._calls.get(option.key)
        if call is None:
            call = self._calls[option.key] = call_of(option.action)
        return call

    def _raw(self, state: Any) -> Any:
        """Return a state as the predicates read it."""
        return state if self._exact else raw_of(state)


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two episodes first went apart.

    Attributes:
        step: the step, from 0.
        what: "decision" (they chose differently, or in different states), "outcome" (the same choice led elsewhere) or
            "end" (one went on).
        a, b: what each did, in words.

    Example:
        >>> print(Divergence(3, "decision", "'left' in 0", "'right' in 0"))
        step 3: 'left' in 0 against 'right' in 0
    """

    step: int
    what: str
    a: str
    b: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"step {self.step}: {self.a} against {self.b}"


def diff(knowledge: Knowledge, a: int, b: int, other: Knowledge | None = None) -> Divergence | None:
    """Return where two recorded episodes first went apart, None when they did not.

    Args:
        knowledge: whose journal holds the one, and, without `other`, both.
        a: the number of the one.
        b: the number of the other.
        other: whose journal holds the other.

    Raises:
        BadArgument: there is no such episode.

    Cost: a pass over each journal.

    Example:
        >>> from surefoot import Agent
        >>> from surefoot.environments.corridor import Corridor
        >>> knowledge = Knowledge()
        >>> agent = Agent(Corridor(length=2), knowledge=knowledge)
        >>> _ = agent.run(), agent.run()
        >>> diff(knowledge, 0, 1).what
        'decision'
    """
    one, two = _told(knowledge, a), _told(knowledge if other is None else other, b)
    for place in range(max(len(one), len(two))):
        here = one[place] if place < len(one) else ("end", "the end")
        there = two[place] if place < len(two) else ("end", "the end")
        if here != there:
            what = "end" if "end" in (here[0], there[0]) else here[0]
            step = sum(kind == "outcome" for kind, _ in (one if len(one) >= place else two)[:place])
            return Divergence(step, what, here[1], there[1])
    return None


def _told(knowledge: Knowledge, number: int) -> list[tuple[str, str]]:
    """Return the decisions and outcomes of an episode in words."""
    told: list[tuple[str, str]] = []
    begun: set[int] = set()
    for _, event in knowledge.experience.events():
        if isinstance(event, Began):
            begun.add(event.episode)
        elif isinstance(event, Decided) and event.episode == number:
            shown = _plain(event.action), _plain(event.state)
            chose = "nothing" if shown[0] is None else repr(shown[0])
            told.append(("decision", f"{chose} in {shown[1]!r} ({event.path}, {event.rule})"))
        elif isinstance(event, Came) and event.episode == number:
            told.append(("outcome", f"{event.verdict}, to {_plain(event.to)!r}"))
    if number not in begun:
        raise BadArgument(f"there is no episode {number!r}: the journal holds {len(begun)}, numbered from 0")
    return told


def _plain(raw: msgspec.Raw) -> Any:
    return values.decode(bytes(raw))
