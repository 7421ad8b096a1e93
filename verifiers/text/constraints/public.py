"""The 25 kinds of the public instruction-following benchmark IFEval, under their ids and arguments.

Counts, quirks included, are those of the public checker, so that its rows run as they are. Where ours
differ on purpose: keywords, markers and splitters are literal text, never patterns; `letter_frequency`
counts any character that is asked for (theirs replaces one outside a to z by a random letter); NaN and
infinities are no JSON; a keyword in an HTML comment is not present, and a forbidden word is found in
lookalikes, with invisible characters inside and with digits for letters (`lookalikes.py`); arguments that are missing are an error (theirs are drawn at random).
Source of the facts: Zhou et al. 2023, arXiv 2311.07911, and the checker published with it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any, NoReturn

from verigym.verifiers.text.constraints.kind import (
    RELATIONS,
    WORDS,
    Args,
    ConstraintKind,
    filler,
    holds,
    listed,
    nothing,
    some,
    word,
    words,
)
from verigym.verifiers.text.constraints.language import NAMES, is_language
from verigym.verifiers.text.constraints.split import (
    count_sentences,
    n_capital_tokens,
    n_words,
    pieces,
)
from verigym.verifiers.text.lookalikes import respelt, without_comments, without_digits

OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
ENGLISH = "The river and the stone are in the garden, and this is what they have for the winter."
SAMPLES = {
    "de": "Der Fluss ist heute sehr ruhig, und wir gehen mit den Kindern in den Garten.",
    "en": ENGLISH,
    "es": "El río está muy tranquilo hoy y nosotros vamos con los niños al jardín de la casa.",
    "fr": "La rivière est très calme aujourd'hui et nous allons dans le jardin avec les enfants.",
    "it": "Il fiume è molto tranquillo oggi e noi andiamo nel giardino con i bambini della scuola.",
    "ja": "今日は川がとても静かなので、子供たちと庭へ行きます。",
    "ko": "오늘은 강이 아주 조용해서 우리는 아이들과 함께 정원에 갑니다.",
    "ru": "Сегодня река очень спокойная, и мы идём в сад вместе с детьми, потому что хорошая погода.",
    "th": "วันนี้แม่น้ำสงบมากและเราไปสวนกับเด็ก ๆ",
}


def has_keywords(text: str, args: Args) -> bool:
    low = without_comments(text).lower()
    return all(keyword.lower() in low for keyword in args["keywords"])


def keyword_frequency(text: str, args: Args) -> bool:
    count = _count(text, args["keyword"].strip().lower(), args["relation"])
    return holds(count, args["relation"], args["frequency"])


def _count(text: str, wanted: str, relation: str) -> int:
    """Count in a text: hidden text does not help to reach a minimum, but counts towards a maximum."""
    if relation == "at least":
        return without_comments(text).lower().count(wanted)
    return max(form.lower().count(wanted) for form in (text, respelt(text)))


def no_forbidden(text: str, args: Args) -> bool:
    spelt = respelt(text)
    forms = {text, spelt, without_digits(spelt)}
    return not any(
        has_word(form, forbidden) for forbidden in args["forbidden_words"] for form in forms
    )


def has_word(text: str, wanted: str) -> bool:
    """Return True if `wanted` occurs in the text with no letter, digit or underscore joined to it."""
    left = r"(?<!\w)" if re.match(r"\w", wanted) else ""
    right = r"(?!\w)" if re.search(r"\w\Z", wanted) else ""
    return re.search(left + re.escape(wanted) + right, text, re.IGNORECASE) is not None


def letter_frequency(text: str, args: Args) -> bool:
    count = _count(text, args["letter"].strip().lower(), args["let_relation"])
    return holds(count, args["let_relation"], args["let_frequency"])


def n_placeholders(text: str) -> int:
    """Return the number of `[...]`, non-overlapping and each within a line."""
    count = 0
    for line in text.split("\n"):
        at = 0
        while (begin := line.find("[", at)) >= 0 and (end := line.find("]", begin)) >= 0:
            count += 1
            at = end + 1
    return count


def n_bullets(text: str) -> int:
    """Return the lines that begin with `-`, or with `*` that no second one follows."""
    count = 0
    lines = text.split("\n")
    skip = False
    for i, line in enumerate(lines):
        if skip:
            skip = False
            continue
        bare = line.lstrip()
        if bare.startswith("-") or (bare.startswith("*") and len(bare) > 1 and bare[1] != "*"):
            count += 1
        elif bare == "*" and i + 1 < len(lines):
            # A star alone takes the next line as its text.
            count += 1
            skip = True
    return count


def n_highlights(text: str) -> int:
    """Count the texts in `*...*` within a line that are not blank; those in `**...**` count twice."""
    single = re.findall(r"\*[^\n*]*\*", text)
    double = re.findall(r"\*\*[^\n*]*\*\*", text)
    return sum(bool(part.strip("*").strip()) for part in single + double)


def has_sections(text: str, args: Args) -> bool:
    pattern = re.escape(args["section_spliter"].strip()) + r"\s?\d+"
    return bool(sum(1 for _ in re.finditer(pattern, text)) >= args["num_sections"])


def has_paragraphs(text: str, args: Args) -> bool:
    found = re.split(r"\s?\*\*\*\s?", text)
    if not all(part.strip() for part in found[1:-1]):
        return False
    return bool(sum(bool(part.strip()) for part in found) == args["num_paragraphs"])


def first_word(text: str, args: Args) -> bool:
    """Paragraphs between blank lines; the n-th is counted with the empty ones among them."""
    found = text.split("\n\n")
    count = sum(bool(part.strip()) for part in found)
    n = args["nth_paragraph"]
    if count != args["num_paragraphs"] or not 1 <= n <= count or not found[n - 1].strip():
        return False
    begin = found[n - 1].split()[0].lstrip("'").lstrip('"')
    return bool(re.split(r"[.,?!'\"]", begin)[0].lower() == args["first_word"].lower())


def has_postscript(text: str, args: Args) -> bool:
    marker = args["postscript_marker"].strip()
    patterns = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    return re.search(patterns.get(marker, re.escape(marker.lower())), text.lower()) is not None


def is_json(text: str, args: Args) -> bool:
    bare = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        bare = bare.removeprefix(fence)
    try:
        json.loads(bare.removesuffix("```").strip(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def two_responses(text: str, args: Args) -> bool:
    found = text.split("******")
    if not all(part.strip() for part in found[1:-1]):
        return False
    given = [part.strip() for part in found if part.strip()]
    return len(given) == 2 and given[0] != given[1]


def repeats_prompt(text: str, args: Args) -> bool:
    return text.strip().lower().startswith(args["prompt_to_repeat"].strip().lower())


def ends_with(text: str, args: Args) -> bool:
    return text.strip().strip('"').lower().endswith(args["end_phrase"].strip().lower())


def has_title(text: str, args: Args) -> bool:
    """Return `<<...>>` within a line, not blank between the brackets."""
    for line in text.split("\n"):
        begin, end = line.find("<<"), line.rfind(">>")
        if end > begin + 2 > 1 and line[begin:end].lstrip("<").rstrip(">").strip():
            return True
    return False


def key_sentences(text: str, args: Args) -> bool:
    found = set(pieces(text))
    return bool(sum(s in found for s in set(args["key_sentences"])) == args["num_sentences"])


def capital_words(text: str, args: Args) -> bool:
    return holds(n_capital_tokens(text), args["capital_relation"], args["capital_frequency"])


def english_capital(text: str, args: Args) -> bool:
    return text.isupper() and is_language(text, "en")


def english_lowercase(text: str, args: Args) -> bool:
    return text.islower() and is_language(text, "en")


def is_quoted(text: str, args: Args) -> bool:
    bare = text.strip()
    return len(bare) > 1 and bare[0] == '"' == bare[-1]


def _counted(name: str, relation: str, low: int, high: int) -> Callable[..., dict[str, Any]]:
    """A generator of a count and a relation."""

    def make(rng: random.Random) -> dict[str, Any]:
        return {relation: rng.choice(RELATIONS), name: rng.randint(low, high)}

    return make


def _write_first_word(args: Args) -> str:
    paragraphs = ["text of its own" for _ in range(args["num_paragraphs"])]
    paragraphs[args["nth_paragraph"] - 1] = f"{args['first_word']} and more"
    return "\n\n".join(paragraphs)


def _make_first_word(rng: random.Random) -> dict[str, Any]:
    n = rng.randint(1, 5)
    return {"num_paragraphs": n, "nth_paragraph": rng.randint(1, n), "first_word": word(rng)}


def _repeated(text: str, count: int) -> str:
    return " ".join([text] * count) or "Nothing."


PUBLIC = (
    ConstraintKind(
        id="keywords:existence",
        args={"keywords": "texts"},
        check=has_keywords,
        make=lambda rng: {"keywords": words(rng, 2)},
        say=lambda a: f"Use these keywords in your reply: {listed(a['keywords'])}.",
        write=lambda a: "Here: " + " and ".join(a["keywords"]),
    ),
    ConstraintKind(
        id="keywords:frequency",
        args={"keyword": "text", "frequency": "count", "relation": "relation"},
        check=keyword_frequency,
        make=lambda rng: {"keyword": word(rng), **_counted("frequency", "relation", 1, 4)(rng)},
        say=lambda a: (
            f'The word "{a["keyword"]}" should occur {a["relation"]} {a["frequency"]} times.'
        ),
        write=lambda a: _repeated(a["keyword"], some(a["relation"], a["frequency"])),
    ),
    ConstraintKind(
        id="keywords:forbidden_words",
        args={"forbidden_words": "texts"},
        check=no_forbidden,
        make=lambda rng: {"forbidden_words": words(rng, 2)},
        say=lambda a: f"Leave out these words: {listed(a['forbidden_words'])}.",
        write=lambda a: next(w for w in WORDS if no_forbidden(w, a)),
    ),
    ConstraintKind(
        id="keywords:letter_frequency",
        args={"letter": "letter", "let_frequency": "count", "let_relation": "relation"},
        check=letter_frequency,
        make=lambda rng: {
            "letter": rng.choice("aeiorstn"),
            **_counted("let_frequency", "let_relation", 1, 10)(rng),
        },
        say=lambda a: (
            f'The letter "{a["letter"]}" should occur {a["let_relation"]} {a["let_frequency"]} times.'
        ),
        write=lambda a: "." + a["letter"] * some(a["let_relation"], a["let_frequency"]),
    ),
    ConstraintKind(
        id="language:response_language",
        args={"language": "text"},
        check=lambda text, a: is_language(text, a["language"]),
        make=lambda rng: {"language": rng.choice(sorted(SAMPLES))},
        say=lambda a: (
            f"Write the whole reply in {NAMES.get(a['language'], a['language'])} and in no other language."
        ),
        write=lambda a: SAMPLES[a["language"]],
    ),
    ConstraintKind(
        id="length_constraints:number_sentences",
        args={"num_sentences": "count", "relation": "relation"},
        check=lambda text, a: holds(count_sentences(text), a["relation"], a["num_sentences"]),
        make=_counted("num_sentences", "relation", 2, 20),
        say=lambda a: f"Write {a['relation']} {a['num_sentences']} sentences.",
        write=lambda a: _repeated("It is so.", some(a["relation"], a["num_sentences"])),
    ),
    ConstraintKind(
        id="length_constraints:number_paragraphs",
        args={"num_paragraphs": "count"},
        check=has_paragraphs,
        make=lambda rng: {"num_paragraphs": rng.randint(1, 5)},
        say=lambda a: f"Write {a['num_paragraphs']} paragraphs with the divider *** between them.",
        write=lambda a: "\n***\n".join(["A paragraph."] * a["num_paragraphs"]),
    ),
    ConstraintKind(
        id="length_constraints:number_words",
        args={"num_words": "count", "relation": "relation"},
        check=lambda text, a: holds(n_words(text), a["relation"], a["num_words"]),
        make=_counted("num_words", "relation", 100, 500),
        say=lambda a: f"Write {a['relation']} {a['num_words']} words.",
        write=lambda a: filler(some(a["relation"], a["num_words"])) or "...",
    ),
    ConstraintKind(
        id="length_constraints:nth_paragraph_first_word",
        args={"num_paragraphs": "count", "nth_paragraph": "count", "first_word": "text"},
        check=first_word,
        make=_make_first_word,
        say=lambda a: (
            f"Write {a['num_paragraphs']} paragraphs with one blank line between them, and begin "
            f'paragraph {a["nth_paragraph"]} with the word "{a["first_word"]}".'
        ),
        write=_write_first_word,
    ),
    ConstraintKind(
        id="detectable_content:number_placeholders",
        args={"num_placeholders": "count"},
        check=lambda text, a: n_placeholders(text) >= a["num_placeholders"],
        make=lambda rng: {"num_placeholders": rng.randint(1, 4)},
        say=lambda a: (
            f"Use at least {a['num_placeholders']} placeholders in square brackets, such as [name]."
        ),
        write=lambda a: _repeated("[name]", a["num_placeholders"]),
    ),
    ConstraintKind(
        id="detectable_content:postscript",
        args={"postscript_marker": "text"},
        check=has_postscript,
        make=lambda rng: {"postscript_marker": rng.choice(("P.S.", "P.P.S"))},
        say=lambda a: f"Add a postscript that begins with {a['postscript_marker']} at the end.",
        write=lambda a: f"Text.\n{a['postscript_marker']} and more",
    ),
    ConstraintKind(
        id="detectable_format:number_bullet_lists",
        args={"num_bullets": "count"},
        check=lambda text, a: n_bullets(text) == a["num_bullets"],
        make=lambda rng: {"num_bullets": rng.randint(1, 5)},
        say=lambda a: (
            f"Give exactly {a['num_bullets']} bullet points, each on a line that begins with *."
        ),
        write=lambda a: "\n".join(["List:"] + ["* a point"] * a["num_bullets"]),
    ),
    ConstraintKind(
        id="detectable_format:constrained_response",
        args={},
        check=lambda text, a: any(option in text for option in OPTIONS),
        make=nothing,
        say=lambda a: f"Answer with one of: {listed(list(OPTIONS))}.",
        write=lambda a: OPTIONS[0],
    ),
    ConstraintKind(
        id="detectable_format:number_highlighted_sections",
        args={"num_highlights": "count"},
        check=lambda text, a: n_highlights(text) >= a["num_highlights"],
        make=lambda rng: {"num_highlights": rng.randint(1, 4)},
        say=lambda a: f"Highlight at least {a['num_highlights']} passages with stars, like *this*.",
        write=lambda a: _repeated("*word*", a["num_highlights"]),
    ),
    ConstraintKind(
        id="detectable_format:multiple_sections",
        args={"section_spliter": "text", "num_sections": "count"},
        check=has_sections,
        make=lambda rng: {
            "section_spliter": rng.choice(("Section", "SECTION")),
            "num_sections": rng.randint(1, 5),
        },
        say=lambda a: (
            f"Write {a['num_sections']} sections and begin each with a line that reads "
            f'"{a["section_spliter"]}" and its number.'
        ),
        write=lambda a: "\n".join(
            ["Text"] + [f"{a['section_spliter']} {i + 1}\nText." for i in range(a["num_sections"])]
        ),
    ),
    ConstraintKind(
        id="detectable_format:json_format",
        args={},
        check=is_json,
        make=nothing,
        say=lambda a: "The whole reply must be JSON; a fence of ``` around it is allowed.",
        write=lambda a: '```json\n{"a": [1, null]}\n```',
    ),
    ConstraintKind(
        id="detectable_format:title",
        args={},
        check=has_title,
        make=nothing,
        say=lambda a: "Give the reply a title in double angular brackets, such as <<a title>>.",
        write=lambda a: "<<Rivers>>\nText.",
    ),
    ConstraintKind(
        id="combination:two_responses",
        args={},
        check=two_responses,
        make=nothing,
        say=lambda a: "Give two different replies with six stars between them: ******",
        write=lambda a: "One reply.\n******\nAnother reply.",
    ),
    ConstraintKind(
        id="combination:repeat_prompt",
        args={"prompt_to_repeat": "text"},
        check=repeats_prompt,
        make=lambda rng: {"prompt_to_repeat": f"Write a line about the {word(rng)}."},
        say=lambda a: f'First repeat this word for word: "{a["prompt_to_repeat"]}" Then answer it.',
        write=lambda a: f"{a['prompt_to_repeat']}\n\nIt is so.",
    ),
    ConstraintKind(
        id="startend:end_checker",
        args={"end_phrase": "text"},
        check=ends_with,
        make=lambda rng: {"end_phrase": f"That is all about the {word(rng)}."},
        say=lambda a: f'End with exactly "{a["end_phrase"]}" and write nothing behind it.',
        write=lambda a: f"Text. {a['end_phrase']}",
    ),
    ConstraintKind(
        id="startend:quotation",
        args={},
        check=is_quoted,
        make=nothing,
        say=lambda a: "Put the whole reply in double quotation marks.",
        write=lambda a: '"Text."',
    ),
    ConstraintKind(
        id="change_case:capital_word_frequency",
        args={"capital_frequency": "count", "capital_relation": "relation"},
        check=capital_words,
        make=_counted("capital_frequency", "capital_relation", 1, 20),
        say=lambda a: (
            f"Words in capital letters alone should occur {a['capital_relation']} {a['capital_frequency']} times."
        ),
        write=lambda a: "text " + "LOUD " * some(a["capital_relation"], a["capital_frequency"]),
    ),
    ConstraintKind(
        id="change_case:english_capital",
        args={},
        check=english_capital,
        make=nothing,
        say=lambda a: "Write the whole reply in English and in capital letters.",
        write=lambda a: ENGLISH.upper(),
    ),
    ConstraintKind(
        id="change_case:english_lowercase",
        args={},
        check=english_lowercase,
        make=nothing,
        say=lambda a: "Write the whole reply in English and in lower-case letters.",
        write=lambda a: ENGLISH.lower(),
    ),
    ConstraintKind(
        id="punctuation:no_comma",
        args={},
        check=lambda text, a: "," not in text,
        make=nothing,
        say=lambda a: "Use no commas.",
        write=lambda a: "No such mark here.",
    ),
)
KEY_SENTENCES = ConstraintKind(
    id="keywords:key_sentences",
    args={"key_sentences": "texts", "num_sentences": "count"},
    check=key_sentences,
    make=lambda rng: {
        "key_sentences": [f"The {w} is old." for w in words(rng, 3)],
        "num_sentences": rng.randint(1, 3),
    },
    say=lambda a: (
        f"Use exactly {a['num_sentences']} of these sentences: {listed(a['key_sentences'])}."
    ),
    write=lambda a: " ".join(["Well!", *a["key_sentences"][: a["num_sentences"]]]),
)
"""The public checker has this kind; its benchmark uses it in no row."""
