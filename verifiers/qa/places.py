"""Places that a reply may say its answer lies in, and persons and years that it may name beside it.

A name beside an answer is a second candidate unless it is of another kind than the answer: a country, a range or a river
where a city is asked for; any place where no place is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from verigym.verifiers.qa.asked import QuestionWords

NATIONS = frozenset(
    """
    english british scottish irish welsh french german italian spanish portuguese dutch belgian swiss austrian
    polish czech hungarian russian soviet ukrainian greek turkish swedish norwegian danish finnish icelandic
    american canadian mexican brazilian argentine chilean colombian cuban australian japanese chinese indian
    korean israeli egyptian iranian persian nigerian serbian croatian romanian bulgarian roman flemish
    """.split()  # noqa: SIM905
)
_COUNTRIES = frozenset(
    name.strip()
    for name in """
    afghanistan;albania;algeria;andorra;angola;argentina;armenia;australia;austria;azerbaijan;bahamas;bahrain;bangladesh
    ;barbados;belarus;belgium;belize;benin;bhutan;bolivia;bosnia;botswana;brazil;brunei;bulgaria;burundi;cambodia;cameroon
    ;canada;chad;chile;china;colombia;costa rica;croatia;cuba;cyprus;czechia;czech republic;denmark;dominican republic
    ;ecuador;egypt;el salvador;england;estonia;ethiopia;fiji;finland;france;gabon;gambia;georgia;germany;ghana;greece
    ;guatemala;guinea;guyana;haiti;honduras;hungary;iceland;india;indonesia;iran;iraq;ireland;israel;italy;jamaica;japan
    ;jordan;kazakhstan;kenya;kuwait;kyrgyzstan;laos;latvia;lebanon;lesotho;liberia;libya;liechtenstein;lithuania;luxembourg
    ;madagascar;malawi;malaysia;maldives;mali;malta;mauritius;mexico;moldova;monaco;mongolia;montenegro;morocco;mozambique
    ;myanmar;namibia;nepal;netherlands;new zealand;nicaragua;niger;nigeria;north korea;norway;oman;pakistan;panama;paraguay
    ;peru;philippines;poland;portugal;qatar;romania;russia;rwanda;saudi arabia;scotland;senegal;serbia;singapore;slovakia
    ;slovenia;somalia;south africa;south korea;spain;sri lanka;sudan;sweden;switzerland;syria;taiwan;tanzania;thailand;togo
    ;tunisia;turkey;uganda;ukraine;united arab emirates;united kingdom;united states;united states of america;uk;us;usa
    ;u.k.;u.s.;u.s.a.;uruguay;uzbekistan;venezuela;vietnam;wales;yemen;zambia;zimbabwe
    """.split(";")  # noqa: SIM905
)
_CONTINENTS = frozenset(
    name.strip()
    for name in """
    europe;asia;africa;north america;south america;antarctica;oceania;western europe;eastern europe;central europe
    ;northern europe;southern europe;central america;latin america;east asia;southeast asia;central asia;west africa
    ;siberia;patagonia;east africa;north africa;southern africa;scandinavia;middle east;far east
    """.split(";")  # noqa: SIM905
)
# Names that "the" stands before, by the words of a question that asks for such a place.
_LARGE = (
    (
        {"river", "rivers"},
        """
        Seine;Thames;Rhine;Danube;Nile;Amazon;Rhone;Loire;Elbe;Oder;Vistula;Tiber;Po;Tagus;Ebro;Volga;Dnieper;Don
        ;Mississippi;Missouri;Hudson;Potomac;Colorado;Yukon;Orinoco;Parana;Ganges;Indus;Brahmaputra;Mekong;Yangtze
        ;Congo;Niger;Zambezi;Euphrates;Tigris;Jordan;Vltava;Neva;Moskva;Arno;Main;Spree;Isar;Liffey;Sava
        """,
    ),
    (
        {"range", "ranges", "mountains"},
        """
        Himalayas;Himalaya;Alps;Andes;Rockies;Pyrenees;Carpathians;Appalachians;Urals;Caucasus;Apennines
        ;Dolomites;Balkans;Karakoram;Tatras;Swiss Alps;French Alps;Rocky Mountains
        """,
    ),
    (
        {"sea", "seas", "ocean", "oceans"},
        """
        Pacific;Atlantic;Mediterranean;Adriatic;Aegean;Baltic;Caribbean;Arctic;Antarctic;Bosphorus;North Sea
        ;Black Sea;Red Sea;Dead Sea;Baltic Sea;Mediterranean Sea;Caribbean Sea;Indian Ocean;Pacific Ocean
        ;Atlantic Ocean;Arctic Ocean
        """,
    ),
    ({"desert", "deserts"}, "Sahara;Gobi;Kalahari"),
    (
        {"country", "countries", "state", "nation", "region", "union", "archipelago", "islands"},
        """
        Bahamas;European Union;Soviet Union;Ivory Coast;Near East;Levant;Iberian Peninsula
        """,
    ),
    (
        {"hemisphere", "galaxy", "system"},
        "Southern Hemisphere;Northern Hemisphere;Solar System;Milky Way",
    ),
)
_LARGER = {
    name.strip().lower(): asking
    for asking, names in _LARGE
    for name in names.split(";")
    if name.strip()
}
_STATES = {
    name.strip(): country
    for country, names in (
        (
            "united states",
            """
            alabama;alaska;arizona;arkansas;california;colorado;connecticut;delaware;florida;hawaii;idaho;illinois;indiana
            ;iowa;kansas;kentucky;louisiana;maine;maryland;massachusetts;michigan;minnesota;mississippi;missouri;montana
            ;nebraska;nevada;new hampshire;new jersey;new mexico;new york;north carolina;north dakota;ohio;oklahoma;oregon
            ;pennsylvania;rhode island;south carolina;south dakota;tennessee;texas;utah;vermont;virginia;washington
            ;west virginia;wisconsin;wyoming
            """,
        ),
        ("canada", "ontario;quebec;british columbia;alberta;manitoba;nova scotia;saskatchewan"),
        (
            "australia",
            "new south wales;queensland;tasmania;victoria;western australia;south australia",
        ),
        ("germany", "bavaria;saxony;hesse;brandenburg"),
        ("italy", "tuscany;lombardy;sicily;sardinia"),
        ("spain", "catalonia;andalusia;galicia"),
        ("france", "provence;normandy;brittany;burgundy"),
    )
    for name in names.split(";")
}
# Heads of the names of larger places: "the Australian Capital Territory".
_HEADS = frozenset(
    """
    territory territories province county district region peninsula islands mountains hills valley desert plateau
    hemisphere coast basin archipelago kingdom states republic union
    """.split()  # noqa: SIM905
)
_ALIKE = {
    "uk": "united kingdom", "u.k.": "united kingdom", "britain": "united kingdom", "us": "united states", "u.s.": "united states", "usa": "united states",
    "u.s.a.": "united states", "united states of america": "united states", "england": "united kingdom",
    "scotland": "united kingdom", "wales": "united kingdom", "czech republic": "czechia",
}  # fmt: skip
_OF_NATION = {
    "french": "france", "dutch": "netherlands", "british": "united kingdom", "english": "united kingdom",
    "scottish": "united kingdom", "welsh": "united kingdom", "american": "united states", "spanish": "spain",
    "polish": "poland", "swedish": "sweden", "danish": "denmark", "finnish": "finland", "greek": "greece",
    "turkish": "turkey", "irish": "ireland", "swiss": "switzerland", "norwegian": "norway", "roman": "italy",
    "persian": "iran", "soviet": "russia", "czech": "czechia", "flemish": "belgium", "welch": "united kingdom",
}  # fmt: skip
_PLACE_WORDS = frozenset(
    """
    where city cities capital capitals town towns village country countries state states nation river rivers mountain
    mountains peak lake lakes island islands continent place region sea ocean location port desert area province county
    district street building tower bridge museum castle palace park venue station airport university site ruins landmark monument temple valley
    """.split()  # noqa: SIM905
)
_PERSON_WORDS = frozenset("who whom whose person people author writer president king queen".split())  # noqa: SIM905
_COUNTRY_WORDS = frozenset("country countries nation nations where".split())  # noqa: SIM905
_CITY_WORDS = frozenset("city cities town towns where capital".split())  # noqa: SIM905
_NAMESAKES = frozenset(
    """
    paris london rome athens berlin moscow vienna cairo madrid lisbon dublin delhi lima havana naples venice florence
    toledo cambridge oxford manchester birmingham melbourne geneva warsaw petersburg alexandria memphis
    """.split()  # noqa: SIM905
)


_HOMES = dict(
    pair.split("/")
    for pair in """
    english/England british/Britain scottish/Scotland irish/Ireland welsh/Wales french/France german/Germany italian/Italy spanish/Spain
    portuguese/Portugal dutch/Netherlands belgian/Belgium swiss/Switzerland austrian/Austria polish/Poland hungarian/Hungary russian/Russia
    ukrainian/Ukraine greek/Greece turkish/Turkey swedish/Sweden norwegian/Norway danish/Denmark finnish/Finland icelandic/Iceland
    canadian/Canada mexican/Mexico brazilian/Brazil chilean/Chile colombian/Colombia cuban/Cuba australian/Australia japanese/Japan
    chinese/China indian/India korean/Korea israeli/Israel egyptian/Egypt iranian/Iran nigerian/Nigeria serbian/Serbia croatian/Croatia
    romanian/Romania bulgarian/Bulgaria
    """.split()  # noqa: SIM905
)
"""Countries by their adjectives."""


_IS_FROM = (
    r"\b(is|was|came|comes|hails|hailed) (?:originally )?(?:from|a (?:native|citizen) of) (?:the )?"
)


def with_demonyms(reply: str, texts: Sequence[str]) -> str:
    """Return a reply with "from Norway" as "Norwegian", where that is a right answer."""
    for text in texts:
        home = _HOMES.get(text.lower())
        if home is not None:
            reply = re.sub(rf"{_IS_FROM}{home}\b(?!['’])", rf"\1 {text}", reply)
    return reply


def asks_place(asked: QuestionWords) -> bool:
    """Return True if a question may want a place."""
    return not _PLACE_WORDS.isdisjoint(asked.row)


def asks_person(asked: QuestionWords) -> bool:
    """Return True if a question may want a person."""
    return not _PERSON_WORDS.isdisjoint(asked.row)


def is_large(name: str) -> bool:
    """Return True if a name is that of a country or a continent."""
    return name.lower() in _COUNTRIES or name.lower() in _CONTINENTS


def is_beside(name: str, has_the: bool, asked: QuestionWords, answer: frozenset[str]) -> bool:
    """Return True if a place beside the answer can be no second candidate and is at odds with nothing in the question.

    `answer`: the words of the right answers.
    """
    low = " ".join(name.lower().split())
    words = frozenset(re.findall(r"[a-z]+", low))
    if words & (asked.options | answer):
        return False
    if low == "georgia" and answer & _NAMESAKES:
        return False
    if low in _COUNTRIES:
        return _is_agreed(low, asked)
    if low in _CONTINENTS:
        return "continent" not in asked.row and low not in asked.row
    if low in _STATES and not has_the:
        named = _countries(asked)
        clear = not _CITY_WORDS.isdisjoint(asked.row) and not answer & _NAMESAKES
        return clear and "state" not in asked.row and (not named or _STATES[low] in named)
    if words & asked.capital - {low.split()[0]} - _HEADS and low.split()[-1] not in _HEADS:
        return False
    if low in _LARGER:
        return has_the and _LARGER[low].isdisjoint(asked.row)
    if low.split()[-1] in _HEADS and len(low.split()) > 1:
        return has_the and low.split()[-1] not in asked.row
    return not asks_place(asked) and not words & asked.capital


def is_at_odds(name: str, asked: QuestionWords, answer: frozenset[str]) -> bool:
    """Return True if a place beside the answer is a country or state that the question or the answer rules out."""
    if name in asked.row or name in answer:
        return False
    named = _countries(asked)
    if name in _STATES:
        return (bool(named) and _STATES[name] not in named) or not answer.isdisjoint(_NAMESAKES)
    return (
        name in _COUNTRIES
        and name not in {"us", "georgia"}
        and bool(named)
        and _ALIKE.get(name, name) not in named
    )


def _is_agreed(country: str, asked: QuestionWords) -> bool:
    """Return True if a country is not asked for, and is the one that the question names, if it names one."""
    if "country" in asked.row or "countries" in asked.row or "nation" in asked.row:
        return False
    if asked.row[:1] == ("where",) and country in asked.capital:
        return False
    named = _countries(asked)
    return not named or _ALIKE.get(country, country) in named


@lru_cache(maxsize=256)
def countries_in(asked: QuestionWords) -> frozenset[str]:
    """Return the countries that a question names, by name or as an adjective; both names of one."""
    named = _countries(asked)
    return named | {other for other, name in _ALIKE.items() if name in named and len(other) > 3}


def _countries(asked: QuestionWords) -> frozenset[str]:
    """The countries that a question names, by name or as an adjective."""
    text = f" {' '.join(asked.row)} "
    found = {name for name in _COUNTRIES if f" {name} " in text} - {"us"}
    for word in NATIONS.intersection(asked.capital):
        other = _OF_NATION.get(word)
        found |= {other} if other else {name for name in _COUNTRIES if name[:4] == word[:4]}
    return frozenset(_ALIKE.get(name, name) for name in found)
