"""Texts that are given by how they are made: questions about texts too long to be written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.family import Params, letters, one_of, whole, wholes
from verigym.envs.code.systems import System, draw_asked, in_row

_QUESTIONS = ("count", "runs", "longest", "find", "meter", "peak", "code", "picks")
_ASKED = 5
_LONGEST = 10**18
_PRIMES = (998244353, 1000000007, 999999937, 1000000009)
_SMALL_SIZE = 5
_SMALL = 300

_MAKES = """\
Texts are given by how they are made, and may have up to 10**18 letters. All letters are from the row {row}. These commands make the \
next text; texts are numbered from 1 in the order in which they are made. \
word W: the letters W. \
join i j: text i, followed by text j. \
times i n: n copies of text i, one after the other (n may be 0). \
mirror i: text i read backwards. \
turn i d: text i with each letter replaced by the letter d places further in the row, where the row begins again after its end. \
cut i a b: letters a to b of text i, counted from 1, both included; positions that text i does not have are left out, \
so there may be no letter left. \
squeeze i: text i with only one letter left of each block of equal letters side by side. \
spell i x (W): text i with the letters W in place of each letter x, all at once; the brackets are written, and () stands for no letters. \
All other commands are questions. \
length i: the number of letters of text i. \
same i j: the largest m for which the first m letters of text i are the first m letters of text j. \
The remaining questions are about the piece of text i from letter a to letter b, as in cut; it may be empty. """


class Scrolls(System):
    """Summaries of texts under joining, repeating, mirroring and replacing."""

    name: ClassVar[str] = "scrolls"
    faults: ClassVar[tuple[tuple[str, str], ...]] = (
        ("times(one, last - first - 1)", "times(one, last - first)"),
        ('"turn" + str(far)', '"turn"'),
        ('"spell " + old + new', '"spell " + old'),
        ("if length and letter(y, size(y) - 1)", 'if kind == "join" and letter(y, size(y) - 1)'),
        ("letter(y, size(y) - 1) == letter(then, 0)", "letter(y, 0) == letter(then, 0)"),
        ('x, "peak", (0, 0)', 'x, "meter", (0, 0)'),
        ("if meets and a[4] == a[0] else", "if a[4] == a[0] else"),
        ("a[5] + b[4] if meets else 0", "a[4] + b[4] if meets else 0"),
        ("(a[1] + b[1])[-most:]", "b[1][-most:]"),
        ("clamped(a[2] + b[0], b[1], b[2])\n", "min(a[2] + b[0], b[2])\n"),
        ("max(a[1], a[0] + b[1])", "max(a[1], a[0] + b[1], b[0])"),
        ("right = cut(one, 0, high - last * middle)", "right = cut(one, 0, high - first * middle)"),
    )

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        row = "abcde"[: whole(rng, 3, 5)]
        asked = draw_asked(rng, _QUESTIONS, _ASKED)
        values: dict[str, Callable[[], Params]] = {
            "count": lambda: {"mark": one_of(rng, row)},
            "find": lambda: {"pattern": one_of(rng, row) + letters(rng, whole(rng, 1, 2), row)},
            "meter": lambda: {
                "gains": _gains(rng, len(row)),
                "low": -whole(rng, 4, 12),
                "high": whole(rng, 4, 12),
                "start": whole(rng, 0, 3),
            },
            "peak": lambda: {"gains": _gains(rng, len(row))},
            "code": lambda: {
                "factors": in_row(wholes(rng, len(row), 2, 9)),
                "terms": in_row(wholes(rng, len(row), 0, 9)),
                "start": whole(rng, 0, 3),
                "modulus": _PRIMES[whole(rng, 0, len(_PRIMES) - 1)],
            },
            "picks": lambda: {
                "pick": one_of(rng, row) + letters(rng, whole(rng, 1, 2), row),
                "modulus": _PRIMES[whole(rng, 0, len(_PRIMES) - 1)],
            },
        }
        p: Params = {"asked": asked, "letters": row}
        for question in asked.split():
            if question in values:
                # Two questions may share a value.
                p = values[question]() | p
        return p

    @override
    def rules(self, p: Params) -> str:
        row = str(p["letters"])

        def each(name: str) -> str:
            return ", ".join(f"{c} {n}" for c, n in zip(row, str(p[name]).split(), strict=True))

        says: dict[str, Callable[[], str]] = {
            "count": lambda: f"count i a b: how many of its letters are {p['mark']}.",
            "runs": lambda: (
                "runs i a b: the number of its blocks of equal letters side by side, each as long as it can be."
            ),
            "longest": lambda: (
                "longest i a b: the number of letters of its longest block of equal letters side by side, 0 if it is empty."
            ),
            "find": lambda: (
                f"find i a b: at how many of its places {p['pattern']} begins and stands in it as a whole; these may overlap."
            ),
            "meter": lambda: (
                f"meter i a b: a meter shows {p['start']}; for each letter of the piece in turn it goes up by the value of "
                f"the letter ({each('gains')}), and then, if it shows less than {p['low']}, to {p['low']}, if more than {p['high']}, to {p['high']}. "
                "What does it show in the end?"
            ),
            "peak": lambda: (
                f"peak i a b: the largest sum of the values ({each('gains')}) of its first m letters, for any m from 0 to its length."
            ),
            "code": lambda: (
                f"code i a b: a number is {p['start']} at first; for each letter of the piece in turn it is multiplied by "
                f"the factor of the letter ({each('factors')}), and then the term of the letter ({each('terms')}) is added. The remainder "
                f"of the last number divided by {p['modulus']}."
            ),
            "picks": lambda: (
                f"picks i a b: in how many ways {len(str(p['pick']))} of its places can be chosen whose letters, from left to right, "
                f"are {p['pick']}; the remainder of that number divided by {p['modulus']}."
            ),
        }
        return _MAKES.format(row=row) + " ".join(
            says[question]() for question in str(p["asked"]).split()
        )

    @override
    def lines(self, rng: np.random.Generator, p: Params, size: int) -> list[str]:
        row, is_small = str(p["letters"]), size <= _SMALL_SIZE
        longest = _SMALL if is_small else _LONGEST
        made = [f"word {word}" for word in _draw_words(rng, p, is_small=is_small)]
        sizes = [len(line) - len("word ") for line in made]
        while len(made) < (size if is_small else 7 + size // 5):
            line = self._draw_text(rng, row, sizes, longest, is_small=is_small)
            (length,) = self.answers(p, [*made, line, f"length {len(made) + 1}"])
            # Short texts are of no use later on.
            if 2 <= int(length) <= longest:
                made.append(line)
                sizes.append(int(length))
        asked = []
        questions = str(p["asked"]).split()
        for question in [*questions, "length", "same", *([] if is_small else questions)]:
            if is_small and rng.random() < 0.3:
                continue
            i, j = _late(rng, len(made)), _late(rng, len(made))
            if question == "length":
                asked.append(f"length {i + 1}")
            elif question == "same":
                asked.append(f"same {i + 1} {j + 1}")
            else:
                asked.append(f"{question} {i + 1} {_piece(rng, sizes[i])}")
        return made + asked

    def _draw_text(
        self, rng: np.random.Generator, row: str, sizes: list[int], longest: int, *, is_small: bool
    ) -> str:
        """Return a command that makes the next text."""
        i, j = _late(rng, len(sizes)), whole(rng, 0, len(sizes) - 1)
        kind = one_of(
            rng, ("times",) * 3 + ("join", "join", "mirror", "turn", "cut", "squeeze", "spell")
        )
        match kind:
            case "join":
                return "join {} {}".format(
                    *((i + 1, j + 1) if rng.random() < 0.5 else (j + 1, i + 1))
                )
            case "times":
                most = min(4 if is_small else 10**9, longest // sizes[i])
                return f"times {i + 1} {whole(rng, min(2, most), most)}"
            case "turn":
                return f"turn {i + 1} {whole(rng, 1, len(row) - 1)}"
            case "cut":
                return f"cut {i + 1} {_piece(rng, sizes[i])}"
            case "spell":
                word = letters(rng, max(whole(rng, -1, 3), 0), row)
                return f"spell {i + 1} {one_of(rng, row)} ({word})"
        return f"{kind} {i + 1}"


def _gains(rng: np.random.Generator, count: int) -> str:
    """Return values of letters whose sum is near 0, so that sums of many go up and down."""
    gains = [whole(rng, 1, 7), *(whole(rng, -5, 5) for _ in range(count - 2))]
    gains.append(whole(rng, -1, 1) - sum(gains))
    return in_row([gains[int(at)] for at in rng.permutation(count)])


def _draw_words(rng: np.random.Generator, p: Params, *, is_small: bool) -> list[str]:
    """Return the words that texts are made of; the letters that are asked for stand in them."""
    row, most = str(p["letters"]), 1 if is_small else 4
    found = []
    for name in ("pattern", "pick"):
        around = [letters(rng, whole(rng, 1, most), row) for _ in range(2)]
        core = str(p.get(name, p.get("mark", one_of(rng, row))))
        if name == "pick" and not is_small:
            # From left to right, with others between.
            core = "".join(c + letters(rng, whole(rng, 0, 1), row) for c in core)
        found.append(around[0] + core + around[1])
    return found


def _late(rng: np.random.Generator, count: int) -> int:
    """Return an index below `count`, one near the end more often."""
    return max(whole(rng, 0, count - 1), whole(rng, 0, count - 1))


def _piece(rng: np.random.Generator, length: int) -> str:
    """Return the first and the last position of a long piece of a text; now and then beyond its end."""
    low = 1 + whole(rng, 0, length // 4)
    return f"{low} {whole(rng, low + length // 2, length + 1)}"
