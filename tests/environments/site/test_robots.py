from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.environments.site.robots import Robots


def allowed(text: str, path: str, agent: str = "surefoot/1.0 (a walker)") -> bool:
    return Robots(text, agent).allows(path)


@pytest.mark.parametrize(
    ("rules", "path", "verdict"),
    [
        ("", "/any", True),
        ("Disallow:", "/any", True),
        ("Disallow: /", "/any", False),
        ("Allow: /\nDisallow: /private", "/private/x", False),  # the longest, not the first
        ("Disallow: /private\nAllow: /private/open", "/private/open/x", True),
        ("Disallow: /a\nAllow: /a", "/a", True),  # of two equally long ones the kinder
        ("Disallow: /*.pdf$", "/a/b.pdf", False),
        ("Disallow: /*.pdf$", "/a/b.pdf?x", True),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /a*b*c", "/a-b-b-c-d", False),
        ("Disallow: /a*b*c", "/a-c-b", True),
        ("Disallow: /a*b*b$", "/a-b", True),
        ("Disallow: /a*b*c*d", "/a-b-d", True),
        ("Disallow: *", "/any", False),
        ("Disallow: /caf%c3%a9", "/caf%C3%A9/x", False),
        ("Disallow: /café", "/caf%C3%A9/x", False),
        ("Disallow: /%7Ejoe", "/~joe/", False),
        ("Disallow: /a # because", "/a", False),
        ("Disallow: private", "/private", True),  # no path, so it fits nothing
    ],
)
def test_rules(rules: str, path: str, verdict: bool) -> None:
    assert allowed(f"User-agent: *\n{rules}", path) is verdict


def test_groups() -> None:
    text = (
        "\ufeffUser-agent: other\r\nUSER-AGENT: SureFoot/2.0\rDisallow: /a\n\nSitemap: /map.xml\n"
        "User-agent: *\nDisallow: /\nCrawl-delay: 9\n"
        "User-agent: surefoot\nDisallow: /b\nCrawl-delay: 1.5\n"
    )
    assert [allowed(text, path) for path in ("/a", "/b", "/c")] == [False, False, True]
    assert not allowed(text, "/c", agent="third")
    assert allowed(text, "/b", agent="other")
    delays = [Robots(text, agent).delay for agent in ("surefoot", "third", "other")]
    assert delays == [1.5, 9.0, 0.0]


def test_what_cannot_be_read_says_nothing() -> None:
    rules = Robots("<html>\nDisallow: /before-any-agent\nUser-agent: *\nCrawl-delay: soon\nCrawl-delay: -1\n:::", "s")
    assert rules.allows("/before-any-agent")
    assert rules.delay == 0.0


@given(st.text("ab*$", max_size=7), st.text("ab", max_size=6))
def test_patterns_agree_with_their_definition(pattern: str, path: str) -> None:
    anchored = pattern.endswith("$")
    meaning = re.escape(pattern.removesuffix("$")).replace(r"\*", ".*") + ("$" if anchored else "")
    assert allowed(f"User-agent: *\nDisallow: /{pattern}", f"/{path}") is (re.match("/" + meaning, f"/{path}") is None)


def test_no_pattern_takes_long() -> None:
    pattern = "/" + "a*" * 500 + "b"
    assert allowed(f"User-agent: *\nDisallow: {pattern}", "/" + "a" * 5000)


def test_every_order_of_the_same_rules_means_the_same() -> None:
    rules = ["Allow: /", "Disallow: /p", "Allow: /p/q", "Disallow: /p/q/r$"]
    paths = ["/", "/p", "/p/q", "/p/q/r", "/p/q/rs"]
    meanings = {
        tuple(allowed("User-agent: *\n" + "\n".join(order), path) for path in paths)
        for order in itertools.permutations(rules)
    }
    assert meanings == {(True, False, True, False, True)}
