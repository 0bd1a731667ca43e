"""When conditions are selected, and for which actions: from the observed calls to what is said about the next one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from scipy.special import gammainc

from surefoot.learners._induction.asking import Question, best_question
from surefoot.learners._induction.doubting import FEW_ODD
from surefoot.learners._induction.judging import UNMET, Answer, Judge
from surefoot.learners._induction.pools import Pool, Wishes
from surefoot.learners._induction.results import Knowledge
from surefoot.learners._induction.rows import Rows
from surefoot.learners._induction.selecting import select
from surefoot.learners._induction.snapshots import Shelf

__all__ = ["Learner"]

PACE = 0.35
"""The conditions of an action are selected again when its calls have grown by this share and some were not foretold."""
ALONE = 150
"""What is news of an action with so many calls changes nothing that was picked for others."""
QUIET = 1.0
"""The same when every one of them was foretold."""
ALARM = 0.06
"""The same when one of them went against what was said of it."""
HELPFUL = 0.75
"""Dearer terms are kept when at most this share of the refusals without a reason is left."""
_MASKED = re.compile(r"\d+")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class Learner:
    """The calls of all actions, and what was selected from them.

    Attributes:
        shelf: keeps what of the states a call can lead to.
        rows: the calls, by action.
        judges: what is said about calls, by action; a judge never changes, it is replaced.
        pools: the conditions that were selected from, by action.
        wishes: what a person said about conditions, by action.
        refuted: the pinned conditions that an accepted call has refuted.
        safe: whether everything not disproved keeps a call from being accepted.
    """

    def __init__(self, *, safe: bool = False) -> None:
        """Start with nothing."""
        self.safe = safe
        self.shelf = Shelf()
        self.rows: dict[str, Rows] = {}
        self.judges: dict[str, Judge] = {}
        self.pools: dict[str, Pool] = {}
        self.wishes: dict[str, Wishes] = {}
        self.messages: dict[str, int] = {}
        self.refuted: tuple[str, ...] = ()
        self._stale: set[str] = set()
        self._fitted: dict[str, int] = {}
        self._news: dict[str, tuple[bool, bool]] = {}
        self._flakes: dict[str, tuple[int, int]] = {}
        self._asked: Question | None = None
        self._more: dict[str, float] = {}

    def take(
        self,
        found: tuple[int, ...],
        kept: Any,
        action: str,
        args: Mapping[str, Any],
        accepted: bool,
        effect: Any = None,
        reason: str | None = None,
        seq: int | None = None,
        *,
        odd: bool = False,
    ) -> None:
        """Append a call to those of its action; `odd`: it went against what was said of it."""
        rows = self.rows.get(action)
        if rows is None:
            rows = self.rows[action] = Rows(self.shelf)
        message = -1
        if reason is not None and not accepted:
            words = _MASKED.sub("0", _QUOTED.sub("''", reason))
            message = self.messages.setdefault(words, len(self.messages))
        rows.add(found, kept, args, not accepted, message, seq, odd=odd)
        if accepted and effect is not None:
            rows.touch(effect)
        self._stale.add(action)
        asked, self._asked = self._asked, None
        if asked is not None and asked.action == action and asked.args == args:
            self._more[action] = self._more.get(action, 0.0) + asked.stands_for - 1.0

    def weigh(self, action: str, verdict: str, accepted: bool, state: Any, args: Mapping[str, Any]) -> None:
        """Compare an outcome with what was said; select again when it is time.

        What was foretold is only counted, and what was left open too: the more calls show no new reason, the less there
        may be. What went against the verdict takes back at once what it has shown to be wrong.
        """
        known, wrong = self._news.get(action, (False, False))
        known |= verdict == "unknown"
        flake = verdict == "accept" and self._is_flake(action, accepted)
        if verdict != "unknown" and (verdict == "accept") != accepted and not flake:
            known = wrong = True
            self._contradicted(action, accepted, state, args)
        else:
            self._count(action, accepted or verdict == "refuse", state, args)
        self._news[action] = known, wrong
        size, fitted = self.rows[action].total, self._fitted.get(action, 0)
        pace = ALARM if wrong else QUIET if not known else PACE
        if size >= fitted + max(1.0, pace * fitted):
            self.select({action})

    def _is_flake(self, action: str, accepted: bool) -> bool:
        """Count a call that was to be accepted; say whether it was refused like others before, and no more often.

        Then the refusals that nothing explained were too many for an accident, and too scattered for a rule, when
        conditions were last selected; and since then there were not significantly more (Poisson, 1 in 100).
        """
        odd, told = self._flakes.get(action, (0, 0))
        odd, told = self._flakes[action] = odd + (not accepted), told + 1
        known = self.judges[action].known
        if accepted or known.leftover < FEW_ODD or known.missed > UNMET:
            return False
        expected = told * known.leftover / (known.leftover + known.accepted)
        return odd <= 1 or float(gammainc(odd, expected)) > 0.01

    def _count(self, action: str, foreseen: bool, state: Any, args: Mapping[str, Any]) -> None:
        """Count a call where that may change what is said: while too many reasons may not have been met yet."""
        judge = self.judges.get(action)
        if judge is not None and judge.known.missed > UNMET:
            foreseen = foreseen or judge(state, args).condition is not None
            self.judges[action] = judge.after(self._drawn(action), int(not foreseen))

    def _contradicted(self, action: str, accepted: bool, state: Any, args: Mapping[str, Any]) -> None:
        judge = self.judges[action]
        if not accepted:
            self.judges[action] = judge.doubted()
            return
        wrong = frozenset(c.key for c, _, _ in judge.violated(state, args))
        wishes = self.wishes.get(action)
        for key in sorted(wrong & wishes.pinned) if wishes is not None else ():
            self.refuted = (*self.refuted, f"{action}: {key}")
            self.wishes[action].pinned.discard(key)
        self.judges[action] = judge.without(wrong)

    def ask(self, candidates: Iterable[tuple[Any, str, Mapping[str, Any]]]) -> Question | None:
        """Return the candidate whose outcome would tell the most; if it is observed next, it counts as one chosen."""
        self._asked = best_question(self.judges, candidates)
        return self._asked

    def _drawn(self, action: str) -> float:
        """Return for how many calls drawn at random those of an action stand, as a test of reasons not met yet."""
        return max(1.0, self.rows[action].total + self._more.get(action, 0.0))

    def settle(self) -> None:
        """Select from everything that was observed, as if it had all come at once."""
        if self._stale:
            self.select(set(self._stale), anew=True)
        self._stale.clear()

    def select(self, fresh: set[str], *, anew: bool = False) -> None:
        """Tabulate the conditions of some actions anew, and pick for all: they share what they pay for.

        Of the other actions only what the picks have changed is worked out again; most of it is remembered.
        """
        for action in sorted(fresh):
            rows = self.rows[action]
            if anew:
                rows.anew()
            elif rows.due():
                rows.regrow()
            self._tabulate(action)
            self._fitted[action] = rows.total
            self._news[action] = False, False
            self._flakes[action] = 0, 0
        alone = not anew and all(self.rows[action].total >= ALONE for action in fresh)
        for action, known in self._widened(fresh, sorted(fresh) if alone else None, exact=anew).items():
            self.judges[action] = self._judge(action, known)

    def _tabulate(self, action: str) -> None:
        pool = self.pools[action] = Pool(self.rows[action].frame(), self.wishes.get(action), safe=self.safe)
        pool.drawn = self._drawn(action)

    def _picked(self, only: list[str] | None, *, exact: bool) -> dict[str, Knowledge]:
        pools = {action: self.pools[action] for action in sorted(self.pools)}
        return select(pools, only, exact=exact)

    def _widened(self, fresh: set[str], only: list[str] | None, *, exact: bool) -> dict[str, Knowledge]:
        """Pick; where too many refusals have no reason, pick again from more, and keep that if it gives them one."""
        found = self._picked(only, exact=exact)
        before = {a: self.pools[a] for a in sorted(fresh) if self.rows[a].widen(found[a].leftover)}
        if not before:
            return found
        for action in before:
            self._tabulate(action)
        more = self._picked(only, exact=exact)
        vain = [action for action in before if more[action].leftover > HELPFUL * found[action].leftover]
        if not vain:
            return more
        for action in vain:
            self.rows[action].narrow()
            self.pools[action] = before[action]
        return self._picked(only, exact=exact)

    def _judge(self, action: str, known: Knowledge) -> Judge:
        judge = self.judges.get(action)
        if judge is not None and judge.known.source is known.source:
            return judge.renewed(known)
        return Judge(known)

    def pool(self, action: str) -> Pool | None:
        """Return the conditions of an action to choose from, None when it was never observed."""
        if action not in self.pools and action in self._stale:
            self.select({action})
        return self.pools.get(action)

    def wish(self, action: str) -> Wishes:
        """Return what a person said about the conditions of an action, to be changed."""
        return self.wishes.setdefault(action, Wishes())

    def answer(self, state: Any, action: str, args: Mapping[str, Any]) -> tuple[Answer, Judge] | None:
        """Return what is said about a call, and by what; None when nothing was selected for its action."""
        judge = self.judges.get(action)
        return None if judge is None else (judge(state, args), judge)

    # -- all of it ----------------------------------------------------------------------------------------------------

    def everything(self) -> list[tuple[str, Rows, list[tuple[Any, Any, bool, str | None]]]]:
        """Return all kept calls: for each action (state, args, accepted, wording of the refusal) of each."""
        words = {number: text for text, number in self.messages.items()}
        return [
            (
                action,
                rows,
                [
                    (*self.shelf.get(found), not bad, words.get(message))
                    for found, bad, message in zip(rows.kept, rows.refused, rows.messages, strict=True)
                ],
            )
            for action, rows in self.rows.items()
        ]

    def absorb(self, theirs: list[tuple[str, Rows, list[tuple[Any, Any, bool, str | None]]]]) -> None:
        """Take over the calls of another."""
        for action, rows, calls in theirs:
            for state, args, accepted, reason in calls:
                self.take(self.shelf.put(state, args), state, action, args, accepted, None, reason)
            self.rows[action].absorb(rows)

    def digests(self) -> list[bytes]:
        """Return a line for each action that tells what was observed; the order of observations is not in it."""
        return [b"%b\x00%d" % (action.encode(), rows.digest) for action, rows in sorted(self.rows.items())]

    def wished(self) -> list[tuple[str, list[str], list[str]]]:
        """Return what a person said, in order."""
        return sorted((action, sorted(w.pinned), sorted(w.struck)) for action, w in self.wishes.items())
