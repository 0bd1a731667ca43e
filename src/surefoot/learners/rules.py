"""Write down what an action model learned, as rules that people can read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from surefoot.errors import BadArgument
from surefoot.learners.effects import EffectRule

if TYPE_CHECKING:
    from surefoot.learners.conservative import ConservativeActionModel

__all__ = ["to_markdown", "to_text"]

MOST = 12
"""How many values, reasons or cases are listed, before the rest is only counted."""


def to_text(model: ConservativeActionModel, actions: Iterable[str] | None = None) -> str:
    """Return the learned rules as indented text, an action after the other.

    Args:
        model: what was learned.
        actions: the names of the actions to write; None: all that were observed.

    Raises:
        BadArgument: one of the actions was never observed.

    Example:
        >>> from surefoot import ConservativeActionModel, Vocabulary
        >>> model = ConservativeActionModel(Vocabulary({"lit": lambda state, args: state["lit"]}))
        >>> for n in range(2):
        ...     _ = model.observe({"lit": True, "n": n}, "read", {}, True, next_state={"lit": True, "n": n + 1})
        ...     _ = model.observe({"lit": False, "n": n}, "read", {}, False)
        >>> print(to_text(model))
        read: accepted 2 times, refused 2 times
          accepted with: lit True
          refused because: lit is False (2 refusals)
          changes: add 1 to n (2 calls)
        <BLANKLINE>
    """
    blocks = []
    for name, rows in _facts(model, actions):
        blocks.append("\n".join([name, *(f"  {what}: {told}" for what, told in rows)]) + "\n")
    return "\n".join(blocks)


def to_markdown(model: ConservativeActionModel, actions: Iterable[str] | None = None) -> str:
    """Return the learned rules as Markdown: a heading and a list for each action.

    Args:
        model: what was learned.
        actions: the names of the actions to write; None: all that were observed.

    Raises:
        BadArgument: one of the actions was never observed.

    Example:
        >>> from surefoot import ConservativeActionModel, Vocabulary
        >>> model = ConservativeActionModel(Vocabulary({"lit": lambda state, args: state["lit"]}))
        >>> _ = model.observe({"lit": True}, "read", {}, True)
        >>> print(to_markdown(model))
        ## `read`
        <BLANKLINE>
        Accepted 1 time, refused 0 times.
        <BLANKLINE>
        - accepted with: lit True
        <BLANKLINE>
    """
    blocks = []
    for name, rows in _facts(model, actions):
        action, _, counts = name.partition(": ")
        lines = [f"## `{action}`", "", f"{counts[:1].upper()}{counts[1:]}.", ""]
        lines += [f"- {what}: {_escaped(told)}" for what, told in rows]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _facts(
    model: ConservativeActionModel, actions: Iterable[str] | None
) -> Iterable[tuple[str, list[tuple[str, str]]]]:
    """Yield each action with its counts, and what is to be said of it."""
    for action in model.actions() if actions is None else actions:
        learned = model.summary(action)
        if learned is None:
            raise BadArgument(f"{action!r} was never observed; there are {model.actions()}")
        rows: list[tuple[str, str]] = []
        accepted = _accepted(learned)
        if accepted:
            rows.append(("accepted with", accepted))
        if learned["relations"]:
            rows.append(("in every accepted case", "; ".join(learned["relations"])))
        signatures = sorted(learned["signatures"], key=lambda row: (-row[1], row[0]))
        rows += [("refused because", f"{words} ({_times(n, 'refusal')})") for words, n in signatures[:MOST]]
        rest = sum(n for _, n in signatures[MOST:])
        if rest:
            rows.append(("refused because", f"of {len(signatures) - MOST} other reasons ({_times(rest, 'refusal')})"))
        if learned["unexplained"]:
            rows.append(("refused for no known reason", _times(learned["unexplained"], "refusal")))
        if learned["flaked"]:
            rows.append(("refused though the same was accepted too", _times(learned["flaked"], "refusal")))
        rows += _changes(model.effects(action))
        counts = f"accepted {_times(learned['accepted'], 'time')}, refused {_times(learned['refused'], 'time')}"
        yield f"{action}: {counts}", rows


def _accepted(learned: Mapping[str, Any]) -> str:
    """Return the values seen accepted, condition by condition."""
    told = []
    for name, held in learned["allowed"].items():
        parts = [repr(value) for value in held[:MOST]]
        if len(held) > MOST:
            parts.append(f"{len(held) - MOST} more")
        if name in learned["ranges"]:
            low, high = learned["ranges"][name]
            parts.append(f"{low!r} to {high!r}")
        if parts:
            told.append(f"{name} {' or '.join(parts)}")
    return "; ".join(told)


def _changes(rules: list[EffectRule]) -> list[tuple[str, str]]:
    rows = []
    for rule in rules[:MOST]:
        more = "" if rule.settled or rule.edits in (None, ()) else "; other explanations are left"
        rows.append(("changes", f"{rule}{more}"))
    if len(rules) > MOST:
        rows.append(("changes", f"{len(rules) - MOST} more cases"))
    return rows


def _times(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _escaped(text: str) -> str:
    """Return a text in which Markdown sees no marks."""
    return "".join(f"\\{letter}" if letter in "\\`*_{}[]<>#|" else letter for letter in text)
