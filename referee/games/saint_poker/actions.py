"""What is said and seen at a table of Saint Poker: actions, and the public story of a round."""

from dataclasses import dataclass

from referee.cards import Card

Hand = tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class River:
    """Adds a card of the hand to the river."""

    card: Card


@dataclass(frozen=True, slots=True)
class Show:
    """Shows two cards of the hand."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class PickUp:
    """Takes a card that lies on the table."""

    card: Card


@dataclass(frozen=True, slots=True)
class SaintPokerCards:
    """A few cards."""

    cards: Hand


@dataclass(frozen=True, slots=True)
class SaintPokerPicked:
    """A card that a seat picked up."""

    seat: int
    card: Card


@dataclass(frozen=True, slots=True)
class SaintPokerRound:
    """A round that is over; seats in order from the best hand to the worst."""

    river: Hand
    shown: tuple[SaintPokerCards, ...]
    order: tuple[int, ...]
    picked: tuple[SaintPokerPicked, ...]
    discards: Hand


@dataclass(frozen=True, slots=True)
class SaintPokerView:
    """What a seat sees; the fields are explained in saint_poker.proto."""

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
