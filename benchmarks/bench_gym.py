"""Environments over models beside stormvogel's, Gymnasium's own, and loops written by hand for one model.

    python benchmarks/bench_gym.py [--quick] [--states 10000] [--json FILE]

The model is a random MDP: 4 actions, 4 branches each, rewards on states, no end, so that every step is a draw.

- one environment: `ModelEnv.step` beside stormvogel's `ModelEnv` on the same model (Python >= 3.12 with stormvogel 0.13
  installed), and beside FrozenLake and Taxi, put back to their start without a reset when they end;
- many: `ModelVectorEnv.step` for N = 1,000 and 100,000, per environment, beside `SyncVectorEnv` of 64 FrozenLakes, and
  beside the shortest loop that makes the same draws and gathers and gives states and rewards: no checks, no masks, no
  infos, no copies;
- rollouts, episodes that end, a large model from arrays, and what importing costs.

Figures are CPU seconds per step of one environment; contenders take turns. What is not installed is said and left out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from _harness import Report, Sample, Target, clocked, command_of, hurry, results_of
from surefoot.gym import ModelEnv, ModelVectorEnv
from surefoot.models import MDP
from surefoot.models.draws import draws, streams

__all__ = ["main", "model_of"]

ACTIONS, BRANCHES = 4, 4
COUNTS = (1_000, 100_000)
STEP = "one environment, beside {}"
MANY = "{} environments, {}, beside {}"
SYNC = "SyncVectorEnv of 64 FrozenLakes"
HAND = "a loop by hand"
TARGETS = (
    Target("one environment: 5 times stormvogel's ModelEnv", STEP.format("stormvogel"), at_least=5),
    Target("one environment: 2.5 times FrozenLake", STEP.format("FrozenLake"), at_least=2.5),
    *(
        Target(f"{name}, N = {count:,}: {times} times {SYNC}", MANY.format(f"{count:,}", name, SYNC), at_least=times)
        for name, times in (("numpy", 150), ("numba", 350))
        for count in COUNTS
    ),
    *(
        Target(f"{name}, N = {count:,}: 70 % of {HAND}", MANY.format(f"{count:,}", name, HAND), at_least=0.7)
        for name in ("numpy", "numba")
        for count in COUNTS
    ),
)


def model_of(states: int) -> MDP:
    """Return the random MDP."""
    numbers = np.random.default_rng(0)
    choices, room = states * ACTIONS, states // BRANCHES
    target = numbers.integers(0, room, (choices, BRANCHES)) + np.arange(BRANCHES) * room
    return MDP(
        choice_start=np.arange(states + 1) * ACTIONS,
        choice_action=np.tile(np.arange(ACTIONS), states),
        branch_start=np.arange(choices + 1) * BRANCHES,
        target=target.ravel(),
        probability=numbers.dirichlet(np.ones(BRANCHES), choices).ravel(),
        initial=0,
        rewards={"pay": numbers.normal(size=states)},
    )


def foreign(model: MDP) -> Any:
    """Return stormvogel's environment over the same model; None where it is not installed."""
    if find_spec("stormvogel") is None:
        return None
    from stormvogel.gym_env import ModelEnv as Theirs
    from stormvogel.model import new_mdp

    made = new_mdp(create_initial_state=True)
    states = [made.initial_state, *(made.new_state() for _ in range(model.n_states - 1))]
    actions = [made.new_action(model.action_name(number)) for number in range(model.n_actions)]
    paid = made.new_reward_model("pay")
    rewards = model.rewards["pay"].state
    assert rewards is not None  # `model_of` gives it
    for number, state in enumerate(states):
        rows = {actions[one]: model.row(number, one) for one in range(model.n_actions)}
        state.set_choices(
            {a: [(float(p), states[int(t)]) for t, p in zip(*row, strict=True)] for a, row in rows.items()}
        )
        paid.set_state_reward(state, float(rewards[number]))
    return Theirs(made)


# ── one environment ─────────────────────────────────────────────────────────────────────────────────────────────────


def stepped(env: Any, actions: list[int], again: Callable[[], object] | None = None) -> Sample:
    """Return what it takes to step an environment; `again` puts it back to its start when it ends."""
    step = env.step

    def without_end() -> None:
        for action in actions:
            step(action)

    def with_ends() -> None:
        for action in actions:
            if step(action)[2]:
                again()  # type: ignore[misc]  # called only where it is given

    return clocked(with_ends if again else without_end, len(actions))


def one_environment(report: Report, model: MDP, quick: bool) -> None:
    """Measure single steps."""
    report.section = "a step of one environment"
    numbers = np.random.default_rng(1)
    count = 1_000 if quick else 100_000
    ours, theirs = ModelEnv(model), foreign(model)
    ours.reset(seed=0)
    actions = numbers.integers(0, ACTIONS, count).tolist()
    for state in range(model.n_states):  # what is built at the first visit is not a step
        ours._expand(ours._place_of(state))

    contenders = {"surefoot": lambda: stepped(ours, actions)}
    if theirs is not None:
        theirs.reset(seed=0)
        contenders |= {"peer": lambda: stepped(theirs, actions[: count // 4])}
    else:
        report.notes.append("stormvogel is not installed (it needs Python >= 3.12): left out")
    report.measure(STEP.format("stormvogel"), model.n_states, contenders, 5)
    for name, options, size in (("FrozenLake", {"map_name": "8x8"}, 4), ("Taxi", {}, 6)):
        peer: Any = gymnasium.make(f"{name}-v1" if name == "FrozenLake" else "Taxi-v4", **options).unwrapped
        peer.reset(seed=0)
        start, acts = peer.s, numbers.integers(0, size, count // 4).tolist()
        report.measure(
            STEP.format(name),
            model.n_states,
            {
                "surefoot": lambda: stepped(ours, actions),
                "peer": lambda p=peer, a=acts, s=start: stepped(p, a, lambda: setattr(p, "s", s)),
            },
            5,
        )


# ── many environments ───────────────────────────────────────────────────────────────────────────────────────────────


def by_hand_numpy(model: MDP, count: int) -> Callable[[Any], object]:
    """Return a step of many environments: draws, gathers, nothing else."""
    sums = np.cumsum(model.probability.reshape(-1, BRANCHES), axis=1)
    first, second, third = (np.ascontiguousarray(sums[:, place]) for place in range(3))
    target, reward = model.target.astype(np.int64), model.rewards["pay"].state
    assert reward is not None  # `model_of` gives it
    now = {"states": np.zeros(count, dtype=np.int64), "step": 0}
    starts, strides = streams(0, np.arange(count))

    def step(actions: Any) -> Any:
        states = now["states"]
        numbers = draws(starts, strides, now["step"])
        rows = states * ACTIONS + actions
        branch = rows * BRANCHES + (first[rows] <= numbers) + (second[rows] <= numbers) + (third[rows] <= numbers)
        paid = reward[states]
        now["states"], now["step"] = target[branch], now["step"] + 1
        return now["states"], paid

    return step


@cache
def hand_kernel() -> Any:
    """Return one step of many environments, compiled."""
    from numba import njit

    u30, u27, u31, u11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
    m1, m2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

    @njit(error_model="numpy")
    def kernel(states, actions, starts, strides, at, sums, target, reward, to, paid):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  # numba finds the types
        for place in range(len(states)):
            x = starts[place] + at * strides[place]
            x = (x ^ (x >> u30)) * m1
            x = (x ^ (x >> u27)) * m2
            number = ((x ^ (x >> u31)) >> u11) * 2.0**-53
            row = states[place] * 4 + actions[place]
            branch = row * 4
            for other in range(3):
                branch += sums[row, other] <= number
            paid[place] = reward[states[place]]
            to[place] = target[branch]

    return kernel


def by_hand_numba(model: MDP, count: int) -> Callable[[Any], object]:
    """Return a compiled step of many environments: draws, gathers, nothing else."""
    sums = np.cumsum(model.probability.reshape(-1, BRANCHES), axis=1)
    target, reward = model.target.astype(np.int32), model.rewards["pay"].state
    assert reward is not None  # `model_of` gives it
    kernel, (starts, strides) = hand_kernel(), streams(0, np.arange(count))
    now = {"states": np.zeros(count, dtype=np.int64), "step": 0}

    def step(actions: Any) -> Any:
        to, paid = np.empty(count, dtype=np.int64), np.empty(count)
        at = np.uint64(8 * now["step"] + 1)
        kernel(now["states"], actions, starts, strides, at, sums, target, reward, to, paid)
        now["states"], now["step"] = to, now["step"] + 1
        return to, paid

    return step


def many_environments(report: Report, model: MDP, quick: bool) -> None:
    """Measure steps of many environments, per environment."""
    lakes = gymnasium.vector.SyncVectorEnv(
        [lambda: gymnasium.make("FrozenLake-v1", map_name="8x8", disable_env_checker=True)] * 64
    )
    lakes.reset(seed=0)
    numbers = np.random.default_rng(2)
    on_lakes = numbers.integers(0, 4, (5 if quick else 60, 64))
    backends = ["numpy", *(["numba"] if find_spec("numba") else [])]
    if len(backends) == 1:
        report.notes.append("numba is not installed: left out")
    for name in backends:
        report.section = f"a step of one of many environments, {name}"
        for count in COUNTS:
            rows = numbers.integers(0, ACTIONS, (max(2, (5_000 if quick else 1_500_000) // count), count))
            envs = ModelVectorEnv(model, count, backend=name)  # type: ignore[arg-type]  # one of three texts
            envs.reset(seed=0)
            hand = (by_hand_numba if name == "numba" else by_hand_numpy)(model, count)
            for work in (envs.step, hand):  # compiled before, and the environments in many different states
                for row in rows[:12]:
                    work(row)
            for against, peer, size, given in ((SYNC, lakes.step, 64, on_lakes), (HAND, hand, count, rows)):
                report.measure(
                    MANY.format(f"{count:,}", name, against),
                    model.n_states,
                    {
                        "surefoot": lambda e=envs, r=rows, c=count: swept(e.step, r, c),
                        "peer": lambda p=peer, g=given, s=size: swept(p, g, s),
                    },
                    3 if quick else 7,
                )


def swept(step: Callable[[Any], object], rows: Any, size: int) -> Sample:
    """Return what it takes to step many environments with each row of actions."""

    def work() -> None:
        for row in rows:
            step(row)

    return clocked(work, len(rows) * size)


def others(report: Report, model: MDP, quick: bool) -> None:
    """Measure rollouts, and episodes that end."""
    report.section = "more, per step of one environment, N = 10,000"
    count, steps = 10_000, 3 if quick else 60
    ending = model.with_labels(end=np.arange(0, model.n_states, 20))
    actions = np.random.default_rng(3).integers(0, ACTIONS, (steps, count))
    for name in ("numpy", "numba", "jax"):
        if name != "numpy" and find_spec(name) is None:
            report.notes.append(f"{name} is not installed: left out")
            continue
        envs = ModelVectorEnv(model, count, backend=name)  # type: ignore[arg-type]  # one of three texts
        envs.reset(seed=0)
        envs.rollout(steps=steps, record=False)
        work = lambda e=envs: clocked(lambda: e.rollout(steps=steps, record=False), steps * count)  # noqa: E731  # binds this turn's environments
        report.measure("rollout, any action", model.n_states, {name: work}, 5)
        if name == "jax":
            continue
        short = ModelVectorEnv(ending, count, terminal_label="end", backend=name)  # type: ignore[arg-type]  # one of three texts
        short.reset(seed=0)
        work = lambda e=short: swept(e.step, actions, count)  # noqa: E731  # binds this turn's environments
        report.measure("step, one in 20 ends an episode", model.n_states, {name: work}, 5)


# ── a large model, and importing ────────────────────────────────────────────────────────────────────────────────────

BUILD = """
import sys, time, tracemalloc
import numpy as np
from surefoot.models import MarkovChain
size = int(sys.argv[1])
numbers = np.random.default_rng(0)
target = (numbers.integers(0, size // 4, (size, 4)) + np.arange(4) * (size // 4)).ravel().astype(np.int32)
probability = numbers.dirichlet(np.ones(4), size).ravel()
start = np.arange(size + 1)
for array in (target, probability, start):
    array.setflags(write=False)
held = sum(array.nbytes for array in (target, probability, start))
arrays = {"choice_start": start, "branch_start": start * 4, "target": target, "probability": probability}
if sys.argv[2] == "time":
    cpu = time.process_time()
    model = MarkovChain(**arrays, initial=0)
    print(time.process_time() - cpu)
else:
    tracemalloc.start()
    model = MarkovChain(**arrays, initial=0)
    print(held / 2**20 + tracemalloc.get_traced_memory()[1] / 2**20)
"""
IMPORT = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"


def large_and_imports(report: Report, quick: bool) -> None:
    """Measure how a large model is made, and what importing costs, each in a process of its own."""
    size = 2_000 if quick else 1_000_000
    report.section = "in a process of its own"
    spent, held = (float(_run(BUILD, str(size), what)) for what in ("time", "memory"))
    report.note("a model from arrays, 4 branches a state", "surefoot", size, 1000 * spent, "ms")
    report.note("memory at most, arrays included", "surefoot", size, held, "MB")
    for name in ("gymnasium", "surefoot.gym"):
        times = sorted(float(_run(IMPORT.format(name))) for _ in range(1 if quick else 9))
        report.note(f"import {name}", "surefoot", size, 1000 * times[len(times) // 2], "ms")


def _run(code: str, *words: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return done.stdout


def main() -> int:
    """Measure, print, and write a full run to results/gym.json."""
    parser = argparse.ArgumentParser(description="Environments over models, measured.")
    parser.add_argument("--quick", action="store_true", help="a few seconds, to see that it runs")
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    words = parser.parse_args()
    if words.quick:
        hurry()
    report = Report("environments over models", command_of(__file__), peer="peer")
    model = model_of(words.states)
    began = time.perf_counter()
    one_environment(report, model, words.quick)
    many_environments(report, model, words.quick)
    others(report, model, words.quick)
    large_and_imports(report, words.quick)
    report.notes.append(f"numpy {np.__version__}, gymnasium {gymnasium.__version__}")
    print(f"\n{report.table()}\n\n{time.perf_counter() - began:.0f} s")
    for target, text, held in report.judge(TARGETS):
        print(f"{'pass' if held else 'not measured' if held is None else 'MISS'}  {target.name}: {text}")
    where = words.json or (None if words.quick else results_of(__file__))
    if where is not None:
        report.write(where, TARGETS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
