"""Test the house bots with the questions that the referee would send."""

import random
from functools import lru_cache

import pytest
from pokearena.v1 import bot_pb2

from bench.arguments import HOUSE_BOTS
from bench.strength import HOUSE, Choose, duel, load
from referee.game_codec import GameCodec
from referee.games.contract import Legal
from referee.games.registry import GAMES
from referee.games.shared.cards import cards
from referee.games.shared.dealing import Seeded, board_seed
from tests.examples import examples
from tests.sample_bots.processes import question as sample_question

BOARDS = examples(30, 12)
every_game = pytest.mark.parametrize(
    "game_id",
    # Games of Pokino, Pokex and Pouku are long.
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in ("pokino", "pokex", "pouku")))
        for name in GAMES
    ],
)
QUICK = [name for name in HOUSE_BOTS if name not in ("champion", "strong")]
"""The bots without search; the others have their own tests."""


# The cache holds the questions of one game: send them to one bot after another.
@lru_cache(maxsize=1)
def questions(game_id: str, seats: int) -> list[tuple[bot_pb2.ActRequest, Legal]]:
    """Return every question of a few games played at random, with the legal actions."""
    requests: list[tuple[bot_pb2.ActRequest, Legal]] = []
    game = GAMES[game_id]
    codec = GameCodec(game)
    chance = random.Random(7)
    for board in range(examples(2, 1)):
        state = game.start(Seeded(board_seed(bytes(32), board)), seats)
        while state.actors:
            moves = {}
            for seat in state.actors:
                legal = state.legal(seat)
                head = bot_pb2.ActRequest(seat=seat, luck=chance.getrandbits(64))
                data = codec.question(head, state.view(seat), legal)
                requests.append((bot_pb2.ActRequest.FromString(data), legal))
                moves[seat] = chance.choice(list(legal))
            state = state.play(moves)
    return requests


def chosen(choose: Choose, question: bot_pb2.ActRequest) -> bot_pb2.Action:
    random.seed(question.luck)
    move = choose(question)
    action = move[0] if isinstance(move, tuple) else move
    assert isinstance(action, bot_pb2.Action)
    return action


def test_the_table_lists_all_house_bots() -> None:
    assert {folder.name for folder in HOUSE.iterdir() if folder.is_dir()} == set(HOUSE_BOTS)


def test_meek_takes_the_first_listed_action_and_random_any_of_them() -> None:
    meek, at_random = load("meek"), load("random")
    asked = [sample_question(luck=luck) for luck in range(200)]
    assert {asked[0].legal[:].index(chosen(meek, request)) for request in asked} == {0}
    assert {asked[0].legal[:].index(chosen(at_random, request)) for request in asked} == {*range(6)}


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize(
    ("game_id", "seats"),
    [
        pytest.param(game.id, seats, marks=[pytest.mark.long] * (seats != game.seats[0]))
        for game in GAMES.values()
        for seats in game.seats
    ],
)
def test_a_house_bot_plays_legally_and_deterministically(
    name: str, game_id: str, seats: int
) -> None:
    choose, codec = load(name), GameCodec(GAMES[game_id])
    for question, legal in questions(game_id, seats)[:: examples(1, 4)]:
        action = chosen(choose, question)
        assert codec.decode(action) in legal
        assert chosen(choose, question) == action


@every_game
@pytest.mark.parametrize(
    "other",
    [*(pytest.param(name, marks=pytest.mark.repetition) for name in ("bold", "meek")), "random"],
)
@pytest.mark.long
def test_greedy_is_the_best_of_the_house(game_id: str, other: str) -> None:
    mean, half = duel(GAMES[game_id], "greedy", other, BOARDS)
    assert mean - half > 0.5


@every_game
@pytest.mark.long
def test_bold_is_better_than_random(game_id: str) -> None:
    mean, half = duel(GAMES[game_id], "bold", "random", BOARDS)
    assert mean - half > 0.5


def poke(hand: str, **view: object) -> bot_pb2.ActRequest:
    """Return a question of Poke, by default in the draw."""
    fields = {"phase": "draw", "multipliers": [1, 1], **view}
    return bot_pb2.ActRequest(view={"poke": {"hand": cards(hand), **fields}})


@pytest.mark.parametrize(
    ("hand", "keeps"),
    [
        ("2C 3D 4H 5S 6C", "stands on a straight"),
        ("KC KD KH 4S 4C", "stands on a full house"),
    ],
)
def test_greedy_stands_on_made_hands(hand: str, keeps: str) -> None:
    assert load("greedy")(poke(hand, dealer=0))[0].poke.HasField("stand"), keeps


def test_greedy_takes_the_free_draw_and_keeps_its_pair() -> None:
    action, _ = load("greedy")(poke("2C 5D 9H KS KC", dealer=0))
    assert set(action.poke.draw.discards) == {"2C", "5D", "9H"}


def test_greedy_draws_one_card_to_four_of_a_suit_when_it_is_free() -> None:
    action, _ = load("greedy")(poke("2C 5C 9C KC 7D", dealer=0))
    assert list(action.poke.draw.discards) == ["7D"]


def test_greedy_does_not_pay_for_a_draw_with_a_pair_in_hand() -> None:
    action, _ = load("greedy")(poke("2C 5D 9H KS KC", dealer=1))
    assert action.poke.HasField("stand")


def test_greedy_wins_a_trick_as_cheaply_as_it_can() -> None:
    action, _ = load("greedy")(poke("3C 9D TH KS AC", phase="answer", lead=["8S"]))
    assert list(action.poke.answer.cards) == ["9D"]


def test_greedy_saves_its_aces_in_the_first_round_of_saint_poker() -> None:
    view = {"round": 1, "phase": "show", "river": cards("2C 7D 9H JS 4C")}
    view["hand"] = cards("AC AD KS 3H 5D 8S")
    action, _ = load("greedy")(bot_pb2.ActRequest(view={"saint_poker": view}))
    assert set(action.saint_poker.show.cards) == {"3H", "5D"}


def test_greedy_plays_the_best_hand_in_the_last_round() -> None:
    view = {"round": 8, "phase": "show", "river": cards("2C 7D 9H JS 4C")}
    view["hand"] = cards("AC AD")
    action, _ = load("greedy")(bot_pb2.ActRequest(view={"saint_poker": view}))
    assert set(action.saint_poker.show.cards) == {"AC", "AD"}


def pokino(hand: str, beads: int, **view: object) -> bot_pb2.ActRequest:
    """Return a question of Pokino with a six beside a four on the table."""
    layout = [
        {"domino": "0-6", "x": -1, "y": 0, "second_x": 0, "second_y": 0},
        {"domino": "4-5", "x": 1, "y": 0, "second_x": 1, "second_y": -1},
    ]
    fields = {"hand": cards(hand), "beads": [beads, 1], "layout": layout, "poke_size": 50, **view}
    return bot_pb2.ActRequest(view={"pokino": fields}, legal=[{"pokino": {"pass_turn": {}}}])


def test_greedy_empties_its_hand_when_it_can() -> None:
    action, _ = load("greedy")(pokino("6S 4D", 2, dominoes=["1-1"], deck_size=20))
    assert sorted(action.pokino.run.cards) == ["4D", "6S"]


def test_greedy_saves_its_beads_for_long_runs_and_lays_a_domino_where_its_cards_fit() -> None:
    question = pokino("6S 4D 9C TC JC QC KC", 2, dominoes=["6-11"], deck_size=20)
    action, _ = load("greedy")(question)
    assert action.pokino.domino.domino == "6-11"
    assert action.pokino.domino.draw
