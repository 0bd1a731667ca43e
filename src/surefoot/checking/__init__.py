"""Check what a model keeps: properties in a language, shields that keep them, certificates that need no trust."""

from __future__ import annotations

__all__: list[str] = []
