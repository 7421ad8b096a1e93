"""Reads short sentences in German, Spanish, French, Italian, Portuguese, Dutch and Chinese, by shape.

The question need not be in that language, so that none of its words can be looked for. A reply states the answer that stands
behind "is" ("El río más largo es el @"), behind "by" in a passive ("fue descubierta por @"), or at the beginning ("@ ganó el
Mundial"); or it has the answer as its one year, date or amount; in Chinese at the end, or in brackets. A denial, a doubt, an
alternative, a relative, another rank or the opposite of what is asked makes it unread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.asked import QuestionWords
from verigym.verifiers.qa.claim_clauses import sentences_in
from verigym.verifiers.qa.claim_view import OTHER, Sort
from verigym.verifiers.qa.claim_words import RELATIVES
from verigym.verifiers.qa.normalise import known_tokens, plain
from verigym.verifiers.qa.sentence_words import ANSWER, GIVEN, PIECE, is_word

_ARTICLES = frozenset(
    "der die das den dem des ein eine einen el la los las lo un una le les une l il i gli uno o os as um uma de het een".split()  # noqa: SIM905
)
_COPULAS = frozenset(
    "e ist war sind waren heißt hieß lautet bleibt est était etait sont fut furent es era fue son eran fueron è fu furono venne vennero viene foram werden sono erano é foi são sao eram was heet zijn c'est cest s'appelle".split()  # noqa: SIM905
)
_AGENTS = frozenset("von vom par por pelo pela da dal dalla dall' door".split())  # noqa: SIM905
_AUXILIARIES = _COPULAS | frozenset(
    ["wurde", "wurden", "worden", "été", "ete", "stata", "stato", "werd", "sido", "sida"]
)
_PLACING = frozenset("in en à a au em no na nel nella im".split())  # noqa: SIM905
_WORDS = (
    _ARTICLES
    | _AGENTS
    | _AUXILIARIES
    | frozenset(
        "ihre seine ihr sein sua mutter vater hauptstadt tiene tienen hay hat haben gibt heeft stammt geht ganó gano ganho vinse und y et en im am zu mit auf für du del della dello dei di do dos das nel nella sich wird hat ha a à au aux se su sur que qui van op met".split()  # noqa: SIM905
    )
) - {
    "a",
    "i",
    "o",
    "as",
    "do",
    "son",
    "era",
    "was",
    "in",
    "no",
    "on",
    "met",
    "van",
    "war",
    "die",
    "den",
    "is",
    "de",
    "la",
    "le",
    "el",
    "von",
    "da",
}
_WEAK = frozenset("de la le el von da die van der".split())  # noqa: SIM905
_ENGLISH = frozenset(
    "the is was were are of by it its this that and has have had which who with from for as to at on in not or i be should would could though some he she they my his there about been must can".split()  # noqa: SIM905
)
_UNSURE = re.compile(
    r"\b(?:nicht|kein\w*|weder|nie|niemals|sondern|aber|doch|statt|ohne|außer|no|non|ni|sino|pero|nunca|sin|excepto|ne|n['’]\w+|pas|jamais|mais|sauf|sans"
    r"|senza|tranne|não|nao|nem|sem|exceto|niet|geen|maar|nooit|oder|ou|o|u|oppure|of|entweder|vielleicht|wohl|wahrscheinlich|vermutlich|angeblich|glaube|denke|meine"
    r"|quiz[aá]s?|tal\s+vez|probablemente|creo|pienso|supongo|peut-[eê]tre|probablement|crois|pense|suppose|forse|probabilmente|credo|penso|talvez|provavelmente|acho|misschien"
    r"|waarschijnlijk|denk|zweit\w*|dritt\w*|segund[oa]s?|tercer\w*|deuxi[eè]me|second\w*|troisi[eè]me|terz[oa]|terceir[oa]|tweede|derde|ehemalige?\w*|fr[uü]her\w*|antigua|ancienne?|ex"
    r"|als)\b",
    re.IGNORECASE,
)
# What makes the answer behind it something beside the point.
_BESIDE = re.compile(
    r"\b(?:zwischen|entre|tra|tussen|neben|nahe|cerca|pr[eè]s|vicino|perto|vor|nach|antes|despu[eé]s|avant|apr[eè]s|prima|dopo|depois|voor|na|gegen|contra|contre|contro|tegen"
    r"|frau|mann|sohn|tochter|bruder|schwester|vater|mutter|freund\w*|sch[uü]ler\w*|lehrer\w*|nachfolger\w*|vorg[aä]nger\w*|esposa|esposo|marido|mujer|hij[oa]|herman[oa]|padre|madre|amig[oa]"
    r"|sucesor\w*|predecesor\w*|disc[ií]pul\w+|alumn[oa]|femme|mari|fils|fille|fr[eè]re|s(?:oe|œ)ur|p[eè]re|m[eè]re|ami|[eé]l[eè]ve|ma[iî]tre|successeur|pr[eé]d[eé]cesseur|moglie|marito"
    r"|figli[oa]|fratello|sorella|amic[oa]|alliev[oa]|successore|predecessore|filh[oa]|irm[aã]o?|pai|m[aã]e|sucessor\w*|broer|zus|zoon|dochter|vrouw|vader|moeder|vriend|mehr|m[aá]s|plus|pi[uù])\b",
    re.IGNORECASE,
)
_SMALLEST = re.compile(
    r"\b(?:klein\w+|k[uü]rzest\w+|j[uü]ngst\w+|niedrigst\w+|menor|petite?|peque[nñ][oa]|piccol[oa]|kleinste|menos|moins|meno)\b"
)
_LARGEST = re.compile(
    r"\b(?:gr[oö](?:ß|ss)t\w+|l[aä]ngst\w+|h[oö]chst\w+|[aä]ltest\w+|mayor|grande?|maior|grootste|langste)\b"
)
_SMALL = frozenset("smallest shortest lowest youngest least".split())  # noqa: SIM905
_LARGE = frozenset("largest biggest longest tallest highest oldest most".split())  # noqa: SIM905
_JOINING = frozenset("und y e et i con mit avec com".split())  # noqa: SIM905
_OPENING = re.compile(r"(?:Der|Die|Das|El|Los|Las|Le|Les|Il|Ihre|Seine|Ein|Eine)\s")
_OPEN = re.compile(r"[?¿|;/&\n]|\b(?:or|and|but|not|versus|vs)\b", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()]*\)")
_EAST = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z][A-Za-z .'’-]*[A-Za-z.]|[A-Za-z]")
_EAST_UNSURE = re.compile(
    "[不没沒非无無或、；;和与與及?？]|可能|也许|大概|应该|附近|以前|以后|之前|之后|曾|的[父母兄弟姐妹子女朋妻丈儿]|但|除|ない|ません|じゃ|と|または|たぶん|第[二三四五]"
)
_EAST_LINK = re.compile("(?:是|为|為|位于|位於|在|叫|は|名为)")


def states_abroad(masked: str, asked: QuestionWords, sort: Sort) -> bool:
    """Return True if a short reply in another language, with `ANSWER` for the right answer, states it."""
    if len(masked) > 400 or _OPEN.search(masked) or asked.is_negated:
        return False
    low = [piece.lower() for piece in PIECE.findall(masked) if is_word(piece)]
    foreign = sum(word in _WORDS for word in low) + bool(_OPENING.match(masked))
    weak = sum(word in _WEAK for word in low)
    english = sum(word in _ENGLISH and word not in asked.row for word in low if word != "in")
    if (not foreign and weak < 2) or english > foreign or _is_unsure(masked, asked):
        return False
    if sort == "value" and OTHER in masked:
        return False
    bare = _BRACKETS.sub(" ", masked)
    if ANSWER not in bare:  # "Der 13. Zusatzartikel (@) zur Verfassung"
        behind = [one[1:-1].strip() for one in _BRACKETS.findall(masked)]
        return behind[0] == ANSWER and sort != "value"
    sentences = sentences_in(bare)
    for sentence in sentences:  # "... ist @. Lyon."
        if ANSWER not in sentence:
            words = sentence.lower().split()
            if len(words) < 4 or not _COPULAS.isdisjoint(words):
                return False
    for sentence in sentences:
        parts = [part for part in re.split(r"[,;:–—]\s", sentence.rstrip(" .!")) if part.strip()]
        at = next((k for k, part in enumerate(parts) if ANSWER in part), -1)
        if at < 0:
            continue
        leads = [word.lower() for part in parts[:at] for word in part.split()]
        if _AUXILIARIES.intersection(leads) or masked.count(ANSWER) > 2:
            return False
        pieces = [
            piece
            for piece in PIECE.findall(parts[at])
            if is_word(piece) or piece in (ANSWER, GIVEN)
        ]
        return _is_stated([piece.lower() for piece in pieces], pieces, asked, sort)
    return False


def _is_unsure(masked: str, asked: QuestionWords) -> bool:
    found = [one[0].lower() for one in _UNSURE.finditer(masked)]
    if any(one not in asked.row for one in found):
        return True
    return is_opposite_abroad(masked, asked)


def is_opposite_abroad(masked: str, asked: QuestionWords) -> bool:
    """Return True for "der kleinste Planet" where the largest is asked for."""
    low = masked.lower()
    return bool(
        (_SMALLEST.search(low) and not _LARGE.isdisjoint(asked.row) and not _LARGEST.search(low))
        or (_LARGEST.search(low) and not _SMALL.isdisjoint(asked.row) and not _SMALLEST.search(low))
    )


def _is_stated(low: Sequence[str], pieces: Sequence[str], asked: QuestionWords, sort: Sort) -> bool:
    """Return True if the answer stands behind "is" or "by", or begins the clause."""
    i = low.index(ANSWER)
    before, after = list(low[:i]), list(low[i + 1 :])
    beside = _BESIDE.search(" ".join(before[-5:]))
    if (
        beside
        and RELATIVES.isdisjoint(asked.row)
        and beside.end() > len(" ".join(before[-5:])) - 22
    ):
        return False
    if after[:1] and (after[0] in _JOINING or (after[0] == "en" and "het" in low)):
        return False
    if sort == "value":
        return len(low) > 3
    if (
        i
        and pieces[i - 1][:1].isupper()
        and pieces[i - 1].lower() not in _ARTICLES
        and i > 1
        and pieces[i - 1].lower() not in asked.row
    ):
        kind = before[-2] in _ARTICLES  # "la Ciudad de @", "der Planet @"
        if not kind:
            return False
    if after and pieces[i + 1][:1].isupper() and not asked.knows(after[0]):
        return False  # a longer name
    if all(word in _ARTICLES for word in before):
        return len(after) > 1 and after[0] not in _ARTICLES | _PLACING | _AGENTS | {
            ANSWER,
            "de",
            "des",
            "del",
            "di",
            "du",
        }
    tail = len(before) - next(
        (n for n, word in enumerate(reversed(before)) if word in _COPULAS | _AGENTS), len(before)
    )
    if not tail or len(before) - tail > 5:
        if sort == "noun":  # "Pflanzen nehmen @ auf"
            return pieces[i - 1].islower() and len(before[-1]) > 3 and before[-1] not in _PLACING
        return "where" in asked.row and before[-1] in _PLACING
    link, rest = before[tail - 1], before[tail:]
    if _JOINING.intersection(rest) or (
        link == "e" and (tail < 4 or pieces[tail - 2][:1].isupper())
    ):
        return False
    if link in _AGENTS and link not in _COPULAS:
        return not (_AUXILIARIES | {"stammt", "geht"}).isdisjoint(before[: tail - 1])
    if not rest or rest[0] in _ARTICLES | _PLACING or len(rest) < 3:
        subject = before[: tail - 1]
        return (
            not subject
            or subject[0] in _ARTICLES
            or any(map(asked.knows, subject))
            or len(subject) > 2
        )
    return False


def states_in_chinese(answer: str, texts: Sequence[str], asked: QuestionWords) -> bool:
    """Return True if a clause in Chinese or Japanese ends with a right answer or has it as its one name in Latin letters."""
    if not _EAST.search(answer) or len(answer) > 200 or asked.is_negated:
        return False
    text = plain(answer).strip(" 。．.！!")
    if _EAST_UNSURE.search(text):
        return False
    named = {known_tokens(one) for one in _LATIN.findall(text)}
    if len(named) == 1 and named <= {known_tokens(one) for one in texts}:
        return len(_LATIN.findall(text)) == 1
    text = re.sub(r"[(（][^()（）]*[)）]$", "", text)
    clause = re.split("[,，]", text)[0]
    return any(
        _EAST.search(one)
        and (
            (clause.endswith(one) and _EAST_LINK.search(clause[: -len(one)]))
            or (
                clause.startswith(one)
                and len(clause) > len(one) + 2
                and _EAST_LINK.match(clause, len(one))
            )
        )
        for one in map(plain, texts)
    )
