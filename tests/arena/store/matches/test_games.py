"""The store's summary of the record of a finished game."""

import json
from dataclasses import replace
from typing import Any

import pytest

from arena.ratings.closed_match import PlayedFault
from arena.store.matches import games
from arena.store.matches.spec import Entrant
from arena.store.matches.table_plan import plan
from tests.arena.records.bundle.simulated_arena import game_of
from tests.arena.store.matches.test_table_plan import SPEC
from tests.errors import has_code

TWO = ("a@1", "b@1")


def record(*lines: dict[str, Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def game(seating: list[str]) -> dict[str, Any]:
    return {"type": "game", "game": 5, "table": 1, "board": 1, "seating": seating}


def result(**words: Any) -> dict[str, Any]:
    seats = len(words["places"])
    counted = {"bank_ms": [0] * seats, "crashes": [0] * seats, "faults": [0] * seats}
    return {"type": "result", "game": 5, "verdicts": ["finished"] * seats} | counted | words


def test_results_by_seat_are_stored_by_entrant() -> None:
    text = record(
        game(["b@1", "a@1"]),
        result(places=[1, 2], scores=[850, 350], faults=[0, 1], bank_ms=[7, 9]),
    )
    read = games.read(text, TWO)
    assert (read.game, read.table, read.board, read.record) == (5, 1, 1, text)
    assert (read.places, read.scores, read.faults) == ((2, 1), (350, 850), (1, 0))
    assert read.verdicts == ("finished", "finished")


def test_banks_and_crashes_are_stored_by_seat() -> None:
    text = record(
        game(["b@1", "a@1"]),
        result(places=[1, 2], scores=None, bank_ms=[7, 9], slowest_ms=[0.5, 3.1], crashes=[1, 0]),
    )
    read = games.read(text, TWO)
    assert read.tally == {
        "bank_ms": [7, 9],
        "slowest_ms": [0.5, 3.1],
        "crashes": [1, 0],
        "faults": [0, 0],
    }


def test_corrections_and_default_actions_are_stored_by_entrant() -> None:
    text = record(
        game(["b@1", "a@1", "b@1", "a@1"]),
        result(places=[1, 2, 1, 2], scores=None, corrections=[1, 0, 4, 2], defaults=[0, 3, 0, 0]),
    )
    read = games.read(text, TWO)
    assert (read.corrections, read.defaults) == ((2, 5), (3, 0))
    assert not {"corrections", "defaults"} & read.tally.keys()
    values = games.game_values(read)
    assert (values["corrections"], values["defaults"]) == ([2, 5], [3, 0])
    without = games.game_values(
        games.read(record(game(["a@1", "b@1"]), result(places=[1, 2], scores=None)), TWO)
    )
    assert (without["corrections"], without["defaults"]) == (None, None)


def test_a_game_ended_by_a_fault_has_no_scores() -> None:
    text = record(
        game(["a@1", "b@1"]),
        {
            "type": "fault",
            "game": 5,
            "decision": 7,
            "seat": 1,
            "verdict": "crash",
            "sentence": "It ended.",
            "ended": "exited with status 1",
            "output": "Traceback\0",
        },
        result(places=[1, 2], scores=None, verdicts=["finished", "crash"], faults=[0, 1]),
    )
    read = games.read(text, TWO)
    assert read.scores is None
    assert read.verdicts == ("finished", "crash")
    # PostgreSQL cannot store NUL, so it becomes the replacement character.
    assert read.faulted == (
        PlayedFault(
            5, 7, 1, "b@1", "crash", "It ended.", "exited with status 1", "Traceback\ufffd"
        ),
    )


def test_an_entrant_with_two_seats_has_their_place_and_the_faults_of_both() -> None:
    text = record(
        game(["a@1", "b@1", "a@1", "b@1"]),
        result(
            places=[2, 1, 2, 1],
            scores=[3, 9, 3, 9],
            verdicts=["finished", "finished", "illegal", "finished"],
            faults=[1, 0, 2, 0],
        ),
    )
    read = games.read(text, TWO)
    assert (read.places, read.scores, read.faults) == ((2, 1), (3, 9), (3, 0))
    assert read.verdicts == ("illegal", "finished")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "not-one-game"),
        (
            record(game(["a@1", "c@1"]), result(places=[1, 2], scores=None)),
            "other-entrants",
        ),
        (
            record(game(["a@1", "a@1"]), result(places=[1, 2], scores=None)),
            "other-entrants",
        ),
        (
            record({"type": "game", "game": 5}, result(places=[1, 2], scores=None)),
            "field-missing",
        ),
    ],
)
def test_an_invalid_game_is_refused(text: str, code: str) -> None:
    with pytest.raises(ValueError, check=has_code(code)):
        games.read(text, TWO)


@pytest.mark.parametrize("fault", [False, True])
@pytest.mark.parametrize(
    ("form", "options", "seats"),
    [("poke", {"must_beat": True}, 2), ("saint_poker", {}, 3), ("pouku", {"teams": True}, 4)],
)
def test_a_finished_game_equals_its_record(
    form: str, options: dict[str, bool], seats: int, fault: bool
) -> None:
    names = ("a@1", "b@1") if seats != 3 else ("a@1", "b@1", "c@1")
    spec = replace(
        SPEC,
        game=form,
        options=options,
        seats=seats,
        entrants=tuple(Entrant(name, name, "/", {}) for name in names),
    )
    table = plan(spec)[1]
    game = game_of(spec, table, table.boards[0], fault)
    assert (game.table, bool(game.faulted)) == (1, fault)
    assert all(times.decisions for times in game.thinking) or fault
    assert game == games.read(game.record, names)
