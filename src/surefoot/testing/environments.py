"""Check that an environment keeps the laws of its protocol: one call, or one class of tests to inherit.

`check_environment(make)` tries every law on many runs and returns a `Report`, or raises `ContractBroken` with the
shortest run found that breaks one. `EnvironmentContract` is the same as one test a law. `surefoot.testing.laws.Law`
lists the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

from surefoot.errors import BadArgument, ContractBroken, MissingExtra
from surefoot.protocols import Environment
from surefoot.testing._checks import REPLAYED
from surefoot.testing._probe import Plan
from surefoot.testing._search import Policy, Search
from surefoot.testing.laws import ALWAYS, Law

__all__ = ["EnvironmentContract", "Report", "check_environment"]

Clone = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Report(Mapping[str, Any]):
    """Say which laws were tried how often, and held.

    It is true, reads as a table (`print(report)`), and is a mapping with the keys `seeds`, `steps`, `deterministic`,
    `runs`, `refusals`, `faults`, and `clones` where a clone was given.

    Args:
        world: the name of the environment's class.
        seeds: how many seeds were tried.
        runs: how many runs were made (each was replayed in many ways).
        steps: how many steps these runs had.
        tried: how often each law was tried.
        untried: the laws that were not tried, each with the reason.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> report = check_environment(Corridor, long=40, examples=5)
        >>> bool(report), report["seeds"], report["deterministic"]
        (True, 2, True)
        >>> report.untried[Law.CLONES]
        'no clone was given'
    """

    world: str
    seeds: int
    runs: int
    steps: int
    tried: Mapping[Law, int]
    untried: Mapping[Law, str]

    def as_dict(self) -> dict[str, Any]:
        """Return the keys and values of the mapping as a dict."""
        told = {
            "seeds": self.seeds,
            "steps": self.steps,
            "deterministic": Law.SEEDED in self.tried,
            "runs": self.runs,
            "refusals": self.tried.get(Law.REFUSED, 0),
            "faults": self.tried.get(Law.FAULTS, 0),
        }
        return told | ({"clones": self.tried[Law.CLONES]} if Law.CLONES in self.tried else {})

    def __getitem__(self, key: str) -> Any:
        return self.as_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.as_dict())

    def __len__(self) -> int:
        return len(self.as_dict())

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        """Return the table."""
        counts = ", ".join(f"{self[key]} {key}" for key in ("seeds", "runs", "steps", "refusals", "faults"))
        width = max(len(law.value) for law in Law)
        lines = [f"{self.world} keeps the laws of an environment ({counts}).", ""]
        lines.append(f"    {'law':<{width}}  tried")
        for law in Law:
            tried = f"{self.tried[law]:>5}" if law in self.tried else f"    -  {self.untried[law]}"
            lines.append(f"    {law.value:<{width}}  {tried}")
        return "\n".join(lines)


def check_environment(
    make: Callable[[], Environment[Any, Any]],
    *,
    seeds: Sequence[int] = (0, 1),
    steps: int = 60,
    policy: Policy | None = None,
    clone: Clone | None = None,
    walk: Sequence[Any] | None = None,
    long: int = 200,
    examples: int = 25,
    offered: bool = False,
    without: Collection[str] = (),
) -> Report:
    """Try the laws of an environment on many runs, and return what was tried.

    The runs, the report and the breach that is reported are the same each time, as far as the environment is.

    Args:
        make: returns a fresh environment at each call; called about 15 times a run, each is closed after use.
        seeds: the seeds to try.
        steps: the most steps of a run that is drawn, and the steps of the policy's run.
        policy: `policy(state, actions)` returns an action; adds one run for each seed.
        clone: `clone(env, state)` returns an independent environment at `state`.
        walk: actions; adds one run for each seed. They need not be on offer.
        long: the steps of the long run that each seed has (episodes follow one another in it).
        examples: how many runs are drawn; each has 1 to `steps` steps of random actions on offer.
        offered: also try actions that are not on offer, which must be refused. Off unless asked for: many worlds take
            more than they list, and to send a made-up action to a real world can do harm.
        without: names of laws to leave out, for a world that cannot keep them.

    Returns:
        A report, which is true.

    Raises:
        ContractBroken: a law is broken; the message is a report with the shortest run found that shows it.
        BadArgument: an argument is out of its range.
        MissingExtra: Hypothesis is not installed.

    Cost: about 30 runs of 30 steps and two long ones, each replayed about 15 times: half a second for a small world.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> print(check_environment(Corridor))  # doctest: +ELLIPSIS
        Corridor keeps the laws of an environment (2 seeds, 27 runs, ... steps, ... refusals, 0 faults).
        ...
        >>> class Slide(Corridor):
        ...     def step(self, action):
        ...         outcome = super().step(action)
        ...         return outcome if outcome.accepted else replace(outcome, state=1)
        >>> try:
        ...     check_environment(Slide, examples=5)
        ... except ContractBroken as broken:
        ...     print(str(broken).splitlines()[0])
        Slide breaks the law "a refused step leaves the state as it was".
    """
    search = _search(
        make,
        seeds=seeds,
        steps=steps,
        long=long,
        examples=examples,
        policy=policy,
        walk=walk,
        clone=clone,
        offered=offered,
        without=without,
    )
    search.explore()
    for law in Law:
        if law in search.breaches:
            also = [other for other in Law if other in search.breaches and other is not law]
            raise ContractBroken(str(replace(search.shortest(law), also=also)))
    untried = _untried(search)
    tried = {law: search.tried[law] for law in Law if law not in untried}
    return Report(search.name, len(seeds), search.runs, search.taken, tried, untried)


def _search(
    make: Callable[[], Any],
    *,
    seeds: Sequence[int],
    clone: Clone | None,
    offered: bool,
    without: Collection[str],
    **sizes: Any,
) -> Search:
    """Return the search that the arguments ask for, once they are checked."""
    if not callable(make):
        raise BadArgument(f"make must be a function that returns a fresh environment, got {make!r}")
    seeds = list(seeds)
    if not seeds or any(type(seed) is not int for seed in seeds):
        raise BadArgument(f"seeds must be one int or more, got {seeds!r}")
    for name in ("steps", "long", "examples"):
        if type(sizes[name]) is not int or sizes[name] < 1:
            raise BadArgument(f"{name} must be an int >= 1, got {sizes[name]!r}")
    for name, function in (("policy", sizes["policy"]), ("clone", clone)):
        if function is not None and not callable(function):
            raise BadArgument(f"{name} must be a function or None, got {function!r}")
    return Search(Plan(make, tuple(seeds), clone, bool(offered), _left_out(without)), **sizes)


def _left_out(without: Collection[str]) -> frozenset[Law]:
    """Return the laws of that name."""
    names = [law.value for law in Law]
    unknown = [name for name in ([without] if isinstance(without, str) else without) if name not in names]
    if isinstance(without, str) or unknown:
        raise BadArgument(
            f"without must be a collection of names of laws, got {unknown or without!r}; they are {names}"
        )
    left_out = frozenset(Law(name) for name in without)
    if left_out & ALWAYS:
        raise BadArgument(f"these laws cannot be left out, all others stand on them: {sorted(left_out & ALWAYS)}")
    return left_out


def _untried(search: Search) -> dict[Law, str]:
    """Return the laws that were not tried, with the reason."""
    plan = search.plan
    why = {
        Law.FAULTS: "no fault was met",
        Law.EFFECTS: "no effect was reported",
        Law.REFUSED: "no step was refused",
        Law.NO_TRACE: "no step was refused",
        Law.SHARED: "nothing that was returned can be changed",
        Law.AFTER_DONE: "no episode came to its end",
        Law.OFFERED: "not asked for: offered=True",
        Law.SNAPSHOT: "it is not Snapshotable",
        Law.SIGNS: "it is not Signposted",
        Law.DESCRIPTIONS: "it is not Describable",
        Law.CLOSING: "it is not Closable",
        Law.CLONES: "no clone was given",
    }
    untried = {law: why.get(law, "there was no step to try it on") for law in Law if not search.tried[law]}
    if Law.SEEDED in plan.without:
        untried |= {law: f"it cannot be tried without {Law.SEEDED.value!r}" for law in Law if law in REPLAYED}
    untried |= {law: "left out" for law in plan.without}
    return {law: untried[law] for law in Law if law in untried}


class EnvironmentContract:
    """Inherit a test for every law of an environment; write `make` and `walk`.

    A test is skipped, and says why, where the world gives nothing to try a law on. All laws are tried on the same runs,
    once for the class.

    Attributes:
        seeds: the seeds to try.
        steps: the most steps of a run that is drawn.
        long: the steps of the long run that each seed has.
        examples: how many runs are drawn.
        refuses: whether the world can refuse; if so, the walk must meet a refusal.
        offered: whether an action that is not on offer must be refused (see `check_environment`).
        without: names of laws to leave out.
        clone: a method `clone(env, state)` that returns an independent environment at `state`, if there is one.

    Example:
        >>> from surefoot.environments.corridor import Corridor
        >>> class TestCorridor(EnvironmentContract):
        ...     long, examples = 40, 5
        ...     def make(self):
        ...         return Corridor(length=3)
        ...     def walk(self):
        ...         return ["left", "right", "right", "right"]
        >>> TestCorridor().test_a_refused_step_leaves_the_state_as_it_was()
    """

    seeds: ClassVar[Sequence[int]] = (0, 1)
    steps: ClassVar[int] = 60
    long: ClassVar[int] = 200
    examples: ClassVar[int] = 25
    refuses: ClassVar[bool] = True
    offered: ClassVar[bool] = False
    without: ClassVar[Collection[str]] = ()
    clone: Clone | None = None
    _search: ClassVar[Search | None] = None

    def make(self) -> Environment[Any, Any]:
        """Return a fresh environment."""
        raise NotImplementedError(f"write {type(self).__name__}.make(): it returns a fresh environment")

    def walk(self) -> Sequence[Any]:
        """Return actions to take, at least one of them refused if the world can refuse; they need not be on offer."""
        raise NotImplementedError(f"write {type(self).__name__}.walk(): it returns a list of actions")

    def test_it_is_an_environment(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.IS_ENVIRONMENT)

    def test_it_answers(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.ANSWERS)

    def test_states_are_plain(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.STATES)

    def test_actions_are_plain(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.ACTIONS)

    def test_no_action_is_offered_twice(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.ONCE)

    def test_every_step_returns_an_outcome(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.OUTCOMES)

    def test_outcomes_are_well_formed(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.FORM)

    def test_a_fault_is_never_accepted(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.FAULTS)

    def test_effects_are_plain(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.EFFECTS)

    def test_what_was_returned_stays_as_it_was(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.KEPT)

    def test_a_refused_step_leaves_the_state_as_it_was(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.REFUSED)

    def test_equal_states_offer_equal_actions(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.SAME_ACTIONS)

    def test_the_same_seed_gives_the_same_episode(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.SEEDED)

    def test_an_equal_copy_does_the_same(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.COPIES)

    def test_asking_for_actions_changes_nothing(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.ASKING)

    def test_nothing_returned_is_shared(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.SHARED)

    def test_a_reset_starts_afresh(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.RESET)

    def test_two_instances_go_separate_ways(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.APART)

    def test_a_refusal_leaves_no_trace(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.NO_TRACE)

    def test_a_reset_works_after_the_end(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.AFTER_DONE)

    def test_only_what_is_offered_is_accepted(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.OFFERED)

    def test_a_restored_snapshot_goes_on_the_same_way(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.SNAPSHOT)

    def test_signs_are_plain_and_change_nothing(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.SIGNS)

    def test_descriptions_are_plain_and_change_nothing(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.DESCRIPTIONS)

    def test_closing_twice_is_harmless(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.CLOSING)

    def test_a_clone_does_the_same(self) -> None:
        """Hold the world to the law of this name."""
        self._holds(Law.CLONES)

    def test_the_walk_meets_a_refusal(self) -> None:
        """Hold the walk to what it is for: without a refusal, the laws about refusals are not tried."""
        walk = self.walk()
        if not walk:
            raise ContractBroken("walk() must return one action or more, got none")
        if not self.refuses:
            _skip("refuses = False: this world takes every action")
        if not self._explored().walk_refusals:
            raise ContractBroken(
                f"no step of walk(), {list(walk)!r}, is refused: add a refused action, or set refuses = False"
            )

    def _holds(self, law: Law) -> None:
        """Fail where `law` is broken, skip where there was nothing to try it on."""
        search = self._explored()
        if law in search.breaches:
            raise ContractBroken(str(search.shortest(law)))
        why = _untried(search).get(law)
        if why is not None:
            first = next((other for other in Law if other in search.breaches), None)
            _skip(f"{law.value}: {why if first is None else f'{first.value!r} is broken, mend that first'}")

    def _explored(self) -> Search:
        """Return the search for this class, made when it is first needed."""
        search: Search | None = vars(type(self)).get("_search")
        if search is None:
            search = _search(
                self.make,
                seeds=self.seeds,
                steps=self.steps,
                long=self.long,
                examples=self.examples,
                policy=None,
                walk=self.walk(),
                clone=self.clone,
                offered=self.offered,
                without=self.without,
            )
            search.explore()
            type(self)._search = search
        search.plan = replace(search.plan, make=self.make, clone=self.clone)
        return search


def _skip(why: str) -> NoReturn:
    """Skip the test that is running.

    Raises:
        MissingExtra: pytest is not installed.
    """
    try:
        import pytest
    except ImportError as error:
        raise MissingExtra.of("pytest", extra="testing", what="contracts") from error
    pytest.skip(why)
