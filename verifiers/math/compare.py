"""Compares an answer with the reference: the ladder from equal text to equal values."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache, partial

from verigym.verifiers.math.altering import alters
from verigym.verifiers.math.as_asked import as_asked
from verigym.verifiers.math.asked_forms import in_one_form, of_form, rising
from verigym.verifiers.math.choice import letter_beside_text, letters_by_text, letters_of
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.clock import as_duration, time_of
from verigym.verifiers.math.compact import compact
from verigym.verifiers.math.conditions import allows
from verigym.verifiers.math.context import Context
from verigym.verifiers.math.conventional_words import same_conventional
from verigym.verifiers.math.conventions import same_angle, same_group, with_plain_logs
from verigym.verifiers.math.dates import MOST_CHARS, date_of, is_stamp, names_month, part_asked
from verigym.verifiers.math.directions import changed_by, opposed, unsigned
from verigym.verifiers.math.exact import exact
from verigym.verifiers.math.faults import FAULTS, WRONG_FORM, fault_of
from verigym.verifiers.math.instructions import criterion_of
from verigym.verifiers.math.lists import same_reading
from verigym.verifiers.math.numerals import digits_in, in_base, target_base
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.phrasings import in_formulas, with_repeats
from verigym.verifiers.math.propositions import states_another
from verigym.verifiers.math.reading import Reading, readings, split
from verigym.verifiers.math.rivals import intercept_of
from verigym.verifiers.math.scales import in_asked_scale, with_letters
from verigym.verifiers.math.spelled import number_of, ordinal_of
from verigym.verifiers.math.spoken_formulas import asks_chance, in_symbols
from verigym.verifiers.math.targets import value_of_target
from verigym.verifiers.math.trees import TooBig
from verigym.verifiers.math.worded_cases import same_cases
from verigym.verifiers.math.words import complement, same_words

_PLAIN = lazy_pattern(r"-?[\d.,]+|\\frac ?\{-?\d+\} ?\{\d+\}")
_GROUPED = lazy_pattern(r"\d{1,3}(?:\.\d{3}){2,}|\d{1,2}(?:,\d{2})+,\d{3}")
_COMMA = lazy_pattern(
    r"(?:€ ?|£ ?|\\dollar ?)\d+,\d{1,2}|\d+,\d{1,2} ?(?:[A-Za-z€£%].*|[\^*].*)"
    r"|-?0,\d{1,12}"
)
_ONE_VALUE = lazy_pattern(
    r"-?(?:\\dollar ?|€ ?|£ ?)?(?:\d+\.\d|\d+ ?/ ?\d+$|\\frac ?\{\d+\} ?\{\d+\}$)"
)
_ASKS_DECREASE = lazy_pattern(
    r"\b(?:what|find|calculate|determine|compute)\b[^?.]*\bper ?cent(?:age)? (?:decrease|loss|drop|reduction|decline|discount)\b",
    re.IGNORECASE,
    needs="cent",
)
_FRACTIONS = lazy_pattern(
    r"\bas an? (?:simplified |common |proper |reduced |single |exact |improper )*fraction\b",
    re.IGNORECASE,
    needs="as a",
)
_ODDS = lazy_pattern(r"\d+ ?(?::|to) ?\d+", needs=":|to")
_LETTERS = lazy_pattern(r"[A-J](?:(?: ?[,;&] ?| and | ?, and )[A-J]){1,5}", needs=" and |&|,|;")
_AGAIN = lazy_pattern(
    r"\s*,?\s*(?:\bor equivalently\b|\bor\b|\bi\.e\.|\bthat is\b|\bequivalently\b|\bwhich (?:is|equals)\b)\s*,?\s*",
    needs="equivalently|i.e.|or|that is|which ",
)
_ANSWER = lazy_pattern(r"^A\s*:\s*(?=\S)", needs=":")
_VALUES = lazy_pattern(r"^[a-z]\(x\)(?=\s*[<>])", needs="(x)")
_ON_AXIS = lazy_pattern(r"\(\s*([^(),]{1,30}),\s*0\s*\)")


def equivalent(gold: str, answer: str, ctx: Context) -> str:
    """The rung of the ladder on which two cleaned answers agree; empty if they do not.

    `WRONG_FORM` and `RESTATED` are no rungs: the value is right, but not as it is written. Raises
    TooBig where that cannot be told within the bounds.
    """
    if not answer:
        return ""
    if compact(gold) == compact(answer):
        return "text"
    if not gold or (gold.isdecimal() and answer.isdecimal() and _differ(gold, answer, ctx)):
        return ""
    if gold.startswith("\\approx"):
        # The reference says itself that it is rounded.
        gold, ctx = gold.removeprefix("\\approx").strip(), replace(ctx, rounded=True)
    if ctx.sorted and re.search(r"[<>]|\bthen\b", answer) and not re.search(r"[<>]", gold):
        answer = re.sub(r"\s*(?:[<>]=?|,? then)\s*", ", ", answer)
    if ctx.sorted and re.fullmatch(r"[^<>=]+(?:(?:<[^<>=]+)+|(?:>[^<>=]+)+)", gold):
        # The order counts, however the members are set apart.
        gold, answer = (
            re.sub(r"\s*[<>]\s*", ", ", text) if text.count("<") != text.count(">") else text
            for text in (gold, rising(gold, answer))
        )
    if ctx.rounded:
        answer = answer.removeprefix("\\approx").strip()
    if not ctx.options and not (len(gold) == 1 and gold.isalpha()):
        answer = _ANSWER.sub("", answer)
    if (
        "angle" in gold
        and "angle" in answer.lower()
        and (same := same_angle(gold, answer)) is not None
    ):
        return "angle" if same else ""
    if gold.isalpha() and gold.isupper() and "ide" in answer:
        answer = criterion_of(answer) or answer
    if "intercept" in ctx.question:
        if "x-intercepts" in ctx.question and "y-intercept" not in ctx.question:
            gold, answer = (_ON_AXIS.sub(r"\1", text) for text in (gold, answer))
        if gold[:1] == "(":
            gold = intercept_of(gold, ctx.question)
    chosen = _choice(gold, answer, ctx)
    if chosen is not None:
        return "choice" if chosen else ""
    if ctx.question:
        gold, answer = in_one_form(gold, answer, ctx.question)
    if (time := _time_of_gold(gold)) is not None:
        other_time = time_of(answer, loose=True)
        if other_time is not None:
            return "time" if time == other_time else ""
    gold = _gold_in_formulas(gold)
    answer = _with_groups(answer, gold)
    if answer[:1] == "-" and _ASKS_DECREASE.search(ctx.question) and not gold.startswith("-"):
        answer = answer[1:].strip()
    if (
        is_in(_FRACTIONS, ctx.question)
        and re.fullmatch(r"-?\d*\.\d+(?:\.\.\.)?|-?\d*\.\d*\\overline ?\{\d+\}", answer)
        and "/" in gold.replace("\\frac", "/")
    ):
        return WRONG_FORM
    if same_cases(gold, answer):
        return "value"
    read = (
        answer
        if _PLAIN.fullmatch(answer)
        else as_asked(gold, in_formulas(answer, ctx.question), ctx)
    )
    if read is None or (":" not in gold and _ODDS.fullmatch(read) and asks_chance(ctx.question)):
        return ""
    answer = read
    if compact(gold) == compact(answer):
        return "text"
    group = same_group(gold, answer, ctx.question)
    if group is not None:
        return "group" if group else ""
    rates = with_plain_logs(gold, answer)
    if rates is not None:
        gold, answer = rates
        if compact(gold) == compact(answer):
            return "text"
    if "range" in ctx.question:
        answer = _VALUES.sub("y", answer)
    if "=" in answer and "=" not in gold:
        answer = of_form(answer, ctx.question)
        answer = value_of_target(answer, ctx.question) or answer
    if ctx.question:
        if in_asked_scale(gold, ctx.question) == gold:
            answer = in_asked_scale(answer, ctx.question)
        gold, answer = with_letters(gold, ctx.question), with_letters(answer, ctx.question)
    plain = unsigned(gold, answer)
    if plain is not None:
        gold, answer = plain
    elif opposed(gold, answer, ctx.question) or states_another(gold, answer, ctx.question):
        return ""
    gold, answer = changed_by(gold), changed_by(answer)
    spoken = same_conventional(gold, answer, ctx)
    if spoken is not None:
        return "words" if spoken else ""
    answer = as_duration(answer, gold)
    date = date_of(gold)
    is_short = len(answer) <= MOST_CHARS
    other = date_of(answer) if is_short and (date is not None or names_month(answer)) else None
    if other is not None:
        if date is not None:
            return "date" if date == other else ""
        if re.fullmatch(r"\d{1,4}", gold):
            # The number of a month is no number by itself: "March 2015" for 2015.
            return "date" if part_asked(other, ctx.question) == int(gold) else ""
    if is_stamp(answer) or (date is not None and re.match(r"[A-Za-z]", gold)):
        return "words" if date is not None and same_words(gold, answer) else ""
    place = ordinal_of(gold)
    if place is not None and (other_place := ordinal_of(answer)) is not None:
        return "words" if place == other_place else ""
    if ctx.base and (same_digits := _digits(gold, answer, ctx)) is not None:
        return "text" if same_digits else ""
    lefts, rights = _gold_readings(gold), readings(answer, strict=True)
    repeats = with_repeats(answer)
    said = answer if repeats is None else repeats[1]
    fault = ""
    for left in lefts:
        for right in rights:
            if (
                same_reading(left, right, ctx)
                and not alters(gold, said, right.tail, ctx)
                and allows(gold, left, right, ctx, partial(_says, gold, ctx))
            ):
                fault = fault_of(left, right, ctx)
                if not fault:
                    return "value"
    if fault:
        return fault
    if _said_again(gold, answer, ctx):
        return "value"
    if gold.isalpha() and len(gold) > 2 and complement(answer) == gold.lower():
        return "words"
    if all(_formal(found[0]) for found in (lefts, rights) if found):
        return ""
    return "words" if _prose(gold, answer) else ""


def _differ(gold: str, answer: str, ctx: Context) -> bool:
    """Return True for two whole numbers that differ, where the question leaves no room for it."""
    return (
        gold.lstrip("0") != answer.lstrip("0")
        and gold.isascii()
        and answer.isascii()
        and not (
            ctx.options or ctx.base or ctx.percent or ctx.rounded or ctx.tolerance or ctx.digits
        )
    )


@lru_cache(maxsize=4096)
def _gold_in_formulas(gold: str) -> str:
    return in_symbols(in_formulas(gold, ""))


def _with_groups(answer: str, gold: str) -> str:
    """1.234.567 and 12,34,567 as digits, and 2,50 m as a decimal, where the reference is one number."""
    if "," not in answer and "." not in answer:
        return answer
    if _GROUPED.fullmatch(answer) and re.fullmatch(r"\d{5,}", gold):
        return re.sub("[.,]", "", answer)
    if _COMMA.fullmatch(answer) and _ONE_VALUE.match(gold) and "," not in gold:
        return answer.replace(",", ".")
    return answer


@lru_cache(maxsize=4096)
def _time_of_gold(gold: str) -> int | None:
    return time_of(gold)


@lru_cache(maxsize=4096)
def _gold_readings(gold: str) -> tuple[Reading, ...]:
    """The readings of a reference, which many replies are compared with."""
    return readings(gold)


def _says(gold: str, ctx: Context, text: str, rounded: bool) -> bool:
    """Return True if `text` has the value of the reference, rounded perhaps."""
    ctx = replace(ctx, rounded=True) if rounded else ctx
    said = [right for right in readings(clean(text)) if not right.tail]
    return any(same_reading(left, right, ctx) for left in _gold_readings(gold) for right in said)


def _said_again(gold: str, answer: str, ctx: Context) -> bool:
    """Return True if an answer says the reference's value more than once: "3/4 or 0.75"."""
    parts = _AGAIN.split(answer)
    if not 2 <= len(parts) <= 3 or _AGAIN.search(gold) or len(split(gold, True)) > 1:
        return False
    first = equivalent(gold, parts[0], ctx)
    return (
        bool(first)
        and first not in FAULTS
        and all(equivalent(gold, part, ctx) for part in parts[1:])
    )


def _formal(reading: Reading) -> bool:
    """Return True if all of a reading is mathematics, so that its words do not speak for it."""
    return all(item.node is not None for item in reading.items)


@lru_cache(maxsize=4096)
def _letters_in(gold: str) -> tuple[bool, list[str]]:
    """Return True if a reference is letters of options and nothing else, and the letters in it."""
    bare = re.fullmatch(r"\(?([A-J]{1,6})\)?\.?", gold) or _LETTERS.fullmatch(gold)
    return bare is not None, re.findall("[A-J]", gold)


def _choice(gold: str, answer: str, ctx: Context) -> bool | None:
    """Multiple choice; None if this is no such question."""
    if answer[:1] in "\\{[" and re.fullmatch(r"(?:\\?\{|\[)[A-J\s,;()]{3,40}(?:\\?\}|\])", answer):
        answer = answer.strip("\\{}[] ")
    bare, letters = _letters_in(gold)
    several = bare and not ctx.base and len(set(letters)) == len(letters) > 1
    if several and not ctx.options and letters != sorted(letters) and _LETTERS.fullmatch(gold):
        # No set of options is written so: the order counts.
        same_order = _LETTERS.fullmatch(answer.strip(" ().")) is not None
        return letters == re.findall("[A-J]", answer) if same_order else None
    wanted = letters_of(gold, bool(ctx.options) or several)
    if wanted is None or not (ctx.options or bare or wanted[1]):
        if not ctx.options:
            return None
        by_text = [letter for letter, text in ctx.options.items() if _same_text(text, gold, ctx)]
        found = letters_of(answer, False)
        if len(by_text) == 1 and found is not None:
            return found[0] == by_text[0] and _agrees(found, ctx)
        return None
    if not ctx.options and not gold[:1].isupper() and not gold.startswith("("):
        return None
    if ctx.options and len(wanted[0]) > 1:
        listed = letters_by_text(answer, ctx.options, partial(_same_text, ctx=ctx))
        if listed is not None:
            return listed == wanted[0]
    found = letters_of(answer, several=True)
    if found is not None:
        if found[0] != wanted[0]:
            return False
        return _agrees(found, ctx) if ctx.options else True
    if ctx.options and (beside := letter_beside_text(answer)) is not None:
        own = ctx.options.get(beside[0])
        return beside[0] == wanted[0] and own is not None and _same_text(own, beside[1], ctx)
    if ctx.options and len(wanted[0]) == 1 and wanted[0] in ctx.options:
        return _same_text(ctx.options[wanted[0]], answer, ctx)
    if not ctx.options and wanted[1] and not bare:
        return _same_text(wanted[1], answer, ctx)
    return None if not ctx.options and not bare else False


def _agrees(found: tuple[str, str], ctx: Context) -> bool:
    """Return True if the text beside a letter is that option's, or says nothing against it."""
    letter, text = found
    if not text or letter not in ctx.options:
        return True
    if _same_text(ctx.options[letter], text, ctx):
        return True
    others = [option for key, option in ctx.options.items() if key != letter]
    if any(_same_text(option, text, ctx) for option in others):
        return False
    return not re.search(r"\d", text)


def _same_text(gold: str, answer: str, ctx: Context) -> bool:
    plain = Context(question=ctx.question[:0], units=ctx.units)
    try:
        return bool(equivalent(clean(gold), clean(answer), plain))
    except TooBig:
        return False


def _digits(gold: str, answer: str, ctx: Context) -> bool | None:
    """Numbers in the base that the question wants; None if they are not written in it."""
    base = target_base(ctx.question)
    if base is None:
        return None
    if base == 10:
        based = in_base(gold)
        plain = answer.replace(" ", "").replace(",", "")
        if based is None or based.value[1] == 10 or not re.fullmatch(r"-?\d{1,300}", plain):
            return None
        return exact(based) == int(plain)
    known, _, said = answer.partition("=")
    if re.search(rf"(?<!\d){re.escape(known.strip() or '=')}(?!\d)", ctx.question):
        answer = said.strip() or answer  # 13 = 1101
    based = in_base(answer)
    if based is not None and based.value[1] != base:
        return False  # it is said to be in another base
    wanted, found = digits_in(gold, base), digits_in(answer, base)
    return None if wanted is None or found is None else wanted == found


def _prose(gold: str, answer: str) -> bool:
    if number_of(gold) or number_of(answer):
        return False
    return same_words(gold, answer)
