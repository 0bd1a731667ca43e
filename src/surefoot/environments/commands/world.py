"""The command tree of a program as a world. It runs nothing but help, except what is allowed by name.

A state is a tuple of the words of a command: `("git",)` is the root, `("git", "remote")` one below it. The actions are
the names that the help of the state lists, and `".."` below the root. Only what is listed is ever asked for, and only
with the arguments of the program's `HelpStyle`, so `step("push")` runs `git push -h` and never `git push`. A verb that
only a usage line names (`git bisect reset`) is never asked for: that line is its help. To be asked, a name has to stand
in a list of commands, as the tools print it that give each command its own help. A program that does not know its own
help option may do anything with it: walk programs that you would ask for help yourself.

Refusals: of the seven shapes this world reads three. The **exit code**, as two sets (`HelpStyle.accepted` and
`.faults`; all others refuse, with the first line of the message as the reason and the code in `info`). The **silent
no-op**: a page that is empty, or byte for byte the page of a command above it, means that the word was ignored. And
**text in a success**, only where a `recogniser` was given. A time-out, a signal, a code of `.faults`, too much output
and a program that cannot be started are faults.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import shutil
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.environments.commands.asking import Answer, ask
from surefoot.environments.commands.grammar import Listed, commands_in, usage_of, verbs_in
from surefoot.environments.commands.style import HelpStyle, style_for
from surefoot.errors import BadArgument, NotStarted, WorldUnavailable
from surefoot.protocols import Outcome, faulted, moved, refused

__all__ = ["RUN", "Commands"]

RUN = "!run"
"""The action that runs a command of `allow`, without arguments; no command is called so.

Example:
    >>> RUN
    '!run'
"""

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+@-]*")
_MOST_SHOWN = 4000
"""Characters of an allowed command's output that its effect keeps."""

Recogniser = Callable[[str], str | None]
State = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Page:
    """A help page that was understood."""

    listed: tuple[Listed, ...]
    usage: str
    digest: str


@dataclass(frozen=True, slots=True)
class _No:
    """A refusal to show help."""

    reason: str
    code: int


@dataclass(frozen=True, slots=True)
class _Broke:
    """A call that broke; never remembered."""

    fault: str


_remembered: dict[tuple[Any, ...], dict[State, _Page | _No]] = {}
"""What each program has shown to this process, for `cache=True`."""


class Commands:
    """Walk the commands of a program by asking for their help.

    Every call is shut in: an argument list and no shell, no input, no terminal, an empty folder as working folder and
    home, of the variables only `PATH` (and what `env` adds), pagers and colours off, its own process group, which is
    killed when the call is over. A program that moves into a session of its own escapes that.

    Args:
        program: a name on `PATH` or a path; or a sequence, the program and its first arguments
            (`[sys.executable, "-m", "pip"]`).
        name: the first word of every state; None takes the last word of `program`, without folders.
        help: how to ask: a `HelpStyle`, the name of one (`"--help"`, `"-h"`, `"help"`, `"git"`), or None for the style
            known for the program, which is `--help` for all but a few.
        allow: commands that may really be run, as the words after the program (`"remote show"`). Each has the action
            `RUN` in its state; the command is run without arguments, each time anew, and its output is in the effect,
            so that outcomes are only as repeatable as the command is.
        timeout: seconds that one call may take; > 0.
        depth: how many words below the root the tree is walked; an int >= 1.
        cache: True: a page is asked for once per process, or once per world where there is a `recogniser`; a program
            file that has changed is asked again. False: each episode asks anew.
        env: variables to set for the program (`{"RUSTUP_HOME": ...}`).
        recogniser: a function that gets the text of a help page and returns the reason if it is in fact a refusal, else
            None.
        most_output: bytes that one call may write.

    Raises:
        WorldUnavailable: there is no such program.
        BadArgument: another argument is out of its range.

    Cost: a new page takes one call of the program; a known one some microseconds.

    Example:
        >>> import sys
        >>> world = Commands([sys.executable, "-m", "zipfile"])
        >>> world.reset(seed=0), world.actions(("zipfile",)), world.step("unpack").reason
        (('zipfile',), [], 'no such command')
    """

    def __init__(
        self,
        program: str | Sequence[str],
        *,
        name: str | None = None,
        help: HelpStyle | str | None = None,
        allow: Collection[str] = (),
        timeout: float = 10.0,
        depth: int = 6,
        cache: bool = True,
        env: Mapping[str, str] | None = None,
        recogniser: Recogniser | None = None,
        most_output: int = 1_000_000,
    ) -> None:
        """Look for the program; `reset` asks it for the first time."""
        words = [program] if isinstance(program, str) else list(program)
        if not words or not all(isinstance(word, str) and word and "\0" not in word for word in words):
            raise BadArgument(f"program must be a name, a path or a sequence of words, got {program!r}")
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
            raise BadArgument(f"timeout must be a number of seconds > 0, got {timeout!r}")
        for option, value in (("depth", depth), ("most_output", most_output)):
            if type(value) is not int or value < 1:
                raise BadArgument(f"{option} must be an int >= 1, got {value!r}")
        argv = (_find(words[0], (env or {}).get("PATH")), *words[1:])
        self.name = os.path.basename(words[-1]) if name is None else name
        if not isinstance(self.name, str) or not self.name or self.name.split() != [self.name]:
            raise BadArgument(f"name must be one word, got {self.name!r}; give another with name=")
        self.allow = frozenset(map(self._allowed, _names(allow)))
        self.style = style_for(self.name if len(words) == 1 else "", help)
        self.timeout, self.depth, self.cache, self.most_output = float(timeout), depth, cache, most_output
        self.env = {**self.style.env, **(env or {})}
        self.recogniser = recogniser
        self._argv = argv
        self._here: State | None = None
        self._pages: dict[State, _Page | _No] = self._memory()

    def reset(self, seed: int | None = None) -> State:
        """Start at the root; `seed` changes nothing.

        Raises:
            WorldUnavailable: the program shows no help.

        Example:
            >>> import sys
            >>> Commands([sys.executable, "-m", "json.tool"]).reset(seed=1)
            ('json.tool',)
        """
        if not self.cache:
            self._pages = {}
        root = (self.name,)
        page = self._page(root)
        if not isinstance(page, _Page):
            raise WorldUnavailable(
                f"{' '.join([*self._argv, *self.style.arguments(())])} shows no help: "
                f"{page.fault if isinstance(page, _Broke) else page.reason}; say how to ask with help=HelpStyle(...)"
            )
        self._here = root
        return root

    def actions(self, state: State) -> Sequence[str]:
        """Return the commands that the help of `state` lists, `RUN` where it is allowed, and `".."` below the root.

        A command that is not listed, or whose help is refused, offers only the way back.

        Raises:
            BadArgument: `state` is not written as this world writes its states.
            WorldUnavailable: the page had to be asked for, and that broke.

        Example:
            >>> import sys
            >>> world = Commands([sys.executable, "-m", "json.tool"], allow=["version"])
            >>> world.actions(("json.tool",)), world.actions(("json.tool", "version"))
            ([], ['..'])
        """
        names = [listed.name for listed in self._listed(state)]
        runs = [RUN] if state[1:] in self.allow and self._is_page(state) else []
        return [*names, *runs, *([".."] if len(state) > 1 else [])]

    def step(self, action: str) -> Outcome[State]:
        """Ask for the help of the command `action` below this one and go there; or go back with `".."`.

        Raises:
            NotStarted: before `reset`.

        Example:
            >>> import sys
            >>> world = Commands([sys.executable, "-m", "json.tool"])
            >>> _ = world.reset()
            >>> world.step("..").reason, world.step("; reboot").reason
            ('at the root', 'no such command')
        """
        here = self._here
        if here is None:
            raise NotStarted(f"step({action!r}) before reset(): call reset(seed=...) first")
        if action == "..":
            if len(here) == 1:
                return refused(here, "at the root")
            return self._arrive(here[:-1])
        if action == RUN and here[1:] in self.allow:
            return self._run(here)
        listed = self._listed_or_fault(here)
        if isinstance(listed, _Broke):
            return faulted(here, listed.fault)
        if not any(action == each.name for each in listed):
            return refused(here, "no such command")
        page = self._page((*here, action))
        if isinstance(page, _Broke):
            return faulted(here, page.fault)
        if isinstance(page, _No):
            return refused(here, page.reason, info={"code": page.code})
        return self._arrive((*here, action))

    def signs(self, state: State) -> Sequence[tuple[str, State]]:
        """Return for each action that leads on the state it leads to.

        Raises:
            BadArgument: `state` is not written as this world writes its states.
            WorldUnavailable: the page had to be asked for, and that broke.

        Example:
            >>> import sys
            >>> Commands([sys.executable, "-m", "json.tool"]).signs(("json.tool", "x"))
            [('..', ('json.tool',))]
        """
        return [
            (action, state[:-1] if action == ".." else (*state, action))
            for action in self.actions(state)
            if action != RUN
        ]

    def describe(self, state: State) -> Mapping[str, Any]:
        """Return `kind`, the `command`, and what is known: its `summary`, its `usage`, the number of its `commands`.

        Kinds are `command` and, for what is not listed or refuses to show help, `missing`.

        Raises:
            BadArgument: `state` is not written as this world writes its states.
            WorldUnavailable: the page had to be asked for, and that broke.

        Example:
            >>> import sys
            >>> Commands([sys.executable, "-m", "json.tool"]).describe(("json.tool",))["commands"]
            0
        """
        listed = self._listed(state)
        facts: dict[str, Any] = {"kind": "missing", "command": " ".join(state)}
        page = self._page(state) if self._is_page(state) else None
        if isinstance(page, _Page):
            facts["kind"] = "command"
            summaries = (
                [each.summary for each in self._listed(state[:-1]) if each.name == state[-1]] if state[1:] else []
            )
            facts |= {"summary": summaries[0]} if any(summaries) else {}
            facts |= {"usage": page.usage} if page.usage else {}
            facts["commands"] = len(listed)
        return facts

    def save_state(self) -> State:
        """Return a token for `restore_state`: the words.

        Raises:
            NotStarted: before `reset`.

        Example:
            >>> import sys
            >>> world = Commands([sys.executable, "-m", "json.tool"])
            >>> _ = world.reset()
            >>> world.save_state()
            ('json.tool',)
        """
        if self._here is None:
            raise NotStarted("save_state() before reset(): call reset(seed=...) first")
        return self._here

    def restore_state(self, token: State) -> State:
        """Go to the command that `save_state` gave as `token`, and return it.

        Raises:
            BadArgument: `token` is not written as this world writes its states.

        Example:
            >>> import sys
            >>> Commands([sys.executable, "-m", "json.tool"]).restore_state(("json.tool",))
            ('json.tool',)
        """
        self._here = self._checked(token)
        return self._here

    # -- what is listed ---------------------------------------------------------------------------------------------

    def _arrive(self, state: State) -> Outcome[State]:
        """Move to `state`."""
        self._here = state
        return moved(state, effect={"at": state})

    def _checked(self, state: object) -> State:
        """Return `state` if it is written as a state of this world."""
        if (
            not isinstance(state, tuple)
            or state[:1] != (self.name,)
            or not all(isinstance(word, str) and _WORD.fullmatch(word) for word in state[1:])
        ):
            raise BadArgument(
                f"a state of this world is a tuple of words that starts with {self.name!r}, got {state!r}"
            )
        return state

    def _listed(self, state: State) -> tuple[Listed, ...]:
        """Return what the help of `state` lists, or raise when asking for it broke."""
        listed = self._listed_or_fault(self._checked(state))
        if isinstance(listed, _Broke):
            raise WorldUnavailable(f"cannot ask for the help of {' '.join(state)!r}: {listed.fault}")
        return listed

    def _listed_or_fault(self, state: State) -> tuple[Listed, ...] | _Broke:
        """Return what the help of `state` lists; nothing is asked for that is not listed by the command above it."""
        if len(state) > 1 and state not in self._pages:
            above = self._listed_or_fault(state[:-1])
            if isinstance(above, _Broke):
                return above
            if not any(state[-1] == each.name for each in above):
                return ()
        page = self._page(state)
        if isinstance(page, _Broke):
            return page
        return page.listed if isinstance(page, _Page) and len(state) <= self.depth else ()

    def _is_page(self, state: State) -> bool:
        """Say whether the help of `state` is known."""
        return isinstance(self._pages.get(state), _Page)

    # -- asking -----------------------------------------------------------------------------------------------------

    def _memory(self) -> dict[State, _Page | _No]:
        """Return where pages are remembered: in this process for one and the same program, or in this object."""
        if not self.cache or self.recogniser:
            return {}
        seen = os.stat(self._argv[0])
        file = (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns)
        style = (self.style.root, self.style.page, self.style.accepted, self.style.faults)
        reading = (self.style.verbs, self.style.any_title, self.name)
        return _remembered.setdefault((self._argv, file, style, reading, tuple(sorted(self.env.items()))), {})

    def _page(self, state: State) -> _Page | _No | _Broke:
        """Return the help page of `state`, as remembered or asked for now."""
        known = self._pages.get(state)
        if known is None and (usage := self._usage_above(state)):
            known = self._pages[state] = _Page((), usage, "")
        if known is None:
            answer = self._ask(self.style.arguments(state[1:]))
            found = self._read(state, answer)
            if isinstance(found, _Broke):
                return found
            known = self._pages[state] = found
        return known

    def _usage_above(self, state: State) -> str:
        """Return the usage line of a verb, in the page above, by which it is known; "" for what is to be asked for."""
        above = self._pages.get(state[:-1])
        listed = above.listed if isinstance(above, _Page) else ()
        return next((each.usage for each in listed if each.name == state[-1]), "")

    def _ask(self, arguments: tuple[str, ...]) -> Answer:
        """Run the program with `arguments`."""
        return ask((*self._argv, *arguments), env=self.env, timeout=self.timeout, most_output=self.most_output)

    def _read(self, state: State, answer: Answer) -> _Page | _No | _Broke:
        """Say what an answer is."""
        if fault := self._fault(answer):
            return _Broke(fault)
        code, text = answer.code or 0, answer.text
        if code not in self.style.accepted:
            return _No(answer.message or f"exit code {code}", code)
        if not text.strip():
            return _No("it shows no help", code)
        if self.recogniser and (reason := self.recogniser(text)):
            return _No(reason, code)
        digest = hashlib.sha256(text.encode()).hexdigest()
        for above in (state[:length] for length in range(1, len(state))):
            page = self._page(above)
            if isinstance(page, _Page) and page.digest == digest:
                return _No("it has no help of its own", code)
        if self.style.verbs and len(state) > 1:
            return _Page(verbs_in(text, state), usage_of(text), digest)
        return _Page(commands_in(text, any_title=self.style.any_title and len(state) == 1), usage_of(text), digest)

    def _fault(self, answer: Answer) -> str | None:
        """Say what broke, if anything did."""
        if answer.fault is not None or answer.code is None:
            return answer.fault
        if answer.code < 0:
            return f"killed by {_signal_name(-answer.code)}"
        return f"exit code {answer.code}: {answer.message}" if answer.code in self.style.faults else None

    def _run(self, here: State) -> Outcome[State]:
        """Run an allowed command."""
        answer = self._ask(here[1:])
        if fault := self._fault(answer):
            return faulted(here, fault)
        code = answer.code or 0
        if code != 0:
            return refused(here, answer.message or f"exit code {code}", info={"code": code})
        return moved(here, effect={"at": here, "ran": " ".join(here), "output": answer.text[:_MOST_SHOWN]})

    @staticmethod
    def _allowed(words: object) -> State:
        """Return the words of a command that may be run."""
        parts = tuple(words.split()) if isinstance(words, str) else ()
        if not parts or not all(map(_WORD.fullmatch, parts)):
            raise BadArgument(f"allow must hold the words of commands, such as 'remote show', got {words!r}")
        return parts


def _names(allow: Collection[str]) -> Collection[str]:
    """Return `allow`, unless it is a string, which would be taken letter by letter."""
    if isinstance(allow, str):
        raise BadArgument(f"allow must be a collection of commands, got {allow!r}; write allow=[{allow!r}]")
    return allow


def _find(program: str, path: str | None) -> str:
    """Return the absolute path of `program`; links are kept, since some programs go by the name they are called by."""
    found = shutil.which(program, path=path)
    if found is None:
        more = f"; for several words write {program.split()!r}" if len(program.split()) > 1 else ""
        raise WorldUnavailable(f"no program {program!r} here that can be run: give a name on PATH or a path{more}")
    return os.path.abspath(found)


def _signal_name(number: int) -> str:
    """Return the name of a signal, such as `SIGSEGV`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
