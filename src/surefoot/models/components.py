"""What the graph of a model decides without numbers: what can be reached, components, and probabilities 0 and 1.

Every function takes anything that has the rows of a model (`choice_start`, `branch_start`, `target`), so that solvers
can use them on models that they have made smaller. Nothing here recurs: depth costs no stack.

Probabilities are above 0 on every branch here. For interval models with lower ends of 0 that is not so; what their
graph decides is in the solver `robust`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from surefoot.models._compiled import attract, compiled, is_there, search_back, sweep_attract, sweep_back, turn_around
from surefoot.models._searching import (
    in_order,
    kept_inside,
    newly_seen,
    parts_of,
    pass_back,
    room_for,
    search_from,
    spans,
    stays,
)

__all__ = [
    "Direction",
    "Predecessors",
    "Rows",
    "bottom_components",
    "components",
    "end_components",
    "has_choices",
    "internal_choices",
    "prob0",
    "prob1",
    "reach",
    "reach_back",
    "staying",
]

Mask = NDArray[np.bool_]
Direction = Literal["max", "min"]
"""Who picks the choices: somebody who wants much, or somebody who wants little.

Example:
    >>> from typing import get_args
    >>> get_args(Direction)
    ('max', 'min')
"""


class Rows(Protocol):
    """Say what a graph needs to have: S states, C choices, B branches, as in `surefoot.models.Model`.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> loop: Rows = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
        >>> loop.target.tolist()
        [0]
    """

    @property
    def choice_start(self) -> NDArray[np.int64]:
        """Return where the choices of each state start, (S + 1,)."""

    @property
    def branch_start(self) -> NDArray[np.int64]:
        """Return where the branches of each choice start, (C + 1,)."""

    @property
    def target(self) -> NDArray[np.int32]:
        """Return where each branch leads, (B,)."""


class Predecessors:
    """Hold the graph backwards: which choices lead to each state, and whose they are. Sorted when first asked for.

    Args:
        rows: the model.

    Attributes:
        start: (S + 1,) int; the choices that lead to state s are `choice[start[s]:start[s + 1]]`.
        choice: (B,) int32.
        state: (C,) int32, the state that each choice belongs to.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> step = MarkovChain(choice_start=[0, 1, 1], branch_start=[0, 1], target=[1], probability=[1.0], initial=0)
        >>> back = Predecessors.of(step)
        >>> back.start.tolist(), back.choice.tolist(), back.state.tolist()
        ([0, 0, 1], [0], [0])
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    @classmethod
    def of(cls, rows: Rows) -> Predecessors:
        """Return the predecessors of a model. Cost: linear, one counting sort of the branches, when first asked for."""
        return cls(rows)

    @cached_property
    def state(self) -> NDArray[np.int32]:
        """Return the state that each choice belongs to."""
        states = len(self.rows.choice_start) - 1
        return np.repeat(np.arange(states, dtype=np.int32), np.diff(self.rows.choice_start))

    @property
    def start(self) -> NDArray[np.int64]:
        """Return where the choices that lead to each state start."""
        return self._sorted[0]

    @property
    def choice(self) -> NDArray[np.int32]:
        """Return the choices, by the states that they lead to."""
        return self._sorted[1]

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        rows = self.rows
        states, choices = len(rows.choice_start) - 1, len(rows.branch_start) - 1
        if is_there():
            start, choice = np.zeros(states + 1, np.int64), np.empty(len(rows.target), np.int32)
            compiled(turn_around)(rows.branch_start, rows.target, start, choice)
            return start, choice
        ones = np.ones(len(rows.target), np.int8)
        flipped = csr_matrix((ones, rows.target, rows.branch_start), (choices, states)).tocsc()
        return flipped.indptr.astype(np.int64), flipped.indices.astype(np.int32)

    def of_states(self, states: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the choices that lead to any of some states; one that leads to several of them comes several times."""
        return self.choice[spans(self.start[states], self.start[states + 1])]


def has_choices(rows: Rows) -> Mask:
    """Say which states have choices.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> step = MarkovChain(choice_start=[0, 1, 1], branch_start=[0, 1], target=[1], probability=[1.0], initial=0)
        >>> has_choices(step).tolist()
        [True, False]
    """
    return rows.choice_start[1:] > rows.choice_start[:-1]


def staying(rows: Rows, inside: Mask) -> Mask:
    """Say which choices lead only to states that are `inside`.

    Args:
        rows: the model.
        inside: (S,) bool.

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> coin = MarkovChain(choice_start=[0, 1, 2, 3], branch_start=[0, 2, 3, 4], target=[1, 2, 1, 2],
        ...                    probability=[0.5, 0.5, 1.0, 1.0], initial=0)
        >>> staying(coin, np.array([True, True, False])).tolist()
        [False, True, False]
    """
    return stays(rows, inside)


def reach(rows: Rows, start: Mask, *, through: Mask | None = None, choices: Mask | None = None) -> Mask:
    """Say which states can be reached from `start`, which is reached itself.

    Args:
        rows: the model.
        start: (S,) bool.
        through: (S,) bool, the states that may be left; None: all.
        choices: (C,) bool, the choices that may be taken; None: all.

    Cost: linear, plus a few microseconds for each step of the longest shortest path.

    Source: Baier, Katoen 2008, section 10.1.1.

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> line = MarkovChain(choice_start=[0, 1, 2, 2], branch_start=[0, 1, 2], target=[1, 2],
        ...                    probability=[1.0, 1.0], initial=0)
        >>> reach(line, np.array([False, True, False])).tolist()
        [False, True, True]
    """
    seen = start.copy()
    front = np.flatnonzero(seen)
    while len(front):
        if through is not None:
            front = front[through[front]]
        taken = spans(rows.choice_start[front], rows.choice_start[front + 1])
        if choices is not None:
            taken = taken[choices[taken]]
        found = rows.target[spans(rows.branch_start[taken], rows.branch_start[taken + 1])]
        front = newly_seen(found, seen)
    return seen


def reach_back(
    rows: Rows,
    target: Mask,
    *,
    through: Mask | None = None,
    choices: Mask | None = None,
    back: Predecessors | None = None,
) -> tuple[Mask, NDArray[np.int64]]:
    """Say from where `target` can be reached with some probability, and by which choice one gets nearer to it.

    Args:
        rows: the model.
        target: (S,) bool.
        through: (S,) bool, the states that a way may lead through before the target; None: all.
        choices: (C,) bool, the choices that may be taken; None: all.
        back: the predecessors, if they are known already.

    Returns:
        A mask of the states, with the target among them; and for each state a choice that leads to a state nearer to
        the target with some probability, -1 in the target and where there is none.

    Cost: linear, plus a few microseconds for each step of the longest shortest path.

    Source: Baier, Katoen 2008, section 10.6.1 (algorithm 45, backwards).

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MarkovChain
        >>> line = MarkovChain(choice_start=[0, 1, 2, 2], branch_start=[0, 1, 2], target=[1, 2],
        ...                    probability=[1.0, 1.0], initial=0)
        >>> mask, choice = reach_back(line, np.array([False, True, False]))
        >>> mask.tolist(), choice.tolist()
        ([True, True, False], [0, -1, -1])
    """
    back = Predecessors.of(rows) if back is None else back
    states = len(target)
    if is_there():
        seen, nearer = target.copy(), np.full(states, -1, np.int64)
        free = np.ones(states, bool) if through is None else through
        allowed = np.ones(len(rows.branch_start) - 1, bool) if choices is None else choices
        if compiled(sweep_back)(*parts_of(rows), free, allowed, seen, nearer, *room_for(rows)):
            return seen, nearer
        queue = np.empty(states, np.int64)
        compiled(search_back)(back.start, back.choice, back.state, free, allowed, seen, nearer, queue)
        return seen, nearer
    seen, nearer, done = pass_back(rows, target, through, choices, back.state)
    if done:
        return seen, nearer
    owner = back.state[back.choice]
    goes_to = np.repeat(np.arange(states, dtype=np.int32), np.diff(back.start))
    keep = ~seen[owner]
    if choices is not None:
        keep &= choices[back.choice]
    if through is not None:
        keep &= through[owner]
    every, further = search_from(seen, goes_to[keep], owner[keep], back.choice[keep])
    return every, np.where(nearer >= 0, nearer, further)


def components(rows: Rows, *, within: Mask | None = None, choices: Mask | None = None) -> tuple[int, NDArray[np.int32]]:
    """Return the strongly connected components, numbered so that no branch leads to a higher number.

    Args:
        rows: the model.
        within: (S,) bool; edges from or to other states do not count; None: all.
        choices: (C,) bool, the choices whose branches count; None: all.

    Returns:
        How many there are; and the number of the component of each state.

    Cost: linear.

    Source: Pearce 2005 (as in SciPy); Baier, Katoen 2008, section 10.1.2.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> line = MarkovChain(choice_start=[0, 1, 2, 2], branch_start=[0, 1, 2], target=[1, 2],
        ...                    probability=[1.0, 1.0], initial=0)
        >>> components(line)
        (3, array([2, 1, 0], dtype=int32))
    """
    states = len(rows.choice_start) - 1
    if within is None and choices is None:
        # All branches count: the rows are the matrix already, with the choices of a state one after the other.
        matrix = csr_matrix(
            (np.ones(len(rows.target), np.int8), rows.target, rows.branch_start[rows.choice_start]), (states, states)
        )
    else:
        owner = np.repeat(np.arange(states, dtype=np.int32), np.diff(rows.branch_start[rows.choice_start]))
        keep = np.ones(len(owner), bool) if choices is None else np.repeat(choices, np.diff(rows.branch_start))
        if within is not None:
            keep &= within[owner]
            keep &= within[rows.target]
        to, start = rows.target[keep], np.zeros(states + 1, np.int64)
        np.cumsum(np.bincount(owner[keep], minlength=states), out=start[1:])
        matrix = csr_matrix((np.ones(len(to), np.int8), to, start), (states, states))
    count, label = connected_components(matrix, directed=True, connection="strong")
    return int(count), in_order(matrix, int(count), label)


def bottom_components(rows: Rows) -> tuple[int, NDArray[np.int32]]:
    """Return the components that are never left, numbered from 0, and which of them each state is in; -1: none.

    In a chain these are where every run ends up. A state without choices is one by itself.

    Source: Baier, Katoen 2008, section 10.1.2.

    Example:
        >>> from surefoot.models import MarkovChain
        >>> coin = MarkovChain(choice_start=[0, 1, 2, 2], branch_start=[0, 2, 3], target=[1, 2, 1],
        ...                    probability=[0.5, 0.5, 1.0], initial=0)
        >>> bottom_components(coin)[1].tolist() in ([-1, 0, 1], [-1, 1, 0])
        True
    """
    count, label = components(rows)
    owner = np.repeat(np.arange(len(label)), np.diff(rows.branch_start[rows.choice_start]))
    bottom = np.ones(count, bool)
    bottom[label[owner[label[owner] != label[rows.target]]]] = False
    number = np.where(bottom, np.cumsum(bottom) - 1, -1)
    return int(bottom.sum()), number[label].astype(np.int32)


def end_components(
    rows: Rows, *, within: Mask | None = None, choices: Mask | None = None, back: Predecessors | None = None
) -> tuple[int, NDArray[np.int32]]:
    """Return the maximal end components: where one can stay for ever and get from everywhere to everywhere.

    Args:
        rows: the model.
        within: (S,) bool, the states that may be in one; None: all.
        choices: (C,) bool, the choices that may be taken; None: all.
        back: the predecessors, if they are known already.

    Returns:
        How many there are; and which of them each state is in, -1: none. The choices of an end component are those of
        its states that do not leave it, see `internal_choices`. A state without choices is in none.

    Cost: linear for each round; rounds are few but for models that are made to need many.

    Source: de Alfaro 1997, section 3.3; Baier, Katoen 2008, algorithm 47.

    Example:
        >>> from surefoot.models import MDP
        >>> two = MDP(choice_start=[0, 2, 3, 3], choice_action=[0, 1, 0], branch_start=[0, 1, 3, 4],
        ...           target=[1, 0, 2, 0], probability=[1.0, 0.5, 0.5, 1.0], initial=0)
        >>> end_components(two)
        (1, array([ 0,  0, -1], dtype=int32))
    """
    back = Predecessors.of(rows) if back is None else back
    inside = has_choices(rows) if within is None else within & has_choices(rows)
    allowed = np.ones(len(rows.branch_start) - 1, bool) if choices is None else choices.copy()
    nowhere = np.zeros(len(inside), bool)
    while True:
        inside = kept_inside(rows, inside, allowed, nowhere, back)
        if not inside.any():
            return 0, np.full(len(inside), -1, np.int32)
        _, label = components(rows, within=inside, choices=allowed)
        leaves = label[rows.target] != np.repeat(label[back.state], np.diff(rows.branch_start))
        crossing = allowed & np.logical_or.reduceat(leaves, rows.branch_start[:-1])
        if not crossing.any():
            break
        allowed &= ~crossing
    numbers = np.full(len(inside), -1, np.int32)
    found, which = np.unique(label[inside], return_inverse=True)
    numbers[inside] = which
    return len(found), numbers


def internal_choices(rows: Rows, numbers: NDArray[np.int32]) -> Mask:
    """Say which choices stay in the end component of their state.

    Args:
        rows: the model.
        numbers: (S,) int32, which end component each state is in, -1: none, as `end_components` returns them.

    Example:
        >>> from surefoot.models import MDP
        >>> two = MDP(choice_start=[0, 2, 3, 3], choice_action=[0, 1, 0], branch_start=[0, 1, 3, 4],
        ...           target=[1, 0, 2, 0], probability=[1.0, 0.5, 0.5, 1.0], initial=0)
        >>> internal_choices(two, end_components(two)[1]).tolist()
        [True, False, True]
    """
    if len(rows.branch_start) == 1:
        return np.zeros(0, bool)
    owner = np.repeat(np.arange(len(numbers)), np.diff(rows.choice_start))
    mine = numbers[owner]
    same = numbers[rows.target] == np.repeat(mine, np.diff(rows.branch_start))
    return np.logical_and.reduceat(same, rows.branch_start[:-1]) & (mine >= 0)


def prob0(
    rows: Rows,
    target: Mask,
    direction: Direction = "max",
    *,
    through: Mask | None = None,
    back: Predecessors | None = None,
) -> Mask:
    """Say where the probability to reach `target` is exactly 0.

    Args:
        rows: the model.
        target: (S,) bool.
        direction: `max`: 0 whatever is chosen; `min`: some way to choose makes it 0.
        through: (S,) bool, the states that a run may pass before the target (the left of an until); None: all.
        back: the predecessors, if they are known already.

    Cost: linear, plus a few microseconds for each step of the longest shortest path.

    Source: de Alfaro 1997, section 3.4; Baier, Katoen 2008, algorithms 45 and 46; Prob0A and Prob0E of Forejt et al.
        2011.

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MDP
        >>> two = MDP(choice_start=[0, 2, 2, 2], choice_action=[0, 1], branch_start=[0, 1, 2], target=[1, 2],
        ...           probability=[1.0, 1.0], initial=0)
        >>> goal = np.array([False, True, False])
        >>> prob0(two, goal).tolist(), prob0(two, goal, "min").tolist()
        ([False, False, True], [True, False, True])
    """
    back = Predecessors.of(rows) if back is None else back
    if direction == "max":
        return ~reach_back(rows, target, through=through, back=back)[0]
    hit = target.copy()
    left = np.diff(rows.choice_start).copy()
    leads = np.zeros(len(rows.branch_start) - 1, bool)
    if is_there():
        free = np.ones(len(hit), bool) if through is None else through
        if compiled(sweep_attract)(*parts_of(rows), free, ~leads, False, hit, *room_for(rows)):
            return ~hit
        queue = np.empty(len(hit), np.int64)
        compiled(attract)(back.start, back.choice, back.state, free, left, leads, hit, queue)
        return ~hit
    front = np.flatnonzero(hit)
    while len(front):
        found = back.of_states(front)
        found = np.unique(found[~leads[found]])
        leads[found] = True
        owners = back.state[found]
        np.subtract.at(left, owners, 1)
        owners = np.unique(owners)
        owners = owners[(left[owners] == 0) & ~hit[owners]]
        if through is not None:
            owners = owners[through[owners]]
        hit[owners] = True
        front = owners.astype(np.int64)
    return ~hit


def prob1(
    rows: Rows,
    target: Mask,
    direction: Direction = "max",
    *,
    through: Mask | None = None,
    choices: Mask | None = None,
    zero: Mask | None = None,
    back: Predecessors | None = None,
) -> tuple[Mask, NDArray[np.int64]]:
    """Say where the probability to reach `target` is exactly 1, and by which choices.

    Args:
        rows: the model.
        target: (S,) bool.
        direction: `max`: some way to choose makes it 1; `min`: it is 1 whatever is chosen.
        through: (S,) bool, the states that a run may pass before the target; None: all.
        choices: (C,) bool, the choices that may be taken, for `max`; None: all.
        zero: (S,) bool, where it is 0, if that is known already: what `prob0` says of the same question.
        back: the predecessors, if they are known already.

    Returns:
        A mask of the states; and for each of them a choice such that to take these choices makes it 1 (-1 in the
        target, and outside the mask).

    Cost: linear for each round; `min` needs one.

    Source: de Alfaro 1997, section 3.4; Prob1A and Prob1E of Forejt et al. 2011, section 4.2.

    Example:
        >>> import numpy as np
        >>> from surefoot.models import MDP
        >>> two = MDP(choice_start=[0, 2, 2, 2], choice_action=[0, 1], branch_start=[0, 1, 2], target=[1, 2],
        ...           probability=[1.0, 1.0], initial=0)
        >>> mask, choice = prob1(two, np.array([False, True, False]))
        >>> mask.tolist(), choice.tolist()
        ([True, True, False], [0, -1, -1])
    """
    back = Predecessors.of(rows) if back is None else back
    free = np.ones(len(target), bool) if through is None else through
    if direction == "min":
        avoiding = prob0(rows, target, "min", through=through, back=back) if zero is None else zero
        lost = reach_back(rows, avoiding, through=free & ~target, back=back)[0]
        first = np.where(has_choices(rows), rows.choice_start[:-1], -1)
        return ~lost, np.where(lost | target, -1, first)
    if zero is None:
        zero = ~reach_back(rows, target, through=through, choices=choices, back=back)[0]
    sure = ~zero
    allowed = np.ones(len(rows.branch_start) - 1, bool) if choices is None else choices.copy()
    while True:
        # What has no choice left that stays goes at once, and what needs it, and so on.
        inside = kept_inside(rows, sure & ~target, allowed, target, back)
        if not inside.any():
            return target.copy(), np.full(len(target), -1, np.int64)
        sure = inside | target
        again, nearer = reach_back(rows, target, through=free & sure, choices=allowed, back=back)
        gone = sure & ~again
        sure = again
        if not gone.any():
            return sure, nearer
