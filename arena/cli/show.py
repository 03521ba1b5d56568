"""What a demo shows: the house bots, a tournament in each game, and all of it as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena import ladders, plain, scheduler
from arena.bots import resolver
from arena.cli import entries, seeds
from arena.cli.checking import Checked
from arena.cli.live import Sight
from arena.cli.place import Place
from arena.store import tournaments, versions
from arena.store.spec import Plan
from referee.dealing import derive
from referee.games.contract import Game
from referee.games.registry import GAMES

# With these it takes about two minutes on two cores; most of it is the thinking of `strong`.
_BOARDS = {"poke": 4}
_OTHER_BOARDS = 2


def begin(place: Place, boards: int | None, cycles: int, seed: str | None) -> list[str]:
    """Registers the house bots and schedules a round robin in each game; gives their ids."""
    bots = [resolver.sample(name) for name in resolver.samples()]
    labels = {bot.label: entries.register_house_bot(place, bot).id for bot in bots}
    made = []
    for game in GAMES.values():
        entrants = [labels[bot.label] for bot in bots if bot.plays(game.id)]
        plan = Plan(
            name="demo",
            game=game.id,
            options=game.settle({}),
            seats=_seats(game),
            boards=boards or _BOARDS.get(game.id, _OTHER_BOARDS),
            settings={"cycles": cycles},
        )
        secret = None if seed is None else derive(seeds.seed_of(seed), game.id, 0)
        made.append(scheduler.begin(place.store, plan, entrants, secret).id)
    return made


def _seats(game: Game) -> int:
    """Three where the game allows it, else the usual number: Pokex is shown in partnerships."""
    return 3 if 3 in game.seats else game.seats[0]


def as_json(
    place: Place, sights: Sequence[Sight], checked: Sequence[Checked], seconds: float
) -> dict[str, Any]:
    """All that came of a demo, as plain values."""
    names = {name for sight in sights for name in sight.tournament.entrants}
    bots = [version for version in versions.listing(place.store) if version.id in names]
    found = [tournaments.find(place.store, sight.tournament.id) for sight in sights]
    return {
        "seconds": seconds,
        "bots": [{"version": bot.id, "content_hash": bot.content_hash} for bot in bots],
        "tournaments": [
            plain.tournament(one, tournaments.progress(place.store, one.id)) for one in found
        ],
        "matches": [
            {
                **plain.match(one.match),
                "seed": None if one.seed is None else one.seed.hex(),
                "verified": not one.problems,
                "problems": list(one.problems),
            }
            for one in checked
        ],
        "ladders": {s.tournament.plan.form: ladders.to_json(s.standings) for s in sights},
        "elo": ladders.settings_json(),
    }
