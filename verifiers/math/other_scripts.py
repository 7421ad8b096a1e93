"""Takes the words before the formula off a last sentence in Cyrillic, Arabic, Hebrew or Devanagari letters:
"По формуле корней x = (2 ± 6i)/2 = 1 ± 3i" says that x is 1 ± 3i.

A sentence stays as it is if it has a word that may deny, doubt or bound its formula, or words behind it.

Not covered: sentences of these languages with several formulas between words.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_LETTERS = "\u0400-\u04ff\u0590-\u06ff\u0900-\u097f"
_SCRIPT = lazy_pattern(f"[{_LETTERS}]")
_SENTENCE = lazy_pattern(rf"(?<=[\w)])[.!?।]\s+(?=[{_LETTERS}])")
_LED = lazy_pattern(rf"(?P<lead>[{_LETTERS}\s,:;«»()*-]+?)(?P<formula>[-−√±(\[{{$\\]*[A-Za-z\d].*)")
_TURNS = lazy_pattern(
    r"(?i)\b(?:не\w*|ни\w*|или|либо|если|может|возможно|вероятно|наверно\w*|пример\w*|около|почти|кроме|без|меньш\w*|больш\w*|менее|более|ложн\w*|ошибочн\w*"
    r"|ошиб\w*|предполож\w*|пусть|допустим|проверим|попробуем|чи|або|якщо|мабуть|ні\w*|можливо)\b"
    r"|ليس|(?<!\w)(?:لا|أو|ربما|إذا|لو|لن|لم|قد|غير|بدون)(?!\w)|تقريب|خطأ|أقل|أكثر|نفرض"
    r"|(?<!\w)(?:לא|או|אם|אולי|אין|בערך|פחות|יותר)(?!\w)|नहीं|(?<!\w)(?:न|या|यदि|अगर|शायद|कम|अधिक)(?!\w)|लगभग|ज़्यादा|ज्यादा|गलत|बिना|मान"
)


def without_lead(text: str) -> str | None:
    """`text` whose last sentence is its formula alone; None if it is not of this kind."""
    if _SCRIPT.search(text) is None:
        return None
    body = text.rstrip(" .!।*\n")
    line = body.rpartition("\n")[2]
    said = _SENTENCE.split(line)[-1]
    led = _LED.fullmatch(said.strip())
    if led is None or _TURNS.search(said) or _SCRIPT.search(led["formula"]):
        return None
    if re.search(r"[A-Za-z]{4}", re.sub(r"\\[A-Za-z]+", "", led["formula"])):
        return None  # another sentence, in English
    return f"{body[: len(body) - len(line)]}{led['formula']}"
