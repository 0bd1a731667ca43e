"""The contract of `ModelEnv`: spaces, rewards, errors, seeds, masks, ends, copies."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import surefoot.gym
from surefoot.errors import BadArgument, BadModel, NotStarted, UnknownName
from surefoot.gym import ActionUnavailableError, ModelEnv, StateView
from surefoot.models import HMM, MDP, POMDP, IntDomain, MarkovChain, RewardModel, Valuations, Variable

WAIT, GO, HUNT = 0, 1, 2


def walk(env: Any, actions: Any, seed: int | None = 7) -> list[Any]:
    """Return everything that a run shows; each end is followed by a reset."""
    observation, info = env.reset(seed=seed)
    shown: list[Any] = [observation, plain(info)]
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        shown.append((observation, reward, terminated, truncated, plain(info)))
        if terminated or truncated:
            observation, info = env.reset()
            shown.append((observation, plain(info)))
    return shown


def plain(info: dict[str, Any]) -> dict[str, Any]:
    return {name: held.tolist() if isinstance(held, np.ndarray) else held for name, held in info.items()}


# ── what it takes ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["CTMC", "MA"])
def test_other_kinds_are_refused_and_the_message_says_which_are_taken(kind: str) -> None:
    foreign = type("Model", (), {"__module__": "stormvogel.model.model", "model_type": type("T", (), {"name": kind})()})
    with pytest.raises(ValueError, match=f"type {kind}; accepted are MarkovChain, MDP, POMDP, HMM"):
        ModelEnv(foreign())
    with pytest.raises(ValueError, match="model is a int; accepted are MarkovChain, MDP, POMDP, HMM"):
        ModelEnv(3)


def test_a_reward_model_must_be_named_when_there_are_several(hunt: MDP) -> None:
    two = hunt.with_rewards(other=[0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"multiple reward models, \['all', 'other'\]"):
        ModelEnv(two)
    assert ModelEnv(two, "other").reward_model_name == "other"
    assert ModelEnv(hunt).reward_model_name == "all"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"obs_type": "valuation"}, "obs_type is 'valuation': did you mean 'valuations'?"),
        ({"obs_type": "state"}, "obs_type is 'state': it is one of 'index', 'valuations'"),
        ({"reward_model_name": "al"}, "there is no reward model 'al': did you mean 'all'?"),
        ({"reward_model_name": 3}, "reward_model_name must be text or None, got 3"),
        ({"terminal_label": "gaol"}, "there is no label 'gaol': did you mean 'goal'?"),
        ({"termination": "absorb"}, "termination is 'absorb': did you mean 'absorbing'?"),
        ({"termination": "label"}, "needs terminal_label"),
        ({"termination": "never", "terminal_label": "goal"}, "contradict each other"),
        ({"terminal_reward": "colect"}, "did you mean 'collect'?"),
        ({"on_unavailable": "rise"}, "did you mean 'raise'?"),
        ({"unavailable_reward": float("nan")}, "must be a finite number, got nan"),
        ({"max_steps": 0}, "max_steps must be a whole number >= 1 or None, got 0"),
        ({"render_mode": "human"}, "render_mode is 'human'"),
    ],
)
def test_a_wrong_argument_is_an_error_at_construction(hunt: MDP, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        ModelEnv(hunt, **arguments)


def test_a_reward_name_is_an_error_also_when_the_model_has_no_rewards(maze: POMDP) -> None:
    with pytest.raises(UnknownName, match="there is no reward model 'typo'"):
        ModelEnv(maze, "typo")


# ── spaces and observations ─────────────────────────────────────────────────────────────────────────────────────────


def test_spaces_have_the_numbers_of_the_model(hunt: MDP, die: MarkovChain, tiger: POMDP, lamp: HMM) -> None:
    assert (ModelEnv(hunt).observation_space, ModelEnv(hunt).action_space) == (spaces.Discrete(3), spaces.Discrete(3))
    assert (ModelEnv(die).observation_space, ModelEnv(die).action_space) == (spaces.Discrete(7), spaces.Discrete(1))
    assert (ModelEnv(tiger).observation_space, ModelEnv(tiger).action_space) == (
        spaces.Discrete(2),
        spaces.Discrete(3),
    )
    assert (ModelEnv(lamp).observation_space, ModelEnv(lamp).action_space) == (spaces.Discrete(2), spaces.Discrete(1))


def test_unreachable_states_keep_their_numbers() -> None:
    coin = MarkovChain(
        choice_start=[0, 0, 1, 2, 2, 2], branch_start=[0, 1, 3], target=[0, 3, 4], probability=[1, 0.5, 0.5], initial=2
    )
    env = ModelEnv(coin)
    assert env.observation_space == spaces.Discrete(5)
    assert env.reset(seed=0)[0] == 2
    assert env.step(0)[0] in (3, 4)


def test_reset_gives_the_number_of_the_initial_state(hunt: MDP, die: MarkovChain) -> None:
    for model, name in ((hunt, "s0"), (die, "throw")):
        observation, info = ModelEnv(model).reset()
        assert type(observation) is int
        assert observation == 0
        assert info["state"].name == name


def test_valuations_are_a_dict_of_codes(hunt: MDP) -> None:
    env = ModelEnv(hunt, obs_type="valuations")
    assert env.observation_space == spaces.Dict(
        {"colour": spaces.Discrete(2), "door": spaces.Discrete(3), "x": spaces.Discrete(5)}
    )
    observation, _ = env.reset(seed=0)
    assert observation == {"colour": 0, "door": 0, "x": 0}
    assert list(observation) == ["colour", "door", "x"]
    env.reset(options={"state": 2})
    assert env.reset(options={"state": "s1"})[0] == {"colour": 1, "door": 1, "x": 1}
    observation, *_ = env.step(GO)
    assert observation == {"colour": 0, "door": 0, "x": 0}
    assert env.reset(options={"state": 2})[0] == {"colour": 0, "door": 2, "x": 4}


@pytest.mark.parametrize("name", ["die", "lamp"])
def test_valuations_need_a_variable_with_a_domain(name: str, request: pytest.FixtureRequest) -> None:
    with pytest.raises(ValueError, match="variables with a domain"):
        ModelEnv(request.getfixturevalue(name), obs_type="valuations")


def test_a_missing_value_is_an_error_at_construction_wherever_it_is(hunt: MDP, maze: POMDP) -> None:
    x = Variable("x", IntDomain(0, 3))
    lacking = hunt.replace(state_valuations=Valuations.from_rows([x], [{"x": 0}, {"x": 1}, {}]))
    with pytest.raises(ValueError, match="state 's2' has no value for variable 'x'"):
        ModelEnv(lacking, obs_type="valuations")
    unseen = maze.replace(observation_valuations=Valuations.from_rows([x], [{"x": 0}, {}]))
    with pytest.raises(ValueError, match="observation 'bright' has no value for variable 'x'"):
        ModelEnv(unseen, obs_type="valuations")


def test_hidden_states_show_their_observation_only(maze: POMDP) -> None:
    env = ModelEnv(maze)
    assert env.reset(seed=0) == (0, {"action_mask": pytest.approx([1, 0])})
    assert env.step(0)[0] == 0  # another room that looks the same
    assert env.state == 1
    observation, _, terminated, _, info = env.step(0)
    assert (observation, terminated, set(info)) == (1, True, {"action_mask"})
    shown = ModelEnv(maze, show_state=True)
    assert shown.reset(seed=0)[1]["state"].number == 0
    assert set(ModelEnv(maze, show_state=False).reset(seed=0)[1]) == {"action_mask"}


def test_valuations_of_observations(maze: POMDP, tiger: POMDP) -> None:
    env = ModelEnv(maze, obs_type="valuations")
    assert env.observation_space == spaces.Dict({"exit": spaces.Discrete(2), "light": spaces.Discrete(10)})
    assert env.reset(seed=0)[0] == {"exit": 0, "light": 0}
    env.step(0)
    assert env.step(0)[0] == {"exit": 1, "light": 9}
    heard = {ModelEnv(tiger, obs_type="valuations").reset(seed=seed)[0]["ear"] for seed in range(20)}
    assert heard == {0, 1}


def test_random_observations_are_drawn_as_often_as_they_should(tiger: POMDP) -> None:
    env = ModelEnv(tiger, show_state=True)
    env.reset(seed=3, options={"state": "left"})
    heard = [env.step(0)[0] for _ in range(4000)]
    assert env.state == 0  # listening moves nothing
    right = heard.count(0)
    assert abs(right - 3400) < 4 * np.sqrt(4000 * 0.85 * 0.15)


def test_a_hidden_chain_is_stepped_with_action_0(lamp: HMM) -> None:
    env = ModelEnv(lamp)
    assert env.reset(seed=1)[0] == 0
    seen = {env.step(0)[0] for _ in range(40)}
    assert seen == {0, 1}


# ── actions ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_action_that_is_not_offered_raises_and_changes_nothing(hunt: MDP) -> None:
    env = ModelEnv(hunt)
    env.reset(seed=7)
    with pytest.raises(
        ActionUnavailableError,
        match=r"action 2 \('hunt'\) is not available in state 's0'; it offers 0 \('wait'\), 1 \('go'\)",
    ):
        env.step(HUNT)
    rest = [env.step(WAIT)[0], env.step(GO)[0], env.state]
    twin = ModelEnv(hunt)
    twin.reset(seed=7)
    assert rest == [twin.step(WAIT)[0], twin.step(GO)[0], twin.state]


@pytest.mark.parametrize("action", [-1, 3, 99, 1 << 80])
def test_a_number_that_is_no_action_raises_whatever_on_unavailable_says(hunt: MDP, action: int) -> None:
    env = ModelEnv(hunt, on_unavailable="stay")
    env.reset(seed=0)
    with pytest.raises(ActionUnavailableError, match=rf"there is no action {action}: numbers are in \[0, 3\)"):
        env.step(action)


@pytest.mark.parametrize("action", [True, 1.0, None, "go", np.float64(1), np.array([0, 1])])
def test_what_is_no_whole_number_is_no_action(hunt: MDP, action: Any) -> None:
    env = ModelEnv(hunt)
    env.reset(seed=0)
    with pytest.raises(BadArgument, match="action must be a whole number"):
        env.step(action)


@pytest.mark.parametrize("action", [1, np.int64(1), np.uint8(1), np.array(1), np.array([1])])
def test_numpy_integers_are_actions(hunt: MDP, action: Any) -> None:
    env = ModelEnv(hunt)
    env.reset(seed=0, options={"state": 1})
    assert env.step(action)[0] == 0


def test_a_chain_takes_action_0_only(die: MarkovChain) -> None:
    env = ModelEnv(die)
    env.reset(seed=0)
    with pytest.raises(ActionUnavailableError, match="there is no action 1"):
        env.step(1)
    observation, reward, terminated, truncated, info = env.step(0)
    assert type(observation) is int
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert info["state"].number == observation


def test_masks_say_what_a_state_takes(hunt: MDP) -> None:
    env = ModelEnv(hunt)
    _, info = env.reset(seed=0)
    assert info["action_mask"].dtype == np.int8
    assert info["action_mask"].tolist() == [1, 1, 0]
    assert env.action_masks().tolist() == [True, True, False]
    assert env.action_space.sample(info["action_mask"]) in (0, 1)
    info["action_mask"][:] = 9  # is the caller's
    assert env.step(WAIT)[4]["action_mask"].tolist() == [1, 1, 0]
    assert env.reset(options={"state": "s2"})[1]["action_mask"].tolist() == [1, 1, 1]  # takes any, stays


def test_on_unavailable_stay_takes_a_step_in_place(hunt: MDP) -> None:
    env = ModelEnv(hunt, on_unavailable="stay", unavailable_reward=-3.0, max_steps=2)
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(HUNT)
    assert (observation, reward, terminated, truncated, info["unavailable"]) == (0, -3.0, False, False, True)
    assert env.step(HUNT)[3] is True
    with pytest.raises(NotStarted):
        env.step(HUNT)


def test_on_unavailable_terminate_ends_the_episode(hunt: MDP) -> None:
    env = ModelEnv(hunt, on_unavailable="terminate", unavailable_reward=-3)
    env.reset(seed=0)
    assert env.step(HUNT)[:4] == (0, -3.0, True, False)


def test_after_a_stay_the_later_steps_draw_the_numbers_of_their_own_places(hunt: MDP) -> None:
    actions = [WAIT, GO] * 20
    env, twin = ModelEnv(hunt, on_unavailable="stay"), ModelEnv(hunt)
    env.reset(seed=5)
    twin.reset(seed=5)
    for number, action in enumerate(actions):
        if number % 3 == 0 and env.state == 0:
            env.step(HUNT)
            twin.step(WAIT)  # also stays, and takes one step
        if twin.state == 1 and action == WAIT:
            action = GO
        assert env.step(action)[0] == twin.step(action)[0]


# ── rewards and ends ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_step_pays_the_state_left_the_choice_and_the_transition(hunt: MDP) -> None:
    env = ModelEnv(hunt)
    env.reset(seed=0)
    assert env.step(WAIT)[1] == 1.0  # state 1.0, choice 0, branch 0 pays 0
    paid = set()
    for seed in range(30):
        env.reset(seed=seed)
        observation, reward, *_ = env.step(GO)
        paid.add((observation, reward))
    assert paid == {(0, 1.0 + 0.5 + 10.0), (1, 1.0 + 0.5 + 20.0)}


def test_the_reward_on_the_last_state_is_collected_on_request(hunt: MDP) -> None:
    """The total of the episode s0 go s1 hunt s2, by hand."""
    totals = {}
    for rule in ("none", "collect"):
        env = ModelEnv(hunt, terminal_reward=rule)
        env.reset(seed=0, options={"state": 1})
        for seed in range(99):
            env.reset(seed=seed, options={"state": 1})
            observation, reward, terminated, _, _ = env.step(HUNT)
            if terminated:
                assert observation == 2
                totals[rule] = reward
                break
    assert totals == {"none": 2.0 + 0.125 + 50.0, "collect": 2.0 + 0.125 + 50.0 + 50.0}


def test_no_reward_model_pays_nothing(maze: POMDP) -> None:
    env = ModelEnv(maze)
    env.reset(seed=0)
    assert env.step(0)[1] == 0.0


def test_an_episode_ends_in_absorbing_states(hunt: MDP, die: MarkovChain) -> None:
    looped = MarkovChain(
        choice_start=[0, 1, 2], branch_start=[0, 1, 2], target=[1, 1], probability=[1.0, 1.0], initial=0
    )
    env = ModelEnv(looped)
    env.reset(seed=0)
    assert env.step(0)[2] is True
    env = ModelEnv(hunt)
    env.reset(seed=0)
    assert env.step(WAIT)[2] is False


def test_an_episode_ends_at_a_label_or_at_both_or_never(hunt: MDP) -> None:
    ends = {
        (None, "goal"): [2],
        (None, ("goal", "start")): [0, 2],
        ("label", "start"): [0],
        ("absorbing", "start"): [0, 2],
        ("never", None): [],
        (None, None): [2],
    }
    for (termination, label), states in ends.items():
        env = ModelEnv(hunt, termination=termination, terminal_label=label)  # type: ignore[arg-type]  # one of the words
        found = []
        for source in range(3):
            for action, rows in env.P[source].items():
                env.reset(seed=1, options={"state": source})
                observation, _, terminated, _, _ = env.step(action)
                assert terminated == (observation in states)
                found += [target for _, target, _, ended in rows if ended]
        assert sorted(set(found)) == states


def test_a_state_without_choices_is_stayed_in_and_pays_like_a_loop(hunt: MDP) -> None:
    env = ModelEnv(hunt, termination="never")
    env.reset(seed=0, options={"state": "s2"})
    for action in range(3):
        assert env.step(action)[:4] == (2, 50.0, False, False)
    ends = ModelEnv(hunt)
    ends.reset(seed=0, options={"state": "s2"})
    assert ends.step(0)[:3] == (2, 50.0, True)


def test_max_steps_truncates(ring: MDP) -> None:
    env = ModelEnv(ring, max_steps=3)
    env.reset(seed=0)
    assert [env.step(0)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]


def test_a_step_outside_of_an_episode_is_refused(die: MarkovChain) -> None:
    env = ModelEnv(die)
    for call in (lambda: env.step(0), lambda: env.state, env.action_masks, env.save_state):
        with pytest.raises(NotStarted, match=r"before reset\(\)"):
            call()
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(NotStarted, match="after the episode was over"):
        env.step(0)
    assert env.reset()[0] == 0


# ── seeds ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_seed_repeats_the_whole_run_and_another_does_not(ring: MDP) -> None:
    actions = np.random.default_rng(0).integers(0, 3, 300).tolist()
    env = ModelEnv(ring, terminal_label="far")
    first = walk(env, actions, seed=7)
    assert walk(env, actions, seed=7) == first
    assert walk(ModelEnv(ring, terminal_label="far"), actions, seed=7) == first
    assert walk(env, actions, seed=8) != first


def test_neighbouring_seeds_and_episodes_are_no_shifted_copies() -> None:
    chain = MarkovChain(
        choice_start=[0, 1, 2],
        branch_start=[0, 2, 4],
        target=[0, 1, 0, 1],
        probability=[0.5, 0.5, 0.5, 0.5],
        initial=0,
    )
    env = ModelEnv(chain)

    def path(seed: int | None) -> list[int]:
        env.reset(seed=seed)
        return [env.step(0)[0] for _ in range(200)]

    paths = [path(0), path(None), path(None), path(1), path(2)]
    for one in range(5):
        for other in range(5):
            for shift in range(-3, 4):
                if (one, shift) == (other, 0):
                    continue
                pairs = list(zip(paths[one][5 + shift : 195 + shift], paths[other][5:195], strict=True))
                assert sum(a == b for a, b in pairs) < 140


def test_without_a_seed_two_environments_differ_and_np_random_is_said(ring: MDP) -> None:
    actions = [0] * 60
    assert walk(ModelEnv(ring), actions, seed=None) != walk(ModelEnv(ring), actions, seed=None)
    env = ModelEnv(ring)
    unseeded = walk(env, actions, seed=None)
    assert env.np_random_seed is not None
    assert walk(ModelEnv(ring), actions, seed=env.np_random_seed) == unseeded
    env = ModelEnv(ring)
    env.np_random = np.random.default_rng(3)
    twin = ModelEnv(ring)
    twin.np_random = np.random.default_rng(3)
    assert walk(env, actions, seed=None) == walk(twin, actions, seed=None)


def test_many_short_episodes_draw_what_each_alone_would(die: MarkovChain) -> None:
    """Numbers are drawn for many episodes together; that must not show."""
    env = ModelEnv(die)
    env.reset(seed=3)
    thrown = [env.step(0)[0]]
    for _ in range(200):
        env.reset()
        thrown.append(env.step(0)[0])
    again = ModelEnv(die)
    again.reset(seed=3)
    again.step(0)
    for episode in range(1, 201):
        token = (3, episode, 0, 0, True)
        again.restore_state(token)
        assert again.step(0)[0] == thrown[episode]
    assert len(set(thrown)) == 6


def test_branches_are_taken_as_often_as_they_should(die: MarkovChain, hunt: MDP) -> None:
    env = ModelEnv(die)
    env.reset(seed=11)
    counts = np.zeros(7)
    for _ in range(6000):
        counts[env.step(0)[0]] += 1
        env.reset()
    chi = float((((counts[1:] - 1000) ** 2) / 1000).sum())
    assert chi < 20.5  # 0.999 of chi-square with 5 degrees


def test_initial_distributions_are_drawn_from(tiger: POMDP) -> None:
    env = ModelEnv(tiger, show_state=True)
    env.reset(seed=0)
    starts = [env.reset()[1]["state"].number for _ in range(1000)]
    assert 420 < sum(starts) < 580


def test_an_episode_may_start_anywhere(hunt: MDP) -> None:
    env = ModelEnv(hunt)
    for where in (1, "s1", np.int64(1), StateView(1, "s1")):
        assert env.reset(options={"state": where})[0] == 1
    with pytest.raises(ValueError, match="reset has no option 'stat': did you mean 'state'?"):
        env.reset(options={"stat": 1})
    with pytest.raises(UnknownName, match="there is no state 's9'"):
        env.reset(options={"state": "s9"})


# ── infos, copies, tokens ───────────────────────────────────────────────────────────────────────────────────────────


def test_infos_are_small_and_plain(ring: MDP) -> None:
    env = ModelEnv(ring)
    _, info = env.reset(seed=0)
    assert len(pickle.dumps(info)) < 600
    view = pickle.loads(pickle.dumps(info["state"]))
    assert view == info["state"]
    assert int(view) == view.number == env.state


def test_the_state_in_the_info_says_labels_and_values(hunt: MDP) -> None:
    env = ModelEnv(hunt)
    _, info = env.reset(seed=0)
    assert info["labels"] == ["start", "safe"]
    view = info["state"]
    assert view.labels == ("start", "safe")
    assert view.valuation == {"x": -1, "door": False, "colour": "red", "note": "free text"}
    assert view.has_label("safe")
    assert not view.has_label("goal")


@pytest.mark.parametrize("how", ["pickle", "deepcopy"])
@pytest.mark.parametrize("name", ["hunt", "tiger", "die"])
def test_a_copy_goes_on_as_the_original_would(how: str, name: str, request: pytest.FixtureRequest) -> None:
    env = ModelEnv(request.getfixturevalue(name), on_unavailable="stay")
    actions = np.random.default_rng(2).integers(0, int(env.action_space.n), 40).tolist()  # type: ignore[attr-defined]  # Discrete
    walk(env, actions[:20])
    made = pickle.loads(pickle.dumps(env)) if how == "pickle" else copy.deepcopy(env)
    assert made is not env
    before = env.save_state()

    def rest(one: ModelEnv) -> list[Any]:
        shown = []
        for action in actions[20:]:
            observation, reward, terminated, truncated, info = one.step(action)
            shown.append((observation, reward, terminated, truncated, plain(info)))
            if terminated:
                shown.append(one.reset()[0])
        return shown

    copied = rest(made)
    assert env.save_state() == before  # stepping the copy moved nothing
    assert rest(env) == copied


def test_a_copy_of_a_fresh_environment_is_fresh(hunt: MDP) -> None:
    made = pickle.loads(pickle.dumps(ModelEnv(hunt)))
    with pytest.raises(NotStarted):
        made.step(0)
    assert made.model == hunt


def test_a_token_brings_the_future_back(tiger: POMDP) -> None:
    env = ModelEnv(tiger, show_state=True)
    env.reset(seed=4)
    for _ in range(40):
        env.step(0)
    token = env.save_state()
    assert pickle.loads(pickle.dumps(token)) == token
    future = [env.step(action)[:3] for action in [0, 1, 2] * 30]
    env.restore_state(token)
    assert [env.step(action)[:3] for action in [0, 1, 2] * 30] == future
    other = ModelEnv(tiger, show_state=True)
    assert other.restore_state(token)[0] in (0, 1)
    assert [other.step(action)[:3] for action in [0, 1, 2] * 30] == future
    env.restore_state(token, seed=99)
    assert [env.step(action)[:3] for action in [0, 1, 2] * 30] != future
    with pytest.raises(BadArgument, match=r"token must come from save_state\(\)"):
        env.restore_state((0, 0, 0, 99, True))
    with pytest.raises(BadArgument, match=r"token must come from save_state\(\)"):
        env.restore_state("start")  # type: ignore[arg-type]  # wrong on purpose


def test_a_token_from_an_end_is_still_an_end(die: MarkovChain) -> None:
    env = ModelEnv(die)
    env.reset(seed=0)
    env.step(0)
    token = env.save_state()
    env.reset()
    env.restore_state(token)
    with pytest.raises(NotStarted, match="after the episode was over"):
        env.step(0)


# ── tables and pictures ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_toy_text_table_is_what_steps_do(hunt: MDP) -> None:
    env = ModelEnv(hunt)
    assert env.P[0] == {WAIT: [(1.0, 0, 1.0, False)], GO: [(0.25, 0, 11.5, False), (0.75, 1, 21.5, False)]}
    assert env.P[1][HUNT] == [(0.5, 1, 42.125, False), (0.5, 2, 52.125, True)]
    assert env.P[2] == {action: [(1.0, 2, 50.0, True)] for action in range(3)}
    stays = ModelEnv(hunt, on_unavailable="stay", unavailable_reward=-1.0)
    assert stays.P[0][HUNT] == [(1.0, 0, -1.0, False)]
    assert ModelEnv(hunt, on_unavailable="terminate").P[0][HUNT] == [(1.0, 0, 0.0, True)]
    assert env.initial_state_distrib.tolist() == [1.0, 0.0, 0.0]


def test_a_table_that_would_be_huge_is_not_made() -> None:
    size = 1_000_001
    chain = MarkovChain(
        choice_start=np.zeros(size + 1, np.int64), branch_start=[0], target=[], probability=[], initial=0
    )
    env = ModelEnv(chain)
    with pytest.raises(AttributeError, match="use the arrays of env.model"):
        _ = env.P
    assert not hasattr(env, "P")


def test_text_and_picture_show_the_current_state(hunt: MDP, tiger: POMDP) -> None:
    env = ModelEnv(hunt, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == (
        "step 0: state s0 (0) [start] [safe] x=-1 door=False colour='red' note='free text'\n"
        "  wait: s0 1\n"
        "  go: s1 0.75, s0 0.25\n"
    )
    env = ModelEnv(tiger, render_mode="ansi")
    env.reset(seed=0)
    assert "observed hear-" in env.render()
    env = ModelEnv(hunt, render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert (picture.dtype, picture.shape) == (np.uint8, (400, 640, 3))
    env.reset(options={"state": 1})
    assert (env.render() != picture).any()
    env = ModelEnv(hunt)
    env.reset()
    assert env.render() is None


# ── Gymnasium around it ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["hunt", "die", "tiger", "maze", "lamp", "ring"])
@pytest.mark.parametrize("obs_type", ["index", "valuations"])
def test_gymnasiums_checker_finds_nothing(name: str, obs_type: str, request: pytest.FixtureRequest) -> None:
    """Warnings are errors here; an action that is not offered has to be something, because the checker takes any."""
    model = request.getfixturevalue(name)
    held = "observation_valuations" if name in ("tiger", "maze", "lamp") else "state_valuations"
    if obs_type == "valuations" and getattr(model, held) is None:
        model = model.replace(
            **{
                held: Valuations.from_columns(
                    {Variable("n", IntDomain(0, 99)): np.arange(getattr(model, "n_observations", model.n_states))}
                )
            }
        )
    env = gymnasium.make("surefoot/Model-v0", model=model, obs_type=obs_type, on_unavailable="stay")
    for seed in range(3):
        env.action_space.seed(seed)
        check_env(env.unwrapped)
    env.close()


def test_make_finds_it_and_wrappers_work(hunt: MDP) -> None:
    env = gymnasium.make("surefoot/Model-v0", model=hunt, reward_model_name="all", max_episode_steps=2)
    env.reset(seed=0)
    env.step(WAIT)
    assert env.step(WAIT)[3] is True
    assert isinstance(env.unwrapped, ModelEnv)
    assert pickle.loads(pickle.dumps(env)).reset(seed=0)[0] == 0
    recorded = gymnasium.wrappers.RecordEpisodeStatistics(ModelEnv(hunt, max_steps=1))
    recorded.reset(seed=0)
    assert recorded.step(WAIT)[4]["episode"]["r"] == 1.0
    assert env.unwrapped.get_wrapper_attr("action_masks")().tolist() == [True, True, False]


def test_sync_vectors_step_as_each_alone_would(ring: MDP) -> None:
    actions = np.random.default_rng(1).integers(0, 3, (50, 4))
    vector = gymnasium.vector.SyncVectorEnv([lambda: ModelEnv(ring) for _ in range(4)])
    observations, _ = vector.reset(seed=10)
    seen = [observations, *(vector.step(row)[0] for row in actions)]
    for place in range(4):
        env = ModelEnv(ring)
        alone = [env.reset(seed=10 + place)[0], *(env.step(int(a))[0] for a in actions[:, place])]
        assert [int(row[place]) for row in seen] == alone


def test_async_vectors_step_as_sync_ones_do(tiger: POMDP) -> None:
    actions = np.random.default_rng(1).integers(0, 3, (20, 2))
    shown = []
    for kind in (gymnasium.vector.SyncVectorEnv, gymnasium.vector.AsyncVectorEnv):
        vector = kind([lambda: ModelEnv(tiger, show_state=True, max_steps=7)] * 2)
        observations, infos = vector.reset(seed=3)
        run = [observations.tolist(), infos["action_mask"].tolist()]
        for row in actions:
            observations, rewards, terminated, truncated, infos = vector.step(row)
            names = [view.name for view in infos["state"]]
            run += [observations.tolist(), rewards.tolist(), terminated.tolist(), truncated.tolist(), names]
        vector.close()
        shown.append(run)
    assert shown[0] == shown[1]


def test_names_of_the_package_are_loaded_when_used() -> None:
    assert set(surefoot.gym.__all__) <= set(dir(surefoot.gym))
    with pytest.raises(AttributeError, match=r"module 'surefoot.gym' has no attribute 'nowhere'"):
        surefoot.gym.nowhere  # type: ignore[attr-defined]  # noqa: B018  # not there
    script = (
        "import sys, surefoot.gym; print('surefoot/Model-v0' in __import__('gymnasium').registry, "
        "'surefoot.models' in sys.modules, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "False"]


def test_a_transition_reward_alone_and_bad_models() -> None:
    chain = MarkovChain(
        choice_start=[0, 1, 1],
        branch_start=[0, 1],
        target=[1],
        probability=[1.0],
        initial=0,
        rewards={"edge": RewardModel(transition=[5.0])},
    )
    env = ModelEnv(chain)
    env.reset(seed=0)
    assert env.step(0)[1] == 5.0
    with pytest.raises(BadModel):
        ModelEnv(chain, obs_type="valuations")
