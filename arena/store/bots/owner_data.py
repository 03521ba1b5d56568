"""Delete the data of an owner from the store, and keep the results under a pseudonym.

The deletion consists of several short transactions, because an owner may have played millions of
games. Each can be repeated, so an interrupted deletion continues when it is started again: the last
transaction removes the owner's name.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Select,
    and_,
    delete,
    distinct,
    func,
    or_,
    select,
    update,
)

from arena.errors import NotFound
from arena.store import closings, schema
from arena.store.bots.model_grants import Grantee
from arena.store.bots.owners import PSEUDONYM
from arena.store.database import now, read_rows, reading, writing
from arena.store.matches import lease_times
from arena.store.matches.rows import replace_tags
from arena.store.objects import record_archive, stored_objects
from arena.store.objects.record_archive import RewrittenRecords
from arena.store.postgresql import lock_rows
from arena.store.schema import ClosingKind, MatchState, ObjectKind, SubmissionState
from arena.store.tournaments.lifecycle import leave
from referee.record import TAGS


@dataclass(frozen=True, slots=True)
class OwnerData:
    """The stored data of an owner.

    Attributes:
        tokens: 1 if the owner has a token, and 1 for each token of a remote bot.
        versions: the versions as ``name@number``, also the retired ones.
        contents: the content hashes that no bot of anyone else has.
        matches: the number of matches of the versions.
    """

    owner: str
    tokens: int
    versions: tuple[str, ...]
    contents: tuple[str, ...]
    submissions: tuple[str, ...]
    matches: int


def survey(engine: Engine, owner: str) -> OwnerData:
    """Return what the store holds of an owner.

    Raises:
        NotFound: nothing.
    """
    owners, sent, remotes = schema.owners, schema.submissions, schema.remotes
    sides, entrants = schema.match_entrants, schema.entrants
    with reading(engine) as connection:
        count = select(func.count())
        tokens = int(connection.scalar(count.where(owners.c.name == owner)) or 0)
        of_bots = count.where(remotes.c.version.in_(_versions(owner)), remotes.c.token.is_not(None))
        tokens += int(connection.scalar(of_bots) or 0)
        query = select(schema.versions.c.id).where(schema.versions.c.id.in_(_versions(owner)))
        names = tuple(connection.execute(query.order_by(schema.versions.c.id)).scalars())
        submissions = select(sent.c.id).where(sent.c.owner == owner).order_by(sent.c.id)
        sent_ids = tuple(connection.execute(submissions).scalars())
        played = select(func.count(distinct(sides.c.match)))
        matches = connection.scalar(played.where(sides.c.version.in_(_versions(owner))))
        entered = connection.scalar(count.where(entrants.c.owner == owner))
        contents = _contents(connection, owner)
    if not (tokens or names or sent_ids or entered):
        raise NotFound(
            f"unknown owner {owner}; `pokearena bot list` shows the owners of bots.",
            code="unknown-owner",
        )
    return OwnerData(owner, tokens, names, contents, sent_ids, int(matches or 0))


def withdraw(engine: Engine, owner: str) -> None:
    """Revoke all tokens, retire all versions and withdraw them from open tournaments.

    Waiting submissions are refused. Matches that no worker plays become void.
    """
    versions, entrants, tournaments = schema.versions, schema.entrants, schema.tournaments
    remotes, sent, matches = schema.remotes, schema.submissions, schema.matches
    of_owner = versions.c.id.in_(_versions(owner))
    with writing(engine, "delete_owner") as connection:
        # Lock versions before tournaments, as `arena.store.bots.quarantine` does.
        lock_rows(connection, select(versions.c.id).where(of_owner).order_by(versions.c.id))
        for holders in (schema.owners, schema.agents):
            connection.execute(delete(holders).where(holders.c.name == owner))
        connection.execute(
            update(remotes)
            .where(remotes.c.version.in_(_versions(owner)))
            .values(token=None, until=0, refusal=None)
        )
        connection.execute(
            update(versions).where(of_owner, versions.c.retired.is_(None)).values(retired=now())
        )
        query = (
            select(entrants.c.tournament, entrants.c.version)
            .join(tournaments, tournaments.c.id == entrants.c.tournament)
            .where(entrants.c.version.in_(_versions(owner)), tournaments.c.ended.is_(None))
            .order_by(entrants.c.tournament, entrants.c.position)
        )
        for tournament, version in connection.execute(query).all():
            connection.execute(
                select(tournaments.c.id).where(tournaments.c.id == tournament).with_for_update()
            )
            leave(connection, tournament, version, "its owner's data is deleted")
        connection.execute(
            update(sent)
            .where(sent.c.owner == owner, sent.c.state == SubmissionState.WAITING)
            .values(state=SubmissionState.REFUSED, status=409, ended=now(), changed=now())
        )
        lapsed = (
            lease_times.is_lapsed(),
            matches.c.id.in_(_matches(owner)),
        )
        voided = select(*matches.c["id", "tournament"]).where(*lapsed).order_by(matches.c.id)
        lock_rows(connection, voided)
        for match in connection.execute(voided).all():
            kind = ClosingKind.MATCH_VOIDED
            closings.add_closing(connection, kind, match=match.id, tournament=match.tournament)
        connection.execute(
            update(matches)
            .where(*lapsed)
            .values(state=MatchState.VOID, ended=now(), reason="an owner's data was deleted.")
        )


def running(engine: Engine, owner: str) -> tuple[int, int]:
    """Return how many matches of the owner are played, and how many submissions are processed."""
    matches, sent = schema.matches, schema.submissions
    with reading(engine) as connection:
        played = connection.scalar(
            select(func.count()).where(
                matches.c.state == MatchState.RUNNING, matches.c.id.in_(_matches(owner))
            )
        )
        processed = connection.scalar(
            select(func.count()).where(
                sent.c.owner == owner, sent.c.state == SubmissionState.RUNNING
            )
        )
    return int(played or 0), int(processed or 0)


def matches(engine: Engine, owner: str) -> tuple[str, ...]:
    """Return the ids of all matches of the owner's versions."""
    table = schema.matches
    query = select(table.c.id).where(table.c.id.in_(_matches(owner))).order_by(table.c.id)
    return tuple(read_rows(engine, query).scalars())


def redact(
    engine: Engine, match: str, versions: Sequence[str], redacted: Callable[[str], str]
) -> None:
    """Rewrite the records of a match, and delete output, tags and reasoning of some versions.

    The object storage gets a new object if the records are there. A sweep deletes the old one.

    Args:
        versions: the versions as ``name@number``.
        redacted: returns the redacted record of a game.
    """
    while not _redact_once(engine, match, versions, redacted):
        pass  # The records were moved to or from the object storage meanwhile.


def _redact_once(
    engine: Engine, match: str, versions: Sequence[str], redacted: Callable[[str], str]
) -> bool:
    tags: dict[int, list[list[str]]] = {}

    def redacted_with_tags(record: str) -> str:
        text = redacted(record)
        result = json.loads(text.rstrip().rpartition("\n")[2])
        tags[result["game"]] = result.get(TAGS, [])
        return text

    rewritten = record_archive.rewrite(engine, match, redacted_with_tags)
    if not _replace_records(engine, match, versions, redacted_with_tags, rewritten, tags):
        if rewritten.after is not None:
            stored_objects.discard(engine, rewritten.after.key)
        return False
    return True


def _replace_records(
    engine: Engine,
    match: str,
    versions: Sequence[str],
    redacted: Callable[[str], str],
    rewritten: RewrittenRecords,
    tags: Mapping[int, list[list[str]]],
) -> bool:
    games, faults, reasoning = schema.games, schema.faults, schema.reasoning
    with _erasing(engine) as connection:
        record_archive.lock_match(connection, match)
        if not rewritten.replace(connection, match):
            return False
        rows = connection.execute(
            select(games.c.game, games.c.record).where(
                games.c.match == match, games.c.record != record_archive.ARCHIVED
            )
        )
        for number, record in rows.all():
            if (text := redacted(record)) != record:
                of_game = (games.c.match == match, games.c.game == number)
                connection.execute(update(games).where(*of_game).values(record=text))
        replace_tags(connection, match, tags)
        connection.execute(
            update(faults)
            .where(faults.c.match == match, faults.c.version.in_(versions))
            .values(output="", ended="")
        )
        connection.execute(
            delete(reasoning).where(reasoning.c.match == match, reasoning.c.version.in_(versions))
        )
    return True


class ReasoningState(StrEnum):
    """Who can read the reasoning of an owner's bots."""

    PRIVATE = "private"
    """Only the owner and the organiser can read it."""
    PUBLISHED = "published"
    """Everybody can read it, also the reasoning of later matches."""
    DELETED = "deleted"
    """The stored reasoning is deleted. The records keep the hashes."""


def set_reasoning(engine: Engine, owner: str, state: ReasoningState, bot: str = "") -> int:
    """Publish, hide or delete the reasoning of the bots of an owner.

    A match that is being played can add new reasoning after a deletion.

    Args:
        bot: only of this bot; empty: of all bots of the owner.

    Returns:
        The number of lines, one for each seat of a game, that are published, hidden or deleted.

    Raises:
        NotFound: the owner has no such bot.
    """
    bots, versions, table = schema.bots, schema.versions, schema.reasoning
    chosen = [bots.c.owner == owner, bots.c.owner != "", *([bots.c.name == bot] if bot else [])]
    of_bots = table.c.version.in_(
        select(versions.c.id).join(bots, bots.c.name == versions.c.name).where(*chosen)
    )
    with _erasing(engine) as connection:
        if connection.execute(select(bots.c.name).where(*chosen).limit(1)).first() is None:
            raise NotFound(
                f"{owner} has no bot{f' {bot}' if bot else ''}; `pokearena bot list` shows the "
                "owners of bots.",
                code="unknown-bot",
            )
        if state is ReasoningState.DELETED:
            return connection.execute(delete(table).where(of_bots)).rowcount
        published = int(state is ReasoningState.PUBLISHED)
        connection.execute(update(bots).where(*chosen).values(publishes_reasoning=published))
        return connection.scalar(select(func.count()).select_from(table).where(of_bots)) or 0


def forget(engine: Engine, data: OwnerData) -> str:
    """Delete builds, submissions and manifests; replace the name by a new pseudonym and return it.

    The games of a manifest stay, and whether the bot was remote: statistics use them.
    """
    versions, remotes, entrants = schema.versions, schema.remotes, schema.entrants
    pseudonym = PSEUDONYM + secrets.token_hex(4)
    with _erasing(engine) as connection:
        for content in data.contents:
            stored_objects.drop(connection, ObjectKind.BUILD, content)
        for table in (schema.crate_pieces, schema.crates):
            connection.execute(delete(table).where(table.c.content_hash.in_(data.contents)))
        sent = schema.submissions
        connection.execute(delete(sent).where(sent.c.owner == data.owner))
        connection.execute(delete(remotes).where(remotes.c.version.in_(data.versions)))
        query = select(versions.c.id, versions.c.manifest).where(versions.c.id.in_(data.versions))
        for name, manifest in connection.execute(query).all():
            kept: dict[str, Any] = {"games": manifest.get("games") or []}
            if manifest.get("remote") or "address" in manifest:
                kept["remote"] = True
            # A new time of retirement makes the pages notice the change.
            connection.execute(
                update(versions).where(versions.c.id == name).values(manifest=kept, retired=now())
            )
        grants = schema.model_grants
        of_owner = and_(grants.c.kind == Grantee.OWNER, grants.c.name == data.owner)
        of_versions = and_(grants.c.kind == Grantee.VERSION, grants.c.name.in_(data.versions))
        connection.execute(delete(grants).where(or_(of_owner, of_versions)))
        for owners in (schema.bots, entrants, schema.model_calls):
            connection.execute(
                update(owners).where(owners.c.owner == data.owner).values(owner=pseudonym)
            )
        closings.add_closing(connection, ClosingKind.OWNER_DELETED)
    return pseudonym


def _versions(owner: str) -> Select[tuple[str]]:
    versions, bots = schema.versions, schema.bots
    query = select(versions.c.id).join(bots, bots.c.name == versions.c.name)
    return query.where(bots.c.owner == owner)


def _matches(owner: str) -> Select[tuple[str]]:
    sides = schema.match_entrants
    return select(sides.c.match).where(sides.c.version.in_(_versions(owner)))


def _contents(connection: Connection, owner: str) -> tuple[str, ...]:
    table = schema.versions
    of_owner = table.c.id.in_(_versions(owner))
    query = select(table.c.content_hash).where(of_owner, table.c.content_hash != "")
    others = select(table.c.content_hash).where(table.c.id.not_in(_versions(owner)))
    chosen = query.where(table.c.content_hash.not_in(others)).distinct()
    return tuple(connection.execute(chosen.order_by(table.c.content_hash)).scalars())


@contextmanager
def _erasing(engine: Engine) -> Iterator[Connection]:
    """Open a writing transaction in which SQLite overwrites deleted content with zeros."""
    with writing(engine, "erase_owner") as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        if is_sqlite:
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
        yield connection
        if is_sqlite:
            connection.exec_driver_sql("PRAGMA secure_delete = OFF")
