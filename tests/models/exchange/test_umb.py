from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from surefoot.errors import BadModel, MissingExtra
from surefoot.models import MDP, Model
from surefoot.models.exchange.umb import from_umb, read_umb, to_umb, write_umb

MISSING_UMBI = "umbi is missing: pip install 'surefoot[umb]' (make peers)"


def test_the_round_trip_is_exact(model: Model, tmp_path: Path) -> None:
    pytest.importorskip("umbi", reason=MISSING_UMBI)
    write_umb(model, tmp_path / "m.umb")
    back = read_umb(tmp_path / "m.umb")
    assert back == model
    assert list(back.labels) == list(model.labels)


def test_other_programs_get_all_but_the_comment(odd_mdp: MDP, tmp_path: Path) -> None:
    pytest.importorskip("umbi", reason=MISSING_UMBI)
    held = to_umb(odd_mdp)
    assert held.index.model_data.comment.startswith("surefoot: {")
    held.index.model_data = None
    read = from_umb(held)
    assert read.choices(1) == range(3, 4)  # the branch back of the state without choices
    assert np.array_equal(np.delete(read.probability, 5), odd_mdp.probability)
    for name in odd_mdp.rewards:
        assert np.array_equal(np.delete(read.expected_reward(name), 3), odd_mdp.expected_reward(name))
        assert read.expected_reward(name)[3] == 0


def test_observations_at_random_are_refused(noisy: Model, tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="UMB has one observation a state"):
        to_umb(noisy)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="an ExplicitUmb of umbi is wanted, got 7"):
        from_umb(7)
    system = SimpleNamespace(num_players=1, time="stochastic")
    shaped = SimpleNamespace(index=SimpleNamespace(transition_system=system))
    with pytest.raises(BadModel, match="time is stochastic"):
        from_umb(shaped)
    system.time, system.num_players = "discrete", 2
    with pytest.raises(BadModel, match="it has 2 players"):
        from_umb(shaped)


def test_without_umbi_the_message_says_how_to_get_it(odd_mdp: MDP, tmp_path: Path) -> None:
    if importlib.util.find_spec("umbi"):
        with pytest.raises(BadModel, match="there is no file"):
            read_umb(tmp_path / "m.umb")
        (tmp_path / "m.umb").write_bytes(b"no archive")
        with pytest.raises(BadModel, match="umbi cannot read"):
            read_umb(tmp_path / "m.umb")
        return
    with pytest.raises(MissingExtra, match=r"UMB files need the package umbi: pip install 'surefoot\[umb\]'"):
        write_umb(odd_mdp, tmp_path / "m.umb")
    with pytest.raises(MissingExtra, match=r"surefoot\[umb\]"):
        read_umb(tmp_path / "m.umb")
