"""A second way to the answers: facts read from the text of every page, questions taken apart as text.

Nothing here looks at the arrays of the world, and every phrase is read in all ways that it can be.
"""

import re

from verigym.envs.search.schema import FIGURES, LINKS

_REF = r"[^\[\].;,]+? \[(p\d{5})\]"
_DATE = r"\d+ \w+ \d{4}"
_LINKS = {
    "birthplace": rf"was born on {_DATE} in {_REF}",
    "spouse": rf"Spouse: {_REF}",
    "teacher": rf"Teacher: {_REF}",
    "alma_mater": rf"Studied at {_REF}",
    "employer": rf"Employer: {_REF}",
    "founder": rf"its founder was {_REF}",
    "seat": rf"is a firm in \w+, with its seat in {_REF}",
    "head": rf"its head is {_REF}",
    "author": rf"is an? \w+ by {_REF}, its author",
    "publisher": rf"Its publisher was {_REF}",
    "setting": rf"It is set in {_REF}",
    "region": rf"in the region of {_REF}",
    "mayor": rf"its mayor is {_REF}",
    "venue": rf"held in {_REF}",
    "host": rf"was an event hosted by {_REF}",
    "campus": rf"is a school in the town of {_REF}",
    "rector": rf"Its rector is {_REF}",
    "capital": rf"Its capital is {_REF}",
    "ruler": rf"its ruler {_REF}",
}
_FIGURES = {
    "born": rf"was born on ({_DATE}) in",
    "occupation": r"^[^,]+, (\w+), was born",
    "founded": r"It was founded in (\d+);",
    "industry": r"is a firm in (\w+), with",
    "staff": r"its number of staff is (\d+)",
    "finished": r"finished in (\d+)",
    "form": r"is an? (\w+) by ",
    "chartered": r"It was chartered in (\d+)",
    "population": r"its population is (\d+)",
    "river": r"is a town on the river (\w+) in",
    "opened": rf"It opened on ({_DATE})",
    "visitors": r"It had (\d+) visitors",
    "established": r"established in (\d+)",
    "currency": r"Its currency is the (\w+)",
}
_DATED = rf"As of ({_DATE}),"
_ENTRY = (
    rf"^Entry in the public register about {_REF}\. Dated ({_DATE})\. Status: (\w+)\. The (.+?) of "
)
_MONTHS = "January February March April May June July August September October November December"


def day(text):
    """A date, to be compared with others."""
    number, month, year = text.split()
    return int(year), _MONTHS.split().index(month), int(number)


class ByHand:
    """All that the pages of a library say."""

    def __init__(self, library):
        world = library.world
        self.titles, self.texts = {}, {}
        for page in range(world.pages):
            one = library.open(world.page_id(page))
            self.titles[one.id], self.texts[one.id] = one.title, one.text
        self.named, self.entries = {}, {}
        self.facts = {name: {} for name in (*_LINKS, *_FIGURES)}
        for page, text in self.texts.items():
            if entry := re.match(_ENTRY, text):
                self.entries.setdefault(entry[1], []).append((page, entry))
                continue
            self.named.setdefault(self.titles[page].split(" (born")[0], set()).add(page)
            for name, pattern in {**_LINKS, **_FIGURES}.items():
                if found := re.search(pattern, text):
                    self.facts[name][page] = found[1]

    def pages(self, phrase):
        """The pages that a phrase names, read in every way."""
        found = {page for page, title in self.titles.items() if title == phrase}
        found |= self.named.get(phrase, set())
        found |= self.named.get(phrase.removeprefix("the "), set())
        if match := re.fullmatch(r"the (\w+) (\w+ \w+)", phrase):
            people = self.named.get(match[2], set())
            found |= {p for p in people if self.facts["occupation"].get(p) == match[1]}
        for name, link in LINKS.items():
            if inner := _inside(link.phrase, phrase):
                found |= {self.facts[name][p] for p in self.pages(inner) if p in self.facts[name]}
            if link.inverse and (inner := _inside(link.inverse, phrase)):
                targets = self.pages(inner)
                found |= {p for p, target in self.facts[name].items() if target in targets}
        return found

    def answers(self, phrase):
        """All right answers to "what is `phrase`"."""
        found = {self.titles[page] for page in self.pages(phrase)}
        for name, figure in FIGURES.items():
            if inner := _inside(figure.phrase, phrase):
                found |= {self.facts[name][p] for p in self.pages(inner) if p in self.facts[name]}
        return found

    def counting(self, phrase):
        """Return the valid fact if registers disagree: the answer and the page that has it."""
        found = set()
        for name, words in {
            "head": LINKS["head"].phrase,
            "mayor": LINKS["mayor"].phrase,
            "staff": FIGURES["staff"].phrase,
            "population": FIGURES["population"].phrase,
        }.items():
            inner = _inside(words, phrase)
            for subject in self.pages(inner) if inner else ():
                dates = [
                    (
                        day(re.search(_DATED, self.texts[subject])[1]),
                        subject,
                        self.facts[name][subject],
                    )
                ]
                for page, entry in self.entries.get(subject, []):
                    if entry[3] == "confirmed":
                        text = self.texts[page]
                        value = re.search(r"is (?:.*\[(p\d{5})\]|(\d+))\.$", text[entry.end() :])
                        dates.append((day(entry[2]), page, value[1] or value[2]))
                _, page, value = max(dates)
                found.add((self.titles.get(value, value), page))
        return found


def _inside(template, phrase):
    before, _, after = template.partition("{}")
    fits = phrase.startswith(before) and phrase.endswith(after) and len(phrase) > len(template)
    return phrase[len(before) : len(phrase) - len(after)] if fits else None
