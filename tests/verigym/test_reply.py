"""The reader of replies: thoughts, chat tokens, tags and fences by one rule."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.reply import (
    action,
    answers,
    fenced,
    last_answer,
    move,
    program,
    scope,
    spoken,
    takes_back,
)

HARMONY = "<|channel|>analysis<|message|>maybe 7<|end|><|start|>assistant<|channel|>final<|message|>8<|return|>"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("up", "up"),
        ("<think>a</think>b", "b"),
        ("<THINK>a</Think>b", "b"),
        ("< think >a</ think >b", "b"),
        ("the template opened it</think>b", "b"),
        ("a</think>b</think>c", "c"),
        ("<think>a</think>b<think>c</think>d", "d"),
        ("b<think>never closed", "b"),
        ("<think>never closed", ""),
        ("<thinking>a</thinking>b", "b"),
        ("[THINK]a[/THINK]b", "b"),
        ("\u25c1think\u25b7a\u25c1/think\u25b7b", "b"),
        ("<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>b<|end_of_solution|>", "b"),
        ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>", "b"),
        (HARMONY, "8"),
        ("<|channel|>final <|constrain|>json<|message|>{}", "{}"),
        ("print('</think>', '</s>')", "print('</think>', '</s>')"),
        ("a `</think>` tag ends it</think>b", "b"),
        ("<|channel|>analysis<|message|>never final", ""),
        ("b<|im_end|>", "b"),
        ("b<|im_end|>\n<|im_start|>user\nc", "b"),
        ("b</s>", "b"),
        ("b<|eot_id|><|start_header_id|>user<|end_header_id|>c", "b"),
        ("b<end_of_turn>", "b"),
        ("<|im_start|>assistant b", " b"),
        ('{"content": "</think>7", "x": 1}', '{"content": "</think>7", "x": 1}'),
        ("if a < b and c[0]:", "if a < b and c[0]:"),
    ],
)
def test_spoken(text, said):
    assert spoken(text) == said


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", []),
        ("<answer>1</answer>", ["1"]),
        ("<ANSWER>1</Answer>", ["1"]),
        ("<answer>1", ["1"]),
        ("<answer>1</answer> no, <answer>2</answer>", ["1", "2"]),
        ("<answer><answer>1</answer></answer>", ["1"]),
        ("<final_answer>1</final_answer>", ["1"]),
        ("<answer>1</answer>\nThe final answer is in <answer> tags.", ["1"]),
        ("<answer>1</answer> (format: <answer>...</answer>)", ["1"]),
        ("```\n<answer>1</answer>\n```", ["1"]),
        ("```\nprint('<answer>')\n```\n<answer>1</answer>", ["1"]),
    ],
)
def test_answers(text, found):
    assert answers(text) == found
    assert last_answer(text) == (found[-1] if found else None)


SQL = "SELECT 1\nFROM t"


@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "<answer>{}</answer>",
        "<answer>\n{}\n</answer>",
        "```sql\n{}\n```",
        "<answer>```sql\n{}\n```</answer>",
        "<answer>\n```sql\n{}\n```\n</answer>",
        "<answer>```sql\n{}\n</answer>",
        "```sql\n<answer>{}</answer>\n```",
        "Here it is: ```sql\n{}\n```",
        "```sql\n{}```",
        "`{}`",
        "<think>```sql\nSELECT 2\n```</think>{}",
        "<think>SELECT 2</think>\nBelow.\n```sql\n{}\n```\nIt reads t.",
        "```sql\nSELECT 2\n```\nBetter:\n```sql\n{}\n```",
        "```sql\nSELECT 2\n```\n<answer>{}</answer>",
        "```sql\n{}\n```\nIts result:\n```text\n1\n```",
        "```sql\n{}\n```<|im_end|>",
        "```sql\n{}",
        "```sql\n{}\n```\nExample of its use:\n```sql\nSELECT 2\n```",
    ],
)
def test_a_program_is_read_in_every_form(form):
    assert program(form.format(SQL), ("sql",)).strip() == SQL


@pytest.mark.parametrize(
    "reply",
    [
        "<think>```sql\nSELECT 1\n```</think>I give up.",
        "```sql\nSELECT 1\n```\n<answer>SELECT 2</answer>",
        "<answer>SELECT 1</answer><answer>SELECT 2</answer>",
    ],
)
def test_a_draft_is_not_the_program(reply):
    assert "SELECT 1" not in program(reply, ("sql",))


@pytest.mark.parametrize(
    "tail",
    [
        "I give up.",
        "Wait, no. That is wrong.",
        "Actually, ignore that.",
        "Please disregard my answer.",
        "Hmm. I don't know.",
        "**Scratch that.**",
        "I take it back!",
        "No, this is not right. I withdraw it; I have no answer.",
        "I changed my mind.",
        "Never mind.",
        "Strike that.",
        "Hmm, I was wrong.",
        "Correction: 2",
    ],
)
@pytest.mark.parametrize("form", ["<answer>{}</answer>\n{}", "```sql\n{}\n```\n{}"])
def test_an_answer_that_is_taken_back_is_none(form, tail):
    reply = form.format(SQL, tail)
    assert program(reply, ("sql",)) == ""
    assert not last_answer(reply)


@pytest.mark.parametrize(
    "tail",
    [
        "This reads t.",
        "If that is wrong, tell me what the tables look like.",
        "I don't know the size of t, but the query works for any.",
        "This ignores that a may be NULL.",
        "A row is given up to once.",
        "The naive way is wrong, this one is right.",
        "The original query joined the conditions with OR. That was wrong, since both must hold.",
        "A common version returns x. This is incorrect because x may be empty.",
        "Ignore this part if you only need the code.",
        "Some say 2. This is incorrect.",
    ],
)
def test_remarks_behind_an_answer_leave_it(tail):
    assert program(f"```sql\n{SQL}\n```\n{tail}", ("sql",)) == SQL
    assert last_answer(f"<answer>{SQL}</answer>\n{tail}") == SQL


def test_tags_inside_a_fence_are_content():
    code = "print('</answer><answer>')"
    assert program(f"<answer>\n```python\n{code}\n```\n</answer>", ("python",)) == code
    assert scope(f"```python\n{code}\n```") == f"```python\n{code}\n```"


@pytest.mark.parametrize(
    ("text", "bodies"),
    [
        ("```\na\n```", ["a"]),
        ("~~~py\na\n```\nb\n~~~", ["a\n```\nb"]),
        ("````\n```\na\n```\n````", ["```\na\n```"]),
        ("```a```", ["a"]),
        ("```sql SELECT 1 ```", ["SELECT 1"]),
        ("```select a```", ["select a"]),
        ("``` is a mark\nand no fence", []),
        ("see ``` there\nand here", []),
        ("```py\nnever closed", []),
        ("1. Here:\n\n   ```py\n   a\n     b\n   ```", ["a\n  b"]),
        ("```\n\n```", [""]),
    ],
)
def test_fences(text, bodies):
    assert [block.body for block in fenced(text)] == bodies


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("up", "up"),
        ("  up \n", "up"),
        ("<action>up</action>", "up"),
        ("<ACTION>up</ACTION>", "up"),
        ("I go.<action> a </action> no <action>\nb </action> end", "b"),
        ("<think>maybe <action>a</action></think> b", "b"),
        ("<think>x</think><action>a</action>", "a"),
        ("thinking that the template opened</think>up", "up"),
        ("<think>never closed <action>a</action>", ""),
        ("up <think>afterthought", "up"),
        ("<action>a", "<action>a"),
        ("a</action>", "a</action>"),
        ("</action><action>", "</action><action>"),
        ("", ""),
        ("<answer>1+2</answer>", "<answer>1+2</answer>"),
    ],
)
def test_action(text, wanted):
    assert action(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "<answer>2->3</answer>",
        "**2->3**",
        "`2->3`",
        "```\n2->3\n```",
        "$\\boxed{2->3}$",
        "Move: 2->3",
        "**Answer:** 2->3",
        "My next move is 2->3.",
        "The disc is free.\n\n2->3",
        "2->3.",
    ],
)
def test_a_move_is_read_in_every_form(text):
    assert move(text) == "2->3"


# A tag between quotes is a word that is spoken of.
@given(st.text(st.characters(exclude_characters="<['\"`"), max_size=40))
def test_action_finds_what_was_tagged(text):
    reply = f"<think>{text}</think>{text}<action>{text}</action>{text}"
    assert action(reply) == text.strip()


@given(st.text(alphabet="<>/think`~ \n[]THINKaswer|", max_size=60))
def test_any_text_can_be_read(text):
    said = spoken(text)
    assert said in text
    assert spoken(said) == said or "</" in said
    assert all(answer in said for answer in answers(said))
    assert action(text) == action(text).strip()
    assert isinstance(program(text), str)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "<action>" * 100_000 + "</action>",
        "<think>" * 100_000,
        "<answer>" * 100_000,
        "<" + " " * 500_000,
        "`" * 500_000,
        "```\n<answer>\n```\n" * 30_000,
        "``` " * 100_000,
        "<|channel|>final" + "a" * 500_000,
        "[" * 200_000 + "]",
    ],
)
def test_reading_is_linear(text):
    assert action(text) in text  # a quadratic reader would take hours
    assert program(text) in text


@pytest.mark.parametrize("run", ["* ", "\n", ". ", "_ ", "no ", "*"])
def test_a_long_run_of_marks_takes_nothing_back_and_no_time(run):
    began = time.process_time()
    assert not takes_back(run * 4000 + "x")
    assert time.process_time() - began < 1.0  # 2.5 s when each mark of a run was a start
    assert takes_back(f"{run * 10}\nI give up.")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("<think>8</think>\n7\n<think>or 8? No.</think>", "7"),
        ("8</think>7<think>or 8?</think><think>No.</think>\n", "7"),
        ("8 <think>7?</think>", ""),  # the prompt may have opened a thought
        ("<think>8 <think>7</think></think>", ""),
        ("<think>8</think>7<think>8", "7"),
    ],
)
def test_a_thought_behind_the_answer_is_no_answer_and_hides_none(reply, said):
    assert spoken(reply).strip() == said


def test_a_program_behind_its_tag_is_not_indented():
    assert program("<answer> a = 1\nb = 2 </answer>") == "a = 1\nb = 2 "


def test_the_fence_that_is_offered_instead_counts():
    assert (
        program("Do not use this:\n```py\n1\n```\nUse this instead:\n```py\n2\n```").strip() == "2"
    )


def test_an_edit_takes_the_answer_back():
    assert takes_back(" Edit: ignore that, it should be 8.")
