"""Kinds of constraints that the public set lacks: words, sentences, lines, marks and formats.

A word is a run of letters, digits and underscores; a line counts if it is not blank.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from verigym.verifiers.text.constraints import split
from verigym.verifiers.text.constraints.kind import (
    WORDS,
    Args,
    ConstraintKind,
    filler,
    listed,
    nothing,
    word,
    words,
)
from verigym.verifiers.text.constraints.public import has_word
from verigym.verifiers.text.lookalikes import respelt, visible, without_comments
from verigym.verifiers.text.strict_json import NotJson, read_json

_CONSTRUCTED = {
    "a": "apple",
    "b": "bridge",
    "c": "cloud",
    "d": "desert",
    "e": "engine",
    "f": "forest",
}


def lines(text: str) -> list[str]:
    """Return the lines that are not blank, stripped."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _ints(low: int, high: int, name: str = "n") -> Callable[[random.Random], dict[str, Any]]:
    return lambda rng: {name: rng.randint(low, high)}


def in_order(text: str, args: Args) -> bool:
    at = 0
    low = without_comments(text).lower()
    for keyword in args["keywords"]:
        at = low.find(keyword.lower(), at)
        if at < 0:
            return False
        at += len(keyword)
    return True


def nth_word(text: str, args: Args) -> bool:
    found = split.words(text)
    n = args["n"]
    return bool(1 <= n <= len(found) and found[n - 1] == args["word"].lower())


def rising(text: str, args: Args) -> bool:
    counts = [split.n_words(line) for line in lines(text)]
    return len(counts) >= args["n"] and all(a < b for a, b in pairwise(counts))


def numbered(text: str, args: Args) -> bool:
    found = [line for line in lines(text) if re.match(r"\d+[.)]\s", line)]
    return len(found) == args["n"] and all(
        re.match(rf"{i}[.)]\s+\S", line) for i, line in enumerate(found, 1)
    )


def acrostic(text: str, args: Args) -> bool:
    firsts = (re.search(r"\w", line) for line in lines(text))
    return bool(
        "".join(found[0] if found else " " for found in firsts).lower() == args["word"].lower()
    )


def is_palindrome(text: str, args: Args) -> bool:
    bare = "".join(re.findall(r"[^\W_]", text.lower()))
    return len(bare) > 2 and bare == bare[::-1]


def csv_table(text: str, args: Args) -> bool:
    found = lines(text)
    return len(found) == args["rows"] and all(
        line.count(",") == args["columns"] - 1 for line in found
    )


def markdown_table(text: str, args: Args) -> bool:
    """Return one table: a heading, its rule and the rows, with this many cells in each."""
    found = [line for line in lines(text) if line.startswith("|") and line.endswith("|")]
    cells = [line[1:-1].split("|") for line in found]
    if len(found) != args["rows"] + 2 or any(len(row) != args["columns"] for row in cells):
        return False
    return all(re.fullmatch(r"\s*:?-+:?\s*", cell) for cell in cells[1])


def code_block(text: str, args: Args) -> bool:
    wanted = args["language"].lower()
    opened: str | None = None
    filled = False
    for line in text.split("\n"):
        if opened is None and line.startswith("```"):
            opened, filled = line[3:].strip().lower(), False
        elif opened is not None and line.rstrip() == "```":
            if opened == wanted and filled:
                return True
            opened = None
        else:
            filled = filled or bool(line.strip())
    return False


def headings(text: str, args: Args) -> bool:
    mark = "#" * args["level"]
    return bool(sum(bool(re.match(mark + r"\s+\S", line)) for line in lines(text)) == args["n"])


def in_tag(text: str, args: Args) -> bool:
    bare, tag = text.strip(), args["tag"].strip()
    begin, end = f"<{tag}>", f"</{tag}>"
    inside = bare[len(begin) : -len(end)]
    return (
        bare.startswith(begin)
        and bare.endswith(end)
        and bool(inside.strip())
        and begin not in inside
    )


def json_keys(text: str, args: Args) -> bool:
    try:
        value = read_json(text.strip(), 1 << 20, 64)
    except NotJson:
        return False
    return isinstance(value, dict) and set(value) == set(args["keys"])


def title_case(text: str, args: Args) -> bool:
    found = [
        w for w in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text) if w[0].lower() != w[0].upper()
    ]
    return bool(found) and all(w[0].isupper() and w[1:] == w[1:].lower() for w in found)


def alternating(text: str, args: Args) -> bool:
    found = re.findall(r"[^\W\d_]+", text)
    return len(found) > 1 and all(
        w.isupper() if i % 2 == 0 else w.islower() for i, w in enumerate(found)
    )


def digit_sum(text: str, args: Args) -> bool:
    return bool(sum(int(d) for d in re.findall(r"[0-9]", text)) == args["total"])


def unique(text: str, args: Args) -> bool:
    found = split.words(text)
    return bool(found) and len(set(found)) == len(found)


def _each_sentence(text: str, holds: Callable[[str], bool]) -> bool:
    found = split.sentence_list(text)
    return bool(found) and all(map(holds, found))


def _all_words(text: str, holds: Callable[[str], bool]) -> bool:
    found = split.words(text)
    return bool(found) and all(map(holds, found))


def _kind(
    id: str,
    args: dict[str, str],
    check: Callable[[str, Args], bool],
    make: Callable[[random.Random], dict[str, Any]],
    say: Callable[[Args], str],
    write: Callable[[Args], str],
) -> ConstraintKind:
    return ConstraintKind(id=id, args=args, check=check, make=make, say=say, write=write)


N = {"n": "count"}
OWN = (
    _kind("words:exactly", N, lambda t, a: split.n_words(t) == a["n"], _ints(5, 60),
          lambda a: f"Write exactly {a['n']} words.", lambda a: filler(a["n"])),
    _kind("words:between", {"low": "count", "high": "count"},
          lambda t, a: a["low"] <= split.n_words(t) <= a["high"],
          lambda rng: (lambda low: {"low": low, "high": low + rng.randint(0, 10)})(rng.randint(5, 50)),
          lambda a: f"Write between {a['low']} and {a['high']} words.", lambda a: filler(a["low"])),
    _kind("words:longest", N, lambda t, a: _all_words(t, lambda w: len(w) <= a["n"]), _ints(3, 8),
          lambda a: f"Use no word of more than {a['n']} letters.", lambda a: "we go on"[: a["n"]]),
    _kind("words:shortest", N, lambda t, a: _all_words(t, lambda w: len(w) >= a["n"]), _ints(3, 6),
          lambda a: f"Use no word of fewer than {a['n']} letters.", lambda a: "mountain" + "s" * a["n"]),
    _kind("words:different", N, lambda t, a: len(set(split.words(t))) >= a["n"], _ints(5, 30),
          lambda a: f"Use at least {a['n']} different words.", lambda a: filler(a["n"])),
    _kind("words:no_repeat", {}, unique, nothing,
          lambda a: "Use no word twice.", lambda a: filler(12)),
    _kind("words:first_letter", {"letter": "letter"},
          lambda t, a: _all_words(t, lambda w: w[0] == a["letter"].lower()),
          lambda rng: {"letter": rng.choice("abcdef")},
          lambda a: f'Begin every word with the letter "{a["letter"]}".',
          lambda a: _CONSTRUCTED.get(a["letter"], a["letter"] * 3)),
    _kind("words:without_letter", {"letter": "letter"},
          lambda t, a: a["letter"].lower() not in (t + respelt(t)).lower(), lambda rng: {"letter": rng.choice("aeiou")},
          lambda a: f'Do not use the letter "{a["letter"]}".',
          lambda a: next(w for w in WORDS if a["letter"].lower() not in w)),
    _kind("words:alphabetical", N,
          lambda t, a: len(split.words(t)) >= a["n"] and split.words(t) == sorted(split.words(t)),
          _ints(4, 12), lambda a: f"Write at least {a['n']} words, all of them in alphabetical order.",
          lambda a: " ".join(sorted(WORDS[: a["n"]]))),
    _kind("words:nth", {"n": "count", "word": "text"}, nth_word,
          lambda rng: {"n": rng.randint(1, 10), "word": word(rng)},
          lambda a: f'Word {a["n"]} of your reply must be "{a["word"]}".',
          lambda a: f"{filler(a['n'] - 1)} {a['word']}"),
    _kind("words:in_order", {"keywords": "texts"}, in_order, lambda rng: {"keywords": words(rng, 3)[::-1]},
          lambda a: f"Use these words in this order: {listed(a['keywords'])}.",
          lambda a: " then ".join(a["keywords"])),
    _kind("words:whole", {"word": "text"}, lambda t, a: has_word(without_comments(t), a["word"]),
          lambda rng: {"word": word(rng)},
          lambda a: f'Use "{a["word"]}" as a word of its own.', lambda a: f"Here, {a['word']}."),
    _kind("sentences:exactly", N, lambda t, a: split.count_sentences(t) == a["n"], _ints(1, 10),
          lambda a: f"Write exactly {a['n']} sentences.", lambda a: " ".join(["It is so."] * a["n"])),
    _kind("sentences:longest", N, lambda t, a: _each_sentence(t, lambda s: split.n_words(s) <= a["n"]),
          _ints(4, 15), lambda a: f"Write no sentence of more than {a['n']} words.",
          lambda a: "It is. Go on."),
    _kind("sentences:first_word", {"word": "text"},
          lambda t, a: _each_sentence(t, lambda s: split.words(s)[:1] == [a["word"].lower()]),
          lambda rng: {"word": word(rng)}, lambda a: f'Begin every sentence with the word "{a["word"]}".',
          lambda a: f"{a['word'].capitalize()} is. {a['word'].capitalize()} was."),
    _kind("sentences:end_mark", {"mark": "letter"},
          lambda t, a: _each_sentence(t, lambda s: s.rstrip("\"')]}").endswith(a["mark"])),
          lambda rng: {"mark": rng.choice("?!")}, lambda a: f'End every sentence with "{a["mark"]}".',
          lambda a: f"Is it so{a['mark']} Was it{a['mark']}"),
    _kind("lines:exactly", N, lambda t, a: len(lines(t)) == a["n"], _ints(2, 10),
          lambda a: f"Write exactly {a['n']} lines.", lambda a: "\n".join(["a line"] * a["n"])),
    _kind("lines:longest", N, lambda t, a: all(len(x) <= a["n"] for x in t.splitlines()), _ints(20, 80),
          lambda a: f"Write no line of more than {a['n']} characters.", lambda a: "one\ntwo"),
    _kind("lines:numbered", N, numbered, _ints(2, 8),
          lambda a: f"Give a list of {a['n']} items, numbered 1., 2. and so on, each on its line.",
          lambda a: "\n".join(f"{i + 1}. item" for i in range(a["n"]))),
    _kind("lines:acrostic", {"word": "text"}, acrostic, lambda rng: {"word": word(rng)},
          lambda a: f'The first letters of your lines must spell "{a["word"]}".',
          lambda a: "\n".join(f"{c}ab and so on" for c in a["word"])),
    _kind("lines:rising", N, rising, _ints(2, 6),
          lambda a: f"Write at least {a['n']} lines, each with more words than the one before.",
          lambda a: "\n".join(filler(i + 1) for i in range(a["n"]))),
    _kind("characters:at_most", N, lambda t, a: len(t) <= a["n"], _ints(40, 400),
          lambda a: f"Write at most {a['n']} characters.", lambda a: "It is so."),
    _kind("characters:at_least", N, lambda t, a: len(visible(t).strip()) >= a["n"], _ints(40, 400),
          lambda a: f"Write at least {a['n']} characters.", lambda a: filler(a["n"])),
    _kind("characters:ascii", {}, lambda t, a: t.isascii(), nothing,
          lambda a: "Use ASCII characters alone.", lambda a: "Plain."),
    _kind("characters:palindrome", {}, is_palindrome, nothing,
          lambda a: "Your letters and digits must read the same backwards.", lambda a: "Never odd or even."),
    _kind("digits:none", {}, lambda t, a: not re.search(r"\d", t), nothing,
          lambda a: "Use no digits.", lambda a: "None."),
    _kind("digits:sum", {"total": "count"}, digit_sum, _ints(5, 60, "total"),
          lambda a: f"The digits in your reply must add up to {a['total']}.",
          lambda a: "Here: " + "1 " * a["total"]),
    _kind("punctuation:exactly", {"mark": "letter", "n": "count"},
          lambda t, a: t.count(a["mark"]) == a["n"],
          lambda rng: {"mark": rng.choice(";:,!?"), "n": rng.randint(0, 5)},
          lambda a: f'Use the mark "{a["mark"]}" exactly {a["n"]} times.', lambda a: "x" + a["mark"] * a["n"]),
    _kind("case:title", {}, title_case, nothing,
          lambda a: "Begin every word with a capital letter and go on in lower case.",
          lambda a: "It Is So."),
    _kind("case:alternating", {}, alternating, nothing,
          lambda a: "Write words in capital and in lower-case letters by turns, capitals first.",
          lambda a: "ONE two THREE four"),
    _kind("startend:first_word", {"word": "text"},
          lambda t, a: split.words(t)[:1] == [a["word"].lower()], lambda rng: {"word": word(rng)},
          lambda a: f'Begin with the word "{a["word"]}".', lambda a: f"{a['word']} is here"),
    _kind("startend:last_word", {"word": "text"},
          lambda t, a: split.words(t)[-1:] == [a["word"].lower()], lambda rng: {"word": word(rng)},
          lambda a: f'End with the word "{a["word"]}".', lambda a: f"here is {a['word']}."),
    _kind("format:csv", {"columns": "count", "rows": "count"}, csv_table,
          lambda rng: {"columns": rng.randint(2, 5), "rows": rng.randint(2, 5)},
          lambda a: f"Write {a['rows']} lines of {a['columns']} values with commas between, and nothing else.",
          lambda a: "\n".join([",".join(["x"] * a["columns"])] * a["rows"])),
    _kind("format:markdown_table", {"columns": "count", "rows": "count"}, markdown_table,
          lambda rng: {"columns": rng.randint(2, 4), "rows": rng.randint(1, 4)},
          lambda a: f"Give a Markdown table of {a['columns']} columns with a heading and {a['rows']} rows.",
          lambda a: "\n".join(
              "|" + f" {cell} |" * a["columns"] for cell in ["a", "---"] + ["b"] * a["rows"])),
    _kind("format:code_block", {"language": "text"}, code_block,
          lambda rng: {"language": rng.choice(("python", "c", "sql", "bash"))},
          lambda a: f"Give a fenced code block marked {a['language']}.",
          lambda a: f"Here:\n```{a['language']}\ncode\n```"),
    _kind("format:headings", {"level": "count", "n": "count"}, headings,
          lambda rng: {"level": rng.randint(1, 3), "n": rng.randint(1, 4)},
          lambda a: f"Use exactly {a['n']} Markdown headings of level {a['level']}.",
          lambda a: "Text\n" + f"{'#' * a['level']} Head\nText\n" * a["n"]),
    _kind("format:tag", {"tag": "text"}, in_tag, lambda rng: {"tag": word(rng)},
          lambda a: f"Put the whole reply between <{a['tag']}> and </{a['tag']}>.",
          lambda a: f"<{a['tag']}>Text.</{a['tag']}>"),
    _kind("format:json_keys", {"keys": "texts"}, json_keys, lambda rng: {"keys": words(rng, 2)},
          lambda a: f"The whole reply must be a JSON object with exactly the keys {listed(a['keys'])}.",
          lambda a: "{" + ", ".join(f'"{key}": 1' for key in a["keys"]) + "}"),
)  # fmt: skip
