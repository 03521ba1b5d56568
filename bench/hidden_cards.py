"""The hidden cards that `champion` samples in its searches, in a common form for all games.

A *sample* is what the method of the search returns: many worlds in the game's own arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from referee.games.poke.state import PokeState
from referee.games.pokex.state import PokexState
from referee.games.pouku.state import PoukuState
from referee.games.saint_poker.state import SaintPokerState
from referee.games.shared.cards import DECK, DECK_WITH_JOKERS, RANK, Card

Counts = NDArray[np.int64]
RANKS = 13
NUMBER = {card: number for number, card in enumerate(DECK_WITH_JOKERS)}


@dataclass(frozen=True)
class Clue:
    """The visible part of another seat's play."""

    situation: tuple[int | bool | str, ...]
    """Hands of different situations are judged by different weights."""
    latest: int | None
    """The highest rank that the other seat played last."""
    related: Counts = field(default_factory=lambda: np.zeros(RANKS, dtype=np.int64))
    """Open cards by rank that combine with the other seat's hand."""


class HiddenCards(Protocol):
    """The samples of a game."""

    method: tuple[str, str]
    """The class and the method that sample; the first argument is the number of worlds."""

    def hands(self, search: Any, sample: Any, seat: int) -> Counts:
        """Return a seat's hand in each world, as counts by rank."""

    def chosen(self, sample: Any, worlds: Counts) -> Any:
        """Return a sample of some of the worlds."""

    def opened(self, search: Any, sample: Any, state: Any, stock: bool) -> Any:
        """Return the sample with the hands of the position in every world.

        Args:
            search: the search of the sample.
            sample: the sample.
            state: the position.
            stock: whether the cards to come are those of the position; otherwise they are shuffled.
        """

    def clue(self, state: Any, seat: int) -> Clue:
        """Return what the position shows of the hand of a seat."""


def numbers_of(cards: Sequence[Card]) -> Counts:
    """Return the numbers of cards, 4 * rank + suit; 52 and 53 are the jokers."""
    return np.array([NUMBER[card] for card in cards], dtype=np.int64)


def counted(cards: Counts) -> Counts:
    """Count numbers of cards by rank in the last axis, without jokers."""
    return np.asarray((cards[..., None] // 4 == np.arange(RANKS)).sum(axis=-2))


def highest(cards: Sequence[Card]) -> int | None:
    """Return the highest rank of cards, 0 for a two."""
    return max((RANK[card] - 2 for card in cards if card in RANK), default=None)


def _tiled(cards: Sequence[Card], worlds: int) -> Counts:
    return np.tile(numbers_of(cards), (worlds, 1))


def _to_come(search: Any, state: Any, worlds: int, ordered: bool) -> Counts:
    """Return the stock in each world, in its order or shuffled."""
    stock = _tiled(state.stock, worlds)
    return stock if ordered else np.asarray(search.rng.permuted(stock, axis=1))


class PokeCards:
    """A sample is the other hand and the stock."""

    method = "PokeSearch", "sampled_hands"

    def hands(self, search: Any, sample: Any, seat: int) -> Counts:
        return counted(sample[0]) + counted(numbers_of(self._played(search.state, seat)))

    def chosen(self, sample: Any, worlds: Counts) -> Any:
        return tuple(cards[worlds] for cards in sample)

    def opened(self, search: Any, sample: Any, state: PokeState, stock: bool) -> Any:
        worlds = len(sample[0])
        hands = _tiled(state.hands[1 - search.seat], worlds)
        return hands, _to_come(search, state, worlds, stock)

    def _played(self, state: PokeState, seat: int) -> list[Card]:
        played = [c for t in state.tricks for c in (t.lead if t.leader == seat else t.answer)]
        return played + [card for card in state.led if state.turn != seat]

    def clue(self, state: PokeState, seat: int) -> Clue:
        played = self._played(state, seat)
        draws = [drawn.cards for drawn in state.drawn if drawn.seat == seat and drawn.cards]
        if not played:
            return Clue((state.phase, seat == state.dealer, len(draws), *draws[-1:]), None)
        latest = state.led if state.turn != seat and state.led else None
        if latest is None:
            last = state.tricks[-1]
            latest = last.lead if last.leader == seat else last.answer
        situation = (len(played), bool(state.led), len(draws) > 0)
        return Clue(situation, highest(latest), counted(numbers_of(played)))


class SaintPokerCards:
    """A sample is simulated games with the hands of all seats."""

    method = "SaintPokerSearch", "sampled_games"

    def hands(self, search: Any, sample: Any, seat: int) -> Counts:
        # The simulator's number for no card is that of the first joker.
        return counted(sample.hands[:, seat])

    def chosen(self, sample: Any, worlds: Counts) -> Any:
        sample.hands, sample.stock = sample.hands[worlds], sample.stock[worlds]
        for name in ("points", "river", "future", "order", "on_table"):
            setattr(sample, name, getattr(sample, name)[: len(worlds)])
        sample.count = len(worlds)
        sample.rows = np.arange(len(worlds))
        return sample

    def opened(self, search: Any, sample: Any, state: SaintPokerState, stock: bool) -> Any:
        for seat, hand in enumerate(state.hands):
            sample.hands[:, seat, : len(hand)] = numbers_of(hand)
        sample.stock = _to_come(search, state, sample.count, stock)
        return sample

    def clue(self, state: SaintPokerState, seat: int) -> Clue:
        shown = state.shown[seat] if state.shown else ()
        if not shown and state.rounds:
            shown = state.rounds[-1].shown[seat].cards
        related = counted(numbers_of((*state.known[seat], *state.river, *state.future)))
        return Clue((state.phase, state.round), highest(shown), related)


class PoukuCards:
    """A sample is the hands, as counts by rank, and the ranks of the stock."""

    method = "PoukuSearch", "worlds"

    def hands(self, search: Any, sample: Any, seat: int) -> Counts:
        return np.asarray(sample[0][:, seat])

    def chosen(self, sample: Any, worlds: Counts) -> Any:
        return tuple(cards[worlds] for cards in sample)

    def opened(self, search: Any, sample: Any, state: PoukuState, stock: bool) -> Any:
        worlds, length = sample[1].shape
        hands = np.array([counted(numbers_of(hand)) for hand in state.hands])
        coming = _to_come(search, state, worlds, stock) // 4
        return np.tile(hands, (worlds, 1, 1)), coming[:, :length]

    def clue(self, state: PoukuState, seat: int) -> Clue:
        turns = [turn for turn in state.turns if turn.seat == seat]
        latest = highest((turns[-1].discard,)) if turns else None
        related = counted(numbers_of(state.reference(seat)))
        return Clue((min(len(turns), 4), bool(state.kept[seat])), latest, related)


class PokexCards:
    """A sample is the hands by seat, and the centre cards by trick."""

    method = "PokexSearch", "worlds"

    def hands(self, search: Any, sample: Any, seat: int) -> Counts:
        return counted(sample[0][seat])

    def chosen(self, sample: Any, worlds: Counts) -> Any:
        return [hand[worlds] for hand in sample[0]], sample[1][worlds]

    def opened(self, search: Any, sample: Any, state: PokexState, stock: bool) -> Any:
        hands = [_tiled(hand, len(sample[1])) for hand in state.hands]
        hands[search.seat] = sample[0][search.seat]  # its order numbers the candidates
        row = sample[1]
        if stock:
            row = _tiled(state.row or state.centre, len(row)).reshape(row.shape)
        return hands, row

    def clue(self, state: PokexState, seat: int) -> Clue:
        plays = [play for trick in state.tricks for play in trick.played] + [*state.played]
        mine = [play.cards for play in plays if play.seat == seat]
        latest = highest(mine[-1]) if mine else None
        declares = state.phase != "bid" and seat == state.declarer
        wild = numbers_of([card for card in DECK if card[0] == state.wild_rank])
        return Clue((state.phase, len(mine), declares), latest, counted(wild))


HIDDEN_CARDS: dict[str, HiddenCards] = {
    "poke": PokeCards(),
    "saint_poker": SaintPokerCards(),
    "pouku": PoukuCards(),
    "pokex": PokexCards(),
}
