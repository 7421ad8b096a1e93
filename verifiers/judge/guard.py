"""Refuses answers that ask a judge for credit without answering, before any judge is asked.

Covers: blank text, punctuation alone, reasoning openers and headings in several languages ("Thought
process:", "Let's solve this step by step.", "Solution"), the question repeated, markers of our prompt,
and sentences that speak to the judge. A long honest answer that begins with an opener is no opener.
Does not cover: wrong answers that argue well; that is the judge's own strength.
Source of the openers: Zhao et al. 2025, arXiv 2507.08794 ("One token to fool LLM-as-a-judge").
"""

from __future__ import annotations

import re
import unicodedata

_OPENERS = (
    r"(?:here(?: is|'s| are)? )?(?:my |the |a )?(?:full |final )?(?:thought|thinking|reasoning|solution|analysis|answer|explanation|proof|response|result|conclusion)s?(?: process| steps?)?(?: is| are| below| follows| as follows)?",
    r"(?:(?:ok|okay|sure|alright|right|well|first|now|so)\s+)?(?:let(?:'s| us|s| me)|we(?: will|'ll| can| should)?|i(?: will|'ll| am going to|'m going to)) (?:now |first )?(?:\w+ ){0,5}(?:step by step|stepwise|carefully|this problem|the problem|the question|it|this)(?: (?:together|carefully|first|out|now|through))*",
    r"(?:to|in order to) (?:solve|answer|approach|find) (?:this|the|it)(?: \w+){0,5}",
    r"step(?: by step)?(?: (?:solution|reasoning|one|\d+))?",
    r"(?:sure|yes|yeah|ok|okay|certainly|of course|correct|right|true|absolutely)",
    r"解|解答|解决方案|答案|思考过程|思维过程|推理过程|让我们(?:一步一步|逐步)(?:地)?(?:解决|思考|分析)?(?:这个问题|这道题)?(?:吧)?|分析",
    r"かいせつ|解説|解决|解法|思考(?:プロセス|過程)|ステップ(?:バイステップ|ごと)に?(?:考え|解き)ましょう|回答",
    r"해결책|해설|풀이|사고 과정|답변?|정답|단계별로 (?:풀어|생각해) ?(?:봅시다|보겠습니다)",
    r"respuesta|solución|solucion|razonamiento|(?:proceso de )?(?:pensamiento|razonamiento)|resolvamos (?:esto |este problema )?paso a paso|vamos a resolver(?:lo)?(?: este problema)? paso a paso",
    r"réponse|solution|raisonnement|processus de (?:pensée|réflexion)|résolvons (?:cela |ce problème )?(?:étape par étape|pas à pas)",
    r"lösung|antwort|gedankengang|denkprozess|überlegung|(?:lass(?:t)? uns|lösen wir) (?:das |dies |dieses problem )?(?:schritt für schritt)(?: lösen)?",
    r"решение|ответ|рассуждение|ход мыслей|мыслительный процесс|давайте решим (?:это |эту задачу |задачу )?(?:шаг за шагом|пошагово|по шагам)",
    r"solução|resposta|raciocínio|processo de pensamento|vamos resolver (?:isso |este problema )?passo a passo",
    r"soluzione|risposta|ragionamento|processo di pensiero|risolviamo (?:questo |questo problema )?passo (?:dopo|per) passo",
    r"الحل|الجواب|عملية التفكير|لنحل هذ[اه] (?:المسألة |المشكلة )?خطوة بخطوة|समाधान|हल|उत्तर|विचार प्रक्रिया|आइए इसे चरण दर चरण हल करें",
)  # fmt: skip
_LONGEST_OPENER = 160
_TO_THE_JUDGE = re.compile(
    r"(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instructions?|rubric|prompt|rules|criteria)"
    r"|(?:dear|attention|note to|hey|hello|message to)\s*,?\s+(?:the\s+)?(?:judge|grader|evaluator|verifier)"
    r"|\b(?:judge|grader|evaluator)s?\b[^.\n]{0,30}\b(?:must|should|please|shall|has to|needs to)\b"
    r"|(?:mark|grade|score|rate|judge|accept|treat)\s+(?:this|it|my|the)\b[^.\n]{0,30}\b(?:correct|accepted|right|full|passing|100|10/10|true|yes)\b"
    r"|\"?verdict\"?\s*[:=]\s*\"?(?:yes|pass|correct|true)"
    r"|<\|?(?:im_start|im_end|system|assistant|endoftext)|\[/?INST\]|^\s*(?:system|assistant)\s*:",
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


def refused(answer: str, question: str) -> tuple[str, str] | None:
    """Why an answer is not worth a judge, as a reason code and a sentence; None where it is."""
    if not answer.strip():
        return "no_answer", "the answer is blank"
    if not any(unicodedata.category(c)[0] in "LNS" for c in answer):
        return "no_answer", "the answer is punctuation alone"
    bare = plain(answer)
    if not bare and not any(
        unicodedata.category(c)[0] == "S" and c not in "`^~|+=<>$" for c in answer
    ):
        return "no_answer", "the answer is signs alone"
    if _TO_THE_JUDGE.search(unicodedata.normalize("NFKC", answer)):
        return "instructs_judge", "the answer speaks to its judge"
    asked = plain(question)
    rest = bare
    if asked and asked in rest and (len(asked) > 12 or rest == asked):
        rest = rest.replace(asked, " ").strip()
        if not rest:
            return "repeats_question", "the answer is the question again"
    if rest and is_opener(rest) and plain(question) != rest:
        return "opener", "the answer opens reasoning and says nothing"
    return None


def is_opener(bare: str) -> bool:
    """Whether plain text is a row of openers and nothing else."""
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
