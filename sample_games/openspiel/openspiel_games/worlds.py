"""Make a whole history of a game from the events that a viewer has seen.

Only the view is used, so the result cannot depend on hidden information.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from openspiel_games.knowledge import CHANCE, Step
from referee.games.shared.dealing import Chance

_HIDDEN: Final = -1
_TRIES: Final = 1_000
_CARDS: Final = 52
_SEATS: Final = 4


class Worlds(Protocol):
    """Returns a history that agrees with events and scores; hidden actions are -1."""

    def __call__(
        self, game: Any, events: Sequence[Step], scores: tuple[int, ...], luck: Chance
    ) -> tuple[int, ...]: ...


def scores_of(state: Any) -> tuple[int, ...]:
    """Return the scores of a state of OpenSpiel; they are whole numbers in all games here."""
    return tuple(round(each) for each in state.returns())


def few_outcomes(
    game: Any, events: Sequence[Step], scores: tuple[int, ...], luck: Chance
) -> tuple[int, ...]:
    """Draw hidden outcomes until they agree with the view; for games with few outcomes."""
    for number in range(_TRIES):
        state = _drawn(game, events, luck, number * len(events))
        if state is not None and scores_of(state) == scores:
            return tuple(state.history())
    raise AssertionError("no position agrees with the view")


def _drawn(game: Any, events: Sequence[Step], luck: Chance, first: int) -> Any:
    """Return a state after the events, or None if one of them is not possible."""
    state = game.new_initial_state()
    for place, (_, action) in enumerate(events):
        legal = state.legal_actions()
        if action == _HIDDEN:
            action = legal[luck.below("redeal", first + place, len(legal))]
        elif action not in legal:
            return None
        state.apply_action(action)
    return state


@dataclass(frozen=True)
class Tricks:
    """A game of tricks: the pack is dealt to four seats, then only public actions follow.

    The hidden cards are assigned to seats. A seat whose public action would not be legal has cards
    of a suit that it cannot have; then the cards are assigned again without these.

    Attributes:
        suit: the suit of a card.
    """

    suit: Callable[[int], int]

    def __call__(
        self, game: Any, events: Sequence[Step], scores: tuple[int, ...], luck: Chance
    ) -> tuple[int, ...]:
        dealt = [action for seat, action in events if seat == CHANCE]
        known = set(dealt)
        played = [
            step
            for step in events
            if step[0] != CHANCE and step[1] < _CARDS and step[1] not in known
        ]
        hands: list[list[int]] = [[] for _ in range(_SEATS)]
        for seat, card in played:
            hands[seat].append(card)
            known.add(card)
        rest = luck.shuffled("redeal", 0, [card for card in range(_CARDS) if card not in known])
        room = [dealt[seat::_SEATS].count(_HIDDEN) - len(hands[seat]) for seat in range(_SEATS)]
        banned: set[tuple[int, int]] = set()
        while True:
            assigned = self._assigned(rest, room, banned)
            history = _filled(
                events, [[*one, *two] for one, two in zip(hands, assigned, strict=True)]
            )
            wrong = set(self._wrong(game, events, history, rest))
            if not wrong:
                return history
            assert not wrong <= banned, "no position agrees with the view"
            banned |= wrong

    def _wrong(
        self, game: Any, events: Sequence[Step], history: Sequence[int], rest: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        """Yield the suits that seats cannot have, with the seats."""
        state = game.new_initial_state()
        holder = {card: place % _SEATS for place, card in enumerate(history[:_CARDS])}
        for (seat, _), action in zip(events, history, strict=True):
            legal = state.legal_actions()
            if seat != CHANCE and action not in legal:
                unseen = set(rest)
                yield from ((holder[card], self.suit(card)) for card in legal if card in unseen)
                return
            state.apply_action(action)

    def _assigned(
        self, cards: Sequence[int], room: Sequence[int], banned: set[tuple[int, int]]
    ) -> list[list[int]]:
        """Assign cards to the room of the seats by augmenting paths."""
        places = [seat for seat in range(_SEATS) for _ in range(room[seat])]
        taken: list[int | None] = [None] * len(places)

        def put(card: int, tried: set[int]) -> bool:
            fitting = [
                place
                for place, seat in enumerate(places)
                if place not in tried and (seat, self.suit(card)) not in banned
            ]
            tried.update(fitting)
            for place in sorted(fitting, key=lambda place: taken[place] is not None):
                other = taken[place]
                if other is None or put(other, tried):
                    taken[place] = card
                    return True
            return False

        for card in cards:
            assert put(card, set()), "the cards do not fit"
        hands: list[list[int]] = [[] for _ in range(_SEATS)]
        for seat, held in zip(places, taken, strict=True):
            if held is not None:
                hands[seat].append(held)
        return hands


def _filled(events: Sequence[Step], hands: Sequence[list[int]]) -> tuple[int, ...]:
    """Return the events with the cards of the hands in the places of hidden ones."""
    left = [iter(hand) for hand in hands]
    return tuple(
        next(left[place % _SEATS]) if action == _HIDDEN else action
        for place, (_, action) in enumerate(events)
    )
