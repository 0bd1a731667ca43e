"""What the tests of several backends need."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest


@pytest.fixture
def as_somebody_else() -> Callable[[Path], AbstractContextManager[None]]:
    """Return a context in which a user runs whom permissions bind (root's they do not), and who can reach a path."""

    @contextmanager
    def context(path: Path) -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        modes = {folder: folder.stat().st_mode for folder in path.parents}
        for folder, mode in modes.items():
            if not mode & 0o001:
                folder.chmod(mode | 0o055)
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)
            for folder, mode in modes.items():
                if not mode & 0o001:
                    folder.chmod(mode)

    return context
