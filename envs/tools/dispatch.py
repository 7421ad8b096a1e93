"""`Freight`: consignments to be dispatched by rules and tables in one reply, with every call that follows from them."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from verigym.canonical import JSON
from verigym.envs.tools.cases.budget import NOTHING, BudgetWay, Offer, WaySearch, draw_budget
from verigym.envs.tools.cases.rulebook import (
    RANKS,
    Article,
    RuleCondition,
    RuleDraws,
    Tariff,
    Trait,
    ValueClasses,
    decide,
)
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.hold import Hold
from verigym.envs.tools.hold_search import HoldItem, HoldSearch
from verigym.envs.tools.people import DAYS
from verigym.verifiers.tools.read_calls import ReadCall

GRAMS = {"kg": 1000, "lb": 454, "oz": 28}
"""Grams of a unit of weight, as the prompt gives them."""
_CITIES = ("Arlen", "Brixo", "Corvan", "Delmar", "Estel", "Farrow")
_CLIENTS = ("Alder Ltd", "Birch Ltd", "Cedar Ltd", "Elm Ltd", "Fir Ltd", "Larch Ltd", "Oak Ltd")
_CURRENCIES = ("EUR", "GBP", "JPY", "USD")
_GOODS = ("books", "glass", "seeds", "tiles", "wool")
_TIERS = ("basic", "plus", "prime")
_OFFSETS = (-480, -300, -210, 60, 120, 210, 330, 345, 540)
TRAITS = (
    Trait("weight", "the weight", (), 5, 90),
    Trait("value", "the value", (), 100, 1500),
    Trait("goods", "the kind of goods", _GOODS),
    Trait("tier", "the client's tier", _TIERS),
    Trait("currency", "the client's currency", _CURRENCIES),
    Trait("earlier", "the number of earlier bookings of the client", fixed=(0, 0, 1, 1)),
    Trait("sum", "the total weight of earlier bookings of the client", fixed=(20, 50, 80, 110)),
    Trait("hour", "the hour of the ready time", fixed=(7, 11, 15, 19)),
)
_OF_ALL = (
    Trait("all", "the number of earlier bookings of all clients", fixed=(0, 1, 2, 3)),
    Trait("total", "the total weight of earlier bookings of all clients", fixed=(40, 80, 120, 180)),
)
"""Traits of tasks with a limit."""
_COUNTED = ValueClasses((*TRAITS[5:7], *_OF_ALL))
"""Traits that depend on what was booked before."""
_OF_BOOKINGS = ("earlier", "sum", "all", "total", "before")
"""Facts that depend on what was booked before."""
_FAR_MARKS = {
    "earlier": (0, 1, 2, 3),
    "sum": (30, 70, 110, 150),
    "all": (2, 4, 7, 10),
    "total": (90, 180, 280, 400),
}
"""Marks of traits that depend on bookings, where many consignments are booked."""
_MANY = tuple(
    replace(one, fixed=_FAR_MARKS.get(one.name, one.fixed)) for one in (*TRAITS, *_OF_ALL)
)


@dataclass(frozen=True)
class FreightClient:
    """A client of the dispatcher."""

    name: str
    tier: str
    currency: str


@dataclass(frozen=True)
class Route:
    """A way between two cities; a truck takes `capacity` kilograms."""

    origin: str
    destination: str
    minutes: int
    capacity: int


@dataclass(frozen=True)
class Consignment:
    """Goods to be sent; `ready` is local time at the origin."""

    number: int
    client: str
    route: int
    goods: str
    amount: int
    unit: str
    value: int
    ready: str


@dataclass(frozen=True)
class Freight:
    """A task: tables, rules and consignments."""

    clients: tuple[FreightClient, ...]
    offsets: dict[str, int]
    """Minutes of each city ahead of UTC."""
    rates: dict[str, int]
    """Hundredths of each currency for a euro."""
    handling: dict[str, int]
    """Minutes by kind of goods."""
    routes: tuple[Route, ...]
    articles: tuple[Article, ...]
    tariff: Tariff
    express: RuleCondition
    insured: int
    """Value above which goods are insured."""
    consignments: tuple[Consignment, ...]
    limit: int = 0
    """Kilograms that may be booked in all; 0 if there is no limit."""


def draw_freight(
    draws: Draws, count: int, articles: int, limited: bool = False, many: bool = False
) -> Freight:
    """Draw a task of `count` consignments and `articles` of each rank, yet without the limit that it may have; `many`
    of a task with a limit are booked."""
    rules = RuleDraws(draws, _MANY if many else (*TRAITS, *_OF_ALL) if limited else TRAITS)
    cities = draws.some(_CITIES, 4)
    ways = [(a, b) for a in cities for b in cities if a != b]
    routes = tuple(
        Route(a, b, 5 * draws.between(20, 260), draws.between(9, 13 if limited else 16) * 10)
        for a, b in draws.some(ways, 2 if limited else 2 + count // 6)
    )
    clients = tuple(
        FreightClient(name, draws.pick(_TIERS), draws.pick(_CURRENCIES))
        for name in sorted(draws.some(_CLIENTS, 3 + count // (9 if limited else 5)))
    )
    numbers = range(1, articles + 1)
    return Freight(
        clients=clients,
        offsets=dict(zip(cities, draws.some(_OFFSETS, len(cities)), strict=True)),
        rates={"EUR": 100, "GBP": draws.between(82, 91), "JPY": draws.between(15_500, 16_900)}
        | {"USD": draws.between(104, 119)},
        handling={goods: 5 * draws.between(3, 30) for goods in _GOODS},
        routes=routes,
        # Nothing is cut here: a consignment goes whole or not at all.
        articles=tuple(
            replace(rules.article(f"{rank}{n}", limited), most=None)
            for rank in RANKS
            for n in numbers
        ),
        tariff=_following(rules, _prices(draws)) if limited else _prices(draws),
        express=rules.condition(draws.pick(TRAITS), narrow=True),
        insured=draws.between(5, 11) * 100,
        consignments=tuple(_consignment(draws, n, clients, routes) for n in range(1, count + 1)),
    )


def _prices(draws: Draws) -> Tariff:
    first, second = draws.some(range(35, 190), 2)
    base, bound, most = draws.between(8, 35), draws.between(20, 55), draws.between(70, 120)
    tariff = RuleDraws(draws, (*TRAITS[1:3], TRAITS[-1])).tariff()
    return replace(tariff, base=base, percent=first, bound=bound, upper=second, most=most)


def _following(rules: RuleDraws, tariff: Tariff) -> Tariff:
    last = "the kind of goods that was booked last before it, for whatever client"
    return replace(tariff, follows=rules.follows(_GOODS), kind="goods", last=last)


def _consignment(
    draws: Draws, number: int, clients: Sequence[FreightClient], routes: Sequence[Route]
) -> Consignment:
    unit = draws.pick(tuple(GRAMS))
    grams = int(TRAITS[0].draw(draws)) * 1000 - draws.between(0, 900)
    return Consignment(
        number=number,
        client=draws.pick(clients).name,
        route=draws.below(len(routes)),
        goods=draws.pick(_GOODS),
        amount=max(1, grams // GRAMS[unit]),
        unit=unit,
        value=int(TRAITS[1].draw(draws)),
        ready=f"{draws.pick(DAYS)}T{draws.between(5, 22):02d}:{draws.below(60):02d}",
    )


class Dispatcher:
    """Works a task out, step by step, and counts the operations."""

    def __init__(self, freight: Freight, hold: Hold | None = None) -> None:
        self.freight, self.hold = freight, hold
        self.operations = 0
        self.weights: dict[str, list[int]] = {client.name: [] for client in freight.clients}
        self.prices: dict[str, list[int]] = {client.name: [] for client in freight.clients}
        self.booked: list[int] = []
        self.goods = [""]
        self.numbers: set[int] = set()
        self._known: dict[tuple[object, ...], Offer | None] = {}
        self.trucks = {n: [1, 0] for n in range(len(freight.routes))}

    def calls(self, chosen: Container[int] | None = None) -> list[ReadCall]:
        """Return all calls; `chosen` are the places of what is not postponed, by default the best choice."""
        chosen = self._best_places() if chosen is None else chosen
        calls = [
            self._dispatch(one, place in chosen)
            for place, one in enumerate(self.freight.consignments)
        ]
        for client in self.freight.clients:
            self.operations += 1
            prices = self.prices[client.name]
            if len(prices) > 1:
                total = 0
                for price in prices:
                    self.operations += 1
                    total += price
                bill: dict[str, JSON] = {"client": client.name, "total": total}
                calls.append(ReadCall("send_invoice", bill))
        return calls

    def _best_places(self) -> Container[int]:
        places = range(len(self.freight.consignments))
        if self.hold is not None:
            search = self.hold_search(self.hold)
            found = search.best(search.plan()[1])
            # Each state is a column of an array in the search, where no line of its own is executed for it.
            for _ in range(search.operations):
                self.operations += 1
            return set() if found is None else found.places
        if not self.freight.limit:
            return places
        way = self.best_way()
        return {place for place in places if way.has(place, len(places))}

    def hold_search(self, hold: Hold) -> HoldSearch:
        """Return the search for the best choice within the limits of a hold."""
        freight = self.freight
        names = [client.name for client in freight.clients]
        items = []
        for place, one in enumerate(freight.consignments):
            weight = -(-one.amount * GRAMS[one.unit] // 1000)
            facts = self._facts(one, self._client(one.client), weight)
            own = {name: value for name, value in facts.items() if name not in _OF_BOOKINGS}
            sizes = (weight, hold.litres[place], hold.crates[place])
            fee = freight.tariff.fee(weight, facts)
            items.append(HoldItem(names.index(one.client), one.goods, fee, sizes, own))
        limits = (freight.limit, hold.most_litres, hold.most_crates)
        return HoldSearch(items, freight.articles, freight.tariff, limits, hold.pairs)

    def search(self) -> WaySearch:
        """Return the search over all ways through the consignments."""
        return WaySearch(self, len(self.freight.consignments))

    def best_way(self) -> BudgetWay:
        """Return the choice that the limit of kilograms is best spent on."""
        search = self.search()
        way = search.best(self.freight.limit) or NOTHING
        self.operations += search.operations
        return way

    def offer(self, place: int) -> Offer | None:
        """Return the weight and the price, in euros, of a consignment booked now; None if it is rejected."""
        one = self.freight.consignments[place]
        mine = self.weights[one.client]
        now = {"earlier": len(mine), "sum": sum(mine), "all": len(self.booked)}
        now["total"] = sum(self.booked)
        key = (place, self.goods[-1], *_COUNTED.of(now))
        if key not in self._known:
            weight = -(-one.amount * GRAMS[one.unit] // 1000)
            facts = self._facts(one, self._client(one.client), weight)
            article, compared = decide(self.freight.articles, facts)
            self.operations += compared
            refused = article is not None and not article.allows
            self._known[key] = None if refused else (weight, self.freight.tariff.fee(weight, facts))
        return self._known[key]

    def limits(self, place: int) -> Offer | None:
        """Return the weight of a consignment, and its price, in euros, if nothing lowers it."""
        one = self.freight.consignments[place]
        weight = -(-one.amount * GRAMS[one.unit] // 1000)
        return weight, self.freight.tariff.most_of(weight)

    def kind(self, place: int) -> str:
        """Return the goods of a consignment; of place -1, none."""
        return self.freight.consignments[place].goods if place >= 0 else ""

    def more(self, before: str, kind: str) -> int:
        """Return what the price of goods rises by right after others."""
        return self.freight.tariff.more(before, kind)

    def take(self, place: int) -> Callable[[], None]:
        """Book a consignment that is not rejected, and return a function that undoes it."""
        one, offered = self.freight.consignments[place], self.offer(place)
        assert offered is not None
        self._note(one, offered[0])

        def undo() -> None:
            self.weights[one.client].pop()
            self.booked.pop()
            self.goods.pop()

        return undo

    def _note(self, one: Consignment, weight: int) -> None:
        """Note a booking."""
        self.weights[one.client].append(weight)
        self.booked.append(weight)
        self.goods.append(one.goods)

    def _client(self, name: str) -> FreightClient:
        for client in self.freight.clients:
            self.operations += 1
            if client.name == name:
                return client
        raise LookupError(name)

    def _look_up(self, table: Mapping[str, int], name: str) -> int:
        for key, value in table.items():
            self.operations += 1
            if key == name:
                return value
        raise LookupError(name)

    def _dispatch(self, one: Consignment, is_chosen: bool) -> ReadCall:
        grams = one.amount * self._look_up(GRAMS, one.unit)
        weight = -(-grams // 1000)
        self.operations += 1
        client = self._client(one.client)
        facts = self._facts(one, client, weight)
        article, compared = decide(self.freight.articles, facts)
        for _ in range(compared):
            self.operations += 1
        if article is not None and not article.allows:
            return ReadCall("reject", {"consignment": one.number, "article": article.number})
        if not is_chosen:
            return ReadCall("postpone", {"consignment": one.number})
        fee = self.freight.tariff.fee(weight, facts) + self._of_pairs(one.number)
        price = -(-fee * self._look_up(self.freight.rates, client.currency) // 100)
        for _ in ("two parts", "their sum", "half", "limit", "currency"):
            self.operations += 1
        self._note(one, weight)
        self.numbers.add(one.number)
        self.prices[one.client].append(price)
        arguments: dict[str, JSON] = {
            "consignment": one.number,
            "truck": self._truck(one.route, weight),
            "grams": grams,
            **self._times(one),
            "price": price,
        }
        if self.freight.express.holds(facts):
            arguments["service"] = "express"
        if one.value > self.freight.insured:
            arguments["cover"] = -(-one.value // 100) * 100
        self.operations += 1
        return ReadCall("book", arguments)

    def _of_pairs(self, number: int) -> int:
        """Return what the price of a consignment rises by for the pairs that it is the second of."""
        more = 0
        for pair in self.hold.pairs if self.hold else ():
            self.operations += 1
            if pair.second == number and pair.first in self.numbers:
                more += pair.more or 0
        return more

    def _facts(self, one: Consignment, client: FreightClient, weight: int) -> dict[str, str | int]:
        total = 0
        for earlier in self.weights[client.name]:
            self.operations += 1
            total += earlier
        return {
            "weight": weight,
            "value": one.value,
            "goods": one.goods,
            "tier": client.tier,
            "currency": client.currency,
            "earlier": len(self.weights[client.name]),
            "sum": total,
            "all": len(self.booked),
            "total": sum(self.booked),
            "before": self.goods[-1],
            "hour": int(one.ready[11:13]),
        }

    def _truck(self, route: int, weight: int) -> int:
        number, load = self.trucks[route]
        self.operations += 1
        if load + weight > self.freight.routes[route].capacity:
            number, load = number + 1, 0
        self.trucks[route] = [number, load + weight]
        return number

    def _times(self, one: Consignment) -> dict[str, JSON]:
        """Return the departure, in UTC, and the arrival, local."""
        route, offsets = self.freight.routes[one.route], self.freight.offsets
        behind = self._look_up(offsets, route.origin)
        ready = datetime.fromisoformat(one.ready) - timedelta(minutes=behind)
        self.operations += 1
        leaves = ready + timedelta(minutes=self._look_up(self.freight.handling, one.goods))
        self.operations += 1
        leaves += timedelta(minutes=-leaves.minute % 15)
        self.operations += 1
        ahead = self._look_up(offsets, route.destination)
        there = leaves + timedelta(minutes=route.minutes + ahead)
        self.operations += 1
        minute = "%Y-%m-%dT%H:%M"
        return {"departs": leaves.strftime(minute), "arrives": there.strftime(minute)}


def with_limit(draws: Draws, freight: Freight) -> Freight | None:
    """Return the freight with a limit of kilograms that no simple plan spends best; None if none is found."""
    if not is_sound(freight):
        return None
    drawn = draw_budget(draws, Dispatcher(freight).search())
    return replace(freight, limit=drawn.budget) if drawn.is_hard else None


def is_sound(freight: Freight) -> bool:
    """Return True if something is booked and something rejected, and who ignores exceptions or fills one truck for
    ever goes wrong."""
    calls = Dispatcher(freight).calls()
    return is_told_apart(freight, calls)


def is_told_apart(
    freight: Freight,
    calls: list[ReadCall],
    hold: Hold | None = None,
    chosen: Container[int] | None = None,
) -> bool:
    """Return True if the calls book and reject something, and who ignores exceptions or fills one truck for ever makes
    others, with the same choice if it is given."""
    wanted = {"book", "reject"} | ({"postpone", "send_invoice"} if freight.limit else set())
    if not wanted <= {call.name for call in calls}:
        return False
    bare = tuple(one.without_exception() for one in freight.articles)
    wide = tuple(replace(one, capacity=10**6) for one in freight.routes)
    others = (replace(freight, articles=bare), replace(freight, routes=wide))
    return all(Dispatcher(other, hold).calls(chosen) != calls for other in others)
