"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all, with the rights that a new file has.

    Raises:
        OSError: it cannot be written, told with the name that was asked for; what was there is left.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_whole(Path(folder, "note.txt"), "all of it")
        ...     Path(folder, "note.txt").read_text(encoding="utf-8")
        'all of it'
    """
    try:
        _write(path, text)
    except OSError as error:  # it names the file beside, which nobody has heard of
        raise OSError(
            error.errno, f"{error.strerror}: nothing was written; name a file that can be", str(path)
        ) from error


def _write(path: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as f:
        try:
            f.write(text)
            f.close()
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(f.name, 0o666 & ~umask)
            os.replace(f.name, path)
        except BaseException:
            os.unlink(f.name)
            raise
