"""The referee accepts unlisted runs of Pokino exactly if the rules page allows them.

The test walks random paths without regard to tokens, beads and crossed borders, and prefers
matching cards. About half of the paths are legal.
"""

import random

import pytest

from referee.game_checks.tables import Table
from referee.replay import steps
from tests.conformance.tables import TABLES
from tests.examples import examples
from tests.recount.pokino import Turn, beside
from tests.recount.record_replay import follow
from tests.recount.recount_contract import GameResult, Word
from tests.recount.test_recount import played

POKINO = [
    table
    for table in TABLES
    if table.game.id == "pokino" and table.seats in (2, 6) and len(set(table.options.values())) == 1
]
"""All variants off and all on, at the smallest and the largest table."""


def walked(turn: Turn, rng: random.Random) -> Word | None:
    """Return a random path with cards; None if the path leaves the dominoes."""
    path = [rng.choice(list(turn.table.of))]
    while rng.random() < 0.75 or len(path) < 2:
        on = [square for square in beside(path[-1]) if square in turn.table.of]
        path.append(rng.choice(on or beside(path[-1])))
        if not on:
            return None
    hand = list(turn.table.hands[turn.seat])
    cards: list[str] = []
    for square in path:
        fresh = [card for card in turn.matching(square) if card not in cards]
        if not (fresh or turn.matching(square) or hand):
            return None
        cards.append(rng.choice(fresh or turn.matching(square) or hand))
    squares = [{"x": x, "y": y} for x, y in path]
    return "run", {"path": squares, "cards": cards, "draw": rng.random() < 0.8}


@pytest.mark.parametrize(
    "table",
    [pytest.param(table, marks=[pytest.mark.long] * (table.seats > 2)) for table in POKINO],
    ids=str,
)
def test_unlisted_runs_follow_the_rules_page(table: Table) -> None:
    rng = random.Random(str(table))
    seed, record, _ = played(table, 0)
    (game,) = record.games
    verdicts = []
    both = zip(follow(record.match, game, seed), steps(record.match, game, seed), strict=True)
    for questions, step in both:
        for turn in () if isinstance(questions, GameResult) else questions.values():
            assert isinstance(turn, Turn)
            legal = step.state.legal(turn.seat)
            for word in filter(None, (walked(turn, rng) for _ in range(examples(30, 10)))):
                action = table.codec.decode_json({"pokino": dict([word])})
                verdicts.append(turn.allows(word))
                assert (action in legal) == verdicts[-1], word
    assert verdicts.count(True) > 10
    assert verdicts.count(False) > 10
