from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import BadArgument, BadModel, NotADistribution
from surefoot.models import MDP, POMDP, IntDomain, MarkovChain, Model, RewardModel, Valuations, Variable
from surefoot.models.exchange.prism import read_prism, write_prism

FILES = {
    ".tra": "3 4 6\n0 0 1 0.5 go\n0 0 2 0.5 go\n0 1 0 1\n1 0 1 0.5\n1 0 2 0.5\n2 0 2 1\n",
    ".lab": '0="init" 1="deadlock" 2="end"\n0: 0\n1: 2\n2: 1 2\n',
    ".srew": '# Reward structure "time"\n# State rewards\n3 2\n0 1\n1 2.5\n',
    ".trew": '# Reward structure "time"\n# Transition rewards\n3 4 3\n0 0 1 7\n0 0 2 7\n0 1 0 2\n',
    ".sta": "(x,on)\n0:(-1,true)\n1:(4,false)\n2:(0,true)\n",
}


def put(folder: Path, **changes: str | None) -> Path:
    for suffix, text in (FILES | {f".{name}": text for name, text in changes.items()}).items():
        if text is not None:
            (folder / f"m{suffix}").write_text(text, encoding="utf-8")
    return folder / "m"


def test_the_round_trip_is_exact(model: Model, tmp_path: Path) -> None:
    write_prism(model, tmp_path / "m")
    back = read_prism(tmp_path / "m")
    assert back == model
    assert list(back.labels) == list(model.labels)


def positive(model: Model) -> Model:
    """Return the model with the signs of its rewards taken off."""
    parts = {name: (r.state, r.choice, r.transition) for name, r in model.rewards.items()}
    made = {
        name: RewardModel(*(None if part is None else np.abs(part) for part in three)) for name, three in parts.items()
    }
    return model.replace(rewards=made)


def test_the_round_trip_in_storms_dialect_is_exact(model: Model, tmp_path: Path) -> None:
    if model.has_intervals or model.has_observations:
        with pytest.raises(BadModel, match="have no words for .*: use write_drn"):
            write_prism(model, tmp_path / "m", dialect="storm")
        assert not list(tmp_path.iterdir())
        return
    if any(r.state is not None and (r.state < 0).any() for r in model.rewards.values()):
        with pytest.raises(BadModel, match="have no words for negative rewards: use write_drn"):
            write_prism(model, tmp_path / "m", dialect="storm")
        model = positive(model)
    write_prism(model, tmp_path / "m", dialect="storm")
    assert (tmp_path / "m.tra").read_text(encoding="utf-8").startswith(model.kind + "\n")
    assert read_prism(tmp_path / "m") == model


def test_what_prism_writes_is_read(tmp_path: Path) -> None:
    model = read_prism(put(tmp_path))
    assert isinstance(model, MDP)
    assert tuple(model.action_names) == ("go", "#1", "")
    assert model.initial.tolist() == [1, 0, 0]
    assert {name: where.tolist() for name, where in model.labels.items()} == {"end": [False, True, True]}
    assert model.rewards == {"time": RewardModel(state=[1, 2.5, 0], choice=[7, 2, 0, 0])}
    assert [model.valuation(s) for s in range(3)] == [
        {"x": -1, "on": True},
        {"x": 4, "on": False},
        {"x": 0, "on": True},
    ]
    assert model.row(1, "")[1].tolist() == [0.5, 0.5]


def test_a_reward_that_differs_on_the_branches_is_on_the_branches(tmp_path: Path) -> None:
    model = read_prism(put(tmp_path, trew="3 4 2\n0 0 1 7\n1 0 2 3\n", srew=None))
    assert model.rewards == {"default": RewardModel(transition=[7, 0, 0, 0, 3, 0])}


def test_several_rewards_have_numbered_files(tmp_path: Path) -> None:
    chain = MarkovChain(
        choice_start=[0, 1],
        branch_start=[0, 1],
        target=[0],
        probability=[1.0],
        initial=0,
        rewards={"a": RewardModel(state=[1.0]), "b": RewardModel(choice=[2.0])},
    )
    names = [file.name for file in write_prism(chain, tmp_path / "m")]
    assert names == ["m.tra", "m.lab", "m1.srew", "m2.srew", "m2.trew"]
    assert read_prism(tmp_path / "m.tra") == chain


def test_a_pomdp_of_prism_says_what_is_observed_where_a_state_is_entered(tmp_path: Path) -> None:
    tra = "3 4 6 2\n0 0 1 0.5 1 go\n0 0 2 0.5 0 go\n0 1 1 1 1\n1 0 1 0.5 1\n1 0 2 0.5 0\n2 0 2 1 0\n"
    model = read_prism(put(tmp_path, tra=tra, trew=None))
    assert isinstance(model, POMDP)
    assert model.observation.tolist() == [2, 1, 0]
    put(tmp_path, tra=tra.replace("2 0 2 1 0", "2 0 2 1 1"))
    with pytest.raises(BadModel, match="gives state 2 the observations 0 and 1"):
        read_prism(tmp_path / "m")


def test_intervals_are_read(tmp_path: Path) -> None:
    tra = "2 3\n0 0 [0.25, 0.5]\n0 1 [0.5,0.75]\n1 1 1\n"
    model = read_prism(put(tmp_path, tra=tra, srew=None, trew=None, sta=None, lab='0="init"\n0: 0\n'))
    assert model.lower is not None
    assert model.upper is not None
    assert model.lower.tolist() == [0.25, 0.5, 1]
    assert model.upper.tolist() == [0.5, 0.75, 1]


def test_values_with_domains_are_written_for_others_too(tmp_path: Path) -> None:
    values = Valuations.from_rows([Variable("x y", IntDomain(0, 3))], [{"x y": 3}])
    chain = MarkovChain(
        choice_start=[0, 1],
        branch_start=[0, 1],
        target=[0],
        probability=[1.0],
        initial=0,
        state_valuations=values,
    )
    write_prism(chain, tmp_path / "m")
    assert (tmp_path / "m.sta").read_text(encoding="utf-8") == "(x_y)\n0:(3)\n"
    assert read_prism(tmp_path / "m") == chain
    (tmp_path / "m.surefoot.json").unlink()
    assert read_prism(tmp_path / "m").valuation(0) == {"x_y": 3}


def test_files_of_an_earlier_model_go(tmp_path: Path, odd_mdp: MDP) -> None:
    (tmp_path / "model.txt").write_text("mine", encoding="utf-8")
    write_prism(odd_mdp, tmp_path / "m")
    loop = MarkovChain(choice_start=[0, 1], branch_start=[0, 1], target=[0], probability=[1.0], initial=0)
    written = write_prism(loop, tmp_path / "m")
    assert sorted(tmp_path.iterdir()) == sorted([*written, tmp_path / "model.txt"])
    assert read_prism(tmp_path / "m") == loop


def test_other_programs_get_the_same_rewards(tmp_path: Path, odd_mdp: MDP) -> None:
    write_prism(odd_mdp, tmp_path / "m")
    (tmp_path / "m.surefoot.json").unlink()
    read = read_prism(tmp_path / "m")
    assert list(read.rewards) == list(odd_mdp.rewards)
    keep = [0, 1, 2, 4, 5]  # the fourth choice is the loop of the state that has none
    for name in odd_mdp.rewards:
        assert np.allclose(read.expected_reward(name)[keep], odd_mdp.expected_reward(name), atol=1e-15)
        assert read.expected_reward(name)[3] == 0


def test_the_rest_is_checked(tmp_path: Path, odd_mdp: MDP) -> None:
    write_prism(odd_mdp, tmp_path / "m")
    file = tmp_path / "m.surefoot.json"
    held = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(held | {"initial": [1.0]}), encoding="utf-8")
    with pytest.raises(BadModel, match="does not fit the rest of the file"):
        read_prism(tmp_path / "m")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tra": ""}, "the .tra file is empty"),
        ({"tra": "ctmc\n0 0 1\n"}, "begins with 'ctmc'"),
        ({"tra": "3 4 6\n0 0\n"}, r"line 2 of the .tra file, '0 0': state, choice, target and probability"),
        ({"tra": "3 4 6\n0 0 7 1\n"}, r"there is no state 7: numbers are in \[0, 3\)"),
        ({"tra": "3 4 6\n0 0 1 x\n"}, "line 2 of the .tra file"),
        ({"lab": '0="end"\n0: 0\n'}, 'no state the label "init"'),
        ({"lab": '0="init"\n0: 0 3\n'}, "line 2 of the .lab file has the label 3"),
        ({"lab": '0="init"\nx: 0\n'}, "'x' is no whole number"),
        ({"srew": "3 1\n9 1\n"}, r"line 2 of the .srew file: there is no state 9"),
        ({"srew": "3 1\n0 much\n"}, "'much' is no number"),
        ({"trew": "3 4 1\n0 0 0 1\n"}, "line 2 of the .trew file, '0 0 0 1': there is no such transition"),
        ({"sta": "(x)\n7:(1)\n"}, r"states are in \[0, 3\)"),
        ({"sta": "(x)\n0:(1,2)\n"}, "but 1 variables"),
    ],
)
def test_what_is_no_model_is_refused_with_the_line(
    tmp_path: Path, changes: dict[str, str | None], message: str
) -> None:
    with pytest.raises(BadModel, match=message):
        read_prism(put(tmp_path, **changes))


def test_rows_must_sum_to_one(tmp_path: Path) -> None:
    path = put(tmp_path, tra=FILES[".tra"].replace("0 0 2 0.5", "0 0 2 0.4999999"))
    with pytest.raises(NotADistribution, match=r"sum to 0\.9999999"):
        read_prism(path)
    assert read_prism(path, tolerance=1e-6).row(0, "go")[1].sum() == pytest.approx(1, abs=1e-15)


def test_wrong_arguments_are_refused(tmp_path: Path, noisy: Model) -> None:
    with pytest.raises(BadModel, match="one observation a state"):
        write_prism(noisy, tmp_path / "m")
    with pytest.raises(BadArgument, match="dialect must be 'prism' or 'storm'"):
        write_prism(noisy, tmp_path / "m", dialect="mrmc")  # type: ignore[arg-type]  # wrong on purpose
    assert not list(tmp_path.iterdir())


def test_a_cut_file_of_rewards_is_refused(tmp_path: Path) -> None:
    put(tmp_path, srew=FILES[".srew"].replace("1 2.5\n", ""))
    with pytest.raises(BadModel, match=r"the \.srew file says that 2 lines follow, and there are 1"):
        read_prism(tmp_path / "m")
    put(tmp_path, trew=FILES[".trew"].replace("3 4 3\n", ""))
    with pytest.raises(BadModel, match=r"line 3 of the \.trew file, '0 0 1 7': the number of states, 3, that of choi"):
        read_prism(tmp_path / "m")
    put(tmp_path, srew="3 1\n0 1 2\n")
    with pytest.raises(BadModel, match=r"line 2 of the \.srew file, '0 1 2': 2 numbers are wanted"):
        read_prism(tmp_path / "m")


@pytest.mark.parametrize("header", ["# Reward structure", "# Reward structure:"])
def test_the_files_of_rewards_as_prism_4_8_writes_them(tmp_path: Path, header: str) -> None:
    """`prism die.pm -exportmodel die.all`: two structures of rewards, one without a name, and exact numbers."""
    texts = {
        "die.tra": "3 5\n0 1 1/2\n0 2 1/2\n1 0 1\n2 1 0.25\n2 2 0.75\n",
        "die.sta": "(s,d)\n0:(0,0)\n1:(1,0)\n2:(7,3)\n",
        "die.lab": '# Labels\n0="init" 1="deadlock" 2="end"\n0: 0\n2: 2\n',
        "die1.srew": f'{header} "energy"\n# State rewards\n3 2\n0 23/10\n2 1/10\n',
        "die1.trew": f'{header} "energy"\n# Transition rewards\n3 0\n',
        "die2.srew": f"{header}\n# State rewards\n3 0\n",
        "die2.trew": f"{header}\n# Transition rewards\n3 3\n0 1 1\n0 2 1\n2 1 -7/2\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    model = read_prism(tmp_path / "die")
    assert list(model.rewards) == ["energy", "reward2"]
    assert model.reward("energy") == RewardModel(state=[2.3, 0.0, 0.1])
    assert model.expected_reward("reward2").tolist() == [1.0, 0.0, -3.5 * 0.25]
    assert model.valuation(2) == {"s": 7, "d": 3}
    write_prism(model, tmp_path / "again")
    assert (tmp_path / "again1.srew").read_text(encoding="utf-8") == (
        '# Reward structure "energy"\n# State rewards\n3 2\n0 2.3\n2 0.1\n'
    )
    assert read_prism(tmp_path / "again") == model


def test_newer_files_say_what_is_observed_where_an_episode_starts(tmp_path: Path) -> None:
    tra = "# Transitions (POMDP)\n2 2 2 3\n- - 0 - 2\n0 0 1 1 1 go\n1 0 1 1 1\n"
    maze = put(tmp_path, tra=tra, lab='0="init"\n0: 0\n', srew=None, trew=None, sta=None)
    model = read_prism(maze)
    assert isinstance(model, POMDP)
    assert model.observation.tolist() == [2, 1]
    put(tmp_path, tra="2 2\n- - 0 - 2\n0 1 1\n1 1 1\n", lab='0="init"\n0: 0\n', srew=None, trew=None, sta=None)
    with pytest.raises(BadModel, match="line 2 of the .tra file, '- - 0 - 2': only a POMDP has"):
        read_prism(maze)
