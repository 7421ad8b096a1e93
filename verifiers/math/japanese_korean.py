"""Turns the fixed phrases of Japanese and Korean replies into English, and drops what stands around their formulas.

"よって x = 3 となります" and "따라서 x = 3 입니다" say that x is 3; "3 ではありません" denies it, "3 かもしれません" doubts it.
Words that may turn a sentence around stay, so that it gives no value.

Not covered: units and numbers in words, and answers in words other than yes, no and "no solution".
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

Rule = tuple[re.Pattern[str], str]
_KANA = lazy_pattern("[\u3040-\u30ff]")
_HANGUL = lazy_pattern("[\uac00-\ud7a3]")
_JAPANESE_RUN = lazy_pattern("[\u3040-\u30ff\u4e00-\u9fff、，「」・ー]+")
_KOREAN_RUN = lazy_pattern("[\uac00-\ud7a3]+(?: [\uac00-\ud7a3]+)*")
_FORMULA = lazy_pattern(r"[\d\\$]")


def _rules(*pairs: tuple[str, str]) -> tuple[Rule, ...]:
    return tuple((lazy_pattern(pattern), english) for pattern, english in pairs)


_JAPANESE = _rules(
    (r"(?:実数?|整数)?(?:解|根|答え?)(?:は|が)(?:存在しな(?:い|く)|存在しません|あ?りません|ない|なし)(?:です)?", " no solution "),
    (r"(?:で|じゃ|と)は?(?:ありません|ない(?:です)?|なりません|ならない|言えない|限らない)", " is not the answer "),
    (r"かも(?:しれません|しれない)|でしょうか|でしょう|だろうか?|と思(?:います|う|われます)|(?:ら|よ)しい", " maybe "),
    (r"または|もしくは|あるいは|(?<=\d) ?か (?=\d)", " or "),
    (r"、", ", "), (r"。", ". "),
    (r"(?<=[A-Za-z\d)⁰¹²³⁴-⁹]) ?は、? ?(?=[-−\d$\\])", " = "),
    (r"(?:したがって|従って|よって|ゆえに|故に|つまり|すなわち|以上より|これより|だから)[,，]? ?", " therefore "),
    (r"(?:最終的な)?(?:答え?|解答|結果)(?:は|:|：)", " the answer is "),
    (r"(?:と|に)な(?:ります|る|った|りました)|で(?:す|ある|あります|した)|を?得(?:ます|る|られます|られる)|が?(?:求まります|求まる)|だ(?=[。.\s]|$)", ""),
)  # fmt: skip
_TURNS_JAPANESE = lazy_pattern(
    "な[いくけ]|ません|ぬ|ずに|か|以上|以下|未満|超|約|ほぼ|くらい|ぐらい|ほど|より[大小多少高低]|もし|仮|場合|なら|たら"
    "|誤|間違|違|正し|逆|別|他|でも|しかし|ただ|候補|両方|どちら|近|最大|最小|少な|多く|否|不|無|非"
)
_KOREAN = _rules(
    (r"(?:실수)?(?:해|근|답)(?:가|이|은|는)? ?(?:존재하지 않(?:습니다|는다|음)|없(?:습니다|다|음|어요))", " no solution "),
    (r"(?:이|가|은|는)? ?(?:아닙니다|아니다|아니에요|아님|않습니다|않는다)", " is not the answer "),
    (r"(?:일|인) ?(?:수도|지도|것 같)[\uac00-\ud7a3 ]*|(?:일|인)까요?|듯(?:하다|합니다)?|추정[\uac00-\ud7a3]*", " maybe "),
    (r"또는|혹은|(?<=\d)(?:이나|이거나) ", " or "),
    (r"(?<=[A-Za-z\d)⁰¹²³⁴-⁹])(?:은|는|이|가) (?=[-−\d$\\])", " = "),
    (r"(?:따라서|그러므로|그래서|즉)[,，]? ?", " therefore "),
    (r"(?:최종 ?)?(?:정답|답|결과)(?:은|는|:)? ?", " the answer is "),
    (r"(?:이|가)? ?(?:됩니다|된다|되었다)|(?:을|를) ?(?:얻(?:습니다|는다)|구한다)|입니다|이에요|예요|이다(?=[.\s]|$)|임(?=[.\s]|$)", ""),
)  # fmt: skip
_TURNS_KOREAN = lazy_pattern(
    "않|없|아니|아닌|못|이상|이하|미만|초과|약|정도|만약|경우|다면|라면|까|수도|듯|추정|다른|틀|오답|보다|각각|최대|최소|거의|혹|또"
)


def from_japanese_or_korean(text: str) -> str | None:
    """`text` with these phrases in English if it is Japanese or Korean; None for other text."""
    if _KANA.search(text):
        return _translated(text, _JAPANESE, _JAPANESE_RUN, _TURNS_JAPANESE)
    if _HANGUL.search(text):
        return _translated(text, _KOREAN, _KOREAN_RUN, _TURNS_KOREAN)
    return None


def _translated(
    text: str, rules: tuple[Rule, ...], run: re.Pattern[str], turns: re.Pattern[str]
) -> str:
    for pattern, english in rules:
        text = pattern.sub(english, text)
    return "\n".join(
        run.sub(lambda words: words[0] if turns.search(words[0]) else " ", line)
        if _FORMULA.search(line)
        else line
        for line in text.split("\n")
    )
