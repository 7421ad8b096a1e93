"""Names of quantities in front of a value: AB, the angle ABC, P(X > 2), a : b : c, f(g(2)), y(x)."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import Node, num

PREFIX = "quantity "
_INSIDE = r"[^()\[\]=]{1,60}"
_EVENT = r"[^()\[\]]{1,60}"
_QUANTITY = lazy_pattern(
    r"(?:(?:length|measure|area)(?: of)? )?(?:"
    r"\\(?:bar|hat|overline) ?\{? ?[a-z] ?\}?"
    r"|L ?\\\{[^=]{1,40}\\\}|\|[A-Z](?: ?_ ?\{?\w+\}?)?\||\\[a-z]{2,7} ?\([a-z]\)|\\partial ?[a-z] ?/ ?\\partial ?[a-z]"
    r"|m ?\\(?:angle|measuredangle) ?\{? ?[A-Za-z]{1,3} ?\}?(?: ?_ ?\{?\d\}?)?"
    r"|\\(?:angle|measuredangle|triangle) ?\{? ?[A-Za-z]{1,3} ?\}?(?: ?_ ?\{?\d\}?)?"
    r"|\\(?:overline|bar) ?\{? ?[A-Z]{2} ?\}?"
    r"|\|\|? ?(?:[A-Z]{2}|[uvwabz]|\\overline ?\{[A-Z]{2}\}) ?\|\|?"
    r"|\\frac ?\{ ?\|?[A-Z]{2}\|? ?\} ?\{ ?\|?[A-Z]{2}\|? ?\}|[A-Z]{2} ?/ ?[A-Z]{2}"
    r"|[A-Z]{2} ?\^ ?\{?2\}?|[A-Z] ?\^ ?\{? ?(?:-1|[nkmT]|\d{1,3}) ?\}?"
    r"|\[ ?[A-Z]{3,6} ?\]|\\frac ?\{ ?\[[A-Z]{3,6}\] ?\} ?\{ ?\[[A-Z]{3,6}\] ?\}"
    rf"|(?:P|Pr|\\Pr|p|E|Var|Cov|SD|\\mathbb ?\{{ ?[EP] ?\}}) ?(?!\( ?[a-z](?: ?, ?[a-z])* ?\))(?:\({_EVENT}\)|\[{_EVENT}\])"
    r"|[a-z](?: ?: ?[a-z])+|[A-Z]{2}(?: ?: ?[A-Z]{2})+|[A-Z](?: ?: ?[A-Z])+"
    rf"|\( ?[a-zA-Z] ?(?:\\circ|[-+*/]) ?[a-zA-Z] ?\) ?\({_INSIDE}\)|\( ?[a-zA-Z] ?\\circ ?[a-zA-Z] ?\)"
    rf"|[a-zA-Z] ?\( ?[a-zA-Z] ?\({_INSIDE}\) ?\)"
    r"|\\(?:Delta|nabla) ?[A-Za-z](?: ?\([^()=]{1,20}\))?|\\?(?:gcd|lcm|GCD|LCM|HCF|GCF) ?\([^()=]{1,30}\)|\\?(?:det|dim|rank|tr) ?\(? ?[A-Z] ?\)?"
    r") ?(?:=|\\approx) ?(?=[^=])"
)
_CALL = lazy_pattern(
    r"([a-zA-Z](?:_\{?\w{1,3}\}?)?'{0,3})\(([a-zA-Z](?: ?, ?[a-zA-Z]){0,3}|\d{1,4})\) ?= ?(?=[^=])",
    needs="(",
)


def quantity(text: str) -> tuple[Node, str] | None:
    """The name in front of a value, as a node, and the value's text; None if there is none."""
    if ("=" not in text and "\\approx" not in text) or text[1:2] == "=":
        return None
    match = _QUANTITY.match(text)
    if match:
        rest = text[match.end() :]
        return (
            None
            if re.search(r"[<>]", rest) or (match[0][0] not in "Pp\\E" and "=" in rest)
            else (Node("var", value=PREFIX + _plain(match[0])), rest)
        )
    match = _CALL.match(text)
    if match and "=" not in text[match.end() :]:
        args = tuple(
            num(int(arg)) if arg.isdecimal() else Node("var", value=arg)
            for arg in re.split(r" ?, ?", match[2])
        )
        return Node("call", args, match[1]), text[match.end() :]
    return None


def agree(first: str, second: str) -> bool:
    """Return True if two names may mean the same quantity: AB and BA do, the angles A and B do not."""
    if not (first.startswith(PREFIX) and second.startswith(PREFIX)):
        return True
    a, b = first.removeprefix(PREFIX), second.removeprefix(PREFIX)
    if any(sign in a and sign in b for sign in "(:/"):
        return a == b
    return sorted(filter(str.isupper, a)) == sorted(filter(str.isupper, b))


def _plain(shown: str) -> str:
    shown = re.sub(r"\\frac ?\{(.*?)\} ?\{(.*?)\}", r"\1/\2", shown)
    shown = re.sub(r"\\(?:overline|bar|frac)|(?:\\approx|=)\s*$|[\s{}]", "", shown)
    return re.sub(r"^(?:length|measure|area)(?:of)?|^m(?=\\)", "", shown)
