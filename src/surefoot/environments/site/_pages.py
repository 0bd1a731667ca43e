"""What a page of HTML shows: its title and its links."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate, islice
from operator import sub
from typing import TypeAlias

from selectolax.lexbor import LexborHTMLParser

from surefoot.environments.site.addresses import normalise_or_none

__all__: list[str] = []

Action: TypeAlias = tuple[str | int, ...]

_LONGEST_LABEL = 120
_DEEPEST, _SHALLOW = 512, 64 * 1024
"""How many elements inside each other are followed (browsers stop at 512 too); a page this short is not checked."""
_META_CHARSET = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE | re.ASCII)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CHARSETS = frozenset(
    "utf-8 cp866 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 "
    "iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-roman mac-cyrillic cp874 cp1250 cp1251 cp1252 cp1253 cp1254 "
    "cp1255 cp1256 cp1257 cp1258 gbk gb18030 big5 euc_jp iso2022_jp shift_jis euc_kr utf-16-le utf-16-be".split()
)
"""Python's names of the encodings that browsers know; a page cannot make us use another codec."""
_AS_BROWSERS_DO = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gbk", "utf-16": "utf-8"}
_END_BY_THEMSELVES = (
    "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option"
    "|optgroup|colgroup|rp|rt"
)
_ANY_TAG = re.compile(r"<(/?)[A-Za-z]")
_STEPS = {"": 1, "/": -1}
_TAG = re.compile(rf"<(/?)(?!(?:{_END_BY_THEMSELVES})[\s/>])[a-z]", re.IGNORECASE)
_APART = ", ".join(
    f"a[href] {tag}" for tag in "br p div li td th h1 h2 h3 h4 h5 h6 dt dd section header footer".split()
)
_REFRESH_AT_ONCE = re.compile(r"\s*0*(?:\.0*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?\s*([^\"']+)", re.IGNORECASE)


@dataclass(slots=True)
class Page:
    """What is remembered of a page: no HTML, only what it showed."""

    state: str
    url: str
    status: int
    kind: str
    title: str = ""
    links: dict[Action, str] = field(default_factory=dict)
    elsewhere: int = 0
    truncated: bool = False
    validators: dict[str, str] = field(default_factory=dict)


def decoded(body: bytes, content_type: str) -> str:
    """Return the text of a page, by its byte-order mark, the header, or its `<meta>`; what cannot be read is U+FFFD."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(name, "replace")
    header = _HEADER_CHARSET.search(content_type)
    meta = None if header else _META_CHARSET.search(body[:2048])
    label = header[1] if header else meta[1].decode("ascii") if meta else "utf-8"
    try:
        name = codecs.lookup(label).name
    except LookupError:
        name = "utf-8"
    name = _AS_BROWSERS_DO.get(name, name)
    if name not in _CHARSETS or (meta and name.startswith("utf-16")):  # UTF-16 could not have been read as far as that
        name = "utf-8"
    return body.decode(name, "replace")


def read(page: Page, text: str, state_of: Callable[[str], str | None]) -> str | None:
    """Fill in what a page shows; return the URL that it sends its readers on to at once, if any."""
    if len(text) > _SHALLOW:
        whole = len(text)
        text = _cut_where_too_deep(text)
        page.truncated |= len(text) < whole
    tree = LexborHTMLParser(text)
    title = tree.css_first("title")
    page.title = " ".join(title.text().split()) if title else ""
    based = tree.css_first("base[href]")
    base = (based and normalise_or_none(based.attributes["href"] or "", page.url)) or page.url
    for meta in tree.css("meta[http-equiv][content]"):
        if (meta.attributes["http-equiv"] or "").strip().lower() == "refresh":
            found = _REFRESH_AT_ONCE.match(meta.attributes["content"] or "")
            target = normalise_or_none(found[1], base) if found else None
            if target is not None and target != page.url:
                return target
    tree.strip_tags(["script", "style", "template"], recursive=True)
    for image in tree.css("a[href] img[alt]"):
        image.insert_before(f" {image.attributes['alt'] or ''} ")
    for part in tree.css(_APART):
        part.insert_before(" ")
        part.insert_after(" ")
    _read_links(page, tree, base, state_of)
    return None


def _read_links(page: Page, tree: LexborHTMLParser, base: str, state_of: Callable[[str], str | None]) -> None:
    """Put the links of a page in, in its order; the same text with the same target is one link."""
    known: dict[str, str | None] = {}
    targets_of: dict[str, list[str]] = {}
    elsewhere: set[str] = set()
    for anchor in tree.css("a[href], area[href]"):
        attributes = anchor.attributes
        href = (attributes["href"] or "").partition("#")[0]
        if href not in known:
            url = normalise_or_none(href, base)
            known[href] = state_of(url) if url else None
        target = known[href]
        if target is None:
            elsewhere.add(href)
        elif target != page.state:
            alt = attributes.get("alt") if anchor.tag == "area" else None
            said = (attributes.get("aria-label"), anchor.text(), alt, attributes.get("title"), target)
            label = next(filter(None, (" ".join((text or "").split()) for text in said)))
            if len(label) > _LONGEST_LABEL:
                label = label[: _LONGEST_LABEL - 1] + "…"
            targets = targets_of.setdefault(label, [])
            if target not in targets:
                targets.append(target)
                page.links[("link", label) if len(targets) == 1 else ("link", label, len(targets))] = target
    page.elsewhere = len(elsewhere)


def _cut_where_too_deep(text: str) -> str:
    """Cut a page where elements are nested too deep: a parser's time is quadratic in that depth."""
    if max(_depths(_ANY_TAG, text), default=0) <= _DEEPEST:
        return text
    nth = next((nth for nth, depth in enumerate(_depths(_TAG, text)) if depth > _DEEPEST), None)
    return text if nth is None else text[: next(islice(_TAG.finditer(text), nth, None)).start()]


def _depths(tags: re.Pattern[str], text: str) -> Iterable[int]:
    """Return how deep each of the tags is inside others; an end tag without a start changes nothing."""
    heights = list(accumulate(map(_STEPS.__getitem__, tags.findall(text))))
    return map(sub, heights, accumulate(heights, min, initial=0))
