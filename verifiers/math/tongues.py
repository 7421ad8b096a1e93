"""Words of other languages than English: those that tell a language, and those that turn the meaning of a value.

A word turns a meaning if it denies, doubts, supposes, bounds or sets one thing against another: "ikke", "kanskje",
"hvis", "mer enn", "men". They are looked for in the language of a sentence alone, as "om" is "if" in Swedish and
"over" in Dutch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import names

_WORD = lazy_pattern(r"[^\W\d_]+")
_CLAUSE = lazy_pattern(r"[,;:.]\s+")
_ENGLISH = frozenset(
    names(
        "the is are and of has have it that there we so for with to by which gives give makes this these those its at from be was were "
        "they he she you i if as on an each both then hence thus therefore answer get needs must can will"
    )
)


@dataclass(frozen=True)
class Tongue:
    """A language: words that tell it, and patterns of those that deny, and of all that turn a meaning."""

    marks: frozenset[str]
    denies: re.Pattern[str]
    turns: re.Pattern[str]


def _tongue(marks: str, denies: str, turns: str) -> Tongue:
    return Tongue(
        frozenset(marks.split()),
        lazy_pattern(rf"\b(?:{denies})\b", re.IGNORECASE),
        lazy_pattern(rf"\b(?:{denies}|{turns})\b", re.IGNORECASE),
    )


_TONGUES = (
    _tongue("o os um uma é são do da dos das em na que portanto logo assim então temos com para por pois soma número área resposta", r"não|nem|nunca", r"ou|se|talvez|mas|quase|cerca|aproximadamente|exceto|sem|errad\w+|fals\w+|poderia|pode|deveria|(?:mais|menos|maior|menor)(?:es)? (?:de|que|do que)|pelo menos|no máximo|metade|dobro|seria|caso|suponh\w+|porém|entretanto"),
    _tongue("il lo la gli le un una è sono di del della dei delle che quindi dunque allora con si ha somma numero perciò risulta otteniamo", r"non|né|mai", r"o|oppure|se|forse|ma|però|quasi|circa|tranne|senza|sbagliat\w+|fals\w+|potrebbe|può|dovrebbe|sarebbe|(?:più|meno|maggior\w*|minor\w*) (?:di|che|del)|almeno|al massimo|metà|doppio|supponiamo|caso|invece"),
    _tongue("de het een is zijn van en dat dus we er met voor op te krijgen aantal som oplossing antwoord daarom wordt", r"niet|geen|nooit", r"of|als|misschien|maar|bijna|ongeveer|behalve|zonder|fout\w*|onjuist|zou|kan|stel|(?:meer|minder|groter|kleiner|hoger|lager) dan|minstens|hoogstens|maximaal|minimaal|helft|dubbel\w*|echter"),
    _tongue("är och att det en ett av på som så alltså därför då med för har får blir till antalet summan svaret lösningen totalt sammanlagt", r"inte|ej|aldrig", r"eller|om|kanske|men|nästan|ungefär|cirka|utom|utan|fel\w*|skulle|kan|borde|anta\w*|(?:mer|mindre|större|fler|färre) än|minst|högst|hälften|dubbel\w*|dock|inga|ingen|inget"),
    _tongue("er og at det en et af av på som så altså derfor da med for har får blir bliver til antallet summen svaret løsningen dermed totalt alt", r"ikke|ikkje|aldri|aldrig", r"eller|hvis|om|kanskje|måske|men|nesten|næsten|omtrent|cirka|ca|unntatt|undtagen|uten|uden|feil\w*|forkert\w*|ville|kan|burde|anta\w*|(?:mer|mere|mindre|større|flere|færre) en[nd]|minst|mindst|høyst|højst|halvparten|halvdelen|dobbelt\w*|dog|ingen|intet"),
    _tongue("on ja että se ovat siis joten eli niin saadaan luku summa vastaus ratkaisu yhteensä näin", r"ei|eivät|en", r"tai|jos|ehkä|mutta|melkein|noin|paitsi|ilman|väär\w+|voisi|voi|pitäisi|olisi|oletetaan|(?:enemmän|vähemmän|suurempi|pienempi) kuin|vähintään|enintään|puolet|kaksinkertainen|kuitenkaan"),
    _tongue("jest są to i w z na się więc zatem czyli stąd wynosi liczba suma rozwiązaniem odpowiedź mamy otrzymujemy razem", r"nie|nigdy", r"lub|albo|czy|jeśli|jeżeli|gdyby|może|chyba|ale|prawie|około|oprócz|bez|błęd\w+|fałsz\w*|mógłby|powinn\w+|załóżmy|(?:więcej|mniej|większ\w+|mniejsz\w+) (?:niż|od)|co najmniej|co najwyżej|połow\w+|dwukrotn\w+|jednak"),
    _tongue("je jsou to a v z na se tedy proto tak takže číslo součet řešením odpověď celkem máme dostaneme sú teda riešením spolu ktorý který", r"ne|nie|není|nelze|nemá|nemají|nejsou|neplatí|neexistuj\w+|nesprávn\w+|nepravd\w+|nikdy", r"nebo|alebo|či|pokud|jestli\w*|ak|možná|možno|snad|ale|skoro|téměř|takmer|asi|kromě|okrem|bez|chyb\w+|mohl\w*|mohol|měl\w*|předpokl\w+|(?:více|méně|víc|míň|větší|menší|viac|menej|väčš\w+|menš\w+) než?|alespoň|nejméně|nejvýše|aspoň|najviac|polovin\w+|dvojnás\w+|však"),
    _tongue("a az és egy van tehát így azaz vagyis ezért összesen szám összege megoldás válasz kapjuk lesz értéke", r"nem|ne|sem|soha", r"vagy|ha|talán|de|majdnem|körülbelül|kivéve|nélkül|hib\w+|hamis|lehet\w*|kellene|tegyük|(?:több|kevesebb|nagyobb|kisebb) mint|\w+nál (?:több|kevesebb|nagyobb|kisebb)|\w+nél (?:több|kevesebb|nagyobb|kisebb)|legalább|legfeljebb|fel[ée]\w*|kétszer\w*|azonban|volna|lenne"),
    _tongue("bir ve bu olur vardır dır dir tane için ile yani demek eder toplam sonuç cevap sayısı böylece olarak buluruz eşittir kenarı o", r"değil\w*|yok\w*|asla", r"veya|ya|eğer|belki|ama|fakat|neredeyse|yaklaşık|hariç|yanlış\w*|olabilir|varsay\w*|\w+(?:den|dan|ten|tan) (?:fazla|az|çok|büyük|küçük)|en az|en fazla|en çok|yarı\w+|iki katı|olsaydı|olsa|ise|sanır\w*|\w+m[ae]z"),
    _tongue("este sunt un o și de la cu pe că deci prin urmare astfel avem obținem suma numărul soluția răspunsul rezultă", r"nu|nici|niciodată", r"sau|ori|dacă|poate|dar|însă|aproape|aproximativ|circa|cu excepția|fără|greșit\w*|fals\w*|putea|trebui|presupun\w*|(?:mai mult|mai puțin|mai mare|mai mic) (?:de|decât)|cel puțin|cel mult|jumătat\w+|dubl\w+|ar"),
    _tongue("adalah dan yang jadi maka dengan dari ada untuk jumlah hasilnya jawabannya nilai oleh karena itu sama", r"bukan|tidak|tak|jangan", r"atau|jika|kalau|mungkin|tetapi|tapi|hampir|sekitar|kecuali|tanpa|salah|bisa|seharusnya|misalkan|andaikan|(?:lebih|kurang) (?:dari|besar|kecil|banyak|sedikit)|paling|minimal|maksimal|setengah|dua kali|namun"),
    _tongue("là và có của vậy nên do đó ta được bằng số tổng các một cho", r"không|chưa", r"hoặc|hay|nếu|có lẽ|có thể|nhưng|gần|khoảng|trừ|sai|giả sử|(?:nhiều|ít|lớn|nhỏ) hơn|ít nhất|nhiều nhất|một nửa|gấp đôi|tuy nhiên|chẳng|phải chăng"),
    _tongue("это и в на что по при значит поэтому следовательно итак тогда получаем получается равна равно равен имеем сумма число ответ есть всего", r"не|ни|нет|нельзя|неправ\w*|неверн\w*", r"или|либо|если|бы|может|возможно|вероятно|наверн\w*|но|почти|около|примерно|кроме|без|ошиб\w+|ложн\w*|предполож\w*|пусть|допустим|(?:больше|меньше|более|менее|больш\w+|меньш\w+)|половин\w+|вдвое|однако|хотя|якщо|або|чи|мабуть|але|ні"),
    _tongue("це і в на що за при отже тому тоді отримуємо дорівнює маємо сума число відповідь всього усього разом", r"не|ні|немає|неправ\w*", r"або|чи|якщо|би|може|можливо|мабуть|але|майже|близько|приблизно|крім|без|помил\w+|хибн\w*|припустимо|нехай|(?:більше|менше|більш\w*|менш\w*)|половин\w+|вдвічі|однак|проте"),
    _tongue("είναι και το η ο τα των του της στο στη με για άρα επομένως οπότε συνεπώς έχουμε ίσο ισούται άθροισμα απάντηση συνολικά", r"δεν|δε|μη|όχι|ούτε|ποτέ", r"ή|αν|εάν|ίσως|αλλά|όμως|σχεδόν|περίπου|εκτός|χωρίς|λάθος|ψευδ\w+|θα μπορούσε|έστω|(?:περισσότερ\w+|λιγότερ\w+|μεγαλύτερ\w+|μικρότερ\w+)|τουλάχιστον|το πολύ|μισ\w+|διπλάσι\w+"),
    _tongue("la le les un une est sont et de du des que donc ainsi on nous il avec pour soit vaut obtient total somme nombre solution réponse", r"ne|n|non|pas|ni|jamais", r"ou|si|peut|peut-être|mais|presque|environ|sauf|sans|faux|fausse|pourrait|devrait|serait|supposons|(?:plus|moins|supérieur\w*|inférieur\w*) (?:de|que|à)|au moins|au plus|moitié|double|cependant|aucune?"),
    _tongue("der die das ist sind ein eine und von mit also somit daher folglich man wir es gibt hat beträgt ergibt erhält summe anzahl lösung antwort zusammen insgesamt", r"nicht|kein\w*|nie|niemals", r"oder|wenn|falls|vielleicht|aber|fast|etwa|ungefähr|außer|ohne|falsch\w*|könnte|kann|würde|wäre|sollte|angenommen|(?:mehr|weniger|größer|kleiner|höher) als|mindestens|höchstens|hälfte|doppelt\w*|jedoch|sondern"),
    _tongue("el los las un una es son y de del que por lo tanto entonces luego así con para se tiene hay suma número solución respuesta total", r"no|ni|nunca", r"o|u|si|tal vez|quizás?|pero|casi|aproximadamente|cerca|excepto|sin|incorrect\w*|fals\w+|podría|puede|debería|sería|supongamos|(?:más|menos|mayor|menor)(?:es)? (?:de|que)|al menos|como máximo|mitad|doble|embargo|ningun\w*"),
)  # fmt: skip
_ASIAN = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ASIAN_TURNS = lazy_pattern(
    r"ない|なく|ません|せず|ではあり|じゃ|以上|以下|未満|または|あるいは|もし|かも|約|ほぼ|だろう|場合|しかし|違|間違|誤|半分|不|没|非|より|大于|小于|多于|少于|或|如果|可能|大约|左右|至少|至多|最多|最少|超过|但|错|若|않|아니|없|또는|만약|혹시|약|거의|이상|이하|미만|하지만|틀"
)
_OTHER_TURNS = lazy_pattern(
    r"ليس|(?<!\w)(?:لا|أو|ربما|إذا|لو|لن|لم|غير|بدون)(?!\w)|تقريب|خطأ|أقل|أكثر|نفرض|(?<!\w)(?:לא|או|אם|אולי|אין|בערך|פחות|יותר)(?!\w)|नहीं|(?<!\w)(?:न|या|यदि|अगर|शायद|कम|अधिक)(?!\w)|लगभग|गलत|ไม่|หรือ|ถ้า"
)


def is_english(text: str) -> bool:
    """Return True if a text has more words of English than of another language, or no words of any."""
    words = frozenset(word.lower() for word in _WORD.findall(text))
    known = _told(words)
    if not known:
        return text.isascii() or not (words.isdisjoint(_ENGLISH) and any(map(_is_strange, words)))
    shared = len(words & _ENGLISH)
    return all(len(words & tongue.marks) <= shared for tongue in known)


def is_known(text: str) -> bool:
    """Return True if a text has a word that tells another language than English."""
    if _ASIAN.search(text):
        return True
    return bool(_told(frozenset(word.lower() for word in _WORD.findall(text))))


def tongues_of(text: str) -> tuple[Tongue, ...]:
    """Return the languages that a text may be in; none for English or an unknown one."""
    words = frozenset(word.lower() for word in _WORD.findall(text))
    told = _told(words)
    shared = len(words & _ENGLISH)
    return tuple(tongue for tongue in told if len(words & tongue.marks) > shared)


def is_asian(text: str) -> bool:
    """Return True if a text has Chinese, Japanese or Korean letters."""
    return _ASIAN.search(text) is not None


def turns_meaning(text: str) -> bool:
    """Return True if a text has a word of its language, or of any if none is told, that may turn a meaning around."""
    if _ASIAN.search(text):
        return _ASIAN_TURNS.search(text) is not None
    if not text.isascii() and _OTHER_TURNS.search(text):
        return True
    words = frozenset(word.lower() for word in _WORD.findall(text))
    return any(tongue.turns.search(text) for tongue in _told(words) or _TONGUES)


_BOUNDS_ABROAD = lazy_pattern(
    r"\b(?:(?:mer|mere|fler|flere|mindre|färre|færre) (?:än|enn|end)|(?:mais|menos|más|menos) de|(?:plus|moins) de|(?:più|meno) di|(?:meer|minder) dan|(?:více|méně|víc|viac|menej) než|(?:więcej|mniej) niż"
    r"|(?:több|kevesebb) mint|(?:enemmän|vähemmän) kuin|mai (?:mult|puțin) de|(?:lebih|kurang) dari|hơn|больше|меньше|более|менее|більше|менше|(?:mehr|weniger) als"
    r"|không phải|nu (?:sunt|este)|(?:se|ne|luku) ei ole|možná|kanskje|kanske|måske|misschien|vielleicht|peut-être|talvez|forse|quizás?|belki|talán|ehkä|może|poate|mungkin|có lẽ|возможно|можливо|ίσως) $",
    re.IGNORECASE,
)
"""Words right in front of a number that bound, doubt or deny it."""


def is_denied_abroad(number: str, sentence: str) -> bool:
    """Return True if a sentence of another language has a number only in clauses that deny or bound it: "não são 21 arestas"."""
    at = sentence.find(number)
    if at > 0 and _BOUNDS_ABROAD.search(sentence, 0, at):
        return True
    words = frozenset(word.lower() for word in _WORD.findall(sentence))
    told = _told(words)
    if not told or any(len(words & tongue.marks) <= len(words & _ENGLISH) for tongue in told):
        return False
    clauses = [one for one in _CLAUSE.split(sentence) if _has(number, one)]
    return bool(clauses) and all(
        any(tongue.denies.search(clause) for tongue in told) for clause in clauses
    )


def _has(number: str, clause: str) -> bool:
    return re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", clause) is not None


def _is_strange(word: str) -> bool:
    return not word.isascii() and len(word) > 1


@lru_cache(maxsize=64)
def _told(words: frozenset[str]) -> tuple[Tongue, ...]:
    """The languages that most of the words tell of; none if no two words tell one, or one beside a word in its letters."""
    counts = [len(words & tongue.marks) for tongue in _TONGUES]
    most = max(counts)
    if most == 0 or (most == 1 and not any(map(_is_strange, words))):
        return ()
    return tuple(t for t, n in zip(_TONGUES, counts, strict=True) if n == most)
