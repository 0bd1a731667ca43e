"""Read what happened into `Counts`: from journals, from traces and their files, from a world that is tried."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from surefoot.errors import BadArgument, UnknownFormat, ValueRejected
from surefoot.journal import Journal
from surefoot.learners.counts import Counts
from surefoot.protocols import Environment

__all__ = ["Step", "count_journal", "count_trace_file", "count_traces", "count_world"]

Policy = Callable[[Any, Sequence[Any], np.random.Generator], Any]


class Step(NamedTuple):
    """One step of a trace.

    Attributes:
        state: the state before.
        action: the action.
        to: the state after.
        ended: whether the episode is over by the rules of the world.
        reward: what was paid, None where it is not known.

    Example:
        >>> Step("hall", "open", "room").ended
        False
    """

    state: Any
    action: Any
    to: Any
    ended: bool = False
    reward: float | None = None


def count_traces(traces: Iterable[Iterable[Any]], *, counts: Counts | None = None) -> Counts:
    """Count traces: each is one episode, an iterable of steps (state, action, next state, ended, reward).

    Args:
        traces: the episodes; the last two members of a step may be left out. The first state of each is a start.
        counts: the learner that takes them in; None: a new one.

    Raises:
        ValueRejected: a step has not three to five members, or a member is no plain value.

    Example:
        >>> learned = count_traces([[("a", "go", "b"), ("b", "go", "c", True)], [("a", "go", "a")]])
        >>> learned.followed("a", "go"), learned.estimate().initial.tolist()
        ({'a': 1, 'b': 1}, [1.0, 0.0, 0.0])
    """
    learner = Counts() if counts is None else counts
    for trace in traces:
        for n, step in enumerate(trace):
            if not isinstance(step, Sequence) or isinstance(step, str) or not 3 <= len(step) <= 5:
                raise ValueRejected(f"a step is (state, action, next state[, ended[, reward]]), got {step!r}")
            one = Step(*step)
            if n == 0:
                learner.start(one.state)
            learner.observe(one.state, one.action, one.to, ended=bool(one.ended), reward=one.reward)
    return learner


def count_trace_file(path: str | Path, *, counts: Counts | None = None) -> Counts:
    r"""Count the traces of a file: one JSON object a line, {"state", "action", "to"} and perhaps "ended" and "reward".

    A list is read as a tuple: as a state it is the same. An empty line begins a new episode.

    Raises:
        UnknownFormat: a line is none of these; the message names it.
        OSError: the file cannot be read.

    Example:
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "trace.jsonl"
        ...     _ = file.write_text('{"state":0,"action":"up","to":1}\n{"state":1,"action":"up","to":2}\n')
        ...     count_trace_file(file)
        <Counts: 2 outcomes of 2 choices, 3 states>
    """
    episodes: list[list[Step]] = [[]]
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            text = line.strip()
            if not text:
                episodes.append([])
                continue
            try:
                row = json.loads(text)
                episodes[-1].append(Step(**{name: _plain(value) for name, value in row.items()}))
            except (ValueError, TypeError, AttributeError) as error:
                raise UnknownFormat(f"line {number} of {path} is no step with state, action and to: {error}") from None
    return count_traces(episodes, counts=counts)


def count_journal(
    journal: Journal,
    *,
    stream: str | None = None,
    map: str | None = None,
    read: Literal["auto", "agent", "map"] = "auto",
    refusals: Literal["stay", "skip"] = "stay",
    since: int = 0,
    counts: Counts | None = None,
) -> Counts:
    """Count what a journal recorded: an agent's decisions and what came of them, or what a map was told.

    A journal that holds both an agent's episodes and its map says each step twice; only one of the two is read. Faults
    are no outcomes. The place of an entry is its time, for a window.

    What an agent had on offer and did not take is known to be there, untried.

    Args:
        journal: the journal.
        stream: the stream to read; None: `agent` for an agent, every stream for maps.
        map: the map whose episodes, or whose stream, to read; None: all of them, as if they were one world.
        read: `agent`: entries `decide` and `came`; `map`: entries `arrive`, `refuse` and what was merged; `auto`: the
            agent's where there are any.
        refusals: a refusal is an outcome that stays where it was (`stay`), or is not counted (`skip`).
        since: the first entry to read.
        counts: the learner that takes it in; None: a new one. Entries that it counted before are not counted again.

    Raises:
        BadArgument: `read` or `refusals` is none of these, `since` is outside the journal, or there is both a map and
            a stream to read a map from.
        UnknownFormat: an entry cannot be read.

    Example:
        >>> from surefoot import WorldMap
        >>> world = WorldMap()
        >>> _ = world.arrive("hall", "open", "room")
        >>> count_journal(world.journal).followed("hall", "open")
        {'room': 1}
    """
    if read not in ("auto", "agent", "map"):
        raise BadArgument(f"read must be 'auto', 'agent' or 'map', got {read!r}")
    if refusals not in ("stay", "skip"):
        raise BadArgument(f"refusals must be 'stay' or 'skip', got {refusals!r}")
    learner = Counts() if counts is None else counts
    kind = read
    if read == "auto":
        kind = "agent" if any(True for _ in journal.entries(kind="came", stream=stream)) else "map"
    if kind == "map" and map is not None:
        if stream is not None:
            raise BadArgument(f"a map is a stream of its own: give stream={stream!r} or map={map!r}, not both")
        stream = map if map == "main" else f"map {map}"
    told = _agent(journal, since, stream or "agent", map) if kind == "agent" else _map(journal, since, stream)
    for hash_, seq, event in told:
        if hash_ in learner._events:
            continue
        learner._events.add(hash_)
        match event:
            case ("start", state):
                learner.start(state)
            case ("offer", state, *actions):
                learner.offer(state, *actions)
            case ("refused", state, action, _):
                if refusals == "stay":
                    learner.observe(state, action, state, time=seq)
                else:
                    learner.offer(state, action)
            case ("moved", state, action, to, over):
                learner.observe(state, action, to, ended=over, time=seq)
    return learner


_Told = tuple[str, int, tuple[Any, ...]]


def _agent(journal: Journal, since: int, stream: str, map_: str | None) -> Iterator[_Told]:
    """Yield what an agent's entries say: where episodes began, and what came of each decision."""
    decided: dict[tuple[int, int], dict[str, Any]] = {}
    elsewhere: set[int] = set()
    for entry in journal.entries(since=since, stream=stream):
        if map_ is not None and entry.kind == "begin" and entry.data["map"] != map_:
            elsewhere.add(entry.data["episode"])
        if elsewhere and entry.kind in ("begin", "decide", "came") and entry.data["episode"] in elsewhere:
            continue
        if entry.kind == "begin":
            yield entry.hash, entry.seq, ("start", entry.data["state"])
        elif entry.kind == "decide":
            data = entry.data
            decided[data["episode"], data["step"]] = data
            actions = [option["action"] for option in data.get("options", ())]
            yield entry.hash, entry.seq, ("offer", data["state"], *actions)
        elif entry.kind == "came":
            data = entry.data
            asked = decided.pop((data["episode"], data["step"]), None)
            if asked is None or data["verdict"] == "fault":
                continue
            if data["verdict"] == "refused":
                yield entry.hash, entry.seq, ("refused", asked["state"], asked["action"], None)
            else:
                yield entry.hash, entry.seq, ("moved", asked["state"], asked["action"], data["to"], data["done"])


def _map(journal: Journal, since: int, stream: str | None) -> Iterator[_Told]:
    """Yield what a map's entries say; what was merged from another map keeps the hash that it had there."""
    for entry in journal.entries(since=since, stream=stream):
        kind, data, hash_ = entry.kind, entry.data, entry.hash
        if kind == "merge":
            kind, data, hash_ = data["of"], data["event"], data["hash"]
        if kind == "arrive":
            yield hash_, entry.seq, ("moved", data["state"], data["action"], data["to"], False)
        elif kind == "refuse":
            yield hash_, entry.seq, ("refused", data["state"], data["action"], None)
        elif kind == "see":
            yield hash_, entry.seq, ("offer", data["state"], data["action"])


def count_world(
    env: Any,
    *,
    steps: int,
    seed: int = 0,
    policy: Policy | None = None,
    state_of: Callable[[Any], Any] | None = None,
    max_steps: int | None = None,
    counts: Counts | None = None,
) -> Counts:
    """Try a world for a number of steps, and count what happens.

    Args:
        env: a Gymnasium environment with discrete actions, or an `Environment` (its refusals stay where they are, its
            faults are no outcomes).
        steps: how many steps, >= 0, over as many episodes as that takes.
        seed: the world is reset with it once, and the policy draws from a stream of it.
        policy: (state, actions, generator) -> an action; None: any, each equally likely.
        state_of: the state of an observation, a plain value; None: numbers and arrays become plain ones.
        max_steps: how many steps an episode takes at most, >= 1; None: until the world ends it.
        counts: the learner that takes it in; None: a new one.

    Raises:
        BadArgument: `steps` is negative, `max_steps` less than 1, or `env` is neither kind or has other actions.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> count_world(Corridor(length=3), steps=100, seed=1).followed(1, "right")
        {2: ...}
    """
    if type(steps) is not int or steps < 0:
        raise BadArgument(f"steps must be a whole number >= 0, got {steps!r}")
    if max_steps is not None and (type(max_steps) is not int or max_steps < 1):
        raise BadArgument(f"max_steps must be a whole number >= 1, or None for no limit, got {max_steps!r}")
    learner = Counts() if counts is None else counts
    numbers = np.random.default_rng([seed, 0x636F756E74])
    choose = policy or _any
    as_state = state_of or _plain
    if hasattr(env, "action_space"):
        _try_gymnasium(env, steps, seed, choose, as_state, max_steps, numbers, learner)
    elif isinstance(env, Environment):
        _try_environment(env, steps, seed, choose, as_state, max_steps, numbers, learner)
    else:
        raise BadArgument(f"env must be a Gymnasium environment or have reset, actions and step, got {env!r}")
    return learner


def _any(state: Any, actions: Sequence[Any], numbers: np.random.Generator) -> Any:
    return actions[int(numbers.integers(len(actions)))]


def _plain(given: Any) -> Any:
    """Return an observation as a plain value: numbers of NumPy as Python's, arrays as tuples."""
    if isinstance(given, np.generic):
        return given.item()
    if isinstance(given, np.ndarray):
        return tuple(_plain(one) for one in given.tolist()) if given.ndim == 1 else tuple(_plain(one) for one in given)
    if isinstance(given, tuple | list):
        return tuple(_plain(one) for one in given)
    if isinstance(given, Mapping):
        return {key: _plain(one) for key, one in given.items()}
    return given


def _try_gymnasium(
    env: Any,
    steps: int,
    seed: int,
    choose: Policy,
    as_state: Callable[[Any], Any],
    max_steps: int | None,
    numbers: np.random.Generator,
    learner: Counts,
) -> None:
    """Walk a Gymnasium environment."""
    size = getattr(env.action_space, "n", None)
    if size is None:
        raise BadArgument(f"env has the actions {env.action_space!r}; only discrete ones can be counted")
    first = int(getattr(env.action_space, "start", 0))
    every = list(range(first, first + int(size)))
    state: Any = None
    actions: list[int] = []
    over, known, taken = True, False, 0
    for _ in range(steps):
        if over or taken == max_steps:
            taken = 0
            observation, info = env.reset(seed=None if known else seed)
            known, state = True, as_state(observation)
            learner.start(state)
            actions = _offered(info, every)
            learner.offer(state, *actions)
        action = choose(state, actions, numbers)
        observation, reward, ended, truncated, info = env.step(action)
        to = as_state(observation)
        learner.observe(state, action, to, ended=bool(ended), reward=float(reward))
        over, taken = bool(ended or truncated), taken + 1
        if not ended:
            actions = _offered(info, every)
            learner.offer(to, *actions)
        state = to


def _offered(info: Mapping[str, Any], every: list[int]) -> list[int]:
    mask = info.get("action_mask")
    return every if mask is None else [action for action, free in zip(every, mask, strict=True) if free]


def _try_environment(
    env: Environment[Any, Any],
    steps: int,
    seed: int,
    choose: Policy,
    as_state: Callable[[Any], Any],
    max_steps: int | None,
    numbers: np.random.Generator,
    learner: Counts,
) -> None:
    """Walk one of our environments."""
    here: Any = None
    over, fresh, taken = True, True, 0
    for _ in range(steps):
        if over or taken == max_steps:
            taken = 0
            here = env.reset(seed=seed) if fresh else env.reset()
            fresh = False
            learner.start(as_state(here))
        actions = list(env.actions(here))
        state = as_state(here)
        learner.offer(state, *actions)
        if not actions:
            over = True
            continue
        action = choose(state, actions, numbers)
        outcome = env.step(action)
        over, taken = outcome.done, taken + 1
        if outcome.fault is not None:
            continue
        to = outcome.state if outcome.accepted else here
        learner.observe(state, action, as_state(to), ended=outcome.accepted and outcome.done)
        here = to
