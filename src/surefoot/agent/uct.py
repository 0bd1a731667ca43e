"""UCT: a slow path that plans by sampling what was learned, where a map of chance is too large to be solved whole."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Any, NamedTuple

from surefoot import values
from surefoot.agent.decision import Answer
from surefoot.agent.situation import Situation
from surefoot.agent.slow import Search
from surefoot.errors import BadArgument
from surefoot.knowledge.routes import TRIES

__all__ = ["UCT"]


@dataclass(frozen=True, slots=True)
class UCT(Search):
    """Do what `Search` does, but on a map of chance find the way to a goal by Monte-Carlo tree search.

    From where the agent is, ways are simulated over the map: each action leads to the places that were observed, as
    often as they were observed. In the tree the action with the highest upper confidence bound is taken; below it, the
    one that was worth most from that state so far, one time in four any. A way that reaches the goal after t of at most
    H steps is worth 1 - t / 2 H, any other nothing. What a step in the tree is worth is worked out from where it may
    lead, not averaged over the simulated ways. The action that is worth most is the answer.

    Unlike the default, the fast path does not follow known ways on a map of chance: each step there is a decision of
    this slow path, and counts for the budget. Where no goal was reached yet, it explores as `Search` does.

    The dice are seeded with (seed, episode, step), so that replay throws the same.

    Args:
        layered, expansions, depth: see `Search`.
        simulations: how many ways are simulated for a decision, an int >= 1.
        horizon: after how many steps a simulated way is given up, an int >= 1.
        explores: how much an action is worth that was simulated little, a finite number >= 0: the c in
            mean + c sqrt(ln N / n).
        hopeful: what was tried less than 16 times may lead to the goal, see `WorldMap.hopes`. False: nothing leads
            where it was not seen to lead.
        seed: of the dice, an int >= 0.

    Raises:
        BadArgument: one of them is out of its range.

    Promise: each action of a node is simulated again and again, so with the number of simulations the answer becomes
        the best one for the horizon, that of value iteration over the map. After how many is not bounded in practice:
        what is good only after many steps is found late.

    Cost: for a decision `simulations` ways of at most `horizon` steps, a few µs a step, and a look at each state on
        them; independent of the size of the map. The whole solve of the default is cheaper on small maps.

    Source: Kocsis and Szepesvári 2006, with UCB1 of Auer, Cesa-Bianchi and Fischer 2002; the Bellman backups of DP-UCT,
        Keller and Helmert 2013, since the odds are known; a node for each state and depth; below the tree the move
        averages of Finnsson and Björnsson 2008 (MAST), by state.

    Example:
        >>> from surefoot import Agent, Knowledge
        >>> from surefoot.environments.corridor import Corridor
        >>> knowledge = Knowledge()
        >>> knowledge.map().stochastic = True
        >>> agent = Agent(Corridor(length=3), knowledge=knowledge, slow=UCT(simulations=64, horizon=8))
        >>> _ = [agent.run() for _ in range(6)]
        >>> agent.run().steps, {decision.rule for decision in agent.decisions(6)}, agent.replay().ok
        (3, {'uct'}, True)
    """

    simulations: int = 256
    horizon: int = 64
    explores: float = sqrt(2)
    hopeful: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the ranges."""
        Search.__post_init__(self)
        for name, least in (("simulations", 1), ("horizon", 1), ("seed", 0)):
            given = getattr(self, name)
            if type(given) is not int or given < least:
                raise BadArgument(f"{name} must be an int >= {least}, got {given!r}")
        given = self.explores
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
            raise BadArgument(f"explores must be a finite number >= 0, got {given!r}")

    def find(self, here: Situation) -> Answer:
        """Return what to do, or why there is nothing to do; pure."""
        if here.known.stochastic:
            for goal in here.goals:
                targets = here.fold.targets.get(here.running.map, {}).get(goal, {})
                away = frozenset(place for place in targets if place != here.key)
                action = _Tree(self, here, away).best() if away else None
                option = None if action is None else here.option(values.decode_known(action))
                if option is not None:
                    return Answer(option.action, "slow", "uct", goal, f"{self.simulations} ways simulated")
        return Search.find(self, here)


_ANY = 0.25


class _Move(NamedTuple):
    """An action of a state in imagination: where it leads, and how often it was seen to lead there."""

    action: bytes
    places: tuple[bytes, ...]
    times: tuple[int, ...]


@dataclass(slots=True)
class _Node:
    """What was simulated from a state at a depth: how often, and for each action how often, and what it is worth."""

    moves: tuple[_Move, ...]
    visits: int = 0
    times: list[int] = field(init=False)
    worth: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.times, self.worth = [0] * len(self.moves), [0.0] * len(self.moves)


class _Tree:
    """One search; see `UCT`."""

    def __init__(self, rules: UCT, here: Situation, targets: frozenset[bytes]) -> None:
        self._rules, self._here, self._targets = rules, here, targets
        running = here.running
        self._dice = random.Random(int(values.digest((rules.seed, running.episode, running.steps))[:16], 16))
        self._moves: dict[bytes, tuple[_Move, ...]] = {}
        self._nodes: dict[tuple[bytes, int], _Node] = {}
        self._anywhere: dict[bytes, _Node] = {}  # the same at whatever depth: how ways go on below the tree
        encoded = [(values.encode_state(state), values.encode_action(action)) for state, action in here.barred]
        self._barred = frozenset(encoded)

    def best(self) -> bytes | None:
        """Return the action that is worth most, encoded; None where none is worth anything."""
        for _ in range(self._rules.simulations):
            self._simulate()
        root = self._nodes.get((self._here.key, 0))
        if root is None or not any(root.worth):
            return None  # no simulated way arrived: somebody else may know more
        return root.moves[root.worth.index(max(root.worth))].action

    def _simulate(self) -> None:
        """Simulate one way, and take in what it says."""
        key, inside, worth = self._here.key, True, 0.0
        tree: list[tuple[_Node, int]] = []
        below: list[tuple[_Node, int]] = []
        for depth in range(self._rules.horizon):
            moves = self._of(key)
            if not moves:
                break
            anywhere = self._anywhere.get(key)
            if anywhere is None:
                anywhere = self._anywhere[key] = _Node(moves)
            if inside:
                node = self._nodes.get((key, depth))
                if node is None:
                    node = self._nodes[key, depth] = _Node(moves)
                    inside = depth == 0
                place = self._choose(node)
                tree.append((node, place))
            else:
                place = self._go_on(anywhere)
            below.append((anywhere, place))
            key = self._drawn(moves[place])
            if key in self._targets or not key:
                worth = self._arrived(depth)
                break
        for node, place in below:
            node.times[place] += 1
            node.worth[place] += (worth - node.worth[place]) / node.times[place]
        for depth in range(len(tree) - 1, -1, -1):
            node, place = tree[depth]
            node.visits += 1
            node.times[place] += 1
            node.worth[place] = self._worth(node.moves[place], depth)

    def _arrived(self, depth: int) -> float:
        """Return what it is worth to arrive with a step at this depth."""
        return 1.0 - (depth + 1) / (2 * self._rules.horizon)

    def _worth(self, move: _Move, depth: int) -> float:
        """Return what an action at this depth is worth, going on as well as is known: a full Bellman backup."""
        total, last = 0.0, depth + 1 == self._rules.horizon
        for key, times in zip(move.places, move.times, strict=True):
            if not key or key in self._targets:
                total += times * self._arrived(depth)
            elif not last:
                node = self._nodes.get((key, depth + 1)) or self._anywhere.get(key)
                total += times * max(node.worth) if node is not None and node.worth else 0.0
        return total / sum(move.times)

    def _go_on(self, anywhere: _Node) -> int:
        """Return the action that was worth most so far from a state, at whatever depth; one time in four any."""
        best = max(anywhere.worth)
        if not best or self._dice.random() < _ANY:
            return int(self._dice.random() * len(anywhere.moves))
        return anywhere.worth.index(best)

    def _choose(self, node: _Node) -> int:
        """Return the action with the highest upper confidence bound; what was not simulated comes first, in order."""
        best, highest = 0, -1.0
        scale = self._rules.explores * sqrt(log(node.visits)) if node.visits > 1 else 0.0
        for place, times in enumerate(node.times):
            if not times:
                return place
            bound = node.worth[place] + scale / sqrt(times)
            if bound > highest:
                best, highest = place, bound
        return best

    def _drawn(self, move: _Move) -> bytes:
        """Return where an action leads this time; empty for the goal that is hoped for."""
        if len(move.places) == 1:
            return move.places[0]
        return self._dice.choices(move.places, move.times)[0]

    def _of(self, key: bytes) -> tuple[_Move, ...]:
        """Return the actions of a state, in one order whatever the order in which they were learned."""
        moves = self._moves.get(key)
        if moves is None:
            state = values.decode_known(key)
            claims = sorted(self._here.known.claims(state), key=lambda claim: values.order(claim.action))
            made = [self._move(key, claim) for claim in claims if not claim.refused]
            moves = self._moves[key] = tuple([move for move in made if move is not None])
        return moves

    def _move(self, key: bytes, claim: Any) -> _Move | None:
        """Return an action of a state, None where it leads nowhere or is barred."""
        action = values.encode_action(claim.action)
        if (key, action) in self._barred:
            return None
        places = {values.encode_state(to): times for to, times in claim.counts} if claim.status == "confirmed" else {}
        if self._rules.hopeful and sum(places.values()) < TRIES:
            places[b""] = 1
        elif not places and claim.to is not None:
            places[values.encode_state(claim.to)] = 1
        return _Move(action, tuple(places), tuple(places.values())) if places else None
