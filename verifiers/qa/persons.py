"""Tells if two names of a person are the same: order, initials, further given names, spellings of given names.

Read only where all of a reply is a name. Not covered: nicknames, married names, and one further given name before a surname
of several known people ("John Quincy Adams" is not John Adams).
"""

from __future__ import annotations

import re

from verigym.verifiers.qa.normalise import plain

_VARIANTS = tuple(
    frozenset(row.split())
    for row in (
        "steven stephen",
        "catherine katherine kathryn catharine katharine",
        "philip phillip",
        "geoffrey jeffrey",
        "sara sarah",
        "mark marc",
        "eric erik",
        "carl karl",
        "frederick frederic fredrick friedrich",
        "lawrence laurence",
        "alan allan allen",
        "nicolas nicholas nikolas",
        "teresa theresa",
        "ann anne",
        "elisabeth elizabeth",
        "michail mikhail",
        "fyodor fedor feodor",
        "leo lev",
        "alexander aleksandr alexandr",
        "sergei sergey",
        "dmitri dmitry",
        "matthew mathew",
        "gabriel gabriele",
        "brian bryan",
        "jon john",
        "muhammad mohammed mohammad muhammed",
    )
)
_HONOURS = frozenset("sir dame dr lord saint st professor president king queen pope".split())  # noqa: SIM905
PARTICLES = frozenset("di de da del della von van der den la le bin ibn al y e".split())  # noqa: SIM905
_SHARED = frozenset(
    "adams bush harrison johnson roosevelt strauss bach dumas grant wilson washington lee smith jones brown williams miller davis king".split()  # noqa: SIM905
)
"""Surnames of several known people, whom another given name tells apart."""
_PATRONYMIC = re.compile(r"(?:ovich|evich|ovna|evna|ich)$")
_NAME = re.compile(r"[^\W\d_][^\W\d_'’-]*\.?")


def is_same_person(reply: str, name: str) -> bool:
    """Return True if a whole reply is `name` in another order, with initials, more given names, or another spelling."""
    said, wanted = _words(reply), _words(name)
    if said is None or wanted is None or len(wanted) < 2 or not said:
        return False
    if "".join(said) == "".join(wanted) or (
        len(said[0]) > 1 < len(wanted[0])
        and _bare(said) == _bare(wanted)
        and (_bare(said) == said or _bare(wanted) == wanted)
    ):
        return True
    if len(said) == len(wanted):
        if len(said) == 2 and said == wanted[::-1]:
            return True
        pairs = list(zip(said, wanted, strict=True))
        if pairs[-1][0] != pairs[-1][1]:
            return False
        if all(one == other or _is_initial(one, other) for one, other in pairs):
            return True  # "John Ronald Reuel Tolkien" for "J. R. R. Tolkien"
        inner = all(one == other or _is_initial(one, other) for one, other in pairs[1:-1])
        first = pairs[0][0] == pairs[0][1] or any({*pairs[0]} <= row for row in _VARIANTS)
        return first and inner
    # "Michelangelo di Lodovico Buonarroti Simoni", "Agatha Mary Clarissa Christie"
    if len(said) == len(wanted) + 1 == 3 and said[::2] == wanted and _PATRONYMIC.search(said[1]):
        return True
    if len(said) == len(wanted) + 1 and len(said[1]) > 2 and wanted[-1] not in _SHARED:
        # "Pablo Ruiz Picasso", "Gabriel José García Márquez"
        return said[0] == wanted[0] and said[2:] == wanted[1:] and said[1] not in PARTICLES
    if len(said) < len(wanted) + 2 or said[0] != wanted[0] or said[1] == wanted[1]:
        return False  # another name behind this one
    whole = said[-1] == wanted[-1] or not PARTICLES.isdisjoint(said)
    return whole and len({*said}) == len(said) and _stands_within(wanted, said)


def _bare(words: list[str]) -> list[str]:
    """A name without its particles and its inner initials: "Harry S. Truman" is "Harry Truman"."""
    last = len(words) - 1
    return [
        word
        for k, word in enumerate(words)
        if word not in PARTICLES and not (0 < k < last and len(word) == 1)
    ]


def is_surname(reply: str, name: str) -> bool:
    """Return True if a whole reply is the surname of a person, perhaps behind initials: "Truman", "H. Truman"."""
    wanted = _words(name)
    said = reply.strip(" .").split()
    if wanted is None or not said or not said[-1][:1].isupper() or not _NAME.fullmatch(said[-1]):
        return False
    *initials, surname = (word.lower().rstrip(".") for word in said)
    if len(surname) < 4 or plain(surname) != wanted[-1] or _HONOURS.issuperset(wanted[:1]):
        return False
    given = wanted[:-1]
    if all(len(one) == 1 for one in given):
        return initials in ([], given)  # "J. Tolkien" may be another one
    return len(initials) <= len(given) and all(
        len(one) == 1 and other.startswith(one) for one, other in zip(initials, given, strict=False)
    )


def _is_initial(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) == 1 and long.startswith(short)


def _stands_within(wanted: list[str], said: list[str]) -> bool:
    rest = iter(said)
    return all(word in rest for word in wanted)


def _words(text: str) -> list[str] | None:
    """The words of a name in small letters, without honours; None if `text` is no name alone."""
    words = plain(text).strip(" .").split()
    if not 1 < len(words) < 7 or not all(_NAME.fullmatch(word) for word in words):
        return None
    if not all(word[0].isupper() or word in PARTICLES for word in words):
        return None
    low = [word.lower().rstrip(".") for word in words]
    if any(
        word.endswith(".") and len(one) > 1 and one not in _HONOURS
        for word, one in zip(words, low, strict=True)
    ):
        return None  # two sentences
    while len(low) > 2 and low[0] in _HONOURS:
        low = low[1:]
    return low
