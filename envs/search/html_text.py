"""The readable text of an HTML page, by the standard library: no scripts are run, nothing is fetched."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urljoin

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "math", "head", "iframe"})
_BLOCK_NAMES = (
    "address article aside blockquote br caption dd div dl dt fieldset figcaption figure footer form h1 "
    "h2 h3 h4 h5 h6 header hr li main nav ol option p pre section table td th tr ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split())


def html_to_text(html: str, url: str) -> tuple[str, str]:
    """Title and text. Blocks stand on lines of their own; links are followed by `[address]`."""
    reader = _Reader(url)
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.said).split("\n"))
    return " ".join("".join(reader.title).split()), "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._url = url
        self._silent: list[str] = []
        self._in_title = False
        self._links: list[str] = []
        self.title: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title" and not self.title
        if tag == "body":
            self._silent.clear()  # a head that was never closed
        elif tag in _SILENT:
            self._silent.append(tag)
        elif tag == "a":
            self._links.append(self._address(dict(attrs).get("href") or ""))
        elif tag in _BLOCKS:
            self.said.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if tag in self._silent:
            while self._silent.pop() != tag:
                pass
        elif tag == "a" and self._links:
            link = self._links.pop()
            if link and not self._silent:
                self.said.append(f" [{link}] ")
        elif tag in _BLOCKS:
            self.said.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._silent:
            self.said.append(data.replace("\n", " "))

    def _address(self, href: str) -> str:
        try:
            address = urljoin(self._url, href).partition("#")[0]
        except ValueError:  # half of an IPv6 address, and the like
            return ""
        same = address == self._url.partition("#")[0]
        return "" if same or not address.startswith(("http://", "https://")) else address
