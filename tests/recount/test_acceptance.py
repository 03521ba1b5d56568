"""The referee accepts an unlisted action exactly if the rules page allows it."""

import random
from itertools import islice

from referee.game_checks.near_actions import near, of_kind
from referee.game_checks.tables import Table
from referee.games.contract import Action, State
from referee.replay import steps
from tests.conformance.oracles import oracle_of
from tests.conformance.tables import every_table
from tests.recount.record_replay import follow
from tests.recount.recount_contract import GameResult, LegalActions, word_of
from tests.recount.test_recount import played

POSITIONS = 6
"""Approximate number of actions tested per game."""


@every_table
def test_the_referee_accepts_the_actions_of_the_rules_page(table: Table) -> None:
    """Try actions that are nearly legal, and actions with random content."""
    rng = random.Random(str(table))
    seed, record, _ = played(table, 1)
    (game,) = record.games
    share = min(1.0, POSITIONS / len(game.actions))
    both = zip(follow(record.match, game, seed), steps(record.match, game, seed), strict=True)
    for questions, step in both:
        if not isinstance(questions, GameResult) and rng.random() < share:
            assert tuple(sorted(questions)) == step.state.actors
            for seat, may in questions.items():
                for action in tries(table, step.state, seat, rng):
                    assert (action in step.state.legal(seat)) == allowed(table, may, action), action


def tries(table: Table, state: State, seat: int, rng: random.Random) -> list[Action]:
    things = oracle_of(table).cards(state)
    listed = list(islice(state.legal(seat), 400))
    tried = [
        attempt
        for action in rng.sample(listed, min(4, len(listed)))
        for attempt in near(action, things, rng)
    ]
    return tried + [of_kind(kind, things, rng) for kind in table.game.action_types]


def allowed(table: Table, may: LegalActions, action: Action) -> bool:
    ((_, kind_and_said),) = table.codec.action_json(action).items()
    return may.allows(word_of(kind_and_said))
