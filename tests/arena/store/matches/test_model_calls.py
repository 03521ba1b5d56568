"""Calls of models: reservations, sums, and the models of the versions of a match."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Engine, update

from arena.errors import Conflict
from arena.ratings.call_figures import CallFigures
from arena.store import schema
from arena.store.bots import model_grants, owner_data, owners, versions
from arena.store.bots.model_grants import GrantedModels, Grantee
from arena.store.database import writing
from arena.store.matches import listing, model_calls
from arena.store.matches.model_calls import DAY_USED_UP, STOPPED, Caller, CallPlace, ModelUsage
from arena.store.tournaments.tournaments import Tournament
from tests.errors import has_code

ADA = Caller("ada", "mine@1", "m-1", 1, 0)
WORST = CallFigures(60, 40, 0.5)
DAY = 250


def reserve(store: Engine, caller: Caller = ADA) -> str:
    return model_calls.reserve_call(store, caller, CallPlace(0), "small", WORST, DAY)


def test_reservations_stay_within_the_day_of_an_owner(store: Engine) -> None:
    first = reserve(store)
    reserve(store, replace(ADA, version="other@1", match="m-2"))
    with pytest.raises(Conflict, check=has_code(DAY_USED_UP)):
        reserve(store)
    reserve(store, replace(ADA, owner="bea"))
    model_calls.settle_call(store, first, CallFigures(5, 1, 0.25))
    reserve(store)
    assert model_calls.match_usage(store, "m-1") == {"mine@1": CallFigures(125, 81, 1.25)}
    assert model_calls.recent_usage(store) == (
        ModelUsage("ada", "mine@1", "small", 2, 1, CallFigures(65, 41, 0.75)),
        ModelUsage("ada", "other@1", "small", 1, 0, WORST),
        ModelUsage("bea", "mine@1", "small", 1, 0, WORST),
    )


def test_the_usage_of_a_decision_is_that_of_the_attempt_that_finished_its_game(
    store: Engine,
) -> None:
    def call(attempt: int, place: CallPlace, version: str = "mine@1") -> str:
        caller = replace(ADA, attempt=attempt, version=version)
        return model_calls.reserve_call(store, caller, place, "small", CallFigures(60, 40), 10_000)

    answered, place = CallFigures(5, 1, 0.25), CallPlace(1, 2, 7)
    call(1, place)
    for _ in range(2):
        model_calls.settle_call(store, call(2, place), answered)
    call(2, CallPlace(0, 2, 8), "other@1")
    for elsewhere in (CallPlace(1), CallPlace(1, 3, 7)):
        call(3, elsewhere)
    usage = model_calls.decision_usage(store, "m-1", 2, None)
    mine = ModelUsage("ada", "mine@1", "small", 2, 2, CallFigures(10, 2, 0.5))
    assert usage == {
        CallPlace(0, 2, 8): ModelUsage("ada", "other@1", "small", 1, 0, CallFigures(60, 40)),
        place: mine,
    }
    assert model_calls.decision_usage(store, "m-1", 2, ["mine@1"]) == {place: mine}
    assert model_calls.decision_usage(store, "m-1", 2, []) == {}


def test_calls_of_another_day_do_not_count(store: Engine) -> None:
    for _ in range(2):
        reserve(store)
    with writing(store) as connection:
        calls = schema.model_calls
        connection.execute(update(calls).values(at=calls.c.at - 86_400))
    assert model_calls.recent_usage(store) == ()
    reserve(store)


@pytest.mark.parametrize("by_match", [False, True])
def test_concurrent_reservations_do_not_exceed_the_day(store: Engine, by_match: bool) -> None:
    def attempt(number: int) -> bool:
        try:
            if by_match:
                owners = {"mine@1": "ada"}
                model_calls.reserve_match(store, f"m-{number}", 1, owners, 100, DAY)
            else:
                reserve(store)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(attempt, range(6))) == 2


def test_a_reserved_match_is_not_paused_by_the_calls_of_others(store: Engine) -> None:
    owners = {"mine@1": "ada"}
    model_calls.reserve_match(store, "m-1", 1, owners, 150, DAY)
    other = replace(ADA, match="m-2")
    reserve(store, other)
    with pytest.raises(Conflict, check=has_code(DAY_USED_UP)):
        reserve(store, other)
    with pytest.raises(Conflict, check=has_code(DAY_USED_UP)):
        model_calls.reserve_match(store, "m-3", 1, owners, 1, DAY)
    call = reserve(store)
    # The second call needs more than what is left of the reservation and of the day.
    with pytest.raises(Conflict, check=has_code(DAY_USED_UP)):
        reserve(store)
    model_calls.settle_call(store, call, CallFigures(30, 20))
    reserve(store)
    assert sum(used.figures.tokens for used in model_calls.recent_usage(store)) == 250


def test_an_attempt_returns_what_it_has_not_used(store: Engine) -> None:
    owners = {"mine@1": "ada", "other@1": "ada"}
    model_calls.reserve_match(store, "m-1", 1, owners, 1000, DAY)
    # The reservation of a killed attempt is replaced by that of the next one.
    model_calls.check_calls(store, "ada", DAY, DAY, "m-1")
    model_calls.reserve_match(store, "m-1", 2, owners, 1000, DAY)
    model_calls.release_match(store, "m-1", 1)
    with pytest.raises(Conflict, check=has_code(DAY_USED_UP)):
        model_calls.check_calls(store, "ada", 1, DAY)
    reserve(store, replace(ADA, attempt=2))
    model_calls.release_match(store, "m-1", 2)
    model_calls.check_calls(store, "ada", DAY - WORST.tokens, DAY)
    with pytest.raises(Conflict, check=has_code(DAY_USED_UP)):
        model_calls.check_calls(store, "ada", DAY - WORST.tokens + 1, DAY)


def test_stopped_calls_are_refused(store: Engine) -> None:
    model_calls.stop_calls(store)
    with pytest.raises(Conflict, check=has_code(STOPPED)):
        reserve(store)
    with pytest.raises(Conflict, check=has_code(STOPPED)):
        model_calls.check_calls(store, "ada", 1, DAY)
    model_calls.resume_calls(store)
    reserve(store)


def test_a_version_has_the_models_that_it_declares_and_is_granted(
    store: Engine, schedule: Callable[..., Tournament]
) -> None:
    schedule(bots=2)
    [match] = {match.id for match in listing.matches(store)}
    owners.add_owner(store, "ada")
    versions.set_owner(store, versions.find_version(store, "bot1@1"), "ada")
    with writing(store) as connection:
        stored = schema.versions
        connection.execute(update(stored).values(manifest={"models": ["large", "small"]}))
    assert model_grants.granted_models(store, match) == {}
    model_grants.grant_model(store, Grantee.OWNER, "ada", "small")
    model_grants.grant_model(store, Grantee.OWNER, "ada", "other")
    model_grants.grant_model(store, Grantee.VERSION, "bot0@1", "large")
    assert model_grants.granted_models(store, match) == {
        "bot1@1": GrantedModels("bot1@1", "ada", ("small",)),
        "bot0@1": GrantedModels("bot0@1", "bot0", ("large",)),
    }
    model_grants.grant_model(store, Grantee.VERSION, "bot1@1", "large")
    assert model_grants.granted_models(store, match)["bot1@1"].models == ("large", "small")


def test_a_deleted_owner_leaves_no_grants_and_a_pseudonym(
    store: Engine, schedule: Callable[..., Tournament]
) -> None:
    schedule(bots=2)
    owners.add_owner(store, "ada")
    versions.set_owner(store, versions.find_version(store, "bot1@1"), "ada")
    model_grants.grant_model(store, Grantee.OWNER, "ada", "small")
    model_grants.grant_model(store, Grantee.VERSION, "bot1@1", "small")
    model_grants.grant_model(store, Grantee.VERSION, "bot0@1", "small")
    reserve(store)
    pseudonym = owner_data.forget(store, owner_data.survey(store, "ada"))
    assert [grant.name for grant in model_grants.list_grants(store)] == ["bot0@1"]
    assert [used.owner for used in model_calls.recent_usage(store)] == [pseudonym]
