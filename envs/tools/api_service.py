"""`Service`: an invented service with its documents; all names of its interface are drawn for the task."""

from __future__ import annotations

import json
from dataclasses import dataclass

from verigym.canonical import JSON
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.people import people
from verigym.envs.tools.wishes import WishStep
from verigym.envs.tools.world import Row

_KINDS = (
    ("buoy", "buoys", "depth in metres", ("drifting", "anchored", "recalled")),
    ("beehive", "beehives", "weight in kilograms", ("wintering", "swarming", "resting")),
    ("kiln", "kilns", "heat in degrees", ("firing", "cooling", "empty")),
    ("barge", "barges", "load in tonnes", ("moored", "loading", "underway")),
    ("turbine", "turbines", "output in kilowatts", ("turning", "braked", "dismantled")),
    ("orchard", "orchards", "yield in crates", ("blooming", "picked", "fallow")),
)
_HEADS = ("Bra", "Cor", "Dal", "Fen", "Gri", "Hol", "Kes", "Lun", "Mer", "Nor", "Pol", "Ris", "Tam")
_TAILS = ("dor", "lin", "mar", "nok", "pas", "rin", "sel", "tov", "vik", "zan")
_MORE_HEADS = (
    *("Ast", "Bel", "Cha", "Dro", "Esk", "Fal", "Gar", "Hes", "Jor", "Kul"),
    *("Lim", "Mok", "Nes", "Ost", "Pur", "Rok", "Sul"),
)
_LETTERS = ("bcdfgklmnprstvz", "aeiou")


@dataclass(frozen=True)
class ServiceSize:
    """Size of a service, and the rules that a client must observe."""

    wishes: int
    records: int
    chatter: int
    """Number of documents about irrelevant things."""
    access: bool
    """True if requests need a key."""
    units: bool
    """True if amounts come in other units."""
    outdated: bool
    """True if there is a document on a retired version."""


class Service:
    """A service in the making: `step(action, ...)` gives the request that the documents describe."""

    def __init__(self, draws: Draws, level: ServiceSize) -> None:
        self.draws = draws
        self.one, self.many, self.amount, self.states = draws.pick(_KINDS)
        known = _HEADS if level.records + 2 <= len(_HEADS) else (*_HEADS, *_MORE_HEADS)
        heads, tails = draws.some(known, level.records + 2), draws.shuffled(_TAILS)
        names = [head + tails[i % len(tails)] for i, head in enumerate(heads)]
        self.new_names = names[level.records :]
        self.keepers = people(draws, 5)
        self.records: list[Row] = [
            (i, name, draws.between(5, 95), draws.pick(self.states), draws.pick(self.keepers))
            for i, name in enumerate(names[: level.records], 1)
        ]
        self.free = draws.shuffled(self.records)
        self.factor = draws.pick((10, 100, 1000)) if level.units else 1
        codes = [self._word(1).upper() + str(n) for n in draws.some(range(10, 100), 3)]
        self.codes = dict(zip(codes, self.states, strict=True))
        # Longer than any other parameter's name, so never one of them.
        self.key = (self._word(4), self._word(4)) if level.access else None
        self.shown = dict(zip(("amount", "state", "keeper"), self._words(3), strict=True))
        self.endpoints: list[Row] = []
        self.documents: list[tuple[str, str]] = []
        self._forms: dict[str, tuple[str, str, bool, dict[str, str]]] = {}
        stems = self._words(7)
        self._endpoint("list", f"List of {self.many}", "GET", stems[0], ())
        self._endpoint("read", f"Reading a {self.one}", "GET", stems[1], ("name",))
        change = draws.pick(("PUT", "PATCH", "POST"))
        for part, stem in zip(("amount", "state", "keeper"), stems[2:5], strict=True):
            what = self.amount.partition(" ")[0] if part == "amount" else part
            self._endpoint(part, f"Changing the {what}", change, stem, ("name", part))
        self._endpoint(
            "create",
            f"Adding a {self.one}",
            "POST",
            stems[5],
            ("name", "amount", "state", "keeper"),
        )
        self._endpoint(
            "delete", f"Removing a {self.one}", draws.pick(("DELETE", "POST")), stems[6], ("name",)
        )
        self._rules(level)

    def _word(self, syllables: int) -> str:
        hard, soft = _LETTERS
        return "".join(self.draws.pick(hard) + self.draws.pick(soft) for _ in range(syllables))

    def _words(self, n: int) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < n:
            found[self._word(2 + self.draws.below(2))] = None
        return list(found)

    def _endpoint(
        self, action: str, title: str, method: str, stem: str, parts: tuple[str, ...]
    ) -> None:
        draws = self.draws
        in_path = "name" in parts and action != "create" and draws.below(2) == 1
        path = f"/{self._word(1)}/{stem}/"
        asked = [part for part in parts if not (in_path and part == "name")]
        labels = dict(zip(asked, self._words(len(asked)), strict=True))
        form: dict[str, JSON] = {"labels": labels, "factor": self.factor, "codes": self.codes}
        form["shown"] = self.shown
        if self.key:
            form["key"] = list(self.key)
        stored = path + "*" if in_path else path.rstrip("/")
        number = len(self.endpoints) + 1
        self.endpoints.append((number, method, stored, action, json.dumps(form)))
        self._forms[action] = (method, stored, in_path, labels)
        meant = {
            "name": f"the name of the {self.one}",
            "amount": f"the {self.amount.partition(' ')[0]} (see Units)",
            "state": "the state (see Codes)",
            "keeper": "the full name of the keeper",
        }
        lines = [f"{method} {path}<name>" if in_path else f"{method} {stored}"]
        if in_path:
            lines.append(f"<name> in the path is {meant['name']}.")
        lines += [f"Parameter {label}: {meant[part]}." for part, label in labels.items()]
        if action == "list":
            lines.append(f"Gives the names of all {self.many}.")
        if action == "read":
            shown = ", ".join(f"{label} is {meant[part]}" for part, label in self.shown.items())
            lines.append(f"Gives an object: {shown}.")
        self.documents.append((title, "\n".join(lines)))

    def _rules(self, level: ServiceSize) -> None:
        draws = self.draws
        unit = self.amount.rpartition(" ")[2]
        self.documents.append(
            (
                "Units",
                f"Amounts are whole numbers. One of the {unit} is written as {self.factor}, two as "
                f"{2 * self.factor}, and so on.",
            )
        )
        codes = "; ".join(f"{code} is {state}" for code, state in self.codes.items())
        self.documents.append(("Codes", f"States are written as codes: {codes}."))
        if self.key:
            self.documents.append(
                (
                    "Access",
                    f"Every request needs the parameter {self.key[0]} with the text {self.key[1]}.",
                )
            )
        if level.outdated:
            path = f"/{self._word(1)}/{self._word(2)}"
            form: dict[str, JSON] = {"labels": {}, "factor": 1, "codes": {}}
            self.endpoints.append((len(self.endpoints) + 1, "POST", path, "gone", json.dumps(form)))
            self.documents.append(
                (
                    f"Changing {self.many} (2019)",
                    f"POST {path}\nParameter {self._word(2)}: the name. Parameter {self._word(2)}: anything "
                    "that is to be changed.",
                )
            )
        for _ in range(level.chatter):
            title = f"{draws.pick(('Notes', 'News', 'Minutes'))} {draws.between(100, 999)}"
            body = f"The {self.many} were counted by {draws.pick(self.keepers)}. All is well."
            if all(title != other for other, _ in self.documents):
                self.documents.append((title, body))

    def step(self, action: str, work: int, **values: JSON) -> WishStep:
        """Return the request that does `action` with these values, and what finding it takes."""
        method, path, in_path, labels = self._forms[action]
        params: dict[str, JSON] = {}
        for part, label in labels.items():
            params[label] = self._written(part, values[part])
        if self.key:
            params[self.key[0]] = self.key[1]
        if in_path:
            path = path[:-1] + str(values["name"])
        return WishStep("send_request", {"method": method, "path": path, "params": params}, work)

    def _written(self, part: str, value: JSON) -> JSON:
        if part == "amount":
            return int(str(value)) * self.factor
        if part == "state":
            return next(code for code, state in self.codes.items() if state == value)
        return value

    def tables(self) -> tuple[tuple[Row, ...], ...]:
        """Return the world; documents in random order."""
        shuffled = self.draws.shuffled(self.documents)
        documents = tuple((i, title, body) for i, (title, body) in enumerate(shuffled, 1))
        return (tuple(self.records), documents, tuple(self.endpoints))
