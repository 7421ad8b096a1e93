"""The four tools of a reader: how a reply asks for one, and what is shown of their results."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from verigym.canonical import JSON
from verigym.env import CHARSET
from verigym.envs.search.library import Hit, Page
from verigym.envs.tools.calls import submission_of
from verigym.verdict import Verdict
from verigym.verifiers.tools.read_calls import read_calls
from verigym.verifiers.tools.text_values import rules_of

WINDOW = 1000
"""Characters of a page at a time."""
MAX_FOUND = 10
MAX_QUERY = 300
MAX_SKIP = 90
_MAX_FROM = 1 << 20

HELP = """\
Reply with exactly one tool call per turn, for example:
<tool_call>{"name": "search", "arguments": {"query": "lighthouse"}}</tool_call>
The tools and their arguments:
search {"query": "...", "skip": 0}: lists up to 10 matching pages, best first, with the beginning of each; "skip": 10 lists the next 10
open {"page": "id or exact title", "from": 0}: shows 1000 characters of a page and says how many follow; "from": 1000 shows the next 1000
find {"text": "..."}: shows up to 10 places where the page opened last contains this text
answer {"answer": "...", "citations": ["page id", "page id"]}: submits the answer and ends the task"""


@dataclass(frozen=True)
class Act:
    """A call that can be made: `text` is a query, a page, words or an answer."""

    name: str
    text: str
    number: int = 0
    citations: tuple[JSON, ...] = ()


def _schema(name: str, about: str, needed: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": about,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": [needed],
                "additionalProperties": False,
            },
        },
    }


_TEXT = {"type": "string"}
TOOLS = [
    _schema(
        "search",
        "List up to 10 pages that share words with the query, best first.",
        "query",
        query={**_TEXT, "maxLength": MAX_QUERY},
        skip={"type": "integer", "minimum": 0, "maximum": MAX_SKIP},
    ),
    _schema(
        "open",
        f"Show {WINDOW} characters of a page, given by its id or exact title.",
        "page",
        page={**_TEXT, "maxLength": MAX_QUERY},
        **{"from": {"type": "integer", "minimum": 0}},
    ),
    _schema(
        "find",
        "Show up to 10 places where the page opened last contains a text.",
        "text",
        text={**_TEXT, "maxLength": MAX_QUERY},
    ),
    _schema(
        "answer",
        "Submit the answer with the ids of the pages that support it, and end the task.",
        "answer",
        answer=_TEXT,
        citations={"type": "array", "items": _TEXT},
    ),
]
"""The tools as the OpenAI chat API takes them."""

_RULES = rules_of(TOOLS)

_ARGUMENTS = {
    "search": ("query", "skip", MAX_SKIP),
    "open": ("page", "from", _MAX_FROM),
    "find": ("text", None, 0),
}


def read_act(action: str) -> Act | str:
    """Return the one call of a reply, or what is wrong with it."""
    reply = read_calls(submission_of(action), _RULES)
    if isinstance(reply, Verdict):
        return reply.evidence
    if len(reply.calls) != 1:
        return f"make exactly one call per turn, got {len(reply.calls)}"
    call = reply.calls[0]
    given = dict(call.arguments)
    if call.name == "answer":
        answer, cited = given.pop("answer", None), given.pop("citations", [])
        if isinstance(answer, int | float) and not isinstance(answer, bool):
            answer = str(answer)
        if given or not isinstance(answer, str) or not isinstance(cited, list):
            return "answer takes 'answer', a text, and 'citations', a list of page ids"
        pages = tuple(_unbracketed(page) if isinstance(page, str) else page for page in cited)
        return Act("answer", answer, citations=pages)
    if call.name not in _ARGUMENTS:
        return f"there is no tool {_plain(call.name[:40])}; use search, open, find or answer"
    first, second, most = _ARGUMENTS[call.name]
    text, number = given.pop(first, None), given.pop(second, 0) if second else 0
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_QUERY:
        return f"{call.name} needs {first!r}, a text of 1 to {MAX_QUERY} characters"
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
        return f"{second!r} of {call.name} must be a whole number from 0 to {most}"
    if given:
        return f"{call.name} takes no {_plain(min(given)[:40])!r}"
    text = " ".join(text.split())
    return Act(call.name, _unbracketed(text) if call.name == "open" else text, number)


def _unbracketed(page: str) -> str:
    """An id without the brackets in which it is shown."""
    page = page.strip()
    return page[1:-1].strip() if page.startswith("[") and page.endswith("]") else page


def as_call(name: str, **arguments: JSON) -> str:
    """Return a call as text."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def show_hits(hits: list[Hit], skip: int) -> str:
    """Return the results of a search, one a line."""
    if not hits:
        return "No more pages." if skip else "No page contains any of these words."
    return "\n".join(
        f"{skip + n}. [{_plain(hit.id)}] {_plain(hit.title)}: {_plain(hit.start)}..."
        for n, hit in enumerate(hits, 1)
    )


def show_page(page: Page, start: int) -> str:
    """Return a window of a page, with what is left."""
    shown = _plain(page.text[start : start + WINDOW])
    left = len(page.text) - start - WINDOW
    more = f'\n({left} more characters; "from": {start + WINDOW})' if left > 0 else ""
    return f"[{_plain(page.id)}] {_plain(page.title)}\n{shown}{more}"


def show_found(page: Page, text: str) -> str:
    """Return up to ten places of a page that hold `text`, whatever the case, with what stands around them."""
    # Small letters one by one: a text must keep its length, or places would move.
    body = "".join(c.lower() if len(c.lower()) == 1 else c for c in page.text)
    places = [match.start() for match in re.finditer(re.escape(text.lower()), body)]
    lines = []
    for at in places[:MAX_FOUND]:
        start = max(0, at - 60)
        lines.append(f"{at}: ...{_plain(page.text[start : at + len(text) + 100])}...")
    if not lines:
        return f"[{_plain(page.id)}] does not contain this text."
    count = "1 place" if len(places) == 1 else f"{len(places)} places"
    if len(places) > MAX_FOUND:
        count += f", of which the first {MAX_FOUND} are shown"
    return f"[{_plain(page.id)}], {count}:\n" + "\n".join(lines)


def _plain(text: str) -> str:
    """`text` within the characters that observations may have: Latin letters without their accents."""
    if not text.isascii():
        letters = unicodedata.normalize("NFKD", text)
        text = "".join([c if c < "\x80" else "?" for c in letters if not unicodedata.combining(c)])
    return text if CHARSET.issuperset(text) else "".join([c if c in CHARSET else "?" for c in text])
