"""Actions and views of Saint Poker, and the public history of a round."""

from dataclasses import dataclass

from referee.games.shared.cards import Card, Hand
from referee.games.shared.fast_values import fast_value


@dataclass(frozen=True, slots=True)
class River:
    """Add a card of the hand to the river."""

    card: Card


@dataclass(frozen=True, slots=True)
class Show:
    """Show two cards of the hand."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class PickUp:
    """Pick up a card from the table."""

    card: Card


@dataclass(frozen=True, slots=True)
class SaintPokerCards:
    """A group of cards."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class SaintPokerPicked:
    """A card picked up by a seat."""

    seat: int
    card: Card


@fast_value
@dataclass(frozen=True, slots=True)
class SaintPokerRound:
    """A finished round; ``order`` lists the seats from the best hand to the worst."""

    river: Hand
    shown: tuple[SaintPokerCards, ...]
    order: tuple[int, ...]
    picked: tuple[SaintPokerPicked, ...]
    discards: Hand


@fast_value
@dataclass(frozen=True, slots=True)
class SaintPokerView:
    """The view of a seat; saint_poker.proto explains the fields."""

    round: int
    phase: str
    hand: Hand
    river: Hand
    future: Hand
    shown: tuple[SaintPokerCards, ...]
    order: tuple[int, ...]
    picked: tuple[SaintPokerPicked, ...]
    scores: tuple[int, ...]
    hand_sizes: tuple[int, ...]
    known: tuple[SaintPokerCards, ...]
    rounds: tuple[SaintPokerRound, ...]
