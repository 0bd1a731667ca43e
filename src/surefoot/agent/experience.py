"""What an agent remembers of its episodes: where goals were reached, what actions are good for, what came of them.

It is a fold over the agent's own events, so it is the same in every process that opens the journal, and can be rebuilt
as it was before any decision. Rules carry everywhere; places are kept for each map.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import msgspec

from surefoot import values
from surefoot.agent.budget import Spent
from surefoot.agent.course import Course, Courses, Stride, Walked, course_of, from_data
from surefoot.agent.decision import DONE
from surefoot.agent.episode_events import (
    NOTHING,
    Began,
    Came,
    Configured,
    Decided,
    Learned,
    Over,
    Recognised,
    Shielded,
    bars_of,
)
from surefoot.agent.guards import LONGEST, TIMES
from surefoot.agent.offers import FORMAT, Offers, is_varied
from surefoot.errors import Conflict, UnknownFormat
from surefoot.journal import Journal
from surefoot.knowledge._ledger import EventFold, Ledger, Record, plain
from surefoot.knowledge.projection import Change

__all__ = ["DARES", "RENEWS", "TARGETS", "Experience", "ExperienceFold", "Running"]

RENEWS = ("nothing left", "blocked")
"""After which of these rules everything may be put in doubt, once an episode.

Example:
    >>> RENEWS
    ('nothing left', 'blocked')
"""

DARES = (0, 3, 10)
"""On how many cases a predicted refusal must rest to bar what was not tried in this very place.

All count at first. Where the refusals that the policy avoids are in the way, and nothing else is left, those that rest
on fewer than 3 cases are looked at again, then those on fewer than 10: what was learned elsewhere, from little, may not
hold here.

Example:
    >>> DARES
    (0, 3, 10)
"""

TARGETS = 64
"""How many places are remembered for a goal on a map; the newest.

Example:
    >>> TARGETS
    64
"""
_RUNS = 4
_DONE = b'[""]'
_KEPT = 4 * LONGEST * TIMES

Pair = tuple[bytes, bytes]


_names = msgspec.json.Decoder(tuple[str, ...]).decode


class Skill(NamedTuple):
    """How often an action reached a goal, of how often it was taken while the goal was open.

    Example:
        >>> Skill(1, 1).rate, Skill(1, 9).rate < 0.5
        (0.6666666666666666, True)
    """

    reached: int
    taken: int

    @property
    def rate(self) -> float:
        """Return the success rate, by Laplace's rule."""
        return (self.reached + 1) / (self.taken + 2)


class Running:
    """An episode that has not ended.

    Attributes:
        episode: its number.
        map: the map that it is walked on.
        start: where it began; `anchor`: where it began, or reached its last goal: what is unknown is explored in layers
            around that.
        steps: how many outcomes there were, by verdict in `verdicts`.
        paths: how many decisions each path made.
        reached: the goals that were reached, in order.
        pending: the newest decision, until something came of it.
        trail: numbers of the steps since the last progress, see `guards`; `walked` says what they stand for.
        shut: {(state, action): (kind, reason, step)} of what did not pass a hard check when it was last looked at;
            `without`: the same pairs, decoded.
        spent: what the slow path has cost.
        drift: something contradicted what was known; `renewed`: everything was put in doubt because of it.
        plan: {state: (action, where it is expected to lead)} of the newest plan, all encoded; `planned`: its goal, None
            for one that leads to what is not predicted.
        dares: how often it was barred by what the policy avoids, see `DARES`.
        course: the whole run that it follows, see `surefoot.agent.course`; `strides`: the one that it has made.
        hopes: {(state, action): where it is hoped to lead} of its steps that are not predicted; `bound`: at how many
            steps the goals are reached at the latest, whatever comes of these; `strayed`: one did not lead there.

    Example:
        >>> Running(0, "main", b"0").anchor
        b'0'
    """

    def __init__(self, episode: int, map_: str, start: bytes) -> None:
        """Begin."""
        self.episode, self.map, self.start, self.anchor = episode, map_, start, start
        self.steps = 0
        self.verdicts = {"accepted": 0, "refused": 0, "fault": 0}
        self.paths = {"fast": 0, "slow": 0, "none": 0}
        self.reached: list[str] = []
        self.pending: Decided | None = None
        self.trail: list[int] = []
        self.walked: list[tuple[bytes, bytes, bytes]] = []
        self.shut: dict[Pair, tuple[str, str, int]] = {}
        self.without: dict[Pair, tuple[Any, Any]] = {}
        self.spent = Spent()
        self.drift = self.renewed = False
        self.dares = 0
        self.plan: dict[bytes, Pair] = {}
        self.planned: str | None = None
        self.course: Course = {}
        self.strides: Walked | None = None
        self.hopes: dict[Pair, bytes] = {}
        self.bound = 0
        self.strayed = False
        self._numbers: dict[tuple[bytes, bytes, bytes], int] = {}

    def walk(self, step: tuple[bytes, bytes, bytes]) -> None:
        """Add a step to the trail."""
        number = self._numbers.get(step)
        if number is None:
            number = self._numbers[step] = len(self.walked)
            self.walked.append(step)
        self.trail.append(number)
        if len(self.trail) > _KEPT:
            del self.trail[: -LONGEST * TIMES]

    def bar(self, pair: Pair, blocked: tuple[str, str] | None) -> None:
        """Write down whether an action passes the hard checks in a state."""
        if blocked is None:
            self.shut.pop(pair, None)
            self.without.pop(pair, None)
        else:
            self.shut[pair] = *blocked, self.steps
            self.without[pair] = values.decode_known(pair[0]), values.decode_known(pair[1])

    def follow(self, plan: bytes) -> None:
        """Take in a plan, as it is recorded."""
        said = values.decode(plan)
        self.planned, self.plan = said["goal"], {}
        for state, action, to in said["legs"]:
            if to is not None:
                self.plan[values.encode_state(state)] = values.encode_action(action), values.encode_state(to)

    def set_out(self, answer: bytes) -> None:
        """Take in a course, as it is recorded."""
        said = values.decode_known(answer)
        strides, hopes = from_data(said), said.get("hopes", ())
        self.course = course_of(strides, self.reached)
        self.hopes = {(strides[at].state, strides[at].action): strides[at].to for at in hopes}
        self.bound = self.steps + said.get("bound", len(strides))

    def put_in_doubt(self, rule: str) -> None:
        """Take in that nothing was left, or that all that was left was barred."""
        if rule == "blocked" and self.dares + 1 < len(DARES):
            self.dares += 1
            for pair in [pair for pair, (kind, _, _) in self.shut.items() if kind == "avoid"]:
                self.bar(pair, None)
        else:
            self.renewed = True

    def as_data(self) -> Any:
        """Return it as a plain value."""
        pending = None if self.pending is None else self.pending.as_data()
        return {
            "episode": [self.episode, self.map, self.steps, self.drift, self.renewed, self.dares],
            "places": [values.decode(self.start), values.decode(self.anchor)],
            "counts": [
                dict(self.verdicts),
                dict(self.paths),
                [self.spent.decisions, self.spent.seconds, self.spent.money],
            ],
            "reached": list(self.reached),
            "pending": pending,
            "course": [[s.decode(), sorted(g), a.decode(), t.decode()] for (s, g), (a, t, _) in self.course.items()],
            "hopes": [
                self.bound,
                self.strayed,
                [[s.decode(), a.decode(), t.decode()] for (s, a), t in self.hopes.items()],
            ],
            "plan": [self.planned, [[s.decode(), a.decode(), t.decode()] for s, (a, t) in self.plan.items()]],
            "trail": [[part.decode() for part in self.walked[number]] for number in self.trail],
            "shut": [[s.decode(), a.decode(), *why] for (s, a), why in self.shut.items()],
        }


class ExperienceFold(EventFold):
    """What follows from an agent's events.

    Attributes:
        episodes: how many began.
        running: {number: episode} of those that have not ended.
        targets: {map: {goal: {encoded state: None}}}, where each goal was reached, or its check said that it would be,
            the newest 64 places.
        skills: {(goal, encoded action): Skill}.
        runs: {(map, state, action): [[destination, how often in a row], …]}, the newest 4 runs.
        seen: {(map, state, action): {destination: how often}}, of all times.
        refused: {(map, state, action)} of what was refused when it was last taken.
        able: {encoded action: None} of what was accepted anywhere.
        merged: {the hash of another agent's journal's head: its length}, up to where it was taken over.
        stuck: {map: how many episodes in a row ended there with nothing left}.
        version: {map: number}, which grows whenever a plan for that map may no longer be the best.
        courses: the whole runs to all goals, see `surefoot.agent.course`.
        offers: the long lists of options, see `Offers`.

    Example:
        >>> fold = ExperienceFold()
        >>> fold.apply(Began(0, "main", None, msgspec.Raw(b"0")))
        >>> fold.episodes, fold.running[0].map
        (1, 'main')
    """

    kinds = (Configured, Began, Decided, Came, Over, Learned, Recognised, Shielded)
    settings: Configured

    def __init__(self, settings: Configured | None = None) -> None:
        """Remember nothing."""
        super().__init__(settings or Configured())
        self.episodes = 0
        self.running: dict[int, Running] = {}
        self.targets: dict[str, dict[str, dict[bytes, None]]] = {}
        self.skills: dict[tuple[str, bytes], Skill] = {}
        self.runs: dict[tuple[str, bytes, bytes], list[list[Any]]] = {}
        self.seen: dict[tuple[str, bytes, bytes], dict[bytes, int]] = {}
        self.refused: set[tuple[str, bytes, bytes]] = set()
        self.able: dict[bytes, None] = {}
        self.merged: dict[str, int] = {}
        self.stuck: dict[str, int] = {}
        self.version: dict[str, int] = {}
        self.courses = Courses()
        self.offers = Offers()

    def reset(self) -> None:
        """Refuse what a later Surefoot records."""
        if self.settings.version > FORMAT:
            raise UnknownFormat(
                f"an agent's events of format {self.settings.version}: this Surefoot reads formats up to {FORMAT}; "
                "open the journal with the Surefoot that wrote it, or a later one"
            )

    def take(self, event: Record) -> None:
        """Take in an event that is not about the settings.

        Raises:
            ValueError, LookupError: it cannot have happened.
        """
        match event:
            case Decided():
                self._decided(event)
            case Came():
                self._came(event)
            case Began():
                if event.episode != self.episodes:
                    raise ValueError(f"episode {event.episode} begins where number {self.episodes} should")
                self.episodes += 1
                self.running[event.episode] = running = Running(event.episode, event.map, bytes(event.state))
                self._change(event.map)  # another process may have made the plans that are kept
                running.reached.extend(event.goals)
                for goal in event.goals:
                    self._reach(event.map, goal, bytes(event.state))
                if b'"courses":true' in bytes(event.rules):  # not in journals of before
                    running.strides = Walked(running.start, event.goals)
                    known = self.courses.of((event.map, running.start), partial(self._holds, event.map))
                    running.course = course_of(known, event.goals)
            case Learned():
                self._learned(event)
            case Recognised():
                for goal, places in plain(event.targets).items():
                    for place in places:
                        self._reach(event.map, goal, values.encode_state(place))
            case Shielded():  # it follows from the rest, see `surefoot.agent.verifying`
                pass
            case _:
                assert isinstance(event, Over)  # there are no other kinds
                running = self.running.pop(event.episode)
                map_ = running.map
                if event.stopped == "goals reached" and running.strides is not None:
                    self.courses.finished((map_, running.start), running.reached, running.strides.strides)
                self.stuck[map_] = self.stuck.get(map_, 0) + 1 if event.stopped in RENEWS else 0

    def _learned(self, event: Learned) -> None:
        """Take over what another agent had learned."""
        for map_, goals in plain(event.targets).items():
            for goal, places in goals.items():
                for place in places:
                    self._reach(map_, goal, values.encode_state(place))
            self._change(map_)
        for goal, action, reached, taken in plain(event.skills):
            key = goal, values.encode_action(action)
            known = self.skills.get(key, Skill(0, 0))
            self.skills[key] = Skill(known.reached + reached, known.taken + taken)
        self.merged[event.origin] = event.length

    def _holds(self, map_: str, stride: Stride) -> bool:
        """Say whether a step led, when it was last taken, to where a course says it does."""
        triple = map_, stride.state, stride.action
        runs = self.runs.get(triple)
        return runs is not None and triple not in self.refused and runs[-1][0] == stride.to

    def _decided(self, event: Decided) -> None:
        running = self.running[event.episode]
        long = self.offers.take(event)
        running.pending = event
        running.paths[event.path] += 1
        if event.path == "slow" and event.rule in ("plan", "probe"):
            running.follow(bytes(event.answer))
        running.strayed = False
        if event.path == "slow" and event.rule == "course":
            self.courses.consider((running.map, running.start))
            if event.answer != NOTHING:
                running.set_out(bytes(event.answer))
        if event.path == "slow" or bytes(event.spent) != b"null":
            running.spent = running.spent.plus(values.decode_known(bytes(event.spent)) or {})
        if event.rule in RENEWS:
            running.put_in_doubt(event.rule)
        state, on_map = bytes(event.state), self.targets.get(running.map)
        if on_map is not None:
            for goal in _names(event.goals):  # who is there with the goal open knows that it is not there
                if on_map.get(goal, {}).pop(state, 0) is None:
                    running.drift = True
                    self._change(running.map)
        shut = running.shut
        for action, blocked in bars_of(event, whole=bool(shut), rows=long):
            pair = state, action
            if blocked is None and not shut:
                continue
            if blocked is None or blocked[0] == "failed" or (running.map, *pair) not in self.refused:
                running.bar(pair, blocked)

    def _came(self, event: Came) -> None:
        running = self.running[event.episode]
        decided = running.pending
        if decided is None or decided.step != event.step:
            raise ValueError(f"an outcome of step {event.step} comes without its decision")
        running.pending = None
        running.verdicts[event.verdict] += 1
        running.steps += 1
        running.drift = running.drift or event.drift
        if event.verdict == "fault":
            return
        state, action, to = bytes(decided.state), bytes(decided.action), bytes(event.to)
        triple = running.map, state, action
        if running.hopes:
            hoped = running.hopes.pop((state, action), None)
            running.strayed = hoped is not None and (event.verdict != "accepted" or hoped != to)
        if event.verdict == "accepted":
            self.refused.discard(triple)
            self._arrived(triple, to)
            self._credit(running, decided, event, action, to)
            if running.strides is not None and bytes(decided.goals) != _DONE:
                running.strides.add(Stride(state, action, to, event.goals))
        elif triple not in self.refused:
            self.refused.add(triple)
            self.courses.hear(running.map)
            self._change(running.map)
        if event.drift:
            self._change(running.map)
        if event.goals:
            running.trail.clear()
            running.anchor = to
            running.plan = {}
        else:
            running.walk((state, action, to if event.verdict == "accepted" else b""))

    def _arrived(self, triple: tuple[str, bytes, bytes], to: bytes) -> None:
        """Count where an action led to; a plan gets old when a place is new, or counts have doubled."""
        seen = self.seen.get(triple)
        if seen is None:
            seen = self.seen[triple] = {}
            self.runs[triple] = []
            self.able[triple[2]] = None
        seen[to] = seen.get(to, 0) + 1
        times = sum(seen.values())
        if seen[to] == 1:
            self.courses.hear(triple[0])
        if seen[to] == 1 or not times & (times - 1):  # a power of two
            self._change(triple[0])
        runs = self.runs[triple]
        if runs and runs[-1][0] == to:
            runs[-1][1] += 1
        else:
            runs.append([to, 1])
            del runs[:-_RUNS]

    def _credit(self, running: Running, decided: Decided, event: Came, action: bytes, to: bytes) -> None:
        """Write down which goals an action reached, and which it did not."""
        goals = _names(decided.goals)
        reached = (*event.goals, DONE) if event.done and DONE in goals else event.goals
        for goal in reached:
            self._reach(running.map, goal, to)
            skill = self.skills.get((goal, action), Skill(0, 0))
            self.skills[goal, action] = Skill(skill.reached + 1, skill.taken + 1)
        running.reached.extend(event.goals)
        if self.skills:
            for goal in goals:
                if goal not in reached and (goal, action) in self.skills:
                    skill = self.skills[goal, action]
                    self.skills[goal, action] = Skill(skill.reached, skill.taken + 1)

    def _reach(self, map_: str, goal: str, state: bytes) -> None:
        places = self.targets.setdefault(map_, {}).setdefault(goal, {})
        if state not in places:
            places[state] = None
            if len(places) > TARGETS:
                del places[next(iter(places))]
            self._change(map_)

    def _change(self, map_: str) -> None:
        self.version[map_] = self.version.get(map_, 0) + 1

    def may_doubt(self, running: Running) -> bool:
        """Say whether, with nothing left to do, everything is to be put in doubt and looked at again.

        Once an episode: when something contradicted what was known, or when the last 1, 2, 4, 8, … episodes ended like
        this, so that what was refused by chance is not lost, and a world without a way is not searched every time.
        """
        stuck = self.stuck.get(running.map, 0)
        return not running.renewed and (running.drift or bool(stuck and not stuck & (stuck - 1)))

    def surprise(self, map_: str, state: bytes, action: bytes, to: bytes | None) -> str:
        """Say what it means that an action led to `to` (None: was refused): "" (nothing), "drift" or "chance".

        What led to one place for a while and now leads to another has changed; what goes back to an earlier place after
        a run of one or two is random.
        """
        triple = map_, state, action
        runs = self.runs.get(triple)
        if to is None:
            return "drift" if runs and triple not in self.refused else ""
        if triple in self.refused:
            return "drift"
        if not runs or runs[-1][0] == to:
            return ""
        before = any(run[0] == to for run in runs[:-1])
        return "chance" if before and runs[-1][1] <= 2 else "drift"

    def as_data(self) -> Any:
        """Return all that is known, as a plain value."""
        return {
            "episodes": self.episodes,
            "running": [running.as_data() for running in self.running.values()],
            "targets": {m: {g: [s.decode() for s in p] for g, p in t.items()} for m, t in self.targets.items()},
            "skills": sorted([goal, action.decode(), *skill] for (goal, action), skill in self.skills.items()),
            "runs": [
                [m, s.decode(), a.decode(), [[t.decode(), n] for t, n in r]] for (m, s, a), r in self.runs.items()
            ],
            "seen": [
                [m, s.decode(), a.decode(), {t.decode(): n for t, n in d.items()}] for (m, s, a), d in self.seen.items()
            ],
            "refused": sorted([m, s.decode(), a.decode()] for m, s, a in self.refused),
            "able": sorted(action.decode() for action in self.able),
            "merged": dict(self.merged),
            "stuck": dict(self.stuck),
            "version": dict(self.version),
            "courses": self.courses.as_data(),
            "offers": self.offers.as_data(),
        }


class Experience(Ledger[ExperienceFold]):
    """Keep an agent's events, and what follows from them; `fold` is what is known now.

    Args:
        journal: where.
        stream: whose.

    Example:
        >>> from surefoot import open_journal
        >>> experience = Experience(open_journal())
        >>> experience.note(Began(0, "main", None, msgspec.Raw(b"0")))
        >>> experience.fold.episodes, experience.journal.head.length
        (1, 2)
    """

    _noun = "experience"
    _makes = ExperienceFold

    def __init__(self, journal: Journal, stream: str = "agent") -> None:
        """Read what there is."""
        self._begin(Configured(), {}, (None, journal, stream))

    @property
    def fold(self) -> ExperienceFold:
        """Return what is known now; not to be changed."""
        with self._lock:
            self._catch_up()
            return self._fold

    @property
    def read_upto(self) -> str:
        """Return the head of the journal, as far as it was read here."""
        with self._lock:
            self._catch_up()
            return f"{self._read}:{self._hash}" if self._read else str(self.head)

    def note(self, event: Record) -> None:
        """Record an event; for `agent/loop.py` alone."""
        if type(event) is Decided and is_varied(event):
            self._note_varied(event)
        elif self._fold.begun:
            self._append(event)
        else:
            self._note(lambda: event)

    def _append(self, event: Record) -> None:
        """Record an event that does not depend on what is known, then apply it; the settings are recorded already."""
        kind, data = event.kind, event.encode()
        with self._lock:
            while True:
                self._catch_up()
                try:
                    (line,) = self._journal.record(((kind, data),), stream=self._stream, expect=self._read)
                except Conflict:
                    continue
                self._read += 1
                self._hash = line[-66:-2].decode()
                self._fold.apply(event)
                return

    def noting(self, event: Record) -> Change:
        """Return what `note` would record of an event in an episode, to be recorded together with other changes."""
        return self, lambda: (event.kind, event.encode()), lambda _: self._fold.apply(event)

    def _note_varied(self, event: Decided) -> None:
        """Record a decision whose list varies another; whole after all, where somebody decided there in between."""
        if self._fold.settings.version < FORMAT:
            self._configure(version=FORMAT)
        made = event

        def decide() -> tuple[str, bytes]:
            nonlocal made
            made = event if self._fold.offers.holds(event) else self._fold.offers.whole(event)
            return made.kind, made.encode()

        self._change(decide, lambda _: self._fold.apply(made))

    def events(self) -> Iterable[tuple[int, Record]]:
        """Yield (place in the journal, event) for each recorded event."""
        decoders = {kind.kind: msgspec.json.Decoder(kind).decode for kind in ExperienceFold.kinds}
        for entry in self._journal.entries(stream=self._stream):
            yield entry.seq, decoders[entry.kind](bytes(entry.raw))
