"""Formats of days, which queries ask for again and again."""

import pytest

from verigym.verifiers.sql.dates import format_date


@pytest.mark.parametrize("tail", ["", " " * 60])
def test_a_format_does_not_depend_on_what_was_asked_before(tail):
    for _ in range(2):
        assert format_date("2024-03-09" + tail, "%Y-%m-01") == "2024-03-01"
        assert format_date("2024-03-09 07:05:00" + tail, "%-d %B, %H:%i") == "9 March, 07:05"
        assert format_date("2024-02-30" + tail, "%Y") is None
        assert format_date(20240309, "%Y") is None
        assert format_date("2024-03-09" + tail, None) is None
