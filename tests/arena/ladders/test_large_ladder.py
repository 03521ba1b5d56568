"""Test ladders with more bots than the fit by matrices serves, with SciPy and without it."""

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from arena.errors import Unreachable
from arena.ladders import ladder_key, ladder_rows, ladder_values, rater
from arena.ladders.ladder_crosstable import crosstable_of_ladder
from arena.ladders.ladder_key import LadderKey
from arena.ratings.standings import Standings, of_matches
from arena.ratings.strength import fit
from arena.ratings.strength.kept_strengths import SCIPY_MISSING, KnownStrengths, TooManyEntrants
from arena.store import database, schema
from arena.store.matches import results
from arena.store.tournaments import lifecycle, tournaments
from arena.web.data.tournament_standings import standings_of
from tests.arena.records.bundle.simulated_arena import SimulatedArena

BOTS = 5


@pytest.fixture
def arena(tmp_path: Path) -> SimulatedArena:
    """Return an arena in which 10 of the 20 matches of a ladder have been played and rated."""
    arena = SimulatedArena(tmp_path, random.Random(0))
    arena.begin("round-robin", arena.bots(BOTS), settings={"cycles": 2})
    play(arena, 10)
    rater.advance(arena.engine)
    return arena


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Change the number of entrants up to which ladders are fitted without SciPy."""

    def change(entrants: int) -> None:
        monkeypatch.setattr(fit, "MAX_DENSE_ENTRANTS", entrants)

    return change


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)


def key_of(arena: SimulatedArena) -> LadderKey:
    """Return the key of the tournament, which lists bots even before their first match."""
    [tournament] = tournaments.list_tournaments(arena.engine)
    return ladder_key.of_tournament(tournament)


def ladder(arena: SimulatedArena) -> Standings:
    """Rate what has changed, and return the ladder."""
    rater.advance(arena.engine, key_of(arena))
    return ladder_rows.read_ladder(arena.engine, key_of(arena)).table


def strengths(table: Standings) -> dict[str, tuple[float, float]]:
    return {line.entrant: (line.strength.value, line.strength.error) for line in table.lines}


def retire(engine: Engine, version: str) -> None:
    versions = schema.versions
    with database.writing(engine) as connection:
        connection.execute(update(versions).where(versions.c.id == version).values(retired=1.0))


def play(arena: SimulatedArena, matches: int = 6) -> None:
    assert arena.wave(matches) == matches


def test_a_large_ladder_is_fitted_with_scipy(
    arena: SimulatedArena, limit: Callable[[int], None]
) -> None:
    play(arena)
    usual = ladder(arena)
    limit(BOTS - 1)
    rater.rebuild(arena.engine, key_of(arena))
    large = ladder(arena)
    assert large.unfitted is None
    assert SCIPY_MISSING not in ladder_values.details_json(arena.engine, key_of(arena), large)
    for line in large.lines:
        theirs = next(each for each in usual.lines if each.entrant == line.entrant)
        assert line.strength.value == pytest.approx(theirs.strength.value, abs=0.01)
        assert line.strength.error == pytest.approx(theirs.strength.error, rel=0.25)


@pytest.mark.usefixtures("without_scipy")
def test_without_scipy_a_large_ladder_keeps_counts_and_elo_and_shows_the_last_strengths(
    arena: SimulatedArena, limit: Callable[[int], None]
) -> None:
    before = ladder(arena)
    limit(BOTS - 1)
    play(arena)
    after = ladder(arena)
    assert after.matches > before.matches
    assert strengths(after) == strengths(before)
    assert after.unfitted == SCIPY_MISSING
    assert "large-ladders" in next(ladder_values.remarks(after))
    assert ladder_rows.unfitted_ladders(arena.engine) == [key_of(arena).id]
    played = tuple(results.closed(arena.engine, key_of(arena).tournaments))
    limit(BOTS)
    expected = {line.entrant: line for line in of_matches(played, after.clip).table.lines}
    for line in after.lines:
        theirs = expected[line.entrant]
        assert (line.matches, line.wins, line.points) == (
            theirs.matches,
            theirs.wins,
            theirs.points,
        )
        assert line.elo == pytest.approx(theirs.elo, abs=1e-9)
        assert line.strength.opponents == theirs.strength.opponents


@pytest.mark.usefixtures("without_scipy")
def test_a_rebuilt_ladder_keeps_the_last_strengths(
    arena: SimulatedArena, limit: Callable[[int], None]
) -> None:
    limit(BOTS - 1)
    play(arena)
    before = ladder(arena)
    rater.rebuild(arena.engine, key_of(arena))
    assert ladder(arena) == before


@pytest.mark.usefixtures("without_scipy")
def test_few_active_bots_are_fitted_to_the_matches_among_them(
    arena: SimulatedArena, limit: Callable[[int], None]
) -> None:
    before = strengths(ladder(arena))
    play(arena)
    retire(arena.engine, "bot0@1")
    lifecycle.withdraw(arena.engine, key_of(arena).tournaments[0], "bot1@1")
    limit(BOTS - 2)
    after = ladder(arena)
    assert after.unfitted == SCIPY_MISSING
    active = strengths(after).keys() - {"bot0@1", "bot1@1"}
    played = tuple(results.closed(arena.engine, key_of(arena).tournaments))
    among = [each for each in played if active >= {*each.entrants}]
    assert strengths(after) == before | strengths(of_matches(among, after.clip).table)


def test_a_large_ladder_is_fitted_as_soon_as_scipy_is_installed(
    arena: SimulatedArena, limit: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(BOTS - 1)
    play(arena)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "scipy", None)
        assert ladder(arena).unfitted == SCIPY_MISSING
        rater.advance(arena.engine)
    with database.writing(arena.engine) as connection:
        # A long fit would be followed by a pause.
        connection.execute(update(schema.ladder_fits).values(seconds=0))
    rater.advance(arena.engine)
    assert ladder_rows.unfitted_ladders(arena.engine) == []


@pytest.mark.usefixtures("without_scipy")
def test_a_ladder_that_was_never_fitted_has_the_strengths_of_the_prior(
    tmp_path: Path, limit: Callable[[int], None]
) -> None:
    arena = SimulatedArena(tmp_path, random.Random(0))
    tournament = arena.begin("round-robin", arena.bots(BOTS))
    limit(BOTS - 1)
    play(arena)
    table = ladder(arena)
    assert {*strengths(table).values()} == {(table.settings.centre, table.settings.prior)}
    assert all(line.strength.provisional for line in table.lines)
    assert len(standings_of(arena.engine, tournament).lines) == BOTS


@pytest.mark.usefixtures("without_scipy")
def test_differences_of_the_last_strengths_are_those_of_independent_errors(
    arena: SimulatedArena, limit: Callable[[int], None]
) -> None:
    limit(BOTS - 1)
    fitted = rater.fitted_ladder(arena.engine, key_of(arena))
    first, second = fitted.strengths.lines[:2]
    error = (first.error**2 + second.error**2) ** 0.5
    assert fitted.strengths.gaps.error(0, 1) == pytest.approx(error, abs=1e-6)
    assert fitted.strengths.gaps.error(1, 1) == 0
    crosstable = crosstable_of_ladder(arena.engine, key_of(arena), fitted)
    assert len(crosstable.to_json()["superiority"]) == BOTS


@pytest.mark.usefixtures("without_scipy")
def test_strengths_that_are_not_known_are_an_error(
    arena: SimulatedArena, limit: Callable[[int], None]
) -> None:
    limit(BOTS - 1)
    played = tuple(results.closed(arena.engine, key_of(arena).tournaments))
    with pytest.raises(TooManyEntrants) as caught:
        of_matches(played, 10)
    assert caught.value.code == SCIPY_MISSING
    assert of_matches(played, 10, known=KnownStrengths()).table.unfitted == SCIPY_MISSING


@pytest.mark.usefixtures("without_scipy")
def test_a_ladder_of_a_full_disk_shows_the_last_strengths(
    arena: SimulatedArena, limit: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = strengths(ladder(arena))
    limit(BOTS - 1)

    def fail(*arguments: object) -> None:
        raise Unreachable("the disk is full")

    monkeypatch.setattr(rater, "advance", fail)
    table = rater.current_ladder(arena.engine, key_of(arena)).table
    assert (table.unfitted, strengths(table)) == (SCIPY_MISSING, before)
