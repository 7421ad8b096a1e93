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
from verigym.envs.tools.read_strikes import JournalFigures, StrikeReader, who_is
from verigym.envs.tools.struck_journal import NUMBERS

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
        self._held: dict[tuple[str, str], int] = {}

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

    # Journals.

    def _page(self, title: str) -> str | None:
        """Search for a page, looking at each result."""
        for found, text in find(self.pages, title):
            self.operations += 1
            if found == title:
                return text
        return None

    def held(self, title: str, what: str) -> int:
        """Return a figure with its correction, unless that is withdrawn."""
        self.operations += 1
        if (title, what) not in self._held:
            text = self._page(f"Correction: {title}")
            found = None if text is None else re.search(_FIGURES[what], text)
            if found is not None and self._page(f"Withdrawal: {title}") is None:
                self._held[title, what] = int(found[1])
            else:
                self._held[title, what] = self.figure(title, what)
        return self._held[title, what]

    def _who(self, words: str) -> str:
        return who_is(self._page, words)

    def _journal(self, purse: str, lines: str) -> int:
        held, crates = int(purse), dict[str, int]()
        for line in lines.strip().splitlines():
            self.operations += 1
            held = self._entry(line.partition(". ")[2], held, crates)
        return held + 3 * sum(crates.values())

    def _struck_journal(self, purse: str, k: str, each: str, lines: str) -> int:
        entries = [line.partition(". ")[2] for line in lines.strip().splitlines()]
        reader = StrikeReader(entries, JournalFigures(self.held, self.figure, self._who))
        struck = next(number for number, word in NUMBERS.items() if word == k)
        most = int(reader.choices(int(purse), struck, int(each)).left.max())
        # Each entry of each choice is a column of an array, where no line of its own is executed for it.
        for _ in range(reader.operations):
            self.operations += 1
        return most

    def _entry(self, line: str, purse: int, crates: dict[str, int]) -> int:
        """Return the purse after an entry, with the crates changed."""
        if match := re.match(
            r"Buy as many whole crates from (.*) as the purse .* most (\d+)\.", line
        ):
            firm = self._who(match[1])
            price = self.held(firm, "price")
            n = min(int(match[2]), int(self.calculate(f"{purse} / {price}") // 1))
            crates[firm] = crates.get(firm, 0) + n
            return int(self.calculate(f"{purse} - {n} * {price}"))
        if match := re.match(r"Buy as many whole crates from (.*) as weigh at most (\d+)", line):
            firm = self._who(match[1])
            n = int(self.calculate(f"{match[2]} / {self.held(firm, 'weight')}") // 1)
            left = int(self.calculate(f"{purse} - {n} * {self.held(firm, 'price')}"))
            crates[firm] = crates.get(firm, 0) + (n if left >= 0 else 0)
            return left if left >= 0 else purse
        if match := re.match(r"Sell half of the crates from (.*) that are .* for (\d+)", line):
            n = crates.get(match[1], 0) // 2
            crates[match[1]] = crates.get(match[1], 0) - n
            price = self.held(match[1], "price")
            return purse + int(self.calculate(f"{n} * {price} * {match[2]} / 100") // 1)
        if match := re.match(r"Let (.*) carry all crates", line):
            carrier, n = self._who(match[1]), sum(crates.values())
            off = self.figure(carrier, "percent") if n >= self.figure(carrier, "crates") else 0
            each = self.held(carrier, "carriage")
            left = purse - int(self.calculate(f"{n} * {each} * {100 - off} / 100"))
            return left if left >= 0 else purse
        match = re.search(r"inhabitants of (\w+) by", line)
        if match is None:
            raise LookupError(f"no reading of {line!r}")
        length, people = self.held(f"{match[1]} bridge", "bridge"), self.held(match[1], "now")
        return int(self.calculate(f"{purse} {'-' if 10 * purse > people else '+'} {length}"))


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
    (
        r"^A trader starts with an empty store and (\d+) euros[^\n]* Exactly (\w+) of its[^\n]* plus (\d+) for each "
        r"[^\n]*\n[^\n]*\n((?:\d+\. [^\n]*\n)+)",
        AlmanacReader._struck_journal,
    ),
    (
        r"^A trader starts with an empty store and (\d+) euros[^\n]*\n[^\n]*\n((?:\d+\. [^\n]*\n)+)",
        AlmanacReader._journal,
    ),
)
