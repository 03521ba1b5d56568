"""Lists of names have the same order in every database, whatever its collation."""

from sqlalchemy import Engine

from arena.store.access import organisers
from arena.store.bots import owners, versions

# Collations of PostgreSQL ignore punctuation and case at first.
NAMES = ["a-b", "a_c", "aa", "ab", "b-1", "b2"]


def test_names_are_listed_by_code_point(store: Engine) -> None:
    for number, name in enumerate(reversed(NAMES)):
        versions.add_version(store, name, "1", f"{number:064x}", f"/bots/{name}", {"run": ["x"]})
    for name in reversed([*NAMES, "B", "Z"]):
        owners.add_owner(store, name)
        organisers.add_organiser(store, name)
    assert [version.name for version in versions.list_versions(store)] == NAMES
    assert [owner.name for owner in owners.list_owners(store)] == ["B", "Z", *NAMES]
    assert [each.name for each in organisers.list_organisers(store)] == ["B", "Z", *NAMES]
