"""An agenda: goals that code can check, and gates that no call passes unless code lets it.

```python
from surefoot import Agenda

agenda = Agenda("agenda.db")                                   # made, or restored from its journal
agenda.gate("small refunds", lambda state, call: call.args["amount"] <= 100 or "escalate", blocks="refund_*")
agenda.goal("wood", done=lambda state: state["wood"] > 0)
agenda.goal("plank", done=lambda state: state["planks"] > 0, requires=["wood"])
agenda.allows(state, {"name": "refund_order", "amount": 250})  # GateDecision("escalate", …)
agenda.update(state)                                           # runs the done checks
agenda.open(state)                                             # what can be worked on now
```

What is declared, what is done and what is overridden is a fold over a journal. Functions cannot be recorded: their
fingerprints are, and a program that opens the agenda again declares its goals and gates again, which attaches the
functions and records nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from surefoot.errors import BadArgument
from surefoot.journal import Journal
from surefoot.knowledge._ledger import Path, Record, text
from surefoot.knowledge.agenda_declaring import Declarations, names_of, reason_of, require_known
from surefoot.knowledge.agenda_fold import Cleared, Configured, KnownGate, Overridden, Reopened, Updated, pack
from surefoot.knowledge.agenda_views import GateView, GoalView, Step, Update, in_order, run_checks
from surefoot.knowledge.gates import Blocked, DryRun, GateDecision, Ready, decide, patterns_of, whole_call

__all__ = ["Agenda"]

_UNITS = ("updates", "steps")


class Agenda(Declarations):
    """Goals with done checks, and gates before calls and goals, kept in a journal.

    Args:
        path: where the journal is kept (`.json`, `.jsonl`, or anything else for SQLite). None: in memory.
        journal: use this journal instead; the agenda's entries are those of `stream`.
        stream: the agenda's name inside the journal.
        sticky: a goal that was done stays done, unasked, until `reopen`; if False, every update asks again. True for a
            new agenda; another value than a stored agenda has is recorded as a change.

    Raises:
        BadArgument: a setting is out of its range.
        BrokenChain, CutTail, UnknownFormat: the stored journal is not whole.

    Thread-safe, and several processes may share one journal; checks run outside its lock. A deep copy is an
    independent agenda in memory with the same functions; a pickle is one without them.

    Example:
        >>> agenda = Agenda().goal("wood", done=lambda state: state["wood"] > 0)
        >>> _ = agenda.gate("no fire", check=lambda state, call: False, blocks="burn_*")
        >>> agenda.open({"wood": 0}), agenda.update({"wood": 1}).done, agenda.open({"wood": 1})
        (('wood',), ('wood',), ())
        >>> decision = agenda.allows({"wood": 1}, ("burn_wood", 3))
        >>> decision.word, decision.reasons
        ('reject', ("gate 'no fire': says no",))
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        journal: Journal | None = None,
        stream: str = "agenda",
        sticky: bool | None = None,
    ) -> None:
        """Open or make the agenda; see the class."""
        self._dones, self._functions = {}, {}
        self._begin(Configured(), {"sticky": sticky}, (path, journal, stream), in_memory=True)

    @property
    def sticky(self) -> bool:
        """Return whether a goal that was done stays done; assigning records a change."""
        with self._lock:
            self._catch_up()
            return self._fold.settings.sticky

    @sticky.setter
    def sticky(self, sticky: bool) -> None:
        self._configure(sticky=sticky)

    def allows(self, state: Any, call: Any) -> GateDecision:
        """Ask the gates about a call; changes nothing.

        Args:
            state: what the checks read; handed to them as it is.
            call: an action as the environment takes it, or a `Call`.

        Returns:
            a `GateDecision`, true only when the call may be taken as it is.

        Raises:
            NotAttached: a gate that may block this call was declared in another run, and not in this one.
            ValueRejected: `call` is no action.

        Cost: that of the checks, and about 2 µs a gate.

        Example:
            >>> def small(state, call):
            ...     return call.args["amount"] <= 100 or ("escalate", "more than 100")
            >>> agenda = Agenda().gate("small refunds", small, blocks="refund")
            >>> agenda.allows({}, {"name": "refund", "amount": 250}).reason
            "gate 'small refunds': more than 100"
        """
        asked = whole_call(call)
        with self._lock:
            self._catch_up()
            ready = [g for name in self._fold.gates if (g := self._ready(name, asked)) is not None]
        return decide(ready, state, asked)

    def update(self, state: Any, *, steps: int = 1) -> Update:
        """Run the done checks on `state`, and record what has changed; call it once a step.

        All or nothing: where a check raises, or answers anything but True or False, the result says so and the agenda
        stays as it was. A goal counts as done only when all that it requires are done.

        Args:
            state: what the checks read; handed to them as it is.
            steps: how many steps went by since the last update, an int >= 0, for overrides that end after some.

        Raises:
            NotAttached: a check that is needed was declared in another run, and not in this one.
            BadArgument: `steps` is out of its range.

        Cost: that of the checks; an entry only when something changes or an override is running out.

        Example:
            >>> agenda = Agenda().goal("wood", lambda s: s["wood"] > 0).goal("axe", lambda s: s["axes"] > 0)
            >>> agenda.update({"wood": 1}).problems, agenda.open({"wood": 1})
            ({'axe': "KeyError: 'axes'"}, ('wood', 'axe'))
        """
        if type(steps) is not int or steps < 0:
            raise BadArgument(f"steps must be an int >= 0, got {steps!r}")
        while True:
            with self._lock:
                self._catch_up()
                version, sticky, plan = self._fold.version, self._fold.settings.sticky, self._plan()
            now, problems = run_checks(plan, state, sticky=sticky)
            if problems:
                return Update(problems=problems)
            with self._lock:
                result = self._record_update(version, now, steps)
            if result is not None:
                return result

    def _plan(self) -> list[Step]:
        """Return the goals in the order of their requirements, with the checks that are needed."""
        known, sticky = self._fold.goals, self._fold.settings.sticky
        plan = []
        for name in in_order({name: goal.declared.requires for name, goal in known.items()}):
            goal = known[name]
            check = None if sticky and goal.done else self._check_of(name)
            plan.append(Step(name, goal.declared.requires, goal.done, check))
        return plan

    def _record_update(self, version: int, now: Mapping[str, bool], steps: int) -> Update | None:
        """Record what changed; None when the agenda has changed since the checks were chosen."""
        result: Update | None = None

        def decide() -> Record | None:
            nonlocal result
            fold = self._fold
            if fold.version != version:
                result = None
                return None
            changed = {name: (g.done, now[name]) for name, g in fold.goals.items() if g.done != now[name]}
            event = Updated(
                tuple(name for name, (_, done) in changed.items() if done),
                tuple(name for name, (_, done) in changed.items() if not done),
                steps,
            )
            ends = [
                name
                for name, gate in fold.gates.items()
                if gate.override is not None and gate.override.after(steps).over
            ]
            result = Update(changed, {}, tuple(ends))
            return event if changed or fold.counting() else None

        self._note(decide)
        return result

    def reopen(self, names: Iterable[str] | None = None, why: str = "") -> Self:
        """Let goals be done again: these, or all.

        Raises:
            BadArgument: there is no such goal.

        Example:
            >>> agenda = Agenda().goal("wood", lambda s: s > 0)
            >>> _ = agenda.update(1)
            >>> agenda.reopen().open(0)
            ('wood',)
        """
        asked = None if names is None else names_of(names, "names")

        def decide() -> Record | None:
            known = self._fold.goals
            require_known(asked or (), known, "reopen names", "goals")
            found = tuple(name for name in (known if asked is None else asked) if known[name].done)
            return Reopened(found, reason_of(why)) if found else None

        self._note(decide)
        return self

    def new_episode(self) -> Self:
        """Let all goals be done again: `reopen()` under the name that risk policies and failure memories use."""
        return self.reopen(why="a new episode")

    def override(
        self,
        gate: str,
        who: str,
        why: str,
        expires_after: int | None = None,
        *,
        unit: str = "updates",
        calls: Any = (),
    ) -> Self:
        """Let calls pass a gate, on somebody's word.

        Args:
            gate: the gate.
            who: who says so, in words.
            why: the reason.
            expires_after: an int >= 1, after how many further updates (or steps) it ends; None: when it is cleared.
            unit: "updates", or "steps" as `update(steps=…)` counts them.
            calls: only these calls: names, globs or whole actions; none given: all that the gate blocks, and goals.

        An override that is there already is replaced.

        Raises:
            BadArgument: there is no such gate, nobody or no reason is named, or the number is out of its range.

        Example:
            >>> agenda = Agenda().gate("hours", lambda state, call: False, blocks="*")
            >>> decision = agenda.override("hours", "Ann", "a drill", expires_after=1).allows("hall", "go")
            >>> decision.word, decision.overridden, agenda.update("hall").expired, agenda.allows("hall", "go").word
            ('approve', (('hours', 'Ann', 'a drill'),), ('hours',), 'reject')
        """
        if unit not in _UNITS:
            raise BadArgument(f"unit must be 'updates' or 'steps', got {unit!r}")
        if expires_after is not None and (type(expires_after) is not int or expires_after < 1):
            raise BadArgument(f"expires_after must be an int >= 1 or None, got {expires_after!r}")
        patterns, _ = patterns_of(calls, "calls")
        left = (expires_after, None) if unit == "updates" else (None, expires_after)
        event = Overridden(text(gate, "gate"), text(who, "who"), text(why, "why"), pack(patterns), *left)

        def decide() -> Record | None:
            require_known([event.gate], self._fold.gates, "override names", "gates")
            return event

        self._note(decide)
        return self

    def clear_override(self, gate: str, who: str = "", why: str = "") -> bool:
        """Take an override back; return whether there was one.

        Raises:
            BadArgument: there is no such gate.

        Example:
            >>> agenda = Agenda().gate("hours", lambda state, call: False, blocks="*")
            >>> _ = agenda.override("hours", "Ann", "a drill")
            >>> agenda.clear_override("hours", "Ann", "it is over"), agenda.clear_override("hours")
            (True, False)
        """
        found = False

        def decide() -> Record | None:
            nonlocal found
            require_known([gate], self._fold.gates, "clear_override names", "gates")
            found = self._fold.gates[gate].override is not None
            return Cleared(gate, reason_of(who), reason_of(why)) if found else None

        self._note(decide)
        return found

    def dry_run(self, successes: Iterable[tuple[Any, Any]], gates: Iterable[str] | None = None) -> DryRun:
        """Say which recorded successes the gates would have blocked; overrides do not count, and nothing changes.

        Args:
            successes: pairs (state, action) of calls that an environment accepted.
            gates: only these gates; None: all.

        Raises:
            BadArgument: there is no such gate, or something is no pair.
            NotAttached: as for `allows`.

        Example:
            >>> agenda = Agenda().gate("cap", lambda state, call: call.args["n"] <= 3, blocks="buy")
            >>> print(agenda.dry_run([("shop", {"name": "buy", "n": 2}), ("shop", {"name": "buy", "n": 5})]))
            1 of 2 recorded successes would have been blocked
              1: buy: gate 'cap': says no
        """
        with self._lock:
            self._catch_up()
            names = tuple(self._fold.gates) if gates is None else names_of(gates, "gates")
            require_known(names, self._fold.gates, "dry_run names", "gates")
        blocked, count = [], 0
        for place, pair in enumerate(successes):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise BadArgument(f"recorded success {place} must be a pair (state, action), got {pair!r}")
            state, call = pair[0], whole_call(pair[1])
            with self._lock:
                ready = [g for name in names if (g := self._ready(name, call, override=False)) is not None]
            decision = decide(ready, state, call)
            count += 1
            if not decision:
                blocked.append(Blocked(place, call, decision))
        return DryRun(count, tuple(blocked))

    def open(self, state: Any) -> tuple[str, ...]:
        """Return the goals that can be worked on in `state`: not done, what they require is done, no gate is shut.

        Raises:
            NotAttached: a gate before one of them was declared in another run, and not in this one.

        Example:
            >>> Agenda().goal("wood", lambda s: s > 0).goal("plank", lambda s: s > 1, requires=["wood"]).open(0)
            ('wood',)
        """
        return tuple(view.name for view in self.goals(state) if view.open)

    def would(self, state: Any, names: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return which goals would be done in a state that is only thought of; changes nothing.

        A check that cannot answer there counts as no. What goals require is not asked.

        Args:
            state: what the checks read.
            names: only these goals; None: all.

        Raises:
            BadArgument: there is no such goal.
            NotAttached: as for `update`.

        Example:
            >>> agenda = Agenda().goal("wood", lambda s: s["wood"] > 0).goal("axe", lambda s: s["axes"] > 0)
            >>> agenda.would({"wood": 2}), agenda.open({"wood": 2})
            (('wood',), ('wood', 'axe'))
        """
        with self._lock:
            self._catch_up()
            asked = tuple(self._fold.goals) if names is None else names_of(names, "names")
            require_known(asked, self._fold.goals, "would names", "goals")
            checks = [Step(name, (), False, self._check_of(name)) for name in asked]
        now, _ = run_checks(checks, state, sticky=False)
        return tuple(name for name in asked if now[name])

    def check_digest(self, goal: str) -> str:
        """Return the fingerprint of a goal's done check; a goal that was declared anew with another check has another.

        Raises:
            BadArgument: there is no such goal.

        Example:
            >>> agenda = Agenda().goal("wood", lambda s: s > 0)
            >>> before = agenda.check_digest("wood")
            >>> agenda.goal("wood", lambda s: s > 1, replace=True).check_digest("wood") == before
            False
        """
        with self._lock:
            self._catch_up()
            require_known([goal], self._fold.goals, "check_digest names", "goals")
            return self._fold.goals[goal].declared.done

    def goals(self, *state: Any) -> tuple[GoalView, ...]:
        """Return every goal as it stands, in the order of declaration.

        Args:
            state: the state to ask the gates in; without it no gate is asked, and `open` says what would be open if
                all let it.

        Example:
            >>> view, = Agenda().goal("wood", lambda s: s > 0).goals(0)
            >>> view.open, view.done, view.attached
            (True, False, True)
        """
        with self._lock:
            self._catch_up()
            known = self._fold.goals
            rows = []
            for name, goal in known.items():
                declared = goal.declared
                waits = tuple(other for other in declared.requires if not known[other].done)
                held = self._dones.get(name)
                attached = held is not None and held[0] == declared.encode()
                view = GoalView(name, goal.done, False, declared.requires, waits, declared.gates, (), attached)
                rows.append((view, self._before(name) if state and not goal.done and not waits else []))
        return tuple(_judged(view, gates, state) for view, gates in rows)

    def _before(self, goal: str) -> list[Ready]:
        """Return the gates before a goal: those that it names, and those that name it."""
        named = self._fold.goals[goal].declared.gates
        names = [n for n, g in self._fold.gates.items() if n in named or any(p.meets(goal) for p in g.blocks_goals)]
        return [gate for name in names if (gate := self._ready(name, None)) is not None]

    @property
    def gated(self) -> bool:
        """Say whether there are gates."""
        with self._lock:
            self._catch_up()
            return bool(self._fold.gates)

    def gates(self) -> tuple[GateView, ...]:
        """Return every gate as it stands, in the order of declaration.

        Example:
            >>> view, = Agenda().gate("hours", lambda state, call: False, blocks=["buy", "sell_*"]).gates()
            >>> view.blocks, view.attached, view.overridden_by
            (('buy', 'sell_*'), True, None)
        """
        with self._lock:
            self._catch_up()
            return tuple(self._view(known) for known in self._fold.gates.values())

    def _view(self, known: KnownGate) -> GateView:
        declared, over = known.declared, known.override
        held = self._functions.get(declared.name)
        return GateView(
            declared.name,
            tuple(map(str, known.blocks)),
            tuple(map(str, known.blocks_goals)),
            declared.trigger is not None,
            held is not None and held.declared == declared.encode(),
            None if over is None else (over.who, over.why),
            None if over is None else over.updates,
            None if over is None else over.steps,
        )

    def snapshot(self, *state: Any) -> dict[str, Any]:
        """Return the agenda as plain data, to be recorded with a decision.

        Args:
            state: the state to ask the gates before goals in; see `goals`.

        Returns:
            {"goals", "open", "gates", "overrides", "sticky", "fingerprint", "head"}.

        Example:
            >>> shot = Agenda().goal("wood", lambda s: s > 0).snapshot(0)
            >>> shot["goals"], shot["open"], sorted(shot)[:3]
            ({'wood': False}, ['wood'], ['fingerprint', 'gates', 'goals'])
        """
        with self._lock:
            goals, gates = self.goals(*state), self.gates()
            return {
                "goals": {view.name: view.done for view in goals},
                "open": [view.name for view in goals if view.open],
                "gates": [view.name for view in gates],
                "overrides": {view.name: list(view.overridden_by) for view in gates if view.overridden_by},
                "sticky": self.sticky,
                "fingerprint": self.fingerprint(),
                "head": str(self.head),
            }

    def __copy__(self) -> Self:
        """Return an independent agenda in memory, its functions attached."""
        return self.rebuild()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return an independent agenda in memory, its functions attached."""
        return self.rebuild()

    def __repr__(self) -> str:
        """Show where it is and what it holds."""
        with self._lock:
            goals, gates = len(self._fold.goals), len(self._fold.gates)
            return f"<Agenda {self._path or 'in memory'}: {goals} goals, {gates} gates>"


def _judged(view: GoalView, gates: list[Ready], state: tuple[Any, ...]) -> GoalView:
    """Return a goal's view with what the gates before it say."""
    if view.done or view.waits_for:
        return view
    decision = decide(gates, state[0], None) if gates else GateDecision("approve")
    return GoalView(view.name, False, bool(decision), view.requires, (), view.gates, decision.reasons, view.attached)
