"""The result of a game, for spectators and for the player of a seat."""

from dataclasses import replace

import pytest

from arena.presentation.narration import outcome, result
from referee.record import GameRecord
from tests.arena.presentation.test_record_frames import golden


def ended(seating: list[str], places: list[int], scores: list[int]) -> GameRecord:
    game, *_ = golden("poke-2-must_beat=true").games
    return replace(
        game,
        game=game.game | {"seating": seating},
        result=game.result | {"places": places, "scores": scores},
    )


@pytest.mark.parametrize(
    ("seating", "places", "outcomes"),
    [
        (["a", "b"], [1, 2], ["You win", "You lose"]),
        (["a", "b"], [1, 1], ["You share the first place"] * 2),
        (
            ["a", "b", "c"],
            [3, 1, 1],
            ["You lose: place 3 of 3", *["You share the first place"] * 2],
        ),
        # Partners share a place.
        (["a", "b", "a", "b"], [2, 1, 2, 1], ["You lose", "You win"] * 2),
    ],
)
def test_the_outcome_of_a_seat_follows_from_its_place(
    seating: list[str], places: list[int], outcomes: list[str]
) -> None:
    game = ended(seating, places, [0] * len(places))
    assert [outcome(game, seat) for seat in range(len(places))] == outcomes


def test_the_result_names_a_winner_with_fewer_points() -> None:
    by_points, by_another_rule = (ended(["a", "b"], [1, 2], [2, n]) for n in (1, 3))
    assert result(by_points) == "result: a wins · a 2, b 1"
    assert result(by_another_rule) != "result: a wins · a 2, b 3"
