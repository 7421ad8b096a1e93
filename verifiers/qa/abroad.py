"""Translates labels, phrases, dates, yes and no of other languages into the English that the other files read.

"Ответ: Paris", "答案：Paris", "La réponse est Paris", "20 juillet 1969", "Nein". Names stay as they are written;
`abroad_sentences.py` reads sentences.
"""

from __future__ import annotations

import re

from verigym.verifiers.qa.values import MONTHS
from verigym.verifiers.text.answer_labels import ANSWER_IS, LABELLED, YES_OR_NO

_MAY_LABEL = re.compile(r"(?m)^[^:：=\n]{1,60}[:：=]")
_ENDINGS = re.compile(r"(?<=\w)(?:\s?(?:입니다|이다|이에요|예요|です|である|だ))?[。.\s]*$")
_MONTHS_ABROAD = """
januar janvier enero gennaio janeiro januari января stycznia ocak,
februar février fevrier febrero febbraio fevereiro februari февраля lutego şubat,
märz mars marzo março marco maart марта marca mart,
avril abril aprile апреля kwietnia nisan,
mai mayo maggio maio mei maj мая maja mayıs,
juni juin junio giugno junho июня czerwca haziran,
juli juillet julio luglio julho июля lipca temmuz,
août aout agosto augusti augustus августа sierpnia ağustos,
septembre septiembre settembre setembro сентября września eylül,
oktober octobre octubre ottobre outubro октября października ekim,
novembre noviembre novembro ноября listopada kasım,
dezember décembre decembre diciembre dicembre dezembro december декабря grudnia aralık
"""
_ENGLISH = [name for name in MONTHS if len(name) > 3 and name != "sept"]
_ENGLISH.insert(4, "may")
_MONTH_OF = {
    name: month
    for month, names in zip(_ENGLISH, _MONTHS_ABROAD.split(","), strict=True)
    for name in names.split()
}
_DAY = re.compile(
    rf"\b(?:(?:le|el|il|am|den|der|em|op|dia|día)\s+)?(\d{{1,2}})(?:\.|er|º|°|:e)?\s+(?:de\s+)?({'|'.join(_MONTH_OF)}|{'|'.join(_ENGLISH)})"
    r"(?:\s+(?:de|del))?\s+(\d{4})(?:\s*(?:г\.?|года|r\.?|roku)(?!\w))?(?!\w)",
    re.IGNORECASE,
)
_VERDICT = re.compile(r"\W*([^\W\d_]{2,5})\s*[,.!]\s+(?=\w)")
_EAST = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일号號]")
_EAST_YEAR = re.compile(r"^\W*(\d{4})\s?[年년]\W*$")


def with_english_labels(text: str) -> str:
    """Return `text` with "answer:" and "the answer is" at the start of lines in English."""
    labelled = LABELLED.sub(_label, text) if _MAY_LABEL.search(text) else text
    labelled = ANSWER_IS.sub("The answer is ", labelled)
    return text if labelled == text else _ENDINGS.sub("", labelled)


def _label(match: re.Match[str]) -> str:
    yes = YES_OR_NO.get((match["word"] or "").lower())
    said = "" if yes is None else " yes" if yes else " no"
    return f"{match['lead']}Answer: {said}"


def with_english_dates(text: str) -> str:
    """`text` with dates of other languages in English: "20. Juli 1969", "1969年7月20日"."""
    if not re.search(r"\d{4}", text):
        return text
    text = _EAST.sub(lambda day: f"{day[1]}-{day[2]}-{day[3]}", text)
    text = _EAST_YEAR.sub(r"\1", text)
    return _DAY.sub(lambda day: f"{day[1]} {_MONTH_OF.get(day[2].lower(), day[2])} {day[3]}", text)


def yes_or_no_abroad(answer: str) -> bool | None:
    """Return the yes or no that an answer of one word says in another language; None if it is none."""
    return YES_OR_NO.get(answer.strip(" .!。！").lower())


def with_english_verdict(answer: str) -> str:
    """Return `answer` with "Ja, ..." and "Non. ..." at its start as "Yes, ..." and "No, ..."."""
    found = _VERDICT.match(answer)
    said = YES_OR_NO.get(found[1].lower()) if found else None
    if found is None or said is None:
        return answer
    return f"{'Yes' if said else 'No'}, {answer[found.end() :]}"
