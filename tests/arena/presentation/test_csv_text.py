"""CSV for spreadsheets and programs."""

import csv
import io

import pytest

from arena.presentation.csv_text import csv_text


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_is_never_a_formula(start: str) -> None:
    written = csv_text([["name", f"{start}HYPERLINK(1)"], [f'{start}1+"a,b"', None]])
    rows = list(csv.reader(io.StringIO(written)))
    assert rows[0][1].startswith("'")
    assert rows[1][0].startswith("'")
    assert rows[1][1] == ""


def test_numbers_and_other_text_are_unchanged() -> None:
    assert csv_text([[-5, -0.25, 1e-9, True, "a=b", "ä", "x-1", ""]]) == (
        "-5,-0.25,1e-09,True,a=b,ä,x-1,\n"
    )
