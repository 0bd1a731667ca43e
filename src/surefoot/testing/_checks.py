"""What is tried for each law, once a run was made: one function a law, in the order in which laws are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from surefoot import values
from surefoot.errors import ValueRejected
from surefoot.protocols import Closable, Describable, Signposted, Snapshotable
from surefoot.testing._probe import (
    Broken,
    Chooser,
    Manner,
    Plan,
    Probe,
    Vandal,
    brief,
    item_of,
    offer,
    own,
    shown,
)
from surefoot.testing._trial import CONTROLS, Trial
from surefoot.testing.laws import Law

__all__: list[str] = []

ONCE_A_SEED = frozenset({Law.ANSWERS, Law.CLOSING})
"""Laws that the length of the run is nothing to: they are tried with the first run of each seed."""

REPLAYED = frozenset(
    {
        Law.COPIES,
        Law.ASKING,
        Law.SHARED,
        Law.RESET,
        Law.APART,
        Law.NO_TRACE,
        Law.AFTER_DONE,
        Law.SNAPSHOT,
        Law.SIGNS,
        Law.DESCRIPTIONS,
        Law.CLONES,
    }
)
"""Laws that are tried by comparing two runs: without `Law.SEEDED` they say nothing."""

_MADE_UP = "surefoot: no such action"
_MOST_CLONES = 12


def examine(plan: Plan, seed: int, chooser: Chooser, *, only: Law | None = None, first: bool = False) -> Trial:
    """Make one run and try the laws on it.

    Args:
        plan: what is tested.
        seed: the seed of the run.
        chooser: chooses the actions.
        only: try this law alone (the form of what the run returns is checked anyway).
        first: this is the seed's first run, try what is to be tried once.
    """
    trial = Trial(plan, seed, chooser, keeps=only in (None, Law.KEPT))
    try:
        if trial.run():
            for law, check in _CHECKS.items():
                if not trial.holds(law) or only not in (None, law):
                    continue
                if only is None and law in ONCE_A_SEED and not first:
                    continue
                if law in REPLAYED and not (trial.holds(Law.SEEDED) and Law.SEEDED not in trial.breaches):
                    continue
                _try(trial, law, check)
    finally:
        trial.close()
    return trial


def _try(trial: Trial, law: Law, check: Callable[[Trial], None]) -> None:
    """Run one check; what it raises is a breach of its law."""
    try:
        check(trial)
    except Broken as broken:
        place = len(trial.items)
        trial.note(Broken(law, broken.expected, broken.happened, broken.differs), place, _HOW.get(law, ""))


def _answers(trial: Trial) -> None:
    """Call `reset` without a seed, and with one by place."""
    for text, arguments in (("reset()", ()), (f"reset({trial.seed})", (trial.seed,))):
        trial.tried[Law.ANSWERS] += 1
        probe = trial.open()
        try:
            probe.plain_state(probe.call(Law.ANSWERS, "reset", probe.world.reset, *arguments))
        except Broken as broken:
            trial.note(Broken(Law.ANSWERS, broken.expected, broken.happened), 0, pending=[(text, "see below")])


def _same_actions(trial: Trial) -> None:
    """Ask about each state twice where it is, and about earlier states from later ones."""
    said: dict[bytes, tuple[bytes, ...]] = {}
    for place, (item, codes) in enumerate(zip(trial.items, trial.offers, strict=True)):
        if codes is not None and said.setdefault(item.state, codes) != codes:
            broken = Broken(Law.SAME_ACTIONS, offer(item.state, said[item.state]), offer(item.state, codes))
            trial.note(broken, place + 1, "the run comes to this state twice")
            return
    probe, states = trial.open(), dict[bytes, Any]()
    for place, item in enumerate(trial.items):
        try:
            if item.action is None:
                code = probe.reset()
            else:
                code = probe.plain_state(
                    probe.step(own(item.action, probe.offers(probe.state), trial.offers[place - 1] or ())).state
                )
        except Broken:
            return  # it goes another way than in the run, for which there are other laws
        if code != item.state:
            return
        if trial.offers[place] is None:
            continue
        states.setdefault(code, probe.state)
        for asked in [code, *dict.fromkeys([*list(states)[:1], *list(states)[-2:]]), code]:
            trial.tried[Law.SAME_ACTIONS] += 1
            try:
                now = probe.ask(states[asked])[1]
                happened = "" if now == said[asked] else offer(asked, now)
            except Broken as broken:
                happened = broken.happened
            if happened:
                how = f"the same calls were made on a fresh instance, then actions({shown(asked)}) was called"
                trial.note(Broken(Law.SAME_ACTIONS, offer(asked, said[asked]), happened), place + 1, how)
                return


def _seeded(trial: Trial) -> None:
    """Make the same calls on a fresh instance."""
    trial.tried[Law.SEEDED] += 1
    trial.same(Law.SEEDED, CONTROLS[Law.SEEDED][0])


def _copies(trial: Trial) -> None:
    """Make the same calls with copies of every state and action."""
    trial.tried[Law.COPIES] += 1
    trial.same(Law.COPIES, *CONTROLS[Law.COPIES][:1], manner=CONTROLS[Law.COPIES][1])


def _asking(trial: Trial) -> None:
    """Make the same steps without asking what is on offer, and while asking too often."""
    trial.tried[Law.ASKING] += 2
    if trial.same(Law.ASKING, "the same steps were taken without a call of actions()", manner=Manner(asks=0)):
        how = "the same steps were taken with three calls of actions() before each, and one about the first state"
        first = values.decode(trial.items[0].state)
        more = Manner(asks=3, before=lambda probe, _: probe.ask(first) and None)
        trial.same(Law.ASKING, how, manner=more)


def _shared(trial: Trial) -> None:
    """Make the same calls and change everything that is returned."""
    vandal = Vandal()
    try:
        trial.same(Law.SHARED, _HOW[Law.SHARED], manner=Manner(vandal=vandal))
    finally:
        vandal.mend()
    trial.tried[Law.SHARED] += vandal.hits


def _reset(trial: Trial) -> None:
    """Reset after the run, in the middle of an episode, and after another seed."""
    trial.tried[Law.RESET] += 1
    episode, probe = trial.episode(), trial.open()

    def again(after: str, places: Iterable[int]) -> bool:
        how = f"on one instance, the episode was played after {after}"
        return trial.same(Law.RESET, how, places, probe=probe, whole=True)

    if not (
        again("nothing else", range(len(trial.items)))
        and again("the whole run", episode)
        and again("the whole run and one more episode", range(len(episode) // 2 + 1))
        and again("half an episode", episode)
    ):
        return
    others = [seed for seed in trial.plan.seeds if seed != trial.seed]
    if not others:
        return
    other = others[0]
    state = probe.call(Law.RESET, "reset", probe.world.reset, seed=other)
    options = probe.offers(state)
    if options:
        probe.step(options[0])
    again(f"reset(seed={other}) and a step", episode)


def _apart(trial: Trial) -> None:
    """Step a second instance before each step of the first."""
    trial.tried[Law.APART] += 1
    other = trial.open()
    other.seed = trial.plan.seeds[-1]
    other.reset()

    def before(_: Probe, place: int) -> None:
        options = other.offers(other.state)
        if not options or other.step(options[place % len(options)]).done:
            other.reset()

    trial.same(Law.APART, _HOW[Law.APART], manner=Manner(before=before))


def _no_trace(trial: Trial) -> None:
    """Make the same steps but for those that were refused."""
    items = trial.items
    refusals = [place for place, item in enumerate(items) if item.verdict == "refused" and not item.done]
    trial.tried[Law.NO_TRACE] += len(refusals)
    if refusals:
        rest = [place for place in range(len(items)) if place not in set(refusals)]
        trial.same(Law.NO_TRACE, _HOW[Law.NO_TRACE], rest)


def _after_done(trial: Trial) -> None:
    """Call `step` and `actions` after the end of an episode, then reset."""
    episode = trial.episode()
    last = trial.items[episode[-1]]
    if not last.done or last.action is None:
        return
    trial.tried[Law.AFTER_DONE] += 1
    probe = trial.open()
    if trial.same(Law.AFTER_DONE, "the episode was played", episode, probe=probe):
        action, state = values.decode(last.action), probe.state
        for function, argument in ((probe.world.step, action), (probe.world.actions, state)):
            try:
                probe.call(Law.AFTER_DONE, "after", function, argument)
            except Broken:  # to raise is as good as to answer: only the next episode counts
                continue
        how = f"after the end, step({shown(last.action)}) was called once more, then the episode was played again"
        trial.same(Law.AFTER_DONE, how, episode, probe=probe, whole=True)


def _offered(trial: Trial) -> None:
    """Try in each state an action that is made up, and one that is on offer elsewhere."""
    if not trial.plan.offered:
        return
    probe = trial.open()
    elsewhere = dict.fromkeys(code for codes in trial.offers for code in codes or ())
    for place, item in enumerate(trial.items):
        if item.action is None:
            code = probe.reset()
        else:
            code = probe.plain_state(probe.step(values.decode(item.action)).state)
        if code != item.state:
            return  # a refusal that raises and moves; or a world that is no more the same: other laws say so
        here = trial.offers[place] or ()
        strangers = [values.encode(_MADE_UP), *(code for code in elsewhere if code not in here)]
        for stranger in strangers[:2] if not item.done else []:
            trial.tried[Law.OFFERED] += 1
            try:
                outcome = probe.step(values.decode(stranger))
            except Broken as broken:
                if broken.raised:
                    continue
                raise
            if outcome.accepted:
                call = (f"step({shown(stranger)})", f"accepted, state {brief(outcome.state)}")
                expected = f"refused, or an exception: {offer(code, here)}"
                trial.note(Broken(Law.OFFERED, expected, "accepted"), place + 1, pending=[call])
                return


def _snapshot(trial: Trial) -> None:
    """Save at the start and half-way, play on, go back twice and play on again."""
    episode = trial.episode()
    for place in sorted({0, len(episode) // 2}):
        if trial.items[place].done:
            continue
        probe = trial.open()
        if not isinstance(probe.world, Snapshotable):
            return
        trial.tried[Law.SNAPSHOT] += 1
        before, after = range(place + 1), range(place + 1, len(episode))
        at = f"{trial.items[place].call(trial.seed)}"
        if not trial.same(Law.SNAPSHOT, "the same calls were made", before, probe=probe):
            return
        token = probe.call(Law.SNAPSHOT, "save_state()", probe.world.save_state)
        if not trial.same(Law.SNAPSHOT, f"after {at}, save_state() was called", after, probe=probe, whole=True):
            return
        for often in ("once", "twice"):
            how = f"after {at}, save_state() was called, and in the end restore_state(token) {often}"
            probe.state = probe.call(Law.SNAPSHOT, "restore_state(token)", probe.world.restore_state, token)
            code, saved = probe.plain_state(probe.state), trial.items[place].state
            if code != saved:
                trial.differ(
                    Broken(Law.SNAPSHOT, f"state {shown(saved)}", f"state {shown(code)}"), len(trial.items) - 1, how
                )
                return
            if not trial.same(Law.SNAPSHOT, f"{how} to go on from there", after, probe=probe, whole=True):
                return


def _signs(trial: Trial) -> None:
    """Read the signs before each step."""

    def read(probe: Probe, state: Any, offered: tuple[bytes, ...]) -> bytes:
        said = probe.call(Law.SIGNS, "signs", probe.world.signs, state)
        if not isinstance(said, list | tuple):
            raise Broken(Law.SIGNS, "a list or a tuple of pairs (action, state)", brief(said))
        pairs = []
        for pair in said:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise Broken(Law.SIGNS, "pairs (action, state)", brief(pair))
            action, to = _plain(Law.SIGNS, values.encode_action, pair[0]), _plain(Law.SIGNS, values.encode, pair[1])
            if action not in offered:
                raise Broken(Law.SIGNS, f"signs of actions on offer in {brief(state)}", f"a sign of {shown(action)}")
            pairs.append(action + b">" + to)
        return b",".join(pairs)

    _extra(trial, Law.SIGNS, Signposted, read)


def _descriptions(trial: Trial) -> None:
    """Read the description before each step."""

    def read(probe: Probe, state: Any, _: tuple[bytes, ...]) -> bytes:
        said = probe.call(Law.DESCRIPTIONS, "describe", probe.world.describe, state)
        if not isinstance(said, Mapping):
            raise Broken(Law.DESCRIPTIONS, "a mapping", brief(said))
        return _plain(Law.DESCRIPTIONS, values.encode, said)

    _extra(trial, Law.DESCRIPTIONS, Describable, read)


def _extra(trial: Trial, law: Law, protocol: type, read: Callable[[Probe, Any, tuple[bytes, ...]], bytes]) -> None:
    """Read something about the state before each step, twice; it must say the same and change nothing."""
    probe = trial.open()
    if not isinstance(probe.world, protocol):
        return

    def before(probe: Probe, place: int) -> None:
        trial.tried[law] += 1
        offered = trial.offers[place - 1] or ()
        one, two = (read(probe, probe.state, offered) for _ in range(2))
        if one != two:
            raise Broken(law, one.decode(), f"when asked again: {two.decode()}")

    if len(trial.items) == 1:
        probe.reset()
        before(probe, 1)
    else:
        trial.same(law, f"the same calls were made, with {_HOW[law]} before each step", manner=Manner(before=before))


def _plain(law: Law, encode: Callable[[object], bytes], value: object) -> bytes:
    """Return an encoding; what is not plain breaks `law`."""
    try:
        return encode(value)
    except ValueRejected as error:
        raise Broken(law, "plain values", str(error)) from error


def _closing(trial: Trial) -> None:
    """Close before the first reset and after a step, twice each."""
    for used in (False, True):
        probe = trial.open()
        if not isinstance(probe.world, Closable):
            return
        trial.tried[Law.CLOSING] += 1
        if used:
            probe.reset()
        for often in ("once", "a second time"):
            try:
                probe.call(Law.CLOSING, "close()", probe.world.close)
            except Broken as broken:
                when = "after a reset" if used else "before the first reset"
                trial.note(broken, used, f"close() was called {often}, {when}")
                return


def _clones(trial: Trial) -> None:
    """Step a clone before each step of the original."""
    clone = trial.plan.clone
    if clone is None:
        return
    every = max(1, len(trial.items) // _MOST_CLONES)

    def before(probe: Probe, place: int) -> None:
        if place % every and place not in (1, len(trial.items) - 1):
            return
        trial.tried[Law.CLONES] += 1
        item = trial.items[place]
        assert item.action is not None
        twin = Probe(probe.call(Law.CLONES, "clone(env, state)", clone, probe.world, probe.state), trial.seed)
        got, _ = item_of(twin, item.action, twin.step(values.decode(item.action)))
        if got != item and "fault" not in (got.verdict, item.verdict):
            happened = f"the clone's step: {got.answer()}"
            raise Broken(Law.CLONES, item.answer(), happened, item.differs(got))

    trial.same(Law.CLONES, _HOW[Law.CLONES], manner=Manner(before=before))


_HOW = {
    Law.SHARED: "the same calls were made, and every list and dict that was returned was changed by the caller",
    Law.APART: "the same calls were made on a fresh instance, and before each another instance took a step",
    Law.NO_TRACE: "the same calls were made without those that were refused",
    Law.SIGNS: "two calls of signs(state)",
    Law.DESCRIPTIONS: "two calls of describe(state)",
    Law.CLONES: "the same calls were made, and before each a clone was made and stepped",
}

_CHECKS: dict[Law, Callable[[Trial], None]] = {
    Law.ANSWERS: _answers,
    Law.SAME_ACTIONS: _same_actions,
    Law.SEEDED: _seeded,
    Law.COPIES: _copies,
    Law.ASKING: _asking,
    Law.SHARED: _shared,
    Law.RESET: _reset,
    Law.APART: _apart,
    Law.NO_TRACE: _no_trace,
    Law.AFTER_DONE: _after_done,
    Law.OFFERED: _offered,
    Law.SNAPSHOT: _snapshot,
    Law.SIGNS: _signs,
    Law.DESCRIPTIONS: _descriptions,
    Law.CLOSING: _closing,
    Law.CLONES: _clones,
}
