"""The group of commands: each is loaded from the module of its name when it is asked for; errors become one line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import surefoot
from surefoot.cli.exits import Exit, exit_of
from surefoot.cli.spelling import safe
from surefoot.errors import BadProperty, SurefootError, Undecided

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    *("explore", "walk", "agent", "way", "show", "why", "verify", "replay", "report"),
    *("export", "learn", "check", "shield", "demo"),
)
"""The commands, in the order in which they are listed; each is `command` in the module of its name.

Example:
    >>> COMMANDS[0]
    'explore'
"""

_HELP = """Explore worlds, keep a map of them, take the shortest known way, and prove what is on record; learn a model
of what happened, check what it keeps, and say which actions keep it.

A WORLD is `files:PATH`, `commands:PROGRAM`, `site:URL`, `gym:ID` or `corridor:LENGTH`; its options follow -o
(`-o hidden=no`), or a ? (`gym:FrozenLake-v1?is_slippery=false`; not for files and sites).

A STATE or an ACTION is a text as it is, or a JSON value after an =: '=15', '=["git","remote"]'. A JSON array is a
tuple; a text that starts with = reads '="=x"'. States are shown as they can be typed.

\b
Exit codes:
  0    fine
  1    the answer is no: no way known, target not reached, verification failed
  2    wrong usage, a state, an action or a file that is not there, a model that cannot be read
  3    the world is not there, or broke
  4    the map's journal cannot be read or written
  5    neither yes nor no is proved
  130  stopped by Ctrl-C (143: by SIGTERM); the journal is whole, the same command goes on
"""


class _Commands(click.Group):
    """Load a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command, None when there is none of that name."""
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"surefoot.cli.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or name the nearest one."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint} There are {', '.join(COMMANDS)}.")
        return super().resolve_command(ctx, args)


_group = _Commands("surefoot", help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
_group.params.append(
    click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        help="Show the version and exit.",
        callback=lambda ctx, _, asked: _show_version(ctx) if asked else None,
    )
)


def _show_version(ctx: click.Context) -> None:
    click.echo(f"surefoot {surefoot.__version__}")
    ctx.exit()


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; what goes wrong is told in one line.

    Args:
        arguments: what follows `surefoot` on the command line; None takes it from there.

    Example:
        >>> run(["--version"])
        surefoot ...
        0
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        typed = list(sys.argv[1:] if arguments is None else arguments)
        code: Any = _group.main(args=typed, prog_name="surefoot", standalone_mode=False, obj=typed)
        sys.stdout.flush()
        return int(code or 0)
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except click.Abort:
        click.echo("interrupted", err=True)
        return Exit.INTERRUPTED
    except BadProperty as error:  # it shows the place in lines of their own; the first one names it, too
        _tell(str(error).split("\n")[0].removesuffix(":"))
        return exit_of(error)
    except Undecided as error:
        _tell(str(error).split("\n")[0].removesuffix(":"))
        return Exit.OPEN
    except SurefootError as error:
        _tell(str(error))
        return exit_of(error)
    except (BrokenPipeError, SystemExit):  # the latter is how click takes the former
        return _hang_up()
    except OSError as error:
        _tell(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return Exit.USAGE


def _tell(message: str) -> None:
    click.echo(f"Error: {safe(' '.join(message.split()))}", err=True)


def _hang_up() -> int:
    """End without a word when whoever read our output has gone (`surefoot show … | head`)."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(Path(os.devnull), os.O_WRONLY), sys.stdout.fileno())
    return 128 + 13
