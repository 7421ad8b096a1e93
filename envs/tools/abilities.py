"""Abilities of an assistant as function definitions, each with a way to ask for it in words.

Each has a sibling: a tool that sounds alike, and is not what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from verigym.canonical import JSON
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.people import FIRST

Asked = tuple[str, dict[str, JSON]]
"""A request in words, and the arguments that it means."""

_CITIES = ("Arlen", "Brixo", "Corvan", "Delmar", "Estel", "Farrow", "Galen", "Hollin")
_MONEY = ("EUR", "USD", "GBP", "JPY")
_LANGUAGES = {"German": "de", "Spanish": "es", "French": "fr", "Polish": "pl"}
_PLACES = ("Casa Nova", "Green Door", "Old Pier", "Red Lantern", "Saffron", "Three Owls")
_ROOMS = ("kitchen", "study", "bedroom", "hall")
_FILMS = ("Blue Harbour", "The Last Kite", "Paper Moons", "Iron Valley")
_THINGS = ("desk lamp", "rain coat", "tea kettle", "garden hose", "wall clock")
_HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")


@dataclass(frozen=True, eq=False)
class Ability:
    """A function: its definition, how it is asked for, and its sibling's name and description."""

    name: str
    about: str
    parameters: Mapping[str, Mapping[str, JSON]]
    required: tuple[str, ...]
    ask: Callable[[Draws, bool], Asked]
    """Words and arguments; the flag says whether times and dates are to be worded."""
    sibling: tuple[str, str]
    may_lack: str
    """A required argument that a request may leave out; words for it stand between || marks."""

    def schema(self) -> dict[str, Any]:
        """Return the definition as the OpenAI chat API takes it."""
        return define(self.name, self.about, self.parameters, self.required)

    def sibling_schema(self) -> dict[str, Any]:
        """Return the definition of the sibling tool, which takes the required arguments only."""
        own = {name: self.parameters[name] for name in self.required}
        return define(*self.sibling, own, self.required)


def define(
    name: str, about: str, parameters: Mapping[str, Mapping[str, JSON]], required: tuple[str, ...]
) -> dict[str, Any]:
    """Return a definition as the OpenAI chat API takes it."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": about,
            "parameters": {
                "type": "object",
                "properties": {key: dict(rule) for key, rule in parameters.items()},
                "required": list(required),
                "additionalProperties": False,
            },
        },
    }


def _text(about: str, *choices: str, default: str | None = None) -> dict[str, JSON]:
    rule: dict[str, JSON] = {"type": "string", "description": about}
    if choices:
        rule["enum"] = list(choices)
    if default is not None:
        rule["default"] = default
    return rule


def _whole(about: str, default: int | None = None) -> dict[str, JSON]:
    rule: dict[str, JSON] = {"type": "integer", "description": about}
    if default is not None:
        rule["default"] = default
    return rule


_DAY = _text("A date, like 2026-03-02.")
_TIME = _text("A time on the 24-hour clock, such as 18:30.")


def _day(draws: Draws, worded: bool) -> tuple[str, str]:
    day, month = draws.between(1, 28), draws.pick(((3, "March"), (4, "April"), (5, "May")))
    exact = f"2026-{month[0]:02d}-{day:02d}"
    return (f"{day} {month[1]} 2026" if worded else exact), exact


def _time(draws: Draws, worded: bool) -> tuple[str, str]:
    hour, half = draws.between(1, 11), draws.below(2)
    exact = f"{hour + 12}:{'30' if half else '00'}"
    if not worded:
        return exact, exact
    said = f"half past {_HOURS[hour - 1]}" if half else f"{_HOURS[hour - 1]} o'clock"
    return f"{said} p.m.", exact


def _table(draws: Draws, worded: bool) -> Asked:
    place, guests = draws.pick(_PLACES), draws.between(2, 9)
    (day, on), (time, at) = _day(draws, worded), _time(draws, worded)
    outside = draws.below(2)
    arguments: dict[str, JSON] = {"restaurant": place, "day": on, "time": at, "guests": guests}
    if outside:
        arguments["terrace"] = True
    where = " on the terrace" if outside else ""
    return f"Book a table{where} at {place} on {day} at {time}|| for {guests} people||.", arguments


def _alarm(draws: Draws, worded: bool) -> Asked:
    time, at = _time(draws, worded)
    often = draws.pick(("once", "daily", "weekdays"))
    said = {"once": "", "daily": ", every day", "weekdays": ", on weekdays only"}[often]
    return f"Set an alarm|| for {time}||{said}.", {"time": at, "repeat": often}


def _message(draws: Draws, worded: bool) -> Asked:
    name, number = draws.pick(FIRST), draws.between(2, 99)
    words = draws.pick(("I am late", "See you there", "The key is under pot", "Take bus"))
    words = f"{words} {number}"
    return f"Send|| {name}|| the message '{words}'.", {"to": name, "words": words}


def _money(draws: Draws, worded: bool) -> Asked:
    source, target = draws.some(_MONEY, 2)
    amount = draws.between(10, 900)
    asked: dict[str, JSON] = {"amount": amount, "source": source, "target": target}
    return f"Convert {amount} {source}|| to {target}||.", asked


def _forecast(draws: Draws, worded: bool) -> Asked:
    city, days = draws.pick(_CITIES), draws.between(2, 9)
    fahrenheit = draws.below(2)
    arguments: dict[str, JSON] = {"city": city, "days": days}
    if fahrenheit:
        arguments["units"] = "fahrenheit"
    said = ", in degrees Fahrenheit" if fahrenheit else ""
    return f"Give me the forecast|| for {city}|| for the next {days} days{said}.", arguments


def _trains(draws: Draws, worded: bool) -> Asked:
    origin, target = draws.some(_CITIES, 2)
    day, on = _day(draws, worded)
    kind = draws.pick(("first", "second"))
    return (
        f"Find trains in {kind} class from {origin} to {target}|| on {day}||.",
        {"origin": origin, "destination": target, "day": on, "comfort": kind},
    )


def _hotels(draws: Draws, worded: bool) -> Asked:
    city, nights, stars = draws.pick(_CITIES), draws.between(2, 9), draws.between(2, 5)
    day, on = _day(draws, worded)
    arguments: dict[str, JSON] = {"city": city, "arrive": on, "nights": nights}
    said = ""
    if draws.below(2):
        arguments["least_stars"] = stars
        said = f" with at least {stars} stars"
    return f"Look for hotels{said} in {city} from {day}|| for {nights} nights||.", arguments


def _cart(draws: Draws, worded: bool) -> Asked:
    thing, number = draws.pick(_THINGS), draws.between(1, 6)
    arguments: dict[str, JSON] = {"product": thing}
    if number > 1:
        arguments["quantity"] = number
    return f"Put {number}|| of the product '{thing}'|| into my cart.", arguments


def _translate(draws: Draws, worded: bool) -> Asked:
    language = draws.pick(tuple(_LANGUAGES))
    words = f"{draws.pick(_THINGS)} number {draws.between(10, 99)}"
    code = _LANGUAGES[language]
    return f"Translate '{words}'|| into {language}||.", {"words": words, "target": code}


def _loan(draws: Draws, worded: bool) -> Asked:
    amount, years = draws.between(5, 90) * 1000, draws.between(2, 30)
    rate = draws.between(4, 28) / 4
    return (
        f"What would a loan of {amount} cost a month at {rate:g} percent a year|| over {years} years||?",
        {"amount": amount, "percent": rate, "years": years},
    )


def _location(draws: Draws, worded: bool) -> Asked:
    names, minutes = draws.some(FIRST, draws.between(2, 3)), draws.between(1, 12) * 10
    said = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        f"Share my location with {said} in that order|| for {minutes} minutes||.",
        {"people": names, "minutes": minutes},
    )


def _film(draws: Draws, worded: bool) -> Asked:
    film, stars = draws.pick(_FILMS), draws.between(1, 5)
    return f"Rate the film '{film}'|| with {stars} stars||.", {"title": film, "stars": stars}


def _heating(draws: Draws, worded: bool) -> Asked:
    room, degrees = draws.pick(_ROOMS), draws.between(16, 24)
    return f"Heat the {room}|| to {degrees} degrees||.", {"room": room, "degrees": degrees}


ABILITIES: tuple[Ability, ...] = (
    Ability(
        "book_table",
        "Book a table in a restaurant.",
        {
            "restaurant": _text("Its name."),
            "day": _DAY,
            "time": _TIME,
            "guests": _whole("Number of guests."),
            "terrace": {
                "type": "boolean",
                "description": "True for a table outside.",
                "default": False,
            },
        },
        *(("restaurant", "day", "time", "guests"), _table),
        *(("change_table", "Change a table that is booked already."), "guests"),
    ),
    Ability(
        "set_alarm",
        "Set an alarm.",
        {
            "time": _TIME,
            "repeat": _text("How often it rings.", "once", "daily", "weekdays", default="once"),
        },
        *(("time",), _alarm, ("delete_alarm", "Delete an alarm that is set."), "time"),
    ),
    Ability(
        "send_message",
        "Send a message to somebody.",
        {"to": _text("First name."), "words": _text("The message, word for word.")},
        *(("to", "words"), _message),
        *(("draft_message", "Write a message without sending it."), "to"),
    ),
    Ability(
        "convert_currency",
        "Convert an amount of money.",
        {
            "amount": {"type": "number", "description": "Amount of money to convert."},
            "source": _text("Currency to convert from.", *_MONEY),
            "target": _text("Currency to convert to.", *_MONEY),
        },
        *(("amount", "source", "target"), _money),
        *(("exchange_money", "Buy one currency for another, with real money."), "target"),
    ),
    Ability(
        "weather_forecast",
        "The weather of the next days.",
        {
            "city": _text("Its name."),
            "days": _whole("Number of days.", 1),
            "units": _text("Unit of temperature.", "celsius", "fahrenheit", default="celsius"),
        },
        *(("city",), _forecast, ("weather_history", "The weather of past days."), "city"),
    ),
    Ability(
        "find_trains",
        "Find trains of a day.",
        {
            "origin": _text("City."),
            "destination": _text("City."),
            "day": _DAY,
            "comfort": _text("Travel class.", "first", "second", default="second"),
        },
        *(("origin", "destination", "day"), _trains),
        *(("find_flights", "Find flights of a day."), "day"),
    ),
    Ability(
        "search_hotels",
        "Look for hotels.",
        {
            "city": _text("Its name."),
            "arrive": _DAY,
            "nights": _whole("Number of nights."),
            "least_stars": _whole("Minimum number of stars."),
        },
        *(("city", "arrive", "nights"), _hotels),
        *(("book_hotel", "Book a room for money."), "nights"),
    ),
    Ability(
        "add_to_cart",
        "Put a product into the cart.",
        {"product": _text("Name of the product."), "quantity": _whole("Number of pieces.", 1)},
        *(("product",), _cart, ("order_now", "Order a product at once."), "product"),
    ),
    Ability(
        "translate_text",
        "Translate a text.",
        {"words": _text("The text."), "target": _text("Language.", *_LANGUAGES.values())},
        *(("words", "target"), _translate),
        *(("detect_language", "Tell whether a text is in a language."), "target"),
    ),
    Ability(
        "loan_rate",
        "Monthly cost of a loan.",
        {
            "amount": _whole("Amount of the loan."),
            "percent": {"type": "number", "description": "Interest a year, in percent."},
            "years": _whole("Number of years."),
        },
        *(("amount", "percent", "years"), _loan),
        *(("savings_growth", "What savings grow to."), "years"),
    ),
    Ability(
        "share_location",
        "Let people see where you are for a while.",
        {
            "people": {
                "type": "array",
                "items": {"type": "string"},
                "description": "First names.",
            },
            "minutes": _whole("How long."),
        },
        *(("people", "minutes"), _location),
        *(("find_friends", "See where people are."), "minutes"),
    ),
    Ability(
        "rate_film",
        "Rate a film.",
        {"title": _text("Its title."), "stars": _whole("1 to 5.")},
        *(
            ("title", "stars"),
            _film,
            ("recommend_film", "Recommend a film to all friends."),
            "stars",
        ),
    ),
    Ability(
        "set_heating",
        "Set the temperature of a room.",
        {"room": _text("Name of the room.", *_ROOMS), "degrees": _whole("Degrees Celsius.")},
        *(("room", "degrees"), _heating),
        *(("report_heating", "Report a heating that is broken."), "degrees"),
    ),
)
