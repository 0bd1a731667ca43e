"""Conditions induced from raw states and arguments: no vocabulary is written by hand."""

__all__: list[str] = []
