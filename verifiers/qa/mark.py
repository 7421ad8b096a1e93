"""Finds the right answer, or the one number or date, in a reply and puts a mark there; see `statement.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.normalise import plain, signs, words_in
from verigym.verifiers.qa.sentence_words import ANSWER, GIVEN, without_marks

# Scripts that are written without blanks between words, and Korean, whose endings join the word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_AROUND_UNSPACED = re.compile(r"[\s。．.！!，,：:、「」『』“”\"'（）()*_`]+")
_SAID_UNSPACED = frozenset(
    """
    是 就是 为 為 在 位于 位於 它是 答案 答案是 答案为 的 に です でした だ は である 答えは 正解は 答え 正解
    입니다 이다 은 는 이 가 에 있습니다 정답은 답은 정답 คือ คำตอบคือ
    """.split()  # noqa: SIM905
)
_DENIED_UNSPACED = re.compile("[不没沒非无無或]|ない|ません|じゃ|か|아니|않|또는|ไม่|หรือ")
_JOINED_UNSPACED = re.compile(
    r"[、，,；;和与與或及第\d\s]|的[父母兄弟姐妹子女朋]|附近|以[前后後]|之[前后後]|と"
)
_BETWEEN_ITEMS = re.compile(
    rf"{ANSWER}[)\"'*_`]*(?:\s*(?:,|;|&|\band\b|\n|^\s*[-*•]|\d{{1,2}}[.)])\s*)+[(\"'*_`]*(?:the\s|a\s|an\s)?"
    rf"(?={ANSWER})",
    re.IGNORECASE,
)
_OTHER_SIGNS = re.compile(rf"[^\w\s.,:!\"'“”‘’`*(){ANSWER}]|(?<!\S)[*_`'\"]+(?!\S)")
_ITEM_START = re.compile(r"(?m)^\s*(?:[-*•]|\d{1,2}[.)])\s+")

_SAID = re.compile(
    rf"(?:^|[:,;.!–—-]|\b(?:is|was|be|says?|answer|answered))[\s*_\"'“”‘’(]*{ANSWER}[\s*_\"'“”‘’)]*(?:[.,;:!–—-]|$)",
    re.IGNORECASE,
)

_TWICE = re.compile(
    rf"{ANSWER}(?:\s*\((?:or\s|also\s|aka\s|i\.e\.,?\s)?{ANSWER}\)|\s?/\s?{ANSWER}"
    rf"|,?\s\(?(?:(?:also|better|commonly|otherwise)\s(?:known|called)(?:\sas)?|aka|a\.k\.a\.|or)\s(?:the\s)?{ANSWER}\)?)(?![\w-])",
    re.IGNORECASE,
)


def mark_texts(answer: str, aliases: Sequence[Sequence[str]]) -> str | None:
    """Return `answer` with a mark for each alias in it; None if it has none. `aliases` are lists of tokens."""
    text = without_marks(plain(answer))
    return _mark(text, [tuple(alias) for alias in aliases], set())


def mark_items(answer: str, items: Sequence[Sequence[Sequence[str]]]) -> str | None:
    """Return `answer` with one mark for the whole list; None if an item is missing or stands there twice."""
    text = without_marks(plain(_ITEM_START.sub("", answer.replace("\n", " \n"))))
    found: set[tuple[str, ...]] = set()
    masked = _mark(text, [tuple(alias) for item in items for alias in item], found)
    if masked is None or masked.count(ANSWER) != len(items):
        return None
    if not all(any(tuple(alias) in found for alias in item) for item in items):
        return None
    joined = _BETWEEN_ITEMS.sub("", masked)
    return joined if joined.count(ANSWER) == 1 else None


def _mark(text: str, aliases: Sequence[tuple[str, ...]], found: set[tuple[str, ...]]) -> str | None:
    aliases = sorted({alias for alias in aliases if alias}, key=len, reverse=True)
    words = list(words_in(text))
    spans: list[tuple[int, int]] = []
    i = 0
    while i < len(words):
        end = None
        if words[i][2]:
            for alias in aliases:
                end = _matches(words, i, alias)
                if end is not None:
                    found.add(alias)
                    break
        if end is None:
            i += 1
        else:
            spans.append((words[i][0], words[end - 1][1]))
            i = end
    return _masked(text, spans) if spans else None


def _matches(
    words: Sequence[tuple[int, int, list[str]]], i: int, alias: tuple[str, ...]
) -> int | None:
    """The index behind the words that make up `alias` from word `i` on; None if they do not."""
    at = 0
    while i < len(words) and at < len(alias):
        parts = words[i][2]
        if tuple(parts) != alias[at : at + len(parts)]:
            return None
        at += len(parts)
        i += 1
    return i if at == len(alias) else None


def _masked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    parts = []
    at = 0
    for start, end in spans:
        parts += [text[at:start], ANSWER]
        at = end
    return "".join([*parts, text[at:]])


def mark_given(text: str, spans: Sequence[tuple[int, int, bool]]) -> str:
    """Return `text` with a mark for each span, in order: of the answer where its flag is set, else of a given one."""
    parts = []
    at = 0
    for start, end, is_answer in spans:
        parts += [text[at:start], ANSWER if is_answer else GIVEN]
        at = end
    return "".join([*parts, text[at:]])


def mark_signs(answer: str, aliases: Sequence[str]) -> str | None:
    """Return `answer` with a mark for each of `aliases`, which have no words, standing alone; None if there is none."""
    text = without_marks(answer).replace("\ufe0f", "").replace("\ufe0e", "")
    alternatives = "|".join(
        re.escape(one) for one in sorted(map(signs, aliases), key=len, reverse=True)
    )
    masked, n = re.subn(
        rf"(?<![^\s\"'“‘`*(:])(?:{alternatives})(?=[\"'”’`*)]*[.!,]?(?:\s|$))", ANSWER, text
    )
    return masked if n and not _OTHER_SIGNS.search(masked) else None


def is_sign_alone(answer: str, aliases: Sequence[str]) -> bool:
    """Return True if a reply is one of the aliases without words, perhaps in quotes, backticks or emphasis."""
    bare = signs(answer)
    wanted = set(map(signs, aliases))
    while bare not in wanted:
        ends = bare[:1] + bare[-1:]
        if len(bare) > 2 and ends in ("``", '""', "''", "**", "__", "“”", "‘’", "()"):
            bare = bare[1:-1]
        elif len(bare) > 1 and bare[-1] == ".":
            bare = bare[:-1]
        else:
            return False
    return True


def states_unspaced(answer: str, aliases: Sequence[str], prompt: str) -> bool:
    """Return True if a sentence in a script without blanks consists of one of `aliases` and parts of the question."""
    if answer.isascii():
        return False
    text, prompt = plain(answer), plain(prompt[:20_000])
    for alias in sorted(map(plain, aliases), key=len, reverse=True):
        if not _UNSPACED.search(alias) or alias not in text:
            continue
        rest = [part for part in _AROUND_UNSPACED.split(text.replace(alias, "\n")) if part]
        if alias in prompt:
            return all(part in _SAID_UNSPACED for part in rest)
        if any(_DENIED_UNSPACED.search(part) for part in rest):
            return False
        if all(part in prompt or part in _SAID_UNSPACED for part in rest):
            return True
        return _states_joined(text.strip("。．.！! "), alias, prompt)
    return False


def _states_joined(text: str, alias: str, prompt: str) -> bool:
    """Return True if one clause ends or begins with the answer, and at least half of the rest stands in the question."""
    if text.count(alias) != 1 or _JOINED_UNSPACED.search(text):
        return False
    before, after = text.split(alias)
    rest = before or after
    if (before and after) or not rest:
        return False
    close = before.endswith(("是", "为", "為", "は")) or before[-2:] in prompt
    fits = close if before else after.startswith(("是", "は", "が"))
    return fits and sum(sign in prompt for sign in rest) * 2 >= len(rest)


def once(masked: str) -> str:
    """`masked` with one mark for two names of the answer: "carbon dioxide (CO2)", "Anakin Skywalker, also known as Darth Vader"."""
    return _TWICE.sub(ANSWER, masked)


def says_yes_or_no(masked: str) -> bool:
    """Return True if the marked yes or no is what is said, and no part of another phrase ("I have no idea")."""
    return _SAID.search(masked) is not None
