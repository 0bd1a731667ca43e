"""The laws that every environment keeps, and what is said when one is broken.

A law has a short name (its value), a number of the order in which it is told (`list(Law)`), and one sentence that says
what holds (`law.statement`). `docs/explanation/the-laws-of-an-environment.md` says what goes wrong without it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ALWAYS", "Breach", "Law"]

_WIDTH = 88
_MOST_CALLS = 40


class Law(StrEnum):
    """Name the laws of an environment, in the order in which they are told.

    Each one stands on those above it, so the first one that is broken is the one to mend first. `check_environment` and
    `EnvironmentContract` take names or members in `without`.

    Example:
        >>> Law.NO_TRACE.value, Law("a refusal leaves no trace") is Law.NO_TRACE
        ('a refusal leaves no trace', True)
        >>> Law.REFUSED.statement
        'A refused step reports exactly the state that was there before it.'
    """

    statement: str

    def __new__(cls, name: str, statement: str = "") -> Law:
        """Make a member that is its name and carries its sentence."""
        law = str.__new__(cls, name)
        law._value_ = name
        law.statement = statement
        return law

    IS_ENVIRONMENT = ("it is an environment", "`reset`, `actions` and `step` are methods that can be called.")
    ANSWERS = (
        "it answers",
        "`reset()`, `reset(seed)`, `reset(seed=seed)` and `actions(state)` return and do not raise.",
    )
    STATES = ("states are plain", "Every state is a plain value: `surefoot.values.encode` takes it.")
    ACTIONS = (
        "actions are plain",
        "`actions(state)` is a list or a tuple of actions that `surefoot.values.encode_action` takes.",
    )
    ONCE = ("no action is offered twice", "No two actions on offer in one state are the same value.")
    OUTCOMES = (
        "every step returns an Outcome",
        "`step(action)` returns an `Outcome` for every action on offer: it does not raise, and it is no tuple.",
    )
    FORM = (
        "outcomes are well formed",
        "`accepted` and `done` are True or False, `reason` and `fault` are text or None, `info` is a mapping.",
    )
    FAULTS = ("a fault is never accepted", "An outcome with a `fault` has `accepted=False`.")
    EFFECTS = ("effects are plain", "Every effect is a plain value: `surefoot.values.encode` takes it.")
    KEPT = (
        "what was returned stays as it was",
        "The world never changes a state, a list of actions, an effect or an info that it returned earlier.",
    )
    REFUSED = (
        "a refused step leaves the state as it was",
        "A refused step reports exactly the state that was there before it.",
    )
    SAME_ACTIONS = (
        "equal states offer equal actions",
        "`actions(state)` depends on the state given alone: asked again, later or elsewhere, it says the same.",
    )
    SEEDED = (
        "the same seed gives the same episode",
        "On a fresh instance, the same seed and the same actions give the same outcomes, to the last digit.",
    )
    COPIES = (
        "an equal copy does the same",
        "A state or an action that was written down and read again does what the original does.",
    )
    ASKING = ("asking for actions changes nothing", "A run goes the same way however often `actions` is called.")
    SHARED = (
        "nothing returned is shared",
        "What a caller does to a returned state, list of actions, effect or info does not change the world.",
    )
    RESET = (
        "a reset starts afresh",
        "`reset(seed)` on an instance that was used gives the episode that a fresh instance gives.",
    )
    APART = (
        "two instances go separate ways",
        "What is done to one instance changes nothing for another one.",
    )
    NO_TRACE = (
        "a refusal leaves no trace",
        "Without its refused steps, a run goes the same way: a refusal changes nothing that is hidden either.",
    )
    AFTER_DONE = (
        "a reset works after the end",
        "Once an episode is over, `reset(seed)` starts a clean one, even if someone called `step` in between.",
    )
    OFFERED = (
        "only what is offered is accepted",
        "A step with an action that is not on offer raises or is refused.",
    )
    SNAPSHOT = (
        "a restored snapshot goes on the same way",
        "`save_state` changes nothing, and `restore_state` goes back as often as wanted, to the same state and future.",
    )
    SIGNS = (
        "signs are plain and change nothing",
        "`signs(state)` is a list of pairs (action on offer, state), the same each time, and changes nothing.",
    )
    DESCRIPTIONS = (
        "descriptions are plain and change nothing",
        "`describe(state)` is a mapping of plain values, the same each time, and changes nothing.",
    )
    CLOSING = ("closing twice is harmless", "`close()` may be called before a reset, after a run, and again.")
    CLONES = (
        "a clone does the same",
        "A clone gives the outcome that the original gives, and stepping it does not change the original.",
    )


ALWAYS = frozenset({Law.IS_ENVIRONMENT, Law.ANSWERS, Law.STATES, Law.ACTIONS, Law.OUTCOMES, Law.FORM})
"""The laws that cannot be left out, because without them nothing else can be tried.

Example:
    >>> Law.STATES in ALWAYS, Law.NO_TRACE in ALWAYS
    (True, False)
"""


@dataclass(frozen=True, slots=True)
class Breach:
    """Say how a world broke a law.

    Args:
        world: the name of the world's class.
        law: the law that is broken.
        seed: the seed of the run.
        calls: the calls of the run with their answers, as text, up to where it shows.
        actions: the encodings of the actions taken (what to take to see it again).
        expected: what should have happened.
        happened: what did.
        how: what was done after or besides the calls, when that is where it shows.
        differs: the path to the first difference, when both are plain values.
        also: further laws that were seen to be broken.

    Example:
        >>> calls = [("reset(seed=0)", "state 0"), ("step('left')", "refused, state 1")]
        >>> print(Breach("Slide", Law.REFUSED, 0, calls, [b'"left"'], "state 0", "state 1"))
        Slide breaks the law "a refused step leaves the state as it was".
        <BLANKLINE>
            A refused step reports exactly the state that was there before it.
        <BLANKLINE>
        The shortest run found that shows it has 1 step:
            reset(seed=0)  ->  state 0
            step('left')   ->  refused, state 1
        <BLANKLINE>
        expected: state 0
        happened: state 1
        <BLANKLINE>
        Where this world cannot keep it, leave it out:
            without=["a refused step leaves the state as it was"]
    """

    world: str
    law: Law
    seed: int
    calls: Sequence[tuple[str, str]]
    actions: Sequence[bytes]
    expected: str
    happened: str
    how: str = ""
    differs: str = ""
    also: Sequence[Law] = ()

    def __str__(self) -> str:
        """Return the report."""
        parts = [f'{self.world} breaks the law "{self.law.value}".', _indented(self.law.statement), self._run()]
        if self.how:
            parts.append(_wrapped(self.how[0].upper() + self.how[1:] + "."))
        ends = [f"expected: {self.expected}", f"happened: {self.happened}"]
        if self.differs:
            ends.append(f"first difference: {self.differs}")
        parts.append("\n".join(ends))
        if self.also:
            parts.append("Broken too:\n" + "\n".join(f'    "{law.value}"' for law in self.also))
        if self.law not in ALWAYS and self.law is not Law.OFFERED:
            parts.append(f'Where this world cannot keep it, leave it out:\n    without=["{self.law.value}"]')
        return "\n\n".join(parts)

    def _run(self) -> str:
        """Return the calls, one a line, the middle left out when there are very many."""
        if not self.calls:
            return "It shows before the first call."
        width = min(max(len(call) for call, _ in self.calls), 40)
        lines = [f"    {call:<{width}}  ->  {answer}" for call, answer in self.calls]
        if len(lines) > _MOST_CALLS:
            half = _MOST_CALLS // 2
            lines = [*lines[:half], f"    … {len(lines) - 2 * half} more calls …", *lines[-half:]]
        steps = len(self.actions)
        size = "no step" if steps == 0 else "1 step" if steps == 1 else f"{steps} steps"
        return f"The shortest run found that shows it has {size}:\n" + "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> str:
    """Return `text` in lines that are not too long."""
    return textwrap.fill(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _indented(text: str) -> str:
    """Return `text` as an indented paragraph."""
    return _wrapped(text, "    ")
