"""`ApiPlace`: the records of a service known from its documents; clients ask for changes of them."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.tools.api_service import Service, ServiceSize
from verigym.envs.tools.cases.place import DeskCase, Place, PlacePart
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.wishes import WishStep
from verigym.envs.tools.world import Row

_OPENING = """\
A service keeps records of {many}. A record holds the name, the {amount}, the state ({states}) and the keeper. The \
service's documents describe its methods, paths and parameters; read them first. Clients send requests, called cases; \
each is about the record that it names. Amounts of cases are in {unit}; how the service writes them stands in its documents."""


class ApiPlace(Place):
    """Follows the records, which rules ask about."""

    bar: ClassVar[str] = (
        'If a case is to be carried out, but its record has been removed, refuse it, with the article "none".'
    )
    marks: ClassVar[tuple[int, ...]] = (25, 50, 75, 100)
    core: ClassVar[tuple[str, ...]] = ("list_documents", "read_document", "send_request")

    def __init__(self, draws: Draws, names: list[str], size: int) -> None:
        super().__init__(draws, names, size)
        size_of = ServiceSize(0, 6 + 3 * size, size, access=True, units=True, outdated=True)
        self.service = Service(draws, size_of)
        what, _, unit = self.service.amount.partition(" in ")
        self.level_words = f"the {what} of the record in {unit} (0 if it has been removed)"
        self.kinds = {
            "setting": f"set the {what} of the record to the amount",
            "raise": f"raise the {what} of the record by the amount",
            "state": "put the record into the state that the case names",
            "keeper": "make the person the keeper of the record",
            "removal": "remove the record",
        }
        self.opening = _OPENING.format(
            many=self.service.many,
            amount=self.service.amount,
            unit=unit,
            states=", ".join(self.service.states),
        )
        self.values = {str(row[1]): int(str(row[2])) for row in self.service.records}
        self.records = list(self.values)

    @override
    def particulars(self, case: DeskCase) -> dict[str, JSON]:
        about: dict[str, JSON] = {"record": self.draws.pick(self.records)}
        if case.kind == "state":
            about["state"] = self.draws.pick(self.service.states)
        return about

    @override
    def level(self, case: DeskCase) -> int:
        return self.values.get(str(case.particulars["record"]), 0)

    @override
    def is_possible(self, case: DeskCase) -> bool:
        return case.particulars["record"] in self.values

    @override
    def carry_out(self, case: DeskCase) -> list[WishStep]:
        name, amount = str(case.particulars["record"]), case.latest
        if case.kind in ("setting", "raise"):
            amount += self.values[name] if case.kind == "raise" else 0
            self.values[name] = amount
            return [self.service.step("amount", 2, name=name, amount=amount)]
        if case.kind == "state":
            return [self.service.step("state", 2, name=name, state=case.particulars["state"])]
        if case.kind == "keeper":
            return [self.service.step("keeper", 2, name=name, keeper=case.person)]
        del self.values[name]
        return [self.service.step("delete", 2, name=name)]

    @override
    def touched(self, case: DeskCase) -> list[PlacePart]:
        return [self.values]

    @override
    def tables(self) -> tuple[tuple[Row, ...], ...]:
        return self.service.tables()
