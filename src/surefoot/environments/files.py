"""A tree of files and directories as a world to walk. It reads names and never opens a file.

A state is a path below the root, written with `/`: `"."` is the root, `"docs/index.md"` a file. Names are plain
values whatever bytes they have (see `surefoot.values.name_of_path`): a byte that is not UTF-8 is written as `%` and two
hexadecimal digits. In a directory the actions are the names of its entries, sorted, and `".."`; everywhere else there
is only `".."`. No entry can be called `".."`, and none holds a `/`, so no two actions are alike.

Refusals: of the seven shapes this world reads one, the exception. These of the operating system's errors are refusals,
and nothing else is:

| error | reason of the refusal |
|---|---|
| `ENOENT`, `ENOTDIR` | `no longer there` if the name was on offer in this visit, else `no such entry` |
| `EACCES`, `EPERM` | `permission denied` |
| `ELOOP` | `a loop of links` |
| `ENAMETOOLONG` | `the path is too long` |

Any other one (`EIO`, `EMFILE`, `ESTALE`, …), and a root that is gone, is a fault: never evidence, safe to try again.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from surefoot.errors import BadArgument, NotStarted, ValueRejected, WorldUnavailable
from surefoot.protocols import Outcome, faulted, moved, refused
from surefoot.values import name_of_path, path_of_name

__all__ = ["Files"]

_GONE = frozenset({errno.ENOENT, errno.ENOTDIR})
_REASONS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ELOOP: "a loop of links",
    errno.ENAMETOOLONG: "the path is too long",
}
_KINDS = {
    stat.S_IFDIR: "directory",
    stat.S_IFREG: "file",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "block device",
    stat.S_IFCHR: "character device",
}


@dataclass(frozen=True, slots=True)
class _Listing:
    """What one reading of a directory found: the names shown, which of them are links, and how many were left out."""

    names: tuple[str, ...] = ()
    links: frozenset[str] = frozenset()
    more: int = 0


class _No(Exception):
    """A followed link leads where this world does not go."""


class Files:
    """Walk a tree of files and directories by the names of its entries.

    A directory is read when it is entered, and what was read then is on offer for that visit; the next visit reads it
    again, so a changed tree is seen. Fifos, sockets and devices are leaves like files. The seed changes nothing: on a
    tree that does not change, the same actions give the same outcomes.

    Args:
        root: the directory that is the world; the walk never leaves it.
        hidden: whether names that start with a dot are on offer.
        follow_links: False: a symbolic link is a leaf, and `describe` reports its target. True: stepping on it leads to
            the place it points to, under that place's own path; a link that leads out of the tree, to nothing, to a
            hidden place or round in a circle is refused.
        max_entries: show at most so many entries of one directory, the first by name; None shows all.

    Raises:
        WorldUnavailable: `root` is missing, is no directory, or may not be read.
        BadArgument: `max_entries` is no int >= 1.

    Cost: a step makes one `lstat` per part of the path, and reads the directory that it enters.

    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> root = pathlib.Path(folder.name)
        >>> (root / "docs").mkdir()
        >>> _ = (root / "docs" / "index.md").write_text("hello")
        >>> world = Files(root)
        >>> world.reset(seed=0), world.actions(".")
        ('.', ['docs'])
        >>> world.step("docs").effect, world.actions("docs"), world.step("attic").reason
        ({'at': 'docs'}, ['index.md', '..'], 'no such entry')
        >>> world.step("index.md").state, world.describe("docs/index.md")
        ('docs/index.md', {'kind': 'file', 'name': 'index.md', 'size': 5})
        >>> folder.cleanup()
    """

    def __init__(
        self,
        root: str | bytes | os.PathLike[Any],
        *,
        hidden: bool = True,
        follow_links: bool = False,
        max_entries: int | None = None,
    ) -> None:
        """Look for the root; `reset` reads it."""
        if max_entries is not None and (type(max_entries) is not int or max_entries < 1):
            raise BadArgument(f"max_entries must be None or an int >= 1, got {max_entries!r}")
        self.root = os.path.realpath(os.fsdecode(root))
        self.hidden, self.follow_links, self.max_entries = hidden, follow_links, max_entries
        self._prefix = self.root if self.root.endswith(os.sep) else self.root + os.sep
        self._here: str | None = None
        self._visit: _Listing | None = None
        self._read_root()

    def reset(self, seed: int | None = None) -> str:
        """Start at the root, `"."`; `seed` changes nothing.

        Raises:
            WorldUnavailable: the root cannot be read any more.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     Files(folder).reset(seed=3)
            '.'
        """
        self._visit = self._read_root()
        self._here = "."
        return "."

    def actions(self, state: str) -> Sequence[str]:
        """Return the entries of `state`, sorted, and `".."` unless it is the root.

        A place that is gone or may not be read offers only the way back.

        Raises:
            BadArgument: `state` is not written as this world writes its states.
            WorldUnavailable: the root is gone, or the reading broke.

        Cost: none for the place of the current visit; otherwise one reading of the directory.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     world = Files(folder)
            ...     world.actions("."), world.actions("not/there")
            ([], ['..'])
        """
        names = list(self._listing_of(state).names)
        return names if state == "." else [*names, ".."]

    def step(self, action: str) -> Outcome[str]:
        """Go to the entry `action` of the current directory, or back with `".."`.

        Raises:
            NotStarted: before `reset`.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     world = Files(folder)
            ...     _ = world.reset()
            ...     world.step("..").reason, world.step("a/b").reason
            ('at the root', 'no such entry')
        """
        here = self._here
        if here is None:
            raise NotStarted(f"step({action!r}) before reset(): call reset(seed=...) first")
        if action == "..":
            if here == ".":
                return refused(here, "at the root")
            to = _parent(here)
        elif not _is_name(action) or (not self.hidden and action.startswith(".")):
            return refused(here, "no such entry")
        else:
            to = action if here == "." else f"{here}/{action}"
        try:
            if self.max_entries is not None and action != ".." and not self._shows(here, action):
                return refused(here, "no such entry")
            if self.follow_links:
                to = self._followed(to)
            visit = self._enter(to)
        except _No as no:
            return refused(here, str(no))
        except OSError as error:
            return self._failed(here, action, error)
        self._here, self._visit = to, visit
        return moved(to, effect={"at": to})

    def signs(self, state: str) -> Sequence[tuple[str, str]]:
        """Return for each action in `state` the place it leads to; a followed link that leads nowhere has no sign.

        Raises:
            BadArgument: `state` is not written as this world writes its states.
            WorldUnavailable: the root is gone, or the reading broke.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     (pathlib.Path(folder) / "src").mkdir()
            ...     world = Files(folder)
            ...     world.signs("."), world.signs("src")
            ([('src', 'src')], [('..', '.')])
        """
        listing = self._listing_of(state)
        pairs = []
        for name in listing.names:
            to = name if state == "." else f"{state}/{name}"
            if self.follow_links and name in listing.links:
                try:
                    to = self._followed(to)
                except (_No, OSError):
                    continue  # no sign: where it leads shows when it is taken
            pairs.append((name, to))
        return pairs if state == "." else [*pairs, ("..", _parent(state))]

    def describe(self, state: str) -> Mapping[str, Any]:
        """Return `kind` and `name`, and what belongs to the kind.

        A file has its `size` in bytes; a directory the number of `entries` shown and, where `max_entries` cut, how many
        `more` there are; a link its `target` as it is written. Kinds are `directory`, `file`, `link`, `fifo`, `socket`,
        `block device`, `character device`, `missing` and `out of reach` (permission denied).

        Raises:
            BadArgument: `state` is not written as this world writes its states.
            WorldUnavailable: the looking broke.

        Example:
            >>> import os, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     os.symlink("nowhere", os.path.join(folder, "link"))
            ...     Files(folder).describe("link")
            {'kind': 'link', 'name': 'link', 'target': 'nowhere'}
        """
        path = self._path(state)
        facts: dict[str, Any] = {"kind": "missing", "name": state.rpartition("/")[2]}
        try:
            seen = self._look(path)
            facts["kind"] = _KINDS.get(stat.S_IFMT(seen.st_mode), "other")
            if facts["kind"] == "file":
                facts["size"] = seen.st_size
            elif facts["kind"] == "link":
                facts["target"] = name_of_path(os.readlink(path))
            elif facts["kind"] == "directory":
                listing = self._read(path)
                facts["entries"] = len(listing.names)
                if listing.more:
                    facts["more"] = listing.more
        except OSError as error:
            if error.errno not in _GONE | _REASONS.keys():
                raise WorldUnavailable(f"cannot look at {state!r} in {self.root!r}: {error}") from error
            if error.errno in _REASONS and facts["kind"] == "missing":
                facts["kind"] = "out of reach"
        return facts

    def save_state(self) -> str:
        """Return a token for `restore_state`: the path.

        Raises:
            NotStarted: before `reset`.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     world = Files(folder)
            ...     _ = world.reset()
            ...     world.save_state()
            '.'
        """
        if self._here is None:
            raise NotStarted("save_state() before reset(): call reset(seed=...) first")
        return self._here

    def restore_state(self, token: str) -> str:
        """Go to the place that `save_state` gave as `token`, and return it; the tree itself is not put back.

        Raises:
            BadArgument: `token` is not written as this world writes its states.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     (pathlib.Path(folder) / "src").mkdir()
            ...     Files(folder).restore_state("src")
            'src'
        """
        self._path(token)
        self._here, self._visit = token, None
        return token

    # -- what is on offer -------------------------------------------------------------------------------------------

    def _shows(self, here: str, name: str) -> bool:
        """Say whether `name` is among the entries that this visit shows."""
        if self._visit is None:
            self._visit = self._enter(here)
        return name in self._visit.names

    def _listing_of(self, state: str) -> _Listing:
        """Return what `state` shows: as read on entering it if this is the current visit, otherwise read now."""
        if state == self._here and self._visit is not None:
            return self._visit
        try:
            listing = self._enter(state)
        except OSError as error:
            if error.errno not in _GONE | _REASONS.keys() or not os.path.isdir(self.root):
                raise WorldUnavailable(f"cannot read {state!r} in {self.root!r}: {error}") from error
            listing = _Listing()
        if state == self._here:
            self._visit = listing
        return listing

    def _failed(self, here: str, action: str, error: OSError) -> Outcome[str]:
        """Turn an error of the operating system into a refusal or a fault."""
        code = error.errno or 0
        info = {"errno": errno.errorcode.get(code, str(code))}
        if code in _GONE:
            if not os.path.isdir(self.root):
                return faulted(here, "the root is gone", info=info)
            known = action == ".." or (self._visit is not None and action in self._visit.names)
            self._visit = None
            return refused(here, "no longer there" if known else "no such entry", info=info)
        if code in _REASONS:
            return refused(here, _REASONS[code], info=info)
        return faulted(here, f"{info['errno']}: {error.strerror}", info=info)

    # -- reading the tree -------------------------------------------------------------------------------------------

    def _read_root(self) -> _Listing:
        """Read the root, or say why it is no world."""
        try:
            return self._read(self.root)
        except OSError as error:
            raise WorldUnavailable(
                f"cannot walk {self.root!r}: {error.strerror}; give a directory that may be read"
            ) from error

    def _path(self, state: object) -> str:
        """Return the path of `state` as the functions of `os` take it."""
        if not isinstance(state, str) or (state != "." and not all(map(_is_name, state.split("/")))):
            raise BadArgument(
                f'a state of this world is "." or a path below the root such as "docs/index.md", got {state!r}'
            )
        return self.root if state == "." else self._prefix + path_of_name(state)

    def _look(self, path: str) -> os.stat_result:
        """Return what is at `path`, unless the way there has come to lead through a link, maybe out of the tree."""
        end = path.find(os.sep, len(self._prefix))
        while end >= 0:
            if stat.S_ISLNK(os.lstat(path[:end]).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            end = path.find(os.sep, end + 1)
        return os.lstat(path)

    def _enter(self, state: str) -> _Listing:
        """Return what `state` shows; a leaf shows nothing."""
        path = self._path(state)
        return self._read(path) if stat.S_ISDIR(self._look(path).st_mode) else _Listing()

    def _read(self, path: str) -> _Listing:
        """Read the directory `path`: names only, nothing is opened."""
        with os.scandir(path) as entries:
            if self.follow_links:
                found = [(e.name, e.is_symlink()) for e in entries]
                links = frozenset(name_of_path(name) for name, is_link in found if is_link)
                names = [name for name, _ in found]
            else:
                names, links = [e.name for e in entries], frozenset()
        if not self.hidden:
            names = [name for name in names if not name.startswith(".")]
        everything = "".join(names)
        if "%" in everything or not everything.isascii():  # else each name is as it is
            names = list(map(name_of_path, names))
        names.sort()
        most = len(names) if self.max_entries is None else self.max_entries
        return _Listing(tuple(names[:most]), links, len(names[most:]))

    def _followed(self, state: str) -> str:
        """Return the place that `state` is, or, when it is a link, the place that it leads to."""
        path = self._path(state)
        if not stat.S_ISLNK(self._look(path).st_mode):
            return state
        try:
            real = os.path.realpath(path, strict=True)
        except FileNotFoundError:
            raise _No("a link to nothing") from None
        if real == self.root:
            return "."
        if not real.startswith(self._prefix):
            raise _No("a link out of the tree")
        place = name_of_path(real[len(self._prefix) :].replace(os.sep, "/"))
        if not self.hidden and any(part.startswith(".") for part in place.split("/")):
            raise _No("a link to a hidden place")
        return place


def _is_name(name: object) -> TypeGuard[str]:
    """Say whether `name` is written as the name of an entry is: one part of a path, in the one spelling it has."""
    if not isinstance(name, str) or name in ("", ".", "..") or "/" in name or "\0" in name:
        return False
    if name.isascii() and "%" not in name:
        return True
    try:
        return name_of_path(path_of_name(name)) == name
    except ValueRejected:
        return False


def _parent(state: str) -> str:
    """Return the state that `..` leads to."""
    return state.rpartition("/")[0] or "."
