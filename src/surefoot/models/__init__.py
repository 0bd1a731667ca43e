"""Explicit models as sparse arrays: Markov chains, MDPs, POMDPs, HMMs, with or without intervals."""

from __future__ import annotations

from surefoot.models.markov import HMM, MDP, POMDP, MarkovChain, Model
from surefoot.models.rewards import RewardModel
from surefoot.models.spaces import BoolDomain, CategoricalDomain, IntDomain, Variable
from surefoot.models.valuations import Valuations

__all__ = [
    "BoolDomain",
    "CategoricalDomain",
    "HMM",
    "IntDomain",
    "MDP",
    "MarkovChain",
    "Model",
    "POMDP",
    "RewardModel",
    "Valuations",
    "Variable",
]
