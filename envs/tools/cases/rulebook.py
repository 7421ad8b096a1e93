"""Rules as data: traits, conditions, articles and fees; each has its words, and decides facts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from verigym.envs.tools.draws import Draws

Facts = Mapping[str, str | int]
"""Value of each trait of a case, by the name of the trait."""

RANKS = {"L": "Law", "H": "House rules", "W": "Wishes of the owner"}
"""Documents with articles by the letter of their numbers, the highest rank first."""


@dataclass(frozen=True)
class Trait:
    """A property of a case that rules ask about: one of `choices`, or a whole number."""

    name: str
    words: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    fixed: tuple[int, ...] = ()

    @property
    def marks(self) -> tuple[int, ...]:
        """Numbers that rules compare with; `fixed` if there are any."""
        if self.fixed:
            return self.fixed
        part = max(1, (self.most - self.least) // 5)
        return tuple(range(self.least + part, self.most, part))[:4]

    def draw(self, draws: Draws) -> str | int:
        """Draw a value; every other number is a mark or next to one."""
        if self.choices:
            return draws.pick(self.choices)
        if draws.below(2):
            return min(self.most, max(self.least, draws.pick(self.marks) + draws.between(-1, 1)))
        return draws.between(self.least, self.most)


class ValueClasses:
    """Classes of the values of numeric traits that rules do not tell apart."""

    def __init__(self, traits: Iterable[Trait]) -> None:
        self._marks = [(one.name, sorted(one.marks)) for one in traits]

    def of(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return, for each trait, the number of marks below its value."""
        return tuple([bisect_left(marks, values[name]) for name, marks in self._marks])


@dataclass(frozen=True)
class RuleCondition:
    """A comparison of a trait with a value; `sign` is one of `is`, `is not`, `is above`, `is at most`."""

    trait: str
    subject: str
    sign: str
    value: str | int

    @property
    def words(self) -> str:
        """Return the condition in words."""
        return f"{self.subject} {self.sign} {self.value}"

    def holds(self, facts: Facts) -> bool:
        """Return True if the facts are so."""
        found = facts[self.trait]
        if self.sign == "is":
            return found == self.value
        if self.sign == "is not":
            return found != self.value
        above = int(found) > int(self.value)
        return above if self.sign == "is above" else not above


@dataclass(frozen=True)
class Article:
    """A provision: what it says of cases for which all of `when` hold, with an exception, and an exception of
    that."""

    number: str
    allows: bool
    when: tuple[RuleCondition, ...]
    unless: RuleCondition | None = None
    but: RuleCondition | None = None
    most: int | None = None
    """Largest amount that is carried out, if the article cuts it."""

    @property
    def body(self) -> str:
        """Return the article in words, without its number."""
        verdict = "Carry out" if self.allows else "Refuse"
        if self.most is not None:
            verdict += f" with an amount of at most {self.most}"
        words = f"{verdict} if {' and '.join(one.words for one in self.when)}"
        if self.unless is not None:
            words += f", unless {self.unless.words}"
        if self.but is not None:
            words += f"; this exception does not hold if {self.but.words}"
        return f"{words}."

    def without_exception(self) -> Article:
        """Return the article as it is for who ignores its exception."""
        return replace(self, unless=None, but=None)

    def applies(self, facts: Facts) -> tuple[bool, int]:
        """Return True if the article applies, and the number of conditions compared."""
        operations = 0
        for condition in self.when:
            operations += 1
            if not condition.holds(facts):
                return False, operations
        if self.unless is None:
            return True, operations
        operations += 1
        if not self.unless.holds(facts):
            return True, operations
        if self.but is None:
            return False, operations
        operations += 1
        return self.but.holds(facts), operations


@dataclass(frozen=True)
class Amendment:
    """A change of the articles from a day on: `article` takes the place of the one of its number, or comes after
    `after`, or, if it is None, the article `after` is repealed."""

    since: str
    after: str
    article: Article | None

    @property
    def words(self) -> str:
        """Return the amendment in words."""
        if self.article is None:
            return f"Article {self.after} is repealed."
        if self.article.number == self.after:
            return f"Article {self.after} now reads: {self.article.body}"
        return f"Article {self.article.number} is inserted right after article {self.after}: {self.article.body}"


def in_force(
    articles: Sequence[Article], amendments: Sequence[Amendment], day: str
) -> list[Article]:
    """Return the articles of a day in their order."""
    found = list(articles)
    for amendment in amendments:
        if amendment.since > day:
            continue
        place = next(i for i, one in enumerate(found) if one.number == amendment.after)
        if amendment.article is None:
            del found[place]
        elif amendment.article.number == amendment.after:
            found[place] = amendment.article
        else:
            found.insert(place + 1, amendment.article)
    return found


def decide(articles: Sequence[Article], facts: Facts) -> tuple[Article | None, int]:
    """Return the first article that applies, and the number of conditions compared."""
    operations = 0
    for article in articles:
        applies, compared = article.applies(facts)
        operations += compared
        if applies:
            return article, operations
    return None, operations


@dataclass(frozen=True)
class Tariff:
    """Fees: a base and a percentage of the amount, limited; halved or dropped under conditions."""

    base: int
    percent: int
    bound: int
    upper: int
    most: int
    half: RuleCondition
    free: RuleCondition
    follows: dict[str, dict[str, int]] = field(default_factory=dict)
    """Added at last: by the kind that was carried out last before, the fact `before`, and the kind of the case."""
    kind: str = "kind"
    """Trait of the kind."""
    last: str = ""
    """Words for the kind that was carried out last before."""

    @property
    def words(self) -> str:
        """Return the tariff in words."""
        return (
            f"The fee of a case that is carried out is {self.base} plus {self.percent} percent (the first percentage) "
            f"of the part of the amount up to {self.bound} and {self.upper} percent of the part above it; the sum of "
            f"both parts is rounded up to a whole number once. If {self.half.words}, the fee, with its base, is "
            f"halved, and rounded up again. In every case, a fee above {self.most} then becomes {self.most}. If {self.free.words}, it is 0, whatever is said "
            f"above.{self.follows_words}"
        )

    @property
    def follows_words(self) -> str:
        """Return what is added by the kind before, in words."""
        if not self.follows:
            return ""
        rows = [
            f"after {before}, " + ", ".join(f"{more} for {kind}" for kind, more in row.items())
            for before, row in self.follows.items()
        ]
        return (
            f" At last, whatever is said above, this is added by {self.last}, nothing if there was none: "
            f"{'; '.join(rows)}."
        )

    def fee(self, amount: int, facts: Facts) -> int:
        """Return the fee of a case that is carried out."""
        more = self.more(str(facts.get("before", "")), str(facts.get(self.kind, "")))
        if self.free.holds(facts):
            return more
        fee = self._full(amount)
        if self.half.holds(facts):
            fee = -(-fee // 2)
        return min(fee, self.most) + more

    def most_of(self, amount: int) -> int:
        """Return the fee of a case that no condition lowers, but for what its kind adds."""
        return min(self._full(amount), self.most)

    def more(self, before: str, kind: str) -> int:
        """Return what is added for a kind that comes right after another; nothing if that is empty."""
        return self.follows[before][kind] if self.follows and before else 0

    def _full(self, amount: int) -> int:
        upper = max(0, amount - self.bound)
        hundredths = (amount - upper) * self.percent + upper * self.upper
        return self.base - -hundredths // 100

    def at(self, percent: int) -> Tariff:
        """Return the tariff with another percentage."""
        return replace(self, percent=percent)


class RuleDraws:
    """Draws conditions and articles about some traits."""

    def __init__(self, draws: Draws, traits: Sequence[Trait]) -> None:
        self.draws = draws
        self.traits = traits

    def condition(self, trait: Trait, narrow: bool = False) -> RuleCondition:
        """Draw a condition about a trait; a `narrow` one holds in few cases."""
        draws = self.draws
        if trait.choices:
            sign = "is" if narrow or draws.below(3) else "is not"
            return RuleCondition(trait.name, trait.words, sign, draws.pick(trait.choices))
        half = len(trait.marks) // 2
        above = draws.below(2) == 0
        if narrow:
            marks = trait.marks[half:] if above else trait.marks[: len(trait.marks) - half]
        else:
            marks = trait.marks
        sign = "is above" if above else "is at most"
        return RuleCondition(trait.name, trait.words, sign, draws.pick(marks))

    def conditions(self, n: int, narrow: int = 0) -> list[RuleCondition]:
        """Draw conditions about different traits, the first of them narrow."""
        traits = self.draws.some(self.traits, n)
        return [self.condition(trait, i < narrow) for i, trait in enumerate(traits)]

    def follows(self, kinds: Sequence[str]) -> dict[str, dict[str, int]]:
        """Draw what is added for each kind after each other."""
        return {one: {kind: self.draws.below(16) for kind in kinds} for one in kinds}

    def article(self, number: str, generous: bool = False) -> Article:
        """Draw an article of two conditions; most have an exception, and half of these one of their own.

        Every other article carries out, of `generous` ones three in four, mostly with a smaller amount."""
        draws = self.draws
        first, second, unless, but = self.conditions(4, narrow=1)
        depth = draws.below(10)
        allows = draws.below(4) > 0 if generous else draws.below(2) == 0
        return Article(
            number,
            allows=allows,
            when=(first, second),
            unless=unless if depth > 2 else None,
            but=but if depth > 5 else None,
            most=draws.between(30, 120) if allows and draws.below(3) <= generous else None,
        )

    def tariff(self) -> Tariff:
        """Draw a tariff."""
        draws = self.draws
        half, free = self.conditions(2, narrow=2)
        first, second = draws.some(range(2, 13), 2)
        bound, most = draws.between(50, 110), draws.between(14, 24)
        return Tariff(draws.between(2, 9), first, bound, second, most, half, free)
