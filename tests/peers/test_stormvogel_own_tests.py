"""stormvogel's own tests of its environment, with ours in its place: the file is fetched, never copied here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("stormvogel", reason="stormvogel is missing: it needs Python 3.12 (make peers)")

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(os.environ.get("SUREFOOT_STORMVOGEL_SOURCE", "nowhere")) / "tests"


def own_tests(*options: str) -> str:
    """Run stormvogel's file of tests as it is, and return what pytest says."""
    if not (SOURCE / "test_simulator.py").is_file():
        pytest.skip("the source of stormvogel is not there: `make peers` fetches it")
    paths = [str(ROOT / "src"), str(ROOT / "tests" / "peers"), str(SOURCE)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(SOURCE)]
        + [*options, "test_simulator.py"],
        cwd=SOURCE,
        env=kept | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def passed(output: str) -> int:
    found = re.search(r"(\d+) passed", output)
    assert found is not None, output
    assert "failed" not in output
    return int(found[1])


def test_their_tests_pass_with_our_model_env_in_place_of_theirs() -> None:
    env_tests = "env"
    ours, theirs = own_tests("-p", "in_place", "-k", env_tests), own_tests("-k", env_tests)
    assert passed(ours) == passed(theirs) >= 29


def test_ours_was_in_place() -> None:
    import stormvogel.gym_env as theirs

    import surefoot.gym

    code = "import in_place, stormvogel.gym_env as theirs; print(theirs.ModelEnv.__mro__[1].__module__)"
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests" / "peers")])
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == surefoot.gym.ModelEnv.__module__ != theirs.ModelEnv.__module__
