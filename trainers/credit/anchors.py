"""Anchor repair: an action without effect keeps the last real observation as the state's name.

Only for environments whose observation is mere feedback. Those of this project give a key of their
true state, which needs no repair.
Source: arXiv 2606.22995's code.
"""

from __future__ import annotations

from collections.abc import Sequence

NO_EFFECT = ("Nothing happens",)
STICKY = ("You heat", "You cool", "You clean", "You turn on")


def anchor_repair(
    observations: Sequence[str],
    *,
    no_effect: Sequence[str] = NO_EFFECT,
    sticky: Sequence[str] = STICKY,
) -> list[str]:
    """Return the anchor of each observation of one trajectory, the reset's first.

    An observation that starts with a `no_effect` prefix takes the anchor before it. Feedback with a
    `sticky` prefix stays a part of the next anchor, since the observation after it hides the effect.
    """
    if not observations:
        return []
    real = [observations[0]]
    anchors = [observations[0]]
    for text in observations[1:]:
        if not text.startswith(tuple(no_effect)):
            real.append(text)
        stuck = len(real) > 1 and real[-2].startswith(tuple(sticky))
        anchors.append(f"{real[-2]} {real[-1]}" if stuck else real[-1])
    return anchors
