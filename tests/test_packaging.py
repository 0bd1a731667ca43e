"""What is built is what is promised: the wheel, and the set-up on a bare machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import surefoot

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_ships_all_of_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    shipped = {name for name in wheel.namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    here = {
        path.relative_to(source).as_posix()
        for path in (source / "surefoot").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped == here
    assert "surefoot/py.typed" in shipped


def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    (info,) = [name.partition("/")[0] for name in wheel.namelist() if name.endswith("/METADATA")]
    said = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
    assert said["Version"] == surefoot.__version__
    assert said["Requires-Python"] == PROJECT["requires-python"]
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Description"] or said.get_payload()
    names = set(wheel.namelist())
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/NOTICE"} <= names
    assert "surefoot = surefoot.cli:main" in wheel.read(f"{info}/entry_points.txt").decode()


def test_every_vendored_file_has_its_licence_beside_it() -> None:
    for bundle in (ROOT / "src").rglob("*.min.js"):
        licences = [path.name for path in bundle.parent.iterdir() if "LICENSE" in path.name.upper()]
        assert licences, f"put the licence of {bundle.relative_to(ROOT)} beside it"
        assert bundle.name.split(".")[0] in (ROOT / "NOTICE").read_text(encoding="utf-8"), (
            f"name {bundle.name} in NOTICE"
        )


def test_the_constraints_pin_everything_and_name_no_host() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert lines
    assert all("==" in line and "://" not in line for line in lines)
    pinned = {line.partition("==")[0] for line in lines}
    asked = [*PROJECT["dependencies"], *(p for extra in PROJECT["optional-dependencies"].values() for p in extra)]
    names = {"".join(c if c.isalnum() or c in "-_" else " " for c in asking).split()[0] for asking in asked}
    missing = names - pinned - {"surefoot"}
    assert not missing, f"run scripts/lock: constraints.txt does not pin {sorted(missing)}"


def set_up(folder: Path, pythons: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run scripts/setup in a copy, on a machine that has only these programs of the name python."""
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", folder / "scripts" / "setup")
    for name in ("pyproject.toml", "constraints.txt"):
        (folder / name).write_text("")
    programs = folder / "bin"
    programs.mkdir()
    for name in ("dirname", "cat", "sh"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    for name, body in pythons.items():
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    command = ["/bin/sh", str(folder / "scripts" / "setup")]
    return subprocess.run(command, env={"PATH": str(programs)}, capture_output=True, text=True, check=False)


def test_set_up_says_that_no_python_is_there(tmp_path: Path) -> None:
    done = set_up(tmp_path, {})
    assert done.returncode == 1
    assert "needs Python 3.11 or newer, and none was found" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_set_up_says_that_python_is_too_old(tmp_path: Path) -> None:
    done = set_up(tmp_path, {"python3": 'case "$1" in --version) echo Python 3.9.2;; *) exit 1;; esac'})
    assert done.returncode == 1
    assert "python3 is: Python 3.9.2" in done.stderr


def test_set_up_says_that_the_venv_module_is_missing(tmp_path: Path) -> None:
    real = f'exec "{sys.executable}" "$@"'
    done = set_up(
        tmp_path,
        {"python3": "exit 1", "python3.12": f'case "$2" in *ensurepip*) exit 1;; *) {real};; esac'},
    )
    assert done.returncode == 1
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"apt-get install python{version}-venv" in done.stderr


def test_set_up_keeps_what_is_there_until_the_requirements_change(tmp_path: Path) -> None:
    """A .venv whose pip only notes that it was called: installed once, then again when a file changes."""
    calls = tmp_path / "calls"
    bin_ = tmp_path / ".venv" / "bin"
    bin_.mkdir(parents=True)
    (bin_ / "python").write_text(
        f'#!/bin/sh\ncase "$2" in pip) echo "$@" >>"{calls}";; *) exec "{sys.executable}" "$@";; esac\n'
    )
    (bin_ / "python").chmod(0o755)
    assert set_up(tmp_path, {}).returncode == 0
    again = ["/bin/sh", str(tmp_path / "scripts" / "setup")]
    env = {"PATH": str(tmp_path / "bin")}
    subprocess.run(again, env=env, check=True)
    assert len(calls.read_text().splitlines()) == 1
    assert "-c constraints.txt -e ." in calls.read_text()
    (tmp_path / "constraints.txt").write_text("numpy==2.4.6\n")
    subprocess.run([*again, "dev"], env=env, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(again, env=env, check=True, stdout=subprocess.DEVNULL)
    assert [line.rsplit(" ", 1)[1] for line in calls.read_text().splitlines()] == [".", ".[dev]"]


def test_the_build_server_runs_what_everybody_runs() -> None:
    runner = ROOT / ".ci" / "run"
    assert os.access(runner, os.X_OK)
    lines = runner.read_text(encoding="utf-8").splitlines()
    assert [line.partition(" #")[0] for line in lines if line.startswith("make ")] == ["make test", "make peers"]
    assert "set -euo pipefail" in lines


def test_the_peers_are_skipped_with_a_reason_without_a_suitable_python(tmp_path: Path) -> None:
    """With nothing but an old Python on PATH: it says what was looked for, makes nothing and succeeds."""
    for name in ("scripts/peers", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("dirname", "cat", "env", "sh"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    (programs / "python3").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (programs / "python3").chmod(0o755)
    env = {"PATH": str(programs), "HOME": str(tmp_path), "PYENV_ROOT": str(tmp_path / "none")}
    done = subprocess.run(
        ["/bin/sh", str(tmp_path / "scripts" / "peers")], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "peers: skipped. stormvogel needs Python 3.12 or 3.13" in done.stdout
    assert "looked for: python3.12, python3.13 and python3 on PATH" in done.stdout
    assert not (tmp_path / ".venv-peers").exists()
