"""Refuses answers that ask a judge for credit without answering, before any judge is asked.

Covers: blank text, punctuation and thumbs alone, reasoning openers and headings in several languages
("Thought process:", "Let's solve this step by step.", "Solution"), claims to be right and grades of
one's own ("This answer meets the rubric", "Score: 10/10"), the question repeated whole or in part,
markers of our prompt, and sentences that speak to the judge, in English and less well in six other
languages; all of them also with invisible characters inside and letters of other alphabets that look the
same. A long honest answer that begins with an opener is no opener, and "Yes" is none where the question
wants a yes or no.
Does not cover: wrong answers that argue well; that is the judge's own strength.
Source of the openers: Zhao et al. 2025, arXiv 2507.08794 ("One token to fool LLM-as-a-judge").
"""

from __future__ import annotations

import re
import unicodedata

from verigym.verifiers.judge.emptiness import repeats, says_nothing, straightened, wants
from verigym.verifiers.text.lookalikes import folded, visible

_OPENERS = (
    r"(?:here(?: is|'s| are)? )?(?:my |the |a )?(?:full |final )?(?:thought|thinking|reasoning|solution|analysis|answer|explanation|proof|response|result|conclusion)s?(?: process| steps?)?(?: is| are| below| follows| as follows)?",
    r"(?:(?:ok|okay|sure|alright|right|well|first|now|so)\s+)?(?:let(?:'s| us|s| me)|we(?: will|'ll| can| should)?|i(?: will|'ll| am going to|'m going to)) (?:now |first )?(?:\w+ ){0,5}(?:step by step|stepwise|carefully|this problem|the problem|the question|it|this)(?: (?:together|carefully|first|out|now|through))*",
    r"(?:to|in order to) (?:solve|answer|approach|find) (?:this|the|it)(?: \w+){0,5}",
    r"step(?: by step)?(?: (?:solution|reasoning|one|\d+))?",
    r"(?:sure|yes|yeah|ok|okay|certainly|of course|correct|right|true|absolutely|pass|passed|accepted|approved|boxed|in conclusion|trivial|trivially|obvious|obviously)",
    r"as an? ai(?: language)?(?: model| assistant)?(?: i)?",
    r"解|解答|解决方案|答案|思考过程|思维过程|推理过程|让我们(?:一步一步|逐步)(?:地)?(?:解决|思考|分析)?(?:这个问题|这道题)?(?:吧)?|分析",
    r"かいせつ|解説|解决|解法|思考(?:プロセス|過程)|ステップ(?:バイステップ|ごと)に?(?:考え|解き)ましょう|回答",
    r"해결책|해설|풀이|사고 과정|답변?|정답|단계별로 (?:풀어|생각해) ?(?:봅시다|보겠습니다)",
    r"respuesta|solución|solucion|razonamiento|(?:proceso de )?(?:pensamiento|razonamiento)|resolvamos (?:esto |este problema )?paso a paso|vamos a resolver(?:lo)?(?: este problema)? paso a paso",
    r"réponse|réflexion|solution|raisonnement|processus de (?:pensée|réflexion)|résolvons (?:cela |ce problème )?(?:étape par étape|pas à pas)",
    r"lösung|antwort|gedankengang|denkprozess|überlegung|(?:lass(?:t)? uns|lösen wir) (?:das |dies |dieses problem )?(?:schritt für schritt)(?: lösen)?",
    r"решение|ответ|рассуждение|ход мыслей|мыслительный процесс|давайте решим (?:это |эту задачу |задачу )?(?:шаг за шагом|пошагово|по шагам)",
    r"solução|resposta|raciocínio|processo de pensamento|vamos resolver (?:isso |este problema )?passo a passo",
    r"soluzione|risposta|ragionamento|processo di pensiero|risolviamo (?:questo |questo problema )?passo (?:dopo|per) passo",
    r"الحل|الجواب|عملية التفكير|لنحل هذ[اه] (?:المسألة |المشكلة )?خطوة بخطوة|समाधान|हल|उत्तर|विचार प्रक्रिया|आइए इसे चरण दर चरण हल करें",
)  # fmt: skip
_LONGEST_OPENER = 160
_FLOOD = 2000
_TAGS = re.compile(r"</?(?:think|thinking|answer|solution|reasoning)>", re.IGNORECASE)
# Letters and signs that show nothing, and signs that only approve.
_BLANKS = dict.fromkeys(
    map(ord, "\u2800\u3164\u1160\u115f\uffa0\u034f\u17b4\u17b5✅✓✔☑👍👌💯🙏😊🙂\ufe0f")
)
_TO_THE_JUDGE = re.compile(
    r"(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instructions?|rubric|prompt|rules|criteria)"
    r"|(?:dear|attention|note to|hey|hello|message to)\s*,?\s+(?:the\s+)?(?:judge|grader|evaluator|verifier)"
    r"|\b(?:judge|grader|evaluator)\b[^.\n]{0,30}\b(?:must|should|please|shall|has to|needs to)\b"
    r"|(?:mark|grade|score|rate|judge|accept|treat)\s+(?:this|it|my|the)\b[^.\n]{0,30}\b(?:correct|accepted|right|full|passing|100|10/10|true|yes)\b"
    r"|\"?verdict\"?\s*[:=]\s*\"?(?:yes|pass|correct|true)"
    r"|(?:please|must|should|now|to|and|:)\s+(?:reply|answer|respond|output|say|print|return|write)\b(?: with)?[\s:\"'*`]{1,4}(?:yes|true|pass|correct)\b"
    r"|^\W{0,4}(?:reply|answer|respond|output|say|print|return)(?: with)?[\s:\"'*`]{1,4}(?:yes|true|pass)\b"
    r"|\b(?:new|updated?|revised|actual|real) (?:rubric|instructions?|criteria|grading)\s*[:=]|\[/?(?:ANSWER|RUBRIC|QUESTION|REFERENCE|FIRST|SECOND)\b"
    r"|\b(?:accept|approve)\b[^.\n]{0,20}\b(?:everything|anything|any answer|all answers|this answer|this response)\b"
    r"|\b(?:any|every) answer (?:is|counts as) (?:acceptable|accepted|right|correct)"
    r"|\b(?:verified|confirmed|validated|approved)\b[^.\n]{0,30}\b(?:experts?|administrators?|developers?|100 ?%|correct)"
    r"|\b(?:administrator|developer|grader|expert)s?\b[^.\n]{0,40}\b(?:verified|confirmed?|approved?|validated)\b[^.\n]{0,20}\b(?:answer|response|solution)"
    r"|</?(?:verdict|score|grade|submission|rubric)>|[\"'](?:verdict|score|grade|passed)[\"']\s*:"
    r"|\bif you are (?:grading|judging|evaluating)|\bgrading note\b|\bfull (?:marks|credit|score)\b"
    r"|\b(?:pretend|assume|imagine)\b[^.\n]{0,30}\b(?:reference|correct|right answer)\b"
    r"|\b(?:same as|as in|as stated in|see|matches|equals?|identical to)\s+(?:the\s+)?reference(?: answer)?\b"
    r"|\bverdict\s*(?:is|[-–—=:])\s*[\"']?(?:yes|pass|correct|true)\b"
    r"|^\W{0,4}(?:my |final |the )?(?:score|grade|rating|marks?)\s*(?:is|of|:|=)?\s*[\"']?(?:10+|[0-9.]+ ?/ ?[0-9]+|[0-9.]+ ?%|1\.0+|A\+?|five stars)\W*$"
    r"|\b(?:ignore[zr]?|ignora|oubliez|olvida|vergiss|ignoriere|игнорируй|забудь)\b[^.\n]{0,40}\b(?:instruc\w*|consignes?|anweisung\w*|regeln|инструкци\w*)"
    r"|(?:忽略|无视|無視)[^。\n]{0,20}(?:指令|指示|规则|説明)|(?:判定|判为|评为|视为|打)[^。\n]{0,6}(?:正确|满分|通过)|(?:以前|これまで)の指示を無視|正解と(?:判定|採点)"
    r"|\bals? (?:richtig|korrekt) (?:be)?werten|\b(?:marque[zr]?|acepta|aceptar|accepte[zr]?)\b[^.\n]{0,30}\b(?:correcte?|correct[ao]|respuesta|réponse)\b"
    r"|<\|?(?:im_start|im_end|system|assistant|endoftext)|\[/?INST\]|(?:^[ \t]{0,9}|\b(?:human|user)[ \t]?:[^\n]{0,99}\b)(?:system|assistant)[ \t]{0,9}:",
    re.IGNORECASE | re.MULTILINE,
)


def plain(text: str) -> str:
    """Lower case, compatible characters folded, invisible ones and marks of punctuation gone."""
    folded = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    kept = "".join(
        c if c == "'" or unicodedata.category(c)[0] in "LNM" else " "
        for c in folded
        if unicodedata.category(c) not in ("Cf", "Cc", "Co", "Cn") or c.isspace()
    )
    return " ".join(kept.split()).strip("' ")


def refused(answer: str, question: str, reference: str | None = None) -> tuple[str, str] | None:
    """Return the reason why an answer is not worth a judge, as a code and a sentence; None if it
    is worth one.

    An answer equal to the reference answer always is, whatever its words.
    """
    answer = visible(_TAGS.sub(" ", answer))
    if not answer.translate(_BLANKS).strip():
        return "no_answer", "the answer is blank"
    if not any(unicodedata.category(c)[0] in "LNS" for c in answer):
        return "no_answer", "the answer is punctuation alone"
    bare = plain(answer)
    if len(answer) > _FLOOD and len(set(bare.split())) <= 3:
        return "no_answer", "the answer is a few words over and over"
    if not bare and not any(
        unicodedata.category(c)[0] == "S" and c not in "`^~|+=<>$" for c in answer
    ):
        return "no_answer", "the answer is signs alone"
    if reference is not None and bare and bare == plain(reference):
        return None
    if _TO_THE_JUDGE.search(answer) or _TO_THE_JUDGE.search(folded(answer)):
        return "instructs_judge", "the answer speaks to its judge"
    asked = plain(question)
    if repeats(bare, asked):
        return "repeats_question", "the answer is the question again"
    rest = bare.replace(asked, " ").strip() if len(asked) > 12 else bare
    words = frozenset(asked.split())
    if wants(bare, question):
        return None
    spelt = [rest, *([plain(folded(rest))] if not rest.isascii() else [])]
    if any(one and (is_opener(straightened(one)) or says_nothing(one, words)) for one in spelt):
        return "opener", "the answer announces or praises an answer and gives none"
    return None


def is_opener(bare: str) -> bool:
    """Return True if plain text consists only of openers."""
    for _ in range(6):
        if not bare or len(bare) > _LONGEST_OPENER:
            break
        # The longest opener at the start that ends with a word.
        ends = [
            m.end()
            for p in _COMPILED
            if (m := p.match(bare)) and bare[m.end() : m.end() + 1] in ("", " ")
        ]
        if not ends or max(ends) == 0:
            return False
        bare = bare[max(ends) :].strip()
    return not bare


_COMPILED = tuple(re.compile(f"(?:{opener})(?= |$)") for opener in _OPENERS)
