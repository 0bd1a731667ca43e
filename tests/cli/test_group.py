from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot
from surefoot.cli import main
from surefoot.cli.group import COMMANDS

HEAVY = ["numpy", "scipy", "gymnasium", "httpx", "rich", "selectolax", "networkx", "cryptography", "hypothesis"]
RUN = [sys.executable, "-c", "import sys; from surefoot.cli import main; sys.exit(main())"]


def loaded_by(*arguments: str) -> list[str]:
    script = (
        "import json, sys; from surefoot.cli import main\n"
        f"code = main({list(arguments)!r}); print(json.dumps([code, sorted(set({HEAVY!r}) & set(sys.modules))]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    return list(modules)


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("explore", "--help"), ("demo", "--help")])
def test_what_is_asked_about_the_command_itself_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert loaded_by(*arguments) == []


def test_a_walk_over_files_loads_nothing_heavy_either(tmp_path: Path) -> None:
    assert loaded_by("explore", f"files:{tmp_path}", "--map", str(tmp_path / "x.map")) == []


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"surefoot {surefoot.__version__}\n"


def test_help_lists_every_command_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n  {name} " in shown
    for code in ("0 ", "1 ", "2 ", "3 ", "4 ", "130 "):
        assert f"\n    {code}" in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_or_its_exit_codes(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "-h"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: surefoot {name}")
    assert "Example" in shown or "Exit codes" in shown
    assert "--json" in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["eksplore"], "No such command 'eksplore'. Did you mean 'explore'? There are explore, walk"),
        (["dance"], "No such command 'dance'. There are explore, walk"),
        (["explore"], "Missing argument 'WORLD'"),
        (["explore", "corridor:3", "--stps", "1"], "No such option"),
        (["explore", "corridor:3", "--steps", "-1"], "-1 is not in the range"),
        (["explore", "corridoor:3"], "Error: no world 'corridoor:3'"),
        (["walk", "corridor:3"], "Missing option '--to'"),
        (["walk", "corridor:3", "--to", "=docs"], "is not JSON after the '='"),
        (["way", "--map", "no.map", "--from", "a", "--to", "b"], "there is no map 'no.map'"),
    ],
)
def test_wrong_usage_is_told_in_words_with_exit_code_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert says in shown.err
    assert shown.out == ""


def test_an_error_of_ours_is_one_line_without_a_traceback_and_without_what_a_terminal_obeys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explore", "files:/nowhere\x1b[2J/at\nall"]) == 3
    shown = capsys.readouterr().err
    assert shown.startswith("Error: cannot walk ")
    assert shown.count("\n") == 1
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("content", "code"), [(b"Dear reader", 4), (b'{"seq":0,"stream":"main","kind":"map","data":{}', 4)]
)
def test_a_journal_that_cannot_be_read_has_an_exit_code_of_its_own(
    content: bytes, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    assert main(["show", "--map", str(path)]) == code
    assert capsys.readouterr().err.startswith("Error: ")


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.map")
    assert main(["explore", "corridor:2", "--map", path]) == 0
    assert main(["export", "--map", path, "--dot", "-o", str(tmp_path / "no" / "x.dot")]) == 2
    assert "No such file or directory" in capsys.readouterr().err


def test_a_reader_who_goes_away_gets_no_traceback(tmp_path: Path) -> None:
    path = str(tmp_path / "x.map")
    assert main(["explore", "corridor:200", "--map", path]) == 0
    reader, writer = os.pipe()
    os.close(reader)
    command = [*RUN, "export", "--map", path, "--json"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_name_that_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "tree" / "日").mkdir(parents=True)
    command = [*RUN, "walk", f"files:{tmp_path}/tree", "--to", "日"]
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    assert done.returncode == 0
    assert b"\\u65e5" in done.stdout
