"""Search over the user's own texts: `.txt` and `.md` files of a folder, or the lines of a `.jsonl` file."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from verigym.env import CHARSET
from verigym.envs.search.index import Index
from verigym.errors import RequestError

PASSAGE_CHARS = 600
SHOWN = 3
"""Number of passages that a search shows."""
MAX_QUERY = 300


@dataclass(frozen=True)
class Passage:
    """A part of a text, and the title of the text."""

    title: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """Passages in a fixed order."""

    passages: tuple[Passage, ...]

    @staticmethod
    def read(path: str) -> Corpus:
        """Read the corpus at `path`, once per process. Raises RequestError if it cannot be read or is empty."""
        place = Path(path).resolve()
        if not place.exists():
            raise RequestError(f"corpus {path!r} does not exist")
        return _read(place)

    @cached_property
    def _index(self) -> Index:
        return Index(f"{one.title} {one.text}" for one in self.passages)

    def search(self, query: str) -> str:
        """Return the best passages as text, each below its title."""
        found = self._index.search(plain(query[:MAX_QUERY]), SHOWN)
        if not found:
            return "No passage shares a word with the query."
        return "\n\n".join(
            f"[{rank}] {self.passages[i].title}\n{self.passages[i].text}"
            for rank, i in enumerate(found, 1)
        )


@lru_cache(4)
def _read(place: Path) -> Corpus:
    passages = tuple(
        Passage(plain(title)[:100], part)
        for title, text in _texts(place)
        for part in _split(plain(text))
    )
    if not passages:
        raise RequestError(
            f"corpus {place} holds no text; give a folder of .txt and .md files, or a .jsonl file whose "
            'lines have "text"'
        )
    return Corpus(passages)


def _texts(place: Path) -> Iterator[tuple[str, str]]:
    if place.is_dir():
        for file in sorted(place.rglob("*")):
            if file.suffix in (".txt", ".md") and file.is_file():
                yield str(file.relative_to(place)), _content(file)
        return
    for number, line in enumerate(_content(place).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield str(row.get("title", number)), str(row["text"])
        except (ValueError, KeyError, AttributeError, RecursionError) as error:
            raise RequestError(
                f'{place}, line {number}: a line is an object with "text" and maybe "title"'
            ) from error


def _content(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"corpus file {file} cannot be read: {error}") from error


def _split(text: str) -> Iterator[str]:
    """Yield parts of at most `PASSAGE_CHARS` characters, cut between paragraphs where they fit, else between words."""
    part = ""
    for paragraph in text.split("\n\n"):
        words = paragraph.split()
        whole = " ".join(words)
        if part and len(part) + 1 + len(whole) > PASSAGE_CHARS:
            yield part
            part = ""
        for word in words if len(whole) > PASSAGE_CHARS else [whole]:
            if part and len(part) + 1 + len(word) > PASSAGE_CHARS:
                yield part
                part = ""
            part = f"{part} {word[:PASSAGE_CHARS]}".strip()
    if part:
        yield part


def plain(text: str) -> str:
    """Return `text` in the characters that observations may have: letters without accents, else `?`."""
    if text.isascii() and CHARSET.issuperset(text):
        return text
    bare = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join(c if c in CHARSET else "?" for c in bare)
