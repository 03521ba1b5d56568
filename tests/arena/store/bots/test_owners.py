"""Owners are identified by tokens; the store contains only their hashes."""

import pytest
from sqlalchemy import Engine, select

from arena.errors import BadName, Conflict, NotFound
from arena.store import database, schema
from arena.store.bots import owners
from tests.errors import has_code


def test_an_owner_is_identified_only_by_the_right_token(store: Engine) -> None:
    ada, bob = owners.add_owner(store, "ada"), owners.add_owner(store, "bob")
    assert owners.is_of(store, ada, "ada")
    assert not owners.is_of(store, bob, "ada")
    assert not owners.is_of(store, ada, "bob")
    assert not owners.is_of(store, ada + "x", "ada")
    assert not owners.is_of(store, "", "ada")
    for name, token in (("", ""), ("nobody", ""), ("nobody", "\udcff")):
        assert not owners.is_of(store, token, name)


def test_a_token_has_256_bits_and_is_not_stored(store: Engine) -> None:
    tokens = {owners.add_owner(store, f"owner{number}") for number in range(20)}
    assert len(tokens) == 20
    assert {len(token) for token in tokens} == {43}
    with database.reading(store) as connection:
        stored = connection.execute(select(schema.owners)).all()
    assert not any(token in str(row) for token in tokens for row in stored)


@pytest.mark.parametrize("name", ["deleted-", "deleted-1", "deleted-0a1b2c"])
def test_nobody_gets_the_name_of_a_deleted_owner(store: Engine, name: str) -> None:
    with pytest.raises(BadName):
        owners.add_owner(store, name)


def test_a_new_token_invalidates_the_previous_one_and_removal_every_one(store: Engine) -> None:
    before = owners.add_owner(store, "ada")
    after = owners.renew(store, "ada")
    assert not owners.is_of(store, before, "ada")
    assert owners.is_of(store, after, "ada")
    assert [owner.name for owner in owners.list_owners(store)] == ["ada"]
    owners.revoke(store, "ada")
    assert not owners.is_of(store, after, "ada")
    assert owners.list_owners(store) == ()


def test_invalid_operations_are_refused(store: Engine) -> None:
    owners.add_owner(store, "ada")
    with pytest.raises(Conflict, check=has_code("has-token")):
        owners.add_owner(store, "ada")
    with pytest.raises(NotFound, check=has_code("no-token")):
        owners.renew(store, "bob")
    with pytest.raises(NotFound, check=has_code("no-token")):
        owners.revoke(store, "bob")
