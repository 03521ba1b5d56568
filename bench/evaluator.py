"""Comparing poker hands beside the evaluators of the field: hands a second, from Python.

    uv run --group bench python -m bench evaluator

All take the same random hands in turns, as cards of their own kind, made before the clock runs.
Ours gives what decides a comparison in words and ranks, since that is how rules are told; the
others give a number. Each must order pairs of hands as ours does.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

from bench.figure import Figure, left_out
from referee.cards import Card
from referee.poker import best_hand

HANDS = 4_000
RANKS = "23456789TJQKA"
SUITS = "shdc"

Cards = tuple[str, ...]
"""Cards as most libraries write them: ``Qs``."""


def phevaluator() -> tuple[Callable[[Cards], Any], Callable[[Any], float]]:
    """A C library by way of Python; low is good."""
    evaluate = import_module("phevaluator").evaluate_cards
    return (lambda hand: hand), (lambda hand: -evaluate(*hand))


def eval7() -> tuple[Callable[[Cards], Any], Callable[[Any], float]]:
    """Cython; high is good."""
    library = import_module("eval7")
    return (lambda hand: [library.Card(card) for card in hand]), library.evaluate


def treys() -> tuple[Callable[[Cards], Any], Callable[[Any], float]]:
    """Python and tables; low is good."""
    library = import_module("treys")
    evaluator = library.Evaluator()
    return (
        (lambda hand: [library.Card.new(card) for card in hand]),
        (lambda hand: -evaluator.evaluate(hand, [])),
    )


PEERS = {"phevaluator": phevaluator, "eval7": eval7, "treys": treys}


def hands(number: int, size: int) -> list[Cards]:
    """Random hands, the same each time."""
    pack = [rank + suit for rank in RANKS for suit in SUITS]
    chance = random.Random(1)
    return [tuple(chance.sample(pack, size)) for _ in range(number)]


def ours(hand: Cards) -> tuple[Card, ...]:
    """A hand in the arena's cards."""
    return tuple(Card(card.upper()) for card in hand)


def rate(evaluate: Callable[[Any], Any], given: Sequence[Any]) -> float:
    """Hands a second of processor time."""
    began = time.process_time()
    for hand in given:
        evaluate(hand)
    return len(given) / (time.process_time() - began)


def figures(rounds: int) -> Iterator[Figure]:
    """Hands of five and of seven, beside each library."""
    for size in (5, 7):
        dealt = hands(HANDS, size)
        own = [ours(hand) for hand in dealt]
        for name, make in PEERS.items():
            title = f"best of {size} cards"
            try:
                turn, evaluate = make()
            except ImportError:
                yield left_out(f"{title} beside {name}", f"{name} is not installed")
                continue
            theirs = [turn(hand) for hand in dealt]
            _check(name, own, [evaluate(hand) for hand in theirs])
            values, beside = [], []
            for _ in range(rounds):
                values.append(rate(best_hand, own))
                beside.append(rate(evaluate, theirs))
            yield Figure(title, "hands a second", values, name, beside)


def _check(name: str, own: Sequence[tuple[Card, ...]], found: Sequence[float]) -> None:
    values = [best_hand(hand) for hand in own]
    for (a, b), (x, y) in zip(pairwise(values), pairwise(found), strict=True):
        if (a < b, a == b) != (x < y, x == y):
            raise SystemExit(f"{name} orders {a} and {b} otherwise than we do")
