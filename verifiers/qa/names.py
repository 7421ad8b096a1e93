"""Spellings of a right answer that name the same: initials, numerals of kings and wars, titles, "the River Danube".

Each is made from the reference, so that a reply can add no name of its own. Not covered: a first name left out,
translations, nicknames.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations, product

from verigym.verifiers.qa.asked import QuestionWords
from verigym.verifiers.qa.exonyms import names_abroad
from verigym.verifiers.qa.members import members, wants_order
from verigym.verifiers.qa.normalise import known_tokens, plain
from verigym.verifiers.qa.values import MONTHS

_ORDINALS = tuple(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first
    """.split()  # noqa: SIM905
)
_CARDINALS = tuple(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty twenty-one
    """.split()  # noqa: SIM905
)
_ROMAN = tuple(
    """
    i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx xxi
    """.split()  # noqa: SIM905
)
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_DIGITS = tuple(f"{n}{'th' if 10 < n < 14 else _ENDINGS.get(n % 10, 'th')}" for n in range(1, 22))
TITLES = (
    "president|prime minister|chancellor|king|queen|emperor|empress|tsar|pope|prince|princess|duke|sir|dame|lord"
    "|saint|st|dr|doctor|prof|professor|mr|ms|captain|colonel|general|admiral|senator|judge|justice|chief justice"
    "|former president|us president|u\\.s\\. president"
)
_TITLE = re.compile(rf"^(?:the\s)?(?:{TITLES})\b\.?\s", re.IGNORECASE)
# A noun that says what kind of thing a name is, and the words of a question that ask for such a thing.
_KINDS = {
    "river": {"river", "rivers", "waterway", "stream"},
    "mount": {"mountain", "mountains", "peak", "summit", "volcano", "mount"},
    "mt": {"mountain", "mountains", "peak", "summit", "volcano", "mount"},
    "mountain": {"mountain", "mountains", "peak", "summit", "volcano", "mount"},
    "lake": {"lake", "lakes"},
    "ocean": {"ocean", "oceans"},
    "sea": {"sea", "seas"},
    "desert": {"desert", "deserts"},
    "strait": {"strait"},
    "canal": {"canal"},
    "city": {"city", "cities", "capital", "town"},
    "island": {"island"},
    "country": {"country"},
    "state": {"state"},
    "province": {"province"},
    "planet": {"planet", "planets"},
    "crater": {"crater"},
    "peninsula": {"peninsula"},
}
# What is left of "Black Sea" or "Yellow River" is no name.
_NO_NAMES = frozenset(
    "black red white yellow green blue dead north south east west new great long big old salt".split()  # noqa: SIM905
)
_KEEPING = frozenset({"city", "island", "planet", "country", "state", "province"})
_DAY = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)? (?:of )?([a-z]{3,9}))|(?:([a-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?)"
)
_INITIALS = re.compile(r"\b(?:[A-Z]\.?[ ]?){2,4}(?=\s?[A-Z][a-z])|\b(?:[A-Z]\.){2,4}")
_BEHIND = re.compile(r"[\s.!*_]*(?:\([^()]*\))?[\s.!*_]*")
_US = ("US", "USA", "United States", "United States of America")
_UK = ("UK", "United Kingdom", "Great Britain")
_SHORT_NAMES = {
    **{name.lower(): _US for name in (*_US, "U.S.")},
    **{name.lower(): _UK for name in (*_UK, "U.K.")},
}
_FULL_NAMES = {
    name.split()[0].lower(): name
    for name in (
        "Michelangelo Buonarroti",
        "Galileo Galilei",
        "Dante Alighieri",
        "Napoleon Bonaparte",
        "Raphael Sanzio",
        "Rembrandt van Rijn",
        "Leonardo da Vinci",
        "Sandro Botticelli",
    )
}
"""Whole names of people who are known by the first."""
_FIRMS = frozenset(
    "company companies firm corporation manufacturer maker brand business carmaker publisher studio".split()  # noqa: SIM905
)
_LEGAL_FORMS = (
    "Inc",
    "Incorporated",
    "Corporation",
    "Corp",
    "Ltd",
    "Limited",
    "Company",
    "Co",
    "GmbH",
    "AG",
    "plc",
    "Group",
)
_LAST_FIRST = re.compile(r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,2}")


@lru_cache(maxsize=2048)
def spellings(alias: str, asked: QuestionWords) -> tuple[tuple[str, ...], ...]:
    """Return the tokens of a right answer, and those of its other spellings."""
    texts = {alias}
    if not _FIRMS.isdisjoint(asked.row) and alias[:1].isupper():
        texts.update(f"{alias} {form}" for form in _LEGAL_FORMS)
    if (full := _FULL_NAMES.get(alias.lower())) is not None:
        texts.add(full)
    for one in _INITIALS.findall(plain(alias)):
        letters = [letter for letter in one if letter.isalpha()]
        for joined in (" ".join(letters), "".join(letters)):
            texts.add(plain(alias).replace(one, f"{joined} ", 1))
    bare = _TITLE.sub("", alias)
    if bare != alias and len(known_tokens(bare)) > 1:
        texts.add(bare)
    day = _DAY.fullmatch(alias.strip().lower())
    if day and (day[2] or day[3]) in MONTHS and not (day[2] and day[3]):
        n, month = (day[1] or day[4]), (day[2] or day[3])
        ending = (
            _DIGITS[int(n) - 1][-2:]
            if int(n) < 21
            else {1: "st", 2: "nd", 3: "rd"}.get(int(n) % 10, "th")
        )
        for name in (one for one, k in MONTHS.items() if k == MONTHS[month]):
            for number in (n, f"{n}{ending}"):
                texts |= {f"{number} {name}", f"{name} {number}", f"{number} of {name}"}
    if " & " in alias:
        texts.add(alias.replace(" & ", " and "))
    texts.update(names_abroad(alias))
    found = [known_tokens(text) for text in texts | _orders(alias, asked)]
    for tokens in list(found):
        found += _across(tokens)
        found += _numerals(tokens)
        found += _with_kinds(tokens, asked)
    return tuple(dict.fromkeys([known_tokens(alias), *filter(None, found)]))


_ENDS = r"(?=\b|s\b|[eifa])"
_ACROSS = (
    (re.compile(rf"(?<=[a-z]{{2}})our{_ENDS}"), "or"),
    (re.compile(rf"(?<=[a-z]{{2}})or{_ENDS}"), "our"),
    (re.compile(r"(?<=[a-z]{2})tre(?=s?\b)"), "ter"),
    (re.compile(r"(?<=[a-z]{2})ter(?=s?\b)"), "tre"),
    (re.compile(r"(?<=[a-z]{2})is(?=e|ing|ation)"), "iz"),
    (re.compile(r"(?<=[a-z]{2})iz(?=e|ing|ation)"), "is"),
)


def _across(tokens: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The tokens in the spelling of the other side of the Atlantic: "harbour" and "harbor", "centre" and "center"."""
    text = " ".join(tokens)
    found = [tuple(pattern.sub(other, text).split()) for pattern, other in _ACROSS]
    return [one for one in found if one != tokens]


def _orders(alias: str, asked: QuestionWords) -> set[str]:
    """A list of two or three as one text, in every order, and with the short names of two countries."""
    parts = members(alias, asked)
    if not 1 < len(parts) < 4 or wants_order(" ".join(asked.row)):
        return set()
    forms = [(part, *_SHORT_NAMES.get(part.lower().removeprefix("the "), ())) for part in parts]
    return {
        f"{' '.join(row[:-1])} and {row[-1]}"
        for names in product(*forms)
        for row in permutations(names)
    }


def _numerals(tokens: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The tokens with "12th" in words, "VIII" as "the eighth", and "World War II" in its other names."""
    found = []
    for i, token in enumerate(tokens):
        head, tail = tokens[:i], tokens[i + 1 :]
        for row, other in ((_DIGITS, _ORDINALS), (_ORDINALS, _DIGITS)):
            if token in row:
                found.append((*head, *other[row.index(token)].split("-"), *tail))
        if token in _ROMAN[1:] and head and not tail:
            n = _ROMAN.index(token)
            if head[-2:] == ("world", "war"):
                found += [(*head, _CARDINALS[n]), (*head, str(n + 1))]
                found += [(*head[:-2], row[n], *head[-2:]) for row in (_ORDINALS, _DIGITS)]
            else:
                found += [(*head, row[n]) for row in (_ORDINALS, _DIGITS)]
    if tokens[-1:] == ("century",):
        found += [(*one, era) for one in [tokens, *found] for era in ("ad", "ce")]
    return found


def _with_kinds(tokens: tuple[str, ...], asked: QuestionWords) -> list[tuple[str, ...]]:
    """ "danube river", "river danube" and "danube", where the question asks for a river."""
    found: list[tuple[str, ...]] = []
    if len(tokens) > 1 and tokens[0] in asked.kinds and len("".join(tokens[1:])) > 2:
        found.append(tokens[1:])  # "vitamin B12"
    for short, long in (("mt", "mount"), ("mount", "mt"), ("st", "saint"), ("saint", "st")):
        if short in tokens:
            found.append(tuple(long if token == short else token for token in tokens))
    for kind, asking in _KINDS.items():
        if asking.isdisjoint(asked.row):
            continue
        if kind in tokens:
            rest = tuple(token for token in tokens if token != kind)
            named = len(rest) == len(tokens) - 1 and rest and not _NO_NAMES.issuperset(rest)
            if named:
                found += [(*rest, kind), (kind, *rest)]
            if named and kind not in _KEEPING and "of" not in rest:
                found.append(rest)
        elif not any(other in tokens for other in _KINDS):
            found += [(*tokens, kind), (kind, *tokens), (kind, "of", *tokens)]
    return found


def in_usual_order(answer: str, aliases: Sequence[str]) -> str:
    """Return `answer` with "Bulgakov, Mikhail" as "Mikhail Bulgakov", if that is one of `aliases`."""
    if answer.count(",") != 1:
        return answer
    last, first = answer.split(",")
    head = re.search(rf"(?:^|\b(?:is|was|by|are)\s|:\s)({_LAST_FIRST.pattern})$", last.strip())
    tail = re.match(rf"\s*({_LAST_FIRST.pattern})(.*)$", first, re.DOTALL)
    if head is None or tail is None or not _BEHIND.fullmatch(tail[2]):
        return answer
    turned = known_tokens(f"{tail[1]} {head[1]}")
    for alias in (_TITLE.sub("", alias) for alias in aliases):
        words = plain(alias).split()
        if "," in alias or not 1 < len(words) < 6 or not words[0][:1].isupper():
            continue
        if not words[-1][:1].isupper() or {"and", "&", "of", "the"}.intersection(words):
            continue
        if "".join(turned) == "".join(known_tokens(alias)):
            return last.strip()[: head.start(1)] + alias + tail[2]
    return answer


_PAIR = re.compile(r"(?P<one>[A-Z][^,;&]{1,40}?) and (?:the )?(?P<other>[A-Z][^,;&]{1,40})")


def is_pair_turned(answer: str, alias: str) -> bool:
    """Return True if an answer is a pair of names in the other order: "Engels and Marx" for "Marx and Engels"."""
    wanted, said = (
        _PAIR.fullmatch(alias.strip()),
        _PAIR.fullmatch(answer.strip(" .").replace(" & ", " and ")),
    )
    if wanted is None or said is None or " and " in wanted["other"] or " and " in said["other"]:
        return False
    return known_tokens(said["one"]) == known_tokens(wanted["other"]) and known_tokens(
        said["other"]
    ) == known_tokens(wanted["one"])
