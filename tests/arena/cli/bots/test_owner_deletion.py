"""`owner delete` deletes the data of an owner, and all results can still be verified."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from arena.cli.workspace import Workspace
from arena.errors import BadName, NotFound
from arena.store import database, ids, schema
from arena.store.bots import owner_data, owners, remote_bots, submissions, versions
from arena.store.bots.submissions import ReceivedUpload, SubmissionLimits
from arena.store.matches import match_leases, match_reasoning
from arena.store.schema import SubmissionState
from arena.store.tournaments import tournaments
from arena.submissions.pending_uploads import PendingUploads
from arena.tournaments import scheduler
from arena.web.data.web_state import ServerSettings, WebState
from referee.reasoning import read_line
from tests.arena.cli.terminal import Cli, in_a_terminal
from tests.arena.poke_plan import poke_plan
from tests.arena.web.closed_matches import RecordChange, StoredMatch, play, table

NOTE = "my secret plan"


def with_notes(text: str) -> str:
    """Add a note to every action of a game."""
    lines = map(json.loads, text.splitlines())
    noted = (line | ({"note": NOTE} if line["type"] == "action" else {}) for line in lines)
    return "".join(json.dumps(line) + "\n" for line in noted)


def with_output(text: str) -> str:
    """Add a note to every action of a game, and a fault line with output to each seat."""
    lines = []
    seating = json.loads(text.partition("\n")[0])["seating"]
    for line in map(json.loads, text.splitlines()):
        if line["type"] == "result":
            lines += [
                {
                    **{"type": "fault", "game": line["game"], "decision": 0, "seat": seat},
                    **{
                        "verdict": "crash",
                        "sentence": "it ended.",
                        "output": f"{NOTE} {seating[seat]}",
                    },
                }
                for seat in range(2)
            ]
        lines.append(line)
    return with_notes("".join(json.dumps(line) + "\n" for line in lines))


class DeletionArena:
    """An arena with a played match of ada's bot luck0 and bob's bot luck1."""

    def __init__(self, change: RecordChange) -> None:
        self.workspace = Workspace()
        self.store = self.workspace.store
        self.held: StoredMatch = play(
            self.workspace, table("poke-2-must_beat=true"), change=change, reasoning=NOTE
        )
        for owner, bot in (("ada", "luck0@1"), ("bob", "luck1@1")):
            versions.set_owner(self.store, versions.find_version(self.store, bot), owner)
        self.token = owners.add_owner(self.store, "ada")
        self.files = []
        for bot in ("luck0@1", "luck1@1"):
            output = self.workspace.folder.outputs / self.held.match / f"{bot}.log"
            source = (
                self.workspace.folder.versions / versions.find_version(self.store, bot).content_hash
            )
            for path in (output, source / "bot.py"):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(NOTE)
            self.files += [output, source]

    def submit(self) -> str:
        """Store a waiting submission of ada with its upload; return its id."""
        sent = ReceivedUpload(ids.submission_id(), "ada", "next", "9" * 64, 1)
        submissions.add_submission(self.store, sent, SubmissionLimits())
        pending_uploads = PendingUploads(self.workspace.folder.submissions).create()
        pending_uploads.archive(sent.id).write_text(NOTE)
        self.files.append(pending_uploads.archive(sent.id))
        return sent.id


@pytest.fixture
def deletion_arena(cwd: Path) -> Iterator[DeletionArena]:
    deletion_arena = DeletionArena(with_output)
    yield deletion_arena
    deletion_arena.store.dispose()


def texts_of(deletion_arena: DeletionArena) -> set[str]:
    """Return all kept texts of reasoning."""
    lines = match_reasoning.reasoning_lines(deletion_arena.store, deletion_arena.held.match)
    return {decision["text"] for line in lines for decision in read_line(line)["decisions"]}


def verified(cli: Cli, deletion_arena: DeletionArena) -> None:
    """Check that records, results, ladder and schedule are what they were."""
    for words in (
        ("verify", deletion_arena.held.match),
        ("tournament", "verify", deletion_arena.held.tournament),
        ("db", "check"),
    ):
        result = cli(*words)
        assert result.status == 0, (result.out, result.err)


def test_owner_data_is_deleted_and_results_are_kept(
    cli: Cli, deletion_arena: DeletionArena
) -> None:
    submission = deletion_arena.submit()
    assert texts_of(deletion_arena) == {f"{NOTE} luck0@1", f"{NOTE} luck1@1"}
    before = cli("standings", "--json").json
    first = cli("owner", "delete", "ada", "--dry-run", "--json").json
    assert (first["deleted"], first["pseudonym"], first["matches"]) == (False, None, 1)
    assert (first["versions"], first["submissions"]) == (["luck0@1"], [submission])
    assert all(path.exists() for path in deletion_arena.files)
    document = cli("owner", "delete", "ada", "--yes", "--json").json
    assert {**document, "deleted": False, "pseudonym": None} == first
    pseudonym = document["pseudonym"]
    assert pseudonym.startswith("deleted-")
    assert [path.exists() for path in deletion_arena.files] == [False, False, True, True, False]
    version = versions.find_version(deletion_arena.store, "luck0@1")
    assert (version.owner, version.authors, version.retired is None) == (pseudonym, (), False)
    assert owners.known_by(deletion_arena.store, deletion_arena.token) is None
    assert submissions.list_submissions(deletion_arena.store, owner="ada") == ()
    assert "ada" not in {
        entry.owner
        for each in tournaments.list_tournaments(deletion_arena.store)
        for entry in each.entries
    }
    assert cli("standings", "--json").json == before
    assert texts_of(deletion_arena) == {f"{NOTE} luck1@1"}
    replayed = (
        cli("why", deletion_arena.held.match, "--json").out
        + cli("logs", deletion_arena.held.match).out
    )
    assert f"{NOTE} luck1@1" in replayed
    assert f"{NOTE} luck0@1" not in replayed
    with pytest.raises(NotFound):
        owner_data.survey(deletion_arena.store, "ada")
    assert cli("owner", "delete", "ada", "--yes").code == "unknown-owner"


def test_deleted_data_is_not_in_the_database_file(cli: Cli, deletion_arena: DeletionArena) -> None:
    versions.set_owner(
        deletion_arena.store, versions.find_version(deletion_arena.store, "luck0@1"), "ada"
    )
    other = Workspace()
    with other.store.connect() as connection:
        reasoning = connection.execute(select(schema.reasoning.c.line)).scalars().all()
    assert len(reasoning) == 4
    assert cli("owner", "delete", "bob", "--yes").status == 0
    assert cli("owner", "delete", "ada", "--yes").status == 0
    with other.store.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    stored = other.folder.database.read_bytes()
    assert not [text for text in (NOTE.encode(), *reasoning) if text in stored]


def test_all_matches_can_be_verified_afterwards(cli: Cli, cwd: Path) -> None:
    deletion_arena = DeletionArena(with_notes)
    verified(cli, deletion_arena)
    assert cli("owner", "delete", "ada", "--yes").status == 0
    verified(cli, deletion_arena)


def with_tags(text: str) -> str:
    """Tag a game at each seat with the name of its bot, and with a word that both use."""
    lines = [json.loads(line) for line in text.splitlines()]
    tags = [[bot, "both"] for bot in lines[0]["seating"]]
    lines[-1] |= {"tags": tags}
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_tags_of_a_deleted_owner_are_deleted(cli: Cli, cwd: Path) -> None:
    deletion_arena = DeletionArena(with_tags)
    store, match = deletion_arena.store, deletion_arena.held.match

    def tags() -> set[str]:
        return set(database.read_rows(store, select(schema.match_tags.c.tag)).scalars())

    def stored() -> str:
        columns = (schema.games.c.record, schema.games.c.tally)
        rows = database.read_rows(store, select(*columns).where(schema.games.c.match == match))
        return json.dumps([(record.partition("\n")[2], tally) for record, tally in rows.all()])

    assert tags() == {"luck0@1", "luck1@1", "both"}
    assert "luck0@1" in stored()
    assert cli("owner", "delete", "ada", "--yes").status == 0
    assert tags() == {"luck1@1", "both"}
    assert "luck0@1" not in stored()
    assert "luck1@1" in stored()
    verified(cli, deletion_arena)
    assert cli("owner", "delete", "bob", "--yes").status == 0
    assert tags() == set()
    assert "tags" not in stored()
    verified(cli, deletion_arena)


def test_a_deletion_without_a_terminal_needs_a_confirmation(
    cli: Cli, deletion_arena: DeletionArena
) -> None:
    refused = cli("owner", "delete", "ada")
    assert (refused.status, refused.code) == (2, "not-confirmed")
    assert owners.known_by(deletion_arena.store, deletion_arena.token) == "ada"


@pytest.mark.long
def test_a_deletion_is_confirmed(deletion_arena: DeletionArena, cwd: Path) -> None:
    for answer, status in (("n\n", 1), ("y\n", 0)):
        assert owners.known_by(deletion_arena.store, deletion_arena.token) == "ada"
        with in_a_terminal(cwd, "owner", "delete", "ada") as terminal:
            terminal.sees("cannot be undone")
            terminal.press(answer)
            assert terminal.ends() == status
    assert owners.known_by(deletion_arena.store, deletion_arena.token) is None


def test_waiting_matches_are_cancelled_after_running_ones_finish(
    cli: Cli, deletion_arena: DeletionArena
) -> None:
    options = {"must_beat": True}
    plan = poke_plan(name="next", options=options, settings={"cycles": 2})
    tournament = scheduler.begin(deletion_arena.store, plan, ["luck0@1", "luck1@1"])
    lease = match_leases.lease(
        deletion_arena.store, match_leases.due(deletion_arena.store)[0], "w", 600
    )
    assert lease is not None
    submission = deletion_arena.submit()
    submissions.take_up(deletion_arena.store, submission)
    early = cli("owner", "delete", "ada", "--yes")
    assert (early.status, early.code) == (1, "StillInUse")
    progress = tournaments.progress(deletion_arena.store, tournament.id)
    assert (progress.pending, progress.running, progress.cancelled) == (0, 1, 1)
    assert owners.known_by(deletion_arena.store, deletion_arena.token) is None
    assert versions.find_version(deletion_arena.store, "luck0@1").retired is not None
    assert versions.find_version(deletion_arena.store, "luck0@1").owner == "ada"
    match_leases.void(deletion_arena.store, lease.spec.id, "The worker has ended.")
    with PendingUploads(deletion_arena.workspace.folder.submissions).attended():
        assert cli("owner", "delete", "ada", "--yes").code == "StillInUse"
    assert cli("owner", "delete", "ada", "--yes").status == 0
    assert not any(path.exists() for path in deletion_arena.files[:2])


def test_shared_files_and_builds_are_kept(cli: Cli, deletion_arena: DeletionArena) -> None:
    content = versions.find_version(deletion_arena.store, "luck0@1").content_hash
    versions.add_version(deletion_arena.store, "same", "1", content, "/same", {}, "bob")
    document = cli("owner", "delete", "ada", "--yes", "--json").json
    assert document["content_hashes"] == []
    assert (deletion_arena.workspace.folder.versions / content).is_dir()


def test_a_remote_bot_loses_its_token_and_its_address(
    cli: Cli, deletion_arena: DeletionArena
) -> None:
    _, token = remote_bots.add_relayed(deletion_arena.store, "far", "1", "ada")
    remote_bots.add_direct(deletion_arena.store, "near", "1", "10.0.0.5:7000", "ada")
    assert cli("owner", "delete", "ada", "--yes").status == 0
    assert remote_bots.version_with_token(deletion_arena.store, token) is None
    assert remote_bots.list_remote_bots(deletion_arena.store) == {}
    assert versions.find_version(deletion_arena.store, "near@1").manifest == {
        "games": [],
        "remote": True,
    }


def test_a_waiting_submission_is_refused(cli: Cli, deletion_arena: DeletionArena) -> None:
    submission = deletion_arena.submit()
    owner_data.withdraw(deletion_arena.store, "ada")
    assert (
        submissions.find_submission(deletion_arena.store, submission).state
        is SubmissionState.REFUSED
    )


def test_the_name_of_a_deleted_owner_cannot_be_taken(
    cli: Cli, deletion_arena: DeletionArena
) -> None:
    document = cli("owner", "delete", "ada", "--yes", "--json").json
    with pytest.raises(BadName):
        owners.add_owner(deletion_arena.store, document["pseudonym"])


def test_the_pages_show_the_pseudonym(cli: Cli, deletion_arena: DeletionArena) -> None:
    web = WebState(deletion_arena.store, ServerSettings(rate=0))
    asyncio.run(web.read_store())
    assert web.snapshot.versions["luck0@1"].owner == "ada"
    document = cli("owner", "delete", "ada", "--yes", "--json").json
    asyncio.run(web.read_store())
    assert web.snapshot.versions["luck0@1"].owner == document["pseudonym"]
