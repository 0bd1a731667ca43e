"""Let the reference show `Example:` in a docstring as code (griffe knows only the plural). Loaded by mkdocs.yml."""

from __future__ import annotations

import re
from typing import Any

import griffe

__all__ = ["Examples"]


class Examples(griffe.Extension):
    """Read `Example:` as the section `Examples:`."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one object, before it is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
