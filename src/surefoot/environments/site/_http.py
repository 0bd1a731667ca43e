"""One GET at a time, politely: a time-out, a rate, robots.txt; every answer is a body, a redirect, a no or a fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import httpx

from surefoot.environments.site.addresses import normalise_or_none, origin_of
from surefoot.environments.site.robots import Robots

__all__: list[str] = []

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_NOW = frozenset({408, 425, 429})
"""Those 4xx that say "not now" and not "no"; each 5xx does too."""
_MOST_ROBOTS_REDIRECTS = 5
_ROBOTS_BYTES = 512 * 1024
"""RFC 9309, section 2.5: at least 500 KiB are to be read."""
_HTML = ("text/html", "application/xhtml+xml", "")


class NoPage(Exception):
    """There is no page, and why."""

    def __init__(self, reason: str, **info: Any) -> None:
        super().__init__(reason)
        self.reason, self.info = reason, info


class Refusal(NoPage):
    """The site said no."""


class Fault(NoPage):
    """The call broke."""


class Answer:
    """The head of an answer, and what was read of its body."""

    def __init__(self, response: httpx.Response) -> None:
        """Take the head."""
        self.status, self.headers = response.status_code, response.headers
        try:
            phrase = HTTPStatus(self.status).phrase
        except ValueError:
            phrase = response.reason_phrase
        self.said = f"{self.status} {phrase}".strip()
        self.kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.html = 200 <= self.status < 300 and self.kind in _HTML
        self.small = re.fullmatch(r"[0-9]{1,4}", self.headers.get("content-length", "")) is not None
        self.body = b""
        self.truncated = False

    def redirect(self, url: str) -> str | None:
        """Return where `url` redirects to, None when this is its content.

        Raises:
            Refusal: a 4xx.
            Fault: "not now", a 5xx, or a status that leads nowhere.
        """
        info: dict[str, Any] = {"url": url, "status": self.status}
        if self.status in _NOT_NOW or self.status >= 500:
            later = self._retry_after()
            raise Fault(self.said, **info, **({} if later is None else {"retry_after": later}))
        if self.status >= 400:
            raise Refusal(self.said, **info)
        if 200 <= self.status < 300:
            return None
        location = self.headers.get("location")
        target = normalise_or_none(location, url) if location else None
        if self.status not in _REDIRECTS or target is None:
            raise Fault(f"{self.said}, and nowhere to go on to", **info)
        return target

    def _retry_after(self) -> float | None:
        """Return after how many seconds the server wants to be asked again, None when it does not say."""
        said = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"[0-9]{1,9}", said):
            return float(said)
        try:
            sent = parsedate_to_datetime(self.headers.get("date", ""))
            return max(0.0, (parsedate_to_datetime(said) - sent).total_seconds())
        except (ValueError, TypeError):
            return None


class Getter:
    """Send GET requests for a site; the arguments are those of `Site`."""

    def __init__(
        self,
        *,
        timeout: float,
        pause: float,
        user_agent: str,
        client: httpx.Client | None,
        secure: bool,
        sleep: Callable[[float], object],
        clock: Callable[[], float],
    ) -> None:
        """Remember how to ask."""
        self._timeout, self._pause, self._agent, self._secure = timeout, pause, user_agent, secure
        self._given = client
        self._own: httpx.Client | None = None
        self._sleep, self._clock = sleep, clock
        self._robots: dict[str, Robots] = {}
        self._asked: dict[str, float] = {}

    def get(self, url: str, most: int, headers: Mapping[str, str], *, any_kind: bool = False) -> Answer:
        """Send one GET, no sooner than the rate allows; read at most `most` bytes, and only of what can be a page.

        Raises:
            Fault: a time-out, or a connection or an answer that broke.
            Refusal: a URL that cannot be asked for.
        """
        self._wait(origin_of(url))
        began = self._clock()
        client = self._client()
        asked = {"User-Agent": self._agent, "Accept": "text/html,application/xhtml+xml,*/*;q=0.1", **headers}
        try:
            request = client.build_request("GET", url, headers=asked, timeout=self._timeout)
            response = client.send(request, stream=True, follow_redirects=False)
            try:
                answer = Answer(response)
                if any_kind or answer.html or answer.small:
                    self._read(answer, response, most, began)
            finally:
                response.close()
        except httpx.TimeoutException as error:
            raise Fault(f"time-out after {self._timeout:g} s", url=url) from error
        except httpx.HTTPError as error:
            raise Fault(f"{type(error).__name__}: {error}", url=url) from error
        except httpx.InvalidURL as error:
            raise Refusal(f"this URL cannot be asked for: {error}", url=url[:200]) from error
        return answer

    def rules(self, origin: str, belongs: Callable[[str], bool]) -> Robots:
        """Return what robots.txt of a host allows; it is asked for once.

        A 4xx allows everything (RFC 9309, section 2.3.1.3). Without any word nothing is allowed (section 2.3.1.4).

        Raises:
            Fault: robots.txt cannot be had.
        """
        if origin not in self._robots:
            try:
                text = self._robots_txt(f"{origin}/robots.txt", belongs)
            except Fault as broke:
                why = f"robots.txt: {broke.reason}; without its word all is forbidden, unless obey_robots=False"
                raise Fault(why, **broke.info) from broke.__cause__
            except Refusal:
                text = ""
            self._robots[origin] = Robots(text, self._agent)
        return self._robots[origin]

    def forget(self) -> None:
        """Drop the cookies of our own client."""
        if self._own is not None:
            self._own.cookies.clear()

    def close(self) -> None:
        """Close our own client; the next request makes another one."""
        if self._own is not None:
            self._own.close()
            self._own = None

    def _client(self) -> httpx.Client:
        """Return the client: this machine is asked directly, others as the environment says."""
        if self._given is not None:
            return self._given
        if self._own is None:
            direct = dict.fromkeys(("all://127.0.0.1", "all://localhost", "all://[::1]"))
            self._own = httpx.Client(mounts=direct, verify=self._secure)
        return self._own

    def _read(self, answer: Answer, response: httpx.Response, most: int, began: float) -> None:
        """Read a body up to its bound in bytes and in time."""
        parts, size = [], 0
        for part in response.iter_bytes():
            if self._clock() - began > self._timeout:
                raise Fault(f"time-out: the answer took more than {self._timeout:g} s", url=str(response.url))
            parts.append(part)
            size += len(part)
            if size > most:
                answer.truncated = True
                break
        answer.body = b"".join(parts)[:most]

    def _robots_txt(self, url: str, belongs: Callable[[str], bool]) -> str:
        """Return the text of a robots.txt, after redirects within the site."""
        for _ in range(_MOST_ROBOTS_REDIRECTS + 1):
            answer = self.get(url, _ROBOTS_BYTES, {}, any_kind=True)
            target = answer.redirect(url)
            if target is None:
                return answer.body.decode("utf-8", "replace")
            if not belongs(target):
                raise Fault(f"redirect to another host: {target}", url=url)
            url = target
        raise Fault(f"more than {_MOST_ROBOTS_REDIRECTS} redirects", url=url)

    def _wait(self, origin: str) -> None:
        """Wait until the host may be asked again."""
        pause = max(self._pause, self._robots[origin].delay if origin in self._robots else 0.0)
        if pause and origin in self._asked:
            left = self._asked[origin] + pause - self._clock()
            if left > 0:
                self._sleep(left)
        self._asked[origin] = self._clock()
