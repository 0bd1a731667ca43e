"""What accepted calls change is learned, predicted where it is determined, and never guessed."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import open_journal, values
from surefoot.errors import BadArgument, ValueRejected
from surefoot.learners import _spaces
from surefoot.learners.conservative import CAUTIONS, ConservativeActionModel
from surefoot.learners.effects import Arg, Edit, Field, apply_edits
from surefoot.learners.vocabulary import Vocabulary

ALIKE = Vocabulary({"always": lambda state, args: True})
THINGS = ("axe", "bow", "log")


def taught(rows: Any, vocabulary: Vocabulary = ALIKE, **options: Any) -> ConservativeActionModel:
    model = ConservativeActionModel(vocabulary, **options)
    for state, args, after in rows:
        model.observe(state, "do", args, True, next_state=after)
    return model


def said(model: ConservativeActionModel, action: str = "do") -> list[str]:
    return [str(rule) for rule in model.effects(action)]


# -- hidden programs ---------------------------------------------------------------------------------------------------

EDITS: dict[str, list[Edit]] = {  # by the place that they edit; places do not contain one another
    "x": [
        Edit("add", ("x",), 1),
        Edit("subtract", ("x",), 2),
        Edit("add", ("x",), Arg("n")),
        Edit("subtract", ("x",), Arg("n")),
        Edit("add", ("x",), Field(("y",))),
        Edit("set", ("x",), 3),
        Edit("set", ("x",), Field(("y",))),
    ],
    "at": [Edit("set", ("at",), "hall"), Edit("set", ("at",), Arg("what")), Edit("set", ("at",), Field(("home",)))],
    "lit": [Edit("set", ("lit",), True), Edit("set", ("lit",), False)],
    "bag": [
        Edit("gain", ("bag", Arg("what")), 1),
        Edit("gain", ("bag", "log"), 2),
        Edit("gain", ("bag", Arg("what")), Arg("n")),
        Edit("set", ("bag", Arg("what")), Arg("n")),
        Edit("set", ("bag",), {}),
    ],
    "path": [
        Edit("append", ("path",), Arg("what")),
        Edit("append", ("path",), "log"),
        Edit("append", ("path",), Field(("at",))),
    ],
    "orders": [
        Edit("set", ("orders", Arg("id"), "status"), "cancelled"),
        Edit("set", ("orders", Arg("id"), "price"), Field(("y",))),
        Edit("delete", ("orders", Arg("id"))),
    ],
    "gold": [Edit("subtract", ("gold",), Field(("orders", Arg("id"), "price"))), Edit("add", ("gold",), 0.1)],
    "pair": [Edit("add", ("pair", 0), 1), Edit("gain", ("pair", 1, Arg("what")), 1), Edit("set", ("pair", 1), ())],
    "had": [Edit("insert", ("had",), Arg("n")), Edit("remove", ("had",), 5), Edit("set", ("had",), ())],
}


def some_state(rng: random.Random) -> dict[str, Any]:
    return {
        "x": rng.randint(0, 4),
        "y": rng.randint(0, 4),
        "at": rng.choice(["hall", "yard", *THINGS]),
        "home": rng.choice(["hall", "yard"]),
        "lit": rng.random() < 0.5,
        "bag": {thing: rng.randint(1, 3) for thing in THINGS if rng.random() < 0.5},
        "path": [rng.choice(THINGS) for _ in range(rng.randint(0, 2))],
        "orders": {
            id: {"status": rng.choice(["open", "sent"]), "price": rng.randint(1, 4)}
            for id in ("A1", "A2", *(["A3"] if rng.random() < 0.5 else []))
        },
        "gold": rng.choice([1.5, 2.25, 10.1, 0.3]),
        "pair": (rng.randint(0, 3), tuple((thing, rng.randint(1, 3)) for thing in THINGS if rng.random() < 0.5)),
        "had": tuple(sorted({5, *(rng.randint(0, 9) for _ in range(rng.randint(0, 2)))})),
    }


def some_args(rng: random.Random) -> dict[str, Any]:
    return {"n": rng.randint(1, 3), "what": rng.choice(THINGS), "id": rng.choice(["A1", "A2"])}


def some_rows(program: list[Edit], rng: random.Random, number: int) -> list[tuple[Any, Any, Any]]:
    rows: list[tuple[Any, Any, Any]] = []
    for _ in range(number):
        state, args = some_state(rng), some_args(rng)
        rows.append((state, args, apply_edits(state, program, args)))
    return rows


program_st = st.lists(st.sampled_from(sorted(EDITS)), max_size=3, unique=True).flatmap(
    lambda places: st.tuples(*(st.sampled_from(EDITS[place]) for place in places)).map(list)
)


@given(program_st, st.integers(0, 12), st.integers(0, 10**6))
def test_a_careful_model_never_names_a_wrong_next_state(program: list[Edit], number: int, seed: int) -> None:
    rng = random.Random(seed)
    model = taught(some_rows(program, rng, number), caution="safe")
    for state, args, after in some_rows(program, rng, 8):
        predicted = model.predict(state, "do", args).next_state
        assert predicted is None or values.encode(predicted) == values.encode(after)


@pytest.mark.parametrize("caution", ["balanced", "safe"])
def test_hidden_programs_are_found(caution: str) -> None:
    rng = random.Random(8)
    programs = [[edit] for edits in EDITS.values() for edit in edits] if caution == "balanced" else []
    programs += [[rng.choice(EDITS[place]) for place in rng.sample(sorted(EDITS), 3)] for _ in range(3)]
    for program in programs:
        model = taught(some_rows(program, rng, 25), caution=caution)
        for state, args, after in some_rows(program, rng, 5):
            assert model.predict(state, "do", args).next_state == after, [str(edit) for edit in program]
        (rule,) = model.effects("do")
        state, args, after = some_rows(program, rng, 1)[0]
        assert rule.edits is not None
        assert apply_edits(state, rule.edits, args) == after
        assert len(rule.edits) == len(program)


def test_a_tuple_of_pairs_is_an_object() -> None:
    rows = [
        (("camp", ()), {"0": "log"}, ("camp", (("log", 1),))),
        (("wood", (("axe", 1), ("log", 1))), {"0": "log"}, ("wood", (("axe", 1), ("log", 2)))),
        (("wood", (("log", 1),)), {"0": "axe"}, ("wood", (("axe", 1), ("log", 1)))),
    ]
    model = taught(rows)
    assert said(model) == ["gain 1 of [1][{0}] (3 calls)"]
    assert model.predict(("hill", (("axe", 2),)), "do", {"0": "bow"}).next_state == ("hill", (("axe", 2), ("bow", 1)))


# -- never a guess -----------------------------------------------------------------------------------------------------


def test_one_call_answers_only_for_itself() -> None:
    model = taught([({"x": 5, "y": 6}, {}, {"x": 6, "y": 6})])
    assert model.predict({"x": 5, "y": 6}, "do", {}).next_state == {"x": 6, "y": 6}
    assert model.predict({"x": 7, "y": 6}, "do", {}).next_state is None  # 6, or 8?
    assert model.predict({"x": 5, "y": 9}, "do", {}).next_state is None  # 6, or 9?
    assert model.effects("do")[0].settled is False
    model.observe({"x": 7, "y": 1}, "do", {}, True, next_state={"x": 8, "y": 1})
    assert model.predict({"x": 9, "y": 6}, "do", {}).next_state == {"x": 10, "y": 6}
    assert said(model) == ["add 1 to x (2 calls)"]


def test_a_careful_model_asks_whether_what_never_changed_may_be_set() -> None:
    rows: list[Any] = [({"door": "open", "n": n}, {}, {"door": "open", "n": n + 1}) for n in range(4)]
    shut = {"door": "shut", "n": 9}
    assert taught(rows, caution="safe").predict(shut, "do", {}).next_state is None  # does it open the door?
    assert taught(rows).predict(shut, "do", {}).next_state == {"door": "shut", "n": 10}
    seen = [*rows, ({"door": "shut", "n": 1}, {}, {"door": "shut", "n": 2})]
    assert taught(seen, caution="safe").predict(shut, "do", {}).next_state == {"door": "shut", "n": 10}


def test_which_argument_it_was_is_left_open() -> None:
    model = taught([({"at": "a"}, {"here": "b", "there": "b"}, {"at": "b"})])
    assert model.predict({"at": "a"}, "do", {"here": "b", "there": "b"}).next_state == {"at": "b"}
    assert model.predict({"at": "a"}, "do", {"here": "c", "there": "d"}).next_state is None
    model.observe({"at": "a"}, "do", {"here": "c", "there": "d"}, True, next_state={"at": "d"})
    assert model.predict({"at": "a"}, "do", {"here": "x", "there": "y"}).next_state == {"at": "y"}
    assert model.predict({"at": "a"}, "do", {"here": "x"}).next_state is None


def test_an_edit_that_cannot_be_made_is_not_predicted() -> None:
    model = taught(
        [
            ({"bag": ["axe", "key"]}, {"x": "axe"}, {"bag": ["key"]}),
            ({"bag": ["rope", "bow"]}, {"x": "bow"}, {"bag": ["rope"]}),  # not the first one
        ]
    )
    assert model.predict({"bag": ["key", "axe"]}, "do", {"x": "axe"}).next_state == {"bag": ["key"]}
    assert model.predict({"bag": ["key"]}, "do", {"x": "axe"}).next_state is None
    assert model.predict({"bag": 5}, "do", {"x": "axe"}).next_state is None
    assert model.predict({}, "do", {"x": "axe"}).next_state is None


def test_what_is_not_accepted_has_no_next_state() -> None:
    model = taught([({"x": n}, {}, {"x": n + 1}) for n in range(3)], Vocabulary({"x": lambda state, args: state["x"]}))
    assert model.predict({"x": 9}, "do", {}).next_state is None
    assert model.predict({"x": 1}, "do", {}).next_state == {"x": 2}
    assert model.predict({"x": 1}, "sleep", {}).next_state is None


def test_look_alikes_are_different_values() -> None:
    model = taught([({"x": 1}, {"v": True}, {"x": True}), ({"x": 0}, {"v": 1}, {"x": 1})])
    found = model.predict({"x": 7}, "do", {"v": 1.0}).next_state
    assert values.encode(found) == values.encode({"x": 1.0})


# -- effects that depend, and effects that vary ------------------------------------------------------------------------

CASES = Vocabulary({"lit": lambda state, args: state["lit"], "size": lambda state, args: state["size"]})


def conditional(state: dict[str, Any]) -> dict[str, Any]:
    return {**state, "n": state["n"] + (1 if state["lit"] else -1)}


def test_effects_that_depend_on_one_condition_are_known_in_new_cases() -> None:
    states = [{"lit": lit, "size": size, "n": n} for lit in (True, False) for size in "sml" for n in (3, 5, 8)]
    model = taught([(s, {}, conditional(s)) for s in states if (s["lit"], s["size"]) != (False, "l")], CASES)
    asked = {"lit": False, "size": "l", "n": 20}
    assert model.predict(asked, "do", {}).next_state == conditional(asked)
    assert said(model) == ["when lit is False: subtract 1 from n (6 calls)", "when lit is True: add 1 to n (9 calls)"]
    careful = taught([(s, {}, conditional(s)) for s in states[:-3]], CASES, caution="safe")
    assert careful.predict(asked, "do", {}).next_state is None  # this very case was not seen
    assert careful.predict({"lit": True, "size": "s", "n": 5}, "do", {}).next_state is not None


def test_effects_that_depend_on_two_conditions_are_known_by_case() -> None:
    def both(state: dict[str, Any]) -> dict[str, Any]:
        return {**state, "n": state["n"] + (1 if state["lit"] == state["size"] else 2)}

    states = [{"lit": lit, "size": size, "n": n} for lit in (0, 1) for size in (0, 1) for n in (3, 5, 8)]
    model = taught([(s, {}, both(s)) for s in states], CASES)
    for lit, size in itertools.product((0, 1), (0, 1)):
        asked = {"lit": lit, "size": size, "n": 20}
        assert model.predict(asked, "do", {}).next_state == both(asked)
    assert said(model)[0] == "when lit is 0 and size is 0: add 1 to n (3 calls)"


def test_effects_that_vary_are_counted_and_not_predicted() -> None:
    rng = random.Random(3)
    rows = [({"n": n}, {"to": "a"}, {"n": n + (1 if rng.random() < 0.75 else 2)}) for n in range(100)]
    model = taught(rows)
    found = model.predict({"n": 200}, "do", {"to": "a"})
    assert (found.verdict, found.next_state, found.effects, found.confidence) == ("accept", None, None, 0.0)
    (rule,) = model.effects("do")
    times = Counter(after["n"] - before["n"] for before, _, after in rows)
    assert rule.edits is None
    assert rule.seen == (("add 1 to n", times[1]), ("add 2 to n", times[2]))
    assert rule.confidence == times[1] / 100
    noisy = taught([({"n": n}, {}, {"n": n * n}) for n in range(60)])
    assert noisy.effects("do")[0].seen == ()


def test_nothing_changes_is_an_effect() -> None:
    model = taught([({"n": n}, {}, {"n": n}) for n in (1, 2)])
    found = model.predict({"n": 3}, "do", {})
    assert (found.next_state, found.effects, found.confidence) == ({"n": 3}, [], 1.0)
    assert said(model) == ["nothing changes (2 calls)"]


# -- what the environment reports --------------------------------------------------------------------------------------


def test_reported_effects_may_hold_arguments() -> None:
    model = ConservativeActionModel(ALIKE)
    for place in ("wood", "hill"):
        model.observe({}, "go", {"0": place}, True, {"place": place})
        model.observe({}, "take", {"0": place}, True, {"bag": {place: 1}})
    assert model.predict({}, "go", {"0": "kiln"}).effects == {"place": "kiln"}
    assert model.predict({}, "take", {"0": "kiln"}).effects == {"bag": {"kiln": 1}}
    assert model.predict({}, "take", {"0": "kiln"}).confidence == 1.0
    assert said(model, "take") == ["set bag[{0}] to 1 (2 calls)"]
    model.observe({}, "go", {"0": "camp"}, True)  # once nothing was reported
    assert model.predict({}, "go", {"0": "kiln"}).effects is None


@pytest.mark.parametrize("caution", CAUTIONS)
@pytest.mark.parametrize("told", ["the same", "by argument", "by condition", "by both", "different"])
def test_it_does_not_matter_when_reported_effects_are_asked_for(told: str, caution: str) -> None:
    rng = random.Random(told)
    vocabulary = Vocabulary({"a": lambda state, args: state["a"], "b": lambda state, args: state["b"]})
    often, late = (ConservativeActionModel(vocabulary, caution=caution) for _ in range(2))
    for _ in range(150):
        state = {"a": rng.choice("xyz"), "b": rng.choice("xyz")}
        args = {"id": rng.choice(["x", "o1", "o2", 1, True])}
        effect = {
            "the same": {"status": "done"},
            "by argument": {"last": args["id"]},
            "by condition": {"status": state["a"]},
            "by both": {"status": state["a"], "last": args["id"]},
            "different": {"n": rng.randrange(12)},
        }[told]
        for model in (often, late):
            model.observe(state, "do", args, True, effect)
        answer = often.predict(state, "do", args)
        often.effects("do")
    assert often.fingerprint() == late.fingerprint()
    assert often.effects("do") == late.effects("do")
    for state in ({"a": a, "b": b} for a in "xyz" for b in "xyz"):
        assert often.predict(state, "do", {"id": "o3"}) == late.predict(state, "do", {"id": "o3"})
    assert (answer.effects is None) == (told == "different")


def test_an_effect_that_may_have_come_from_an_argument_is_not_taken_for_granted() -> None:
    for caution, expected in (("balanced", None), ("safe", None), ("seed", {"place": "wood"})):
        model = ConservativeActionModel(ALIKE, caution=caution)
        model.observe({}, "go", {"0": "wood", "fast": True}, True, {"place": "wood"})
        assert model.predict({}, "go", {"0": "hill", "fast": True}).effects == expected
        assert model.predict({}, "go", {"0": "wood", "fast": False}).effects == {"place": "wood"}
        model.observe({}, "go", {"0": "hill"}, True, {"place": "wood"})
        found = model.predict({}, "go", {"0": "kiln"})
        assert (found.effects, found.confidence) == ({"place": "wood"}, 1.0)  # it was always the wood


def test_a_reported_effect_goes_before_the_edits() -> None:
    model = ConservativeActionModel(ALIKE)
    for n in range(3):
        model.observe({"n": n}, "do", {}, True, {"n": "one more"}, next_state={"n": n + 1})
    found = model.predict({"n": 7}, "do", {})
    assert (found.effects, found.next_state) == ({"n": "one more"}, {"n": 8})


def test_what_is_predicted_is_the_callers_own() -> None:
    state, after = {"bag": ["axe"]}, {"bag": ["axe", "bow"]}
    model = taught([(state, {}, after)])
    after["bag"].append("more")
    found = model.predict(state, "do", {})
    assert found.next_state == {"bag": ["axe", "bow"]}
    found.next_state["bag"].append("more")
    found.effects[0]["path"].append("more")
    state["bag"].append("more")
    assert model.predict({"bag": ["axe"]}, "do", {}).next_state == {"bag": ["axe", "bow"]}


# -- histories ---------------------------------------------------------------------------------------------------------

small_st = st.fixed_dictionaries({"lit": st.booleans(), "size": st.sampled_from("sm"), "n": st.integers(0, 3)})
observed_st = st.tuples(small_st, st.integers(0, 2), st.sampled_from(["add", "set", "odd", "not told", "refused"]))


def learned(rows: Any, **options: Any) -> ConservativeActionModel:
    model = ConservativeActionModel(CASES, **options)
    for state, k, kind in rows:
        effect = {"k": k} if kind != "not told" else None
        after = {**state, "n": state["n"] + k if kind == "add" else k, **({"odd": k} if kind == "odd" else {})}
        if kind == "refused":
            model.observe(state, "do", {"k": k}, False)
        else:
            model.observe(state, "do", {"k": k}, True, effect, next_state=None if kind == "not told" else after)
    return model


def answers(model: ConservativeActionModel) -> list[Any]:
    asked = itertools.product((True, False), "sm", range(5), range(3))
    found = [model.predict({"lit": lit, "size": s, "n": n}, "do", {"k": k}) for lit, s, n, k in asked]
    return [(p.verdict, p.effects, p.next_state, p.confidence) for p in found]


@given(st.lists(observed_st, max_size=14), st.randoms(use_true_random=False))
@settings(max_examples=settings().max_examples // 2)
def test_any_order_gives_the_same_effects(rows: Any, rng: random.Random) -> None:
    shuffled = [*rows]
    rng.shuffle(shuffled)
    one, other = learned(rows), learned(shuffled)
    assert one.fingerprint() == other.fingerprint()
    assert one.effects("do") == other.effects("do")
    assert answers(one) == answers(other)


@given(st.lists(observed_st, max_size=10), st.lists(observed_st, max_size=10))
@settings(max_examples=settings().max_examples // 2)
def test_merging_is_observing_both(mine: Any, theirs: Any) -> None:
    both, merged = learned([*mine, *theirs]), learned(mine).merge(learned(theirs))
    assert merged.fingerprint() == both.fingerprint()
    assert merged.effects("do") == both.effects("do")
    assert answers(merged) == answers(both)


def test_a_merged_model_goes_its_own_way() -> None:
    other = taught([({"n": 1}, {}, {"n": 2})])
    before = other.fingerprint()
    model = ConservativeActionModel(ALIKE).merge(other)
    model.observe({"n": 3}, "do", {}, True, next_state={"n": 9})
    assert other.fingerprint() == before


@given(st.lists(observed_st, max_size=8))
@settings(max_examples=settings().max_examples // 2)
def test_replay_and_another_vocabulary_keep_the_effects(rows: Any) -> None:
    journal = open_journal()
    model = learned(rows, journal=journal)
    replayed = ConservativeActionModel.replay(journal, CASES)
    assert replayed.fingerprint() == model.fingerprint()
    assert answers(replayed) == answers(model)
    relearned = model.relearn(ALIKE)
    assert relearned.effects("do") == [] or relearned.effects("do")[0].times <= len(rows)


def test_observe_returns_what_predict_said() -> None:
    model = taught([({"n": 0}, {}, {"n": 1})])
    for n in range(4):
        before = model.predict({"n": n}, "do", {})
        assert model.observe({"n": n}, "do", {}, True, next_state={"n": n + 1}) == before


def test_effects_of_a_tightened_rule_are_those_that_are_left() -> None:
    model = ConservativeActionModel(Vocabulary({"a": lambda state, args: state["a"]}))
    for n in range(50):
        model.observe({"a": 1, "n": n}, "do", {}, True, next_state={"a": 1, "n": 0})
        model.observe({"a": 2, "n": n}, "do", {}, True, next_state={"a": 2, "n": n + 1})
    assert len(model.effects("do")) == 2
    for n in range(20):
        model.observe({"a": 1, "n": n}, "do", {}, False)
        model.observe({"a": 2, "n": n}, "do", {}, True, next_state={"a": 2, "n": n + 1})
    assert [change.kind for change in model.changes] == ["tightened"]
    assert model.effects("do")[0].edits == (Edit("add", ("n",), 1),)


def test_memory_is_bounded_by_cases() -> None:
    model = taught([({"n": n, "ids": {f"id{n}": n}}, {}, {"n": n + 1, "ids": {f"id{n}": n}}) for n in range(300)])
    programs = model._foresight.states["do"]
    assert len(programs.cases) == 1
    assert len(programs.whole.fits) < 20
    assert len(programs.whole.labels) < 20


@given(program_st, st.integers(1, 6), st.integers(0, 10**6))
def test_what_is_determined_is_all_that_is_possible(program: list[Edit], number: int, seed: int) -> None:
    rng = random.Random(seed)
    model = taught(some_rows(program, rng, number))
    for state, args, _ in some_rows(program, rng, 3):
        said = model.predict(state, "do", args)
        thought = model.possible(state, "do", args)
        if said.verdict == "accept" and said.next_state is not None:
            assert thought == (said.next_state,)


def test_what_was_seen_once_may_be_several_things() -> None:
    model = taught([({"n": 1, "m": 1}, {}, {"m": 1})])
    assert model.possible({"n": 3, "m": 2}, "do") == ({"m": 2}, {"n": 2, "m": 2})  # gone, or one fewer
    assert model.possible({"n": 3, "m": 2}, "do", most=1) == ({"m": 2},)
    assert model.possible({"n": 3}, "wait") == ()
    with pytest.raises(BadArgument, match="most must be an int >= 1"):
        model.possible({}, "do", most=0)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "args", "accepted", "after", "error", "message"),
    [
        ({"a": 1}, {}, True, {"a": {1}}, ValueRejected, "set has no order"),
        ({"a": {1}}, {}, True, {"a": 1}, ValueRejected, "set has no order"),
        ({"a": 1}, {"x": b"y"}, True, {"a": 1}, ValueRejected, "bytes is not a plain value"),
        ({"a": 1}, {}, True, {"a": float("nan")}, ValueRejected, "not a finite number"),
        ({"a": 1}, {}, False, {"a": 2}, BadArgument, "a refusal changes nothing"),
    ],
)
def test_what_is_refused_changes_nothing(
    state: Any, args: Any, accepted: bool, after: Any, error: Any, message: str
) -> None:
    model = taught([({"a": 1}, {}, {"a": 2})], journal=open_journal())
    before = model.fingerprint()
    with pytest.raises(error, match=message):
        model.observe(state, "do", args, accepted, next_state=after)
    assert model.fingerprint() == before
    assert model.observations == 1


def test_a_refused_call_may_tell_the_state_it_stayed_in() -> None:
    model = taught([])
    model.observe({"a": 1}, "do", {}, False, next_state={"a": 1})
    assert model.effects("do") == []


def test_a_state_that_is_too_large_is_not_learned_from() -> None:
    large = {f"f{n}": n for n in range(_spaces.LARGEST + 1)}
    model = taught([(large, {}, {**large, "f0": 1})])
    assert model.predict(large, "do", {}).next_state is None
    assert model.effects("do")[0].edits is None
    deep: Any = ()
    for _ in range(5000):
        deep = (deep,)
    with pytest.raises(ValueRejected, match="nested too deep"):
        model.observe((deep, 1), "do", {}, True, next_state=(deep, 2))
