"""What backends that keep a file share: which file is meant, how it first appears, and what a fork must not inherit."""

from __future__ import annotations

import os
import stat
import weakref
from typing import Any, Protocol

from surefoot.errors import BadArgument

__all__ = ["create_whole", "identity_of", "renew_after_fork", "resolve", "sync_folder", "write_all"]


def resolve(path: str | os.PathLike[str]) -> str:
    """Return the absolute path of the file that is meant; the file need not exist, its folder must.

    Raises:
        BadArgument: it names no file in a folder that exists.

    Example:
        >>> resolve(":memory:")
        Traceback (most recent call last):
        surefoot.errors.BadArgument: ':memory:' names no file; a journal in memory is open_journal() without a path
    """
    text = os.fsdecode(path)
    if text in ("", ":memory:"):
        raise BadArgument(f"{text!r} names no file; a journal in memory is open_journal() without a path")
    full = os.path.realpath(text)
    folder = os.path.dirname(full)
    if not os.path.isdir(folder):
        raise BadArgument(f"{text!r} is in a folder that does not exist: create {folder!r} first")
    if os.path.exists(full) and not stat.S_ISREG(os.stat(full).st_mode):
        raise BadArgument(f"{text!r} is a folder or a device: name a file")
    return full


def write_all(descriptor: int, data: bytes, offset: int) -> None:
    r"""Write all of `data` at `offset`; the system may take it in several bites.

    Raises:
        OSError: it could not; part of it may have been written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryFile() as file:
        ...     write_all(file.fileno(), b"hello", 2)
        ...     file.read()
        b'\x00\x00hello'
    """
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, offset)
        rest = rest[written:]
        offset += written


def create_whole(path: str, data: bytes) -> tuple[int, int] | None:
    """Create a file with all of `data` in it, or not at all; never replace one.

    The bytes go to a file of another name in the same folder and to the disk, and only then get their name.

    Returns:
        The file's identity (device, inode); None when there is a file of that name by now, and nothing was done.

    Raises:
        OSError: it could not be written; nothing is left behind.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     create_whole(f"{folder}/a", b"one") is None, create_whole(f"{folder}/a", b"two") is None
        (False, True)
    """
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f".surefoot-{os.urandom(6).hex()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            write_all(descriptor, data, 0)
            os.fsync(descriptor)
            status = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        named = _name(temporary, path)
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
    sync_folder(folder)
    return identity_of(status) if named else None


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """Return what makes a file the same file, whatever its name: device and inode.

    Example:
        >>> identity_of(os.stat(".")) == identity_of(os.stat("./."))
        True
    """
    return status.st_dev, status.st_ino


def _name(temporary: str, path: str) -> bool:
    """Give a file its name unless that is taken; a link never replaces, a rename might."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            return False
        os.rename(temporary, path)
    return True


def sync_folder(folder: str) -> None:
    """Return when the names in `folder` are on durable storage.

    Example:
        >>> sync_folder(".")
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Renewable(Protocol):
    def after_fork(self) -> None:
        """Let go of what the parent holds, in the child."""
        ...


_live: weakref.WeakSet[Any] = weakref.WeakSet()


def renew_after_fork(holder: _Renewable) -> None:
    """Call `holder.after_fork()` in every child that this process forks: locks and connections are the parent's.

    Example:
        >>> class Holder:
        ...     def after_fork(self): ...
        >>> renew_after_fork(Holder())
    """
    _live.add(holder)


def _renew() -> None:
    for holder in list(_live):
        holder.after_fork()


getattr(os, "register_at_fork", lambda **_: None)(after_in_child=_renew)
