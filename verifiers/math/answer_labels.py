"""Turns "answer:" and "the answer is" of many languages into English: "Ответ: 7", "정답은 7입니다".

The rest of the line stays, except for counters, nouns and endings behind a number that say nothing of it,
Cyrillic units, and decimal commas. The labels are in `text/answer_labels.py`; French, German, Spanish and
Chinese sentences are in `languages.py`.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.text.answer_labels import LABELLED, YES_OR_NO

_IS = (
    # (phrase, whether its language writes decimal commas)
    (lazy_pattern(r"(?<!верный )(?<!вильный )\b(?:ответ|результат|відповідь)(?:ом)?\s*(?:[-–—]+|равен|равна|равно|это|дорівнює|[-–—]\s*это)\s*(?=[*_`$\\\d-])", re.IGNORECASE), True),
    (lazy_pattern(r"\b(?:a |o |la |il )?(?:resposta|resultado|risposta|soluzione|risultato)(?: (?:final|finale|correta|corretta))? (?:é|è|e')\s+", re.IGNORECASE, needs="resposta|resultado|risposta|risultato|soluzione"), True),
    (lazy_pattern(r"\b(?:odpowied[źz]|wynik)(?:ią)? (?:to|jest|wynosi)\s+", re.IGNORECASE, needs="odpowied|wynik"), True),
    (lazy_pattern(r"\b(?:ответом|відповіддю) (?:является|будет|є) (?:число )?|\bsvaret (?:är|blir) |\brăspunsul (?:este|e) |\bodpověď je |\bodpoveď je |\ba válasz (?:a |az )?(?=\d)", re.IGNORECASE), True),
    (lazy_pattern(r"(?:정답|최종 답|답)(?:은|는|이)\s*(?=[*_`$\\\d-])", needs="답"), False),
    (lazy_pattern(r"(?:答え|解答|正解)は、?\s*(?=[*_`$\\\d-])", needs="は"), False),
)  # fmt: skip
# Endings and counters behind a number.
_COUNTERS = lazy_pattern(
    r"(?<=[\d$}*])\s*(?:(?:개|명|가지|번|원|살|마리|권|그루|송이|대|장)?(?:입니다|이다|이에요|예요|임)|(?:개|명|가지|번|원|살|마리|권|그루|송이|대|장)"
    r"|(?:個|人|円|通り|本|枚|匹|冊|回|つ|歳|台)?(?:です|である|だ|となります|になります|でした)|(?:個|人|円|通り|本|枚|匹|冊|回|つ|歳|台))(?=[\s*_`.。!]*(?:\n|$))"
)
_CYRILLIC_UNITS = (
    ("км", "km"), ("километр", "km"), ("см", "cm"), ("сантиметр", "cm"), ("мм", "mm"), ("миллиметр", "mm"), ("м", "m"), ("метр", "m"),
    ("кг", "kg"), ("килограмм", "kg"), ("г", "g"), ("грамм", "g"), ("т", "tons"), ("тонн", "tons"), ("л", "L"), ("литр", "L"), ("мл", "mL"), ("ч", "hours"),
    ("час", "hours"), ("мин", "minutes"), ("минут", "minutes"), ("с", "seconds"), ("сек", "seconds"), ("секунд", "seconds"), ("дн", "days"), ("день", "days"),
    ("градус", "degrees"), ("процент", "%"),
)  # fmt: skip
_UNIT_OF = dict(_CYRILLIC_UNITS)
_CYRILLIC = lazy_pattern(
    r"(?<=[\d$}]) ?([а-яёіїє]{1,14})(\.?)(?=[\s*_`.!]*(?:\n|$))", re.IGNORECASE
)
_KEPT = ("или", "либо", "не", "нет", "тыс", "млн", "миллион", "миллиард", "млрд", "раз", "возмож", "наверн", "пример", "около", "минус", "плюс", "если", "або", "чи")  # fmt: skip
_ENDING = lazy_pattern(r"(?:а|ов|ы|и|е|я|ей|ам|у|ах|ами)$")


def with_english_labels(text: str) -> tuple[str, bool]:
    """`text` with "answer:" and "the answer is" in English, and whether its language writes decimal commas."""
    commas = found = False

    def english(match: re.Match[str]) -> str:
        nonlocal commas, found
        found, commas = True, commas or match["comma"] is not None
        yes = YES_OR_NO.get((match["word"] or "").lower())
        said = "" if yes is None else "yes" if yes else "no"
        return f"{match['lead']}Answer{match['sign'].replace('：', ':')}{said and f' {said}'}"

    if ":" in text or "=" in text or "：" in text:
        text = LABELLED.sub(english, text)
    if not text.isascii():
        for pattern, of_commas in _IS:
            text, n = pattern.subn("the answer is ", text)
            found, commas = found or n > 0, commas or (n > 0 and of_commas)
        if found:
            text = _CYRILLIC.sub(_without_noun, _COUNTERS.sub("", text))
    return text, commas


def _without_noun(match: re.Match[str]) -> str:
    """A Cyrillic unit in English; other nouns behind a number are dropped, as they are in English."""
    word = match[1].lower()
    unit = _UNIT_OF.get(word) or _UNIT_OF.get(_ENDING.sub("", word))
    if unit is not None:
        return unit if unit == "%" else f" {unit}"
    return match[0] if word.startswith(_KEPT) or len(word) < 3 else ""
