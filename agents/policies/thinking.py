"""The switch that a chat template has for thinking: `enable_thinking` (Qwen3, GLM, ...) or `thinking`
(Granite, DeepSeek V3.1, ...)."""

from __future__ import annotations

import re
from typing import Literal

from verigym.errors import RequestError

Think = Literal["auto", "on", "off"]

_SWITCHES = ("enable_thinking", "thinking")


def thinking_switch(think: Think, chat_template: object, name: str) -> dict[str, bool]:
    """Return the template's argument for `think`; empty for `auto`.

    Raises RequestError if the template has no switch, or `think` is none of its values.
    """
    if think not in ("auto", "on", "off"):
        raise RequestError(f"think must be auto, on or off, got {think!r}")
    if think == "auto":
        return {}
    text = str(chat_template)
    code = " ".join(re.findall(r"\{[%{](.*?)[%}]\}", text, re.DOTALL))
    for switch in _SWITCHES:
        if re.search(rf"(?<![\w.'\"]){switch}\b(?!['\"])", code):
            return {switch: think == "on"}
    raise RequestError(
        f"the chat template of {name} has no switch for thinking ({' or '.join(_SWITCHES)}); use think auto"
    )
