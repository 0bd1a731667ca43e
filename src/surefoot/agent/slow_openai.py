"""A slow path behind an OpenAI-compatible endpoint: a language model picks one of the options, or declines.

The model is shown the snapshot and a numbered list of the options that pass every hard check. It answers with JSON, an
option's number and a reason. Anything else is asked again, and then it is an error, which ends the episode as unsure:
an answer is never guessed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import httpx

from surefoot.agent.slow import Proposal
from surefoot.errors import BadArgument, SurefootError

__all__ = ["OpenAIPath", "SlowPathFailed"]

_SYSTEM = (
    "You choose the next action of an agent in an environment. You get JSON: where the agent is, its open goals, what "
    'it did lately, and the numbered options. Answer with JSON only: {"option": <number>, "why": "<one sentence>"}. '
    'Where none of them should be taken, answer {"option": null, "why": "<one sentence>"}.'
)
_AGAIN = (408, 409, 429, 500, 502, 503, 504)


class SlowPathFailed(SurefootError, RuntimeError):
    """An endpoint gave no answer that can be used; the message says what it gave.

    Example:
        >>> issubclass(SlowPathFailed, RuntimeError)
        True
    """


class OpenAIPath:
    """Ask a model behind `POST {url}/chat/completions`.

    Args:
        url: the base address, such as `https://api.openai.com/v1` or `http://localhost:8000/v1`.
        model: the model's name.
        key: sent as `Authorization: Bearer`; None: no such header. It is never recorded.
        prices: what 1,000 tokens cost, (of the prompt, of the answer), for `Budget(money=…)`.
        system: what the model is told first.
        retries: how often it is asked again after an answer that cannot be used, or an HTTP status that may pass
            (429, 5xx), an int >= 0.
        pause: seconds before the first time, >= 0; then twice as long, …
        timeout: seconds for one request, > 0.
        options: more fields of the request, such as `{"temperature": 0}`.
        client: an `httpx.Client` to use, which stays yours; None: one of its own, see `close`.

    Raises:
        BadArgument: an argument is out of its range.

    Example:
        >>> path = OpenAIPath("http://localhost:8000/v1", "some-model")
        >>> path.request({"options": [], "state": 0})["model"]
        'some-model'
        >>> path.close()
    """

    __name__ = "OpenAIPath"

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        prices: tuple[float, float] = (0.0, 0.0),
        system: str = _SYSTEM,
        retries: int = 2,
        pause: float = 1.0,
        timeout: float = 60.0,
        options: Mapping[str, Any] | None = None,
        client: httpx.Client | None = None,
    ) -> None:
        """Ask nothing yet; see the class."""
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise BadArgument(f"url must start with http:// or https://, got {url!r}")
        if not isinstance(model, str) or not model:
            raise BadArgument(f"model must be a non-empty text, got {model!r}")
        if type(retries) is not int or retries < 0:
            raise BadArgument(f"retries must be an int >= 0, got {retries!r}")
        if isinstance(pause, bool) or not isinstance(pause, int | float) or not 0 <= pause < float("inf"):
            raise BadArgument(f"pause must be a number of seconds >= 0, got {pause!r}")
        if len(prices) != 2 or not all(isinstance(p, int | float) and 0 <= p < float("inf") for p in prices):
            raise BadArgument(f"prices must be two finite numbers >= 0, got {prices!r}")
        self._url, self._model, self._prices = url.rstrip("/") + "/chat/completions", model, prices
        self._system, self._retries, self._pause = system, retries, pause
        self._options = dict(options or {"temperature": 0})
        self._headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._own = client is None
        self._client = client or httpx.Client(timeout=timeout)

    def request(self, snapshot: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of the request for a snapshot."""
        shown = {name: value for name, value in snapshot.items() if name != "options"}
        shown["options"] = [
            {"number": number, **{k: row[k] for k in ("action", "verdict", "risk", "tried", "leads_to")}}
            for number, row in enumerate(_allowed(snapshot))
        ]
        content = json.dumps(shown, ensure_ascii=False, default=list)
        messages = [{"role": "system", "content": self._system}, {"role": "user", "content": content}]
        return {"model": self._model, "messages": messages, **self._options}

    def __call__(self, snapshot: Mapping[str, Any]) -> Proposal:
        """Return what the model picked; `Proposal(None)` where it declined, or nothing may be picked.

        Raises:
            SlowPathFailed: it gave nothing that can be used, as often as it was asked; or the endpoint refused.
        """
        allowed = _allowed(snapshot)
        if not allowed:
            return Proposal(None, "no option passes the hard checks")
        body, money, wrong = self.request(snapshot), 0.0, ""
        for tried in range(self._retries + 1):
            if tried and self._pause:
                time.sleep(self._pause * 2 ** (tried - 1))
            reply, wrong = self._post(body)
            if reply is None:
                continue
            money += self._cost(reply)
            try:
                return _read(reply, allowed, money)
            except ValueError as error:
                wrong = str(error)
        raise SlowPathFailed(
            f"{self._model} gave no usable answer in {self._retries + 1} tries, the last time: {wrong}"
        )

    def _post(self, body: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
        """Return the reply; or None and what was wrong, where it may pass."""
        try:
            response = self._client.post(self._url, json=body, headers=self._headers)
        except httpx.HTTPError as error:
            return None, f"{type(error).__name__}: {error}"
        if response.status_code in _AGAIN:
            return None, f"HTTP {response.status_code}"
        if response.status_code != 200:
            raise SlowPathFailed(f"{self._url} refused with HTTP {response.status_code}: {response.text[:200]}")
        try:
            reply = response.json()
        except ValueError:
            return None, f"no JSON: {response.text[:200]!r}"
        return (reply, "") if isinstance(reply, dict) else (None, f"no object: {response.text[:200]!r}")

    def _cost(self, reply: Mapping[str, Any]) -> float:
        usage = reply.get("usage")
        if not isinstance(usage, Mapping):
            return 0.0
        counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        return sum(n * price / 1000 for n, price in zip(counts, self._prices, strict=True) if type(n) is int and n > 0)

    def close(self) -> None:
        """Close the client, if it is its own; twice is harmless."""
        if self._own:
            self._client.close()


def _allowed(snapshot: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for row in snapshot["options"] if row["blocked"] is None]


def _read(reply: Mapping[str, Any], allowed: list[Mapping[str, Any]], money: float) -> Proposal:
    """Return what a reply picks.

    Raises:
        ValueError: it does not say.
    """
    try:
        choice = reply["choices"][0]
        message = choice["message"]
    except (LookupError, TypeError):
        raise ValueError(f"a reply without choices: {json.dumps(reply)[:200]}") from None
    if not isinstance(message, Mapping):
        raise ValueError(f"a message that is no object: {message!r}")
    if message.get("refusal"):
        return Proposal(None, f"the model refused: {message['refusal']}", money)
    if choice.get("finish_reason") == "content_filter":
        return Proposal(None, "the model's answer was withheld by a content filter", money)
    content = message.get("content")
    if not isinstance(content, str):
        raise ValueError(f"content that is no text: {content!r}")
    try:
        said = json.loads(content)
    except ValueError:
        raise ValueError(f"content that is no JSON: {content[:200]!r}") from None
    if not isinstance(said, dict) or "option" not in said:
        raise ValueError(f"JSON without an option: {content[:200]!r}")
    number, why = said["option"], said.get("why")
    why = why if isinstance(why, str) else ""
    if number is None:
        return Proposal(None, why or "the model declined", money)
    if type(number) is not int or not 0 <= number < len(allowed):
        raise ValueError(f"option {number!r}, where the options are 0 to {len(allowed) - 1}")
    return Proposal(allowed[number]["action"], why, money)
