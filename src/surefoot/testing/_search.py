"""Look for a run that breaks a law, and for the shortest one.

Runs come from four places: the walk and the policy that the caller gave, one long run for each seed that takes what
was taken least often, and runs that Hypothesis draws. What Hypothesis finds it shrinks; at the end every run is reduced
until no single action can be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from surefoot import values
from surefoot.errors import MissingExtra
from surefoot.testing._checks import examine
from surefoot.testing._probe import Choice, Chooser, Plan
from surefoot.testing._trial import Trial
from surefoot.testing.laws import Breach, Law

__all__: list[str] = []

Policy = Callable[[Any, Sequence[Any]], Any]

_MOST_TRIES = 300
"""The runs that may be spent on shrinking, and again on reducing, one breach."""


class _Found(Exception):
    """Tell Hypothesis that a run breaks the law that is looked for."""


class _LeastTried(Chooser):
    """Take what was taken least often here, then what was taken least often anywhere, then the first."""

    def __init__(self, left: int) -> None:
        super().__init__(left)
        self._taken: Counter[tuple[bytes, bytes] | bytes] = Counter()

    def pick(self, choice: Choice) -> tuple[Any] | None:
        """Return the least taken action."""
        taken, here = self._taken, choice.code
        place = min(range(len(choice.codes)), key=lambda i: (taken[here, choice.codes[i]], taken[choice.codes[i]], i))
        taken.update([(here, choice.codes[place]), choice.codes[place]])
        return (choice.options[place],)


class _Picks(Chooser):
    """Take the actions that bytes stand for; a lower byte is an action that comes earlier."""

    def __init__(self, picks: bytes) -> None:
        super().__init__(len(picks))
        self._picks = picks

    def pick(self, choice: Choice) -> tuple[Any] | None:
        """Return the action that the next byte stands for."""
        place, number = len(choice.options), self._picks[-self.left - 1]
        wide = number if place <= 256 else number * 40_503 + self.left * 977
        return (choice.options[wide % place],)


class _Policy(Chooser):
    """Take what a policy says."""

    def __init__(self, left: int, policy: Policy) -> None:
        super().__init__(left)
        self._policy = policy

    def pick(self, choice: Choice) -> tuple[Any] | None:
        """Return the policy's action."""
        return (self._policy(choice.state, choice.options),)


class _Actions(Chooser):
    """Take given actions in turn; one that is not on offer is passed over, or taken `anyway`."""

    def __init__(self, actions: Iterable[bytes], *, anyway: bool = False) -> None:
        self._actions = list(actions)
        super().__init__(len(self._actions))
        self.anyway = anyway

    def choose(self, choice: Choice) -> tuple[Any] | None:
        """Return the next action that can be taken, None if there is none."""
        while self.left:
            code = self._actions[-self.left]
            self.left -= 1
            if code in choice.codes:
                return (choice.options[choice.codes.index(code)],)
            if self.anyway:
                return (values.decode(code),)
        return None


class Search:
    """Try the laws on many runs of a world, and remember what was found.

    Args:
        plan: what is tested.
        steps: the most steps of a run that is drawn.
        long: the steps of the long run.
        examples: how many runs are drawn.
        policy: a policy for one more run for each seed.
        walk: the actions of one more run for each seed.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        steps: int,
        long: int,
        examples: int,
        policy: Policy | None = None,
        walk: Sequence[Any] | None = None,
    ) -> None:
        self.plan, self.steps, self.long, self.examples = plan, steps, long, examples
        self.policy = policy
        self.walk = None if walk is None else [values.encode_action(action) for action in walk]
        self.breaches: dict[Law, Breach] = {}
        self.tried: Counter[Law] = Counter()
        self.runs = self.taken = self.walk_refusals = 0
        self.name = ""
        self._drawn: set[Law] = set()
        self._walked: set[Law] = set()
        self._escaped: BaseException | None = None

    def explore(self) -> None:
        """Try every law on every run."""
        for seed in self.plan.seeds:
            self._add(examine(self.plan, seed, _LeastTried(self.long), first=True))
            if self.walk is not None:
                known, refusals = set(self.breaches), self.tried[Law.REFUSED]
                self._walked |= self._add(examine(self.plan, seed, _Actions(self.walk, anyway=True))) - known
                self.walk_refusals += self.tried[Law.REFUSED] - refusals
            if self.policy is not None:
                self._add(examine(self.plan, seed, _Policy(self.steps, self.policy)))

        def visit(seed: int, picks: bytes) -> None:
            self._drawn |= self._add(examine(self.plan, seed, _Picks(picks)))

        self._draw(visit, shrink=False)

    def shortest(self, law: Law) -> Breach:
        """Return the breach of `law` with the shortest run that can be found."""
        best = self._reduced(law, self.breaches[law], anyway=law in self._walked)
        if len(best.actions) > 1 and law in self._drawn:
            found = self._shrunk(law)
            if found is not None and len(found.actions) < len(best.actions):
                return self._reduced(law, found)
        return best

    def _add(self, trial: Trial) -> set[Law]:
        """Add what a trial found; return the laws that it breaks."""
        self.name = trial.name
        self.runs += 1
        self.taken += sum(item.action is not None for item in trial.items)
        self.tried.update(trial.tried)
        self.breaches = trial.breaches | self.breaches
        return set(trial.breaches)

    def _shrunk(self, law: Law) -> Breach | None:
        """Let Hypothesis find the breach again and shrink it."""
        seen: dict[tuple[int, bytes], Breach | None] = {}
        best: list[Breach] = []

        def visit(seed: int, picks: bytes) -> None:
            if (seed, picks) not in seen and len(seen) < self.examples + _MOST_TRIES:
                trial = examine(self.plan, seed, _Picks(picks), only=law, first=True)
                seen[seed, picks] = trial.breaches.get(law)
            breach = seen.get((seed, picks))
            if breach is not None:
                best.append(breach)
                raise _Found

        self._draw(visit, shrink=True)
        return min(best, key=lambda breach: len(breach.actions), default=None)

    def _draw(self, visit: Callable[[int, bytes], None], *, shrink: bool) -> None:
        """Call `visit` for runs that Hypothesis draws, always the same ones."""
        tool = _hypothesis()
        phases = [tool.Phase.generate, *([tool.Phase.shrink] if shrink else [])]
        sizes, draw = tool.strategies.integers(1, self.steps), tool.strategies.binary
        drawn = tool.given(
            tool.strategies.sampled_from(list(self.plan.seeds)), sizes.flatmap(lambda n: draw(min_size=n, max_size=n))
        )
        quiet = tool.settings(
            max_examples=self.examples,
            phases=phases,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(tool.HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=tool.Verbosity.quiet,
        )

        def run(seed: int, picks: bytes) -> None:
            if self._escaped is None:
                self._visit(visit, seed, picks)

        try:
            quiet(drawn(run))()
        except _Found:
            pass
        escaped, self._escaped = self._escaped, None
        if escaped is not None:
            raise escaped

    def _visit(self, visit: Callable[[int, bytes], None], seed: int, picks: bytes) -> None:
        """Call `visit`; keep what it raises by accident out of Hypothesis's hands."""
        try:
            visit(seed, picks)
        except _Found:
            raise
        except BaseException as error:  # raised again by `_draw`, when Hypothesis is done
            self._escaped = error

    def _reduced(self, law: Law, breach: Breach, *, anyway: bool = False) -> Breach:
        """Return a breach of the same law from whose run no single action can be left out.

        Source: Zeller and Hildebrandt 2002, "Simplifying and isolating failure-inducing input", section 3 (ddmin).
        """
        tries = _MOST_TRIES

        def again(actions: Sequence[bytes]) -> Breach | None:
            nonlocal tries
            tries -= 1
            chooser = _Actions(actions, anyway=anyway)
            return examine(self.plan, breach.seed, chooser, only=law, first=True).breaches.get(law)

        best = breach
        if (shorter := again([])) is not None:
            return shorter
        if (shorter := again(best.actions)) is not None:
            best = shorter
        pieces = 2
        while len(best.actions) > 1 and tries > 0:
            size = -(-len(best.actions) // pieces)
            for start in range(0, len(best.actions), size):
                shorter = again([*best.actions[:start], *best.actions[start + size :]])
                if shorter is not None and len(shorter.actions) < len(best.actions):
                    best, pieces = shorter, max(pieces - 1, 2)
                    break
                if tries <= 0:
                    break
            else:
                if size == 1:
                    break
                pieces = min(pieces * 2, len(best.actions))
        return best


def _hypothesis() -> ModuleType:
    """Return the package Hypothesis.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import hypothesis
        import hypothesis.strategies
    except ImportError as error:
        raise MissingExtra.of("hypothesis", extra="testing", what="checks of an environment") from error
    return hypothesis
