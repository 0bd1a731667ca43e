"""The walker: a step follows a link, and says what came of it."""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from surefoot.environments.site._http import Fault, Getter, NoPage, Refusal
from surefoot.environments.site._pages import Action, Page, decoded, read
from surefoot.environments.site.addresses import normalise, origin_of
from surefoot.errors import BadArgument, NotStarted, WorldUnavailable
from surefoot.protocols import Outcome, faulted, moved, refused
from surefoot.values import encode_action

__all__ = ["Site"]

_MOST_REDIRECTS = 10
_HOME: Action = ("home",)


class Site:
    """Walk a web site by its links.

    Every step is a request, so that what it reports was observed; for a page seen before the server is only asked
    whether it changed, if it knows how to tell. `actions`, `signs` and `describe` answer from what the last visit to a
    page showed, and request nothing.

    Args:
        start: the http(s) URL of the start page, without a user name, which would end up in logs: give a `client`.
        timeout: seconds to wait for the server each time, and for a page as a whole; > 0.
        rate: requests per second at most, > 0; None for no limit but a `Crawl-delay` in robots.txt.
        obey_robots: ask for robots.txt and obey it. Where it answers with a 4xx, all is allowed; where it cannot be had
            (unreachable, a 5xx, 429, a redirect to elsewhere), nothing is, so that `reset` fails.
        hosts: more hosts that belong to the site, as `"docs.example.org"` or `"http://example.org:8000"`; the states of
            their pages are whole URLs.
        home: offer `("home",)`, which leads to the start page, on every other page.
        recheck: ask the server again for pages seen in this episode; False trusts what they showed.
        max_bytes: how many bytes of a page are read, >= 1; a longer page is what was read of it.
        keep: how many pages are remembered, >= 1; the one visited longest ago goes first.
        user_agent: what the requests say they come from; its first word is looked up in robots.txt.
        client: an `httpx.Client` to use, for credentials, proxies or certificates; it stays yours to close.
        sleep: waits for that many seconds; for tests.
        clock: returns seconds, and never goes back; for tests.

    Raises:
        BadArgument: an argument is outside its range.

    Cost: a step is a request and a parse, about 1 ms per 50 kB. Memory: some hundred bytes per link of each page kept.

    Example:
        >>> from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        >>> from threading import Thread
        >>> pages = {"/": "<a href=about>About us</a> <a href=/gone>Press</a>", "/about": "<title>Us</title>"}
        >>> class Pages(BaseHTTPRequestHandler):
        ...     def do_GET(self):
        ...         self.send_response(200 if self.path in pages else 404)
        ...         self.send_header("Content-Type", "text/html")
        ...         self.end_headers()
        ...         self.wfile.write(pages.get(self.path, "").encode())
        ...     def log_message(self, *args): pass
        >>> server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        >>> Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        >>> with Site(f"http://127.0.0.1:{server.server_port}") as site:
        ...     here = site.reset()
        ...     print(here, site.actions(here))
        ...     print(site.step(("link", "Press")).reason)
        ...     print(site.step(("link", "About us")).state, site.actions("/about"))
        / [('link', 'About us'), ('link', 'Press')]
        404 Not Found
        /about [('home',)]
        >>> server.shutdown(); server.server_close()
    """

    def __init__(
        self,
        start: str,
        *,
        timeout: float = 10.0,
        rate: float | None = None,
        obey_robots: bool = True,
        hosts: Iterable[str] = (),
        home: bool = True,
        recheck: bool = True,
        max_bytes: int = 10_000_000,
        keep: int = 2_000,
        user_agent: str = "surefoot",
        client: httpx.Client | None = None,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Remember where the site is; `reset` goes there."""
        for name, number in (("timeout", timeout), ("rate", rate)):
            if not _is_positive(number) and not (name == "rate" and number is None):
                raise BadArgument(f"{name} must be a number > 0, got {number!r}")
        for name, count in (("max_bytes", max_bytes), ("keep", keep)):
            if type(count) is not int or count < 1:
                raise BadArgument(f"{name} must be an int >= 1, got {count!r}")
        if not re.fullmatch(r"[A-Za-z_-][ -~]*", user_agent):
            raise BadArgument(f"user_agent must be ASCII text that starts with a letter, got {user_agent!r}")
        if isinstance(hosts, str):
            raise BadArgument(f"hosts must be a list of host names, got the text {hosts!r}; use hosts=[{hosts!r}]")
        self.start = normalise(start)
        self._origin = origin_of(self.start)
        if "@" in self._origin:
            raise BadArgument("start must not hold a user name; pass client=httpx.Client(auth=(name, password))")
        scheme = self.start.partition(":")[0]
        further = [normalise(host if "//" in host else f"{scheme}://{host}") for host in hosts]
        self._origins = {self._origin, *map(origin_of, further)}
        self._obey_robots, self._home, self._recheck = obey_robots, home, recheck
        self._max_bytes, self._keep = max_bytes, keep
        self._getter = Getter(
            timeout=timeout,
            pause=1 / rate if rate else 0.0,
            user_agent=user_agent,
            client=client,
            secure=any(origin.startswith("https:") for origin in self._origins),
            sleep=sleep,
            clock=clock,
        )
        self._pages: OrderedDict[str, Page] = OrderedDict()
        self._seen: set[str] = set()
        self._here: str | None = None
        self._start_state = ""

    def reset(self, seed: int | None = None) -> str:
        """Go to the start page and return its state; a site has no dice, so `seed` changes nothing.

        Cookies are forgotten (those of a `client` of yours are not), and no page counts as seen in this episode.

        Raises:
            WorldUnavailable: the start page cannot be had, or robots.txt cannot.

        Example:
            >>> Site("http://127.0.0.1:9").reset()
            Traceback (most recent call last):
            surefoot.errors.WorldUnavailable: http://127.0.0.1:9/ cannot be walked: robots.txt: ConnectError: ...
        """
        self._here = None
        self._seen.clear()
        self._getter.forget()
        try:
            page = self._visit(self.start)
        except NoPage as no:
            mend = "; start there, or name that host in hosts=" if no.reason.startswith("redirect") else ""
            raise WorldUnavailable(f"{self.start} cannot be walked: {no.reason}{mend}") from no.__cause__
        self._here = self._start_state = page.state
        return page.state

    def actions(self, state: str) -> Sequence[Action]:
        """Return the links of a page in its order, then `("home",)`; requests nothing.

        Raises:
            NotStarted: before `reset` or after `close`.
            BadArgument: the page was not shown yet, or is no longer remembered.
        """
        links = list(self._page(state).links)
        return [*links, _HOME] if self._home and state != self._start_state else links

    def step(self, action: Action) -> Outcome[str]:
        """Follow a link.

        The effect is `{"page": state}`, or None when the link led back here. `info` holds `url` and `status`; for a
        page its `title`; for a fault `retry_after`, in seconds, when the server named a time.

        Raises:
            NotStarted: before `reset` or after `close`.
            ValueRejected: `action` is not a plain value.
        """
        here = self._here
        if here is None:
            raise NotStarted(f"step({action!r}) before reset(): call reset(seed=...) first")
        target = self._target(here, action)
        if target is None:
            return refused(here, "no such link on this page")
        try:
            page = self._visit(self.url_of(target))
        except Refusal as no:
            return refused(here, no.reason, info=no.info)
        except Fault as broke:
            return faulted(here, broke.reason, info=broke.info)
        self._here = page.state
        info = {"url": page.url, "status": page.status, "title": page.title}
        return moved(page.state, effect={"page": page.state} if page.state != here else None, info=info)

    def signs(self, state: str) -> Sequence[tuple[Action, str]]:
        """Return where each action is said to lead, by the address of its link; requests nothing.

        Raises:
            NotStarted: before `reset` or after `close`.
            BadArgument: the page was not shown yet, or is no longer remembered.
        """
        links = self._page(state).links
        return [(action, links.get(action, self._start_state)) for action in self.actions(state)]

    def describe(self, state: str) -> Mapping[str, Any]:
        """Return the title, URL, status, content type and number of links of a page; requests nothing.

        `elsewhere` counts the links that leave the site; `truncated` says that the page was too long, or nested too
        deep, to be read to its end.

        Raises:
            NotStarted: before `reset` or after `close`.
            BadArgument: the page was not shown yet, or is no longer remembered.
        """
        page = self._page(state)
        return {
            "title": page.title,
            "url": page.url,
            "status": page.status,
            "content_type": page.kind,
            "links": len(page.links),
            "elsewhere": page.elsewhere,
            "truncated": page.truncated,
        }

    def url_of(self, state: str) -> str:
        """Return the URL of a state.

        Example:
            >>> Site("http://example.org/a").url_of("/b?c")
            'http://example.org/b?c'
        """
        return self._origin + state if state.startswith("/") else state

    def state_of(self, url: str) -> str:
        """Return the state of a URL, which may be relative to the start page.

        Raises:
            BadArgument: it is no http(s) URL, or not of this site.

        Example:
            >>> site = Site("http://example.org/docs/")
            >>> site.state_of("HTTP://EXAMPLE.org:80/faq#top"), site.state_of("faq")
            ('/faq', '/docs/faq')
        """
        state = self._state(normalise(url, self.start))
        if state is None:
            raise BadArgument(f"{url!r} is not of this site; name its host in hosts=")
        return state

    def close(self) -> None:
        """End the episode and close our connections; `reset` starts another one."""
        self._here = None
        self._pages.clear()
        self._seen.clear()
        self._getter.close()

    def __enter__(self) -> Site:
        """Return the site."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _page(self, state: str) -> Page:
        """Return what is remembered of a page."""
        if self._here is None:
            raise NotStarted(f"the page {state!r} was asked about before reset(): call reset(seed=...) first")
        page = self._pages.get(state)
        if page is None:
            raise BadArgument(
                f"the page {state!r} was not shown yet, or is not among the last {self._keep} any more: walk there "
                "first, or raise keep="
            )
        return page

    def _target(self, here: str, action: Action) -> str | None:
        """Return where an action is said to lead, None when it is not on offer; `2`, `2.0` and `"2"` stay apart."""
        encode_action(action)
        if type(action) is not tuple or not all(type(part) in (str, int) for part in action):
            return None
        if action == _HOME and self._home and here != self._start_state:
            return self._start_state
        return self._pages[here].links.get(action)

    def _state(self, url: str) -> str | None:
        """Return the state of a normalised URL, None when it is not of this site."""
        origin = origin_of(url)
        if origin == self._origin:
            return url[len(origin) :]
        return url if origin in self._origins else None

    def _visit(self, url: str) -> Page:
        """Return the page at a URL of this site, after redirects, and remember it."""
        way = [url]
        while True:
            found = self._ask(way[-1])
            if isinstance(found, Page):
                self._pages[found.state] = found
                self._pages.move_to_end(found.state)
                self._seen.add(found.state)
                while len(self._pages) > self._keep:
                    forgotten, _ = self._pages.popitem(last=False)
                    self._seen.discard(forgotten)
                return found
            if self._state(found) is None:
                raise Refusal(f"redirect to another host: {found}", url=way[-1])
            way.append(found)
            if len(way) > _MOST_REDIRECTS + 1:
                raise Fault(f"more than {_MOST_REDIRECTS} redirects: {' -> '.join(way[:3])} -> …", url=url)

    def _ask(self, url: str) -> Page | str:
        """Ask for one URL; return its page, or the URL that it redirects to."""
        origin, state = origin_of(url), self._state(url)
        assert state is not None  # all who call have made sure
        kept = self._pages.get(state)
        if kept is not None and not self._recheck and state in self._seen:
            return kept
        if self._obey_robots and not self._rules_allow(origin, url[len(origin) :]):
            raise Refusal("robots.txt", url=url)
        answer = self._getter.get(url, self._max_bytes, kept.validators if kept is not None else {})
        if answer.status == 304 and kept is not None and kept.validators:
            return kept
        target = answer.redirect(url)
        if target is not None:
            return target
        page = Page(state, url, answer.status, answer.kind, truncated=answer.truncated)
        if not answer.html:
            return page
        for name, asks in (("etag", "If-None-Match"), ("last-modified", "If-Modified-Since")):
            if name in answer.headers:
                page.validators[asks] = answer.headers[name]
        return read(page, decoded(answer.body, answer.headers.get("content-type", "")), self._state) or page

    def _rules_allow(self, origin: str, path: str) -> bool:
        """Say whether robots.txt allows a path."""
        return self._getter.rules(origin, lambda url: self._state(url) is not None).allows(path)


def _is_positive(number: object) -> bool:
    """Say whether it is a finite number above zero."""
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 < number < math.inf
