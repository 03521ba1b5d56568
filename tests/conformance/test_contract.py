"""Properties of every game: it ends, its values are immutable, and it is reproducible."""

import copy
from typing import Any

import pytest

from referee.games.contract import Game, IllegalAction
from referee.games.registry import GAMES, find_game
from referee.games.shared.dealing import Seeded
from tests.conformance.immutable import changeable
from tests.conformance.oracles import oracle_of
from tests.conformance.tables import TABLES, Table, every_table, share
from tests.conformance.walks import Step, dice, go_on, walk, walks
from tests.conformance.wire import question, seen
from tests.errors import has_code

WALKS = 12

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.id)


@every_game
def test_a_game_describes_itself(game: Game) -> None:
    assert find_game(game.id) is game
    assert game.id.replace("_", "").isalnum()
    assert game.id == game.id.lower()
    assert game.title
    assert len(set(game.seats)) == len(game.seats) > 0
    assert min(game.seats) >= 2
    assert game.settle({}) == {name: option.default for name, option in game.options.items()}
    for option in game.options.values():
        assert option.meaning.endswith(".")
    assert any(table.game is game for table in TABLES)


@every_table
def test_every_seat_has_a_side_and_sides_are_numbered_from_0(table: Table) -> None:
    sides = table.game.sides(table.seats, table.options)
    assert len(sides) == table.seats
    assert set(sides) == set(range(max(sides) + 1))
    assert max(sides) >= 1


@every_table
def test_a_random_game_ends_with_a_score_for_every_seat(table: Table) -> None:
    for steps in walks(table, WALKS):
        *before, last = steps
        assert before
        assert last.state.actors == ()
        assert all(step.state.actors for step in before)
        assert len(last.state.scores) == table.seats
        sides = table.game.sides(table.seats, table.options)
        outcome = table.game.outcome(last.state, sides)
        assert outcome.scores == last.state.scores
        assert min(outcome.places) == 1
        assert max(outcome.places) <= len(set(sides))


@every_table
def test_random_games_differ(table: Table) -> None:
    ends = [str(steps[-1].state.view(0)) for steps in walks(table, WALKS)]
    assert len(set(ends)) == len(ends)


@every_table
def test_acting_seats_are_ordered_and_have_legal_actions(table: Table) -> None:
    for steps in walks(table, WALKS):
        for state in (step.state for step in steps):
            assert isinstance(state.actors, tuple)
            assert list(state.actors) == sorted(set(state.actors) & set(range(table.seats)))
            assert all(next(iter(state.legal(seat)), None) for seat in state.actors)


@every_table
def test_cards_are_conserved(table: Table) -> None:
    oracle = oracle_of(table)
    for steps in walks(table, WALKS):
        everything = sorted(oracle.cards(steps[0].state))
        assert len(set(everything)) == len(everything)
        for step in steps:
            assert sorted(oracle.cards(step.state)) == everything


def part(steps: list[Step]) -> list[Step]:
    """Return about twenty positions of a game, including the last one."""
    return [*steps[:: max(1, len(steps) // 20)], steps[-1]]


@every_table
def test_operations_do_not_change_a_position(table: Table) -> None:
    for steps in walks(table, WALKS // 3):
        for step in part(steps):
            state = step.state
            kept = copy.deepcopy(state)
            viewers = (*range(table.seats), None)
            sent = [question(table.codec, state, viewer) for viewer in viewers]
            for seat in viewers:
                state.redeal(seat, Seeded(bytes(32)))
            if step.moves:
                moves = dict(step.moves)
                state.play(moves)
                state.after(moves)
                assert moves == step.moves
            assert state == kept
            assert sent == [question(table.codec, state, viewer) for viewer in viewers]


@every_table
def test_positions_views_and_actions_are_immutable(table: Table) -> None:
    for step in part(walk(table, 0)):
        values: list[Any] = [step.state, *step.moves.values()]
        values += [seen(step.state, viewer) for viewer in (*range(table.seats), None)]
        values += [action for seat in step.moves for action in step.state.legal(seat)]
        assert [value for value in map(changeable, values) if value] == []


@every_table
def test_equal_seeds_and_actions_give_equal_games(table: Table) -> None:
    for number in range(share(table, WALKS // 3)):
        steps = walk(table, number)
        luck = Seeded(dice(table, number).randbytes(32))
        state = table.start(luck)
        for step in steps:
            assert state == step.state
            for seat in range(table.seats):
                sent = question(table.codec, state, seat)
                assert sent == question(table.codec, step.state, seat)
            if step.moves:
                state = state.play(step.moves)
        assert state.actors == ()


@every_table
def test_chance_does_not_depend_on_actions(table: Table) -> None:
    """Games of one seed begin with the same position and keep the chance of the seed."""
    luck = Seeded(bytes(range(32)))
    ends = []
    for number in range(4):
        steps = list(go_on(table.start(luck), dice("other choices", number)))
        assert steps[0].state == table.start(luck)
        assert {getattr(step.state, "luck", luck) for step in steps} == {luck}
        ends.append(str(steps[-1].state.view(0)))
    assert len(set(ends)) > 1


@every_table
def test_only_acting_seats_can_move(table: Table) -> None:
    for step in walk(table, 0):
        action = next(iter(step.moves.values()), None)
        wrong: list[dict[int, Any]] = [
            {**step.moves, table.seats: action},
            {**step.moves, -1: action},
        ]
        wrong += [{s: m for s, m in step.moves.items() if s != gone} for gone in step.moves]
        idle = [seat for seat in range(table.seats) if seat not in step.moves]
        wrong += [{**step.moves, seat: action} for seat in idle]
        for moves in wrong:
            with pytest.raises(IllegalAction, check=has_code("not-their-turn")):
                step.state.play(moves)


@every_table
def test_play_and_after_agree_for_legal_moves(table: Table) -> None:
    for step in walk(table, 1)[:-1]:
        assert step.state.play(step.moves) == step.state.after(step.moves)
        backwards = dict(reversed(list(step.moves.items())))
        assert step.state.play(backwards) == step.state.play(step.moves)


@every_table
def test_a_view_has_the_view_type_of_its_game(table: Table) -> None:
    for step in walk(table, 2):
        for seat in range(table.seats):
            assert type(step.state.view(seat)) is table.game.view_type
        assert type(step.state.public()) is table.game.view_type
        for action in step.moves.values():
            assert type(action) in table.game.action_types


@every_game
def test_every_kind_of_action_is_played_at_some_table(game: Game) -> None:
    missing = set(game.action_types)
    tables = (table for table in TABLES if table.game is game)
    while missing:
        for step in walk(next(tables), 3):
            missing -= {type(action) for action in step.moves.values()}
