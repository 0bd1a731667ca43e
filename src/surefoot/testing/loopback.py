"""A real web site on this machine, for tests and examples of whatever walks web sites."""

from __future__ import annotations

import contextlib
import mimetypes
import os
import socket
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias
from urllib.parse import unquote

from surefoot.errors import BadArgument

__all__ = ["LoopbackSite", "Page", "Reply"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server says.

    Args:
        body: the body; text is sent as UTF-8.
        status: the HTTP status.
        headers: more headers.
        kind: the content type, None to send none.

    Example:
        >>> Reply("moved", 301, {"Location": "/new"}).status
        301
    """

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = "text/html; charset=utf-8"


Page: TypeAlias = str | Reply | Callable[[BaseHTTPRequestHandler], object]
"""What is served at one path: HTML, a `Reply`, or a function that answers through the handler.

Example:
    >>> pages: dict[str, Page] = {"/": "<a href=/old>Old</a>", "/old": Reply("", 410)}
"""


class LoopbackSite:
    """Serve pages, or a folder, over HTTP/1.1 on 127.0.0.1 and a free port, as long as the `with` block lasts.

    Args:
        pages: {path and query: HTML, a `Reply`, or a function that answers through the handler itself}; it may be
            changed while the site runs. Anything else is 404.
        folder: a folder whose files are served where `pages` has nothing; `index.html` for a folder in it. Asked with
            `If-Modified-Since`, it answers 304 where nothing changed.

    Attributes:
        url: `http://127.0.0.1:PORT`.
        pages: the pages, a dict of the site's own.
        asked: each request so far, as (path and query, headers).

    Cost: a thread for the server and one for each open connection.

    Example:
        >>> import httpx
        >>> with LoopbackSite({"/": "<a href=/map>Map</a>"}) as site:
        ...     print(httpx.get(site.url).text, httpx.get(site.url + "/map").status_code)
        <a href=/map>Map</a> 404
        >>> [path for path, headers in site.asked]
        ['/', '/map']
    """

    def __init__(
        self, pages: Mapping[str, Page] | None = None, *, folder: str | os.PathLike[str] | None = None
    ) -> None:
        """Remember what to serve."""
        self.pages: dict[str, Page] = dict(pages or {})
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._folder = None if folder is None else Path(folder).resolve()
        if self._folder is not None and not self._folder.is_dir():
            raise BadArgument(f"folder must be a folder, got {os.fspath(self._folder)!r}")
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Return the URL, without a slash at its end."""
        if self._server is None:
            raise BadArgument("the site runs only in its with block: with LoopbackSite(...) as site: ...")
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> LoopbackSite:
        """Start the server."""
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server.hang_up()
            self._server = None

    def reply_to(self, path: str, headers: Mapping[str, str]) -> Page:
        """Return what the site says to a request."""
        if path in self.pages:
            return self.pages[path]
        file = None if self._folder is None else self._file(self._folder, path)
        if file is None:
            return Reply("<title>404</title>There is no such page.", 404)
        changed = formatdate(file.stat().st_mtime, usegmt=True)
        if headers.get("If-Modified-Since") == changed:
            return Reply(status=304, kind=None)
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return Reply(file.read_bytes(), headers={"Last-Modified": changed}, kind=kind)

    @staticmethod
    def _file(folder: Path, path: str) -> Path | None:
        """Return the file at a path below `folder`, None when there is none."""
        file = (folder / unquote(path.partition("?")[0]).lstrip("/")).resolve()
        if file.is_dir():
            file = file / "index.html"
        return file if file.is_file() and file.is_relative_to(folder) else None


class _Server(ThreadingHTTPServer):
    """A server that does not mind clients that hang up on it."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._open: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Remember the connection."""
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def hang_up(self) -> None:
        """End all connections, also those that a client keeps open for later."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):  # it has ended by itself
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: the client saw it."""


def _handler(site: LoopbackSite) -> type[BaseHTTPRequestHandler]:
    """Return the handler class for a site."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            headers = dict(self.headers)
            site.asked.append((self.path, headers))
            reply = site.reply_to(self.path, headers)
            if callable(reply):
                reply(self)
                return
            reply = Reply(reply) if isinstance(reply, str) else reply
            body = reply.body.encode() if isinstance(reply.body, str) else reply.body
            self.send_response(reply.status)
            if reply.kind is not None:
                self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing."""

    return Handler
