"""Walking and exploring with two maps at once: what each answers is timed, what happens is told to both."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from _harness import CAP, Report, Sample, clocked, quiet
from _worlds import Grid

__all__ = ["explore_far", "explore_to_the_end", "walk"]


class _Timed:
    """Time a contender's answers one by one, until it has had its share of CPU."""

    def __init__(self, world_map: Any, share: float) -> None:
        self.map = world_map
        self.left = share
        self.samples: list[Sample] = []

    def ask(self, question: str, *arguments: Any) -> Any:
        """Return an answer; None when the share is used up."""
        if self.left <= 0:
            return None
        ask = getattr(self.map, question)
        wall, cpu = time.perf_counter(), time.process_time()
        answer = ask(*arguments)
        took = time.process_time() - cpu
        self.samples.append(Sample(took, time.perf_counter() - wall))
        self.left -= took
        return answer

    def mean(self, first: int, last: int) -> Sample:
        """Return some of the answers together."""
        part = self.samples[first:last]
        return Sample(sum(s.cpu for s in part), sum(s.wall for s in part), len(part))


def walk(report: Report, size: int, grid: Grid, maps: dict[str, Any], steps: int) -> None:
    """Walk from corner to corner, the map being confirmed and refuted under the walker; time each `next`.

    Both maps are asked in the same places and told the same. The way is ours, to the target or for ten times `steps`;
    the peer is asked on the first `steps` of it, as long as its share of CPU lasts.
    """
    target = {(grid.side - 1, grid.side - 1)}
    timed = {who: _Timed(m, CAP / 4) for who, m in maps.items()}
    at, refuted, taken = (0, 0), 0, 0
    with quiet():
        while at not in target and taken < max(steps, 20) * 10:
            action = timed["surefoot"].ask("next", at, target)
            if action is None:
                break
            for who, other in timed.items():
                if who != "surefoot" and taken < steps:
                    other.ask("next", at, target)
            to = grid.leads(at, action)
            refuted += sum(m.arrive(at, action, to) for m in maps.values()) // len(maps)
            taken += 1
            at = to
    report.notes.append(f"{size:,} claims: walked {taken} steps, {refuted} of them refuted what was believed")
    report.say(f"  {report.notes[-1]}")
    least = min(len(t.samples) for t in timed.values())
    for who, one in timed.items():
        report.add("next, walking, first step", who, size, one.samples[:1])
        report.add("next, walking", who, size, one.samples[1:])
    for who, one in timed.items():
        report.add("next, walking, mean", who, size, [one.mean(1, least)])
        if len(one.samples) > least:
            report.add("next, walking, mean of all", who, size, [one.mean(1, len(one.samples))])


def explore_far(
    report: Report, size: int, grid: Grid, makers: dict[str, Callable[..., Any]], repeats: int, steps: int
) -> None:
    """Time `explore` where all that is left to learn is half a map away: asked first, then step by step."""
    maps = {who: grid.fill(make(), grid.west) for who, make in makers.items()}

    def contender(who: str, m: Any) -> Callable[[], Sample]:
        def measure() -> Sample:
            copy = m.rebuild() if who == "surefoot" else m  # solvi keeps nothing from one question to the next
            return clocked(lambda: copy.explore((0, 0)))

        return measure

    report.measure("explore, far, cold", size, {who: contender(who, m) for who, m in maps.items()}, repeats)
    timed = {who: _Timed(m, CAP / 4) for who, m in maps.items()}
    at = (0, 0)
    with quiet():
        for step in range(grid.side):
            if at[0] >= grid.side // 2:
                break
            action = timed["surefoot"].ask("explore", at)
            for who, other in timed.items():
                if who != "surefoot" and step < steps:
                    other.ask("explore", at)
            to = grid.leads(at, action)
            for m in maps.values():
                m.arrive(at, action, to)
            at = to
    least = min(len(t.samples) for t in timed.values())
    for who, one in timed.items():
        report.add("explore, far, walking, mean", who, size, [one.mean(1, least)])


def explore_to_the_end(report: Report, side: int, makers: dict[str, Callable[..., Any]]) -> str | None:
    """Explore a fresh grid until nothing is left, with each map by itself; time everything the maps do.

    Returns:
        where the finished maps differ; "one only" when only one of them finished.
    """
    size = 4 * side * (side - 1)
    grid = Grid(size)
    claims: dict[str, dict[Any, tuple[Any, int]]] = {}
    for who, make in makers.items():
        if who != "surefoot" and size > 10_000:
            continue
        m = make()
        steps = 0

        def explore(m: Any = m) -> None:
            nonlocal steps
            at, known = (0, 0), set()
            while True:
                if at not in known:
                    known.add(at)
                    for action in grid.offers(at):
                        m.see(at, action)
                action = m.explore(at)
                if action is None:
                    return
                to = grid.leads(at, action)
                m.arrive(at, action, to)
                steps += 1
                at = to

        sample = clocked(explore)
        report.add("explore to the end, per step", who, size, [Sample(sample.cpu, sample.wall, steps, sample.capped)])
        report.note("explore to the end, steps", who, size, steps, "steps")
        if not sample.capped:
            claims[who] = _all_claims(m)
    if len(claims) < 2:
        return "one only"
    mine, theirs = claims.values()
    wrong = [key for key in mine.keys() | theirs.keys() if mine.get(key, (0, 0))[0] != theirs.get(key, (0, 0))[0]]
    return f"{len(wrong)} claims differ" if wrong else None


def _all_claims(m: Any) -> dict[Any, tuple[Any, int]]:
    """Return {(state, action): (destination, taken)}."""
    if hasattr(m, "edges"):
        return {key: (claim["to"], claim["taken"]) for key, claim in m.edges.items()}
    return {(claim.state, claim.action): (claim.to, claim.taken) for claim in m.claims()}
