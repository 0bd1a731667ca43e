"""Write what was learned as a planning task in PDDL, for any planner that reads STRIPS.

A state must be an object with fields, {name: value}; objects inside it have fields of their own; any other value (a
tuple
and a list, too) is one value. Each field becomes a predicate that holds one value. A call becomes actions, each with
the field values that the model's answer and the effects rest on: the conditions are evaluated on states that note what
is read, value by value, so that they may be any Python code that reads fields by name.

What cannot be expressed is refused with a `CannotExport`: states that are no objects, conditions that go through all
fields of an object, effects that put an object in a field or that read more than fields, numbers without end. What the
model does not know is left out: calls that it does not accept, and calls whose next state is not determined. So a plan
is never optimistic, and there may be no plan where there is a way.

Source: STRIPS, Fikes and Nilsson 1971; PDDL 1.2 with constants, McDermott et al. 1998.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from surefoot import values
from surefoot.errors import BadArgument, SurefootError
from surefoot.learners._outcomes import Lazy
from surefoot.learners._parts import ABSENT, path_in_words, plain
from surefoot.learners._pddl_text import Branch, Path, write
from surefoot.learners.vocabulary import BrokenPredicate
from surefoot.protocols import Call

if TYPE_CHECKING:
    from surefoot.learners.conservative import ConservativeActionModel

__all__ = ["CannotExport", "PlanningTask", "to_pddl"]

MOST_BRANCHES = 20_000
"""The most ways in which one call may depend on the fields that it reads."""
MOST_VALUES = 100
"""The most values that one field may take."""


class CannotExport(SurefootError, ValueError):
    """Something of a model cannot be said in PDDL; the message names it and the way out.

    Example:
        >>> issubclass(CannotExport, ValueError)
        True
    """


@dataclass(frozen=True)
class PlanningTask:
    r"""Hold a planning task in PDDL.

    Attributes:
        domain: the text of the domain.
        problem: the text of the problem.
        calls: {name of an action in the text: the call that it stands for}.
        left_out: in words, the calls that are not in it, each with the reason.

    Example:
        >>> task = PlanningTask("(define (domain d))", "(define (problem p))", {"go-1": Call("go", {"to": "hall"})}, ())
        >>> task.calls_of("(go-1 hall)\n; cost = 1")
        [Call(name='go', args={'to': 'hall'})]
    """

    domain: str
    problem: str
    calls: Mapping[str, Call]
    left_out: tuple[str, ...]

    def calls_of(self, plan: str | Iterable[str]) -> list[Call]:
        """Return the calls of a plan: its text, one action a line, or the names of its actions.

        Raises:
            BadArgument: it has an action that is not in this task.

        Example:
            >>> PlanningTask("", "", {"rest": Call("rest")}, ()).calls_of(["rest", "rest()"])
            [Call(name='rest', args={}), Call(name='rest', args={})]
        """
        found = []
        for line in plan.splitlines() if isinstance(plan, str) else plan:
            words = line.partition(";")[0].replace("(", " ").replace(")", " ").split()
            if not words:
                continue
            if words[0].lower() not in self.calls:
                raise BadArgument(f"the plan has {words[0]!r}, which is no action of this task")
            found.append(self.calls[words[0].lower()])
        return found


def to_pddl(
    model: ConservativeActionModel,
    start: Mapping[str, Any],
    goal: Mapping[str | tuple[str, ...], Any],
    calls: Iterable[Call],
    *,
    numbers: Collection[int] = range(11),
    name: str = "learned",
) -> PlanningTask:
    """Return what a model knows, as a task to get from one state to a goal.

    Args:
        model: what was learned; next states must have been observed (`observe(..., next_state=...)`).
        start: the state that the plan starts in.
        goal: {field: its value}; a field inside an object is a tuple of names.
        calls: the calls that a plan may use.
        numbers: the whole numbers that a field may come to hold; a call that would leave them is not in the task.
        name: the domain's name, a PDDL name.

    Raises:
        CannotExport: see the module.
        BadArgument: an argument is out of its range, or the goal names what no known call can bring about.

    Cost: for each call the number of combinations of the values that it reads, a prediction each.

    Example:
        >>> from surefoot import ConservativeActionModel, Vocabulary
        >>> model = ConservativeActionModel(Vocabulary({"lit": lambda state, args: state["lit"]}))
        >>> for day in (1, 2):
        ...     _ = model.observe({"lit": False, "day": day}, "light", {}, True, next_state={"lit": True, "day": day})
        ...     _ = model.observe({"lit": True, "day": day}, "light", {}, False)
        >>> task = to_pddl(model, {"lit": False, "day": 3}, {"lit": True}, [Call("light")])
        >>> print(task.domain)
        (define (domain learned)
          (:requirements :strips)
          (:constants false true)
          (:predicates
            (f-lit ?v))
          (:action light
            :parameters ()
            :precondition (and (f-lit false))
            :effect (and (not (f-lit false)) (f-lit true))))
        <BLANKLINE>
    """
    if not isinstance(start, Mapping):
        raise CannotExport(f"start is {start!r}: PDDL needs states that are objects with fields, {{name: value}}")
    world = _World(plain(dict(start)), frozenset(numbers))
    wanted = _goal(goal)
    listed = list(dict.fromkeys(_checked(calls)))
    if not listed:
        raise BadArgument("calls must be one or more Call objects, got none")
    branches = _fixpoint(model, world, [_thawed(call) for call in listed])
    if not any(found for found, _ in branches):
        why = "; ".join(sorted({reason for _, reasons in branches for reason in reasons})) or "no call is accepted"
        raise CannotExport(f"nothing is known that could be planned with: {why}")
    for path, value in wanted.items():
        if value not in world.domain.get(path, ()):
            raise BadArgument(f"goal: no known call makes {path_in_words(path)} {values.decode(value)!r}")
    left_out = [reason for _, reasons in branches for reason in sorted(reasons)]
    rows = [(_thawed(call), found) for call, (found, _) in zip(listed, branches, strict=True)]
    domain, problem, named = write(rows, world.domain, world.start, wanted, name)
    return PlanningTask(domain, problem, named, tuple(left_out))


def _checked(calls: Iterable[Call]) -> Iterator[tuple[str, bytes]]:
    for call in calls:
        if not isinstance(call, Call):
            raise BadArgument(f"calls must be Call objects, got {call!r}: make one with call_of(action)")
        yield call.name, values.encode(dict(call.args))


def _thawed(call: tuple[str, bytes]) -> Call:
    return Call(call[0], values.decode(call[1]))


def _goal(goal: Mapping[str | tuple[str, ...], Any]) -> dict[Path, bytes]:
    if not goal:
        raise BadArgument("goal must name one field or more, got none")
    return {(path,) if isinstance(path, str) else tuple(path): values.encode(value) for path, value in goal.items()}


# -- the values that fields may take -----------------------------------------------------------------------------------


@dataclass
class _World:
    """The fields with the values that they may take, encoded; None stands for a field that is not there."""

    state: dict[str, Any]
    numbers: frozenset[int]
    domain: dict[Path, dict[bytes | None, None]] = field(init=False, default_factory=dict)
    objects: set[Path] = field(init=False, default_factory=set)
    start: dict[Path, bytes | None] = field(init=False)

    def __post_init__(self) -> None:
        """Read the start."""
        self._enter((), self.state)
        self.start = {path: next(iter(held)) for path, held in self.domain.items()}

    def _enter(self, path: Path, part: Any) -> None:
        if isinstance(part, dict):
            self.objects.add(path)
            for key, inside in part.items():
                self._enter((*path, key), inside)
        else:
            self.domain[path] = {values.encode(part): None}

    def held(self, path: Path) -> dict[bytes | None, None]:
        """Return the values of a field; one that was never heard of is not there."""
        if path not in self.domain:
            self.domain[path] = {None: None}
            self.start[path] = None
        return self.domain[path]

    def may_hold(self, value: Any) -> bool:
        """Say whether a call may put a value into a field."""
        return type(value) is not int or value in self.numbers

    def require_bounds(self) -> None:
        """Refuse fields that take more and more values."""
        path = max(self.domain, key=lambda p: len(self.domain[p]))
        if len(self.domain[path]) > MOST_VALUES:
            raise CannotExport(
                f"{path_in_words(path)} takes {len(self.domain[path])} values and more: PDDL needs few; leave it out "
                "of the state, or narrow `numbers`"
            )


class _Reader:
    """Decides what the fields hold that a run reads: first as told, then the first value that is possible."""

    def __init__(self, world: _World, told: Sequence[int]) -> None:
        self.world, self.told = world, told
        self.taken: list[tuple[int, int]] = []  # (decision, how many there were)
        self.cells: dict[Path, list[bytes | None]] = {}

    def _decide(self, options: int) -> int:
        at = len(self.taken)
        choice = self.told[at] if at < len(self.told) else 0
        self.taken.append((choice, options))
        return choice

    def possible(self, path: Path) -> list[bytes | None]:
        """Return what a field may hold, after what was read so far."""
        if path not in self.cells:
            self.cells[path] = list(self.world.held(path))
        return self.cells[path]

    def value(self, path: Path) -> bytes | None:
        """Return what a field holds."""
        held = self.possible(path)
        if len(held) > 1:
            self.cells[path] = held = [held[self._decide(len(held))]]
        return held[0]

    def present(self, path: Path) -> bool:
        """Say whether a field is there, without saying what it holds."""
        held = self.possible(path)
        there: list[bytes | None] = [value for value in held if value is not None]
        if there and len(there) < len(held):
            self.cells[path] = held = there if self._decide(2) == 0 else [None]
        return held[0] is not None


class _Peeked(Lazy):
    """A state, or an object in it, that notes what is read."""

    def __init__(self, reader: _Reader, path: Path) -> None:
        self._reader, self._path = reader, path

    def __getitem__(self, key: str) -> Any:
        path = (*self._path, key)
        if path in self._reader.world.objects:
            return _Peeked(self._reader, path)
        held = self._reader.value(path)
        if held is None:
            raise KeyError(key)
        return values.decode(held)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        path = (*self._path, key)
        return path in self._reader.world.objects or self._reader.present(path)

    def _whole(self) -> NoReturn:
        raise CannotExport(
            f"a condition reads all of {path_in_words(self._path)}: PDDL knows single fields; read them by name, or "
            "keep what it computes as a field of its own"
        )

    def __iter__(self) -> Iterator[str]:
        self._whole()

    def __len__(self) -> int:
        self._whole()

    def __bool__(self) -> bool:
        self._whole()

    def __eq__(self, other: object) -> bool:
        self._whole()

    __hash__ = None  # type: ignore[assignment]  # as Python has it for what can change


# -- what a call may do ------------------------------------------------------------------------------------------------


def _fixpoint(
    model: ConservativeActionModel, world: _World, calls: Sequence[Call]
) -> list[tuple[list[Branch], set[str]]]:
    """Return for each call what it may do, once no call brings a field to a new value any more."""
    found: list[tuple[list[Branch], set[str]]] = [([], set())] * len(calls)
    known: list[dict[Path, int]] = [{(): -1}] * len(calls)
    while True:
        again = False
        for at, call in enumerate(calls):
            if all(len(world.domain.get(path, ())) == size for path, size in known[at].items()):
                continue
            again = True
            branches, reasons, touched = _explore(model, world, call)
            known[at] = {path: len(world.held(path)) for path in touched}
            found[at] = branches, reasons
            for branch in branches:
                for path, cell in branch.items():
                    for new in cell.values():
                        world.domain[path].setdefault(new)
            world.require_bounds()
        if not again:
            return found


def _explore(model: ConservativeActionModel, world: _World, call: Call) -> tuple[list[Branch], set[str], set[Path]]:
    """Return every way in which a call may go: the fields that it rests on, with what becomes of their values."""
    branches: list[Branch] = []
    reasons: set[str] = set()
    touched: set[Path] = set()
    stack: list[list[int]] = [[]]
    runs = 0
    while stack:
        runs += 1
        if runs > MOST_BRANCHES:
            names = ", ".join(sorted(map(path_in_words, touched)))
            raise CannotExport(
                f"{call.name} {dict(call.args)!r} depends on too many values of {names}: narrow `numbers`"
            )
        reader = _Reader(world, told := stack.pop())
        branch = _run(model, world, call, reader, reasons)
        touched |= reader.cells.keys()
        for at in range(len(told), len(reader.taken)):
            choice, options = reader.taken[at]
            before = [taken for taken, _ in reader.taken[:at]]
            stack += [[*before, other] for other in range(choice + 1, options)]
        if branch is not None:
            branches.append(branch)
    return branches, reasons, touched


def _run(
    model: ConservativeActionModel, world: _World, call: Call, reader: _Reader, reasons: set[str]
) -> Branch | None:
    """Return what a call does in the state that a reader decides on, None when it is not accepted, or not known."""
    told = f"{call.name} {dict(call.args)!r}"
    try:
        answer, changes = model.foretell(_Peeked(reader, ()), call.name, call.args)
    except BrokenPredicate as error:
        if isinstance(error.__cause__, CannotExport):
            raise CannotExport(f"{told}: {error.__cause__}") from None
        raise
    if answer.verdict != "accept":
        return None
    if changes is None:
        reasons.add(f"{told}: accepted, but its next state is not determined")
        return None
    new: dict[Path, bytes | None] = {}
    for path, value in changes.items():
        if isinstance(value, dict) or path in world.objects:
            raise CannotExport(f"{told} changes the object {path_in_words(path)} as a whole: PDDL knows single fields")
        if not world.may_hold(value):
            reasons.add(f"{told}: {path_in_words(path)} would become {value}, which is not in `numbers`")
            return None
        new[path] = None if value is ABSENT else values.encode(value)
        reader.possible(path)
    return {path: {held: new.get(path, held) for held in cell} for path, cell in reader.cells.items()}
