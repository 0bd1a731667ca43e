"""Programs as a world, in a folder of its own: the exit code says yes or no, readers say where one is.

A state is what the readers read, `{"branch": "main", "files": ["a.txt"]}`. An action is a tool by its name with its
arguments, `{"name": "switch", "args": {"branch": "main"}}`; a bare name where it has none.

Refusals: of the seven shapes this world reads the **exit code**, as two sets (`Tool.accepted` and `.faults`; all others
refuse), with the first line of the message as the reason: `exit 128: fatal: …`. A time-out, a signal, a code of
`.faults`, too much output and a program that cannot be started are faults; what they left half done shows in the state.
A program that says no and has changed the state all the same (`git merge` with a conflict) has been taken: the outcome
is accepted, and its info holds the code.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from surefoot import values
from surefoot.environments.tools.images import Image, put, take
from surefoot.environments.tools.tool import Reader, Tool
from surefoot.errors import BadArgument, NotStarted, WorldUnavailable
from surefoot.offering import offered
from surefoot.processes import QUIET, Finished, run
from surefoot.protocols import Outcome, call_of, faulted, refused

__all__ = ["Answered", "Ask", "Offer", "Tools", "Unread"]

_MOST_TOLD = 2_000

State: TypeAlias = dict[str, Any]
Offer: TypeAlias = Sequence[Mapping[str, Any]] | Callable[[State], Iterable[Mapping[str, Any]]]
"""The arguments that a tool is on offer with: a list of them, or a function of the state.

Example:
    >>> offer: Offer = lambda state: [{"branch": name} for name in state["branches"]]
    >>> offer({"branches": ["main"]})
    [{'branch': 'main'}]
"""


class Unread(Exception):
    """A reader broke; the message says how.

    Example:
        >>> str(Unread("git status: exit 128"))
        'git status: exit 128'
    """


class Answered:
    r"""What a program answered, as text.

    Args:
        code: its exit code.
        out: what it wrote to standard output.
        err: the same of standard error.

    Example:
        >>> Answered(128, "", "fatal: no\nmore").reason
        'exit 128: fatal: no'
    """

    __slots__ = ("code", "err", "out")

    def __init__(self, code: int, out: str, err: str) -> None:
        """Take them."""
        self.code, self.out, self.err = code, out, err

    @property
    def reason(self) -> str:
        """Return the code and the first line of the message."""
        lines = (self.err if self.err.strip() else self.out).strip().splitlines()
        return f"exit {self.code}: {lines[0].strip()[:200]}" if lines else f"exit {self.code}"


Ask: TypeAlias = Callable[[Sequence[str]], Answered]
"""Runs a command that only reads, and returns its answer; raises `Unread` where it breaks.

Example:
    >>> ask: Ask = lambda argv: Answered(0, " ".join(argv), "")
    >>> ask(["git", "status"]).out
    'git status'
"""


class Tools:
    """Act by running programs in a folder of its own.

    Each call is shut in: an argument list and no shell, no input, no terminal, of the variables of this process only
    `PATH`, an empty home, its own process group, which is killed when the call is over. The folder is a temporary one;
    the programs are real, and can reach all that the user who runs this can: name only what may be run.

    Args:
        tools: {name: `Tool`}.
        reads: what a state holds: {name: `Reader`}; or a function that gets an `Ask` and the folder, and returns it.
        folder: a folder that each episode starts with a copy of; None: an empty one.
        setup: actions to take at the start of each episode, on top of that; each must be accepted. They are taken once,
            and what they made is put back at every further `reset`.
        offers: {name: the arguments it is on offer with}, a list or a function of the state. A tool that is not named
            here is on offer if it has no arguments; `step` takes any of them, with any arguments.
        done: says of a state whether the episode is over.
        env: variables to set for the programs.
        timeout: seconds that one program may take; > 0.
        most_output: bytes that one program may write.
        most_bytes: bytes that the folder may hold, as far as it is kept for a reset or a snapshot.

    Raises:
        BadArgument: an argument is out of its range, or (at the first `reset`) a call of `setup` is refused.
        WorldUnavailable: there is no such folder.

    Cost: a call runs its program and the readers, about 3 ms each and what they take.

    Example:
        >>> world = Tools({"touch": Tool(("mkdir", "{name}"))}, {"names": Reader(("ls",), "lines")})
        >>> world.reset(), world.step({"name": "touch", "args": {"name": "a"}}).state
        ({'names': []}, {'names': ['a']})
        >>> world.step({"name": "touch", "args": {"name": "a"}}).verdict, world.close()
        ('refused', None)
    """

    kind = "tools"

    def __init__(
        self,
        tools: Mapping[str, Tool],
        reads: Mapping[str, Reader] | Callable[[Ask, Path], Mapping[str, Any]],
        *,
        folder: str | os.PathLike[str] | None = None,
        setup: Sequence[Any] = (),
        offers: Mapping[str, Offer] | None = None,
        done: Callable[[State], Any] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        most_output: int = 1_000_000,
        most_bytes: int = 64_000_000,
    ) -> None:
        """Check what can be checked without running anything."""
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
            raise BadArgument(f"timeout must be a number of seconds > 0, got {timeout!r}")
        for option, value in (("most_output", most_output), ("most_bytes", most_bytes)):
            if type(value) is not int or value < 1:
                raise BadArgument(f"{option} must be an int >= 1, got {value!r}")
        for name, tool in tools.items():
            if not isinstance(tool, Tool):
                raise BadArgument(f"tools[{name!r}] must be a Tool, got {tool!r}")
        if unknown := sorted(set(offers or {}) - set(tools)):
            raise BadArgument(f"offers names {unknown}, which are no tools; there are {list(tools)}")
        if folder is not None and not os.path.isdir(folder):
            raise WorldUnavailable(f"there is no folder {os.fspath(folder)!r}")
        self._tools, self._reads, self.offers = dict(tools), reads, dict(offers or {})
        self._source, self._setup, self._done = folder, tuple(setup), done
        self._env = dict(env or {})
        self.timeout, self.most_output, self.most_bytes = float(timeout), most_output, most_bytes
        self._places: dict[str, str] = {}
        self._removal: weakref.finalize[..., Any] | None = None
        self._start: Image | None = None
        self._state: State | None = None
        self._over = False

    # -- the folder ---------------------------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """Return the folder that the programs run in.

        Raises:
            NotStarted: before `reset`.
        """
        if not self._places:
            raise NotStarted("folder before reset(): call reset(seed=...) first")
        return Path(self._places["work"])

    def _make(self) -> None:
        """Make the folder, where there is none."""
        if self._places:
            return
        root = os.path.realpath(tempfile.mkdtemp(prefix="surefoot-"))
        self._removal = weakref.finalize(self, shutil.rmtree, root, ignore_errors=True)
        self._places = {name: os.path.join(root, name) for name in ("home", "tmp", "work")}
        for place in self._places.values():
            os.mkdir(place)

    def _run(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> Finished:
        variables = {
            "PATH": os.environ.get("PATH", os.defpath),
            **QUIET,
            "GIT_CEILING_DIRECTORIES": os.path.dirname(self._places["work"]),
            "HOME": self._places["home"],
            "TMPDIR": self._places["tmp"],
            **self._env,
            **(env or {}),
        }
        return run(argv, folder=self._places["work"], env=variables, timeout=self.timeout, most_output=self.most_output)

    def _answer(self, done: Finished) -> Answered:
        """Return an answer as text; where it names a folder of ours it reads `~`."""
        own = re.compile(b"|".join(re.escape(os.fsencode(place)) for place in self._places.values()))
        out, err = (own.sub(b"~", data).decode("utf-8", "replace") for data in (done.out, done.err))
        return Answered(done.code or 0, out, err)

    def _read(self) -> State:
        """Read the state."""

        def ask(argv: Sequence[str]) -> Answered:
            done = self._run(argv, {"GIT_OPTIONAL_LOCKS": "0"})
            if done.fault or done.code is None or done.code < 0:
                raise Unread(f"{' '.join(argv)}: {done.fault or f'signal {-(done.code or 0)}'}")
            return self._answer(done)

        if callable(self._reads):
            found = dict(self._reads(ask, self.folder))
        else:
            found = {}
            for name, reader in self._reads.items():
                answer = ask(reader.argv)
                if answer.code not in (0, *reader.absent):
                    raise Unread(f"{' '.join(reader.argv)}: {answer.reason}")
                found[name] = reader.read(answer.out) if answer.code == 0 else None
        state: State = values.copy(found)
        return state

    # -- the world ----------------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None) -> State:
        """Go to the start; `seed` changes nothing.

        Raises:
            WorldUnavailable: the state cannot be read, or the folder is larger than is kept.
            BadArgument: (the first time) a call of the set-up is not taken.
        """
        self._make()
        self._over = False
        try:
            if self._start is None:
                self._begin()
            else:
                put(self._places["work"], self._start)
            self._empty("home", "tmp")
            self._state = self._read()
        except Unread as error:
            raise WorldUnavailable(f"cannot read the start: {error}") from error
        self._over = self._is_over(self._state)
        return _copy(self._state)

    def _begin(self) -> None:
        """Make the start for the first time."""
        work = self._places["work"]
        self._empty("work")
        if self._source is not None:
            shutil.copytree(self._source, work, symlinks=True, dirs_exist_ok=True)
        done, self._done = self._done, None
        try:
            self._state = self._read_or_nothing()
            for action in self._setup:
                outcome = self.step(action)
                if not outcome.accepted:
                    raise BadArgument(f"setup cannot take {action!r}: {outcome.reason or outcome.fault}")
        finally:
            self._done, self._state = done, None
        self._start = take(work, self.most_bytes)

    def _read_or_nothing(self) -> State:
        """Return the state before the set-up, {} where it is the set-up that makes it readable."""
        with contextlib.suppress(Unread):
            return self._read()
        return {}

    def _empty(self, *names: str) -> None:
        for name in names:
            put(self._places[name], Image(()))

    def actions(self, state: State) -> Sequence[Any]:
        """Return the calls on offer in `state`, in the order of the tools.

        Cost: that of the offers; nothing is run.
        """
        if self._is_over(state):
            return []
        return offered({name: not tool.names for name, tool in self._tools.items()}, self.offers, _copy(state))

    def _is_over(self, state: State) -> bool:
        return self._done is not None and bool(self._done(_copy(state)))

    def step(self, action: Any) -> Outcome[State]:
        """Run a tool, and read where that leads.

        The info holds the exit code and what was printed, at most 2,000 characters of each.

        Raises:
            NotStarted: before `reset`, or after the episode was over.
        """
        before = self._state
        if before is None or self._over:
            when = "before reset()" if before is None else "after the episode was over"
            raise NotStarted(f"step({action!r}) {when}: call reset(seed=...) first")
        call = call_of(action)
        tool = self._tools.get(call.name)
        words = "no such tool" if tool is None else tool.words(call.args)
        if tool is None or isinstance(words, str):
            return refused(_copy(before), str(words))
        done = self._run(words)
        try:
            after = self._read()
        except Unread as error:
            return faulted(_copy(before), f"the state cannot be read: {error}")
        self._state = after
        if done.fault or done.code is None or done.code < 0 or done.code in tool.faults:
            answer = self._answer(done)
            why = done.fault or (f"signal {-(done.code or 0)}" if (done.code or 0) < 0 else answer.reason)
            return faulted(_copy(after), why)
        answer = self._answer(done)
        info = {"code": answer.code, "out": answer.out[:_MOST_TOLD], "err": answer.err[:_MOST_TOLD]}
        if answer.code not in tool.accepted and values.encode(after) == values.encode(before):
            return refused(_copy(before), answer.reason, info=info)
        self._over = self._is_over(after)
        return Outcome(_copy(after), True, None, self._over, info)

    def describe(self, state: State) -> Mapping[str, Any]:
        """Return the kind of world; a world of yours says more."""
        return {"kind": self.kind}

    def save_state(self) -> Image:
        """Return a token for `restore_state`: an image of the folder.

        Raises:
            NotStarted: before `reset`.
            WorldUnavailable: the folder is larger than is kept.
        """
        if self._state is None:
            raise NotStarted("save_state() before reset(): call reset(seed=...) first")
        return take(self._places["work"], self.most_bytes)

    def restore_state(self, token: Image) -> State:
        """Put the folder back to where `save_state` gave `token`, and return the state there.

        Raises:
            WorldUnavailable: the state cannot be read.
        """
        self._make()
        try:
            put(self._places["work"], token)
            self._state = self._read()
        except Unread as error:
            raise WorldUnavailable(f"cannot read the snapshot: {error}") from error
        self._over = self._is_over(self._state)
        return _copy(self._state)

    def close(self) -> None:
        """Remove the folder; twice is harmless."""
        if self._removal is not None:
            self._removal()
            self._removal = None
        self._places, self._state = {}, None

    def __enter__(self) -> Tools:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()


def _copy(state: State) -> State:
    copied: State = values.copy(state)
    return copied
