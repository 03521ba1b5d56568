"""Positions as text: every game has a picture, and games to come have a plain one."""

import random

import pytest

from arena.cli import output
from arena.cli.output import clean, painted
from arena.cli.pictures.registry import PlainPicture, picture_of
from referee.dealing import Seeded
from referee.games.contract import Game
from referee.games.registry import GAMES
from referee.replay import position


@pytest.mark.parametrize(
    ("game", "seats"),
    [(game, seats) for game in GAMES.values() for seats in {game.seats[0], game.seats[-1]}],
    ids=lambda value: value.id if isinstance(value, Game) else str(value),
)
def test_every_position_shows_every_card_that_is_held(game: Game, seats: int) -> None:
    luck = random.Random(seats)
    names = [f"bot-{seat}" for seat in range(seats)]
    picture = picture_of(game.id)
    state = game.start(Seeded(bytes(32)), seats)
    chapters = []
    while state.actors:
        drawn = "\n".join(picture.position(state, names))
        for hand in position(state)["hands"]:
            assert " ".join(hand) in drawn
        for name in names:
            assert name in drawn
        chapters.append(picture.chapter(state))
        moves = {seat: luck.choice(list(state.legal(seat))) for seat in state.actors}
        state = state.play(moves)
    assert chapters == sorted(chapters)
    assert set(chapters) == set(range(picture.chapter(state) + 1))
    assert picture.closing(state, chapters[-1], names)
    assert picture.position(state, names)


def test_a_game_without_a_picture_is_shown_part_by_part() -> None:
    state = GAMES["poke"].start(Seeded(bytes(32)))
    picture = picture_of("a game to come")
    assert isinstance(picture, PlainPicture)
    assert [line.partition(":")[0] for line in picture.position(state, [])] == list(position(state))


def test_cards_are_painted_in_their_places_and_nothing_else_is() -> None:
    line = "  greedy  AS TH 2C 9D  XS 1H ASK"
    assert painted(line).plain == "  greedy  A♠ T♥ 2♣ 9♦  XS 1H ASK"


def test_what_a_bot_wrote_plays_no_tricks_on_a_terminal() -> None:
    assert clean("a\x1b[2J\r\nb\tc\x07") == "a\\x1b[2J b c\\x07"


def test_columns_line_up_with_numbers_on_the_right() -> None:
    rows = [("a", 1, "x"), ("bcd", 20, None)]
    assert output.aligned(("bot", "games", "<faults"), rows) == [
        "bot  games  faults",
        "a        1  x",
        "bcd     20",
    ]
