"""The stream of a table for spectators: some positions, with public information only."""

import asyncio
import time
from itertools import groupby

import pytest
from pokearena.v1 import bot_pb2, referee_pb2

from referee.game_codec import GameCodec
from referee.games.registry import find_game
from referee.games.shared.dealing import Seeded
from referee.replay import ReplayStep, steps
from tests.examples import quick_cases
from tests.referee.authors import Answer, Author, TableResults, first, play

SEATS = {"poke": 2, "saint_poker": 3, "pokex": 4, "pouku": 3, "pokino": 2}
WATCH_MS = 20
SEED = bytes(32)
"""The seed of every match that `play` plays."""


async def slowly(question: bot_pb2.ActRequest) -> Answer:
    await asyncio.sleep(0.004)
    return first(question)


def positions(played: TableResults, game: str, seats: int) -> dict[tuple[int, int], ReplayStep]:
    """Return the positions of all games by game and decision, from the records."""
    match = {"game": game, "seats": seats, "options": {}}
    return {
        (record.number, step.decision): step
        for record in played.games
        for step in steps(match, record, SEED)
    }


def game_and_decision(shown: referee_pb2.PositionShown) -> tuple[int, int]:
    return shown.game, shown.decision


def test_without_spectators_no_position_is_sent() -> None:
    assert play([Author(slowly), Author()]).shown == []


def test_the_questions_of_each_seat_are_reported_on_request() -> None:
    played = play([Author(), Author()], report_questions=True)
    [game] = played.games
    decisions = {(line["seat"], game.number, line["decision"]) for line in game.actions}
    assert {(each.seat, each.game, each.decision) for each in played.asked} == decisions
    assert play([Author(), Author()]).asked == []
    parallel = play(
        [Author(games_in_flight=2), Author(games_in_flight=2)], boards=2, report_questions=True
    )
    assert any(not each.HasField("game") for each in parallel.asked)


@pytest.mark.long
def test_positions_are_shown_in_order_and_not_too_often() -> None:
    began = time.monotonic()
    played = play([Author(slowly), Author(slowly)], boards=2, watch_ms=WATCH_MS)
    elapsed_ms = 1000 * (time.monotonic() - began)
    order = [game_and_decision(shown) for shown in played.shown]
    assert order == sorted(set(order))
    assert 5 < len(order) <= elapsed_ms / WATCH_MS


def test_an_unchanged_position_is_sent_once() -> None:
    async def once_slowly(question: bot_pb2.ActRequest) -> Answer:
        await asyncio.sleep(0.2 if question.decision == 0 else 0)
        return first(question)

    played = play([Author(once_slowly), Author(once_slowly)], watch_ms=WATCH_MS)
    assert [shown.decision for shown in played.shown].count(0) == 1


@pytest.mark.long
def test_one_of_several_games_in_flight_is_shown_to_its_end() -> None:
    bots = [Author(slowly, games_in_flight=4), Author(slowly, games_in_flight=4)]
    played = play(bots, boards=5, watch_ms=WATCH_MS)
    games = [
        (game, list(shown)) for game, shown in groupby(played.shown, lambda position: position.game)
    ]
    assert len(games) > 1
    assert len({game for game, _ in games}) == len(games)
    for _, shown in games[:-1]:
        assert list(shown[-1].actors) == []
        assert all(position.actors for position in shown[:-1])


@pytest.mark.parametrize("game", quick_cases(SEATS, 2))
def test_a_sent_position_contains_only_public_information(game: str) -> None:
    """Redeal all private information; the sent bytes are equal."""
    seats = SEATS[game]
    authors = [Author(slowly) for _ in range(seats)]
    played = play(authors, game=game, boards=1, watch_ms=WATCH_MS)
    codec = GameCodec(find_game(game))
    at = positions(played, game, seats)
    assert len(played.shown) > 1
    for shown in played.shown:
        state = at[game_and_decision(shown)].state
        dealt = state.redeal(None, Seeded(bytes(range(32))))
        for position in (state, dealt):
            expected = referee_pb2.PositionShown(
                game=shown.game,
                board=shown.board,
                decision=shown.decision,
                actors=state.actors,
                view=bot_pb2.View.FromString(codec.view(position.public())),
                bank_ms=[0] * seats,
            )
            assert expected.SerializeToString(deterministic=True) == shown.SerializeToString(
                deterministic=True
            )


@pytest.mark.long
def test_a_position_contains_the_clocks_and_on_request_the_notes() -> None:
    async def with_note(question: bot_pb2.ActRequest) -> Answer:
        answer = await slowly(question)
        answer.note = f"decision {question.decision}"
        return answer

    for has_notes in (False, True):
        bots = [Author(with_note), Author(slowly)]
        played = play(bots, bank_ms=500, watch_ms=WATCH_MS, watch_notes=has_notes)
        assert {tuple(shown.bank_ms) for shown in played.shown} == {(500, 500)}
        last = played.shown[-1]
        assert [bool(note) for note in last.notes] == ([True, False] if has_notes else [])


def test_incomplete_simultaneous_choices_are_not_shown() -> None:
    async def second_is_slow(question: bot_pb2.ActRequest) -> Answer:
        await asyncio.sleep(0.1)
        return first(question)

    bots = [Author(), Author(second_is_slow)]
    played = play(bots, game="saint_poker", boards=1, watch_ms=WATCH_MS)
    together = [shown for shown in played.shown if shown.view.saint_poker.phase == "river"]
    assert together
    assert all(list(shown.actors) == [0, 1] for shown in together)


def test_a_game_ended_by_a_fault_has_no_acting_seats() -> None:
    async def illegal(question: bot_pb2.ActRequest) -> Answer:
        action = bot_pb2.Action()
        action.poke.lead.cards.extend(["AS"])
        await asyncio.sleep(3 * WATCH_MS / 1000)
        return Answer(game=question.game, decision=question.decision, action=action)

    played = play([Author(illegal), Author(slowly)], boards=3, watch_ms=WATCH_MS)
    assert played.verdicts[0] == ["illegal", "finished"]
    ends = [shown for shown in played.shown if not shown.actors]
    assert ends
    assert all(shown.view.poke.phase != "over" for shown in ends)
