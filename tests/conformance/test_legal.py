"""Legality has one definition: listed, accepted and played actions agree."""

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import permutations
from typing import get_type_hints

import pytest

from referee.game_checks.near_actions import NO_ACTIONS, near, of_kind
from referee.game_checks.random_games import dice
from referee.game_checks.tables import Table
from referee.games.contract import Action, IllegalAction, State
from tests.conformance.oracle import Oracle
from tests.conformance.oracles import ORACLES, oracle_of
from tests.conformance.tables import TABLES, every_table, share
from tests.conformance.walks import closely, walks
from tests.errors import has_code

WALKS = 6
TRIES = 8
Normal = tuple[object, ...]


def turns(table: Table) -> Iterator[tuple[State, int, dict[int, Action]]]:
    """Yield positions of random games, with an acting seat and all actions of the turn."""
    for steps in walks(table, WALKS):
        for step in closely(table, steps):
            for seat in step.moves:
                yield step.state, seat, dict(step.moves)


def normal(action: Action, oracle: Oracle) -> Normal:
    """Return the normal form of an action, which is equal for equivalent orders of cards."""
    action, ordered = oracle.usual(action), oracle.ordered
    values = [getattr(action, field.name) for field in fields(action)]
    if type(action) not in ordered:
        values = [tuple(sorted(v)) if isinstance(v, tuple) else v for v in values]
    return (type(action), *values)


@every_table
def test_an_action_is_accepted_if_and_only_if_it_is_legal(table: Table) -> None:
    """Try changed, duplicate, missing and foreign cards, other types of actions, and values."""
    others = [
        of_kind(kind, ["AS"], dice("kind")) for other in TABLES for kind in other.game.action_types
    ]
    foreign = [action for action in others if type(action) not in table.game.action_types]
    oracle = oracle_of(table)
    rng = dice("junk", table)
    accepted = refused = 0
    for state, seat, moves in turns(table):
        legal = state.legal(seat)
        listed = list(legal)
        known = {normal(action, oracle) for action in listed}
        assert len(known) == len(listed)
        for thing in (*NO_ACTIONS, *foreign, state, legal, type(moves[seat])):
            assert thing not in legal
        things = oracle.cards(state)
        tried = list(near(rng.choice(listed), things, rng)) + list(near(listed[-1], things, rng))
        tried += [of_kind(kind, things, rng) for kind in table.game.action_types] * 2
        for action in rng.sample(tried, min(TRIES, len(tried))):
            if legal.complete:
                assert (action in legal) == (normal(action, oracle) in known), action
            if action in legal:
                accepted += 1
                state.play({**moves, seat: action})
            else:
                refused += 1
                with pytest.raises(IllegalAction, check=has_code("not-legal")):
                    state.play({**moves, seat: action})
    assert accepted > share(table, 50)
    assert refused > share(table, 500)


@every_table
def test_the_order_of_the_cards_in_an_action_does_not_matter(table: Table) -> None:
    mixed = 0
    played = set()
    for state, seat, moves in turns(table):
        action = moves[seat]
        played.add(type(action))
        if type(action) in oracle_of(table).ordered:
            continue
        after = state.play(moves)
        values = {field.name: getattr(action, field.name) for field in fields(action)}
        for name, cards in values.items():
            if not isinstance(cards, tuple):
                continue
            for order in permutations(cards[:4]):
                other = replace(action, **{name: (*order, *cards[4:])})
                mixed += other != action
                assert other in state.legal(seat)
                assert state.play({**moves, seat: other}) == after
    lists = {kind for kind in played if "tuple" in str(get_type_hints(kind))}
    assert mixed > (50 if lists - oracle_of(table).ordered else -1)


def test_every_game_has_an_oracle() -> None:
    assert {table.game.id for table in TABLES} <= set(ORACLES)
