"""`surefoot verify`: check that a record is whole, and the one you hold a head or a key of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.exits import Exit
from surefoot.cli.maps import map_option
from surefoot.cli.showing import counted, json_option, say, say_json
from surefoot.cli.spelling import safe
from surefoot.errors import BadArgument, CutTail, SurefootError

if TYPE_CHECKING:
    from surefoot.journal import Journal, Verification

__all__: list[str] = []

_HELP = """Check a map's journal: each entry against the one before it, and that the map can be made of it.

That alone does not show a tail that was cut, or a history that was written anew with all its hashes. With the --head
that you noted down elsewhere, or the --key of whoever seals the journal, that is caught too.

\b
Examples:
  surefoot verify --map tree.map
  surefoot verify --map tree.map --head 42:9b1c…
  surefoot verify --map tree.map --key public.pem

Exit codes: 0 whole; 1 not whole: the first entry that is wrong is named; 4 the file is no journal.
"""


@click.command("verify", help=_HELP, short_help="Check that a record is whole.")
@map_option
@click.option("--head", metavar="HEAD", help="A head noted down before, as length:hash.")
@click.option(
    "--key",
    metavar="PUBLICKEYFILE",
    type=click.Path(exists=True, dir_okay=False),
    help="The public key of whoever sealed it: PEM, or 64 hexadecimal digits. Needs surefoot[seal].",
)
@click.option(
    "--repair", is_flag=True, help="Mend a JSON file that ends in the middle of an entry; whole entries stay."
)
@json_option
def command(path: str, head: str | None, key: str | None, repair: bool, as_json: bool) -> int:
    """Verify."""
    from surefoot.journal import Verification

    if not os.path.exists(path):
        raise BadArgument(f"there is no map {path!r}")
    mended: str | None = None
    try:
        journal, mended = _open(path, repair)
        with journal:
            checked = _check(journal, head, _read_key(key))
    except CutTail as error:
        checked = Verification(False, 0, None, f"{error}; --repair keeps its whole entries", failed="chain")
    if as_json:
        shown = {"ok": checked.ok, "entries": checked.entries, "at": checked.at, "problem": checked.problem}
        shown |= {"failed": checked.failed, "sealed": checked.sealed, "mended": mended}
        say_json({"command": "verify", "map": path, "head": str(checked.head) if checked.head else None, **shown})
    else:
        _say(path, checked, mended, key)
    return Exit.FINE if checked else Exit.NO


def _open(path: str, repair: bool) -> tuple[Journal, str | None]:
    """Return the journal, mended if that is asked for and needed, and what was mended."""
    from surefoot.journal import open_journal

    try:
        return open_journal(path), None
    except CutTail as error:
        if not repair:
            raise
        return open_journal(path, repair=True), str(error)


def _read_key(path: str | None) -> Any:
    """Return a public key as `Journal.verify` takes it."""
    if path is None:
        return None
    data = Path(path).read_bytes()
    return data if len(data) == 32 else data.decode("ascii", "replace").strip()


def _check(journal: Journal, head: str | None, key: Any) -> Verification:
    """Check the chain, and then that a map can be made of it."""
    from dataclasses import replace

    from surefoot.knowledge.worldmap import WorldMap

    checked = journal.verify(head=head, key=key)
    if checked:
        try:
            WorldMap(journal=journal)
        except SurefootError as error:
            return replace(checked, ok=False, problem=f"the chain is whole, but no map can be made of it: {error}")
    return checked


def _say(path: str, checked: Verification, mended: str | None, key: str | None) -> None:
    if mended:
        say(f"mended: {safe(mended)}")
    if not checked:
        say(f"{path}: NOT WHOLE: {safe(checked.problem or '')}")
        return
    say(f"{path}: whole, {counted(checked.entries, 'entry', 'entries')}")
    if key is not None:
        say(f"  sealed  {counted(checked.sealed, 'entry', 'entries')}, by the key in {key}")
    say(f"  head    {checked.head}")
