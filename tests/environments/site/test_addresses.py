from __future__ import annotations

import string
from urllib.parse import unquote_to_bytes, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.environments.site.addresses import normalise, normalise_or_none, origin_of, quote
from surefoot.errors import BadArgument

BASE = "http://a/b/c/d;p?q"


@pytest.mark.parametrize(
    ("reference", "target"),
    [  # RFC 3986, section 5.4.1, but for what normalisation takes off (fragments)
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"),
        ("g?y#s", "http://a/b/c/g?y"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        # section 5.4.2
        ("../../../g", "http://a/g"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("http:g", "http://a/b/c/g"),
    ],
)
def test_the_examples_of_rfc_3986(reference: str, target: str) -> None:
    assert normalise(reference, BASE) == target


@pytest.mark.parametrize(
    ("url", "spelling"),
    [
        ("HTTP://EXAMPLE.Org", "http://example.org/"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("http://example.org:443/a", "http://example.org:443/a"),
        ("http://example.org:/a", "http://example.org/a"),
        ("http://example.org:0080/a", "http://example.org/a"),
        ("http://ex%41mple.org/", "http://example.org/"),
        ("http://bücher.example/ü?ü", "http://xn--bcher-kva.example/%C3%BC?%C3%BC"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x"),
        ("http://a/%7ejoe/%2e%2e/%e9%2F", "http://a/%E9%2F"),
        ("http://a/b c|d[e]\"<>`{}^'", "http://a/b%20c%7Cd%5Be%5D%22%3C%3E%60%7B%7D%5E'"),
        ("http://a/100%", "http://a/100%25"),
        ("http://a/b//c/../d", "http://a/b//d"),
        ("http://a/..", "http://a/"),
        ("http://a?b", "http://a/?b"),
        ("http://a/b?z=1&a=2&z=0", "http://a/b?z=1&a=2&z=0"),
        ("http://a/b?", "http://a/b"),
        (" \n http://a/b\r\n/c\t ", "http://a/b/c"),
        (r"http:\\a\b?c\d", "http://a/b?c%5Cd"),
        ("http://joe:secret@a/", "http://joe:secret@a/"),
    ],
)
def test_one_spelling(url: str, spelling: str) -> None:
    assert normalise(url) == spelling


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/library/json.html",
        "example.org",
        "example.org:8000/a",
        "//example.org/",
        "mailto:joe@example.org",
        "javascript:void(0)",
        "data:text/html,<a>",
        "ftp://example.org/",
        "http:",
        "http:///a",
        "http://:80/",
        "http://a:99999/",
        "http://a:9999999999/",
        "http://a:x/",
        "http://[::1/",
        "http://a b/",
        "http://a/\udc80",
        "http://\udc80/",
        "http://ex%2fample.org/",
        "http://é%2f.org/",
        "http://é%20e/",
    ],
)
def test_what_is_no_url_is_refused_and_named(url: str) -> None:
    with pytest.raises(BadArgument) as caught:
        normalise(url)
    assert ("udc80" if "\udc80" in url else url) in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_relative_reference_needs_a_base_that_is_whole() -> None:
    with pytest.raises(BadArgument, match="'g' is not an absolute"):
        normalise("g", base="b/c")
    assert normalise("g", base="http://a") == "http://a/g"
    assert normalise("//b/c", base="https://a/") == "https://b/c"
    assert normalise_or_none("mailto:joe", "http://a/") is None


PIECES = st.text(st.sampled_from(string.ascii_letters + string.digits + "%/?#.:;@&=+$,-_~!*'()[]{}|\\^`\"<> \t\néß中"))


@given(PIECES, PIECES)
def test_normalising_twice_changes_nothing_and_httpx_sends_just_that(path: str, reference: str) -> None:
    base = normalise(f"http://h/{path}")
    once = normalise_or_none(reference, base)
    if once is not None:
        assert normalise(once) == once
        assert str(httpx.URL(once)) == once
        assert once.isascii()
        if origin_of(once) == "http://h":
            assert httpx.URL(once).raw_path.decode() == once.removeprefix("http://h")
            assert not {".", ".."} & set(urlsplit(once).path.split("/"))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoting_keeps_what_it_says(text: str) -> None:
    assert unquote_to_bytes(quote(text)) == unquote_to_bytes(text)
    assert quote(quote(text)) == quote(text)
