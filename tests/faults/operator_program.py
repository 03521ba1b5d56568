"""What an organiser does to the store, as a process that a fail-point can kill."""

import sys

from sqlalchemy import Engine

from arena import scheduler
from arena.pairings.contract import Entrant
from arena.store import (
    course,
    database,
    matches,
    owners,
    quarantine,
    rebuilding,
    tournaments,
    versions,
)
from arena.store.spec import Clock, Plan


def rebuild(engine: Engine) -> None:
    """Writes every result down anew."""
    cups = [cup.id for cup in tournaments.listing(engine)]
    for found in list(rebuilding.rebuilt(engine, cups)):
        rebuilding.store(engine, found)


def main(url: str, action: str, *words: str) -> None:
    """Does one thing."""
    engine = database.open(url)
    if action == "schedule":
        plan = Plan("cup", "saint_poker", {}, 2, 1, clock=Clock(60_000, 20_000))
        scheduler.begin(engine, plan, words, bytes(32))
    elif action == "add_version":
        versions.add(engine, "late", "1", "0" * 64, "/late", {})
    elif action == "own":
        versions.own(engine, versions.find(engine, words[0]), words[1])
    elif action == "add_owner":
        owners.add(engine, *words)
    elif action == "renew_owner":
        owners.renew(engine, *words)
    elif action == "remove_owner":
        owners.remove(engine, *words)
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
