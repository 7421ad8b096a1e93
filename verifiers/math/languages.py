"""Turns the fixed phrases of French, German, Spanish and Chinese replies into English.

Only what decides the answer is translated: "la réponse est", "keine Lösung", "o", "答案是", numbers with
a decimal comma. Extraction and comparing then follow the same rules for every language. Formulas between
dollar signs keep their letters.

Numbers in words are in `spelled_abroad.py`. Not covered: names of units and free prose in these languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial

from verigym.verifiers.math.answer_labels import with_english_labels
from verigym.verifiers.math.japanese_korean import from_japanese_or_korean
from verigym.verifiers.math.other_scripts import without_lead
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import names

_WINDOW = 3000
"""Characters at the end of a reply that are read for their language and translated."""
_SHOWN = 400
"""Characters at the end of these that tell the language."""
_BRIEF = 100
_ENGLISH = lazy_pattern(
    r"\b(?:the|is|are|and|so|we|answer|also|not|for|of|with|this|that|in|no|yes)\b",
    re.I,
    needs="and|are|for|in|is|no|of|so|that|the|we|with|yes",
)
_WORD = lazy_pattern(r"[^\W\d_]{2,20}")
_COMMAND_WORDS = frozenset(names("boxed text textbf mathrm answer final"))
_HAN = lazy_pattern("[\u4e00-\u9fff]")
_HAN_RUN = lazy_pattern(r"[\u4e00-\u9fff【】「」]+(?!\s*\})")
_TURNING = lazy_pattern("[不非无未没否除余别勿几约近年月日]")
_OPENING_IS = lazy_pattern(r"^[\s,;]*(?:therefore[\s,]*)?is\s+(?=[$\\\d-])", needs="is")
_NOUN = lazy_pattern(r"(?<=\d) (?!não\b)[a-zA-Z]{0,20}[À-ÖØ-öø-ÿ][a-zà-ÿ]{0,20}(?=\W*$)")
_MATHS = lazy_pattern(
    r"(\$\$?[^$]{1,400}\$\$?|\\\(.{1,400}?\\\)|\\\[.{1,400}?\\\])", re.DOTALL, needs="$|\\(|\\["
)
_DECIMAL = lazy_pattern(
    r"(?<![\d.,(\[\w])((?<!\\\{)\d{1,3}(?:[.\u00a0\u202f ]\d{3})+|(?<!\\\{)\d{1,15}),(\d{1,15})(?![\d,)\]\\]|\.\d)"
)
_DOTTED = lazy_pattern(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,8}(?![\d.,]\d)")

Rule = tuple[re.Pattern[str], str]


def _rules(*pairs: tuple[str, str]) -> tuple[Rule, ...]:
    return tuple((lazy_pattern(pattern, re.IGNORECASE), english) for pattern, english in pairs)


# Where "none" is all that is said: the line ends.
_ENDS = r"(?=[\s*_`.!)}]*(?:\n|$))"


_FRENCH_WORDS = frozenset(
    names(
        "combien quel quelle quelles résous trouvez calculez réponse reponse résultat resultat donc vaut équation aucune aucun oui vrai faux fausse ainsi obtient trouve "
        "infinité égal égale somme valeur nombre probabilité conséquent pas obtenons longueur vide finalement réels tous"
    )
)
_FRENCH = _rules(
    (r"\b(?:n'(?:a|ont|admet|admettent|y a)|il n'y a) (?:donc )?(?:pas de|aucune?) (?:solutions?|racines?)(?: r[ée]elles?)?", "has no solution"),
    (r"\b(?:pas de|aucune) solutions?(?: r[ée]elles?)?", "no solution"),
    (r"\bn'existe(?:nt)? pas\b", "does not exist"),
    (r"\b(?:une )?infinit[ée] de solutions?\b", "infinitely many solutions"),
    (rf"\baucune?(?: (?:tel(?:le)? )?(?:nombre|entier|valeur|premier|r[ée]el)(?: premier| pair| r[ée]el| possible)?)?{_ENDS}", "none"),
    (r"\bensemble vide\b", "empty set"),
    (r"\btous les (?:nombres )?r[ée]els\b", "all real numbers"),
    (r"\bn'est (?:donc )?pas\b", "is not"),
    (r"\b(?:la |notre |ma |le |une )?(?:bonne )?(?:r[ée]ponse|r[ée]sultat|solution)(?: (?:finale?|correcte|exacte|cherch[ée]e|obtenue?|num[ée]rique))*(?=\s*(?:\W{0,4}[:=]|est\b|vaut\b))", "the answer"),
    (r"\b(?:les |nos )?solutions(?= sont\b)", "the answers"),
    (r"\b(?:est|vaut|était)(?: (?:donc|alors|ainsi|bien|exactement|[ée]gale? [àa]))*\b", "is"),
    (r"\bsont(?: (?:donc|alors))*\b", "are"),
    (r"\bon (?:obtient|trouve|a)(?: (?:donc|alors|finalement|ainsi))*\b", "we get"),
    (r"\bil y a(?: donc)?\b", "there are"),
    (r"\b(?:strictement )?(?:sup[ée]rieure?|plus grande?) (?:[àa]|que|ou [ée]gale?)", "greater than"),
    (r"\b(?:strictement )?(?:inf[ée]rieure?|plus petite?) (?:[àa]|que|ou [ée]gale?)", "less than"),
    (r"\bau (?:moins|plus)\b", "at least"),
    (r"\b(?:donc|ainsi|par cons[ée]quent|finalement|en conclusion)\b", "therefore"),
    (r"\b(?:ou bien|soit|ou)\b", "or"),
    (r"\bet\b", "and"),
    (r"\b(?:en fait|non, c'est faux|c'est faux|erreur|pardon|attendez)\b(?=[^\n]{0,60}\d)", "wrong"),
    (r"\boui\b", "yes"), (r"\bnon\b(?![\w-])", "no"), (r"\bvraie?\b", "true"), (r"\b(?:faux|fausse)\b", "false"),
)  # fmt: skip
_GERMAN_WORDS = frozenset(
    names(
        "welche löse bestimme berechne zahlen groß keiner keines keins antwort ergebnis endergebnis endantwort lautet beträgt lösung lösungen lösungsmenge loesung somit gleich ergibt keine "
        "nein wahr falsch richtig richtige ist sind unendlich existiert reellen damit daher folglich insgesamt gibt bedeutet gesuchte für und größer kleiner mindestens höchstens"
    )
)
_GERMAN = _rules(
    (r"\b(?:hat|haben|besitzt|gibt(?: es)?) (?:also |somit |daher )?keine (?:reellen? )?(?:l(?:ö|oe)sung(?:en)?|nullstellen)", "has no solution"),
    (r"\bkeine (?:reellen? )?l(?:ö|oe)sung(?:en)?", "no solution"),
    (rf"\bkein(?:e[rsnm]?|s)?(?: (?:solche[rsn]? )?(?:gerade |reelle |ganze |nat[üu]rliche )?(?:zahl|primzahl|wert|element))?{_ENDS}", "none"),
    (r"\bexistiert(?:en)? (?:also )?nicht\b", "does not exist"),
    (r"\bunendlich viele(?: l(?:ö|oe)sungen)?", "infinitely many solutions"),
    (r"\bleere menge\b", "empty set"),
    (r"\balle reellen zahlen\b", "all real numbers"),
    (r"\b(?:ist|sind|lautet) (?:also |somit )?nicht\b", "is not"),
    (r"\b(?:die |das |unsere |meine )?(?:richtige |korrekte |endg[üu]ltige |finale |gesuchte )?(?:end)?(?:antwort|ergebnis|resultat|l(?:ö|oe)sung(?:smenge)?)(?=\s*(?:\W{0,4}[:=]|ist\b|lautet\b|betr[äa]gt\b))", "the answer"),
    (r"\b(?:die )?l(?:ö|oe)sungen(?= (?:sind|lauten)\b)", "the answers"),
    (r"\bbetr[äa]gt (?:der|die|das) [a-zäöüß]{2,30}\b", "is"),
    (r"\b(?:ist|lautet|betr[äa]gt|ergibt sich|gleich|ergibt)(?: (?:also|somit|daher|dann|folglich|gleich|genau))*\b", "is"),
    (r"\b(?:sind|lauten)\b", "are"),
    (r"\b(?:es gibt|gibt es)\b", "there are"),
    (r"\b(?:gr(?:ö|oe)(?:ß|ss)er|mehr) als\b", "greater than"), (r"\b(?:kleiner|weniger) als\b", "less than"),
    (r"\b(?:mindestens|h(?:ö|oe)chstens)\b", "at least"), (r"\binsgesamt\b", ""),
    (r"\b(?:somit|daher|folglich|damit|also|das bedeutet,? dass)\b", "therefore"),
    (r"\boder\b", "or"), (r"\bund\b", "and"),
    (r"\b(?:moment|das ist falsch|das stimmt nicht|korrektur|fehler)\b(?=[^\n]{0,60}\d)", "wrong, "),
    (r"\bf[üu]r (?=\$?[a-z] ?[=<>≤≥])", "for "),
    (r"\bja\b", "yes"), (r"\bnein\b", "no"), (r"\b(?:wahr|richtig)\b", "true"), (r"\bfalsch\b", "false"),
)  # fmt: skip
_SPANISH_WORDS = frozenset(
    names(
        "respuesta resultado solución soluciones solucion entonces tanto igual sí verdadero falso infinitas cuánto cuál resuelve encuentra halla calcula ninguna ninguno ningún así valor "
        "suma vacío números reales obtenemos tiene existe consiguiente maneras formas número buscado mayor menor"
    )
)
_SPANISH = _rules(
    (r"\bno (?:tienen?|hay|existe) (?:ninguna )?(?:soluci[óo]n(?:es)?|ra[íi]ces)(?: real(?:es)?)?", "has no solution"),
    (r"\b(?:sin|ninguna) soluci[óo]n(?:es)?", "no solution"),
    (r"\bno hay (?=[*_`]{0,3}ning)", "there are "),
    (rf"\bning(?:un[oa]|[úu]n)(?: (?:n[úu]mero|primo|entero|valor)(?: primo| par| entero| real| posible)?)?{_ENDS}", "none"),
    (r"\bno existen?\b", "does not exist"),
    (r"\binfinitas soluciones\b", "infinitely many solutions"),
    (r"\bconjunto vac[íi]o\b", "empty set"),
    (r"\btodos los (?:n[úu]meros )?reales\b", "all real numbers"),
    (r"\bno (?:es|son)\b", "is not"),
    (r"\b(?:la |el |nuestra |mi )?(?:respuesta|resultado|soluci[óo]n)(?: (?:final|correcta|exacta))*(?=\s*(?:\W{0,4}[:=]|es\b))", "the answer"),
    (r"\b(?:las )?soluciones(?= son\b)", "the answers"),
    (r"\b(?:es|vale)(?: (?:entonces|igual a|exactamente|por lo tanto))*\b", "is"),
    (r"\b(?:igual a)\b", "is"),
    (r"\bson\b", "are"),
    (r"\bhay\b", "there are"), (r"\bobtenemos\b", "we get"), (r"\ben total\b", "in total"),
    (r"\b(?:mayor|m[áa]s) (?:o igual )?(?:que|de)\b", "greater than"), (r"\b(?:menor|menos) (?:o igual )?(?:que|de)\b", "less than"),
    (r"\b(?:al menos|como m[áa]ximo|a lo sumo|por lo menos)\b", "at least"),
    (r"\b(?:por lo tanto|por tanto|por consiguiente|entonces|as[íi] que|luego)\b", "therefore"),
    (r"(?<=\d|\$|\}) (?:o|u) (?=\\|\d|\$)", " or "), (r"(?<=\w) o (?=no\b|s[íi])", " or "),
    (r"(?<=\d|\$|\}) y (?=\\boxed|\d|\$)", " and "), (r"(?<=s[íi]) y (?=no\b)", " and "),
    (r"\b(?:perd[óo]n|eso es incorrecto|es falso|correcci[óo]n)\b", "wrong"),
    (r"\bs[íi](?!\w)", "yes"), (r"\bverdadero\b", "true"), (r"\bfalso\b", "false"),
)  # fmt: skip
_CHINESE_UNITS = {
    "平方厘米": "cm^2", "平方米": "m^2", "平方千米": "km^2", "立方厘米": "cm^3", "立方米": "m^3", "厘米": "cm",
    "毫米": "mm", "千米": "km", "公里": "km", "米": "m", "千克": "kg", "公斤": "kg", "克": "g", "小时": "hours",
    "分钟": "minutes", "秒": "seconds", "度": "degrees", "升": "L", "毫升": "mL",
}  # fmt: skip
_MEASURED = lazy_pattern(
    rf"(?<=[\d$}}])(\s*\\text\w*\{{)?\s*({'|'.join(sorted(_CHINESE_UNITS, key=len, reverse=True))})(?(1)\}})(?![\u4e00-\u9fff])",
    needs="克|公斤|公里|分钟|升|小时|度|秒|米",
)
_BEGINS_HAN = r"(?:^|(?<=[\s,，。:：(>])|(?<=boxed\{)|(?<=boxed\{\\text\{))"
_CHINESE = _rules(
    (r"无穷多(?:个|组)?解?|无数(?:个|组)?解?|有?无限多(?:个|组)?解?", " infinitely many solutions "),
    (r"没有(?:实数|整数)?解|无(?:实数|整数)?解", " has no solution "),
    (r"不存在", " does not exist "),
    (r"空集", " empty set "),
    (r"(?:全体|所有|一切)实数", " all real numbers "),
    (r"(?:答案|结果|解)(?:并)?不(?:是|为|等于)", " the answer is not "),
    (r"不(?:等于|是|为)(?=\s*[\d$\\])", " is not "),
    (r"【(?:答案|解答)】", " the answer is "),
    (r"(?:最终|最后|正确|标准)?的?(?:答案|结果|解答)\W{0,4}?(?:(?:应该|应当|应|就)?(?:是|为|等于)\s*[:：]?|[:：=])", " the answer is "),
    (r"(?:^|(?<=[\n。]))\W{0,4}答\W{0,4}?[:：]", "\nAnswer: "),
    (r"(?:最终|最后|正确|标准)的?(?:答案|结果)\W{0,4}(?=\n)", "\nFinal answer:\n"),
    (r"(?:故|应|因此|所以)?选(?:择|项)?(?:是|为)?\s*[:：]?\s*(?=[(（*$]*[A-J])", " the answer is "),
    (r"或者?", " or "), (r"以及|和|与|及", " and "), (r"、", ", "),
    (r"不(?:可能|会|能)(?:是|为|等于)?", " is not "),
    (r"大于|超过|多于|高于", " greater than "), (r"小于|不足|少于|低于", " less than "), (r"至少|最多|至多", " at least "),
    (r"不对|错了|等等|更正|其实", " wrong, "),
    (r"不(?:一定|确定)|也许|或许|(?:有可能|可能|如果|假如|假设)(?= ?(?:the answer|is\b|是|答案|结果))", " maybe "),
    (r"(?:因此|所以|综上所述|综上|故)[，,]?", " therefore "),
    (rf"{_BEGINS_HAN}(?P<mark>[*_`]{{0,3}})[「『“]?(?:不是的?|不对|否|不|错误|错|假)[」』”]?(?P=mark)(?=[\s,，。！!)}}<]|$)", r" \g<mark>no\g<mark> "),
    (rf"{_BEGINS_HAN}(?P<mark>[*_`]{{0,3}})[「『“]?(?:是的|是|对的?|正确|真)[」』”]?(?P=mark)(?=[\s,，。！!)}}<]|$)", r" \g<mark>yes\g<mark> "),
    (rf"{_BEGINS_HAN}(?P<mark>[*_`]{{0,3}})(?:没有|均无|都没有|都不是|无)(?:这样的|任何)?(?:整数|实数|素数|质数|偶质数|数|值)?(?P=mark)(?=\s*[。！!.]?\s*(?:\n|$))", r" \g<mark>none\g<mark> "),
    (r"(?:一共|总共|共)?(?:需要|等于|得到|[有是为得])(?=\s*(?:[\d$\\*-]|$))", " is "),
    (r"(?<=[\d$}])\s*[\u4e00-\u9fff]{1,6}(?=\s*(?:[。.,，)\s]|$))", ""),
    (r"。", ". "), (r"，", ", "),
)  # fmt: skip


_OR_ABROAD = lazy_pattern(
    r"(?P<one>\b(?P<name>[a-z]) ?= ?[^=\s,;]{1,30}\$?),?(?: o | ou | oder | u | bzw\. | 或 )(?=\$?(?P=name) ?=)",
    needs=" o | ou | oder | u | bzw. | 或 ",
)


def to_english(text: str, question: str = "") -> str:
    """`text` with the phrases at its end that decide the answer in English; English stays as it is.

    A short text that shows no language of its own is in that of the `question`.
    """
    start = max(0, len(text) - _WINDOW)
    if "=" in text:
        text = _OR_ABROAD.sub(r"\g<one> or ", text)
    shown = text[start:]
    labelled, commas = with_english_labels(shown)
    found = labelled != shown
    shown = _NOUN.sub("", with_points(labelled)) if commas else labelled
    asian = not shown.isascii() and max(shown) >= "\u3040"
    plain = from_japanese_or_korean(shown) if asian else None
    if plain is None and not found and not shown.isascii():
        plain = without_lead(shown)
    if plain is not None:
        shown, found = plain, True
    elif asian and _HAN.search(shown):
        shown = _MEASURED.sub(lambda match: f" {_CHINESE_UNITS[match[2]]}", shown)
        shown = _outside_formulas(shown, _CHINESE)
        shown = "\n".join(map(_without_rest, shown.split("\n")))
        found = True
    else:
        rules = _rules_for(shown)
        if rules is None and question and len(text) <= _BRIEF and not _ENGLISH.search(text):
            rules = _rules_for(question)
        if rules is not None:
            shown = _NOUN.sub("", with_points(_outside_formulas(shown, rules)))
            found = True
    return text[:start] + shown if found else text


_ALONE = {
    **dict.fromkeys(("oui", "non", "aucun", "aucune"), _FRENCH),
    **dict.fromkeys(("ja", "nein", "kein", "keine", "keiner", "keines", "keins"), _GERMAN),
    **dict.fromkeys(("sí", "ninguno", "ninguna", "ningún"), _SPANISH),
}
_FOREIGN_WORDS = _FRENCH_WORDS | _GERMAN_WORDS | _SPANISH_WORDS


def _rules_for(text: str) -> tuple[Rule, ...] | None:
    """The rules of the language that the end of `text` is in; None for English."""
    words = [word for word in _WORD.findall(text[-_SHOWN:].lower()) if word not in _COMMAND_WORDS]
    if len(words) <= 2 and len(text) < 60:
        rules = next((_ALONE[word] for word in words if word in _ALONE), None)
        if rules is not None:
            return rules
    best, rules = 0, None
    distinct = set(words)
    if distinct.isdisjoint(_FOREIGN_WORDS):
        return None
    for known, of_language in (
        (_FRENCH_WORDS, _FRENCH),
        (_GERMAN_WORDS, _GERMAN),
        (_SPANISH_WORDS, _SPANISH),
    ):
        count = len(distinct & known)
        if count > best:
            best, rules = count, of_language
    return rules


@lru_cache(maxsize=4096)
def has_decimal_commas(text: str) -> bool:
    """Return True if `text`, a question, is in a language that writes 2,5 for 2.5."""
    return _rules_for(text) is not None or bool(_COMMA_QUESTION.search(text))


_COMMA_QUESTION = lazy_pattern(
    r"\b(?:berechnen?|bestimmen?|ermittl?e|ermitteln|gib|wie (?:viele?|gro(?:ß|ss)|hoch|lang|schwer|weit|alt|teuer|schnell|lautet|breit|tief)|wieviele?"
    r"|welche[rsnm]?|löse[nt]?|vereinfache|runde|angeben|schreibweise|wenn|dezimalzahl"
    r"|calcule[rz]?|calculons|d[ée]terminer?|d[ée]terminez|combien|trouve[rz]?|quel(?:le)?s?|r[ée]sou(?:s|dre|dez)|simplifie[rz]|évalue[rz]?|arrondi[ers]?"
    r"|calcula|determina|cu[áa]nt[oa]s?|encuentra|halla|cu[áa]l(?:es)?|resuelv[ea]|qué|simplifica|redondea"
    r"|quanto|quanti|qual|calcola|risolvi|trova|resolva|encontre|hoeveel|bereken|oblicz|сколько|найдите|вычислите|чему|решите)\b",
    re.IGNORECASE,
)
_ASKS_SEVERAL = lazy_pattern(
    r"\b(?:welche[rsn]?|bestimmen?|finden?|berechnen?|löse[nt]?|gib|nennen?|ermittle|quels|quelles|trouve[rz]?|d[ée]termine[rz]?|donne[rz]?|cu[áa]les|hall[ae]|encuentr[ae]|determin[ae])"
    r"\s+(?:[^\W\d]+\s+){0,3}?(?:l(?:ö|oe)sungen|nullstellen|zahlen|primzahlen|primfaktoren|teiler|werte|wurzeln|koordinaten|paare?|punkte?|vektor|intervalle?"
    r"|solutions|racines|valeurs|nombres|entiers|facteurs|diviseurs|coordonn[ée]es|couples?|points?|vecteur|intervalle"
    r"|soluciones|ra[íi]ces|valores|n[úu]meros|primos|divisores|coordenadas|pares?|puntos?|vector|intervalo)\b",
    re.IGNORECASE,
)
_COMMA = lazy_pattern(r"(?<=\d)\{,\}(?=\d)", needs="{,}")


def reads_decimal_comma(gold: str, question: str) -> bool:
    """Return True if a reference `2,5` is a decimal: the question is in a language that writes it so, and asks
    for one value."""
    return (
        "," in gold
        and bool(question)
        and has_decimal_commas(question)
        and not _ASKS_SEVERAL.search(question)
        and with_points(gold, sure=True) != gold
    )


def with_points(text: str, *, sure: bool = False) -> str:
    """`text` with decimal commas as points: "1.234,5" is 1234.5. Pairs and longer lists stay.

    `sure`: three places behind a comma are places too, where they else are a group of thousands.
    """
    text = _DOTTED.sub(lambda match: match[0].replace(".", ""), text)
    if sure:
        text = _COMMA.sub(",", text)
    return _DECIMAL.sub(partial(_pointed, sure=sure), text)


def _pointed(match: re.Match[str], sure: bool) -> str:
    whole, places = match[1], match[2]
    if len(places) == 3 and whole.isdigit() and whole != "0" and not sure:
        return match[0]  # 1,234 is more often a grouped number, in replies of models
    return f"{re.sub(r'[^0-9]', '', whole)}.{places}"


def _without_rest(line: str) -> str:
    """A line of formulas without the Chinese between them, unless that may turn its meaning around."""
    if not re.search(r"[\d\\$]", line):
        return line
    line = _HAN_RUN.sub(lambda run: run[0] if _TURNING.search(run[0]) else " ", line)
    return _OPENING_IS.sub("", line)


def _outside_formulas(text: str, rules: tuple[Rule, ...]) -> str:
    parts = _MATHS.split(text)
    translate: Callable[[str], str] = partial(_translated, rules=rules)
    return "".join(part if k % 2 else translate(part) for k, part in enumerate(parts))


def _translated(text: str, rules: tuple[Rule, ...]) -> str:
    for pattern, english in rules:
        text = pattern.sub(english, text)
    return text
