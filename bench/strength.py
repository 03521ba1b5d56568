"""Measure the strength of the house bots against each other, over mirrored boards.

    uv run python -m bench.strength                        # every form of every game: hours
    uv run python -m bench.strength --form pouku-3 --pair strong greedy --boards 40
    uv run python -m bench.strength --form pouku-3 --pair champion:4 champion --boards 40

At a table one side is the first bot, and all other sides are the second one. Each board is played
with the first bot on every side in turn. Its score in a game is the mean over the other sides of 1
for a better place, one half for the same, 0 for a worse.

The figure is the mean over the boards with its 95 % interval; a board with all its games is one
observation. The bots' functions are called in this process with the same questions as from the
referee, without clocks.
"""

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from pokearena.v1 import bot_pb2

from arena.bots.in_process import Choose as Choose
from arena.bots.in_process import load as load
from bench.arguments import HOUSE_BOTS, at_least, house_bot
from referee.game_codec import GameCodec
from referee.games.contract import Game, State
from referee.games.registry import GAMES
from referee.games.shared.dealing import Seeded, board_seed

HOUSE = Path(__file__).parent.parent / "sample_bots" / "house"
PAIRS = (("strong", "greedy"), *combinations(HOUSE_BOTS[2:], 2))
"""The default pairs; a bot that beats greedy need not play the others."""
SEED = bytes(32)
Watch = Callable[[int, State], None]


@dataclass(frozen=True)
class MeasuredForm:
    """A game with a number of seats and options."""

    game: Game
    seats: int
    given: Mapping[str, Any] = field(default_factory=dict)
    """The options that differ from their defaults."""

    def __str__(self) -> str:
        words = [f"{name}={str(value).lower()}" for name, value in self.given.items()]
        return "-".join([self.game.id, str(self.seats), *words])

    @property
    def sides(self) -> tuple[int, ...]:
        """The side of each seat."""
        return self.game.sides(self.seats, self.game.settle(self.given))

    def start(self, seat: int) -> bot_pb2.StartRequest:
        """Return the start request for a seat."""
        settled = self.game.settle(self.given)
        options = {name: str(value).lower() for name, value in settled.items()}
        return bot_pb2.StartRequest(
            game=self.game.id, seats=self.seats, seat=seat, options=options, games=1
        )


def forms() -> list[MeasuredForm]:
    """Return the measured forms of every game.

    These are every number of seats; each changed switch at the smallest table that allows it; and
    each non-default choice of an option at the largest table.
    """
    all_forms = []
    for game in GAMES.values():
        all_forms += [MeasuredForm(game, seats) for seats in game.seats]
        for name, option in game.options.items():
            if isinstance(option.default, bool):
                turned = {name: not option.default}
                settled = game.settle(turned)
                fewest = min(n for n in game.seats if game.allows(n, settled))
                all_forms.append(MeasuredForm(game, fewest, turned))
            words = (word for word in option.choices if word != option.default)
            all_forms += [MeasuredForm(game, max(game.seats), {name: word}) for word in words]
    return all_forms


def play(
    form: MeasuredForm,
    codec: GameCodec,
    board: int,
    seating: Sequence[Choose],
    watch: Watch = lambda board, state: None,
) -> tuple[int, ...]:
    """Play one game and return the places by seat.

    ``watch`` receives the board and every position.
    """

    def watched(state: Any) -> bool:
        watch(board, state)
        return False

    state = form.game.start(Seeded(board_seed(SEED, board)), form.seats, form.given)
    state = played_on(state, codec, board, seating, watched)
    return form.game.outcome(state, form.sides).places


def played_on(
    state: State,
    codec: GameCodec,
    board: int,
    seating: Sequence[Choose],
    done: Callable[[Any], bool],
) -> State:
    """Play on until the game is over or ``done``, and return the last position."""
    decision = 0
    while state.actors and not done(state):
        moves = {}
        for seat in state.actors:
            legal = state.legal(seat)
            head = bot_pb2.ActRequest(
                decision=decision,
                seat=seat,
                complete=legal.complete,
                luck=board << 20 | decision << 3 | seat,
            )
            question = bot_pb2.ActRequest.FromString(codec.question(head, state.view(seat), legal))
            random.seed(question.luck)
            move = seating[seat](question)
            moves[seat] = codec.decode(move[0] if isinstance(move, tuple) else move)
            decision += 1
        state = state.play(moves)
    return state


def score(places: Sequence[int], sides: Sequence[int], side: int) -> float:
    """Return a side's score: the mean over the other sides of 1, one half, or 0."""
    by_side = dict(zip(sides, places, strict=True))
    mine = by_side.pop(side)
    return statistics.mean((mine < other) + 0.5 * (mine == other) for other in by_side.values())


@dataclass(frozen=True)
class BotComparison:
    """The result of one bot against another."""

    mean: float
    half: float
    """Half the 95 % interval."""
    games: int
    ms: float
    """Mean processor milliseconds of the first bot per decision."""


class Timed:
    """A bot whose processor time is measured."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose
        self.seconds = 0.0
        self.decisions = 0

    def __call__(self, question: bot_pb2.ActRequest) -> Any:
        begun = time.process_time()
        move = self.choose(question)
        self.seconds += time.process_time() - begun
        self.decisions += 1
        return move


def measure(
    form: MeasuredForm, first_bot: str, second_bot: str, boards: int, skipped: int = 0
) -> BotComparison:
    """Play one bot against others of another kind, without the first boards."""
    first = [Timed(loaded(first_bot, form.start(seat))) for seat in range(form.seats)]
    second = [loaded(second_bot, form.start(seat)) for seat in range(form.seats)]
    return compare(form, first, second, range(skipped, skipped + boards))


def loaded(bot: str, start: bot_pb2.StartRequest) -> Choose:
    """Return the function of a house bot; ``champion:4`` has four times the nodes."""
    name, _, nodes = bot.partition(":")
    choose = load(name, start)
    if nodes:
        choose.__self__.search.nodes = float(nodes)  # type: ignore[attr-defined]
    return choose


def mean_and_half(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and half its 95 % interval, which is infinite for a single value."""
    half = 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else math.inf
    return statistics.mean(values), half


def compare(
    form: MeasuredForm,
    first: Sequence[Timed],
    second: Sequence[Choose],
    boards: range,
    watch: Watch = lambda board, state: None,
) -> BotComparison:
    """Play bots, by seat, against others; ``watch`` receives the board and every position."""
    mean, half = mean_and_half(list(board_means(form, first, second, boards, watch)))
    took = sum(bot.seconds for bot in first) / sum(bot.decisions for bot in first)
    return BotComparison(mean, half, len(boards) * len(set(form.sides)), took * 1000)


def board_means(
    form: MeasuredForm,
    first: Sequence[Choose],
    second: Sequence[Choose],
    boards: Iterable[int],
    watch: Watch = lambda board, state: None,
) -> Iterator[float]:
    """Yield the mean score of the first bots on each board, over all seatings."""
    codec, sides = GameCodec(form.game), form.sides
    for board in boards:
        scores = []
        for mine in sorted(set(sides)):
            seating = [first[s] if side == mine else second[s] for s, side in enumerate(sides)]
            scores.append(score(play(form, codec, board, seating, watch), sides, mine))
        yield statistics.mean(scores)


def duel(game: Game, first_bot: str, second_bot: str, boards: int) -> tuple[float, float]:
    """Return the mean score of one bot at the smallest table, and half its interval."""
    result = measure(MeasuredForm(game, game.seats[0]), first_bot, second_bot, boards)
    return result.mean, result.half


def main() -> None:
    """Print a table for each form."""
    known = {str(form): form for form in forms()}
    given = _arguments(known)
    for name in given.form or known:
        print(f"\n**{name}**, {given.boards} boards\n")
        print("| bot | against | mean score | games | ms a decision |\n|---|---|---|---|---|")
        for first, second in given.pair or PAIRS:
            result = measure(known[name], first, second, given.boards, given.skip)
            mean, took = f"{result.mean:.3f} ± {result.half:.3f}", f"{result.ms:.1f}"
            print(f"| {first} | {second} | {mean} | {result.games} | {took} |", flush=True)


def _arguments(known: Mapping[str, MeasuredForm]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the house bots against each other.")
    parser.add_argument(
        "--form",
        action="append",
        choices=known,
        metavar="FORM",
        help=f"measure this form (default: all); may be repeated. The forms are {', '.join(known)}",
    )
    parser.add_argument(
        "--pair",
        action="append",
        nargs=2,
        type=house_bot,
        metavar="BOT",
        help="measure the first bot against the second one; may be repeated. "
        f"The bots are {', '.join(HOUSE_BOTS)}; champion:4 has four times the nodes",
    )
    parser.add_argument(
        "--boards",
        type=at_least(1),
        default=100,
        help="number of boards (default 100)",
    )
    parser.add_argument(
        "--skip",
        type=at_least(0),
        default=0,
        help="number of the first board, to continue earlier measurements (default 0)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
