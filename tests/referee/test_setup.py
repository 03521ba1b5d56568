"""Set-up of games: messages of refusals; places and winners (rules README)."""

import pytest

from referee.games.contract import Game, Option, SetupError, places_of
from referee.games.poke import Poke
from referee.games.registry import GAMES, find_game
from referee.games.saint_poker import SaintPoker
from referee.games.shared.cards import DECK, cards, deck_of
from referee.games.shared.dealing import Arranged, Seeded
from tests.errors import has_code

ANY = Seeded(bytes(32))


def test_the_registry_finds_games_by_id() -> None:
    assert {"poke", "saint_poker"} <= set(GAMES)
    assert all(find_game(game_id).id == game_id for game_id in GAMES)


def test_a_game_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SetupError, check=has_code("unknown-game")):
        find_game("whist")


@pytest.mark.parametrize("seats", [0, 1, 3, 4])
def test_poke_is_played_by_two(seats: int) -> None:
    """P-1.1."""
    with pytest.raises(SetupError, check=has_code("seats")):
        Poke().start(ANY, seats)


@pytest.mark.parametrize("seats", [0, 1, 6])
def test_saint_poker_is_played_by_two_to_five(seats: int) -> None:
    """S-1.1."""
    with pytest.raises(SetupError, check=has_code("seats")):
        SaintPoker().start(ANY, seats)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(SetupError, check=has_code("unknown-option")):
        Poke().start(ANY, 2, {"jokers": True})
    with pytest.raises(SetupError, check=has_code("unknown-option")):
        SaintPoker().start(ANY, 2, {"x": True})


class WithOptions(Poke):
    options = {  # noqa: RUF012 - read only
        "must_beat": Option(True, "Whether."),
        "cards": Option(5, "Cards in a hand."),
        "side": Option("right", "Which one.", ("right", "left")),
    }


def test_options_have_defaults_and_may_be_given_as_text() -> None:
    game = WithOptions()
    assert game.settle({}) == {"must_beat": True, "cards": 5, "side": "right"}
    for values in (
        {"must_beat": False, "cards": 7, "side": "left"},
        {"must_beat": "false", "cards": "7", "side": "left"},
        {"must_beat": "False", "cards": "7", "side": "left"},
    ):
        assert game.settle(values) == {"must_beat": False, "cards": 7, "side": "left"}
    assert game.settle({"must_beat": "true"})["must_beat"] is True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("must_beat", value) for value in ("yes", "1", 1, 0, None, "", "tru")),
        *(
            ("cards", value)
            for value in ("x", "-1", -1, 2.5, True, "", None, 1_000_001, "9" * 5000)
        ),
        ("side", "up"),
    ],
)
def test_an_option_of_the_wrong_kind_is_refused(name: str, value: object) -> None:
    with pytest.raises(SetupError, check=has_code("option-value")):
        WithOptions().settle({name: value})


@pytest.mark.parametrize(
    ("pack", "code"),
    [
        (DECK[1:], "thing-missing"),
        (DECK[:0], "thing-missing"),
        ((*DECK, "X1"), "thing-missing"),
        (("X1", *DECK[1:]), "thing-missing"),
        ((DECK[1], *DECK[1:]), "thing-twice"),
    ],
)
@pytest.mark.parametrize("game", [Poke(), SaintPoker()], ids=lambda game: game.id)
def test_given_cards_that_are_not_a_pack_are_refused(
    game: Game, pack: tuple[str, ...], code: str
) -> None:
    with pytest.raises(SetupError, check=has_code(code)):
        game.start(Arranged(orders={("deck", 0): pack}))


@pytest.mark.parametrize("dealer", [-1, 2])
def test_a_given_dealer_without_a_seat_is_refused(dealer: int) -> None:
    """P-1.2."""
    with pytest.raises(SetupError, check=has_code("out-of-range")):
        Poke().start(Arranged(numbers={("dealer", 0): dealer}))


def test_a_game_can_be_set_up_from_given_cards() -> None:
    """P-1.3."""
    state = Poke().start(Arranged(orders={("deck", 0): deck_of(cards("AS KS QS JS TS"))}))
    assert state.view(0).hand == cards("TS JS QS KS AS")


def test_a_game_has_the_fewest_seats_by_default() -> None:
    assert len(SaintPoker().start(ANY).scores) == 2
    assert len(SaintPoker().start(ANY, 5).scores) == 5


@pytest.mark.parametrize(
    ("scores", "places"),
    [
        ((10, 7, 7, 3), (1, 2, 2, 4)),
        ((3, 3), (1, 1)),
        ((1, 2), (2, 1)),
        ((0, 0, 0, 36, 0), (2, 2, 2, 1, 2)),
    ],
)
def test_a_place_is_one_more_than_the_entrants_with_a_better_score(
    scores: tuple[int, ...], places: tuple[int, ...]
) -> None:
    """P-6.5, S-5.2."""
    assert places_of(scores, range(len(scores))) == places


def test_both_seats_of_a_side_are_one_entrant() -> None:
    assert places_of((5, 9, 5, 9), (0, 1, 0, 1)) == (2, 1, 2, 1)
    assert places_of((5, 5, 9, 9, 1, 1), (0, 0, 1, 1, 2, 2)) == (2, 2, 1, 1, 3, 3)


@pytest.mark.parametrize("game", [Poke(), SaintPoker()], ids=lambda game: game.id)
def test_every_seat_is_a_side_by_default(game: Game) -> None:
    """P-1.1, S-1.1."""
    for seats in game.seats:
        assert game.sides(seats, game.settle({})) == tuple(range(seats))
