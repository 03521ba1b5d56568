"""What an organiser does to the store, as a process that a fail-point can kill."""

import io
import sys
from pathlib import Path

from sqlalchemy import Engine

from arena import scheduler
from arena.bots import archive, parcel, resolver
from arena.bots.sandbox.level import Level
from arena.folder import Folder
from arena.pairings.contract import Entrant
from arena.store import (
    copying,
    course,
    crates,
    database,
    matches,
    owners,
    quarantine,
    rebuilding,
    remotes,
    submissions,
    tournaments,
    versions,
    waiting,
)
from arena.store.spec import Clock, Plan
from arena.store.submissions import Limits, Sent
from arena.submissions.shelf import Shelf
from arena.submissions.stages import Office


def rebuild(engine: Engine) -> None:
    """Writes every result down anew."""
    cups = [cup.id for cup in tournaments.listing(engine)]
    for found in list(rebuilding.rebuilt(engine, cups)):
        rebuilding.store(engine, found)


def push(engine: Engine, where: Folder, bot: str, submission: str) -> None:
    """Has a bot arrive, as the web server does."""
    found = resolver.from_folder(Path(bot))
    shelf = Shelf(where.submissions)
    with shelf.part(submission).open("wb") as output:
        parcel.pack(found, output)
    shelf.settle(submission)
    content = archive.content_hash(found)
    submissions.add(engine, Sent(submission, "ada", found.label, content, 1), Limits())


def receive(engine: Engine, where: Folder) -> None:
    """Works on what has arrived, as `serve` has it done."""
    shelf = Shelf(where.submissions)
    office = Office(engine, shelf, where.versions, lambda bot: (), lambda: Level.BUBBLEWRAP)
    for one in submissions.undecided(engine):
        office.work(one.id)


def main(url: str, action: str, *words: str) -> None:
    """Does one thing."""
    engine = database.open(url)
    if action == "schedule":
        plan = Plan("cup", "saint_poker", {}, 2, 1, clock=Clock(60_000, 20_000))
        scheduler.begin(engine, plan, words, bytes(32))
    elif action == "add_version":
        versions.add(engine, "late", "1", "0" * 64, "/late", {})
    elif action == "keep_crate":
        crates.keep(engine, "0" * 64, io.BytesIO(b"packed"), trusted=False)
    elif action == "trust_crate":
        crates.trust(engine, "0" * 64)
    elif action == "add_remote":
        remotes.add_relayed(engine, "far", "1")
    elif action == "presence":
        remotes.came(engine, "far@1", "", 1)
    elif action == "give_up":
        waiting.give_up(engine, 0, 0)
    elif action == "own":
        versions.own(engine, versions.find(engine, words[0]), words[1])
    elif action == "add_owner":
        owners.add(engine, *words)
    elif action == "renew_owner":
        owners.renew(engine, *words)
    elif action == "remove_owner":
        owners.remove(engine, *words)
    elif action == "submit":
        push(engine, Folder(Path(words[0])), *words[1:])
    elif action == "receive":
        receive(engine, Folder(Path(words[0])))
    elif action == "restore":
        copying.restore(engine, Path(words[0]), lambda what, done, of: None)
    elif action == "rebuild":
        rebuild(engine)
    elif action == "retire":
        versions.retire(engine, *words)
    elif action == "lift":
        quarantine.lift(engine, *words)
    elif action == "join":
        course.add(engine, words[0], [Entrant(words[1])])
    elif action == "withdraw":
        course.withdraw(engine, *words)
    elif action == "void":
        matches.void(engine, words[0], "The organiser gave it up.")
    else:
        {"pause": course.pause, "resume": course.resume, "cancel": course.cancel}[action](
            engine, *words
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
