"""`Freight` in words: its tables and rules, what is to be done, and the functions to call."""

from __future__ import annotations

from verigym.canonical import JSON
from verigym.envs.tools.abilities import define
from verigym.envs.tools.cases.rulebook import RANKS, Tariff
from verigym.envs.tools.dispatch import Consignment, Freight
from verigym.envs.tools.hold import Hold


def _ahead(minutes: int) -> str:
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def words_of(freight: Freight, hold: Hold | None = None) -> str:
    """Return the tables, rules and consignments in words."""
    lines = ["Clients:"]
    lines += [f"- {c.name}: tier {c.tier}, currency {c.currency}" for c in freight.clients]
    lines.append("Local time of the cities, ahead of UTC:")
    lines += [f"- {city}: {_ahead(minutes)}" for city, minutes in freight.offsets.items()]
    lines.append("One euro is:")
    lines += [f"- {rate / 100:.2f} {name}" for name, rate in freight.rates.items()]
    lines.append("Handling:")
    lines += [f"- {goods}: {minutes} minutes" for goods, minutes in freight.handling.items()]
    lines.append("Routes:")
    lines += [
        f"- {r.origin} to {r.destination}: {r.minutes // 60} h {r.minutes % 60} min, {r.capacity} kg a truck"
        for r in freight.routes
    ]
    for rank, title in RANKS.items():
        lines.append(f"{title}:")
        mine = [one for one in freight.articles if one.number.startswith(rank)]
        lines += [f"- Article {one.number}. {one.body}" for one in mine]
    lines.append(f"Prices:\n- {_price_words(freight.tariff)}{_OF_PAIRS if hold else ''}")
    if hold:
        lines.append("Pairs:")
        lines += [f"- {pair.words}" for pair in hold.pairs]
    lines.append("Consignments:")
    for place, one in enumerate(freight.consignments):
        space = f", {hold.litres[place]} litres, crates: {hold.crates[place]}" if hold else ""
        lines.append(_line(freight, one, space))
    return "\n".join(lines)


def _price_words(tariff: Tariff) -> str:
    return (
        f"The price of a booking, in euros, is {tariff.base} euros plus {tariff.percent} cents a kilogram for the first "
        f"{tariff.bound} kilograms and {tariff.upper} cents for each further kilogram; this sum, with the {tariff.base} euros, is rounded up "
        f"to whole euros once. If {tariff.half.words}, the price, with its base, is halved, rounded up to whole euros. The "
        f"price is at most {tariff.most} euros. If {tariff.free.words}, it is 0, whatever is said above."
        + tariff.follows_words
    )


_OF_PAIRS = (
    " After all this, for each pair below of which both are booked, the price of the one with the higher number is so much "
    "more or less."
)


def _line(freight: Freight, one: Consignment, space: str) -> str:
    route = freight.routes[one.route]
    return (
        f"- {one.number}: {one.client}, {one.amount} {one.unit} of {one.goods}{space}, value {one.value} euros, "
        f"{route.origin} to {route.destination}, ready at {one.ready.replace('T', ' ')}"
    )


_EARLIER = "Earlier bookings of a client are its consignments"
_EARLIER_OF_ALL = (
    "Earlier bookings of a client are its consignments, and those of all clients all consignments,"
)


_EFFECTS = """\
What is booked changes what articles and prices say of later consignments, \
so that they may let one pass that they would refuse otherwise, and the other way round; a consignment that is postponed is not carried out, and \
is no earlier booking. If the articles refuse a consignment, with those booked before, it is rejected, never postponed. To postpone one, call postpone.
"""


def _limit_words(freight: Freight, hold: Hold | None) -> str:
    if hold:
        return f"""\
3a. At most {freight.limit} kilograms, by the weights of step 1, at most {hold.most_litres} litres and at most {hold.most_crates} crates may be booked \
in all; this is too little for all that the articles let pass. Of a pair that says "not both", at most one may be booked. Choose what is postponed so that the \
prices of the bookings, in euros, come to as much as possible. Exactly one choice is best. {_EFFECTS}"""
    return f"""\
3a. At most {freight.limit} kilograms, by the weights of step 1, may be booked in all; this is too little for all that the articles let pass. \
Choose what is postponed so that the prices of the bookings, in euros, come to as much as possible. Of several choices with the same \
total of prices, take the one whose bookings weigh less in all; if they weigh the same too, look at the consignment with the lowest number that is booked by \
one of them and not by the other, and take the one that books it. {_EFFECTS}"""


def steps_of(freight: Freight, hold: Hold | None = None) -> str:
    """Return what is to be done, in words."""
    return f"""\
Dispatch the consignments below, in the order of their numbers, by function calls, all in one reply; the order of the calls \
does not matter. For each consignment:
1. Its grams: 1 kg is 1000 g, 1 lb is 454 g, 1 oz is 28 g. In all rules and prices, its weight is the number of \
kilograms, rounded up to a whole number.
2. The articles decide. The Law goes before the House rules, and these go before the Wishes of the owner; within each \
the articles follow in the order in which they stand. The first article that applies decides, whatever later ones say; \
if none applies, the consignment is carried out. An article does not apply where its exception holds. {_EARLIER_OF_ALL if freight.limit else _EARLIER} with a lower number that are carried out. The hour of the ready time is that of the local time \
at the origin, without its minutes.
3. If an article refuses it, call reject with the number of that article.
{_limit_words(freight, hold) if freight.limit else ""}4. If it is carried out, call book:
- truck: the trucks of a route are numbered from 1 and filled one after the other in the order of the bookings. A \
booking that does not fit into the current truck, by weight, begins the next one; an earlier truck takes nothing more.
- departs: the ready time, which is local at the origin, plus the handling of its goods, in UTC, rounded up to the next \
full quarter of an hour, like 2026-03-02T18:15. A full quarter stays as it is.
- arrives: departs plus the time of the route, as local time at the destination, in the same form.
- price: the price in euros, in the currency of the client, rounded up to a whole number.
- service: express if {freight.express.words}; otherwise leave it out.
- cover: if the value is above {freight.insured} euros, the value rounded up to a full hundred euros; otherwise leave \
it out.
Then, for each client with two or more bookings, call send_invoice with the total of their prices."""


_WHOLE: dict[str, JSON] = {"type": "integer"}
_TEXT: dict[str, JSON] = {"type": "string"}
TOOLS = (
    define(
        "book",
        "Book a consignment on a truck.",
        {
            "consignment": {**_WHOLE, "description": "Its number."},
            "truck": {**_WHOLE, "description": "Number of the truck of its route."},
            "grams": {**_WHOLE, "description": "Weight in grams."},
            "departs": {**_TEXT, "description": "UTC."},
            "arrives": {**_TEXT, "description": "Local time at the destination."},
            "price": {**_WHOLE, "description": "In the currency of the client."},
            "service": {**_TEXT, "enum": ["express", "standard"], "default": "standard"},
            "cover": {**_WHOLE, "description": "Insured euros."},
        },
        ("consignment", "truck", "grams", "departs", "arrives", "price"),
    ),
    define(
        "reject",
        "Reject a consignment.",
        {
            "consignment": {**_WHOLE, "description": "Its number."},
            "article": {**_TEXT, "description": "Number of the article, such as H2."},
        },
        ("consignment", "article"),
    ),
    define(
        "send_invoice",
        "Send a client an invoice.",
        {
            "client": {**_TEXT, "description": "Its name."},
            "total": {**_WHOLE, "description": "In the currency of the client."},
        },
        ("client", "total"),
    ),
)
"""Functions of the dispatcher."""
POSTPONE = define(
    "postpone",
    "Postpone a consignment.",
    {"consignment": {**_WHOLE, "description": "Its number."}},
    ("consignment",),
)
"""Function of tasks with a limit."""
