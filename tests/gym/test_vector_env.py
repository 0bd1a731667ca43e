"""`ModelVectorEnv` beside Gymnasium's `SyncVectorEnv` of as many `ModelEnv`: the same in every mode."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import surefoot.gym
from surefoot.errors import ActionUnavailableError, BadArgument, NotStarted, UnknownName
from surefoot.gym import ModelEnv, ModelVectorEnv
from surefoot.models import MDP, POMDP, IntDomain, MarkovChain, RewardModel, Valuations, Variable

MODELS = ["hunt", "die", "tiger", "maze", "lamp", "ring"]
COUNT = 5


def even(value: Any) -> Any:
    """Return what can be compared with ==."""
    if isinstance(value, dict):
        return {name: even(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return [even(part) for part in value]
    if isinstance(value, np.ndarray):
        return [even(part) for part in value] if value.dtype == object else value.tolist()
    return value


def numbers_only(infos: dict[str, Any]) -> dict[str, Any]:
    """Return the infos of a `SyncVectorEnv` without labels, and states as numbers."""
    told = {}
    for name, held in infos.items():
        if name.strip("_") == "labels":
            continue
        if name == "final_info":
            held = numbers_only(held)
        elif name == "state":
            held = [0 if view is None else view.number for view in held]
        told[name] = even(held)
    return told


def compared(one: Any, two: Any, actions: Any, seed: Any) -> int:
    """Step both with the same actions and return how many episodes have ended."""
    first, second = one.reset(seed=seed), two.reset(seed=seed)
    assert even(first[0]) == even(second[0])
    assert numbers_only(first[1]) == even(second[1])
    ended = 0
    for row in actions:
        expected, got = one.step(row), two.step(row)
        assert even(expected[0]) == even(got[0])
        for place in (1, 2, 3):
            assert expected[place].tolist() == got[place].tolist()
            assert expected[place].dtype == got[place].dtype
        assert numbers_only(expected[4]) == even(got[4])
        ended += int((got[2] | got[3]).sum())
    return ended


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("rule", ["stay", "terminate"])
def test_it_does_what_a_sync_vector_does(name: str, mode: str, rule: Any, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(name)
    chosen: dict[str, Any] = {"on_unavailable": rule, "unavailable_reward": -7.0, "max_steps": 9, "show_state": True}
    one = SyncVectorEnv([lambda: ModelEnv(model, **chosen)] * COUNT, autoreset_mode=mode)
    two = ModelVectorEnv(model, COUNT, autoreset_mode=mode, **chosen)
    assert one.single_action_space == two.single_action_space
    assert one.observation_space == two.observation_space
    assert one.action_space == two.action_space
    actions = np.random.default_rng(1).integers(0, model.n_actions, (60, COUNT))
    assert compared(one, two, actions, seed=3) > 5


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_valuations_terminal_rewards_and_hidden_states(tiger: POMDP, hunt: MDP, mode: str) -> None:
    actions = np.random.default_rng(1).integers(0, 3, (60, COUNT))
    cases: list[tuple[Any, dict[str, Any]]] = [
        (tiger, {"obs_type": "valuations", "max_steps": 6}),
        (hunt, {"obs_type": "valuations", "on_unavailable": "stay", "terminal_reward": "collect"}),
        (hunt, {"on_unavailable": "stay", "terminal_label": ["goal", "start"], "show_state": False}),
    ]
    for model, chosen in cases:
        one = SyncVectorEnv([lambda m=model, c=chosen: ModelEnv(m, **c)] * COUNT, autoreset_mode=mode)  # type: ignore[misc]  # arguments are defaults
        two = ModelVectorEnv(model, COUNT, autoreset_mode=mode, **chosen)
        assert compared(one, two, actions, seed=[5, 9, 1, 2**70, 5]) > 5


def test_long_and_uneven_rows_are_searched(ring: MDP) -> None:
    """One row of 200 branches among short ones cannot be padded."""
    lengths = [200, 1, 2, 3, 5]
    numbers = np.random.default_rng(0)
    model = MarkovChain(
        choice_start=[0, 1, 2, 3, 4, 5, *[5] * 195],
        branch_start=np.cumsum([0, *lengths]),
        target=np.concatenate([np.arange(200), *[numbers.choice(5, n, replace=False) for n in lengths[1:]]]),
        probability=np.concatenate([numbers.dirichlet(np.ones(n)) for n in lengths]),
        initial=1,
        rewards={"r": RewardModel(transition=numbers.normal(size=sum(lengths)))},
    )
    two = ModelVectorEnv(model, COUNT)
    assert two._layout.start is not None
    one = SyncVectorEnv([lambda: ModelEnv(model)] * COUNT)
    assert compared(one, two, np.zeros((80, COUNT), dtype=int), seed=1) > 5


def test_many_actions_take_several_words(ring: MDP) -> None:
    wide = MDP(
        choice_start=[0, 11, 12],
        choice_action=[*range(11), 3],
        branch_start=range(13),
        target=[1] * 11 + [0],
        probability=[1.0] * 12,
        initial=0,
    )
    envs = ModelVectorEnv(wide, 2, on_unavailable="stay")
    _, infos = envs.reset(seed=0)
    assert infos["action_mask"].tolist() == [[1] * 11] * 2
    infos = envs.step(np.array([10, 0]))[4]
    assert infos["action_mask"].tolist() == [[0, 0, 0, 1, *[0] * 7]] * 2


def test_hundreds_of_environments_draw_what_each_alone_would(ring: MDP) -> None:
    """Numbers are drawn for several steps together and again for who was reset; that must not show."""
    count = 700
    envs = ModelVectorEnv(ring, count, terminal_label="far")
    observations, _ = envs.reset(seed=50)
    actions = np.random.default_rng(4).integers(0, 3, (60, count))
    seen = np.array([observations, *(envs.step(row)[0] for row in actions)])
    for place in (0, 1, 350, 699):
        env = ModelEnv(ring, terminal_label="far")
        alone, over = [env.reset(seed=50 + place)[0]], False
        for action in actions[:, place].tolist():
            if over:
                alone.append(env.reset()[0])
                over = False
            else:
                observation, _, over, _, _ = env.step(action)
                alone.append(observation)
        assert seen[:, place].tolist() == alone


def test_disabled_mode_waits_for_you(die: MarkovChain) -> None:
    envs = ModelVectorEnv(die, 3, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=0)
    none = np.zeros(3, dtype=int)
    assert envs.step(none)[2].tolist() == [True] * 3
    with pytest.raises(NotStarted, match=r"environments \[0, 1, 2\] are over"):
        envs.step(none)
    assert envs.reset(options={"reset_mask": np.array([True, False, True])})[0][1] != 0
    with pytest.raises(NotStarted, match=r"environments \[1\] are over"):
        envs.step(none)
    twin = SyncVectorEnv([lambda: ModelEnv(die)] * 3, autoreset_mode="Disabled")
    twin.reset(seed=0)
    twin.step(none)
    twin.reset(options={"reset_mask": np.array([True, False, True])})
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    twin.reset(options={"reset_mask": np.array([False, True, False])})
    assert envs.step(none)[0].tolist() == twin.step(none)[0].tolist()
    with pytest.raises(BadArgument, match="rollout needs autoreset_mode"):
        envs.rollout(steps=2)


def test_an_action_that_is_not_on_offer_moves_nobody(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, 3)
    envs.reset(seed=0)
    token = envs.save_state()
    with pytest.raises(ActionUnavailableError, match=r"environment 1: action 2 \('hunt'\) is not available in state"):
        envs.step(np.array([0, 2, 0]))
    with pytest.raises(ActionUnavailableError, match=r"environment 2: there is no action -1: numbers are in \[0, 3\)"):
        envs.step(np.array([0, 0, -1]))
    assert even(envs.save_state()) == even(token)
    for wrong in (np.array([0, 0]), np.array([0.0, 0.0, 0.0]), [True, False, True], 0):
        with pytest.raises(BadArgument, match="actions must be 3 whole numbers"):
            envs.step(wrong)
    assert envs.step([0, 1, 0])[0].shape == (3,)
    assert envs.step(np.array([0, 1, 0], dtype=np.uint8))[0].shape == (3,)


def test_the_action_of_a_reset_is_ignored(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, 2, terminal_label="safe")
    envs.reset(seed=0)
    assert envs.step(np.array([0, 0]))[2].all()
    observations, rewards, terminated, truncated, infos = envs.step(np.array([2, 99]))  # no such actions
    assert observations.tolist() == [0, 0]
    assert rewards.tolist() == [0.0, 0.0]
    assert not terminated.any()
    assert not truncated.any()
    assert "unavailable" not in infos


def test_what_is_returned_is_the_callers(ring: MDP) -> None:
    envs, twin = ModelVectorEnv(ring, 4), ModelVectorEnv(ring, 4)
    envs.reset(seed=1)
    twin.reset(seed=1)
    for _ in range(5):
        shown = envs.step(np.zeros(4, dtype=int))
        expected = twin.step(np.zeros(4, dtype=int))
        assert shown[0].tolist() == expected[0].tolist()
        for array in (*shown[:4], shown[4]["action_mask"], shown[4]["state"]):
            array[:] = 1
        envs.states[:] = 0


def test_labels_states_and_masks(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, 3, on_unavailable="stay")
    envs.reset(seed=0, options={"state": ["s0", 1, 2]})
    assert envs.states.tolist() == [0, 1, 2]
    assert envs.has_label("goal").tolist() == [False, False, True]
    assert envs.action_masks().tolist() == [[True, True, False], [False, True, True], [True] * 3]
    with pytest.raises(UnknownName, match="there is no label 'gaol'"):
        envs.has_label("gaol")
    envs.reset(options={"state": "s1"})
    assert envs.states.tolist() == [1, 1, 1]
    infos = envs.step(np.array([0, 1, 1]))[4]
    assert infos["unavailable"].tolist() == [True, False, False]


def test_seeds(ring: MDP, tiger: POMDP) -> None:
    actions = np.zeros(4, dtype=int)

    def run(envs: ModelVectorEnv, seed: Any) -> list[Any]:
        envs.reset(seed=seed)
        return [envs.step(actions)[0].tolist() for _ in range(20)]

    envs = ModelVectorEnv(ring, 4)
    first = run(envs, 3)
    later = run(envs, None)
    assert first != later
    assert (run(envs, 3), run(envs, None)) == (first, later)
    assert run(envs, [3, 4, 5, 6]) == first
    mixed = run(envs, [3, None, 5, None])
    assert [row[0] for row in mixed] == [row[0] for row in first]
    assert [row[1] for row in mixed] != [row[1] for row in first]
    assert run(ModelVectorEnv(ring, 4), None) != run(ModelVectorEnv(ring, 4), None)
    assert run(ModelVectorEnv(ring, 4), [None] * 4) != run(ModelVectorEnv(ring, 4), [None] * 4)
    assert run(ModelVectorEnv(ring, 4), 2**64 - 2) == run(ModelVectorEnv(ring, 4), [2**64 - 2 + i for i in range(4)])
    assert len({tuple(column) for column in np.array(first).T.tolist()}) == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"num_envs": 0}, "num_envs must be a whole number >= 1, got 0"),
        (
            {"autoreset_mode": "Nextstep"},
            "autoreset_mode is 'Nextstep': it is one of 'NextStep', 'SameStep', 'Disabled'",
        ),
        ({"backend": "nunba"}, "backend is 'nunba': did you mean 'numba'?"),
        ({"render_mode": "human"}, "render_mode is 'human'"),
        ({"obs_type": "valuation"}, "did you mean 'valuations'?"),
    ],
)
def test_wrong_arguments(hunt: MDP, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(BadArgument, match=re.escape(says)):
        ModelVectorEnv(hunt, **({"num_envs": 2} | arguments))


def test_wrong_calls(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, 2)
    for call in (lambda: envs.step([0, 0]), envs.save_state, lambda: envs.rollout(steps=1)):
        with pytest.raises(NotStarted, match=r"before reset\(\)"):
            call()
    with pytest.raises(NotStarted):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=0)
    for mask in ([True, False], np.array([True]), np.array([False, False]), np.array([1, 0])):
        with pytest.raises(BadArgument, match=r"reset_mask must be \(2,\) bool with at least one True"):
            envs.reset(options={"reset_mask": mask})
    with pytest.raises(BadArgument, match="seed has 3 numbers, there are 2 environments"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(BadArgument, match="the option 'state' has 3 states"):
        envs.reset(options={"state": [0, 0, 0]})
    with pytest.raises(BadArgument, match="did you mean 'state'"):
        envs.reset(options={"states": 0})
    with pytest.raises(BadArgument, match="the token is of 2 environments, there are 3 here"):
        ModelVectorEnv(hunt, 3).restore_state(envs.save_state())


def test_make_vec_finds_it(hunt: MDP) -> None:
    assert surefoot.gym.ModelVectorEnv is ModelVectorEnv
    envs = gymnasium.make_vec("surefoot/Model-v0", num_envs=3, model=hunt, on_unavailable="stay")
    assert isinstance(envs, ModelVectorEnv)
    assert envs.num_envs == 3
    recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    recorded.reset(seed=0)
    ends = [recorded.step(recorded.action_space.sample())[4] for _ in range(60)]
    assert any("episode" in infos for infos in ends)
    sync = gymnasium.make_vec("surefoot/Model-v0", num_envs=2, vectorization_mode="sync", model=hunt)
    assert sync.reset(seed=0)[0].tolist() == [0, 0]


@pytest.mark.parametrize("how", ["pickle", "deepcopy", "token"])
def test_copies_and_tokens_go_on_as_the_original_would(tiger: POMDP, how: str) -> None:
    envs = ModelVectorEnv(tiger, 4, max_steps=5, show_state=True)
    envs.reset(seed=1)
    actions = np.random.default_rng(0).integers(0, 3, (40, 4))
    for row in actions[:13]:
        envs.step(row)
    if how == "token":
        made = ModelVectorEnv(tiger, 4, max_steps=5, show_state=True)
        assert even(made.restore_state(envs.save_state())[1]) == even(envs._infos(envs.states))
    else:
        made = pickle.loads(pickle.dumps(envs)) if how == "pickle" else copy.deepcopy(envs)
    rest = [even(envs.step(row)) for row in actions[13:]]
    assert [even(made.step(row)) for row in actions[13:]] == rest


def test_pictures(hunt: MDP) -> None:
    envs = ModelVectorEnv(hunt, 2, render_mode="ansi")
    envs.reset(seed=0)
    texts = envs.render()
    assert texts is not None
    assert [text.splitlines()[0][:16] for text in texts] == ["step 0: state s0"] * 2
    envs = ModelVectorEnv(hunt, 2)
    envs.reset(seed=0)
    assert envs.render() is None
    envs.close()


def test_large_models_are_laid_out_without_loops() -> None:
    size = 50_000
    model = MarkovChain(
        choice_start=np.arange(size + 1),
        branch_start=np.arange(size + 1),
        target=(np.arange(size) + 1) % size,
        probability=np.ones(size),
        initial=0,
        state_valuations=Valuations.from_columns({Variable("n", IntDomain(0, size - 1)): np.arange(size)}),
    )
    envs = ModelVectorEnv(model, 10, obs_type="valuations")
    envs.reset(seed=0)
    assert envs.step(np.zeros(10, dtype=int))[0]["n"].tolist() == [1] * 10
