from __future__ import annotations

from typing import get_args

import pytest

from surefoot.drawing.looks import LOOKS, Arrow, Line, Look, look_of, looks_of

SPARE = list(looks_of("abcdef").values())
ALL = [*LOOKS.values(), *SPARE]


def brightness(colour: str) -> float:
    """Return the relative luminance of `#rrggbb` (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([brightness(one), brightness(other)])
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_the_known_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_no_two_looks_differ_by_their_colour_alone() -> None:
    assert len(SPARE) == 6
    assert len({look.words for look in ALL}) == len(ALL)
    assert len({look.light for look in ALL}) == len({look.dark for look in ALL}) == len(ALL)


@pytest.mark.parametrize("look", ALL, ids=lambda look: look.words)
def test_every_colour_can_be_read_on_its_ground(look: Look) -> None:
    assert contrast(look.light, "#ffffff") >= 4.5
    assert contrast(look.dark, "#12161b") >= 4.5
    assert look.line in get_args(Line)
    assert look.arrow in get_args(Arrow)


def test_listed_statuses_come_first_and_the_others_in_alphabetical_order() -> None:
    looks = looks_of(iter(["zebra", "refused", "apple", "given", "zebra"]))
    assert list(looks) == ["given", "refused", "apple", "zebra"]
    assert looks["refused"] is LOOKS["refused"]
    assert [looks["apple"], looks["zebra"]] == SPARE[:2]


def test_the_seventh_unlisted_status_gets_the_first_spare_look_again() -> None:
    looks = looks_of("abcdefg")
    assert looks["g"] is looks["a"]


def test_one_status_by_itself() -> None:
    assert look_of("confirmed") is LOOKS["confirmed"]
    assert look_of("anything") is SPARE[0]


def test_the_listed_looks_cannot_be_changed() -> None:
    with pytest.raises(TypeError, match="does not support item assignment"):
        LOOKS["given"] = SPARE[0]  # type: ignore[index]  # wrong on purpose
