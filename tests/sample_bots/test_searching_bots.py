"""Test the house bots `champion` and `strong`: legal, repeatable, in time, and won positions."""

import json
from pathlib import Path

import pytest
from pokearena.v1 import bot_pb2

from bench.strength import MeasuredForm, forms, load
from referee.game_codec import GameCodec
from referee.games.contract import Game
from referee.games.poke.actions import Stand
from referee.games.pokino.layout import ends
from referee.games.pokino.runs import NUMBER
from referee.games.pokino.state import PokinoState
from referee.games.registry import GAMES
from referee.games.shared.cards import DECK, Card, cards, deck_of, in_order
from referee.games.shared.dealing import Arranged, Seeded
from tests.arena.cli.terminal import in_own_process
from tests.examples import examples
from tests.sample_bots.bot_questions import bot_answer, positions, question
from tests.sample_bots.saint_poker_positions import third_king_in_round_7

ASKED = {"champion": examples(12, 2), "strong": examples(5, 2)}
"""Numbers of questions per phase of a game in these tests."""
POKE, POKEX, POKINO, POUKU, SAINT_POKER = (
    GAMES[name] for name in ("poke", "pokex", "pokino", "pouku", "saint_poker")
)


def with_all_options(game: Game, seats: int) -> MeasuredForm:
    return MeasuredForm(game, seats, dict.fromkeys(game.options, True))


QUICK = [
    ("champion", MeasuredForm(POKE, 2)),
    ("champion", MeasuredForm(POUKU, 3)),
    # The bot takes minutes at every form of Pokino except this one.
    ("strong", with_all_options(POKINO, 3)),
    *(
        ("strong", form)
        for form in forms()
        if form.game is not POKINO and form.seats == form.game.seats[0]
    ),
]
LONG = [
    ("champion", MeasuredForm(POKE, 2, {"must_beat": False})),
    *(("champion", MeasuredForm(SAINT_POKER, seats)) for seats in (2, 5)),
    *(("champion", MeasuredForm(POKEX, seats)) for seats in POKEX.seats),
    *(("champion", MeasuredForm(POKINO, seats)) for seats in (2, 6)),
    ("champion", with_all_options(POKINO, 2)),
    ("champion", MeasuredForm(POUKU, 4)),
    ("champion", MeasuredForm(POUKU, 4, {"teams": True})),
    *(("strong", form) for form in forms() if ("strong", form) not in QUICK),
]
every_form = pytest.mark.parametrize(
    ("bot", "form"),
    [*QUICK, *(pytest.param(bot, form, marks=pytest.mark.long) for bot, form in LONG)],
    ids=str,
)


@every_form
def test_a_bot_plays_legally_and_deterministically(bot: str, form: MeasuredForm) -> None:
    choose, again = (load(bot, form.start(0)) for _ in range(2))
    codec = GameCodec(form.game)
    for state, seat in positions(form, ASKED[bot]):
        action, note = choose(question(form, state, seat))
        assert codec.decode(action) in state.legal(seat)
        assert again(question(form, state, seat)) == (action, note)


@every_form
def test_a_bot_answers_at_once_without_time(bot: str, form: MeasuredForm) -> None:
    choose, codec = load(bot, form.start(0)), GameCodec(form.game)
    late = bot_pb2.Clock(allowance_ms=0, bank_ms=0)
    for state, seat in positions(form, ASKED[bot]):
        action, note = choose(question(form, state, seat, clock=late))
        assert codec.decode(action) in state.legal(seat)
        assert note == ""


@pytest.mark.long
@pytest.mark.parametrize(
    "game_id",
    # The test of legal actions has every plan of the bot.
    [
        pytest.param(name, marks=[pytest.mark.repetition] * (name != "saint_poker"))
        for name in GAMES
    ],
)
def test_strong_plays_a_match_without_a_fault(game_id: str, tmp_path: Path) -> None:
    others = ["sample:random"] * (
        len(set(MeasuredForm(GAMES[game_id], GAMES[game_id].seats[0]).sides)) - 1
    )
    result = in_own_process(
        tmp_path, ("play", game_id, "sample:strong", *others, "-n", "1", "--json")
    )
    assert result.status == 0, result.err
    document = json.loads(result.out)
    assert {word for game in document["games"] for word in game["verdicts"]} == {"finished"}
    assert not any(bot["faults"] for bot in document["bots"])


def test_strong_stands_on_four_of_a_kind() -> None:
    deck = deck_of(cards("2C 3C 9D JH QH"), cards("AC AD AH AS KD"))
    luck = Arranged(orders={("deck", 0): deck}, numbers={("dealer", 0): 0})
    action, _ = bot_answer("strong", MeasuredForm(POKE, 2), POKE.start(luck), 1)
    assert action == Stand()


@pytest.mark.parametrize(
    ("bot", "scores"),
    [("strong", (10, 10)), pytest.param("champion", (12, 10), marks=pytest.mark.long)],
)
def test_a_bot_shows_a_deciding_third_king(bot: str, scores: tuple[int, int]) -> None:
    """Round 7 decides: with 19 points to 10, the last round does not matter."""
    form = MeasuredForm(SAINT_POKER, 2)
    action, _ = bot_answer(bot, form, third_king_in_round_7(scores), 0)
    assert "KC" in action.cards


def test_strong_wins_with_its_last_two_cards() -> None:
    """Rules K-6.1 and K-7.4."""
    state = POKINO.start(Seeded(bytes(32)))
    assert isinstance(state, PokinoState)
    ground = state.layout.ground
    border = next(iter(ground.borders))
    numbers = [ground.numbers[square] for square in ends(border)]
    hand: tuple[Card, ...] = ()
    for number in numbers:
        hand += (next(c for c in DECK if NUMBER[c] == number and c not in hand),)
    others = tuple(c for c in DECK if c not in hand)
    state = state.but(
        turn=0, hands=(in_order(hand), others[:5]), deck=others[5:], beads=(2, 2), known=((), ())
    )
    action, _ = bot_answer("strong", MeasuredForm(POKINO, 2), state, 0)
    after = state.play({0: action})
    assert isinstance(after, PokinoState)
    assert after.pokino
