"""Measure random play by the rules alone, in actions per second on one core.

    uv run python -m bench rules

An action consists of choosing a random listed legal action (`Legal.any`) and applying it. The same
is measured with all legal actions listed first, as the referee does for a bot that requires the
list; the figures differ where hundreds of actions are legal. Measured are every number of seats
with the default options, every switch of a game alone, and all switches together.

Games of packages have generic messages. For one game, decisions are also measured with the question
and the answer as messages: generic ones, compared with those of the game.
"""

import random
import time
from collections.abc import Iterator, Mapping

from pokearena.v1 import bot_pb2

from bench.figure import Figure, FigureTarget
from referee.game_codec import GameCodec
from referee.games.contract import Game
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded, board_seed
from referee.generic_codec import GenericCodec
from referee.presentation.registry import presentation_of

UNIT = "random actions a second"
CODED_GAME = "saint_poker"
LEAST_GENERIC = 0.5
"""Target: decisions per second with generic messages, at least this ratio to those of the game."""

Form = tuple[int, dict[str, bool]]
"""A number of seats, and the changed switches."""


def rate(
    game_id: str,
    seats: int | None = None,
    options: Mapping[str, object] | None = None,
    seconds: float = 1.0,
    listing: bool = False,
) -> float:
    """Return actions per second of processor time.

    Args:
        game_id: the game.
        seats: number of seats.
        options: options that differ from their defaults.
        seconds: processor seconds of the measurement.
        listing: whether all legal actions are listed before one is chosen.
    """
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


def coded_rate(codec: GameCodec, game: Game, seconds: float = 1.0) -> float:
    """Return decisions per second of processor time, with questions and answers as messages.

    Args:
        codec: the codec of the messages.
        game: the game.
        seconds: processor seconds of the measurement.
    """
    chance, head = random.Random(1), bot_pb2.ActRequest(decision=1)
    decisions, board, began = 0, 0, time.process_time()
    while time.process_time() - began < seconds:
        state = game.start(Seeded(board_seed(bytes(32), board)))
        board += 1
        while state.actors:
            moves = {}
            for seat in state.actors:
                legal = state.legal(seat)
                codec.question(head, state.view(seat), legal)
                answer = bot_pb2.Action.FromString(codec.action(legal.any(chance)))
                moves[seat] = codec.decode(answer)
            decisions += len(moves)
            state = state.play(moves)
        codec.forget_games()
    return decisions / (time.process_time() - began)


def generic_messages(rounds: int) -> Figure:
    """Return decisions with generic messages, compared with the messages of the game."""
    game = GAMES[CODED_GAME]
    codecs = GenericCodec(game), GameCodec(game)
    generic, typed = zip(
        *([coded_rate(codec, game) for codec in codecs] for _ in range(rounds)), strict=True
    )
    return Figure(
        f"{CODED_GAME} with generic messages",
        "decisions a second",
        generic,
        "with messages of its own",
        typed,
        FigureTarget(LEAST_GENERIC, of_ratio=True),
    )


def forms(game: Game) -> Iterator[Form]:
    """Yield the forms of a game; the first is the baseline for the others."""
    switches = [name for name, o in game.options.items() if isinstance(o.default, bool)]
    flipped = {name: not game.options[name].default for name in switches}
    combinations: list[Form] = [(seats, {}) for seats in game.seats]
    changed = [{name: flipped[name]} for name in switches]
    changed += [flipped] if len(switches) > 1 else []
    combinations += [(_fewest(game, options), options) for options in changed]
    yield from combinations


def _fewest(game: Game, options: dict[str, bool]) -> int:
    """Return the first number of seats that these options allow."""
    settled = game.settle(options)
    return next(seats for seats in game.seats if game.allows(seats, settled))


def figures(rounds: int) -> Iterator[Figure]:
    """Yield every form of every game, compared with the first form of its game."""
    yield generic_messages(rounds)
    for game_id, game in GAMES.items():
        first, *others = forms(game)
        target = FigureTarget(presentation_of(game_id).target_rate)
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
    words = [f"{name}={str(value).lower()}" for name, value in options.items()]
    return " ".join([game_id, f"for {seats}", *words])
