"""Tournaments as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.cli import ladder, output, times
from arena.store import listing, tournaments
from arena.store.schema import MatchState

if TYPE_CHECKING:
    from arena.cli.live import Sight
    from arena.cli.place import Place
    from arena.store.listing import Match
    from arena.store.tournaments import Progress, Tournament

HEADINGS = ("tournament", "<name", "<game", "bots", "matches", "games", "<state", "<begun")


def row(found: Tournament, progress: Progress) -> tuple[object, ...]:
    """A line of the list."""
    return (
        found.id,
        found.plan.name,
        found.plan.form,
        len(found.entrants),
        f"{progress.closed}/{progress.matches}",
        f"{progress.games}/{progress.planned}",
        found.state,
        times.local(found.created),
    )


def as_json(found: Tournament, progress: Progress) -> dict[str, Any]:
    """A tournament without its matches, as plain values."""
    plan = found.plan
    return {
        "tournament": found.id,
        "name": plan.name,
        "game": plan.game,
        "form": plan.form,
        "options": dict(plan.options),
        "seats": plan.seats,
        "boards": plan.boards,
        "format": plan.format,
        "settings": dict(plan.settings),
        "clock": {
            "start_ms": plan.clock.start_ms,
            "allowance_ms": plan.clock.allowance_ms,
            "bank_ms": plan.clock.bank_ms,
        },
        "policy": plan.policy,
        "entrants": list(found.entrants),
        "state": str(found.state),
        "created": times.iso(found.created),
        "ended": times.iso(found.ended),
        "seed": None if found.seed is None else found.seed.hex(),
        "matches": {state.lower(): getattr(progress, state.lower()) for state in MatchState},
        "games": progress.games,
        "planned": progress.planned,
    }


def match_json(match: Match) -> dict[str, Any]:
    """A match as anyone may see it, as plain values."""
    return {
        "match": match.id,
        "tournament": match.tournament,
        "game": match.game,
        "round": match.round,
        "number": match.number,
        "entrants": list(match.entrants),
        "state": str(match.state),
        "attempts": match.attempt,
        "games": match.committed,
        "planned": match.games,
        "commitment": match.commitment,
        "reason": match.reason,
        "ended": times.iso(match.ended),
    }


def whole(place: Place, name: str) -> dict[str, Any]:
    """A tournament with its standings and matches, as plain values."""
    found = tournaments.find(place.store, name)
    table = ladder.of_tournament(place.store, name, found.entrants)
    return {
        **as_json(found, tournaments.progress(place.store, name)),
        "standings": ladder.to_json(table),
        "elo": ladder.settings_json(),
        "schedule": [match_json(match) for match in listing.matches(place.store, tournament=name)],
    }


def show(place: Place, name: str) -> None:
    """A tournament for people."""
    found = tournaments.find(place.store, name)
    progress = tournaments.progress(place.store, name)
    plan = found.plan
    options = "".join(f" · {key} {str(value).lower()}" for key, value in plan.options.items())
    settings = "".join(f" · {key} {value}" for key, value in plan.settings.items())
    output.line(f"{found.id} · {plan.name} · {found.state}")
    output.line(
        f"{plan.game} for {plan.seats}{options} · {plan.boards} boards a match · "
        f"{plan.format}{settings} · {plan.policy}"
    )
    output.line(
        f"begun {times.local(found.created)}, ended {times.local(found.ended)} · "
        f"{progress.closed} of {progress.matches} matches closed, "
        f"{progress.games} of {progress.planned} games kept"
    )
    output.line()
    table = ladder.of_tournament(place.store, name, found.entrants)
    output.table(ladder.HEADINGS, ladder.rows(table))
    output.line()
    matches = listing.matches(place.store, tournament=name)
    output.table(
        ("match", "round", "<bots", "<state", "attempts", "games", "<"),
        [
            (
                match.id,
                match.round,
                " v ".join(match.entrants),
                match.state.lower(),
                match.attempt,
                f"{match.committed}/{match.games}",
                match.reason or "",
            )
            for match in matches
        ],
    )
    output.hint(ladder.settings_words())
    what_next(place, [name])


def conclude(place: Place, sight: Sight) -> None:
    """The end of a tournament for people."""
    found, progress = sight.tournament, sight.progress
    output.heading(f"{found.plan.form} · {found.id}")
    output.table(ladder.HEADINGS, ladder.rows(sight.standings))
    output.line()
    if progress.closed < progress.matches:
        for match in listing.matches(place.store, tournament=found.id, states=[MatchState.VOID]):
            output.hint(f"{match.id} is void, and nobody is charged with it: {match.reason}")
        left = progress.matches - progress.closed
        output.hint(f"{left} of {progress.matches} matches have no result")


def what_next(place: Place, names: Sequence[str]) -> None:
    """What to type after looking at tournaments: the replay of a match, or going on."""
    closed: list[Match] = []
    open_ones: list[str] = []
    for name in names:
        closed += listing.matches(place.store, tournament=name, states=[MatchState.CLOSED], limit=1)
        if tournaments.find(place.store, name).ended is None:
            open_ones.append(name)
    steps = [f"pokearena replay {match.id}" for match in closed[:1]]
    if open_ones:
        steps.append(f"pokearena tournament resume {' '.join(open_ones)}")
    output.next_step(*(steps or ["pokearena tournament list"]))
