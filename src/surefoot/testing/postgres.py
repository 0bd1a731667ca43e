"""A PostgreSQL server of its own for tests and examples: in a temporary folder, on a socket in it, gone afterwards."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from types import TracebackType
from urllib.parse import quote

from surefoot.errors import WorldUnavailable

__all__ = ["TemporaryPostgres", "programs_of_postgres"]

_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin", "/usr/local/opt/postgresql*/bin")
_PATIENCE = 60.0
_SETTINGS = {
    "autovacuum": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "shared_buffers": "16MB",
    "synchronous_commit": "off",
    "unix_socket_permissions": "0700",
}


_WATCHED = """exec 3<&0
"$0" "$@" </dev/null 3<&- & server=$!
(cat <&3 >/dev/null; kill -QUIT "$server" 2>/dev/null) &
wait "$server"
"""
"""Runs a server until its input ends, which it does when this process does, however that comes about."""


def programs_of_postgres() -> str:
    """Return the folder that PostgreSQL's own programs are in, the newest where there are several.

    Raises:
        WorldUnavailable: PostgreSQL is not installed.

    Example:
        >>> try:
        ...     found = os.path.isfile(os.path.join(programs_of_postgres(), "initdb"))
        ... except WorldUnavailable:
        ...     found = True
        >>> found
        True
    """
    on_path = shutil.which("initdb")
    found = [os.path.dirname(os.path.realpath(on_path))] if on_path else []
    found += sorted((folder for place in _PLACES for folder in glob.glob(place)), key=_version, reverse=True)
    for folder in found:
        if all(os.access(os.path.join(folder, name), os.X_OK) for name in ("initdb", "pg_isready", "postgres")):
            return folder
    raise WorldUnavailable("PostgreSQL is not installed here (no initdb on PATH or in its usual places); install it")


def _version(folder: str) -> tuple[int, ...]:
    return tuple(int(part) for part in "".join(c if c.isdigit() else " " for c in folder).split())


class TemporaryPostgres:
    """Run a server as long as the `with` block lasts.

    It listens on no network address; the socket is in a folder that nobody else may enter. Nothing is written through
    to the disk, and all of it is removed at the end. PostgreSQL does not run as root: then the server runs as
    `postgres`, or as `nobody`.

    Attributes:
        url: its address, as `psycopg.connect` and `surefoot.environments.database.Database` take it.

    Raises:
        WorldUnavailable: PostgreSQL is not installed, or it does not start.

    Cost: two seconds to start.

    Example:
        >>> server = TemporaryPostgres()  # `with TemporaryPostgres() as server:` starts it
        >>> server.url, server.stop()
        ('', None)
    """

    def __init__(self) -> None:
        """Start nothing yet; see the class."""
        self.url = ""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> TemporaryPostgres:
        """Start it."""
        programs = programs_of_postgres()
        self._folder = tempfile.TemporaryDirectory(prefix="surefoot-pg-", ignore_cleanup_errors=True)
        try:
            self._start(programs, self._folder.name)
        except BaseException:
            self.stop()
            raise
        return self

    def _start(self, programs: str, folder: str) -> None:
        user = _somebody()
        if user is not None:
            os.chown(folder, user, -1)
        data, env = os.path.join(folder, "data"), {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        words = ["-D", data, "-U", "surefoot", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        made = subprocess.run(
            [os.path.join(programs, "initdb"), *words],
            cwd=folder,
            env=env,
            user=user,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise WorldUnavailable(f"initdb failed: {made.stderr.strip()}")
        settings = [f"--{name}={value}" for name, value in {**_SETTINGS, "unix_socket_directories": folder}.items()]
        with open(os.path.join(folder, "log"), "wb") as log:
            self._server = subprocess.Popen(
                ["sh", "-c", _WATCHED, os.path.join(programs, "postgres"), "-D", data, *settings],
                cwd=folder,
                env=env,
                user=user,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        ask = [os.path.join(programs, "pg_isready"), "--quiet", f"--host={folder}", "--dbname=postgres"]
        deadline = time.monotonic() + _PATIENCE
        while subprocess.run(ask, check=False, env=env).returncode:
            if self._server.poll() is not None or time.monotonic() > deadline:
                with open(os.path.join(folder, "log"), encoding="utf-8", errors="replace") as log_:
                    raise WorldUnavailable(f"PostgreSQL does not start: {log_.read().strip()[-500:]}")
            time.sleep(0.02)
        self.url = f"postgresql://surefoot@/postgres?host={quote(folder, safe='')}"

    def stop(self) -> None:
        """Stop it, and remove all of it; twice is harmless."""
        if self._server is not None:
            assert self._server.stdin is not None  # it was started with one
            self._server.stdin.close()  # an immediate shutdown: nothing is to be kept
            try:
                self._server.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self._server.pid, signal.SIGKILL)
                self._server.wait()
            self._server = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self.stop()


def _somebody() -> int | None:
    """Return the id of a user to run the server as; None: whoever runs this."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_uid
    raise WorldUnavailable("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
