"""`tools/api-docs`: a service whose interface must be read about before anything can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from typing_extensions import override

from verigym.envs.tools.api_cases import ApiPlace
from verigym.envs.tools.api_service import Service, ServiceSize
from verigym.envs.tools.api_tools import API
from verigym.envs.tools.cases.desk_tools import with_desk
from verigym.envs.tools.cases.place import Place
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.stateful import Stateful
from verigym.envs.tools.tool import Tool
from verigym.envs.tools.wishes import Story, Wish, WishStep, added, changed, gone
from verigym.envs.tools.world import World

_OPENING = """\
A service keeps records of {many}. A record holds the name, the {amount}, the state ({states}) and the keeper. The \
service's documents describe its methods, paths and parameters; read them first."""
LEVELS = {
    1: ServiceSize(1, 3, 0, access=False, units=False, outdated=False),
    2: ServiceSize(1, 4, 0, access=False, units=False, outdated=False),
    3: ServiceSize(2, 5, 1, access=False, units=False, outdated=False),
    4: ServiceSize(2, 6, 2, access=True, units=False, outdated=False),
    5: ServiceSize(3, 8, 3, access=True, units=True, outdated=False),
    6: ServiceSize(4, 9, 4, access=True, units=True, outdated=True),
}


class ApiDocs(Stateful):
    """Requests to a service that is known from its documents alone; other records must stay as they are."""

    id: ClassVar[str] = "verigym/tools/api-docs-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    world: ClassVar[World] = API
    casework: ClassVar[type[Place] | None] = ApiPlace
    desk: ClassVar[World] = with_desk(API)
    core: ClassVar[tuple[str, ...]] = ("list_documents", "read_document", "send_request")
    extras: ClassVar[Mapping[int, tuple[int, int]]] = {
        1: (0, 0),
        2: (0, 0),
        3: (0, 1),
        4: (0, 2),
        5: (0, 3),
        6: (0, 4),
        7: (0, 6),
        8: (0, 8),
        9: (0, 10),
        10: (0, 12),
    }

    @override
    def looked_up(self, tool: Tool) -> tuple[str, ...]:
        """Return the documents and the records: what an endpoint takes stands in the documents alone."""
        return ("documents", "records") if tool.name == "send_request" else tool.tables

    @override
    def compose(self, draws: Draws, level: int) -> Story:
        """Reading is counted with the first step."""
        settings = LEVELS[level]
        service = Service(draws, settings)
        kinds = draws.some(_SIMPLE if level == 1 else _KINDS, settings.wishes)
        kinds += draws.some(_KINDS, settings.wishes - len(kinds))
        wishes = [kind(service) for kind in kinds]
        first = wishes[0].plan[0]
        reading = 1 + settings.access + settings.units + settings.outdated
        wishes[0].plan[0] = WishStep(first.name, first.arguments, first.work + reading)
        opening = _OPENING.format(
            many=service.many, amount=service.amount, states=", ".join(service.states)
        )
        return Story(opening, service.tables(), wishes, spare=8)


def set_amount(service: Service) -> Wish:
    """Ask for a request whose values are all given."""
    record = service.free.pop()
    amount = service.draws.between(100, 199)
    what, _, unit = service.amount.partition(" in ")
    return Wish(
        f"Set the {what} of the {service.one} {record[1]} to {amount} {unit}.",
        [changed("records", record[0], amount=amount)],
        [service.step("amount", 4, name=record[1], amount=amount)],
    )


def raise_amount(service: Service) -> Wish:
    """Raise an amount by a difference, so that it must be read first."""
    record = service.free.pop()
    by = service.draws.between(2, 40)
    amount = int(str(record[2])) + by
    what, _, unit = service.amount.partition(" in ")
    return Wish(
        f"Raise the {what} of the {service.one} {record[1]} by {by} {unit}.",
        [changed("records", record[0], amount=amount)],
        [service.step("amount", 6, name=record[1], amount=amount)],
    )


def set_state(service: Service) -> Wish:
    """Set a state by its code."""
    record = service.free.pop()
    state = service.draws.pick([state for state in service.states if state != record[3]])
    return Wish(
        f"Put the {service.one} {record[1]} into the state '{state}'.",
        [changed("records", record[0], state=state)],
        [service.step("state", 4, name=record[1], state=state)],
    )


def set_keeper(service: Service) -> Wish:
    """Ask for the same keeper as another's, so that it must be read."""
    record = service.free.pop()
    others = [row for row in service.free if row[4] != record[4]]
    if not others:
        keeper = next(name for name in service.keepers if name != record[4])
        words = f"Make {keeper} the keeper of the {service.one} {record[1]}."
    else:
        other = service.draws.pick(others)
        service.free.remove(other)
        keeper = str(other[4])
        words = (
            f"Give the {service.one} {record[1]} the keeper that the {service.one} {other[1]} has."
        )
    return Wish(
        words,
        [changed("records", record[0], keeper=keeper)],
        [service.step("keeper", 6, name=record[1], keeper=keeper)],
    )


def create(service: Service) -> Wish:
    """Ask for a new record whose values are all given."""
    draws, name = service.draws, service.new_names.pop()
    amount, state, keeper = (
        draws.between(5, 95),
        draws.pick(service.states),
        draws.pick(service.keepers),
    )
    what, _, unit = service.amount.partition(" in ")
    return Wish(
        f"Add a {service.one} named {name} with a {what} of {amount} {unit}, in the state '{state}', with "
        f"{keeper} as its keeper.",
        [added("records", name=name, amount=amount, state=state, keeper=keeper)],
        [service.step("create", 5, name=name, amount=amount, state=state, keeper=keeper)],
    )


def remove(service: Service) -> Wish:
    """Remove a record by its name."""
    record = service.free.pop()
    return Wish(
        f"Remove the {service.one} {record[1]}.",
        [gone("records", record[0])],
        [service.step("delete", 3, name=record[1])],
    )


_KINDS: tuple[Callable[[Service], Wish], ...] = (
    *(set_amount, raise_amount, set_state, set_keeper, create, remove),
)
_SIMPLE = (set_amount, set_state, remove)
