"""The program in a reply."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym.verifiers.code.extract import extract_program


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("print(1)", "print(1)"),
        ("Sure:\n```python\nprint(1)\n```\nDone.", "print(1)"),
        ("```py\na\n```\n```python3\nb\n```", "b"),
        ("```python\na\n```\nIt prints\n```\n5\n```", "a"),
        ("```\na\n```\n```text\nb\n```", "b"),
        ("```python\na\n```\nAnd now\n```python\nb", "a"),
        ("```python\na", "a"),
        ("~~~python\na\n~~~", "a"),
        ("````python\n```\na\n```\n````", "```\na\n```"),
        ("```Python \r\na\r\n```\r\n", "a\r"),
        ("   ```python\na\n   ```", "a"),
        ("x = '```'\nprint(x)", "x = '```'\nprint(x)"),
        ("", ""),
    ],
)
def test_extraction(text, program):
    assert extract_program(text, "python") == program


@given(st.text())
def test_extraction_of_anything_is_a_part_of_it(text):
    assert extract_program(text, "python") in text


@given(st.text(alphabet="ab\n ").filter(str.strip), st.text(alphabet="xy\n "))
def test_a_fenced_program_comes_back_whatever_stands_around_it(program, around):
    assert extract_program(f"{around}\n```python\n{program}\n```\n{around}", "python") == program
