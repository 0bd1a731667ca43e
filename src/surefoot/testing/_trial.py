"""One run of a world under test: walk it once, checking the form of every answer, and walk it again in other ways.

A `Trial` first makes the *run*: it takes the actions that a chooser picks, on a fresh instance, and keeps every call
with the exact encoding of its answer. Most laws then say that another walk over the same calls gives the same answers;
such a walk is a *replay*, and the manner of it differs (with copies, without asking, with refusals left out, …).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot import values
from surefoot.errors import BadArgument
from surefoot.protocols import Closable
from surefoot.testing._probe import (
    Broken,
    Choice,
    Chooser,
    Item,
    Kept,
    Manner,
    Plan,
    Probe,
    first_difference,
    item_of,
    offer,
    own,
    shown,
)
from surefoot.testing.laws import Breach, Law

__all__: list[str] = []

_ORDER = {law: place for place, law in enumerate(Law)}


@dataclass
class Trial:
    """Make one run of a world, and hold what was found out by it.

    Args:
        plan: what is tested.
        seed: the seed of the run.
        chooser: chooses the actions.
        keeps: whether what the world returned is kept, to look at again later (a fifth of the time).
    """

    plan: Plan
    seed: int
    chooser: Chooser
    keeps: bool = True
    name: str = ""
    items: list[Item] = field(default_factory=list)
    offers: list[tuple[bytes, ...] | None] = field(default_factory=list)
    breaches: dict[Law, Breach] = field(default_factory=dict)
    tried: Counter[Law] = field(default_factory=Counter)
    _probes: list[Probe] = field(default_factory=list)
    _kept: Kept = field(default_factory=Kept)
    _taking: tuple[bytes, ...] = ()

    # ── instances ──

    def open(self) -> Probe:
        """Return a fresh instance to call."""
        world = self.plan.make()
        self.name = type(world).__name__
        if any(world is probe.world for probe in self._probes):
            raise BadArgument(
                "make must return a fresh environment at each call, got the same object twice: "
                "give a class or a function that builds one"
            )
        probe = Probe(world, self.seed)
        self._probes.append(probe)
        return probe

    def close(self) -> None:
        """Let go of every instance."""
        while self._probes:
            world = (probe := self._probes.pop()).world
            if isinstance(world, Closable):
                try:
                    probe.call(Law.CLOSING, "close()", world.close)
                except Broken as broken:
                    self.note(broken, len(self.items), "in the end the instance was closed")

    # ── what was found ──

    def holds(self, law: Law) -> bool:
        """Say whether a law is in force."""
        return law not in self.plan.without

    def note(self, broken: Broken, upto: int, how: str = "", pending: Sequence[tuple[str, str]] = ()) -> None:
        """Remember the first breach of a law; the run before item `upto` shows it, with the `pending` call."""
        if broken.law in self.breaches or not self.holds(broken.law):
            return
        items = self.items[:upto]
        actions = tuple(item.action for item in items if item.action is not None)
        self.breaches[broken.law] = Breach(
            self.name,
            broken.law,
            self.seed,
            (*((item.call(self.seed), item.answer()) for item in items), *pending),
            (*actions, *self._taking) if pending else actions,
            broken.expected,
            broken.happened,
            how,
            broken.differs,
        )

    # ── the run ──

    def run(self) -> bool:
        """Make the run on a fresh instance and return whether it came to its end."""
        probe = None
        try:
            probe = self.open()
            self._run(probe)
            self._look_back()
        except Broken as broken:
            pending = [(probe.pending, "see below")] if probe is not None else []
            self.note(broken, len(self.items), pending=pending)
            return False
        if len(self.items) > 1 and self.items[-1].action is None:
            self.items.pop()  # a reset with nothing after it
            self.offers.pop()
        return True

    def _run(self, probe: Probe) -> None:
        """Take the actions that the chooser chooses; start again at the end of an episode."""
        self._begin(probe)
        while True:
            options, codes = probe.ask(probe.state)
            self._see_offer(options, codes)
            at_start = self.items[-1].action is None
            if options or self.chooser.anyway:
                chosen = self.chooser.choose(Choice(probe.state, self.items[-1].state, options, codes))
                if chosen is None:
                    return
                self._take(probe, chosen[0])
                over = self.items[-1].done
            else:
                over = True
            if over:
                if self.chooser.left < 1 or (at_start and not options):
                    return
                self._begin(probe)

    def _begin(self, probe: Probe) -> None:
        """Start an episode."""
        self.items.append(Item(None, probe.reset()))
        self.offers.append(None)
        self.tried.update((Law.IS_ENVIRONMENT, Law.ANSWERS, Law.STATES))
        self._keep(self.items[-1], (probe.state, "the state", self.items[-1].state))

    def _see_offer(self, options: Sequence[Any], codes: tuple[bytes, ...]) -> None:
        """Keep the actions on offer after the last item."""
        self.offers[-1] = codes
        self.tried.update((Law.ANSWERS, Law.ACTIONS, Law.ONCE))
        state = shown(self.items[-1].state)
        twice = [code for code, count in Counter(codes).items() if count > 1]
        if twice:
            happened = f"actions({state}) offers {shown(twice[0])} {codes.count(twice[0])} times"
            self.note(Broken(Law.ONCE, "each action once", happened), len(self.items))
        self._keep(self.items[-1], (options, "the list of actions", None))

    def _take(self, probe: Probe, action: Any) -> None:
        """Take one step of the run and check what it returns."""
        before = self.items[-1].state
        self._taking = (values.encode_action(action),)
        outcome = probe.step(action)
        item, why = item_of(probe, self._taking[0], outcome)
        self.items.append(item)
        self.offers.append(None)
        self._taking = ()
        self.tried.update((Law.STATES, Law.OUTCOMES, Law.FORM))
        self.tried[Law.EFFECTS] += outcome.effect is not None
        if why:
            self.note(Broken(Law.EFFECTS, "a plain value", why), len(self.items))
        if outcome.fault is not None:
            self.tried[Law.FAULTS] += 1
            if outcome.accepted:
                self.note(Broken(Law.FAULTS, "accepted=False", "accepted=True"), len(self.items))
        elif not outcome.accepted:
            self.tried[Law.REFUSED] += 1
            if item.state != before:
                differs = first_difference(values.decode(before), values.decode(item.state), "state")
                broken = Broken(Law.REFUSED, f"refused, state {shown(before)}", item.answer(), differs)
                self.note(broken, len(self.items))
        self._keep(
            item,
            (outcome.state, "the state", item.state),
            (outcome.effect, "the effect", None if why else item.effect),
            (outcome.info, "the info", None),
        )

    def _keep(self, item: Item, *things: tuple[Any, str, bytes | None]) -> None:
        """Check that nothing that was returned has changed since, and remember what was returned now."""
        if not self.keeps:
            return
        self.tried[Law.KEPT] += 1
        self._look_back(recent=4)
        for value, what, code in things:
            self._kept.add(value, what, item, code)

    def _look_back(self, recent: int | None = None) -> None:
        """Check that what was returned looks as it did then."""
        broken = self._kept.changed(recent)
        if broken is not None:
            self.note(broken, len(self.items))

    # ── replays ──

    def episode(self) -> range:
        """Return the places of the first episode's items."""
        later = [place for place, item in enumerate(self.items) if place and item.action is None]
        return range(later[0] if later else len(self.items))

    def same(
        self,
        law: Law,
        how: str,
        places: Iterable[int] | None = None,
        *,
        probe: Probe | None = None,
        manner: Manner | None = None,
        whole: bool = False,
    ) -> bool:
        """Replay items of the run and return whether every answer came and is the same.

        Where one differs, note that `law` is broken. After a fault nothing is promised: the replay ends there.

        Args:
            law: the law that promises it; blamed only if the earlier laws that a replay stands on hold in this run.
            how: what is done, for the report.
            places: the items to replay, all of them by default.
            probe: the instance to go on with, a fresh one by default.
            manner: how the replay differs from the run.
            whole: what differs needs the whole run, not just the items before it.
        """
        broken: Broken | None
        try:
            probe = self.open() if probe is None else probe
            ended, broken = self._replay(
                probe, range(len(self.items)) if places is None else places, manner or Manner()
            )
        except Broken as raised:
            place = 0 if probe is None else probe.place
            expected = raised.expected if raised.law is law else self.items[place].answer()
            broken = Broken(law, expected, raised.happened, raised.differs)
            ended = False
        if broken is None:
            return ended
        place = 0 if probe is None else probe.place
        if whole:
            how, place = f"{how}; the answer to {self.items[place].call(self.seed)} differs", len(self.items) - 1
        self.differ(Broken(law, broken.expected, broken.happened, broken.differs), place, how)
        return False

    def differ(self, broken: Broken, place: int, how: str) -> None:
        """Note that the answer at `place` differs, unless an earlier law that a replay stands on is broken as well."""
        for earlier, (text, manner) in CONTROLS.items():
            if _ORDER[earlier] < _ORDER[broken.law] and self.holds(earlier):
                for _ in range(2):
                    self.same(earlier, text, manner=manner)
                if earlier in self.breaches:
                    return
        self.note(broken, place + 1, how)

    def _replay(self, probe: Probe, places: Iterable[int], manner: Manner) -> tuple[bool, Broken | None]:
        """Return whether the replay came to its end, and the first difference, if there is one."""
        for place in places:
            probe.place = place
            item = self.items[place]
            got = Item(None, probe.reset()) if item.action is None else self._step_again(probe, item, manner)
            if "fault" in (item.verdict, got.verdict):
                return False, None
            if got != item:
                return False, Broken(Law.SEEDED, item.answer(), got.answer(), item.differs(got))
        return True, None

    def _step_again(self, probe: Probe, item: Item, manner: Manner) -> Item:
        """Take the step of `item` again, in the given manner."""
        assert item.action is not None
        vandal, state = manner.vandal, probe.state
        if vandal or manner.copies:
            state = values.copy(state)
        if vandal:
            vandal.hurt(probe.state)
        options: Sequence[Any] = ()
        for _ in range(manner.asks):
            options = probe.offers(state)
        offered = self.offers[probe.place - 1] or ()
        copied = vandal is not None or manner.copies
        action = values.decode(item.action) if copied else own(item.action, options, offered)
        if manner.before:
            manner.before(probe, probe.place)
        if vandal:
            codes = tuple(values.encode_action(option) for option in options)
            if codes != offered:
                here = values.encode(state)
                raise Broken(Law.SHARED, offer(here, offered), offer(here, codes))
            vandal.hurt(options)
        outcome = probe.step(action)
        got, _ = item_of(probe, item.action, outcome)
        if vandal:
            vandal.hurt(outcome.effect)
            vandal.hurt(outcome.info)
        return got


CONTROLS: dict[Law, tuple[str, Manner]] = {
    Law.SEEDED: ("the same calls were made on a fresh instance, and there the last answer was another one", Manner()),
    Law.COPIES: (
        "the same calls were made on a fresh instance, with every state and action written down and read again",
        Manner(copies=True),
    ),
}
"""The replays that all others stand on: what they do, in words and in manner."""
