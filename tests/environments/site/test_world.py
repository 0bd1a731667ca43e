from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Any

import httpx
import pytest

from surefoot.environments.site import Site
from surefoot.errors import BadArgument, NotStarted, ValueRejected, WorldUnavailable
from surefoot.protocols import Closable, Describable, Environment, Outcome, Signposted
from surefoot.testing.loopback import LoopbackSite, Page, Reply

HOME = ("home",)


def redirect(location: str, status: int = 302) -> Reply:
    return Reply(status=status, headers={"Location": location})


@pytest.fixture
def walk() -> Iterator[Callable[..., tuple[LoopbackSite, Site]]]:
    """Serve pages and return (the server, a Site that was reset); `at=` gives more arguments of Site."""
    open_: list[LoopbackSite | Site] = []

    def start(pages: dict[str, Page], path: str = "/", **options: Any) -> tuple[LoopbackSite, Site]:
        server = LoopbackSite(pages).__enter__()
        open_.append(server)
        site = Site(server.url + path, **options)
        open_.append(site)
        site.reset()
        return server, site

    yield start
    for one in reversed(open_):
        one.__exit__(None, None, None)


Walk = Callable[..., tuple[LoopbackSite, Site]]


def paths(server: LoopbackSite) -> list[str]:
    return [path for path, _ in server.asked]


def follow(site: Site, text: str, *nth: int) -> Outcome[str]:
    return site.step(("link", text, *nth))


def test_a_page_shows_its_links_and_a_step_follows_one(walk: Walk) -> None:
    server, site = walk({"/": "<title> My\n page </title><a href=a?b=1#c>A</a>", "/a?b=1": "<a href=/>Up</a>"})
    assert isinstance(site, Environment)
    assert isinstance(site, Signposted)
    assert isinstance(site, Describable)
    assert isinstance(site, Closable)
    assert site.actions("/") == [("link", "A")]
    assert site.signs("/") == [(("link", "A"), "/a?b=1")]
    assert site.describe("/") == {
        "title": "My page",
        "url": f"{server.url}/",
        "status": 200,
        "content_type": "text/html",
        "links": 1,
        "elsewhere": 0,
        "truncated": False,
    }
    out = follow(site, "A")
    assert (out.verdict, out.state, out.effect, out.done) == ("accepted", "/a?b=1", {"page": "/a?b=1"}, False)
    assert out.info == {"url": f"{server.url}/a?b=1", "status": 200, "title": ""}
    assert site.actions(out.state) == [("link", "Up"), HOME]
    assert site.signs(out.state) == [(("link", "Up"), "/"), (HOME, "/")]
    assert site.step(HOME).state == "/"
    assert paths(server) == ["/robots.txt", "/", "/a?b=1", "/"]
    assert server.asked[1][1]["User-Agent"] == "surefoot"


def test_what_is_an_action(walk: Walk) -> None:
    page = """
    <base href="/base/">
    <a href="x">  Two
      words </a>
    <a href="/x2">Next</a> <a href="/x3">Next</a> <a href="/x2#again">Next</a> <a href="/x4">Next</a>
    <a href="pic"><img src=p.png alt="A picture"> and text</a>
    <a href="aria" aria-label="Spoken">&gt;&gt;</a>
    <a href="title" title="Hint"></a>
    <a href="bare"><script>no()</script><style>no</style></a>
    <a href="apart"><h3>Head</h3><p>line<br>break</p></a>
    <a href="inside"><b>in</b>side</a>
    <map><area href="area" alt="Region"></map>
    <a href="#top">top</a> <a href="/">self</a> <a href="">base</a> <a>no href</a> <a href>empty</a>
    <a href="mailto:a@b.c">mail</a> <a href="javascript:x()">js</a> <a href="http://other.example/">other</a>
    <a href="https://127.0.0.1/">https</a> <a href="http://a b/">broken</a> <a href="http://me@127.0.0.1/">user</a>
    <a href="long">%s</a>
    <form action="/search"><input name=q><button>Go</button></form>
    """
    _, site = walk({"/": page % ("ab " * 100)})
    assert (
        site.signs("/")
        == [
            (("link", "Two words"), "/base/x"),
            (("link", "Next"), "/x2"),
            (("link", "Next", 2), "/x3"),
            (("link", "Next", 3), "/x4"),
            (("link", "A picture and text"), "/base/pic"),
            (("link", "Spoken"), "/base/aria"),
            (("link", "Hint"), "/base/title"),
            (("link", "/base/bare"), "/base/bare"),
            (("link", "Head line break"), "/base/apart"),
            (("link", "inside"), "/base/inside"),
            (("link", "Region"), "/base/area"),
            (("link", "top"), "/base/"),  # with a <base>, that is what it means
            (("link", "base"), "/base/"),
            (("link", "empty"), "/base/"),
            (("link", ("ab " * 100)[:119] + "…"), "/base/long"),
        ]
    )
    assert site.describe("/")["elsewhere"] == 6


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (400, "400 Bad Request"),
        (401, "401 Unauthorized"),
        (403, "403 Forbidden"),
        (404, "404 Not Found"),
        (410, "410 Gone"),
        (451, "451 Unavailable For Legal Reasons"),
        (499, "499"),
    ],
)
def test_a_4xx_is_a_refusal_that_moves_nothing(walk: Walk, status: int, reason: str) -> None:
    server, site = walk({"/": "<a href=/no>No</a>", "/no": Reply("<a href=/x>x</a>", status)})
    for _ in range(2):
        out = follow(site, "No")
        assert (out.verdict, out.state, out.reason, out.effect) == ("refused", "/", reason, None)
        assert out.info == {"url": f"{server.url}/no", "status": status}
    assert site.actions("/") == [("link", "No")]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_5xx_and_not_now_are_faults_that_move_nothing(walk: Walk, status: int) -> None:
    server, site = walk({"/": "<a href=/no>No</a>", "/no": Reply("", status)})
    out = follow(site, "No")
    assert (out.verdict, out.state, out.reason) == ("fault", "/", None)
    assert out.fault is not None
    assert out.fault.startswith(str(status))
    server.pages["/no"] = "back again"
    assert follow(site, "No").state == "/no"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "120"}, 120.0),
        ({"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}, ...),
        ({"Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_passed_on(walk: Walk, headers: dict[str, str], seconds: Any) -> None:
    _, site = walk({"/": "<a href=/no>No</a>", "/no": Reply("", 503, headers)})
    later = follow(site, "No").info.get("retry_after")
    assert later == seconds or (seconds is ... and later is not None and later > 1e9)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_and_the_last_page_is_the_state(walk: Walk, status: int) -> None:
    pages: dict[str, Page] = {"/": "<a href=/a>A</a>", "/a": redirect("b/../c/./#x", status), "/c/": "C"}
    server, site = walk(pages)
    assert site.signs("/") == [(("link", "A"), "/a")]
    out = follow(site, "A")
    assert (out.verdict, out.state, out.info["url"]) == ("accepted", "/c/", f"{server.url}/c/")


def test_a_redirect_back_here_has_no_effect(walk: Walk) -> None:
    _, site = walk({"/": "<a href=/a>A</a>", "/a": redirect("/")})
    out = follow(site, "A")
    assert (out.verdict, out.state, out.effect) == ("accepted", "/", None)


def test_a_meta_refresh_at_once_is_a_redirect(walk: Walk) -> None:
    _, site = walk(
        {
            "/": "<a href=/a>A</a> <a href=/slow>Slow</a> <a href=/self>Self</a>",
            "/a": "<meta http-equiv=Refresh content=\"0; URL='b'\">",
            "/b": "<title>B</title>",
            "/slow": "<meta http-equiv=refresh content='5; url=/b'><meta name=x content='0; url=/b'>",
            "/self": "<meta http-equiv=refresh content='0; url=/self'>",
        }
    )
    assert follow(site, "A").state == "/b"
    for text, state in (("Slow", "/slow"), ("Self", "/self")):
        site.reset()
        assert follow(site, text).state == state


def test_a_loop_of_redirects_is_a_fault(walk: Walk) -> None:
    server, site = walk({"/": "<a href=/a>A</a>", "/a": redirect("/b"), "/b": redirect("/a")})
    out = follow(site, "A")
    assert (out.verdict, out.state) == ("fault", "/")
    assert out.fault == f"more than 10 redirects: {server.url}/a -> {server.url}/b -> {server.url}/a -> …"
    assert paths(server).count("/a") + paths(server).count("/b") == 11


@pytest.mark.parametrize("reply", [Reply(status=302), redirect("http://a b/"), Reply(status=300), Reply(status=304)])
def test_a_redirect_to_nowhere_is_a_fault(walk: Walk, reply: Reply) -> None:
    _, site = walk({"/": "<a href=/a>A</a>", "/a": reply})
    out = follow(site, "A")
    assert out.verdict == "fault"
    assert "nowhere to go" in str(out.fault)


def test_a_redirect_to_another_host_is_refused_and_not_followed(walk: Walk) -> None:
    with LoopbackSite({"/": "elsewhere"}) as other:
        _, site = walk({"/": "<a href=/a>A</a>", "/a": redirect(other.url)})
        out = follow(site, "A")
        assert (out.verdict, out.state, out.reason) == ("refused", "/", f"redirect to another host: {other.url}/")
        assert other.asked == []


def test_more_hosts_can_belong_to_the_site(walk: Walk) -> None:
    with LoopbackSite({"/": "<title>Other</title><a href=/deep>Deep</a>", "/deep": "deep"}) as other:
        _, site = walk({"/": f"<a href={other.url}>O</a>", "/a": redirect(other.url)}, hosts=[other.url[7:]])
        assert site.signs("/") == [(("link", "O"), f"{other.url}/")]
        assert follow(site, "O").state == f"{other.url}/"
        assert site.signs(f"{other.url}/") == [(("link", "Deep"), f"{other.url}/deep"), (HOME, "/")]
        assert follow(site, "Deep").state == f"{other.url}/deep"
        assert paths(other) == ["/robots.txt", "/", "/deep"]
        assert site.state_of(f"{other.url}/x") == f"{other.url}/x"
        assert site.url_of(f"{other.url}/x") == f"{other.url}/x"


def test_what_is_no_page_is_a_leaf_and_its_body_is_not_read(walk: Walk) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/zip")
        handler.end_headers()  # and no byte of the body ever

    _, site = walk(
        {"/": "<a href=/z download>Z</a><a href=/t>T</a>", "/z": endless, "/t": Reply("t", kind="text/plain")}
    )
    out = follow(site, "Z")
    assert (out.verdict, out.state) == ("accepted", "/z")
    assert (site.describe("/z")["content_type"], site.actions("/z")) == ("application/zip", [HOME])
    site.step(HOME)
    assert site.actions(follow(site, "T").state) == [HOME]


def test_a_page_without_a_content_type_is_read(walk: Walk) -> None:
    _, site = walk({"/": Reply("<a href=/a>A</a>", kind=None)})
    assert site.actions("/") == [("link", "A")]


def test_time_outs_are_faults(walk: Walk) -> None:
    over = threading.Event()
    _, site = walk({"/": "<a href=/a>A</a>", "/a": lambda handler: over.wait(20)}, timeout=0.2)
    out = follow(site, "A")
    over.set()
    assert (out.verdict, out.state, out.fault) == ("fault", "/", "time-out after 0.2 s")


def test_a_page_that_trickles_in_is_a_fault_too(walk: Walk) -> None:
    seconds = count(0, 4)
    pages: dict[str, Page] = {"/": "<a href=/a>A</a>", "/a": "x"}
    with pytest.raises(WorldUnavailable, match="time-out: the answer took more than 3 s"):
        walk(pages, timeout=3, obey_robots=False, clock=lambda: float(next(seconds)))


@pytest.mark.parametrize(
    "answer",
    [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Type: text/html\r\n\r\nhalf"],
)
def test_a_connection_that_breaks_is_a_fault(walk: Walk, answer: bytes) -> None:
    def break_off(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(answer)
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    _, site = walk({"/": "<a href=/a>A</a>", "/a": break_off})
    out = follow(site, "A")
    assert (out.verdict, out.state) == ("fault", "/")
    assert str(out.fault).startswith(("RemoteProtocolError", "ReadError"))


def test_a_body_that_cannot_be_unpacked_is_a_fault(walk: Walk) -> None:
    _, site = walk({"/": "<a href=/a>A</a>", "/a": Reply(b"no gzip", headers={"Content-Encoding": "gzip"})})
    assert str(follow(site, "A").fault).startswith("DecodingError")


def test_a_server_that_is_gone_is_a_fault_and_then_no_world(walk: Walk) -> None:
    server, site = walk({"/": "<a href=/a>A</a>"})
    server.__exit__(None, None, None)
    assert str(follow(site, "A").fault).startswith(("ConnectError", "RemoteProtocolError", "ReadError"))
    with pytest.raises(WorldUnavailable, match="cannot be walked: ConnectError"):
        site.reset()
    with pytest.raises(NotStarted):
        site.step(HOME)


def linked(text: str, codec: str, before: str = "") -> bytes:
    return f"{before}<a href=/a>{text}</a>".encode(codec)


@pytest.mark.parametrize(
    ("page", "kind", "text"),
    [
        (linked("é", "utf-8"), "text/html; charset=utf-8", "é"),
        (linked("é", "utf-8"), "text/html", "é"),
        (linked("é", "latin-1"), 'text/html; charset="ISO-8859-1"', "é"),
        (linked("ж", "cp1251", "<meta charset=windows-1251>"), "text/html", "ж"),
        (linked("ж", "koi8-r", "<meta http-equiv=content-type content='text/html; charset=koi8-r'>"), "text/html", "ж"),
        (linked("é", "utf-8", "<meta charset=utf-16>"), "text/html", "é"),
        (linked("\u201c", "cp1252"), "text/html; charset=us-ascii", "\u201c"),  # as browsers do
        (linked("é", "utf-16"), "text/html; charset=latin-1", "é"),  # with a byte-order mark
        (linked("é", "utf-8-sig"), "text/html; charset=latin-1", "é"),
        (linked("本", "shift_jis"), "text/html; charset=shift_jis", "本"),
        (linked("é", "latin-1"), "text/html; charset=utf-8", "\ufffd"),
        (linked("é", "utf-8"), "text/html; charset=no-such-thing", "é"),
        (linked("é", "utf-8"), "text/html; charset=zlib", "é"),
        (linked("\\x41", "utf-8"), "text/html; charset=unicode_escape", "\\x41"),
        (linked("é", "utf-8"), "text/html; charset=undefined", "é"),
        (linked("a\0&#0;&#xD800;", "utf-8"), "text/html", "a\ufffd\ufffd"),
    ],
)
def test_encodings_are_survived(walk: Walk, page: bytes, kind: str, text: str) -> None:
    _, site = walk({"/": Reply(page, kind=kind)})
    assert site.actions("/") == [("link", text)]


def test_packed_pages_are_unpacked_and_bounded(walk: Walk) -> None:
    page = b"<a href=/a>A</a>" + b" " * 5_000_000 + b"<a href=/b>B</a>"
    _, site = walk({"/": Reply(gzip.compress(page), headers={"Content-Encoding": "gzip"})}, max_bytes=1_000_000)
    assert site.actions("/") == [("link", "A")]
    assert site.describe("/")["truncated"] is True


def test_huge_pages_are_read_as_far_as_allowed(walk: Walk) -> None:
    page = "".join(f"<a href=/{i}>{i}</a>\n" for i in range(20_000))
    _, site = walk({"/": page})
    assert len(site.actions("/")) == 20_000
    assert site.describe("/")["truncated"] is False
    _, site = walk({"/": page}, max_bytes=len("<a href=/0>0</a>\n"))
    assert site.actions("/") == [("link", "0")]
    assert site.describe("/")["truncated"] is True


def test_a_page_nested_deeper_than_browsers_follow_is_cut_there(walk: Walk) -> None:
    deep = "<a href=/a>A</a>" + "<div>" * 200_000 + "<a href=/b>B</a>"  # would take a parser minutes
    flat = "<p><br>" * 50_000 + "<div></div>" * 5_000 + "</div>" * 600 + "<a href=/b>B</a>"
    server, site = walk({"/": deep})
    assert site.actions("/") == [("link", "A")]
    assert site.describe("/")["truncated"] is True
    server.pages["/"] = flat
    site.reset()
    assert site.actions("/") == [("link", "B")]
    assert site.describe("/")["truncated"] is False


def test_robots_txt_is_obeyed(walk: Walk) -> None:
    robots = "User-agent: *\nAllow: /\nDisallow: /private\nDisallow: /*?sort=\n"
    page = "<a href=/private/x>P</a><a href='/l?sort=a'>L</a><a href=/r>R</a><a href=/ok>OK</a>"
    pages: dict[str, Page] = {
        "/": page,
        "/robots.txt": robots,
        "/r": redirect("/private/y"),
        "/ok": "",
        "/private/x": "",
    }
    server, site = walk(pages)
    for text in ("P", "L", "R"):
        out = follow(site, text)
        assert (out.verdict, out.state, out.reason) == ("refused", "/", "robots.txt")
    assert follow(site, "OK").verdict == "accepted"
    assert paths(server) == ["/robots.txt", "/", "/r", "/ok"]
    _, rude = walk(pages, obey_robots=False)
    assert follow(rude, "P").state == "/private/x"


def test_robots_txt_is_looked_up_by_the_first_word_of_the_user_agent(walk: Walk) -> None:
    robots = "User-agent: *\nDisallow: /\nUser-agent: Mapper\nDisallow:"
    server, _ = walk({"/": "", "/robots.txt": robots}, user_agent="mapper/2 (+http://example.org)")
    assert server.asked[1][1]["User-Agent"] == "mapper/2 (+http://example.org)"
    with pytest.raises(WorldUnavailable, match=r"cannot be walked: robots\.txt$"):
        walk({"/": "", "/robots.txt": robots})


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_without_a_robots_txt_all_is_allowed(walk: Walk, status: int) -> None:
    _, site = walk({"/": "here", "/robots.txt": Reply("User-agent: *\nDisallow: /", status)})
    assert site.describe("/")["status"] == 200


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(status=429), "429 Too Many Requests"),
        (Reply(status=503), "503 Service Unavailable"),
        (redirect("http://elsewhere.example/robots.txt"), "redirect to another host"),
        (redirect("/robots.txt"), "more than 5 redirects"),
        (Reply(status=302), "nowhere to go"),
    ],
)
def test_without_the_word_of_robots_txt_nothing_is_allowed(walk: Walk, reply: Reply, why: str) -> None:
    with pytest.raises(WorldUnavailable, match=rf"robots\.txt: .*{why}.* forbidden, unless obey_robots=False"):
        walk({"/": "here", "/robots.txt": reply})
    _, site = walk({"/": "here", "/robots.txt": reply}, obey_robots=False)
    assert site.describe("/")["status"] == 200


def test_robots_txt_is_found_behind_a_redirect_and_asked_for_once(walk: Walk) -> None:
    pages: dict[str, Page] = {
        "/": "",
        "/robots.txt": redirect("/r2"),
        "/r2": Reply("User-agent: *\nDisallow: /r2", kind=None),
    }
    server, site = walk(pages)
    site.reset()
    assert paths(server) == ["/robots.txt", "/r2", "/", "/"]


def test_the_rate_and_the_crawl_delay_are_kept(walk: Walk) -> None:
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(round(seconds, 6))
        now[0] += seconds

    pages: dict[str, Page] = {"/": "<a href=/a>A</a>", "/a": "a"}
    _, site = walk(pages, rate=4, sleep=sleep, clock=lambda: now[0])
    follow(site, "A")
    now[0] += 0.2
    site.step(HOME)
    now[0] += 100
    follow(site, "A")
    assert slept == [0.25, 0.25, 0.05]
    slept.clear()
    pages["/robots.txt"] = "User-agent: *\nCrawl-delay: 7"
    _, site = walk(pages, rate=4, sleep=sleep, clock=lambda: now[0])
    follow(site, "A")
    assert slept == [7, 7]
    slept.clear()
    _, site = walk(pages, obey_robots=False, sleep=sleep, clock=lambda: now[0])
    follow(site, "A")
    assert slept == []


def test_what_was_shown_stays_until_it_is_shown_again(walk: Walk) -> None:
    server, site = walk({"/": "<a href=/a>A</a>", "/a": "<a href=/b>B</a>"})
    follow(site, "A")
    server.pages["/"] = "<a href=/c>C</a>"
    asked = len(server.asked)
    assert site.actions("/") == site.actions("/") == [("link", "A")]
    site.actions("/").append(("link", "made up"))  # type: ignore[attr-defined]  # is it a copy?
    site.describe("/")["links"] = 9  # type: ignore[index]  # is it a copy?
    assert site.signs("/") == [(("link", "A"), "/a")]
    assert len(server.asked) == asked
    site.step(HOME)
    assert site.actions("/") == [("link", "C")]
    assert follow(site, "A").reason == "no such link on this page"


@pytest.mark.parametrize("validator", [{"ETag": '"1"'}, {"Last-Modified": "Sat, 01 Jan 2000 00:00:00 GMT"}])
def test_a_page_seen_before_is_asked_about_and_not_sent_again(walk: Walk, validator: dict[str, str]) -> None:
    server, site = walk({"/": Reply("<a href=/a>A</a>", headers=validator), "/a": "a"})
    follow(site, "A")
    server.pages["/"] = Reply(status=304, kind=None)
    out = site.step(HOME)
    assert (out.verdict, out.state, out.info["status"]) == ("accepted", "/", 200)
    assert site.actions("/") == [("link", "A")]
    name = "If-None-Match" if "ETag" in validator else "If-Modified-Since"
    assert server.asked[-1][1][name] == next(iter(validator.values()))
    assert site.reset() == "/"
    assert server.asked[-1][1][name] == next(iter(validator.values()))
    site.close()
    with pytest.raises(WorldUnavailable, match="304 Not Modified"):  # it was not asked for that
        site.reset()


def test_without_recheck_a_page_is_asked_for_once(walk: Walk) -> None:
    server, site = walk({"/": "<a href=/a>A</a>", "/a": "a"}, recheck=False)
    for _ in range(3):
        assert follow(site, "A").state == "/a"
        assert site.step(HOME).state == "/"
    assert paths(server) == ["/robots.txt", "/", "/a"]
    site.reset()
    assert site.actions("/a") == [HOME]
    assert follow(site, "A").state == "/a"
    assert paths(server) == ["/robots.txt", "/", "/a", "/", "/a"]


def test_only_so_many_pages_are_remembered(walk: Walk) -> None:
    _, site = walk({"/": "<a href=/1>1</a><a href=/2>2</a>", "/1": "<a href=/2>2</a>", "/2": ""}, keep=2)
    follow(site, "1")
    follow(site, "2")
    assert site.actions("/1") == [("link", "2"), HOME]
    with pytest.raises(BadArgument, match="'/' was not shown yet, .* not among the last 2 any more: .* raise keep="):
        site.actions("/")
    assert site.step(HOME).state == "/"
    assert len(site.actions("/")) == 2
    with pytest.raises(BadArgument, match="'/1' was not shown"):
        site.describe("/1")
    with pytest.raises(BadArgument, match="'/never' was not shown"):
        site.signs("/never")


def test_cookies_last_for_an_episode(walk: Walk) -> None:
    server, site = walk({"/": Reply("<a href=/a>A</a>", headers={"Set-Cookie": "seen=1"}), "/a": "a"})
    follow(site, "A")
    assert server.asked[-1][1]["Cookie"] == "seen=1"
    site.reset()
    assert "Cookie" not in server.asked[-1][1]


@pytest.mark.parametrize(
    "action", [("link", "B"), ("link", "A", 2), ("link", "A", True), ("link",), (), "A", 1, HOME, ("back",), {"a": "b"}]
)
def test_what_is_not_on_offer_is_refused_without_a_request(walk: Walk, action: Any) -> None:
    server, site = walk({"/": "<a href=/a>A</a>", "/a": "a"})
    out = site.step(action)
    assert (out.verdict, out.state, out.reason) == ("refused", "/", "no such link on this page")
    assert paths(server) == ["/robots.txt", "/"]


def test_look_alikes_of_an_ordinal_are_other_actions(walk: Walk) -> None:
    _, site = walk({"/": "<a href=/a>A</a><a href=/b>A</a>", "/b": "b"})
    for wrong in (("link", "A", 2.0), ("link", "A", "2")):
        assert site.step(wrong).verdict == "refused"  # type: ignore[arg-type]  # wrong on purpose
    assert follow(site, "A", 2).state == "/b"
    with pytest.raises(ValueRejected, match=r"\$\[1\]"):
        site.step(("link", float("nan")))  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueRejected):
        site.step(["link", "A"])  # type: ignore[arg-type]  # wrong on purpose


def test_home_can_be_left_out_and_follows_where_the_start_page_leads(walk: Walk) -> None:
    pages: dict[str, Page] = {"/start": redirect("/real"), "/real": "<a href=/a>A</a>", "/a": "a"}
    _, site = walk(pages, "/start")
    follow(site, "A")
    assert site.signs("/a") == [(HOME, "/real")]
    assert site.step(HOME).state == "/real"
    _, site = walk(pages, "/start", home=False)
    assert site.actions(follow(site, "A").state) == []
    assert site.step(HOME).reason == "no such link on this page"


def test_every_seed_gives_the_same_episode(walk: Walk) -> None:
    _, site = walk({"/": "<a href=/a>A</a>", "/a": "a"})
    runs = []
    for seed in (0, 1, None):
        first = site.reset(seed)
        runs.append((first, site.actions(first), follow(site, "A"), site.step(HOME)))
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (Reply(status=404), "404 Not Found$"),
        (Reply(status=500), "500 Internal Server Error$"),
        (redirect("https://elsewhere.example/"), "elsewhere.example/; start there, or name that host in hosts="),
    ],
)
def test_a_start_page_that_cannot_be_had_is_no_world(walk: Walk, page: Reply, why: str) -> None:
    with pytest.raises(WorldUnavailable, match=rf"^http://127\.0\.0\.1:\d+/ cannot be walked: .*{why}"):
        walk({"/": page})


def test_before_reset_and_after_close_nothing_is_answered(walk: Walk) -> None:
    with LoopbackSite({"/": "<a href=/a>A</a>", "/a": ""}) as server:
        site = Site(server.url)
        for ask in (lambda: site.step(HOME), lambda: site.actions("/"), lambda: site.describe("/")):
            with pytest.raises(NotStarted, match=r"before reset\(\): call reset"):
                ask()
        assert server.asked == []
        site.reset()
        site.close()
        site.close()
        with pytest.raises(NotStarted):
            site.step(HOME)
        assert site.reset() == "/"
        site.close()


def test_a_client_of_yours_is_used_and_left_open() -> None:
    with LoopbackSite({"/": "<a href=/a>A</a>"}) as server:
        client = httpx.Client(auth=("joe", "secret"), cookies={"mine": "1"}, follow_redirects=True)
        with Site(server.url, client=client) as site:
            site.reset()
            site.reset()
        assert not client.is_closed
        client.close()
        headers = server.asked[-1][1]
        assert headers["Authorization"].startswith("Basic ")
        assert headers["Cookie"] == "mine=1"


def test_this_machine_is_asked_directly_whatever_proxy_is_set(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    _, site = walk({"/": "<a href=/a>A</a>"})
    assert site.actions("/") == [("link", "A")]


@pytest.mark.parametrize(
    ("start", "options", "why"),
    [
        ("localhost:8000", {}, "'localhost:8000' is not an absolute http"),
        ("http://joe:secret@example.org/", {}, "must not hold a user name"),
        ("http://a/", {"timeout": 0}, "timeout must be a number > 0, got 0"),
        ("http://a/", {"timeout": None}, "timeout must be a number > 0, got None"),
        ("http://a/", {"timeout": float("nan")}, "timeout must be a number > 0, got nan"),
        ("http://a/", {"rate": -1}, "rate must be a number > 0, got -1"),
        ("http://a/", {"rate": True}, "rate must be a number > 0, got True"),
        ("http://a/", {"max_bytes": 0}, "max_bytes must be an int >= 1, got 0"),
        ("http://a/", {"keep": 1.0}, r"keep must be an int >= 1, got 1\.0"),
        ("http://a/", {"user_agent": ""}, "user_agent must be ASCII text"),
        ("http://a/", {"user_agent": "a\r\nb"}, "user_agent must be ASCII text"),
        ("http://a/", {"hosts": "b"}, r"use hosts=\['b'\]"),
        ("http://a/", {"hosts": ["ftp://b"]}, "'ftp://b' is not an absolute http"),
    ],
)
def test_wrong_arguments_are_named(start: str, options: dict[str, Any], why: str) -> None:
    with pytest.raises(BadArgument, match=why) as caught:
        Site(start, **options)
    assert "secret" not in str(caught.value)


def test_states_and_urls() -> None:
    site = Site("http://example.org/docs/index.html")
    assert site.state_of("http://example.org:80/a/../b?c#d") == "/b?c"
    assert site.state_of("json.html") == "/docs/json.html"
    assert site.url_of(site.state_of("//example.org//double")) == "http://example.org//double"
    for foreign in ("http://other.org/", "https://example.org/", "mailto:joe"):
        with pytest.raises(BadArgument):
            site.state_of(foreign)


def test_a_link_that_is_too_long_to_ask_for_is_refused(walk: Walk) -> None:
    _, site = walk({"/": f"<a href=/{'a' * 70_000}>A</a>"})
    out = follow(site, "A")
    assert (out.verdict, out.state) == ("refused", "/")
    assert "cannot be asked for" in str(out.reason)
