"""Tools of elsewhere, which no task needs: each answers something harmless from its arguments alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from verigym.canonical import JSON
from verigym.envs.tools.tool import Refused, Schema, Tool, text, whole

_SKIES = ("clear", "cloudy", "light rain", "wind from the west", "fog in the morning")
_FACTORS = {"km to miles": 0.621371, "kg to pounds": 2.204623, "litres to gallons": 0.264172}


def _weather(db: None, city: str) -> JSON:
    return {"city": city, "sky": _SKIES[sum(map(ord, city)) % len(_SKIES)]}


def _convert_units(db: None, amount: int, units: str) -> JSON:
    return round(amount * _FACTORS[units], 3)


def _count_words(db: None, words: str) -> JSON:
    return len(words.split())


def _spell(db: None, words: str) -> JSON:
    return " ".join(c.upper() for c in words if c.isalnum())


def _add_days(db: None, day: str, days: int) -> JSON:
    try:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    except (ValueError, OverflowError) as error:
        raise Refused(f"day must be like 2026-03-02: {error}") from error


def _translate(db: None, words: str, language: str) -> JSON:
    return {"language": language, "error": "no dictionary is loaded"}


def _stock_price(db: None, firm: str) -> JSON:
    return {"firm": firm, "price": 20 + sum(map(ord, firm)) % 180}


def _recipe(db: None, dish: str) -> JSON:
    return {"dish": dish, "steps": ["Ask a cook."]}


def _timer(db: None, minutes: int) -> JSON:
    return {"timer": f"{minutes} min", "state": "demonstration only"}


def _flight(db: None, number: str) -> JSON:
    return {"flight": number, "state": "unknown"}


def _play_music(db: None, title: str) -> JSON:
    return {"title": title, "state": "no player is connected"}


def _parcel(db: None, number: str) -> JSON:
    return {"parcel": number, "state": "unknown"}


def _tool(name: str, about: str, run: object, parameters: Mapping[str, Schema]) -> Tool:
    assert callable(run)
    return Tool(name, about, parameters, run)


_UNITS = text("What to convert.", *_FACTORS)
_ALL = (
    _tool("weather", "The weather in a city now.", _weather, {"city": text("Its name.")}),
    _tool(
        "convert_units",
        "Convert an amount.",
        _convert_units,
        {"amount": whole("How much."), "units": _UNITS},
    ),
    _tool("count_words", "How many words a text has.", _count_words, {"words": text("The text.")}),
    _tool("spell", "Spell a text letter by letter.", _spell, {"words": text("The text.")}),
    _tool(
        "add_days",
        "The date some days after another.",
        _add_days,
        {"day": text("A date, like 2026-03-02."), "days": whole("How many.", -9999, 9999)},
    ),
    _tool(
        "translate",
        "Translate a text.",
        _translate,
        {"words": text("The text."), "language": text("Into which.", "de", "es", "fr")},
    ),
    _tool("stock_price", "The price of a share.", _stock_price, {"firm": text("Of which firm.")}),
    _tool("recipe", "How to cook a dish.", _recipe, {"dish": text("Its name.")}),
    _tool("kitchen_timer", "Set a timer.", _timer, {"minutes": whole("How long.", 1, 600)}),
    _tool("flight_state", "Where a flight is.", _flight, {"number": text("Its number.")}),
    _tool("play_music", "Play a piece of music.", _play_music, {"title": text("Its title.")}),
    _tool("track_parcel", "Where a parcel is.", _parcel, {"number": text("Its number.")}),
)
OTHERS: Mapping[str, Tool] = {tool.name: tool for tool in _ALL}
