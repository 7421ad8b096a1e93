"""Answer a question about the almanac as an agent with the tools does, and count the steps.

A step is a result of a search looked at, a figure read off a page or off the agent's own notes, figures
compared, or a token of a calculation or program written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from verigym.envs.tools.almanac import Page, find, primes_below
from verigym.envs.tools.calculator import compute

_TOKEN = re.compile(r"\w+|\*\*|\S")
_FIGURES = {
    "weight": r" weighs (\d+) kilograms",
    "price": r" costs (\d+) euros",
    "now": r" has (\d+) inhabitants",
    "then": r" had (\d+) inhabitants",
    "bridge": r" is (\d+) metres long",
    "carriage": r" takes (\d+) euros",
    "crates": r"From (\d+) crates",
    "percent": r" takes (\d+) percent",
}


class AlmanacReader:
    """Answers questions from pages and counts the steps in `operations`."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = pages
        self.operations = 0
        self._notes: dict[tuple[str, str], int] = {}

    def answer(self, prompt: str) -> int:
        """Return the answer to the question in a prompt. Raises LookupError if it is of an unknown kind."""
        for pattern, answer in _QUESTIONS:
            if match := re.search(pattern, prompt):
                return answer(self, *match.groups())
        raise LookupError(f"no reading of {prompt[:200]!r}")

    # Steps.

    def figure(self, title: str, what: str) -> int:
        """Return a figure of a page: out of the notes, or found by a search for its title."""
        self.operations += 1
        if (title, what) not in self._notes:
            for found, text in find(self.pages, title):
                self.operations += 1
                if found == title:
                    self._note(title, text)
                    break
        return self._notes[title, what]

    def _note(self, title: str, text: str) -> None:
        for what, pattern in _FIGURES.items():
            if match := re.search(pattern, text):
                self.operations += 1
                self._notes[title, what] = int(match[1])

    def write(self, text: str) -> str:
        """Write a calculation or a program token by token."""
        for _ in _TOKEN.findall(text):
            self.operations += 1
        return text

    def calculate(self, expression: str) -> Fraction:
        """Write an expression and have it computed."""
        return compute(self.write(expression))

    # Answers, by kind of question.

    def _weight(self, firm: str) -> int:
        return self.figure(firm, "weight")

    def _load(self, n: str, firm: str) -> int:
        return int(self.calculate(f"{n} * {self.figure(firm, 'weight')}"))

    def _two_weights(self, one: str, two: str) -> int:
        return int(self.calculate(f"{self.figure(one, 'weight')} + {self.figure(two, 'weight')}"))

    def _difference(self, one: str, two: str) -> int:
        return int(self.calculate(f"{self.figure(one, 'now')} - {self.figure(two, 'now')}"))

    def _growth(self, *towns: str) -> int:
        now = " + ".join(str(self.figure(town, "now")) for town in towns)
        then = " + ".join(str(self.figure(f"History of {town}", "then")) for town in towns)
        return int(self.calculate(f"{now} - ({then})"))

    def _shipment(self, carrier: str, n: str, firm: str) -> int:
        crates = int(n)
        price, each = self.figure(firm, "price"), self.figure(carrier, "carriage")
        self.operations += 1
        if crates < self.figure(carrier, "crates"):
            return int(self.calculate(f"{n} * {price} + {n} * {each}"))
        left = 100 - self.figure(carrier, "percent")
        return int(self.calculate(f"{n} * {price} + {n} * {each} * {left} / 100"))

    def _lorry(self, most: str, firm: str) -> int:
        crates = math.floor(self.calculate(f"{most} / {self.figure(firm, 'weight')}"))
        return int(self.calculate(f"{crates} * {self.figure(firm, 'price')}"))

    def _primes(self, one: str, two: str) -> int:
        few, many = self.figure(one, "now"), self.figure(two, "now")
        self.write(PRIMES.format(few=few, many=many))
        return primes_below(many) - primes_below(few + 1)

    def _digits(self, town: str, power: str) -> int:
        number = self.figure(town, "now")
        self.write(DIGITS.format(number=number, power=power))
        return sum(map(int, str(number ** int(power))))

    def _multiples(self, town: str, firm: str, other: str) -> int:
        most, p = self.figure(town, "now"), self.figure(firm, "weight")
        q = self.figure(f"{other} bridge", "bridge")
        self.write(MULTIPLES.format(p=p, q=q, most=most))
        return most // p + most // q - 2 * (most // math.lcm(p, q))

    def _orders(self, lines: str) -> int:
        total = 0
        for line in lines.strip().splitlines():
            self.operations += 1
            total += self._order(line)
        return total

    def _order(self, line: str) -> int:
        if match := re.search(r"(\d+) crates of \w+ from (.*), carried by (.*)$", line):
            return self._shipment(match[3], match[1], match[2])
        match = re.search(r"crates of \w+ from (.*) as weigh at most (\d+) kilo", line)
        if match is None:
            raise LookupError(f"no reading of {line!r}")
        return self._lorry(match[2], match[1])


PRIMES = (
    "print(sum(all(n % d for d in range(2, int(n ** 0.5) + 1)) for n in range({few} + 1, {many})))"
)
DIGITS = "print(sum(map(int, str({number} ** {power}))))"
MULTIPLES = "print(sum((n % {p} == 0) != (n % {q} == 0) for n in range(1, {most} + 1)))"
"""Programs that answer the questions of level 6, as one would give them to the tool."""

_QUESTIONS: tuple[tuple[str, Callable[..., int]], ...] = (
    (r"^How many kilograms does one crate of \w+ from (.*) weigh\?", AlmanacReader._weight),
    (r"^How many kilograms do (\d+) crates of \w+ from ([\w ]*) weigh\?", AlmanacReader._load),
    (
        r"^How many kilograms do one crate of \w+ from (.*) and one crate of \w+ from (.*) weigh together",
        AlmanacReader._two_weights,
    ),
    (r"how many more inhabitants does (\w+) have than (\w+)\?", AlmanacReader._difference),
    (r"^How many inhabitants do (\w+), (\w+) and (\w+) have together", AlmanacReader._growth),
    (r"^(.*) carries (\d+) crates of \w+ from (.*?)\. What", AlmanacReader._shipment),
    (
        r"A lorry can carry (\d+) kilograms.* crates of \w+ from (.*) as it can",
        AlmanacReader._lorry,
    ),
    (r"^Let m and n be the numbers of inhabitants of (\w+) and (\w+) by", AlmanacReader._primes),
    (
        r"^Let n be the number of inhabitants of (\w+) by .*\(n to the power of (\d+)\)",
        AlmanacReader._digits,
    ),
    (
        r"^Let n be the number of inhabitants of (\w+) by .*crate of \w+ from (.*), and q .* bridge at (\w+)\.",
        AlmanacReader._multiples,
    ),
    (r"^What do these orders cost[^\n]*\n((?:\d+\. [^\n]*\n)+)", AlmanacReader._orders),
)
