"""Models in files, for commands: the format is told by the end of the name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surefoot.cli.spelling import state_of
from surefoot.cli.writing import write_whole
from surefoot.errors import BadArgument, BadModel

if TYPE_CHECKING:
    from surefoot.models.model import Model

__all__ = ["CLAIMED", "model_argument", "nature_option", "read_model", "state_number", "write_model"]

CLAIMED = "// learned: "
"""What a line begins with that says in a DRN file what is claimed of a learned model.

Example:
    >>> CLAIMED.startswith("//")
    True
"""
_READ = ".drn, .umb (extra umb), .tra (PRISM's explicit files), .prism, .nm, .pm or .jani (extra storm)"
_WRITTEN = ".drn, .umb (extra umb) or .tra (PRISM's explicit files)"
_TOLERANCE = 1e-9
"""How far the sums of rows in a file may be from 1: other programs write few digits."""

model_argument = click.argument("path", metavar="MODEL", type=click.Path(dir_okay=False))
"""The argument `MODEL`.

Example:
    >>> callable(model_argument)
    True
"""
nature_option = click.option(
    "--nature",
    type=click.Choice(["adversarial", "cooperative"]),
    help="Who picks from intervals: against, or for, whoever picks actions.",
)
"""The option `--nature`.

Example:
    >>> callable(nature_option)
    True
"""


def read_model(path: str) -> tuple[Model, tuple[str, ...]]:
    """Return the model in a file, and what the file says is claimed of it.

    Raises:
        BadArgument: there is no such file, or its name ends in none of the formats.
        BadModel: it is no model.
        MissingExtra: the format needs a package that is not there.

    Example:
        >>> read_model("nowhere.drn")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: there is no model 'nowhere.drn': surefoot learn JOURNAL -o nowhere.drn makes one
        >>> read_model("model.txt")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: 'model.txt' is no model that can be read: its name should end in .drn, ...
    """
    suffix = Path(path).suffix
    readers: dict[str, Callable[[str], Model]] = {
        ".drn": _read_drn,
        ".umb": _read_umb,
        ".tra": _read_tra,
        ".jani": _read_jani,
        **dict.fromkeys((".prism", ".nm", ".pm"), _read_program),
    }
    if suffix not in readers:
        raise BadArgument(f"{path!r} is no model that can be read: its name should end in {_READ}")
    if not Path(path).is_file():
        raise BadArgument(f"there is no model {path!r}: surefoot learn JOURNAL -o {path} makes one")
    claims: tuple[str, ...] = ()
    if suffix == ".drn":
        with Path(path).open(encoding="utf-8", errors="replace") as lines:
            claims = tuple(line.removeprefix(CLAIMED).strip() for line in _comments(lines) if line.startswith(CLAIMED))
    try:
        return readers[suffix](path), claims
    except UnicodeDecodeError as error:
        raise BadArgument(
            f"{path!r} is no model: it is not UTF-8 text ({error.reason} at byte {error.start})"
        ) from None
    except BadModel as error:
        if path in str(error):
            raise
        raise BadModel(f"{path!r} cannot be read: {error}") from error


def _comments(lines: Any) -> list[str]:
    """Return the lines that a file begins with, as long as they are comments."""
    found = []
    for line in lines:
        if not line.startswith("//"):
            break
        found.append(line)
    return found


def write_model(model: Model, path: str, claims: tuple[str, ...] = ()) -> None:
    """Write a model to a file, with what is claimed of it where the format has comments.

    Raises:
        BadArgument: the name ends in none of the formats.
        BadModel: the format has no words for it.
        MissingExtra: the format needs a package that is not there.
        OSError: the file cannot be written.

    Example:
        >>> import tempfile
        >>> from surefoot.models.examples import die
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_model(die(), f"{folder}/die.drn", ("a die is fair",))
        ...     read_model(f"{folder}/die.drn")[1]
        ('a die is fair',)
    """
    suffix = Path(path).suffix
    if suffix == ".drn":
        from surefoot.models.exchange.drn import to_drn

        said = "".join(f"{CLAIMED}{' '.join(claim.split())}\n" for claim in claims)
        write_whole(Path(path), said + to_drn(model))
    elif suffix == ".umb":
        from surefoot.models.exchange.umb import write_umb

        write_umb(model, path)
    elif suffix == ".tra":
        from surefoot.models.exchange.prism import write_prism

        write_prism(model, path.removesuffix(".tra"))
    else:
        raise BadArgument(f"{path!r} cannot be written: its name should end in {_WRITTEN}")


def state_number(model: Model, text: str) -> int:
    """Return the number of the state that was typed as `text`: a state that was learned, or the name of one.

    Raises:
        UnknownName: there is none; the message names the nearest.

    Example:
        >>> from surefoot.models.examples import die
        >>> state_number(die(), "six")
        12
    """
    from surefoot.learners._tables import name_of

    if not text.startswith("=") and text in model.state_names:
        return model.state(text)
    return model.state(name_of(state_of(text)))


def _read_drn(path: str) -> Model:
    from surefoot.models.exchange.drn import read_drn

    return read_drn(path, tolerance=_TOLERANCE)


def _read_umb(path: str) -> Model:
    from surefoot.models.exchange.umb import read_umb

    return read_umb(path, tolerance=_TOLERANCE)


def _read_tra(path: str) -> Model:
    from surefoot.models.exchange.prism import read_prism

    return read_prism(path.removesuffix(".tra"), tolerance=_TOLERANCE)


def _read_jani(path: str) -> Model:
    from surefoot.models.exchange.storm import read_jani

    return read_jani(path)


def _read_program(path: str) -> Model:
    from surefoot.models.exchange.storm import read_prism_program

    return read_prism_program(path)
