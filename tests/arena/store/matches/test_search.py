"""Searches of closed matches: the result of each filter, paging, and the index that is used."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from arena.store.access.audit_log import COMMAND_LINE
from arena.store.bots import versions
from arena.store.matches import corrections, listing, match_leases, search
from arena.store.matches.closed_matches import PlayedMatch
from arena.store.matches.search import MatchFilter, SearchPosition
from arena.store.tournaments.tournaments import Tournament
from arena.tournaments import scheduler
from tests.arena.poke_plan import poke_plan
from tests.arena.store.played_matches import commit, leased, play
from tests.arena.store.query_plans import query_plans

BOTS = ("ann", "bob", "cy")


def play_due(store: Engine) -> None:
    for match in match_leases.due(store):
        play(store, match)
    scheduler.Scheduler(store).advance()


@pytest.fixture
def tournaments(store: Engine) -> tuple[Tournament, Tournament]:
    """Store two round robins of two forms with ann and bob; two versions of cy play the first."""
    for number, name in enumerate(BOTS):
        manifest = {"run": ["x"]}
        versions.add_version(
            store, name, "1", f"{number:064x}", f"/{name}", manifest, owner=f"of {name}"
        )
    versions.add_version(store, "cy", "2", f"{9:064x}", "/cy2", {"run": ["x"]})
    made = []
    for must_beat, names in (
        (True, ["ann@1", "bob@1", "cy@1", "cy@2"]),
        (False, ["ann@1", "bob@1"]),
    ):
        plan = poke_plan(options={"must_beat": must_beat})
        made.append(scheduler.begin(store, plan, names))
        play_due(store)
    return made[0], made[1]


def found(store: Engine, match_filter: MatchFilter, limit: int = 50) -> list[str]:
    """Return the ids of the matches of a filter, read page by page."""
    ids: list[str] = []
    after: SearchPosition | None = None
    while True:
        page = search.closed_matches(store, match_filter, after, limit)
        ids += [match.match for match in page.matches]
        assert len(page.matches) <= limit
        if page.last is None:
            return ids
        after = page.last


def test_each_filter_selects_its_matches_newest_first(
    store: Engine, tournaments: tuple[Tournament, Tournament]
) -> None:
    every = search.closed_matches(store, MatchFilter()).matches
    assert len(every) == 7
    assert [m.closed for m in every] == sorted((m.closed for m in every), reverse=True)

    def ids(chosen: Callable[[PlayedMatch], bool]) -> list[str]:
        return [match.match for match in every if chosen(match)]

    def both(first_bot: str, second_bot: str) -> list[str]:
        return ids(lambda match: first_bot in match.entrants and second_bot in match.entrants)

    first, second = tournaments
    in_second = ids(lambda match: match.tournament == second.id)
    expected = {
        MatchFilter(bot="ann"): ids(lambda match: "ann@1" in match.entrants),
        MatchFilter(bot="cy"): ids(lambda match: not {"cy@1", "cy@2"}.isdisjoint(match.entrants)),
        MatchFilter(bot="cy@2"): ids(lambda match: "cy@2" in match.entrants),
        MatchFilter(bot="ann", opponent="bob"): both("ann@1", "bob@1"),
        MatchFilter(bot="cy", opponent="cy"): both("cy@1", "cy@2"),
        MatchFilter(bot="bob", owner="of ann"): both("ann@1", "bob@1"),
        MatchFilter(tournament=second.id): in_second,
        MatchFilter(bot="bob", tournament=second.id): in_second,
        MatchFilter(form=first.plan.form): ids(lambda match: match.form == first.plan.form),
        MatchFilter(game="poke"): ids(lambda match: True),
        MatchFilter(until=every[2].closed): [match.match for match in every[3:]],
        MatchFilter(since=every[2].closed): [match.match for match in every[:3]],
        MatchFilter(bot="dora"): [],
        MatchFilter(bot="ann", form=first.plan.form, opponent="dora"): [],
        MatchFilter(owner="dora"): [],
        MatchFilter(tournament="t-none"): [],
        MatchFilter(game="pouku"): [],
    }
    assert {each: found(store, each) for each in expected} == expected


def test_pages_continue_behind_the_last_match(
    store: Engine, tournaments: tuple[Tournament, Tournament]
) -> None:
    first, _ = tournaments
    for each in (
        MatchFilter(),
        MatchFilter(bot="cy"),
        MatchFilter(game="poke"),
        MatchFilter(bot="ann", tournament=first.id),
    ):
        assert found(store, each, 1) == found(store, each, 2) == found(store, each)


def test_a_tag_finds_the_matches_that_have_closed(
    store: Engine, tournaments: tuple[Tournament, Tournament]
) -> None:
    plan = poke_plan(boards=2)
    tournament = scheduler.begin(store, plan, ["ann@1", "bob@1"])
    (match,) = match_leases.due(store)
    lease = leased(store, match)
    commit(store, lease, 0, tags=[["book"], []])
    tagged = MatchFilter(tag="book")
    assert found(store, tagged) == []
    for number in range(1, lease.spec.games):
        commit(store, lease, number, tags=[[], ["book", "end game"]])
    for each in (
        tagged,
        MatchFilter(tag="end game"),
        MatchFilter(tag="book", bot="ann", opponent="bob"),
        MatchFilter(tag="book", owner="of bob", game="poke"),
        MatchFilter(tag="book", tournament=tournament.id),
        MatchFilter(tag="book", form=plan.form),
    ):
        assert found(store, each) == [match]
    for each in (
        MatchFilter(tag="boo"),
        MatchFilter(tag="book", bot="cy"),
        MatchFilter(tag="book", tournament=tournaments[0].id),
    ):
        assert found(store, each) == []
    listed = listing.matches(store, tournament=tournament.id, tag="book")
    assert [each.id for each in listed] == [match]
    corrections.void(store, match, COMMAND_LINE, "a wrong table")
    assert found(store, tagged) == []


LARGE = ("matches", "match_entrants", "match_tags", "results", "games")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_no_filter_scans_a_match_table(
    store: Engine, tournaments: tuple[Tournament, Tournament]
) -> None:
    tournament = tournaments[0].id

    def search_all() -> None:
        for each in (
            MatchFilter(),
            MatchFilter(bot="ann"),
            MatchFilter(bot="ann@1", opponent="bob"),
            MatchFilter(owner="of ann"),
            MatchFilter(owner="of ann", game="poke"),
            MatchFilter(tournament=tournament),
            MatchFilter(form="poke"),
            MatchFilter(bot="cy", opponent="bob", owner="of ann", game="poke"),
            MatchFilter(bot="ann", tournament=tournament, since=1.0, until=2e9),
            MatchFilter(tag="book"),
            MatchFilter(tag="book", bot="ann", game="poke"),
        ):
            for after in (None, SearchPosition(2e9, "m-zzz")):
                search.closed_matches(store, each, after)

    plans = query_plans(store, search_all, "SELECT")
    assert len(plans) > 30
    for query, steps in plans:
        scans = [f"SCAN {table}" for table in LARGE]
        assert not [step for step in steps if step.startswith(tuple(scans))], (query, steps)
        if "LIMIT" in query:
            # The range is read in the order of the index; only equal times are sorted.
            assert "USE TEMP B-TREE FOR ORDER BY" not in steps, (query, steps)
