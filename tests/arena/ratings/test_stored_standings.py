"""Test the stored form of ladders: what is read equals what was stored, in every digit."""

import random

import pytest

from arena.ratings import meetings, stored_standings
from arena.ratings.closed_match import FINISHED, ClosedGame, ClosedMatch
from arena.ratings.decision_histogram import DecisionHistogram
from arena.ratings.match_digest import digest
from arena.ratings.standings import Standings, StandingsSums
from arena.ratings.stored_standings import StoredStandings
from arena.ratings.strength import fit
from arena.ratings.strength.settings import StrengthSettings

CLIP = 500
ANCHORED = StrengthSettings(
    anchors=(("bot0@1", 1100.0),), loose_anchors=(("bot1@1", 1300.0, 50.0),)
)


def add_round(sums: StandingsSums, number: int, seats: int = 2) -> None:
    dice = random.Random(number)
    names = [f"bot{bot}@1" for bot in range(8)]
    for place in range(6):
        entrants = tuple(sorted(dice.sample(names, seats)))
        scores = [tuple(dice.randrange(9) * 100 for _ in range(seats)) for _ in range(2)]
        games = tuple(
            ClosedGame(
                at,
                tuple(1 + sum(other > score for other in of_game) for score in of_game),
                of_game,
                (FINISHED,) * (seats - 1) + (dice.choice([FINISHED, "timeout"]),),
                (0,) * seats,
            )
            for at, of_game in enumerate(scores)
        )
        match = ClosedMatch(f"m-{number}-{place}", number, place, entrants, games)
        times = {name: DecisionHistogram.of([dice.uniform(1, 50)]) for name in entrants}
        sums.add(digest(match, CLIP), times)


def ladder(rounds: int, seats: int = 2) -> StandingsSums:
    sums = StandingsSums(CLIP)
    for number in range(rounds):
        add_round(sums, number, seats)
    return sums


def read_again(sums: StandingsSums, table: Standings) -> StoredStandings:
    read = stored_standings.read(bytes(stored_standings.stored({"at": 3}, sums, table)))
    assert read is not None
    assert read.position == {"at": 3}
    return read


@pytest.mark.parametrize("kind", ["few", "many"])
@pytest.mark.parametrize("seats", [2, 3])
def test_a_stored_ladder_is_read_as_it_was(
    kind: str, seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "many":
        monkeypatch.setattr(fit, "MAX_DENSE_ENTRANTS", 2)
        monkeypatch.setattr(meetings, "LINE_UPS", 3)
    sums = ladder(20, seats)
    table = sums.table(("late@1",), ANCHORED)
    read = read_again(sums, table)
    assert read.table == table
    assert read.table.thinking == table.thinking
    assert type(read.table.meetings.sums) is type(table.meetings.sums)
    restored = read.sums()
    assert restored.state() == sums.state()
    for each in (sums, restored):
        add_round(each, 20, seats)
        add_round(each, 19, seats)
    assert restored.table() == sums.table()


def test_a_damaged_ladder_is_not_read() -> None:
    sums = ladder(2)
    data = stored_standings.stored({}, sums, sums.table())
    assert stored_standings.read(data) is not None
    for place in (0, 5, 40, len(data) // 2, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1
        assert stored_standings.read(damaged) is None
    assert stored_standings.read(data[:10]) is None
    assert stored_standings.read(data[:-1]) is None
