"""Words of other languages that announce, frame or praise an answer; `emptiness.py` says what they are for.

Two lists: words that only frame ("voici", "und") and words that name an answer, a process or a verdict
("solution", "richtig"). Latin letters stand without accents. Chinese, Japanese, Korean and Thai are not
written word by word, so a text of them says nothing if phrases below make up all of it.
"""

from __future__ import annotations

import re
import unicodedata

FRAMES = frozenset(
    """
    voici voila la le les l un une de du des d est sont c ce cette ces il elle je j vais nous on allons ma mon mes
    votre notre donc ainsi alors en pour par a au aux faut d'abord abord ensuite enfin premierement deuxiemement
    suivante suivant ci dessous dessus bien avec pas apres dans sur tres que qui et
    hier ist die der das den dem ein eine einen es wir ich werde mein meine ihre unsere also somit zuerst zunachst
    dann nun im folgenden folgende folgt unten oben und zu auf um mit nach fangen an wie lass lasst uns mal dies
    dieses diese dieser diesem sehr so
    aqui esta esto este el los las una unos es son mi mis su vamos voy por lo tanto asi que entonces primero
    segundo luego ahora y con siguiente siguientes abajo arriba hay muy se
    ecco il gli lo uno e mio mia dunque quindi prima poi ora andiamo questo questa molto di
    este esta isto um uma meu minha vou entao portanto primeiro depois agora nos eu muito os as
    вот это этот эта эту я мы мой моя мое наш наша и в на с к по итак следовательно поэтому значит сначала затем
    теперь далее ниже выше давайте давай очень следующий следующая за мне нам
    ось це цю цей моя мій отже спочатку тепер та
    hier de het een dit deze ons onze mijn dus eerst dan nu laten we volgt
    har ar den det ett en lat oss min mitt sa forst nu har ar
    oto jest to ten ta moj moja wiec najpierw teraz jak po
    iste bu bir ve benim once simdi asagida bunu
    ini adalah itu kita mari saya jadi pertama sekarang berikut dengan
    day la nay toi cau hay chung ta truoc tien bay gio
    هذا هذه هو هي في من على إلى هنا إليك دعنا لنا أولا ثم إذن لذلك الآن هل و ال كما يلي فيما
    यह ये है हैं को का की के में से आइए हम मैं रहा रही तो अब पहले इस
    """.split()  # noqa: SIM905
)
NAMES = frozenset(
    """
    false wrong incorrect walk requested confident easily see claim holds immediately definition inspection
    shown arrive thank thanks happy glad help hello hi welcome done proved proven noted lorem ipsum
    premierement zuerst primero erstens firstly secondly lastly voor demi detta for tra
    solution solutions reponse reponses resolvons resoudre resultat etape etapes raisonnement reflexion reflechir
    reflechissons pensee processus analyse analyser analysons probleme question commencons commencer comprendre
    conclusion correcte correct exacte exact juste vraie vrai evidente evident evidemment bonne excellente sur
    certainement d'accord accord oui non merci absolument bonjour repondre finale final explication demonstration
    preuve resume
    losung losungsweg losen antwort antworten ergebnis schritt schritte schrittweise gedankengang uberlegung
    denkprozess denken nachdenken analysieren analyse problem aufgabe frage fragen beginnen beginne anfangen
    verstehen zusammenfassend schlussfolgerung fazit korrekt richtig falsch wahr offensichtlich naturlich
    selbstverstandlich gute gut sicher gerne klar ja nein danke hallo beantworten endgultige beweis erklarung
    solucion respuesta respuestas resultado resolvamos resolver paso pasos razonamiento pensamiento pensar
    pensemos proceso analizar analicemos analisis problema pregunta empecemos empezar comencemos comprender
    entender conclusion correcta correcto cierta cierto verdadero obvia obvio obviamente claro supuesto buena
    excelente si gracias hola responder final explicacion demostracion
    soluzione risposta risultato risolviamo risolvere passo passi ragionamento pensiero pensare pensiamo analisi
    analizziamo problema domanda cominciamo iniziamo capire conclusione corretta corretto giusta giusto vero
    ovvio ovvia certo certamente ottima buona grazie ciao finale spiegazione
    solucao resposta resultado raciocinio pensamento analisar analise questao pergunta comecar comecemos
    entender conclusao correta correto certa certo verdade obvio obvia claro boa otima sim obrigado ola passo
    passos explicacao
    решение решим решить ответ ответы результат шаг шага шагом шагам пошагово ход рассуждений рассуждение
    рассуждения мысли мыслей подумаем думать проанализируем анализ анализируем рассмотрим задача задачу задачи
    вопрос вопроса начнем начнём понять поймем поймём вывод верный верно верен правильный правильно правильное
    очевидно очевиден конечно разумеется хорошо хороший отличный да нет спасибо привет окончательный
    доказательство объяснение ответить отвечу пробуем
    розв яжемо язання відповідь правильна правильно крок кроком кроку за так
    oplossing antwoord resultaat stap stappen oplossen probleem vraag juist correct duidelijk natuurlijk goede ja
    nee denken redenering uiteindelijke
    losning losa losa svar svaret steg problemet fraga ratt korrekt sjalvklart bra
    rozwiazanie rozwiazmy odpowiedz krok kroku krokiem zadanie pytanie poprawna poprawne prawidlowa oczywiscie
    dobre tak nie
    cozum cozelim cevap cevabi adim dusunelim soru sorusu dogru dogrudur tabii elbette
    jawaban jawabannya solusi selesaikan langkah masalah pertanyaan benar tentu baik
    dap an giai quyet tung buoc tra loi dung van de suy nghi cau hoi
    الحل الجواب الإجابة الاجابة إجابتي النتيجة خطوة بخطوة الخطوة خطوات عملية التفكير لنحل نحل حل المشكلة المسألة
    السؤال سؤال لنبدأ نبدأ لنفهم لنفكر نفكر صحيحة صحيح صواب واضح واضحة بالتأكيد بالطبع طبعا جيد ممتاز نعم لا شكرا
    مرحبا النهائي النهائية الاستنتاج
    उत्तर समाधान हल जवाब चरण दर समस्या प्रश्न सवाल सोचें सोचते करें करते सही गलत अंतिम अच्छा बिल्कुल स्पष्ट विचार
    प्रक्रिया हाँ नहीं धन्यवाद निष्कर्ष
    """.split()  # noqa: SIM905
)
_PHRASES = """
    让我们 让我 让 我们 我来 我 你 您 来 一步一步 逐步 一步步 一步 第一步 第二步 第一 第二 步骤 步 地 的 地去 去 解决 解答 解题 求解 解
    回答 答案 最终答案 最终 答 思考 思维 推理 过程 分析 问题 题目 题意 题 这个 这道 这是 这 该 此 一个 一下 很好 很 好的 好 首先 其次 然后
    接下来 现在 需要 理解 根据 可得 可知 可以 因此 所以 综上所述 综上 结论 总结 证明 如下 以下 下面 下方 上面 以上 就是 就 是 为 在 仔细 经过
    正确 正确的 对的 对 是的 不是 错误 错 显然 显而易见 易见 明显 没问题 当然 可以的 请 给 满分 给满分 我的 吧 了 呢 和 并 会 将 要 先 开始 看 看看
    谢谢 你好 您好 非常 感谢 提问 完成 完毕 答毕 证毕
    ステップ バイ ごと で に を は が も の と て から まで 考え 考える 考えて 考えましょう 解き 解きましょう 解く 解いて 解説 解答 解法 解決 回答
    答え 次 とおり 通り です ます でした ました ましょう しましょう みましょう いきましょう まず 最初 はじめに 始めます 始めましょう 問題 質問 理解 し
    する します よう はい いいえ わかりました 分かりました 良い いい これ この それ その 正しい 正解 思考 プロセス 過程 したがって よって
    最終的 最終 な 以下 示します 示す 明らか もちろん 結論 かいせつ わかる 分析 私 ありがとうございます ありがとう 以上 順 順番 一歩 ずつ
    단계별 단계 로 풀어 풀이 과정 풀어봅시다 풀어보겠습니다 봅시다 보겠습니다 해 답 답변 정답 은 는 이 가 을 를 의 에 다음 과 와 같습니다 입니다
    물론 물론입니다 좋은 좋습니다 질문 먼저 문제 이해 이해해 생각 생각해 최종 맞습니다 맞다 네 예 아니요 따라서 그러므로 결론 해결 해결책 해설 사고
    시작 시작하겠습니다 시작합시다 이것 감사합니다 분석 하겠습니다 합니다 제 저 우리 습니다
    คำตอบ คือ ถูกต้อง วิธีทำ ขั้นตอน ที่ มา คิด กัน ทีละ แก้ ปัญหา นี้ ครับ ค่ะ ใช่ แน่นอน
    """.split()  # noqa: SIM905
_PHRASE = re.compile(rf"{'|'.join(sorted(map(re.escape, _PHRASES), key=len, reverse=True))}|\s")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_MARKS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_MOST_CHARS = 400


def without_accents(bare: str) -> str:
    """Return small Latin letters without accents; other letters as they are."""
    if bare.isascii():
        return bare
    return unicodedata.normalize(
        "NFC", _MARKS.sub("", unicodedata.normalize("NFD", bare.replace("đ", "d")))
    )


def is_phrases(bare: str) -> bool:
    """Return True if plain text in a script without blanks consists of the phrases alone."""
    if len(bare) > _MOST_CHARS or not _UNSPACED.search(bare):
        return False
    # Phrases are taken away one by one: a repeated group of them would try all ways to cut a text, as they overlap.
    return not _PHRASE.sub("", bare)
