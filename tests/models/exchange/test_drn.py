from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import BadModel, NotADistribution
from surefoot.models import MDP, POMDP, MarkovChain, Model
from surefoot.models.exchange.drn import from_drn, read_drn, to_drn, write_drn

PLAIN = """// Exported by storm
@type: MDP
@value_type: double
@parameters

@reward_models
steps cost
@nr_states
3
@nr_choices
4
@model
state 0 [1, 0] init "two words"
//[x=1\t& b\t& !c\t& y=-2]
\taction __NOLABEL__ [0, 3]
\t\t1 : 0.3333333333
\t\t2 : 0.3333333333
\t\t0 : 0.3333333333
\taction __NOLABEL__ [0, 0.5]
\t\t2 : 1
state 1 [0, 0] init end
//[x=2\t& !b\t& c\t& y=0.5]
\taction go [0, 0]
\t\t1 : 1/2
\t\t1 : 1/2
state 2 [0, 0]
\taction __NOLABEL__ [0, 0]
\t\t2 : 1
"""


def test_the_round_trip_is_exact(model: Model) -> None:
    back = from_drn(to_drn(model))
    assert back == model
    assert list(back.labels) == list(model.labels)
    assert type(back) is type(model)


def test_a_file_is_written_and_read(tmp_path: Path, odd_mdp: MDP) -> None:
    write_drn(odd_mdp, tmp_path / "a.drn")
    assert read_drn(tmp_path / "a.drn") == odd_mdp


def test_what_storm_writes_is_read() -> None:
    model = from_drn(PLAIN)
    assert isinstance(model, MDP)
    assert model.initial.tolist() == [0.5, 0.5, 0.0]
    assert [list(model.available(s)) for s in range(3)] == [[0, 1], [2], [3]]
    assert tuple(model.action_names) == ("#0", "#1", "go", "")
    assert {name: where.tolist() for name, where in model.labels.items()} == {
        "two words": [True, False, False],
        "end": [False, True, False],
    }
    steps, cost = model.reward("steps"), model.reward("cost")
    assert steps.state is not None
    assert steps.choice is None
    assert steps.state.tolist() == [1, 0, 0]
    assert cost.choice is not None
    assert cost.choice.tolist() == [3, 0.5, 0, 0]
    assert model.valuation(0) == {"x": 1, "b": True, "c": False, "y": -2}
    assert model.valuation(1) == {"x": 2, "b": False, "c": True, "y": 0.5}
    assert model.valuation(2) == {}
    assert model.row(1, "go")[1].tolist() == [1.0]


def test_rows_that_were_rounded_are_divided_by_their_sum_on_request() -> None:
    rounded = PLAIN.replace("0.3333333333", "0.3333333")
    with pytest.raises(NotADistribution, match="sum to 0.9999999"):
        from_drn(rounded)
    assert from_drn(rounded, tolerance=1e-6).row(0, "#0")[1].tolist() == pytest.approx([1 / 3] * 3, rel=1e-15)
    with pytest.raises(NotADistribution):
        from_drn(rounded, tolerance=1e-8)


def test_other_programs_can_skip_what_only_we_read(odd_mdp: MDP) -> None:
    first, _, text = to_drn(odd_mdp).partition("\n")
    assert first.startswith("// surefoot: {")
    read = from_drn(text)
    assert read.n_branches == odd_mdp.n_branches + 1  # the loop where there is no choice
    assert sorted(read.rewards) == ["all_parts", "arrive", "even", "nothing", "zero"]
    arrive = read.expected_reward("arrive")
    arrive = np.delete(arrive, 3)
    assert np.allclose(arrive, odd_mdp.expected_reward("arrive"), atol=1e-15)
    assert tuple(read.action_names) == ("#0", "go_to", "_", "", "quote_d")
    assert read.initial.tolist() == [0.5, 0, 0.5, 0]


def test_an_edited_file_is_refused_if_the_comment_no_longer_fits(odd_mdp: MDP) -> None:
    text = to_drn(odd_mdp)
    with pytest.raises(BadModel, match=r"does not fit the rest of the file.*Take that line out"):
        from_drn(text.replace("@nr_states\n4", "@nr_states\n5") + "state 4 [0, 0, 0, 0, 0]\n")
    with pytest.raises(BadModel, match="its version is 99"):
        from_drn(text.replace('"version":1', '"version":99'))
    with pytest.raises(BadModel, match="Take that line out"):
        from_drn(text.replace("surefoot: {", "surefoot: {{"))


def test_an_interval_is_read_and_written() -> None:
    text = """@type: DTMC
@value_type: double-interval
@parameters
@reward_models
@nr_states
2
@model
state 0 init
 action 0
  0 : [0.1, 0.5]
  1 : [0.5, 0.9]
state 1
 action 0
  1 : 1
"""
    model = from_drn(text)
    assert isinstance(model, MarkovChain)
    assert model.lower is not None
    assert model.upper is not None
    assert model.lower.tolist() == [0.1, 0.5, 1.0]
    assert model.upper.tolist() == [0.5, 0.9, 1.0]
    assert "[0.1, 0.5]" in to_drn(model)


def test_a_pomdp_has_observations() -> None:
    text = PLAIN.replace("MDP", "POMDP").replace("state 0", "state 0 {2}").replace("state 1", "state 1 {0}")
    model = from_drn(text)
    assert isinstance(model, POMDP)
    assert model.observation.tolist() == [2, 0, 0]
    assert from_drn(to_drn(model)) == model


def test_rewards_without_a_name_get_one() -> None:
    text = PLAIN.replace("steps cost", " ")
    assert list(from_drn(text).rewards) == ["default0", "default1"]
    one = re.sub(r"\[([^,\]]*), [^\]]*\]", r"[\1]", text)
    assert list(from_drn(one).rewards) == ["default"]


def test_observations_at_random_are_refused(noisy: Model) -> None:
    with pytest.raises(BadModel, match=r"DRN has one observation a state, but 's0' has 2"):
        to_drn(noisy)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@type: MDP", "@type: CTMC", r"type CTMC cannot be read: there are DTMC, MDP, POMDP"),
        ("@type: MDP\n", "", "there is no line @type"),
        ("@model\n", "", "there is no line @model"),
        ("@parameters\n", "@parameters\np q", "parameters p q: fix them first"),
        ("@value_type: double", "@value_type: parametric", "the type parametric cannot be read"),
        ("state 1", "state 2", "line 21 of the DRN text.*'state 1' is wanted here"),
        ("1 : 1/2", "9 : 1/2", r"there is no state 9: numbers are in \[0, 3\)"),
        ("1 : 1/2", "1 : 1/0", "line 24"),
        ("1 : 1/2", "1 : half", "line 24"),
        ("1 : 1/2", "1 ? half", "'target : probability' is wanted"),
        ("1 : 1/2", "1 : [0.1, 0.2]", "an interval, but"),
        ("[0, 3]", "[0, 3, 5]", r"3 rewards but only the names \['steps', 'cost'\]"),
        ("@nr_states\n3", "@nr_states\n4", "@nr_states 4, but it has 3"),
        ("action go [0, 0]", "action go [0, 0] now", r"'action NAME \[rewards\]' is wanted"),
        ("init", "start", "no state of the DRN text has the label init"),
    ],
)
def test_what_is_no_model_is_refused_with_the_line(old: str, new: str, message: str) -> None:
    with pytest.raises(BadModel, match=message):
        from_drn(PLAIN.replace(old, new))
