"""Without stormpy: what is refused, and how to get it. With it: tests/peers/test_storm.py."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from surefoot.errors import BadModel, MissingExtra
from surefoot.models import MDP, Model
from surefoot.models.exchange.storm import from_stormpy, read_jani, read_prism_program, to_stormpy


def test_what_is_no_model_of_stormpy_is_refused() -> None:
    with pytest.raises(BadModel, match="a sparse model of stormpy is wanted, got 7"):
        from_stormpy(7)


def test_what_storm_has_no_words_for_is_refused_before_stormpy_is_needed(noisy: Model, odd_mdp: MDP) -> None:
    with pytest.raises(BadModel, match="Storm has one observation a state"):
        to_stormpy(noisy)
    with pytest.raises(BadModel, match="the label 'init' is where an episode starts in Storm"):
        to_stormpy(odd_mdp)


def test_without_stormpy_the_message_says_how_to_get_it(odd_mdp: MDP, tmp_path: Path) -> None:
    if importlib.util.find_spec("stormpy"):
        pytest.skip("stormpy is installed: tests/peers tries the real thing")
    for read in (read_prism_program, read_jani):
        with pytest.raises(MissingExtra, match=r"need the package stormpy: pip install 'surefoot\[storm\]'"):
            read(tmp_path / "m")
    with pytest.raises(MissingExtra, match=r"surefoot\[storm\]"):
        to_stormpy(odd_mdp.replace(labels={}))
