"""What holds for every test: doctests run in a folder of their own, random histories are the same each time."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import tempfile
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

__all__: list[str] = []

settings.register_profile(
    "here",
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", settings.get_profile("here"), derandomize=False, max_examples=2_000)
settings.load_profile("here")

# What JAX compiles is kept for the next time, as what Numba compiles is; each process its own, since both may write.
os.environ |= {
    "JAX_COMPILATION_CACHE_DIR": str(Path(__file__).parent / ".cache/jax" / os.environ.get("PYTEST_XDIST_WORKER", "")),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


SOURCE = Path(__file__).parent / "src"
TRACER = pytest.StashKey[Any]()
"""What follows the tests that are owed, if coverage is measured."""


OWED = frozenset({"errors", "values", "events", "journal", "knowledge"})
"""The modules and folders that owe a test to every branch (scripts/check)."""


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Import a module of ours the usual way before its doctests are collected; look for no doctests in tests.

    Else, when its package imports it too, pytest makes a second copy of it, and equal things are of two classes.
    """
    if file_path.suffix == ".py" and file_path.is_relative_to(SOURCE):
        import_as_usual(file_path)
        return (yield)
    return [found for found in (yield) if type(found) is pytest.Module]


def import_as_usual(path: Path) -> None:
    """Import a module of ours; what is wrong with it shows when pytest imports it again."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    with contextlib.suppress(Exception):
        import_module(".".join(parts).removesuffix(".__init__"))


@contextlib.contextmanager
def traced_by(tracer: Any) -> Iterator[None]:
    """Let a tracer, or none, follow what runs: tracing doubles what a test takes, and more."""
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without measuring coverage, and keep what is loaded by then out of the garbage collector's rounds.

    What a module does when it is imported counts, so the first to import those that owe every branch is this. As for
    garbage: nearly all that is loaded lives until the end, and is a hundred times what a test makes.
    """
    gc.disable()
    try:
        if sys.gettrace() is not None:
            for path in sorted(SOURCE.rglob("*.py")):
                if owes_every_branch(path):
                    import_as_usual(path)
        with traced_by(None):
            return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)  # what a test makes is gone by itself, nearly all of it


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Measure no coverage between tests, nor in the process that deals them out to others."""
    session.stash[TRACER] = sys.gettrace()
    with traced_by(None):
        return (yield)


def owes_every_branch(path: Path) -> bool:
    """Say whether a file of tests, or a module with doctests, is of what owes a test to every branch."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return not OWED.isdisjoint(part.removeprefix("test_") for part in parts)


def is_traced(item: pytest.Item) -> bool:
    """Say whether what a test reaches counts: it is of what owes every branch, and neither draws its cases nor is huge.

    What only a random history reaches is not reached each time: it is owed a case of its own.
    """
    drawn = isinstance(item, pytest.Function) and getattr(item.obj, "is_hypothesis_test", False)
    return owes_every_branch(item.path) and not drawn and item.get_closest_marker("untraced") is None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure coverage only where it counts."""
    with traced_by(item.session.stash[TRACER]) if is_traced(item) else contextlib.nullcontext():
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_report_to_serializable(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Send no keywords along with what passed: nobody asks for them, and they are a third of all that is sent."""
    if isinstance(report, pytest.TestReport) and report.passed:
        report.keywords = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Let a doctest write into a folder of its own; a fixture would cost each of the other tests a little."""
    if not isinstance(item, pytest.DoctestItem):
        return (yield)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return (yield)


@pytest.fixture(scope="session")
def postgres() -> Generator[str, None, None]:
    """Return the address of a PostgreSQL server, one for each process that runs tests."""
    from surefoot.errors import WorldUnavailable
    from surefoot.testing.postgres import TemporaryPostgres, programs_of_postgres

    try:
        programs_of_postgres()
    except WorldUnavailable as missing:
        pytest.skip(str(missing))
    with TemporaryPostgres() as server:
        yield server.url
