"""What was learned is written as a planning task; a planner's plan works in the real world."""

from __future__ import annotations

import importlib
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.environments.crafting import MEADOW, Crafting
from surefoot.errors import BadArgument
from surefoot.learners.conservative import ConservativeActionModel
from surefoot.learners.pddl import CannotExport, PlanningTask, to_pddl
from surefoot.learners.vocabulary import UNREAD, Vocabulary
from surefoot.protocols import Call, call_of

RECIPES = {thing: dict(recipe.uses) for thing, recipe in MEADOW.recipes.items()}
MEADOW_WORDS = Vocabulary(
    {
        "what": lambda state, args: args["0"],
        "place": lambda state, args: state["place"],
        "room": lambda state, args: state["free"] > 0,
        "axe": lambda state, args: "axe" in state["bag"],
        "pick": lambda state, args: "pick" in state["bag"],
        "carried": lambda state, args: args["0"] in state["bag"],
        "parts": lambda state, args: all(
            state["bag"].get(part, 0) >= number for part, number in RECIPES[args["0"]].items()
        ),
    },
    only={
        "go": ["what", "place"],
        "take": ["what", "place", "room", "axe", "pick"],
        "make": ["what", "place", "parts"],
        "drop": ["carried"],
    },
)
LAND = replace(MEADOW, room=3)
CALLS = [
    *(Call("go", {"0": place}) for place in MEADOW.places),
    *(Call("take", {"0": material}) for material in MEADOW.materials),
    *(Call("make", {"0": thing}) for thing in MEADOW.recipes),
]


def seen(world: Crafting, state: Any) -> dict[str, Any]:
    told = world.describe(state)
    return {name: told[name] for name in ("place", "bag", "free")}


@pytest.fixture(scope="module")
def meadow() -> ConservativeActionModel:
    """Return what is learned of the meadow from trying anything anywhere with anything in the bag."""
    model, world, rng = ConservativeActionModel(MEADOW_WORDS, caution="safe"), Crafting(LAND), random.Random(1)
    things = [*MEADOW.materials, *(thing for thing in RECIPES if thing != MEADOW.goal)]
    for _ in range(2500):
        bag = Counter(rng.choice(things) for _ in range(rng.randint(0, 3)))
        state = world.restore_state((rng.choice(sorted(MEADOW.places)), tuple(sorted(bag.items()))))
        action = rng.choice([action for action in world.actions(state) if action[0] != "drop"])
        call, outcome = call_of(action), world.step(action)
        model.observe(seen(world, state), call.name, call.args, outcome.accepted, next_state=seen(world, outcome.state))
    return model


def solve(task: PlanningTask, folder: Path) -> list[Call]:
    """Return the calls of a plan that the planner pyperplan finds, in what its own parser reads."""
    pytest.importorskip("pyperplan", reason="needs the package up-pyperplan")
    planner = importlib.import_module("pyperplan.planner")
    files = [folder / "domain.pddl", folder / "problem.pddl"]
    for file, text in zip(files, (task.domain, task.problem), strict=True):
        file.write_text(text, encoding="utf-8")
    plan = planner.search_plan(*map(str, files), planner.SEARCHES["gbf"], planner.HEURISTICS["hff"])
    assert plan is not None
    return task.calls_of(step.name.strip("()").split()[0] for step in plan)


def solve_as_another_reads_it(task: PlanningTask) -> list[Call]:
    """Return the calls of a plan for what the parser of unified-planning reads; loading that takes two seconds."""
    pytest.importorskip("up_pyperplan", reason="needs the packages unified-planning and up-pyperplan")
    planning = importlib.import_module("unified_planning.shortcuts")
    reader = importlib.import_module("unified_planning.io").PDDLReader()
    planning.get_environment().credits_stream = None
    problem = reader.parse_problem_string(task.domain, task.problem)
    with planning.OneshotPlanner(name="pyperplan") as planner:
        found = planner.solve(problem)
    assert found.plan is not None, found.status
    return task.calls_of(step.action.name for step in found.plan.actions)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("reader", ["pyperplan", pytest.param("unified-planning", marks=pytest.mark.nightly)])
def test_a_plan_made_of_what_was_learned_works_in_the_world(
    meadow: ConservativeActionModel, reader: str, tmp_path: Path
) -> None:
    world = Crafting(LAND)
    start = world.reset()
    calls = [call for call in CALLS if call.name == "go" or call.args["0"] in ("axe", "branch", "stone")]
    task = to_pddl(meadow, seen(world, start), {("bag", "axe"): 1, "place": "wood"}, calls, numbers=range(4))
    plan = solve(task, tmp_path) if reader == "pyperplan" else solve_as_another_reads_it(task)
    assert len(plan) >= 6
    for call in plan:
        outcome = world.step((call.name, call.args["0"]))
        assert outcome.accepted
    assert outcome.state[0] == "wood"
    assert dict(outcome.state[1])["axe"] == 1


def test_each_action_says_what_the_model_says(meadow: ConservativeActionModel) -> None:
    """Carry out random actions of the text by its own rules, and compare with the world."""
    world, rng = Crafting(LAND), random.Random(2)
    task = to_pddl(meadow, seen(world, world.reset()), {("bag", "axe"): 1}, CALLS, numbers=range(4))
    actions, statics = read_domain(task.domain), read_facts(task.problem)
    start, taken = {fact for fact in statics if fact[0].startswith("f-")}, Counter[str]()
    statics -= start
    for step in range(150):
        if step % 10 == 0:
            state, facts = world.reset(), set(start)
        possible = [
            (name, binding)
            for name, (parameters, needs, _) in actions.items()
            for binding in bindings(parameters, needs, facts | statics)
        ]
        name, binding = rng.choice(possible)
        call = task.calls[name]
        outcome = world.step((call.name, call.args["0"]))
        assert outcome.accepted, (state, call)
        state = outcome.state
        taken[call.name] += 1
        _, _, makes = actions[name]
        facts -= {bound(atom[1], binding) for atom in makes if atom[0] == "not"}
        facts |= {bound(atom, binding) for atom in makes if atom[0] != "not"}
        now = seen(world, state)
        assert ("f-place", now["place"]) in facts
        assert ("f-free", f"n{now['free']}") in facts
        for thing in MEADOW.materials:
            held = f"n{now['bag'][thing]}" if thing in now["bag"] else "nothing"
            known = any(fact[0] == f"f-bag-{thing}" for fact in facts)
            assert (f"f-bag-{thing}", held) in facts or (held == "nothing" and not known)
    assert min(taken[verb] for verb in ("go", "take")) > 10


def parse(text: str) -> Any:
    """Return a PDDL text as nested tuples."""
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    stack: list[list[Any]] = [[]]
    for word in words:
        if word == "(":
            stack.append([])
        elif word == ")":
            done = tuple(stack.pop())
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    return stack[0][0]


def read_domain(text: str) -> dict[str, Any]:
    """Return {action: (parameters, preconditions, effects)}."""
    found = {}
    for part in parse(text):
        if part[0] == ":action":
            fields = dict(zip(part[2::2], part[3::2], strict=True))
            found[part[1]] = fields[":parameters"], fields[":precondition"][1:], fields[":effect"][1:]
    return found


def read_facts(text: str) -> set[Any]:
    return next(set(part[1:]) for part in parse(text) if part[0] == ":init")


def bound(atom: Any, binding: dict[str, str]) -> Any:
    return tuple(binding.get(word, word) for word in atom)


def bindings(parameters: Any, needs: Any, facts: set[Any], known: dict[str, str] | None = None) -> list[dict[str, str]]:
    """Return every way to fill in the parameters so that all preconditions hold."""
    known = known or {}
    if not needs:
        return [known]
    found = []
    for fact in facts:
        wanted = bound(needs[0], known)
        if fact[0] == wanted[0] and all(w in (f, *parameters) for w, f in zip(wanted[1:], fact[1:], strict=True)):
            more = {w: f for w, f in zip(wanted[1:], fact[1:], strict=True) if w in parameters}
            found += bindings(parameters, needs[1:], facts, {**known, **more})
    return found


# -- the text ----------------------------------------------------------------------------------------------------------


def counter(**options: Any) -> ConservativeActionModel:
    """Return what is learned of a counter that goes up while it is on."""
    model = ConservativeActionModel(Vocabulary({"on": lambda state, args: state["on"]}), **options)
    for n in range(5):
        for on in (True, False):
            after = {"on": on, "n": n + 1, "box": {}} if on else {"on": on, "n": n, "box": {}}
            model.observe({"on": on, "n": n, "box": {}}, "count", {}, on, next_state=after)
            model.observe(
                {"on": on, "n": n, "box": {}}, "press", {}, not on, next_state={"on": True, "n": n, "box": {}}
            )
    return model


def test_numbers_end_where_they_are_said_to_end() -> None:
    start = {"on": False, "n": 0, "box": {}}
    task = to_pddl(counter(), start, {"n": 3}, [Call("count"), Call("press")], numbers=range(4))
    assert "count {}: n would become 4, which is not in `numbers`" in task.left_out
    assert {fact for fact in read_facts(task.problem) if fact[0] == "to-0"} == {
        ("to-0", f"n{n}", f"n{n + 1}") for n in range(3)
    }
    assert set(task.calls) == {"count", "press"}
    with pytest.raises(BadArgument, match="goal: no known call makes n 4"):
        to_pddl(counter(), start, {"n": 4}, [Call("count"), Call("press")], numbers=range(4))
    with pytest.raises(BadArgument, match="goal: no known call makes m 4"):
        to_pddl(counter(), start, {"m": 4}, [Call("press")])


def test_values_and_calls_that_look_alike_get_names_of_their_own() -> None:
    model = ConservativeActionModel(Vocabulary({"a": lambda state, args: state["a"]}))
    for a in (1, "1", 1.0, "A b", "a-b"):
        for n in (1, 2):
            model.observe({"a": a, "n": n}, "set", {"to": "A b"}, True, next_state={"a": "A b", "n": n})
            model.observe({"a": a, "n": n}, "set", {"to": "a-b"}, True, next_state={"a": "a-b", "n": n})
    calls = [Call("set", {"to": "A b"}), Call("set", {"to": "a-b"})]
    task = to_pddl(model, {"a": "1", "n": 1}, {"a": "a-b"}, calls)
    assert [task.calls[name].args["to"] for name in sorted(task.calls)] == ["A b", "a-b"]
    assert "(:constants a-b a-b-2 n1" in task.domain


def test_a_plan_is_read_as_calls() -> None:
    task = to_pddl(counter(), {"on": False, "n": 0, "box": {}}, {"n": 1}, [Call("count"), Call("press")])
    assert task.calls_of("; a plan\n(press)\n(COUNT n0 n1)\n\n; cost = 2") == [Call("press"), Call("count")]
    with pytest.raises(BadArgument, match="the plan has 'dance', which is no action of this task"):
        task.calls_of("(dance)")


# -- what cannot be said -----------------------------------------------------------------------------------------------


def refusing(predicate: Any, start: Any = None, after: Any = None, action: str = "do") -> None:
    """Export a model with one condition."""
    model = ConservativeActionModel(Vocabulary({"a": predicate}))
    start = {"n": 1, "bag": {"axe": 1}} if start is None else start
    for n in (1, 2, 3):
        before = {**start, "n": n}
        model.observe(before, "do", {}, True, next_state={**before, **(after or {"n": n + 1})})
    to_pddl(model, start, {"n": 5}, [Call(action)])


@pytest.mark.parametrize(
    "predicate",
    [
        lambda state, args: len(state["bag"]) > 0,
        lambda state, args: sum(state["bag"].values()) > 0,
        lambda state, args: bool(state["bag"]),
        lambda state, args: state["bag"] == {"axe": 1},
        lambda state, args: [name for name in state["bag"]],
    ],
)
def test_conditions_that_read_a_whole_object_are_refused(predicate: Any) -> None:
    with pytest.raises(CannotExport, match=r"do \{\}: a condition reads all of bag: PDDL knows single fields"):
        refusing(predicate)


def test_states_and_effects_without_fields_are_refused() -> None:
    model = counter()
    with pytest.raises(CannotExport, match=r"start is \('camp', \(\)\): PDDL needs states that are objects"):
        to_pddl(model, ("camp", ()), {"n": 1}, [Call("count")])  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(CannotExport, match=r"do \{\} changes the object box as a whole"):
        refusing(lambda state, args: True, after={"box": {"new": 1}})
    with pytest.raises(CannotExport, match="nothing is known that could be planned with: no call is accepted"):
        refusing(lambda state, args: True, action="dance")
    untold = ConservativeActionModel(Vocabulary({"a": lambda state, args: UNREAD}))
    untold.observe({"n": 1}, "do", {}, True)
    with pytest.raises(CannotExport, match="accepted, but its next state is not determined"):
        to_pddl(untold, {"n": 1}, {"n": 2}, [Call("do")])


def test_fields_that_take_more_and_more_values_are_refused() -> None:
    with pytest.raises(CannotExport, match="n takes 101 values and more"):
        to_pddl(counter(), {"on": True, "n": 0, "box": {}}, {"n": 3}, [Call("count")], numbers=range(10**6))


@pytest.mark.parametrize(
    ("goal", "calls", "message"),
    [
        ({}, [Call("count")], "goal must name one field or more, got none"),
        ({"n": 1}, [], "calls must be one or more Call objects, got none"),
        ({"n": 1}, ["count"], "calls must be Call objects, got 'count': make one with call_of"),
    ],
)
def test_arguments_are_checked(goal: Any, calls: Any, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        to_pddl(counter(), {"on": True, "n": 0, "box": {}}, goal, calls)
