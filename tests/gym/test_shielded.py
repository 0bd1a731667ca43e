from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from surefoot.checking.shield import Shield, shield
from surefoot.errors import ActionUnavailableError, BadArgument, NotStarted
from surefoot.gym import ModelEnv
from surefoot.gym.shielded import ShieldedEnv
from surefoot.learners.counts import Counts
from surefoot.learners.histories import count_world
from surefoot.learners.pooling import pooled
from surefoot.models import MDP
from surefoot.models.examples import grid

SAFE = 'P>=1 [ G !"hole" ]'


@pytest.fixture(scope="module")
def ledge() -> MDP:
    """Return an edge from which one walks home, or jumps into a gorge half of the time."""
    return MDP(
        choice_start=[0, 2, 3, 3, 4],
        choice_action=[0, 1, 0, 1],
        branch_start=[0, 1, 3, 4, 5],
        target=[0, 1, 2, 1, 2],
        probability=[1.0, 0.5, 0.5, 1.0, 1.0],
        initial=0,
        action_names=["walk", "jump"],
        state_names=["edge", "home", "gorge", "brink"],
        labels={"bad": ["gorge"], "lost": ["gorge", "brink"]},
    )


@pytest.fixture(scope="module")
def safe(ledge: MDP) -> Shield:
    return shield(ledge, 'P>=0.9 [ G !"bad" ]')


def walk(env: Any, steps: int, seed: int, masked: bool) -> tuple[int, int]:
    """Return how often a random walk was in a hole, and how many actions were refused."""
    numbers = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    fallen = refused = 0
    for _ in range(steps):
        free = np.flatnonzero(info["action_mask"]) if masked else np.arange(env.action_space.n)
        _, _, ended, truncated, info = env.step(int(numbers.choice(free)))
        told = info["shield"]
        refused += told is not None and told["taken"] is None
        fallen += "hole" in info.get("labels", [])
        if ended or truncated:
            _, info = env.reset()
    return fallen, refused


@pytest.mark.parametrize("how", ["refuse", "replace"])
def test_a_shielded_random_walk_never_falls_and_an_unshielded_one_does(how: Any) -> None:
    model = grid(4, 4, slip=0.2, holes=((3, 0),))
    keeper = shield(model, SAFE)
    assert not keeper.allowed.all()
    fallen, refused = walk(ShieldedEnv(ModelEnv(model, "goal"), keeper, on_refused=how), 3000, 1, masked=False)
    assert fallen == 0
    assert (refused > 0) is (how == "refuse")
    bare = ShieldedEnv(ModelEnv(model, "goal"), shield(model, 'P>=0 [ G !"hole" ]'))
    assert walk(bare, 3000, 1, masked=True)[0] > 0


@pytest.mark.nightly
def test_a_million_shielded_steps_never_fall() -> None:
    model = grid(4, 4, slip=0.2, holes=((3, 0),))
    assert walk(ShieldedEnv(ModelEnv(model, "goal"), shield(model, SAFE)), 1_000_000, 2, masked=True) == (0, 0)


def test_masks_hold_what_is_offered_and_allowed(ledge: MDP, safe: Shield) -> None:
    env = ShieldedEnv(ModelEnv(ledge), safe)
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [1, 0]
    assert info["action_mask"].dtype == np.int8
    assert env.action_masks().tolist() == [True, False]
    assert info["shield"] is None


def test_a_refused_action_does_nothing_and_says_why(ledge: MDP, safe: Shield) -> None:
    env = ShieldedEnv(ModelEnv(ledge), safe, refused_reward=-2.0)
    env.reset(seed=0)
    observation, reward, ended, truncated, info = env.step(1)
    assert (observation, reward, ended, truncated) == (0, -2.0, False, False)
    assert info["shield"]["asked"] == 1
    assert info["shield"]["taken"] is None
    assert info["shield"]["why"].startswith("jump in edge is refused: after it")


def test_a_replaced_action_is_the_best_that_is_allowed(ledge: MDP, safe: Shield) -> None:
    env = ShieldedEnv(ModelEnv(ledge), safe, on_refused="replace")
    env.reset(seed=0)
    observation, _, _, _, info = env.step(1)
    assert observation == 0
    assert info["shield"]["taken"] == 0


def test_raise_raises_and_nothing_has_happened(ledge: MDP, safe: Shield) -> None:
    inner = ModelEnv(ledge)
    env = ShieldedEnv(inner, safe, on_refused="raise")
    env.reset(seed=0)
    token = inner.save_state()
    with pytest.raises(ActionUnavailableError, match="jump in edge is refused"):
        env.step(1)
    assert inner.save_state() == token


def test_what_the_environment_does_not_offer_is_for_it_to_answer(ledge: MDP, safe: Shield) -> None:
    env = ShieldedEnv(ModelEnv(ledge, termination="never"), safe)
    env.reset(seed=0, options={"state": "home"})
    with pytest.raises(ActionUnavailableError, match="home"):
        env.step(1)
    with pytest.raises(ActionUnavailableError):
        env.step(5)


def test_where_nothing_is_allowed_the_episode_ends_or_goes_on_as_asked(ledge: MDP) -> None:
    keeper = shield(ledge, 'P>=0.9 [ G !"bad" ]')
    env = ShieldedEnv(ModelEnv(ledge), keeper)
    _, info = env.reset(seed=0, options={"state": "brink"})
    assert info["shield"]["why"] == 'no action keeps P>=0.9 [ G !"bad" ] in brink'
    observation, _, ended, truncated, info = env.step(1)
    assert (observation, ended, truncated, info["shield"]["taken"]) == (3, False, True, None)
    free = ShieldedEnv(ModelEnv(ledge), keeper, otherwise="any")
    _, info = free.reset(seed=0, options={"state": "brink"})
    assert info["action_mask"].tolist() == [0, 1]
    assert free.step(1)[0] == 2


def test_states_are_found_by_name_in_a_model_with_other_numbers(ledge: MDP) -> None:
    other = MDP(
        choice_start=[0, 0, 2, 3],
        choice_action=[1, 0, 1],
        branch_start=[0, 1, 3, 4],
        target=[1, 0, 2, 2],
        probability=[1.0, 0.5, 0.5, 1.0],
        initial=1,
        action_names=["jump", "walk"],
        state_names=["gorge", "edge", "home"],
        labels={"bad": ["gorge"]},
    )
    env = ShieldedEnv(ModelEnv(ledge), shield(other, 'P>=0.9 [ G !"bad" ]'), by="name")
    assert env.reset(seed=0)[1]["action_mask"].tolist() == [1, 0]
    _, info = env.reset(options={"state": "brink"})
    assert info["shield"]["why"] == "the shield does not know the state of 3"


def test_a_shield_of_what_was_learned_keeps_an_agent_out_of_the_lake() -> None:
    """Learned from a walk at random over a floor that does not slip, then never in a hole."""
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    counts = count_world(lake, steps=4000, seed=1)
    holes = {5, 7, 11, 12}
    learned = counts.intervals(support="seen", labels={"bad": lambda state: state in holes}, unseen_labels=["bad"])
    env = ShieldedEnv(lake, shield(learned.model, 'P>=1 [ G !"bad" ]'), by="value", on_refused="replace")
    numbers = np.random.default_rng(0)
    env.reset(seed=0)
    seen = set()
    for _ in range(500):
        observation, _, ended, truncated, info = env.step(int(numbers.integers(4)))
        seen.add(int(observation))
        if ended or truncated:
            env.reset()
    assert not seen & holes
    assert 15 in seen


def test_a_shield_of_pooled_intervals_on_a_slippery_lake_keeps_its_bound() -> None:
    lake = gymnasium.make("FrozenLake-v1", is_slippery=True)
    counts = count_world(lake, steps=20_000, seed=1)
    labels = {"bad": lambda state: state in {5, 7, 11, 12}}
    learned = pooled(counts, support="seen", labels=labels)
    keeper = shield(learned.model, 'P>=0.5 [ G !"bad" ]')
    env = ShieldedEnv(lake, keeper, by="value")
    assert env.reset(seed=0)[1]["action_mask"].any()
    fine = shield(counts.intervals(labels=labels).model, 'P>=0.5 [ G !"bad" ]')
    assert fine.allowed.sum() < keeper.allowed.sum()


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")
def test_the_wrapper_keeps_the_contract_of_gymnasium(ledge: MDP, safe: Shield) -> None:
    inner = ModelEnv(ledge, on_unavailable="stay")
    check_env(ShieldedEnv(inner, safe), skip_render_check=True)


def test_wrong_arguments_are_named(ledge: MDP, safe: Shield) -> None:
    env = ModelEnv(ledge)
    with pytest.raises(BadArgument, match="on_refused must be one of refuse, replace, raise"):
        ShieldedEnv(env, safe, on_refused="ignore")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(BadArgument, match="refused_reward must be finite"):
        ShieldedEnv(env, safe, refused_reward=float("inf"))
    with pytest.raises(BadArgument, match="shield must have"):
        ShieldedEnv(env, object())  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(BadArgument, match="needs an environment over a model"):
        ShieldedEnv(gymnasium.make("FrozenLake-v1"), safe, by="name")
    with pytest.raises(BadArgument, match="needs Discrete"):
        ShieldedEnv(gymnasium.make("Pendulum-v1"), safe)
    fresh = ShieldedEnv(env, safe)
    with pytest.raises(NotStarted):
        fresh.step(0)
    with pytest.raises(NotStarted):
        fresh.action_masks()


def test_by_value_numbers_and_texts_are_told_apart() -> None:
    """The learned model knows the text "0", and no number 0: a lake's first state is not among its states."""
    counts = Counts()
    counts.observe("0", 0, "1", ended=True)
    keeper = shield(counts.intervals(initial="0", support="seen").model, 'P>=0 [ G !"unseen" ]')
    env = ShieldedEnv(gymnasium.make("FrozenLake-v1"), keeper, by="value")
    _, info = env.reset(seed=0)
    assert info["shield"]["why"] == "the shield does not know the state of 0"
