"""Test rating histories: one point per round, equal to a new fit of all matches up to it."""

from collections.abc import Sequence

import pytest
from sqlalchemy import Engine, update

from arena.cli.workspace import Workspace
from arena.ladders import ladder_key, rating_history
from arena.ladders.rating_history import HistoryPoint, RatingHistories
from arena.ratings.meetings import Meetings
from arena.ratings.strength.fit import strengths, values
from arena.ratings.strength.settings import StrengthSettings
from arena.store import database, schema
from arena.store.matches import results
from arena.store.tournaments import format_history
from arena.tournaments import scheduler
from tests.arena.cli.stored_tournament import store_tournament

BOTS = ("ann", "bob", "cid", "dan")


@pytest.fixture
def store() -> Engine:
    """Fill a store with two cycles of a round robin of four bots: six rounds of two matches."""
    workspace = Workspace(None)
    store_tournament(
        workspace, BOTS, {frozenset(("ann", "bob")): [("bob", "ann"), ("ann", "bob")]}, cycles=2
    )
    return workspace.store


@pytest.fixture(autouse=True)
def _separate_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("POKEARENA_DATA", f"{tmp_path}/data")


def points(store: Engine, historian: RatingHistories | None = None) -> Sequence[HistoryPoint]:
    (only,) = ladder_key.of_forms(store)
    past = (historian or RatingHistories(store)).past(only)
    assert past is not None
    return past.points


def spread(store: Engine, hours: float = 1.0) -> None:
    """Set the closing times of the matches `hours` apart; the last match has just closed."""
    table = schema.results
    closed = [match.id for match in results.closed(store)]
    with database.writing(store) as connection:
        for position, match in enumerate(closed):
            at = database.now() - 3600 * hours * (len(closed) - 1 - position)
            connection.execute(update(table).where(table.c.match == match).values(closed=at))


def test_every_round_has_one_point(store: Engine) -> None:
    spread(store)
    assert [(point.round, point.matches) for point in points(store)] == [
        (1, 2),
        (2, 4),
        (3, 6),
        (4, 8),
        (5, 10),
        (6, 12),
    ]


def test_a_point_is_the_fit_to_the_matches_until_its_round(store: Engine) -> None:
    spread(store)
    matches = list(results.closed(store))
    for point in points(store):
        fitted = strengths(Meetings.of(matches[: point.matches]))
        assert {name: (v.strength, v.error) for name, v in point.values.items()} == {
            line.entrant: (line.value, line.error) for line in fitted.lines
        }
        low, high = (round(end, 3) for end in (fitted.lines[0].low, fitted.lines[0].high))
        first = point.values[fitted.lines[0].entrant]
        assert (round(first.low, 3), round(first.high, 3)) == (low, high)


def test_an_entrant_without_matches_has_no_value(store: Engine) -> None:
    spread(store)
    workspace = Workspace(None)
    store_tournament(workspace, ("ann", "eve"), {})
    (only,) = ladder_key.of_forms(store)
    past = RatingHistories(store).past(only)
    assert past is not None
    assert [point.round for point, _ in past.of("eve@1")] == [7]
    assert [point.round for point, _ in past.of("ann@1")] == [1, 2, 3, 4, 5, 6, 7]


def test_finished_rounds_are_not_fitted_again(
    store: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    spread(store)
    historian = RatingHistories(store)
    before = points(store, historian)
    fits: list[int] = []

    def counting(meetings: Meetings, settings: StrengthSettings) -> dict[str, tuple[float, float]]:
        fits.append(meetings.matches)
        return values(meetings, settings)

    monkeypatch.setattr("arena.ladders.rating_history.values", counting)
    assert points(store, historian) == before
    assert fits == []
    store_tournament(Workspace(None), ("ann", "eve"), {})
    after = points(store, historian)
    assert fits == [13]
    assert [p.values for p in after[:6]] == [p.values for p in before]
    assert after == points(store)


def test_fits_with_a_time_limit_give_the_same_history(store: Engine) -> None:
    spread(store)
    (only,) = ladder_key.of_forms(store)
    historian, calls = RatingHistories(store), 1
    while (past := historian.past(only, seconds=0)) is None:
        calls += 1
    assert calls >= 6
    assert past == RatingHistories(store).past(only)


def test_an_unfinished_round_has_no_point(store: Engine) -> None:
    spread(store)
    matches = schema.matches
    with database.writing(store) as connection:
        last = matches.c.round == 5
        connection.execute(
            update(matches).where(last, matches.c.number == 0).values(state="RUNNING")
        )
    assert [point.round for point in points(store)] == [1, 2, 3, 4, 5]


def test_a_long_history_is_sampled_and_keeps_the_newest_points(store: Engine) -> None:
    spread(store)
    assert [p.round for p in points(store, RatingHistories(store, points=3))] == [2, 4, 6]
    assert [p.round for p in points(store, RatingHistories(store, points=2))] == [4, 6]


@pytest.mark.parametrize("rounds", [1, 39, 40, 41, 1000, 12345])
def test_a_history_has_at_most_forty_points_and_the_newest(rounds: int) -> None:
    points = rating_history.chosen([float(at) for at in range(rounds)], 40)
    numbers = [number for number, _ in points]
    assert numbers[-1] == rounds
    assert min(rounds, 20) <= len(numbers) <= 41
    assert len(set(numbers)) == len(numbers)
    assert all(at == number - 1 for number, at in points)


def test_a_new_round_keeps_most_of_the_selected_points(store: Engine) -> None:
    for rounds_over in range(1, 500):
        now = {n for n, _ in rating_history.chosen([0.0] * rounds_over, 40)}
        then = {n for n, _ in rating_history.chosen([0.0] * (rounds_over + 1), 40)}
        assert then - {rounds_over + 1} <= now


def test_the_previous_order_is_that_of_a_day_ago(store: Engine) -> None:
    spread(store, hours=12)
    (only,) = ladder_key.of_forms(store)
    past = RatingHistories(store).past(only)
    assert past is not None
    matches = list(results.closed(store))
    cut = database.current_time(store) // 3600 * 3600 - 86400
    until = format_history.closed(store, only.tournaments, cut)
    assert 8 <= until <= 10
    fitted = strengths(Meetings.of(matches[:until]))
    assert past.yesterday == {line.entrant: n for n, line in enumerate(fitted.lines, 1)}


def test_a_ladder_younger_than_a_day_has_no_previous_order(store: Engine) -> None:
    (only,) = ladder_key.of_forms(store)
    past = RatingHistories(store).past(only)
    assert past is not None
    assert past.yesterday == {}


def test_without_matches_there_is_no_history() -> None:
    workspace = Workspace(None)
    assert ladder_key.of_forms(workspace.store) == []
    from arena.store.bots import versions
    from arena.store.match_settings import TournamentPlan
    from referee.games.registry import find

    for name in ("ann", "bob"):
        versions.add(workspace.store, name, "1", name, f"/bots/{name}", {"run": ["x"]})
    plan = TournamentPlan(
        name="cup", game="poke", options=find("poke").settle({}), seats=2, boards=1
    )
    scheduler.begin(workspace.store, plan, ["ann@1", "bob@1"])
    assert points(workspace.store) == ()
