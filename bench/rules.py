"""Random play by the rules alone: actions a second on one core.

    uv run python -m bench rules

An action is: one of the listed legal actions at random (`Legal.any`), and what follows. Beside
it stands the same with all of them listed first, which is what the referee does for a bot that
wants them; it differs where hundreds are legal. Every number of seats is measured with the usual
options, and every switch of a game alone and all together.
"""

import random
import time
from collections.abc import Iterator, Mapping

from bench.figure import Figure, Target
from referee.dealing import Seeded, board_seed
from referee.games.contract import Game
from referee.games.registry import GAMES

TARGETS = {
    "poke": 55_000,
    "saint_poker": 55_000,
    "pokex": 55_000,
    "pouku": 10_000,
    "pokino": 10_000,
}
TARGET = 10_000
"""Of a game that is not named above."""

UNIT = "random actions a second"

Form = tuple[int, dict[str, bool]]
"""A number of seats, and the switches that are on."""


def rate(
    game_id: str,
    seats: int | None = None,
    options: Mapping[str, object] | None = None,
    seconds: float = 1.0,
    listing: bool = False,
) -> float:
    """Actions a second of processor time; ``listing``: all that is legal is listed first."""
    game, chance = GAMES[game_id], random.Random(1)
    actions, board, began = 0, 0, time.process_time()
    while time.process_time() - began < seconds:
        state = game.start(Seeded(board_seed(bytes(32), board)), seats, options)
        board += 1
        while state.actors:
            if listing:
                moves = {seat: chance.choice(list(state.legal(seat))) for seat in state.actors}
            else:
                moves = {seat: state.legal(seat).any(chance) for seat in state.actors}
            actions += len(moves)
            state = state.play(moves)
    return actions / (time.process_time() - began)


def forms(game: Game) -> Iterator[Form]:
    """The forms of a game; the first is what the others are compared with."""
    switches = [name for name, o in game.options.items() if isinstance(o.default, bool)]
    flipped = {name: not game.options[name].default for name in switches}
    wanted: list[Form] = [(seats, {}) for seats in game.seats]
    some = [{name: flipped[name]} for name in switches]
    some += [flipped] if len(switches) > 1 else []
    wanted += [(_fewest(game, options), options) for options in some]
    yield from wanted


def _fewest(game: Game, options: dict[str, bool]) -> int:
    """The first number of seats that goes with these options."""
    settled = game.settle(options)
    return next(seats for seats in game.seats if game.allows(seats, settled))


def figures(rounds: int) -> Iterator[Figure]:
    """Every form of every game, beside its game's first."""
    for game_id, game in GAMES.items():
        first, *others = forms(game)
        target = Target(TARGETS.get(game_id, TARGET))
        title = _title(game_id, first)
        base = [rate(game_id, *first) for _ in range(rounds)]
        yield Figure(title, UNIT, base, target=target)
        listed = [rate(game_id, *first, listing=True) for _ in range(rounds)]
        yield Figure(f"{title}, all listed", UNIT, listed, "not listed", base)
        for form in others:
            values, beside = [], []
            for _ in range(rounds):
                values.append(rate(game_id, *form))
                beside.append(rate(game_id, *first))
            yield Figure(_title(game_id, form), UNIT, values, title, beside, target)


def _title(game_id: str, form: Form) -> str:
    seats, options = form
    told = [f"{name}={str(value).lower()}" for name, value in options.items()]
    return " ".join([game_id, f"for {seats}", *told])
