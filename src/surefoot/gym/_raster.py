"""A small canvas in NumPy: disks, lines and letters, so that pictures need no package for drawing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Canvas"]

Colour = tuple[int, int, int]

_LETTERS = """
0 0E11131519110E  1 040C040404040E  2 0E11010204081F  3 1F02040201110E  4 02060A121F0202  5 1F101E0101110E
6 0608101E11110E  7 1F010204080808  8 0E11110E11110E  9 0E11110F01020C  A 0E11111F111111  B 1E11111E11111E
C 0E11101010110E  D 1C12111111121C  E 1F10101E10101F  F 1F10101E101010  G 0E11101711110F  H 1111111F111111
I 0E04040404040E  J 0702020202120C  K 11121418141211  L 1010101010101F  M 111B1515111111  N 11111915131111
O 0E11111111110E  P 1E11111E101010  Q 0E11111115120D  R 1E11111E141211  S 0F10100E01011E  T 1F040404040404
U 1111111111110E  V 11111111110A04  W 11111115151B11  X 11110A040A1111  Y 1111110A040404  Z 1F01020408101F
a 00000E010F110F  b 1010161911111E  c 00000E1010110E  d 01010D1311110F  e 00000E111F100E  f 0609081C080808
g 000F110F01010E  h 10101619111111  i 04000C0404040E  j 0200060202120C  k 10101214181412  l 0C04040404040E
m 00001A15151111  n 00001619111111  o 00000E1111110E  p 00001E111E1010  q 00000D130F0101  r 00001619101010
s 00000E100E011E  t 08081C08080906  u 0000111111130D  v 00001111110A04  w 0000111115150A  x 0000110A040A11
y 000011110F010E  z 00001F0204081F  . 00000000000C0C  , 000000000C0408  : 000C0C000C0C00  - 0000001F000000
_ 0000000000001F  ( 02040808080402  ) 08040202020408  [ 0E08080808080E  ] 0E02020202020E  / 00010204081000
% 18190204081303  + 0004041F040400  = 00001F001F0000  < 02040810080402  > 08040201020408  ? 0E110102040004
! 04040404000004  * 0004150E150400  ' 0C040800000000  # 0A0A1F0A1F0A0A  & 0C12140815120D
"""
_words = _LETTERS.split()
_GLYPHS = {
    letter: np.array([[row >> bit & 1 for bit in (4, 3, 2, 1, 0)] for row in bytes.fromhex(code)], dtype=bool)
    for letter, code in zip(_words[::2], _words[1::2], strict=True)
}
_GLYPHS['"'] = np.array([[row >> bit & 1 for bit in (4, 3, 2, 1, 0)] for row in b"\x0a\x0a\x0a\0\0\0\0"], dtype=bool)
_BOX = np.pad(np.zeros((5, 3), dtype=bool), 1, constant_values=True)
_BLANK = np.zeros((7, 5), dtype=bool)


class Canvas:
    """Hold a picture that is drawn on; what lies outside is cut off.

    Args:
        width: in pixels.
        height: in pixels.
        colour: the background, as (red, green, blue).
    """

    def __init__(self, width: int, height: int, colour: Colour) -> None:
        self.pixels: NDArray[np.uint8] = np.full((height, width, 3), colour, dtype=np.uint8)
        self._y, self._x = np.ogrid[:height, :width]

    def disk(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Fill a circle."""
        self.pixels[(self._x - x) ** 2 + (self._y - y) ** 2 <= radius**2] = colour

    def box(self, x: int, y: int, half: int, colour: Colour) -> None:
        """Fill a square around a point."""
        self.pixels[max(y - half, 0) : max(y + half, 0), max(x - half, 0) : max(x + half, 0)] = colour

    def line(self, start: tuple[float, float], end: tuple[float, float], width: float, colour: Colour) -> None:
        """Draw a line: what is not further than half its width away from it."""
        (x0, y0), (x1, y1) = start, end
        dx, dy = x1 - x0, y1 - y0
        along = np.clip(((self._x - x0) * dx + (self._y - y0) * dy) / max(dx * dx + dy * dy, 1e-9), 0.0, 1.0)
        away = (self._x - x0 - along * dx) ** 2 + (self._y - y0 - along * dy) ** 2
        self.pixels[away <= (width / 2) ** 2] = colour

    def text(self, x: int, y: int, text: str, colour: Colour, scale: int = 2) -> None:
        """Write centred at a point; a letter without a picture is an empty box."""
        if not text:
            return
        letters = [np.pad(_BLANK if one == " " else _GLYPHS.get(one, _BOX), ((0, 0), (0, 1))) for one in text]
        ink = np.kron(np.hstack(letters)[:, :-1], np.ones((scale, scale), dtype=bool)).astype(bool)
        left, top = x - ink.shape[1] // 2, y - ink.shape[0] // 2
        rows, columns = np.nonzero(ink)
        rows, columns = rows + top, columns + left
        inside = (rows >= 0) & (rows < self.pixels.shape[0]) & (columns >= 0) & (columns < self.pixels.shape[1])
        self.pixels[rows[inside], columns[inside]] = colour
