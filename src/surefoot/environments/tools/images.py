"""An image of a folder: all that is in it, to put back later, byte for byte."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass

from surefoot.errors import WorldUnavailable

__all__ = ["Image", "put", "take"]


@dataclass(frozen=True, slots=True)
class Image:
    """What a folder held.

    Attributes:
        entries: (path below the folder, mode, content, time of change in ns), folders before what is in them. The
            content of a link is where it leads.

    Example:
        >>> Image(()).entries
        ()
    """

    entries: tuple[tuple[str, int, bytes, int], ...]


def take(folder: str, most: int) -> Image:
    """Return an image of what is in a folder; links are kept as links, sockets and pipes are left out.

    Raises:
        WorldUnavailable: it holds more than `most` bytes.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = (pathlib.Path(folder) / "a").write_text("hello")
        ...     [(path, content) for path, _, content, _ in take(folder, 100).entries]
        [('a', b'hello')]
    """
    entries: list[tuple[str, int, bytes, int]] = []
    total = 0

    def walk(below: str) -> None:
        nonlocal total
        with os.scandir(os.path.join(folder, below)) as found:
            for entry in sorted(found, key=lambda one: one.name):
                path, seen = os.path.join(below, entry.name), entry.stat(follow_symlinks=False)
                content = b""
                if stat.S_ISLNK(seen.st_mode):
                    content = os.fsencode(os.readlink(entry.path))
                elif stat.S_ISREG(seen.st_mode):
                    total += seen.st_size
                    if total > most:
                        raise WorldUnavailable(f"the folder holds more than {most} bytes: raise most_bytes=")
                    with open(entry.path, "rb") as file:
                        content = file.read()
                elif not stat.S_ISDIR(seen.st_mode):
                    continue
                entries.append((path, seen.st_mode, content, seen.st_mtime_ns))
                if stat.S_ISDIR(seen.st_mode):
                    walk(path)

    walk("")
    return Image(tuple(entries))


def put(folder: str, image: Image) -> None:
    """Make a folder hold what an image holds, and nothing else.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     put(folder, Image((("a", 0o100644, b"hello", 0),)))
        ...     os.listdir(folder)
        ['a']
    """
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    folders = []
    for name, mode, content, changed in image.entries:
        path = os.path.join(folder, name)
        if stat.S_ISDIR(mode):
            os.mkdir(path)
            folders.append((path, mode, changed))
        elif stat.S_ISLNK(mode):
            os.symlink(os.fsdecode(content), path)
            if os.utime in os.supports_follow_symlinks:
                os.utime(path, ns=(changed, changed), follow_symlinks=False)
        else:
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, stat.S_IMODE(mode))
            os.utime(path, ns=(changed, changed))
    for path, mode, changed in reversed(folders):  # from the inside out: what is in a folder changes its time
        os.chmod(path, stat.S_IMODE(mode))
        os.utime(path, ns=(changed, changed))
