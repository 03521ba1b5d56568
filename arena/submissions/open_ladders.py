"""Open ladders, which accepted submissions enter automatically: list, create and join them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from arena.config import SEATS
from arena.errors import Conflict, check_name, check_new_name
from arena.formats.contract import FormatEntrant
from arena.formats.ladder import LadderFormat
from arena.ladders import ladder_key
from arena.presentation.wording import form_name
from arena.store.bots import versions
from arena.store.match_settings import (
    PRESETS,
    USUAL_CLOCKS,
    ClockClass,
    TournamentPlan,
    ladder_name,
)
from arena.store.postgresql import lock_decision
from arena.store.tournaments import lifecycle, tournaments
from arena.tournaments import scheduler
from referee.games.contract import OptionValue
from referee.games.registry import GAMES

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from arena.bots.manifest import Manifest
    from arena.store.bots.versions import Version
    from arena.store.tournaments.tournaments import Tournament


log = logging.getLogger("arena.submissions")


def list_open_ladders(engine: Engine) -> tuple[Tournament, ...]:
    """Return all open ladders, the oldest first."""
    return tuple(
        tournament
        for tournament in tournaments.list_tournaments(engine, over=False)
        if _is_open(tournament.plan)
    )


def plan_of(
    game_id: str,
    seats: int | None = None,
    options: Mapping[str, OptionValue] | None = None,
    clock_class: ClockClass = ClockClass.FAST,
) -> TournamentPlan:
    """Return the settings of an open ladder of a form and clock class.

    Args:
        seats: the number of seats; None: the first that the game allows.
        options: the options of the game that differ from their defaults.

    Raises:
        InvalidSettings: the game does not allow these seats or options.
    """
    plan = TournamentPlan(
        name=f"{form_name(ladder_name(game_id, clock_class))} ladder",
        game=game_id,
        options=options or {},
        seats=seats or 0,
        clock=USUAL_CLOCKS[clock_class],
        corrections=PRESETS["models"]["corrections"] if clock_class is ClockClass.MODEL else 0,
        format="ladder",
        settings={"open": True},
    )
    return plan.settled(entrants=SEATS.most)


def default_plans(engine: Engine) -> list[TournamentPlan]:
    """Return open ladders in the default form of each game that a hosted bot plays."""
    return [plan_of(game) for game in GAMES if _entrants(engine, game)]


def create_missing(engine: Engine, plans: Iterable[TournamentPlan]) -> None:
    """Create each of these ladders unless an open ladder of its form and clock class exists.

    The newest version of each hosted bot that plays the game enters it. Remote bots do not, because
    their matches would wait for them.
    """
    open_now = {ladder.plan.ladder for ladder in list_open_ladders(engine)}
    for plan in plans:
        if plan.ladder not in open_now:
            open_now.add(plan.ladder)
            _open_once(engine, plan)


def open_first(engine: Engine, manifest: Manifest) -> None:
    """Open a ladder in the default form of each game of a bot that has never had an open ladder.

    A ladder that the organiser has cancelled is not opened again.
    """
    plans = [plan_of(game) for game in GAMES if manifest.plays(game)]
    if not plans or {plan.ladder for plan in plans} <= {
        each.plan.ladder for each in list_open_ladders(engine)
    }:
        return
    known = {
        ladder.plan.ladder
        for ladder in tournaments.list_tournaments(engine)
        if _is_open(ladder.plan)
    }
    create_missing(engine, [plan for plan in plans if plan.ladder not in known])


def _open_once(engine: Engine, plan: TournamentPlan) -> None:
    """Create an open ladder, unless another process has just created one of the same form."""

    def check(connection: Connection) -> None:
        lock_decision(connection, "open_ladder")
        others = tournaments.plans(connection, game=plan.game, over=False)
        if any(_is_open(other) and other.ladder == plan.ladder for other in others):
            raise Conflict(f"the ladder {plan.ladder} is open already.", code="ladder-open")

    try:
        scheduler.begin(engine, plan, _entrants(engine, plan.game), check=check)
    except Conflict as error:
        if error.code != "ladder-open":
            raise


def _is_open(plan: TournamentPlan) -> bool:
    return plan.settings.get("open") is True


def begin_season(engine: Engine, plan: TournamentPlan, name: str = "") -> Tournament:
    """Cancel the open ladders of a form, and begin the ladder of its next season.

    The new ladder has the settings and the active entrants of the newest ladder that was open, and
    the newest pairing rules. May be repeated after an interruption.

    Args:
        plan: the settings if the form has never had an open ladder.
        name: the name of the new ladder; empty: the form and the number of the season.

    Raises:
        BadName: the name is not valid.
    """
    if name:
        check_name("a tournament", name)
        check_new_name("a tournament", name)
    earlier = [
        tournament
        for tournament in tournaments.list_tournaments(engine, game=plan.game)
        if tournament.plan.ladder == plan.ladder and _is_open(tournament.plan)
    ]
    for ladder in earlier:
        if ladder.ended is None:
            lifecycle.cancel(engine, ladder.id)
    entrants = _entrants(engine, plan.game)
    if earlier:
        plan = earlier[-1].plan
        active = {
            version.id for version in versions.list_versions(engine) if not version.quarantined
        }
        entrants = [
            entry.name
            for entry in earlier[-1].entries
            if entry.withdrawn is None and entry.name in active
        ]
    seasons = [
        key.season for key in ladder_key.of_seasons(engine, plan.form) if key.name == plan.ladder
    ]
    number = max(seasons, default=0) + 1
    label = plan.ladder.replace("~", " ")
    settings = {**plan.settings, "season": number}
    plan = replace(plan, name=name or f"{label} season {number}", settings=settings)
    return scheduler.begin(engine, plan, entrants)


def _entrants(engine: Engine, game: str) -> list[str]:
    """Return the newest version of each hosted bot that plays a game."""
    newest: dict[str, str] = {}
    for version in versions.list_versions(engine):
        if version.folder and version.quarantined is None and version.plays(game):
            newest[version.name] = version.id
    return list(newest.values())


def open_to(engine: Engine, manifest: Manifest) -> tuple[Tournament, ...]:
    """Return the open ladders for a bot with this manifest, the oldest first."""
    return tuple(
        tournament
        for tournament in list_open_ladders(engine)
        if manifest.plays(tournament.plan.game)
    )


def join(engine: Engine, version: Version, manifest: Manifest) -> dict[str, str]:
    """Enter a version on all open ladders, and withdraw the bot's oldest versions beyond the limit.

    May be repeated; existing entries stay.

    Returns:
        The form of each ladder on which the version is entered, by the id of the ladder.
    """
    joined = {}
    for ladder in open_to(engine, manifest):
        if version.id not in ladder.entrants:
            try:
                lifecycle.add_entrants(
                    engine, ladder.id, [FormatEntrant(version.id, version.owner)]
                )
            except Conflict as error:
                # The ladder has closed, or another process has added the version.
                log.info("%s does not enter the ladder %s: %s", version.id, ladder.id, error)
                continue
        joined[ladder.id] = ladder.plan.ladder
        _make_room(engine, ladder.id, version)
    return joined


def retire(engine: Engine, version: Version) -> tuple[str, ...]:
    """Retire a version at its owner's request; return the ids of the open ladders that it leaves.

    May be repeated.
    """
    versions.retire(engine, version.id)
    withdrawn = []
    for ladder in list_open_ladders(engine):
        for entry in ladder.entries:
            if entry.name == version.id and entry.withdrawn is None:
                lifecycle.withdraw(engine, ladder.id, version.id, "its owner retired it")
                withdrawn.append(ladder.id)
    return tuple(withdrawn)


def _make_room(engine: Engine, ladder: str, newest: Version) -> None:
    """Withdraw a bot's oldest versions that exceed the ladder's limit per bot; 0 is unlimited."""
    tournament = tournaments.find_tournament(engine, ladder)
    most = int(tournament.plan.settings.get("versions", LadderFormat().versions))
    entered = [
        entry.name
        for entry in tournament.entries
        if entry.name.partition("@")[0] == newest.name and entry.withdrawn is None
    ]
    for version in entered[:-most] if most else ():
        lifecycle.withdraw(engine, ladder, version, f"{newest.id} came")
