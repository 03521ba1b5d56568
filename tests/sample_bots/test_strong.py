"""Test the house bot `strong`: legal and repeatable actions, its time limit, and won positions."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pokearena.v1 import bot_pb2

from bench.strength import Choose, MeasuredForm, forms, load
from referee.game_codec import GameCodec
from referee.games.contract import Action, State
from referee.games.poke.actions import Stand
from referee.games.pokino.layout import ends
from referee.games.pokino.runs import NUMBER
from referee.games.pokino.state import PokinoState
from referee.games.registry import GAMES
from referee.games.shared.cards import DECK, Card, cards, deck_of, in_order
from referee.games.shared.dealing import Arranged, Seeded, board_seed
from tests.arena.cli.terminal import in_own_process
from tests.examples import examples
from tests.sample_bots.saint_poker_positions import third_king_in_round_7

PLAYED = [
    *forms(),
    MeasuredForm(GAMES["pokino"], 3, dict.fromkeys(GAMES["pokino"].options, True)),
]
every_form = pytest.mark.parametrize(
    "form",
    # The bot takes minutes at every form of Pokino except the last, with all options on. Of the
    # other games the quick suite plays the smallest table.
    [
        pytest.param(
            form,
            marks=[pytest.mark.long]
            * (form.game.id == "pokino" or form.seats != form.game.seats[0]),
        )
        for form in PLAYED[:-1]
    ]
    + [PLAYED[-1]],
    ids=str,
)
ASKED = examples(12, 3)
"""Number of questions per game in these tests."""


def question(form: MeasuredForm, state: State, seat: int, **fields: Any) -> bot_pb2.ActRequest:
    """Return a question as the referee sends it, without the list of legal actions."""
    head = bot_pb2.ActRequest(seat=seat, luck=7, **fields)
    return bot_pb2.ActRequest.FromString(GameCodec(form.game).question(head, state.view(seat), ()))


def positions(form: MeasuredForm) -> Iterator[tuple[State, int]]:
    """Yield positions from all parts of a game played at random, each with a seat that acts."""
    chance = random.Random(str(form))
    state = form.game.start(Seeded(board_seed(bytes(32), 1)), form.seats, form.given)
    passed = []
    while state.actors:
        passed.append(state)
        state = state.play({s: chance.choice(list(state.legal(s))) for s in state.actors})
    for at in sorted(chance.sample(range(len(passed)), min(ASKED, len(passed)))):
        yield passed[at], chance.choice(passed[at].actors)


def strong(form: MeasuredForm) -> Choose:
    return load("strong", form.start(0))


@every_form
def test_strong_plays_legally_and_deterministically(form: MeasuredForm) -> None:
    choose, again, codec = strong(form), strong(form), GameCodec(form.game)
    for state, seat in positions(form):
        action, note = choose(question(form, state, seat))
        assert codec.decode(action) in state.legal(seat)
        assert again(question(form, state, seat)) == (action, note)


@every_form
def test_strong_answers_at_once_without_time(form: MeasuredForm) -> None:
    choose, codec = strong(form), GameCodec(form.game)
    for state, seat in positions(form):
        late = bot_pb2.Clock(allowance_ms=0, bank_ms=0)
        action, note = choose(question(form, state, seat, clock=late))
        assert codec.decode(action) in state.legal(seat)
        assert note == ""


@pytest.mark.long
@pytest.mark.parametrize("game_id", GAMES)
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


def chosen(game_id: str, state: State, seat: int) -> Action:
    """Return the action of the bot in a position of a game for two."""
    form = MeasuredForm(GAMES[game_id], 2)
    action, _ = strong(form)(question(form, state, seat))
    return GameCodec(form.game).decode(action)


def test_strong_stands_on_four_of_a_kind() -> None:
    deck = deck_of(cards("2C 3C 9D JH QH"), cards("AC AD AH AS KD"))
    luck = Arranged(orders={("deck", 0): deck}, numbers={("dealer", 0): 0})
    assert chosen("poke", GAMES["poke"].start(luck), 1) == Stand()


def test_strong_shows_a_third_king_in_round_7() -> None:
    """The round is worth seven points, and each player has ten."""
    state = third_king_in_round_7((10, 10))
    assert "KC" in chosen("saint_poker", state, 0).cards


def test_strong_wins_with_its_last_two_cards() -> None:
    """Rules K-6.1 and K-7.4."""
    state = GAMES["pokino"].start(Seeded(bytes(32)))
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
    after = state.play({0: chosen("pokino", state, 0)})
    assert isinstance(after, PokinoState)
    assert after.pokino
