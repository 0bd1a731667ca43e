"""Declaring goals and gates: what is recorded of them, and which functions are at hand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from graphlib import CycleError
from typing import Any, NamedTuple, Self

from surefoot import values
from surefoot.errors import BadArgument, NotAttached, ValueRejected
from surefoot.knowledge._ledger import Ledger, Record, text
from surefoot.knowledge.agenda_fold import AgendaFold, Dropped, GateDeclared, GoalDeclared, KnownGate, pack
from surefoot.knowledge.agenda_views import in_order
from surefoot.knowledge.fingerprints import fingerprint_of
from surefoot.knowledge.gates import Ready, patterns_of
from surefoot.protocols import Call

__all__ = ["Declarations", "names_of", "reason_of", "require_known"]

Done = Callable[[Any], Any]
Check = Callable[[Any, Any], Any]

_PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


class _Functions(NamedTuple):
    """The functions behind a gate, and the declaration that they belong to."""

    declared: bytes
    check: Check
    trigger: Check | None
    blocks: tuple[Callable[[Call], Any], ...]


class Declarations(Ledger[AgendaFold]):
    """The declarations of an agenda; `Agenda` inherits them.

    Example:
        >>> from surefoot.knowledge.agenda import Agenda
        >>> issubclass(Agenda, Declarations)
        True
    """

    _noun = "agenda"
    _makes = AgendaFold
    _dones: dict[str, tuple[bytes, Done]]
    _functions: dict[str, _Functions]

    def goal(
        self, name: str, done: Done, requires: Iterable[str] = (), gates: Iterable[str] = (), *, replace: bool = False
    ) -> Self:
        """Declare a goal, or attach its check after the agenda was opened again.

        Args:
            name: what to call it; gates have names of their own.
            done: `done(state)` says whether it is reached: True or False.
            requires: goals, declared already, that must be done first.
            gates: gates, declared already, whose checks must pass (asked as `check(state, None)`) before it is open.
            replace: declare it anew where something else was declared under this name; it is then not done.

        Raises:
            BadArgument: an unknown goal or gate is named, the goal requires itself or goals require each other in a
                circle, or it was declared otherwise.
            ValueRejected: `done` cannot be called, or a name is no text. Nothing is declared then.

        Example:
            >>> from surefoot.knowledge.agenda import Agenda
            >>> agenda = Agenda().goal("wood", lambda s: s > 0).goal("plank", lambda s: s > 1, requires=["wood"])
            >>> agenda.update(2).done, agenda.goal("plank", lambda s: s > 1, requires=["wood"]).head == agenda.head
            (('wood', 'plank'), True)
        """
        name = text(name, "name")
        _require_callable(done, f"goal {name!r}: done")
        needs, shut = names_of(requires, "requires"), names_of(gates, "gates")
        wanted = GoalDeclared(name, fingerprint_of(done), _PYTHON, needs, shut)
        event = wanted

        def decide() -> Record | None:
            nonlocal event
            known = self._fold.goals.get(name)
            event = wanted
            if known is not None:
                held = self._dones.get(name)
                if held is not None and held[0] == known.declared.encode() and held[1] is done:
                    event = _with(wanted, done=known.declared.done, python=known.declared.python)
                if event == known.declared:
                    return None
                if not replace:
                    raise BadArgument(_differs(f"goal {name!r}", known.declared, event))
            self._check_goal(event)
            return event

        with self._lock:
            self._note(decide)
            self._dones[name] = event.encode(), done
        return self

    def _check_goal(self, event: GoalDeclared) -> None:
        """Refuse a goal that names what is not there, or that could never be done."""
        name, known = event.name, self._fold.goals
        if name in event.requires:
            raise BadArgument(f"goal {name!r} requires itself: it could never be done")
        require_known(event.requires, known, f"goal {name!r} requires", "goals")
        require_known(event.gates, self._fold.gates, f"goal {name!r} has the gates", "gates")
        graph = {other: goal.declared.requires for other, goal in known.items()} | {name: event.requires}
        try:
            in_order(graph)
        except CycleError as error:
            circle = " -> ".join(error.args[1])
            raise BadArgument(f"goal {name!r} would close a circle, {circle}: none of them could be done") from None

    def gate(
        self,
        name: str,
        check: Check,
        blocks: Any = (),
        trigger: Check | None = None,
        *,
        blocks_goals: Any = (),
        replace: bool = False,
    ) -> Self:
        """Declare a gate, or attach its functions after the agenda was opened again.

        Args:
            name: what to call it.
            check: `check(state, call)` is asked before each call that it blocks, with the whole `Call`: name and
                arguments (a copy of its own). It answers True (approve), False or a reason (reject), "escalate" or
                "terminate", a pair (word, reason), or a `Call` to take instead. One that raises or answers anything
                else is an "escalate". For a goal it is asked with `None` as the call.
            blocks: which calls: a name, a glob over names, a function `f(call)`, or a collection of those and of whole
                actions, such as `("go", 2)`, each of which means exactly that call.
            trigger: `trigger(state, call)`: the gate is asked only where this is True; None: always.
            blocks_goals: which goals it keeps closed: a name, a glob, or a collection of those.
            replace: declare it anew where something else was declared under this name; an override falls.

        Raises:
            BadArgument: it was declared otherwise, or `blocks` holds an empty name.
            ValueRejected: a function cannot be called, or something is no pattern. Nothing is declared then.

        Example:
            >>> from surefoot.knowledge.agenda import Agenda
            >>> agenda = Agenda().gate("room 2 is taboo", lambda state, call: False, blocks=[("go", 2)])
            >>> agenda.allows("hall", ("go", 2)).word, agenda.allows("hall", ("go", 3)).word
            ('reject', 'approve')
        """
        name = text(name, "name")
        _require_callable(check, f"gate {name!r}: check")
        if trigger is not None:
            _require_callable(trigger, f"gate {name!r}: trigger")
        patterns, functions = patterns_of(blocks, f"gate {name!r}: blocks", fingerprint_of)
        goals, _ = patterns_of(blocks_goals, f"gate {name!r}: blocks_goals")
        if any(pattern.kind != "name" for pattern in goals):
            raise ValueRejected(f"gate {name!r}: blocks_goals takes names and globs, got {blocks_goals!r}")
        seal = None if trigger is None else fingerprint_of(trigger)
        wanted = GateDeclared(name, fingerprint_of(check), seal, _PYTHON, pack(patterns), pack(goals))
        event = wanted

        def decide() -> Record | None:
            nonlocal event
            known = self._fold.gates.get(name)
            event = wanted
            if known is not None:
                if self._same_functions(known, check, trigger, functions):
                    codes, old = iter([p for p in known.blocks if p.kind == "code"]), known.declared
                    packed = pack(tuple(next(codes) if p.kind == "code" else p for p in patterns))
                    event = _with(wanted, check=old.check, trigger=old.trigger, python=old.python, blocks=packed)
                if event.encode() == known.declared.encode():
                    return None
                if not replace:
                    raise BadArgument(_differs(f"gate {name!r}", known.declared, event))
            return event

        with self._lock:
            self._note(decide)
            self._functions[name] = _Functions(event.encode(), check, trigger, functions)
        return self

    def _same_functions(
        self, known: KnownGate, check: Check, trigger: Check | None, functions: tuple[Any, ...]
    ) -> bool:
        """Say whether these very functions are attached: what they close over may have changed since."""
        held = self._functions.get(known.declared.name)
        if held is None or held.declared != known.declared.encode() or len(held.blocks) != len(functions):
            return False
        pairs = zip((held.check, held.trigger, *held.blocks), (check, trigger, *functions), strict=True)
        return all(one is other for one, other in pairs)

    def drop_goal(self, name: str, why: str = "") -> Self:
        """Take a goal off the agenda.

        Raises:
            BadArgument: there is no such goal, or another one requires it.

        Example:
            >>> from surefoot.knowledge.agenda import Agenda
            >>> Agenda().goal("wood", lambda s: s > 0).drop_goal("wood", "there is none here").goals()
            ()
        """

        def decide() -> Record | None:
            require_known([name], self._fold.goals, "drop_goal names", "goals")
            behind = [other for other, goal in self._fold.goals.items() if name in goal.declared.requires]
            if behind:
                raise BadArgument(f"goal {name!r} is required by {behind}: drop or replace those first")
            return Dropped("goal", name, reason_of(why))

        self._note(decide)
        return self

    def drop_gate(self, name: str, why: str = "") -> Self:
        """Take a gate away: what it blocked is blocked no more.

        Raises:
            BadArgument: there is no such gate, or a goal names it.

        Example:
            >>> from surefoot.knowledge.agenda import Agenda
            >>> agenda = Agenda().gate("hours", lambda state, call: False, blocks="*")
            >>> bool(agenda.allows("hall", "go")), bool(agenda.drop_gate("hours", "open all day").allows("hall", "go"))
            (False, True)
        """

        def decide() -> Record | None:
            require_known([name], self._fold.gates, "drop_gate names", "gates")
            behind = [goal for goal, known in self._fold.goals.items() if name in known.declared.gates]
            if behind:
                raise BadArgument(f"gate {name!r} is named by the goals {behind}: drop or replace those first")
            return Dropped("gate", name, reason_of(why))

        self._note(decide)
        return self

    def _ready(self, name: str, call: Call | None, *, override: bool = True) -> Ready | None:
        """Return a gate with its functions, None where it cannot block `call`."""
        known = self._fold.gates[name]
        if call is not None and not any(p.kind == "code" or p.matches(call) for p in known.blocks):
            return None
        held = self._functions.get(name)
        if held is None or held.declared != known.declared.encode():
            raise NotAttached(_unattached("gate", name, "check=…, blocks=…", held is not None))
        over = known.override[:3] if override and known.override is not None else None
        return Ready(name, held.check, held.trigger, known.blocks, held.blocks, over)

    def _check_of(self, name: str) -> Done:
        held = self._dones.get(name)
        if held is None or held[0] != self._fold.goals[name].declared.encode():
            raise NotAttached(_unattached("goal", name, "done=…", held is not None))
        return held[1]

    def _take_after(self, other: Self) -> None:
        self._dones, self._functions = dict(other._dones), dict(other._functions)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Unpickle into memory; the functions are to be attached again."""
        self._dones, self._functions = {}, {}
        super().__setstate__(state)


def _require_callable(function: Any, what: str) -> None:
    if not callable(function):
        raise ValueRejected(f"{what} must be a function, got {function!r}")


def require_known(names: Iterable[str], known: Mapping[str, Any], what: str, kind: str) -> None:
    """Refuse names that were never declared.

    Example:
        >>> require_known(["wod"], {"wood": 1}, "reopen names", "goals")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: reopen names ['wod'], but the goals declared are ['wood']: declare them first
    """
    unknown = [name for name in names if not isinstance(name, str) or name not in known]
    if unknown:
        raise BadArgument(f"{what} {unknown}, but the {kind} declared are {list(known)}: declare them first")


def names_of(names: Iterable[str], role: str) -> tuple[str, ...]:
    """Return names, each once, in their order; one bare text is refused.

    Example:
        >>> names_of(["wood", "axe", "wood"], "requires")
        ('wood', 'axe')
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ValueRejected(f"{role} must be a collection of names, got {names!r}: wrap it, [{names!r}]")
    return tuple(dict.fromkeys(text(name, role) for name in names))


def reason_of(why: str) -> str:
    """Return a reason, which may be empty.

    Example:
        >>> reason_of("open all day"), reason_of("")
        ('open all day', '')
    """
    return text(why, "why") if why != "" else ""


def _with(event: Any, **changed: Any) -> Any:
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    return type(event)(**{**fields, **changed})


def _unattached(kind: str, name: str, how: str, other: bool) -> str:
    when = "was declared anew elsewhere" if other else "was declared in another run"
    return (
        f"{kind} {name!r} {when}, and the functions behind it are not at hand here: declare it again, "
        f"agenda.{kind}({name!r}, {how}), or take it off, agenda.drop_{kind}({name!r})"
    )


def _differs(what: str, known: Record, wanted: Record) -> str:
    """Say what is different about a second declaration."""
    old, new = known.as_data(), wanted.as_data()
    told = ", ".join(name for name in old if values.encode(old[name]) != values.encode(new[name]))
    why = ""
    if old["python"] != new["python"]:
        why = f" (it was under Python {old['python']}, this is {new['python']}: their bytecode cannot be compared)"
    return (
        f"{what} is declared already, with something else in: {told}{why}; to declare it anew, with nothing done or "
        "overridden, pass replace=True"
    )
