"""UMB files between Storm and us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.models import Model
from surefoot.models.exchange.storm import read_prism_program
from surefoot.models.exchange.umb import read_umb, write_umb
from surefoot.models.markov import ObservedModel

stormpy = pytest.importorskip("stormpy", reason="stormpy is missing: pip install 'surefoot[storm]' (make peers)")
files: Any = pytest.importorskip("stormpy.examples.files")
pytest.importorskip("umbi", reason="umbi is missing: pip install 'surefoot[umb]' (make peers)")

ROWS = ("choice_start", "branch_start", "target", "probability", "lower", "upper")


def test_storm_reads_our_umb(model: Model, tmp_path: Path) -> None:
    write_umb(model, tmp_path / "m.umb")
    theirs = stormpy.build_model_from_umb(str(tmp_path / "m.umb"))
    assert theirs.nr_states == model.n_states
    assert list(theirs.initial_states) == np.flatnonzero(model.initial).tolist()
    if model.kind == "pomdp":
        assert isinstance(model, ObservedModel)
        assert list(theirs.observations) == model.observation.tolist()


@pytest.mark.parametrize("name", ["prism_dtmc_die", "prism_mdp_coin_2_2", "prism_pomdp_maze"])
def test_we_read_the_umb_that_storm_writes(name: str, tmp_path: Path) -> None:
    options = stormpy.BuilderOptions()
    for what in ("choice_labels", "state_valuations", "all_labels", "all_reward_models"):
        getattr(options, f"set_build_{what}")(True)
    theirs = stormpy.build_model(stormpy.parse_prism_program(getattr(files, name)), options=options)
    stormpy.io.export_to_umb(theirs, str(tmp_path / "m.umb"))
    model = read_umb(tmp_path / "m.umb", tolerance=1e-6)
    wanted = read_prism_program(getattr(files, name), tolerance=1e-6)
    assert type(model) is type(wanted)
    for field in ROWS:
        one, other = getattr(model, field), getattr(wanted, field)
        assert (one is None) == (other is None)
        assert one is None or np.array_equal(one, other), field
    assert sorted(set(model.labels) - {"deadlock"}) == sorted(wanted.labels)
    assert [model.valuation(s) for s in range(4)] == [wanted.valuation(s) for s in range(4)]
    for reward in wanted.rewards:
        assert np.array_equal(model.expected_reward(reward), wanted.expected_reward(reward))
