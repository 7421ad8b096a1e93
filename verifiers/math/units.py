"""Units of measure: a table of our own, exact factors, and the phrase at the end of an answer.

Not covered: logarithmic units, and offsets other than those of Celsius and Fahrenheit.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import names

Dims = tuple[tuple[str, int], ...]


class Unit(Struct, frozen=True):
    """A unit: `factor` to the base unit, `dims` as powers of base quantities, `offset` for degrees
    of temperature. `noun` is what is counted, where that is no measure ("7 apples")."""

    factor: Fraction = Fraction(1)
    dims: Dims = ()
    offset: Fraction = Fraction(0)
    noun: str = ""
    degree: bool = False
    exact: bool = True


_TABLE: dict[str, Unit] = {}


def _add(
    names: str, factor: Fraction | int | str, dims: str, offset: str = "0", exact: bool = True
) -> None:
    powers = []
    for part in dims.split():
        name, _, power = part.partition("^")
        powers.append((name, int(power or 1)))
    unit = Unit(Fraction(factor), tuple(sorted(powers)), Fraction(offset), exact=exact)
    for name in names.split():
        _TABLE[name] = unit


for _names, _dims in {
    "m meter metre meters metres": "L",
    "g gram grams gramme grammes gm gms": "M",
    "L l liter litre liters litres ltr": "V",
    "N newton newtons": "M L T^-2",
    "J joule joules": "M L^2 T^-2",
    "W watt watts": "M L^2 T^-3",
    "Pa pascal pascals": "M L^-1 T^-2",
    "V volt volts": "volt",
    "A amp amps ampere amperes": "I",
    "Hz hertz": "T^-1",
    "mol moles mole": "mol",
    "eV": "eV",
    "F farad farads": "farad",
    "T tesla": "tesla",
    "C coulomb coulombs": "I T",
    "ohm ohms": "ohm",
    "cal calorie calories": "cal",
    "B byte bytes": "byte",
    "bit bits": "bit",
}.items():
    _scale = {"M": Fraction(1, 1000)}.get(_dims, Fraction(1))
    if _dims == "V":
        _dims, _scale = "L^3", Fraction(1, 1000)
    for _name in _names.split():
        _add(_name, _scale, _dims)
        _long = len(_name) > 3 or _name in ("mole", "bits", "amps", "watt", "volt")
        for _prefix, _short, _power in (
            ("kilo", "k", 3), ("mega", "M", 6), ("giga", "G", 9), ("tera", "T", 12), ("centi", "c", -2),
            ("deci", "d", -1), ("milli", "m", -3), ("micro", "u", -6), ("nano", "n", -9), ("pico", "p", -12),
            ("hecto", "hect", 2),
        ):  # fmt: skip
            _full = (_prefix if _long else _short) + _name
            if _full not in (
                "Mm",
                "cd",
                "dB",
                "pt",
                "min",
                "Tm",
                "cl.",
                "nA",
                "dA",
                "dV",
                "cA",
                "cV",
            ):
                _TABLE.setdefault(_full, Unit(_scale * Fraction(10) ** _power, _TABLE[_name].dims))
del _names, _dims, _scale, _name, _long, _prefix, _short, _power, _full

for _row in (
    ("s sec secs second seconds", 1, "T"), ("min mins minute minutes", 60, "T"),
    ("h hr hrs hour hours", 3600, "T"), ("day days d", 86400, "T"), ("week weeks", 604800, "T"),
    ("ms millisecond milliseconds", "0.001", "T"), ("us microsecond microseconds", "0.000001", "T"),
    ("ns nanosecond nanoseconds", "0.000000001", "T"),
    ("year years yr yrs", 1, "year"), ("month months mo", "1/12", "year"),
    ("in inch inches", "0.0254", "L"), ("ft foot feet", "0.3048", "L"), ("yd yard yards yds", "0.9144", "L"),
    ("mi mile miles", "1609.344", "L"), ("lb lbs pound pounds", "0.45359237", "M"),
    ("oz ounce ounces", "0.028349523125", "M"), ("ton tonne tonnes", 1000, "M"),
    ("ha hectare hectares", 10000, "L^2"), ("cc", "0.000001", "L^3"), ("acre acres", "4046.8564224", "L^2"),
    ("gal gallon gallons", "0.003785411784", "L^3"), ("qt quart quarts", "0.000946352946", "L^3"),
    ("pint pints", "0.000473176473", "L^3"), ("cup cups", "0.0002365882365", "L^3"),
    ("mph", "0.44704", "L T^-1"), ("kph kmh kmph", "5/18", "L T^-1"), ("bar bars", 100000, "M L^-1 T^-2"),
    ("atm", 101325, "M L^-1 T^-2"), ("kWh", 3600000, "M L^2 T^-2"), ("K kelvin kelvins", 1, "temp"),
    ("dollar dollars USD usd buck bucks", 1, "usd"), ("cent cents penny pennies", "0.01", "usd"),
    ("nickel nickels", "0.05", "usd"), ("dime dimes", "0.1", "usd"),
    ("euro euros EUR", 1, "eur"), ("eurocent eurocents", "0.01", "eur"), ("pound_sterling GBP", 1, "gbp"), ("pence", "0.01", "gbp"), ("yen JPY", 1, "jpy"),
    ("rupee rupees Rs INR", 1, "inr"), ("yuan RMB CNY", 1, "cny"), ("rad rads radian radians", 1, ""),
    ("dozen dozens", 12, ""), ("rpm", 1, "rpm"), ("revolution revolutions rev", 1, "rev"),
    ("square_unit", 1, "u^2"), ("unit units", 1, "u"), ("knot knots", "0.514444", "L T^-1"),
):  # fmt: skip
    _add(*_row)
for _one, _abroad in {
    "m": "metros metro mètres mètre metres Meter Metern",
    "km": "kilometros kilometro kilometres kilomètres Kilometer Kilometern",
    "cm": "centimetros centimetro centimètres centimetres Zentimeter",
    "mm": "milimetros millimètres millimetres Millimeter",
    "kg": "kilogramos kilos kilogrammes Kilogramm",
    "g": "gramos Gramm",
    "hours": "horas hora heures heure Stunden Stunde",
    "minutes": "minutos minuto Minuten Minute",
    "s": "segundos segundo secondes seconde Sekunden Sekunde",
    "days": "dias jours jour Tage Tagen",
    "L": "litros litro litres Liter",
}.items():
    for _name in _abroad.replace("è", "e").split():
        _TABLE.setdefault(_name, _TABLE[_one])
del _one, _abroad, _name
_ACCENTS = str.maketrans("áéíóúèêà", "aeioueea")
_add("degC celsius Celsius", 1, "temp", "273.15")
_add("degF fahrenheit Fahrenheit", "5/9", "temp", "459.67")
_TABLE["degree"] = _TABLE["degrees"] = _TABLE["deg"] = Unit(degree=True)
_TABLE["arcminute"] = _TABLE["arcminutes"] = Unit(Fraction(1, 60), degree=True)

_WORDS = lazy_pattern(
    r"\s*(?:(?P<word>[A-Za-z]+|€|£|¥|\\dollar|\\mu ?[a-zA-Z]|\\Omega)"
    r"|(?P<power>\^\s*\{?\s*(-?\d)\s*\}?|\b(?:squared|cubed)\b)|(?P<sign>[/*]|\\pmod)|(?P<rest>.))"
)
_SIGNS = {"€": "euro", "£": "pound_sterling", "¥": "yen", "\\dollar": "dollar", "\\Omega": "ohm"}
_SPELLED = (
    (lazy_pattern(r"\^\s*\{?\s*\\circ\s*\}?\s*(?=[CFK]$)", needs="\\circ"), " deg"),
    (lazy_pattern(r"\^\s*\{?\s*\\circ\s*\}?", needs="\\circ"), " degrees "),
    (lazy_pattern(r"\\circ\s*", needs="\\circ"), " degrees "),
    (lazy_pattern(r"\bdegrees? (?:of )?(Celsius|celsius|C)\b", needs="degree"), "degC"),
    (lazy_pattern(r"\bdegrees? (?:of )?(Fahrenheit|fahrenheit|F)\b", needs="degree"), "degF"),
    (lazy_pattern(r"\bsq(?:uare|\.)? (\w+)", needs="sq"), r"\1^2"),
    (lazy_pattern(r"\bcu(?:bic|\.)? (\w+)", needs="cu"), r"\1^3"),
    (lazy_pattern(r"\b(\w+) squared\b", needs=" squared"), r"\1^2"),
    (lazy_pattern(r"\b(\w+) cubed\b", needs=" cubed"), r"\1^3"),
    (lazy_pattern(r"\bmiles per hour\b", needs="miles per hour"), "mph"),
    (
        lazy_pattern(
            r"\b(years?|months?|weeks?|days?) (?:old|of age)\b", needs="day|month|week|year"
        ),
        r"\1",
    ),
    (
        lazy_pattern(
            r"(?<=[a-z]) (?:long|tall|high|wide|deep|thick|away|apart|far)$",
            needs="apart|away|deep|far|high|long|tall|thick|wide",
        ),
        "",
    ),
    (lazy_pattern(r"\b(cm|mm|km|ft|in|m)([23])\b", needs="2|3"), r"\1^\2"),
    (lazy_pattern(r"\b(?:an?|each|every|per) (?=\w)", needs="a|every|per"), " per "),
)
_QUOTIENT = lazy_pattern(
    r"\\frac\s*\{\s*([A-Za-z]+(?:\^\{?\d\}?)?)\s*\}\s*\{\s*([A-Za-z]+\s*(?:\^\s*\{?\d\}?)?)\s*\}\s*$",
    needs="\\frac",
)
_BELOW = lazy_pattern(r"(?<=[\d}) ])\s*/\s*([A-Za-z]{1,12})$", needs="/")
_START = lazy_pattern(r"(?<=[\d)}.\s\]])(?=[A-Za-z€£¥\\^])")
# Nouns that say only that something is counted: "12 ways" and "12 arrangements" are the same answer.
COUNTING = frozenset(
    names(
        "way ways possibility possibilities arrangement arrangements solution solutions time times people "
        "element elements number numbers integer integers value values pair pairs total outcomes outcome "
        "triple triples root roots case cases different distinct of in all possible sequences subsets "
        "permutations combinations functions real positive ordered items objects points units unit"
    )
)
# Words that bound or hedge a number, so that what follows it names no counted thing.
_NO_NOUNS = frozenset(
    names(
        "and or to than not mod if for when whenever where unless most least maybe perhaps possibly "
        "sometimes some but except either else otherwise even odd plus minus respectively resp wrong incorrect false invalid impossible isn't depending assuming given provided case"
    )
)


_LETTERS = lazy_pattern(r"[A-Za-z]+")
# Words that are rewritten before the units are looked up.
_REWRITTEN = frozenset(
    names(
        "degree degrees of celsius C fahrenheit F sq square cu cubic squared cubed miles per hour old age long tall high wide deep thick "
        "away apart far a an each every"
    )
)


def _may_be_unit(phrase: str) -> bool:
    """Return False if a phrase without commands has a word that no unit has."""
    return "\\" in phrase or all(
        word in _TABLE or word in _REWRITTEN or word.lower() in _TABLE
        for word in _LETTERS.findall(phrase)
    )


@lru_cache(maxsize=4096)
def unit_of(phrase: str) -> Unit | None:
    """Return the unit that the whole phrase names; None if it does not name one."""
    if not _may_be_unit(phrase):
        return None
    for pattern, spelled in _SPELLED:
        phrase = pattern.sub(spelled, phrase)
    phrase = phrase.strip(" .")
    if not phrase or len(phrase) > 60:
        return None
    factor, dims, sign = Fraction(1), dict[str, int](), 1
    single: Unit | None = None
    count = 0
    for match in _WORDS.finditer(phrase):
        if match["rest"]:
            if match["rest"].strip("(). {}"):
                return None
        elif match["sign"]:
            sign = -1 if match["sign"] == "/" else sign
        elif match["power"]:
            if count == 0:
                return None
            shown = match[3]
            power = int(shown) if shown else 2
            unit = single
            if unit is None or unit.degree:
                return None
            for name, by in unit.dims:
                dims[name] = dims.get(name, 0) + by * (power - 1) * sign
            factor *= unit.factor ** ((power - 1) * sign)
        else:
            word = match["word"].replace(" ", "")
            if word == "per":
                sign = -1
                continue
            word = _SIGNS.get(word, word.replace("\\mu", "u"))
            unit = _TABLE.get(word) or _TABLE.get(word.lower() if len(word) > 2 else word)
            if unit is None or (count and (unit.offset or unit.degree)):
                return None
            single, count = unit, count + 1
            for name, by in unit.dims:
                dims[name] = dims.get(name, 0) + by * sign
            factor *= unit.factor**sign
    if single is None:
        return None
    if count == 1 and "^" not in phrase:
        return single
    left = tuple(sorted((name, by) for name, by in dims.items() if by))
    return Unit(factor, left)


_PREFIXED = lazy_pattern(
    r"(-?)\s*(\\dollar|€|£|¥|Rs\.?|USD|US\s*\\dollar)\s*(-?[\d.(\\].*?)(?: (?:total|altogether|overall|in all))?$",
    needs="\\dollar|€|£|¥|Rs|USD",
)
_NOUN = lazy_pattern(r"[A-Za-z][A-Za-z' -]{2,40}")


def split_unit(text: str) -> list[tuple[str, Unit]]:
    """Yield each way to split `text` into a number and a unit, longest unit first."""
    if not text.isascii():
        text = text.translate(_ACCENTS)
    found: list[tuple[str, Unit]] = []
    prefix = _PREFIXED.match(text)
    if prefix:
        name = prefix[2].rstrip(".").replace("US ", "").removeprefix("US")
        name = {"D": "USD"}.get(name, name)
        unit = _TABLE.get(_SIGNS.get(name.strip(), name.strip()))
        body = prefix[1] + prefix[3]
        if unit:
            inner = split_unit(body)
            body = inner[0][0] if inner and inner[0][1].dims == unit.dims else body
            found.append((body, unit))
    below = _BELOW.search(text)
    if below is not None and text[: below.start()].strip():
        unit = unit_of(f"{below[1]}^-1")
        if unit is not None and unit.dims:
            found.append((text[: below.start()].strip(), unit))
    text = _QUOTIENT.sub(r" \1/\2", text)
    low = max(0, len(text) - 60)
    for match in _START.finditer(text, low):
        body, phrase = text[: match.start()].strip(), text[match.start() :]
        if not body or phrase.startswith(("\\frac", "\\sqrt", "\\pi")):
            continue
        unit = unit_of(phrase)
        if unit is not None:
            found.append((body.removesuffix("*").rstrip("\\ "), unit))
            break
        noun = _NOUN.fullmatch(phrase.strip())
        if noun and text[match.start() - 1] in " ":
            words = frozenset(phrase.lower().split())
            if words & _NO_NOUNS:
                continue
            found.append((body, Unit(noun=" ".join(sorted(words - COUNTING)))))
            break
    return found


def same_noun(a: str, b: str) -> bool:
    """Return True if two counted things may be the same: singular and plural, or one says more."""
    first, second = (frozenset(word.removesuffix("s") for word in noun.split()) for noun in (a, b))
    return not first or not second or first <= second or second <= first
