"""docs/reference/record.md names the members that a record leaves out at their default."""

import json
import re
from pathlib import Path
from typing import Any

from arena.store.match_settings import Clock
from arena.store.matches.spec import Entrant
from referee.faults import Fault, TimeSpent, Verdict
from referee.record import Remarks, action_line, fault_line
from tests.arena.match_spec import poke_spec

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "record.md").read_text()


def members(start: str) -> dict[str, str]:
    _, _, text = PAGE.partition(start)
    table = re.search(r"\n\| member \| meaning \|\n\|[-|]+\|\n((?:\|.*\n)+)", text)
    assert table is not None
    pairs = re.findall(r"^\| (.*?) \| (.*) \|$", table[1], flags=re.MULTILINE)
    return {name: meaning for names, meaning in pairs for name in re.findall(r"`(\w+)`", names)}


def omitted(start: str) -> set[str]:
    """Return the members that can be missing, according to a table of the page."""
    return {name for name, meaning in members(start).items() if "omitted" in meaning}


def match_line(folder: str, tables: int | None = None) -> dict[str, Any]:
    entrants = (Entrant(name, "0" * 64, folder, {}) for name in ("a@1", "b@1"))
    corrections = 0 if tables is None else 1
    clock = Clock(1, 1, 1)
    return poke_spec(entrants, clock=clock, tables=tables, corrections=corrections).line()


def test_the_members_that_a_match_line_omits_are_those_of_the_page() -> None:
    fewest, most = match_line("bots/a"), match_line("", 1)
    assert set(most) - {"type"} == set(members("### `match`"))
    assert (
        set(most) - set(fewest) == omitted("### `match`") == {"mirrored", "tables", "corrections"}
    )
    assert (most["mirrored"], most["tables"]) == (False, 1)


def test_the_members_that_an_action_line_omits_are_those_of_the_page() -> None:
    fewest = json.loads(action_line(0, 0, 0, "{}", 1, Remarks()))
    remarks = Remarks("note", True, 1, True, 2.5)
    most = json.loads(action_line(0, 0, 0, "{}", 1, remarks, 5, (0, 0)))
    assert set(most) - {"type"} == set(members("### `action`"))
    assert set(most) - set(fewest) == omitted("### `action`")


def test_the_members_that_the_clock_of_a_fault_omits_are_those_of_the_page() -> None:
    fault = Fault(0, 0, 0, Verdict.TIMEOUT, "late", spent=TimeSpent(1, 2, 3, 4, 2, (0, 1)))
    start = Fault(0, 0, 0, Verdict.INIT, "did not start", spent=TimeSpent(1, 2))
    most, fewest = fault_line(fault)["clock"], fault_line(start)["clock"]
    assert set(most) == set(members("`clock` has these members"))
    assert set(most) - set(fewest) == omitted("`clock` has these members")


def test_the_members_that_a_fault_line_omits_are_those_of_the_page() -> None:
    bare = fault_line(Fault(0, 0, 0, Verdict.TIMEOUT, "late"))
    assert set(members("### `fault`")) - set(bare) == omitted("### `fault`") == {"clock"}
