"""Compare the poker hand evaluation with other Python libraries, in hands per second.

    uv run --group bench python -m bench evaluator

All libraries evaluate the same random hands in turns, converted to their own card type before the
measurement. The arena's evaluator returns the category and ranks that decide a comparison, because
rules are stated in these terms; the others return a number. Each library must order pairs of hands
in the same way as the arena.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

from bench.figure import Figure, left_out
from referee.games.shared.cards import Card
from referee.games.shared.poker import best_hand

HANDS = 4_000
RANKS = "23456789TJQKA"
SUITS = "shdc"

Cards = tuple[str, ...]
"""Cards in the notation of most libraries: ``Qs``."""


def phevaluator() -> tuple[Callable[[Cards], Any], Callable[[Any], float]]:
    """Return the functions of a C library with a Python interface; lower values are better."""
    evaluate = import_module("phevaluator").evaluate_cards
    return (lambda hand: hand), (lambda hand: -evaluate(*hand))


def eval7() -> tuple[Callable[[Cards], Any], Callable[[Any], float]]:
    """Return the functions of a Cython library; higher values are better."""
    library = import_module("eval7")
    return (lambda hand: [library.Card(card) for card in hand]), library.evaluate


def treys() -> tuple[Callable[[Cards], Any], Callable[[Any], float]]:
    """Return the functions of a Python library with tables; lower values are better."""
    library = import_module("treys")
    evaluator = library.Evaluator()
    return (
        (lambda hand: [library.Card.new(card) for card in hand]),
        (lambda hand: -evaluator.evaluate(hand, [])),
    )


PEERS = {"phevaluator": phevaluator, "eval7": eval7, "treys": treys}


def hands(number: int, size: int) -> list[Cards]:
    """Return random hands from a fixed seed."""
    pack = [rank + suit for rank in RANKS for suit in SUITS]
    chance = random.Random(1)
    return [tuple(chance.sample(pack, size)) for _ in range(number)]


def ours(hand: Cards) -> tuple[Card, ...]:
    """Convert a hand to the arena's cards."""
    return tuple(Card(card.upper()) for card in hand)


def rate(evaluate: Callable[[Any], Any], given: Sequence[Any]) -> float:
    """Return the hands evaluated per second of processor time."""
    began = time.process_time()
    for hand in given:
        evaluate(hand)
    return len(given) / (time.process_time() - began)


def figures(rounds: int) -> Iterator[Figure]:
    """Yield hands of five and of seven cards, compared with each library."""
    for size in (5, 7):
        dealt = hands(HANDS, size)
        our_hands = [ours(hand) for hand in dealt]
        for name, make in PEERS.items():
            title = f"best of {size} cards"
            try:
                turn, evaluate = make()
            except ImportError:
                yield left_out(f"{title} beside {name}", f"{name} is not installed")
                continue
            theirs = [turn(hand) for hand in dealt]
            _check(name, our_hands, [evaluate(hand) for hand in theirs])
            values, beside = [], []
            for _ in range(rounds):
                values.append(rate(best_hand, our_hands))
                beside.append(rate(evaluate, theirs))
            yield Figure(title, "hands a second", values, name, beside)


def _check(name: str, dealt: Sequence[tuple[Card, ...]], other_values: Sequence[float]) -> None:
    values = [best_hand(hand) for hand in dealt]
    for (a, b), (x, y) in zip(pairwise(values), pairwise(other_values), strict=True):
        if (a < b, a == b) != (x < y, x == y):
            raise SystemExit(f"{name} orders {a} and {b} otherwise than we do")
