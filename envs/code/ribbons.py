"""Ribbons of letters that machines go through: questions about ribbons too long to be written down."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.family import Params, letters, one_of, whole
from verigym.envs.code.filters import draw_machine, told_samples
from verigym.envs.code.systems import System, draw_asked, in_row

_MAKES = ("sums", "twist", "each", "swap", "cap")
_QUESTIONS = ("runs", "longest", "best", "least", "kinds", "free", "nth")
_WHOLE = ("arms", "order", "same")
_LONGEST, _SMALL, _SMALL_SIZE = 10**18, 160, 5
_STATES = 5

_RULES = """\
Ribbons are rows of letters, given by how they are made, and may have up to 10**18 letters. All letters are from the row {row}. \
These commands make the next ribbon; ribbons are numbered from 1 in the order in which they are made. \
word W: the letters W. \
join i j: ribbon i, followed by ribbon j. \
times i n: n copies of ribbon i, one after the other. \
cut i a b: letters a to b of ribbon i, counted from 1, both included; positions that ribbon i does not have are left out, so there \
may be no letter left. \
mirror i: ribbon i read backwards. \
filter i: what a certain machine writes while it reads ribbon i. The machine has {states} states and begins each ribbon in the first \
one. For each letter that it reads it writes one letter and goes into one of its states, another or the same; its state and the letter \
that is read decide both. You only know what it writes for some ribbons, where ? stands for one letter that you do not know: \
{samples}. No other machine with at most {states} states writes this, but for the names of the states. \
{makes} All other commands are questions; in them, the piece is what cut i a b would make, which may have no letter. \
length i: the number of letters of ribbon i. {questions}"""


class Ribbons(System):
    """Machines and cancelling on texts that are given by how they are made; one machine is known only by examples."""

    name: ClassVar[str] = "ribbons"
    hidden_sizes: ClassVar[tuple[int, ...]] = (4, 5, 20, 30, 40, 40)
    faults: ClassVar[tuple[tuple[str, str], ...]] = (
        (
            "kept[:-1] if kept[-1:] == c else kept + c",
            "kept[:-1] if c in kept[-1:] + kept[-2:-1] else kept + c",
        ),
        ("agree(mirrored(one), other)", "agree(mirrored(other), one)"),
        ("cut(one, 0, size(one) - m)", "cut(one, 0, size(other) - m)"),
        ('"twist " + mark + str(far)', '"twist " + mark'),
        ('"each " + str(step) + " " + str(rest)', '"each " + str(step)'),
        ('                return new, ""\n', "                return new, held[1:]\n"),
        ("                held = held[1:]\n", '                held = ""\n'),
        ("return join(y, literal(held))", "return y"),
        (
            "count = min(count, most) + 1 if c == last else 1",
            "count = count % most + 1 if c == last else 1",
        ),
        ("if meets and a[4] == a[0] else", "if a[4] == a[0] else"),
        ("a[5] + b[4] if meets else 0", "a[4] + b[4] if meets else 0"),
        ("max(b[2], a[2] + b[0])", "max(b[2], a[1] + b[0])"),
        ("ways - (a[0] == low)", "ways - (a[1] == low)"),
        ("(a[1] + b[1])[-most:]", "b[1][-most:]"),
        ("b[0] + a[2] if b[2] == b[0] else b[2]", "b[0] + a[2] if b[1] == b[0] else a[2]"),
        ("places[n - 1]", "places[-n]"),
        ("if m == size(x) or m == size(y)", "if m == size(x)"),
        (
            "agree(mirrored(cut(x, 0, at)), cut(x, at, size(x)))",
            "agree(mirrored(x), cut(x, at, size(x)))",
        ),
    )

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        row = "abcd"
        table, samples = draw_machine(rng, row, _STATES)
        makes, questions = draw_asked(rng, _MAKES, 3), draw_asked(rng, _QUESTIONS, 4)
        p: Params = {
            "asked": f"cancel {makes} {questions} left {draw_asked(rng, _WHOLE, 2)}",
            "letters": row,
            "table": table,
            "samples": samples,
        }
        if not {"best", "least"}.isdisjoint(questions.split()):
            p["gains"] = in_row(_gains(rng, len(row)))
        if "kinds" in questions.split():
            p["span"] = whole(rng, 2, 3)
        return p

    @override
    def constants(self, p: Params) -> Params:
        return {name: value for name, value in p.items() if name not in ("asked", "samples")}

    @override
    def rules(self, p: Params) -> str:
        row = str(p["letters"])
        told = str(p.get("gains", "")).split()
        gains = ", ".join(f"{c} {n}" for c, n in zip(row, told, strict=bool(told)))
        places = ", ".join(f"{c} {at}" for at, c in enumerate(row))
        piece = "in the piece"
        says: dict[str, str] = {
            "cancel": "cancel i: ribbon i is read from its first letter to its last; a letter that is equal to the last of the letters kept so far "
            "is not kept, and that last letter is kept no longer; any other letter is kept after those kept so far. The letters kept in the end.",
            "sums": f"sums i: in place of each letter of ribbon i the letter whose value ({places}) is the sum of the values of this letter "
            f"and of all letters of ribbon i before it, or rather the remainder of this sum divided by {len(row)}.",
            "twist": "twist i x d: each letter of ribbon i is replaced by the one that is d * m places further in the row, where the row begins "
            "again after its end and m is the number of letters x in ribbon i before that letter.",
            "each": "each i k r: the letters of ribbon i at the positions, counted from 1, whose remainder divided by k is r.",
            "swap": "swap i (W) (V): ribbon i is read from left to right, and the letters V are put in place of W wherever W stands, but never where "
            "it overlaps with a W before it that was replaced; what was put in place is not read again. The brackets are written, and the second ones may be empty.",
            "cap": "cap i m: of each block of equal letters side by side in ribbon i, as long as it can be, only the first m letters, or all if it has fewer.",
            "runs": f"runs i a b: the number of blocks of equal letters side by side, each as long as it can be, {piece}.",
            "longest": f"longest i a b: the number of letters of the longest block of equal letters side by side {piece}, 0 if it has no letter.",
            "best": f"best i a b: letters have gains ({gains}); the largest sum of the gains of letters that follow each other without a gap, of any number "
            f"of them, none included (sum 0), {piece}.",
            "least": f"least i a b: letters have gains ({gains}); two numbers: the least sum of the gains of the first m letters, for m from 0 to the number "
            f"of letters, and for how many of these m the sum is the least one, {piece}.",
            "kinds": f"kinds i a b: the number of different words of {p.get('span')} letters that stand without a gap at some place {piece}.",
            "free": f"free i a b x: the largest number of letters that follow each other without a gap and none of which is x, {piece}, 0 if there is none.",
            "left": "left i a b: the number of letters that cancel would keep of the piece.",
            "nth": "nth i x n: the position, counted from 1, of the nth letter x in ribbon i, or none if it has fewer.",
            "arms": "arms i a: the largest m for which the m letters of ribbon i up to position a, read backwards, are the m letters that begin right after position a.",
            "same": "same i j: the largest m for which the first m letters of ribbon i are the first m letters of ribbon j.",
            "order": "order i j: first, second or equal: which of ribbons i and j comes before the other in the order of a dictionary, or that they are equal; a ribbon "
            "comes before all longer ones that begin with it.",
        }
        asked = str(p["asked"]).split()
        return _RULES.format(
            row=row,
            states=_STATES,
            samples=told_samples(str(p["samples"])),
            makes=" ".join(says[one] for one in asked if one in ("cancel", *_MAKES)),
            questions=" ".join(says[one] for one in asked if one not in ("cancel", *_MAKES)),
        )

    @override
    def lines(self, rng: np.random.Generator, p: Params, size: int) -> list[str]:
        row, is_small = str(p["letters"]), size <= _SMALL_SIZE
        asked = str(p["asked"]).split()
        longest = _SMALL if is_small else _LONGEST
        makes = [one for one in asked if one in ("cancel", *_MAKES)] + ["filter"]
        while True:
            made = [
                f"word {letters(rng, whole(rng, 3, 6 if is_small else 9), row)}" for _ in range(2)
            ]
            most = [len(line) - len("word ") for line in made]
            while len(made) < (size + 1 if is_small else 11 + size // 4):
                drawn = _draw_ribbon(rng, row, most, makes, longest, is_small=is_small)
                if len(made) + len(drawn) > 24:
                    break
                made += [line for line, _ in drawn]
                most += [length for _, length in drawn]
            lengths = self.answers(p, [*made, *(f"length {i + 1}" for i in range(len(made)))])
            sizes = [int(length) for length in lengths]
            long = [i for i, n in enumerate(sizes) if n >= (3 if is_small else 10**9)]
            if len(long) >= len(made) // 3:
                break
        questions = [one for one in asked if one not in ("cancel", *_MAKES)] + ["length"]
        found = []
        for question in questions if is_small else questions * 3:
            if is_small and rng.random() < 0.4:
                continue
            # Now and then about a short one.
            i = _late(rng, long) if rng.random() < 0.9 else whole(rng, 0, len(made) - 1)
            found.append(_question(rng, question, i, _late(rng, long), sizes[i], row))
        return made + found[: 60 - len(made)]


def _question(rng: np.random.Generator, question: str, i: int, j: int, size: int, row: str) -> str:
    """Return a question about ribbon `i`, counted from 0, which has `size` letters."""
    match question:
        case "length":
            return f"length {i + 1}"
        case "nth":
            return f"nth {i + 1} {one_of(rng, row)} {whole(rng, 1, max(size // 4, 1))}"
        case "arms":
            # In the middle rather often.
            middle = size // 2 if rng.random() < 0.6 else whole(rng, 1, size)
            return f"arms {i + 1} {max(middle, 1)}"
        case "order" | "same":
            return f"{question} {i + 1} {j + 1}"
    low = 1 + whole(rng, 0, size // 4)
    piece = f"{question} {i + 1} {low} {whole(rng, low + size // 2, size + 1)}"
    return f"{piece} {one_of(rng, row)}" if question == "free" else piece


def _draw_ribbon(
    rng: np.random.Generator,
    row: str,
    most: list[int],
    makes: list[str],
    longest: int,
    *,
    is_small: bool,
) -> list[tuple[str, int]]:
    """Return commands that make the next ribbons, and how long these are at most."""
    drawn: list[tuple[str, int]] = []
    while not drawn or max(length for _, length in drawn) > longest:
        i, j = (max(whole(rng, 0, len(most) - 1), whole(rng, 0, len(most) - 1)) for _ in range(2))
        kind = one_of(rng, ("times",) * 4 + ("join", "cut", "fold") + ("make",) * 5)
        if kind == "fold":
            # A ribbon and its mirror image side by side, so that much cancels and arms are long.
            side = i if rng.random() < 0.5 else j
            drawn = [
                (f"mirror {i + 1}", most[i]),
                (f"join {side + 1} {len(most) + 1}", most[i] + most[side]),
            ]
        else:
            kind = one_of(rng, tuple(makes)) if kind == "make" else kind
            rest, length = _rest(rng, kind, row, most[i], most[j], j, is_small=is_small)
            drawn = [(f"{kind} {i + 1}{rest}", length)]
    return drawn


def _rest(
    rng: np.random.Generator,
    kind: str,
    row: str,
    length: int,
    other: int,
    j: int,
    *,
    is_small: bool,
) -> tuple[str, int]:
    """Return what stands behind the number of a ribbon with `length` letters at most, and the length of what is made;
    ribbon `j` has `other` letters at most."""
    match kind:
        case "times":
            n = whole(rng, 2, 4) if is_small else 10 ** whole(rng, 1, 6) + whole(rng, 1, 99)
            return f" {n}", n * length
        case "join":
            return f" {j + 1}", length + other
        case "cut":
            low = 1 + whole(rng, 0, length // 6)
            return f" {low} {whole(rng, length - length // 6, length)}", length
        case "swap":
            old, new = letters(rng, whole(rng, 2, 3), row), letters(rng, whole(rng, 0, 4), row)
            return f" ({old}) ({new})", max(length, length // len(old) * len(new) + len(old))
        case "twist":
            return f" {one_of(rng, row)} {whole(rng, 1, len(row) - 1)}", length
        case "each":
            step = whole(rng, 2, 4)
            return f" {step} {whole(rng, 0, step - 1)}", length // step + 1
        case "cap":
            return f" {whole(rng, 1, 3)}", length
        case _:
            return "", length


def _late(rng: np.random.Generator, places: list[int]) -> int:
    """Return one of some places, one near the end more often."""
    return places[max(whole(rng, 0, len(places) - 1), whole(rng, 0, len(places) - 1))]


def _gains(rng: np.random.Generator, count: int) -> list[int]:
    """Return gains of both signs, so that sums go up and down."""
    gains = [whole(rng, 1, 5) * (1 if at % 2 else -1) for at in range(count)]
    return [gains[int(at)] for at in rng.permutation(count)]
