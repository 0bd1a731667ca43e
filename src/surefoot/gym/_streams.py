"""The random numbers of many environments: each has its own seed, episode and step, and draws by that address."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import BadArgument
from surefoot.models.draws import INITIAL, LANES, draws, fold_seed, streams

__all__ = ["Streams"]

_ROOM = 1 << 15
_MOST_ROWS = 16
_UNIT = 2.0**-53
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


class Streams:
    """Hold where each of N environments is in its stream; the numbers of the next steps are drawn together.

    `clock` counts the steps of all; environment i is at step `clock - begun[i]` of its episode. `where` holds `starts`,
    `strides` and `begun` in one array, (3, N) uint64, because compiled code takes one argument faster than three.
    """

    def __init__(self, count: int) -> None:
        self.seeds = np.zeros(count, dtype=np.uint64)
        self.episodes = np.zeros(count, dtype=np.int64)
        self.where = np.zeros((3, count), dtype=np.uint64)
        self.clock = 0
        self._most = max(1, min(_MOST_ROWS, _ROOM // max(count, 1)))
        self._words = np.empty((self._most, count), dtype=np.uint64)
        self._spare = np.empty((self._most, count), dtype=np.uint64)
        self._numbers = np.empty((self._most, count))
        self._row = self._rows = self._wanted = 0

    @property
    def starts(self) -> NDArray[np.uint64]:
        """Return where each stream starts, to be written to."""
        starts: NDArray[np.uint64] = self.where[0]
        return starts

    @property
    def strides(self) -> NDArray[np.uint64]:
        """Return how far the numbers of each stream are apart, to be written to."""
        strides: NDArray[np.uint64] = self.where[1]
        return strides

    @property
    def begun(self) -> NDArray[np.int64]:
        """Return the clock at which each episode began, to be written to."""
        begun: NDArray[np.int64] = self.where[2].view(np.int64)
        return begun

    @property
    def steps(self) -> NDArray[np.int64]:
        """Return the step that each environment is at."""
        return self.clock - self.begun

    def seed(self, where: NDArray[np.int64], seeds: list[int | None] | int) -> None:
        """Let environments begin episode 0 of new seeds at the next `restart`; where the seed is None, the next one."""
        if isinstance(seeds, int) and seeds + len(self.seeds) < 1 << 64:
            self.seeds[where] = np.uint64(seeds) + where.astype(np.uint64)
            self.episodes[where] = -1
            return
        given = [seeds + int(place) for place in where] if isinstance(seeds, int) else [seeds[int(p)] for p in where]
        for place, one in zip(where.tolist(), given, strict=True):
            if one is not None:
                self.seeds[place], self.episodes[place] = fold_seed(one), -1

    def restart(self, where: NDArray[np.int64]) -> NDArray[np.float64]:
        """Begin the next episode of some environments, and return the numbers that pick their initial states."""
        self.episodes[where] += 1
        starts, strides = streams(self.seeds[where], self.episodes[where])
        self.starts[where], self.strides[where], self.begun[where] = starts, strides, self.clock
        left = self._rows - self._row
        if left * len(where) * 4 > self._rows * len(self.seeds):
            self._row = self._rows = self._wanted = 0  # cheaper to draw all anew
        elif left:
            steps = np.arange(left)[:, None]
            self._numbers[self._row : self._rows, where] = draws(starts[None, :], strides[None, :], steps)
        return draws(starts, strides, 0, INITIAL)

    def numbers(self) -> NDArray[np.float64]:
        """Return the number of this step for each environment; to be used before the next call, not to be kept."""
        if self._row == self._rows:
            self._draw()
        numbers: NDArray[np.float64] = self._numbers[self._row]
        return numbers

    def forward(self) -> None:
        """Go to the next step."""
        self.clock += 1
        if self._row < self._rows:
            self._row += 1

    def jump(self, steps: int) -> None:
        """Go forward by many steps at once."""
        self.clock += steps
        self._row = self._rows = self._wanted = 0

    def _draw(self) -> None:
        """Draw the numbers of the next steps: 1, then 2, 4, … as long as they are all used."""
        self._wanted = min(max(1, 2 * self._wanted), self._most)
        self._row, self._rows = 0, self._wanted
        words, spare = self._words[: self._rows], self._spare[: self._rows]
        np.multiply(self.steps.astype(np.uint64) * np.uint64(LANES) + np.uint64(1), self.strides, out=words[0])
        words[0] += self.starts
        if self._rows > 1:
            stride = self.strides * np.uint64(LANES)
            for row in range(1, self._rows):
                np.add(words[row - 1], stride, out=words[row])
        first, second, third, last = _SHIFTS
        for shift, factor in ((first, _FIRST), (second, _SECOND)):
            np.right_shift(words, shift, out=spare)
            np.bitwise_xor(words, spare, out=words)
            np.multiply(words, factor, out=words)
        np.right_shift(words, third, out=spare)
        np.bitwise_xor(words, spare, out=words)
        np.right_shift(words, last, out=words)
        np.multiply(words, _UNIT, out=self._numbers[: self._rows])

    def lane(self, lane: int, where: Any = slice(None), later: int = 0) -> NDArray[np.float64]:
        """Return the numbers of another lane, at the step that each environment is at, or some steps later."""
        return draws(self.starts[where], self.strides[where], self.steps[where] + later, lane)

    def token(self) -> tuple[Any, ...]:
        """Return all that there is to know, as copies."""
        return self.seeds.copy(), self.episodes.copy(), self.steps

    def put_back(self, token: tuple[Any, ...]) -> None:
        """Go back to where `token` came from."""
        seeds, episodes, steps = token
        if len(seeds) != len(self.seeds):
            raise BadArgument(f"the token is of {len(seeds)} environments, there are {len(self.seeds)} here")
        self.seeds, self.episodes = seeds.copy(), episodes.copy()
        self.starts[:], self.strides[:] = streams(seeds, episodes)
        self.begun[:] = self.clock - steps
        self._row = self._rows = self._wanted = 0
