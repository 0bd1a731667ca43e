"""Gates: what no call may pass unless a check in code lets it, and the words in which a gate answers.

The words are those of Inspect's approvers: approve, modify, reject, escalate, terminate. `GateDecision` is the answer
of all gates together; `Pattern` says which calls a gate stands before. `Agenda` declares gates and asks them.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot import values
from surefoot.errors import BadArgument, ValueRejected
from surefoot.protocols import Call, Prediction, call_of

__all__ = [
    "WORDS",
    "Blocked",
    "DryRun",
    "GateDecision",
    "Pattern",
    "Ready",
    "answer_of",
    "call_key",
    "decide",
    "patterns_of",
    "whole_call",
]

WORDS = ("approve", "modify", "escalate", "reject", "terminate")
"""What a gate may say, the mildest first; where gates differ, the strictest is heard.

Example:
    >>> WORDS.index("reject") > WORDS.index("escalate")
    True
"""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What the gates say about a call, in one word. True only when the call may be taken as it is.

    Attributes:
        word: "approve" (take it), "modify" (take `call` instead), "escalate" (ask a person), "reject" (do not take it),
            "terminate" (stop the episode).
        reasons: why, one text a gate, the strictest first; empty for an approval.
        gates: the names of the gates that did not approve, in the order of `reasons`.
        call: the call to take instead, for "modify" alone.
        overridden: for each gate that would not have approved but is overridden: (its name, who, why).

    Raises:
        BadArgument: the word is none of these, or there is a call without "modify" or the other way round.

    Example:
        >>> decision = GateDecision("reject", ("refunds are closed",), ("closing time",))
        >>> bool(decision), decision.gates
        (False, ('closing time',))
        >>> GateDecision("maybe")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: word must be one of approve, modify, escalate, reject, terminate, got 'maybe'
    """

    word: str
    reasons: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    call: Call | None = None
    overridden: tuple[tuple[str, str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no decision."""
        if self.word not in WORDS:
            raise BadArgument(f"word must be one of {', '.join(WORDS)}, got {self.word!r}")
        if (self.call is None) == (self.word == "modify"):
            raise BadArgument(f"'modify' comes with the call to take instead, and no other word does: {self.word!r}")

    def __bool__(self) -> bool:
        """Return whether the call may be taken as it is."""
        return self.word == "approve"

    @property
    def reason(self) -> str:
        """Return the reasons as one text."""
        return "; ".join(self.reasons)

    def over(self, prediction: Prediction) -> Prediction:
        """Return what a risk policy is to be shown: `prediction`, or what the gates put in its place.

        A rejection becomes a hard refusal, which no policy trades; an escalation (and a call to be modified, which is
        another call) becomes a hard "unknown", which a policy asks about.

        Example:
            >>> GateDecision("reject", ("closed",), ("hours",)).over(Prediction("accept", support=9)).hard
            True
        """
        if self:
            return prediction
        return Prediction(
            "refuse" if self.word in ("reject", "terminate") else "unknown",
            risk=prediction.risk,
            support=prediction.support,
            reason=self.reason,
            hard=True,
            action=prediction.action,
            rate=prediction.rate,
            evidence=prediction.evidence,
        )


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which calls, or which goals, are meant: one of three kinds.

    Attributes:
        kind: "name" (a name or a glob over names), "call" (exactly this call), "code" (a function of the call).
        name: the name or glob, the name of the call, or the function's fingerprint.
        key: the encoded arguments of the call, for "call".

    Example:
        >>> refunds, = patterns_of("refund*", "blocks")[0]
        >>> refunds.matches(Call("refund_order")), refunds.matches(Call("cancel"))
        (True, False)
    """

    kind: str
    name: str
    key: bytes = b""

    def matches(self, call: Call, function: Callable[[Call], Any] | None = None) -> bool:
        """Say whether `call` is meant; `function` is the one that a "code" pattern stands for."""
        if self.kind == "call":
            return self.name == call.name and self.key == values.encode(call.args)
        if self.kind == "code":
            assert function is not None  # the agenda has looked
            return truth_of(function(_fresh(call)))
        return self.meets(call.name)

    def meets(self, name: str) -> bool:
        """Say whether a name is meant: it is the same, or the glob fits."""
        return self.name == name or fnmatch.fnmatchcase(name, self.name)

    def __str__(self) -> str:
        """Show what was declared."""
        if self.kind == "code":
            return f"<a function, {self.name[:12]}>"
        return self.name if self.kind == "name" else f"{self.name}({_shown(values.decode(self.key))})"


def _shown(args: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in args.items())


def patterns_of(
    given: Any, role: str, fingerprint: Callable[[Any], str] | None = None
) -> tuple[tuple[Pattern, ...], tuple[Any, ...]]:
    """Return the patterns that `given` declares, and the functions of those that are functions, in their order.

    Args:
        given: a name or glob, a function of a `Call`, or a collection of those and of whole actions (a tuple, a
            mapping, a number, a `Call`), which mean exactly that call.
        role: the argument's name, for messages.
        fingerprint: what gives a function its name; None where functions are not taken.

    Raises:
        BadArgument: a name is empty, or a function is given where none is taken.
        ValueRejected: something is neither.

    Example:
        >>> [str(p) for p in patterns_of(["buy_*", ("go", 2)], "blocks")[0]]
        ['buy_*', 'go(0=2)']
    """
    items = [given] if isinstance(given, str | Mapping | Call) or callable(given) else given
    if not isinstance(items, Iterable):
        raise ValueRejected(f"{role} must be a name, a glob, a function or a collection of those, got {given!r}")
    patterns, functions = [], []
    for item in items:
        if isinstance(item, str):
            if not item:
                raise BadArgument(f"{role} holds an empty name: give an action's name, or '*' for all")
            patterns.append(Pattern("name", values.copy(item)))
        elif callable(item):
            if fingerprint is None:
                raise BadArgument(f"{role} takes names, globs and whole calls, not the function {item!r}")
            patterns.append(Pattern("code", fingerprint(item)))
            functions.append(item)
        else:
            call = whole_call(item)
            patterns.append(Pattern("call", call.name, values.encode(call.args)))
    return tuple(patterns), tuple(functions)


def whole_call(action: Any) -> Call:
    """Return an action as a call of its own: `Call` objects are copied, anything else is split by `call_of`.

    Raises:
        ValueRejected: it is no action.

    Example:
        >>> whole_call(("go", 2)) == whole_call(Call("go", {"0": 2}))
        True
    """
    return _fresh(action) if isinstance(action, Call) else call_of(action)


def call_key(call: Call) -> bytes:
    """Return the exact key of a call: equal bytes mean the same name and the same arguments, to the type.

    Example:
        >>> call_key(Call("go", {"n": 1})) == call_key(Call("go", {"n": True}))
        False
    """
    return values.encode((call.name, dict(call.args)))


def _fresh(call: Call) -> Call:
    """Return a copy of a call, arguments and all, that a check may do with what it likes."""
    if not isinstance(call.name, str):
        raise ValueRejected(f"the name of a call must be a str, got {call.name!r}")
    return Call(values.copy(call.name), values.copy(dict(call.args)) if call.args else {})


def truth_of(answer: Any) -> bool:
    """Return an answer that must be True or False (NumPy's are taken).

    Raises:
        ValueRejected: it is something else: `None` from a forgotten `return` lets nothing pass.
    """
    if type(answer) is bool:
        return answer
    if type(answer).__module__ == "numpy" and type(answer).__name__.rstrip("_") == "bool":
        return bool(answer)
    raise ValueRejected(f"answered {answer!r}, which is not True or False")


def answer_of(answer: Any) -> tuple[str, str, Call | None]:
    """Return what a gate's check answered as (word, reason, call to take instead).

    True approves and False rejects. A text that is one of `WORDS` is that word, any other text a rejection with that
    reason; a pair (word, reason) is both. A `Call`, or the pair ("modify", action), is the call to take instead.

    Raises:
        ValueRejected: it is none of these.

    Example:
        >>> answer_of("not on Sundays"), answer_of(("escalate", "more than 100"))
        (('reject', 'not on Sundays', None), ('escalate', 'more than 100', None))
    """
    if isinstance(answer, GateDecision):
        return answer.word, answer.reason, answer.call
    if isinstance(answer, Call):
        return "modify", "", _fresh(answer)
    if isinstance(answer, tuple) and len(answer) == 2 and answer[0] in WORDS:
        word, rest = answer
        if word == "modify":
            return word, "", whole_call(rest)
        if isinstance(rest, str):
            return word, rest, None
    if isinstance(answer, str) and answer.strip() and answer != "modify":
        return (answer, "", None) if answer in WORDS else ("reject", answer, None)
    try:
        return ("approve" if truth_of(answer) else "reject"), "", None
    except ValueRejected:
        raise ValueRejected(
            f"answered {answer!r}; a check answers True, False, a reason, one of {', '.join(WORDS)}, or a call to take "
            "instead"
        ) from None


@dataclass(frozen=True, slots=True)
class Ready:
    """A gate with its functions at hand.

    Attributes:
        name: its name.
        check, trigger: its functions; None for no trigger.
        blocks, functions: its patterns, and the functions of those that are code.
        override: (who, why, patterns of the calls it is for) while it is overridden, else None.

    Example:
        >>> gate = Ready("hours", lambda state, call: state["open"], None, patterns_of("buy", "blocks")[0])
        >>> gate.ask({"open": False}, Call("buy")), gate.ask({}, Call("sell")), gate.ask({}, Call("buy"))[:1]
        (('reject', '', None), ('approve', '', None), ('escalate',))
    """

    name: str
    check: Callable[[Any, Call | None], Any]
    trigger: Callable[[Any, Call | None], Any] | None
    blocks: tuple[Pattern, ...] = ()
    functions: tuple[Callable[[Call], Any], ...] = ()
    override: tuple[str, str, tuple[Pattern, ...]] | None = None

    def ask(self, state: Any, call: Call | None) -> tuple[str, str, Call | None]:
        """Return this gate's answer about a call, or (None) about a goal; one that cannot answer lets nothing pass."""
        try:
            if call is not None and not self.stands_before(call):
                return "approve", "", None
            if self.trigger is not None and not truth_of(self.trigger(state, call and _fresh(call))):
                return "approve", "", None
            word, reason, instead = answer_of(self.check(state, call and _fresh(call)))
            if instead is None:
                return word, reason, None
            if call is None:
                return "escalate", f"it wants the call {instead}, but this is about a goal", None
            return ("approve", "", None) if call_key(instead) == call_key(call) else (word, reason, instead)
        except Exception as error:  # told in the reason, and the call is not taken
            what = str(error) if isinstance(error, ValueRejected) else f"{type(error).__name__}: {error}"
            return "escalate", f"it could not be asked: {what}", None

    def stands_before(self, call: Call) -> bool:
        """Say whether the call is one of those that this gate blocks."""
        functions = iter(self.functions)
        return any([p.matches(call, next(functions) if p.kind == "code" else None) for p in self.blocks])

    def overridden(self, call: Call | None) -> bool:
        """Say whether it is overridden for this call."""
        if self.override is None:
            return False
        calls = self.override[2]
        return not calls or (call is not None and any(p.matches(call) for p in calls))


def decide(gates: Sequence[Ready], state: Any, call: Call | None) -> GateDecision:
    """Return what gates say about a call together; the strictest word wins.

    A call that one gate would have modified must pass all gates as modified; where it does not, or two gates want
    different calls, a person is asked.

    Example:
        >>> def at_most_three(state, call):
        ...     return Call("buy", {"n": min(3, call.args["n"])})
        >>> cap = Ready("cap", at_most_three, None, patterns_of("buy", "blocks")[0])
        >>> decide([cap], None, Call("buy", {"n": 9})).call
        Call(name='buy', args={'n': 3})
    """
    decision, wanted = _round(gates, state, call)
    if decision.word != "modify":
        return decision
    if len(set(map(call_key, wanted))) > 1:
        reasons = tuple(f"{reason} (and another gate another one)" for reason in decision.reasons)
        return GateDecision("escalate", reasons, decision.gates, None, decision.overridden)
    again, _ = _round(gates, state, decision.call)
    if again:
        return decision
    reasons = tuple(f"the call it would be modified to does not pass: {reason}" for reason in again.reasons)
    word = "escalate" if again.word == "modify" else again.word
    return GateDecision(word, reasons, again.gates, None, decision.overridden)


def _round(gates: Sequence[Ready], state: Any, call: Call | None) -> tuple[GateDecision, list[Call]]:
    """Ask each gate once; return the decision and the calls that were wanted instead."""
    said: list[tuple[int, str, str]] = []
    overridden, wanted = [], []
    for gate in gates:
        word, reason, instead = gate.ask(state, call)
        if word == "approve":
            continue
        if gate.overridden(call):
            assert gate.override is not None
            overridden.append((gate.name, gate.override[0], gate.override[1]))
            continue
        if instead is not None:
            wanted.append(instead)
        told = reason or {"modify": "wants another call", "reject": "says no"}.get(word, f"says {word}")
        said.append((WORDS.index(word), f"gate {gate.name!r}: {told}", gate.name))
    if not said:
        return GateDecision("approve", overridden=tuple(overridden)), []
    said.sort(key=lambda item: -item[0])
    word = WORDS[said[0][0]]
    return (
        GateDecision(
            word,
            tuple(reason for _, reason, _ in said),
            tuple(name for _, _, name in said),
            wanted[0] if word == "modify" else None,
            tuple(overridden),
        ),
        wanted,
    )


@dataclass(frozen=True, slots=True)
class Blocked:
    """A recorded success that the gates would have blocked.

    Attributes:
        place: its place among the recorded successes, from 0.
        call: the call.
        decision: what the gates say about it.

    Example:
        >>> Blocked(3, Call("buy"), GateDecision("reject", ("closed",), ("hours",))).decision.word
        'reject'
    """

    place: int
    call: Call
    decision: GateDecision


@dataclass(frozen=True, slots=True)
class DryRun:
    """What gates would have done to calls that succeeded. True when they would have let all of them pass.

    Attributes:
        calls: how many were tried.
        blocked: those that would not have been approved.

    Example:
        >>> run = DryRun(2, (Blocked(1, Call("buy"), GateDecision("reject", ("closed",), ("hours",))),))
        >>> bool(run), run.by_gate()
        (False, {'hours': 1})
    """

    calls: int
    blocked: tuple[Blocked, ...] = ()

    def __bool__(self) -> bool:
        """Return whether nothing would have been blocked."""
        return not self.blocked

    def by_gate(self) -> dict[str, int]:
        """Return how many calls each gate would have blocked."""
        counts: dict[str, int] = {}
        for blocked in self.blocked:
            for name in blocked.decision.gates:
                counts[name] = counts.get(name, 0) + 1
        return counts

    def __str__(self) -> str:
        """Say it in words, one line a call."""
        head = f"{len(self.blocked)} of {self.calls} recorded successes would have been blocked"
        return "\n".join([head, *(f"  {b.place}: {b.call.name}: {b.decision.reason}" for b in self.blocked)])
