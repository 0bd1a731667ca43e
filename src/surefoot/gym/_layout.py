"""The arrays that thousands of environments are stepped by: rows of equal length where that costs little.

A row is what one (state, action) may do. After the rows of the model's choices come those that it does not have: one
for each state without choices (it stays), and one for each state that lacks an action, if that is not an error.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.gym._rules import OnUnavailable, Rules
from surefoot.models.draws import pick

__all__ = ["Layout", "Records"]

_LONGEST = 64
"""Longer rows are searched, not padded."""


class Layout:
    """Hold rows for gathering. S states, A actions, R rows, K the length of the longest, B branches after padding.

    `table`: (S * A,) int64, the row of each (state, action), -1 where that is an error; None: row i is at place i.
    `start`: (R + 1,) int64, where each row starts; None where all have the length `width`.
    `sums`, `target`, `reward`: (B,) float64, int64, float64 (None where all is 0).
    `stops`: the first of the rows that end an episode whatever they lead to.
    `masks`: (S,) or (S, W) unsigned words, the masks of the states, one byte an action.
    """

    def __init__(self, rules: Rules, on_unavailable: OnUnavailable, unavailable_reward: float) -> None:
        model = rules.model
        self.states, self.actions = model.n_states, model.n_actions
        offered = np.diff(model.choice_start)
        stuck = np.flatnonzero(offered == 0)
        lacking = np.flatnonzero((offered > 0) & (offered < self.actions))
        if on_unavailable == "raise":
            lacking = lacking[:0]
        choices = model.n_choices
        table = model.action_table.astype(np.int64)
        table[stuck] = choices + np.arange(len(stuck))[:, None]
        if len(lacking):
            rows = choices + len(stuck) + np.arange(len(lacking))[:, None]
            table[lacking] = np.where(table[lacking] < 0, rows, table[lacking])
        self.rows = choices + len(stuck) + len(lacking)
        self.stops = choices + len(stuck) if on_unavailable == "terminate" and len(lacking) else self.rows
        self.first_unavailable = choices + len(stuck)
        flat = table.ravel()
        dense = len(flat) == choices and bool((flat == np.arange(choices)).all())
        self.table: NDArray[np.int64] | None = None if dense else flat
        self.may_lack = bool((flat < 0).any())
        paid = rules.rewards
        extra = np.array([*map(rules.reward_of_staying, stuck.tolist()), *[unavailable_reward] * len(lacking)], float)
        stays = np.concatenate([stuck, lacking])
        self._lay(
            np.concatenate([model.branch_start, model.n_branches + 1 + np.arange(len(stays))]),
            np.concatenate([rules.sums, np.ones(len(stays))]),
            np.concatenate([model.target, stays]).astype(np.int64),
            None
            if paid is None and not extra.any()
            else np.concatenate([np.zeros(model.n_branches) if paid is None else paid, extra]),
        )
        self.ends, self.any_ends = rules.ends, bool(rules.ends.any())
        self.masks = self._packed(model.action_table >= 0, stuck)

    def _lay(
        self,
        start: NDArray[np.int64],
        sums: NDArray[np.float64],
        target: NDArray[np.int64],
        reward: NDArray[np.float64] | None,
    ) -> None:
        """Set the rows, padded to one length (a power of two) if that takes at most four times the room."""
        length = np.diff(start)
        longest = int(length.max(initial=1))
        self.width = 1 << (longest - 1).bit_length()
        self.start: NDArray[np.int64] | None = start
        self.longest, self.sums, self.target, self.reward = longest, sums, target, reward
        if self.width > _LONGEST or self.rows * self.width > 4 * len(sums) + 4096:
            return
        self.start = None
        if len(sums) == self.rows * self.width:
            return
        inside = (np.arange(self.width) < length[:, None]).ravel()
        self.sums = np.ones(self.rows * self.width)
        self.target = np.zeros(self.rows * self.width, dtype=np.int64)
        self.sums[inside], self.target[inside] = sums, target
        if reward is not None:
            self.reward = np.zeros(self.rows * self.width)
            self.reward[inside] = reward

    def _packed(self, offered: NDArray[np.bool_], stuck: NDArray[np.int64]) -> NDArray[Any]:
        """Return the masks with a byte an action, up to eight to a word, so that one gather takes them."""
        room = 1 << (self.actions - 1).bit_length() if self.actions <= 8 else -(-self.actions // 8) * 8
        bytes_of = np.zeros((self.states, room), dtype=np.int8)
        bytes_of[:, : self.actions] = offered
        bytes_of[stuck, : self.actions] = 1
        words: NDArray[Any] = bytes_of.view(f"u{min(room, 8)}")
        return words.ravel() if room <= 8 else words

    @cached_property
    def records(self) -> Records | None:
        """Return the rows once more, all of a row side by side in memory; None where they are not padded."""
        return None if self.start is not None else Records(self)

    def mask_rows(self, states: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the masks of many states, (N, A) int8, fresh."""
        taken = self.masks.take(states, axis=0, mode="clip").view(np.int8).reshape(len(states), -1)
        return taken if taken.shape[1] == self.actions else taken[:, : self.actions]

    def branch_of(self, rows: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the branch that each number picks in its row; may write over `rows`."""
        if self.start is not None:
            return pick(self.sums, self.start[rows], self.start[rows + 1], numbers)
        if self.width == 1:
            return rows
        rows *= self.width
        shift = self.width.bit_length() - 2
        while shift:
            right = self.sums[(1 << shift) - 1 :].take(rows, mode="clip") <= numbers
            rows += right.astype(np.int64) << shift
            shift -= 1
        rows += self.sums.take(rows, mode="clip") <= numbers
        return rows


class Records:
    """Hold rows of K places so that what a step needs of a row is in one line of the cache; for compiled code.

    A record is R bytes: K times the first 16 bits of the running sums, K targets as int32, then one reward for the row
    or K of them. A number whose first 16 bits differ from those of a sum is on the same side of it; only where they are
    equal the sum itself has to be looked at.

    `bits`, `targets`, `rewards`: views of the same memory as uint16, int32 and float64, each (rows, R / size).
    `at`: the columns where targets and rewards begin. `per_row`: whether there is one reward for the row.
    """

    def __init__(self, layout: Layout) -> None:
        rows, width = layout.rows, layout.width
        paid = np.zeros((rows, width)) if layout.reward is None else layout.reward.reshape(rows, width)
        sums = layout.sums.reshape(rows, width)
        inside = np.ones((rows, width), dtype=bool)
        inside[:, 1:] = sums[:, :-1] < 1.0
        self.per_row = bool(((paid == paid[:, :1]) | ~inside).all())
        first = -(-2 * width // 4) * 4
        second = -(-(first + 4 * width) // 8) * 8
        room = 1 << (second + 8 * (1 if self.per_row else width) - 1).bit_length()
        memory = np.zeros(rows * room + 64, dtype=np.uint8)
        offset = -memory.ctypes.data % 64
        block = memory[offset : offset + rows * room].reshape(rows, room)
        self.bits: NDArray[np.uint16] = block.view(np.uint16)
        self.targets: NDArray[np.int32] = block.view(np.int32)
        self.rewards: NDArray[np.float64] = block.view(np.float64)
        self.at = first // 4, second // 8
        self.bits[:, :width] = np.minimum(sums * 65536.0, 65535.0)
        self.targets[:, self.at[0] : self.at[0] + width] = layout.target.reshape(rows, width)
        if self.per_row:
            self.rewards[:, self.at[1]] = paid[:, 0]
        else:
            self.rewards[:, self.at[1] :][:, :width] = paid
