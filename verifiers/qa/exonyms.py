"""Names of countries, cities, planets, elements, animals and colours in other languages, for replies in them.

Each row has the English name and what German, Spanish, French, Italian, Portuguese, Dutch and Chinese replies call it. Names that
differ by accents alone are left out, since accents do not count.
"""

from __future__ import annotations

from functools import lru_cache

from verigym.verifiers.qa.normalise import known_tokens

_ROWS = """
germany deutschland alemania allemagne germania alemanha duitsland 德国
france frankreich francia frança frankrijk 法国
spain spanien españa espagne spagna espanha spanje 西班牙
italy italien italia italie italië 意大利
england inglaterra angleterre inghilterra engeland 英格兰 英国
united_kingdom vereinigtes_königreich großbritannien reino_unido royaume-uni regno_unito verenigd_koninkrijk 英国
united_states vereinigte_staaten vereinigten_staaten estados_unidos états-unis stati_uniti verenigde_staten eeuu 美国
netherlands niederlande países_bajos pays-bas paesi_bassi países_baixos nederland 荷兰
belgium belgien bélgica belgique belgio belgië 比利时
switzerland schweiz suiza suisse svizzera suíça zwitserland 瑞士
austria österreich autriche oostenrijk 奥地利
poland polen polonia pologne polônia 波兰
russia russland rusia russie rússia rusland 俄罗斯
ukraine ucrania ucraina ucrânia oekraïne 乌克兰
greece griechenland grecia grèce grécia griekenland 希腊
turkey türkei turquía turquie turchia turquia turkije 土耳其
sweden schweden suecia suède svezia suécia zweden 瑞典
norway norwegen noruega norvège norvegia noorwegen 挪威
denmark dänemark dinamarca danemark danimarca denemarken 丹麦
finland finnland finlandia finlande finlândia 芬兰
iceland island islandia islande islanda islândia ijsland 冰岛
ireland irland irlanda irlande ierland 爱尔兰
hungary ungarn hungría hongrie ungheria hungria hongarije 匈牙利
romania rumänien rumania roumanie romênia roemenië 罗马尼亚
egypt ägypten egipto égypte egitto egito egypte 埃及
morocco marokko marruecos maroc marocco marrocos 摩洛哥
south_africa südafrika sudáfrica afrique_du_sud sudafrica áfrica_do_sul zuid-afrika 南非
china chine cina 中国
japan japón japon giappone japão 日本
india indien inde índia 印度
south_korea südkorea corea_del_sur corée_du_sud corea_del_sud coreia_do_sul zuid-korea 韩国
brazil brasilien brasil brésil brasile brazilië 巴西
argentina argentinien argentine argentinië 阿根廷
mexico mexiko méxico mexique messico 墨西哥
canada kanada canadá 加拿大
australia australien australie austrália australië 澳大利亚
new_zealand neuseeland nueva_zelanda nouvelle-zélande nuova_zelanda nova_zelândia nieuw-zeeland 新西兰
vatican_city vatikanstadt ciudad_del_vaticano cité_du_vatican città_del_vaticano cidade_do_vaticano vaticaanstad vaticano vatikan 梵蒂冈
europe europa 欧洲
asia asien asie ásia azië 亚洲
africa afrika áfrica afrique 非洲
antarctica antarktis antártida antarctique antartide 南极洲
london londres londra londen 伦敦
paris parís parigi parijs 巴黎
rome rom roma 罗马
berlin berlín berlino berlim berlijn 柏林
vienna wien viena vienne wenen 维也纳
moscow moskau moscú moscou mosca moskou 莫斯科
athens athen atenas athènes atene athene 雅典
lisbon lissabon lisboa lisbonne lisbona 里斯本
brussels brüssel bruselas bruxelles bruxelas brussel 布鲁塞尔
warsaw warschau varsovia varsovie varsavia varsóvia 华沙
copenhagen kopenhagen copenhague copenaghen 哥本哈根
beijing peking pekín pékin pechino pequim 北京
tokyo tokio tóquio 东京
cairo kairo el_cairo le_caire il_cairo 开罗
geneva genf ginebra genève ginevra genebra 日内瓦
venice venedig venecia venise venezia veneza venetië 威尼斯
florence florenz florencia firenze florença 佛罗伦萨
munich münchen múnich monaco_di_baviera munique 慕尼黑
cologne köln colonia 科隆
prague prag praga praag 布拉格
canberra 堪培拉
ottawa 渥太华
wellington 惠灵顿
amazon amazonas amazone amazzoni rio_delle_amazzoni 亚马逊河
danube donau danubio danúbio 多瑙河
nile nil nilo nijl 尼罗河
rhine rhein rin rhin reno reno rijn 莱茵河
mercury merkur mercurio mercure mercúrio mercurius quecksilber kwik 水星 水银 汞
venus vénus venere vênus 金星
earth erde tierra terre terra aarde 地球
mars marte 火星
jupiter júpiter giove 木星
saturn saturno saturne saturnus 土星
uranus urano 天王星
neptune neptun neptuno nettuno netuno neptunus 海王星
sun sonne sol soleil sole zon 太阳
moon mond luna lune lua maan 月球 月亮
hydrogen wasserstoff hidrógeno hydrogène idrogeno hidrogênio waterstof 氢
helium helio hélium elio hélio 氦
oxygen sauerstoff oxígeno oxygène ossigeno oxigênio zuurstof 氧 氧气
nitrogen stickstoff nitrógeno azote azoto nitrogênio stikstof 氮 氮气
carbon kohlenstoff carbono carbone carbonio koolstof 碳
carbon_dioxide kohlendioxid dióxido_de_carbono dioxyde_de_carbone anidride_carbonica koolstofdioxide 二氧化碳
iron eisen hierro fer ferro ijzer 铁
gold oro or ouro goud 金 黄金
silver silber plata argent argento prata zilver 银
copper kupfer cobre cuivre rame koper 铜
diamond diamant diamante 钻石 金刚石
water wasser agua eau acqua água 水
blue blau azul bleu blu blauw 蓝色
red rot rojo rouge rosso vermelho rood 红色
green grün verde vert groen 绿色
yellow gelb amarillo jaune giallo amarelo geel 黄色
white weiß weiss blanco blanc bianco branco wit 白色
black schwarz negro noir nero preto zwart 黑色
blue_whale blauwal ballena_azul baleine_bleue balenottera_azzurra baleia-azul blauwe_vinvis 蓝鲸
cheetah gepard guepardo guépard ghepardo 猎豹
liver leber hígado foie fegato fígado lever 肝脏 肝
skin haut piel peau pelle pele huid 皮肤
heart herz corazón cœur coeur cuore coração hart 心脏
tennis tenis ténis tênis 网球
football fußball fútbol calcio futebol voetbal 足球
portuguese portugiesisch portugués portugais portoghese português portugees 葡萄牙语
spanish spanisch español espagnol spagnolo espanhol spaans 西班牙语
french französisch francés français francese francês frans 法语
english englisch inglés anglais inglese inglês engels 英语
german deutsch alemán allemand tedesco alemão duits 德语
chinese chinesisch chino chinois cinese chinês chinees 中文 汉语
yen 日元 日圆
"""


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, ...], tuple[str, ...]]:
    rows = [[name.replace("_", " ") for name in row.split()] for row in _ROWS.strip().splitlines()]
    return {known_tokens(english): tuple(others) for english, *others in rows}


@lru_cache(maxsize=2048)
def names_abroad(alias: str) -> tuple[str, ...]:
    """Return the names of an English right answer in other languages; "l'hydrogène" for those that begin with a
    vowel or h."""
    others = _table().get(known_tokens(alias), ())
    return (*others, *(f"l'{one}" for one in others if known_tokens(one)[0][0] in "aeiouh"))
