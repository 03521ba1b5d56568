"""Measure what a learning opponent gains against the house bot `champion`.

    uv run python -m bench.best_response --form pouku-4 --learn 40 --boards 40

Both responses are copies of `champion` that deal the hidden cards in another way:

- The *reader* learns from games between copies of `champion` what their plays reveal of their
  hands. Its weights fit the true hands among hands that `champion` samples (conditional logit).
- The *clairvoyant* sees all hands, as a perfect reader would; with the stock it also sees the cards
  to come.

The reader's weights come from the first boards. The figures come from the boards after them: the
mean score of a response against copies of `champion` on all other seats with its 95 % interval, and
the gain of the log likelihood of the true hands. A board with all its games is one observation.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.arguments import at_least
from bench.hidden_cards import HIDDEN_CARDS, RANKS, Clue, Counts, HiddenCards
from bench.strength import (
    BotComparison,
    Choose,
    MeasuredForm,
    Timed,
    compare,
    forms,
    loaded,
    mean_and_half,
    play,
)
from referee.game_codec import GameCodec
from referee.games.contract import State

Numbers = NDArray[np.float64]
Situation = tuple[int | bool | str, ...]
Weights = Mapping[Situation, Numbers]
Sampler = Callable[[int], Any]
"""Returns a sample of this many worlds as `champion` deals them."""

SAMPLED = 24
"""Sampled hands beside a true hand."""
SPARE = 4
"""The reader chooses its worlds from this many times as many."""
RELATED = 5
FEATURES = 3 * RANKS + 2 * RANKS - 1 + RELATED
RIDGES = (3.0, 10.0, 30.0, 100.0, 300.0)
STEPS = 12


def features(hands: Counts, clue: Clue) -> Numbers:
    """Return the features of hands, which are counts by rank.

    These are: at least one, two and three cards of each rank; the cards by the difference of their
    rank to the latest play; the cards by the number of related open cards of their rank.
    """
    most = [hands >= number for number in (1, 2, 3)]
    apart = np.zeros((len(hands), 2 * RANKS - 1))
    if clue.latest is not None:
        apart[:, RANKS - 1 - clue.latest : 2 * RANKS - 1 - clue.latest] = hands
    groups = np.minimum(clue.related, RELATED - 1)[:, None] == np.arange(RELATED)
    return np.concatenate([*most, apart, hands @ groups], axis=1).astype(np.float64)


class Table:
    """The position of the game that is being played."""

    state: Any = None
    board = 0

    def watch(self, board: int, state: State) -> None:
        """Store the position before a decision."""
        self.board, self.state = board, state


class Examples:
    """True hands among sampled ones, by situation."""

    def __init__(self) -> None:
        self.rows: dict[Situation, list[Numbers]] = defaultdict(list)
        self.boards: dict[Situation, list[int]] = defaultdict(list)

    def add(self, board: int, situation: Situation, rows: Numbers) -> None:
        """Store the features of a true hand (first) and of sampled hands."""
        self.rows[situation].append(rows.astype(np.float32))
        self.boards[situation].append(board)

    def half(self, odd: bool) -> "Examples":
        """Return the examples of the boards with odd or with even numbers."""
        part = Examples()
        for name, rows in self.rows.items():
            for board, row in zip(self.boards[name], rows, strict=True):
                if board % 2 == odd:
                    part.add(board, name, row)
        return part

    def fitted(self, ridge: float) -> Weights:
        """Return the weights of each situation."""
        return {name: fitted(np.array(rows), ridge) for name, rows in self.rows.items()}

    def best_ridge(self) -> float:
        """Return the ridge whose weights of each half of the boards fit the other half best."""
        halves = [self.half(odd) for odd in (False, True)]

        def gain(ridge: float) -> float:
            weights = [half.fitted(ridge) for half in halves]
            return halves[0].gain(weights[1])[0] + halves[1].gain(weights[0])[0]

        return max(RIDGES, key=gain)

    def gain(self, weights: Weights) -> tuple[float, float]:
        """Return the gain in log likelihood per hand, and half its 95 % interval."""
        by_board: dict[int, list[float]] = defaultdict(list)
        for name, rows in self.rows.items():
            if name in weights:
                rated = np.array(rows) @ weights[name]
                gains = rated[:, 0] - np.log(np.exp(rated).mean(axis=1))
            else:
                gains = np.zeros(len(rows))
            for board, gain in zip(self.boards[name], gains, strict=True):
                by_board[board].append(gain)
        return mean_and_half([statistics.mean(gains) for gains in by_board.values()])


def fitted(rows: NDArray[Any], ridge: float) -> Numbers:
    """Fit a conditional logit by Newton's method: the first hand of each row was held."""
    weights = np.zeros(rows.shape[2])
    for _ in range(STEPS):
        rated = rows @ weights
        share = np.exp(rated - rated.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        expected = np.einsum("nk,nkf->nf", share, rows)
        slope = (rows[:, 0] - expected).sum(axis=0) - ridge * weights
        square = np.einsum("nk,nkf,nkg->fg", share, rows, rows, optimize=True)
        curve = square - expected.T @ expected + ridge * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, slope)
    return weights


class Reader:
    """Deals hidden cards as `champion` does, weighted by the plays of the other seats.

    Without weights it deals as `champion` does, and stores examples.
    """

    def __init__(self, cards: HiddenCards, table: Table, weights: Weights | None = None) -> None:
        self.cards, self.table = cards, table
        self.weights = weights or {}
        self.examples = Examples()
        self.seen: tuple[Any, int] = None, -1

    def __call__(self, search: Any, number: int, sampler: Sampler) -> Any:
        """Return a sample of this many worlds."""
        self._note(search, sampler)
        others = [seat for seat in range(len(search.state.hands)) if seat != search.seat]
        clues = {seat: self.cards.clue(search.state, seat) for seat in others}
        clues = {seat: clue for seat, clue in clues.items() if clue.situation in self.weights}
        if not clues:
            return sampler(number)
        sample = sampler(SPARE * number)
        rated: Numbers = np.zeros(SPARE * number)
        for seat, clue in clues.items():
            hands = self.cards.hands(search, sample, seat)
            rated += features(hands, clue) @ self.weights[clue.situation]
        odds = np.exp(rated - rated.max())
        # Systematic resampling: every world is taken in proportion to its odds.
        steps = (np.arange(number) + 0.5) / number
        worlds = np.searchsorted(np.cumsum(odds) / odds.sum(), steps)
        return self.cards.chosen(sample, np.minimum(worlds, SPARE * number - 1))

    def _note(self, search: Any, sampler: Sampler) -> None:
        """Store the true hands of a decision once, without a change of its random numbers."""
        state, seat = self.table.state, search.seat
        if self.seen[0] is state and self.seen[1] == seat:
            return
        self.seen = state, seat
        kept = search.rng.bit_generator.state
        sample = sampler(SAMPLED)
        truth = self.cards.opened(search, sampler(1), state, stock=False)
        search.rng.bit_generator.state = kept
        for other in range(len(state.hands)):
            if other == seat:
                continue
            clue = self.cards.clue(search.state, other)
            hands = [self.cards.hands(search, dealt, other) for dealt in (truth, sample)]
            self.examples.add(
                self.table.board, clue.situation, features(np.concatenate(hands), clue)
            )


class Clairvoyant:
    """Deals the true hands in every world, and optionally the true stock."""

    def __init__(self, cards: HiddenCards, table: Table, stock: bool = False) -> None:
        self.cards, self.table, self.stock = cards, table, stock

    def __call__(self, search: Any, number: int, sampler: Sampler) -> Any:
        """Return a sample of this many worlds."""
        return self.cards.opened(search, sampler(number), self.table.state, self.stock)


def response(
    form: MeasuredForm, seat: int, dealing: Reader | Clairvoyant, bot: str = "champion"
) -> Choose:
    """Return the function of a copy of `champion` that deals hidden cards in another way."""
    choose = loaded(bot, form.start(seat))
    search = choose.__self__.search  # type: ignore[attr-defined]
    owner, method = HIDDEN_CARDS[form.game.id].method
    searching = type(search).choose.__globals__[owner]
    usual = getattr(searching, method)

    def deal(search: Any, number: int, *rest: Any) -> Any:
        return dealing(search, number, lambda number: usual(search, number, *rest))

    setattr(searching, method, deal)
    return choose


def learned(form: MeasuredForm, boards: Iterable[int]) -> Examples:
    """Return the examples of games between copies of `champion`."""
    table, codec = Table(), GameCodec(form.game)
    reader = Reader(HIDDEN_CARDS[form.game.id], table)
    seating = [response(form, seat, reader) for seat in range(form.seats)]
    for board in boards:
        play(form, codec, board, seating, table.watch)
    return reader.examples


def played(
    form: MeasuredForm, dealing: Reader | Clairvoyant, table: Table, boards: range
) -> BotComparison:
    """Play a response against copies of `champion`."""
    first = [Timed(response(form, seat, dealing)) for seat in range(form.seats)]
    second = [loaded("champion", form.start(seat)) for seat in range(form.seats)]
    return compare(form, first, second, boards, table.watch)


def main() -> None:
    """Print a table for each form."""
    known = {str(form): form for form in forms() if form.game.id in HIDDEN_CARDS}
    parser = argparse.ArgumentParser(description="Best responses to the house bot `champion`.")
    parser.add_argument("--form", action="append", choices=known, help="only this; may be repeated")
    parser.add_argument(
        "--learn", type=at_least(1), default=40, help="boards of the reader's lessons"
    )
    parser.add_argument(
        "--boards", type=at_least(1), default=40, help="new boards of the reader's games"
    )
    parser.add_argument(
        "--open", type=at_least(1), default=10, help="boards of the clairvoyant's games"
    )
    given = parser.parse_args()
    for name in given.form or known:
        print(f"\n**{name}**\n\n| response | boards | figure | games | CPU s |")
        print("|---|---|---|---|---|", flush=True)
        for line in _measured(known[name], given.learn, given.boards, given.open):
            print(f"| {line} |", flush=True)


def _measured(form: MeasuredForm, learn: int, boards: int, opened: int) -> Iterable[str]:
    """Yield the lines of a table."""
    cards, table = HIDDEN_CARDS[form.game.id], Table()
    new = range(learn, learn + max(boards, opened))
    begun = time.process_time()

    def line(response: str, boards: int, figure: tuple[float, float], games: int) -> str:
        nonlocal begun
        spent, begun = time.process_time() - begun, time.process_time()
        mean, half = figure
        return f"{response} | {boards} | {mean:.3f} ± {half:.3f} | {games} | {spent:.0f}"

    for stock in (False, True) if opened else ():
        result = played(form, Clairvoyant(cards, table, stock), table, new[:opened])
        name = "clairvoyant with the stock" if stock else "clairvoyant"
        yield line(f"{name}, score", opened, (result.mean, result.half), result.games)
    if not learn:
        return
    examples = learned(form, range(learn))
    weights = examples.fitted(examples.best_ridge())
    yield line("reader, log likelihood on its boards", learn, examples.gain(weights), learn)
    reader = Reader(cards, table, weights)
    result = played(form, reader, table, new[:boards])
    yield line("reader, score on new boards", boards, (result.mean, result.half), result.games)
    mean, half = reader.examples.gain(weights)
    yield f"reader, log likelihood on new boards | {boards} | {mean:.3f} ± {half:.3f} | |"


if __name__ == "__main__":
    main()
