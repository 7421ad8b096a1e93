"""Words of many languages that announce an answer ("Ответ:", "答案：", "Réponse :"), and their yes and no.

For every verifier that looks for the answer of a reply. English labels are read by each verifier itself.
"""

from __future__ import annotations

import re

# Languages that write 2,5 for 2.5, and the others.
_COMMA_WORDS = (
    "ответ|финальный ответ|итоговый ответ|окончательный ответ|правильный ответ|итог|результат|відповідь|адказ|отговор|одговор|antwort|endantwort|ergebnis|endergebnis|lösung|"
    "r[ée]ponse|r[ée]ponse finale|r[ée]sultat|respuesta|respuesta final|resultado|resultado final|resposta|resposta final|risposta|risposta finale|risultato|"
    "antwoord|eindantwoord|resultaat|odpowied[źz]|wynik|odpov[ěe][ďd]|výsledek|odpoveď|výsledok|svar|svaret|slutsvar|resultat|vastaus|lopullinen vastaus|válasz|eredmény|"
    "răspuns|raspuns|rezultat|odgovor|απάντηση|απαντηση|cevap|yanıt|sonuç|jawaban|jawaban akhir|đáp án|đáp số|trả lời|câu trả lời|kết quả|vastus|atbilde|atsakymas"
)
_POINT_WORDS = (
    r"정답|최종 답|최종 정답|최종 답안|답|답안|해답|결과|答え|最終的な答え|最終解答|解答(?=\W{0,6}\d)|正解|答案|最终答案|最後答案|答|回答|결론|"
    "الجواب|الإجابة|الاجابة|الإجابة النهائية|الجواب النهائي|النتيجة|جواب|پاسخ|उत्तर|अंतिम उत्तर|जवाब|উত্তর|பதில்|సమాధానం|ഉത്തരം|ઉત્તર|जबाब|ਜਵਾਬ|"
    "תשובה|התשובה|תשובה סופית|คำตอบ|ตอบ|jibu"
)

_YES = "да так はい 예 네 sim sì si tak ja evet ya có ναι oui sí نعم हाँ igen kyllä ano áno 是的 是 对 對"
_NO = "нет ні いいえ 아니오 아니요 não nie nej nei nee hayır tidak không όχι non no nein لا नहीं nem ei ne nu 不是 不 否 不对"
YES_OR_NO = {**dict.fromkeys(_YES.split(), True), **dict.fromkeys(_NO.split(), False)}
"""Yes and no of other languages, in small letters."""

_SIGN = r"[*_`\s]{0,4}[:：=][*_`]{0,3}"
_SO = (
    r"(?:(?:итак|значит|следовательно|таким образом|поэтому|отже|also|daher|somit|folglich|donc|ainsi|entonces|por lo tanto|por tanto|logo|portanto|assim|quindi|dunque|dus|więc|zatem"
    r"|따라서|그러므로|よって|したがって|ゆえに),?\s*)?"
)
LABELLED = re.compile(
    rf"^{_SO}(?P<lead>[\s*_`#>【\[✅☑-]{{0,8}})(?:(?P<comma>{_COMMA_WORDS})|(?P<point>{_POINT_WORDS}))[】\]]?(?P<sign>{_SIGN})"
    rf"(?:\s*(?P<word>{'|'.join(YES_OR_NO)})(?=[\s.!。*_`]*$))?",
    re.IGNORECASE | re.MULTILINE,
)
"""A label at the start of a line: `comma` or `point` by how its language writes 2.5, `word` for a yes or no behind it."""

_ADJECTIVE = r"(?:\s(?:correcte|finale?|exacte|correcta|correta|corretta|exacta|richtige|endgültige|finale))?"
ANSWER_IS = re.compile(
    r"^[\s*_`#>]{0,8}(?:"
    rf"(?:la|notre|ma)\s(?:bonne\s)?r[ée]ponse{_ADJECTIVE}\s(?:est|serait)"
    r"|(?:die|meine)\s(?:richtige\s|korrekte\s|endgültige\s)?antwort\s(?:ist|lautet)"
    rf"|(?:la|mi)\srespuesta{_ADJECTIVE}\ses|a\sresposta{_ADJECTIVE}\sé|la\srisposta{_ADJECTIVE}\s(?:è|e')"
    r"|het\s(?:juiste\s)?antwoord\sis|(?:det\s(?:rätta\s)?)?svaret\s(?:är|er)|(?:prawidłowa\s)?odpowied[źz]\s(?:to|jest)"
    r"|(?:правильный\s)?ответ\s*[-–—]+(?:\sэто)?|правильна\sвідповідь\s*[-–—]+|doğru\scevap|đáp\sán\slà|jawabannya\sadalah"
    r")\s*:?\s+"
    r"|^[\s*_`#>]{0,8}(?:(?:最终|最後|正确|正確)?(?:的)?答案(?:应该|應該)?(?:是|为|為)|(?:최종\s?)?(?:정답|답)[은는]|(?:答え|正解)は、?)\s*[:：]?\s*(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
"""A phrase at the start of a line that says what the answer is."""
