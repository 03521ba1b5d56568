"""Bots and their versions."""

import subprocess
from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from arena.errors import Conflict, NotFound
from arena.store.bots import versions
from arena.store.bots.versions import Version
from tests.errors import has_code

Start = Callable[..., "subprocess.Popen[str]"]


def add(store: Engine, name: str, number: str, content: str = "c0ffee") -> Version:
    return versions.add_version(
        store, name, number, content, f"/versions/{content}", {"run": ["./bot"]}
    )


def test_a_version_is_found_by_name_and_number(store: Engine) -> None:
    added = add(store, "greedy", "1.2")
    assert added.id == "greedy@1.2"
    assert (added.name, added.number, added.retired) == ("greedy", "1.2", None)
    assert (added.content_hash, added.folder) == ("c0ffee", "/versions/c0ffee")
    assert added.manifest == {"run": ["./bot"]}
    assert versions.find_version(store, "greedy@1.2") == added


def test_an_unknown_version_is_reported(store: Engine) -> None:
    for find in (versions.find_version, versions.retire):
        with pytest.raises(NotFound, check=has_code("unknown-version")):
            find(store, "greedy@7")


def test_registering_the_same_content_returns_the_existing_version(store: Engine) -> None:
    assert add(store, "greedy", "1") == add(store, "greedy", "1")
    assert len(versions.list_versions(store)) == 1


def test_a_version_never_changes_its_content(store: Engine) -> None:
    first = add(store, "greedy", "1", "aa")
    with pytest.raises(Conflict, check=has_code("content-changed")):
        add(store, "greedy", "1", "bb")
    assert versions.find_version(store, "greedy@1") == first


def test_versions_are_listed_by_name_and_then_by_age(store: Engine) -> None:
    for name, number in (("b", "10"), ("a", "1"), ("b", "9")):
        add(store, name, number)
    assert [version.id for version in versions.list_versions(store)] == ["a@1", "b@10", "b@9"]
    assert [version.id for version in versions.list_versions(store, name="b")] == ["b@10", "b@9"]


def test_a_retired_version_is_listed_only_on_request(store: Engine) -> None:
    add(store, "a", "1")
    add(store, "a", "2")
    retired = versions.retire(store, "a@1")
    assert retired.retired is not None
    assert versions.retire(store, "a@1") == retired
    assert [version.id for version in versions.list_versions(store)] == ["a@2"]
    assert [version.id for version in versions.list_versions(store, retired=True)] == ["a@1", "a@2"]


@pytest.mark.long
def test_several_processes_can_register_one_version_at_once(store: Engine, contend: Start) -> None:
    processes = [contend("register") for _ in range(3)]
    ends = [(process.communicate()[1], process.returncode) for process in processes]
    assert ends == [("", 0)] * 3
    assert [version.id for version in versions.list_versions(store)] == ["same@1"]
