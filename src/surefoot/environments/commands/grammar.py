r"""Read the names of a program's commands out of its help text.

What counts as a list of commands (a *name* starts and ends with a letter or a digit; between them `. : + @ _ -` too):

1. A **titled section**, as printed by click, cobra, clap, pip, docker, kubectl, systemctl, apt, typer and others. Its
   title is a line that is not indented and speaks of commands: `Commands:`, `Available Commands:`, `SUBCOMMANDS`,
   `Management Commands:`, a frame `╭─ Commands ─╮`. Its entries are the indented lines below it, up to the next line
   that is not: `name   what it does` (two spaces or more, `: ` or ` - ` between), or a name alone. Aliases
   (`build, b`), a star (`buildx*`) and arguments (`list [PATTERN...]`, `show UNIT`) may follow the name and are left
   out. The first entry sets the indentation; deeper lines go on with a description. `a, b, c,` is a list of names. Of
   an entry `cache clear   text` only the first word is taken.
2. The **sub-parsers of argparse**: `{add,remove} ...` or `COMMAND ...` at the end of the usage, with the entries two
   spaces deeper below it. A choice without the three dots, `{json,xml}`, is an argument and no command.
3. **Verbs in usage lines**, for programs whose style says so (git): `usage: git remote [-v] show <name>`,
   `git credential (fill|approve|reject)`. That line is the help of the verb: many verbs do not know a help option of
   their own and would run with it.

Sections about commands that are somebody else's (external commands, aliases, plug-ins) are left out, because nothing
is known about what asking *them* for help would do; so are git's guides, which are no commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Listed", "commands_in", "plain_text", "usage_of", "verbs_in"]

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.:+@-]*[A-Za-z0-9_+])?"
_ARGUMENT = r"(?:\([^()]*\)|[\[<({]\S*|[A-Z][A-Z0-9_=.|\[\]-]*)(?=\s|$)"
_ENTRY = re.compile(
    rf"(?P<name>{_NAME})[*:]?(?P<aliases>(?:, ?{_NAME})*)(?P<arguments>(?: {_ARGUMENT})*)"
    r"(?:(?: {2,}| - |(?<=:) )(?P<text>\S.*))?$"
)
_TWO_WORDS = re.compile(rf"(?P<name>{_NAME})(?: {_NAME})+ {{2,}}\S")
_NAMES = re.compile(rf"{_NAME}(?:, *{_NAME})*,?$")
_VERB = re.compile(r"[a-z](?:[a-z-]*[a-z])?$")
_TITLE = re.compile(r"\b(?:sub-?)?commands\b|^(?:sub-?)?command$", re.IGNORECASE)
_NO_TITLE = re.compile(r"['\"`<\[]|\.$")
_NOT_OURS = re.compile(
    r"\b(?:external|alias(?:es)?|provided by plug-?ins|user-facing|developer-facing)\b", re.IGNORECASE
)
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|.\x08")
_FRAME_TOP = re.compile(r"^[╭┌+][─-]+ (?P<title>[^─]+?) [─-]+[╮┐+]$")
_FRAME_SIDE = re.compile(r"^[│|](?P<inside>.*)[│|]$")
_FRAME_END = re.compile(r"^[╰└+][─-]+[╯┘+]$")
_SUBPARSERS = re.compile(r"(?P<label>\{(?P<names>[^{}]+)\}|[\w<>-]+) \.\.\.$")


@dataclass(frozen=True, slots=True)
class Listed:
    """Name a command as its program lists it.

    Args:
        name: the word to add to the command line.
        summary: the line that the program has for it, "" when there is none.
        usage: for a verb, the usage line that names it, which is all the help there is of it; "" for a command.

    Example:
        >>> Listed("clone", "Copy a repository").name
        'clone'
    """

    name: str
    summary: str = ""
    usage: str = ""


def commands_in(text: str, *, any_title: bool = False) -> tuple[Listed, ...]:
    r"""Return the commands that a help text lists, each once, in its order.

    Args:
        text: the help text, without control sequences (see `plain_text`).
        any_title: take every section that is titled by a line without a full stop, whatever it says (`git help -a`).

    Cost: linear in the text.

    Example:
        >>> found = commands_in("Usage: lab [OPTIONS]\n\nCommands:\n  init     Start a notebook\n  run, r   Run it\n")
        >>> [(command.name, command.summary) for command in found]
        [('init', 'Start a notebook'), ('run', 'Run it')]
        >>> [c.name for c in commands_in("usage: db [-h] {dump,load} ...\n\noptions:\n  -h  show this help\n")]
        ['dump', 'load']
    """
    found: dict[str, Listed] = {}
    lines = text.splitlines()
    for listed in [*_sections(lines, any_title), *_subparsers(text, lines)]:
        if not found.get(listed.name, listed).summary or listed.name not in found:
            found[listed.name] = listed
    return tuple(found.values())


def verbs_in(text: str, words: Sequence[str]) -> tuple[Listed, ...]:
    r"""Return the verbs that the usage lines of `words` name, each once, with the first line that names it.

    Example:
        >>> text = "usage: git stash list [<options>]\n   or: git stash [-q] drop <stash>\n\n    -q  be quiet\n"
        >>> [(verb.name, verb.usage) for verb in verbs_in(text, ("git", "stash"))]
        [('list', 'git stash list [<options>]'), ('drop', 'git stash [-q] drop <stash>')]
    """
    before = " ".join(words) + " "
    found: dict[str, Listed] = {}
    for usage in re.split(r"(?:^|\n)[ \t]*(?:usage|or):", text, flags=re.IGNORECASE)[1:]:
        line = " ".join(usage.split("\n\n")[0].split())
        if line.startswith(before):
            for verb in _verbs(line.removeprefix(before)):
                found.setdefault(verb, Listed(verb, usage=line))
    return tuple(found.values())


def usage_of(text: str) -> str:
    r"""Return the first usage line, without its label; "" when there is none.

    Example:
        >>> usage_of("A tool.\n\nUsage: tool [OPTIONS] FILE\n")
        'tool [OPTIONS] FILE'
    """
    found = re.search(r"^ *usage:[ \t]*\n?[ \t]*(\S.*)$", text, re.IGNORECASE | re.MULTILINE)
    return " ".join(found[1].split()) if found else ""


def plain_text(data: bytes) -> str:
    r"""Return what a program printed as plain lines: UTF-8, no colours, no overstriking, no tabs, no frames.

    Example:
        >>> plain_text(b"\x1b[1mCommands:\x1b[0m\r\n\trun\tRun it\n")
        'Commands:\n        run     Run it\n'
    """
    text = _ESCAPES.sub("", data.decode("utf-8", "replace").replace("\r\n", "\n"))
    return "".join(_unframed(line) + "\n" for line in text.replace("\t", "  \t").expandtabs(8).splitlines())


def _unframed(line: str) -> str:
    """Take the frame off a line of a framed section."""
    if top := _FRAME_TOP.match(line):
        return f"{top['title']}:"
    if _FRAME_END.match(line):
        return ""
    side = _FRAME_SIDE.match(line)
    return ("  " + side["inside"]).rstrip() if side else line


def _is_title(line: str, any_title: bool) -> bool:
    """Say whether a line that is not indented is the title of a list of commands."""
    title = line.strip().removesuffix(":").rstrip()
    if _NO_TITLE.search(title) or _NOT_OURS.search(title):
        return False
    return any_title or (_TITLE.search(title) is not None and len(title.split()) <= (12 if line.endswith(":") else 5))


def _sections(lines: list[str], any_title: bool) -> Iterator[Listed]:
    """Yield the entries of the titled sections."""
    inside, indent, comma_list = False, 0, False
    for line in lines:
        entry = line.strip()
        if not entry:
            continue
        if not line[0].isspace():
            inside, indent, comma_list = _is_title(line, any_title), 0, False
            continue
        depth = len(line) - len(line.lstrip())
        if not inside or (indent and depth != indent):
            continue
        if _NAMES.match(entry) and (comma_list or entry.endswith(",") or entry.count(",") >= 2):
            indent, comma_list = depth, True
            yield from (Listed(name) for name in re.split(r",\s*", entry.removesuffix(",")))
        elif found := _ENTRY.match(entry):
            indent = depth
            yield Listed(found["name"], _tidy(found["text"]))
        elif indent and (found := _TWO_WORDS.match(entry)):
            yield Listed(found["name"])


def _subparsers(text: str, lines: list[str]) -> Iterator[Listed]:
    """Yield the sub-parsers that an argparse usage announces."""
    usage = re.search(r"^usage: *(.*?)(?:\n\s*\n|\Z)", text, re.IGNORECASE | re.MULTILINE | re.DOTALL)
    label = _SUBPARSERS.search(" ".join(usage[1].split())) if usage else None
    if label is None:
        return
    entries: dict[str, str] = {}
    aliases: set[str] = set()
    indent = -1
    for line in lines[text[: usage.end()].count("\n") :] if usage else ():
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth <= indent:
            break
        if indent < 0 and depth and f"{line.strip()} ".startswith(f"{label['label']} "):
            indent = depth
        elif indent >= 0 and depth == indent + 2 and (found := _ENTRY.match(line.strip())):
            entries[found["name"]] = _tidy(found["text"])
            aliases.update(re.findall(_NAME, found["arguments"]))
    names = [name.strip() for name in label["names"].split(",")] if label["names"] else list(entries)
    for name in names:
        if name not in aliases and re.fullmatch(_NAME, name):
            yield Listed(name, entries.get(name, ""))


def _verbs(rest: str) -> Iterator[str]:
    """Yield the verbs at the start of what follows the command in a usage line; options before them are skipped."""
    while rest:
        if rest[0] in "[(":
            group, rest = _group(rest)
            options = [part.strip() for part in group.split("|")]
            if len(options) > 1 and all(map(_VERB.match, options)):
                yield from options
                return
        else:
            word = rest.split()[0]
            if _VERB.match(word):
                yield word
            return


def _group(rest: str) -> tuple[str, str]:
    """Return what is in the brackets at the start of `rest`, and what comes after them."""
    depth = 0
    for place, character in enumerate(rest):
        depth += (character in "[(") - (character in "])")
        if depth == 0:
            return rest[1:place], rest[place + 1 :].lstrip(" .")
    return rest[1:], ""


def _tidy(text: str | None) -> str:
    """Return a summary on one line."""
    return " ".join((text or "").split())
