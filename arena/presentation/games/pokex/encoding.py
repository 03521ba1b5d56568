"""Encode Pokex for reinforcement learning."""

from collections.abc import Sequence
from itertools import combinations

from arena.presentation.encoding import (
    Encoding,
    Groups,
    Numbers,
    Vector,
    alone,
    places,
    squashed,
)
from referee.games.contract import Action
from referee.games.pokex.actions import (
    Bid,
    NameWild,
    PassBid,
    PlayCard,
    PlayPair,
    PokexView,
)
from referee.games.pokex.legal import HIGHEST_BID
from referee.games.pokex.state import FORMS, TRICKS
from referee.games.shared.cards import DECK_WITH_JOKERS, RANKS

PHASES = ("bid", "name", "play", "over")
DECK = len(DECK_WITH_JOKERS)
NAMES = 1 + HIGHEST_BID
PLAYS = NAMES + len(RANKS)


class PokexEncoding(Encoding):
    """Encodes an action as one number.

    In order: 0 to pass, 1 to 6 for a bid, the ranks to name, and the cards to play. With four seats
    the latter are pairs of positions in the hand, with two seats single positions.
    """

    def __init__(self, seats: int) -> None:
        super().__init__(seats)
        self.form = FORMS[seats]
        held = 2 if seats == 4 else 1
        self._plays = {
            chosen: PLAYS + number
            for number, chosen in enumerate(combinations(range(self.form.hand), held))
        }
        self.size = PLAYS + len(self._plays)

    def groups(self, view: PokexView, actions: Sequence[Action]) -> Groups:
        return alone({self._number(action, view.hand): action for action in actions})

    def _number(self, action: Action, hand: Sequence[str]) -> int:
        match action:
            case PassBid():
                return 0
            case Bid(tricks):
                return tricks
            case NameWild(rank):
                return NAMES + RANKS.index(rank)
            case PlayPair(cards):
                return self._plays[places(cards, hand)]
            case PlayCard(card):
                return self._plays[places((card,), hand)]
        raise AssertionError(action)

    def observe(self, view: PokexView, seat: int, groups: Groups) -> Numbers:
        vector, eyes = Vector(), self.from_here(seat)
        vector.word(view.phase, PHASES)
        vector.numbers(squashed(view.deal, 10), view.bid / HIGHEST_BID)
        vector.places(view.hand, self.form.hand)
        vector.places(view.centre, self.form.centre)
        vector.cards(view.turned, DECK)
        vector.word(view.wild_rank, tuple(RANKS))
        for who in eyes:
            vector.numbers(view.dealer == who, bool(view.bid) and view.declarer == who)
            bids = [call.tricks for call in view.auction if call.seat == who]
            vector.numbers(bool(bids), max(bids, default=0) / HIGHEST_BID)
            now = [play for play in view.played if play.seat == who]
            before = [play for trick in view.tricks for play in trick.played if play.seat == who]
            vector.cards((card for play in now for card in play.cards), DECK)
            vector.cards((card for play in before for card in play.cards), DECK)
        for side in (seat % 2, 1 - seat % 2):
            vector.numbers(view.taken[side] / TRICKS, squashed(view.points[side], 50))
        return vector.done()
