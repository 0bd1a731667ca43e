"""Solvers of Markov models: bounds that hold for what is asked, and the policy that earns them."""

from __future__ import annotations

__all__: list[str] = []
