"""What a robots.txt allows.

Source: RFC 9309 (Koster, Illyes, Zeller, Sassman 2022), sections 2.1 and 2.2; `Crawl-delay` is a common addition to it.
"""

from __future__ import annotations

import re

from surefoot.environments.site.addresses import quote

__all__ = ["Robots"]


class Robots:
    r"""Read a robots.txt for one agent: the longest rule that fits decides, and of two equally long ones the kinder.

    (`urllib.robotparser` of Python 3.11 to 3.13 takes the first rule that fits, and no wildcards: it allows what
    RFC 9309 forbids.)

    Args:
        text: the file.
        agent: what the requests say they come from; its first word (`[A-Za-z_-]+`) is looked for, in any case.

    Attributes:
        delay: seconds to wait between two requests, 0 when nothing is said.

    Cost: linear in the file; `allows` is linear in the rules.

    Example:
        >>> text = "User-agent: *\nAllow: /\nDisallow: /private/\nDisallow: /*.pdf$\nCrawl-delay: 2"
        >>> rules = Robots(text, "surefoot/1.0")
        >>> rules.allows("/private/x"), rules.allows("/a.pdf"), rules.allows("/a.pdf?page=1"), rules.delay
        (False, False, True, 2.0)
    """

    def __init__(self, text: str, agent: str) -> None:
        """Keep the rules for `agent`, or those for everybody when none are for it."""
        token = _token(agent)
        rules: dict[str, list[tuple[str, bool]]] = {}
        delays: dict[str, float] = {}
        group: list[str] = []
        closed = False
        for line in re.split(r"[\r\n]+", text.removeprefix("\ufeff")):
            key, _, value = line.partition("#")[0].partition(":")
            key, value = key.strip().lower(), value.strip()
            if key == "user-agent":
                group, closed = ([], False) if closed else (group, False)
                group.append("*" if value.startswith("*") else _token(value))
                rules.setdefault(group[-1], [])
            elif key in ("allow", "disallow"):
                closed = True
                for name in group if value else ():
                    rules[name].append((quote(value), key == "allow"))
            elif key == "crawl-delay" and re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
                delays.update(dict.fromkeys(group, float(value)))
        name = token if token in rules else "*"
        self._rules = sorted(rules.get(name, []), key=lambda rule: (-len(rule[0]), not rule[1]))
        self.delay = delays.get(name, 0.0)

    def allows(self, path: str) -> bool:
        """Say whether `path`, the normalised path and query of a URL, may be asked for."""
        return next((allow for pattern, allow in self._rules if _fits(pattern, path)), True)


def _token(agent: str) -> str:
    """Return the product token of a user agent, in lower case."""
    return re.split(r"[^A-Za-z_-]", agent, maxsplit=1)[0].lower()


def _fits(pattern: str, path: str) -> bool:
    """Match from the start, with `*` for anything and a final `$` for the end; no pattern takes long."""
    anchored = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not rest:
        return not anchored or path == first
    place = len(first)
    for part in rest[:-1]:
        found = path.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    last = rest[-1]
    return path.endswith(last) and len(path) - len(last) >= place if anchored else path.find(last, place) >= 0
