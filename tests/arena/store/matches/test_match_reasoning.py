"""The reasoning of bots beside the records: who reads it, its deletion, its hash."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from arena.cli.workspace import Workspace
from arena.errors import NotFound
from arena.records.bundle import store_audit
from arena.store import schema
from arena.store.bots import owner_data, versions
from arena.store.bots.owner_data import ReasoningState
from arena.store.database import writing
from arena.store.matches import listing, match_reasoning, results
from referee import reasoning, replay
from referee.record import read
from tests.arena.web.closed_matches import StoredMatch, play, table

POKE = "poke-2-must_beat=true"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    workspace = Workspace(tmp_path / "data")
    yield workspace
    workspace.store.dispose()


def played(workspace: Workspace, *, close: bool = True) -> StoredMatch:
    match = play(workspace, table(POKE), reasoning="plan of", close=close)
    for owner, label in (("ada", "luck0@1"), ("bob", "luck1@1")):
        versions.set_owner(workspace.store, versions.find_version(workspace.store, label), owner)
    return match


def texts(workspace: Workspace, match: StoredMatch, *labels: str) -> set[str]:
    lines = match_reasoning.reasoning_lines(workspace.store, match.match, versions=labels)
    return {reasoning.read_line(line)["decisions"][0]["text"] for line in lines}


def problems(workspace: Workspace, match: StoredMatch) -> list[str]:
    record = read(results.record(workspace.store, match.match))
    lines = match_reasoning.reasoning_lines(workspace.store, match.match)
    return [*replay.verify(record), *reasoning.problems(record, lines)]


def test_each_version_has_its_own_lines(workspace: Workspace) -> None:
    match = played(workspace)
    assert texts(workspace, match, "luck0@1") == {"plan of luck0@1"}
    assert texts(workspace, match, "luck1@1") == {"plan of luck1@1"}
    assert texts(workspace, match) == set()
    assert len(match_reasoning.reasoning_lines(workspace.store, match.match)) == 4
    assert len(match_reasoning.reasoning_lines(workspace.store, match.match, game=1)) == 2
    assert "plan of" not in results.record(workspace.store, match.match)


def test_an_open_match_shows_no_reasoning_to_anyone(workspace: Workspace) -> None:
    match = played(workspace, close=False)
    assert match_reasoning.reasoning_lines(workspace.store, match.match) == ()


def test_an_owner_reads_the_own_versions_and_everybody_what_is_published(
    workspace: Workspace,
) -> None:
    match = played(workspace)
    store, name = workspace.store, match.match
    assert match_reasoning.readable_versions(store, name) == ()
    assert match_reasoning.readable_versions(store, name, "ada") == ("luck0@1",)
    assert match_reasoning.readable_versions(store, name, "eve") == ()
    assert owner_data.set_reasoning(store, "bob", ReasoningState.PUBLISHED) == 2
    assert match_reasoning.readable_versions(store, name) == ("luck1@1",)
    assert match_reasoning.readable_versions(store, name, "ada") == ("luck0@1", "luck1@1")
    assert owner_data.set_reasoning(store, "bob", ReasoningState.PRIVATE, "luck1") == 2
    assert match_reasoning.readable_versions(store, name) == ()


@pytest.mark.parametrize(("owner", "bot"), [("eve", ""), ("", ""), ("ada", "luck1")])
@pytest.mark.parametrize("state", ReasoningState)
def test_nobody_changes_the_reasoning_of_a_foreign_bot(
    workspace: Workspace, owner: str, bot: str, state: ReasoningState
) -> None:
    match = played(workspace)
    with pytest.raises(NotFound) as error:
        owner_data.set_reasoning(workspace.store, owner, state, bot)
    assert error.value.code == "unknown-bot"
    assert len(match_reasoning.reasoning_lines(workspace.store, match.match)) == 4


def test_after_a_deletion_the_record_still_verifies(workspace: Workspace) -> None:
    match = played(workspace)
    assert owner_data.set_reasoning(workspace.store, "ada", ReasoningState.DELETED) == 2
    assert owner_data.set_reasoning(workspace.store, "ada", ReasoningState.DELETED) == 0
    assert texts(workspace, match, "luck0@1", "luck1@1") == {"plan of luck1@1"}
    assert problems(workspace, match) == []


def test_changed_reasoning_does_not_verify(workspace: Workspace) -> None:
    match = played(workspace)
    assert problems(workspace, match) == []
    (line, *_) = match_reasoning.reasoning_lines(workspace.store, match.match)
    changed = gzip.compress(line.replace("plan of", "idea of").encode())
    table = schema.reasoning
    with writing(workspace.store) as connection:
        of_line = (table.c.game == 0, table.c.seat == 0)
        connection.execute(update(table).where(*of_line).values(line=changed))
    record = read(results.record(workspace.store, match.match))
    lines = match_reasoning.reasoning_lines(workspace.store, match.match)
    assert replay.verify(record) == []
    assert list(reasoning.problems(record, lines[1:])) == []
    assert len(list(reasoning.problems(record, lines[:1]))) == 1


def test_the_check_of_a_tournament_includes_reasoning_that_is_kept(workspace: Workspace) -> None:
    match = played(workspace)
    tournament = listing.find_match(workspace.store, match.match).tournament

    def differences() -> list[str]:
        return list(store_audit.differences(workspace.store, tournament, lambda *_: None))

    assert differences() == []
    owner_data.set_reasoning(workspace.store, "bob", ReasoningState.DELETED)
    assert differences() == []
    (line, *_) = match_reasoning.reasoning_lines(workspace.store, match.match)
    changed = gzip.compress(line.replace("plan of", "idea of").encode())
    with writing(workspace.store, "test") as connection:
        table = schema.reasoning
        place = (table.c.game == 0, table.c.version == "luck0@1")
        connection.execute(update(table).where(*place).values(line=changed))
    assert len(differences()) == 1
