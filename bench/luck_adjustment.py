"""Measure how many games luck-adjusted comparisons of two bots save, by form.

    uv run python -m bench.luck_adjustment poke-2 --boards 200

Each board is played in every seating, with A on every side in turn against copies of B. The factor
is the variance of the result of a single game on a board of its own, divided by the variance of the
mean over a board's games times their number: for the results of mirrored boards, and for these
results adjusted as in `pokearena compare --adjusted`. Its 95 % interval is from resampled boards.

The last factors are those of infinitely many playouts by the same policy, with the best multiple
of the luck. The luck of a game is estimated twice with independent playouts. The covariance of
both estimates is the variance of the luck without the noise of the playouts.

With `--own`, the bots themselves play the playouts, to the end of the game. The best multiple is
then one, and the ceiling is that of any control variate of chance events: what remains are the
bots' random choices.

A bot is the name of a house bot, or `policy`, the playout policy of `strong`; `%6` after it means
that it plays 6 % of its decisions at random. Only the play of the bots counts as games: playouts
do not ask the bots.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pokearena.v1 import bot_pb2

from arena.bots.in_process import load
from arena.ratings.control_variates import adjusted_results
from arena.records.analysis.engine import engine_of
from arena.records.luck_adjustment.chance_luck import Move, luck_of_game
from arena.records.luck_adjustment.match_luck import PLAYOUTS, luck_difference
from arena.records.luck_adjustment.values import values_of
from bench.arguments import HOUSE_BOTS, at_least
from bench.mirroring import Factor, result, rotations
from bench.strength import MeasuredForm, forms
from referee.game_codec import GameCodec
from referee.games.contract import Action, State
from referee.games.shared.dealing import Seeded, board_seed, derive

PAIRS: Final = (
    ("greedy", "greedy%6"),
    ("greedy%12", "policy%25"),
    ("greedy", "bold"),
)
SEED: Final = (2).to_bytes(32, "big")
_RESAMPLED: Final = 400
Floats = NDArray[np.float64]
Mover = Callable[[State, int, int], Action]
"""Returns the action of a seat in a position; the last argument seeds random choices."""


def mover(form: MeasuredForm, bot: str) -> Mover:
    """Return a bot as a function of positions."""
    name, _, percent = bot.partition("%")
    choose = _policy(form) if name == "policy" else _house_bot(form, name)

    def move(state: State, seat: int, luck: int) -> Action:
        dice = random.Random(luck)
        if dice.random() < int(percent or 0) / 100:
            return state.legal(seat).any(dice)
        random.seed(luck)
        return choose(state, seat, luck)

    return move


def _policy(form: MeasuredForm) -> Mover:
    engine = engine_of(form.game.id)
    return lambda state, seat, luck: engine.move(state, seat)


def _house_bot(form: MeasuredForm, name: str) -> Mover:
    codec = GameCodec(form.game)
    bots = [load(name, form.start(seat)) for seat in range(form.seats)]

    def move(state: State, seat: int, luck: int) -> Action:
        legal = state.legal(seat)
        head = bot_pb2.ActRequest(seat=seat, complete=legal.complete, luck=luck)
        question = bot_pb2.ActRequest.FromString(codec.question(head, state.view(seat), legal))
        answer = bots[seat](question)
        return codec.decode(answer[0] if isinstance(answer, tuple) else answer)

    return move


def played(form: MeasuredForm, board: int, movers: Sequence[Mover]) -> list[Move]:
    """Play a board and return all its positions with the actions; none in the last one."""
    seed = board_seed(SEED, board)
    base = int.from_bytes(derive(seed, "luck", 0)[:7], "big")
    state, decision = form.game.start(Seeded(seed), form.seats, form.given), 0
    game: list[Move] = []
    while state.actors:
        moves: dict[int, Action] = {}
        for seat in state.actors:
            moves[seat] = movers[seat](state, seat, base + (decision << 3 | seat))
            decision += 1
        game.append((state, moves))
        state = state.after(moves)
    return [*game, (state, {})]


class OwnPlayouts:
    """Values of positions from playouts by the bots themselves, to the end of the game."""

    def __init__(self, form: MeasuredForm, movers: Sequence[Mover]) -> None:
        self._form, self._movers = form, movers
        self._dice = random.Random(0)

    def sample(self, state: State) -> Floats:
        """Return the values after one playout, by kind of value and seat.

        The difference of the values of two seats is that of their results: a score from 0 to 1.
        """
        while actors := state.actors:
            luck = {seat: self._dice.getrandbits(56) for seat in actors}
            state = state.after(
                {seat: self._movers[seat](state, seat, luck[seat]) for seat in luck}
            )
        sides = self._form.sides
        outcome = self._form.game.outcome(state, sides)
        places = dict(zip(sides, outcome.places, strict=True))
        points = dict(zip(sides, outcome.scores, strict=True))
        chances = [np.mean(np.sign(np.array(outcome.places) - places[side])) / 2 for side in sides]
        return np.array([chances, [points[side] for side in sides]], dtype=np.float64)


def boards_of(
    form: MeasuredForm,
    pair: Sequence[str],
    boards: range,
    playouts: int = PLAYOUTS,
    estimates: int = 1,
    by_bots: bool = False,
) -> tuple[Floats, Floats]:
    """Play boards and return A's results and their control variates.

    Returns:
        The results by board, seating and kind (score, points), and the control variates by board,
        seating, independent estimate, kind of result and kind of chance event.
    """
    movers = {bot: mover(form, name) for bot, name in zip("AB", pair, strict=True)}
    results, controls = [], []
    for board in boards:
        games = [
            game_of(form, board, seating, movers, playouts, estimates, by_bots)
            for seating in rotations(form)
        ]
        results.append([each for each, _ in games])
        controls.append([each for _, each in games])
    return np.array(results), np.array(controls)


def game_of(
    form: MeasuredForm,
    board: int,
    seating: str,
    movers: Mapping[str, Mover],
    playouts: int,
    estimates: int = 1,
    by_bots: bool = False,
) -> tuple[tuple[float, float], Floats]:
    """Play a board in one seating and return A's score and points, and the control variates.

    The control variates are by independent estimate, kind of result and kind of chance event.
    """
    players = [movers[seating[side]] for side in form.sides]
    game = played(form, board, players)
    values = OwnPlayouts(form, players) if by_bots else values_of(form.game.id, form.sides)
    options = form.game.settle(form.given)
    mine = [form.sides.index(side) for side, bot in enumerate(seating) if bot == "A"]
    theirs = [form.sides.index(side) for side, bot in enumerate(seating) if bot == "B"]
    controls = []
    for number in range(estimates):
        seed = derive(board_seed(SEED, board), f"luck-adjustment {seating}", number)
        luck = luck_of_game(form.game, form.seats, options, values, game[:-1], seed, playouts)
        controls.append(luck_difference(luck, mine, theirs))
    return result(form, game[-1][0], seating), np.array(controls)


def factors(
    results: Floats, controls: Floats, by_bots: bool = False
) -> Iterator[tuple[Factor, Factor, Factor]]:
    """Yield the factors of mirrored boards, adjusted ones and the ceiling, for score and points.

    Args:
        results: results as from `boards_of`.
        controls: control variates as from `boards_of`, with two estimates.
        by_bots: whether the bots themselves played the playouts.
    """
    dice = np.random.default_rng(0)
    means = controls.mean(axis=1)
    for kind in range(results.shape[2]):
        games, lucks = results[:, :, kind], means[:, :, kind]
        adjusted = adjusted_results(games.mean(axis=1), lucks.mean(axis=1))
        samples = [dice.integers(len(games), size=len(games)) for _ in range(_RESAMPLED)]
        drawn = [_ratios(games[each], adjusted[each], lucks[each], by_bots) for each in samples]
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0, method="nearest")
        ratios = zip(_ratios(games, adjusted, lucks, by_bots), low, high, strict=True)
        mirrored, improved, ceiling = (Factor(*map(float, each)) for each in ratios)
        yield mirrored, improved, ceiling


def _ratios(
    games: Floats, adjusted: Floats, lucks: Floats, by_bots: bool
) -> tuple[float, float, float]:
    single = games.var(axis=0, ddof=1).mean() / games.shape[1]
    boards = games.mean(axis=1)
    mirrored = boards.var(ddof=1)
    remaining = mirrored - _explained(boards, lucks.sum(axis=2), by_bots)
    ceiling = single / remaining if remaining > 0 else np.inf
    return single / mirrored, single / adjusted.var(ddof=1), ceiling


def _explained(boards: Floats, lucks: Floats, by_bots: bool) -> float:
    """Return the variance of results that luck without noise explains, by the best multiple.

    Args:
        boards: the result of each board.
        lucks: two independent estimates of the luck of each board.
        by_bots: whether the bots themselves played the playouts. Then the best multiple is one, so
            results and luck have the covariance of luck.
    """
    first, second = lucks.T
    luck = np.cov(first, second)[0, 1]
    shared = np.cov(boards, lucks.mean(axis=1))[0, 1]
    if by_bots:
        return float(shared)
    return float(shared**2 / luck) if luck > 0 else 0.0


def _bot(text: str) -> str:
    name, _, percent = text.partition("%")
    if name not in (*HOUSE_BOTS, "policy") or not (percent or "0").isdecimal():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not valid: use policy or a house bot ({', '.join(HOUSE_BOTS)}), "
            "and an integer after %, for example greedy%6"
        )
    return text


def main() -> None:
    """Play the pairs and print the factors of each form."""
    known = {str(form): form for form in forms()}
    parser = argparse.ArgumentParser(description="How many games luck-adjusted results save.")
    parser.add_argument("form", nargs="+", choices=known)
    parser.add_argument(
        "--pair",
        action="append",
        nargs=2,
        type=_bot,
        metavar="BOT",
        help="a house bot or `policy`; greedy%%6 plays 6 %% of its actions at random",
    )
    parser.add_argument("--boards", type=at_least(40), default=200)
    parser.add_argument("--playouts", type=at_least(1), default=PLAYOUTS)
    parser.add_argument("--own", action="store_true", help="let the bots play the playouts")
    given = parser.parse_args()
    kinds = " | ".join(f"{kind}: w/d/l | points" for kind in ("mirrored", "adjusted", "ceiling"))
    print(f"| form | bots | boards | {kinds} | s |")
    print("|---" * 10 + "|")
    for name in given.form:
        for pair in given.pair or PAIRS:
            begun = time.process_time()
            boards, half = range(given.boards), max(1, given.playouts // 2)
            results, controls = boards_of(known[name], pair, boards, half, 2, given.own)
            by_kind = zip(*factors(results, controls, given.own), strict=True)
            columns = [factor for factors_of_kinds in by_kind for factor in factors_of_kinds]
            seconds = (time.process_time() - begun) / given.boards
            cells = [name, " ".join(pair), given.boards, *columns]
            print(f"| {' | '.join(map(str, cells))} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
