"""Storm's objects, programs and files both ways; and that Storm reads what we write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.errors import BadModel
from surefoot.models import MDP, POMDP, MarkovChain, Model, RewardModel
from surefoot.models.exchange.drn import read_drn, write_drn
from surefoot.models.exchange.prism import write_prism
from surefoot.models.exchange.storm import from_stormpy, read_jani, read_prism_program, to_stormpy
from surefoot.models.markov import ObservedModel

stormpy = pytest.importorskip("stormpy", reason="stormpy is missing: pip install 'surefoot[storm]' (make peers)")
files: Any = pytest.importorskip("stormpy.examples.files")


def looped(model: Model) -> Model:
    """Return the model as Storm has it: a branch back where there is no choice, targets rising, no names of states."""
    dead = np.flatnonzero(np.diff(model.choice_start) == 0).tolist()
    rows: list[tuple[int, str, dict[int, int]]] = []
    for state in range(model.n_states):
        for choice in model.choices(state):
            first, last = int(model.branch_start[choice]), int(model.branch_start[choice + 1])
            places = sorted(range(first, last), key=model.target.__getitem__)
            name = model.action_name(int(model.choice_action[choice]))
            rows.append((state, name, {int(model.target[at]): at for at in places}))
        if state in dead:
            rows.append((state, "", {state: -1}))
    at = np.array([place for _, _, targets in rows for place in targets.values()])
    choice_of = np.array(
        [-1 if -1 in t.values() else int(model.branch_choice[next(iter(t.values()))]) for _, _, t in rows]
    )

    def taken(array: Any, places: Any, missing: float) -> Any:
        return None if array is None else np.where(places < 0, missing, np.asarray(array)[places])

    state_kept = np.ones(model.n_states)
    state_kept[dead] = 0
    rewards = {}
    for name, reward in model.rewards.items():
        parts = {
            "state": None if reward.state is None else reward.state * state_kept,
            "choice": taken(reward.choice, choice_of, 0.0),
            "transition": taken(reward.transition, at, 0.0),
        }
        kept = {part: array for part, array in parts.items() if array is not None and np.any(array)}
        zeros = (
            {}
            if kept or reward.state is None and (reward.choice is not None or reward.transition is not None)
            else {"state": np.zeros(model.n_states)}
        )
        rewards[name] = RewardModel(**(kept or zeros))
    names = list(dict.fromkeys(name for _, name, _ in rows))
    starts = np.flatnonzero(model.initial)
    changes: dict[str, Any] = {
        "choice_start": np.concatenate(
            [[0], np.cumsum(np.bincount([s for s, _, _ in rows], minlength=model.n_states))]
        ),
        "branch_start": np.concatenate([[0], np.cumsum([len(t) for _, _, t in rows])]),
        "target": [target for _, _, targets in rows for target in targets],
        "probability": None if model.has_intervals else taken(model.probability, at, 1.0),
        "lower": taken(model.lower, at, 1.0),
        "upper": taken(model.upper, at, 1.0),
        "initial": {int(s): 1 / len(starts) for s in starts},
        "state_names": None,
        "state_valuations": None,
        "rewards": rewards,
        "labels": {name: model.labels[name] for name in sorted(model.labels) if name != "init"},
        "choice_action": [names.index(name) for _, name, _ in rows] if model.has_actions else None,
        "action_names": names if model.has_actions else None,
    }
    if isinstance(model, ObservedModel):
        changes |= {"observation_names": None, "observation_valuations": None}
    return model.replace(**changes)


def prepared(model: Model) -> Model:
    """Return the model with what Storm has words for: `init` is where it starts, unnamed actions are alone."""
    changes: dict[str, Any] = {"labels": {name: mask for name, mask in model.labels.items() if name != "init"}}
    if model.has_actions:
        changes["action_names"] = [name or "unnamed" for name in model.action_names]
    if model.kind == "pomdp":
        changes["observation"] = [1, 1, 0]
        changes["observation_names"] = None
        changes["observation_valuations"] = None
    return model.replace(**changes)


def test_the_round_trip_of_storms_objects_is_exact(model: Model) -> None:
    model = prepared(model)
    back = from_stormpy(to_stormpy(model))
    wanted = looped(model)
    if model.kind == "hmm":  # Storm has it as a POMDP of one action
        assert isinstance(back, POMDP)
        for name in ("choice_start", "branch_start", "target", "probability", "observation", "initial"):
            assert np.array_equal(getattr(back, name), getattr(wanted, name))
        return
    assert back == wanted


def storm_rows(theirs: Any) -> list[list[tuple[int, Any]]]:
    matrix = theirs.transition_matrix
    value = (lambda v: (v.lower(), v.upper())) if theirs.supports_uncertainty else float
    return [[(e.column, value(e.value)) for e in matrix.get_row(row)] for row in range(matrix.nr_rows)]


def test_storm_reads_our_drn_as_the_same_model(model: Model, tmp_path: Path) -> None:
    write_drn(model, tmp_path / "m.drn")
    options = stormpy.io.DirectEncodingParserOptions()
    options.build_choice_labeling = True
    build = stormpy.build_model_from_drn[stormpy.Interval] if model.has_intervals else stormpy.build_model_from_drn
    theirs = build(str(tmp_path / "m.drn"), options=options)
    ours = to_stormpy(model.replace(labels={}))
    assert storm_rows(theirs) == storm_rows(ours)
    assert list(theirs.initial_states) == np.flatnonzero(model.initial).tolist()
    if isinstance(model, ObservedModel):
        assert list(theirs.observations) == model.observation.tolist()
    for name, reward in theirs.reward_models.items():
        if name in model.rewards and not model.has_intervals:
            total = list(reward.state_action_rewards) if reward.has_state_action_rewards else [0.0] * theirs.nr_choices
            rows = [row for state in range(model.n_states) for row in [*model.choices(state)] or [-1]]
            state = model.rewards[name].state
            wanted = model.expected_reward(name)
            for row, choice in enumerate(rows):
                kept = state[int(model.choice_state[choice])] if state is not None and choice >= 0 else 0.0
                assert total[row] == pytest.approx(wanted[choice] - kept if choice >= 0 else 0.0, abs=1e-12)


def test_we_read_the_drn_that_storm_writes_of_our_model(model: Model, tmp_path: Path) -> None:
    model = prepared(model)
    labels = {name.replace('"', "'"): mask for name, mask in model.labels.items()}
    rewards = {name.replace(" ", "_"): reward for name, reward in model.rewards.items()}
    model = model.replace(labels=labels, rewards=rewards)
    options = stormpy.io.DirectEncodingExporterOptions()
    options.output_precision = 17
    stormpy.io.export_to_drn(to_stormpy(model), str(tmp_path / "m.drn"), options=options)
    back = read_drn(tmp_path / "m.drn")
    wanted = looped(model)
    for name in ("choice_start", "branch_start", "target", "probability", "lower", "upper", "initial"):
        one, other = getattr(back, name), getattr(wanted, name)
        assert (one is None) == (other is None)
        assert one is None or np.array_equal(one, other), name


def test_storm_reads_our_explicit_files(model: Model, tmp_path: Path) -> None:
    if model.has_intervals or model.has_observations:
        with pytest.raises(BadModel, match="use write_drn"):
            write_prism(model, tmp_path / "m", dialect="storm")
        return
    parts = {name: (r.state, r.choice, r.transition) for name, r in model.rewards.items()}
    made = {
        name: RewardModel(*(None if part is None else np.abs(part) for part in three)) for name, three in parts.items()
    }
    model = model.replace(rewards=made)
    written = write_prism(model, tmp_path / "m", dialect="storm")
    options = stormpy.io.ExplicitModelParserOptions()
    options.build_choice_labels = not isinstance(model, MarkovChain)
    more = {}
    for key, suffix in (("state_rewards", ".srew"), ("transition_rewards", ".trew"), ("choice_labeling", ".clab")):
        found = [file for file in written if file.name.endswith(suffix)]
        if found:
            more[key] = str(found[0])
    theirs = stormpy.build_model_from_explicit(
        str(tmp_path / "m.tra"), str(tmp_path / "m.lab"), options=options, **more
    )
    assert storm_rows(theirs) == storm_rows(to_stormpy(model.replace(labels={})))
    assert list(theirs.initial_states) == np.flatnonzero(model.initial).tolist()


def test_a_prism_program_is_read() -> None:
    die = read_prism_program(files.prism_dtmc_die)
    assert isinstance(die, MarkovChain)
    assert die.n_states == 13
    assert {"one", "two", "three", "four", "five", "six", "done"} <= set(die.labels)
    assert die.expected_reward("coin_flips").tolist() == [1] * 7 + [0] * 6
    assert die.valuation(7) == {"s": 7, "d": 1}
    brp = read_prism_program(files.prism_dtmc_brp)
    assert brp.n_states > 100


def test_an_mdp_keeps_all_choices_all_labels_and_all_rewards() -> None:
    coin = read_prism_program(files.prism_mdp_coin_2_2)
    assert isinstance(coin, MDP)
    assert (coin.n_states, coin.n_choices, coin.n_branches) == (272, 400, 492)
    assert sorted(coin.labels) == ["agree", "all_coins_equal_0", "all_coins_equal_1", "finished"]
    assert tuple(coin.action_names) == ("#0", "#1", "", "done")
    assert coin.expected_reward("steps").sum() > 0


def test_a_pomdp_is_read() -> None:
    maze = read_prism_program(files.prism_pomdp_maze, tolerance=1e-6)
    assert isinstance(maze, POMDP)
    assert (maze.n_states, maze.n_observations) == (15, 8)
    assert {"east", "west", "north", "south", "done"} <= set(maze.action_names)
    assert list(maze.rewards) == ["default"]
    assert maze.observation_valuation(int(maze.observation[1])) == {"o": 1}


def test_a_jani_file_is_read() -> None:
    jani, prism = read_jani(files.jani_dtmc_die), read_prism_program(files.prism_dtmc_die)
    assert isinstance(jani, MarkovChain)
    assert jani.n_states == prism.n_states
    assert sorted(jani.probability.tolist()) == sorted(prism.probability.tolist())


def test_constants_are_given_values(tmp_path: Path) -> None:
    program = tmp_path / "walk.prism"
    program.write_text(
        "dtmc\nconst int N;\nconst double p;\nmodule m\n x : [0..N] init 0;\n"
        " [] x<N -> p : (x'=x+1) + 1-p : (x'=0);\n [] x=N -> true;\nendmodule\n",
        encoding="utf-8",
    )
    model = read_prism_program(program, constants={"N": 4, "p": 0.25})
    assert model.n_states == 5
    assert model.row(0)[1].tolist() == [0.75, 0.25]
    with pytest.raises(BadModel, match="Storm refuses .*undefined constants"):
        read_prism_program(program)


def test_transition_rewards_get_through() -> None:
    chain = MarkovChain(
        choice_start=[0, 1, 2],
        branch_start=[0, 2, 3],
        target=[0, 1, 1],
        probability=[0.5, 0.5, 1],
        initial=0,
        labels={"end": [1]},
        rewards={"r": RewardModel(transition=[0, 3.0, 0])},
    )
    storm = to_stormpy(chain)
    assert from_stormpy(storm) == chain
    result = stormpy.model_checking(storm, stormpy.parse_properties('R{"r"}=? [F "end"]')[0])
    assert result.get_value(0) == pytest.approx(3.0, rel=1e-6)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="a MA cannot be read: it must be one of DTMC, MDP, POMDP"):
        read_prism_program(files.prism_ma_simple)
    with pytest.raises(BadModel, match="there is no file"):
        read_jani(tmp_path / "no.jani")
    broken = tmp_path / "broken.prism"
    broken.write_text("mdp\nmodule", encoding="utf-8")
    with pytest.raises(BadModel, match="Storm refuses"):
        read_prism_program(broken)
    with pytest.raises(BadModel, match="has parameters|Storm refuses|undefined"):
        read_prism_program(files.prism_pdtmc_die)


def test_what_storm_has_no_words_for_is_refused(noisy: Model) -> None:
    with pytest.raises(BadModel, match="Storm has one observation a state"):
        to_stormpy(noisy)
    chain = MarkovChain(choice_start=[0, 0, 0], branch_start=[0], target=[], probability=[], initial=0)
    with pytest.raises(BadModel, match="the label 'init' is where an episode starts"):
        to_stormpy(chain.with_labels(init=[1]))
