"""The current state of an environment as text and as a picture: what it offers, and where that leads how likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.gym._raster import Canvas
from surefoot.models.model import Model

__all__ = ["as_image", "as_text"]

_MOST_CHOICES = 8
_MOST_TARGETS = 8
_WIDTH, _HEIGHT = 640, 400
_PAPER, _INK, _GREY = (250, 250, 247), (33, 37, 41), (150, 156, 162)
_HERE, _OTHER, _ACTION = (38, 110, 180), (255, 255, 255), (214, 137, 16)


def _around(model: Model, state: int) -> tuple[list[tuple[str, list[tuple[int, float]]]], int]:
    """Return (action, [(target, probability), …]) of the first choices of a state, and how many are left out.

    The most likely targets come first.
    """
    choices = model.choices(state)
    shown = []
    for choice in choices[:_MOST_CHOICES]:
        low, high = int(model.branch_start[choice]), int(model.branch_start[choice + 1])
        pairs = zip(model.target[low:high].tolist(), model.probability[low:high].tolist(), strict=True)
        shown.append(
            (model.action_name(int(model.choice_action[choice])), sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
        )
    return shown, max(len(choices) - _MOST_CHOICES, 0)


def as_text(model: Model, state: int, *, step: int, observed: str | None) -> str:
    """Return what there is to know about a state in a few lines."""
    labels = "".join(f" [{label}]" for label in model.labels_of(state))
    values = "".join(f" {name}={value!r}" for name, value in model.valuation(state).items())
    seen = "" if observed is None else f", observed {observed}"
    lines = [f"step {step}: state {model.state_name(state)} ({state}){labels}{values}{seen}"]
    shown, left_out = _around(model, state)
    for action, targets in shown:
        told = [f"{model.state_name(target)} {probability:.3g}" for target, probability in targets[:_MOST_TARGETS]]
        if len(targets) > _MOST_TARGETS:
            told.append(f"and {len(targets) - _MOST_TARGETS} more")
        lines.append(f"  {action or 'next'}: {', '.join(told)}")
    if left_out:
        lines.append(f"  and {left_out} more actions")
    if not shown:
        lines.append("  nothing leads away")
    return "\n".join(lines) + "\n"


def as_image(model: Model, state: int, *, step: int, observed: str | None) -> NDArray[np.uint8]:
    """Return the state, its actions and where they lead as a picture, (400, 640, 3) uint8.

    The state is on the left, actions are squares in the middle, targets on the right; the wider a line, the likelier.
    """
    canvas = Canvas(_WIDTH, _HEIGHT, _PAPER)
    shown, left_out = _around(model, state)
    likely: dict[int, float] = {}
    for _, targets in shown:
        for target, probability in targets:
            likely[target] = likely.get(target, 0.0) + probability
    kept = sorted(sorted(likely, key=lambda target: (-likely[target], target))[:_MOST_TARGETS])
    here, top, room = (110, _HEIGHT // 2), 50, _HEIGHT - 90
    actions = {place: (300, top + room * (2 * place + 1) // (2 * max(len(shown), 1))) for place in range(len(shown))}
    others = {one: (510, top + room * (2 * place + 1) // (2 * len(kept))) for place, one in enumerate(kept)}
    for place, (_, targets) in enumerate(shown):
        canvas.line(here, actions[place], 2, _GREY)
        for target, probability in targets:
            if target in others:
                canvas.line(actions[place], others[target], 1 + 6 * probability, _GREY)
    for place, (action, _) in enumerate(shown):
        x, y = actions[place]
        canvas.box(x, y, 6, _ACTION)
        canvas.text(x, y - 16, _cut(action, 14), _INK)
    for target, (x, y) in others.items():
        _state(canvas, model, target, x, y, 16, _HERE if target == state else _OTHER)
        canvas.text(x + 78, y, _cut(model.state_name(target), 8), _INK)
    _state(canvas, model, state, *here, 34, _HERE)
    canvas.text(here[0], here[1] + 54, _cut(model.state_name(state), 16), _INK)
    canvas.text(here[0], here[1] + 76, _cut(" ".join(model.labels_of(state)), 16), _HERE)
    hidden = sum(target not in others for target in likely)
    more = f"  {left_out} actions and {hidden} targets not shown" if left_out or hidden else ""
    seen = "" if observed is None else f"  observed {_cut(observed, 16)}"
    canvas.text(_WIDTH // 2, 20, f"step {step}{seen}{more}", _INK)
    return canvas.pixels


def _state(canvas: Canvas, model: Model, state: int, x: int, y: int, radius: int, colour: tuple[int, int, int]) -> None:
    """Draw a state; one that is never left has a second ring."""
    canvas.disk(x, y, radius + 2, _INK)
    canvas.disk(x, y, radius, colour)
    if model.absorbing[state]:
        canvas.disk(x, y, radius - 4, _INK)
        canvas.disk(x, y, radius - 6, colour)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 2] + ".."
