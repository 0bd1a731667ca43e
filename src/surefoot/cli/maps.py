"""Opening maps for commands: the ones to be asked must be there, the ones to be written are made."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from surefoot import values
from surefoot.cli.exits import reading
from surefoot.cli.spelling import action_of, nearest, safe, state_of
from surefoot.errors import BadArgument, CutTail, UnknownPlace

if TYPE_CHECKING:
    from surefoot.knowledge.worldmap import WorldMap

__all__ = ["known_action", "known_state", "map_option", "open_known", "open_walked"]

map_option = click.option(
    "--map", "path", metavar="FILE", required=True, type=click.Path(dir_okay=False), help="The map's file."
)
"""The option `--map` of commands that ask a map.

Example:
    >>> callable(map_option)
    True
"""


def open_known(path: str) -> WorldMap:
    """Return the map at `path`, to be asked.

    Raises:
        BadArgument: there is none.
        JournalError: its journal cannot be read.

    Example:
        >>> open_known("nowhere.map")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: there is no map 'nowhere.map': surefoot explore WORLD --map nowhere.map makes one
    """
    from surefoot.knowledge.worldmap import WorldMap

    if not os.path.exists(path):
        raise BadArgument(f"there is no map {path!r}: surefoot explore WORLD --map {path} makes one")
    with reading(path):
        return WorldMap(path)


def open_walked(path: str | None, *, stochastic: bool | None = None) -> WorldMap:
    """Return the map at `path` to be written, a new one where there is none; None: in memory.

    A file that ends in the middle of an entry, because whoever wrote it was killed, is mended, and that is said on the
    standard error.

    Raises:
        JournalError: its journal cannot be read.

    Example:
        >>> len(open_walked(None).journal)
        0
    """
    from surefoot.knowledge.worldmap import WorldMap

    try:
        with reading(path):
            return WorldMap(path, stochastic=stochastic)
    except CutTail as error:
        known = WorldMap(path, stochastic=stochastic, repair=True)
        click.echo(
            f"mended: {safe(str(error).partition('; `surefoot')[0])}; its {len(known.journal)} whole entries are kept",
            err=True,
        )
        return known


def known_state(known: WorldMap, text: str) -> Any:
    """Return the state typed as `text`, which the map must have heard of.

    Raises:
        UnknownPlace: it has not; the message names the nearest states.

    Example:
        >>> from surefoot import WorldMap
        >>> known_state(WorldMap().see("hall", "north", to="garden"), "gardn")
        Traceback (most recent call last):
        surefoot.errors.UnknownPlace: the map has no state 'gardn'; the nearest: garden
    """
    state = state_of(text)
    key = values.encode_state(state)
    states = known.states()
    if not any(state == each and values.encode_state(each) == key for each in states):
        raise UnknownPlace(f"the map has no state {text!r}{_near(text, states)}")
    return state


def known_action(known: WorldMap, state: Any, text: str) -> Any:
    """Return the action typed as `text`, about which the map must know something in `state`.

    Raises:
        UnknownPlace: it knows nothing; the message names the nearest actions.

    Example:
        >>> from surefoot import WorldMap
        >>> known_action(WorldMap().see("hall", "north", to="garden"), "hall", "nrth")
        Traceback (most recent call last):
        surefoot.errors.UnknownPlace: the map knows no action 'nrth' in that state; the nearest: north
    """
    action = action_of(text)
    if known.claim(state, action) is None:
        actions = [claim.action for claim in known.claims(state)]
        raise UnknownPlace(f"the map knows no action {text!r} in that state{_near(text, actions)}")
    return action


def _near(text: str, there: Iterable[Any]) -> str:
    found = nearest(text, there)
    return f"; the nearest: {', '.join(found)}" if found else ""
