"""Set up the demo: the house bots and a tournament in each game; return the results as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.bots import resolver
from arena.bots.bot import Bot
from arena.cli import output
from arena.cli.bots import registration
from arena.cli.tournaments.live_table import TournamentSnapshot
from arena.cli.tournaments.running import CheckedMatch
from arena.cli.workspace import Workspace
from arena.formats.contract import FormatEntrant
from arena.ladders import ladder_columns, ladder_values
from arena.store import match_settings
from arena.store.bots import versions
from arena.store.tournaments import tournaments
from arena.tournaments import json_values, scheduler, time_estimate
from arena.tournaments.tournament_request import TournamentRequest
from referee.games.contract import Game
from referee.games.registry import GAMES
from referee.games.shared.dealing import derive
from referee.presentation.registry import presentation_of

_SEARCHER = "strong"
"""The house bot that takes most of the time of a demo."""
_LEFT_OUT = ("champion",)
"""House bots that the demo does not play, because they are slow."""
_SEARCHER_BOARDS = 1
_OTHER_BOARDS = 2


def planned(boards: int | None, cycles: int, full: bool = False) -> list[TournamentRequest]:
    """Return a round robin of the house bots in each game.

    The number of boards has a default for each game. With `full`, `strong` plays every game instead
    of one.
    """
    bots = _bots()
    demo = []
    for game in GAMES.values():
        labels = tuple(
            bot.label
            for bot in bots
            if bot.plays(game.id) and (full or _with_searcher(game) or bot.label != _SEARCHER)
        )
        plan = TournamentRequest(
            name="demo",
            game=game.id,
            options=game.settle({}),
            seats=_seats(game),
            boards=boards or _boards(game, full),
            settings={"cycles": cycles},
            bots=labels,
        )
        demo.append(plan)
    return demo


def table(tournaments: Sequence[TournamentRequest]) -> list[str]:
    """Return the lines of a table of the planned tournaments."""
    rows = []
    for plan in tournaments:
        matches = len(scheduler.opening(plan, list(map(FormatEntrant, plan.bots))))
        rows.append((plan.form, matches, time_estimate.games(plan, matches), ", ".join(plan.bots)))
    return output.aligned(("<form", "matches", "games", "<bots"), rows)


def begin(
    workspace: Workspace, tournaments: Sequence[TournamentRequest], seed: str | None
) -> list[str]:
    """Register the house bots and schedule the tournaments; return their ids.

    All cards follow from the seed; None chooses a random one.
    """
    bots = _bots()
    labels = {bot.label: registration.register_house_bot(workspace, bot).id for bot in bots}
    ids = []
    for plan in tournaments:
        entrants = [labels[bot] for bot in plan.bots]
        secret = None if seed is None else derive(match_settings.seed_of(seed), plan.game, 0)
        ids.append(scheduler.begin(workspace.store, plan, entrants, secret).id)
    return ids


def _bots() -> list[Bot]:
    return [resolver.sample(name) for name in resolver.samples() if name not in _LEFT_OUT]


def _boards(game: Game, full: bool) -> int:
    """Return the default number of boards of a match."""
    if full:
        return presentation_of(game.id).demo_boards
    return _SEARCHER_BOARDS if _with_searcher(game) else _OTHER_BOARDS


def _with_searcher(game: Game) -> bool:
    """Return whether `strong` plays this game by default."""
    return presentation_of(game.id).demo_searcher


def _seats(game: Game) -> int:
    """Return three if the game allows it, else the first number: Pokex with partnerships."""
    return 3 if 3 in game.seats else game.seats[0]


def as_json(
    workspace: Workspace,
    snapshots: Sequence[TournamentSnapshot],
    checked: Sequence[CheckedMatch],
    seconds: float,
) -> dict[str, Any]:
    """Return all results of a demo as JSON values."""
    names = {name for snapshot in snapshots for name in snapshot.tournament.entrants}
    bots = [version for version in versions.list_versions(workspace.store) if version.id in names]
    tournament_list = [
        tournaments.find_tournament(workspace.store, snapshot.tournament.id)
        for snapshot in snapshots
    ]
    return {
        "seconds": seconds,
        "bots": [{"version": bot.id, "content_hash": bot.content_hash} for bot in bots],
        "tournaments": [
            json_values.tournament(tournament, tournaments.progress(workspace.store, tournament.id))
            for tournament in tournament_list
        ],
        "matches": [
            {
                **json_values.match(match.match),
                "seed": None if match.seed is None else match.seed.hex(),
                "verified": not match.problems,
                "problems": list(match.problems),
            }
            for match in checked
        ],
        "ladders": {s.tournament.plan.form: ladder_columns.results(s.standings) for s in snapshots},
        "elo": ladder_values.settings_json(),
    }
