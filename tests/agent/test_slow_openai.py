from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from surefoot import Agent, Knowledge
from surefoot.agent.budget import Budget
from surefoot.agent.episode import Stopped
from surefoot.agent.slow_openai import OpenAIPath, SlowPathFailed
from surefoot.environments.corridor import Corridor
from surefoot.errors import BadArgument


class Endpoint:
    """A server that speaks the chat completions protocol, on loopback; `replies` are given one after the other."""

    def __init__(self) -> None:
        self.replies: list[Any] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append({"path": self.path, **body})
                outer.headers.append(dict(self.headers))
                status, answer = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                if callable(answer):
                    answer = answer(body)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.close()


def says(content: Any, **message: Any) -> dict[str, Any]:
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    return {
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": text, **message}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 500},
    }


def rightwards(body: dict[str, Any]) -> dict[str, Any]:
    shown = json.loads(body["messages"][1]["content"])
    number = next(row["number"] for row in shown["options"] if row["action"] == "right")
    return says({"option": number, "why": "the door is to the right"})


SNAPSHOT = {
    "state": 0,
    "options": [
        {"action": a, "verdict": "unknown", "risk": 0.5, "tried": False, "leads_to": None, "blocked": b}
        for a, b in (("left", None), ("up", "closed"), ("right", None))
    ],
}


def test_an_agent_is_led_by_a_model_and_its_answers_are_recorded_and_paid(endpoint: Endpoint) -> None:
    endpoint.replies = [(200, rightwards)]
    path = OpenAIPath(endpoint.url, "small", key="secret", prices=(0.5, 1.0))
    agent = Agent(Corridor(length=3), knowledge=Knowledge(), slow=path, budget=Budget(money=100))
    episode = agent.run()
    path.close()
    assert (episode.steps, episode.spent.money) == (3, 3.0)
    assert [decision.why for decision in agent.decisions()] == ["the door is to the right"] * 3
    assert endpoint.asked[0]["path"] == "/v1/chat/completions"
    assert endpoint.asked[0]["model"] == "small"
    assert endpoint.headers[0]["Authorization"] == "Bearer secret"
    assert not any(b"secret" in line for line in agent.knowledge.journal.lines())
    assert agent.replay().ok


def test_what_is_barred_is_not_shown_and_the_number_is_that_of_the_list_shown(endpoint: Endpoint) -> None:
    endpoint.replies = [(200, says({"option": 1, "why": "so"}))]
    path = OpenAIPath(endpoint.url, "m")
    assert path(SNAPSHOT).action == "right"
    shown = json.loads(endpoint.asked[0]["messages"][1]["content"])
    assert [row["action"] for row in shown["options"]] == ["left", "right"]
    barred = {**SNAPSHOT, "options": SNAPSHOT["options"][1:2]}  # type: ignore[index]  # a list
    assert path(barred).action is None
    assert len(endpoint.asked) == 1
    path.close()


@pytest.mark.parametrize(
    "reply",
    [
        says("right, I think"),
        says({"choice": 1}),
        says([1]),
        says({"option": 7}),
        says({"option": True}),
        says({"option": "1"}),
        says({"option": -1}),
        says(None),
        {"choices": []},
        {"choices": [{"message": "text"}]},
        {"error": "odd"},
        [1],
        b"<html>busy</html>",
    ],
)
def test_a_malformed_answer_is_asked_again_and_never_guessed(endpoint: Endpoint, reply: Any) -> None:
    path = OpenAIPath(endpoint.url, "m", retries=1, pause=0)
    endpoint.replies = [(200, reply), (200, says({"option": 0, "why": "better"}))]
    assert path(SNAPSHOT).action == "left"
    endpoint.replies = [(200, reply)]
    with pytest.raises(SlowPathFailed, match="no usable answer in 2 tries"):
        path(SNAPSHOT)
    assert len(endpoint.asked) == 4
    episode = Agent(Corridor(), knowledge=Knowledge(), slow=path).run()
    assert (episode.stopped, episode.steps) == (Stopped.UNSURE, 0)
    path.close()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (says({"option": None, "why": "too dangerous"}), "too dangerous"),
        (says({"option": None}), "declined"),
        (says(None, refusal="I cannot help with that"), "I cannot help with that"),
        ({"choices": [{"finish_reason": "content_filter", "message": {"content": None}}]}, "content filter"),
    ],
)
def test_a_refusal_is_a_refusal(endpoint: Endpoint, reply: Any, words: str) -> None:
    endpoint.replies = [(200, reply)]
    path = OpenAIPath(endpoint.url, "m")
    proposal = path(SNAPSHOT)
    path.close()
    assert proposal.action is None
    assert words in proposal.why
    assert len(endpoint.asked) == 1


def test_a_status_that_may_pass_is_asked_again_and_another_is_an_error(endpoint: Endpoint) -> None:
    path = OpenAIPath(endpoint.url, "m", pause=0.001)
    endpoint.replies = [(429, {}), (503, {}), (200, says({"option": 0}))]
    assert path(SNAPSHOT).action == "left"
    endpoint.replies = [(401, {"error": "bad key"})]
    with pytest.raises(SlowPathFailed, match="HTTP 401"):
        path(SNAPSHOT)
    assert len(endpoint.asked) == 4
    path.close()


def test_an_endpoint_that_is_not_there_leaves_the_agent_unsure() -> None:
    gone = Endpoint()
    gone.close()
    path = OpenAIPath(gone.url, "m", retries=0)
    episode = Agent(Corridor(), knowledge=Knowledge(), slow=path).run()
    path.close()
    assert episode.stopped is Stopped.UNSURE
    assert "ConnectError" in episode.why


def test_a_client_that_is_given_stays_open(endpoint: Endpoint) -> None:
    import httpx

    endpoint.replies = [(200, says({"option": 0}))]
    with httpx.Client() as client:
        path = OpenAIPath(endpoint.url, "m", client=client)
        path.close()
        assert path(SNAPSHOT).action == "left"


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "ftp://x"},
        {"model": ""},
        {"retries": -1},
        {"pause": -1},
        {"prices": (1.0, float("nan"))},
    ],
)
def test_an_argument_out_of_its_range_is_refused(wrong: dict[str, Any]) -> None:
    given = {"url": "http://localhost", "model": "m", **wrong}
    with pytest.raises(BadArgument):
        OpenAIPath(given.pop("url"), given.pop("model"), **given)
