"""A git repository as a world: real git in a temporary folder, without a network and without anybody's configuration.

A state holds names, and short hashes that keep apart what looks alike:

| name | what |
|---|---|
| `branch` | the current branch; None when the head is detached |
| `branches`, `tags` | {name: the commit it is at}; a branch without a commit is not there yet |
| `merged` | the branches that the current commit holds |
| `staged`, `changed` | {file: a hash of its content}, None for a file that is deleted |
| `untracked`, `conflicts` | the same, of files that git does not know, and of files with a conflict |
| `files` | the files in the folder, whether git knows them or not |
| `merging`, `stashes` | the commit that is being merged, None where there is no merge; the stashes, the newest last |

Commits are made by one author at one time, so that the same calls make the same hashes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from surefoot.environments.tools.tool import Tool
from surefoot.environments.tools.world import Ask, Offer, State, Tools, Unread
from surefoot.errors import WorldUnavailable

__all__ = ["GIT_TOOLS", "Git"]

_WRITE = """case "$1" in
/*|..|../*|*/../*|*/..|.git|.git/*|*/.git/*) echo "not a file of this repository" >&2; exit 1;;
*/*) mkdir -p -- "${1%/*}" || exit 1;;
esac
printf '%s\\n' "$2" > "$1"
"""

GIT_TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        "write": Tool(("sh", "-c", _WRITE, "write", "{file}", "{text}")),
        "add": Tool(("git", "add", "--", "{file}")),
        "remove": Tool(("git", "rm", "--quiet", "--", "{file}")),
        "unstage": Tool(("git", "restore", "--staged", "--", "{file}")),
        "discard": Tool(("git", "restore", "--", "{file}")),
        "commit": Tool(("git", "commit", "--message={message}")),
        "branch": Tool(("git", "branch", "{name}")),
        "delete branch": Tool(("git", "branch", "--delete", "{name}")),
        "switch": Tool(("git", "switch", "{name}")),
        "merge": Tool(("git", "merge", "--no-edit", "{name}")),
        "abort merge": Tool(("git", "merge", "--abort")),
        "tag": Tool(("git", "tag", "{name}")),
        "delete tag": Tool(("git", "tag", "--delete", "{name}")),
        "stash": Tool(("git", "stash", "push", "--quiet")),
        "pop stash": Tool(("git", "stash", "pop", "--quiet")),
    }
)
"""The tools of the world, by name; `write` writes a line of text to a file, and the rest is git.

Example:
    >>> GIT_TOOLS["delete branch"].words({"name": "old"})
    ['git', 'branch', '--delete', 'old']
"""

_ENV = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_AUTHOR_DATE": "2001-02-03T04:05:06Z",
    "GIT_AUTHOR_EMAIL": "agent@example.org",
    "GIT_AUTHOR_NAME": "agent",
    "GIT_COMMITTER_DATE": "2001-02-03T04:05:06Z",
    "GIT_COMMITTER_EMAIL": "agent@example.org",
    "GIT_COMMITTER_NAME": "agent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ADVICE": "0",
}


class Git(Tools):
    """Act in a git repository.

    Args:
        setup: actions to take at the start of each episode, in a repository that has just been made, on the branch
            `main`.
        tools: further tools by name, or others instead of those in `GIT_TOOLS`; None takes one away.
        offers: {name: the arguments it is on offer with}, a list or a function of the state. Without arguments are
            `abort merge`, `stash` and `pop stash`: they are on offer unless their offer is ().
        done: says of a state whether the episode is over.
        timeout: seconds that one program may take; > 0.

    Raises:
        WorldUnavailable: git is not installed.
        BadArgument: as of `Tools`.

    Cost: some 15 ms a call: git three times, for the call itself and for the state; four times where branches moved.

    Example:
        >>> world = Git(offers={"branch": [{"name": "new"}]})
        >>> state = world.reset()
        >>> world.step({"name": "branch", "args": {"name": "new"}}).reason
        "exit 128: fatal: not a valid object name: 'main'"
        >>> for action in ("write", {"file": "a", "text": "1"}), ("add", {"file": "a"}), ("commit", {"message": "one"}):
        ...     state = world.step(action).state
        >>> state["branch"], list(state["branches"]), state["files"], world.close()
        ('main', ['main'], ['a'], None)
    """

    kind = "git repository"

    def __init__(
        self,
        *,
        setup: Sequence[Any] = (),
        tools: Mapping[str, Tool | None] | None = None,
        offers: Mapping[str, Offer] | None = None,
        done: Callable[[State], Any] | None = None,
        timeout: float = 10.0,
    ) -> None:
        """Look for git; `reset` makes the repository."""
        if shutil.which("git") is None:
            raise WorldUnavailable("git is not installed here, or not on PATH")
        known = {name: tool for name, tool in {**GIT_TOOLS, **(tools or {})}.items() if tool is not None}
        super().__init__(
            {**known, _INIT: Tool(("git", "init", "--quiet", "--initial-branch=main", "--template="))},
            _Reading(),
            setup=[_INIT, *setup],
            offers={**{_INIT: ()}, **(offers or {})},
            done=done,
            env=_ENV,
            timeout=timeout,
        )

    def describe(self, state: State) -> Mapping[str, Any]:
        """Return the branch, and whether everything is committed.

        Example:
            >>> Git().describe({"branch": "main", "staged": {}, "changed": {}, "untracked": {}, "conflicts": {}})
            {'kind': 'git repository', 'branch': 'main', 'clean': True}
        """
        clean = not any(state[name] for name in ("staged", "changed", "untracked", "conflicts"))
        return {"kind": self.kind, "branch": state["branch"], "clean": clean}


_INIT = "init"


class _Reading:
    """Read the state of a repository; what follows from its branches alone is asked for when they have moved."""

    def __init__(self) -> None:
        self._at: tuple[Any, ...] = ()
        self._merged: list[str] = []

    def __call__(self, ask: Ask, folder: Path) -> dict[str, Any]:
        state, head = _status(ask, folder)
        listed = _asked(ask, "for-each-ref", "--format=%(objectname:short=8) %(refname)")
        refs = [line.split(" ", 1) for line in listed.splitlines()]
        for name, prefix in (("branches", "refs/heads/"), ("tags", "refs/tags/")):
            state[name] = {ref.removeprefix(prefix): commit for commit, ref in refs if ref.startswith(prefix)}
        at = head, *state["branches"].items()
        if at != self._at:
            merged = ("for-each-ref", "--merged=HEAD", "--format=%(refname:lstrip=2)", "refs/heads/")
            self._merged = _asked(ask, *merged).splitlines() if head else []
            self._at = at
        state["merged"] = list(self._merged)
        state["files"] = sorted(_files(folder))
        merging = _lines(folder / ".git" / "MERGE_HEAD")
        state["merging"] = merging[0][:8] if merging else None
        state["stashes"] = [line.split(" ")[1][:8] for line in _lines(folder / ".git" / "logs" / "refs" / "stash")]
        return state


def _lines(path: Path) -> list[str]:
    """Return the lines of a file of git's own, none where it is not there."""
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []


def _files(folder: Path) -> Iterator[str]:
    """Yield the files in a folder, without what is git's own."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (os.path.relpath(os.path.join(place, name), folder) for name in names)


def _status(ask: Ask, folder: Path) -> tuple[dict[str, Any], str]:
    """Return what `git status` says, and the current commit; "" where there is none."""
    status = _asked(ask, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all").split("\0")
    state: dict[str, Any] = {"branch": None, "staged": {}, "changed": {}, "untracked": {}, "conflicts": {}}
    head, lines = "", iter(status)
    for line in lines:
        if line.startswith("# branch.head "):
            name = line.removeprefix("# branch.head ")
            state["branch"] = None if name == "(detached)" else name
        elif line.startswith("# branch.oid "):
            head = line.removeprefix("# branch.oid ").replace("(initial)", "")
        elif line.startswith(("1 ", "2 ")):
            parts = line.split(" ", 8 if line[0] == "1" else 9)
            staged, changed, path = parts[1][0], parts[1][1], parts[-1]
            if line[0] == "2":
                next(lines)  # where it was renamed from
            if staged != ".":
                state["staged"][path] = None if staged == "D" else parts[7][:8]
            if changed != ".":
                state["changed"][path] = _digest(folder / path)
        elif line.startswith("u "):
            path = line.split(" ", 10)[-1]
            state["conflicts"][path] = _digest(folder / path)
        elif line.startswith("? "):
            state["untracked"][line[2:]] = _digest(folder / line[2:])
    return state, head


def _asked(ask: Ask, *words: str) -> str:
    answer = ask(["git", *words])
    if answer.code:
        raise Unread(f"git {words[0]}: {answer.reason}")
    return answer.out


def _digest(path: Path) -> str | None:
    """Return a short hash of a file's content; None where there is none."""
    try:
        content = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
    except OSError:
        return None
    return hashlib.sha256(content).hexdigest()[:8]
