"""How each status of an edge looks: a line, an arrowhead and a colour, so that no two differ by their colour alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = ["LOOKS", "Arrow", "Line", "Look", "look_of", "looks_of"]

Line = Literal["solid", "dashed", "dotted"]
"""A way to draw a line.

Example:
    >>> look_of("hypothesis").line
    'dashed'
"""

Arrow = Literal["filled", "hollow", "open", "diamond", "circle", "square", "crossed", "wall"]
"""A way to draw an arrowhead.

Example:
    >>> look_of("refused").arrow
    'wall'
"""


@dataclass(frozen=True, slots=True)
class Look:
    """Hold how one status looks.

    Args:
        meaning: what the status says, for the legend.
        line: how the line is drawn.
        arrow: how its end is drawn; line and arrow together belong to one listed status only.
        light: the colour on a light ground, `#rrggbb`; at least 4.5 to 1 against white.
        dark: the colour on a dark ground, `#rrggbb`.
        stub: the sign at the end of an edge that has no target.

    Example:
        >>> look_of("refuted").words
        'dotted line, crossed arrowhead'
    """

    meaning: str
    line: Line
    arrow: Arrow
    light: str
    dark: str
    stub: str = "?"

    @property
    def words(self) -> str:
        """Return the look in words, without its colour.

        Example:
            >>> look_of("confirmed").words
            'solid line, filled arrowhead'
        """
        return f"{self.line} line, {self.arrow} arrowhead"


LOOKS: Mapping[str, Look] = MappingProxyType(
    {
        "given": Look("part of the description", "solid", "open", "#57606a", "#adb5bd"),
        "confirmed": Look("was taken and led there", "solid", "filled", "#1a7f37", "#57c878"),
        "hypothesis": Look("supposed, not taken yet", "dashed", "hollow", "#0969da", "#6cb6ff"),
        "doubtful": Look("to be checked again", "dashed", "diamond", "#8a5d00", "#e3b341"),
        "untaken": Look("offered, never taken", "dotted", "circle", "#5f6872", "#9aa4ae"),
        "refuted": Look("was taken and led elsewhere", "dotted", "crossed", "#cf222e", "#ff7b72"),
        "refused": Look("the world said no", "solid", "wall", "#8250df", "#d2a8ff", stub="⊘"),
    }
)
"""The statuses with a look of their own, in the order of a legend.

Example:
    >>> list(LOOKS)
    ['given', 'confirmed', 'hypothesis', 'doubtful', 'untaken', 'refuted', 'refused']
"""

_OTHERS = (
    Look("", "dashed", "square", "#a3407e", "#f0a3d0"),
    Look("", "solid", "diamond", "#0b6e77", "#56d4dd"),
    Look("", "dotted", "open", "#7a4a1d", "#e0b088"),
    Look("", "dashed", "open", "#4f5bd5", "#a5b0ff"),
    Look("", "solid", "square", "#6b6b00", "#d5d56a"),
    Look("", "dotted", "hollow", "#9a3412", "#ffb38a"),
)


def look_of(status: str) -> Look:
    """Return the look of one status; a status that is not listed gets the first of the spare looks.

    Example:
        >>> look_of("hypothesis").words
        'dashed line, hollow arrowhead'
    """
    return LOOKS.get(status, _OTHERS[0])


def looks_of(statuses: Iterable[str]) -> dict[str, Look]:
    """Return the looks of the statuses that occur, in the order of a legend; the ones that are not listed come last.

    Those get the spare looks in alphabetical order; from the seventh on the spare looks come again, so label them.

    Cost: linear.

    Example:
        >>> {status: look.words for status, look in looks_of(["tried", "confirmed"]).items()}
        {'confirmed': 'solid line, filled arrowhead', 'tried': 'dashed line, square arrowhead'}
    """
    present = set(statuses)
    looks = {status: look for status, look in LOOKS.items() if status in present}
    for place, status in enumerate(sorted(present - LOOKS.keys())):
        looks[status] = _OTHERS[place % len(_OTHERS)]
    return looks
