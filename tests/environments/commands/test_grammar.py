"""Commands are read out of help texts: of real libraries where they are here, of texts in the style of others."""

from __future__ import annotations

import argparse
import re
from textwrap import dedent

import click
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.environments.commands.grammar import Listed, commands_in, plain_text, usage_of, verbs_in

names = st.from_regex(r"[a-z][a-z0-9]{0,6}(?:-[a-z0-9]{1,4})?", fullmatch=True)
summaries = st.text(alphabet=st.sampled_from("abc XY,.:-'"), max_size=40).map(lambda text: " ".join(text.split()))
listings = st.dictionaries(names, summaries, max_size=8)


def read(text: str) -> dict[str, str]:
    return {listed.name: listed.summary for listed in commands_in(plain_text(dedent(text).encode()))}


# -- the real libraries -----------------------------------------------------------------------------------------------


@settings(max_examples=settings().max_examples // 5)
@given(listings, st.booleans(), st.sampled_from([None, "COMMAND"]), st.booleans())
def test_what_argparse_prints(commands: dict[str, str], titled: bool, metavar: str | None, leading: bool) -> None:
    parser = argparse.ArgumentParser(
        prog="lab", description="A notebook.", formatter_class=lambda prog: argparse.HelpFormatter(prog, width=198)
    )
    parser.add_argument("--level", choices=["low", "high"], help="how much")
    if leading:
        parser.add_argument("notebook", choices=["red", "blue"], help="which one")
    options = {"title": "verbs", "description": "what it does"} if titled else {}
    sub = parser.add_subparsers(metavar=metavar, dest="verb", required=True, **options)
    for name, summary in commands.items():
        sub.add_parser(name, help=summary)
    text = parser.format_help()
    assert re.sub(r"\s+\Z", "", text)
    found = read(text)
    assert list(found) == list(commands)
    assert {name: " ".join(found[name].split()) for name in found} == commands


def test_what_argparse_prints_for_aliases_and_for_commands_without_help() -> None:
    parser = argparse.ArgumentParser(prog="lab")
    sub = parser.add_subparsers()
    sub.add_parser("remove", aliases=["rm", "del"], help="take out")
    sub.add_parser("quiet")
    assert read(parser.format_help()) == {"remove": "take out", "quiet": ""}


def test_a_choice_is_no_command() -> None:
    parser = argparse.ArgumentParser(prog="convert")
    parser.add_argument("format", choices=["json", "xml"], help="what to write")
    parser.add_argument("rest", nargs="*", help="files")
    assert read(parser.format_help()) == {}
    rest = argparse.ArgumentParser(prog="wrap")
    rest.add_argument("command", help="what to run\nand how")
    rest.add_argument("arguments", nargs=argparse.REMAINDER, help="for it")
    assert read(rest.format_help()) == {}


@settings(max_examples=settings().max_examples // 2)
@given(st.dictionaries(names, st.text(alphabet="abc ", max_size=30), max_size=8))
def test_what_click_prints(commands: dict[str, str]) -> None:
    @click.group(context_settings={"max_content_width": 200})
    def lab() -> None:
        """Keep a notebook.

        These lines are about commands too.
        """

    for name, summary in commands.items():
        lab.command(name, short_help=" ".join(summary.split()))(lambda: None)
    result = CliRunner().invoke(lab, ["--help"], terminal_width=200)
    assert result.exit_code == 0
    assert read(result.output) == {name: " ".join(summary.split()) for name, summary in sorted(commands.items())}


# -- in the style of others -------------------------------------------------------------------------------------------

STYLES = {
    "sections of cobra and docker": (
        """
        Usage:  ship [OPTIONS] COMMAND

        Move boxes about

        Common Commands:
          load        Put a box on board
          sail        Leave (the tide
                      permitting)

        Management Commands:
          crew*       Look after the crew
          hold        Look after the hold

        Subcommands provided by plugins:
          anchor      The command anchor is a plugin installed by the user

        Global Options:
              --flag string   Which flag to show
          -h, --help          Show this

        Run 'ship COMMAND --help' for more information on a command.
        """,
        {
            "load": "Put a box on board",
            "sail": "Leave (the tide",
            "crew": "Look after the crew",
            "hold": "Look after the hold",
        },
    ),
    "clap, with aliases and capitals": (
        """
        Build things

        USAGE:
            mason [OPTIONS] <SUBCOMMAND>

        SUBCOMMANDS:
            build, b    Put stone on stone
            check, c    Look whether it stands
            help        Print this
            ...         See all of them with --list
        """,
        {"build": "Put stone on stone", "check": "Look whether it stands", "help": "Print this"},
    ),
    "arguments after the name": (
        """
        lamps [OPTIONS...] COMMAND ...

        Lamp Commands:
          list-lamps [PATTERN...]             List the lamps
          show PATTERN...|ID...               Show one or more
          set-level LAMP LEVEL=VALUE...       Set how bright
                                              they are
          dim <LAMP>
        """,
        {"list-lamps": "List the lamps", "show": "Show one or more", "set-level": "Set how bright", "dim": ""},
    ),
    "a dash between": (
        """
        Most used commands:
          list - list what is there
          full-sweep - sweep all of it

        See sweep(8) for more information about the available commands.
          nothing - is listed here
        """,
        {"list": "list what is there", "full-sweep": "sweep all of it"},
    ),
    "names with a colon, a title without": (
        """
        USAGE
          hub <command> [flags]

        CORE COMMANDS
          sign-in:       Say who you are
          cache:clear    Forget it all

        HELP TOPICS
          exit-codes:    What they mean
        """,
        {"sign-in": "Say who you are", "cache:clear": "Forget it all"},
    ),
    "a list of names": (
        """
        All commands:

            access, add-user, audit,
            view, whoami

        Specify more in the file:
            settings
        """,
        dict.fromkeys(["access", "add-user", "audit", "view", "whoami"], ""),
    ),
    "tabs": (
        "The commands are:\n\n\tbug         report one\n\tclean\tremove files\n\nUse it.\n",
        {"bug": "report one", "clean": "remove files"},
    ),
    "two words": (
        """
        Available commands:
          about              Say what this is
         cache
          cache clear        Forget one
          cache list         Name them
        """,
        {"about": "Say what this is", "cache": ""},
    ),
    "frames": (
        """
         Usage: app [OPTIONS] COMMAND [ARGS]...

        ╭─ Options ────────────────────────╮
        │ --help          Show this.       │
        ╰──────────────────────────────────╯
        ╭─ Commands ───────────────────────╮
        │ init   Start, and write down     │
        │        where.                    │
        │ run    Go on.                    │
        ╰──────────────────────────────────╯
        """,
        {"init": "Start, and write down", "run": "Go on."},
    ),
    "colours and overstriking": (
        "\x1b[1mCommands:\x1b[0m\r\n  \x1b]8;;link\x1b\\go\x1b]8;;\x1b\\   On\r\n  s\x08st\x08to\x08op\x08p   Halt\r\n",
        {"go": "On", "stop": "Halt"},
    ),
    "what belongs to somebody else": ("External commands\n   lfs\n\nCommand aliases\n   co   checkout\n", {}),
    "prose about commands": (
        "Here commands are run. All commands\n  like this   one\nThe subcommands 'a' and 'b':\n  a   b\n",
        {},
    ),
    "nothing": ("", {}),
}


@pytest.mark.parametrize("style", STYLES)
def test_the_styles(style: str) -> None:
    text, commands = STYLES[style]
    assert read(text) == commands


def test_every_titled_section_counts_where_the_style_says_so() -> None:
    text = dedent("""
        See 'git help <command>' to read about a specific subcommand

        Interacting with Others
           fetch       Get what they have
           send-email  Write to them

        User-facing repository, command and file interfaces
           hooks       What runs when

        External commands
           lfs
        """)
    assert commands_in(text) == ()
    assert commands_in(text, any_title=True) == (
        Listed("fetch", "Get what they have"),
        Listed("send-email", "Write to them"),
    )


def test_a_name_is_listed_once_with_the_summary_it_has_somewhere() -> None:
    assert read("Commands:\n  run\n\nMore Commands:\n  run   Go\n  run   Go on\n  stop\n") == {"run": "Go", "stop": ""}


@given(st.text(alphabet=st.sampled_from("usage: Commands\n\t {}[]|,.*-<>ab│╭─╮\x1b\x08é"), max_size=200))
def test_any_text_is_read_without_fail(text: str) -> None:
    plain = plain_text(text.encode())
    assert "\x1b[" not in plain
    for listed in (*commands_in(plain), *commands_in(plain, any_title=True), *verbs_in(plain, ("a",))):
        assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_.:+@-]*[A-Za-z0-9_+])?", listed.name)
    assert "\n" not in usage_of(plain)


@given(st.binary(max_size=100))
def test_any_bytes_become_text(data: bytes) -> None:
    assert plain_text(data).encode()[-1:] in (b"", b"\n")


# -- usage lines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "verbs"),
    [
        ("usage: git remote [-v | --verbose]\n   or: git remote add [-t <branch>] <name>\n", ["add"]),
        ("usage: git remote [-v] show [-n] <name>\n   or: git remote show\n   or: git remote prune", ["show", "prune"]),
        ("usage: git remote (fill|approve | reject) x\n", ["fill", "approve", "reject"]),
        ("usage: git remote [start|stop]\n", ["start", "stop"]),
        ("usage: git remote [push [-p | --patch] [-k]\n          [-q]]\n", []),
        ("usage: git remote [--[no-]bare] (-d | -D) <name>...\n", []),
        ("usage: git remote <name>\n   or: git remote -d\n   or: git remotes add\n", []),
        ("usage: git remote [broken (add\n", []),
        ("usage: git remote\n\n    add   not in the usage\n", []),
        ("error: no such thing\n", []),
    ],
)
def test_verbs_of_usage_lines(usage: str, verbs: list[str]) -> None:
    assert [verb.name for verb in verbs_in(usage, ("git", "remote"))] == verbs


@pytest.mark.parametrize(
    ("text", "usage"),
    [
        ("usage: lab [-h] {a,b} ...\n\nA notebook.\n", "lab [-h] {a,b} ..."),
        ("A notebook.\n\nUSAGE:\n    lab <COMMAND>\n", "lab <COMMAND>"),
        ("Usage:   \n  lab <command>   [options]\n", "lab <command> [options]"),
        (" Usage: lab COMMAND\n", "lab COMMAND"),
        ("It has no usage: none.\n", ""),
    ],
)
def test_the_first_usage_line(text: str, usage: str) -> None:
    assert usage_of(text) == usage
