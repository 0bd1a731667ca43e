"""Learned from scratch, and verified: are the bounds true, are the policies as good as proved, does the shield keep?

    python benchmarks/bench_verified.py [--quick] [--only NAME,...] [--json FILE]

| part | what is measured |
|---|---|
| `bracket` | `Pmax=? [ F "goal" ]` of two slippery worlds, learned from growing samples: both ends, and the truth |
| `policy` | 200 learnings: what the robust policy earns, worked out on the true model, beside what was proved of it |
| `falls` | of a random walk with and without the shield of what was learned; of an agent with and without `verify` |
| `coverage` | 1,000 learnings of five models: how often all true probabilities are inside all intervals at once |
| `pools` | 300 learnings of the lake with pooled outcomes: how often all are inside, and how wide the intervals are |

Nothing here is a race; the figures are shares and probabilities. Learnings are of random walks. The lake is
FrozenLake-v1, the cliff CliffWalking-v1 where a fall ends the episode in a state of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from _harness import Report, command_of, results_of
from surefoot import Agent, Knowledge
from surefoot.agent.verifying import Verify
from surefoot.checking.quantitative import check
from surefoot.checking.shield import shield
from surefoot.environments.from_gymnasium import FromGymnasium
from surefoot.gym import ShieldedEnv
from surefoot.learners.counts import Counts
from surefoot.learners.histories import count_world
from surefoot.learners.learned import LearnedModel
from surefoot.learners.pooling import pooled, pooled_pieces
from surefoot.models import Model
from surefoot.models.examples import die, grid, monty_hall, random_mdp, retries
from surefoot.solvers.discounted import discounted

__all__ = ["main"]

CONFIDENCE = 0.95
GOAL = 'Pmax=? [ F "goal" ]'
METHODS = ("clopper-pearson", "hoeffding", "anytime", "bayes", "linear")
CLAIMING = METHODS[:3]
MODELS: dict[str, Callable[[], Model]] = {
    "die": die,
    "Monty Hall": monty_hall,
    "grid 3x3": lambda: grid(3, 3, holes=()),
    "retries": lambda: retries(2),
    "random MDP": lambda: random_mdp(6, actions=2, branches=3, seed=4),
}


class Ending(gymnasium.Wrapper[Any, Any, Any, Any]):
    """End the episode with a fall from the cliff, in a state of its own."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step; a reward of -100 is a fall."""
        observation, reward, ended, truncated, info = self.env.step(action)
        if reward == -100:
            return 48, reward, True, truncated, info
        return observation, reward, ended, truncated, info


@dataclass(frozen=True)
class World:
    """A world, and what is true of it."""

    make: Callable[[], gymnasium.Env[Any, Any]]
    states: int
    goal: int
    bad: frozenset[int]
    truth: dict[int, dict[int, dict[int, float]]]
    start: int = 0
    longest: int = 100

    @property
    def labels(self) -> dict[str, Callable[[Any], bool]]:
        """Return what the properties speak of."""
        return {"goal": lambda state: state == self.goal, "bad": lambda state: state in self.bad}

    def walk(self, counts: Counts, steps: int, seed: int) -> Counts:
        """Count a random walk over the true table; episodes end where nothing follows, or after `longest` steps.

        What `count_world` counts in the environment itself, at a twentieth of its price.
        """
        numbers = np.random.default_rng([seed, steps])
        actions, draws = numbers.integers(4, size=steps).tolist(), numbers.random(steps).tolist()
        rows = {
            (state, action): (list(row), np.cumsum(list(row.values())).tolist())
            for state, choices in self.truth.items()
            for action, row in choices.items()
        }
        seen: Counter[tuple[int, int, int]] = Counter()
        state, length = self.start, 0
        for action, draw in zip(actions, draws, strict=True):
            targets, sums = rows[state, action]
            to = targets[min(bisect_right(sums, draw), len(targets) - 1)]
            seen[state, action, to] += 1
            length += 1
            over = to not in self.truth
            state, length = (self.start, 0) if over or length >= self.longest else (to, length)
        counts.start(self.start)
        for (here, action, to), times in sorted(seen.items()):
            counts.observe(here, action, to, times=times, ended=to not in self.truth)
        for place in {*(here for here, _, _ in seen), *(to for _, _, to in seen)} & self.truth.keys():
            counts.offer(place, *range(4))
        return counts

    def value(self, policy: dict[int, int]) -> float:
        """Return the chance to reach the goal with a policy, on the true model."""
        step, at = np.zeros((self.states, self.states)), np.zeros(self.states)
        for state, rows in self.truth.items():
            for to, p in rows[policy.get(state, 0)].items():
                step[state, to] = p
        at[self.goal] = 1.0
        for _ in range(200_000):
            new = step @ at
            new[self.goal] = 1.0
            if np.abs(new - at).max() < 1e-14:
                break
            at = new
        return float(new[self.start])

    def best(self) -> float:
        """Return the greatest chance to reach the goal, by sweeps over the true table."""
        at = np.zeros(self.states)
        at[self.goal] = 1.0
        moved = 1.0
        while moved > 1e-13:
            moved = 0.0
            for state, rows in self.truth.items():
                new = max(sum(p * at[to] for to, p in row.items()) for row in rows.values())
                moved, at[state] = max(moved, new - at[state]), new
        return float(at[self.start])


def table_of(
    env: gymnasium.Env[Any, Any], over: frozenset[int], fall: int | None
) -> dict[int, dict[int, dict[int, float]]]:
    """Return {state: {action: {next state: probability}}} of the states where something follows."""
    found: dict[int, dict[int, dict[int, float]]] = {}
    inner: Any = env.unwrapped
    for state, actions in inner.P.items():
        if state in over:
            continue
        for action, outcomes in actions.items():
            row = found.setdefault(int(state), {}).setdefault(int(action), {})
            for p, to, reward, _ in outcomes:
                place = fall if fall is not None and reward == -100 else int(to)
                row[place] = row.get(place, 0.0) + float(p)
    return found


def worlds() -> dict[str, World]:
    """Return the two worlds."""
    holes, cliff = frozenset({5, 7, 11, 12}), frozenset(range(37, 47))

    def lake() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("FrozenLake-v1", is_slippery=True)

    def ledge() -> gymnasium.Env[Any, Any]:
        return gymnasium.wrappers.TimeLimit(Ending(gymnasium.make("CliffWalking-v1", is_slippery=True)), 200)

    return {
        "lake": World(lake, 16, 15, holes, table_of(lake(), holes | {15}, None)),
        "cliff": World(ledge, 49, 47, frozenset({48}), table_of(ledge(), cliff | {47}, 48), 36, 200),
    }


def learned_of(counts: Counts, world: World, how: str, **more: Any) -> LearnedModel:
    """Return what is learned, by pairs or pooled."""
    given: dict[str, Any] = {"labels": world.labels, "confidence": CONFIDENCE, **more}
    if how == "pooled":
        return pooled(counts, **given)
    return counts.intervals(choices=4 * len(world.truth), **given)


def bracket(report: Report, held: list[dict[str, Any]], quick: bool) -> None:
    """Work out both ends of what can be reached at best, at growing sizes."""
    sizes, seeds = ((1_000, 3_000), 2) if quick else ((1_000, 3_000, 10_000, 30_000, 100_000), 20)
    for name, world in worlds().items():
        report.section = f"{name}: Pmax [F goal], {seeds} learnings, anything may follow"
        truth = world.best()
        inside = {how: 0 for how in ("by choice", "pooled")}
        ends: dict[tuple[str, int], list[tuple[float, float]]] = {}
        for seed in range(seeds):
            counts, before = Counts(), 0
            for size in sizes:
                world.walk(counts, size - before, seed)
                before = size
                for how in inside:
                    low = check(learned_of(counts, world, how).model, GOAL, nature="adversarial").lower
                    # What was never seen may be the goal.
                    most = learned_of(counts, world, how, unseen_labels=("goal",)).model
                    high = check(most, GOAL, nature="cooperative").upper
                    assert low is not None
                    assert high is not None
                    ends.setdefault((how, size), []).append((low, high))
                    inside[how] += low <= truth <= high
        for size in sizes:
            report.note("truth", "true model", size, truth, "")
            for how in inside:
                lows, highs = np.array(ends[how, size]).T
                report.note(f"lower end, {how}", "surefoot", size, float(lows.mean()), "")
                report.note(f"upper end, {how}", "surefoot", size, float(highs.mean()), "")
        for how, many in inside.items():
            said = f"{many} of {seeds * len(sizes)}"
            held.append(
                {
                    "target": f"{name}, {how}: the truth is in the bracket",
                    "found": said,
                    "held": many == seeds * len(sizes),
                }
            )


def policy_of(model: Model, choices: Any) -> dict[int, int]:
    """Return {state: action} of a policy on a learned model."""
    found = {}
    for state in range(model.n_states):
        name, choice = model.state_name(state), int(choices[state])
        if choice >= 0 and name.isdigit():
            action = model.action_name(int(model.choice_action[choice]))
            found[int(name)] = int(action) if action.isdigit() else 0
    return found


def policy(report: Report, held: list[dict[str, Any]], quick: bool) -> None:
    """Compare what the robust policy really earns with what was proved of it."""
    seeds, sizes = (5 if quick else 200), (5_000, 20_000)
    for name, world in worlds().items():
        best = world.best()
        report.section = f"{name}: the robust policy, {seeds} learnings"
        proved: dict[int, list[float]] = {size: [] for size in sizes}
        real: dict[int, list[float]] = {size: [] for size in sizes}
        for seed in range(seeds):
            counts = Counts()
            for size in sizes:
                world.walk(counts, size - counts.outcomes, seed)
                model = learned_of(counts, world, "pooled", support="seen").model
                answer = check(model, GOAL, nature="adversarial")
                assert answer.lower is not None
                assert answer.policy is not None
                proved[size].append(answer.lower)
                real[size].append(world.value(policy_of(model, answer.policy)))
        for size in sizes:
            below = sum(one < bound - 1e-9 for one, bound in zip(real[size], proved[size], strict=True))
            report.note("best there is", "surefoot", size, best, "")
            report.note("proved lower bound, mean", "surefoot", size, float(np.mean(proved[size])), "")
            report.note("real chance of success, mean", "surefoot", size, float(np.mean(real[size])), "")
            report.note("real chance of success, least", "surefoot", size, float(np.min(real[size])), "")
            report.note("learnings below the proved bound", "surefoot", size, below, "")
            allowed = round(seeds * (1 - CONFIDENCE))
            said = f"{name}, {size:,} steps: success below the proved bound in at most {allowed} of {seeds} learnings"
            held.append({"target": said, "found": str(below), "held": below <= allowed})


def walk(env: gymnasium.Env[Any, Any], world: World, episodes: int) -> tuple[int, int, int]:
    """Return (falls, goals, stops for want of an allowed action) of a random walk over what masks allow."""
    numbers = np.random.default_rng(7)
    falls = goals = stops = 0
    for episode in range(episodes):
        state, info = env.reset(seed=episode)
        for _ in range(100):
            mask = np.asarray(info.get("action_mask", np.ones(4)), bool)
            if not mask.any():
                stops += 1
                break
            state, _, ended, truncated, info = env.step(int(numbers.choice(np.flatnonzero(mask))))
            falls, goals = falls + (int(state) in world.bad), goals + (int(state) == world.goal)
            if ended or truncated:
                break
    return falls, goals, stops


def falls(report: Report, held: list[dict[str, Any]], quick: bool) -> None:
    """Count falls with and without the shield of what was learned."""
    episodes, steps = (50, 5_000) if quick else (1_000, 20_000)
    for name, world in worlds().items():
        report.section = f"{name}: {episodes:,} random walks of at most 100 steps, shield of {steps:,} steps learned"
        counts = count_world(world.make(), steps=steps, seed=1)
        found = {"no shield": walk(world.make(), world, episodes)}
        for bound in ("0.99", "0.9", "0.7"):
            kept = shield(learned_of(counts, world, "pooled", support="seen").model, f'P>={bound} [ G !"bad" ]')
            made: Any = ShieldedEnv(world.make(), kept, by="value")
            found[f"P>={bound}"] = walk(made, world, episodes)
        for who, (fell, reached, stopped) in found.items():
            report.note("falls", who, episodes, fell, "")
            report.note("goals", who, episodes, reached, "")
            report.note("stopped: nothing allowed", who, episodes, stopped, "")
        said = f"{found['P>=0.99'][0]} against {found['no shield'][0]} without"
        held.append(
            {"target": f"{name}: no fall inside the shield of P>=0.99", "found": said, "held": found["P>=0.99"][0] == 0}
        )
    agents(report, held, quick)


def agents(report: Report, held: list[dict[str, Any]], quick: bool) -> None:
    """Let an agent learn from scratch, with and without `verify`, quarter by quarter."""
    episodes = 40 if quick else 400
    cases: list[tuple[str, World, dict[str, Any], str]] = []
    both = worlds()
    certain = World(lambda: gymnasium.make("FrozenLake-v1", is_slippery=False), 16, 15, both["lake"].bad, {})
    cases.append(("lake that is certain", certain, {"trials": 1}, "0.95"))
    cases.append(("slippery lake", both["lake"], {"trials": 20, "pooled": True}, "0.7"))
    cases.append(("slippery cliff", both["cliff"], {"trials": 20, "pooled": True}, "0.95"))
    for name, world, given, bound in cases:
        report.section = f"agent from scratch, {name}, P>={bound}, {given['trials']} trials: falls / goals / blocked"
        for who in ("without verify", "with verify"):
            verify = None
            if who == "with verify":
                labels = {"bad": world.labels["bad"]}
                verify = Verify(f'P>={bound} [ G !"bad" ]', labels, support="seen", **given)
            knowledge = Knowledge().goal("goal", done=world.labels["goal"])
            agent = Agent(FromGymnasium(world.make()), knowledge=knowledge, verify=verify)
            for quarter in range(1, 5):
                ends = [agent.run(steps=100) for _ in range(episodes // 4)]
                blocked = sum(end.stopped.value == "blocked" for end in ends)
                report.note(f"{who}: falls", "surefoot", quarter, sum(end.state in world.bad for end in ends), "")
                report.note(f"{who}: goals", "surefoot", quarter, sum(bool(end.goals_done) for end in ends), "")
                report.note(f"{who}: blocked", "surefoot", quarter, blocked, "")
            again = agent.replay()
            if not again:
                raise SystemExit(f"{name}, {who}: {again}")
            report.checks.append(f"{name}, {who}: {again}")
        steps, fell = judged(knowledge, world, given["trials"])
        share = fell / max(steps, 1)
        most = (1 - float(bound)) * steps
        report.note("with verify: actions that the shield judged", "surefoot", 4, steps, "")
        report.note("with verify: falls by one of them", "surefoot", 4, fell, "")
        said = f"agent, {name}: at most {1 - float(bound):.0%} of the actions that the shield judged are falls"
        held.append({"target": said, "found": f"{fell} of {steps}, {share:.1%}", "held": fell <= most})


def judged(knowledge: Knowledge, world: World, trials: int) -> tuple[int, int]:
    """Return how many actions were taken that were no trials any more, and how many of these were falls."""
    tried: Counter[tuple[Any, Any]] = Counter()
    steps = fell = 0
    asked: dict[str, Any] = {}
    for entry in knowledge.journal.entries(stream="agent"):
        if entry.kind == "decide":
            asked = entry.data
        elif entry.kind == "came":
            pair = asked["state"], asked["action"]
            if tried[pair] >= trials:
                steps += 1
                fell += entry.data["to"] in world.bad
            tried[pair] += 1
    return steps, fell


def simulated(model: Model, tries: int, numbers: np.random.Generator) -> Counts:
    """Return what is counted when every choice of a model is tried so often."""
    counts = Counts()
    for choice in range(model.n_choices):
        where = slice(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
        odds = model.probability[where]
        here, what = int(model.choice_state[choice]), int(model.choice_action[choice])
        for to, count in zip(
            model.target[where].tolist(), numbers.multinomial(tries, odds / odds.sum()).tolist(), strict=True
        ):
            if count:
                counts.observe(here, what, to, times=count)
    for state in np.flatnonzero(np.diff(model.choice_start) == 0).tolist():
        counts.end(state)
    return counts


def all_inside(learned: LearnedModel, truth: dict[tuple[int, int], dict[int, float]]) -> bool:
    """Say whether all true probabilities are inside; unseen successors together inside what is left for them."""
    for (state, action), row in truth.items():
        rest = 0.0
        for to, p in row.items():
            low, high = learned.interval(state, action, to)
            if (low, high) == (0.0, 0.0):
                rest += p
            elif not low <= p <= high:
                return False
        if rest and rest > _left(learned, state, action):
            return False
    return True


def _left(learned: LearnedModel, state: int, action: int) -> float:
    model = learned.model
    assert model.upper is not None
    choice = model.choice(str(state), str(action))
    for branch in range(int(model.branch_start[choice]), int(model.branch_start[choice + 1])):
        if model.state_names[int(model.target[branch])] == "unseen":
            return float(model.upper[branch])
    return 0.0


def rows_of(model: Model) -> dict[tuple[int, int], dict[int, float]]:
    """Return {(state, action): {next state: probability}}."""
    found = {}
    for choice, pair in enumerate(zip(model.choice_state.tolist(), model.choice_action.tolist(), strict=True)):
        where = slice(int(model.branch_start[choice]), int(model.branch_start[choice + 1]))
        found[pair] = dict(zip(model.target[where].tolist(), model.probability[where].tolist(), strict=True))
    return found


def coverage(report: Report, held: list[dict[str, Any]], quick: bool) -> None:
    """Count how often all intervals hold at once."""
    runs = 20 if quick else 1_000
    for tries in (30,):
        report.section = (
            f"coverage of Counts: {runs:,} learnings, {tries} tries a choice, {CONFIDENCE:.0%} asked, all at once"
        )
        for name, make in MODELS.items():
            model, numbers = make(), np.random.default_rng(11)
            truth, times = rows_of(model), dict.fromkeys(METHODS, 0)
            for _ in range(runs):
                counts = simulated(model, tries, numbers)
                for method in METHODS:
                    learned = counts.intervals(initial=0, confidence=CONFIDENCE, method=method, choices=model.n_choices)  # type: ignore[arg-type]  # one of the words
                    times[method] += all_inside(learned, truth)
            for method in METHODS:
                report.note(name, method, runs, 100 * times[method] / runs, "%")
            for method in CLAIMING:
                held.append(
                    {
                        "target": f"coverage of {method} on {name}: at least {CONFIDENCE:.0%}",
                        "found": f"{times[method]} of {runs}",
                        "held": times[method] >= CONFIDENCE * runs,
                    }
                )


def pools(report: Report, held: list[dict[str, Any]], quick: bool) -> None:
    """Count how often all intervals of pooled outcomes hold, and how wide they are, on the lake after 20,000 steps."""
    runs, parted = (5, 2) if quick else (300, 30)
    world = worlds()["lake"]
    truth = {(state, action): row for state, rows in world.truth.items() for action, row in rows.items()}
    report.section = f"pooled outcomes: {runs} learnings of the lake, 20,000 steps each, {CONFIDENCE:.0%} asked"
    times, widths = dict.fromkeys(POOLED, 0), {how: list[float]() for how in POOLED}
    values: list[tuple[float, float]] = []
    for seed in range(runs):
        counts = world.walk(Counts(), 20_000, seed)
        for how, given in POOLED.items():
            learned = pooled(counts, support="seen", confidence=CONFIDENCE, **given)
            times[how] += all_inside(learned, truth)
            widths[how].append(learned.widest)
        if seed < parted:
            parts = pooled_pieces(counts, pieces=3, support="seen", maps="chosen", labels=world.labels)
            ends = [(worth(part.model, "min")[0], worth(part.model, "max")[1]) for part in parts]
            values.append((min(low for low, _ in ends), max(high for _, high in ends)))
    for how in POOLED:
        report.note("all inside", how, runs, times[how], f"of {runs}")
        report.note("widest interval, mean", how, runs, float(np.mean(widths[how])), "")
        report.note("widest interval, most", how, runs, float(np.max(widths[how])), "")
        held.append(
            {
                "target": f"pooled, {how}: all inside in at least {CONFIDENCE:.0%} of {runs}",
                "found": f"{times[how]} of {runs}",
                "held": times[how] >= CONFIDENCE * runs,
            }
        )
    lows, highs = np.array(values).T
    inside = int(((lows <= WORTH) & (highs >= WORTH)).sum())
    report.note(
        f"discounted value {WORTH}: width of its bounds, mean", "chosen", runs, float((highs - lows).mean()), ""
    )
    report.note(f"discounted value {WORTH}: width of its bounds, most", "chosen", runs, float((highs - lows).max()), "")
    report.note(f"discounted value {WORTH}: inside", "chosen", runs, inside, f"of {parted}")
    wide = float((highs - lows).mean())
    held.append({"target": "the lake's value known to .05, in pieces", "found": f"{wide:.4f}", "held": wide <= 0.05})
    said = f"the lake's value inside its bounds, {CONFIDENCE:.0%} of {parted}"
    held.append({"target": said, "found": str(inside), "held": inside >= CONFIDENCE * parted})


WORTH = 0.542
"""The best value of the slippery lake, discounted by .99 a step."""


def worth(model: Model, nature: Any) -> tuple[float, float]:
    """Return bounds of the best discounted value of reaching the goal."""
    paid = np.where(model.labels["goal"][model.target], 1.0, 0.0)
    solution = discounted(model, np.zeros(model.n_choices), 0.99, nature=nature, transition=paid, tolerance=1e-4)
    return solution.bounds(int(np.argmax(model.initial)))


POOLED: dict[str, dict[str, Any]] = {"hull": {}, "chosen": {"maps": "chosen"}}
PARTS: dict[str, Callable[[Report, list[dict[str, Any]], bool], None]] = {
    "bracket": bracket,
    "policy": policy,
    "falls": falls,
    "coverage": coverage,
    "pools": pools,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few learnings, small samples")
    parser.add_argument("--only", help="the names of the parts, with commas between them")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    report = Report("Learned and verified", command_of(__file__), peer="nobody")
    held: list[dict[str, Any]] = []
    for name in given.only.split(",") if given.only else PARTS:
        print(f"## {name}")
        PARTS[name](report, held, given.quick)
    if given.quick and given.json is None:
        return 0
    path = given.json or results_of(__file__)
    report.write(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["targets"] = held
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for one in held:
        print(f"{'pass' if one['held'] else 'MISS'}  {one['target']}: {one['found']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
