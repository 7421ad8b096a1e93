"""The readable text of an HTML page; no scripts are run, nothing is fetched.

Looks at each character a bounded number of times: a policy may choose a page that was made to keep a parser
busy. (Python's HTMLParser 3.11 took 43 s for 50 kB of `<a `, lexbor minutes for 2 MB of `<div>`.) The price: a
tag ends at the first `>`, even inside an attribute.
"""

from __future__ import annotations

import contextlib
import re
from html import unescape
from urllib.parse import urljoin

# What stands between these is not shown.
_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe", "title"})
_BLOCK_NAMES = (
    "address article aside blockquote body br caption dd div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 head header hr li main nav ol option p pre section table td th tr ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_NAME = re.compile(r"/?[a-z][a-z0-9-]{0,30}")
_HREF = re.compile(r"\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)


def html_to_text(html: str, url: str) -> tuple[str, str]:
    """Return the title and text. Blocks stand on lines of their own; links are followed by `[address]`."""
    # One by one, so that every place stays where it is.
    small = "".join([c.lower() if c.isascii() else c for c in html])
    said: list[str] = []
    title, link = "", ""
    unclosed: set[str] = set()
    at = 0
    while (start := html.find("<", at)) >= 0:
        said.append(_text(html[at:start]))
        if html.startswith("<!--", start):
            end = html.find("-->", start)
            at = len(html) if end < 0 else end + 3
            continue
        end = html.find(">", start)
        name = _NAME.match(small, start + 1)
        if end < 0 or (name is None and html[start + 1 : start + 2] not in ("!", "?")):
            said.append("<")
            at = start + 1
            if end < 0:  # no tag follows any more
                break
            continue
        at = end + 1
        tag = name[0] if name else ""
        if tag in _SILENT and tag not in unclosed:
            closing = small.find(f"</{tag}", at)
            if closing < 0:
                unclosed.add(tag)
                continue
            if tag == "title" and not title:
                title = " ".join(_text(html[at:closing]).split())
            at = closing
        elif tag == "a":
            link = _address(html[start:end], url)
        elif tag == "/a" and link:
            said.append(f" [{link}] ")
            link = ""
        elif tag.removeprefix("/") in _BLOCKS:
            said.append("\n")
    said.append(_text(html[at:]))
    lines = (" ".join(line.split()) for line in "".join(said).split("\n"))
    return title, "\n".join(line for line in lines if line)


def _text(raw: str) -> str:
    """Entities read and lines joined: only blocks break lines."""
    # A number of thousands of digits stays as it is written.
    with contextlib.suppress(ValueError):
        raw = unescape(raw) if "&" in raw else raw
    return raw.replace("\n", " ").replace("\r", " ")


def _address(tag: str, url: str) -> str:
    """Return the address of a link to another page over HTTP; empty for any other link."""
    found = _HREF.search(tag)
    if found is None:
        return ""
    try:
        address = urljoin(url, _text(found[1] or found[2] or found[3] or "")).partition("#")[0]
    except ValueError:  # half of an IPv6 address, and the like
        return ""
    same = address == url.partition("#")[0]
    return "" if same or not address.startswith(("http://", "https://")) else address
