"""The random numbers of one environment, episode by episode, drawn in blocks: each is the one at its address."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.models.draws import INITIAL, block, draw, draws, fold_seed, stream, streams

__all__ = ["Feed"]

_FIRST = 16
"""How many numbers of an episode are drawn when it begins."""
_MOST_EPISODES = 64
_MOST = 1024


class Feed:
    """Hand out the numbers of the transitions of one seed.

    The first episode of a seed draws its first numbers in plain Python, which is fastest if no other follows. When more
    follow, the first numbers of 4, then 16, then 64 of them are drawn together.
    """

    def __init__(self, seed: int) -> None:
        self.seed = fold_seed(seed)
        self.episode = -1
        self._window: list[list[float]] = []
        self._starts: list[float] = []
        self._from = 0

    def begin(self, episode: int) -> tuple[float, Callable[[], float]]:
        """Return the number that picks the initial state of an episode, and what returns those of its first steps."""
        self.episode = episode
        place = episode - self._from
        if 0 <= place < len(self._window):
            return self._starts[place], iter(self._window[place]).__next__
        size = min(4 * len(self._window), _MOST_EPISODES)
        if not size or place != len(self._window):
            self._from, self._window, self._starts = episode, [[]], [0.0]
            start, stride = stream(self.seed, episode)
            numbers = [draw(start, stride, step) for step in range(_FIRST)]
            return draw(start, stride, 0, INITIAL), iter(numbers).__next__
        starts, strides = streams(np.uint64(self.seed), np.arange(episode, episode + size))
        first = draws(starts[:, None], strides[:, None], np.arange(_FIRST)[None, :])
        self._from, self._window = episode, first.tolist()
        self._starts = draws(starts, strides, 0, INITIAL).tolist()
        return self._starts[0], iter(self._window[0]).__next__

    def go_on(self, step: int) -> Callable[[], float]:
        """Return what returns the numbers of the running episode from a step on, twice as many each time."""
        return iter(block(self.seed, self.episode, step, max(_FIRST, min(step, _MOST)))).__next__
