"""The model against its definition: every conclusion drawn anew, in loops, from the list of all observations."""

from __future__ import annotations

import enum
import itertools
import random
import sys
from collections import Counter
from collections.abc import Callable
from math import log
from typing import Any

import pytest

from surefoot.learners.conservative import CAUTIONS, ConservativeActionModel
from surefoot.learners.evidence import ActionEvidence
from surefoot.learners.vocabulary import MISSING, Vocabulary

Vector = tuple[Any, ...]
LABELS = ("a", "b", "c", "d", True, False, None, MISSING)


def reader(at: int) -> Callable[[Any, Any], Any]:
    return lambda state, args: state[at]


class Naive:
    """The definition for labels, without flakes: too slow to use, too plain to be wrong."""

    def __init__(self, seen: list[tuple[Vector, bool]], caution: str) -> None:
        self.caution = caution
        self.accepted = [v for v, accepted in seen if accepted]
        self.refused = [v for v, accepted in seen if not accepted]
        self.kept = self.relations()

    def relations(self) -> list[tuple[int, int]]:
        """Pairs of conditions that at least five accepted cases showed equal and none unequal, and that vary."""
        cases = list(dict.fromkeys(self.accepted))
        found = []
        for a, b in itertools.combinations(range(len(cases[0]) if cases else 0), 2):
            shown = [(c[a], c[b]) for c in cases if MISSING not in (c[a], c[b])]
            equal = all(type(x) is str and x == y for x, y in shown)
            if equal and len(shown) >= 5 and len({c[a] for c in cases}) > 1 and len({c[b] for c in cases}) > 1:
                found.append((a, b))
        return found

    def violations(self, v: Vector) -> frozenset[Any]:
        single = {(at, x) for at, x in enumerate(v) if not any(a[at] == x for a in self.accepted)}
        broken = {
            ("equal", a, b)
            for a, b in self.kept
            if MISSING not in (v[a], v[b]) and not (type(v[a]) is str and v[a] == v[b])
        }
        return frozenset(single | broken)

    def pairs(self, v: Vector) -> list[Any]:
        found = []
        for (a, x), (b, y) in itertools.combinations(enumerate(v), 2):
            if not any(c[a] == x and c[b] == y for c in self.accepted):
                found.append(("pair", (a, x), (b, y)))
        return found

    def explained(self, v: Vector) -> frozenset[Any]:
        return self.violations(v) or frozenset(self.pairs(v))

    def most(self, items: Any, signatures: Counter[Any]) -> int:
        return max((n for s, n in signatures.items() if s and s <= frozenset(items)), default=0)

    def predict(self, v: Vector) -> tuple[str, int]:
        """Return the verdict and its support."""
        if v in self.accepted:
            return "accept", self.accepted.count(v)
        if v in self.refused:
            return "refuse", self.refused.count(v)
        signatures = Counter(self.explained(r) for r in self.refused)
        odd = signatures[frozenset()]
        violations = self.violations(v)
        if self.caution == "seed":
            if any(not any(type(item[0]) is int for item in s) for s in signatures.elements()):
                return "unknown", 0
            violations = frozenset(item for item in violations if type(item[0]) is int)
        if violations:
            times = self.most(violations, signatures)
            return ("refuse", times) if times else ("unknown", 0)
        if self.caution != "seed":
            pairs = self.pairs(v)
            times = self.most(pairs, signatures)
            if times:
                return "refuse", times
            for _, (a, x), (b, y) in pairs:
                often = sum(c[a] == x for c in self.accepted) * sum(c[b] == y for c in self.accepted)
                if self.caution == "safe" or often / len(self.accepted) >= log(100):
                    return "unknown", 0
            if odd:
                return "unknown", 0
        if not self.accepted:
            return "unknown", 0
        return "accept", min(sum(c[at] == x for c in self.accepted) for at, x in enumerate(v))


def world(seed: int) -> tuple[int, list[tuple[Vector, bool]], list[Vector]]:
    """Return a width, observations of a rule without noise, and more vectors to ask about."""
    rng = random.Random(seed)
    width = rng.choice([1, 2, 3, 4, 6])
    pools = [rng.sample(LABELS, rng.choice([1, 2, 3, 4])) for _ in range(width)]
    paired = width > 1 and rng.random() < 0.3
    rule = rng.choice(["label", "pair", "random"])
    a, b = rng.randrange(width), rng.randrange(width)

    def draw() -> Vector:
        v = [rng.choice(pool) for pool in pools]
        if paired and rng.random() < 0.9:
            v[1] = v[0]
        return tuple(v)

    def accepts(v: Vector) -> bool:
        if rule == "label":
            return bool(v[a] != pools[a][0])
        if rule == "pair":
            return bool((v[a], v[b]) != (pools[a][-1], pools[b][0]))
        return random.Random(repr(v)).random() < 0.6

    vectors = [draw() for _ in range(rng.choice([8, 40, 120]))]
    return width, [(v, accepts(v)) for v in vectors], [draw() for _ in range(12)]


@pytest.mark.parametrize("caution", CAUTIONS)
def test_the_answers_are_those_of_the_definition(caution: str) -> None:
    asked = Counter[str]()
    for seed in range(60):
        width, seen, more = world(seed)
        model = ConservativeActionModel(Vocabulary({f"c{at}": reader(at) for at in range(width)}), caution=caution)
        for n, (v, accepted) in enumerate(seen):
            before = model.observe(v, "do", {}, accepted)
            if n % 7 == 0 and n:
                assert (before.verdict, before.support) == Naive(seen[:n], caution).predict(v), (seed, n, v)
        naive = Naive(seen, caution)
        for v in [*more, *(v for v, _ in seen[:12])]:
            answer = model.predict(v, "do", {})
            assert (answer.verdict, answer.support) == naive.predict(v), (seed, v)
            asked[answer.verdict] += 1
    assert min(asked[verdict] for verdict in ("accept", "refuse", "unknown")) > 50


def steps(work: Callable[[], object]) -> int:
    """Return how many calls and lines of Python some work takes; the same on any machine."""
    count = 0

    def look(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


WORLDS: dict[str, tuple[Callable[[random.Random], Vector], Callable[[Vector, random.Random], bool]]] = {
    "raw identifiers": (
        lambda rng: (*(f"id{rng.randrange(10**9)}" for _ in range(5)), rng.choice("abcd")),
        lambda v, rng: v[-1] != "d",
    ),
    "skewed, noise": (
        lambda rng: tuple(rng.choices("abcde", (9, 7, 5, 3, 1), k=5)),
        lambda v, rng: v[0] != "e" and rng.random() > 0.01,
    ),
    "a gap between two ranges": (
        lambda rng: (rng.random(), rng.choice("ab")),
        lambda v, rng: not 0.4 < v[0] < 0.6,
    ),
    "pairs that are refused": (
        lambda rng: tuple(rng.choices("abcde", k=6)),
        lambda v, rng: v[0] != v[1],
    ),
}


@pytest.mark.parametrize("caution", CAUTIONS)
@pytest.mark.parametrize("name", WORLDS)
def test_a_call_takes_no_more_steps_the_more_was_observed(name: str, caution: str) -> None:
    draw, accepts = WORLDS[name]
    rng = random.Random(7)
    width = len(draw(rng))
    model = ConservativeActionModel(Vocabulary({f"c{at}": reader(at) for at in range(width)}), caution=caution)

    def call() -> None:
        v = draw(rng)
        model.observe(v, "do", {}, accepts(v, rng))
        model.predict(v, "do", {})

    taken = []
    for size in (400, 1600):
        while model.observations < size:
            call()
        taken.append(sorted(steps(call) for _ in range(60))[30])
    assert taken[1] <= 1.5 * taken[0]


class Shade(enum.StrEnum):
    """Texts that are not just texts."""

    A = "a"
    E = "e"


@pytest.mark.parametrize("seed", range(8))
def test_what_is_looked_up_at_once_is_what_is_looked_up_with_care(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vector of texts finds its case as it was read, and refused cases share their answers; the twin does neither."""
    rng = random.Random(seed)
    labels: list[Any] = rng.choice([list("abe"), [*"abe", Shade.A, Shade.E], [*"abe", 1, None, 0.5, ("a",)]])
    vocabulary = Vocabulary({f"c{at}": reader(at) for at in range(2)}, hard=rng.choice([(), ("c0",)]))
    caution: Any = rng.choice(CAUTIONS)
    quick, careful = (ConservativeActionModel(vocabulary, caution=caution, severity=2.0) for _ in range(2))
    for n in range(120):
        state = (rng.choice(labels), rng.choice(labels))
        accepted = state[0] not in ("e", 1) and rng.random() < 0.9
        before = quick.observe(state, "do", {}, accepted)
        with monkeypatch.context() as patched:
            patched.setattr(ActionEvidence, "recall", lambda self, raw: None)
            for held in careful._actions.values():
                held.answers.clear()
            assert careful.observe(state, "do", {}, accepted) == before
            asked = (rng.choice(labels), rng.choice(labels))
            wanted = careful.predict(asked, "do", {})
        assert quick.predict(asked, "do", {}) == wanted
        if n % 40 == 39:
            assert quick.fingerprint() == careful.fingerprint()
            assert quick.summary("do") == careful.summary("do")


@pytest.mark.parametrize("hard", [(), ("c0",)])
def test_a_vector_of_known_labels_is_counted_as_with_care(
    hard: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only labels matter, a new vector is counted on a shorter way; a twin that never takes it says the same."""
    rng = random.Random(5)
    vocabulary = Vocabulary({f"c{at}": reader(at) for at in range(6)}, hard=hard)
    quick, careful = ConservativeActionModel(vocabulary), ConservativeActionModel(vocabulary)
    taken = Counter[bool]()
    take = ActionEvidence.take

    def counted(self: ActionEvidence, features: Any, codes: Any, alone: int, accepted: bool, at: int) -> None:
        taken[accepted] += 1
        take(self, features, codes, alone, accepted, at)

    monkeypatch.setattr(ActionEvidence, "take", counted)
    for n in range(1200):
        state = tuple(rng.choices([*"abcde", Shade.A, 1], (9, 9, 9, 9, 9, 1, 0 if n < 1100 else 1), k=6))
        accepted = "e" not in state[:2] and rng.random() < 0.97
        before = quick.observe(state, "do", {}, accepted)
        with monkeypatch.context() as patched:
            patched.setattr(ActionEvidence, "recall", lambda self, raw: None)
            assert careful.observe(state, "do", {}, accepted) == before
            asked = tuple(rng.choices("abcde", k=6))
            wanted = careful.predict(asked, "do", {})
        assert quick.predict(asked, "do", {}) == wanted
    assert min(taken[True], taken[False]) > 100
    assert quick.fingerprint() == careful.fingerprint()
    assert quick.summary("do") == careful.summary("do")
    assert (quick.surprises, quick.observations) == (careful.surprises, careful.observations)
    mine, theirs = quick._actions["do"], careful._actions["do"]
    assert sorted(mine.counts) == sorted(theirs.counts)
