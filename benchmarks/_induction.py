"""The contenders and the runs of `bench_induction.py`: samples, noise, and asking well."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from _raw import FEW, vocabulary
from _recording import Probe, Recording
from _retail import ACTIONS, conditions
from _verdicts import Score, measure
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.vocabulary import MISSING, Vocabulary

__all__ = ["active", "curve", "hand", "induced", "noise", "raw"]

Predicates = Mapping[str, Callable[[Any, Mapping[str, Any]], Any]]
Only = Mapping[str, list[str]]
Say = Callable[[Score], object]


def induced(**options: Any) -> Any:
    """Make the model that is measured: no vocabulary."""
    return ConservativeActionModel(**options)


def ours(predicates: Predicates, only: Only) -> Any:
    """Make our model over a vocabulary."""
    return ConservativeActionModel(Vocabulary(predicates, only=only))


def solvi(predicates: Predicates, only: Only) -> Any:
    """Make the peer's model over a vocabulary."""
    from solvi.core.knowledge import ConservativeActionModel as Model
    from solvi.core.knowledge import Vocabulary as Conditions

    return Model(Conditions(predicates, only=only))


def has_hand(recording: Recording) -> bool:
    """Say whether there is a hand-written vocabulary for the actions of a recording."""
    return {probe.action for probe in recording.train} <= set(ACTIONS)


def hand(recording: Recording) -> tuple[Predicates, Only, dict[int, Any]]:
    """Return the hand-written vocabulary over its own values, and these by call: each is read once, not once a model.

    In these states each condition is an entry of its name; one that cannot be read is not there.
    """
    predicates, only = conditions()
    written = Vocabulary(predicates, only=only)
    states = {}
    for probe in (*recording.train, *recording.heldout):
        held = written.features(probe.state, probe.action, probe.args)
        named = zip(written.of(probe.action), held, strict=True)
        states[probe.number] = {name: value for name, value in named if value is not MISSING}
    return {name: _reader(name) for name in predicates}, only, states


def _reader(name: str) -> Callable[[Any, Mapping[str, Any]], Any]:
    return lambda state, args: state[name]


def _over(probes: Sequence[Probe], states: Mapping[int, Any]) -> list[Probe]:
    return [
        Probe(p.number, p.split, p.action, p.args, p.accepted, p.effect, states[p.number], p.message) for p in probes
    ]


def samples(recording: Recording, sizes: Sequence[int], seeds: Sequence[int]) -> Iterator[tuple[int, int, list[Probe]]]:
    """Yield size, seed and sample: `random.Random(seed).sample(train, n)`."""
    for size in dict.fromkeys(min(size, len(recording.train)) for size in sizes):
        for seed in seeds:
            yield size, seed, random.Random(seed).sample(recording.train, size)


def curve(
    recording: Recording, sizes: Sequence[int], seeds: Sequence[int], tracks: Sequence[str], peer: bool, say: Say
) -> list[Score]:
    """Measure each track on samples of the training calls."""
    scores = []
    if "H" in tracks and has_hand(recording):
        predicates, only, states = hand(recording)
        asked = _over(recording.heldout, states)
        for _, seed, sample in samples(recording, sizes, seeds):
            told = _over(sample, states)
            for who, make in _contenders(peer).items():
                scores.append(measure("H", who, make(predicates, only), told, asked, seed=seed))
                say(scores[-1])
    for size, seed, sample in samples(recording, sizes, seeds):
        for track in ("Z", "Z+M"):
            if track in tracks:
                model = induced()
                score = measure(track, "surefoot", model, sample, recording.heldout, seed=seed, messages=track != "Z")
                start = time.process_time()
                model.settle()
                took = time.process_time() - start
                settled = measure(f"{track}, settled", "surefoot", model, [], recording.heldout, seed=seed)
                settled.trained, settled.observe_us = size, took / size * 1e6
                settled.conditions = relied_on(model, recording)
                scores += [score, settled]
                say(score)
                say(settled)
    return scores


def _contenders(peer: bool) -> dict[str, Callable[[Predicates, Only], Any]]:
    return {"surefoot": ours, "solvi": solvi} if peer else {"surefoot": ours}


def relied_on(model: Any, recording: Recording) -> dict[str, list[dict[str, Any]]]:
    """Return what a model says it relies on, by action: template, words, refusals behind it, rivals."""
    return {
        action: [
            {"kind": rule.kind, "words": rule.words, "support": rule.support, "rivals": len(rule.rivals)}
            for rule in model.conditions(action)
        ]
        for action in actions(recording)
    }


def actions(recording: Recording) -> list[str]:
    """Return the actions of a recording."""
    return sorted({probe.action for probe in (*recording.train, *recording.heldout)})


def raw(recording: Recording, sizes: Sequence[int], peer: bool, say: Say) -> list[Score]:
    """Measure vocabularies that nobody had to think about, on one sample of each size."""
    scores = []
    for _, seed, sample in samples(recording, sizes, [0]):
        for name, most in (("raw, all", None), ("raw, few", FEW)):
            predicates, only = vocabulary(sample, most)
            for who, make in _contenders(peer).items():
                scores.append(measure(name, who, make(predicates, only), sample, recording.heldout, seed=seed))
                say(scores[-1])
    return scores


def noise(recording: Recording, rates: Sequence[float], tracks: Sequence[str], peer: bool, say: Say) -> list[Score]:
    """Measure with accepted training calls reported as refused: the hand-written vocabulary, and none."""
    scores = []
    accepted = [probe.number for probe in recording.train if probe.accepted]
    written = hand(recording) if "H" in tracks and has_hand(recording) else None
    for rate in rates:
        wrong = frozenset(random.Random(0).sample(accepted, round(rate * len(accepted))))
        if written is not None:
            predicates, only, states = written
            told, asked = _over(recording.train, states), _over(recording.heldout, states)
            for who, make in _contenders(peer).items():
                track = f"N {rate:.1%} on H"
                scores.append(measure(track, who, make(predicates, only), told, asked, wrong=wrong))
                say(scores[-1])
        track = f"N {rate:.1%} on Z"
        scores.append(measure(track, "surefoot", induced(), recording.train, recording.heldout, wrong=wrong))
        say(scores[-1])
    return scores


def active(
    recording: Recording, size: int, seed: int, say: Say, *, first: int = 20, offered: int = 40, share: float = 1 / 3
) -> list[Score]:
    """Measure `size` calls in random order beside a third as many, the most telling of some offered each time.

    Args:
        recording: the calls; both choose from its training calls.
        size: how many calls are observed in random order.
        seed: of the order, and of what is offered.
        say: told of each result.
        first: how many calls are observed in random order before the first question.
        offered: how many calls `next_probe` chooses from, drawn anew each time.
        share: how many calls are observed when they are chosen, of `size`.
    """
    rng = random.Random(seed)
    random_order = rng.sample(recording.train, size)
    scores = [measure("random order", "surefoot", induced(), random_order, recording.heldout, seed=seed)]
    say(scores[-1])
    model, pool = induced(), list(recording.train)
    rng = random.Random(seed)
    rng.shuffle(pool)
    for _ in range(min(first, size)):
        probe = pool.pop()
        model.observe(probe.state, probe.action, probe.args, probe.accepted)
    for _ in range(round(size * share) - first):
        places = rng.sample(range(len(pool)), min(offered, len(pool)))
        candidates = [(pool[at].state, pool[at].action, pool[at].args) for at in places]
        question = model.next_probe(candidates)
        chosen = (
            0 if question is None else next(n for n, (_, _, args) in enumerate(candidates) if args is question.args)
        )
        at = places[chosen]
        pool[at], pool[-1] = pool[-1], pool[at]
        probe = pool.pop()
        model.observe(probe.state, probe.action, probe.args, probe.accepted)
    scores.append(measure("next_probe", "surefoot", model, [], recording.heldout, seed=seed))
    scores[-1].trained = round(size * share)
    say(scores[-1])
    return scores
